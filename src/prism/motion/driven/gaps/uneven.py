r"""What was not measured, given what was, for samples at uneven times.

The motion is a process u on an even, periodic grid that is somewhat longer than the record, and
white noise of covariance R, a part of what the spectrum has at every frequency. With S the spectrum
of u, F its Fourier transform and A the sampling, y = A u + e gives

.. math:: (S^{-1} + F A^T R^{-1} A F^{-1})\, F E[u | y] = F A^T R^{-1} y,

and :math:`u + E[u | y - A u - e]` with u and e drawn from S and R is a draw of the motion given y.
The noise at a point of the grid is that of the sample next to it. The equations are solved by
conjugate gradients with :math:`(S^{-1} + R^{-1})^{-1}` in place of the inverse: a step costs two
Fourier transforms, and the number of steps does not grow with the range of S, as :math:`A^T A` is
nearly one where little is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.fft

from prism._types import Array, ComplexArray
from prism.motion.driven.gaps import _limits as limits
from prism.motion.driven.gaps.places import GridPlaces, Spectrum
from prism.motion.driven.gaps.sampling import Sampling, on_lines, sampling

__all__ = ["Uneven"]

TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Uneven:
    """The motion of one trial, given what was measured of it.

    Attributes
    ----------
    places : GridPlaces
    sampling : Sampling
    noise : array (n,)
        R, in units of the samples.
    root, inverse, near : arrays (K, n, n)
        A root of S, its inverse, and that of :math:`S^{-1} + R^{-1}`, at the lines of the grid.
    """

    places: GridPlaces
    sampling: Sampling
    noise: Array
    root: ComplexArray
    inverse: ComplexArray
    near: ComplexArray

    @classmethod
    def of(cls, places: GridPlaces, spectrum: Spectrum) -> Uneven:
        """The motion of a spectrum.

        Parameters
        ----------
        places : GridPlaces
        spectrum : callable
            Two-sided spectral matrices (K, n, n) at angular frequencies (K,).
        """
        taken = sampling(places)
        whole = on_lines(places, taken, spectrum)
        unit = np.sqrt(np.min(np.einsum("kaa->ka", whole).real, axis=0))
        values, vectors = np.linalg.eigh(whole / np.outer(unit, unit))
        values = np.maximum(values, limits.FLOOR * values.max(axis=1, keepdims=True))
        quiet = limits.WHITE * float(values.min())

        def power(of_values: Array, units: Array) -> ComplexArray:
            adjoint = vectors.conj().swapaxes(1, 2)
            return np.asarray((vectors * of_values[:, None, :]) @ adjoint * units)

        own = values - quiet
        both = np.outer(unit, unit)
        return cls(
            *(places, taken, quiet * unit**2),
            unit[:, None] * power(np.sqrt(own), np.ones_like(both)),
            power(1 / own, 1 / both),
            power(1 / (1 / own + 1 / quiet), both),
        )

    def _solved(self, right: ComplexArray) -> ComplexArray:
        """Coefficients of the mean of u for several right-hand sides, (d, K, n)."""
        twice = np.where(np.arange(right.shape[1]) > 0, 2.0, 1.0)[:, None] / self.sampling.length

        def inner(a: ComplexArray, b: ComplexArray) -> Array:
            return np.asarray(np.einsum("dkn,dkn,kn->d", a.conj(), b, weight).real)[:, None, None]

        weight = np.broadcast_to(twice, right.shape[1:])
        left, out = right.copy(), np.zeros_like(right)
        close = _times(self.near, left)
        along, size = close.copy(), inner(left, close)
        goal = limits.SOLVED**2
        for _ in range(limits.STEPS):
            turned = self._information(along)
            share = size / np.maximum(inner(along, turned), TINY)
            out += share * along
            left -= share * turned
            close = _times(self.near, left)
            after = inner(left, close)
            if np.all(after <= goal):
                break
            along = close + after / np.maximum(size, TINY) * along
            size = after
        return out

    def _information(self, f: ComplexArray) -> ComplexArray:
        """``S⁻¹ + F Aᵀ R⁻¹ A F⁻¹`` times coefficients."""
        return _times(self.inverse, f) + self._weighed(self.sampling.gather(f))

    def _weighed(self, y: Array) -> ComplexArray:
        """``F Aᵀ R⁻¹`` times values of what was measured."""
        return self.sampling.scatter(np.where(self.sampling.seen, y / self.noise, 0.0))

    def mean(self, y: Array) -> Array:
        """The mean of the motion on the grid, (samples, n), given values (S, n)."""
        u = self._solved(self._weighed(y[None]))
        quiet = np.zeros((1, self.places.samples, y.shape[1]))
        return np.asarray(self._on_grid(u, y, quiet)[0])

    def draws(self, y: Array, count: int, rng: np.random.Generator) -> Array:
        """Draws of the motion on the grid, (count, samples, n), given values (S, n)."""
        M, n = self.sampling.length, y.shape[1]
        white = np.asarray(scipy.fft.rfft(rng.standard_normal((count, M, n)), axis=1))
        free = _times(self.root, white)
        noise = np.sqrt(self.noise) * rng.standard_normal((2, count, M, n))
        e = noise[0][:, : len(y)]
        misses = y[None] - self.sampling.gather(free) - e
        u = free + self._solved(self._weighed(misses))
        return self._on_grid(u, y, noise[1][:, : self.places.samples])

    def _on_grid(self, u: ComplexArray, y: Array, noise: Array) -> Array:
        """U and the noise: that of the samples where there are any."""
        seen, own = self.sampling.seen, noise.copy()
        cells = self.places.cells
        own[:, cells] = np.where(seen, y - self.sampling.gather(u), own[:, cells])
        whole = scipy.fft.irfft(u, n=self.sampling.length, axis=1)
        return np.asarray(whole[:, : self.places.samples] + own)


def _times(matrix: ComplexArray, f: ComplexArray) -> ComplexArray:
    """Matrices (K, n, n) times coefficients (d, K, n)."""
    return np.asarray(np.einsum("kab,dkb->dka", matrix, f, optimize=True))
