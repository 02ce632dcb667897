r"""From the Fourier coefficients of an even, periodic grid to values at given places, and back.

.. math:: y_i = \frac1M \sum_k f_k\, e^{2πi k τ_i / M}, \qquad (A^T y)_k = \sum_i y_i\,
          e^{-2πi k τ_i / M}

GridPlaces on the grid are picked. Others are sums over neighbours on a finer grid with a kernel
whose transform is divided out: the Kaiser-Bessel kernel of the non-uniform Fourier transform
(Greengard and Lee, SIAM Review 46 (2004) 443, with another kernel).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.fft
import scipy.sparse
from scipy.special import i0

from prism._types import Array, ComplexArray, Mask
from prism.motion.driven.gaps import _limits as limits
from prism.motion.driven.gaps.places import GridPlaces, Spectrum

__all__ = ["Sampling", "odd_length", "on_lines", "sampling"]

Gather = Callable[[ComplexArray], Array]
Scatter = Callable[[Array], ComplexArray]


class Sampling(NamedTuple):
    """How values at the places of a trial follow from coefficients, and the transpose.

    Attributes
    ----------
    length : int
        M, odd.
    gather : callable
        Coefficients (d, M // 2 + 1, n) to values (d, S, n).
    scatter : callable
        Values (d, S, n) to coefficients.
    seen : array of bool (S, n)
        Which values were measured.
    """

    length: int
    gather: Gather
    scatter: Scatter
    seen: Mask


def odd_length(least: int) -> int:
    """The next odd number with small prime factors: an odd grid has no Nyquist line."""
    while True:
        if least % 2 and scipy.fft.next_fast_len(least, real=False) == least:
            return least
        least += 1


def sampling(places: GridPlaces) -> Sampling:
    """The sampling of a trial.

    Parameters
    ----------
    places : GridPlaces
    """
    M = odd_length(int(np.ceil((1 + limits.LONGER_BY) * places.samples)))
    both = _picked(places, M) if places.even else _interpolated(places, M)
    return Sampling(M, *both, places.seen)


def on_lines(places: GridPlaces, taken: Sampling, spectrum: Spectrum) -> ComplexArray:
    """Spectral matrices at the lines of the longer grid, in units of the samples, (K, n, n)."""
    lines = np.arange(taken.length // 2 + 1, dtype=float)
    omega = 2 * np.pi / (taken.length * places.step) * lines
    omega[0] = omega[1]
    whole = spectrum(omega) / places.step
    whole[0] = whole[0].real
    return np.asarray(0.5 * (whole + whole.conj().swapaxes(1, 2)))


def _picked(places: GridPlaces, M: int) -> tuple[Gather, Scatter]:
    cells = places.cells

    def gather(f: ComplexArray) -> Array:
        return np.asarray(scipy.fft.irfft(f, n=M, axis=1)[:, cells])

    def scatter(y: Array) -> ComplexArray:
        whole = np.zeros((len(y), M, y.shape[2]))
        whole[:, cells] = y
        return np.asarray(scipy.fft.rfft(whole, axis=1))

    return gather, scatter


def _interpolated(places: GridPlaces, M: int) -> tuple[Gather, Scatter]:
    G, half = limits.FINER * M, M // 2 + 1
    W = _weights(limits.FINER * places.at, G)
    back, over = W.T.tocsr(), 1 / _transform(np.arange(half) / G)[:, None]

    def gather(f: ComplexArray) -> Array:
        d, _, n = f.shape
        fine = np.zeros((d, G // 2 + 1, n), complex)
        fine[:, :half] = f * over
        values = limits.FINER * scipy.fft.irfft(fine, n=G, axis=1)
        flat = W @ values.transpose(1, 0, 2).reshape(G, d * n)
        return np.asarray(flat.reshape(-1, d, n).transpose(1, 0, 2))

    def scatter(y: Array) -> ComplexArray:
        d, S, n = y.shape
        flat = back @ y.transpose(1, 0, 2).reshape(S, d * n)
        fine = flat.reshape(G, d, n).transpose(1, 0, 2)
        return np.asarray(scipy.fft.rfft(fine, axis=1)[:, :half] * over)

    return gather, scatter


def _weights(at: Array, points: int) -> scipy.sparse.csr_matrix:
    """The kernel at the neighbours of places on a periodic grid, (S, points)."""
    width, shape = limits.KERNEL, limits.KERNEL_SHAPE * limits.KERNEL
    first = np.ceil(at - width / 2).astype(int)
    near = first[:, None] + np.arange(width)
    x = 2 * (near - at[:, None]) / width
    values = np.asarray(i0(shape * np.sqrt(np.maximum(1 - x**2, 0.0))) / i0(shape))
    rows = np.repeat(np.arange(len(at)), width)
    entries = (values.ravel(), (rows, (near % points).ravel()))
    return scipy.sparse.csr_matrix(entries, shape=(len(at), points))


def _transform(cycles: Array) -> Array:
    r"""Of the kernel: :math:`w \sinh\sqrt{β^2 - (πwξ)^2} / (I_0(β) \sqrt{β^2 - (πwξ)^2})`."""
    width, shape = limits.KERNEL, limits.KERNEL_SHAPE * limits.KERNEL
    root = np.sqrt(shape**2 - (np.pi * width * cycles) ** 2)
    return np.asarray(width * np.sinh(root) / (i0(shape) * root))
