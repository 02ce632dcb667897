"""The shooting kernel on whole arrays: all pieces and all sensitivities advance together."""

from __future__ import annotations

import numpy as np

from prism._types import Array, Index
from prism.motion.potential.terms import POWER, SINE, derivatives

__all__ = ["shoot"]


def shoot(
    kinds: Index,
    shapes: Array,
    theta: Array,
    omega: Array,
    residues: Array,
    ratios: Array,
    others: Index,
    starts: Array,
    data: Array,
    step: float,
    substeps: int,
    gain_x: float,
    gain_v: float,
    limit: float,
    drifts: Array,
    kicks: Array,
    sensitive: bool,
) -> tuple[Array, Array, Array, Array]:
    """Follow all pieces together; see `prism.motion.potential.kernel.shoot`."""
    S, L, n = data.shape
    K, m = len(theta), len(omega)
    N, P = n + m, K + m + m * n
    Q = P + 2 * N if sensitive else 0
    path, ends = np.full((S, L, n), np.inf), np.full((S, 2 * N), np.inf)
    dpath, dends = np.zeros((S, L, n, Q)), np.zeros((S, 2 * N, Q))
    q, v = starts[:, :N].copy(), starts[:, N:].copy()
    dq, dv = np.zeros((S, N, Q)), np.zeros((S, N, Q))
    if sensitive:
        dq[:, np.arange(N), P + np.arange(N)] = 1.0
        dv[:, np.arange(N), P + N + np.arange(N)] = 1.0
    lost = np.zeros(S, bool)
    flow = _Flow(kinds, shapes, theta, omega, residues, ratios, others, sensitive, S)
    with np.errstate(over="ignore", invalid="ignore"):  # a piece that runs away ends in inf
        for t in range(L):
            path[:, t], dpath[:, t] = q[:, :n], dq[:, :n]
            if gain_x > 0:
                _correct(data[:, t], gain_x, gain_v, q, v, dq, dv)
            for _ in range(substeps):
                flow.step(step / substeps * drifts, step / substeps * kicks, q, v, dq, dv)
            lost |= ~(np.abs(q[:, :n]) < limit).all(axis=1)
            if lost.any():
                # What is lost stays at rest, so that it cannot disturb the others.
                path[lost, t + 1 :] = np.inf
                q[lost], v[lost], dq[lost], dv[lost] = 0.0, 0.0, 0.0, 0.0
                if lost.all():
                    break
    kept = ~lost
    path[lost, -1] = np.inf
    ends[kept] = np.concatenate([q, v], axis=1)[kept]
    dends[kept] = np.concatenate([dq, dv], axis=1)[kept]
    return path, ends, dpath, dends


def _correct(
    seen: Array, gain_x: float, gain_v: float, q: Array, v: Array, dq: Array, dv: Array
) -> None:
    n = seen.shape[1]
    e = seen - q[:, :n]
    there = ~np.isnan(e)
    e[~there] = 0.0
    q[:, :n] += gain_x * e
    v[:, :n] += gain_v * e
    dv[:, :n] -= gain_v * there[..., None] * dq[:, :n]
    dq[:, :n] *= 1.0 - gain_x * there[..., None]


class _Flow:
    """One step of the symplectic scheme and its derivative, with as few array calls as can be."""

    def __init__(
        self,
        kinds: Index,
        shapes: Array,
        theta: Array,
        omega: Array,
        residues: Array,
        ratios: Array,
        others: Index,
        sensitive: bool,
        pieces: int,
    ) -> None:
        m, n = ratios.shape
        N, K = n + m, len(theta)
        self.kinds, self.shapes, self.theta, self.omega = kinds, shapes, theta, omega
        self.residues, self.ratios, self.others = residues, ratios, others
        self.n, self.m, self.sensitive = n, m, sensitive
        pull = np.zeros((N, N))
        pull[n:, :n] = residues[:, None] * ratios
        pull[:n, n:] = ratios.T
        pull[range(n, N), range(n, N)] = -(omega**2)
        self.pull = pull.T.copy()
        self.jacobian = np.repeat(pull[None], pieces, axis=0)
        self.direct = np.zeros((pieces, N, K + m + m * n))
        each = np.arange(m)
        self.places = (n + each, K + each, K + m + each, K + 2 * m + each)
        self.slopes = _Waves(kinds, shapes, theta) if n == 1 else None

    def step(self, drifts: Array, kicks: Array, q: Array, v: Array, dq: Array, dv: Array) -> None:
        for drift, kick in zip(drifts[:-1], kicks, strict=True):
            self._drift(drift, q, v, dq, dv)
            self._kick(kick, q, v, dq, dv)
        self._drift(drifts[-1], q, v, dq, dv)

    def _drift(self, w: float, q: Array, v: Array, dq: Array, dv: Array) -> None:
        if w:
            q += w * v
            if self.sensitive:
                dq += w * dv

    def _kick(self, w: float, q: Array, v: Array, dq: Array, dv: Array) -> None:
        n, K = self.n, len(self.theta)
        if self.slopes is not None:
            slope, curve = self.slopes(q[:, 0])
        else:
            slope, curve = derivatives(self.kinds, self.shapes, q[:, :n])
            curve = curve @ self.theta
        force = q @ self.pull
        force[:, :n] -= slope @ self.theta
        v += w * force
        if not self.sensitive:
            return
        self.jacobian[:, :n, :n] = -curve
        self.direct[:, :n, :K] = -slope
        if self.m:
            self._of_modes(q)
        dv += w * (self.jacobian @ dq)
        dv[:, :, : self.direct.shape[2]] += w * self.direct

    def _of_modes(self, q: Array) -> None:
        """Derivatives of the force by the numbers of the modes."""
        hidden, by_omega, by_residue, by_ratio = self.places
        u = q[:, self.n :]
        self.direct[:, hidden, by_omega] = -2 * self.omega * u
        self.direct[:, hidden, by_residue] = q[:, : self.n] @ self.ratios.T
        if self.n > 1:
            self.direct[:, self.others, by_ratio] = u
            self.direct[:, hidden, by_ratio] = self.residues * q[:, self.others]


class _Waves:
    """Force terms and curvature of one coordinate, from a table of powers and waves."""

    def __init__(self, kinds: Index, shapes: Array, theta: Array) -> None:
        self.theta, self.count = theta, len(theta)
        power = np.flatnonzero(kinds == POWER)
        self.power, self.wave = power, np.flatnonzero(kinds != POWER)
        exponents = shapes[power, 0].astype(int)
        self.range = np.arange(max(exponents, default=1))
        self.first, self.second = exponents - 1, np.maximum(exponents - 2, 0)
        self.bend = (exponents - 1) * theta[power]
        self.number = shapes[self.wave, 0]
        self.is_sine = kinds[self.wave] == SINE

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Slopes (pieces, 1, terms) and curvature (pieces, 1, 1)."""
        slope, curve = np.empty((len(x), 1, self.count)), np.zeros(len(x))
        if len(self.power):
            table = x[:, None] ** self.range
            slope[:, 0, self.power] = table[:, self.first]
            curve += table[:, self.second] @ self.bend
        if len(self.wave):
            angle = x[:, None] * self.number
            sine, cosine = np.sin(angle), np.cos(angle)
            slope[:, 0, self.wave] = np.where(self.is_sine, sine, cosine)
            bent = self.number * np.where(self.is_sine, cosine, -sine)
            curve += bent @ self.theta[self.wave]
        return slope, curve[:, None, None]
