"""What both kernels are given; the compiler knows named tuples."""

from __future__ import annotations

from typing import NamedTuple

from prism._types import Array, Index

__all__ = ["Forces", "Pace"]


class Forces(NamedTuple):
    """Numbers of the equations of motion.

    Attributes
    ----------
    kinds, shapes, exponents, factors : ndarray
        Of the library.
    theta, omega, residues, ratios, others : ndarray
        Of the `Parameters`.
    """

    kinds: Index
    shapes: Array
    exponents: Index
    factors: Array
    theta: Array
    omega: Array
    residues: Array
    ratios: Array
    others: Index


class Pace(NamedTuple):
    """How motions are followed.

    Attributes
    ----------
    step, substeps : float, int
        Sampling step, and integration steps in it.
    gain_x, gain_v : float
        Of the observer.
    limit : float
        A coordinate beyond it has escaped.
    drifts, kicks : ndarray
        Of the scheme.
    sensitive : bool
        Whether to follow the sensitivities.
    """

    step: float
    substeps: int
    gain_x: float
    gain_v: float
    limit: float
    drifts: Array
    kicks: Array
    sensitive: bool
