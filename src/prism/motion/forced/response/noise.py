r"""The noise of a measured response: additive and multiplicative, both estimated.

One measurement of a value H has a circular complex error of variance
:math:`s^2 = a^2 α + b^2 |H|^2`, where the additive noise is even in the receptance, α = 1, or in
the measured quantity: :math:`α = ω^{-4}`, up to scale, for an accelerance.
With the sum of squared residuals S over q measurements

.. math:: -2 \log L = 2 \sum \left[ q \log s^2 + S/s^2 \right].
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import prism.motion.forced.response._limits as limits
from prism._types import Array


@dataclass(frozen=True)
class ResponseNoise:
    """Variances of a measurement: ``s² = a2 α + b2 |H|²``, or a multiple of the stated one."""

    a2: float = 0.0
    b2: float = 0.0
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
        out = (self.a2 + limits.ROUNDING_A) * (even if self.tilted and even is not None else 1.0)
        out = out + (self.b2 + limits.ROUNDING_B) * power
        return np.asarray(out if shape is None or not self.stated else out + self.stated * shape)

    @property
    def parameters(self) -> int:
        """Number of its parameters that are not zero."""
        return int(self.a2 > 0) + int(self.b2 > 0) + int(self.stated > 0)

    def scaled(self, factor: float) -> ResponseNoise:
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
) -> ResponseNoise:
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
    kinds = [({"a2": flat}, False), ({"b2": power}, False), ({"a2": flat, "b2": power}, False)]
    if even is not None and np.ptp(even) > 0:
        tilt = np.broadcast_to(even, power.shape)
        kinds += [({"a2": tilt}, True), ({"a2": tilt, "b2": power}, True)]
    if shape is not None:
        kinds.append(({"stated": shape}, False))
    found = []
    for columns, tilted in kinds:
        levels = _variances(list(columns.values()), counts, squares)
        found.append(ResponseNoise(**dict(zip(columns, levels, strict=True)), tilted=tilted))
    size = np.log(max(counts.sum(), 2.0))

    def criterion(noise: ResponseNoise) -> float:
        fit = deviance(noise.variance(power, shape, even), counts, squares)
        return float(fit + noise.parameters * size)

    return min(found, key=criterion)


def _variances(columns: list[Array], counts: Array, squares: Array) -> list[float]:
    r"""Non-negative :math:`c` of :math:`s^2 = \sum_k c_k B_k` by multiplicative scoring.

    The update :math:`c_k \leftarrow c_k \sum B_k S/s^4 / \sum q B_k/s^2` keeps the sign and raises
    the likelihood (it is the majorisation of the concave log by its tangent): there is no step to
    control, so that it is no descent of `search`.
    """
    use = counts > 0
    B = np.array([column[use] for column in columns])
    q, S = counts[use], squares[use]
    floor = limits.ROUNDING_B * np.maximum(B[0], 1e-30)
    c = np.array([(S / row).sum() / q.sum() for row in np.maximum(B, 1e-30)]) / len(B)
    for _ in range(limits.NOISE_STEPS):
        s2 = np.maximum(c @ B, floor)
        ratio = (B * (S / s2**2)).sum(axis=1) / np.maximum((B * (q / s2)).sum(axis=1), 1e-300)
        before, c = c, c * np.sqrt(ratio)
        if np.all(np.abs(c - before) <= 1e-4 * before):
            break
    share = (c[:, None] * B / np.maximum(c @ B, floor)).max(axis=1)
    return [float(one) for one in np.where(share > 1e-6, c, 0.0)]  # what matters nowhere is none
