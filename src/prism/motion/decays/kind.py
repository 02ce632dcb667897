"""Free decays as an explanation, between kicks where there are any."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from prism._types import Array, ComplexArray
from prism.finding import Finding
from prism.forecast import Motion
from prism.motion import _limits as weighing
from prism.motion.account import Account, costs, lines_of, price_of, usable
from prism.motion.decays import _limits as limits
from prism.motion.decays.decays import (
    DecayFit,
    decay_price,
    fit_decays,
    left_by,
    rates_chance,
)
from prism.motion.decays.motion import DecayMotion
from prism.motion.decays.onsets import Onsets, left_between, onsets
from prism.motion.decays.search import NO_POLES
from prism.motion.doubts import bunches, hump_chance, rough
from prism.motion.driven.driven import DrivenFit, band_of
from prism.motion.driven.innovations import kicks
from prism.motion.driven.kind import Driven
from prism.motion.driven.spectrum import fourier_lines
from prism.motion.driven.subspace import candidates
from prism.motion.explanation import Attempt, Question
from prism.motion.losses import LossyMotion, finding_of
from prism.motion.moving.evidence import MovingEvidence
from prism.record import QUANTITIES, Record
from prism.remarks import Remark
from prism.search.rounding import is_rounding


@dataclass(frozen=True)
class Decays(LossyMotion):
    """Lines that decay, each stretch between kicks with its own amplitudes.

    Attributes
    ----------
    struck : tuple of arrays
        Times of the kicks in each trial; empty for a plain decay.
    """

    name: ClassVar[str] = "decaying"
    words: ClassVar[str] = "it loses energy: a free decay, kicked or not"
    motions: ClassVar[tuple[type[Motion], ...]] = (DecayMotion,)

    label: ClassVar[str] = "a free decay"

    struck: tuple[Array, ...] = ()

    def at_sight(self, asked: Question) -> Iterator[Attempt]:
        """Decays between kicks that can be seen in the samples, or by what poles do not explain."""
        record = asked.record
        for struck in _kicks(record):
            yield Decays(struck)._attempt(asked, weighing.KICKED_DECAYS)
        if usable(record) and rough(fourier_lines(record)):
            yield from self._between_kicks(asked)

    def _between_kicks(self, asked: Question) -> Iterator[Attempt]:
        """Decays between a few kicks that poles of the record need to explain it."""
        record = asked.record
        poles = _proposed(record)
        if not len(poles):
            return
        found = onsets(record, poles, asked.settings.false_alarm, limits.FEW_STRETCHES)
        if _sensible(record, found) and _quiet(record, found):
            more = len(found.poles) + weighing.LINES_BEYOND
            yield Decays(found.times)._attempt(asked, more, found.poles)

    def rivals(
        self, asked: Question, lead: Finding | None, driven: Finding | None
    ) -> Iterator[Attempt]:
        """Decays of the lines that stand apart, then of a few more.

        Where noise may drive the motion, decays begin at the poles of the driven modes: between
        kicks, if few of them explain it, or from the start of the record. They are as many unless
        few more lines than these stand apart: a search for more would take long and find nothing.
        """
        record = asked.record
        omega = np.zeros(0) if lead is None else lead.modes.frequencies
        apart = [omega[b].mean() for b in bunches(omega, 2 * np.pi / record.duration)]
        most = len(apart) + weighing.LINES_BEYOND if apart else weighing.BLIND_DECAYS
        if driven is not None:
            yield from self._of_driven(asked, driven, most)
            return
        numbers = sum(record.samples) * record.n_channels
        if apart and numbers * len(apart) ** 2 < limits.TOO_MUCH_WORK:
            start = 1j * np.array(apart) - weighing.SEED_RATE / record.duration
            yield self._attempt(asked, len(apart), start)
        if numbers * most**2 < limits.MUCH_WORK:
            yield self._attempt(asked, most)

    def overlooked(self, asked: Question, found: Finding, account: Account) -> Iterator[Attempt]:
        """Decays in place of lines that move, where all that moves is amplitudes that decay.

        Between kicks too, where even the best leaves more than noise.
        """
        fit, record = found.fit, asked.record
        poles = fit.fit.law.decays() if isinstance(fit, MovingEvidence) else None
        if poles is not None and np.all(poles.real < 0):
            yield self._attempt(asked, len(poles), poles)
        if found.kind != "kicked" and usable(record):
            chance = hump_chance(lines_of(record, account.rests))
            if chance < weighing.DOUBT_LEVEL and not is_rounding(record, account.rests):
                yield from self._between_kicks(asked)

    def _of_driven(self, asked: Question, driven: Finding, most: int) -> Iterator[Attempt]:
        record, fit = asked.record, driven.fit
        assert isinstance(fit, DrivenFit)
        poles = fit.poles if fit.on_top is None else fit.on_top.instead
        found = onsets(record, poles, asked.settings.false_alarm)
        if _sensible(record, found) and _promising(asked, found, driven):
            more = len(found.poles) + weighing.LINES_BEYOND
            yield Decays(found.times)._attempt(asked, more, found.poles)
        most = most if most <= len(poles) + 2 * weighing.LINES_BEYOND else len(poles)
        if left_by(record, poles) < limits.EXPLAINS_NOTHING:
            yield self._attempt(asked, most, poles)

    def _attempt(self, asked: Question, count: int, start: ComplexArray = NO_POLES) -> Attempt:
        most = asked.settings.max_modes or count
        return Attempt(self, partial(self._found, asked, most, start), most)

    def account(self, asked: Question, found: Finding) -> Account | None:
        """What the decays leave, and the price of poles, shapes and amplitudes.

        Amplitudes are free on every channel, and shapes are not asked to be in phase: what noise
        gains by that is no evidence, and is taken off again. A rate of decay is a parameter that
        is tested, not weighed: all rates together need what chance seldom gives them.
        """
        fit, record = found.fit, asked.record
        if not isinstance(fit, DecayFit):
            return None
        if not (asked.settings.damped or rates_chance(fit) < limits.DECAY_LEVEL):
            return None  # lines that do not decay are steady lines
        if _fill(record, fit.frequencies, self.struck):
            return None
        n, m, stretches = record.n_channels, len(fit), len(fit.stretches)
        parameters = m * (n + 2 * stretches) + n * fit.unused + stretches - record.n_trials
        spare = m * (2 * n * stretches - (n - 1) - 2 * stretches)
        near = weighing.UNRESOLVED * 2 * np.pi / record.duration
        close = bool(np.any(np.diff(np.unique(found.modes.frequencies)) < near))
        price = price_of(record, parameters) + spare + decay_price(m)
        return Account(fit.rests, price + weighing.UNLIKELY_PLACES * close)

    def meant(self, asked: Question) -> Decays | None:
        """Where losses are asked for; whether noise drives the motion instead, the data say."""
        if asked.is_response or not (asked.settings.damped or self.named(asked)):
            return None
        struck = _kicks(asked.record) if self.named(asked) else []
        return Decays(struck[0]) if struck else self

    def called(self, found: Finding) -> str:
        """A free decay, or decays between kicks."""
        return "decays between kicks" if found.kind == "kicked" else self.label

    def find(self, asked: Question) -> Finding:
        """Fit the decays."""
        return self._found(asked, asked.settings.max_modes, NO_POLES)

    def _found(self, asked: Question, most: int | None, start: ComplexArray) -> Finding:
        record = asked.record
        fit = fit_decays(
            record,
            kicks=self.struck or None,
            false_alarm=asked.settings.false_alarm,
            max_modes=most,
            start=start,
            progress=asked.tell,
        )
        what = "kicked" if self.struck else "free decay"
        return finding_of(
            asked,
            fit,
            kind="kicked" if self.struck else self.name,
            amplitudes=_amplitudes(record, fit),
            phase_ratio=fit.phase_ratio,
            noise_std=fit.noise_std,
            noise_correlation=fit.noise_correlation,
            motion=DecayMotion(fit.continuations, fit.noise_std),
            remarks=(*_kick_remarks(self.struck), f"fitted as {what}", *fit.remarks),
        )


def _sensible(record: Record, found: Onsets) -> bool:
    """Whether there are kicks, and few enough for the modes to be recognised between them."""
    return bool(found.times) and not _fill(record, np.abs(found.poles.imag), found.times)


def _fill(record: Record, omega: Array, struck: tuple[Array, ...]) -> bool:
    r"""Whether decays between kicks have so many amplitudes that they explain any motion.

    In S stretches of T in all, what lies between the lowest and the highest of m modes, and within
    one line of a stretch of these, has :math:`(Ω_m - Ω_1) T/2π + 2S` complex numbers for each
    channel. The amplitudes are mS.
    """
    kicked = sum(map(len, struck))
    if not kicked:
        return False
    stretches = kicked + record.n_trials
    numbers = float(np.ptp(omega)) * record.n_trials * record.duration / (2 * np.pi) + 2 * stretches
    return len(omega) * stretches > limits.FILLED * numbers


def _quiet(record: Record, found: Onsets) -> bool:
    """Whether decays between kicks leave nothing that spreads as driven motion does."""
    rests = left_between(record, found)
    return rests is not None and not rough(lines_of(record, rests))


def _promising(asked: Question, found: Onsets, driven: Finding) -> bool:
    """Whether decays between kicks, as they were found, explain about what driven motion does.

    A fit of all poles and shapes is dear, and adds little to what the partition explains.
    """
    record = asked.record
    rests, random = left_between(record, found), Driven().account(asked, driven)
    if rests is None or random is None:
        return rests is not None
    accounts = [Account(rests, 0.0), random, Account(record.trials, 0.0)]
    kicked, noise, nothing = costs(record, accounts)
    return nothing - kicked > limits.PROMISING * (nothing - noise)


def _kicks(record: Record) -> list[tuple[Array, ...]]:
    """Times of the kicks in each trial; nothing where there are none."""
    struck = tuple(kicks(record)) if usable(record) else ()
    return [struck] if sum(map(len, struck)) else []


def _proposed(record: Record) -> ComplexArray:
    """Poles of a first look, by subspace identification: those that return at most orders.

    Covariances of free decays between kicks that come at no regular times are those of motion
    driven by noise.
    """
    modes = candidates(fourier_lines(record), *band_of(record))
    sure = [one for one in modes if one.gain >= limits.WELL_SUPPORTED]
    return np.array([one.omega * (1j * np.sqrt(1 - one.zeta**2) - one.zeta) for one in sure])


def _amplitudes(record: Record, fit: DecayFit) -> Array:
    """Displacement along each mode at the start of the last stretch of each trial."""
    orders = np.array([QUANTITIES.index(kind) for kind in record.quantity])
    poles = fit.frequencies * np.exp(1j * (np.pi - np.arccos(np.clip(fit.damping, 0, 1))))
    sizes = np.linalg.norm(fit.amplitudes / poles[:, None] ** orders, axis=2)
    return np.array([sizes[fit.stretches == r][-1] for r in np.unique(fit.stretches)])


def _kick_remarks(struck: tuple[Array, ...]) -> tuple[Remark, ...]:
    count = sum(len(times) for times in struck)
    if not count:
        return ()
    first = ", ".join(f"{t:.4g}" for t in struck[0][:4])
    return (
        Remark(
            f"the drive is impulsive, not steady noise: {count} kick{'s' * (count > 1)} "
            f"(the first at {first}), between which the motion decays freely",
            code="kicks",
        ),
    )
