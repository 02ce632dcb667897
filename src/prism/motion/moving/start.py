"""Where a fit of moving lines starts: the envelope of each line, piece by piece of the record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import legvander

from prism._types import Array, ComplexArray
from prism.motion.moving import _limits as limits
from prism.motion.moving.fit import Data, MovingFit, columns, evaluate
from prism.motion.moving.law import PHASE, SIZE, Freedom, Law
from prism.search.projection import attempted
from prism.search.sampling import BACKGROUND


class Envelope(NamedTuple):
    """A line seen through windows of the record.

    Attributes
    ----------
    u : array (pieces,)
        Middle of each.
    values : array (pieces,)
        Complex, along the strongest combination of channels and trials, in units of its error.
    """

    u: Array
    values: ComplexArray


def clustered(omega: Array, strength: Array, reach: float) -> list[tuple[float, Array]]:
    """Lines that may be one: the centre of each cluster, and its members.

    Parameters
    ----------
    omega, strength : arrays (lines,)
        Ascending frequencies, and the gain of each.
    reach : float
        Neighbours nearer than this are one.
    """
    if not len(omega):
        return []
    breaks = np.flatnonzero(np.diff(omega) > reach) + 1
    parts = np.split(np.arange(len(omega)), breaks)
    return [(float(np.average(omega[p], weights=strength[p])), omega[p]) for p in parts]


def started(fit: MovingFit, which: list[int]) -> MovingFit:
    """The fit with start values from the envelopes of some lines, where these lower the cost.

    Parameters
    ----------
    fit : MovingFit
    which : list of int
        Lines whose law is read off.
    """
    laws = {j: more for j in which if (more := _read(fit, j))}
    together = fit.law
    for more in laws.values():
        together = together.given(more)
    tried = attempted(evaluate, fit.data, together, fit.weights)
    if tried is not None and tried.cost < fit.cost:
        return tried
    for more in laws.values() if len(laws) > 1 else ():
        alone = attempted(evaluate, fit.data, fit.law.given(more), fit.weights)
        if alone is not None and alone.cost < fit.cost:
            fit = alone
    return fit


def _read(fit: MovingFit, j: int) -> dict[Freedom, float]:
    """Coefficients of a line that its envelope shows, beyond those that it has."""
    envelope = demodulated(fit, j, pieces_for(fit.law, j))
    size = np.abs(envelope.values)
    if np.median(size) < limits.WEAKEST_PIECE:
        return {}
    phase = np.unwrap(np.angle(envelope.values))
    found = {Freedom(PHASE, j, k): v for k, v in _polynomial(envelope.u, phase, size, (0, 1))}
    found |= {Freedom(SIZE, j, k): v for k, v in _polynomial(envelope.u, np.log(size), size, (0,))}
    return {one: value for one, value in found.items() if one.order}


def pieces_for(law: Law, j: int) -> int:
    """Pieces in which other lines do not disturb."""
    others = np.delete(law.carriers, j)
    gap = np.abs(others - law.carriers[j]).min(initial=np.inf) * law.half / np.pi
    pieces = limits.PIECES_PER_GAP * min(gap, law.carriers[j] * law.half / np.pi)
    return int(np.clip(pieces, limits.FEWEST_PIECES, limits.MOST_PIECES))


def demodulated(fit: MovingFit, j: int, pieces: int) -> Envelope:
    """The envelope of a line about its present law, the others taken away."""
    seen = [_piecewise(*own, pieces) for own in _own(fit, j)]
    values = np.hstack([one for _, one in seen])
    there = np.any(values != 0, axis=1)
    longest = max(range(len(seen)), key=lambda i: np.count_nonzero(seen[i][1][:, 0]))
    U, s, _ = np.linalg.svd(values[there], full_matrices=False)
    return Envelope(seen[longest][0][there], U[:, 0] * s[0])


def _own(fit: MovingFit, j: int) -> Iterator[tuple[Array, Array, ComplexArray]]:
    """Scaled time, weighted series (series, samples) of one line alone, and its unit motion."""
    data: Data = fit.data
    rests = fit.residuals()
    for group in data.groups:
        E = columns(fit.law, group.u)
        own = [BACKGROUND + j, BACKGROUND + fit.count + j]
        rows = []
        for r in group.members:
            for a, weight in enumerate(fit.weights):
                line = rests[r][:, a] + fit.linear[r, a].values[own] @ E[own]
                rows.append(np.sqrt(weight) * line)
        yield group.u, np.array(rows), E[own[0]] - 1j * E[own[1]]


def _piecewise(
    u: Array, rows: Array, motion: ComplexArray, pieces: int
) -> tuple[Array, ComplexArray]:
    """Least squares for the amplitude in each Hann window, in units of its error.

    Zero where there are too few samples: a trial may be shorter than the longest one.
    """
    width = 2.0 / pieces
    middles = -1 + width * (np.arange(pieces) + 0.5)
    out = np.zeros((pieces, len(rows)), complex)
    for i, middle in enumerate(middles):
        first, stop = np.searchsorted(u, [middle - width, middle + width])
        if stop - first < limits.FEWEST_IN_A_PIECE:
            continue
        window = np.cos(0.5 * np.pi * (u[first:stop] - middle) / width) ** 2
        power = 0.5 * float(np.sum(np.abs(motion[first:stop]) ** 2 * window**2))
        middles[i] = np.average(u[first:stop], weights=window)
        local = np.conj(motion[first:stop]) * window / np.sqrt(max(power, 1e-300))
        out[i] = rows[:, first:stop] @ local
    return np.asarray(middles, float), out


def _polynomial(
    u: Array, values: Array, weight: Array, always: tuple[int, ...]
) -> list[tuple[int, float]]:
    """Coefficients of a polynomial that stand out of their errors."""
    degree = min(limits.DEGREE - 1, len(u) // 2)
    X = legvander(u, degree)
    keep = list(range(degree + 1))
    while True:
        Y = X[:, keep] * weight[:, None]
        found, *_ = np.linalg.lstsq(Y, values * weight, rcond=None)
        errors = np.sqrt(np.diag(np.linalg.pinv(Y.T @ Y)))
        ratio = np.abs(found) / errors
        ratio[[k in always for k in keep]] = np.inf
        weakest = int(np.argmin(ratio))
        if ratio[weakest] >= limits.START_LEVEL:
            return list(zip(keep, found.tolist(), strict=True))
        keep.pop(weakest)
