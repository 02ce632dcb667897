"""The variable-projection fit against dense least squares."""

import numpy as np
import pytest
import scipy.optimize
from tests import dense

from prism.motion.steady.fit import refine
from prism.search._limits import SMALLEST_GAP
from prism.search.columns import ScatteredSampling
from prism.search.projection import (
    CrowdedError,
    degrees_of_freedom,
    evaluate,
    gains,
)
from prism.search.sampling import UniformSampling

STEP, SAMPLES = 0.1, 400
RESOLUTION = 2 * np.pi / (STEP * SAMPLES)
OMEGA = np.array([1.3, 1.3 + 0.8 * RESOLUTION, 4.0, 11.0])
WEIGHTS = np.array([4.0, 0.25])


def signal(times, trials, seed):
    """Lines on an offset and a drift, (2 channels, trials, samples)."""
    c = np.random.default_rng(seed).standard_normal((2, 2 * len(OMEGA) + 2, trials))
    return np.einsum("mk,akr->arm", dense.columns(times, OMEGA, derivatives=False), c)


def uniform(trials=2, seed=0, sigma=0.0):
    times = STEP * np.arange(SAMPLES)
    values = signal(times, trials, seed)
    values += sigma * np.random.default_rng(seed + 100).standard_normal(values.shape)
    return UniformSampling(values, STEP, 0.0), (values, times, np.ones((2, SAMPLES), bool))


def scattered(trials=1, seed=1, sigma=0.0):
    rng = np.random.default_rng(seed + 200)
    times = np.sort(rng.uniform(0, 0.7 * STEP * SAMPLES, 300))
    present = rng.random((2, 300)) > 0.2
    values = signal(times, trials, seed) + sigma * rng.standard_normal((2, trials, 300))
    values = np.where(present[:, None], values, 0.0)
    return ScatteredSampling(values, present, times), (values, times, present)


def ensemble(sigma=0.0):
    """Two samplings of different length, times and gaps, and the same in dense form."""
    pairs = [uniform(sigma=sigma), scattered(sigma=sigma)]
    return [s for s, _ in pairs], [d for _, d in pairs]


def dense_rss(data, omega):
    return sum(dense.least_squares(*d[:2], omega, d[2])[1] for d in data)


OFF = OMEGA + RESOLUTION * np.array([-0.1, 0.15, 0.2, -0.05])  # not at the minimum


@pytest.mark.parametrize("omega", [OFF, OFF[:1], np.zeros(0)], ids=["four", "one", "none"])
def test_cost_and_coefficients_are_those_of_dense_least_squares(omega):
    samplings, data = ensemble(sigma=0.3)
    fit = evaluate(samplings, omega, WEIGHTS)
    rss = dense_rss(data, omega)
    # the sums of squares cancel by no more than the ratio of signal to residual, about a thousand
    np.testing.assert_allclose(fit.rss, rss, rtol=1e-12)
    assert fit.cost == pytest.approx(WEIGHTS @ rss, rel=1e-12)
    for c, (values, times, present) in zip(fit.coefficients, data, strict=True):
        expected = dense.least_squares(values, times, omega, present)[0]
        # the normal equations square the condition of the columns (10 for the close pair)
        np.testing.assert_allclose(c, expected, atol=1e-12 * np.abs(expected).max())


def test_residual_of_data_without_noise_is_not_lost_to_cancellation():
    samplings, data = ensemble()
    omega = OMEGA + 1e-7 * RESOLUTION  # the residual is 1e-14 of the power
    fit = evaluate(samplings, omega, WEIGHTS)
    power = sum(s.power for s in samplings)
    assert np.all(fit.rss < 1e-12 * power)
    # explicit residuals: each sample carries the rounding of the sum of the lines
    np.testing.assert_allclose(fit.rss, dense_rss(data, omega), rtol=1e-4)


def test_gradient_is_minus_half_the_slope_of_the_cost():
    samplings, data = ensemble(sigma=0.3)
    fit = evaluate(samplings, OFF, WEIGHTS)
    h = 1e-4 * RESOLUTION
    for j, unit in enumerate(np.eye(len(OFF))):
        slope = WEIGHTS @ (dense_rss(data, OFF + h * unit) - dense_rss(data, OFF - h * unit))
        # truncation (h/resolution)² = 1e-8 and rounding eps·cost/(h·slope), about as much
        assert fit.gradient[j] == pytest.approx(-0.25 * slope / h, rel=1e-6)


def test_fisher_is_the_information_with_all_amplitudes_free():
    samplings, data = ensemble(sigma=0.3)
    fit = evaluate(samplings, OFF, WEIGHTS)
    expected = sum(
        dense.frequency_information(times, OFF, c, WEIGHTS, present)
        for c, (_, times, present) in zip(fit.coefficients, data, strict=True)
    )
    # Schur complements of Gram matrices against orthogonal projection: condition squared
    np.testing.assert_allclose(fit.fisher, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_refine_finds_the_frequencies_of_data_without_noise():
    samplings, _ = ensemble()
    fit = refine(samplings, OFF, np.ones(2), tolerance=1e-25)
    np.testing.assert_allclose(fit.omega, OMEGA, rtol=1e-9)


def test_refine_finds_the_minimum_of_a_general_optimiser():
    samplings, data = ensemble(sigma=0.3)
    weights = np.full(2, 1 / 0.3**2)
    fit = refine(samplings, OFF, weights, tolerance=1e-10)

    def residuals(omega):
        parts = []
        for values, times, present in data:
            c, _ = dense.least_squares(values, times, omega, present)
            parts.append(dense.residual(values, times, omega, c, present).ravel() / 0.3)
        return np.concatenate(parts)

    rival = scipy.optimize.least_squares(residuals, OFF, x_scale=1e-3, xtol=1e-12, ftol=1e-14)
    std = np.sqrt(np.diag(np.linalg.inv(fit.fisher)))
    # tolerance 1e-10 in χ² is 1e-5 standard deviations; the rival's forward differences give 1e-4
    assert np.all(np.abs(fit.omega - rival.x) < 1e-3 * std)
    assert fit.cost <= 2 * rival.cost * (1 + 1e-9)
    assert np.all(np.abs(fit.omega - OMEGA) < 4 * std)


def test_refine_stays_in_the_band():
    samplings, _ = ensemble(sigma=0.3)
    band = (1.35, 10.9)
    fit = refine(samplings, np.array([1.4, 4.0, 10.8]), WEIGHTS, band=band)
    assert fit.omega[0] >= band[0]
    assert fit.omega[-1] <= band[1]


def test_refine_gives_up_where_it_is_hopeless():
    samplings, _ = ensemble(sigma=0.3)
    best = refine(samplings, OFF, WEIGHTS)
    near = best.omega + 0.02 * RESOLUTION
    stopped = refine(samplings, near, WEIGHTS, hopeless=0.5 * best.cost)
    np.testing.assert_array_equal(stopped.omega, near)
    went_on = refine(samplings, near, WEIGHTS, hopeless=1.01 * best.cost)
    assert went_on.cost == pytest.approx(best.cost, abs=1e-2)  # ten times the default tolerance


def test_refine_never_raises_the_cost():
    samplings, _ = ensemble(sigma=0.3)
    rng = np.random.default_rng(5)
    for _ in range(20):
        start = np.sort(rng.uniform(1.0, 12.0, 4))
        before = evaluate(samplings, start, WEIGHTS)
        # the slack of one step is 1e-8 of the cost
        assert refine(samplings, start, WEIGHTS).cost <= before.cost * (1 + 1e-7)


@pytest.mark.parametrize("gap", [0.0, 1e-6, 1e-4])
def test_lines_that_coincide_are_refused(gap):
    samplings, _ = ensemble(sigma=0.3)
    with pytest.raises(CrowdedError):
        evaluate(samplings, np.array([4.0, 4.0 + gap * RESOLUTION]), WEIGHTS)


def test_refine_moves_two_equal_start_values_apart_and_refuses_four():
    samplings, _ = uniform(sigma=0.3)
    fit = refine([samplings], np.array([1.35, 1.35]), WEIGHTS)
    assert np.diff(fit.omega)[0] >= SMALLEST_GAP * RESOLUTION
    with pytest.raises(CrowdedError):
        refine([samplings], np.full(4, 1.35), WEIGHTS)


def test_gain_is_the_rise_of_the_cost_without_the_line():
    samplings, _ = ensemble(sigma=0.3)
    fit = evaluate(samplings, OFF, WEIGHTS)
    without = [evaluate(samplings, np.delete(OFF, j), WEIGHTS).cost for j in range(4)]
    # a difference of costs, each good to 1e-12
    np.testing.assert_allclose(gains(fit).sum(axis=1), np.array(without) - fit.cost, rtol=1e-9)


def test_degrees_of_freedom_count_every_linear_parameter_and_share_the_frequencies():
    samplings, data = ensemble()
    spent = 2 * (2 * 4 + 2) + 1 * (2 * 4 + 2)  # two trials of the first sampling, one of the second
    samples = [2 * SAMPLES + int(present.sum()) for present in data[1][2]]
    expected = np.array(samples) - spent - 4 / 2
    np.testing.assert_allclose(degrees_of_freedom(samplings, 4), expected)
    assert np.all(degrees_of_freedom(samplings, 10_000) == 1.0)


def test_residual_variance_over_degrees_of_freedom_is_unbiased():
    sigma = np.array([0.3, 2.0])
    times = STEP * np.arange(40)
    omega = np.array([2.0, 6.0, 11.0])
    ratios = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        c = 30 * rng.standard_normal((2, 8, 1))
        values = np.einsum("mk,akr->arm", dense.columns(times, omega, derivatives=False), c)
        values += sigma[:, None, None] * rng.standard_normal(values.shape)
        sampling = UniformSampling(values, STEP, 0.0)
        fit = refine([sampling], omega, 1 / sigma**2, tolerance=1e-8)
        ratios.append(fit.rss / degrees_of_freedom([sampling], 3) / sigma**2)
    # the frequencies are in truth not shared evenly, so only the sum over channels is exact;
    # 300 records of 61 degrees of freedom give it to √(2/61/300) = 1 %
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.033)
