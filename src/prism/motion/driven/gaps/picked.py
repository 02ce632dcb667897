r"""What was not measured, given what was, for samples on an even grid.

With S the spectrum on an even, periodic grid that is somewhat longer than the record, F its Fourier
transform and A the sampling, what was measured is Gaussian with covariance

.. math:: C = A F^{-1} S F A^T, \qquad E[x | y] = F^{-1} S F A^T C^{-1} y,

and :math:`x = u + E[x | y - A u]` with u drawn from S is a draw of the whole motion given y.
Equations in C are solved by conjugate gradients, with :math:`A F^{-1} S^{-1} F A^T` in place of its
inverse: a product costs two Fourier transforms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.fft

from prism._types import Array, ComplexArray
from prism.motion.driven.gaps import _limits as limits
from prism.motion.driven.gaps.places import GridPlaces, Spectrum
from prism.motion.driven.gaps.sampling import Sampling, on_lines, sampling

__all__ = ["Picked"]


@dataclass(frozen=True, eq=False)
class Picked:
    """The motion of one trial, given what was measured of it.

    Attributes
    ----------
    places : GridPlaces
    sampling : Sampling
    values, vectors : arrays (K, n), (K, n, n)
        Of the spectrum at the lines of the longer grid, in units of the samples.
    """

    places: GridPlaces
    sampling: Sampling
    values: Array
    vectors: ComplexArray

    @classmethod
    def of(cls, places: GridPlaces, spectrum: Spectrum) -> Picked:
        """The motion of a spectrum.

        Parameters
        ----------
        places : GridPlaces
        spectrum : callable
            Two-sided spectral matrices (K, n, n) at angular frequencies (K,).
        """
        taken = sampling(places)
        values, vectors = np.linalg.eigh(on_lines(places, taken, spectrum))
        least = limits.FLOOR * values.max(axis=1, keepdims=True)
        return cls(places, taken, np.maximum(values, least), vectors)

    def _times(self, f: ComplexArray, exponent: float) -> ComplexArray:
        """A power of S times coefficients (d, K, n)."""
        low = np.einsum("kba,dkb->dka", self.vectors.conj(), f, optimize=True)
        low *= self.values**exponent
        return np.asarray(np.einsum("kab,dkb->dka", self.vectors, low, optimize=True))

    def _covariance(self, y: Array, exponent: float = 1.0) -> Array:
        """C times values, or what stands for its inverse."""
        out = self.sampling.gather(self._times(self.sampling.scatter(y), exponent))
        return np.where(self.sampling.seen, out, 0.0)

    def solved(self, right: Array) -> Array:
        r""":math:`C^{-1} y` of several y, (d, S, n), zero where nothing was measured."""

        def inner(a: Array, b: Array) -> Array:
            return np.asarray(np.einsum("dsn,dsn->d", a, b)[:, None, None])

        left, out = right.copy(), np.zeros_like(right)
        near = self._covariance(left, -1.0)
        along, size = near.copy(), inner(left, near)
        goal = limits.SOLVED_PICKED**2 * size
        for _ in range(limits.STEPS):
            turned = self._covariance(along)
            share = size / np.maximum(inner(along, turned), np.finfo(float).tiny)
            out += share * along
            left -= share * turned
            near = self._covariance(left, -1.0)
            after = inner(left, near)
            if np.all(after <= goal):
                break
            along = near + after / np.maximum(size, np.finfo(float).tiny) * along
            size = after
        return out

    def mean(self, y: Array) -> Array:
        """The mean of the motion on the grid, (samples, n), given values (S, n)."""
        return np.asarray(self._given(y[None])[0])

    def draws(self, y: Array, count: int, rng: np.random.Generator) -> Array:
        """Draws of the motion on the grid, (count, samples, n), given values (S, n)."""
        M, n = self.sampling.length, y.shape[1]
        noise = scipy.fft.rfft(rng.standard_normal((count, M, n)), axis=1)
        free = self._times(np.asarray(noise), 0.5)
        misses = y[None] - self.sampling.gather(free)
        whole = scipy.fft.irfft(free, n=M, axis=1)[:, : self.places.samples]
        return np.asarray(whole + self._given(misses))

    def _given(self, y: Array) -> Array:
        weights = self.solved(np.where(self.sampling.seen, y, 0.0))
        f = self._times(self.sampling.scatter(weights), 1.0)
        whole = scipy.fft.irfft(f, n=self.sampling.length, axis=1)
        return np.asarray(whole[:, : self.places.samples])
