r"""Exact samples of one mode under a held force, and their derivatives.

A viscous mode :math:`η'' + 2δη' + (ω^2 + δ^2) η = g` with the pole :math:`λ = -δ + iω` is

.. math:: η = \operatorname{Im} z/ω,\qquad z' = λ z + g,

because its impulse response is :math:`e^{-δt} \sin(ωt)/ω = \operatorname{Im} e^{λt}/ω`; hence
:math:`η' = \operatorname{Im}(λz)/ω` and :math:`η'' = \operatorname{Im}(λ^2 z)/ω + g`. Between two
samples the force is held, which makes the step exact, with :math:`x = λ\,dt`,

.. math:: z_{k+1} = e^x z_k + dt\,(p\,g_k + q\,g_{k+1}),\quad
    φ_1 = \frac{e^x - 1}{x},\; φ_2 = \frac{e^x - 1 - x}{x^2}

zero order: :math:`p = φ_1, q = 0`; first order: :math:`p = φ_1 - φ_2, q = φ_2` (the integrals of
:math:`e^{λ(dt-s)}` against 1 and :math:`s/dt`). Differentiating the recursion gives
:math:`\partial z/\partial λ` exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.forced.records import _limits as limits

HOLDS = ("zero", "first")


def hold_coefficients(x: complex, hold: str) -> tuple[complex, complex, complex, complex]:
    """p, q and their derivatives with respect to x."""
    if abs(x) < limits.HOLD_SERIES:
        powers = [x**k for k in range(limits.HOLD_TERMS)]
        one = sum(v / factorial(k + 1) for k, v in enumerate(powers))
        two = sum(v / factorial(k + 2) for k, v in enumerate(powers))
        d_one = sum((k + 1) * v / factorial(k + 2) for k, v in enumerate(powers))
        d_two = sum((k + 1) * v / factorial(k + 3) for k, v in enumerate(powers))
    else:
        grown = complex(np.exp(x))
        one = (grown - 1) / x
        two = (one - 1) / x
        d_one = (grown - one) / x
        d_two = (d_one - two) / x
    if hold == "zero":
        return complex(one), 0j, complex(d_one), 0j
    return complex(one - two), complex(two), complex(d_one - d_two), complex(d_two)


@dataclass(frozen=True)
class ModeColumns:
    """Samples of one mode in one trial.

    Attributes
    ----------
    pole : complex
        λ.
    driven, d_driven : complex arrays (samples, forces)
        z under each force from rest, and its derivative with respect to λ.
    free, d_free : complex arrays (samples,)
        ``e^{λt}`` from the first sample on, and its derivative.
    force : array (samples, forces)
    """

    pole: complex
    driven: ComplexArray
    d_driven: ComplexArray
    free: ComplexArray
    d_free: ComplexArray
    force: Array

    def forced(self, kind: int) -> tuple[Array, Array, Array]:
        r"""Response to each force and its derivatives by ω and by δ, (samples, forces) each.

        Parameters
        ----------
        kind : {0, 1, 2}
            Displacement, velocity or acceleration.
        """
        omega = self.pole.imag
        value, slope = self.of_kind(kind, self.driven, self.d_driven)
        out = value.imag / omega
        by_omega = slope.real / omega - out / omega
        return (out + self.force if kind == 2 else out), by_omega, -slope.imag / omega

    def turned(self, kind: int) -> tuple[Array, Array, Array]:
        r"""The same of a mode with a complex residue, (samples, 2 forces) each.

        :math:`\operatorname{Im} w/ω` as in `forced`, then :math:`\operatorname{Re} w/ω`, with
        w = z, :math:`λz` or :math:`λ^2 z + λg`: residues of all modes together make no jump of
        the displacement or of the velocity.
        """
        omega = self.pole.imag
        value, slope = self.of_kind(kind, self.driven, self.d_driven)
        if kind == 2:
            value, slope = value + self.pole * self.force, slope + self.force
        each = value / omega, (1j * slope - value / omega) / omega, -slope / omega
        columns = [np.hstack([one.imag, one.real]) for one in each]
        return columns[0], columns[1], columns[2]

    def moving(self, kind: int) -> tuple[Array, Array, Array]:
        """Free cosine and sine, (samples, 2), and their derivatives by ω and by δ."""
        value, slope = self.of_kind(kind, self.free, self.d_free)
        pairs = [np.stack([c.real, c.imag], axis=1) for c in (value, 1j * slope, -slope)]
        return pairs[0], pairs[1], pairs[2]

    def of_kind(
        self, kind: int, z: ComplexArray, dz: ComplexArray
    ) -> tuple[ComplexArray, ComplexArray]:
        """``λ^s z`` and its derivative with respect to λ."""
        if kind == 0:
            return z, dz
        power, below = self.pole**kind, kind * self.pole ** (kind - 1)
        return np.asarray(power * z), np.asarray(below * z + power * dz)


def mode_columns(omega: float, decay: float, force: Array, dt: float, hold: str) -> ModeColumns:
    """Exact samples of the mode with the pole ``-decay + i omega``.

    Parameters
    ----------
    omega, decay : float
        ω > 0 and δ >= 0.
    force : array (samples, forces)
    dt : float
    hold : {"zero", "first"}
    """
    from scipy.signal import lfilter  # slow to import

    pole = complex(-decay, omega)
    x = pole * dt
    p, q, dp, dq = hold_coefficients(x, hold)
    turn = np.exp(x)
    push = np.zeros(force.shape, complex)
    push[1:] = dt * (p * force[:-1] + q * force[1:])
    z = lfilter([1.0], [1.0, -turn], push, axis=0)
    push[1:] = dt**2 * (dp * force[:-1] + dq * force[1:]) + dt * turn * z[:-1]
    dz = lfilter([1.0], [1.0, -turn], push, axis=0)
    t = dt * np.arange(len(force))
    free = np.exp(pole * t)
    return ModeColumns(pole, z, dz, free, t * free, force)


def rigid_columns(force: Array, dt: float, hold: str, kind: int) -> Array:
    r"""Response of a free unit mass, :math:`η'' = g`, from rest, exact for the held force.

    .. math:: η'_{k+1} = η'_k + dt\,(p_1 g_k + q_1 g_{k+1}),\quad
              η_{k+1} = η_k + dt\,η'_k + dt^2 (p_2 g_k + q_2 g_{k+1})

    with (p₁, q₁) = (1, 0) or (½, ½) and (p₂, q₂) = (½, 0) or (⅓, ⅙).
    """
    if kind == 2:
        return force
    p1, q1, p2, q2 = (1.0, 0.0, 0.5, 0.0) if hold == "zero" else (0.5, 0.5, 1 / 3, 1 / 6)
    now, after = force[:-1], force[1:]
    start = np.zeros((1, force.shape[1]))
    speed = np.concatenate([start, dt * np.cumsum(p1 * now + q1 * after, axis=0)])
    if kind == 1:
        return speed
    steps = dt * speed[:-1] + dt**2 * (p2 * now + q2 * after)
    return np.concatenate([start, np.cumsum(steps, axis=0)])


def static_columns(force: Array, dt: float, kind: int) -> Array:
    """Force, or its first or second central difference: modes far above the band follow it.

    The differences stand for the derivatives of a force that is band-limited well below the
    Nyquist frequency; at the ends the one next to it is repeated.
    """
    if kind == 0:
        return force
    if kind == 1:
        return np.asarray(np.gradient(force, dt, axis=0))
    middle = (force[2:] - 2 * force[1:-1] + force[:-2]) / dt**2
    return np.concatenate([middle[:1], middle, middle[-1:]])
