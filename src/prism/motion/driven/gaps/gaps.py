r"""Modes of a record driven by noise, with gaps or uneven times: the likelihood of what is there.

A record with gaps has no Fourier lines of its own. Those of the full record are expected ones,
given what was measured and the spectrum of the modes (`expected`); the modes are fitted to these,
and both in turn until nothing moves: the maximum of the likelihood of what was measured. What the
gaps took away of the information is in the errors (`kept`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from prism._types import Array
from prism.motion.driven.bands import DrivenMode
from prism.motion.driven.driven import DrivenFit, along_tilt, ends_of, fitted, jacobian, none_left
from prism.motion.driven.gaps import _limits as limits
from prism.motion.driven.gaps.expected import Expected, expected, on_grid
from prism.motion.driven.gaps.kept import Thinned, kept
from prism.motion.driven.gaps.places import GridPlaces, places_of
from prism.motion.driven.gaps.spectra import RecordSpectrum
from prism.motion.driven.intervals import errors_of
from prism.motion.driven.machine import outstanding, steady_on_top, without_steady
from prism.motion.driven.scoring import BandFit
from prism.motion.driven.search import KeptModes, ModeSearch, all_modes
from prism.motion.driven.spectrum import FourierLines, fourier_lines
from prism.motion.driven.subspace import candidates
from prism.motion.driven.tilt import Tilt
from prism.record import Record
from prism.remarks import Remark
from prism.search.work import over

__all__ = ["fit_gapped", "full_draw"]

Tell = Callable[[str], None]


class _Settled(NamedTuple):
    """Modes and expected lines that agree with each other."""

    search: ModeSearch
    parts: list[KeptModes]
    expected: Expected

    @property
    def steady(self) -> Array:
        """Frequencies of single lines that are too strong for a driven motion."""
        return outstanding(_fits(self.parts))


def fit_gapped(
    record: Record,
    *,
    false_alarm: float = 1e-3,
    max_modes: int | None = None,
    insist: bool = True,
    progress: Tell | None = None,
) -> DrivenFit:
    """Find the modes of a record driven by noise, with missing samples or uneven times.

    Parameters
    ----------
    record : Record
        Its times may skip steps of an even grid, and jitter about it by less than half a step.
    false_alarm, max_modes, insist, progress
        As `fit_driven` has them.

    Raises
    ------
    NoLineError
        When no mode stands out.
    RecordError
        When too much is missing, or the times are too irregular.
    """
    tell = progress or (lambda text: None)
    places = places_of(record)
    found = _settled(record, places, false_alarm, max_modes, tell)
    on_top = steady_on_top(found.expected.record, all_modes(found.parts), found.steady)
    if on_top is not None:
        tell("steady lines on top of the driven motion")
        rest = without_steady(record, on_top)
        found = _settled(rest, places, false_alarm, max_modes, tell)

    def errors(fit: BandFit, tilt: Tilt[BandFit] | None) -> tuple[Array, Array]:
        return _errors(fit, tilt, found.expected)

    fit = fitted(found.expected.record, found.search, found.parts, max_modes, insist, tell, errors)
    on = () if on_top is None else (on_top.remark(),)
    return replace(fit, on_top=on_top, remarks=(_remark(record, places), *on, *fit.remarks))


def full_draw(record: Record, false_alarm: float, progress: Tell) -> Record:
    """A full record as it may have been, if noise drives it, given what was measured.

    Parameters
    ----------
    record : Record
    false_alarm : float
        Chance of a false mode.
    progress : callable

    Raises
    ------
    NoLineError, RecordError
        As `fit_gapped` has them.
    """
    places = places_of(record)
    rounds = limits.ROUGH_ROUNDS
    return _settled(record, places, false_alarm, None, progress, rounds).expected.record


def _settled(
    record: Record,
    places: Sequence[GridPlaces],
    false_alarm: float,
    max_modes: int | None,
    tell: Tell,
    rounds: int = limits.EM_ROUNDS,
) -> _Settled:
    """Rounds of expected lines and fits of modes, until the modes stay."""
    each = zip(places, record.trials, strict=True)
    begun = on_grid(record, places, [own.filled(values) for own, values in each])
    ends = ends_of(begun, None, false_alarm, max_modes)
    lines = fourier_lines(begun)
    search = ModeSearch(lines, ends, false_alarm)
    tell("modes of the record with its gaps bridged")
    modes = _decided(search, lines, [])
    few, many = _counts(begun)
    known, parts = len(modes), search.sweep(modes, test=False)
    settled = False
    for number in range(rounds):
        tell(f"{len(modes)} modes; what was not measured, round {number + 1}")
        count = many if settled else few
        here = expected(record, places, RecordSpectrum.of(_fits(parts), search.lines), count)
        search = replace(search, lines=here.lines)
        if number == 0 or settled:
            modes = _decided(search, _one_draw(here), modes)
        parts, before = search.sweep(modes, test=False), modes
        modes = all_modes(parts)
        if not modes:
            raise none_left(known)
        still = len(before) == len(modes) and _move(parts, before) < limits.POLES_STAY
        if (settled and still and len(modes) == known) or over():
            break
        settled, known = settled or still, len(modes)
    return _Settled(search, parts, here)


def _fits(parts: Sequence[KeptModes]) -> list[BandFit]:
    return [part.fit for part in parts]


def _counts(record: Record) -> tuple[int, int]:
    """Draws in the first rounds, and in the last."""
    size = max(record.samples) * record.n_channels * record.n_trials
    many = int(np.clip(limits.MOST_DRAWN // size, limits.FEWEST_DRAWS, limits.FULL_DRAWS))
    return limits.FIRST_DRAWS, many


def _one_draw(here: Expected) -> FourierLines:
    return replace(here.lines, values=here.drawn[0], spread=None)


def _decided(
    search: ModeSearch, drawn: FourierLines, known: Sequence[DrivenMode]
) -> list[DrivenMode]:
    """Modes that the data ask for, those known and further ones."""
    proposed = candidates(drawn, *search.ends)
    modes = search.decide(proposed, known)
    if not modes:
        raise none_left(len(proposed))
    return modes


def _move(parts: Sequence[KeptModes], before: Sequence[DrivenMode]) -> float:
    """How far poles have moved, in standard deviations of a full record."""
    out = 0.0
    for part in parts:
        model, at = part.fit.model, part.fit.model.at
        information = np.diag(part.fit.slope[1])
        for j in range(model.fitted):
            old = min(before, key=lambda mode: abs(mode.omega - model.omega[j]))
            moves = (np.log(model.omega[j] / old.omega), np.log(model.zeta[j] / old.zeta))
            places = (at["frequency"][j], at["damping"][j])
            sizes = [abs(m) * np.sqrt(information[p]) for m, p in zip(moves, places, strict=True)]
            out = max(out, *sizes)
    return float(out)


def _errors(fit: BandFit, tilt: Tilt[BandFit] | None, full: Expected) -> tuple[Array, Array]:
    """Covariance of (Ω, shape, ζ), one free mode after the other, and intervals of ζ."""
    shares = kept(fit, full.lines, full.drawn)
    root = np.sqrt(shares)
    poles = np.concatenate([fit.model.at[name] for name in ("frequency", "damping")])
    thinned = Thinned(fit, float(shares[poles].mean()))
    information = fit.information * np.outer(root, root)
    return errors_of(thinned, information, jacobian(fit), along_tilt(fit, tilt))


def _remark(record: Record, places: Sequence[GridPlaces]) -> Remark:
    there = sum(int(own.seen.sum()) for own in places)
    whole = sum(own.samples for own in places) * record.n_channels
    uneven = not all(own.even for own in places)
    what = [f"{1 - there / whole:.0%} of the samples are missing"] if there < whole else []
    what += ["the times are uneven"] if uneven else []
    return Remark(
        " and ".join(what) + ": the modes explain what was measured",
        "what was not has a share in the errors",
        code="gaps",
    )
