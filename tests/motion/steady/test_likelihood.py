"""Lines where steady lines end: next to the Nyquist frequency, too crowded."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

import prism
from prism.errors import NoLineError
from prism.motion.steady import estimate_lines
from prism.systems import LinearSystem

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


@pytest.mark.parametrize("channels", [2, 3])
@pytest.mark.parametrize("apart", [0.02, 0.1])
def test_a_pair_far_below_the_resolution_is_two_modes_and_no_more(channels, apart):
    """Each of two such lines seems to have the directions of both: that made six modes of four."""
    omega = np.array([0.5, 1.1, 1.1 + apart * 2 * np.pi / 100, 1.8])
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((4, 4)))[0]
    system = LinearSystem(np.eye(4), Q @ np.diag(omega**2) @ Q.T, np.eye(4)[:channels])
    record = system.equilibrium(100, 0.5, trials=20, noise=0.02, rng=1)
    fit = estimate_lines(record, false_alarm=1e-3).fit
    assert fit.line.tolist() == [0, 1, 2, 3]
    z = (fit.omega - system.frequencies) / np.sqrt(np.diag(fit.covariance)[:4])
    assert np.abs(z).max() < 3


# ------------------------------------------------------------------ lines that noise made


def noise_of(channels, trials, seed, line=0.0):
    """White noise in some trials, with a line in it if one is asked for."""
    rng, t = np.random.default_rng([31, seed]), np.arange(600)
    phase = rng.uniform(0, 6.3, trials)
    moves = line * np.cos(0.7 * t + phase[:, None])[..., None] * np.ones(channels)
    return prism.Record(moves + rng.standard_normal((trials, len(t), channels)), dt=1.0)


def told(record, false_alarm=1e-3):
    model = prism.identify(record, damped=False, false_alarm=false_alarm)
    return model, {remark.code: str(remark) for remark in model.identifiability.remarks}


def test_noise_that_passes_for_a_line_is_one_mode_and_said():
    """Its directions in the trials are those of noise: it was a mode for each of two of them."""
    shown = 0
    for seed in range(12):
        with suppress(NoLineError):
            model, said = told(noise_of(3, 8, seed), false_alarm=0.9)
            frequencies = model.modes.frequencies
            assert len(set(frequencies)) == len(frequencies)
            assert "may be noise" in said["faint"]
            shown += 1
    assert shown >= 4


def test_a_line_beyond_doubt_is_not_called_faint():
    assert "faint" not in told(noise_of(2, 4, 0, line=0.5))[1]


def test_the_chance_of_a_line_at_the_threshold_is_that_of_the_search():
    lines = estimate_lines(noise_of(2, 4, 0, line=0.2), false_alarm=1e-3)
    assert 0 < lines.chances[0] < 1
    assert replace(lines, threshold=lines.gains[0]).chances[0] == 1.0
    # the tail of χ² of 16 degrees of freedom falls a little slower than exp(-u/2)
    halved = replace(lines, threshold=lines.gains[0] - 2 * np.log(2))
    assert 0.5 < halved.chances[0] < 0.7
