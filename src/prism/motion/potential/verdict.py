"""What a record determines about a potential and hidden modes, in words."""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.motion.potential.path import Estimate
from prism.motion.potential.pieces import Problem
from prism.motion.potential.result import Verdict
from prism.motion.potential.score import Information, residuals
from prism.remarks import Ask, Remark, Words

__all__ = ["judge", "remarks_on"]

_SIGMAS = 5.0
_INFLUENCE = 1e-3  # share of a parameter in an undetermined direction that counts


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
    linear = all(term.is_linear_force for term in estimate.parameters.library.terms)
    reaches = ratio < _allowed(samples)
    P = len(estimate.parameters.vector)
    vague = seen.undetermined.size and np.abs(seen.undetermined[:, :P]).max() > _INFLUENCE
    if not reaches:
        factor = float(np.sqrt(ratio))
        return Verdict(
            False,
            why=f"the residual is {factor:.2g} times the noise of the record, so that no force of "
            f"the library with {_count(estimate.modes)} describes the motion: the "
            "hidden part is not harmonic, has more modes, is damped, or the force has other terms; "
            "potential and modes are effective ones",
            remedy=Words(
                "measure more coordinates, give other terms with {0}, or allow more modes with "
                "{1:name}",
                (Ask("potential", like="[...]"), Ask("max_modes")),
            ),
            linear=linear,
            reaches_noise=False,
        )
    if (linear and estimate.modes) or vague:
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
    weak = [str(i + 1) for i in _unseen(estimate, seen.covariance * ratio)]
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


def _count(modes: int) -> str:
    return f"{modes} hidden harmonic mode{'s' * (modes != 1)}"


def _allowed(samples: int) -> float:
    """χ² per degree of freedom that chance and the uncertain noise level allow."""
    return 1 + _SIGMAS * float(np.sqrt(2 / samples + 6 / samples))


def remarks_on(
    problem: Problem, estimate: Estimate, verdict: Verdict, most: int
) -> tuple[Remark | str, ...]:
    """What else a user should know.

    Parameters
    ----------
    problem : Problem
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
    correlation = _correlation(residuals(problem, estimate))
    if verdict.reaches_noise and abs(correlation) > _SIGMAS / np.sqrt(sum(map(len, problem.data))):
        out.append(
            f"neighbouring residuals are correlated ({correlation:+.2f}): the noise is not white "
            "or the model misses something, and the errors stated are too small"
        )
    return tuple(out)


def _unseen(estimate: Estimate, covariance: Array) -> list[int]:
    """Modes whose residue is within two errors of zero."""
    p = estimate.parameters
    K, m = len(p.theta), p.modes
    error = np.sqrt(np.maximum(np.diag(covariance)[K + m : K + 2 * m], 0.0))
    return [i for i in range(m) if p.residues[i] < 2 * error[i]]


def _correlation(r: Array) -> float:
    return float(r[1:] @ r[:-1] / max(float(r @ r), 1e-300))
