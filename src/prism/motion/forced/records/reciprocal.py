r"""The joint fit of a forced record with reciprocal, passive modes.

.. math:: x_{ra}(t) = \sum_k v_{ka} \Big[ \sum_b v_{k,p(b)} (h_k * f_{rb})(t)
          + α_{rk} \operatorname{Re} e^{λ_k t} + β_{rk} \operatorname{Im} e^{λ_k t} \Big]
          + \text{background}

Every term has one real shape v with which it is driven and seen (THEORY (1)), so that the residue
:math:`v v^T` has rank one and is positive. The terms are oscillating modes, a rigid body, and
static ones, whose :math:`\sum u u^T` is the compliance E: positive semidefinite, too. What is
fitted as well but is no such term (offset, drift, lines the force does not drive) is projected
out. Gauss-Newton on all parameters; the free amplitudes of each trial are eliminated by a Schur
complement, so that the cost grows linearly with the trials.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import scipy.linalg

from prism._linalg import inverse_scaled
from prism._types import Array, Index, Mask
from prism.motion.forced.records import _limits as limits
from prism.motion.forced.records.columns import mode_columns, rigid_columns, static_columns
from prism.motion.forced.records.data import ForcedData, ForcedTrial
from prism.motion.forced.records.pole_fit import Poles, pole_width
from prism.search.descent import Marquardt, Step, Stop, descend
from prism.search.noise import noise_weights, spare_of
from prism.search.projection import Curved, Valley, shortening

_CONTROL = Marquardt(1e-6, least=1e-3, floor=1e-8, rest=1e-9)


@dataclass(frozen=True)
class Modal:
    """Reciprocal modes and their free motion.

    Attributes
    ----------
    omega, decay : arrays (N,)
        Poles of the oscillating modes.
    shapes : array (K, channels)
        v of the oscillating modes, then of the rigid bodies, then of the static terms.
    rigid : int
        How many rigid-body modes there are.
    free : list of arrays (N, 2)
        α, β of each trial.
    hold : {"zero", "first"}
    """

    omega: Array
    decay: Array
    shapes: Array
    rigid: int
    free: list[Array]
    hold: str

    @property
    def count(self) -> int:
        """Number of oscillating modes."""
        return len(self.omega)

    @property
    def rotations(self) -> Array:
        """Changes of (ω, δ, shapes) that turn rigid-body modes into each other and show nowhere.

        An array (parameters, pairs of rigid-body modes).
        """
        pairs = list(combinations(range(self.count, self.count + self.rigid), 2))
        out = np.zeros((len(pairs), 2 * self.count + self.shapes.size))
        for row, (k, m) in zip(out, pairs, strict=True):
            turned = row[2 * self.count :].reshape(self.shapes.shape)
            turned[k], turned[m] = self.shapes[m], -self.shapes[k]
        return out.T

    def without(self, k: int) -> Modal:
        """All terms but one."""
        shapes = np.delete(self.shapes, k, axis=0)
        if k >= self.count:
            return replace(self, shapes=shapes, rigid=self.rigid - (k < self.count + self.rigid))
        return replace(
            self,
            omega=np.delete(self.omega, k),
            decay=np.delete(self.decay, k),
            shapes=shapes,
            free=[np.delete(free, k, axis=0) for free in self.free],
        )


@dataclass(frozen=True)
class ModalFit(Curved):
    """Modes at some parameters, with the normal equations there.

    Attributes
    ----------
    modal : Modal
    weights, rss : arrays (channels,)
    cost : float
    normal : list of (matrix, right-hand side)
        Normal equations of each trial in (ω, δ, shapes, free amplitudes of the trial).
    """

    modal: Modal
    weights: Array
    rss: Array
    cost: float
    normal: list[tuple[Array, Array]]

    @property
    def size(self) -> int:
        """Number of shared parameters."""
        return 2 * self.modal.count + self.modal.shapes.size

    def curved(self, damping: float = 0.0) -> tuple[Array, Array]:
        """Normal matrix and gradient of the shared parameters, free amplitudes eliminated."""
        P = self.size
        matrix, gradient = np.zeros((P, P)), np.zeros(P)
        for G, g in self.normal:
            solved = np.linalg.solve(
                _damped(G[P:, P:], damping), np.column_stack([G[P:, :P], g[P:]])
            )
            matrix += G[:P, :P] - G[:P, P:] @ solved[:, :P]
            gradient += g[:P] - G[:P, P:] @ solved[:, P]
        return matrix, gradient

    def covariance(self, held: Index) -> Array:
        """Of (ω, δ, shapes); zero for what is held, and along what changes no motion."""
        keep = np.setdiff1d(np.arange(self.size), held)
        out, part = np.zeros((self.size, self.size)), self.curved()[0][np.ix_(keep, keep)]
        out[np.ix_(keep, keep)] = _inverse_across(part, self.modal.rotations[keep])
        return out


def _inverse_across(matrix: Array, directions: Array) -> Array:
    """Inverse of an information matrix among all that is orthogonal to some directions."""
    if not directions.shape[1]:
        return inverse_scaled(matrix)
    scale = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    across = scipy.linalg.null_space((scale[:, None] * directions).T)
    inner = inverse_scaled(across.T @ (matrix / np.outer(scale, scale)) @ across)
    return np.asarray(across @ inner @ across.T / np.outer(scale, scale))


def _damped(matrix: Array, damping: float) -> Array:
    diagonal = np.diag(matrix)
    return matrix + np.diag((damping + limits.MODES_RIDGE) * diagonal + 1e-300)


class Reciprocal:
    """The record, with all that is not a reciprocal mode projected out.

    Parameters
    ----------
    data : ForcedData
    nuisance : Poles
        Poles held where they are, with free amplitudes: those that are not ``driven`` have no
        force columns.
    """

    def __init__(self, data: ForcedData, nuisance: Poles) -> None:
        self.data = data
        self.nuisance = nuisance
        self.bases = [[self._basis(t, group) for group in data.groups] for t in data.trials]
        self.rest = [
            [
                self.off(basis, t.motion[:, group])
                for basis, group in zip(b, data.groups, strict=True)
            ]
            for t, b in zip(data.trials, self.bases, strict=True)
        ]

    def nuisance_columns(self, trial: ForcedTrial, kind: int) -> Array:
        """Offset, drift and the columns of the nuisance poles."""
        out = [trial.background]
        poles = self.nuisance
        for omega, decay, driven in zip(poles.omega, poles.decay, poles.driven, strict=True):
            mode = mode_columns(omega, decay, trial.force, self.data.dt, poles.hold)
            out.append(mode.moving(kind)[0])
            if driven:
                out.append(mode.forced(kind)[0])
        return np.hstack(out)

    def spare(self, modal: Modal, lossless: bool) -> Array:
        """Degrees of freedom of the residual of each channel."""
        data, poles = self.data, self.nuisance
        each = 2 + 2 * len(poles) + int(poles.driven.sum()) * len(data.forces)
        own = modal.count * (1 if lossless else 2) + modal.shapes.size
        own += 2 * modal.count * len(data.trials)
        return spare_of(data.counts, len(data.trials) * each, own)

    def _basis(self, trial: ForcedTrial, group: Index) -> Array:
        seen = trial.seen[:, group[:1]]
        local = self.nuisance_columns(trial, self.data.kinds[group[0]])
        local = self.data.as_seen(local, group) * seen
        return np.asarray(scipy.linalg.qr(local, mode="economic", check_finite=False)[0])

    @staticmethod
    def off(basis: Array, values: Array) -> Array:
        """Values without what is projected out."""
        return np.asarray(values - basis @ (basis.T @ values))

    # -- the model and its derivatives ---------------------------------------------------------

    def base(self, modal: Modal, r: int, kind: int) -> tuple[Array, Array]:
        """Columns of one trial: sum of each term, forces of each term, by ω, by δ, free motion.

        Returns
        -------
        sums : array (samples, K)
            What each term contributes in units of its shape.
        others : array (samples, K·B + 4N)
        """
        trial, data = self.data.trials[r], self.data
        drive = modal.shapes[:, data.ports]
        sums, forced, by_omega, by_decay, free = [], [], [], [], []
        for j in range(modal.count):
            mode = mode_columns(modal.omega[j], modal.decay[j], trial.force, data.dt, modal.hold)
            X, M = mode.forced(kind), mode.moving(kind)
            own = [x @ drive[j] + m @ modal.free[r][j] for x, m in zip(X, M, strict=True)]
            sums.append(own[0])
            by_omega.append(own[1])
            by_decay.append(own[2])
            forced.append(X[0])
            free.append(M[0])
        for k in range(modal.count, len(modal.shapes)):
            if k < modal.count + modal.rigid:
                X0 = rigid_columns(trial.force, data.dt, modal.hold, kind)
            else:
                X0 = static_columns(trial.force, data.dt, kind)
            sums.append(X0 @ drive[k])
            forced.append(X0)
        single = [
            np.stack(c, axis=1) if c else np.zeros((len(trial.force), 0))
            for c in (sums, by_omega, by_decay)
        ]
        return single[0], np.hstack([*forced, single[1], single[2], *free])

    def _maps(self, modal: Modal, a: int) -> Array:
        """Jacobian of channel a as combinations of the base columns, (base, parameters)."""
        K, N, n, B = len(modal.shapes), modal.count, modal.shapes.shape[1], len(self.data.forces)
        P = 2 * N + K * n
        out = np.zeros((K + K * B + 4 * N, P + 2 * N))
        v = modal.shapes[:, a]
        at = K + K * B
        for k in range(K):
            out[k, 2 * N + k * n + a] += 1.0
            for b, port in enumerate(self.data.ports):
                out[K + k * B + b, 2 * N + k * n + port] += v[k]
        for j in range(N):
            out[at + j, j] = v[j]
            out[at + N + j, N + j] = v[j]
            for half in range(2):
                out[at + 2 * N + 2 * j + half, P + 2 * j + half] = v[j]
        return out

    def evaluate(self, modal: Modal, weights: Array) -> ModalFit:
        """Cost and normal equations at some parameters."""
        rss = np.zeros(len(weights))
        normal = []
        maps = [self._maps(modal, a) for a in range(len(weights))]
        for r, trial in enumerate(self.data.trials):
            size = maps[0].shape[1]
            G, g = np.zeros((size, size)), np.zeros(size)
            for i, group in enumerate(self.data.groups):
                columns = np.hstack(self.base(modal, r, self.data.kinds[group[0]]))
                columns = self.data.as_seen(columns, group) * trial.seen[:, group[:1]]
                columns = self.off(self.bases[r][i], columns)
                K = len(modal.shapes)
                rest = self.rest[r][i] - columns[:, :K] @ modal.shapes[:, group]
                gram, right = columns.T @ columns, columns.T @ rest
                rss[group] += (rest**2).sum(axis=0)
                for c, a in enumerate(group):
                    G += weights[a] * maps[a].T @ gram @ maps[a]
                    g += weights[a] * maps[a].T @ right[:, c]
            normal.append((G, g))
        return ModalFit(modal, weights, rss, float(weights @ rss), normal)

    # -- the fit -------------------------------------------------------------------------------

    def free(self, fit: ModalFit, lossless: bool) -> Mask:
        """All that may move; a decay at zero that wants to be negative stays there."""
        N, out = fit.modal.count, np.ones(fit.size, bool)
        falling = lossless or fit.curved()[1][N : 2 * N] < 0
        out[N : 2 * N] = ~(falling & (lossless | (fit.modal.decay <= 0)))
        return out

    def refine(
        self, fit: ModalFit, *, lossless: bool, tolerance: float = 1e-6, max_steps: int = 40
    ) -> ModalFit:
        """Levenberg-Marquardt on all parameters."""
        stop = Stop(
            max_steps,
            tolerance,
            rounding=limits.COST_ROUNDING,
            settled=limits.MODES_SETTLED * tolerance,
        )
        valley = Valley(
            self._after,
            lambda at: self.free(at, lossless),
            limits.MODES_RIDGE,
            limits.LEAST_CURVATURE,
        )
        return descend(valley, fit, stop, _CONTROL).point

    def converged(self, modal: Modal, weights: Array, floor: Array, lossless: bool) -> ModalFit:
        """Refine with the noise levels of the fit itself."""
        fit = self.evaluate(modal, weights)
        for _ in range(4):
            fit = self.refine(fit, lossless=lossless)
            new = noise_weights(fit.rss, self.spare(fit.modal, lossless), floor)
            change = np.abs(np.log(new / fit.weights)).max()
            fit = self.evaluate(fit.modal, new)
            if change < limits.LEVELS_SETTLED or len(new) == 1:
                break
        return fit

    def _after(self, fit: ModalFit, step: Step) -> ModalFit:
        """The fit after a step of bounded length; the free amplitudes follow."""
        modal, N, P = fit.modal, fit.modal.count, fit.size
        part = shortening(step.delta[: 2 * N], pole_width(self.data, modal.decay)) if N else 1.0
        by_omega, by_decay = part * step.delta[: 2 * N].reshape(2, N)
        free = []
        for (G, g), now in zip(fit.normal, modal.free, strict=True):
            right = g[P:] - G[P:, :P] @ step.delta
            inner = np.linalg.solve(_damped(G[P:, P:], step.damping), right)
            free.append(now + part * inner.reshape(now.shape))
        omega = np.clip(modal.omega + by_omega, *self.data.band)
        decay = np.clip(modal.decay + by_decay, 0.0, limits.STRONGEST_DECAY * omega)
        shapes = modal.shapes + part * step.delta[2 * N :].reshape(modal.shapes.shape)
        moved = replace(modal, omega=omega, decay=decay, shapes=shapes, free=free)
        return self.evaluate(moved, fit.weights)

    def output(self, modal: Modal) -> list[Array]:
        """Motion of the model, what was projected out included, at all samples."""
        out = []
        for r, trial in enumerate(self.data.trials):
            values = np.zeros_like(trial.motion)
            for group in self.data.groups:
                modes = self.base(modal, r, self.data.kinds[group[0]])[0]
                values[:, group] = modes @ modal.shapes[:, group]
            out.append(self.with_background(values, r))
        return out

    def with_background(self, modes: Array, r: int) -> Array:
        """Motion of the modes in one trial, and all that is projected out."""
        trial, values = self.data.trials[r], modes.copy()
        for group in self.data.groups:
            seen = trial.seen[:, group[0]]
            local = self.nuisance_columns(trial, self.data.kinds[group[0]])
            rest = (trial.motion[:, group] - modes[:, group])[seen]
            c = np.linalg.lstsq(local[seen], rest, rcond=None)[0]
            values[:, group] += local @ c
        return values
