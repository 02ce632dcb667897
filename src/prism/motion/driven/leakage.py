r"""What the ends of a finite record add to the covariance of its Fourier lines.

For :math:`τ > 0` the correlation of driven modes is :math:`\sum_i l_i r_i^T e^{λ_i τ}`; integrating
it over a record of length T, whose lines have :math:`e^{iω_k T} = 1`, gives without approximation

.. math:: E[Y_k Y_l^H] = δ_{kl} D(ω_k) + \sum_i \left( c_i\, a_{ik} a_{il}\, l_i r_i^T
          + \text{adjoint} \right), \quad a_{ik} = \frac{1}{iω_k - λ_i}, \quad
          c_i = -\frac{1 - e^{λ_i T}}{T}

with D the spectrum of an endless record: the state at the end differs from the one at the start,
and all lines near a resonance share that difference. Residues of :math:`h_i Q_{ij} h_j^*` at its
pole :math:`λ_i` give :math:`l_i = φ_i λ_i^q` and
:math:`r_i = \sum_j Q_{ij} h_j(-λ_i) φ_j / (λ_i - \bar λ_i)`. Poles at negative frequency, and the
covariance of :math:`Y_k` with :math:`\bar Y_l`, are smaller by :math:`1/(ω T)` and left out.

As a matrix over lines and channels the addition is :math:`U S U^H` of rank two per mode. Where the
forces have a tilt, it is that of the motion, ends included, line by line: E stays a covariance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prism._types import Array, ComplexArray, Index
from prism.motion.driven import _limits as limits
from prism.motion.driven.spectrum import LineBand
from prism.motion.driven.whittle import BandModel, HermitianBasis


class _Residues(NamedTuple):
    """The l, r (m, n) and c (m,) of every mode, and what they are made of.

    ``l = lever φ`` and ``r = back (Q H φ)`` with ``H_ij = h_j(-λ_i)``, entry by entry but for the
    product with φ.
    """

    left: ComplexArray
    right: ComplexArray
    strength: ComplexArray
    lever: ComplexArray
    back: ComplexArray
    response: ComplexArray


def boundary(model: BandModel, band: LineBand) -> tuple[ComplexArray, ComplexArray]:
    """U (K, n, 2a) and S (2a, 2a) of the lines of one trial, free modes first.

    Of modes whose force is held only those that hardly decay in the record count, a in all: what
    the ends add to the tail of another is a share :math:`1/(ζωT)` of it. Of linked ones all do:
    D with their cross spectra and ends without would be no covariance, singular for some forces,
    and there the likelihood has no bound.
    """
    model = model.only(_counted(model, band))
    residues = _residues(model, band)
    a = band.levers[:, None] / (1j * band.omega[:, None] - model.poles)
    left = a[:, None, :] * residues.left.T
    right = (a[:, None, :] * residues.right.T).conj()
    return np.concatenate([left, right], axis=2), _exchange(residues.strength)


class _Moving(NamedTuple):
    """Modes whose force is fitted and for which the ends count, d in all, and how they change.

    The ``a`` (K, d), l and r (d, n), and derivatives by all parameters but the noise: of λ (P', d),
    of l and r (P', d, n) and of c (P', d).
    """

    a: ComplexArray
    left: ComplexArray
    right: ComplexArray
    lam_rate: ComplexArray
    left_rate: ComplexArray
    right_rate: ComplexArray
    strength_rate: ComplexArray

    @classmethod
    def of(cls, model: BandModel, band: LineBand) -> _Moving:
        """The others do not change, and their forces are independent of these."""
        keep = moving_modes(model, band)
        rates = _model_rates(model, keep)
        model = model.only(keep)
        residues = _residues(model, band)
        a = np.asarray(1 / (1j * band.omega[:, None] - model.poles))
        changes = _residue_rates(model, band, residues, rates)
        return cls(a, residues.left, residues.right, *changes)


def boundary_rates(model: BandModel, band: LineBand) -> tuple[ComplexArray, ComplexArray]:
    """Derivatives of U, (P', K, n, 2d), and of S, (P', 2d, 2d), by all parameters but the noise."""
    moving = _Moving.of(model, band)
    da = moving.lam_rate[:, None, :] * moving.a**2  # (P', K, d)
    halves = [
        da[:, :, None, :] * old.T + moving.a[:, None, :] * new.swapaxes(1, 2)[:, None]
        for old, new in ((moving.left, moving.left_rate), (moving.right, moving.right_rate))
    ]
    both = np.concatenate([halves[0], halves[1].conj()], axis=3)
    return band.levers[:, None, None] * both, _exchange(moving.strength_rate)


def boundary_slopes(
    model: BandModel, band: LineBand, outer: ComplexArray, middle: ComplexArray
) -> Array:
    r""":math:`\operatorname{Re} (\sum W_{kam} ∂U_{kam} + \sum M_{ij} ∂S_{ij})`, (P',).

    A line enters ∂U by :math:`a_{ik}` and its square alone: sums over lines come first, and nothing
    is as large as ∂U itself.

    Parameters
    ----------
    model : BandModel
    band : LineBand
    outer : array (K, n, 2d)
        W, of the modes whose force is fitted and for which the ends count.
    middle : array (2d, 2d)
        M.
    """
    moving = _Moving.of(model, band)
    outer = band.levers[:, None, None] * outer
    d = moving.a.shape[1]
    out = np.zeros(len(moving.lam_rate))
    for weights, old, new in (
        (outer[:, :, :d], moving.left, moving.left_rate),
        (outer[:, :, d:].conj(), moving.right, moving.right_rate),
    ):
        once = np.einsum("kam,km->ma", weights, moving.a)
        twice = np.einsum("kam,km->ma", weights, moving.a**2)
        out += (moving.lam_rate @ np.sum(twice * old, axis=1)).real
        out += np.tensordot(new, once, axes=2).real
    exchange = np.diag(middle[:d, d:]) + np.diag(middle[d:, :d]).conj()
    return np.asarray(out + (moving.strength_rate @ exchange).real)


def moving_modes(model: BandModel, band: LineBand) -> Index:
    """Modes whose force is fitted and for which the ends count; they come first in `boundary`."""
    keep = _counted(model, band)
    return keep[keep < model.driven]


def _counted(model: BandModel, band: LineBand) -> Index:
    """Modes for which the ends of the record count."""
    slow = model.zeta * model.omega * band.longest < limits.SLOW_TAIL
    driven = np.arange(model.count) < model.driven
    return np.flatnonzero((slow | driven) & band.leakage)


def _exchange(strength: ComplexArray) -> ComplexArray:
    """``((0, c), (c*, 0))`` with c diagonal, of any number of (..., m)."""
    C = strength[..., None] * np.eye(strength.shape[-1])
    upper = np.concatenate([0 * C, C], axis=-1)
    return np.concatenate([upper, np.concatenate([C.conj(), 0 * C], axis=-1)], axis=-2)


def _residues(model: BandModel, band: LineBand) -> _Residues:
    lam, span = model.poles, band.longest
    lever = (lam[:, None] / band.middle) ** band.orders * model.gains[:, None]
    back = (-lam[:, None] / band.middle) ** band.orders / (lam - lam.conj())[:, None]
    s = -lam[:, None]
    response = model.gains / (s**2 + 2 * model.zeta * model.omega * s + model.omega**2)
    return _Residues(
        left=np.asarray(lever * model.shapes),
        right=np.asarray(back * ((model.force * response) @ model.shapes)),
        strength=np.asarray(-(1 - np.exp(lam * span)) / span),
        lever=lever,
        back=back,
        response=response,
    )


class _Rates(NamedTuple):
    """Derivatives of ln ω, ln ζ, shapes and force of some modes, (P', m, ...)."""

    omega: Array
    zeta: Array
    shapes: Array
    force: ComplexArray


def _model_rates(model: BandModel, keep: Index) -> _Rates:
    """Derivatives by all parameters but the noise, of modes whose force is fitted."""
    at, size, f, n = model.at, model.modal, model.fitted, model.shapes.shape[1]
    shapes, force = np.zeros((size, len(keep), n)), np.zeros((size, len(keep), len(keep)), complex)
    shapes[at["shape"], np.repeat(np.arange(f), n - 1)] = model.turns.reshape(-1, n)
    root, basis = model.force_root[keep].T, HermitianBasis.of(model.driven, full=True)
    half = (basis.factors[:, None] * root[basis.rows])[:, :, None]
    half = half * root[basis.columns].conj()[:, None, :]
    force[np.append(at["auto"], at["cross"])] = half + half.conj().swapaxes(1, 2)
    omega, zeta = np.zeros((2, size, len(keep)))
    omega[at["frequency"], np.arange(f)] = 1.0
    zeta[at["damping"], np.arange(f)] = 1.0
    return _Rates(omega, zeta, shapes, force)


def _residue_rates(
    model: BandModel, band: LineBand, base: _Residues, rates: _Rates
) -> tuple[ComplexArray, ComplexArray, ComplexArray, ComplexArray]:
    """Derivatives of λ (P', m), l and r (P', m, n) and c (P', m)."""
    by_omega, by_zeta, by_shape, by_force = rates
    lam, zeta, omega = model.poles, model.zeta, model.omega
    turn = -zeta * omega - 1j * omega * zeta**2 / np.sqrt(1 - zeta**2)
    d_lam = by_omega * lam + by_zeta * turn
    powers = band.orders * (d_lam / lam)[:, :, None]
    s = -lam[:, None]
    d_below = 2 * zeta * omega * s * (by_omega + by_zeta)[:, None, :]
    d_below = d_below + 2 * omega**2 * by_omega[:, None, :]
    d_below = d_below - (2 * zeta * omega + 2 * s) * d_lam[:, :, None]
    weights = model.force * base.response
    d_weights = by_force * base.response - weights * base.response / model.gains * d_below
    d_left = powers * base.left + base.lever * by_shape
    d_right = (powers - (d_lam.imag / lam.imag)[:, :, None]) * base.right
    d_right += base.back * (d_weights @ model.shapes + weights @ by_shape)
    return d_lam, d_left, d_right, np.exp(lam * band.longest) * d_lam
