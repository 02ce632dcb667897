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

As a matrix over lines and channels the addition is :math:`U S U^H` of rank two per mode.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import ComplexArray
from prism.motion.driven.whittle import (
    Band,
    Model,
    force_root,
    hermitian_basis,
    parameter_slices,
    pole_rates,
    poles,
    tangents,
)

_SLOW = 20.0  # ζωT


@dataclass(frozen=True)
class _Residues:
    """The l, r (m, n) and c (m,) of every mode."""

    lam: ComplexArray
    left: ComplexArray
    right: ComplexArray
    strength: ComplexArray


def boundary(model: Model, band: Band) -> tuple[ComplexArray, ComplexArray]:
    """U (K, n, 2a) and S (2a, 2a) of the lines of one trial, free modes first.

    Of held modes only those that hardly decay in the record count, a in all: what the ends add
    to the tail of another is a share :math:`1/(ζωT)` of it.
    """
    slow = model.zeta * model.omega * float(band.span[0]) < _SLOW
    counted = (model.free | slow) & band.leakage
    model = model.only(np.flatnonzero(counted))
    residues = _residues(model, band)
    a = 1 / (1j * band.omega[:, None] - residues.lam)
    left = a[:, None, :] * residues.left.T
    right = (a[:, None, :] * residues.right.T).conj()
    return np.concatenate([left, right], axis=2), _exchange(residues.strength)


def boundary_rates(model: Model, band: Band) -> tuple[ComplexArray, ComplexArray]:
    """Derivatives of U, (P', K, n, 2f), and of S, (P', 2f, 2f), by all parameters but the noise.

    Of the f free modes: the others do not change, and their forces are independent of these.
    """
    model = model.first(model.fitted)
    residues = _residues(model, band)
    lam, left, right, strength = _residue_rates(model, band)
    a = 1 / (1j * band.omega[:, None] - residues.lam)
    da = lam[:, None, :] * a**2  # (P, K, m)
    U = np.concatenate(
        [
            da[:, :, None, :] * residues.left.T + a[:, None, :] * _turned(left),
            (da[:, :, None, :] * residues.right.T + a[:, None, :] * _turned(right)).conj(),
        ],
        axis=3,
    )
    S = np.zeros((len(strength), 2 * model.count, 2 * model.count), complex)
    for p in np.flatnonzero(np.any(strength != 0, axis=1)):
        S[p] = _exchange(strength[p])
    return U, S


def _turned(x: ComplexArray) -> ComplexArray:
    """(P, m, n) to (P, 1, n, m)."""
    return np.asarray(x.swapaxes(1, 2)[:, None])


def _exchange(strength: ComplexArray) -> ComplexArray:
    m = len(strength)
    S = np.zeros((2 * m, 2 * m), complex)
    S[np.arange(m), m + np.arange(m)] = strength
    S[m + np.arange(m), np.arange(m)] = strength.conj()
    return S


def _response(model: Model, lam: ComplexArray) -> ComplexArray:
    """``h_j(-λ_i)``, (m, m)."""
    s = -lam[:, None]
    return np.asarray(model.gains / (s**2 + 2 * model.zeta * model.omega * s + model.omega**2))


def _levers(model: Model, band: Band, lam: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
    """What multiplies the shape in l and the sum in r, (m, n) each."""
    lever = (lam[:, None] / band.middle) ** band.orders
    back = (-lam[:, None] / band.middle) ** band.orders / (lam - lam.conj())[:, None]
    return np.asarray(lever * model.gains[:, None]), np.asarray(back)


def _residues(model: Model, band: Band) -> _Residues:
    lam = poles(model.omega, model.zeta)
    lever, back = _levers(model, band, lam)
    span = float(band.span[0])
    return _Residues(
        lam,
        np.asarray(lever * model.shapes),
        np.asarray(back * ((model.force * _response(model, lam)) @ model.shapes)),
        np.asarray(-(1 - np.exp(lam * span)) / span),
    )


def _residue_rates(
    model: Model, band: Band
) -> tuple[ComplexArray, ComplexArray, ComplexArray, ComplexArray]:
    """Derivatives of λ (P, m), l and r (P, m, n) and c (P, m) by every parameter."""
    n, m = model.shapes.shape[1], model.count
    at, base = parameter_slices(model), _residues(model, band)
    P = int(at["noise"][0])
    lam = base.lam
    lever, back = _levers(model, band, lam)
    H = _response(model, lam)
    d_lam, d_strength = np.zeros((P, m), complex), np.zeros((P, m), complex)
    d_left, d_right = np.zeros((P, m, n), complex), np.zeros((P, m, n), complex)
    s = -lam[:, None]
    squared = -model.force * H**2 / model.gains
    by_omega = squared * (2 * model.omega**2 + 2 * model.zeta * model.omega * s)
    by_zeta = squared * (2 * model.zeta * model.omega * s)
    by_lam = -squared * (2 * model.zeta * model.omega + 2 * s)
    for key, rates, direct in zip(
        ("frequency", "damping"), pole_rates(model), (by_omega, by_zeta), strict=True
    ):
        for i in range(model.fitted):
            p, rate = at[key][i], rates[i]
            d_lam[p, i] = rate
            d_strength[p, i] = np.exp(lam[i] * band.span[0]) * rate
            d_left[p, i] = base.left[i] * band.orders * rate / lam[i]
            # every r sees h_i; that of mode i also moves with its own pole
            d_right[p] = back * np.outer(direct[:, i], model.shapes[i])
            d_right[p, i] += back[i] * (by_lam[i] @ model.shapes) * rate
            relative = band.orders * rate / lam[i] - 2j * rate.imag / (2j * lam[i].imag)
            d_right[p, i] += base.right[i] * relative
    for i in range(model.fitted):
        places = at["shape"][i * (n - 1) : (i + 1) * (n - 1)]
        for p, direction in zip(places, tangents(model.shapes[i]).T, strict=True):
            d_left[p, i] = lever[i] * direction
            d_right[p] = back * np.outer(model.force[:, i] * H[:, i], direction)
    root = force_root(model)
    places = np.concatenate([at["auto"], at["cross"]])
    for p, (a, b, factor) in zip(places, hermitian_basis(m, full=True), strict=True):
        change = factor * np.outer(root[:, a], root[:, b].conj())
        d_right[p] = back * (((change + change.conj().T) * H) @ model.shapes)
    return d_lam, d_left, d_right, d_strength
