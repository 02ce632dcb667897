r"""Maximum likelihood of the Foster form: Fisher scoring with step control.

A complex Gaussian datum of mean :math:`H(θ)` and variance :math:`s^2(θ)` has the information
:math:`2 \mathrm{Re}(\partial H^* \partial H)/s^2 + \partial s^2 \partial s^2/s^4`. The variance
:math:`s^2 = a^2 + b^2|H|^2` contributes because it depends on the model too.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
import scipy.linalg

from prism._types import Array, ComplexArray, Index, Mask
from prism.motion.forced.response.data import Data
from prism.motion.forced.response.noise import Noise, deviance

FAR = 25.0  # squared frequency, in bands, beyond which a mode is a static compliance
MOST_LOSS = 1.0


@dataclass(frozen=True)
class Point:
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
    """

    lam: Array
    V: Array
    eta: Array
    damping: str = "none"
    pole: Index = field(default_factory=lambda: np.zeros(0, int))
    alike: bool = False

    def __post_init__(self) -> None:
        if len(self.pole) != len(self.V):
            object.__setattr__(self, "pole", np.arange(len(self.V)))

    def __len__(self) -> int:
        return len(self.lam)

    @property
    def size(self) -> int:
        """Number of entries of its gradient."""
        return len(self.lam) * (1 + (self.damping != "none")) + self.V.size

    def sorted(self) -> Point:
        """The same with ascending frequencies."""
        return self.take(np.argsort(self.lam))

    def take(self, keep: Index) -> Point:
        """Some of the poles, each with one vector."""
        return Point(self.lam[keep], self.V[keep], self.eta[keep], self.damping, alike=self.alike)

    def without(self, j: int) -> Point:
        """All modes but one."""
        return self.take(np.delete(np.arange(len(self)), j))

    def joined(self, lam: float, v: Array, eta: float) -> Point:
        """One mode more."""
        return Point(
            np.append(self.lam, lam),
            np.vstack([self.V, v]),
            np.append(self.eta, eta),
            self.damping,
            alike=self.alike,
        )

    def widened(self, pole: int, v: Array) -> Point:
        """One vector more at a pole."""
        return replace(self, V=np.vstack([self.V, v]), pole=np.append(self.pole, pole))


@dataclass(frozen=True)
class Evaluation:
    """The response of a point, and what its derivatives are made of; real without damping."""

    H: Array | ComplexArray  # (F, E)
    D: Array | ComplexArray  # (F, N)
    pairs: Array  # (N, E): v_a v_b, summed over the vectors of a pole


def evaluate(data: Data, point: Point) -> Evaluation:
    """Response at the frequencies of the data."""
    rate = _rate(data, point)
    gap = point.lam - data.x[:, None]
    # a pole exactly on a line of the grid would be infinite: the smallest gap is a rounding error
    gap = np.where(np.abs(gap) < 1e-14, 1e-14, gap)
    D = 1 / (gap + 1j * point.eta * rate) if point.damping != "none" else 1 / gap
    pairs = np.zeros((len(point), len(data.rows)))
    np.add.at(pairs, point.pole, point.V[:, data.rows] * point.V[:, data.columns])
    return Evaluation(D @ pairs, D, pairs)


def _rate(data: Data, point: Point) -> Array:
    root = np.sqrt(np.maximum(point.lam, 0.0))
    if point.damping == "viscous":
        return np.asarray(data.omega[:, None] * root)
    return np.broadcast_to(point.lam, (len(data.omega), len(point)))


@dataclass(frozen=True)
class Factors:
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


def factors(data: Data, point: Point, at: Evaluation) -> Factors:
    """Derivatives of H in the order lam, V, eta."""
    N, (K, n) = len(point), point.V.shape
    dlam = -(at.D**2)
    if point.damping == "structural":
        dlam = dlam * (1 + 1j * point.eta)
    elif point.damping == "viscous":
        root = np.sqrt(np.maximum(point.lam, 1e-300))
        dlam = dlam * (1 + 0.5j * point.eta * data.omega[:, None] / root)
    parts, place, share = [dlam, at.D], [np.arange(N)], [at.pairs]
    place.append(np.repeat(N + point.pole, n))
    ports = np.arange(n)[:, None]
    pull = (data.rows == ports) * point.V[:, None, data.columns]
    pull = pull + (data.columns == ports) * point.V[:, None, data.rows]
    share.append(pull.reshape(K * n, -1))
    if point.damping != "none":
        parts.append(-1j * _rate(data, point) * at.D**2)
        place.append(2 * N + np.arange(N))
        share.append(at.pairs)
    basis = cast("Array | ComplexArray", np.hstack(parts))
    return Factors(basis, np.concatenate(place), np.vstack(share))


def jacobian(data: Data, point: Point, at: Evaluation) -> Array | ComplexArray:
    """Derivatives of H, (parameters, F, E), in the order lam, V, eta; real without damping."""
    made = factors(data, point, at)
    return made.basis.T[made.place][:, :, None] * made.share[:, None, :]


def information(
    data: Data, at: Evaluation, made: Factors, noise: Noise, fixed: Array | None = None
) -> tuple[Array, Array]:
    """Gradient of log L and Fisher information.

    Both are sums over the pairs of ports of products over frequency of the few functions in the
    basis, which is far less work than the derivatives written out.

    Parameters
    ----------
    fixed : array (F, E), optional
        Variances that do not depend on the model; then the noise is not asked.
    """
    s2 = noise.variance(np.abs(at.H) ** 2, data.shape, data.even) if fixed is None else fixed
    weight = np.where(data.counts > 0, 2 * data.counts / s2, 0.0)
    pull = weight * (data.Y - at.H)
    moving = fixed is None and noise.b2 > 0
    excess = np.where(data.counts > 0, data.squares(at.H) / s2 - data.counts, 0.0)
    gradient, matrix = np.zeros(len(made.place)), np.zeros((len(made.place),) * 2)
    pick = np.ix_(made.place, made.place)
    for e, share in enumerate(made.share.T):
        A = _as_real(made.basis * np.sqrt(weight[:, e, None]))
        G = A.T @ A
        g = (made.basis.conj().T @ pull[:, e]).real
        if moving:
            R = (at.H[:, e, None].conj() * made.basis).real * (2 * noise.b2 / s2[:, e, None])
            G = G + R.T @ (R * data.counts[:, e, None])
            g = g + R.T @ excess[:, e]
        gradient += share * g[made.place]
        matrix += np.outer(share, share) * G[pick]
    return gradient, matrix


def _as_real(values: Array | ComplexArray) -> Array:
    """Real and imaginary parts below each other."""
    return np.vstack([values.real, values.imag]) if np.iscomplexobj(values) else values.real


def misfit(data: Data, H: Array | ComplexArray, noise: Noise, fixed: Array | None = None) -> float:
    r""":math:`-2 \log L`."""
    s2 = noise.variance(np.abs(H) ** 2, data.shape, data.even) if fixed is None else fixed
    return deviance(s2, data.counts, data.squares(H))


def climb(
    data: Data, point: Point, noise: Noise, steps: int, fixed: Array | None = None
) -> tuple[Point, float]:
    """Raise the likelihood by damped scoring steps; the noise stays as it is.

    Returns
    -------
    point : Point
    value : float
        ``-2 log L`` reached.
    """
    at = evaluate(data, point)
    value = misfit(data, at.H, noise, fixed)
    damping = 1e-9
    for _ in range(steps):
        # a pole on a line of the grid has derivatives beyond what numbers can hold
        with np.errstate(over="ignore", invalid="ignore"):
            gradient, matrix = information(data, at, factors(data, point, at), noise, fixed)
        if not np.isfinite(matrix).all():
            break
        free = free_parameters(point, gradient)
        better = False
        for _ in range(14):
            step = _solve(point, matrix, gradient, free, damping)
            if not np.isfinite(step).all():
                damping = 10 * damping
                continue
            trial = _moved(point, step)
            there = evaluate(data, trial)
            new = misfit(data, there.H, noise, fixed)
            if new < value:
                better = True
                break
            damping = 10 * damping
        if not better:
            break
        gain, value, point, at = value - new, new, trial, there
        damping /= 10
        if gain < 1e-5 + 1e-10 * abs(value):
            break
    return point, value


def free_parameters(point: Point, gradient: Array | None = None) -> Mask:
    """Parameters that are not held at a bound (by a gradient that pushes outwards)."""
    N, K = len(point), point.V.size
    push = np.zeros(point.size) if gradient is None else gradient
    free = np.ones(point.size, bool)
    free[:N] &= ~((point.lam <= 0) & (push[:N] <= 0))
    free[:N] &= ~((point.lam >= FAR) & (push[:N] >= 0))
    if point.damping != "none":
        outwards = np.full(N, push[N + K :].sum()) if point.alike else push[N + K :]
        free[N + K :] &= ~((point.eta <= 0) & (outwards <= 0))
        free[N + K :] &= ~((point.eta >= MOST_LOSS) & (outwards >= 0))
    return free


def free_count(point: Point) -> int:
    """Number of parameters that the data decide."""
    free = int(free_parameters(point).sum())
    return free - len(point) + 1 if point.alike and point.damping != "none" else free


def _solve(point: Point, matrix: Array, gradient: Array, free: Mask, damping: float) -> Array:
    step = np.zeros(len(gradient))
    losses = len(point) + point.V.size
    if point.alike and losses < len(step):
        matrix, gradient = _gathered(matrix, gradient, losses)
        free = free[: losses + 1]
    part = matrix[np.ix_(free, free)]
    scale = np.sqrt(np.maximum(np.diag(part), 1e-300))
    scaled = part / np.outer(scale, scale)
    scaled[np.diag_indices_from(scaled)] += damping
    moved = np.zeros(len(gradient))
    moved[free] = _symmetric_solve(scaled, gradient[free] / scale) / scale
    step[: len(moved)] = moved
    step[len(moved) :] = moved[-1]  # one loss factor moves all of them
    return step


def _gathered(matrix: Array, gradient: Array, first: int) -> tuple[Array, Array]:
    """Information and gradient where all parameters from the first one on are the same one."""
    starts = np.arange(first + 1)
    matrix = np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)
    return matrix, np.asarray(np.add.reduceat(gradient, starts))


def _symmetric_solve(matrix: Array, rhs: Array) -> Array:
    """Solve by Cholesky, or by least squares where the matrix is not positive in rounding."""
    factor, failed = scipy.linalg.lapack.dpotrf(matrix, lower=1)
    if not failed:
        return np.asarray(scipy.linalg.lapack.dpotrs(factor, rhs, lower=1)[0])
    return np.asarray(np.linalg.lstsq(matrix, rhs, rcond=None)[0])


def _moved(point: Point, step: Array) -> Point:
    N, K = len(point), point.V.size
    eta = point.eta
    if point.damping != "none":
        eta = np.clip(eta + step[N + K :], 0.0, MOST_LOSS)
    return replace(
        point,
        lam=np.clip(point.lam + step[:N], 0.0, FAR),
        V=point.V + step[N : N + K].reshape(point.V.shape),
        eta=eta,
    )
