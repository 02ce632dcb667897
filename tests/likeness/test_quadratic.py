"""The length of a Gaussian vector against closed forms and draws."""

import numpy as np
import pytest
from scipy import stats

from prism.likeness.quadratic import chance_beyond


@pytest.mark.parametrize("channels", [1, 2, 7, 30])
@pytest.mark.parametrize("square", [0.0, 1e-3, 3.0, 1e3, 1e5])
def test_equal_variances_are_chi_square(channels, square):
    centre = np.zeros(channels)
    centre[0] = np.sqrt(square)
    law = stats.ncx2(channels, square) if square else stats.chi2(channels)
    for chance in (1e-10, 1e-3, 0.025, 0.5, 0.975, 1 - 1e-6):
        level = law.isf(chance)
        found = chance_beyond(2 * level, np.sqrt(2) * centre, np.full(channels, 2.0))
        assert found == pytest.approx(law.sf(level), rel=1e-6)


def test_pairs_of_equal_variances_are_sums_of_exponentials():
    for variance in ([1.0, 0.3], [1.0, 1e-3], [1.0, 0.5, 0.01]):
        for level in (1e-3, 0.1, 1.0, 10.0, 40.0):
            weights = [np.prod([a / (a - b) for b in variance if a != b]) for a in variance]
            exact = sum(
                w * np.exp(-level / (2 * a)) for w, a in zip(weights, variance, strict=True)
            )
            found = chance_beyond(level, np.zeros(2 * len(variance)), np.repeat(variance, 2))
            assert found == pytest.approx(exact, rel=1e-8, abs=1e-12)


def test_anything_else_is_what_draws_say():
    rng = np.random.default_rng(5)
    for _ in range(60):
        k = int(rng.integers(1, 6))
        variance = np.exp(rng.uniform(-12, 0, k))
        centre = np.exp(rng.uniform(-4, 1)) * rng.standard_normal(k)
        drawn = np.sum((centre + np.sqrt(variance) * rng.standard_normal((4000, k))) ** 2, axis=1)
        level = float(np.quantile(drawn, rng.uniform()))
        share = float(np.mean(drawn > level))
        spread = np.sqrt(max(share * (1 - share), 1e-3) / 4000)
        assert abs(chance_beyond(level, centre, variance) - share) < 4.5 * spread


def test_components_without_error_only_shift_it():
    wanted = stats.chi2.sf(3.0, 1)
    assert chance_beyond(7.0, np.array([0.0, 2.0]), np.array([1.0, 0.0])) == pytest.approx(wanted)
    assert chance_beyond(3.9, np.array([0.0, 2.0]), np.array([1.0, 0.0])) == 1.0
