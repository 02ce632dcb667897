r"""The noise of a measured response: additive and multiplicative, both estimated.

One measurement of a value H has a circular complex error of variance
:math:`s^2 = a^2 α + b^2 |H|^2`, where the additive noise is even in the receptance, α = 1, or in
the measured quantity: :math:`α = ω^{-4}`, up to scale, for an accelerance.
With the sum of squared residuals S over q measurements

.. math:: -2 \log L = 2 \sum \left[ q \log s^2 + S/s^2 \right].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array

_STEPS = 60
# variances that rounding makes, of a typical value and of each: exact data have no noise below
_ROUNDING_A, _ROUNDING_B = 1e-24, 1e-20


@dataclass(frozen=True)
class Noise:
    """Variances of a measurement: ``s² = a2 α + b2 |H|²``, or a multiple of the stated one."""

    a2: float
    b2: float
    stated: float = 0.0
    tilted: bool = False  # even in the measured quantity, and not in the receptance

    def variance(
        self, power: Array, shape: Array | None = None, even: Array | None = None
    ) -> Array:
        """``s²`` where the response has the squared magnitude ``power``; never below rounding.

        Parameters
        ----------
        power : array
        shape : array, optional
            Variance that the measurement states.
        even : array, optional
            α of noise that is even in the measured quantity.
        """
        out = (self.a2 + _ROUNDING_A) * (even if self.tilted and even is not None else 1.0)
        out = out + (self.b2 + _ROUNDING_B) * power
        return np.asarray(out if shape is None or not self.stated else out + self.stated * shape)

    @property
    def parameters(self) -> int:
        """Number of its parameters that are not zero."""
        return int(self.a2 > 0) + int(self.b2 > 0) + int(self.stated > 0)

    def scaled(self, factor: float) -> Noise:
        """The same noise with another variance."""
        return replace(self, a2=self.a2 * factor, b2=self.b2 * factor, stated=self.stated * factor)


def deviance(variance: Array, counts: Array, squares: Array) -> float:
    r""":math:`-2 \log L` up to a constant."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, counts * np.log(variance) + squares / variance, 0.0)
    return float(2 * terms.sum())


def estimate_noise(
    power: Array,
    counts: Array,
    squares: Array,
    shape: Array | None = None,
    even: Array | None = None,
) -> Noise:
    """Noise of greatest likelihood; its kind is chosen by the Bayesian information criterion.

    Parameters
    ----------
    power : array
        Squared magnitude of the response.
    counts, squares : arrays
        Number of measurements of each value, and the sum of their squared residuals.
    shape : array, optional
        Variance that the measurement itself states.
    even : array, optional
        α of noise that is even in the measured quantity, where that is not the receptance.
    """
    flat = np.ones_like(power)
    basis: list[tuple[Callable[[Array], Noise], list[Array]]] = [
        (lambda c: Noise(float(c[0]), 0.0), [flat]),
        (lambda c: Noise(0.0, float(c[0])), [power]),
        (lambda c: Noise(float(c[0]), float(c[1])), [flat, power]),
    ]
    if even is not None and np.ptp(even) > 0:
        tilt = np.broadcast_to(even, power.shape)
        basis += [
            (lambda c: Noise(float(c[0]), 0.0, tilted=True), [tilt]),
            (lambda c: Noise(float(c[0]), float(c[1]), tilted=True), [tilt, power]),
        ]
    if shape is not None:
        basis.append((lambda c: Noise(0.0, 0.0, float(c[0])), [shape]))
    best, score = None, np.inf
    size = np.log(max(counts.sum(), 2.0))
    for make, columns in basis:
        noise = make(_variances(columns, counts, squares))
        value = deviance(noise.variance(power, shape, even), counts, squares)
        value += noise.parameters * size
        if value < score:
            best, score = noise, value
    assert best is not None
    return best


def _variances(columns: list[Array], counts: Array, squares: Array) -> Array:
    r"""Non-negative :math:`c` of :math:`s^2 = \sum_k c_k B_k` by multiplicative scoring.

    The update :math:`c_k \leftarrow c_k \sum B_k S/s^4 / \sum q B_k/s^2` keeps the sign and raises
    the likelihood (it is the majorisation of the concave log by its tangent).
    """
    use = counts > 0
    B = np.array([column[use] for column in columns])
    q, S = counts[use], squares[use]
    floor = _ROUNDING_B * np.maximum(B[0], 1e-30)
    safe = np.maximum(B, 1e-30)
    c = np.array([(S / row).sum() / q.sum() for row in safe]) / len(B)
    for _ in range(_STEPS):
        s2 = np.maximum(c @ B, floor)
        ratio = (B * (S / s2**2)).sum(axis=1) / np.maximum((B * (q / s2)).sum(axis=1), 1e-300)
        new = c * np.sqrt(ratio)
        if np.all(np.abs(new - c) <= 1e-4 * c):
            c = new
            break
        c = new
    share = (c[:, None] * B / np.maximum(c @ B, floor)).max(axis=1)
    return np.where(share > 1e-6, c, 0.0)  # a part that matters nowhere is none
