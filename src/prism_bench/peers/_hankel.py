"""Block Hankel matrices of any number of trials, multiplied without being formed."""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.sparse.linalg import LinearOperator, svds

from prism._types import Array, ComplexArray
from prism_bench.peers.peer import CannotAnswer

__all__ = ["Hankel", "leading"]


class Hankel:
    r""":math:`H_{(l, c), (r, j)} = x^{(r)}_c(j + l)`: lags and channels by trials and starts.

    Parameters
    ----------
    trials : sequence of arrays (samples, channels)
    lags : int
        Number of lags L; each trial of N samples has N - L + 1 starts.
    """

    def __init__(self, trials: tuple[Array, ...], lags: int) -> None:
        self.lags, self.channels = lags, int(trials[0].shape[1])
        self.starts = [len(trial) - lags + 1 for trial in trials]
        if lags < 1 or min(self.starts) < 1:
            raise CannotAnswer("the record is too short for this number of modes.")
        self._size = next_fast_len(max(len(trial) for trial in trials), real=True)
        padded = np.zeros((len(trials), self.channels, self._size))
        for k, trial in enumerate(trials):
            padded[k, :, : len(trial)] = trial.T
        self._transform: ComplexArray = rfft(padded, axis=-1)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows (lags · channels, lag by lag) and columns (starts, trial by trial)."""
        return self.lags * self.channels, sum(self.starts)

    def times(self, vector: Array) -> Array:
        """H v."""
        pieces = np.split(np.ravel(vector), np.cumsum(self.starts)[:-1])
        padded = np.zeros((len(pieces), 1, self._size))
        for k, piece in enumerate(pieces):
            padded[k, 0, : len(piece)] = piece
        product = (self._transform * np.conj(rfft(padded, axis=-1))).sum(axis=0)
        return np.asarray(irfft(product, self._size, axis=-1)[:, : self.lags].T.ravel())

    def transposed_times(self, vector: Array) -> Array:
        """Hᵀ u."""
        padded = np.zeros((self.channels, self._size))
        padded[:, : self.lags] = np.ravel(vector).reshape(self.lags, self.channels).T
        product = (self._transform * np.conj(rfft(padded, axis=-1))).sum(axis=1)
        whole = irfft(product, self._size, axis=-1)
        return np.concatenate([row[:n] for row, n in zip(whole, self.starts, strict=True)])

    def operator(self) -> LinearOperator:
        """As scipy takes it."""
        return LinearOperator(
            self.shape, matvec=self.times, rmatvec=self.transposed_times, dtype=float
        )


def leading(operator: LinearOperator, rank: int) -> tuple[Array, Array, Array]:
    """U, σ (descending) and V of the largest singular values.

    Parameters
    ----------
    operator : LinearOperator
    rank : int
    """
    if rank >= min(operator.shape) - 1:
        raise CannotAnswer("the record is too short for this number of modes.")
    start = np.random.default_rng(0).standard_normal(min(operator.shape))
    if not np.any(operator.matvec(np.ones(operator.shape[1]))):
        raise CannotAnswer("there is no motion.")
    U, s, Vt = svds(operator, k=rank, v0=start, random_state=0)
    order = np.argsort(s)[::-1]
    return np.asarray(U[:, order]), np.asarray(s[order]), np.asarray(Vt[order].T)
