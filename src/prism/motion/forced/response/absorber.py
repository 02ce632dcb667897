r"""Where one more hidden oscillator, with a damper of its own, would help.

One that hangs on the modal coordinates :math:`b^T a` by a spring and a damper adds
:math:`k(s)\,b b^T` to the dynamic stiffness, and changes the response by

.. math:: ΔH = -T^T b\, b^T T\, k(s),\qquad k(s) = \frac{s^2 (ω^2 + s d)}{s^2 + s d + ω^2}

to first order in its mass :math:`|b|^2`. A damper that is strong leaves no line of its own, and no
pole that a scan over lines would meet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import prism.motion.forced.response._limits as limits
from prism._types import Array, ComplexArray
from prism.motion.forced.response.coupled import CoupledFit
from prism.motion.forced.response.friction import FrictionPoint
from prism.motion.forced.response.scan import tangent


class Absorber(NamedTuple):
    """An oscillator that would join, and what the score promises."""

    place: Array
    omega: float
    rate: float
    gain: float

    def joined(self, point: FrictionPoint) -> FrictionPoint:
        """The point with it."""
        return point.attached(self.place, self.omega, self.rate)


def absorbers(fit: CoupledFit, most: int = 2) -> list[Absorber]:
    """Best oscillators to add, the most promising first, at different frequencies.

    Parameters
    ----------
    most : int
    """
    root = np.where(fit.data.counts > 0, np.sqrt(2 * fit.data.counts / fit.spread), 0.0)
    Q = tangent(fit.jacobian * root)
    rest = _flat((fit.data.Y - fit.H) * root)
    rest = rest - Q @ (Q.T @ rest)
    found = [one for b in _places(fit.friction) for one in _at(fit, root, Q, rest, b)]
    out: list[Absorber] = []
    for one in sorted(found, key=lambda some: -some.gain):
        if len(out) < most and all(abs(one.omega / two.omega - 1) > 0.05 for two in out):
            out.append(one)
    return out


def _places(point: FrictionPoint) -> Array:
    """Unit directions of b: the ports, and single modes."""
    ports = point.V.T / np.maximum(np.linalg.norm(point.V, axis=0), 1e-300)[:, None]
    return np.vstack([ports, np.eye(len(point))[point.linked]])


def _at(fit: CoupledFit, root: Array, Q: Array, rest: Array, b: Array) -> list[Absorber]:
    """What oscillators at one place promise, the best of each damping ratio."""
    data = fit.data
    motion = np.einsum("j,fja->fa", b, fit.at.T)
    shape = -root * motion[:, data.rows] * motion[:, data.columns]
    omega = np.linspace(data.omega[0], data.omega[-1], limits.ABSORBER_PLACES + 2)[1:-1]
    out = []
    for ratio in limits.ABSORBER_RATIOS:
        columns = np.array([_flat(shape * _stiffness(data.omega, w, ratio)) for w in omega])
        columns = columns - (columns @ Q) @ Q.T
        size = np.maximum((columns**2).sum(axis=1), 1e-300)
        mass = np.maximum(columns @ rest, 0.0) / size
        gains = mass**2 * size
        k = int(gains.argmax())
        start = np.sqrt(min(float(mass[k]), limits.HEAVIEST))
        out.append(Absorber(start * b, float(omega[k]), 2 * ratio * omega[k], float(gains[k])))
    return out


def _stiffness(omega: Array, own: float, ratio: float) -> ComplexArray:
    """Stiffness k of an oscillator at the lines, one row for each."""
    s = 1j * omega[:, None]
    pull = own**2 + 2 * ratio * own * s
    return np.asarray(s**2 * pull / (s**2 + pull))


def _flat(values: ComplexArray) -> Array:
    return np.ascontiguousarray(values, complex).ravel().view(float)
