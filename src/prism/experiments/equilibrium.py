r"""Records at thermal equilibrium: equal mean energy in every mode.

The mean energy along the unit shape, :math:`W_m = \frac{1}{2} Ω_m^2 ⟨A^2 + B^2⟩`, is
:math:`kT s_m` (THEORY (4) in line form). Without a known mass this gives everything up to one
scale. With a known mass the magnitudes are adjusted to :math:`\sum_m s_m d_m d_m^T = μ^{-1}`,
which removes most of the scatter of the energies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from prism._types import Array
from prism.adjust import adjust
from prism.experiments import _limits as limits
from prism.experiments.base import (
    SCALE_FREE,
    OfLines,
    per_line,
    too_few_lines,
)
from prism.magnitudes import Magnitudes, Outcome, Undetermined
from prism.uncertainty import Gaussian

if TYPE_CHECKING:
    from prism.motion.steady import Lines
    from prism.motion.steady.inphase import InPhaseFit, SeriesMotion


@dataclass(frozen=True)
class ModalEnergies:
    """Mean energy of each mode along its unit shape.

    Attributes
    ----------
    mean : array (modes,)
        ``W_m``, free of the bias by noise.
    covariance : array (modes, modes)
        Of the logarithm of the mean, at fixed frequencies and shapes.
    sensitivity : array (modes, frequencies and shapes)
        Derivative of the logarithm of the mean by the frequencies and shapes of the fit.
    canonical : bool
        Whether the scatter between trials is the canonical one.
    """

    mean: Array
    covariance: Array
    sensitivity: Array
    canonical: bool


def modal_energies(fit: InPhaseFit) -> ModalEnergies:
    """Average the modal energies over the trials.

    A canonical energy scatters by its own mean, so the mean of R trials scatters by 1/√R. That
    value is used unless the trials show otherwise: an ensemble prepared with equal energies is
    known much better, and the measured scatter is then used instead.
    """
    energies, biases = zip(*(_energies(fit, motion) for motion in fit.motions), strict=True)
    E, bias = np.hstack(energies), np.hstack(biases)
    K, R = E.shape
    noise = (bias**2 + 2 * bias * np.maximum(E - bias, 0)).mean(axis=1)  # variance of E by noise
    mean = np.maximum((E - bias).mean(axis=1), limits.LEAST_ENERGY * E.mean(axis=1))
    covariance = np.diag((mean**2 + noise) / (R * mean**2))
    canonical = True
    if max(limits.SCATTER_TRIALS, limits.SCATTER_TRIALS_PER_MODE * K) <= R:
        measured = np.cov(E).reshape(K, K) / (R * np.outer(mean, mean))
        # the variance of exponential energies is itself uncertain by √(8/R)
        ratio = float(np.mean(np.diag(measured) / np.diag(covariance)))
        canonical = abs(ratio - 1) < limits.CANONICAL_SIGMAS * np.sqrt(8 / (R * K))
        covariance = covariance if canonical else measured
    return ModalEnergies(mean, covariance, _sensitivity(fit, R * mean), canonical)


def _energies(fit: InPhaseFit, motion: SeriesMotion) -> tuple[Array, Array]:
    """Energies of the modes in each trial and their bias by noise, (modes, trials)."""
    K = len(fit.line)
    half = 0.5 * fit.omega[fit.line][:, None] ** 2
    A, B = motion.values[:K], motion.values[K : 2 * K]
    variance = np.diag(motion.covariance)
    bias = half * (variance[:K] + variance[K : 2 * K])[:, None] * motion.scatter
    return half * (A**2 + B**2), np.broadcast_to(bias, A.shape)


def _sensitivity(fit: InPhaseFit, total: Array) -> Array:
    """``∂ log W_m`` by frequencies and shapes: the amplitudes follow them, and W has an Ω²."""
    K = len(fit.line)
    omega = fit.omega[fit.line]
    out = np.zeros((K, len(fit.covariance)))
    for m in fit.motions:
        A, B = m.values[:K], m.values[K : 2 * K]
        out += np.einsum("kr,rkp->kp", A, m.sensitivity[:, :K])
        out += np.einsum("kr,rkp->kp", B, m.sensitivity[:, K : 2 * K])
    out *= (omega**2 / total)[:, None]
    out[np.arange(K), fit.line] += 2 / omega
    return out


class Equilibrium(OfLines):
    """At thermal equilibrium: every mode has the same mean energy."""

    name: ClassVar[str] = "equilibrium"
    label: ClassVar[str] = "Thermal equilibrium"
    words: ClassVar[str] = (
        "Many records in which every mode has the same mean energy, as in a heat bath."
    )

    def magnitudes(self, lines: Lines) -> Outcome:
        """Magnitudes from equipartition."""
        return _magnitudes(lines, self)


def _magnitudes(lines: Lines, known: OfLines) -> Outcome:
    few = too_few_lines(lines)
    if few is not None:
        return few
    fit = principal_axes(lines.fit)
    energies = modal_energies(fit)
    N, shape = len(fit.omega), fit.shapes.shape
    K = shape[0]
    size = N + fit.shapes.size

    def relations(p: Array, q: Array) -> tuple[Array, Array, Array]:
        s = np.exp(p[size:] - q[0])
        relation = known.relations(p[:N][fit.line], p[N:size].reshape(shape), s)
        by_log = relation.by_s * s
        by_omega = per_line(relation.by_omega, fit.line, N)
        A = np.hstack([by_omega, relation.by_shape, by_log])
        return relation.h, A, -by_log.sum(axis=1, keepdims=True)

    measured = np.concatenate([fit.omega, fit.shapes.ravel(), np.log(energies.mean)])
    spread = np.vstack([np.eye(size), energies.sensitivity])
    covariance = spread @ fit.covariance @ spread.T
    covariance[size:, size:] += energies.covariance
    start = np.log(energies.mean.sum() / _sum_of_magnitudes(shape[1], known))
    result = adjust(measured, covariance, np.array([start]), relations)
    if not result.converged or result.p_value < limits.CONSISTENCY_LEVEL:
        return Undetermined(
            "the modal energies of these records do not agree with thermal equilibrium and the "
            f"given values (misfit {result.chi2:.3g} on {result.dof} degrees of freedom)",
            "check that every mode has the same mean energy, and the given mass or stiffness",
        )
    s = np.exp(result.p[size:] - result.q[0])
    J = np.zeros((size + K, len(result.covariance)))
    J[:size, :size] = np.eye(size)
    J[size:, size : size + K] = np.diag(s)
    J[size:, -1] = -s
    values = {"omega": result.p[:N], "shapes": result.p[N:size].reshape(shape), "s": s}
    return Magnitudes(
        joint=Gaussian.of(values, J @ result.covariance @ J.T),
        line=fit.line,
        scale=known.scale,
        temperature=None if known.scale == SCALE_FREE else float(np.exp(result.q[0])),
        remarks=_remarks(energies, sum(m.values.shape[1] for m in fit.motions)),
    )


def principal_axes(fit: InPhaseFit) -> InPhaseFit:
    """Turn the modes of a degenerate line so that their amplitudes are uncorrelated.

    The modes of one frequency are defined up to a rotation; equipartition makes the principal
    axes of their amplitudes the ones that add up to the residue.
    """
    K = len(fit.line)
    turn = np.eye(K)
    for ell in np.unique(fit.line):
        rows = np.flatnonzero(fit.line == ell)
        if len(rows) > 1:
            z = np.hstack([np.hstack([m.values[rows], m.values[K + rows]]) for m in fit.motions])
            turn[np.ix_(rows, rows)] = np.linalg.eigh(z @ z.T)[1].T[::-1]
    if np.array_equal(turn, np.eye(K)):
        return fit
    n, N = fit.shapes.shape[1], len(fit.omega)
    by_shape = np.kron(turn, np.eye(n))
    full = np.eye(len(fit.covariance))
    full[N:, N:] = by_shape
    motions = []
    for m in fit.motions:
        T = np.eye(len(m.values))
        T[:K, :K] = T[K : 2 * K, K : 2 * K] = turn
        motions.append(
            replace(
                m,
                values=T @ m.values,
                covariance=T @ m.covariance @ T.T,
                sensitivity=T @ m.sensitivity @ full.T,
            )
        )
    return replace(
        fit,
        shapes=turn @ fit.shapes,
        covariance=full @ fit.covariance @ full.T,
        motions=motions,
    )


def _sum_of_magnitudes(n: int, known: OfLines) -> float:
    return float(n if known.inverse_mass is None else np.trace(known.inverse_mass))


def _remarks(energies: ModalEnergies, trials: int) -> tuple[str, ...]:
    if not energies.canonical:
        return ()
    percent = 100 / np.sqrt(trials)
    return (
        f"the mean energy of {trials} canonical sample{'s' * (trials > 1)} scatters by "
        f"{percent:.2g} %, which is part of the error bars of magnitudes",
    )
