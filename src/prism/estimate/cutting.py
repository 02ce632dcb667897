"""Where the dwells of a stepped sine begin and end, from options or from the force itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import scipy.fft
from numpy.typing import ArrayLike

from prism._types import Array
from prism.errors import CannotTellError, OptionError
from prism.estimate.channels import count_of
from prism.record import Record

Piece = tuple[int, int, int]  # trial, first sample, end
_SHORTEST = 12  # samples of a dwell
_STEPS = 60  # of Newton's iteration
_FIVE_SIGMA = 5.0
_LOOK = 256  # samples that show the noise and the offset
_EXACT = 1e-7  # of the amplitude: a force known exactly


def given_pieces(
    record: Record, dt: float, frequencies: Array | None, starts: Sequence[float] | None
) -> list[Piece] | None:
    """Dwells by the options; None when these do not say.

    Parameters
    ----------
    frequencies : array (dwells,), optional
    starts : sequence of int or float, optional
        Samples or times of the beginnings.
    """
    if record.n_trials > 1:
        if starts is not None:
            raise OptionError("starts with several trials: each trial is one dwell, leave it out.")
        pieces = [(k, 0, samples) for k, samples in enumerate(record.samples)]
    elif starts is not None:
        pieces = _from_starts(record.samples[0], dt, starts)
    elif frequencies is not None:
        edges = np.linspace(0, record.samples[0], len(frequencies) + 1).round().astype(int)
        pieces = [(0, int(a), int(b)) for a, b in pairwise(edges)]
    else:
        return None
    if frequencies is not None and len(frequencies) != len(pieces):
        raise OptionError(
            f"{len(frequencies)} frequencies for {len(pieces)} dwells: give one for each."
        )
    for k, (_, a, b) in enumerate(pieces):
        if b - a < _SHORTEST:
            raise OptionError(
                f"dwell {k} (counted from 0) has {b - a} samples: give at least {_SHORTEST}."
            )
    return pieces


def _from_starts(samples: int, dt: float, starts: Sequence[float]) -> list[Piece]:
    first = [round(count_of(s, dt, "starts")) for s in starts]
    edges = [*first, samples]
    if not first or first[0] < 0 or any(b <= a for a, b in zip(first, edges[1:], strict=True)):
        raise OptionError(
            f"starts {list(starts)}: give increasing beginnings of the dwells inside the record of "
            f"{samples} samples."
        )
    return [(0, a, b) for a, b in zip(first, edges[1:], strict=True)]


def design(omega: ArrayLike, t: Array) -> Array:
    """Columns cos and sin of each frequency, then 1, (samples, 2 lines + 1)."""
    angle = np.multiply.outer(t, np.atleast_1d(np.asarray(omega, float)))
    pairs = np.stack([np.cos(angle), np.sin(angle)], axis=-1).reshape(len(t), -1)
    return np.column_stack([pairs, np.ones(len(t))])


def sine_frequency(t: Array, f: Array) -> float:
    r"""Angular frequency of a sine with an offset, by nonlinear least squares.

    Newton's iteration (Gauss-Newton, with the frequency as a fourth parameter) from the peak of
    the padded, windowed periodogram; it ends at rounding.

    Parameters
    ----------
    t, f : array (samples,)
        Evenly spaced times.
    """
    dt = float(t[1] - t[0])
    centre = 0.5 * (t[0] + t[-1])
    size = scipy.fft.next_fast_len(8 * len(f))
    power = np.abs(scipy.fft.rfft((f - f.mean()) * np.hanning(len(f)), size))
    power[: size // (2 * len(f)) + 1] = 0.0
    omega = float(2 * np.pi * np.argmax(power) / (size * dt))
    tau = t - centre
    for _ in range(_STEPS):
        basis = design(omega, tau)
        a, b, _o = np.linalg.lstsq(basis, f, rcond=None)[0]
        slope = tau * (b * basis[:, 0] - a * basis[:, 1])
        full = np.column_stack([basis, slope])
        step = float(np.linalg.lstsq(full, f, rcond=None)[0][-1])
        step = float(np.clip(step, -1.0, 1.0)) if len(f) * dt * abs(step) < 6 else 0.0
        omega += step
        if abs(step) <= 1e-15 * abs(omega):
            break
    return omega


def detected_pieces(force: Array, dt: float) -> list[Piece]:
    """Dwells of one record, found where the force leaves the sine that fits it so far.

    A dwell grows by doubling while the sine fitted to it predicts what follows; the place of a
    change is then the split with the smallest misfit to the sines on both sides.

    Parameters
    ----------
    force : array (samples,)
        Without gaps.
    """
    t = np.asarray(dt * np.arange(len(force)), float)
    edges = [0]
    while edges[-1] < len(force):
        a = edges[-1]
        b = _grow(t, force, a)
        if b - a < _SHORTEST:
            if len(force) - a < _SHORTEST and a:
                edges[-1] = len(force)
                break
            raise CannotTellError(
                f"the force keeps no frequency for {_SHORTEST} samples from sample {a} on: it is "
                "no stepped sine, or too noisy; give frequencies or starts."
            )
        edges.append(b)
    for k in range(1, len(edges) - 1):
        edges[k] = _split(t, force, (edges[k - 1], edges[k], edges[k + 1]))
    return [(0, a, b) for a, b in pairwise(edges)]


def _grow(t: Array, force: Array, a: int) -> int:
    """End of the dwell that begins at sample a."""
    end = len(force)
    b = min(end, a + max(_SHORTEST, _first_period(force[a:])))
    while True:
        predicted, limit = _continued(t, force, a, b)
        further = min(end, b + (b - a))
        off = np.abs(force[b:further] - predicted[b - a : further - a]) > limit
        if not off.any():
            if further == end:
                return end
            b = further
            continue
        first = b + int(np.argmax(off))
        if first - b < (b - a) // 8 or first - a < _SHORTEST:
            return first
        b = first


def _first_period(force: Array) -> int:
    """Samples until the force has changed its sign three times, by more than its noise.

    The noise is the median fourth difference, from which a well sampled sine is all but absent.
    """
    start = force[:_LOOK] - force[:_LOOK].mean()
    fourth = np.median(np.abs(np.diff(force[:_LOOK], 4)))
    level = min(3 * fourth / (0.6745 * np.sqrt(70)), 0.4 * np.abs(start).max())
    sides = np.sign(force - force[:_LOOK].mean())
    clear = np.flatnonzero(np.abs(force - force[:_LOOK].mean()) > level)
    turns = clear[1:][np.diff(sides[clear]) != 0]
    return int(turns[2]) + 1 if len(turns) > 2 else len(force)


def _continued(t: Array, force: Array, a: int, b: int) -> tuple[Array, float]:
    """The sine fitted to samples a to b over twice that range, and the misfit to allow."""
    far = min(len(force), 2 * b - a)
    omega = sine_frequency(t[a:b], force[a:b])
    basis = design(omega, t[a:far] - t[a])
    c = np.linalg.lstsq(basis[: b - a], force[a:b], rcond=None)[0]
    rms = float(np.sqrt(((force[a:b] - basis[: b - a] @ c) ** 2).sum() / max(b - a - 4, 1)))
    # Cramer-Rao for the frequency and phase: continued by its own length, a fit to N samples errs
    # by 8 σ/√N; twice that allows for the offset and for less than two periods
    grow = np.sqrt(1 + 256 / (b - a))
    return basis @ c, _FIVE_SIGMA * grow * rms + _EXACT * float(np.hypot(c[0], c[1]))


def _split(t: Array, force: Array, edges: tuple[int, int, int]) -> int:
    """The place between two dwells that leaves the least misfit, each fitted to its inner part."""
    a, m, b = edges
    left, right = (a, a + 3 * (m - a) // 4), (m + (b - m) // 4, b)
    squares = []
    for first, last in (left, right):
        s = slice(first, last)
        omega = sine_frequency(t[s], force[s])
        basis = design(omega, t[a:b] - t[a])
        c = np.linalg.lstsq(basis[first - a : last - a], force[s], rcond=None)[0]
        squares.append((force[a:b] - basis @ c) ** 2)
    before = np.concatenate([[0.0], np.cumsum(squares[0])])
    after = np.concatenate([[0.0], np.cumsum(squares[1])])
    total = before + after[-1] - after
    low, high = left[1] - a, right[0] - a
    return a + low + int(np.argmin(total[low : high + 1]))
