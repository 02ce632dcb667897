"""How many modes: join, drop and merge by one price per mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array
from prism.motion.forced.response.data import Data
from prism.motion.forced.response.noise import Noise, estimate_noise
from prism.motion.forced.response.relocate import relocated
from prism.motion.forced.response.scan import scan
from prism.motion.forced.response.scoring import (
    Point,
    climb,
    evaluate,
    factors,
    free_count,
    free_parameters,
    information,
    misfit,
)
from prism.motion.forced.response.start import tolerance

_ROUNDS = 40
_MERGE = 1.5  # grid steps
_SEEN = 0.9  # of the gain, at least, the scan sees between its trial poles
_SEEN_LOSSY = 0.7  # and at a loss that need not be that of the mode
_COMPLETE = 1.3  # misfit per datum up to which a residual counts as noise


@dataclass(frozen=True)
class State:
    """A point, the noise, and the likelihood it reaches.

    Attributes
    ----------
    point : Point
    noise : Noise
    value : float
        ``-2 log L``.
    trusted : bool
        Whether the noise was known before the model: then a residual above it is a mode that is
        missing, and not noise.
    """

    point: Point
    noise: Noise
    value: float
    trusted: bool


def empty_value(data: Data) -> float:
    r""":math:`-2 \log L` of no mode at all: everything is noise."""
    H = np.zeros_like(data.Y)
    squares = data.squares(H)
    noise = estimate_noise(np.zeros(H.shape), data.counts, squares, data.shape, data.even)
    return misfit(data, H, noise)


def data_variance(data: Data, noise: Noise) -> Array:
    """Variances from the data, so that no pole can switch a line off by sitting on it."""
    return noise.variance(np.abs(data.Y) ** 2, data.shape, data.even)


def refit(data: Data, state: State, point: Point, steps: int = 12, price: float = np.inf) -> State:
    """Fit another point: with the variances of the data, then with those of the model."""
    noise = state.noise
    point = descend(data, point, noise, price=price)
    point, _ = relocated(data, point, noise, data_variance(data, noise))
    point, value = climb(data, point, noise, steps)
    return replace(state, point=point, value=value)


def descend(data: Data, point: Point, noise: Noise, steps: int = 5, price: float = np.inf) -> Point:
    """Fit roughly first, then closer and closer.

    Multiplicative noise weighs a value of 1e-6 as much as one of 1, and such values are small by
    the cancellation of many modes; with additive noise a line next to a pole is known to many
    digits. A start with errors of a percent would get lost among them. A tolerance that falls
    from step to step keeps each step well conditioned. With a finite price, a mode that shows
    only at a closer look may join there.
    """
    fixed = data_variance(data, noise)
    rough = tolerance(data, fixed)
    there = data.counts > 0
    share = 1e-2
    while np.any((share * rough > fixed)[there]):
        variance = fixed + share * rough
        point, value = climb(data, point, noise, steps, variance)
        point = _completed(data, point, noise, variance, value, price)
        share *= 1e-2
    point, value = climb(data, point, noise, 2 * steps, fixed)
    return _completed(data, point, noise, fixed, value, price)


def _completed(
    data: Data, point: Point, noise: Noise, variance: Array, value: float, price: float
) -> Point:
    """Add modes until the residual is noise at these variances, or none helps."""
    for _ in range(_ROUNDS):
        left = (data.squares(evaluate(data, point).H) / variance).sum()
        if not np.isfinite(price) or left < _COMPLETE * data.total:
            return point
        best = point
        for one in scan(data, point, variance):
            if one.gain > price:
                start = point.joined(one.lam, one.v, one.eta).sorted()
                trial, new = climb(data, start, noise, 8, variance)
                if new < value - price:
                    best, value = trial, new
        if best is point:
            return point
        point = best
    return point


def settle(data: Data, state: State, rounds: int = 3, steps: int = 12) -> State:
    """Alternate between the noise and the modes.

    While modes are missing the residual is not noise, and a noise read off it would hide them:
    then the noise stays as it is, and so do the variances, which come from the data.
    """
    point, noise, value = state.point, state.noise, state.value
    for _ in range(rounds):
        H = evaluate(data, point).H
        squares = data.squares(H)
        fixed = data_variance(data, noise)
        if state.trusted and (squares / fixed).sum() > _COMPLETE * data.total:
            point, value = climb(data, point, noise, steps, fixed)
            return replace(state, point=point, value=value)
        noise = estimate_noise(np.abs(H) ** 2, data.counts, squares, data.shape, data.even)
        before = misfit(data, H, noise)
        point, value = climb(data, point, noise, steps)
        if before - value < 1e-3:
            break
    return replace(state, point=point, noise=noise, value=value)


def select(data: Data, state: State, price: float, say: Callable[[str], None]) -> State:
    """Join and drop modes until neither pays."""
    state = shrink(data, state, price)
    for _ in range(_ROUNDS):
        say(f"{len(state.point)} modes")
        grown = _join(data, state, price)
        if grown is None:
            return state
        smaller = shrink(data, grown, price)
        if len(smaller.point) <= len(state.point) and smaller.value > state.value - 1.0:
            return state
        state = smaller
    return state


def strongest(data: Data, state: State, most: int) -> State:
    """Leave out the weakest modes until no more than ``most`` are left."""
    while len(state.point) > most:
        weakest = int(np.argmin(wald(data, state)))
        loose = replace(state, trusted=False)
        state = settle(data, refit(data, loose, state.point.without(weakest)))
    return state


def memory(data: Data, state: State) -> float:
    r"""How many lines share one error: :math:`1 + 2 \sum_k ρ_k` of the residual over frequency.

    Noise is new in every line. What the model cannot do (modes with complex shapes, a small
    nonlinearity) is smooth in frequency, and a gain against it counts as often as it is new.
    """
    at = evaluate(data, state.point)
    variance = state.noise.variance(np.abs(at.H) ** 2, data.shape, data.even)
    z = (data.Y - at.H) * np.sqrt(data.counts / variance)
    power = float((np.abs(z) ** 2).sum())
    if power == 0:
        return 1.0
    doubt = 3 / np.sqrt(data.total)
    total = 0.0
    for lag in range(1, len(z) // 4):
        rho = float((z[:-lag].conj() * z[lag:]).real.sum()) / power
        if rho < doubt:
            break
        total += rho
    return 1 + 2 * total


def _due(data: Data, state: State, price: float) -> float:
    """The price where errors have a memory, and where few data leave the noise uncertain.

    With p parameters fitted to N real numbers, residuals are smaller than the noise by
    :math:`1 - p/N`, and a gain in their units is larger.
    """
    size = 2 * data.total
    spare = size - free_count(state.point) - state.noise.parameters
    return price * memory(data, state) * size / max(spare, 1)


def _join(data: Data, state: State, price: float) -> State | None:
    """Add the mode that gains most; None when none gains its price."""
    price = _due(data, state, price)
    least = _SEEN if state.point.damping == "none" else _SEEN_LOSSY
    candidates = scan(data, state.point, data_variance(data, state.noise))
    best: State | None = None
    for one in candidates:
        if one.gain < least * price:
            continue
        start = state.point.joined(one.lam, one.v, one.eta).sorted()
        found = refit(data, state, start)
        if found.value < state.value - price and (best is None or found.value < best.value):
            best = found
    return None if best is None else settle(data, best)


def shrink(data: Data, state: State, price: float) -> State:
    """Merge neighbours, then drop modes, while that costs less than the price."""
    price = _due(data, state, price)
    while len(state.point) > 1:
        smaller = _merged(data, state, price) or _dropped(data, state, price)
        if smaller is None:
            return state
        state = settle(data, smaller)
    return state


def _merged(data: Data, state: State, price: float) -> State | None:
    point = state.point.sorted()
    step = np.interp(point.lam, data.x, np.gradient(data.x))
    for j in np.argsort(np.diff(point.lam) / step[:-1]):
        if point.lam[j + 1] - point.lam[j] > _MERGE * step[j]:
            return None
        total = point.V[j : j + 2].T @ point.V[j : j + 2]
        values, vectors = np.linalg.eigh(total)
        share = (point.V[j : j + 2] ** 2).sum(axis=1)
        lam = float(share @ point.lam[j : j + 2] / share.sum())
        one = point.without(int(j + 1))
        one.lam[j], one.V[j] = lam, np.sqrt(values[-1]) * vectors[:, -1]
        found = _affordable(data, state, one, price)
        if found is not None:
            return found
    return None


def _dropped(data: Data, state: State, price: float) -> State | None:
    for j in _doubtful(data, state, price):
        found = _affordable(data, state, state.point.without(j), price)
        if found is not None:
            return found
    return None


def _affordable(data: Data, state: State, fewer: Point, price: float) -> State | None:
    """Refit with fewer modes, or None if the loss exceeds the price."""
    fixed = data_variance(data, state.noise)
    now = misfit(data, evaluate(data, state.point).H, state.noise, fixed)
    fewer = descend(data, fewer, state.noise)
    # without a true mode the misfit stays far above, and moving poles about is in vain
    if misfit(data, evaluate(data, fewer).H, state.noise, fixed) > now + 20 * price:
        return None
    found = refit(data, state, fewer)
    if found.value < state.value + price:
        return found
    # a mode may stand for noise of another kind than the present one
    found = settle(data, found)
    return found if found.value < state.value + price else None


def _doubtful(data: Data, state: State, price: float) -> list[int]:
    """Modes worth a trial without: weak ones, and those whose loss is unlike the others'.

    The Wald statistic is the gain of a mode in a linear world; next to modes that cancel it is
    far too large, so that weak means weak among its fellows too.
    """
    worth = wald(data, state)
    limit = max(4 * price, 1e-3 * float(np.median(worth)))
    out = [int(j) for j in np.argsort(worth)[:2] if worth[j] < limit]
    if state.point.damping != "none":
        odd = state.point.eta > 5 * np.median(state.point.eta) + 1e-6
        out += [int(j) for j in np.flatnonzero(odd) if int(j) not in out and worth[j] < limit * 10]
    return out


def covariance(data: Data, state: State) -> Array:
    """Inverse Fisher information of all parameters.

    A frequency held at a bound (a rigid body, a static compliance) has no error; a loss factor of
    zero has the error of one that is free, because it may be larger.
    """
    point = state.point
    at = evaluate(data, point)
    _, matrix = information(data, at, factors(data, point, at), state.noise)
    free = free_parameters(point)
    free[len(point) + point.V.size :] = True
    part = matrix[np.ix_(free, free)]
    scale = np.sqrt(np.maximum(np.diag(part), 1e-300))
    inverse = np.linalg.pinv(part / np.outer(scale, scale), rcond=1e-15, hermitian=True)
    out = np.zeros_like(matrix)
    out[np.ix_(free, free)] = inverse / np.outer(scale, scale)
    return out


def wald(data: Data, state: State) -> Array:
    """Squared length of each participation vector in units of its error."""
    C = covariance(data, state)
    N, (K, n) = len(state.point), state.point.V.shape
    out = np.empty(K)
    for j in range(K):
        part = slice(N + j * n, N + (j + 1) * n)
        v = state.point.V[j]
        out[j] = v @ np.linalg.pinv(C[part, part], rcond=1e-12, hermitian=True) @ v
    return out
