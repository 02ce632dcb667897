"""Lines that move as an explanation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from prism._types import Array
from prism.errors import CannotTellError
from prism.evidence import CLOSE_CALL
from prism.finding import Finding, RecordSummary
from prism.forecast import Motion
from prism.ignore import ignored_bands, within
from prism.kernel import Certificate, certify_lines
from prism.magnitudes import Undetermined
from prism.modes import Modes
from prism.motion import _limits as weighing
from prism.motion.account import Account, costs, lines_of, price_of, usable
from prism.motion.decays.decays import DecayFit
from prism.motion.doubts import bunches
from prism.motion.driven.spectrum import FourierLines, hann
from prism.motion.explanation import Attempt, Explanation, Question, cut_short
from prism.motion.moving import _limits as limits
from prism.motion.moving.evidence import MovingEvidence
from prism.motion.moving.law import Law
from prism.motion.moving.motion import MovingMotion
from prism.motion.moving.remarks import remarks_of
from prism.motion.moving.result import MovingModes, modes_of, widened
from prism.motion.moving.ridges import Ridge, ridges
from prism.motion.moving.search import moves_besides, moving_again, moving_evidence
from prism.motion.steady.kind import Steady
from prism.motion.steady.likelihood import Lines, estimate_lines
from prism.record import QUANTITIES, Record
from prism.remarks import Remark
from prism.search.work import allowed
from prism.uncertainty import Gaussian

_UNKNOWN = Undetermined(
    "lines that move are not those of one fixed Hamiltonian, and an unknown start excites each "
    "mode by an unknown amount",
    "a part of the record in which nothing moves would tell more",
)


class Moving(Explanation):
    """Lines whose frequency or amplitude changes slowly."""

    name: ClassVar[str] = "moving"
    words: ClassVar[str] = "its frequencies or amplitudes drift or are modulated"
    experiments: ClassVar[tuple[str, ...]] = ("free",)
    meaningless: ClassVar[tuple[str, ...]] = ("mass", "stiffness", "rigid")
    motions: ClassVar[tuple[type[Motion], ...]] = (MovingMotion,)

    label: ClassVar[str] = "lines that move"

    def meant(self, asked: Question) -> Moving | None:
        """Where it is asked for by its name."""
        return self if self.named(asked) and not asked.is_response else None

    def find(self, asked: Question) -> Finding:
        """Fit lines that move."""
        followed = ridges(asked.record)
        if followed:
            return _swept(asked, followed, asked.settings.max_modes)
        return _moved(asked, *_steady_lines(asked), asked.settings.max_modes)

    def again(self, asked: Question, found: Finding) -> Finding:
        """With the same law where that is a modulation, which goes on; a polynomial need not."""
        evidence = found.fit
        assert isinstance(evidence, MovingEvidence)
        if not evidence.fit.law.modulation:
            return super().again(asked, found)
        return finding_of(asked, moving_again(asked.record, evidence))

    def at_sight(self, asked: Question) -> Iterator[Attempt]:
        """Lines that sweep far, as a machine that runs up makes them: short pieces show them."""
        followed, record = ridges(asked.record), asked.record
        if sum(record.samples) * record.n_channels * len(followed) > limits.MOST_MOVING_WORK:
            return
        if followed:
            most = asked.settings.max_modes or len(followed) + weighing.LINES_BEYOND
            yield Attempt(self, partial(_swept, asked, followed, most), most)

    def rivals(
        self, asked: Question, lead: Finding | None, driven: Finding | None
    ) -> Iterator[Attempt]:
        """Lines that move, about as many as stand apart, unless that would take long.

        After driven motion only where the record grows all the time, as no stationary motion does,
        or where no mode loses much in all of it: what hardly changes at random changes smoothly.
        """
        lines, record = None if lead is None else lead.fit, asked.record
        if not isinstance(lines, Lines):
            return
        if driven is not None and not (_grows(record) or _coherent(driven, record)):
            return
        apart = len(bunches(lines.fit.omega, 2 * np.pi / record.duration))
        if sum(record.samples) * record.n_channels * apart > limits.MOST_MOVING_WORK:
            return
        if lines.coloured and _within_noise(asked, lead):
            return
        most = asked.settings.max_modes or apart + weighing.LINES_BEYOND
        yield Attempt(self, partial(_moved, asked, lines.fit.omega, lines.gains, most), most)

    def overlooked(self, asked: Question, found: Finding, account: Account) -> Iterator[Attempt]:
        """Lines that move in place of decays, where amplitudes or phases do more than decay.

        Not in a record without Fourier lines, in which nobody tells whether decays leave noise.
        """
        fit, record = found.fit, asked.record
        if not isinstance(fit, DecayFit) or len(fit.stretches) > record.n_trials:
            return
        if not usable(record):
            return
        if sum(record.samples) * record.n_channels * len(fit) > limits.MOST_MOVING_WORK:
            return
        if moves_besides(record, fit.poles, false_alarm=asked.settings.false_alarm):
            most = asked.settings.max_modes or len(fit) + weighing.LINES_BEYOND
            omega, gains = found.modes.frequencies, found.modes.significance**2
            yield Attempt(self, partial(_moved, asked, omega, gains, most), most)

    def account(self, asked: Question, found: Finding) -> Account | None:
        """What the lines leave, and the price of their law, shapes and amplitudes.

        Amplitudes are free on every channel: what noise gains by that is taken off again.
        """
        evidence, record = found.fit, asked.record
        if not isinstance(evidence, MovingEvidence):
            return None
        law, n, trials = evidence.fit.law, record.n_channels, record.n_trials
        if law.size == law.count:
            return None  # lines that do not move are steady lines
        parameters = law.count * (n + 2 * trials) + law.size - law.count
        spare = law.count * (2 * n * trials - (n - 1) - 2 * trials)
        price = price_of(record, parameters) + spare + CLOSE_CALL  # steady where it is a close call
        return Account(tuple(evidence.fit.residuals()), price)


def _grows(record: Record) -> bool:
    """Whether every part of each trial is stronger than the one before it, and the last by far."""
    for values in record.trials:
        parts = np.array_split(values - np.nanmean(values, axis=0), limits.GROWING_PARTS)
        power = np.array([np.nanmean(part**2, axis=0) for part in parts])
        total = np.sum(power / np.maximum(power.mean(axis=0), weighing.TINY), axis=1)
        if np.any(np.diff(total) <= 0) or total[-1] < limits.GROWN * total[0]:
            return False
    return True


def _coherent(driven: Finding, record: Record) -> bool:
    """Whether driven modes keep their phases over the whole record, ``ζΩT < 1`` in all of them."""
    rates = driven.modes.damping * driven.modes.frequencies
    return bool(np.all(rates * record.duration < limits.COHERENT))


def _within_noise(asked: Question, lead: Finding | None) -> bool:
    """Whether noise of that colour explains a record better than its steady lines.

    Lines that move are sought in white noise, and find no end of them in the other.
    """
    account = None if lead is None else Steady().account(asked, lead)
    if account is None or not usable(asked.record) or _far_above(asked.record, account):
        return False
    lines, noise = costs(asked.record, [account, Account(asked.record.trials, 0.0)])
    return lines > noise


def _far_above(record: Record, account: Account) -> bool:
    """Whether what is left is too strong, in too narrow bands, for noise of some colour.

    It is compared with the median of the spectrum, after a Hann window, which keeps the skirts of
    what moves narrow.
    """
    left, seen = (lines_of(record, rests) for rests in (account.rests, record.trials))
    floor, mean = np.median(_hann_powers(seen), axis=0), np.mean(_hann_powers(left), axis=0)
    return bool(np.any(mean > limits.FAR_ABOVE**2 * floor))


def _hann_powers(lines: FourierLines) -> Array:
    return np.asarray(np.abs(np.concatenate([hann(part.values) for part in lines.trials])) ** 2)


def _moved(asked: Question, omega: Array, strength: Array, most: int | None) -> Finding:
    """Fit lines that move, from steady ones."""
    with allowed(weighing.MOST_SHARE * asked.work):
        evidence = moving_evidence(
            asked.record,
            omega,
            strength=strength,
            false_alarm=asked.settings.false_alarm,
            max_modes=most,
            tell=asked.tell,
        )
        return cut_short(finding_of(asked, evidence))


def _swept(asked: Question, followed: Sequence[Ridge], most: int | None) -> Finding:
    """Fit lines that move, from some that were followed through the record."""
    with allowed(weighing.MOST_SHARE * asked.work):
        evidence = moving_evidence(
            asked.record,
            np.zeros(0),
            followed=followed,
            false_alarm=asked.settings.false_alarm,
            max_modes=most,
            tell=asked.tell,
        )
        return cut_short(finding_of(asked, evidence))


def _steady_lines(asked: Question) -> tuple[Array, Array]:
    """Lines of a steady search; none where it finds none or gives up."""
    settings = asked.settings
    try:
        lines = estimate_lines(
            asked.record,
            false_alarm=settings.false_alarm,
            max_modes=settings.max_modes,
            progress=asked.tell,
        )
    except CannotTellError:
        return np.zeros(0), np.zeros(0)
    return lines.fit.omega, lines.gains


def finding_of(asked: Question, evidence: MovingEvidence) -> Finding:
    """Put together what moving lines say.

    Parameters
    ----------
    asked : Question
    evidence : MovingEvidence
    """
    record, fit = asked.record, evidence.fit
    orders = np.array([QUANTITIES.index(kind) for kind in record.quantity])
    found = modes_of(fit, orders)
    bands = ignored_bands(asked.settings.ignore, record, found.frequencies, "modes")
    ignored = within(found.frequencies, bands)
    more: tuple[Remark, ...] = ()
    if ignored.any():
        which = ", ".join(f"{w:.5g}" for w in found.frequencies[ignored])
        left = f"modes in the ignored bands were fitted and left out: {which}"
        more = (Remark(left, code="ignored"),)
    modes = _modes(found).take(np.flatnonzero(~ignored))
    return Finding(
        kind=Moving.name,
        channels=record.channels,
        quantity=record.quantity,
        measured=RecordSummary.of(record),
        modes=modes,
        outcome=_UNKNOWN,
        certificate=_certificate(modes, fit.law),
        noise_std=1 / np.sqrt(fit.weights),
        motion=MovingMotion.of(widened(fit)),
        remarks=(*remarks_of(fit.law), *more),
        fit=evidence,
    )


def _certificate(modes: Modes, law: Law) -> Certificate:
    """That of undamped modes, unless amplitudes grow exponentially."""
    poles = law.decays()
    if poles is None or not np.any(poles.real > 0):
        return certify_lines(modes.frequencies)
    rate = float(poles.real.max())
    reason = f"a mode grows at the rate {rate:.4g}: the motion is unstable, or something feeds it"
    return Certificate(False, None, None, reason)


def _modes(found: MovingModes) -> Modes:
    values = {"frequencies": found.frequencies, "shapes": found.shapes}
    return Modes(
        joint=Gaussian.of(values, found.covariance),
        amplitudes=found.amplitudes,
        significance=found.significance,
        phase_ratio=found.phase_ratio,
        in_phase=found.in_phase,
    )
