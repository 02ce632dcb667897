r"""Whether a line is in phase on all channels, and along which shape.

A mode of a lossless reciprocal system moves along one direction: its amplitudes over
(channel × [cos, sin] × trial) have rank one (THEORY §4, step 3). Here the directions are read off
the amplitudes of the free fit, and the rank is tested against their noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from prism._linalg import positive_sign
from prism._types import Array, ComplexArray, Index
from prism.motion.steady import _limits as limits
from prism.search.projection import Amplitudes, LineFit


@dataclass(frozen=True)
class PhaseTest:
    """Whether a line is in phase on all channels.

    Attributes
    ----------
    directions : array (channels, channels)
        Columns: the directions of the line, strongest first, in the noise metric.
    ratio : array (channels,)
        Singular values over the first one.
    gains : array (channels,)
        Their squares: the part of the gain of the line that is along each direction.
    p_value : array (channels,)
        Entry k: probability that the directions after the first k + 1 are noise only.
    led : array (channels,)
        Entry k: probability that the motion along direction k follows that along the first one,
        with one factor and one phase in all trials: one for a single trial.
    turned : float
        ``χ²`` of one phase for each direction, the same in all trials, with as many degrees of
        freedom as there are directions after the first: that of noise where the line is in phase.
    """

    directions: Array
    ratio: Array
    gains: Array
    p_value: Array
    led: Array
    turned: float = 0.0


@dataclass(frozen=True)
class Displacements:
    """Displacement amplitudes of one line in one sampling.

    Attributes
    ----------
    values : array (channels, 2, trials)
        Cosine and sine amplitude.
    information : array (channels, 2, 2)
        Inverse covariance of the two, the same for all trials.
    """

    values: Array
    information: Array


def phase_test(fit: LineFit, j: int, orders: Index) -> PhaseTest:
    r"""Singular values of the amplitudes of line j over (channel × [cos, sin] × trial).

    In units of their standard errors; under the hypothesis of k directions the squared
    singular values after the first k sum to :math:`χ^2` with ``(n - k)(2R - k)`` degrees of
    freedom.

    Parameters
    ----------
    orders : array of int (channels,)
        Derivative that each channel measures: 0 displacement, 1 velocity, 2 acceleration.
    """
    parts = [_displacements(fit, one, j, orders) for one in fit.linear]
    n = len(orders)
    scale = np.sqrt(np.mean([np.trace(p.information, axis1=1, axis2=2) for p in parts], axis=0) / 2)
    X = np.hstack([_whitened(p, scale) for p in parts])
    U, s, _ = np.linalg.svd(X, full_matrices=n > X.shape[1])
    # one phase in all trials shows in complex amplitudes: the metric of X mixes cosine and sine
    z = np.hstack([p.values[:, 0] - 1j * p.values[:, 1] for p in parts])
    along = U.T @ (scale[:, None] * z)
    led, turned = _led(along), _turned(along)
    s = np.append(s, np.zeros(n - len(s)))
    tails = np.append(np.cumsum((s**2)[::-1])[::-1][1:], 0.0)
    if n > 1 and not all(_alike(p.information) for p in parts):
        tails[0] = _rank_one_misfit(parts, U[:, 0] / scale)
    dof = [(n - k) * (X.shape[1] - k) for k in range(1, n + 1)]
    p = [float(chdtrc(d, t)) if d > 0 else 1.0 for d, t in zip(dof, tails, strict=True)]
    return PhaseTest(U / scale[:, None], s / s[0], s**2, np.array(p), led, turned)


def _led(along: ComplexArray) -> Array:
    r"""Whether further directions do what the first one does, some time later.

    A delay between channels, or a loss, gives every line a second direction whose complex
    amplitudes are :math:`κ z_r` where those of the first are :math:`z_r`: what is left is
    :math:`χ^2` with at most :math:`(n - 1)(2R - 2)` degrees of freedom. Two modes at one
    frequency have amplitudes of their own in every trial.
    """
    n, R = along.shape
    out, first = np.ones(n), along[0]
    for k in range(1, n) if R > 1 else ():
        factor = np.vdot(first, along[k]) / np.vdot(first, first)
        # both are noisy: where the line turns, as much noise comes from the first
        rest = np.abs(along[k] - first * factor) ** 2 / (1 + abs(factor) ** 2)
        out[k] = chdtrc((n - 1) * (2 * R - 2), float(rest.sum()))
    return out


def _turned(along: ComplexArray) -> float:
    r""":math:`\sum_k \mathrm{Im}(κ_k)^2 \sum_r |z_r|^2` over the directions after the first.

    Each term is :math:`χ^2` with one degree of freedom where the line is in phase on all channels:
    a far sharper test than that of the rest, which has as many as there are trials.
    """
    power = float(np.vdot(along[0], along[0]).real)
    return float(np.sum(np.imag(along[1:] @ along[0].conj()) ** 2)) / power


def _displacements(fit: LineFit, one: Amplitudes, j: int, orders: Index) -> Displacements:
    """Divide the measured amplitudes by ``(iΩ)^k``; the information turns with them."""
    measured, information = one.pair(j)
    factor = (1j * fit.omega[j]) ** orders
    z = (measured[:, 0] - 1j * measured[:, 1]) / factor[:, None]
    # displacement amplitudes (A, B) to those of the channel
    turn = np.array([[factor.real, factor.imag], [-factor.imag, factor.real]]).transpose(2, 0, 1)
    turned = np.einsum("a,aji,ajk,akl->ail", fit.weights, turn, information, turn)
    return Displacements(np.stack([z.real, -z.imag], axis=1), turned)


def _whitened(part: Displacements, scale: Array) -> Array:
    """Amplitudes in units of their standard errors, with one metric for all channels."""
    metric = np.mean(part.information / scale[:, None, None] ** 2, axis=0)
    root = np.linalg.cholesky(metric)
    white = scale[:, None, None] * np.einsum("ij,air->ajr", root, part.values)
    return np.asarray(white.reshape(len(scale), -1))


def _alike(information: Array) -> bool:
    """Whether the channels have the same information up to a factor."""
    unit = information / np.trace(information, axis1=1, axis2=2)[:, None, None]
    return bool(np.allclose(unit, unit[0], atol=1e-6))


def _rank_one_misfit(parts: Sequence[Displacements], shape: Array) -> float:
    """Smallest ``Σ (c - d z)ᵀ I (c - d z)``: alternate between amplitudes z and shape d.

    Channels with different gaps or different kinds of sensor have different information, and
    no single metric makes the problem a singular value decomposition.
    """
    d = shape / np.linalg.norm(shape)
    misfit = np.inf
    for _ in range(limits.PHASE_ALTERNATIONS):
        top, bottom, misfit = np.zeros_like(d), np.zeros_like(d), 0.0
        for p in parts:
            right = np.einsum("a,aij,ajr->ir", d, p.information, p.values)
            z = np.linalg.solve(np.einsum("a,aij->ij", d**2, p.information), right)
            rest = p.values - d[:, None, None] * z
            misfit += float(np.einsum("air,aij,ajr->", rest, p.information, rest))
            top += np.einsum("ir,aij,ajr->a", z, p.information, p.values)
            bottom += np.einsum("ir,aij,jr->a", z, p.information, z)
        d = top / bottom
        d = d / np.linalg.norm(d)
    return misfit


def first_directions(test: PhaseTest, rank: int) -> Array:
    """Orthonormal directions spanning the first ``rank`` ones, shape (rank, channels).

    The sign of each is chosen so that its first entry that is not small is positive.
    """
    q, _ = np.linalg.qr(test.directions[:, :rank])
    rows = np.ascontiguousarray(q.T)
    for row in rows:
        row *= positive_sign(row)
    return rows
