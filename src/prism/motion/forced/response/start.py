"""Where the fit starts: the noise before any model, and poles from the rational step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.forced.response.data import Data
from prism.motion.forced.response.noise import Noise, estimate_noise
from prism.motion.forced.response.rational import rank_one, relocate, residues
from prism.motion.forced.response.scoring import FAR, Point

_ENOUGH = 30  # reciprocal pairs from which the noise is read off directly
_STEPS = 15
_PROMINENCE = 1.0  # of the logarithm of the power
_PATIENCE = 1  # rungs beyond the best before the ladder ends
_PRUNINGS = 2


@dataclass(frozen=True)
class Guess:
    """Noise before any model; trusted when it was read off data that hold nothing else."""

    noise: Noise
    trusted: bool


def first_guesses(data: Data) -> list[Guess]:
    """Guesses of the noise, the most trustworthy alone if there is one.

    The difference of reciprocal measurements is noise whatever the system. Without it the
    imaginary part is noise if the system has no losses, and more than noise if it has; purely
    additive and purely multiplicative noise are tried beside that guess, and the likelihood
    chooses.
    """
    power = np.abs(data.Y) ** 2
    twice = data.scatter > 0
    if twice.sum() >= _ENOUGH:
        return [
            Guess(
                estimate_noise(
                    power, twice.astype(np.float64), data.scatter, data.shape, data.even
                ),
                True,
            )
        ]
    quiet = 2 * data.counts * data.Y.imag**2 + data.scatter
    guess = estimate_noise(data.Y.real**2, data.counts, quiet, data.shape, data.even)
    level = float(np.median(power[data.counts > 0]))
    return [
        Guess(guess, True),
        Guess(Noise(1e-4 * level, 0.0), False),
        Guess(Noise(0.0, 1e-4), False),
    ]


def weights_of(data: Data, noise: Noise) -> Array:
    """Inverse standard deviations of the means, from the data themselves.

    Values that are small by the cancellation of many modes, and a line that sits on a pole, are
    known with a precision that poles and residues reach only later: neither may decide here.
    """
    s2 = noise.variance(np.abs(data.Y) ** 2, data.shape, data.even)
    return np.sqrt(data.counts / (s2 + 1e-6 * tolerance(data, s2)))


def tolerance(data: Data, variance: Array) -> Array:
    """Variance of a rough fit: as the median of the data, and a percent of each value."""
    rough = float(np.median(variance[data.counts > 0])) + np.abs(data.Y) ** 2
    return np.asarray(rough)


@dataclass(frozen=True)
class Rational:
    """Poles and residues of one order."""

    poles: ComplexArray
    residues: Array
    std: Array
    chi2: float
    lossless: bool


def count_peaks(data: Data) -> int:
    """Number of peaks that rise and fall by a factor e in power."""
    size = np.log(np.maximum((np.abs(data.Y) ** 2).sum(axis=1), 1e-300))
    count, rising, extreme = 0, True, size[0]
    for value in size:
        if rising:
            extreme = max(extreme, value)
            if value < extreme - _PROMINENCE:
                count, rising, extreme = count + 1, False, value
        else:
            extreme = min(extreme, value)
            if value > extreme + _PROMINENCE:
                rising, extreme = True, value
    return count


def ladder(data: Data, noise: Noise, price: float) -> Rational:
    """Best of the rational fits of growing order, which ends when more poles do not pay.

    Parameters
    ----------
    price : float
        What a mode must gain.
    """
    weights = weights_of(data, noise)
    limit = max(len(data.omega) // 3, 1)
    order = max(1, min(count_peaks(data), limit))
    best, beyond = _of_order(data, weights, order), 0
    while beyond <= _PATIENCE:
        order += 1 if order < 4 else 2
        if order > limit:
            break
        fit = _of_order(data, weights, order)
        pays = _cost(fit, price) < _cost(best, price)
        best, beyond = (fit, 0) if pays else (best, beyond + 1)
    return _pruned(data, weights, best, price)


def _cost(fit: Rational, price: float) -> float:
    return fit.chi2 + len(fit.poles) * price


def _pruned(data: Data, weights: Array, fit: Rational, price: float) -> Rational:
    """Take out poles whose residue is no mode, let the others settle, keep that if it pays."""
    for _ in range(_PRUNINGS):
        modes = [
            mode_vector(data, R, std) is not None and pole.real > 0
            for pole, R, std in zip(fit.poles, fit.residues, fit.std, strict=True)
        ]
        if all(modes) or not any(modes):
            return fit
        smaller = _settled(data, weights, fit.poles[np.array(modes)])
        if _cost(smaller, price) > _cost(fit, price):
            return fit
        fit = smaller
    return fit


def _of_order(data: Data, weights: Array, order: int) -> Rational:
    low, high = data.omega[0], data.omega[-1]
    grid = np.linspace(low, high, order + 2)[1:-1] ** 2
    return _settled(data, weights, grid * (1 + 0.02j))


def _settled(data: Data, weights: Array, start: ComplexArray) -> Rational:
    """Relocate the poles and find their residues, with losses or without, whichever fits."""
    poles = relocate(data.x, data.Y, weights, start, _STEPS)
    on_axis = np.asarray(_off_the_lines(data.x, poles.real), complex)
    real = residues(data.x, data.Y, weights, on_axis)
    full = residues(data.x, data.Y, weights, poles)
    lossless = real[2] <= full[2]
    R, std, chi2 = real if lossless else full
    return Rational(poles, R, std, chi2, lossless)


def _off_the_lines(x: Array, poles: Array) -> Array:
    """Keep real poles a rounding error away from the lines of the grid."""
    near = np.abs(poles[:, None] - x).argmin(axis=1)
    step = 1e-9 * np.gradient(x)[near]
    side = np.where(poles >= x[near], 1.0, -1.0)
    return np.where(np.abs(poles - x[near]) < step, x[near] + side * step, poles)


def as_point(data: Data, fit: Rational, damping: str) -> Point:
    """Rank-one modes of a rational fit; poles without a positive residue are left out."""
    n = data.ports
    lam, V, eta = [], [], []
    for pole, R, std in zip(fit.poles, fit.residues, fit.std, strict=True):
        v = mode_vector(data, R, std)
        if v is not None and np.any(v) and pole.real > 0:
            lam.append(pole.real)
            V.append(v)
            eta.append(min(abs(pole.imag) / pole.real, 0.3))
    losses = np.array(eta) if damping != "none" else np.zeros(len(lam))
    places = np.minimum(np.array(lam), FAR)
    return Point(_off_the_lines(data.x, places), np.array(V).reshape(len(lam), n), losses, damping)


def mode_vector(data: Data, R: Array, std: Array) -> Array | None:
    """Rank-one vector of the residues (E,) of one pole; None without a positive driving point."""
    n = data.ports
    full, spread = np.full((n, n), np.nan), np.full(n, np.nan)
    full[data.rows, data.columns] = R
    full[data.columns, data.rows] = R
    own = data.rows == data.columns
    spread[data.rows[own]] = np.sqrt(np.maximum(std[own], 1e-300))
    if not data.driven:
        return _from_block(full)
    if np.isnan(full).any():
        return _from_columns(full, spread)
    values = np.linalg.eigvalsh(full / np.outer(spread, spread))
    # a residue that is as negative as positive is no mode, but noise or another pole's tail
    return rank_one(full, spread) if values[-1] > -2 * min(values[0], 0.0) else None


def _from_block(full: Array) -> Array:
    r"""Factor :math:`R = v_{out} v_{in}^T` of a response without driving point.

    Only the product is determined; both factors get the same length.
    """
    known = ~np.isnan(full)
    a, b = np.argwhere(known & (np.abs(np.nan_to_num(full)) == np.nanmax(np.abs(full))))[0]
    outputs, inputs = np.flatnonzero(known[:, b]), np.flatnonzero(known[a])
    U, S, Wh = np.linalg.svd(np.nan_to_num(full[np.ix_(outputs, inputs)]))
    v = np.zeros(len(full))
    v[outputs], v[inputs] = U[:, 0] * np.sqrt(S[0]), Wh[0] * np.sqrt(S[0])
    return v


def _from_columns(full: Array, spread: Array) -> Array | None:
    """``v_a = R_ab / √R_bb`` from the best driving point b, where not all pairs were measured."""
    diagonal = np.diag(full)
    sure = np.where(np.isnan(diagonal), -np.inf, diagonal / np.nan_to_num(spread, nan=1.0) ** 2)
    v = np.full(len(full), np.nan)
    for b in np.argsort(sure)[::-1]:
        if sure[b] <= 0:
            break
        column = full[:, b] / np.sqrt(diagonal[b])
        known = ~np.isnan(v) & ~np.isnan(column)
        sign = 1.0 if not known.any() or (v[known] @ column[known]) >= 0 else -1.0
        v = np.where(np.isnan(v), sign * column, v)
    return None if np.isnan(v).any() else v
