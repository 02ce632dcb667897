r"""What the methods on the correlation share: cosine grids, amplitudes, and the way to `Lines`.

The methods :mod:`.nnls` and :mod:`.sdp` find frequencies and shapes from the correlation alone.
Everything else of `Lines` is computed here at those frequencies and shapes: the amplitudes of
every trial by linear least squares, the gain of every line, the noise, and the spread of the
estimate over resampled records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammainccinv

from prism._optional import require
from prism._types import Array, Index
from prism.correlation import Correlation, correlate, correlate_groups, pool
from prism.errors import CannotTellError, NoLineError, OptionError
from prism.motion.steady import _limits as limits
from prism.motion.steady.inphase import InPhaseFit, fit_in_phase
from prism.motion.steady.likelihood import Lines
from prism.motion.steady.phase import phase_test
from prism.record import QUANTITIES, Record
from prism.remarks import Ask, Words
from prism.search._limits import RELATIVE_FLOOR
from prism.search.noise import floor_from_spectrum
from prism.search.projection import (
    LineFit,
    degrees_of_freedom,
    evaluate,
    gains,
    residual_weights,
)
from prism.search.series import samplings_of
from prism.search.spectrum import line_threshold

Estimate = Callable[[Correlation], tuple[Array, Array]]  # correlation to frequencies and shapes


# -- cosines on a grid -------------------------------------------------------------------------


def default_grid(correlation: Correlation, top: float | None = None) -> Array:
    """Uniform grid from one period of the record to ``top``, by default the Nyquist frequency.

    Four points per resolution ``2π/τ_max``: a cosine half-way between two of them is reproduced
    to 10 % (rms), and the columns are still well conditioned.
    """
    spacing = correlation.resolution / limits.OVERSAMPLING
    low = 2 * np.pi / correlation.duration
    high = np.pi / correlation.step if top is None else top
    if not low < high:
        raise OptionError(f"the grid from {low:g} to {high:g} is empty.")
    return np.arange(low, high + spacing, spacing)


def band_top(record: Record, false_alarm: float) -> float:
    r"""A little above the highest significant frequency of the tapered periodogram.

    Beyond it the grid would only fit noise, which de-tilting by Ω² then amplifies. The
    periodogram is Hann-tapered so that strong lines do not leak upwards, summed over trials and
    channels in units of their floor, where it is Gamma(nR, 1) distributed under noise.

    Raises
    ------
    NoLineError
        When nothing is significant.
    """
    step = float(record.dt or 1.0)
    length = 2 * max(record.samples)
    power = np.zeros((record.n_channels, length // 2 + 1), np.float32)
    for trial in record.trials:
        x = np.nan_to_num(trial - np.nanmean(trial, axis=0), nan=0.0)
        taper = np.hanning(len(x) + 2)[1:-1, None]
        z = np.fft.rfft(x * taper / np.sqrt(np.sum(taper**2)), length, axis=0)
        power += (np.abs(z) ** 2).T.astype(np.float32)
    floor = floor_from_spectrum(power, record.n_trials)
    floor = np.maximum(floor, RELATIVE_FLOOR * record.std() ** 2)
    shape = record.n_channels * record.n_trials
    level = gammainccinv(shape, false_alarm / power.shape[1])
    above = np.flatnonzero((power / floor[:, None]).sum(axis=0) > level)
    above = above[above >= 2]
    if not len(above):
        raise _no_line(record, false_alarm)
    return float(min(limits.ABOVE_THE_TOP * above[-1] * 2 * np.pi / (length * step), np.pi / step))


# -- positive semidefinite matrices on a grid ------------------------------------------------------


@dataclass(frozen=True)
class ResidueSpectrum:
    """Positive semidefinite matrices on a grid.

    Attributes
    ----------
    grid : array (points,)
    residues : array (points, channels, channels)
    """

    grid: Array
    residues: Array

    @property
    def weights(self) -> Array:
        """Trace of each matrix."""
        return np.asarray(np.trace(self.residues, axis1=1, axis2=2))


@dataclass(frozen=True)
class ResidueProgram:
    """Least squares for matrices on any grid: ``build`` returns row j of G, and all H_j."""

    build: Callable[[Array], tuple[Callable[[Index], Array], Array]]
    solver: str

    def subset(self, G: Array, H: Array, penalty: float) -> Array:
        """Minimise ``Σ G_jk ⟨B_j, B_k⟩ - 2 Σ ⟨H_j, B_j⟩ + λ Σ tr B_j`` over all B ⪰ 0."""
        cp = require("cvxpy", "the semidefinite program", "sdp")
        m, n, _ = H.shape
        unit = float(np.mean(np.diag(G)))
        size = float(np.abs(H).max()) / unit
        values, vectors = np.linalg.eigh(G / unit)
        keep = values > 1e-13 * values[-1]
        root = (vectors[:, keep] * np.sqrt(values[keep])).T
        target = (vectors[:, keep] / np.sqrt(values[keep])).T @ H.reshape(m, -1) / (unit * size)
        B = [cp.Variable((n, n), PSD=True) for _ in range(m)]
        rows = cp.vstack([cp.vec(b, order="C") for b in B])
        cost = cp.sum_squares(root @ rows - target)
        cost = cost + penalty / (unit * size) * cp.sum([cp.trace(b) for b in B])
        program = cp.Problem(cp.Minimize(cost))
        program.solve(solver=self.solver)
        if program.status not in ("optimal", "optimal_inaccurate"):
            raise CannotTellError(
                Words(
                    f"the semidefinite program ended as {program.status} with {self.solver}; "
                    "try the other solver or {0}.",
                    (Ask("method", "nnls"),),
                )
            )
        return np.array([size * _positive_part(b.value) for b in B])

    def solve(self, grid: Array, penalty: float | None) -> ResidueSpectrum:
        """The exact solution on a grid, by adding points until it is optimal on all of it."""
        row, H = self.build(grid)
        top = _largest_eigenvalues(H)
        lam = 2 * limits.PENALTY * float(top.max()) if penalty is None else penalty
        limit = 0.5 * lam + 1e-2 * (0.5 * lam) + 1e-9 * float(top.max())
        out = np.zeros_like(H)
        active = peaks(top, limit)[: limits.NEW_POINTS]
        for _ in range(limits.PROGRAM_ROUNDS):
            if not len(active):
                break
            rows = row(active)
            B = self.subset(rows[:, active], H[active], lam)
            trace = np.trace(B, axis1=1, axis2=2)
            out[:] = 0.0
            out[active] = B
            kept = active[trace > 1e-6 * trace.max(initial=0.0)]
            slack = _largest_eigenvalues(H - np.tensordot(rows.T, B, axes=1))
            slack[active] = -np.inf
            new = peaks(slack, limit)[: limits.NEW_POINTS]
            if not len(new):
                break
            active = np.sort(np.concatenate([kept, new]))
        weights = np.trace(out, axis1=1, axis2=2)
        out[weights <= 1e-6 * weights.max(initial=0.0)] = 0.0
        return ResidueSpectrum(grid, out)


def _positive_part(matrix: Array) -> Array:
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _largest_eigenvalues(matrices: Array) -> Array:
    return np.asarray(np.linalg.eigvalsh(matrices)[:, -1], float)


def peaks(values: Array, level: float) -> Index:
    """Local maxima above a level, highest first."""
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    peak = (values > level) & (values >= padded[:-2]) & (values >= padded[2:])
    where = np.flatnonzero(peak)
    return where[np.argsort(-values[where])]


# -- from frequencies to Lines -------------------------------------------------------------------


def significant(
    record: Record, omega: Array, false_alarm: float, max_modes: int | None
) -> tuple[LineFit, float]:
    """Drop lines, the weakest first, until the rest raises the likelihood enough.

    The amplitudes are free here. The noise is what these lines leave, so errors of the
    frequencies count as noise.

    Raises
    ------
    NoLineError
        When no line is left.
    """
    samplings, floor = samplings_of(record)[0], RELATIVE_FLOOR * record.std() ** 2
    while len(omega):
        fit = evaluate(samplings, omega, np.ones(record.n_channels))
        fit = fit.weighted(residual_weights(fit, floor))
        spare = float(degrees_of_freedom(samplings, fit.count).sum())
        threshold = line_threshold(samplings, false_alarm, spare)
        gain = gains(fit).sum(axis=1)
        if gain.min() >= threshold and (max_modes is None or len(omega) <= max_modes):
            return fit, threshold
        omega = np.delete(omega, gain.argmin())
    raise _no_line(record, false_alarm)


def _no_line(record: Record, false_alarm: float) -> NoLineError:
    return NoLineError(
        Words(
            f"no line of {', '.join(record.channels)} is significant at a false-alarm probability "
            f"of {false_alarm:g}; record longer, reduce the noise, or use {{0}}, which is more "
            "sensitive.",
            (Ask("method", "likelihood"),),
        )
    )


def lines_at(
    record: Record,
    free: LineFit,
    line: Index,
    shapes: Array,
    threshold: float,
    estimate: Estimate,
) -> Lines:
    """The lines of a record at given frequencies and shapes.

    Parameters
    ----------
    free : LineFit
        Linear fit at the frequencies, with free amplitudes.
    line : array of int (modes,)
    shapes : array (modes, channels)
        Orthonormal within a line.
    estimate : callable
        The method itself near this answer, from a correlation to frequencies and shapes of the
        same sizes; used on resampled records for the error bars.
    """
    samplings, trials, means = samplings_of(record)
    orders = np.array([QUANTITIES.index(q) for q in record.quantity])
    fit = fit_in_phase(
        samplings, free.omega, line, shapes, free.weights, orders, background=1, steps=0
    )
    fit = replace(fit, covariance=spread(record, fit, trials, estimate))
    return Lines(
        fit=fit,
        motion=fit,
        tests=tuple(phase_test(free, j, orders) for j in range(free.count)),
        gains=gains(free).sum(axis=1),
        noise=1 / np.sqrt(free.weights),
        trials=trials,
        means=means,
        threshold=threshold,
        slow=False,
        crowded=False,
    )


def spread(
    record: Record, fit: InPhaseFit, trials: tuple[tuple[int, int], ...], estimate: Estimate
) -> Array:
    r"""Covariance of ``(omega, shapes.ravel())`` from the spread over resampled records.

    The Fisher information would be too optimistic: on a finite record the products of different
    lines do not average out of the correlation (order :math:`1/(ΔΩ\,T)`), which is usually more
    than the noise does. With eight trials or more the delete-a-group jackknife over at most 20
    groups of trials is used. With fewer, 20 records are simulated with the fitted amplitudes,
    **random phases** and the fitted noise, and the mean square deviation from the simulated
    truth, bias included, is taken. Errors of different lines are taken as independent, as 20
    replicas cannot tell; the covariance itself is uncertain by a quarter.
    """
    if record.n_trials >= limits.JACKKNIFE_TRIALS:
        parts = correlate_groups(record, min(record.n_trials, limits.REPLICAS))
        kept = [pool([p for p in parts if p is not out]) for out in parts]
        deviations = _deviations(fit, [estimate(c) for c in kept])
        deviations = deviations - deviations.mean(axis=0)
        scale = (len(parts) - 1) / len(parts)
    else:
        replicas = [estimate(correlate(r)) for r in _simulated(record, fit, trials)]
        deviations = _deviations(fit, replicas)
        scale = 1 / len(deviations)
    return _by_line(scale * deviations.T @ deviations, fit)


def _simulated(
    record: Record, fit: InPhaseFit, trials: tuple[tuple[int, int], ...]
) -> Iterator[Record]:
    """Records with the fitted amplitudes and noise and random phases; always the same ones."""
    rng = np.random.default_rng(0)
    K = len(fit.line)
    omega = fit.omega[fit.line]
    factor = fit.shapes * (1j * omega[:, None]) ** fit.orders  # (modes, channels)
    for _ in range(limits.REPLICAS):
        values = []
        for (i, j), t, seen in zip(trials, record.times, record.trials, strict=True):
            v = fit.motions[i].values[:, j]
            phase = np.exp(2j * np.pi * rng.random(K))
            z = np.hypot(v[:K], v[K : 2 * K]) * phase
            x = np.real(np.exp(1j * np.multiply.outer(t, omega)) @ (z[:, None] * factor))
            x += rng.standard_normal(x.shape) / np.sqrt(fit.weights)
            values.append(np.where(np.isnan(seen), np.nan, x))
        yield Record(values, dt=record.dt, quantity=record.quantity)


def _deviations(fit: InPhaseFit, replicas: Sequence[tuple[Array, Array]]) -> Array:
    """Replicas minus fit, (replicas, parameters); of shapes only what leaves their span."""
    rows = []
    for omega, shapes in replicas:
        change = np.empty_like(fit.shapes)
        for ell in range(len(fit.omega)):
            own = fit.line == ell
            d, new = fit.shapes[own], shapes[own]
            U, _, Vt = np.linalg.svd(d @ new.T)
            turned = U @ Vt @ new
            change[own] = turned - turned @ d.T @ d
        rows.append(np.concatenate([omega - fit.omega, change.ravel()]))
    return np.array(rows)


def _by_line(covariance: Array, fit: InPhaseFit) -> Array:
    """Keep the covariances within one line."""
    n = fit.shapes.shape[1]
    owner = np.concatenate([np.arange(len(fit.omega)), np.repeat(fit.line, n)])
    return np.asarray(np.where(owner[:, None] == owner, covariance, 0.0))
