r"""Rigid-body modes among the magnitudes: whether a drift is that of a body or that of a sensor.

A body that nothing holds moves as a whole, :math:`v_0 (a + b t)`: one mode more, at zero frequency,
without which all hidden frequencies are wrong. A sensor may drift, too, or its zero be off. Where
both are possible, both are tried: the data decide if they contradict one of them and could have
contradicted the other. Otherwise the question goes to the user.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from prism.experiments import _limits as limits
from prism.experiments.drift import Drift, Shown, offsets_of, slopes_of, with_rigid
from prism.magnitudes import Magnitudes, Outcome, RigidMotion, Undetermined
from prism.remarks import Ask, Remark, Words

if TYPE_CHECKING:
    from prism.motion.steady import Lines

__all__ = [
    "RigidLines",
    "displaced",
    "pulled_free",
    "sloping",
    "with_offset_said",
    "with_rigid_bodies",
]


@dataclass(frozen=True)
class RigidLines:
    """What may be rigid-body modes in some lines.

    Attributes
    ----------
    lines : Lines
    drift : Drift or None
        Slopes or offsets, of which the shapes follow; None where the fit needs none.
    significant : bool
        Whether anything is there at all.
    what : str
        What is there, in words.
    instead : str
        What else may do it.
    """

    lines: Lines
    drift: Drift | None
    significant: bool
    what: str
    instead: str

    @property
    def kind(self) -> Shown:
        """How they show."""
        return Shown.SLOPES if self.drift is None else self.drift.kind

    @property
    def saturated(self) -> bool:
        """Whether there may be more of them than the trials can show."""
        drift = self.drift
        return drift is not None and drift.rank == drift.trials < len(drift.rows)

    @property
    def count(self) -> int:
        """How many there seem to be."""
        return 1 if self.drift is None else max(1, self.drift.rank)

    def tied(self, count: int) -> Lines | Undetermined:
        """The lines with so many rigid-body modes, or why there are not so many.

        Parameters
        ----------
        count : int
        """
        drift, fit = self.drift, self.lines.fit
        if drift is None or not self.significant or count > drift.rank:
            return _fewer(count, 0 if drift is None or not self.significant else drift.rank, self)
        if count < drift.rank:
            return _more(count, drift.rank, self)
        return replace(self.lines, fit=with_rigid(fit, count, drift))


def sloping(lines: Lines) -> RigidLines | None:
    """Look for slopes, or for offsets of velocities; None where neither would tell.

    Parameters
    ----------
    lines : Lines
    """
    fit = lines.fit
    if lines.trend is not None or not (np.all(fit.orders == 0) or np.all(fit.orders == 1)):
        return None
    if np.any(fit.orders):
        drift: Drift | None = offsets_of(fit, lines.means, lines.trials, Shown.VELOCITIES)
        what, instead = "a mean velocity", "the zero of a sensor is off"
    else:
        drift = slopes_of(fit) if fit.background > 1 else None
        what, instead = "a slope", "sensors drift"
    seen = drift is not None and drift.p_value < limits.RIGID_LEVEL
    return RigidLines(lines, drift, seen, what, instead)


def displaced(lines: Lines) -> RigidLines | None:
    """Look for offsets and slopes of a record that begins at rest; None where they do not tell.

    Parameters
    ----------
    lines : Lines
    """
    slopes = sloping(lines)
    if slopes is None or np.any(lines.fit.orders):
        return None
    drift = offsets_of(lines.fit, lines.means, lines.trials)
    if slopes.significant:
        return RigidLines(lines, drift, True, slopes.what, slopes.instead)
    seen = drift.p_value < limits.RIGID_LEVEL
    return RigidLines(lines, drift, seen, "an offset", "the zero of a sensor is off")


def with_rigid_bodies(
    lines: Lines,
    given: int | None,
    look: Callable[[Lines], RigidLines | None],
    solve: Callable[[Lines], Outcome],
) -> Outcome:
    """Magnitudes of the modes, rigid-body modes among them where there are any.

    Parameters
    ----------
    lines : Lines
    given : int or None
        How many there are; None where the data shall say.
    look : callable
        Finds what may be rigid-body modes; None where nothing would show them.
    solve : callable
        Gives the magnitudes of lines as they are.
    """
    if given == 0:
        return solve(lines)
    seen = look(lines)
    if seen is None:
        return _invisible(lines, solve(lines), given)
    if given:
        return _completed(seen, given, solve)
    plain = solve(lines)
    if not seen.significant:
        return plain
    modes, channels = lines.fit.shapes.shape
    if modes < channels <= modes + seen.count:
        return _ask(seen)  # too few modes by themselves, and enough with those of the body
    open_anyway = isinstance(plain, Undetermined) and not plain.refuted
    return plain if open_anyway else _told(plain, seen, solve)


def _completed(seen: RigidLines, count: int, solve: Callable[[Lines], Outcome]) -> Outcome:
    tied = seen.tied(count)
    if isinstance(tied, Undetermined):
        return tied
    found = solve(tied)
    if isinstance(found, Undetermined):
        return found
    remarks = (*found.remarks, _remark(count, seen.kind))
    return replace(found, rigid=_motion(tied, count), remarks=remarks)


def _told(plain: Outcome, seen: RigidLines, solve: Callable[[Lines], Outcome]) -> Outcome:
    """The one of two explanations that the data allow, where they can tell."""
    body = _completed(seen, seen.count, solve)
    if _holds(body) and _is_refuted(plain):
        return _with_remark(body, _perhaps_more(seen)) if seen.saturated else body
    if _holds(plain) and _is_refuted(body):
        return _of_sensors(plain, seen)
    if _is_refuted(plain) and _is_refuted(body):
        return _neither(plain, seen) if seen.saturated else plain
    return _ask(seen)


def _of_sensors(plain: Outcome, seen: RigidLines) -> Outcome:
    """What holds if sensors drift; more modes than the trials show may move so, too."""
    said = _with_remark(plain, _sensors(seen))
    return _with_remark(said, _perhaps_more(seen)) if seen.saturated else said


def _holds(found: Outcome) -> bool:
    """Whether the data could have contradicted it, and do not."""
    return isinstance(found, Magnitudes) and found.tested > 0


def _is_refuted(found: Outcome) -> bool:
    return isinstance(found, Undetermined) and found.refuted


def _with_remark(found: Outcome, remark: Remark) -> Outcome:
    if isinstance(found, Undetermined):
        return found
    return replace(found, remarks=(*found.remarks, remark))


# -- motion ----------------------------------------------------------------------------------------


def _motion(lines: Lines, count: int) -> RigidMotion:
    fit, K = lines.fit, len(lines.fit.line)
    speeds = np.array([fit.motions[i].values[K : K + count, j] for i, j in lines.trials])
    gain = np.zeros(count)
    for motion in fit.motions:
        for k in range(count):
            size = motion.values[[k, K + k]] ** 2
            noise = np.diag(motion.covariance)[[k, K + k]]
            there = noise > 0
            gain[k] += np.sum(size[there] / noise[there, None] / motion.scatter)
    return RigidMotion(np.abs(speeds), np.sqrt(gain))


# -- words -----------------------------------------------------------------------------------------


_PLURAL = {
    Shown.SLOPES: "slopes",
    Shown.OFFSETS: "offsets",
    Shown.VELOCITIES: "mean velocities",
}


def _modes(count: int) -> str:
    return f"{count} rigid-body mode{'s' * (count != 1)}"


def _remark(count: int, kind: Shown) -> Remark:
    zeros = "" if kind is Shown.SLOPES else "; the zeros of the sensors are taken to be right"
    return Remark(
        f"the {kind.value} of the record is that of {_modes(count)}, at zero frequency{zeros}",
        code="rigid-body",
    )


def _shown(seen: RigidLines) -> str:
    trials = 0 if seen.drift is None else seen.drift.trials
    many = trials > 1
    return (
        f"{trials} trial{'s' * many} show{'s' * (not many)} no more than {_modes(trials)}, "
        "and the body may have more"
    )


def _perhaps_more(seen: RigidLines) -> Remark:
    return Remark(
        f"{_shown(seen)}, which would change the hidden frequencies",
        advice="record more trials, each set going in another way",
        code="rigid-unseen",
    )


def _neither(plain: Outcome, seen: RigidLines) -> Outcome:
    """Refuted with and without the rigid-body modes that show."""
    assert isinstance(plain, Undetermined)
    return replace(
        plain,
        why=f"{_shown(seen)}; with those that show, and without them, {plain.why}",
        remedy="record more trials, each set going in another way, and check the given values",
    )


def _sensors(seen: RigidLines) -> Remark:
    return Remark(
        f"{seen.what} is significant and is not that of {_modes(seen.count)}, which would "
        f"contradict the given values: {seen.instead}",
        code="sensor-drift",
    )


def _ask(seen: RigidLines) -> Undetermined:
    return Undetermined(
        f"{seen.what} is significant: either nothing holds the body, and it has a rigid-body mode, "
        f"which changes all hidden frequencies, or {seen.instead}; these data do not tell",
        Words("say which: {0} or {1}", (Ask("rigid", seen.count), Ask("rigid", 0))),
    )


def _fewer(count: int, there: int, seen: RigidLines) -> Undetermined:
    shown = "no rigid-body mode" if not there else f"{_modes(there)} only"
    what = _PLURAL[seen.kind]
    return Undetermined(
        f"{_modes(count)} {'were' if count > 1 else 'was'} given, but the {what} of the record "
        f"show {shown}; what leaves no line cannot be completed",
        Words("record longer, with less noise or in more channels, or give {0}", (_given(there),)),
        refuted=True,
    )


def _more(count: int, there: int, seen: RigidLines) -> Undetermined:
    what = _PLURAL[seen.kind]
    return Undetermined(
        f"the {what} of channels and trials need {there} directions, more than the {_modes(count)} "
        "that were given",
        Words(
            "if all are those of the body, give {0}; otherwise mend the sensors", (_given(there),)
        ),
        refuted=True,
    )


def _given(count: int) -> Ask:
    return Ask("rigid", count)


def _invisible(lines: Lines, plain: Outcome, given: int | None) -> Outcome:
    """Where a rigid-body mode would not show, or not as what it is."""
    why = (
        "velocities and accelerations do not show a rigid-body mode as displacements do"
        if np.any(lines.fit.orders)
        else "a drift of higher degree cannot be told from the motion of a rigid body"
    )
    if given:
        return Undetermined(why, "record displacements that do not drift otherwise")
    if isinstance(plain, Undetermined) and plain.refuted:
        more = f"{plain.why}; a rigid-body mode would do that too, and {why}"
        return replace(plain, why=more)
    return _with_remark(
        plain,
        Remark(
            f"{why}: if nothing holds the body, the hidden frequencies are others",
            code="rigid-unseen",
        ),
    )


def with_offset_said(found: Outcome, seen: RigidLines | None) -> Outcome:
    """The outcome of a snap-back, with a remark where it may have been the release of a free body.

    Parameters
    ----------
    found : Magnitudes or Undetermined
    seen : RigidLines or None
    """
    if seen is None or not seen.significant:
        return found
    return _with_remark(
        found,
        Remark(
            f"{seen.what} is significant: {seen.instead}, or nothing holds the body, which then "
            "was not pulled and has other hidden frequencies",
            advice=Words("say which: {0} or {1}", (Ask("rigid", 0), Ask("experiment", "released"))),
            code="rigid-unseen",
        ),
    )


def pulled_free() -> Undetermined:
    """Why there is no snap-back of a free body."""
    return Undetermined(
        "a steady pull on a free body is impossible without a support: it would run away, so that "
        "a snap-back has no rigid-body mode",
        Words(
            "if it was held, leave the rigid-body modes out ({0}); of a free body use a release "
            "({1}) or equilibrium ({2})",
            (Ask("rigid", 0), Ask("experiment", "released"), Ask("experiment", "equilibrium")),
        ),
    )
