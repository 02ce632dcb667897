"""Where the dwells of a stepped sine begin and end, from options or from the force itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import scipy.fft
from numpy.typing import ArrayLike

import prism.estimate._limits as limits
from prism._types import Array
from prism.errors import CannotTellError, OptionError
from prism.estimate.channels import DrivenRecord, count_of

Piece = tuple[int, int, int]  # trial, first sample, end


def given_pieces(
    record: DrivenRecord, frequencies: Array | None, starts: Sequence[float] | None
) -> list[Piece] | None:
    """Dwells by the options; None when these do not say.

    Parameters
    ----------
    frequencies : array (dwells,), optional
    starts : sequence of int or float, optional
        Samples or times of the beginnings.
    """
    if len(record.trials) > 1:
        if starts is not None:
            raise OptionError("starts with several trials: each trial is one dwell, leave it out.")
        pieces = [(k, 0, samples) for k, samples in enumerate(record.samples)]
    elif starts is not None:
        pieces = _from_starts(record.samples[0], record.dt, starts)
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
        if b - a < limits.FEWEST_DWELL_SAMPLES:
            raise OptionError(
                f"dwell {k} (counted from 0) has {b - a} samples: give at least "
                f"{limits.FEWEST_DWELL_SAMPLES}."
            )
    return pieces


def _from_starts(samples: int, dt: float, starts: Sequence[float]) -> list[Piece]:
    first = [round(count_of(s, dt, "starts")) for s in starts]
    pieces = [(0, a, b) for a, b in pairwise([*first, samples])]
    if not first or first[0] < 0 or any(b <= a for _, a, b in pieces):
        raise OptionError(
            f"starts {list(starts)}: give increasing beginnings of the dwells inside the record of "
            f"{samples} samples."
        )
    return pieces


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
    dt, tau = float(t[1] - t[0]), t - 0.5 * (t[0] + t[-1])
    size = scipy.fft.next_fast_len(8 * len(f))
    power = np.abs(scipy.fft.rfft((f - f.mean()) * np.hanning(len(f)), size))
    power[: size // (2 * len(f)) + 1] = 0.0
    omega = float(2 * np.pi * np.argmax(power) / (size * dt))
    # not a descent of `search`: within 1e-8 of its minimum a sum of squares no longer changes, and
    # a rule that waits for its fall would lose half of the digits; the zero of the slope keeps them
    for _ in range(limits.SINE_STEPS):
        basis = design(omega, tau)
        a, b, _o = np.linalg.lstsq(basis, f, rcond=None)[0]
        full = np.column_stack([basis, tau * (b * basis[:, 0] - a * basis[:, 1])])
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
        if b - a < limits.FEWEST_DWELL_SAMPLES:
            if len(force) - a < limits.FEWEST_DWELL_SAMPLES and a:
                edges[-1] = len(force)
                break
            raise CannotTellError(
                f"the force keeps no frequency for {limits.FEWEST_DWELL_SAMPLES} samples from "
                f"sample {a} on: it is no stepped sine, or too noisy; give frequencies or starts."
            )
        edges.append(b)
    for k in range(1, len(edges) - 1):
        edges[k] = _split(t, force, (edges[k - 1], edges[k], edges[k + 1]))
    return [(0, a, b) for a, b in pairwise(edges)]


def _grow(t: Array, force: Array, a: int) -> int:
    """End of the dwell that begins at sample a."""
    end = len(force)
    b = min(end, a + max(limits.FEWEST_DWELL_SAMPLES, _first_period(force[a:])))
    while True:
        predicted, limit = _continued(t, force, a, b)
        further = min(end, b + (b - a))
        off = np.abs(force[b:further] - predicted[b - a : further - a]) > limit
        first = b + int(np.argmax(off)) if off.any() else further
        changed = off.any() and (
            first - b < (b - a) // 8 or first - a < limits.FEWEST_DWELL_SAMPLES
        )
        if changed or first == end:
            return first
        b = first


def _first_period(force: Array) -> int:
    """Samples until the force has changed its sign three times, by more than its noise.

    The noise is the median fourth difference, from which a well sampled sine is all but absent.
    """
    look = force[: limits.NOISE_LOOK]
    centred = force - look.mean()
    noise = np.median(np.abs(np.diff(look, 4))) / (0.6745 * np.sqrt(70))
    level = min(3 * noise, 0.4 * np.abs(centred[: limits.NOISE_LOOK]).max())
    clear = np.flatnonzero(np.abs(centred) > level)
    turns = clear[1:][np.diff(np.sign(centred[clear])) != 0]
    return int(turns[2]) + 1 if len(turns) > 2 else len(force)


def _continued(t: Array, force: Array, a: int, b: int) -> tuple[Array, float]:
    """The sine fitted to samples a to b over twice that range, and the misfit to allow."""
    s, N = slice(a, min(len(force), 2 * b - a)), b - a
    sine, amplitude = _fitted_sine(t[s], force[s], slice(0, N))
    rms = float(np.sqrt(((force[a:b] - sine[:N]) ** 2).sum() / max(N - 4, 1)))
    # Cramer-Rao for the frequency and phase: continued by its own length, a fit to N samples errs
    # by 8 σ/√N; twice that allows for the offset and for less than two periods
    grow = np.sqrt(1 + 256 / N)
    return sine, limits.OFF_THE_SINE * grow * rms + limits.EXACT_FORCE * amplitude


def _split(t: Array, force: Array, edges: tuple[int, int, int]) -> int:
    """The place between two dwells that leaves the least misfit, each fitted to its inner part."""
    a, m, b = edges
    low, high = 3 * (m - a) // 4, m - a + (b - m) // 4
    misfits = [
        np.cumsum((force[a:b] - _fitted_sine(t[a:b], force[a:b], part)[0]) ** 2)
        for part in (slice(0, low), slice(high, b - a))
    ]
    before, after = (np.concatenate([[0.0], sums]) for sums in misfits)
    total = before + after[-1] - after
    return a + low + int(np.argmin(total[low : high + 1]))


def _fitted_sine(t: Array, force: Array, part: slice) -> tuple[Array, float]:
    """The sine that fits a part of the samples, over all of them, and its amplitude."""
    basis = design(sine_frequency(t[part], force[part]), t - t[0])
    c = np.linalg.lstsq(basis[part], force[part], rcond=None)[0]
    return basis @ c, float(np.hypot(c[0], c[1]))
