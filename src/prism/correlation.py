r"""Correlation of a record with itself at later times.

.. math:: C_{ab}(τ) = \frac{1}{T - τ} \int_0^{T-τ} x_a(t + τ)\, x_b(t)\, dt

(the paper's eq. (autocorr)), averaged over all trials as well. Three facts shape this module:

* **Offsets.** The mean of every trial and channel is subtracted first. For a record with a
  non-integer number of slow periods this leaves a small constant in C; the likelihood method
  fits the offset jointly with the lines instead.
* **Noise.** White measurement noise adds its variance to the diagonal of C(0) and nothing to
  any other lag, so lag 0 is never used raw (:meth:`Correlation.noise_free_zero`).
* **Reciprocity.** :math:`C(-τ) = C(τ)^T`. A reciprocal system at equilibrium has
  :math:`C(τ) = \sum_j B_j \cos Ω_j τ`, even in τ and symmetric, so :math:`\dot C(0) = 0` and the
  streaming matrix :math:`Λ = \dot C(0) C(0)^{-1}` vanishes; rotation or a delay between channels
  makes it differ from zero (:meth:`Correlation.streaming`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.fft
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray, Index
from prism.errors import OptionError, RecordError
from prism.record import QUANTITIES, Record
from prism.remarks import Ask, Words

_LAG_TERMS = 5  # of the polynomial in τ² that continues C to lag zero
_FALLEN = 0.5  # the polynomial is fitted until C has fallen to this part of its first value
_FEWEST_LAGS, _MOST_LAGS = 8, 400  # lags of that fit
_LAG_CHUNK = 1 << 22  # products at a time


@dataclass(frozen=True)
class ZeroLag:
    r"""What the noise leaves at lag zero.

    Attributes
    ----------
    value : array (channels, channels)
        C(0) of the motion.
    curvature : array (channels, channels)
        :math:`\ddot C(0) = -\sum_j Ω_j^2 B_j`.
    noise : array (channels,)
        Variance of the measurement noise: the raw C(0) minus ``value`` on the diagonal, not
        below zero.
    """

    value: Array
    curvature: Array
    noise: Array


@dataclass(frozen=True)
class Correlation:
    r"""Empirical matrix correlation, :math:`C_{ab}(τ) = ⟨x_a(t+τ) x_b(t)⟩`.

    Attributes
    ----------
    step : float
        Distance of two lags, the sampling step.
    values : array (lags, channels, channels)
        From lag 0 on; lag 0 includes the measurement noise.
    counts : array (lags, channels, channels)
        Pairs of samples behind each value, over all trials.
    duration : float
        Length of the longest trial.
    orders : array of int (channels,)
        Derivative that each channel measures: 0 displacement, 1 velocity, 2 acceleration.
    """

    step: float
    values: Array
    counts: Array
    duration: float
    orders: Index

    @property
    def lags(self) -> Array:
        """The lags τ."""
        return np.asarray(self.step * np.arange(len(self.values)), float)

    @property
    def resolution(self) -> float:
        """``2π/τ_max``."""
        return float(2 * np.pi / self.lags[-1])

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return int(self.values.shape[1])

    @property
    def symmetric(self) -> Array:
        """``(C + Cᵀ)/2``: the even part in τ."""
        return np.asarray(0.5 * (self.values + np.swapaxes(self.values, 1, 2)))

    @property
    def antisymmetric(self) -> Array:
        """``(C - Cᵀ)/2``: the odd part, zero for a reciprocal system at equilibrium."""
        return np.asarray(0.5 * (self.values - np.swapaxes(self.values, 1, 2)))

    @property
    def trace(self) -> Array:
        """Mean over channels of ``C_aa(τ)/C_aa(0)``, at lag 1 and later; no units."""
        diagonal = np.einsum("laa->la", self.values)
        return np.asarray((diagonal[1:] / diagonal[0]).mean(axis=1))

    def noise_free_zero(self, lags: int | None = None) -> ZeroLag:
        r"""C(0) without the noise, continued from the neighbouring lags.

        The even part is smooth: :math:`C(0) + \ddot C(0) τ^2/2` and terms up to :math:`τ^8` are
        fitted to lags 1, 2, ...

        Parameters
        ----------
        lags : int, optional
            How many; by default until the normalised trace has fallen to one half, at least 8
            and at most 400. For the four-mass chain the polynomial then errs by 2e-7 of C(0) and
            3e-5 of the curvature, far less than noise and finite records do.
        """
        m = self._smooth_lags(lags)
        u = np.arange(1, m + 1) / m
        powers = u[:, None] ** (2 * np.arange(_LAG_TERMS))
        flat = self.symmetric[1 : m + 1].reshape(m, -1)
        c = np.linalg.lstsq(powers, flat, rcond=None)[0].reshape(_LAG_TERMS, *self.values.shape[1:])
        noise = np.maximum(np.diag(self.values[0] - c[0]), 0.0)
        return ZeroLag(c[0], 2 * c[1] / (m * self.step) ** 2, noise)

    def streaming(self, lags: int | None = None) -> Array:
        r"""Streaming matrix :math:`Λ = \dot C(0) C(0)^{-1}`, from the odd part near lag zero.

        It vanishes for a reciprocal system: C is even. A single finite record leaves a value of
        order :math:`1/T` because its phases are not averaged.
        """
        m = self._smooth_lags(lags)
        u = np.arange(1, m + 1) / m
        powers = u[:, None] ** (1 + 2 * np.arange(_LAG_TERMS - 1))
        flat = self.antisymmetric[1 : m + 1].reshape(m, -1)
        slope = np.linalg.lstsq(powers, flat, rcond=None)[0][0].reshape(self.values.shape[1:])
        zero = self.noise_free_zero(lags).value
        return np.asarray(np.linalg.solve(zero.T, (slope / (m * self.step)).T).T)

    def _smooth_lags(self, lags: int | None) -> int:
        available = len(self.values) - 1
        if lags is None:
            trace = self.trace
            below = np.flatnonzero(trace < _FALLEN * trace[0])
            lags = int(np.clip(below[0] if len(below) else available, _FEWEST_LAGS, _MOST_LAGS))
        if lags < _LAG_TERMS or available < _LAG_TERMS:
            raise OptionError(f"lag zero needs at least {_LAG_TERMS} later lags, got {lags}.")
        return min(lags, available)


@dataclass(frozen=True)
class CosineSum:
    r"""The exact correlation of undamped lines, :math:`C(τ) = \sum_j B_j \cos Ω_j τ`.

    Parameters
    ----------
    omega : array (lines,)
    amplitudes : array (lines, channels, channels)
        :math:`B_j`, symmetric at equilibrium.
    """

    omega: Array
    amplitudes: Array

    @classmethod
    def at_equilibrium(
        cls, omega: Array, participation: Array, temperature: float = 1.0
    ) -> CosineSum:
        r"""From modes at thermal equilibrium: :math:`B_j = kT\, v_j v_j^T/Ω_j^2` (THEORY (4)).

        Parameters
        ----------
        participation : array (lines, channels)
            :math:`v_j`.
        """
        v = participation / omega[:, None]
        return cls(omega, temperature * np.einsum("ja,jb->jab", v, v))

    @property
    def zero(self) -> Array:
        """C(0)."""
        return np.asarray(self.amplitudes.sum(axis=0))

    def __call__(self, tau: ArrayLike) -> Array:
        r"""C(τ), shape (\*τ.shape, channels, channels)."""
        angle = np.multiply.outer(np.asarray(tau, float), self.omega)
        return np.tensordot(np.cos(angle), self.amplitudes, axes=1)

    def laplace(self, s: ArrayLike) -> ComplexArray:
        r""":math:`\hat C(s) = \sum_j B_j\, s/(s^2 + Ω_j^2)`."""
        z = np.asarray(s, complex)[..., None]
        return np.asarray(np.tensordot(z / (z**2 + self.omega**2), self.amplitudes, axes=1))


@dataclass(frozen=True)
class CosineBasis:
    """The columns ``cos ν_j τ`` at lags ``step, 2·step, ...``; lag zero holds the noise.

    Parameters
    ----------
    step : float
    count : int
        Number of lags.
    grid : array (points,)
    """

    step: float
    count: int
    grid: Array

    @classmethod
    def of(cls, correlation: Correlation, grid: Array) -> CosineBasis:
        """The columns that belong to a correlation."""
        return cls(correlation.step, len(correlation.values) - 1, grid)

    def project(self, values: Array) -> Array:
        """``Σ_τ cos(ν_j τ) values(τ)``, shape (points, ...)."""
        flat = values.reshape(self.count, -1)
        out = np.zeros((len(self.grid), flat.shape[1]))
        rows = max(1, _LAG_CHUNK // len(self.grid))
        for k in range(0, self.count, rows):
            part = flat[k : k + rows]
            tau = self.step * np.arange(k + 1, k + 1 + len(part))
            out += np.cos(np.multiply.outer(self.grid, tau)) @ part
        return out.reshape(len(self.grid), *values.shape[1:])

    def gram(self, j: int | Index) -> Array:
        """Inner products of column(s) j with all columns, in closed form."""
        nu = np.asarray(self.grid[j])[..., None]
        return 0.5 * (self._sum(nu - self.grid) + self._sum(nu + self.grid))

    def _sum(self, nu: Array) -> Array:
        """``Σ_τ cos ντ`` over the lags: half of Dirichlet's kernel minus one."""
        half = 0.5 * self.step * nu
        sine = np.sin(half)
        small = np.abs(sine) < 1e-9
        kernel = np.sin((2 * self.count + 1) * half) / np.where(small, 1.0, sine)
        return np.asarray(0.5 * (np.where(small, 2 * self.count + 1.0, kernel) - 1))


# -- from a record -------------------------------------------------------------------------------


def correlate(record: Record, max_lag: float | None = None) -> Correlation:
    r"""Unbiased correlation of a record, by FFT, averaged over time and trials.

    Parameters
    ----------
    record : Record
        All trials with one sampling step. Missing samples are left out of every pair.
    max_lag : float, optional
        Longest lag; by default half of the longest trial. Later lags average so few products
        that they hold more error than information.

    Raises
    ------
    RecordError
        When the sampling is not uniform, or no two samples are a certain lag apart.
    """
    return _finish(record, _sums(record, range(record.n_trials), _lag_count(record, max_lag)))


def correlate_groups(
    record: Record, groups: int, max_lag: float | None = None
) -> list[Correlation]:
    """Correlation of each of some groups of trials, for jackknife and bootstrap.

    Trial r is in group ``r mod groups``; `pool` of all groups is the correlation of the record.
    """
    if not 1 <= groups <= record.n_trials:
        raise OptionError(f"{record.n_trials} trials cannot make {groups} groups.")
    lags = _lag_count(record, max_lag)
    members = [range(g, record.n_trials, groups) for g in range(groups)]
    return [_finish(record, _sums(record, m, lags)) for m in members]


def pool(parts: Sequence[Correlation]) -> Correlation:
    """Correlation of the trials of all parts together."""
    counts = np.sum([part.counts for part in parts], axis=0)
    sums = np.sum([part.counts * part.values for part in parts], axis=0)
    return replace(parts[0], values=sums / counts, counts=counts)


def _lag_count(record: Record, max_lag: float | None) -> int:
    if record.dt is None:
        raise RecordError(
            Words(
                "a correlation needs one uniform sampling step in all trials: resample the "
                "record, or use {0}, which takes any times.",
                (Ask("method", "likelihood"),),
            )
        )
    longest = max(record.samples)
    if max_lag is None:
        return longest // 2
    lags = round(max_lag / record.dt)
    if not _LAG_TERMS <= lags < longest:
        raise OptionError(
            f"the longest lag {max_lag:g} must lie between {_LAG_TERMS} steps and the length "
            f"{record.duration:g} of the record."
        )
    return lags


def _sums(record: Record, members: Sequence[int], lags: int) -> tuple[Array, Array]:
    """``Σ x_a(t+τ) x_b(t)`` and the number of its terms, (lags + 1, channels, channels)."""
    n = record.n_channels
    length = scipy.fft.next_fast_len(max(record.samples) + lags, real=True)
    spectrum = np.zeros((length // 2 + 1, n, n), complex)
    masks = np.zeros_like(spectrum) if record.missing else None
    counts = np.zeros((lags + 1, n, n))
    for r in members:
        x = record.trials[r] - np.nanmean(record.trials[r], axis=0)
        _add(spectrum, np.nan_to_num(x, nan=0.0), length)
        if masks is not None:
            _add(masks, np.isfinite(x).astype(float), length)
        else:
            counts += np.maximum(len(x) - np.arange(lags + 1), 0)[:, None, None]
    if masks is not None:
        counts = np.round(scipy.fft.irfft(masks, length, axis=0)[: lags + 1])
    return scipy.fft.irfft(spectrum, length, axis=0)[: lags + 1], counts


def _add(spectrum: ComplexArray, x: Array, length: int) -> None:
    """Add the cross spectrum of one trial."""
    z = scipy.fft.rfft(x, length, axis=0)
    for a in range(x.shape[1]):
        for b in range(x.shape[1]):
            spectrum[:, a, b] += z[:, a] * z[:, b].conj()


def _finish(record: Record, sums: tuple[Array, Array]) -> Correlation:
    total, counts = sums
    if counts.min() < 1:
        lag = float(record.dt or 0.0) * int(np.argmin(counts.min(axis=(1, 2))))
        raise RecordError(
            f"no two samples are {lag:g} apart in all channels: use a shorter longest lag."
        )
    orders = np.array([QUANTITIES.index(q) for q in record.quantity])
    return Correlation(float(record.dt or 0.0), total / counts, counts, record.duration, orders)
