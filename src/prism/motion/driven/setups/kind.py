"""Several set-ups as one answer: what may be asked of them, and the finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from prism.determination import Determination
from prism.errors import CannotTellError, NoLineError, OptionError
from prism.finding import Finding, RecordSummary
from prism.motion.driven.driven import DrivenFit
from prism.motion.driven.kind import Driven
from prism.motion.driven.setups.linkage import Linkage
from prism.motion.driven.setups.setups import SetupsFit, fit_setups
from prism.motion.driven.steadiness import drive_remark
from prism.motion.explanation import Question
from prism.motion.losses import finding_of
from prism.record import Record
from prism.remarks import Ask, Remark, Words

__all__ = ["apart", "check_setups", "driven_fit", "setups_finding", "summary_of"]

_ALLOWED = {"kind", "damped", "max_modes", "false_alarm", "ignore", "experiment"}
"""Options that mean something to several set-ups."""


def check_setups(records: Sequence[object], given: Mapping[str, Any]) -> list[Record]:
    """The set-ups, after a refusal of what is none and of options that mean nothing to them.

    Parameters
    ----------
    records : sequence
    given : mapping
        Options that differ from their defaults.

    Raises
    ------
    OptionError, RecordError
    """
    setups = []
    for number, record in enumerate(records, 1):
        if not isinstance(record, Record):
            raise OptionError(
                f"set-up {number} is a {type(record).__name__}: set-ups are Records of motion that "
                "unmeasured noise drives."
            )
        setups.append(record)
    Linkage.of(setups)
    strange = sorted(set(given) - _ALLOWED)
    if strange:
        raise OptionError(
            Words(
                "{0:name} means nothing to several set-ups, which are motion driven by noise that "
                "was not measured: leave it out, or give one record.",
                (Ask(strange[0]),),
            )
        )
    other = given.get("experiment", "free") != "free" or given.get("damped") is False
    if other or given.get("kind", Driven.name) != Driven.name:
        raise OptionError(
            "several set-ups are fitted as motion driven by noise that was not measured, and as "
            "nothing else: leave out the experiment and the kind, or give one record."
        )
    return setups


def driven_fit(number: int, found: Finding | None, asked: Question) -> DrivenFit | None:
    """The driven modes of one set-up; None where it shows none.

    Parameters
    ----------
    number : int
        Of the set-up, from one.
    found : Finding or None
        What explains it best by itself; None where nothing stands out.
    asked : Question

    Raises
    ------
    CannotTellError
        Where the data clearly say another kind of motion.
    """
    if found is None:
        return None
    if isinstance(found.fit, DrivenFit):
        return found.fit
    close = any(rival.kind == Driven.name for rival in found.evidence.close)
    if not close:
        words = found.evidence.sentence(found.kind) or f"{found.kind} motion"
        raise CannotTellError(
            Words(
                f"set-up {number} is not driven by noise: {words}. Leave it out, or insist by "
                "{0}.",
                (Ask("kind", Driven.name),),
            )
        )
    try:
        fit = Driven().find(asked).fit
    except NoLineError:
        return None
    return fit if isinstance(fit, DrivenFit) else None


def setups_finding(asked: Sequence[Question], fits: Sequence[DrivenFit | None]) -> Finding:
    """The joint fit of several set-ups, as a finding.

    Parameters
    ----------
    asked : sequence of Question
        Of each set-up, with the same settings.
    fits : sequence of DrivenFit or None
        Of each set-up by itself.
    """
    records, settings = [one.record for one in asked], asked[0].settings
    fit = fit_setups(
        records,
        false_alarm=settings.false_alarm,
        max_modes=settings.max_modes,
        fits=fits,
        progress=asked[0].tell,
    )
    found = finding_of(
        asked[0],
        fit,
        kind=Driven.name,
        amplitudes=np.zeros((0, len(fit))),
        phase_ratio=np.zeros(len(fit)),
        noise_std=None,
        motion=None,
        remarks=tuple(_remarks(fit, fits)),
    )
    linkage = fit.linkage
    return replace(
        found,
        channels=linkage.channels,
        quantity=linkage.quantity,
        measured=summary_of(records, linkage),
    )


def _remarks(fit: SetupsFit, fits: Sequence[DrivenFit | None]) -> Iterator[Remark | str]:
    setups = len(fits)
    yield Remark(
        f"fitted as motion driven by stationary noise that nobody measured, {setups} set-ups in "
        "one likelihood",
        "poles and shapes are those of the structure, forces and noise of each set-up its own: it "
        "must not have changed between them",
        code="set-ups",
    )
    yield f"what the modes leave: {fit.noise}"
    silent = [str(number) for number, one in enumerate(fits, 1) if one is None]
    if silent:
        yield Remark(
            f"no mode stands out in set-up {', '.join(silent)} by itself",
            "what it tells of the modes of the others was used",
            code="silent-set-up",
        )
    for number, one in enumerate(fits, 1):
        if one is not None and one.on_top is not None:
            yield f"set-up {number}: {one.on_top.remark()}"
    yield from fit.remarks
    drive = drive_remark(fit.bands)
    if drive is not None:
        yield drive


def apart(linkage: Linkage) -> tuple[Determination, ...]:
    """What several groups of sensors leave open."""
    groups = linkage.group_names()
    if len(groups) < 2:
        return ()
    why = f"no sensor is seen in both: {' | '.join(groups)}"
    name = "size of a shape in one group of sensors relative to another"
    return (Determination.undetermined(name, why),)


def summary_of(records: Sequence[Record], linkage: Linkage) -> RecordSummary:
    """What a model remembers of several set-ups.

    The standard deviation of a channel is the root mean square over the set-ups that see it.
    """
    power, count = np.zeros((2, linkage.size))
    for record, places in zip(records, linkage.places, strict=True):
        power[places] += record.std() ** 2
        count[places] += 1
    steps = {record.dt for record in records}
    return RecordSummary(
        samples=tuple(record.samples[0] for record in records),
        dt=records[0].dt if len(steps) == 1 else None,
        missing=0,
        span=(min(one.starts[0] for one in records), max(one.ends[0] for one in records)),
        std=np.sqrt(power / count),
        setups=linkage.setups,
    )
