"""Stretches of free decay: a record cut at its kicks, stretches of one sampling put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prism._types import Array, Mask, Single
from prism.errors import OptionError, RecordError, RecordTooShortError
from prism.record import MIN_SAMPLES, Record
from prism.search.sampling import ScatteredSampling, UniformSampling

Kicks = ArrayLike | Sequence[NDArray[np.float64]]

_CHUNK = 1 << 14  # samples whose columns are held at once
_SHORTEST = 2 * MIN_SAMPLES  # samples of a stretch between kicks that is worth fitting


@dataclass(frozen=True)
class Stretch:
    """Samples ``first:stop`` of a trial; kicked at its beginning, its end, or neither."""

    trial: int
    first: int
    stop: int
    kicked: bool
    ends_in_kick: bool


@dataclass(frozen=True)
class Segments:
    """Stretches sampled at the same times since their start, with the same gaps.

    Attributes
    ----------
    times : array (samples,)
        Since the first sample.
    values : array (channels, stretches, samples)
        Zero where a sample is missing.
    present : array of bool (channels, samples) or None
        None when nothing is missing.
    scale : array (channels, stretches)
        What the values were divided by, so that all series of a channel are equally noisy;
        their amplitudes are free, so the model is the same.
    uniform : bool
    members : tuple of int
        Number of each stretch in the list that was cut.
    """

    times: Array
    values: Array
    present: Mask | None
    scale: Array
    uniform: bool
    members: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of stretches."""
        return int(self.values.shape[1])

    @property
    def samples(self) -> Array:
        """Samples present in each channel of one stretch."""
        if self.present is None:
            return np.full(len(self.values), float(len(self.times)))
        return np.asarray(self.present.sum(axis=1), float)

    @property
    def step(self) -> float:
        """Sampling step; the median one when times are irregular."""
        return float(np.median(np.diff(self.times)))

    @property
    def duration(self) -> float:
        """Time covered, one step more than the last time."""
        return float(self.times[-1]) + self.step

    def rescaled(self, factor: Array) -> Segments:
        """Divide every series by its factor (channels, stretches)."""
        return replace(self, values=self.values / factor[:, :, None], scale=self.scale * factor)

    def parts(self) -> Iterator[slice]:
        """Pieces small enough that their columns fit into the cache."""
        return (slice(i, i + _CHUNK) for i in range(0, len(self.times), _CHUNK))

    def spectrum(self, rate: float, spacing: float, count: int, unit: Array) -> Single:
        r"""Power seen by a decaying line, :math:`|Σ_t y e^{-(r + iω)t}|^2 / Σ_t e^{-2rt}`.

        Summed over stretches, in units of ``unit²``, at ``ω_k = k·spacing``; shape
        (channels, count).
        """
        window = np.exp(-rate * self.times)
        faded = self.values * window
        if self.uniform:
            power = UniformSampling(faded, self.step, 0.0).spectrum(spacing, count, unit)
            counts = np.full(len(faded), float(len(window)))
        else:
            present = np.ones(faded[:, 0].shape, bool) if self.present is None else self.present
            power = ScatteredSampling(faded, present, self.times).spectrum(spacing, count, unit)
            counts = self.samples
        return np.asarray(power * (counts / self._window_power(window))[:, None], np.float32)

    def _window_power(self, window: Array) -> Array:
        if self.present is None:
            return np.full(len(self.values), float(window @ window))
        return np.asarray(self.present @ window**2)

    def spread(self, rate: float) -> float:
        """Length of a uniform window with the same spread in time as ``e^{-2rt}`` over this."""
        weight = np.exp(-2 * rate * self.times)
        mean = float(np.average(self.times, weights=weight))
        return float(np.sqrt(12 * np.average((self.times - mean) ** 2, weights=weight)))


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
            if not kicked or stop - first >= _SHORTEST:
                out.append(piece)
    if not out:
        raise RecordTooShortError(
            f"no {_SHORTEST} samples lie between two kicks: record more slowly decaying motion, "
            "or give fewer kicks."
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


def group(record: Record, pieces: Sequence[Stretch]) -> tuple[list[Segments], Array, Array]:
    """Put stretches of one sampling together.

    Returns
    -------
    segments : list of Segments
    means : array (stretches, channels)
        Subtracted from the values; the offset is in the model anyway.
    starts : array (stretches,)
        Time of the first sample of each.
    """
    table: dict[object, list[int]] = {}
    means = np.zeros((len(pieces), record.n_channels))
    starts = np.zeros(len(pieces))
    for k, piece in enumerate(pieces):
        values = record.trials[piece.trial][piece.first : piece.stop]
        missing = np.isnan(values)
        _check_presence(record, piece, missing)
        means[k] = np.nanmean(values, axis=0)
        times = record.times[piece.trial][piece.first : piece.stop]
        starts[k] = times[0]
        step = record.steps[piece.trial]
        when = (times - times[0]).tobytes() if step is None else (step, len(values))
        gaps = missing.tobytes() if missing.any() else None
        table.setdefault((when, gaps), []).append(k)
    segments = [_segments(record, pieces, means, members) for members in table.values()]
    return segments, means, starts


def _segments(
    record: Record, pieces: Sequence[Stretch], means: Array, members: list[int]
) -> Segments:
    head = pieces[members[0]]
    times = record.times[head.trial][head.first : head.stop]
    stacked = np.stack(
        [
            (record.trials[p.trial][p.first : p.stop] - means[k]).T
            for k, p in ((k, pieces[k]) for k in members)
        ],
        axis=1,
    )
    missing = np.isnan(stacked[:, 0])
    return Segments(
        times=times - times[0],
        values=np.nan_to_num(stacked, nan=0.0),
        present=~missing if missing.any() else None,
        scale=np.ones(stacked.shape[:2]),
        uniform=record.steps[head.trial] is not None,
        members=tuple(members),
    )


def _check_presence(record: Record, piece: Stretch, missing: Mask) -> None:
    present = (~missing).sum(axis=0)
    if present.min() < MIN_SAMPLES:
        a = int(present.argmin())
        raise RecordError(
            f"trial {piece.trial} (counted from 0), channel {record.channels[a]!r} has "
            f"{present[a]} samples in samples {piece.first} to {piece.stop}: leave the channel "
            f"out, or give at least {MIN_SAMPLES} between kicks."
        )
