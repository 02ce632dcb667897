"""What a record determines about a potential and hidden modes, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from prism._types import Array, Mask
from prism.determination import Determination
from prism.motion.potential import _limits as limits
from prism.motion.potential.kernel import Parameters
from prism.motion.potential.pieces import ShootingProblem
from prism.motion.potential.score import Information, residuals
from prism.motion.potential.shooting import Estimate
from prism.remarks import Ask, Remark, Words

__all__ = ["Verdict", "determinations_of", "judge", "remarks_on", "residue_errors"]

_EFFECTIVE = "the motion is not described to within the noise, so that the value is effective"
_LINEAR = "the motion is linear and shows its lines alone"
_SINGULAR = "other values give the same motion: the Fisher matrix is singular"
_WEAK = "the mode moves {x}, but whether {x} moves it does not show"


@dataclass(frozen=True)
class Verdict:
    """Whether the record determines the Hamiltonian.

    Attributes
    ----------
    identifiable : bool
        Whether potential, hidden frequencies and couplings are determined.
    why : Words or str
        What is missing; empty when they are.
    remedy : Words or str
        What would supply it.
    linear : bool
        Whether no nonlinearity is seen.
    reaches_noise : bool
        Whether the motion is described to within the noise.
    """

    identifiable: bool
    why: Words | str = ""
    remedy: Words | str = ""
    linear: bool = False
    reaches_noise: bool = True

    @property
    def words(self) -> Words:
        """The verdict in sentences."""
        if self.identifiable:
            return Words("Determined: the potential, the hidden frequencies and the couplings.")
        why = "Not determined: " + Words.of(self.why) + ". What would settle it: "
        return why + self.remedy + "."

    def __str__(self) -> str:
        return str(self.words)


def judge(estimate: Estimate, seen: Information, ratio: float, samples: int) -> Verdict:
    """The verdict on a fit.

    Parameters
    ----------
    estimate : Estimate
    seen : Information
    ratio : float
        χ² per degree of freedom.
    samples : int
    """
    p = estimate.parameters
    linear = all(term.is_linear_force for term in p.library.terms)
    # χ² per degree of freedom that chance and the uncertain noise level allow
    if not ratio < 1 + limits.CHANCE_SIGMAS * float(np.sqrt(2 / samples + 6 / samples)):
        factor = float(np.sqrt(ratio))
        return Verdict(
            False,
            why=f"the residual is {factor:.2g} times the noise of the record, so that no force of "
            f"the library with {p.modes} hidden harmonic mode{'s' * (p.modes != 1)} describes the "
            "motion: the hidden part is not harmonic, has more modes, is damped, or the force has "
            "other terms; potential and modes are effective ones",
            remedy=Words(
                "measure more coordinates, give other terms with {0}, or allow more modes with "
                "{1:name}",
                (Ask("potential", like="[...]"), Ask("max_modes")),
            ),
            linear=linear,
            reaches_noise=False,
        )
    if (linear and p.modes) or _vague(p, seen).any():
        return Verdict(
            False,
            why="no nonlinearity is seen in the force, and one free record of a linear motion "
            "shows its lines but not how their energies belong to x: the Fisher matrix of "
            "stiffness, hidden frequencies and couplings is singular"
            if linear
            else "the Fisher matrix is singular: other values give the same motion",
            remedy="a greater amplitude, at which the force is nonlinear, or an experiment with "
            "known force, release or equilibrium",
            linear=linear,
        )
    weak = [str(i + 1) for i in np.flatnonzero(_unseen(p, seen.covariance * ratio))]
    if weak:
        return Verdict(
            False,
            why=f"the coupling of hidden mode{'s' * (len(weak) > 1)} {', '.join(weak)} is smaller "
            "than twice its error: the mode moves x, but whether x moves it does not show; the "
            "other numbers stand with the errors stated",
            remedy="a longer record, less noise, or a greater amplitude",
            linear=linear,
        )
    return Verdict(True, linear=linear)


def _vague(p: Parameters, seen: Information) -> Mask:
    """Which parameters have a share in directions that no datum depends on."""
    share = np.abs(seen.undetermined[:, : len(p.vector)]).max(axis=0, initial=0.0)
    return np.asarray(share > limits.INFLUENCE)


def residue_errors(p: Parameters, covariance: Array) -> Array:
    """Standard deviations of the residues R."""
    K, m = len(p.theta), p.modes
    return np.asarray(np.sqrt(np.maximum(np.diag(covariance)[K + m : K + 2 * m], 0.0)))


def _unseen(p: Parameters, covariance: Array) -> Mask:
    """Modes whose residue is within two errors of zero."""
    return np.asarray(p.residues < limits.SEEN * residue_errors(p, covariance))


def determinations_of(
    p: Parameters,
    std: Array,
    seen: Information,
    covariance: Array,
    verdict: Verdict,
    channels: Sequence[str],
) -> Iterator[Determination]:
    r"""What is known about each coefficient, hidden frequency and coupling.

    A coupling that is not seen is bounded by :math:`\sqrt{R + 1.645\,σ_R}\,|ρ|`.

    Parameters
    ----------
    p : Parameters
    std : ndarray
        Of coefficients, frequencies and couplings.
    seen : Information
    covariance : ndarray
        Of the numbers that were fitted.
    verdict : Verdict
    channels : sequence of str
    """
    front, m = len(p.theta) + p.modes, p.modes
    names = [f"coefficient of {text}" for text in p.library.texts(channels)]
    names += [f"frequency of hidden mode {i + 1}" for i in range(m)]
    ends = [f" to {name}" for name in channels] if p.channels > 1 else [""]
    names += [f"coupling of hidden mode {i + 1}{end}" for i in range(m) for end in ends]
    values = np.concatenate([p.theta, p.omega, p.couplings.ravel()])
    vague = _vague(p, seen)
    singular = np.append(vague[:front], np.abs(p.coupling_slopes()) @ vague > 0)
    most = np.sqrt(p.residues + limits.ONE_SIDED * residue_errors(p, covariance))
    weak = np.where(_unseen(p, covariance), most, 0.0)
    bounds = np.append(np.zeros(front), weak[:, None] * np.abs(p.ratios))
    general = "" if verdict.reaches_noise else _EFFECTIVE
    general = general or (_LINEAR if verdict.linear and m else "")
    for k, name in enumerate(names):
        if why := general or (_SINGULAR if singular[k] else ""):
            yield Determination.undetermined(name, why)
        elif bounds[k]:
            yield Determination.bounded(name, bounds[k], _WEAK.format(x=" and ".join(channels)))
        else:
            yield Determination.determined(name, values[k], std[k])


def remarks_on(
    problem: ShootingProblem, estimate: Estimate, verdict: Verdict, most: int
) -> tuple[Remark | str, ...]:
    """What else a user should know.

    Parameters
    ----------
    problem : ShootingProblem
    estimate : Estimate
    verdict : Verdict
    most : int
        Greatest number of modes that was allowed.
    """
    out: list[Remark | str] = []
    if verdict.linear:
        out.append(
            "the amplitude is too small to see a nonlinear force, or the force is linear: the "
            "linear answer of identify(record) says all that this record holds"
        )
    if estimate.modes == most and most > 0 and not verdict.reaches_noise:
        said = f"{most} modes are the most that were allowed; {{0}} allows more"
        out.append(Remark(Words(said, (Ask("max_modes", like=""),)), code="most-modes"))
    if estimate.pieces.linked.any():
        out.append(
            "one motion cannot be followed from its start to the end of the record (chaos), so it "
            "is fitted in pieces that are held together"
        )
    if not estimate.converged:
        out.append("the fit ended before it had fully converged")
    r = residuals(problem, estimate)
    correlation = float(r[1:] @ r[:-1] / max(float(r @ r), 1e-300))
    chance = limits.CHANCE_SIGMAS / np.sqrt(sum(map(len, problem.data)))
    if verdict.reaches_noise and abs(correlation) > chance:
        out.append(
            f"neighbouring residuals are correlated ({correlation:+.2f}): the noise is not white "
            "or the model misses something, and the errors stated are too small"
        )
    return tuple(out)
