r"""Modes of a stationary record driven by noise nobody measured (operational modal analysis).

.. math:: \ddot η_j + 2 ζ_j Ω_j \dot η_j + Ω_j^2 η_j = w_j(t), \qquad x = \sum_j φ_j η_j

with w a noise whose spectrum is flat over each resonance. Subspace identification proposes modes
(`subspace`), the likelihood of the Fourier lines decides on each and fits those it keeps
(`search`, `bands`, `scoring`, `intervals`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from prism._format import format_chance
from prism._linalg import positive_sign
from prism._types import Array
from prism.errors import NoLineError, OptionError
from prism.motion.damped import DampedModes
from prism.motion.driven import _limits as limits
from prism.motion.driven.bands import DrivenMode
from prism.motion.driven.innovations import drive_remarks
from prism.motion.driven.intervals import errors_of
from prism.motion.driven.machine import (
    SteadyOnTop,
    outstanding,
    steady_on_top,
    too_narrow,
)
from prism.motion.driven.number import neighbour_remarks, number_remark, one_more
from prism.motion.driven.peak import NoisePeakError, left_chance, peak_of, peak_remark
from prism.motion.driven.scoring import BandFit
from prism.motion.driven.search import KeptModes, ModeSearch, all_modes
from prism.motion.driven.spectrum import fourier_lines, usable_step
from prism.motion.driven.subspace import candidates
from prism.motion.driven.tilt import Tilt, tilted
from prism.options import check_options
from prism.record import Record
from prism.remarks import Remark
from prism.search.work import over

__all__ = ["DrivenFit", "fit_driven"]

Errors = Callable[[BandFit, Tilt[BandFit] | None], tuple[Array, Array]]


@dataclass(frozen=True)
class DrivenFit(DampedModes):
    """Modes of a noise-driven record.

    Intervals of the damping are log-normal, and by profile likelihood where ζ f T < 5: there a
    standard deviation says little.

    Attributes
    ----------
    bands : tuple of BandFit
        The fit of each band of modes.
    on_top : SteadyOnTop or None
        Steady lines that were taken out first.
    noise_std : None
        Sensor noise cannot be told from the tails of other modes: the background has a share of
        the power of each band, which `noise` says in words, and no standard deviation.
    """

    bands: tuple[BandFit, ...] = ()
    on_top: SteadyOnTop | None = None
    noise_std: None = None


def fit_driven(
    record: Record,
    *,
    band: tuple[float, float] | None = None,
    false_alarm: float = 1e-3,
    max_modes: int | None = None,
    insist: bool = True,
    progress: Callable[[str], None] | None = None,
) -> DrivenFit:
    """Find the modes of a record driven by unmeasured stationary noise.

    Parameters
    ----------
    record : Record
        Uniform in time, without missing samples; channels may differ in quantity.
    band : (float, float), optional
        Angular frequencies to look between; by default three cycles in the record to 0.95 of the
        Nyquist frequency.
    false_alarm : float
        Chance of a false mode per band; the penalty of `bands` is usually the stricter one.
    max_modes : int, optional
        Keep the most significant ones.
    insist : bool
        Whether a peak in which the channels move independently of each other is a set of modes all
        the same, with a remark; otherwise it is noise.
    progress : callable, optional
        Told what is being done.

    Raises
    ------
    NoLineError
        When no mode stands out.
    NoisePeakError
        When all that stands out are peaks without a shape, unless these are modes.
    """
    tell = progress or (lambda text: None)
    ends = ends_of(record, band, false_alarm, max_modes)
    search = ModeSearch(fourier_lines(record), ends, false_alarm)
    modes = _decided(search, (), tell)
    parts = search.sweep(modes, test=False)
    on_top, lines = None, np.zeros(0)
    for _ in range(limits.MACHINE_ROUNDS):
        more = outstanding([part.fit for part in parts])
        if not (len(more) or too_narrow(record, modes).any()) or over():
            break
        taken = steady_on_top(record, modes, np.append(lines, more))
        if taken is None:
            break
        tell("steady lines on top of the driven motion")
        on_top, lines = taken, taken.lines.frequencies
        search = replace(search, lines=fourier_lines(on_top.rest))
        modes = _decided(search, on_top.others, tell)
        parts = search.sweep(modes, test=False)
    rest = record if on_top is None else on_top.rest
    fit = fitted(rest, search, parts, max_modes, insist, tell)
    if on_top is None:
        return fit
    return replace(fit, on_top=on_top, remarks=(on_top.remark(), *fit.remarks))


def _decided(
    search: ModeSearch, known: Sequence[DrivenMode], tell: Callable[[str], None]
) -> list[DrivenMode]:
    """Modes of a record, steady lines among them."""
    tell("candidates by subspace identification")
    proposed = candidates(search.lines, *search.ends)
    tell(f"{len(proposed)} candidates; likelihood of each")
    modes = search.decide(proposed, known)
    if not modes:
        raise none_left(len(proposed))
    return modes


def none_left(candidates: int) -> NoLineError:
    return NoLineError(
        f"none of {candidates} candidate modes stands out of the noise: record longer, or give a "
        "band around the resonances."
    )


def fitted(
    record: Record,
    search: ModeSearch,
    parts: Sequence[KeptModes],
    max_modes: int | None,
    insist: bool,
    tell: Callable[[str], None],
    errors: Errors | None = None,
) -> DrivenFit:
    """The answer of the modes that were decided on.

    Parameters
    ----------
    record : Record
    search : ModeSearch
    parts : sequence of KeptModes
        All bands at their maximum.
    max_modes : int or None
    insist : bool
        As `fit_driven` has them.
    tell : callable
    errors : callable, optional
        Covariance and intervals of a band; those of a full record by default.
    """
    tell(f"{len(all_modes(parts))} modes; intervals of the damping")
    found = []
    for part in parts:
        tilt = tilted(part.fit)
        found.append((part if tilt is None else part._replace(fit=tilt.fit), tilt))
    if not found:
        raise NoLineError(
            "all that stands out of the noise is too broad to be a mode: record longer, or give a "
            "band around the resonances."
        )
    each = [peak_of(part.fit) for part, _ in found]
    peaks = tuple(peak for peak in each if peak is not None)
    kept = [one for one, peak in zip(found, each, strict=True) if peak is None]
    if not (kept or insist):
        raise NoisePeakError(peaks)
    fit = _answer(record, found if insist else kept, max_modes, errors or errors_of_band)
    more = [one_more(part.fit, search.false_alarm) for part, _ in kept if max_modes is None]
    number = number_remark([one for one in more if one is not None])
    remarks = (number, peak_remark(peaks) if peaks else None)
    fit = replace(fit, remarks=(*fit.remarks, *(one for one in remarks if one is not None)))
    return fit if insist else replace(fit, bands=(*fit.bands, *peaks))


def band_of(record: Record) -> tuple[float, float]:
    """Angular frequencies between which modes are looked for unless told otherwise."""
    nyquist = np.pi / usable_step(record)
    return 2 * np.pi * limits.LOWEST_CYCLES / record.duration, limits.BELOW_NYQUIST * nyquist


def ends_of(
    record: Record,
    band: tuple[float, float] | None,
    false_alarm: float,
    max_modes: int | None,
) -> tuple[float, float]:
    """Where to look, after a check of all options."""
    check_options({"false_alarm": false_alarm, "max_modes": max_modes})
    lowest, highest = band_of(record)
    if band is None:
        return lowest, highest
    nyquist = np.pi / usable_step(record)
    low, high = (float(edge) for edge in band)
    if not 0 <= low < high <= nyquist * (1 + 1e-9):
        raise OptionError(
            f"the band {band} must ascend and end below the Nyquist frequency {nyquist:.6g}."
        )
    return max(low, lowest), min(high, limits.BELOW_NYQUIST_GIVEN * nyquist)


def _answer(
    record: Record,
    found: Sequence[tuple[KeptModes, Tilt[BandFit] | None]],
    max_modes: int | None,
    errors_in: Errors,
) -> DrivenFit:
    kept, n = [part for part, _ in found], record.n_channels
    modes, errors = all_modes(kept), [errors_in(part.fit, tilt) for part, tilt in found]
    strongest = sorted(range(len(modes)), key=lambda k: -modes[k].gain)[:max_modes]
    order = sorted(strongest, key=lambda k: modes[k].omega)
    intervals = np.concatenate([part[1] for part in errors])
    # bands are independent; (Ω, shape, ζ) of one mode after the other, to be sorted by kind
    covariance = scipy.linalg.block_diag(*(part[0] for part in errors))
    places = (n + 2) * np.array(order)[:, None] + np.arange(n + 2)
    pick = np.concatenate([places[:, 0], places[:, 1:-1].ravel(), places[:, -1]])
    joint, first = covariance[np.ix_(pick, pick)], slice(0, len(order))
    omega = np.array([modes[k].omega for k in order])
    return DrivenFit(
        frequencies=omega,
        damping=np.array([modes[k].zeta for k in order]),
        damping_interval=intervals[order],
        shapes=np.array([positive_sign(modes[k].shape) * modes[k].shape for k in order]),
        covariance=joint,
        significance=np.sqrt([modes[k].gain for k in order]),
        noise=_noise_in_words(record, kept),
        remarks=(
            *_fit_remarks(kept),
            *_left_remarks(kept),
            *neighbour_remarks(omega, joint[first, first]),
            *drive_remarks(record),
        ),
        bands=tuple(part.fit for part in kept),
    )


def errors_of_band(fit: BandFit, tilt: Tilt[BandFit] | None = None) -> tuple[Array, Array]:
    """Covariance of (Ω, shape, ζ), one free mode after the other, and intervals of ζ."""
    return errors_of(fit, fit.information, jacobian(fit), along_tilt(fit, tilt))


def along_tilt(fit: BandFit, tilt: Tilt[BandFit] | None) -> Array:
    """How far (Ω, shape, ζ) of each free mode move with p, in its standard deviations."""
    if tilt is None:
        return np.zeros((fit.model.fitted, len(fit.model.noise) + 2))
    low, high = (_numbers(one, _signs(fit)) for one in (tilt.below, tilt.above))
    return np.asarray(tilt.std * (high - low) / tilt.apart)


def _signs(fit: BandFit) -> Array:
    """Of the shapes in the units of a band, so that their largest component is positive."""
    shapes = fit.band.displacement * fit.model.shapes[: fit.model.fitted]
    return np.array([positive_sign(shape) for shape in shapes])


def _numbers(fit: BandFit, signs: Array) -> Array:
    """(Ω, shape, ζ) of each free mode, (free, n + 2)."""
    free = slice(0, fit.model.fitted)
    shapes = fit.band.displacement * fit.model.shapes[free] * signs[:, None]
    units = shapes / np.linalg.norm(shapes, axis=1, keepdims=True)
    return np.column_stack([fit.model.omega[free], units, fit.model.zeta[free]])


def jacobian(fit: BandFit) -> Array:
    """Derivatives of (Ω, displacement shape, ζ) of each free mode by the parameters of its band."""
    model, at, (f, turns, n) = fit.model, fit.model.at, fit.model.turns.shape
    out = np.zeros((f, n + 2, model.parameters))
    each = np.arange(f)
    out[each, 0, at["frequency"]] = model.omega[:f]
    out[each, -1, at["damping"]] = model.zeta[:f]
    shapes = fit.band.displacement * model.shapes[:f]
    length = np.linalg.norm(shapes, axis=1)[:, None]
    unit = shapes / length
    sign = _signs(fit)[:, None, None]
    turn = fit.band.displacement * model.turns
    turn = turn - (turn @ unit[:, :, None]) * unit[:, None, :]
    out[each[:, None], 1:-1, at["shape"].reshape(f, turns)] = sign * turn / length[:, :, None]
    return out.reshape(f * (n + 2), -1)


def _noise_in_words(record: Record, kept: Sequence[KeptModes]) -> str:
    shares = []
    for part in kept:
        R = np.maximum(np.diag(part.fit.model.noise).real, 0.0)
        shares.append(R / np.mean(np.abs(part.fit.band.entire.values) ** 2, axis=0))
    mean = np.mean(shares, axis=0)
    each = ", ".join(
        f"{name} {share:.2g}" for name, share in zip(record.channels, mean, strict=True)
    )
    return (
        "flat within each band, estimated with the modes, correlated between channels; mean share "
        f"of the power in the bands: {each}"
    )


def _fit_remarks(kept: Sequence[KeptModes]) -> tuple[str, ...]:
    out = []
    for fit, _ in kept:
        low, high = (end / (2 * np.pi) for end in fit.band.ends)
        place = f"band {low:.4g} to {high:.4g} cycles per time unit"
        if not fit.converged:
            out.append(f"{place}: the likelihood was not quite at its maximum.")
        if not fit.model.full and len(fit.model.noise) > 1:
            out.append(f"{place}: too few lines for noise correlated between channels.")
    return tuple(out)


def _left_remarks(kept: Sequence[KeptModes]) -> Iterator[Remark]:
    """Where the modes do not explain the spectrum, the most conspicuous place."""
    chances = [left_chance(part.fit) for part in kept]
    worst = int(np.argmin(chances))
    chance = min(1.0, len(chances) * chances[worst])
    if chance < limits.LEFT_LEVEL:
        model = kept[worst].fit.model
        yield Remark(
            f"what the modes leave near {model.omega[: model.fitted].mean():.5g} rad per time unit "
            f"is not flat noise (chance {format_chance(chance)})",
            "there may be more modes, or the drive has a peak of its own there",
            "treat the damping of modes there, and its error, with care",
            code="misfit",
        )
