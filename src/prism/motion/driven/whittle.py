r"""Spectrum of noise-driven modes in a band, and its derivatives.

.. math:: D(ω) = \sum_{ij} φ_i φ_j^T \, h_i h_j^* Q_{ij} + R, \qquad
          h = \frac{(iω)^q}{ω_n^2 - ω^2 + 2iζω_nω}

Q is the spectrum of the modal forces, R the noise and what is left of modes that nobody modelled.
Some modes may be held: neighbours whose tails reach into the band. Every derivative of D is
:math:`X + X^H` with X an outer product :math:`u v^H`.

Fast Bayesian FFT modal identification has this spectrum (Au, Mech. Syst. Signal Process. 26 (2012)
60); what a record of finite length adds to it is in `leakage`, the likelihood in `scoring`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.linalg

from prism._types import Array, ComplexArray, Index, Mask
from prism.motion.driven.spectrum import Lines

_LEAST_POWER = 1e-10  # of a background or force, in the units of a band


@dataclass(frozen=True)
class Band:
    """Fourier lines of one band in channel units of order one.

    Attributes
    ----------
    omega, span : arrays (K,)
    values : array (K, n)
    powers : array (K, n)
        :math:`(iω/ω_c)^{q_a}`: what turns a displacement into channel a.
    orders : array of int (n,)
        :math:`q_a`.
    middle : float
        :math:`ω_c`.
    trials : tuple of slices
        The lines of each trial.
    leakage : bool
        Whether what the ends of the record add (`leakage`) is taken into account.
    """

    omega: Array
    span: Array
    values: ComplexArray
    powers: ComplexArray
    orders: Index
    middle: float
    trials: tuple[slice, ...]
    leakage: bool = True

    def part(self, rows: slice) -> Band:
        """Some of the lines, of one trial."""
        return replace(
            self,
            omega=self.omega[rows],
            span=self.span[rows],
            values=self.values[rows],
            powers=self.powers[rows],
            trials=(slice(0, len(self.omega[rows])),),
        )


@dataclass(frozen=True)
class Model:
    """Modes, modal forces and background of a band.

    Attributes
    ----------
    omega, zeta : arrays (m,)
    shapes : array (m, n)
        Unit, in the channel units of the band.
    gains : array (m,)
        Constants that make Q of order one.
    force : array (m, m)
        Q, Hermitian and positive definite; zero between a free and a held mode.
    noise : array (n, n)
        R, Hermitian and positive definite.
    free : array of bool (m,)
        Whether frequency, damping, shape and force are fitted; all free modes come first.
    full : bool
        Whether R has entries off its diagonal.
    """

    omega: Array
    zeta: Array
    shapes: Array
    gains: Array
    force: ComplexArray
    noise: ComplexArray
    free: Mask
    full: bool

    @property
    def count(self) -> int:
        """Number of modes."""
        return len(self.omega)

    @property
    def fitted(self) -> int:
        """Number of free modes."""
        return int(np.count_nonzero(self.free))

    def first(self, count: int) -> Model:
        """The first modes alone."""
        return self.only(np.arange(count))

    def without(self, j: int) -> Model:
        """All modes but one."""
        return self.only(np.delete(np.arange(self.count), j))

    def only(self, keep: Index) -> Model:
        """Some of the modes."""
        return replace(
            self,
            omega=self.omega[keep],
            zeta=self.zeta[keep],
            shapes=self.shapes[keep],
            gains=self.gains[keep],
            force=self.force[np.ix_(keep, keep)],
            free=self.free[keep],
        )


def joined(free: Model, held: Model) -> Model:
    """The modes of both, the forces of one independent of those of the other; R of the first."""
    return replace(
        free,
        omega=np.concatenate([free.omega, held.omega]),
        zeta=np.concatenate([free.zeta, held.zeta]),
        shapes=np.concatenate([free.shapes, held.shapes]),
        gains=np.concatenate([free.gains, held.gains]),
        free=np.concatenate([free.free, held.free]),
        force=np.asarray(scipy.linalg.block_diag(free.force, held.force), complex),
    )


def scaled_band(lines: Lines) -> Band:
    """Lines with every channel scaled to unit power at the middle of the band."""
    middle = band_middle(lines)
    powers = np.asarray((1j * lines.omega[:, None] / middle) ** lines.orders, complex)
    values = lines.values / channel_scales(lines)
    changes = np.flatnonzero(np.diff(lines.trial)) + 1
    edges = [0, *(int(k) for k in changes), len(lines.omega)]
    trials = tuple(slice(a, b) for a, b in pairwise(edges))
    return Band(lines.omega, lines.span, values, powers, lines.orders, middle, trials)


def band_middle(lines: Lines) -> float:
    """Geometric mean of the ends of a band."""
    return float(np.sqrt(lines.omega.min() * lines.omega.max()))


def channel_scales(lines: Lines) -> Array:
    """Root mean square of each channel over the lines."""
    scale = np.sqrt(np.mean(np.abs(lines.values) ** 2, axis=0))
    return np.asarray(np.maximum(scale, np.finfo(float).tiny))


def displacement_factors(lines: Lines) -> Array:
    """What turns shapes in the units of the band into shapes in displacement."""
    return np.asarray(channel_scales(lines) / band_middle(lines) ** lines.orders.astype(float))


def poles(omega: Array, zeta: Array) -> ComplexArray:
    r""":math:`λ = -ζω_n + iω_n\sqrt{1 - ζ^2}`."""
    return np.asarray(-zeta * omega + 1j * omega * np.sqrt(1 - zeta**2))


def transfers(model: Model, band: Band) -> ComplexArray:
    """The h of every line and mode times its gain, without the powers of iω, (K, m)."""
    w = band.omega[:, None]
    below = model.omega**2 - w**2 + 2j * model.zeta * model.omega * w
    return np.asarray(model.gains / below)


def columns(model: Model, band: Band) -> ComplexArray:
    """``φ_j h_j`` at every line, (K, m, n)."""
    h = transfers(model, band)
    return np.asarray(model.shapes[None] * band.powers[:, None, :] * h[:, :, None])


def spectrum(model: Model, band: Band) -> ComplexArray:
    """D at every line, (K, n, n)."""
    A = columns(model, band).swapaxes(1, 2)
    return np.asarray(A @ model.force @ A.conj().swapaxes(1, 2) + model.noise)


def tangents(shape: Array) -> Array:
    """Orthonormal directions in which a unit shape can move, (n, n - 1)."""
    mirror = shape.copy()
    mirror[0] += 1.0 if shape[0] >= 0 else -1.0
    # the reflection that takes the shape to the first axis
    reflection = np.eye(len(shape)) - 2 * np.outer(mirror, mirror) / (mirror @ mirror)
    return np.asarray(reflection[:, 1:])


def pairs(count: int) -> list[tuple[int, int]]:
    """Index pairs i < j."""
    return [(i, j) for i in range(count) for j in range(i + 1, count)]


def parameter_slices(model: Model) -> dict[str, Index]:
    """Places of the parameters.

    ``frequency`` (ln ω), ``damping`` (ln ζ), ``shape`` (tangents), ``auto`` and ``cross`` (force
    spectrum) of the free modes, then ``noise``. The last three are Hermitian matrices H that
    make ``Q = B exp(H) Bᴴ`` and ``R = A exp(H) Aᴴ`` of what they are now: always positive.
    """
    free, n = model.fitted, model.shapes.shape[1]
    sizes = {
        "frequency": free,
        "damping": free,
        "shape": free * (n - 1),
        "auto": free,
        "cross": free * (free - 1),
        "noise": n + (n * (n - 1) if model.full else 0),
    }
    ends = np.cumsum(list(sizes.values()))
    return {
        key: np.arange(end - size, end)
        for (key, size), end in zip(sizes.items(), ends, strict=True)
    }


def parameter_count(model: Model) -> int:
    """Number of parameters."""
    return int(sum(len(part) for part in parameter_slices(model).values()))


def pole_rates(model: Model) -> tuple[ComplexArray, ComplexArray]:
    """Derivatives of the poles by ln ω and by ln ζ."""
    root = np.sqrt(1 - model.zeta**2)
    by_zeta = -model.zeta * model.omega - 1j * model.omega * model.zeta**2 / root
    return poles(model.omega, model.zeta), np.asarray(by_zeta)


def outer_factors(model: Model, band: Band) -> tuple[ComplexArray, ComplexArray]:
    """U and V, (K, P', n): the derivative of D by parameter p is ``U Vᴴ`` plus its adjoint.

    For all parameters but those of the background.
    """
    w = band.omega[:, None]
    free = range(model.fitted)
    h = transfers(model, band) / model.gains
    A = columns(model, band)
    rest = np.einsum("ij,kjn->kin", model.force.conj(), A)
    U: list[ComplexArray] = []
    V: list[ComplexArray] = []
    by_omega = -(2 * model.omega**2 + 2j * model.zeta * model.omega * w) * h
    by_zeta = -2j * model.zeta * model.omega * w * h
    for rate in (by_omega, by_zeta):
        for i in free:
            U.append(rate[:, i, None] * A[:, i])
            V.append(rest[:, i])
    for i in free:
        lever = band.powers * (h[:, i, None] * model.gains[i])
        for direction in tangents(model.shapes[i]).T:
            U.append(direction * lever)
            V.append(rest[:, i])
    driven = np.einsum("kin,ia->kan", A[:, : model.fitted], force_root(model))
    for a, b, factor in hermitian_basis(model.fitted, full=True):
        U.append(factor * driven[:, a])
        V.append(driven[:, b])
    return np.stack(U, axis=1), np.stack(V, axis=1)


def hermitian_basis(size: int, *, full: bool) -> list[tuple[int, int, complex]]:
    """Row, column and factor of a basis of Hermitian matrices, each plus its adjoint."""
    out: list[tuple[int, int, complex]] = [(a, a, 0.5) for a in range(size)]
    if full:
        for a, b in pairs(size):
            out += [(a, b, 1.0), (a, b, 1j)]
    return out


def force_root(model: Model) -> ComplexArray:
    """A root B of the force spectrum of the free modes, ``Q = B Bᴴ``."""
    return _root(model.force[: model.fitted, : model.fitted])


def noise_root(model: Model) -> ComplexArray:
    """A root A of the background, ``R = A Aᴴ``."""
    if model.full:
        return _root(model.noise)
    power = np.maximum(np.diag(model.noise).real, _LEAST_POWER)
    return np.asarray(np.diag(np.sqrt(power)), complex)


def _root(matrix: ComplexArray) -> ComplexArray:
    if len(matrix) < 2:
        return np.asarray(np.sqrt(np.maximum(matrix.real, _LEAST_POWER)), complex)
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.sqrt(np.maximum(values, _LEAST_POWER)), complex)


def _grown(root: ComplexArray, step: Array, *, full: bool) -> ComplexArray:
    """``A exp(H) Aᴴ`` with H of the given coordinates in `hermitian_basis`."""
    size = len(root)
    H = np.zeros((size, size), complex)
    for (a, b, factor), change in zip(hermitian_basis(size, full=full), step, strict=True):
        H[a, b] += factor * change
        H[b, a] += np.conj(factor) * change
    values, vectors = np.linalg.eigh(H)
    half = root @ (vectors * np.exp(0.5 * values))
    return np.asarray(half @ half.conj().T)


def moved(model: Model, step: Array) -> Model:
    """The model after a step of its parameters."""
    at = parameter_slices(model)
    free = model.fitted
    omega, zeta, shapes = model.omega.copy(), model.zeta.copy(), model.shapes.copy()
    omega[:free] *= np.exp(step[at["frequency"]])
    zeta[:free] *= np.exp(step[at["damping"]])
    turns = step[at["shape"]].reshape(free, shapes.shape[1] - 1)
    for i in range(free):
        turned = shapes[i] + tangents(shapes[i]) @ turns[i]
        shapes[i] = turned / np.linalg.norm(turned)
    force = model.force.copy()
    forces = step[np.concatenate([at["auto"], at["cross"]])]
    if free:
        force[:free, :free] = _grown(force_root(model), forces, full=True)
    noise = _grown(noise_root(model), step[at["noise"]], full=model.full)
    return replace(model, omega=omega, zeta=zeta, shapes=shapes, force=force, noise=noise)
