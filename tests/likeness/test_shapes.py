"""Sameness of shapes, and intervals of their criterion."""

import numpy as np
import pytest
from scipy import stats

from prism.errors import OptionError
from prism.likeness import Likeness, compare_shapes, mac


def block(*parts):
    zero = np.zeros_like(parts[0])
    return np.block([[parts[0], zero], [zero, parts[1]]])


def lopsided(rng, size, level):
    """A covariance whose standard deviations differ by factors of two or three."""
    std = level * np.exp(0.7 * rng.standard_normal(size))
    turn = np.linalg.qr(rng.standard_normal((size, size)))[0]
    return (turn * std**2) @ turn.T


def apart(rng, channels, angle, turning):
    """Two unit vectors with an angle between them."""
    one, two = rng.standard_normal((2, channels))
    if turning:
        one, two = (
            one + 1j * rng.standard_normal(channels),
            two + 1j * rng.standard_normal(channels),
        )
    one = one / np.linalg.norm(one)
    two = two - one * np.vdot(one, two)
    return one, np.cos(angle) * one + np.sin(angle) * two / np.linalg.norm(two)


def drawn(rng, one, covariance, turning):
    flat = np.concatenate([one.real, one.imag]) if turning else one
    flat = flat + np.linalg.cholesky(covariance) @ rng.standard_normal(len(flat))
    return flat[: len(one)] + 1j * flat[len(one) :] if turning else flat


def study(angle, *, channels=3, level=0.05, turning=False, count=100, seed=0):
    """Chances of sameness, and whether the interval holds the truth."""
    rng = np.random.default_rng([seed, channels, int(100 * angle)])
    chances, held = [], []
    for _ in range(count):
        pair = apart(rng, channels, angle, turning)
        errors = [lopsided(rng, channels * (1 + turning), level) for _ in pair]
        seen = [drawn(rng, x, C, turning) for x, C in zip(pair, errors, strict=True)]
        found = compare_shapes(*seen, block(*errors))
        chances.append(found.chance)
        held.append(found.interval[0] <= np.cos(angle) ** 2 <= found.interval[1] + 1e-12)
    return np.array(chances), np.array(held)


@pytest.mark.parametrize("turning", [False, True])
def test_chances_of_sameness_are_even_and_intervals_hold(turning):
    chances, held = study(0.0, turning=turning)
    assert stats.kstest(chances, "uniform").pvalue > 0.01
    assert 0.01 <= np.mean(chances < 0.05) <= 0.11
    assert np.mean(held) > 0.93
    for angle, seen in ((0.05, 0.0), (0.4, 0.85)):
        chances, held = study(angle, turning=turning, count=60)
        assert np.mean(held) > 0.9
        assert np.mean(chances < 0.05) > seen


@pytest.mark.study
@pytest.mark.parametrize("channels", [2, 3, 6])
@pytest.mark.parametrize("turning", [False, True])
def test_coverage_over_angles_and_errors(channels, turning):
    for level in (0.01, 0.05, 0.1):
        for share in (0.0, 0.5, 1.0, 2.0, 4.0):
            how = {"channels": channels, "level": level, "turning": turning, "seed": 1}
            chances, held = study(share * level, count=400, **how)
            assert np.mean(held) > 0.92
            if not share:
                assert stats.kstest(chances, "uniform").pvalue > 1e-3
                assert np.mean(chances < 0.05) < 0.09


def test_two_channels_have_an_angle_with_an_error():
    """One direction to differ in: all is normal, and known in closed form."""
    a, b, std = 0.3, 0.42, np.array([0.03, 0.04])
    unit = [np.array([np.cos(x), np.sin(x)]) for x in (a, b)]
    across = [np.array([-np.sin(x), np.cos(x)]) for x in (a, b)]
    errors = [s**2 * np.outer(u, u) for s, u in zip(std, across, strict=True)]
    found = compare_shapes(2 * unit[0], -unit[1], block(4 * errors[0], errors[1]))
    z = (b - a) / np.hypot(*std)
    assert found.mac == pytest.approx(np.cos(b - a) ** 2)
    assert (found.distance, found.freedom) == (pytest.approx(z**2), 1)
    assert found.chance == pytest.approx(2 * stats.norm.sf(z))
    high = np.arccos(np.sqrt(found.interval[0]))
    within = stats.norm.cdf(b - a, high, 0.05) - stats.norm.cdf(a - b, high, 0.05)
    assert within == pytest.approx(0.025, rel=2e-3)


def test_errors_that_are_shared_cancel():
    rng = np.random.default_rng(3)
    a, b = apart(rng, 3, 0.01, False)
    C = lopsided(rng, 3, 0.05)
    alone = compare_shapes(a, b, block(C, C))
    together = compare_shapes(a, b, np.block([[C, 0.999 * C], [0.999 * C, C]]))
    assert together.distance > 100 * alone.distance
    flipped = compare_shapes(a, -b, np.block([[C, -0.999 * C], [-0.999 * C, C]]))
    assert flipped.distance == pytest.approx(together.distance)


def test_a_phase_does_not_matter():
    rng = np.random.default_rng(4)
    a, b = apart(rng, 3, 0.1, True)
    C = lopsided(rng, 6, 0.05)
    phase = 0.8
    c, s = np.cos(phase) * np.eye(3), np.sin(phase) * np.eye(3)
    turn = np.block([[c, -s], [s, c]])
    one = compare_shapes(a, b, block(C, C))
    two = compare_shapes(a, np.exp(1j * phase) * b, block(C, turn @ C @ turn.T))
    assert one.freedom == two.freedom == 4
    assert two.distance == pytest.approx(one.distance, rel=1e-9)
    assert two.interval == pytest.approx(one.interval, rel=1e-6)


def test_shapes_across_each_other_reach_zero():
    found = compare_shapes([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], 1e-4 * np.eye(6))
    assert found.mac == pytest.approx(0, abs=1e-12)
    assert found.interval[0] == pytest.approx(0, abs=1e-12)
    assert 0 < found.interval[1] < 0.01
    assert found.chance < 1e-100


def test_equal_shapes_are_equal():
    found = compare_shapes([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], 1e-4 * np.eye(6))
    assert isinstance(found, Likeness)
    assert (found.chance, found.interval[1]) == (1.0, 1.0)
    assert found.mac == mac([[1.0, 2.0, 3.0]])[0, 0] == pytest.approx(1)
    assert 0.999 < found.interval[0] < 1


@pytest.mark.parametrize(
    ("a", "b", "covariance", "words"),
    [
        ([1.0], [1.0], np.eye(2), "no shape to compare"),
        ([1.0, 0.0], [1.0, 0.0], np.eye(3), r"\(4, 4\) is wanted"),
        ([1.0, 0.0], [1.0, 1j], np.eye(4), r"\(8, 8\) is wanted"),
        ([1.0, 0.0], [1.0, 0.0], np.zeros((4, 4)), "zero or not finite"),
        ([1.0, 0.0], [1.0, 0.0], np.full((4, 4), np.inf), "zero or not finite"),
    ],
)
def test_what_cannot_be_compared(a, b, covariance, words):
    with pytest.raises(OptionError, match=words):
        compare_shapes(a, b, covariance)
