"""The shooting kernel on whole arrays: all pieces and all sensitivities advance together."""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.motion.potential._call import Forces, Pace
from prism.motion.potential.terms import Derivatives

__all__ = ["shoot"]


def shoot(
    forces: Forces, starts: Array, data: Array, pace: Pace
) -> tuple[Array, Array, Array, Array]:
    """Follow all pieces together; see `Integrator.shoot`.

    As in the loops, a row holds a coordinate and its derivatives.
    """
    S, L, n = data.shape
    flow, h = _Flow(forces, S), pace.step / pace.substeps
    drifts, kicks = h * pace.drifts, h * pace.kicks
    N, P = flow.direct.shape[1:]
    q = np.zeros((S, N, 1 + (P + 2 * N if pace.sensitive else 0)))
    v = np.zeros_like(q)
    q[..., 0], v[..., 0] = starts[:, :N], starts[:, N:]
    if pace.sensitive:
        each = np.arange(N)
        q[:, each, 1 + P + each] = v[:, each, 1 + P + N + each] = 1.0
    path, ends = np.zeros((S, L, n, q.shape[2])), np.zeros((S, 2 * N, q.shape[2]))
    path[..., 0], ends[..., 0] = np.inf, np.inf
    kept = np.ones(S, bool)
    with np.errstate(over="ignore", invalid="ignore"):  # a piece that runs away ends in inf
        for t in range(L):
            path[kept, t] = q[kept, :n]
            if pace.gain_x > 0:
                _correct(data[:, t], pace.gain_x, pace.gain_v, q, v)
            for _ in range(pace.substeps):
                flow.step(drifts, kicks, q, v)
            kept &= (np.abs(q[:, :n, 0]) < pace.limit).all(axis=1)
            if not kept.any():
                break
            if not kept.all():  # what is lost stays at rest, and cannot disturb the others
                q[~kept], v[~kept] = 0.0, 0.0
    ends[kept] = np.concatenate([q, v], axis=1)[kept]
    return path[..., 0], ends[..., 0], path[..., 1:], ends[..., 1:]


def _correct(seen: Array, gain_x: float, gain_v: float, q: Array, v: Array) -> None:
    n = seen.shape[1]
    off = -q[:, :n]
    off[..., 0] += seen
    off[np.isnan(seen)] = 0.0
    q[:, :n] += gain_x * off
    v[:, :n] += gain_v * off


class _Flow:
    """One step of the symplectic scheme and its derivative, with as few array calls as can be."""

    def __init__(self, forces: Forces, pieces: int) -> None:
        self.forces = forces
        (m, n), K = forces.ratios.shape, len(forces.theta)
        pull = np.zeros((n + m, n + m))
        pull[n:, :n] = forces.residues[:, None] * forces.ratios
        pull[:n, n:] = forces.ratios.T
        pull[range(n, n + m), range(n, n + m)] = -(forces.omega**2)
        self.pull = pull.T.copy()
        self.jacobian = np.repeat(pull[None], pieces, axis=0)
        self.direct = np.zeros((pieces, n + m, K + m + m * n))
        each = np.arange(m)
        self.places = (n + each, K + each, K + m + each, K + 2 * m + each)
        self.derivatives = Derivatives(forces.kinds, forces.shapes)

    def step(self, drifts: Array, kicks: Array, q: Array, v: Array) -> None:
        for drift, kick in zip(drifts[:-1], kicks, strict=True):
            if drift:
                q += drift * v
            self._kick(kick, q, v)
        if drifts[-1]:
            q += drifts[-1] * v

    def _kick(self, w: float, q: Array, v: Array) -> None:
        (m, n), theta = self.forces.ratios.shape, self.forces.theta
        here = q[..., 0]
        slope, curve = self.derivatives(here[:, :n])
        self.jacobian[:, :n, :n] = -(curve @ theta)
        rates = self.jacobian @ q
        rates[..., 0] = here @ self.pull
        rates[:, :n, 0] -= slope @ theta
        if q.shape[2] > 1:
            self.direct[:, :n, : len(theta)] = -slope
            if m:
                self._of_modes(here)
            rates[:, :, 1 : 1 + self.direct.shape[2]] += self.direct
        v += w * rates

    def _of_modes(self, here: Array) -> None:
        """Derivatives of the force by the numbers of the modes."""
        hidden, by_omega, by_residue, by_ratio = self.places
        f, n = self.forces, self.forces.ratios.shape[1]
        u = here[:, n:]
        self.direct[:, hidden, by_omega] = -2 * f.omega * u
        self.direct[:, hidden, by_residue] = here[:, :n] @ f.ratios.T
        if n > 1:
            self.direct[:, f.others, by_ratio] = u
            self.direct[:, hidden, by_ratio] = f.residues * here[:, f.others]
