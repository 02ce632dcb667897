"""Free decays as an explanation, between kicks where there are any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prism._types import Array
from prism.errors import NoLineError, RecordTooShortError
from prism.finding import Finding
from prism.forecast import Motion
from prism.motion.decays import _limits as limits
from prism.motion.decays.decays import DecayFit, damping_evidence, decay_chance, fit_decays
from prism.motion.decays.motion import DecayMotion
from prism.motion.driven.innovations import kicks
from prism.motion.explanation import Question
from prism.motion.losses import LossyMotion, finding_of
from prism.motion.steady import Lines
from prism.record import QUANTITIES, Record
from prism.remarks import Ask, Remark, Words


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

    struck: tuple[Array, ...] = ()

    def meant(self, asked: Question) -> Decays | None:
        """Where losses are asked for, and the motion is kicked or goes on as it began."""
        named = self.named(asked)
        if asked.is_response or not (asked.settings.damped or named):
            return None
        record = asked.record
        even = record.dt is not None and not record.missing
        struck = tuple(kicks(record)) if even else ()
        free = named or struck or not even or _foreseen(record, asked.settings.false_alarm)
        return Decays(struck) if free else None

    def find(self, asked: Question) -> Finding:
        """Fit the decays."""
        record, settings = asked.record, asked.settings
        fit = fit_decays(
            record,
            kicks=self.struck or None,
            false_alarm=settings.false_alarm,
            max_modes=settings.max_modes,
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

    def suggests(self, asked: Question, found: Finding) -> Remark | None:
        """Where lines that stand close together decay by the likelihood."""
        lines, record = found.fit, asked.record
        if (
            not isinstance(lines, Lines)
            or max(record.samples) * record.n_trials > limits.LONGEST_TESTED
        ):
            return None
        resolution = 2 * np.pi / record.duration
        if not lines.crowded and np.all(np.diff(lines.fit.omega) > limits.MAY_BE_ONE * resolution):
            return None
        plain = record if lines.whitening is None else lines.whitening.applied(record)
        if (
            decay_chance(plain, lines.fit.omega, lines.gains, limits.MAY_BE_ONE * resolution)
            > limits.UNLIKELY_TO_DECAY
        ):
            return None
        evidence = damping_evidence(record, max_modes=limits.TELLING_MODES)
        if evidence.p_value > limits.DECAY_LEVEL:
            return None
        strongest = float(100 * evidence.damping.max())
        return Remark(
            "lines that stand close together decay by the likelihood",
            f"twice its logarithm gains {evidence.gain:.3g} with {evidence.dof} damping ratios up "
            f"to {strongest:.2g} %",
            Words("{0} fits that", (Ask("damped", True),)),
            code="decays",
        )


def _foreseen(record: Record, false_alarm: float) -> bool:
    """Whether free decays, fitted to the first part of each trial, foresee the rest.

    A free motion goes on as it began; one that noise drives forgets, so that the error beyond the
    fitted part is far larger than inside it.
    """
    head, tail = record.head(limits.FORESEEN_FROM), record.tail(limits.FORESEEN_FROM)
    try:
        fit = fit_decays(head, false_alarm=false_alarm, max_modes=limits.TELLING_MODES)
    except (NoLineError, RecordTooShortError):
        return False
    errors = []
    for part in (head, tail):
        rests = [
            y - fit.forecast(t, r)[0]
            for r, (t, y) in enumerate(zip(part.times, part.trials, strict=True))
        ]
        errors.append(np.mean(np.concatenate(rests) ** 2, axis=0))
    return bool(np.mean(errors[1] / errors[0]) < limits.FORESEEN_WORSE)


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
