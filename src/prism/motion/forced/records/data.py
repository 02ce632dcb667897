"""A forced record taken apart: motions, forces, places, what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array, Index, Mask
from prism.errors import OptionError, RecordError, RecordTooShortError
from prism.motion.forced.places import place_forces
from prism.motion.forced.records import _limits as limits
from prism.record import QUANTITIES, Record
from prism.search.noise import resolution, search_band


@dataclass(frozen=True)
class ForcedTrial:
    """One trial: motions with zeros where missing, forces, and where the motions were seen."""

    motion: Array
    force: Array
    seen: Mask

    @property
    def background(self) -> Array:
        """Offset and drift, (samples, 2)."""
        return np.stack([np.ones(len(self.motion)), np.linspace(-1, 1, len(self.motion))], axis=1)

    def whitened(self, filters: tuple[Array, ...]) -> ForcedTrial:
        """The same with filtered motions; seen where all that a filter takes in was seen."""
        motion, seen = self.motion.copy(), self.seen.copy()
        for a, h in enumerate(filters):
            motion[:, a] = filtered(self.motion[:, [a]], h)[:, 0]
            seen[:, a] = filtered(~self.seen[:, [a]], np.ones(len(h)))[:, 0] == 0
            seen[: len(h) - 1, a] = False
        return ForcedTrial(np.where(seen, motion, 0.0), self.force, seen)


@dataclass(frozen=True)
class ForcedData:
    """Trials of a forced experiment.

    Attributes
    ----------
    trials : tuple of ForcedTrial
    dt : float
    motions, forces : tuple of str
    kinds : tuple of int
        Order of the time derivative that each motion channel measures.
    ports : index array (forces,)
        Motion channel at which each force acts.
    groups : tuple of index arrays
        Channels that share their columns: one kind, and the same missing samples.
    resolution : float
        ``2π/T`` of the longest trial.
    band : (low, high)
        Frequencies a mode may have: one turn in the record, to just below Nyquist.
    filters : tuple of arrays
        What makes the noise of each motion white; the motions have gone through it, and all that
        is compared with them has to. None where the noise is white as it is.
    """

    trials: tuple[ForcedTrial, ...]
    dt: float
    motions: tuple[str, ...]
    forces: tuple[str, ...]
    kinds: tuple[int, ...]
    ports: Index
    groups: tuple[Index, ...]
    resolution: float
    band: tuple[float, float]
    filters: tuple[Array, ...] = ()

    def whitened(self, filters: tuple[Array, ...]) -> ForcedData:
        """The same record seen through one filter for each motion."""
        trials = tuple(trial.whitened(filters) for trial in self.trials)
        each = tuple(np.array([a]) for a in range(len(self.motions)))
        return replace(self, trials=trials, groups=each, filters=filters)

    def as_seen(self, columns: Array, group: Index) -> Array:
        """Columns (samples, any) as the motions of a group would show them."""
        return filtered(columns, self.filters[group[0]]) if self.filters else columns

    @property
    def counts(self) -> Array:
        """Samples seen of each motion channel, over all trials."""
        return np.asarray(sum(trial.seen.sum(axis=0) for trial in self.trials), float)

    def force_band(self) -> tuple[float, float]:
        """Lowest and highest frequency at which any force has power."""
        longest = max(self.trials, key=lambda trial: len(trial.force)).force
        power = np.abs(np.fft.rfft(longest - longest.mean(axis=0), axis=0)) ** 2
        kernel = np.full(2 * limits.FORCE_SMOOTHING + 1, 1.0 / (2 * limits.FORCE_SMOOTHING + 1))
        smooth = np.array([np.convolve(p, kernel, "same") for p in power.T])
        strong = (smooth > limits.FORCE_FLOOR * smooth.max(axis=1, keepdims=True)).any(axis=0)
        bins = np.flatnonzero(strong) * 2 * np.pi / (len(longest) * self.dt)
        return float(bins[0]), float(bins[-1])


def filtered(values: Array | Mask, h: Array) -> Array:
    r"""Values (samples, any) after the filter :math:`\sum_k h_k x_{t-k}`, from rest."""
    out = h[0] * values
    for lag in range(1, len(h)):
        out[lag:] += h[lag] * values[:-lag]
    return np.asarray(out)


def take_apart(record: Record, force: Sequence[str], at: Mapping[str, str] | None) -> ForcedData:
    """Check a record for a forced fit and take it apart.

    Raises
    ------
    OptionError, RecordError, RecordTooShortError, CannotTellError
    """
    forces = (force,) if isinstance(force, str) else tuple(force)
    motions = _motions(record, forces)
    if record.dt is None:
        raise RecordError(
            "the times of the record are irregular: between its samples a force is held over one "
            "step; resample to one step dt first."
        )
    places = place_forces(motions, forces, at)
    rows = [record.channels.index(name) for name in motions]
    columns = [record.channels.index(name) for name in forces]
    trials = tuple(_trial(values, rows, columns, forces) for values in record.trials)
    if all(np.ptp(trial.force, axis=0).max() == 0 for trial in trials):
        raise OptionError(f"the force {', '.join(forces)} never changes: nothing is driven.")
    kinds = tuple(QUANTITIES.index(record.quantity[row]) for row in rows)
    ports = np.array([motions.index(places[name]) for name in forces])
    duration = record.dt * max(record.samples)
    return ForcedData(
        *(trials, record.dt, motions, forces, kinds, ports, _groups(trials, kinds)),
        resolution=resolution(duration),
        band=search_band(duration, record.dt),
    )


def _motions(record: Record, forces: tuple[str, ...]) -> tuple[str, ...]:
    if not forces or len(set(forces)) != len(forces):
        raise OptionError("name the force channels, each once.")
    for name in forces:
        if name not in record.channels:
            raise OptionError(
                f"there is no force channel {name!r}: choose among {', '.join(record.channels)}."
            )
    motions = tuple(name for name in record.channels if name not in forces)
    if not motions:
        raise OptionError("all channels are forces: a motion channel is needed as well.")
    return motions


def _trial(
    values: Array, rows: list[int], columns: list[int], forces: tuple[str, ...]
) -> ForcedTrial:
    force = np.ascontiguousarray(values[:, columns])
    if not np.isfinite(force).all():
        bad = forces[int(np.argmax(~np.isfinite(force).all(axis=0)))]
        raise RecordError(
            f"force channel {bad!r} has missing samples: the response depends on the whole force; "
            "fill the gaps or cut the record into trials there."
        )
    if len(values) < limits.FEWEST_IN_A_TRIAL:
        raise RecordTooShortError(
            f"a trial of {len(values)} samples is too short for a forced fit: give at least "
            f"{limits.FEWEST_IN_A_TRIAL}, and several periods of the slowest mode."
        )
    motion = values[:, rows]
    seen = np.isfinite(motion)
    return ForcedTrial(np.where(seen, motion, 0.0), force, seen)


def _groups(trials: tuple[ForcedTrial, ...], kinds: tuple[int, ...]) -> tuple[Index, ...]:
    groups: list[list[int]] = []
    for a, kind in enumerate(kinds):
        for group in groups:
            same = all(np.array_equal(t.seen[:, a], t.seen[:, group[0]]) for t in trials)
            if same and kinds[group[0]] == kind:
                group.append(a)
                break
        else:
            groups.append([a])
    return tuple(np.array(group) for group in groups)
