"""Lines where steady lines end: next to the Nyquist frequency, too crowded."""

import numpy as np
import pytest

import prism

SAMPLES = 1000


def beside_nyquist(cells, seed):
    """A line so many resolutions below the Nyquist frequency, and one in the middle."""
    rng, t = np.random.default_rng([5, seed]), np.arange(SAMPLES)
    omega = np.pi - cells * 2 * np.pi / SAMPLES
    y = np.outer(np.cos(omega * t + rng.uniform(0, 6.3)), [1.0, 0.6])
    y += np.outer(0.8 * np.cos(1.234 * t + 1.0), [0.7, -1.0])
    return omega, prism.Record(y + 0.1 * rng.standard_normal(y.shape), dt=1.0)


@pytest.mark.parametrize("cells", [0.0, 0.05, 0.3])
def test_what_alternates_is_no_mode_and_makes_none(cells):
    model = prism.identify(beside_nyquist(cells, 1)[1])
    np.testing.assert_allclose(model.modes.frequencies, [1.234], atol=1e-4)
    assert "nyquist" in {remark.code for remark in model.identifiability.remarks}


@pytest.mark.parametrize("cells", [0.7, 1.0, 1.6])
def test_a_line_half_a_resolution_below_nyquist_is_a_line(cells):
    scores = []
    for seed in range(4):
        omega, record = beside_nyquist(cells, seed)
        modes = prism.identify(record).modes
        assert len(modes) == 2
        scores.append((modes.frequencies[1] - omega) / modes.frequencies_std[1])
    assert np.abs(scores).max() < 4


@pytest.mark.parametrize("seed", [2, 8])
def test_crowded_lines_have_errors(seed):
    """A decay of ζΩT = 3 that is to be steady: lines that can hardly be told from each other."""
    rng, t = np.random.default_rng([9, seed]), 0.5 * np.arange(1500)
    omega, shapes = np.array([0.5, 1.3]), np.array([[0.8, 0.6], [0.1, -0.995]])
    poles = omega * (-3 / (omega * t[-1]) + 1j)
    y = (np.exp(2j * np.pi * rng.random(2)) * np.exp(np.outer(t, poles))).real @ shapes
    y += 0.1 * y.std(axis=0) * rng.standard_normal(y.shape)
    modes = prism.identify(prism.Record(y, dt=0.5), damped=False).modes
    for std in (modes.frequencies_std, modes.shapes_std):
        assert np.all((std > 0) & np.isfinite(std))
