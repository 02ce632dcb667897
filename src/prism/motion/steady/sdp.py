r"""Positive semidefinite residues on a frequency grid: the paper's semidefinite program.

.. math:: \min_{B_j ⪰ 0} \sum_τ \Big\|C(τ) - \sum_j B_j \cos ν_j τ\Big\|_F^2
          + λ \sum_j \mathrm{tr} B_j

on the correlation, and the same for :math:`\hat K(s) ≈ \sum_j R_j/(s^2 + ν_j^2)` (the paper's
eq. (sdp)); for a positive semidefinite matrix the nuclear norm is the trace. Unlike
:mod:`.nnls` this keeps the direction of every weight, so that one frequency may have a residue of
rank two, and lines nearer than the resolution separate when their directions differ.

**Reduction.** The data enter through the inner products of the columns only. The program is
solved on a few grid points, then the points where the optimality condition
:math:`λ_{\max}(H_j - \sum_k G_{jk} B_k) ≤ λ/2` fails are added, until it holds on the whole
grid: the exact solution, though the solver never sees more than some tens of points.

**Solver.** Clarabel and SCS through CVXPY, measured on one core (total time, and smallest
eigenvalue of a residue relative to the scale): 20 points 2×2: 0.05 s and 0.05 s; 40 points 4×4
on a refined grid: 0.24 s and 0.46 s; 80 points 4×4 on a coarse one: 1.1 s and 0.55 s. The
problems here are small and refined, where Clarabel is as fast or faster; it needs no tolerance
to be chosen, and its residues are positive to 1e-8 against -3e-6 for SCS at 1e-6. Clarabel is
therefore the default; SCS is the better choice for many channels (20 points 8×8: 0.94 s, 0.19 s).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from prism._linalg import positive_sign
from prism._optional import require
from prism._types import Array, ComplexArray, Index, Mask
from prism.correlation import Correlation, CosineBasis, correlate
from prism.errors import OptionError
from prism.motion.steady import _limits as limits
from prism.motion.steady._convex import (
    ResidueProgram,
    ResidueSpectrum,
    band_top,
    default_grid,
    lines_at,
    significant,
)
from prism.motion.steady.likelihood import Lines
from prism.motion.steady.nnls import clusters, zoomed
from prism.motion.steady.phase import PhaseTest, phase_test
from prism.record import Record
from prism.remarks import Ask, Words

__all__ = [
    "ResidueLine",
    "ResidueSpectrum",
    "correlation_residues",
    "estimate_sdp",
    "kernel_residues",
    "psd_spectrum",
]


@dataclass(frozen=True)
class ResidueLine:
    """One frequency and its positive semidefinite matrix.

    Attributes
    ----------
    frequency : float
    residue : array (channels, channels)
    rank : int
        Eigenvalues above the tolerance, relative to the largest.
    """

    frequency: float
    residue: Array
    rank: int

    @property
    def factors(self) -> Array:
        """Orthogonal vectors whose outer products add up to the residue, (rank, channels)."""
        values, vectors = np.linalg.eigh(self.residue)
        c = (vectors * np.sqrt(np.maximum(values, 0.0))).T[::-1][: self.rank]
        return np.array([positive_sign(row) * row for row in c])


# -- from the grid to lines ----------------------------------------------------------------------


def _frequencies(points: Array, residues: Array, same: float, count: int | None = None) -> Array:
    r"""Frequencies in one group of active points.

    The moments :math:`M_0 = \sum B_j`, :math:`M_1 = \sum ν_j B_j` of two lines of different
    directions have the two frequencies as generalised eigenvalues, however close they are.
    Values nearer than ``same`` are one frequency of higher rank.

    Parameters
    ----------
    count : int, optional
        Return exactly so many.
    """
    M0, M1 = residues.sum(axis=0), np.tensordot(points, residues, axes=1)
    centre = np.trace(M1) / np.trace(M0)
    values, vectors = np.linalg.eigh(M0)
    rank = int(np.sum(values > limits.RANK_TOLERANCE * values[-1]))
    span = vectors[:, -max(rank, count or 1) :]
    if count == 1 or span.shape[1] == 1:
        return np.array([centre])
    small = 1e-9 * values[-1] * np.eye(span.shape[1])
    found = scipy.linalg.eigh(span.T @ M1 @ span, span.T @ M0 @ span + small, eigvals_only=True)
    parts = np.split(found, np.flatnonzero(np.diff(found) > same) + 1)
    if count is not None and len(parts) != count:
        parts = np.array_split(found, count)
    return np.array([centre]) if len(parts) == 1 else np.array([p.mean() for p in parts])


def _spacing(grid: Array) -> float:
    if len(grid) < 3 or np.any(np.diff(grid) <= 0):
        raise OptionError("the grid must hold at least three ascending frequencies.")
    return float(np.median(np.diff(grid)))


def _locate(problem: ResidueProgram, grid: Array, penalty: float | None, threshold: float) -> Array:
    """Frequencies on the grid, then on refined grids."""
    spacing = _spacing(grid)
    spectrum = problem.solve(grid, penalty)
    groups = clusters(grid, spectrum.weights, limits.JOINED_RESIDUES * spacing)
    omega = _strong_frequencies(spectrum, groups, spacing, threshold)
    return _zoom(problem, omega, spacing, penalty, threshold) if len(omega) else omega


def _zoom(
    problem: ResidueProgram, omega: Array, spacing: float, penalty: float | None, threshold: float
) -> Array:
    """The same program on grids three times finer each, around every group of lines."""
    for stage in range(1, limits.RESIDUE_STAGES + 1):
        points, owner = zoomed(omega, spacing / 3**stage, 5)
        spectrum = problem.solve(np.sort(points), penalty)
        owner = owner[np.argsort(points)]
        members = [
            np.isin(owner, group) for group in _groups(omega, limits.JOINED_RESIDUES * spacing)
        ]
        omega = _strong_frequencies(spectrum, members, spacing, threshold)
        if not len(omega):
            break
    return omega


def _strong_frequencies(
    spectrum: ResidueSpectrum, groups: Sequence[Index | Mask], spacing: float, threshold: float
) -> Array:
    """Frequencies of the groups of points whose de-tilted trace is above the threshold."""
    grid, weights = spectrum.grid, spectrum.weights
    size = np.array([grid[g] ** 2 @ weights[g] for g in groups])
    strong = [g for g, w in zip(groups, size, strict=True) if w > threshold * size.max()]
    found = [
        _frequencies(grid[g], spectrum.residues[g], limits.SAME_RESIDUE_PLACE * spacing)
        for g in strong
    ]
    return np.concatenate(found) if found else np.zeros(0)


def _groups(omega: Array, gap: float) -> list[Index]:
    return np.split(np.arange(len(omega)), np.flatnonzero(np.diff(omega) > gap) + 1)


def _near(problem: ResidueProgram, omega: Array, spacing: float) -> Array:
    """One step of the refinement that keeps the number of lines; for resampled records."""
    points, owner = zoomed(omega, spacing / 9, 2)
    row, H = problem.build(points)
    B = problem.subset(row(np.arange(len(points))), H, 0.0)
    found = []
    for group in _groups(omega, limits.JOINED_RESIDUES * spacing):
        own = np.isin(owner, group)
        new = _frequencies(
            points[own], B[own], limits.SAME_RESIDUE_PLACE * spacing, count=len(group)
        )
        found.append(new if len(new) == len(group) else omega[group])
    return np.concatenate(found)


def _residues(problem: ResidueProgram, omega: Array) -> Array:
    """Residues at given frequencies without penalty: the shrinkage by λ is undone."""
    row, H = problem.build(omega)
    return problem.subset(row(np.arange(len(omega))), H, 0.0)


def _as_lines(omega: Array, residues: Array, tolerance: float) -> list[ResidueLine]:
    out = []
    for frequency, residue in zip(omega, residues, strict=True):
        values = np.linalg.eigvalsh(residue)
        rank = int(np.sum(values > tolerance * values[-1])) if values[-1] > 0 else 0
        if rank:
            out.append(ResidueLine(float(frequency), residue, rank))
    return out


# -- on the correlation --------------------------------------------------------------------------


def _correlation_problem(correlation: Correlation, solver: str) -> ResidueProgram:
    """Channels are scaled to unit variance: a congruence, which keeps matrices positive."""
    unit = _units(correlation)
    scaled = correlation.symmetric[1:] / np.outer(unit, unit)

    def build(grid: Array) -> tuple[Callable[[Index], Array], Array]:
        basis = CosineBasis.of(correlation, grid)
        return basis.gram, basis.project(scaled)

    return ResidueProgram(build, solver)


def _units(correlation: Correlation) -> Array:
    if np.any(correlation.orders != correlation.orders[0]):
        raise OptionError(
            Words(
                "the semidefinite program needs channels of one kind, all displacement, all "
                "velocity or all acceleration: select them, or use {0}.",
                (Ask("method", "nnls"),),
            )
        )
    return np.asarray(np.sqrt(np.diag(correlation.values[0])))


def psd_spectrum(
    correlation: Correlation,
    grid: Array | None = None,
    *,
    penalty: float | None = None,
    solver: str = "CLARABEL",
) -> ResidueSpectrum:
    r"""Positive semidefinite cosine amplitudes of a correlation on a grid.

    Parameters
    ----------
    grid : array, optional
        By default as for :func:`prism.motion.steady.nnls.nnls_spectrum`.
    penalty : float, optional
        λ, for channels scaled to unit variance; by default 1e-3 of the smallest λ for which
        every matrix vanishes, :math:`2\max_j λ_{\max}(H_j)`. Weights shrink by that part of the
        largest line, and lines weaker than that vanish.
    solver : {"CLARABEL", "SCS"}
    """
    points = default_grid(correlation) if grid is None else np.asarray(grid, float)
    unit = _units(correlation)
    spectrum = _correlation_problem(correlation, solver).solve(points, penalty)
    return ResidueSpectrum(points, spectrum.residues * np.outer(unit, unit))


def correlation_residues(
    correlation: Correlation,
    grid: Array | None = None,
    *,
    penalty: float | None = None,
    threshold: float = limits.THRESHOLD,
    rank_tolerance: float = limits.RANK_TOLERANCE,
    solver: str = "CLARABEL",
) -> list[ResidueLine]:
    r"""Lines of a correlation: :math:`B_j` with its rank, refined and without shrinkage.

    Multiply by :math:`Ω^2` (of displacement data) for :math:`kT \sum v v^T`.

    Parameters
    ----------
    threshold : float
        Part of the largest de-tilted trace that makes a line.
    rank_tolerance : float
        Eigenvalue, relative to the largest, that counts.
    """
    points = default_grid(correlation) if grid is None else np.asarray(grid, float)
    problem, unit = _correlation_problem(correlation, solver), _units(correlation)
    omega = _locate(problem, points, penalty, threshold)
    if not len(omega):
        return []
    residues = _residues(problem, omega) * np.outer(unit, unit)
    return _as_lines(omega, residues, rank_tolerance)


# -- on the memory kernel ------------------------------------------------------------------------


def kernel_residues(
    kernel: ComplexArray,
    s: ArrayLike,
    grid: Array,
    *,
    penalty: float | None = None,
    threshold: float = limits.THRESHOLD,
    rank_tolerance: float = limits.RANK_TOLERANCE,
    solver: str = "CLARABEL",
) -> list[ResidueLine]:
    r"""Poles and residues of :math:`\hat K(s) = \sum_i R_i/(s^2 + ω_i^2)` (the paper's (sdp)).

    Parameters
    ----------
    kernel : array (points, channels, channels)
        Values at ``s``.
    s : array (points,)
        Along a line :math:`σ + iω` with σ of the order of the wanted resolution.
    grid : array
        Candidate frequencies, ascending.
    threshold : float
        Part of the largest de-tilted trace :math:`ν^2 \mathrm{tr} R` that makes a pole.
    """
    points = np.asarray(s, complex)
    values = np.asarray(kernel, complex)
    if values.ndim != 3 or len(values) != points.size or values.shape[1] != values.shape[2]:
        raise OptionError(f"kernel values {values.shape} do not fit {points.size} values of s.")

    def build(nu: Array) -> tuple[Callable[[Index], Array], Array]:
        A = 1 / (points[:, None] ** 2 + nu**2)
        H = np.tensordot(A.conj().T, values, axes=1).real
        return (lambda j: (A[:, j].conj().T @ A).real), 0.5 * (H + np.swapaxes(H, 1, 2))

    problem = ResidueProgram(build, solver)
    omega = _locate(problem, np.asarray(grid, float), penalty, threshold)
    return _as_lines(omega, _residues(problem, omega), rank_tolerance) if len(omega) else []


# -- the method ----------------------------------------------------------------------------------


def estimate_sdp(
    record: Record,
    *,
    false_alarm: float,
    max_modes: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Lines:
    """Lines of a record by the semidefinite program on its correlation.

    As :func:`prism.motion.steady.estimate_nnls`, but a line may have several modes: as many as its
    amplitude matrix has eigenvalues above 4 % of the largest, and as the data significantly have
    directions. Needs the extra ``sdp``.

    Raises
    ------
    MissingDependencyError
        Without CVXPY.
    NoLineError
        When no line is significant.
    RecordError
        When the record is not sampled uniformly.
    """
    require("cvxpy", "the semidefinite program", "sdp")
    correlation = correlate(record)
    grid = default_grid(correlation, band_top(record, false_alarm))
    if progress is not None:
        progress(f"semidefinite program on {len(grid)} frequencies")
    lines = correlation_residues(correlation, grid)
    start = np.array([line.frequency for line in lines])
    free, threshold = significant(record, start, false_alarm, max_modes)
    tests = [phase_test(free, j, correlation.orders) for j in range(free.count)]
    problem, unit = _correlation_problem(correlation, "CLARABEL"), _units(correlation)
    found = _as_lines(free.omega, _residues(problem, free.omega) * np.outer(unit, unit), 0.0)
    ranks = [_rank(line, test) for line, test in zip(found, tests, strict=True)]
    if progress is not None:
        progress(f"{free.count} lines; error bars by resampling")

    def shapes_of(residues: Array) -> Array:
        vectors = np.linalg.eigh(residues)[1]
        return np.vstack([v[:, ::-1][:, :k].T for v, k in zip(vectors, ranks, strict=True)])

    def near(resampled: Correlation) -> tuple[Array, Array]:
        nearby, scale = _correlation_problem(resampled, "CLARABEL"), _units(resampled)
        omega = _near(nearby, free.omega, _spacing(grid))
        return omega, shapes_of(_residues(nearby, omega) * np.outer(scale, scale))

    shapes = shapes_of(np.array([line.residue for line in found]))
    shapes = shapes * np.array([positive_sign(d) for d in shapes])[:, None]
    line = np.repeat(np.arange(free.count), ranks)
    return lines_at(record, free, line, shapes, threshold, near)


def _rank(line: ResidueLine, test: PhaseTest) -> int:
    """Eigenvalues that are large, and directions that the data need."""
    values = np.linalg.eigvalsh(line.residue)
    large = int(np.sum(values > limits.RANK_TOLERANCE * values[-1]))
    needed = int(np.argmax(test.p_value >= limits.PHASE_LEVEL)) + 1
    return max(1, min(large, needed))
