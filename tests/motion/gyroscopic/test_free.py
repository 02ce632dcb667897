"""Free records of a rotor and its mass give the gyroscopic matrix."""

import numpy as np
import pytest

import prism
from prism.motion.gyroscopic.relations import free_relations
from prism.systems.gyroscopic import GyroscopicSystem

SYSTEM = GyroscopicSystem(
    np.diag([1.0, 1.5, 0.8]),
    [[0.0, 0.5, -0.3], [-0.5, 0.0, 0.6], [0.3, -0.6, 0.0]],
    [[3.0, -1.0, -0.5], [-1.0, 5.0, -1.5], [-0.5, -1.5, 7.0]],
    np.eye(3)[:2],
)


@pytest.fixture(scope="module")
def record():
    return SYSTEM.free(200.0, 0.25, noise=0.02, trials=3, rng=1)


def test_the_mass_gives_the_bare_system(record):
    model = prism.identify(record, mass=SYSTEM.mass)
    h = model.hamiltonian
    assert model.kind == "gyroscopic"
    z = (h.hidden_frequencies - SYSTEM.hidden_frequencies) / h.hidden_frequencies_std
    assert np.abs(z).max() < 4
    z = (h.gyroscopic - SYSTEM.gyroscopic)[0, 1] / h.gyroscopic_std[0, 1]
    assert abs(z) < 4
    assert h.hidden_frequencies_std.max() < 0.02
    np.testing.assert_allclose(h.mass, SYSTEM.mass, atol=1e-8)
    assert not [one for one in model.identifiability.remarks if one.code == "unused"]


def test_without_the_mass_only_modes_are_known(record, tmp_path):
    model = prism.identify(record)
    assert (model.kind, model.hamiltonian) == ("gyroscopic", None)
    assert "complex shapes of 3 lines that turn" in str(model.identifiability.why)
    z = (model.modes.frequencies - SYSTEM.frequencies) / model.modes.frequencies_std
    assert np.abs(z).max() < 4
    model.save(tmp_path / "m.json")
    assert prism.load(tmp_path / "m.json") == model
    inside = model.forecast(record.times[1][300:400], trial=1).values
    assert np.std(inside - record.trials[1][300:400]) < 1.5 * model.noise_std.max()


def test_derivatives_of_the_relations_equal_differences():
    b = SYSTEM.factors
    s = (np.abs(b) ** 2).sum(axis=1)
    d = b / np.sqrt(s)[:, None]
    p = np.concatenate([SYSTEM.frequencies, d.real.ravel(), d.imag.ravel()])
    known = d.shape, np.linalg.inv(SYSTEM.mass)
    h, A, B = free_relations(p, np.log(s), *known)
    assert np.abs(h).max() < 1e-12
    for x, slope in ((p, A), (np.log(s), B)):
        for k in range(len(x)):
            step = np.zeros(len(x))
            step[k] = 1e-6
            at = [(x + sign * step) for sign in (1, -1)]
            pairs = [(one, np.log(s)) if x is p else (p, one) for one in at]
            ends = [free_relations(*pair, *known)[0] for pair in pairs]
            np.testing.assert_allclose((ends[0] - ends[1]) / 2e-6, slope[:, k], atol=1e-7)
