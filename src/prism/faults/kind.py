"""A fault of measurement as an explanation: steady lines that the instrument has broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import chdtrc

from prism._types import Array
from prism.errors import NoLineError
from prism.faults import _limits as limits
from prism.faults.correction import corrected
from prism.faults.delay import find_delays
from prism.faults.fault import Fault
from prism.faults.find import cut_in_two, find_breaks
from prism.finding import Determined, Finding, RecordSummary
from prism.kernel import certify_lines
from prism.magnitudes import Undetermined
from prism.motion._limits import FEWEST_SAMPLES
from prism.motion.account import Account, costs, price_of, usable
from prism.motion.doubts import rough
from prism.motion.driven.spectrum import fourier_lines
from prism.motion.explanation import Attempt, Explanation, Question
from prism.motion.gyroscopic.delay import DelayTest
from prism.motion.gyroscopic.rival import delay_against_rotation
from prism.motion.potential.suggest import suggests_nonlinearity
from prism.motion.ranking import SMOOTH_KINDS
from prism.motion.steady import Lines
from prism.motion.steady._limits import PHASE_LEVEL
from prism.motion.steady.kind import Steady
from prism.motion.steady.trajectories import Late, Trajectories
from prism.record import Record
from prism.remarks import Ask, Words

__all__ = ["BrokenSteady", "put_in_time"]


class BrokenSteady(Explanation):
    """Steady lines with kicks, lost samples, jumps or a drifting clock.

    It competes with kinds of motion, but is none: what it finds is a steady motion.
    """

    name: ClassVar[str] = "broken"
    words: ClassVar[str] = "steady lines and a fault of measurement"
    label: ClassVar[str] = "steady lines and a fault of measurement"

    def meant(self, asked: Question) -> None:
        """Never by an option."""
        return None

    def find(self, asked: Question) -> Finding:
        """Find the faults, take them out, and fit the lines."""
        faults = find_breaks(asked.record, None, asked.settings.false_alarm)
        if not faults:
            raise NoLineError("no fault of measurement explains the record.")
        mended = asked._replace(data=corrected(asked.record, faults))
        found = Steady().find(mended)
        return replace(
            found,
            kind="kicked" if any(one.code == "kick" for one in faults) else found.kind,
            measured=RecordSummary.of(asked.record),
            remarks=(*(one.remark for one in faults), *found.remarks),
            fit=(found.fit, faults, mended.data),
        )

    def at_sight(self, asked: Question) -> Iterator[Attempt]:
        """Steady lines that are broken, where a part of what is not smooth as a whole is smooth."""
        record = asked.record
        if usable(record) and rough(fourier_lines(record)) and _may_be_broken(record):
            yield Attempt(self, partial(self.find, asked))

    def rivals(
        self, asked: Question, lead: Finding | None, driven: Finding | None
    ) -> Iterator[Attempt]:
        """Steady lines with what breaks them, where the motion is smooth and looks linear."""
        record = asked.record
        if not usable(record) or rough(fourier_lines(record)):
            return
        # lines invented around a break hit combinations by chance; those of smooth motion do not
        if lead is None or not suggests_nonlinearity(lead.modes).nonlinear:
            yield Attempt(self, partial(self.find, asked))

    def overlooked(self, asked: Question, found: Finding, account: Account) -> Iterator[Attempt]:
        """Steady lines that are broken, where one cut explains more than a smooth change does.

        A smooth law of amplitudes and phases imitates a small kick to within the noise. Steady
        lines at the same frequencies, with amplitudes of their own before and after the cut that
        gains most, say at little cost whether the kick would score better.
        """
        record = asked.record
        if found.kind not in SMOOTH_KINDS or found.noise_std is None or not usable(record):
            return
        rests = cut_in_two(record, found.modes.vibrating().frequencies, found.noise_std)
        if rests is None:
            return
        lines, n, stretches = len(found.modes), record.n_channels, record.n_trials + 1
        parameters = lines * (n + 2 * stretches) + 2
        # amplitudes are free on every channel: what noise gains by that is taken off again
        spare = lines * (2 * n * stretches - (n - 1) - 2 * stretches)
        price = price_of(record, parameters) + spare
        smooth, cut = costs(record, [account, Account(rests, price)])
        if cut < smooth:
            yield Attempt(self, partial(self.find, asked))

    def called(self, found: Finding) -> str:
        """Steady lines, and what is wrong with them."""
        return "steady lines between kicks" if found.kind == "kicked" else self.label

    def account(self, asked: Question, found: Finding) -> Account | None:
        """What the mended lines leave of the samples as they were, and the price of the faults."""
        if not isinstance(found.fit, tuple):
            return None
        lines, faults, mended = found.fit
        record = asked.record
        rests = _rests(record, lines, mended, faults)
        if rests is None:
            return None
        stretches = mended.n_trials
        parameters = len(lines.motion.line) * (record.n_channels + 2 * stretches)
        parameters += sum(1 + len(one.size) for one in faults)
        return Account(rests, price_of(record, parameters))


class InTime(NamedTuple):
    """A question about channels that are in time, and what was found.

    Attributes
    ----------
    asked : Question
    found : Finding
    settled : bool
        Whether a rotation was asked too, so that no other kind needs to be.
    """

    asked: Question
    found: Finding
    settled: bool = False


def put_in_time(
    asked: Question, found: Finding, find: Callable[[Question], Finding]
) -> InTime | None:
    """Steady lines of which one channel is late, found once more with that channel in time.

    The errors of shapes need no more than the fit gives them. A wrong delay turns a channel out of
    phase, which changes a shape by the square of the angle; and the angle is less than the
    relative error of that component, since this line is one of those that tell the delay.

    Parameters
    ----------
    asked : Question
    found : Finding
    find : callable
        Answers a question.

    Returns
    -------
    InTime or None
        None where no channel is late, or a rotation explains the lines far better.
    """
    lines = found.fit
    if not (isinstance(lines, Lines) and _out_of_phase(lines)):
        return None
    faults = find_delays(asked.record, lines, asked.settings.false_alarm)
    if not faults:
        return None
    rival = _rotation(asked, lines, faults[0])
    if rival is not None and rival.refuted:
        return None
    done = _corrected(asked, found, lines, faults, find)
    if rival is not None and rival.open and isinstance(done.found.outcome, Determined):
        return InTime(asked, _late_or_turning(found, faults[0], rival), settled=True)
    return done


def _corrected(
    asked: Question,
    found: Finding,
    lines: Lines,
    faults: Sequence[Fault],
    find: Callable[[Question], Finding],
) -> InTime:
    """What is found with the late channel in time, where it is certain enough to be corrected."""
    said = [one.remark for one in faults]
    if not faults[0].lines:
        return InTime(asked, found.with_remarks(*said))
    mended = asked._replace(data=_moved(asked.record, lines, faults))
    again = find(mended)
    if not isinstance(again.motion, Trajectories):
        said = [replace(one, lines=()).remark for one in faults]
        return InTime(asked, found.with_remarks(*said))
    fault = faults[0]
    late = Late(asked.record.channels.index(fault.channels[0]), fault.size[0], fault.error[0])
    return InTime(
        mended,
        replace(
            again,
            measured=RecordSummary.of(asked.record),
            motion=replace(again.motion, late=late),
            remarks=(*said, *again.remarks),
        ),
    )


def _rotation(asked: Question, lines: Lines, fault: Fault) -> DelayTest | None:
    """A delay against a rotation, where there are too few phases to tell them apart."""
    channels = asked.record.channels
    if len(lines.fit.omega) * (len(channels) - 1) >= limits.DELAY_PHASES:
        return None
    return delay_against_rotation(asked, lines, channels.index(fault.channels[0]), fault.size[0])


def _late_or_turning(found: Finding, fault: Fault, rival: DelayTest) -> Finding:
    """Steady lines without what follows from their being in phase, or turning."""
    lines = found.fit
    assert isinstance(lines, Lines)
    why = (
        f"the {len(lines.fit.omega)} lines are out of phase, as where channel {fault.channels[0]} "
        f"is late by {fault.size[0]:.4g} ± {fault.error[0]:.2g}, and as where the system rotates; "
        "with so few lines and channels both explain the records alike (χ² differs by "
        f"{abs(rival.lead):.2g})"
    )
    remedy = Words(
        "say whether it rotates ({0} or {1}), or record one more channel",
        (Ask("gyroscopic", True), Ask("gyroscopic", False)),
    )
    return replace(
        found,
        modes=replace(found.modes, residues=None, residues_std=None, energies=None),
        outcome=Undetermined(why, remedy),
        certificate=certify_lines(lines.fit.omega),
    )


def _out_of_phase(lines: Lines) -> bool:
    r"""Whether some line is out of phase, or all together are.

    :math:`-2 \sum_j \log p_j` of N lines in phase is :math:`χ^2` with 2N degrees of freedom.
    """
    p = np.array([test.p_value[0] for test in lines.tests])
    together = -2 * np.log(np.maximum(p, np.finfo(float).tiny)).sum()
    return bool(lines.out_of_phase.any() or chdtrc(2 * len(p), together) < PHASE_LEVEL)


def _moved(record: Record, lines: Lines, faults: Sequence[Fault]) -> Record:
    """The record without its delay; a drift stays where it is."""
    if lines.trend is None:
        return corrected(record, faults)
    plain = lines.trend.removed(record)
    moved = corrected(plain, faults)
    parts = zip(record.trials, plain.trials, moved.trials, strict=True)
    return record.with_values([y + (new - old) for y, old, new in parts])


def _may_be_broken(record: Record) -> bool:
    """Whether some part of the record is smooth: a few breaks leave one, noise that drives none."""
    for y in record.trials:
        if len(y) < limits.FEWEST_PARTS * FEWEST_SAMPLES:
            return True
        for part in (y, *np.array_split(y, limits.FEWEST_PARTS)):
            if not rough(fourier_lines(Record(part, dt=record.dt, quantity=record.quantity))):
                return True
    return False


def _rests(
    record: Record, lines: Lines, mended: Record, faults: Sequence[Fault]
) -> tuple[Array, ...] | None:
    """What is left of every sample of the record as it was; None where some are gone."""
    motion = Trajectories(lines.motion, lines.trials, lines.means, None, lines.trend)
    left = [
        (y - motion.values(t, r))[np.isfinite(y).all(axis=1)]
        for r, (t, y) in enumerate(zip(mended.times, mended.trials, strict=True))
    ]
    kicked = [one.trial for one in faults if one.code == "kick"]
    ends = np.cumsum([1 + kicked.count(r) for r in range(record.n_trials)])
    whole = [np.concatenate(left[a:b]) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    if any(len(one) != count for one, count in zip(whole, record.samples, strict=True)):
        return None
    return tuple(whole)
