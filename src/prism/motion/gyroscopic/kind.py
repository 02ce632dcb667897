"""Lines that turn as an explanation: a system that rotates, free or at thermal equilibrium."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from prism._types import ComplexArray, Mask
from prism.errors import CannotTellError
from prism.evidence import Rival
from prism.experiments.consistency import equilibrium_remark
from prism.finding import Determined, Finding, RecordSummary
from prism.forecast import Motion
from prism.hamiltonian import Hamiltonian
from prism.kernel import certify_lines
from prism.magnitudes import Undetermined
from prism.modes import Modes
from prism.motion.explanation import Explanation, Question
from prism.motion.gyroscopic.ellipses import ellipses_of
from prism.motion.gyroscopic.fit import fit_gyroscopic
from prism.motion.gyroscopic.free import FreeFit, fit_free
from prism.motion.gyroscopic.hamiltonian import GyroscopicHamiltonian, certify_gyroscopic
from prism.motion.gyroscopic.result import GyroscopicEstimates, GyroscopicFit
from prism.motion.gyroscopic.turning import Turning, turning
from prism.motion.steady import Lines
from prism.motion.steady.kind import Steady
from prism.motion.steady.likelihood import estimate_lines
from prism.motion.steady.trajectories import Trajectories
from prism.remarks import Ask, Remark, Words
from prism.uncertainty import Gaussian


class Gyroscopic(Explanation):
    """A system that rotates: its lines turn instead of moving in phase."""

    name: ClassVar[str] = "gyroscopic"
    words: ClassVar[str] = "it rotates: lines turn instead of moving in phase"
    label: ClassVar[str] = "lines that turn"
    experiments: ClassVar[tuple[str, ...]] = ("equilibrium", "free")
    meaningless: ClassVar[tuple[str, ...]] = (
        *("stiffness", "rigid", "hbar", "damped", "potential", "ignore", "drift", "max_modes"),
    )
    motions: ClassVar[tuple[type[Motion], ...]] = (Trajectories,)
    hamiltonians: ClassVar[tuple[type[Hamiltonian], ...]] = (GyroscopicHamiltonian,)

    def meant(self, asked: Question) -> Gyroscopic | None:
        """Where a system that rotates is asked for."""
        wanted = asked.settings.gyroscopic or self.named(asked)
        forced = asked.is_response or asked.experiment.name == "forced"
        return self if wanted and not forced else None

    def refusal(self, asked: Question, strange: list[str]) -> str:
        """It is fitted to free records and those at equilibrium, with a known mass or without."""
        rest = f": leave out {', '.join(strange)}." if strange else "."
        return (
            "a system that rotates is fitted to free records and to records at equilibrium, by "
            f"likelihood{rest}"
        )

    def find(self, asked: Question) -> Finding:
        """Fit the lines, and complete them to the bare system."""
        lines = estimate_lines(
            asked.record, false_alarm=asked.settings.false_alarm, progress=asked.tell
        )
        return self._of_lines(asked, lines)[0]

    def instead(self, asked: Question, found: Finding) -> Finding | None:
        """Lines that turn, where they do so beyond their noise, and no delay explains it."""
        lines, settings = found.fit, asked.settings
        asks = settings.kind is None and settings.gyroscopic is None
        if not (asks and settings.method == "likelihood" and isinstance(lines, Lines)):
            return None
        if asked.record.n_channels < 2 or lines.crowded or lines.torus is not None:
            return None
        seen = turning(lines, asked.record)
        if not seen.told:
            return None
        strange = self.strange(asked)
        if strange or not self.takes(asked):
            return _not_completed(asked, found, seen, strange)
        try:
            better, needed = self._of_lines(asked, lines)
        except CannotTellError as refusal:
            return _undetermined(found, seen, str(refusal), "mend that, and identify once more")
        return _weighed(asked, found, better, seen) if needed else None

    def _of_lines(self, asked: Question, lines: Lines) -> tuple[Finding, bool]:
        """What known lines say, and whether they need gyroscopic forces."""
        if asked.experiment.name == "free":
            free = fit_free(asked.record, lines, asked.experiment.inverse_mass)
            return _free_finding(asked, free), free.evidence
        fit = fit_gyroscopic(
            asked.record,
            mass=asked.experiment.mass,
            temperature=asked.experiment.temperature,
            false_alarm=asked.settings.false_alarm,
            progress=asked.tell,
            found=lines,
        )
        return _equilibrium_finding(asked, fit), fit.evidence


def _equilibrium_finding(asked: Question, fit: GyroscopicFit) -> Finding:
    outcome = _determined(fit, fit.channels, _scale(fit), fit.temperature)
    return _finding(
        asked,
        fit.lines,
        _modes(fit.lines, fit.residues, fit.joint, fit.rotating, fit.residues_std),
        outcome,
        (
            *(Remark(text, code="rotation") for text in fit.remarks),
            equilibrium_remark(fit.test, len(fit.frequencies)),
            *_hidden_remark(fit),
        ),
        fit,
    )


def _free_finding(asked: Question, free: FreeFit) -> Finding:
    outcome: Determined | Undetermined
    errors = None
    more: tuple[Remark, ...] = ()
    if isinstance(free.outcome, GyroscopicEstimates):
        fit = free.outcome
        outcome = _determined(fit, asked.record.channels, "fixed by the given mass", None)
        errors, more = fit.residues_std, _hidden_remark(fit)
    else:
        outcome = free.outcome
    turns, why = int(free.rotating.sum()), free.delay.words
    said = (
        f"{turns} of {len(free.rotating)} lines turn, and no delay between the channels explains "
        f"it ({why})"
        if free.evidence
        else f"{turns} of {len(free.rotating)} lines turn, as delays of channels would have it too"
    )
    rotation = Remark(said, code="rotation")
    modes = _modes(free.lines, free.residues, free.joint, free.rotating, errors)
    return _finding(asked, free.lines, modes, outcome, (rotation, *more), free)


def _determined(
    fit: GyroscopicEstimates, channels: tuple[str, ...], scale: str, temperature: float | None
) -> Determined:
    hamiltonian = GyroscopicHamiltonian.of(fit, channels)
    return Determined(hamiltonian, certify_gyroscopic(fit), scale, temperature)


def _finding(
    asked: Question,
    lines: Lines,
    modes: Modes,
    outcome: Determined | Undetermined,
    remarks: tuple[Remark, ...],
    fit: object,
) -> Finding:
    record = asked.record
    known = outcome.certificate if isinstance(outcome, Determined) else None
    return Finding(
        kind=Gyroscopic.name,
        channels=record.channels,
        quantity=record.quantity,
        measured=RecordSummary.of(record),
        modes=modes,
        outcome=outcome,
        certificate=certify_lines(lines.fit.omega) if known is None else known,
        noise_std=lines.noise,
        noise_correlation=lines.correlation,
        motion=Trajectories(lines.motion, lines.trials, lines.means, lines.background, lines.trend),
        remarks=remarks,
        fit=fit,
    )


def _weighed(asked: Question, found: Finding, better: Finding, seen: Turning) -> Finding:
    """Lines that turn, with the steady ones as their rival."""
    here = Rival(better.kind, Gyroscopic.label, len(better.modes), 0.0)
    rival = Rival(found.kind, Steady.label, len(found.modes), seen.lead)
    better = replace(better, evidence=replace(found.evidence, rivals=(here, rival)))
    if asked.record.n_trials > 1:
        return better
    return better.with_remarks(
        Remark(
            "one trial does not tell a mode that turns from two modes at one frequency",
            f"that {seen.lines} lines are such pairs by chance is unlikely",
            code="rotation-untested",
        )
    )


def _not_completed(asked: Question, found: Finding, seen: Turning, strange: list[str]) -> Finding:
    """Lines turn, in an experiment or with values that only reciprocal systems are fitted to."""
    given = f"{', '.join(strange)} given" if strange else f"a {asked.experiment.name} record"
    remedy = Words(
        "records at equilibrium, or free ones with the mass, determine a system that rotates; if "
        "it does not rotate, say so ({0})",
        (Ask("gyroscopic", False),),
    )
    why = f"{given} is understood for systems that do not rotate only"
    return _undetermined(found, seen, why, remedy)


def _undetermined(found: Finding, seen: Turning, why: str, remedy: Words | str) -> Finding:
    """Steady lines without what follows from their being in phase."""
    said = (
        f"{seen.lines} lines turn instead of moving in phase (misfit {seen.chi2:.3g} on {seen.dof} "
        f"degrees of freedom), so the system is not reciprocal; but {why.rstrip('.')}"
    )
    bare = replace(found.modes, residues=None, residues_std=None, energies=None)
    lines = found.fit
    assert isinstance(lines, Lines)
    return replace(
        found,
        modes=bare,
        outcome=Undetermined(said, remedy, refuted=True),
        certificate=certify_lines(lines.fit.omega),
    )


def _scale(fit: GyroscopicFit) -> str:
    return fit.scale if fit.temperature is None else f"fixed by {fit.scale}"


def _hidden_remark(fit: GyroscopicEstimates) -> tuple[Remark, ...]:
    if not len(fit.hidden_frequencies):
        return ()
    return (
        Remark(
            "couplings of a system that rotates are complex, each up to a phase: tables show "
            "their magnitudes",
            code="complex-couplings",
        ),
    )


def _modes(
    lines: Lines, residues: ComplexArray, joint: Gaussian, rotating: Mask, std: ComplexArray | None
) -> Modes:
    r"""Each line as a mode along the major axis of its ellipse.

    The residue of :math:`s^2 + Ω^2` is :math:`2Ω^2\,\mathrm{Re}\,B`; what turns is in the
    Hamiltonian.
    """
    omega = joint.value("frequencies")
    amplitudes = Trajectories(lines.fit, lines.trials, lines.means).amplitudes
    line, weight = lines.fit.line, 2 * omega[:, None, None] ** 2
    return Modes(
        **ellipses_of(omega, residues, joint),
        amplitudes=np.stack(
            [np.linalg.norm(amplitudes[:, line == j], axis=1) for j in np.unique(line)], axis=1
        ),
        significance=np.sqrt(lines.gains),
        in_phase=~rotating,
        residues=None if std is None else weight * residues.real,
        residues_std=None if std is None else weight * std.real,
    )
