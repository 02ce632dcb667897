"""The correlation of a record against dense sums, and what happens at lag zero."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

from prism.correlation import Correlation, CosineBasis, CosineSum, correlate, correlate_groups, pool
from prism.errors import OptionError, RecordError
from prism.record import Record
from prism.systems import chain


def dense(record, lags):
    """Sum over all pairs of present samples, trial by trial."""
    n = record.n_channels
    total, count = np.zeros((2, lags + 1, n, n))
    for trial in record.trials:
        x = trial - np.nanmean(trial, axis=0)
        for k in range(min(lags + 1, len(x))):
            products = x[k:, :, None] * x[: len(x) - k, None, :]
            total[k] += np.nansum(products, axis=0)
            count[k] += np.isfinite(products).sum(axis=0)
    return total / count, count


@pytest.mark.parametrize("missing", [False, True])
def test_equals_the_dense_sum(missing):
    rng = np.random.default_rng(0)
    trials = [rng.standard_normal((m, 3)) + 5.0 for m in (40, 33, 57)]
    if missing:
        trials[0][3:9, 1] = np.nan
        trials[2][20, :] = np.nan
    record = Record(trials, dt=0.1)
    correlation = correlate(record, max_lag=2.5)
    values, counts = dense(record, 25)
    np.testing.assert_allclose(correlation.values, values, atol=1e-13)
    np.testing.assert_array_equal(correlation.counts, counts)
    np.testing.assert_allclose(correlation.lags, 0.1 * np.arange(26))


def test_groups_pool_to_the_whole():
    record = chain().equilibrium(20, 0.1, trials=10, noise=0.1, rng=0)
    whole, parts = correlate(record), correlate_groups(record, 4)
    np.testing.assert_allclose(pool(parts).values, whole.values, atol=1e-13)
    np.testing.assert_allclose(pool(parts).counts, whole.counts)


def test_noise_is_at_lag_zero_only_and_is_reported():
    system = chain()
    clean = system.equilibrium(200, 0.05, trials=50, rng=1)
    noisy = system.equilibrium(200, 0.05, trials=50, noise=0.3, rng=1)
    sigma2 = (0.3 * clean.std()) ** 2
    difference = correlate(noisy).values - correlate(clean).values
    np.testing.assert_allclose(np.diag(difference[0]), sigma2, rtol=0.01)
    assert np.abs(difference[1:]).max() < 0.05 * sigma2.max()
    zero = correlate(noisy).noise_free_zero()
    np.testing.assert_allclose(zero.value, correlate(clean).values[0], atol=0.01 * sigma2.max())
    np.testing.assert_allclose(zero.noise, sigma2, rtol=0.03)


def test_zero_lag_of_exact_lines():
    system = chain()
    exact = CosineSum.at_equilibrium(system.frequencies, system.participation)
    values = exact(0.05 * np.arange(601))
    values[0] += np.diag([0.3, 0.7])
    correlation = Correlation(0.05, values, np.ones_like(values), 60.0, np.zeros(2, int))
    zero = correlation.noise_free_zero()
    np.testing.assert_allclose(zero.value, exact.zero, atol=2e-6)
    np.testing.assert_allclose(zero.curvature, -np.eye(2), atol=1e-4)
    np.testing.assert_allclose(zero.noise, [0.3, 0.7], atol=2e-6)
    np.testing.assert_allclose(correlation.streaming(), 0.0, atol=1e-12)


def test_zero_lag_and_curvature_of_a_clean_ensemble():
    system = chain()
    exact = CosineSum.at_equilibrium(system.frequencies, system.participation)
    record = system.free(400, 0.05, trials=60, energies=np.ones(4), rng=2)
    zero = correlate(record).noise_free_zero()
    np.testing.assert_allclose(zero.value, exact.zero, atol=0.02)
    np.testing.assert_allclose(zero.curvature, -np.eye(2), atol=0.03)  # -kT/μ
    assert zero.noise.max() < 1e-3


def test_streaming_vanishes_for_a_reciprocal_system_only():
    record = chain().equilibrium(100, 0.05, trials=200, noise=0.1, rng=3)
    assert np.abs(correlate(record).streaming()).max() < 0.02
    # a rotating pair: x' = ω J x, so Λ = ω J exactly
    t = 0.05 * np.arange(4000)
    turning = Record(np.stack([np.cos(1.3 * t), np.sin(1.3 * t)], axis=1), dt=0.05)
    expected = 1.3 * np.array([[0, -1], [1, 0]])
    np.testing.assert_allclose(correlate(turning).streaming(), expected, atol=0.01)


def test_cosine_basis_equals_dense_columns():
    grid = np.array([0.0, 0.3, 0.31, 2.0, np.pi / 0.1])
    basis = CosineBasis(0.1, 500, grid)
    A = np.cos(np.outer(0.1 * np.arange(1, 501), grid))
    np.testing.assert_allclose(basis.gram(np.arange(5)), A.T @ A, atol=1e-8)
    np.testing.assert_allclose(basis.gram(2), A.T @ A[:, 2], atol=1e-8)
    values = np.random.default_rng(0).standard_normal((500, 2, 2))
    np.testing.assert_allclose(
        basis.project(values), np.einsum("tj,tab->jab", A, values), atol=1e-10
    )


def test_line_form():
    lines = CosineSum(np.array([0.5, 2.0]), np.array([[[1.0]], [[3.0]]]))
    np.testing.assert_allclose(lines([0.0, 1.0])[:, 0, 0], [4, np.cos(0.5) + 3 * np.cos(2)])
    tau = np.linspace(0, 200, 400001)
    numeric = trapezoid(np.exp(-(0.2 + 1j) * tau) * lines(tau)[:, 0, 0], tau)
    np.testing.assert_allclose(lines.laplace(0.2 + 1j)[0, 0], numeric, rtol=1e-6)


def test_refusals():
    rng = np.random.default_rng(0)
    irregular = Record(rng.standard_normal(20), t=np.cumsum(rng.uniform(0.5, 1.5, 20)))
    with pytest.raises(RecordError, match="uniform sampling step"):
        correlate(irregular)
    record = Record(rng.standard_normal((3, 20, 1)), dt=1.0)
    with pytest.raises(OptionError, match="longest lag"):
        correlate(record, max_lag=30)
    with pytest.raises(OptionError, match="groups"):
        correlate_groups(record, 4)
    gaps = np.full(20, np.nan)
    gaps[::2] = rng.standard_normal(10)
    with pytest.raises(RecordError, match="no two samples are 1 apart"):
        correlate(Record(gaps, dt=1.0))
    with pytest.raises(OptionError, match="lag zero"):
        correlate(record).noise_free_zero(lags=1)
