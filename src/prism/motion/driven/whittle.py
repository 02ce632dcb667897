r"""Spectrum of noise-driven modes in a band, and its derivatives.

.. math:: D(ω) = \sum_{ij} φ_i φ_j^T \, h_i h_j^* Q_{ij} + R, \qquad
          h = \frac{(iω)^q}{ω_n^2 - ω^2 + 2iζω_nω}

Q is the spectrum of the modal forces, R the noise and what is left of modes that nobody modelled.
Some modes may be held: neighbours whose tails reach into the band. Forces of modes of one structure
are correlated, and where the tail of a neighbour interferes with a resonance it shifts the peak.
Held modes may therefore be linked: their poles and shapes stay, their forces are fitted along with
those of the free modes, cross spectra and all. Every derivative of D is :math:`X + X^H` with X an
outer product :math:`u v^H`.

Fast Bayesian FFT modal identification has this spectrum (Au, Mech. Syst. Signal Process. 26 (2012)
60); what a record of finite length adds to it is in `leakage`, the likelihood in `scoring`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from prism._types import Array, ComplexArray, Index
from prism.motion.driven import _limits as limits
from prism.motion.driven.spectrum import LineBand

_ROWS = ("omega", "zeta", "shapes", "gains")  # what a model has of every mode, but for its force


@dataclass(frozen=True)
class BandModel:
    """Modes, modal forces and background of a band.

    Attributes
    ----------
    omega, zeta : arrays (m,)
    shapes : array (m, n)
        Unit, in the channel units of the band.
    gains : array (m,)
        Constants that make Q of order one.
    force : array (m, m)
        Q, Hermitian and positive definite; zero between a mode whose force is held and any other.
    noise : array (n, n)
        R, Hermitian and positive definite.
    fitted : int
        Number of free modes, which come first: their frequency, damping, shape and force are
        fitted, those of the others are held.
    full : bool
        Whether R has entries off its diagonal.
    linked : int
        Number of held modes, next after the free ones, whose forces are fitted along.
    """

    omega: Array
    zeta: Array
    shapes: Array
    gains: Array
    force: ComplexArray
    noise: ComplexArray
    fitted: int
    full: bool
    linked: int = 0

    @property
    def count(self) -> int:
        """Number of modes."""
        return len(self.omega)

    @property
    def driven(self) -> int:
        """Number of modes whose forces are fitted."""
        return self.fitted + self.linked

    def only(self, keep: Index) -> BandModel:
        """Some of the modes."""
        rows: dict[str, Any] = {name: getattr(self, name)[keep] for name in _ROWS}
        fitted = int(np.count_nonzero(keep < self.fitted))
        linked = int(np.count_nonzero(keep < self.fitted + self.linked)) - fitted
        force = self.force[np.ix_(keep, keep)]
        return replace(self, **rows, force=force, fitted=fitted, linked=linked)

    def free(self) -> BandModel:
        """The free modes alone."""
        return self.only(np.arange(self.fitted))

    def joined(self, other: BandModel) -> BandModel:
        """The modes of both, their forces independent; R of the first, which has no held modes."""
        both = {name: (getattr(self, name), getattr(other, name)) for name in _ROWS}
        rows: dict[str, Any] = {name: np.concatenate(pair) for name, pair in both.items()}
        force = np.asarray(scipy.linalg.block_diag(self.force, other.force), complex)
        fitted = self.fitted + other.fitted
        return replace(self, **rows, force=force, fitted=fitted, linked=other.linked)

    @cached_property
    def at(self) -> dict[str, Index]:
        """Places of the parameters.

        ``frequency`` (ln ω), ``damping`` (ln ζ) and ``shape`` (tangents) of the free modes,
        ``auto`` and ``cross`` (force spectrum) of free and linked ones, then ``noise``. The last
        three are Hermitian matrices H that add ``B H Bᴴ`` to Q and ``A H Aᴴ`` to R, with roots
        of what they are now, but never so much that they are no longer positive.
        """
        f, c, n = self.fitted, self.driven, len(self.noise)
        sizes = [f, f, f * (n - 1), c, c * (c - 1), n + (n * (n - 1) if self.full else 0)]
        places = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
        names = ("frequency", "damping", "shape", "auto", "cross", "noise")
        return dict(zip(names, places, strict=True))

    @property
    def modal(self) -> int:
        """Number of parameters, those of the background left out."""
        return int(self.at["noise"][0])

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return int(self.at["noise"][-1]) + 1

    @cached_property
    def poles(self) -> ComplexArray:
        r""":math:`λ = -ζω_n + iω_n\sqrt{1 - ζ^2}`."""
        return np.asarray(-self.zeta * self.omega + 1j * self.omega * np.sqrt(1 - self.zeta**2))

    @cached_property
    def turns(self) -> Array:
        """Directions in which the shapes of the free modes can move, (free, n - 1, n)."""
        n = len(self.noise)
        turns = [tangents(shape).T for shape in self.shapes[: self.fitted]]
        return np.reshape(turns, (self.fitted, n - 1, n))

    @cached_property
    def force_root(self) -> ComplexArray:
        """A root B of the force spectrum that is fitted, ``Q = B Bᴴ``."""
        return _root(self.force[: self.driven, : self.driven])

    @cached_property
    def noise_root(self) -> ComplexArray:
        """A root A of the background, ``R = A Aᴴ``."""
        if self.full:
            return _root(self.noise)
        power = np.maximum(np.diag(self.noise).real, limits.LEAST_POWER)
        return np.asarray(np.diag(np.sqrt(power)), complex)


class HermitianBasis(NamedTuple):
    """A basis of Hermitian matrices: rows, columns and factors of entries, each plus its adjoint.

    The diagonal comes first, then real and imaginary parts of the entries above it.
    """

    rows: Index
    columns: Index
    factors: ComplexArray

    @classmethod
    @cache
    def of(cls, size: int, *, full: bool) -> HermitianBasis:
        """Of all Hermitian matrices of a size, or of the diagonal ones."""
        diagonal = np.arange(size)
        above = np.triu_indices(size if full else 0, 1)
        rows, columns = (np.concatenate([diagonal, np.repeat(part, 2)]) for part in above)
        factors = np.append(np.full(size, 0.5 + 0j), np.tile([1.0, 1j], len(above[0])))
        return cls(rows, columns, factors)

    def beside(self, other: HermitianBasis, size: int) -> HermitianBasis:
        """Of matrices of two blocks, the first of a size."""
        rows, columns = (
            np.append(one, two + size) for one, two in zip(self[:2], other[:2], strict=True)
        )
        return HermitianBasis(rows, columns, np.append(self.factors, other.factors))

    def traces(self, matrix: ComplexArray) -> Array:
        """Its product with every member, traced, of Hermitian matrices (..., size, size)."""
        return np.asarray(2 * (self.factors * matrix[..., self.columns, self.rows]).real)


def transfers(model: BandModel, band: LineBand) -> ComplexArray:
    """The h of every line and mode times its gain, without the powers of iω, (K, m)."""
    w = band.omega[:, None]
    below = model.omega**2 - w**2 + 2j * model.zeta * model.omega * w
    return np.asarray(model.gains / below)


def columns(model: BandModel, band: LineBand) -> ComplexArray:
    """``φ_j h_j`` at every line, (K, m, n)."""
    h = transfers(model, band)
    return np.asarray(model.shapes[None] * band.powers[:, None, :] * h[:, :, None])


def spectrum(model: BandModel, band: LineBand) -> ComplexArray:
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


def outer_factors(model: BandModel, band: LineBand) -> tuple[ComplexArray, ComplexArray]:
    """U and V, (K, P', n): the derivative of D by parameter p is ``U Vᴴ`` plus its adjoint.

    For frequency, damping and shape of the free modes.
    """
    f, n = model.fitted, len(model.noise)
    w = band.omega[:, None]
    h = transfers(model, band)
    A = columns(model, band)
    rest = model.force.conj()[:f] @ A
    by_zeta = (-2j * model.zeta * model.omega * w * h / model.gains)[:, :f]
    by_omega = by_zeta - (2 * model.omega**2 * h / model.gains)[:, :f]
    lever = band.powers[:, None, :] * h[:, :f, None]
    turned = model.turns * lever[:, :, None, :]
    U = [rate[:, :, None] * A[:, :f] for rate in (by_omega, by_zeta)]
    U += [turned.reshape(len(w), -1, n)]
    V = [rest, rest, np.repeat(rest, n - 1, axis=1)]
    return np.concatenate(U, axis=1), np.concatenate(V, axis=1)


def power_factors(model: BandModel, band: LineBand) -> tuple[ComplexArray, HermitianBasis]:
    """W, (K, n, c + n), and a basis: the derivative of D by a power is ``W H Wᴴ``.

    For the c forces that are fitted, and the background: all other parameters.
    """
    driven = columns(model, band)[:, : model.driven].swapaxes(1, 2) @ model.force_root
    noise = np.broadcast_to(model.noise_root, (len(driven), *model.noise.shape))
    forces = HermitianBasis.of(model.driven, full=True)
    basis = forces.beside(HermitianBasis.of(len(model.noise), full=model.full), model.driven)
    return np.concatenate([driven, noise], axis=2), basis


def _root(matrix: ComplexArray) -> ComplexArray:
    if len(matrix) < 2:
        return np.asarray(np.sqrt(np.maximum(matrix.real, limits.LEAST_POWER)), complex)
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.sqrt(np.maximum(values, limits.LEAST_POWER)), complex)


def _grown(root: ComplexArray, step: Array, *, full: bool) -> ComplexArray:
    r"""``A T Tᴴ Aᴴ`` with ``T Tᴴ = I + H`` to first order, H in a `HermitianBasis`, and positive.

    T is upper triangular, and the columns of A ascend: a step off the diagonal then turns the
    weakest directions towards stronger ones, and leaves :math:`\det T T^H = \prod_i (1 + H_{ii})`.
    """
    basis = HermitianBasis.of(len(root), full=full)
    T = np.zeros_like(root)
    np.add.at(T, (basis.rows, basis.columns), basis.factors * step)
    np.fill_diagonal(T, np.sqrt(_growth(2 * np.diag(T).real)))
    grown = root @ T
    return np.asarray(grown @ grown.conj().T)


def _growth(x: Array) -> Array:
    """``1 + x``, which bends off before it is zero: linear as D is, and positive."""
    bend = limits.GROWTH_BEND
    below = np.maximum(bend - 1 - x, 0.0)
    return np.asarray(np.where(below > 0, bend**2 / (bend + below), 1 + x))


def moved(model: BandModel, step: Array) -> BandModel:
    """The model after a step of its parameters."""
    at, free = model.at, slice(0, model.fitted)
    omega, zeta, shapes = model.omega.copy(), model.zeta.copy(), model.shapes.copy()
    omega[free] *= np.exp(step[at["frequency"]])
    zeta[free] *= np.exp(step[at["damping"]])
    angles = step[at["shape"]].reshape(model.turns.shape[:2])
    shapes[free] += np.einsum("ik,ikn->in", angles, model.turns)
    shapes[free] /= np.linalg.norm(shapes[free], axis=1, keepdims=True)
    force, driven = model.force.copy(), slice(0, model.driven)
    if model.driven:
        forces = np.append(step[at["auto"]], step[at["cross"]])
        force[driven, driven] = _grown(model.force_root, forces, full=True)
    noise = _grown(model.noise_root, step[at["noise"]], full=model.full)
    return replace(model, omega=omega, zeta=zeta, shapes=shapes, force=force, noise=noise)
