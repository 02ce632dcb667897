r"""Lines that move slowly, followed from window to window.

In a window of length W around :math:`t_c` a line is fitted with one frequency. If its phase is
:math:`\int ω(t)\,dt` with constant amplitude, the fitted frequency is

.. math:: \hat Ω(t_c) ≈ ω(t_c) + \frac{W^2}{40}\, ω''(t_c),

because the least-squares slope of :math:`τ^3/6` over the window is :math:`W^2/40`. A constant rate
of change does no harm, by symmetry, as long as :math:`|ω'| W^2/8`, the phase by which the line
runs away from a steady one, stays below about one radian.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from prism._types import Array, Index, Mask
from prism.errors import NoLineError, OptionError, RecordTooShortError
from prism.experiments import Equilibrium, Free, OfLines
from prism.finding import determined
from prism.magnitudes import Undetermined
from prism.motion.steady import Lines, estimate_lines
from prism.motion.steady.fit import refine
from prism.motion.steady.inphase import InPhaseFit, fit_in_phase
from prism.options import check_options
from prism.record import MIN_SAMPLES, Record
from prism.search.projection import residual_weights
from prism.search.series import samplings_of
from prism.uncertainty import root_of_variance

__all__ = ["Track", "track"]

_TOGETHER = 1.5  # of the resolution 2π/W: lines nearer to each other are one line that moves
_MEMORY = 4  # latest values of a line from which its next one is foreseen
_WINDOWS = 10  # that fit into a record side by side, where nothing was said
_ANYWHERE = {kind.name: kind for kind in (Free, Equilibrium)}  # mean something in every window


@dataclass(frozen=True, eq=False)
class Track:
    """Lines over time; each column is one line, in the order of mean frequency.

    Attributes
    ----------
    times : array (windows,)
        Centres of the windows.
    frequencies, frequencies_std : masked arrays (windows, lines)
        Masked where the line was not significant: a gap, not a zero.
    amplitudes : masked array (windows, lines)
        Along the unit shape; over several trials the root mean square.
    unsteady : array of bool (windows, lines)
        Where a line moved, grew or decayed visibly inside the window; the fit of one steady line
        is then its mean over the window. Shorten the window where this matters.
    window : float
        Length of a window.
    residues : masked array (windows, lines, channels, channels) or None
        :math:`v_j v_j^T` of each line where an experiment fixes the magnitudes in its window.
    hidden_frequencies, hidden_frequencies_std : masked arrays (windows, hidden) or None
        Bare frequencies, ascending; masked in windows with another number of them.
    why : tuple of str
        For each window, why there are no residues; empty where there are.
    """

    times: Array
    frequencies: np.ma.MaskedArray
    frequencies_std: np.ma.MaskedArray
    amplitudes: np.ma.MaskedArray
    unsteady: Mask
    window: float
    residues: np.ma.MaskedArray | None = None
    hidden_frequencies: np.ma.MaskedArray | None = None
    hidden_frequencies_std: np.ma.MaskedArray | None = None
    why: tuple[str, ...] = ()

    @property
    def present(self) -> Mask:
        """Where each line was seen, (windows, lines)."""
        return np.asarray(~np.ma.getmaskarray(self.frequencies), bool)

    @property
    def gaps(self) -> Mask:
        """Windows in which no line was seen, (windows,)."""
        return np.asarray(~self.present.any(axis=1), bool)


@dataclass(frozen=True)
class _Seen:
    """The lines of one window."""

    omega: Array
    std: Array
    amplitude: Array
    unsteady: Mask
    residues: Array | None = None
    hidden: Array | None = None
    hidden_std: Array | None = None
    why: str = "no line is significant"


_NOTHING = _Seen(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, bool))


def track(
    record: Record,
    window: float | None = None,
    step: float | None = None,
    *,
    experiment: str | None = None,
    known: Mapping[str, Any] | None = None,
    false_alarm: float = 1e-3,
    max_modes: int | None = None,
    jump: float | None = None,
    shortest: int = 2,
    progress: Callable[[str], None] | None = None,
) -> Track:
    r"""Follow the lines of a record through sliding windows.

    Each window is fitted on its own by `prism.motion.steady.estimate_lines`; a line of one window
    is the continuation of the line whose foreseen frequency is nearest, all pairs together.

    Parameters
    ----------
    record : Record
        A window takes from each trial what lies in it.
    window : float, optional
        Length of a window; some ten periods, and :math:`|ω'| W^2/8` below one. A tenth of the
        record by default.
    step : float, optional
        Distance of the windows; half a window by default. Overlapping ones are correlated.
    experiment : {"free", "equilibrium"}, optional
        How the record was made, where residues and bare frequencies shall be followed too.
    known : mapping, optional
        What is known then, as in `prism.identify`: ``mass``, ``stiffness``, ``temperature`` ...
    false_alarm, max_modes, progress
        As in `prism.identify`, for each window.
    jump : float, optional
        Largest departure from the foreseen frequency; :math:`2π/W` by default, the resolution.
    shortest : int
        A line seen in fewer windows is left out; 2 by default, since a false alarm seldom repeats.

    Raises
    ------
    RecordTooShortError, NoLineError
        When no window fits into the record, or no line lasts for ``shortest`` windows.
    OptionError
        When an option makes no sense.

    Examples
    --------
    >>> import numpy as np
    >>> from prism.record import Record
    >>> t = np.arange(0, 300, 0.2)
    >>> values = np.cos(2 * t + 0.0005 * t**2)  # the frequency grows from 2.0 to 2.3
    >>> noise = np.random.default_rng(0).standard_normal(len(t))
    >>> found = track(Record(values + 0.1 * noise, dt=0.2), window=30, step=60)
    >>> found.times
    array([ 15.,  75., 135., 195., 255.])
    >>> found.frequencies[:, 0].round(1).tolist()
    [2.0, 2.1, 2.1, 2.2, 2.3]
    """
    _check_record(record)
    window = _whole(record) / _WINDOWS if window is None else window
    hop = window / 2 if step is None else step
    reach = 2 * np.pi / window if jump is None and window > 0 else (jump or 0.0)
    _check({"window": window, "step": hop, "jump": reach})
    _check_counts(shortest, false_alarm, max_modes)
    made = _experiment(experiment, known or {}, record.n_channels)
    starts = _starts(record, window, hop)
    seen = []
    for k, start in enumerate(starts):
        if progress is not None:
            progress(f"window {k + 1} of {len(starts)}")
        seen.append(_look(record, float(start), window, false_alarm, max_modes, made))
    times = starts + 0.5 * window
    chains = [c for c in _join(times, [s.omega for s in seen], reach) if len(c) >= shortest]
    if not chains:
        raise NoLineError(
            f"no line is seen in {shortest} of {len(starts)} windows; use longer windows."
        )
    found = _assemble(times, seen, chains, window)
    return found if made is None else _with_residues(found, seen, chains, record.n_channels)


def _check_record(record: object) -> None:
    if not isinstance(record, Record):
        kind = type(record).__name__
        raise OptionError(f"track needs a Record, got {kind}; wrap it: prism.Record(values, dt=1).")


def _experiment(name: str | None, known: Mapping[str, Any], channels: int) -> OfLines | None:
    """How the record was made, where that was said."""
    if name is None and not known:
        return None
    name = name or "free"
    if name not in _ANYWHERE:
        raise OptionError(
            f"an experiment {name!r} cannot be followed through windows, of which only the first "
            f"begins as it does: use one of {', '.join(_ANYWHERE)}."
        )
    return _ANYWHERE[name].of(known, channels)


def _whole(record: Record) -> float:
    """Length of the record, the step after the last sample included."""
    return float(max(record.ends) + (record.dt or 0.0) - min(record.starts))


def _check(lengths: dict[str, float]) -> None:
    for name, value in lengths.items():
        if not 0 < value < np.inf:
            raise OptionError(f"the {name} of a track is {value!r}: give a positive number.")


def _check_counts(shortest: int, false_alarm: float, max_modes: int | None) -> None:
    if shortest < 1:
        raise OptionError(f"shortest is {shortest}: a line lasts for at least one window.")
    check_options({"false_alarm": false_alarm, "max_modes": max_modes})


def _starts(record: Record, window: float, step: float) -> Array:
    """Beginnings of the windows that fit into the record."""
    first = min(record.starts)
    whole = _whole(record)
    count = int(np.floor((whole - window) / step + 1e-9)) + 1
    if whole < window * (1 - 1e-9) or count < 1:
        raise RecordTooShortError(
            f"a window of {window:g} does not fit into the record of {whole:g}; shorten it."
        )
    return np.asarray(first + step * np.arange(count), float)


def _look(
    record: Record,
    start: float,
    window: float,
    false_alarm: float,
    max_modes: int | None,
    made: OfLines | None,
) -> _Seen:
    """Lines of one window; none where nothing is significant or samples are missing."""
    part = _cut(record, start, start + window)
    if part is None:
        return _NOTHING
    try:
        lines = estimate_lines(part, false_alarm=false_alarm, max_modes=max_modes)
    except (NoLineError, RecordTooShortError):
        return _NOTHING
    fit, unsteady = _steady(part, lines)
    seen = _read(fit, unsteady)
    return seen if made is None else _completed(seen, replace(lines, fit=fit), made, record)


def _completed(seen: _Seen, lines: Lines, made: OfLines, record: Record) -> _Seen:
    """With residues and bare frequencies, or why there are none."""
    outcome = made.magnitudes(lines)
    if isinstance(outcome, Undetermined):
        return replace(seen, why=str(outcome.why))
    found = determined(outcome.participation, record.channels, outcome.scale).hamiltonian
    moving = outcome.omega > 0  # rigid-body modes are no lines
    v = outcome.participation.value("participation")[moving]
    residues = np.zeros((len(seen.omega), v.shape[1], v.shape[1]))
    np.add.at(residues, lines.fit.line, np.einsum("ma,mb->mab", v, v))
    hidden, std = found.hidden_frequencies, found.hidden_frequencies_std
    return replace(seen, residues=residues, hidden=hidden, hidden_std=std, why="")


def _steady(part: Record, lines: Lines) -> tuple[InPhaseFit, Mask]:
    """Fit every bunch of lines within the resolution anew, as one line, and untie the lines.

    A line that moves inside the window is not a steady one, and the likelihood says so by
    splitting it. Lines that move are commensurate now and then, which ties them by accident.
    """
    fit = lines.fit
    tied = lines.torus is not None
    kept = np.flatnonzero(lines.gains >= (lines.threshold if tied else 0.0))
    omega, gains = fit.omega[kept], lines.gains[kept]
    resolution = 2 * np.pi / part.duration
    bunch = np.concatenate([[0], np.cumsum(np.diff(omega) >= _TOGETHER * resolution)])
    sizes = np.bincount(bunch)
    unsteady = np.asarray(sizes > 1) | lines.crowded
    if not tied and np.all(sizes == 1):
        return fit, unsteady
    members = [np.flatnonzero(bunch == b) for b in range(len(sizes))]
    strongest = [kept[m[np.argmax(gains[m])]] for m in members]
    shapes = np.array([fit.shapes[np.argmax(fit.line == j)] for j in strongest])
    samplings = samplings_of(part)[0]
    start = np.array([np.average(omega[m], weights=gains[m]) for m in members])
    free = refine(samplings, start, fit.weights)
    weights = residual_weights(free, 1 / fit.weights)  # what is left over counts as noise
    each = np.arange(free.count)
    again = fit_in_phase(samplings, free.omega, each, shapes, weights, fit.orders)
    return again, unsteady


def _read(fit: InPhaseFit, unsteady: Mask) -> _Seen:
    """Frequencies, their errors, and amplitudes; the modes of a degenerate line add up."""
    N, K = len(fit.omega), len(fit.line)
    power = np.hstack([m.values[:K] ** 2 + m.values[K : 2 * K] ** 2 for m in fit.motions])
    amplitude = np.sqrt(np.bincount(fit.line, power.mean(axis=1), minlength=N))
    std = root_of_variance(np.diag(fit.covariance)[:N])
    return _Seen(fit.omega, std, amplitude, unsteady)


def _cut(record: Record, start: float, stop: float) -> Record | None:
    """Samples in ``[start, stop)`` of the trials that have enough on every channel."""
    values, times = [], []
    for trial, t in zip(record.trials, record.times, strict=True):
        tiny = 1e-6 * (stop - start) / max(len(t), 1)  # rounding of the window's ends
        part = slice(*np.searchsorted(t, [start - tiny, stop - tiny]))
        if np.isfinite(trial[part]).sum(axis=0).min() >= MIN_SAMPLES:
            values.append(trial[part])
            times.append(t[part])
    if not values:
        return None
    return Record(values, t=times, channels=record.channels, quantity=record.quantity)


# -- joining the windows ---------------------------------------------------------------------------

_Chain = list[tuple[int, int]]  # (window, place in it)


def _join(times: Array, seen: Sequence[Array], jump: float) -> list[_Chain]:
    """Chains of lines that continue each other; a gap does not end a chain."""
    chains: list[_Chain] = []
    for w, omega in enumerate(seen):
        foreseen = np.array([_foreseen(times, seen, chain, float(times[w])) for chain in chains])
        taken = _pairs(foreseen, omega, jump)
        for j in taken:
            chains[taken[j]].append((w, j))
        chains += [[(w, j)] for j in range(len(omega)) if j not in taken]
    return chains


def _foreseen(times: Array, seen: Sequence[Array], chain: _Chain, at: float) -> float:
    """The straight line through the latest values, continued; the last one if there are few."""
    recent = chain[-_MEMORY:]
    t = np.array([times[w] for w, _ in recent])
    omega = np.array([seen[w][j] for w, j in recent])
    if len(recent) < 3:
        return float(omega[-1])
    slope, level = np.polyfit(t - t[-1], omega, 1)
    ahead = min(at - t[-1], t[-1] - t[0])  # no further ahead than it was seen
    return float(level + slope * ahead)


def _pairs(foreseen: Array, omega: Array, jump: float) -> dict[int, int]:
    """Which chain each line continues: least total distance, none above ``jump``."""
    distance = np.abs(np.subtract.outer(foreseen.reshape(-1), omega)) / jump
    far = 4.0 * (distance.size + 1)  # dearer than any allowed pairing
    rows, columns = linear_sum_assignment(np.where(distance <= 1, distance, far))
    allowed: Index = np.flatnonzero(distance[rows, columns] <= 1)
    return {int(columns[i]): int(rows[i]) for i in allowed}


def _columns(seen: list[_Seen], chains: list[_Chain]) -> list[_Chain]:
    """Chains in the order of mean frequency."""
    return sorted(chains, key=lambda c: float(np.mean([seen[w].omega[j] for w, j in c])))


def _assemble(times: Array, seen: list[_Seen], chains: list[_Chain], window: float) -> Track:
    columns = _columns(seen, chains)
    shape = (len(times), len(columns))
    absent, unsteady = np.ones(shape, bool), np.zeros(shape, bool)
    omega, std, amplitude = (np.zeros(shape) for _ in range(3))
    for k, chain in enumerate(columns):
        for w, j in chain:
            absent[w, k], unsteady[w, k] = False, seen[w].unsteady[j]
            omega[w, k], std[w, k] = seen[w].omega[j], seen[w].std[j]
            amplitude[w, k] = seen[w].amplitude[j]
    masked = [np.ma.MaskedArray(table, mask=absent) for table in (omega, std, amplitude)]
    return Track(times, masked[0], masked[1], masked[2], unsteady, float(window))


def _absent(shape: tuple[int, ...]) -> np.ma.MaskedArray:
    return np.ma.MaskedArray(np.zeros(shape), mask=np.ones(shape, bool))


def _with_residues(found: Track, seen: list[_Seen], chains: list[_Chain], n: int) -> Track:
    """The track with residues, and with as many bare frequencies as most windows have."""
    residues = _absent((*found.frequencies.shape, n, n))
    for k, chain in enumerate(_columns(seen, chains)):
        for w, j in chain:
            known = seen[w].residues
            if known is not None:
                residues[w, k] = known[j]
    counts = Counter(len(one.hidden) for one in seen if one.hidden is not None) or Counter([0])
    most = counts.most_common(1)[0][0]
    hidden, std = (_absent((len(seen), most)) for _ in range(2))
    for w, one in enumerate(seen):
        if one.hidden is not None and one.hidden_std is not None and len(one.hidden) == most:
            hidden[w], std[w] = one.hidden, one.hidden_std
    found = replace(found, hidden_frequencies=hidden, hidden_frequencies_std=std)
    return replace(found, residues=residues, why=tuple(one.why for one in seen))
