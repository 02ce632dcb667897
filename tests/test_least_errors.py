"""Bounds of everything that is reported, against scatter and against the bound of frequencies."""

import numpy as np
import pytest

import prism
from prism.errors import OptionError
from prism.systems import chain

ONE = chain(observed=[0])


def test_frequencies_of_one_channel_have_the_known_bound():
    record = ONE.free(100, 0.2, rng=0)
    least = prism.bounds(record, 0.05)
    np.testing.assert_allclose(
        least.frequencies, prism.cramer_rao(record, ONE.frequencies, 0.05), rtol=5e-3
    )  # up to the drift, which is left out where it is not there
    assert least.hidden_frequencies is None
    assert "how strongly each mode was excited" in least.why


def test_bare_frequencies_scatter_by_their_bound():
    """Twenty releases of a chain seen at one end."""
    clean = ONE.released(80, 0.25, [1.0])
    sigma = 0.05 * clean.std()[0]
    least = prism.bounds(clean, sigma, experiment="released")
    found = []
    for seed in range(20):
        noise = sigma * np.random.default_rng(seed).standard_normal(clean.trials[0].shape)
        record = prism.Record(clean.trials[0] + noise, dt=0.25)
        h = prism.identify(record, experiment="released", kind="steady").hamiltonian
        found.append([*h.hidden_frequencies, *np.abs(h.couplings[:, 0])])
    ratio = np.std(found, axis=0) / [*least.hidden_frequencies, *least.couplings[:, 0]]
    assert np.all((ratio > 0.6) & (ratio < 1.5))


def test_a_known_mass_bounds_free_motion():
    system = chain(5, observed=[0, 2, 4])
    least = prism.bounds(system.free(200, 0.2, rng=1), 0.1, mass="identity")
    noisy = prism.identify(system.free(200, 0.2, noise=0.1, rng=1), mass="identity")
    # noise is a tenth of each channel there, about a tenth of one here
    ratio = noisy.hamiltonian.hidden_frequencies_std / least.hidden_frequencies
    assert np.ptp(np.log(ratio)) < 0.7
    assert least.residues.shape == (5, 3, 3)


def test_a_response_bounds_damping_too():
    omega = np.linspace(0.1, 2.5, 150)
    clean = ONE.response(omega, loss=0.02, damping="viscous")
    least = prism.bounds(clean, 0.0, relative=0.02)
    model = prism.identify(ONE.response(omega, loss=0.02, damping="viscous", noise=0.02, rng=0))
    np.testing.assert_allclose(model.modes.damping_std, least.damping, rtol=0.2)
    np.testing.assert_allclose(model.modes.frequencies_std, least.frequencies, rtol=0.2)
    np.testing.assert_allclose(
        model.hamiltonian.hidden_frequencies_std, least.hidden_frequencies, rtol=0.2
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [({"experiment": "forced"}, "no bounds of 'forced' records"), ({}, "must be positive")],
)
def test_what_has_no_bound(options, words):
    with pytest.raises(OptionError, match=words):
        prism.bounds(ONE.free(50, 0.2, rng=0), 0.0, **options)
