r"""What is left of a record, seen by each line in slow time.

Multiplied by a line, the residual is the derivative of :math:`-χ²/2` by the logarithm of its
amplitude, or by its phase, at every instant. Summed over blocks it tells at once what any slow
change of the line would gain: with :math:`p_b` these sums, :math:`I_b` half the power of the line
there and :math:`\tilde B` a slow function without its part along what is fitted already,

.. math:: \text{gain} = \frac{(\sum_b p_b \tilde B_b)^2}{\sum_b I_b \tilde B_b^2} .

Products of different lines turn fast and are left out: the fit itself decides in the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prism._types import Array
from prism.motion.moving import _limits as limits
from prism.motion.moving.fit import MovingFit
from prism.motion.moving.law import ALL, PHASE, SIZE, Freedom, Law, basis


@dataclass(frozen=True)
class SlowProducts:
    """Residual times line, block by block.

    Attributes
    ----------
    law : Law
    along : dict of str to array (lines, blocks)
        For sizes and for phases.
    power : array (lines, blocks)
        Half the power of each line over the noise.
    """

    law: Law
    along: dict[str, Array]
    power: Array

    @classmethod
    def of(cls, fit: MovingFit) -> SlowProducts:
        """Sums over the blocks of the record, all series together."""
        law, blocks = fit.law, limits.MODULATION_BLOCKS
        along = {part: np.zeros((law.count, blocks)) for part in (SIZE, PHASE)}
        power, rests = np.zeros((law.count, blocks)), fit.residuals()
        for group in fit.data.groups:
            place = np.clip(((group.u + 1) * blocks / 2).astype(int), 0, blocks - 1)
            e = np.exp(law.exponents(group.u))
            for r in group.members:
                z = np.array([fit.linear[r, a].amplitudes for a in range(len(fit.weights))])
                # Σ_a w_a A_a y_a is one complex series for each line, whatever the channels
                driven = (z * fit.weights[:, None]).T @ rests[r].T
                strength = fit.weights @ np.abs(z) ** 2 / 2
                for j in range(law.count):
                    product = driven[j] * e[j]
                    along[SIZE][j] += np.bincount(place, product.real, minlength=blocks)
                    along[PHASE][j] -= np.bincount(place, product.imag, minlength=blocks)
                    size = strength[j] * np.abs(e[j]) ** 2
                    power[j] += np.bincount(place, size, minlength=blocks)
        return cls(law, along, power)

    @property
    def u(self) -> Array:
        """Middle of each block."""
        blocks = limits.MODULATION_BLOCKS
        return np.asarray((np.arange(blocks) + 0.5) * 2 / blocks - 1, float)

    @cached_property
    def _fitted(self) -> dict[tuple[str, int], Array]:
        """Orthonormal slow functions, in the metric of the power, that each line has already."""
        out, law = {}, self.law
        for part in (SIZE, PHASE):
            for j in range(law.count):
                orders = sorted({0, *_own(law, part, j)})
                root = np.sqrt(self.power[j])
                slow = np.array([self._slow(Freedom(part, j, k), j) for k in orders])
                Q, _ = np.linalg.qr((slow * root).T)
                out[part, j] = Q
        return out

    @cached_property
    def _swing(self) -> Array:
        return self.law.swing(self.u)

    def _slow(self, one: Freedom, j: int) -> Array:
        """Derivative of the exponent of a line by a freedom of weight one."""
        B = basis(self.u, [one.order], self.law.rate or 0.0)[0]
        return np.asarray(B / self._swing[j] if one.swings else B)

    def gain(self, one: Freedom) -> float:
        """Fall of χ² that a freedom promises."""
        lines = range(self.law.count) if one.line == ALL else (one.line,)
        weights, root = self.law.weights(one), np.sqrt(self.power)
        slope = information = total = 0.0
        for j in lines:
            Q, column = self._fitted[one.part, j], self._slow(one, j) * root[j]
            left = column - Q @ (Q.T @ column)
            seen = np.divide(left, root[j], out=np.zeros_like(left), where=root[j] > 0)
            slope += weights[j] * float(self.along[one.part][j] @ seen)
            information += weights[j] ** 2 * float(left @ left)
            total += weights[j] ** 2 * float(column @ column)
        return slope**2 / information if information > limits.KNOWN_ALREADY * total else 0.0


def _own(law: Law, part: str, j: int) -> set[int]:
    """Orders that a line has, of its own or with all others."""
    return {one.order for one in law.free if one.part == part and one.line in (j, ALL)}
