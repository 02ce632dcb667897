"""Modes in the units of the data: their response, and its derivatives."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, cast

import numpy as np

import prism.motion.forced.response._limits as limits
from prism._types import Array, ComplexArray, Index, Mask
from prism.motion.forced.response.data import ResponseData


@dataclass(frozen=True)
class ModalPoint:
    """Parameters of a Foster form in the units of the data.

    Attributes
    ----------
    lam : array (N,)
        Squared natural frequencies.
    V : array (K, n)
        Participation vectors; a residue of higher rank has several.
    eta : array (N,)
        Loss factors; ignored without damping.
    damping : {"none", "viscous", "structural"}
    pole : array (K,)
        The pole of each vector; one each by default.
    alike : bool
        Whether all modes have one loss factor; then ``eta`` moves as a whole.
    rigid : array of bool (N,)
        Modes held at zero: rigid bodies, which have nothing to lose either. None by default.
    """

    lam: Array
    V: Array
    eta: Array
    damping: str = "none"
    pole: Index = field(default_factory=lambda: np.zeros(0, int))
    alike: bool = False
    rigid: Mask = field(default_factory=lambda: np.zeros(0, bool))

    def __post_init__(self) -> None:
        if len(self.rigid) != len(self.lam):
            object.__setattr__(self, "rigid", np.zeros(len(self.lam), bool))
        if len(self.pole) != len(self.V):
            object.__setattr__(self, "pole", np.arange(len(self.V)))

    def __len__(self) -> int:
        return len(self.lam)

    @property
    def lossy(self) -> bool:
        """Whether modes lose energy."""
        return self.damping != "none"

    @property
    def size(self) -> int:
        """Number of entries of its gradient."""
        return len(self.lam) * (1 + self.lossy) + self.V.size

    @property
    def losses(self) -> int:
        """Where the loss factors begin in the gradient."""
        return len(self.lam) + self.V.size

    @property
    def typical_loss(self) -> float:
        """Median loss factor of the modes that swing; zero where none does."""
        swings = ~self.rigid
        return float(np.median(self.eta[swings])) if swings.any() else 0.0

    def take(self, keep: Index) -> ModalPoint:
        """Some of the poles, each with one vector."""
        one_each = np.arange(len(keep))
        lam, V, eta = (part[keep] for part in (self.lam, self.V, self.eta))
        return replace(self, lam=lam, V=V, eta=eta, pole=one_each, rigid=self.rigid[keep])

    def resting(self, still: Mask) -> ModalPoint:
        """The same with these modes, and no others, held at zero."""
        lam, eta = np.where(still, 0.0, self.lam), self.eta
        return replace(self, lam=lam, eta=eta if self.alike else eta * ~still, rigid=still)

    def sorted(self) -> ModalPoint:
        """The same with ascending frequencies."""
        return self.take(np.argsort(self.lam))

    def without(self, j: int) -> ModalPoint:
        """All modes but one."""
        return self.take(np.delete(np.arange(len(self)), j))

    def joined(self, lam: float, v: Array, eta: float) -> ModalPoint:
        """One mode more, each with one vector."""
        lams, etas = np.append(self.lam, lam), np.append(self.eta, eta)
        V, rigid = np.vstack([self.V, v]), np.append(self.rigid, False)
        return replace(self, lam=lams, V=V, eta=etas, pole=np.arange(len(V)), rigid=rigid)

    def widened(self, pole: int, v: Array) -> ModalPoint:
        """One vector more at a pole."""
        return replace(self, V=np.vstack([self.V, v]), pole=np.append(self.pole, pole))

    def moved(self, step: Array) -> ModalPoint:
        """The point after a step in lam, V and eta, within bounds."""
        N, losses = len(self), self.losses
        theta = np.clip(self._theta + step, *self._bounds)
        V, eta = theta[N:losses].reshape(self.V.shape), theta[losses:]
        return replace(self, lam=theta[:N], V=V, eta=eta if self.lossy else self.eta)

    def free(self, gradient: Array | None = None) -> Mask:
        """Parameters that are not held at a bound (by a gradient that pushes outwards)."""
        push = np.zeros(self.size) if gradient is None else gradient.copy()
        if self.alike:
            push[self.losses :] = push[self.losses :].sum()
        theta, (low, high) = self._theta, self._bounds
        out = ~(((theta <= low) & (push <= 0)) | ((theta >= high) & (push >= 0)))
        out[: len(self)] &= ~self.rigid
        if self.lossy and not self.alike:
            out[self.losses :] &= ~self.rigid
        return out

    @property
    def free_count(self) -> int:
        """Number of parameters that the data decide."""
        free = int(self.free().sum()) - turns_of(self.rigid, self.V.shape[1])
        return free - len(self) + 1 if self.alike and self.lossy else free

    @property
    def _theta(self) -> Array:
        return np.concatenate([self.lam, self.V.ravel(), self.eta])[: self.size]

    @property
    def _bounds(self) -> tuple[Array, Array]:
        N, K = len(self), self.V.size
        low = np.repeat([0.0, -np.inf, 0.0], [N, K, N])
        high = np.repeat([limits.FAR_AWAY, np.inf, limits.MOST_LOSS], [N, K, N])
        return low[: self.size], high[: self.size]


def turns_of(rigid: Mask, ports: int) -> int:
    """Numbers that turn rigid modes into each other, which changes no response."""
    count = int(rigid.sum())
    return count * (count - 1) // 2 if count <= ports else count * ports - ports * (ports + 1) // 2


class Evaluation(NamedTuple):
    """The response of a point, and what its derivatives are made of; real without damping."""

    H: Array | ComplexArray  # (F, E)
    D: Array | ComplexArray  # (F, N)
    pairs: Array  # (N, E): v_a v_b, summed over the vectors of a pole


def evaluate(data: ResponseData, point: ModalPoint) -> Evaluation:
    """Response at the frequencies of the data."""
    gap = point.lam - data.x[:, None]
    # a pole exactly on a line of the grid would be infinite: the smallest gap is a rounding error
    gap = np.where(np.abs(gap) < 1e-14, 1e-14, gap)
    D = 1 / (gap + 1j * point.eta * _rate(data, point)) if point.lossy else 1 / gap
    pairs = np.zeros((len(point), len(data.rows)))
    np.add.at(pairs, point.pole, point.V[:, data.rows] * point.V[:, data.columns])
    return Evaluation(D @ pairs, D, pairs)


def _rate(data: ResponseData, point: ModalPoint) -> Array:
    if point.damping == "viscous":
        return np.asarray(data.omega[:, None] * np.sqrt(np.maximum(point.lam, 0.0)))
    return np.broadcast_to(point.lam, (len(data.omega), len(point)))


class Factors(NamedTuple):
    """Derivatives of H as products: ``∂H_fe/∂θ_p = basis[f, place[p]] · share[p, e]``.

    Attributes
    ----------
    basis : array (F, B)
        ``∂D/∂lam`` of every pole, D of every pole, and ``∂D/∂eta`` with damping; real without.
    place : array (P,)
    share : array (P, E)
    """

    basis: Array | ComplexArray
    place: Index
    share: Array


def factors(data: ResponseData, point: ModalPoint, at: Evaluation) -> Factors:
    """Derivatives of H in the order lam, V, eta."""
    N, (K, n) = len(point), point.V.shape
    dlam = -(at.D**2)
    if point.damping == "structural":
        dlam = dlam * (1 + 1j * point.eta)
    elif point.damping == "viscous":
        # at zero the loss is zero too, and its slope has no bound: what is held there has none
        root = np.where(point.lam > 0, np.sqrt(point.lam), np.inf)
        dlam = dlam * (1 + 0.5j * point.eta * data.omega[:, None] / root)
    ports = np.arange(n)[:, None]
    pull = (data.rows == ports) * point.V[:, None, data.columns]
    pull = pull + (data.columns == ports) * point.V[:, None, data.rows]
    parts, share = [dlam, at.D], [at.pairs, pull.reshape(K * n, -1)]
    place = [np.arange(N), np.repeat(N + point.pole, n)]
    if point.lossy:
        parts.append(-1j * _rate(data, point) * at.D**2)
        place.append(2 * N + np.arange(N))
        share.append(at.pairs)
    basis = cast("Array | ComplexArray", np.hstack(parts))
    return Factors(basis, np.concatenate(place), np.vstack(share))


def jacobian(data: ResponseData, point: ModalPoint, at: Evaluation) -> Array | ComplexArray:
    """Derivatives of H, (parameters, F, E), in the order lam, V, eta; real without damping."""
    made = factors(data, point, at)
    return made.basis.T[made.place][:, :, None] * made.share[:, None, :]
