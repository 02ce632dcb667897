r"""Least squares for the poles of a forced record, all amplitudes free: variable projection.

.. math:: y_{ra}(t) = b_{ra} + s_{ra} u + \sum_j \Big[ \sum_b C_{jab} (h_j * f_{rb})(t)
          + A_{raj} \operatorname{Re} e^{λ_j t} + B_{raj} \operatorname{Im} e^{λ_j t} \Big]
          + \text{noise}_a

The coefficients C are shared by the trials r, the free amplitudes and the background are not.
Given the poles :math:`λ_j = -δ_j + iω_j` everything is linear and drops out; Kaufman's
Gauss-Newton matrix of the rest is at the same time the Fisher information of the poles. A rigid
body (columns: double integral of the force) and a static compliance (the force itself) have no
pole. Nothing is assumed about reciprocity or passivity: that is for `_reciprocal` to impose.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.linalg

from prism._linalg import inverse_scaled
from prism._types import Array, Index, Mask
from prism.motion.forced.records import _limits as limits
from prism.motion.forced.records.columns import (
    ModeColumns,
    mode_columns,
    rigid_columns,
    static_columns,
)
from prism.motion.forced.records.data import ForcedData, ForcedTrial
from prism.search._limits import SMALLEST_GAP
from prism.search.descent import Step, Stop
from prism.search.noise import spare_of
from prism.search.projection import (
    CrowdedError,
    Curved,
    Valley,
    attempted,
    check_independent,
    shortening,
    unit_diagonal,
)
from prism.search.work import spend


@dataclass(frozen=True)
class Poles:
    """What is nonlinear in the model.

    Attributes
    ----------
    omega, decay : arrays (N,)
        ω_j and δ_j, ascending in ω.
    driven : array of bool (N,)
        Whether the force drives it; a line that only rings or hums is not driven.
    rigid, static : bool
        Whether there is a rigid body, and a static compliance.
    hold : {"zero", "first"}
    lossless : bool
        Keep all δ at zero.
    turned : bool
        Whether residues are complex, as where friction couples modes.
    """

    omega: Array
    decay: Array
    driven: Mask
    rigid: bool
    static: bool
    hold: str
    lossless: bool
    turned: bool = False

    def __len__(self) -> int:
        return len(self.omega)

    @property
    def shares(self) -> int:
        """Coefficients of all trials for each force and channel."""
        return (1 + self.turned) * int(self.driven.sum()) + self.rigid + self.static

    def picked(self, which: Index | Mask) -> Poles:
        """Some of the poles, in some order."""
        return replace(
            self, omega=self.omega[which], decay=self.decay[which], driven=self.driven[which]
        )

    def without(self, j: int) -> Poles:
        """All poles but one."""
        return self.picked(np.arange(len(self)) != j)

    def plus(self, omega: float, decay: float) -> Poles:
        """One driven pole more."""
        k = int(np.searchsorted(self.omega, omega))
        return replace(
            self,
            omega=np.insert(self.omega, k, omega),
            decay=np.insert(self.decay, k, 0.0 if self.lossless else decay),
            driven=np.insert(self.driven, k, True),
        )

    def merged(self, j: int) -> Poles:
        """One pole between j and the next in place of both."""
        pair, rest = slice(j, j + 2), self.without(j + 1)
        for one, all_of_them in ((rest.omega, self.omega), (rest.decay, self.decay)):
            one[j] = all_of_them[pair].mean()
        rest.driven[j] = self.driven[pair].any()
        return rest


@dataclass(frozen=True)
class PoleFit(Curved):
    """Poles with all amplitudes fitted.

    Attributes
    ----------
    places : Poles
    weights : array (channels,)
        ``1/σ²`` used in the cost.
    cost : float
        ``χ²``.
    rss : array (channels,)
    gradient, fisher : arrays (2N,), (2N, 2N)
        Half the negative gradient by (ω, δ) and the Gauss-Newton matrix.
    shared : array (channels, shared columns)
        C: for each driven pole, then rigid, then static, one per force; two where residues are
        complex, the real parts first.
    shared_std : array of the same shape
        Standard deviations of C at fixed poles.
    local : list of arrays (channels, 2 + 2N)
        Background and free amplitudes of each trial.
    residual : list of arrays (samples, channels)
    """

    places: Poles
    weights: Array
    cost: float
    rss: Array
    gradient: Array
    fisher: Array
    shared: Array
    shared_std: Array
    local: list[Array]
    residual: list[Array]


def spare(data: ForcedData, poles: Poles) -> Array:
    """Degrees of freedom of the residual of each channel."""
    linear = poles.shares * len(data.forces) + len(data.trials) * (2 + 2 * len(poles))
    return spare_of(data.counts, linear, len(poles) * (1 if poles.lossless else 2))


@dataclass(frozen=True)
class _Part:
    """Columns of one trial for one group of channels."""

    local: Array  # orthonormal basis Q of the local columns
    triangle: Array  # local columns = Q R
    shared: Array  # off the local columns
    overlap: Array  # Qᵀ shared columns
    modes: list[ModeColumns]
    seen: Array  # (samples, 1)


def _parts(data: ForcedData, poles: Poles) -> Iterator[tuple[Index, list[_Part]]]:
    """Columns of every trial, for each group of channels."""
    pairs = list(zip(poles.omega, poles.decay, strict=True))
    modes = [
        [mode_columns(float(w), float(d), trial.force, data.dt, poles.hold) for w, d in pairs]
        for trial in data.trials
    ]
    for group in data.groups:
        each = zip(data.trials, modes, strict=True)
        yield group, [_part(data, poles, trial, m, group) for trial, m in each]


def _part(
    data: ForcedData, poles: Poles, trial: ForcedTrial, modes: list[ModeColumns], group: Index
) -> _Part:
    kind = data.kinds[group[0]]
    seen = trial.seen[:, group[:1]].astype(float)
    local = np.hstack([trial.background, *(m.moving(kind)[0] for m in modes)])
    local = data.as_seen(local, group) * seen
    driven = [
        (m.turned if poles.turned else m.forced)(kind)[0]
        for m, yes in zip(modes, poles.driven, strict=True)
        if yes
    ]
    if poles.rigid:
        driven.append(rigid_columns(trial.force, data.dt, poles.hold, kind))
    if poles.static:
        driven.append(static_columns(trial.force, data.dt, kind))
    shared = data.as_seen(np.hstack([np.zeros((len(local), 0)), *driven]), group) * seen
    basis, triangle = scipy.linalg.qr(local, mode="economic", check_finite=False)
    scale = np.linalg.norm(local, axis=0)
    if np.abs(np.diag(triangle) / np.maximum(scale, 1e-300)).min() < limits.DEPENDENT_POLES:
        raise CrowdedError("poles coincide")
    overlap = basis.T @ shared
    return _Part(basis, triangle, shared - basis @ overlap, overlap, modes, seen)


def evaluate(data: ForcedData, poles: Poles, weights: Array) -> PoleFit:
    """Cost, gradient and Gauss-Newton matrix of the poles.

    Raises
    ------
    CrowdedError
        When the columns of the poles are linearly dependent in the arithmetic at hand.
    """
    N = len(poles)
    spend(_work(data, poles))
    rss, gradient, fisher = np.zeros(len(weights)), np.zeros(2 * N), np.zeros((2 * N, 2 * N))
    size = poles.shares * len(data.forces)
    shared, std = np.zeros((len(weights), size)), np.zeros((len(weights), size))
    local = [np.zeros((len(weights), 2 + 2 * N)) for _ in data.trials]
    residual = [np.zeros_like(trial.motion) for trial in data.trials]
    for group, parts in _parts(data, poles):
        inverse = _inverse_gram(parts)
        right = sum(
            p.shared.T @ t.motion[:, group] for p, t in zip(parts, data.trials, strict=True)
        )
        C = inverse @ right
        shared[group] = C.T
        std[group] = np.sqrt(np.diag(inverse)) / np.sqrt(weights[group])[:, None]
        jacobians = []
        for r, (p, t) in enumerate(zip(parts, data.trials, strict=True)):
            y = t.motion[:, group]
            inside = p.local.T @ y
            c = scipy.linalg.solve_triangular(p.triangle, inside - p.overlap @ C)
            rest = y - p.local @ inside - p.shared @ C
            local[r][group], residual[r][:, group] = c.T, rest
            rss[group] += (rest**2).sum(axis=0)
            jacobian = _jacobian(data, poles, p, group, C, c)
            gradient += np.einsum("a,mpa,ma->p", weights[group], jacobian, rest)
            jacobians.append(jacobian)
        fisher += _information(parts, jacobians, inverse, weights[group])
    cost = float(weights @ rss)
    return PoleFit(poles, weights, cost, rss, gradient, fisher, shared, std, local, residual)


def _work(data: ForcedData, poles: Poles) -> float:
    """Of one evaluation; measured from 2000 samples of one channel to 30000 of three."""
    N, forces = len(poles), (1 + poles.turned) * len(data.forces)
    columns = len(data.groups) * (2 + 2 * N + N * forces)
    slopes = 2 * N * len(data.motions) * (2 + 2 * N)
    each = limits.COLUMN_WORK * columns + limits.SLOPE_WORK * slopes
    each += limits.DRIVEN_WORK * N * len(data.forces)
    return limits.EVALUATION_WORK + each * sum(len(trial.force) for trial in data.trials)


def _inverse_gram(parts: list[_Part]) -> Array:
    """Inverse of the Gram matrix of the shared columns off the local ones."""
    gram = np.asarray(sum(p.shared.T @ p.shared for p in parts))
    if not len(gram):
        return gram
    unit, scale = unit_diagonal(gram)
    root = check_independent(unit, limits.DEPENDENT_POLES)
    half = scipy.linalg.solve_triangular(root, np.diag(scale), lower=True)
    return np.asarray(half.T @ half)


def _jacobian(
    data: ForcedData, poles: Poles, part: _Part, group: Index, C: Array, c: Array
) -> Array:
    """Derivatives of the model by (ω, δ), off the local columns, (samples, 2N, channels)."""
    kind = data.kinds[group[0]]
    N, B = len(poles), (1 + poles.turned) * len(data.forces)
    out = np.zeros((len(part.seen), 2 * N, C.shape[1]))
    at = 0
    for j, mode in enumerate(part.modes):
        free = mode.moving(kind)[1:]
        for half in range(2):
            out[:, j + half * N] = free[half] @ c[2 + 2 * j : 4 + 2 * j]
        if poles.driven[j]:
            forced = (mode.turned if poles.turned else mode.forced)(kind)[1:]
            for half in range(2):
                out[:, j + half * N] += forced[half] @ C[at : at + B]
            at += B
    flat = data.as_seen(out.reshape(len(out), -1), group) * part.seen
    flat -= part.local @ (part.local.T @ flat)
    return flat.reshape(out.shape)


def _information(
    parts: list[_Part], jacobians: list[Array], inverse: Array, weights: Array
) -> Array:
    """Gauss-Newton matrix of the poles with all amplitudes unknown (Schur complement)."""
    P = jacobians[0].shape[1]
    out = np.zeros((P, P))
    for a, weight in enumerate(weights):
        own = sum(J[:, :, a].T @ J[:, :, a] for J in jacobians)
        pairs = zip(parts, jacobians, strict=True)
        cross = np.asarray(sum(p.shared.T @ J[:, :, a] for p, J in pairs))
        out += weight * (own - cross.T @ inverse @ cross)
    return out


def joint_covariance(data: ForcedData, fit: PoleFit) -> Array:
    r"""Of (ω, δ, C of each channel in turn); zero of a decay that is held at zero.

    The amplitudes follow the poles, :math:`dC_a = -G^{-1} X^T J_a\,d(ω, δ)`, and have errors of
    their own, :math:`σ_a^2 G^{-1}`, with the columns X, their Gram matrix G and the derivatives
    :math:`J_a` of the motion of a channel by the poles.
    """
    poles, N = fit.places, len(fit.places)
    channels, size = fit.shared.shape
    keep = np.concatenate([np.ones(N, bool), poles.decay > 0])
    own = np.zeros((2 * N, 2 * N))
    own[np.ix_(keep, keep)] = inverse_scaled(fit.fisher[np.ix_(keep, keep)])
    follow, apart = np.zeros((channels, size, 2 * N)), np.zeros((channels * size,) * 2)
    for group, parts in _parts(data, poles):
        inverse = _inverse_gram(parts)
        for r, part in enumerate(parts):
            C, c = fit.shared[group].T, fit.local[r][group].T
            jacobian = _jacobian(data, poles, part, group, C, c)
            follow[group] -= np.einsum("cs,ms,mpa->acp", inverse, part.shared, jacobian)
        for a in group:
            cells = slice(a * size, (a + 1) * size)
            apart[cells, cells] = inverse / fit.weights[a]
    T = np.vstack([np.eye(2 * N), follow.reshape(-1, 2 * N)])
    out = T @ own @ T.T
    out[2 * N :, 2 * N :] += apart
    return np.asarray(out)


def refine(
    data: ForcedData, fit: PoleFit, *, tolerance: float = 1e-2, hopeless: float = np.inf
) -> PoleFit:
    """Levenberg-Marquardt on the variable-projection cost, all poles at once.

    Parameters
    ----------
    tolerance : float
        Stop when a full step would lower ``χ²`` by less than this.
    hopeless : float
        Stop as soon as three times the predicted gain would not bring ``χ²`` below this.
    """
    stop = Stop(
        limits.POLE_STEPS,
        tolerance,
        hopeless,
        rounding=limits.COST_ROUNDING,
        settled=limits.POLES_SETTLED * tolerance,
    )
    return Valley(partial(_after, data), _free).bottom(fit, stop)


def _free(fit: PoleFit) -> Mask:
    """All that may move; a decay at zero that wants to be negative stays there."""
    decay = fit.places.decay
    held = (decay <= 0) & (fit.gradient[len(decay) :] < 0) | fit.places.lossless
    return np.concatenate([np.ones(len(decay), bool), ~held])


def pole_width(data: ForcedData, decay: Array) -> Array:
    """How far a pole may move in one step."""
    return 0.35 * data.resolution + 0.5 * decay


def _after(data: ForcedData, fit: PoleFit, step: Step) -> PoleFit | None:
    """Fit after a step of bounded length, or None where poles run into each other."""
    poles, N = fit.places, len(fit.places)
    delta = step.delta * shortening(step.delta, pole_width(data, poles.decay))
    omega = np.clip(poles.omega + delta[:N], *data.band)
    decay = np.clip(poles.decay + delta[N:], 0.0, limits.STRONGEST_DECAY * omega)
    moved = replace(poles, omega=omega, decay=decay).picked(np.argsort(omega))
    apart = np.diff(moved.omega) + np.abs(np.diff(moved.decay))
    if apart.min(initial=np.inf) < SMALLEST_GAP * data.resolution:
        return None
    return attempted(evaluate, data, moved, fit.weights)
