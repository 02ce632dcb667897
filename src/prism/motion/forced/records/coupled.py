r"""The joint fit of a forced record whose modes share friction.

.. math:: x_{ra}(t) = \sum_k \operatorname{Re} ψ_{ka} \Big[ \sum_b ψ_{k,p(b)} z_{krb}(t)
          + γ_{rk} e^{λ_k t} \Big] + \text{rigid, static and background},\qquad z' = λ z + f

over the complex modes of :math:`V^T (s^2 + Cs + Λ)^{-1} V` with :math:`C = L L^T \succeq 0`, which
is passive whatever the parameters. The poles are complex and so are the shapes; everything a mode
does is a combination of the samples z, their derivatives by λ, and the same of :math:`e^{λt}`:
few columns serve all channels and all parameters. The free amplitudes γ of each trial are linear
and drop out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array, Index
from prism.motion.forced.records import _limits as limits
from prism.motion.forced.records.columns import mode_columns, rigid_columns, static_columns
from prism.motion.forced.records.complex_modes import ComplexModes
from prism.motion.forced.records.data import ForcedData
from prism.motion.forced.records.reciprocal import Reciprocal
from prism.motion.forced.response.friction import FrictionPoint
from prism.search.descent import Marquardt, Step, Stop, damped_solution, descend
from prism.search.noise import spare_of

_CONTROL = Marquardt(1e-6, least=1e-3, floor=1e-8, rest=1e-9)
_NONE = np.zeros(0, int)


@dataclass(frozen=True)
class SharedModal:
    """Modes with friction between them, and terms without a pole.

    Attributes
    ----------
    point : FrictionPoint
        In the units of the record.
    shapes : array (terms, channels)
        Of the rigid body, then of the static terms.
    rigid : int
        0 or 1.
    hold : {"zero", "first"}
    """

    point: FrictionPoint
    shapes: Array
    rigid: int
    hold: str

    @property
    def size(self) -> int:
        """Number of parameters, with each entry of the friction."""
        return self.point.size + self.shapes.size

    @property
    def free_count(self) -> int:
        """Number of parameters that the data decide."""
        return self.point.free_count + self.shapes.size

    def moved(self, step: Array) -> SharedModal:
        """After a step in lam, V and C, then in the shapes; shorter where it would leave C > 0."""
        point, N, P = self.point, len(self.point), self.point.size
        change = np.zeros((N, N))
        change[point.cells] = step[point.losses : P]
        change = change + np.tril(change, -1).T
        inner = np.linalg.solve(point.L, np.linalg.solve(point.L, change).T)
        least = float(np.linalg.eigvalsh(inner)[0])
        part = min(1.0, limits.TO_THE_BOUND / max(-least, 1e-300))
        most = float(np.abs(step[:N] / point.lam).max())
        part = min(part, limits.FREQUENCY_STEP / max(most, 1e-300))
        moved = replace(
            point,
            lam=np.clip(point.lam + part * step[:N], 1e-6 * point.lam, point.far),
            V=point.V + part * step[N : point.losses].reshape(point.V.shape),
            L=point.L @ np.linalg.cholesky(np.eye(N) + part * inner),
        )
        shapes = self.shapes + part * step[P:].reshape(self.shapes.shape)
        return replace(self, point=moved, shapes=shapes)


@dataclass(frozen=True)
class SharedFit:
    """A fit at some parameters.

    Attributes
    ----------
    modal : SharedModal
    weights, rss : arrays (channels,)
    cost : float
    gradient, fisher : arrays
        Half the negative gradient and the Gauss-Newton matrix by lam, V, the entries of C, and
        the shapes of the other terms; free amplitudes eliminated.
    free : list of arrays (2K,)
        Real and imaginary parts of γ in each trial.
    """

    modal: SharedModal
    weights: Array
    rss: Array
    cost: float
    gradient: Array
    fisher: Array
    free: list[Array]

    def inside(self, barrier: float) -> tuple[Array, Array]:
        r"""Gauss-Newton matrix and half the negative gradient of :math:`χ^2 - b \log\det C`.

        .. math:: d \log\det C = \operatorname{tr} C^{-1} dC,\qquad
                  d^2 \log\det C = -\operatorname{tr} C^{-1} dC\, C^{-1} dC
        """
        point = self.modal.point
        i, j = point.cells
        half = np.linalg.inv(point.L)
        Y = half.T @ half
        twice = np.where(i == j, 1.0, 2.0)
        pairs = Y[np.ix_(i, i)] * Y[np.ix_(j, j)] + Y[np.ix_(i, j)] * Y[np.ix_(j, i)]
        gradient, matrix = self.gradient.copy(), self.fisher.copy()
        cells = slice(point.losses, point.size)
        gradient[cells] += 0.5 * barrier * twice * Y[i, j]
        matrix[cells, cells] += 0.25 * barrier * pairs * np.outer(twice, twice)
        return matrix, gradient

    def covariance(self, held: Index = _NONE) -> Array:
        """By lam, V, C and shapes; what changes no motion, or is held, has no error."""
        keep = np.append(self.modal.point.free(), np.ones(self.modal.shapes.size, bool))
        keep[held] = False
        part = self.fisher[np.ix_(keep, keep)]
        scale = np.sqrt(np.maximum(np.diag(part), 1e-300))
        inverse = np.linalg.pinv(
            part / np.outer(scale, scale), rcond=limits.NO_INFORMATION, hermitian=True
        )
        out = np.zeros_like(self.fisher)
        out[np.ix_(keep, keep)] = inverse / np.outer(scale, scale)
        return out


@dataclass(frozen=True)
class _Combinations:
    """Coefficients of the columns of `SharedRecord.columns` for one channel.

    Attributes
    ----------
    model : array (columns,)
        The motion without its free part.
    by_free : array (columns, 2K)
    slopes : array (columns, P)
        Derivatives without those of the free part.
    """

    model: Array
    by_free: Array
    slopes: Array


class SharedRecord:
    """Modes with friction in a record, as a landscape.

    Parameters
    ----------
    plain : Reciprocal
        The record with all projected out that is no reciprocal mode.
    """

    def __init__(self, plain: Reciprocal) -> None:
        self.plain = plain
        self.data: ForcedData = plain.data

    def spare(self, modal: SharedModal) -> Array:
        """Degrees of freedom of the residual of each channel."""
        data, poles = self.data, self.plain.nuisance
        each = 2 + 2 * len(poles) + int(poles.driven.sum()) * len(data.forces)
        own = modal.free_count + 2 * len(modal.point) * len(data.trials)
        return spare_of(data.counts, len(data.trials) * each, own)

    # -- columns and what is made of them ------------------------------------------------------

    def columns(self, modes: ComplexModes, modal: SharedModal, r: int, kind: int) -> Array:
        """Real parts, then imaginary parts, of z, dz/dλ, free motion and its derivative; terms.

        Of each mode K: forces, forces, one and one; of each other term, and of the force itself
        (in accelerations), forces.
        """
        data, force = self.data, self.data.trials[r].force
        parts = []
        for s in modes.pole:
            mode = mode_columns(s.imag, -s.real, force, data.dt, modal.hold)
            free = mode.of_kind(kind, mode.free[:, None], mode.d_free[:, None])
            parts += [*mode.of_kind(kind, mode.driven, mode.d_driven), *free]
        moving = np.hstack(parts)
        rigid = [rigid_columns(force, data.dt, modal.hold, kind)] * modal.rigid
        more = [static_columns(force, data.dt, kind)] * (len(modal.shapes) - modal.rigid)
        direct = force if kind == 2 else 0 * force
        return np.hstack([moving.real, moving.imag, *rigid, *more, direct])

    def _combinations(self, modes: ComplexModes, modal: SharedModal, a: int) -> _Combinations:
        """How channel a is made of the columns."""
        point, ports = modal.point, self.data.ports
        K, P, B = len(modes.pole), point.size, len(ports)
        w, psi = modes.weight, modes.shape
        mine, drive = (w * psi[:, a])[:, None], psi[:, ports]
        q = np.zeros((K, 2 * B + 2), complex)
        q[:, :B] = mine * drive
        by_free = np.zeros((K, 2 * B + 2, K), complex)
        by_free[range(K), 2 * B, range(K)] = mine[:, 0]
        slope = np.zeros((K, 2 * B + 2, P), complex)
        d_mine = (w[:, None] * modes.d_shape[:, :, a])[:, None, :]
        slope[:, :B] = d_mine * drive[:, :, None]
        slope[:, :B] += mine[:, :, None] * modes.d_shape[:, :, ports].transpose(0, 2, 1)
        slope[:, B : 2 * B] = q[:, :B, None] * modes.d_pole[:, None, :]
        extra, d_extra = self._terms(modal, a)
        flat = slope.reshape(-1, P)
        both = by_free.reshape(-1, K)
        turned = np.stack([both, 1j * both], axis=2).reshape(len(both), -1)
        rest = len(extra)
        return _Combinations(
            np.concatenate([q.real.ravel(), -q.imag.ravel(), extra]),
            np.vstack([turned.real, -turned.imag, np.zeros((rest, 2 * K))]),
            np.vstack(
                [
                    np.hstack([flat.real, np.zeros((len(flat), modal.shapes.size))]),
                    np.hstack([-flat.imag, np.zeros((len(flat), modal.shapes.size))]),
                    d_extra,
                ]
            ),
        )

    def _terms(self, modal: SharedModal, a: int) -> tuple[Array, Array]:
        """Coefficients of the terms without a pole and of the direct force, and derivatives."""
        point, ports = modal.point, self.data.ports
        (T, n), B, N = modal.shapes.shape, len(ports), len(point)
        value = np.concatenate(
            [
                (modal.shapes[:, [a]] * modal.shapes[:, ports]).ravel(),
                point.V[:, a] @ point.V[:, ports],
            ]
        )
        slope = np.zeros((len(value), modal.size))
        for b, port in enumerate(ports):
            for k in range(T):
                slope[k * B + b, point.size + k * n + a] += modal.shapes[k, port]
                slope[k * B + b, point.size + k * n + port] += modal.shapes[k, a]
            for k in range(N):
                slope[T * B + b, N + k * n + a] += point.V[k, port]
                slope[T * B + b, N + k * n + port] += point.V[k, a]
        return value, slope

    def _moving(self, modes: ComplexModes, modal: SharedModal, gamma: Array, a: int) -> Array:
        """Derivatives of the free part of channel a, (columns, P), at fixed amplitudes."""
        B, K, P = len(self.data.ports), len(modes.pole), modal.point.size
        amplitude = modes.weight * (gamma[::2] + 1j * gamma[1::2])
        out = np.zeros((K, 2 * B + 2, P), complex)
        out[:, 2 * B] = amplitude[:, None] * modes.d_shape[:, :, a]
        out[:, 2 * B + 1] = (amplitude * modes.shape[:, a])[:, None] * modes.d_pole
        flat = out.reshape(-1, P)
        rest = (len(modal.shapes) + 1) * B
        full = np.zeros((2 * len(flat) + rest, modal.size))
        full[: len(flat), :P], full[len(flat) : 2 * len(flat), :P] = flat.real, -flat.imag
        return full

    # -- the fit -------------------------------------------------------------------------------

    def evaluate(self, modal: SharedModal, weights: Array) -> SharedFit | None:
        """Cost, gradient and Gauss-Newton matrix; None where poles coincide."""
        modes = ComplexModes.of(modal.point)
        if modes is None:
            return None
        made = [self._combinations(modes, modal, a) for a in range(len(weights))]
        rss, free = np.zeros(len(weights)), []
        gradient, fisher = np.zeros(modal.size), np.zeros((modal.size, modal.size))
        for r in range(len(self.data.trials)):
            columns = [self._seen(modes, modal, r, i) for i in range(len(self.data.groups))]
            gamma, inner = self._amplitudes(columns, made, weights, r)
            free.append(gamma)
            cross = np.zeros((len(gamma), modal.size))
            for i, group in enumerate(self.data.groups):
                gram = columns[i].T @ columns[i]
                for c, a in enumerate(group):
                    one = made[a]
                    rest = self.plain.rest[r][i][:, c] - columns[i] @ (
                        one.model + one.by_free @ gamma
                    )
                    J = one.slopes + self._moving(modes, modal, gamma, a)
                    rss[a] += rest @ rest
                    gradient += weights[a] * (J.T @ (columns[i].T @ rest))
                    fisher += weights[a] * (J.T @ gram @ J)
                    cross += weights[a] * (one.by_free.T @ gram @ J)
            fisher -= cross.T @ np.linalg.solve(inner, cross)
        cost = float(weights @ rss)
        return SharedFit(modal, weights, rss, cost, gradient, fisher, free)

    def _seen(self, modes: ComplexModes, modal: SharedModal, r: int, i: int) -> Array:
        """Columns of a trial as a group of channels shows them, off what is projected out."""
        group, trial = self.data.groups[i], self.data.trials[r]
        columns = self.columns(modes, modal, r, self.data.kinds[group[0]])
        columns = self.data.as_seen(columns, group) * trial.seen[:, group[:1]]
        return self.plain.off(self.plain.bases[r][i], columns)

    def _amplitudes(
        self, columns: list[Array], made: list[_Combinations], weights: Array, r: int
    ) -> tuple[Array, Array]:
        """Free amplitudes of a trial by least squares, and their information."""
        size = made[0].by_free.shape[1]
        inner, right = np.zeros((size, size)), np.zeros(size)
        for i, group in enumerate(self.data.groups):
            gram = columns[i].T @ columns[i]
            for c, a in enumerate(group):
                one = made[a]
                rest = self.plain.rest[r][i][:, c] - columns[i] @ one.model
                inner += weights[a] * (one.by_free.T @ gram @ one.by_free)
                right += weights[a] * (one.by_free.T @ (columns[i].T @ rest))
        # a real pole has one amplitude, not two
        own = np.diag(inner)
        inner = inner + np.diag(limits.MODES_RIDGE * own + 1e-12 * own.max() * (own == 0) + 1e-300)
        return np.asarray(np.linalg.solve(inner, right)), inner

    def refine(self, fit: SharedFit, barriers: tuple[float, ...] = limits.BARRIERS) -> SharedFit:
        """Levenberg-Marquardt on all parameters, the friction kept inside its bounds.

        Other frictions between hidden coordinates make the same motion. A path that meets a bound
        with one of them, and not with others, must not end there: it is held off by a barrier that
        falls from step to step.
        """
        for barrier in barriers:
            tolerance = limits.BARRIER_SHARE * barrier
            stop = Stop(limits.COUPLED_STEPS, tolerance, rounding=1e-12, settled=tolerance)
            fit = descend(_Inside(self, barrier), fit, stop, _CONTROL).point
        return fit

    def output(self, fit: SharedFit) -> list[Array]:
        """Motion of the model, what was projected out included, at all samples."""
        modes = ComplexModes.of(fit.modal.point)
        assert modes is not None
        out = []
        for r, trial in enumerate(self.data.trials):
            values = np.zeros_like(trial.motion)
            for group in self.data.groups:
                columns = self.columns(modes, fit.modal, r, self.data.kinds[group[0]])
                for a in group:
                    one = self._combinations(modes, fit.modal, a)
                    values[:, a] = columns @ (one.model + one.by_free @ fit.free[r])
            out.append(self.plain.with_background(values, r))
        return out


@dataclass(frozen=True)
class _Inside:
    """χ² with a barrier at the bounds of the friction, as a landscape."""

    coupled: SharedRecord
    barrier: float

    def cost(self, fit: SharedFit) -> float:
        """χ² and the barrier."""
        return fit.cost - 2 * self.barrier * float(np.log(np.diag(fit.modal.point.L)).sum())

    def step(self, fit: SharedFit, damping: float) -> Step:
        """The damped Gauss-Newton step."""
        matrix, gradient = fit.inside(self.barrier)
        point = fit.modal.point
        free = np.append(point.free(gradient[: point.size]), np.ones(fit.modal.shapes.size, bool))
        ridge = damping + limits.MODES_RIDGE
        delta = damped_solution(matrix, gradient, ridge, limits.LEAST_CURVATURE, free=free)
        return Step(delta, float(delta @ gradient), damping)

    def moved(self, fit: SharedFit, step: Step) -> SharedFit | None:
        """The fit after a step that stays inside."""
        return self.coupled.evaluate(fit.modal.moved(step.delta), fit.weights)
