"""A potential with hidden modes as an explanation: lines alone do not describe the motion."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from prism.errors import CannotTellError, NoLineError, PrismError, RecordTooShortError
from prism.experiments import Free
from prism.finding import Determined, Finding, RecordSummary
from prism.forecast import Motion
from prism.hamiltonian import Hamiltonian
from prism.kernel import Certificate
from prism.magnitudes import Undetermined
from prism.modes import Modes
from prism.motion.account import usable
from prism.motion.explanation import Explanation, Question
from prism.motion.potential import _limits as limits
from prism.motion.potential.fit import fit_potential
from prism.motion.potential.hamiltonian import NonlinearHamiltonian, certify_potential
from prism.motion.potential.harmonics import faint_harmonics
from prism.motion.potential.motion import NonlinearMotion
from prism.motion.potential.result import NonlinearFit
from prism.motion.potential.smooth import oscillations
from prism.motion.potential.suggest import Phasors, suggests_nonlinearity
from prism.motion.steady import Lines
from prism.motion.steady.kind import Steady
from prism.motion.steady.ties import phasors
from prism.record import Record
from prism.remarks import Ask, Remark, Words
from prism.settings import Settings

SCALE = "that of a seen coordinate of unit mass"
AUTO = Ask("potential", "auto")


class PotentialMotion(Explanation):
    """A nonlinear self-force of the seen coordinates beside hidden harmonic modes."""

    name: ClassVar[str] = "nonlinear"
    words: ClassVar[str] = "its spring is not linear"
    experiments: ClassVar[tuple[str, ...]] = ("free",)
    meaningless: ClassVar[tuple[str, ...]] = ("mass", "stiffness", "rigid", "damped", "ignore")
    motions: ClassVar[tuple[type[Motion], ...]] = (NonlinearMotion,)
    hamiltonians: ClassVar[tuple[type[Hamiltonian], ...]] = (NonlinearHamiltonian,)

    def meant(self, asked: Question) -> PotentialMotion | None:
        """Where a potential is asked for."""
        wanted = asked.settings.potential is not None or self.named(asked)
        return self if wanted and not asked.is_response else None

    def refusal(self, asked: Question, strange: list[str]) -> str:
        """A potential is fitted to free records of coordinates of unit mass."""
        rest = f": leave out {', '.join(strange)}." if strange else "."
        return f"potential is for free records, by likelihood, of coordinates of unit mass{rest}"

    def find(self, asked: Question) -> Finding:
        """Fit lines first, which stay as the spectrum of the motion, then the potential."""
        linear = self._linear(asked)
        settings = asked.settings
        potential = settings.potential or "auto"
        fit = fit_potential(
            asked.record,
            potential=potential,
            max_modes=settings.max_modes,
            progress=asked.tell,
        )
        if isinstance(linear, CannotTellError):
            if fit.verdict.linear or not fit.verdict.reaches_noise:
                raise self.instead_of(asked, linear) or linear
            return _nonlinear(_without_lines(asked.record, fit), fit)
        if fit.verdict.linear:
            return linear.with_remarks(_not_seen(potential, fit))
        return _nonlinear(linear, fit)

    def _linear(self, asked: Question) -> Finding | CannotTellError:
        """The lines of the motion, or why there are none: chaos has a broad spectrum."""
        settings = Settings(false_alarm=asked.settings.false_alarm)
        plain = asked._replace(experiment=Free(), settings=settings)
        try:
            return Steady().find(plain)
        except (NoLineError, RecordTooShortError) as refusal:
            return self.instead_of(plain, refusal) or refusal

    def suggests(self, asked: Question, found: Finding) -> Remark | None:
        """Where the lines look like those of a nonlinear motion."""
        record = asked.record
        if record.n_channels > 2 or record.dt is None or asked.experiment.name != "free":
            return None
        if any(kind != "displacement" for kind in record.quantity):
            return None
        ties = getattr(found.fit, "ties", None)
        if ties is not None and ties.kind == "linear":
            return None
        several, lines = record if record.n_trials > 1 else None, found.fit
        phases = Phasors(lines.fit.omega, *phasors(lines.fit)) if isinstance(lines, Lines) else None
        seen = suggests_nonlinearity(found.modes, several, phases)
        signs = seen.signs or _faint(asked, found)
        if not signs:
            return None
        return Remark(
            "the motion looks nonlinear",
            "; ".join(signs[: limits.SIGNS_NAMED]),
            Words("{0} fits the force and the hidden modes", (AUTO,)),
            code="nonlinear",
        )

    def instead_of(self, asked: Question, refusal: CannotTellError) -> CannotTellError | None:
        """A motion that is slow and yet turns often, as one between two wells."""
        if asked.is_response or asked.settings.ignore is not None:
            return None
        wanders = isinstance(refusal, NoLineError) and _smooth(asked.record)
        if not wanders and not isinstance(refusal, RecordTooShortError):
            return None
        try:
            turns = oscillations(asked.record)
        except PrismError:  # not a record for a potential: there is nothing to advise
            return None
        if turns < limits.OFTEN_TURNS:
            return None
        if wanders:
            return NoLineError(
                Words(
                    "no line is significant, and yet the record turns smoothly, about "
                    f"{turns:.0f} times: coloured noise does, and so does a nonlinear motion that "
                    "wanders irregularly between several places. For the latter, fit the force "
                    "with {0}.",
                    (AUTO,),
                )
            )
        return RecordTooShortError(
            Words(
                "most of the motion is slower than the record is long, and yet the record turns "
                f"about {turns:.0f} times: it drifts, or it wanders irregularly between several "
                "places, as a nonlinear motion does. Take the drift out, or fit the force with "
                "{0}.",
                (AUTO,),
            )
        )


def _smooth(record: Record) -> bool:
    """Whether neighbouring samples hardly differ, as they do not in noise."""
    values = [y - np.nanmean(y, axis=0) for y in record.trials]
    steps = np.nansum([np.nansum(np.diff(y, axis=0) ** 2) for y in values])
    return bool(steps < limits.SMOOTH_STEPS * np.nansum([np.nansum(y**2) for y in values]))


def _faint(asked: Question, found: Finding) -> tuple[str, ...]:
    """Harmonics in what steady lines leave, where they leave nothing else."""
    record, lines = asked.record, found.fit
    if not isinstance(lines, Lines) or lines.crowded or not usable(record):
        return ()
    if found.evidence is not None and found.evidence.doubts:
        return ()
    account = Steady().account(asked, found)
    return () if account is None else tuple(faint_harmonics(record, account.rests, found.modes))


def _without_lines(record: Record, fit: NonlinearFit) -> Finding:
    """A motion that has no lines."""
    return Finding(
        kind=PotentialMotion.name,
        channels=record.channels,
        quantity=record.quantity,
        measured=RecordSummary.of(record),
        modes=Modes.none(record.n_channels, record.n_trials),
        outcome=Undetermined("", ""),
        certificate=Certificate(
            *(False, None, None),
            "the motion has no lines and its Hamiltonian is not determined: there is nothing to "
            "certify",
        ),
        noise_std=fit.noise_std,
    )


def _not_seen(potential: str | tuple[str, ...], fit: NonlinearFit) -> Remark:
    return Remark(
        Words(
            "{0} was asked for, but no nonlinearity is seen: this is the linear answer",
            (Ask("potential", potential),),
        ),
        str(fit.verdict.why),
        code="linear",
    )


def _nonlinear(linear: Finding, fit: NonlinearFit) -> Finding:
    """The finding with the potential in the place of the linear picture."""
    outcome: Determined | Undetermined = Undetermined(fit.verdict.why, fit.verdict.remedy)
    certificate = linear.certificate
    if fit.verdict.identifiable:
        certificate = certify_potential(fit.hamiltonian)
        outcome = Determined(fit.hamiltonian, certificate, SCALE)
    return replace(
        linear,
        kind=PotentialMotion.name,
        modes=linear.modes.without_magnitudes(),
        outcome=outcome,
        certificate=certificate,
        noise_std=fit.noise_std,
        motion=fit.motion,
        remarks=_remarks(fit, len(linear.modes)),
        statement=_statement(fit),
        quantities=fit.determinations,
        fit=fit,
    )


def _statement(fit: NonlinearFit) -> Words | str:
    if not fit.verdict.identifiable:
        follows = "follows" if _follows(fit) else "does not follow"
        return fit.verdict.words + f" The forecast {follows} the nonlinear motion."
    count = len(fit.hidden_frequencies)
    terms = ", ".join(fit.potential.terms) if fit.potential is not None else ""
    found = (
        f"Determined: the potential (terms {terms}), {count} hidden "
        f"oscillator{'s' * (count != 1)} with frequencies and couplings, and the forecast."
    )
    if not fit.alternatives:
        return found
    return f"{found} The numbers and errors are those of these terms; the data allow others too."


def _follows(fit: NonlinearFit) -> bool:
    """Whether the fitted motion stays near the data, if not within their noise."""
    return fit.misfit < limits.FOLLOWED


def _effective(fit: NonlinearFit) -> list[Remark]:
    """What of a bath acts on the seen coordinate: a kernel of few lines, not its modes."""
    seen = np.any(np.abs(fit.couplings) > 2 * fit.couplings_std, axis=1)
    lines = [
        f"{omega:.4g} (R = {float(np.sum(c**2)):.2g})"
        for omega, c in zip(fit.hidden_frequencies[seen], fit.couplings[seen], strict=True)
    ]
    if not lines:
        return []
    return [
        Remark(
            "the hidden part acts like the effective memory kernel sum of (R/ω) sin ωt with "
            f"ω = {', '.join(lines)}; its lines stand for more modes than these data tell apart",
            code="bath",
        )
    ]


def _remarks(fit: NonlinearFit, lines: int) -> tuple[Remark | Words | str, ...]:
    out: list[Remark | Words | str] = list(fit.remarks)
    if fit.alternatives:
        listed = "; ".join(str(one) for one in fit.alternatives[: limits.ALTERNATIVES_LISTED])
        more = len(fit.alternatives) - limits.ALTERNATIVES_LISTED
        rest = f"; and {more} more" if more > 0 else ""
        out.append(
            Remark(f"not distinguished from it by these data: {listed}{rest}", code="alternatives")
        )
    if not fit.verdict.reaches_noise and _follows(fit):
        out += _effective(fit)
    horizon = fit.horizon
    if horizon is not None:
        out.append(
            Remark(
                f"the motion is chaotic (largest Lyapunov exponent {horizon.lyapunov:.3g}); the "
                f"forecast holds for about {horizon.lyapunov_times:.2g} Lyapunov times",
                code="chaos",
            )
        )
    if lines:
        out.append("the lines listed are those of the nonlinear motion, not normal modes")
    else:
        out.append("the motion has no lines: its spectrum is broad")
    return tuple(out)
