"""A particle in a nonlinear potential, coupled to hidden oscillators."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.errors import OptionError
from prism.systems.nonlinear import NonlinearSystem

__all__ = [
    "asymmetric_well",
    "double_well",
    "duffing",
    "nonlinear_bath",
    "particle",
    "pendulum",
    "quintic",
]

Scalar = Callable[[Array], Array]


def particle(
    potential: Scalar,
    slope: Scalar,
    curvature: Scalar,
    frequencies: ArrayLike = (),
    couplings: ArrayLike = (),
) -> NonlinearSystem:
    r"""Build a seen coordinate x with hidden oscillators.

    .. math:: H = \tfrac12 p^2 + V(x)
              + \sum_i \left[\tfrac12 p_i^2 + \tfrac12 ω_i^2 q_i^2 + c_i q_i x\right]

    Parameters
    ----------
    potential, slope, curvature : callable
        V and its first two derivatives.
    frequencies, couplings : array (modes,)
        :math:`ω_i` and :math:`c_i`.
    """
    omega, c = np.asarray(frequencies, float), np.asarray(couplings, float)
    if omega.ndim != 1 or omega.shape != c.shape or not (omega > 0).all():
        raise OptionError(
            f"hidden frequencies {omega.tolist()} and couplings {c.tolist()}: give as many of one "
            "as of the other, frequencies positive."
        )

    def total(q: Array) -> Array:
        x, h = q[..., 0], q[..., 1:]
        return np.asarray(potential(x) + (0.5 * (omega * h) ** 2).sum(-1) + x * (h @ c))

    def force(q: Array) -> Array:
        x, h = q[..., 0], q[..., 1:]
        out = np.empty_like(q)
        out[..., 0] = -slope(x) - h @ c
        out[..., 1:] = -(omega**2) * h - c * x[..., None]
        return out

    def hessian(q: Array) -> Array:
        out = np.zeros((*q.shape, q.shape[-1]))
        out[..., 0, 0] = curvature(q[..., 0])
        out[..., 0, 1:] = out[..., 1:, 0] = c
        i = np.arange(1, q.shape[-1])
        out[..., i, i] = omega**2
        return out

    return NonlinearSystem(
        potential=total,
        force=force,
        hessian=hessian,
        masses=np.ones(1 + len(omega)),
        observed=[0],
        names=["x", *(f"q{i + 1}" for i in range(len(omega)))],
    )


def _polynomial(coefficients: Sequence[float]) -> tuple[Scalar, Scalar, Scalar]:
    """V, V' and V'' of the force coefficients of 1, x, x²..."""
    first = np.polynomial.Polynomial(coefficients)
    return first.integ(), first, first.deriv()


def duffing(
    stiffness: float = 1.0,
    cubic: float = 0.5,
    frequencies: ArrayLike = (0.7, 1.9),
    couplings: ArrayLike = (0.35, 0.6),
) -> NonlinearSystem:
    r"""Build :math:`V' = k x + b x^3` with hidden oscillators.

    Parameters
    ----------
    stiffness, cubic : float
        k and b.
    frequencies, couplings : array (modes,)

    Examples
    --------
    >>> duffing().simulate([1.5, 0, 0], [0, 0, 0], 150, 0.05)
    Record(1 trial of 3000 samples, dt=0.05, channels x, displacement)
    """
    return particle(*_polynomial([0, stiffness, 0, cubic]), frequencies, couplings)


def double_well(
    depth: float = 1.0,
    quartic: float = 1.0,
    frequencies: ArrayLike = (1.2,),
    couplings: ArrayLike = (0.4,),
) -> NonlinearSystem:
    r"""Build :math:`V' = -a x + b x^3`, wells at :math:`±\sqrt{a/b}`.

    Parameters
    ----------
    depth, quartic : float
        a and b.
    frequencies, couplings : array (modes,)
    """
    return particle(*_polynomial([0, -depth, 0, quartic]), frequencies, couplings)


def quintic(
    stiffness: float = 1.0,
    fifth: float = 0.3,
    cubic: float = 0.0,
    frequencies: ArrayLike = (),
    couplings: ArrayLike = (),
) -> NonlinearSystem:
    r"""Build :math:`V' = k x + b x^3 + d x^5`.

    Parameters
    ----------
    stiffness, fifth, cubic : float
        k, d and b.
    frequencies, couplings : array (modes,)
    """
    return particle(*_polynomial([0, stiffness, 0, cubic, 0, fifth]), frequencies, couplings)


def asymmetric_well(
    stiffness: float = 1.0,
    square: float = 0.4,
    cubic: float = 0.3,
    frequencies: ArrayLike = (),
    couplings: ArrayLike = (),
) -> NonlinearSystem:
    r"""Build :math:`V' = k x + a x^2 + b x^3`.

    Parameters
    ----------
    stiffness, square, cubic : float
        k, a and b.
    frequencies, couplings : array (modes,)
    """
    return particle(*_polynomial([0, stiffness, square, cubic]), frequencies, couplings)


def pendulum(
    gravity: float = 1.0,
    torsion: float = 0.0,
    frequencies: ArrayLike = (),
    couplings: ArrayLike = (),
) -> NonlinearSystem:
    r"""Build :math:`V' = g \sin x + k x`, x an angle in radians.

    Parameters
    ----------
    gravity, torsion : float
        g and k.
    frequencies, couplings : array (modes,)
    """
    return particle(
        lambda x: 0.5 * torsion * x**2 - gravity * np.cos(x),
        lambda x: torsion * x + gravity * np.sin(x),
        lambda x: torsion + gravity * np.cos(x),
        frequencies,
        couplings,
    )


def nonlinear_bath(
    stiffness: float = 1.0,
    cubic: float = 0.5,
    *,
    modes: int = 20,
    friction: float = 0.2,
    cutoff: float = 1.0,
    highest: float = 3.0,
) -> NonlinearSystem:
    r"""Build a Duffing particle in an Ohmic bath, :math:`J(ω) = η ω e^{-ω/ω_c}`.

    The bath is that of `caldeira_leggett`; its counter-term is part of V, so that
    :math:`V' = (k + \sum c_i^2/ω_i^2)\, x + b x^3`.

    Parameters
    ----------
    stiffness, cubic : float
        k of the mean force, and b.
    modes : int
    friction, cutoff, highest : float
        η, :math:`ω_c` and the highest frequency of the bath.
    """
    if modes < 1 or not min(friction, cutoff, highest) > 0:
        raise OptionError(
            f"a bath of {modes} modes with friction, cutoff and highest frequency "
            f"{(friction, cutoff, highest)}: give at least 1 mode and positive numbers."
        )
    spacing = highest / modes
    omega = spacing * (np.arange(modes) + 0.5)
    c = np.sqrt(2 / np.pi * omega * friction * omega * np.exp(-omega / cutoff) * spacing)
    shift = float(np.sum((c / omega) ** 2))
    return duffing(stiffness + shift, cubic, omega, c)
