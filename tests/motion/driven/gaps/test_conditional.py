"""What was not measured, against the dense formulas of Gaussian variables."""

import numpy as np
import pytest

from prism.motion.driven.gaps import _limits as limits
from prism.motion.driven.gaps.conditional import conditional
from prism.motion.driven.gaps.places import GridPlaces
from prism.motion.driven.gaps.sampling import odd_length, sampling

SAMPLES, STEP = 60, 0.25


@pytest.fixture(autouse=True)
def exact(monkeypatch):
    """Equations are solved as far as rounding lets them be."""
    monkeypatch.setattr(limits, "SOLVED", 1e-6)
    monkeypatch.setattr(limits, "SOLVED_PICKED", 1e-9)


def spectrum(omega):
    """Two channels that one mode moves, and correlated noise."""
    h = 1 / np.abs(4.0 - omega**2 + 0.2j * omega) ** 2
    shape, noise = np.array([1.0, -0.6]), np.array([[0.02, 0.004], [0.004, 0.01]])
    out = (h[:, None, None] * np.outer(shape, shape) + noise).astype(complex)
    out[:, 0, 1] += 1j * 0.002 * np.sin(omega * STEP)  # forces out of phase
    out[:, 1, 0] = out[:, 0, 1].conj()
    return out


def places(jitter):
    """GridPlaces of samples with a gap, some of one channel only."""
    rng = np.random.default_rng(1)
    keep = np.ones(SAMPLES, bool)
    keep[20:28] = False
    keep[rng.permutation(np.arange(1, SAMPLES - 1))[:10]] = False
    at = np.flatnonzero(keep) + jitter * rng.uniform(-1, 1, keep.sum())
    seen = rng.random((len(at), 2)) > 0.1
    return GridPlaces(STEP, SAMPLES, np.clip(at, 0, SAMPLES - 1), seen)


def dense(given, at, also):
    """Covariance between values at two sets of places, of the same periodic process.

    White noise, a part of the spectrum, is that of the nearest point of the grid.
    """
    white = np.diag(getattr(conditional(given, spectrum), "noise", np.zeros(2)))
    M = sampling(given).length
    k = np.arange(M // 2 + 1)
    omega = 2 * np.pi * k / (M * STEP)
    omega[0] = omega[1]
    S = spectrum(omega) / STEP
    S[0] = S[0].real
    S = S - white
    lag = np.subtract.outer(at, also)
    turned = np.exp(2j * np.pi * np.multiply.outer(lag, k) / M) * np.where(k > 0, 2.0, 1.0)
    C = np.tensordot(turned, S, axes=1).real / M
    C += np.equal.outer(np.rint(at), np.rint(also))[:, :, None, None] * white
    return C.transpose(0, 2, 1, 3).reshape(2 * len(at), 2 * len(also))


@pytest.mark.parametrize("jitter", [0.0, 0.4])
def test_the_mean_is_that_of_dense_gaussian_variables(jitter):
    given = places(jitter)
    y = np.random.default_rng(2).standard_normal((len(given.at), 2))
    seen, grid = given.seen.ravel(), np.arange(SAMPLES)
    C = dense(given, given.at, given.at)[np.ix_(seen, seen)]
    expected = dense(given, grid, given.at)[:, seen] @ np.linalg.solve(C, y.ravel()[seen])
    got = conditional(given, spectrum).mean(y)
    assert np.allclose(got.ravel(), expected, atol=3e-4 * np.abs(expected).max())


@pytest.mark.parametrize("jitter", [0.0, 0.4])
def test_draws_have_the_covariance_of_what_is_not_known(jitter):
    given = places(jitter)
    y = np.random.default_rng(3).standard_normal((len(given.at), 2))
    seen, grid = given.seen.ravel(), np.arange(SAMPLES)
    C = dense(given, given.at, given.at)[np.ix_(seen, seen)]
    across = dense(given, grid, given.at)[:, seen]
    left = dense(given, grid, grid) - across @ np.linalg.solve(C, across.T)
    one = conditional(given, spectrum)
    draws = one.draws(y, 1500, np.random.default_rng(4)) - one.mean(y)
    flat = draws.reshape(len(draws), -1)
    got = flat.T @ flat / len(flat)
    scale = np.sqrt(np.outer(np.diag(dense(given, grid, grid)), np.diag(dense(given, grid, grid))))
    assert np.abs(got - left).max() < 0.12 * scale.max()
    assert np.trace(got) == pytest.approx(np.trace(left), rel=0.05)


def test_what_was_measured_on_the_grid_stays_as_it_is():
    given = places(0.0)
    y = np.random.default_rng(5).standard_normal((len(given.at), 2))
    drawn = conditional(given, spectrum).draws(y, 2, np.random.default_rng(6))
    assert np.allclose(drawn[:, given.cells][:, given.seen], y[given.seen], atol=1e-4)


def test_values_between_points_are_those_of_the_fourier_sum():
    given = places(0.4)
    taken = sampling(given)
    rng, half = np.random.default_rng(7), taken.length // 2 + 1
    f = rng.standard_normal((1, half, 2)) + 1j * rng.standard_normal((1, half, 2))
    f[:, 0] = f[:, 0].real
    k = np.arange(half)
    turned = np.exp(2j * np.pi * np.multiply.outer(given.at, k) / taken.length)
    expected = np.einsum("sk,kn->sn", turned * np.where(k > 0, 2.0, 1.0), f[0]).real
    assert np.allclose(taken.gather(f)[0] * taken.length, expected, atol=1e-8 * half)
    y = rng.standard_normal((1, len(given.at), 2))
    assert np.allclose(taken.scatter(y)[0], turned.conj().T @ y[0], atol=1e-8 * half)


def test_grids_are_odd_and_quick():
    assert [odd_length(n) for n in (10, 100, 1024)] == [11, 105, 1029]
