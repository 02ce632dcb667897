"""Noise floor and false-alarm threshold against simulated noise."""

import numpy as np
import pytest
import scipy.stats

from prism.motion.steady.pursuit import find_lines
from prism.search.noise import (
    floor_from_spectrum,
    gain_threshold,
    local_level,
    log_false_alarm,
    with_spare,
)
from prism.search.projection import evaluate
from prism.search.sampling import UniformSampling
from prism.search.spectrum import line_band, line_threshold, residual_spectrum

SIGMA = np.array([0.3, 20.0])
STEP = 0.1


def white(samples, trials=1, seed=0, channels=2):
    rng = np.random.default_rng(seed)
    values = SIGMA[:channels, None, None] * rng.standard_normal((channels, trials, samples))
    return UniformSampling(values, STEP, 0.0)


def floor(sampling):
    """The floor the search would use, through the spectrum it would use."""
    fit = evaluate([sampling], np.zeros(0), np.ones(2))
    _, power, unit, _ = residual_spectrum(fit, line_band([sampling]))
    return floor_from_spectrum(power, sampling.n_trials) * unit**2


@pytest.mark.parametrize(("trials", "records"), [(1, 40), (50, 2)])
def test_floor_is_the_variance_of_white_noise(trials, records):
    estimates = [floor(white(4000, trials, seed)) for seed in range(records)]
    # a median of 2000 independent frequencies scatters by 1.44/√2000 = 3.2 % in one record,
    # 0.5 % in forty; with 50 trials by 0.25 % in two
    np.testing.assert_allclose(np.mean(estimates, axis=0), SIGMA**2, rtol=0.02)


def test_floor_does_not_see_a_strong_line():
    sampling = white(4000)
    t = STEP * np.arange(4000)
    loud = sampling.values + 10 * SIGMA[:, None, None] * np.cos(2.0 * t)
    assert np.all(loud.var(axis=-1)[:, 0] > 40 * SIGMA**2)
    # the line leaks A²/(M (ΔΩ dt)²) of power: 2 % of σ² at half the band, more below
    assert np.all(floor(UniformSampling(loud, STEP, 0.0)) < 1.3 * SIGMA**2)


def test_floor_is_taken_from_a_subset_of_a_long_spectrum():
    power = np.random.default_rng(1).exponential(2.5, (1, 1 << 18)).astype(np.float32)
    # 2^16 frequencies: 1.44/2^8 = 0.6 %
    assert floor_from_spectrum(power, 1)[0] == pytest.approx(2.5, rel=0.02)


# -- threshold -------------------------------------------------------------------------------------


def threshold(samples, trials, channels, false_alarm=0.01, spare=1e9):
    sampling = white(samples, trials, channels=channels)
    return line_threshold([sampling], false_alarm, spare)


def test_probability_of_a_false_line_is_the_one_asked_for():
    records, nominal = 600, 0.1
    rng = np.random.default_rng(2)
    alarms = 0
    for _ in range(records):
        values = SIGMA[:, None, None] * rng.standard_normal((2, 1, 300))
        fit, _ = find_lines([UniformSampling(values, STEP, 0.0)], false_alarm=nominal)
        alarms += fit.count > 0
    # Davies' bound is from above; 3.3 binomial deviations are the 99.9 % interval
    allowed = nominal + 3.3 * np.sqrt(nominal * (1 - nominal) / records)
    assert nominal / 3 <= alarms / records <= allowed


def test_false_alarm_bound_against_the_maximum_of_simulated_gains():
    rng = np.random.default_rng(3)
    samples, records = 64, 4000
    level = threshold(samples, 1, 1, false_alarm=0.1)
    # known variance, so no F correction: the oversampled periodogram is the gain process itself
    spectra = np.fft.rfft(rng.standard_normal((records, samples)), 16 * samples, axis=1)
    gain = 2 * np.abs(spectra[:, 16 : 16 * samples // 2 - 8]) ** 2 / samples
    rate = np.mean(gain.max(axis=1) > level)
    # 4000 records give the rate to 0.005; the bound is tight at this level
    assert 0.07 < rate < 0.1 + 3.3 * 0.005


def test_false_alarm_probability_is_the_formula_of_davies():
    u, s, cycles = 30.0, 6, 100.0
    beta = np.pi**2 / 3  # with T = 1 and the band in units of 1/T
    crossing = (u / 2) ** ((s - 1) / 2) * np.exp(-u / 2) / scipy.special.gamma(s / 2)
    expected = scipy.stats.chi2.sf(u, s) + cycles * np.sqrt(beta / np.pi) * crossing
    assert np.exp(log_false_alarm(u, s, cycles)) == pytest.approx(expected, rel=1e-12)


def test_threshold_meets_its_own_probability():
    sampling = white(1000, 3)
    band = line_band([sampling])
    level = line_threshold([sampling], 1e-3, np.inf)
    cycles = (band[1] - band[0]) / (2 * np.pi) * sampling.duration
    assert level == pytest.approx(gain_threshold(12, cycles, 1e-3, np.inf))
    assert np.exp(log_false_alarm(level, 12, cycles)) == pytest.approx(1e-3, rel=1e-9)


def test_threshold_rises_with_samples_series_and_confidence():
    by_samples = [threshold(samples, 1, 1) for samples in (50, 500, 5000, 50_000)]
    assert np.all(np.diff(by_samples) > 0)
    by_trials = [threshold(500, trials, 2) for trials in (1, 3, 30, 300)]
    assert np.all(np.diff(by_trials) > 0)
    assert threshold(500, 1, 1) < threshold(500, 1, 2)
    by_alarm = [threshold(500, 1, 2, false_alarm) for false_alarm in (0.5, 0.1, 1e-3, 1e-9)]
    assert np.all(np.diff(by_alarm) > 0)


def test_threshold_of_few_degrees_of_freedom_is_higher():
    levels = [threshold(40, 1, 2, spare=spare) for spare in (20.0, 60.0, 1000.0, 1e9)]
    assert np.all(np.diff(levels) < 0)
    dof, single = 4, scipy.stats.chi2.sf(levels[-1], 4)
    assert levels[1] == pytest.approx(dof * scipy.stats.f.isf(single, dof, 60.0), rel=1e-6)


def test_a_noise_estimate_of_no_use_leaves_the_level_as_it_is():
    assert with_spare(20.0, 4, 0.5) == 20.0
    assert with_spare(20.0, 4, 1e8) == 20.0
    assert with_spare(500.0, 4, 50.0) == 500.0  # a chance that no table holds
    assert with_spare(20.0, 4, 50.0) > 20.0


def test_a_ladder_of_rates_adds_its_cycles():
    sampling = white(500)
    one, three = (line_threshold([sampling], 1e-3, 1e9, rates) for rates in ((0.0,), (0.0,) * 3))
    low, high = line_band([sampling])
    cycles = 3 * (high - low) / (2 * np.pi) * sampling.duration
    assert one < three == pytest.approx(gain_threshold(4, cycles, 1e-3, 1e9))


def test_the_local_level_follows_noise_that_rises_and_is_one_elsewhere():
    rng = np.random.default_rng(5)
    power = rng.gamma(3, 1.0, 4000)
    np.testing.assert_array_equal(local_level(power, 3), 1.0)
    power[:64] *= 5.0
    level = local_level(power, 3)
    # the median of 64 values of three trials scatters by about 8 %
    assert np.all(np.abs(level[:64] / 5 - 1) < 0.3)
    np.testing.assert_array_equal(level[64:], 1.0)
