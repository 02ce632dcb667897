r"""Magnitudes of several rigid-body modes, which share the frequency zero.

Of p such modes the data show what their shapes span, with any basis :math:`d_1 … d_p` of it. Their
part of :math:`\sum_m v_m v_m^T` is :math:`\sum_{kl} S_{kl} d_k d_l^T` with a positive matrix S. In
its place stand single directions, each with a magnitude of its own: the :math:`d_k`, and
:math:`e_{kl} = (d_k + d_l)/\sqrt 2` for every pair,

.. math:: S = \sum_j s_j\, l_j l_j^T, \qquad e_j = \sum_k l_{jk} d_k ,

so that all relations of `prism.experiments.relations` hold as they are, with signs of s that are
free. The modes are at last :math:`v_k = \sum_l (S^{1/2})_{kl} d_l`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from prism._types import Array
from prism.experiments.base import OfLines
from prism.experiments.relations import Relation
from prism.uncertainty import Gaussian

__all__ = ["Spanned"]

_DIFFERENCE = 1e-6  # of differences, beside magnitudes and unit shapes


@dataclass(frozen=True)
class Spanned:
    """Modes, of which the first share the frequency zero, as single directions.

    Attributes
    ----------
    mixing : array (directions, modes)
        l of all modes; one row for each mode, then one for each pair of rigid-body modes.
    rigid : int
    """

    mixing: Array
    rigid: int

    @classmethod
    def of(cls, omega: Array) -> Spanned:
        """Modes of these frequencies, rigid-body modes first."""
        K, rigid = len(omega), int(np.sum(omega == 0))
        pairs = list(combinations(range(rigid), 2))
        L = np.vstack([np.eye(K), np.zeros((len(pairs), K))])
        for j, pair in enumerate(pairs):
            L[K + j, list(pair)] = np.sqrt(0.5)
        return cls(L, rigid)

    @property
    def size(self) -> int:
        """Number of directions."""
        return len(self.mixing)

    @property
    def modes(self) -> int:
        """Number of modes."""
        return int(self.mixing.shape[1])

    def matrix(self, s: Array) -> Array:
        """S of all modes, (modes, modes); diagonal but for rigid-body modes."""
        return np.asarray((self.mixing.T * s) @ self.mixing)

    def magnitudes(self, S: Array) -> Array:
        """The s of a matrix S."""
        s = np.zeros(self.size)
        s[: self.modes] = np.diag(S)
        for j, (k, m) in enumerate(combinations(range(self.rigid), 2), self.modes):
            s[j] = 2 * S[k, m]
            s[[k, m]] -= S[k, m]
        return s

    def positive(self, s: Array) -> bool:
        """Whether all modes have a positive magnitude."""
        return bool(np.linalg.eigvalsh(self.matrix(s))[0] > 0)

    def relations(self, known: OfLines, omega: Array, shapes: Array, s: Array) -> Relation:
        """Relations from what is known, with derivatives by modes, shapes and all s."""
        K, n = shapes.shape
        all_omega = np.append(omega, np.zeros(self.size - K))
        found = known.relations(all_omega, self.mixing @ shapes, s)
        by_shape = found.by_shape @ np.kron(self.mixing, np.eye(n))
        return replace(found, by_omega=found.by_omega[:, :K], by_shape=by_shape)

    def joint(self, omega: Array, shapes: Array, s: Array, covariance: Array) -> Gaussian:
        """Frequencies, shapes and squared magnitudes of the modes with their covariance.

        Parameters
        ----------
        omega : array (lines,)
        shapes : array (modes, channels)
        s : array (directions,)
        covariance : array
            Of all three.
        """
        K, n = shapes.shape
        values = {"omega": omega, "shapes": shapes, "s": s[:K]}
        if self.size == K:
            return Gaussian.of(values, covariance)
        N, p = len(omega), self.rigid
        own = np.r_[0:p, K : self.size]
        x = np.concatenate([shapes[:p].ravel(), s[own]])
        places = np.concatenate([np.arange(N, N + p * n), N + K * n + own])
        new = np.concatenate([np.arange(N, N + p * n), N + K * n + np.arange(p)])
        J = np.eye(N + K * n + K, len(covariance))
        J[new] = 0.0
        J[np.ix_(new, places)] = self._derivative(x, n)
        v = self._modes(x, n)
        values["shapes"] = np.vstack([v[: p * n].reshape(p, n), shapes[p:]])
        values["s"] = np.concatenate([v[p * n :], s[p:K]])
        return Gaussian.of(values, J @ covariance @ J.T)

    def _modes(self, x: Array, n: int) -> Array:
        """Unit shapes and squared magnitudes of rigid-body modes from directions and s."""
        p = self.rigid
        D, s = x[: p * n].reshape(p, n), np.zeros(self.size)
        s[np.r_[0:p, self.modes : self.size]] = x[p * n :]
        values, vectors = np.linalg.eigh(self.matrix(s)[:p, :p])
        v = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T @ D
        length = np.linalg.norm(v, axis=1)
        return np.concatenate([(v / length[:, None]).ravel(), length**2])

    def _derivative(self, x: Array, n: int) -> Array:
        columns = []
        for k in range(len(x)):
            step = np.zeros(len(x))
            step[k] = _DIFFERENCE * (
                1.0 if k < self.rigid * n else np.abs(x[self.rigid * n :]).max()
            )
            up, down = self._modes(x + step, n), self._modes(x - step, n)
            columns.append((up - down) / (2 * step[k]))
        return np.array(columns).T
