r"""Shapes of decaying modes: real and common to all stretches, in displacement.

A channel that measures the k-th derivative sees :math:`λ^k` times the displacement, so
:math:`B_{ra} = A_{ra}/λ^{k_a}` is the amplitude in displacement. A mode of a structure whose
damping does not couple the modes moves in phase, :math:`B_{ra} = d_a q_r` with d real. To first
order an error of the pole multiplies all amplitudes of a stretch by one complex number, which
leaves d alone: shapes are fitted at the poles found, and their errors are independent of those of
the poles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.special import chdtrc

from prism._linalg import inverse_scaled, positive_sign
from prism._types import Array, ComplexArray, Index
from prism.motion.decays import _limits as limits
from prism.motion.decays.search import segments_of
from prism.search.projection import LineFit


@dataclass(frozen=True)
class RealShape:
    """A real shape fitted to the amplitudes of one line.

    Attributes
    ----------
    direction : array (channels,)
        Unit, in displacement.
    covariance : array (channels, channels)
    ratio : float
        Second singular value of the amplitudes over the first, in units of their errors.
    p_value : float
        Of the test that all channels are in phase.
    """

    direction: Array
    covariance: Array
    ratio: float
    p_value: float


def amplitudes(fit: LineFit) -> ComplexArray:
    """Complex amplitudes at the start of each stretch, (stretches, lines, channels)."""
    total = sum(s.n_trials for s in fit.samplings)
    out = np.zeros((total, fit.count, len(fit.weights)), complex)
    for part, one in zip(segments_of(fit), fit.linear, strict=True):
        real, imaginary = np.split(one.lines, 2, axis=1)
        z = (real + 1j * imaginary) * part.scale[:, None]
        out[list(part.members)] = z.transpose(2, 1, 0)
    return out


def fit_shape(fit: LineFit, j: int, orders: Index, level: Array) -> RealShape:
    """Fit a real shape to the amplitudes of line j.

    Parameters
    ----------
    orders : array of int (channels,)
        Derivative that each channel measures.
    level : array (channels,)
        Noise variance at this line over that assumed in the fit.
    """
    values, information = _displacements(fit, j, orders, level)
    n, R = len(orders), values.shape[2]
    scale = np.sqrt(np.einsum("raii->a", information) / (2 * R))
    whole = (scale[:, None, None] * values).reshape(n, 2 * R)
    U, s, _ = np.linalg.svd(whole, full_matrices=False)
    d = U[:, 0] / scale
    for _ in range(limits.SHAPE_ALTERNATIONS):
        d, q = _alternate(d / np.linalg.norm(d), values, information)
    length = np.linalg.norm(d)
    d, q = d / length, q * length
    rest = values - np.einsum("a,ir->air", d, q)
    misfit = float(np.einsum("air,raij,ajr->", rest, information, rest))
    dof = (n - 1) * (2 * R - 1)
    sign = positive_sign(d)
    return RealShape(
        direction=sign * d,
        covariance=_shape_covariance(d, q, information),
        ratio=float(s[1] / s[0]) if n > 1 else 0.0,
        p_value=float(chdtrc(dof, misfit)) if dof else 1.0,
    )


def _displacements(fit: LineFit, j: int, orders: Index, level: Array) -> tuple[Array, Array]:
    """Amplitudes (channels, 2, stretches) and their information (stretches, channels, 2, 2)."""
    factor = fit.poles[j] ** orders
    turn = np.array([[factor.real, -factor.imag], [factor.imag, factor.real]]).transpose(2, 0, 1)
    n, total = len(orders), sum(s.n_trials for s in fit.samplings)
    values, information = np.zeros((n, 2, total)), np.zeros((total, n, 2, 2))
    for part, one in zip(segments_of(fit), fit.linear, strict=True):
        measured, unit = one.pair(j)
        unit = unit * (fit.weights / level)[:, None, None]
        turned = np.einsum("aki,akl,alj->aij", turn, unit, turn)
        here = list(part.members)
        values[:, :, here] = np.linalg.solve(turn, measured * part.scale[:, None])
        information[here] = turned / part.scale.T[:, :, None, None] ** 2
    return values, information


def _alternate(d: Array, values: Array, information: Array) -> tuple[Array, Array]:
    """Best amplitudes q (2, stretches) for the shape, then the best shape for these."""
    metric = np.einsum("a,raij->rij", d**2, information)
    right = np.einsum("a,raij,ajr->ri", d, information, values)
    q = np.linalg.solve(metric, right[:, :, None])[:, :, 0].T
    top = np.einsum("ir,raij,ajr->a", q, information, values)
    return top / np.einsum("ir,raij,jr->a", q, information, q), q


def _shape_covariance(d: Array, q: Array, information: Array) -> Array:
    """Inverse information of a unit shape with the amplitudes unknown."""
    if len(d) == 1:
        return np.zeros((1, 1))
    pull = np.einsum("raij,jr->rai", information, q)
    metric = np.einsum("a,raij->rij", d**2, information)
    cross = d[None, :, None] * pull
    F = np.diag(np.einsum("ir,rai->a", q, pull))
    F = F - np.einsum("rai,rij,rbj->ab", cross, np.linalg.inv(metric), cross)
    tangent = scipy.linalg.null_space(d[None])
    return np.asarray(tangent @ inverse_scaled(tangent.T @ F @ tangent) @ tangent.T)
