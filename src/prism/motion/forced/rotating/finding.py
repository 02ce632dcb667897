"""What a response that is not reciprocal says: a system that rotates, an active one, or neither."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from prism._format import format_chance
from prism._types import Array
from prism.errors import CannotTellError
from prism.evidence import Evidence, Rival
from prism.finding import Determined, Finding, RecordSummary, ResponseSummary
from prism.frequency_response import FrequencyResponse
from prism.kernel import Certificate
from prism.magnitudes import Undetermined
from prism.modes import Modes
from prism.motion.forced.rotating import _limits as limits
from prism.motion.forced.rotating.asymmetry import Asymmetry
from prism.motion.forced.rotating.fitting import RotatingFit
from prism.motion.gyroscopic.ellipses import ellipses_of
from prism.motion.gyroscopic.hamiltonian import GyroscopicHamiltonian, certify_gyroscopic
from prism.remarks import Remark
from prism.uncertainty import Gaussian

__all__ = ["Sight", "not_reciprocal", "refusal_of", "rotating_finding", "why_not"]

_SCALE = "fixed by the measured forces"


class Sight(NamedTuple):
    """What was measured.

    Attributes
    ----------
    channels, quantity : tuple of str
    pairs : tuple of (str, str)
        Motion and force of each entry.
    low, high : float
        The band.
    words : str
        How it shows that the system rotates.
    """

    channels: tuple[str, ...]
    quantity: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    low: float
    high: float
    words: str

    @classmethod
    def of(cls, response: FrequencyResponse, words: str) -> Sight:
        """That of a square response."""
        names, (low, high) = response.outputs, response.omega[[0, -1]]
        pairs = tuple((a, b) for a in names for b in response.inputs)
        return cls(names, (response.quantity,) * len(names), pairs, float(low), float(high), words)


def rotating_finding(fit: RotatingFit, sight: Sight, measured: RecordSummary) -> Finding:
    """Put together what the lines of a system that rotates say.

    Parameters
    ----------
    fit : RotatingFit
    sight : Sight
    measured : RecordSummary
    """
    names, estimates = sight.channels, fit.estimates
    certificate = certify_gyroscopic(estimates)
    hamiltonian = GyroscopicHamiltonian.of(estimates, names)
    inside = (fit.omega >= sight.low) & (fit.omega <= sight.high)
    lines = len(fit.omega)
    rivals = (
        Rival("forced", "lines that turn", lines, 0.0),
        Rival("forced", "lines in phase", lines, fit.lead),
    )
    modes = _modes(fit)
    outcome: Determined | Undetermined = Determined(hamiltonian, certificate, _SCALE, None)
    if not fit.holds:
        outcome = Undetermined(
            f"the system rotates, but {why_not(fit)}",
            "measure all modes of the band, and reduce the losses or the noise",
        )
        modes = replace(modes, residues=None, residues_std=None)
        certificate = Certificate(True, None, None, "no line gains energy")
    return Finding(
        kind="forced",
        channels=names,
        quantity=sight.quantity,
        measured=measured,
        modes=modes,
        outcome=outcome,
        certificate=certificate,
        noise_std=fit.noise_std,
        remarks=(*_remarks(fit, sight.words, int((~inside).sum())), *fit.remarks),
        response=ResponseSummary(
            low=sight.low,
            high=sight.high,
            pairs=sight.pairs,
            damping="viscous" if fit.lossy else "none",
            noise=fit.noise,
            inside=inside,
            participation=_major_axes(fit, modes.shapes),
            zeros=(),
        ),
        evidence=Evidence(rivals),
        fit=fit,
    )


def why_not(fit: RotatingFit) -> str:
    """Why lines that turn do not explain a response, with figures.

    Parameters
    ----------
    fit : RotatingFit
    """
    found = []
    if fit.smooth_rest:
        found.append(
            f"what the lines leave is alike at neighbouring frequencies ({fit.left:.3g} standard "
            "deviations), as of larger losses or of modes that are missing"
        )
    if fit.misfit >= limits.MISFIT:
        found.append(f"the misfit is {fit.misfit:.3g} times the variance of the noise")
    if fit.lawful <= limits.LAWFUL_LEVEL:
        rank = ", residues of rank one, or a symmetric mass or stiffness" * fit.lossy
        found.append(
            f"the lines are not all those of positions, which commute{rank} "
            f"(p {format_chance(fit.lawful)}), as where modes outside the band are missing"
        )
    if fit.lead <= 0:
        found.append(f"lines in phase score better by {-fit.lead:.3g}")
    return "; ".join(found)


def not_reciprocal(found: Finding, seen: Asymmetry, why: str) -> Finding:
    """A finding of a reciprocal system, where the response is not that of one.

    Parameters
    ----------
    found : Finding
    seen : Asymmetry
    why : str
        Why it is not that of a system that rotates.
    """
    large = seen.is_active or seen.share > limits.NOT_CALIBRATION
    said = _said(seen, why)
    if not large:
        return found.with_remarks(Remark(said, code="not-reciprocal"))
    modes = replace(found.modes, residues=None, residues_std=None)
    outcome = Undetermined(said, "check the sign, the direction and the gain of the channels")
    return replace(
        found,
        modes=modes,
        outcome=replace(outcome, refuted=True),
        certificate=Certificate(not seen.is_active, None, None, said),
    )


def refusal_of(refusal: CannotTellError, seen: Asymmetry, why: str) -> CannotTellError:
    """What is said where a reciprocal fit fails too.

    Parameters
    ----------
    refusal : CannotTellError
        Of the reciprocal fit.
    seen : Asymmetry
    why : str
    """
    return type(refusal)(f"{refusal} {_said(seen, why)}.")


def _said(seen: Asymmetry, why: str) -> str:
    reason = seen.active_words if seen.is_active else why
    return f"the response is not that of a reciprocal system: {seen.words}; {reason}"


def _remarks(fit: RotatingFit, words: str, outside: int) -> list[Remark]:
    turning = Remark(
        f"the system rotates: {words}, as of lines that turn",
        f"lines in phase score worse by {fit.lead:.3g}",
        code="rotation",
    )
    out = [turning]
    if fit.lossy:
        out.append(
            Remark(
                "the Hamiltonian is that of the system without its losses, which the modes have",
                f"damping ratios up to {100 * float((fit.rate / fit.omega).max()):.2g} %",
                code="losses-left-out",
            )
        )
    if outside:
        out.append(
            Remark(
                f"{outside} line{'s' * (outside > 1)} outside the measured band stand"
                f"{'s' * (outside == 1)} for all lines there",
                code="outside-band",
            )
        )
    return out


def _modes(fit: RotatingFit) -> Modes:
    estimates = fit.estimates
    known: dict[str, Any] = ellipses_of(estimates.frequencies, estimates.residues, estimates.joint)
    weight = 2 * estimates.frequencies[:, None, None] ** 2
    if fit.lossy:
        known["joint"] = _with_damping(fit, known["joint"])
    return Modes(
        **known,
        amplitudes=np.zeros((0, len(fit.omega))),
        significance=np.sqrt(fit.gains),
        in_phase=np.zeros(len(fit.omega), bool),
        residues=weight * estimates.residues.real,
        residues_std=weight * estimates.residues_std.real,
    )


def _with_damping(fit: RotatingFit, joint: Gaussian) -> Gaussian:
    """Damping ratios ``δ/Ω`` beside frequencies and shapes, with errors of their own."""
    values = {name: joint.value(name) for name in ("frequencies", "shapes")}
    values["damping"] = fit.rate / fit.omega
    spread = np.diag((fit.rate_std / fit.omega) ** 2)
    return Gaussian.of(values, scipy.linalg.block_diag(joint.covariance, spread))


def _major_axes(fit: RotatingFit, shapes: Array) -> Array:
    """Unit shapes with the length that the symmetric part of the residue has along them."""
    residues = 2 * fit.estimates.frequencies[:, None, None] ** 2 * fit.estimates.residues.real
    along = np.einsum("ja,jab,jb->j", shapes, residues, shapes)
    return np.asarray(np.sqrt(np.maximum(along, 0.0))[:, None] * shapes)
