"""Stretches of free decay: a record cut at its kicks, stretches of one sampling put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prism._types import Array, ComplexArray, Mask, Single
from prism.errors import OptionError, RecordError, RecordTooShortError
from prism.motion.decays import _limits as limits
from prism.record import MIN_SAMPLES, Record
from prism.search.columns import ColumnSampling, line_columns, waves
from prism.search.sampling import Places, UniformSampling
from prism.search.series import Stretch, fewest_present, put_together

Kicks = ArrayLike | Sequence[NDArray[np.float64]]


def columns(
    times: Array,
    poles: ComplexArray,
    background: int,
    scale: float,
    *,
    even: bool = False,
    derivatives: bool = True,
) -> Array:
    """Offset, drift, real and imaginary parts of the lines, and the latter times ``t/scale``."""
    u = times / scale
    back = np.stack([np.ones_like(u), 2 * u - 1])[:background]
    z = waves(times, poles.conj(), even=even)
    return line_columns(back, z, u, derivatives=derivatives)


@dataclass(frozen=True)
class Segments(ColumnSampling):
    r"""Stretches sampled at the same times since their start, with the same gaps.

    The columns of a line are :math:`\operatorname{Re} e^{λt}` and :math:`-\operatorname{Im}
    e^{λt}`, those of its derivatives the same times :math:`t/T`.

    Attributes
    ----------
    values : array (channels, stretches, samples)
        Zero where a sample is missing.
    present : array of bool (channels, samples)
    times : array (samples,)
        Since the first sample.
    scale : array (channels, stretches)
        What the values were divided by, so that all series of a channel are equally noisy;
        their amplitudes are free, so the model is the same.
    uniform : bool
    members : tuple of int
        Number of each stretch in the list that was cut.
    span : float
        T, the duration of the longest stretch of all.
    background : int
    worth : array (channels,), optional
        Sum of squares of the window that the values were multiplied with.
    """

    values: Array
    present: Mask
    times: Array
    scale: Array
    uniform: bool
    members: tuple[int, ...]
    span: float
    background: int = 2
    worth: Array | None = None

    nonlinear = 2

    @property
    def unit(self) -> float:
        """Unit of the time that multiplies the derivative columns."""
        return self.span

    def columns(self, places: Places, part: slice, *, derivatives: bool = True) -> Array:
        """Offset, drift, real and imaginary parts of the lines, and the latter times ``t/T``."""
        how = {"even": self.even, "derivatives": derivatives}
        return columns(self.times[part], places, self.background, self.span, **how)

    def directions(self, amplitudes: Array) -> Array:
        """``∂ Re A e^{λt} = Re(iA t e^{λt}) ∂ω - Re(A t e^{λt}) ∂δ``."""
        return pole_directions(amplitudes)

    def rescaled(self, factor: Array) -> Segments:
        """Divide every series by its factor (channels, stretches)."""
        return replace(self, values=self.values / factor[:, :, None], scale=self.scale * factor)

    def faded(self, rate: float) -> Segments:
        """The same as a line of some rate sees it."""
        window = np.exp(-rate * self.times)
        return replace(self, values=self.values * window, worth=self.present @ window**2)

    def spectrum(self, spacing: float, count: int, unit: Array) -> Single:
        r"""Power seen by a decaying line, :math:`|Σ_t y e^{-(r + iω)t}|^2 / Σ_t e^{-2rt}`.

        Summed over stretches, in units of ``unit²``, at ``ω_k = k·spacing``; shape
        (channels, count).
        """
        worth = self.counts if self.worth is None else self.worth
        if self.uniform:
            power = UniformSampling(self.values, self.step, 0.0).spectrum(spacing, count, unit)
            counts = np.full(self.n_channels, float(len(self.times)))
        else:
            power, counts = super().spectrum(spacing, count, unit), self.counts
        return np.asarray(power * (counts / worth)[:, None], np.float32)

    def spread(self, rate: float) -> float:
        """Length of a uniform window with the same spread in time as ``e^{-2rt}`` over this."""
        weight = np.exp(-2 * rate * self.times)
        mean = float(np.average(self.times, weights=weight))
        return float(np.sqrt(12 * np.average((self.times - mean) ** 2, weights=weight)))


def pole_directions(amplitudes: Array) -> Array:
    """Coefficients of the derivative columns for a change of ω and of δ.

    Parameters
    ----------
    amplitudes : array (channels, 2m, stretches)
        Real parts, then imaginary parts.

    Returns
    -------
    array (2, channels, 2m, stretches)
    """
    m = amplitudes.shape[1] // 2
    turned = np.concatenate([-amplitudes[:, m:], amplitudes[:, :m]], axis=1)
    return np.stack([turned, -amplitudes])


def pole_jacobian(D: Array, directions: Array) -> Array:
    """Derivatives by (ω, δ) from derivative columns D, in units of their time, (times, 2m)."""
    m = D.shape[1] // 2
    return np.hstack([D[:, :m] * v[:m] + D[:, m:] * v[m:] for v in directions])


# -- cutting ---------------------------------------------------------------------------------------


def kick_spans(kicks: Kicks | None, trials: int) -> list[Array]:
    """Kicks of each trial as spans (kicks, 2) of time; a time alone has no width.

    Parameters
    ----------
    kicks : array_like, or a sequence of one array per trial, or None
        Times, or pairs of times between which a force acts.
    trials : int
    """
    if kicks is None or not np.size(np.asarray(kicks, object)):
        return [np.zeros((0, 2))] * trials
    if isinstance(kicks, list | tuple) and any(isinstance(k, np.ndarray) for k in kicks):
        if len(kicks) != trials:
            raise OptionError(
                f"kicks of {len(kicks)} trials, but there are {trials}: give one array of times "
                "per trial, or one for all."
            )
        return [_spans(one) for one in kicks]
    return [_spans(kicks)] * trials


def _spans(kicks: object) -> Array:
    spans = np.asarray(kicks, float)
    if spans.ndim == 1:
        spans = np.stack([spans, spans], axis=1)
    proper = spans.ndim == 2 and spans.shape[1] == 2 and bool(np.isfinite(spans).all())
    if not proper or np.any(spans[:, 1] < spans[:, 0]):
        raise OptionError("kicks: give times, or pairs of times between which a force acts.")
    return np.asarray(spans[np.argsort(spans[:, 0])])


def cut(record: Record, each: Sequence[Array]) -> list[Stretch]:
    """Cut every trial at its kicks.

    Parameters
    ----------
    each : sequence of arrays (kicks, 2)
        Samples from the first time on belong to what follows; those up to the second time are
        left out where the kick has a width.
    """
    out = []
    kicked = any(len(spans) for spans in each)
    for r, (times, spans) in enumerate(zip(record.times, each, strict=True)):
        starts = np.searchsorted(times, spans[:, 0], side="left")
        stops = np.where(
            spans[:, 1] > spans[:, 0], np.searchsorted(times, spans[:, 1], side="right"), starts
        )
        firsts = [0, *stops]
        ends = [*starts, len(times)]
        for k, (first, stop) in enumerate(zip(firsts, ends, strict=True)):
            # a record that is kicked mostly begins with a kick
            piece = Stretch(r, int(first), int(stop), kicked, k < len(starts))
            if not kicked or stop - first >= limits.SHORTEST_STRETCH:
                out.append(piece)
    if not out:
        raise RecordTooShortError(
            f"no {limits.SHORTEST_STRETCH} samples lie between two kicks: record more slowly "
            "decaying motion, or give fewer kicks."
        )
    return out


def trimmed(pieces: Sequence[Stretch], lead: int, trail: int) -> list[Stretch]:
    """Leave out samples after and before each kick."""
    return [
        replace(
            p,
            first=p.first + lead * p.kicked,
            stop=p.stop - trail * p.ends_in_kick,
        )
        for p in pieces
    ]


def group(
    record: Record, pieces: Sequence[Stretch], background: int = 2
) -> tuple[list[Segments], Array, Array]:
    """Put stretches of one sampling together.

    Returns
    -------
    segments : list of Segments
    means : array (stretches, channels)
        Subtracted from the values; the offset is in the model anyway.
    starts : array (stretches,)
        Time of the first sample of each.
    """
    for piece in pieces:
        _check_presence(record, piece)
    groups, means = put_together(record, pieces, clock=False)
    segments = [
        Segments(
            values=np.nan_to_num(one.values, nan=0.0),
            present=~one.missing,
            times=one.times - one.times[0],
            scale=np.ones(one.values.shape[:2]),
            uniform=one.step is not None,
            members=one.members,
            span=0.0,
            background=background,
        )
        for one in groups
    ]
    longest = max(s.duration for s in segments)
    starts = np.array([record.times[p.trial][p.first] for p in pieces])
    return [replace(s, span=longest) for s in segments], means, starts


def _check_presence(record: Record, piece: Stretch) -> None:
    few = fewest_present(record.trials[piece.trial][piece.samples])
    if few is not None:
        raise RecordError(
            f"trial {piece.trial} (counted from 0), channel {record.channels[few[0]]!r} has "
            f"{few[1]} samples in samples {piece.first} to {piece.stop}: leave the channel "
            f"out, or give at least {MIN_SAMPLES} between kicks."
        )
