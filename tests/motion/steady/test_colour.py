"""Coloured noise: its spectrum, what counts as a line in it, and the errors of lines in it."""

import numpy as np
import pytest

import prism
from prism.motion.steady.colour import WHITE, Colour, _medians, colour_of
from prism.motion.steady.likelihood import estimate_lines
from prism.systems import chain
from prism_bench.records import coloured

DT, N = 0.05, 8000
RESOLUTION = 2 * np.pi / (N * DT)
GRID = RESOLUTION * (1 + 0.5 * np.arange(2000))


def spectrum(rng, level, trials=1, channels=1):
    """Periodogram of noise of a given level: neighbours on the grid share half their cell."""
    cells = rng.gamma(trials, size=(channels, len(GRID) // 2))
    return np.repeat(cells, 2, axis=1) * level


@pytest.mark.parametrize("trials", [1, 10])
def test_white_noise_is_white(trials):
    rng = np.random.default_rng(0)
    found = [
        colour_of(GRID, spectrum(rng, 2.0, trials, 2), np.zeros(2), trials, np.zeros(0)).white
        for _ in range(100)
    ]
    assert all(found)


@pytest.mark.parametrize("slope", [0.5, 1.0, 2.0])
def test_a_power_law_is_followed_to_its_slow_end(slope):
    rng, truth = np.random.default_rng(1), (GRID / GRID[0]) ** -slope
    logs = []
    for _ in range(20):
        colour = colour_of(GRID, spectrum(rng, truth), np.zeros(1), 1, np.zeros(0))
        assert not colour.white
        logs.append(np.log(colour.variance(GRID)[0] / truth))
    # raised by one standard deviation of the estimate, on purpose
    assert np.all(np.abs(np.mean(logs, axis=0)) < 0.6)
    assert np.all(np.mean(logs, axis=0)[20:] > -0.1)


def test_peaks_that_were_taken_for_lines_do_not_lower_the_noise():
    rng, truth = np.random.default_rng(2), (GRID / GRID[0]) ** -1.0
    ratio = []
    for _ in range(40):
        power = spectrum(rng, truth)
        top = np.argsort(power[0, :40] / truth[:40])[::-1][:12:2]
        gone = power.copy()
        for k in top:
            gone[0, max(k - 1, 0) : k + 2] = 0.0
        with_lines = colour_of(GRID, gone, np.zeros(1), 1, GRID[top])
        ratio.append(with_lines.variance(GRID[:20])[0] / truth[:20])
    assert np.median(ratio) > 0.8


def test_a_cusp_around_a_line_is_seen():
    rng = np.random.default_rng(3)
    level = 1 + 100 * (np.abs(np.arange(len(GRID)) - 1000) < 40)
    colour = colour_of(GRID, spectrum(rng, level), np.zeros(1), 1, np.zeros(0))
    assert colour.variance(GRID[[1000]])[0, 0] > 30
    assert colour.variance(GRID[[600, 1400]]).max() < 3


def test_levels_are_relative_to_the_weights():
    colour = Colour(np.log([1.0, 10.0]), np.log([[4.0, 1.0]])).scaled(np.array([2.0]))
    np.testing.assert_allclose(colour.levels(np.array([1.0, 10.0]), np.array([0.25])), [[4, 1]])
    np.testing.assert_array_equal(WHITE.levels(np.ones(3), np.ones(2)), np.ones((2, 3)))
    assert WHITE.scaled(np.ones(2)) is WHITE


def pink_record(seed, slope=1.0):
    system, rng = chain(), np.random.default_rng([7, seed])
    x = system.free(N * DT, DT, rng=rng).trials[0]
    noise = np.stack([coloured(rng, N, slope) for _ in range(2)], axis=1)
    return prism.Record(x + 0.1 * x.std(axis=0) * noise, dt=DT)


def test_lines_in_pink_noise_are_found_without_false_ones_and_with_honest_errors():
    truth, z = chain().frequencies, []
    for seed in range(12):
        lines = estimate_lines(pink_record(seed), false_alarm=1e-3)
        assert lines.coloured
        assert len(lines.fit.omega) == 4
        z.append((lines.fit.omega - truth) / np.sqrt(np.diag(lines.fit.covariance)[:4]))
    assert 0.7 < np.sqrt(np.mean(np.square(z))) < 1.3


def test_the_verdict_says_that_the_noise_is_coloured():
    assert "not white" in str(prism.identify(pink_record(0)).identifiability)
    white = prism.identify(chain().free(200, DT, noise=0.1, rng=0))
    assert "not white" not in str(white.identifiability)


def test_what_turns_less_than_once_is_in_the_forecast_but_is_no_mode():
    system, t = chain(), DT * np.arange(N)
    x = system.free(N * DT, DT, noise=0.05, rng=3).trials[0]
    slow = 0.8 * np.cos(2 * np.pi * 0.97 * t / t[-1] + 0.4)[:, None]
    model = prism.identify(prism.Record(x + slow, dt=DT))
    np.testing.assert_allclose(model.modes.frequencies, system.frequencies, rtol=1e-4)
    assert "it is in the forecast" in str(model.identifiability)
    later = DT * np.arange(N, N + 400)
    clean = system.free(N * DT + 20, DT, rng=3).trials[0][N : N + 400]
    seen = clean + 0.8 * np.cos(2 * np.pi * 0.97 * later / t[-1] + 0.4)[:, None]
    forecast = model.forecast(later)
    assert np.sqrt(np.mean((forecast.values - seen) ** 2)) < 0.1


@pytest.mark.slow
def test_a_forecast_in_coloured_noise_survives_a_file(tmp_path):
    model = prism.identify(pink_record(0, slope=1.5))
    path = tmp_path / "model.json"
    model.save(path)
    later = DT * np.arange(N - 50, N + 400)
    before, after = model.forecast(later), prism.load(path).forecast(later)
    np.testing.assert_allclose(after.values, before.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(after.std, before.std, rtol=1e-9)


@pytest.mark.slow
def test_slow_noise_is_predicted_and_returns_to_its_mean():
    errors, plain, spread = [], [], []
    for seed in range(10):
        rng = np.random.default_rng([8, seed])
        t = DT * np.arange(N + 800)
        slow = coloured(rng, N + 800, 1.6)
        y = np.cos(2.0 * t) + slow
        model = prism.identify(prism.Record(y[:N], dt=DT))
        ahead = model.forecast(t[N : N + 200])
        off = y[N : N + 200] - ahead.values[:, 0]
        errors.append(off)
        plain.append(y[N : N + 200] - np.cos(2.0 * t[N : N + 200]) - slow[:N].mean())
        spread.append(ahead.std[:, 0])
        far = model.forecast(np.array([100 * N * DT])).values[0, 0] - y[:N].mean()
        assert abs(far) < 4
    assert np.std(errors) < 0.6 * np.std(plain)
    ratio = np.sqrt(np.mean(np.square(errors)) / np.mean(np.square(spread)))
    assert 0.5 < ratio < 1.6


@pytest.mark.parametrize("count", [1, 2, 7, 8])
def test_medians_are_those_of_numpy(count):
    rows = np.random.default_rng(count).random((3, count)).astype(np.float32)
    assert np.array_equal(_medians(rows), np.median(rows, axis=1))
