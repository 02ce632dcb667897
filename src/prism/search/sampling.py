"""Inner products of a record with the columns of the line model.

Every step of the line fit needs the same two things for a set of angular frequencies
``Ω``: the Gram matrix ``EᵀE`` of the columns

    ``E = [1, u, cos φ_j u, sin φ_j u, u cos φ_j u, u sin φ_j u]``,   ``φ_j = Ω_j H``,

and their inner products ``Eᵀy`` with the data, where ``u = (t - t_c)/H ∈ [-1, 1]`` is the time
centred on the middle ``t_c`` of the record and scaled by its half length ``H``. The last two
families are the derivatives of the model with respect to the frequencies. Nothing else of the
data enters the fit, so these classes are all that has to be fast. Decaying lines have other columns
and are fitted in the same way (:mod:`prism.motion.decays.segments`).

`UniformSampling` has closed forms for the Gram matrix (its cost does not depend on the number
of samples) and reads the data once per call through a two-level factorisation of the phases,
without evaluating a sine per sample. `prism.search.columns.ScatteredSampling` builds the columns in
chunks and takes any times and any missing samples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from scipy.special import bernoulli

from prism._types import Array, Single
from prism.search import _limits as limits
from prism.search.work import spend

BACKGROUND = 2  # columns in front of the lines: offset and drift

Places = NDArray[Any]  # frequencies of steady lines, or complex poles of decaying ones


class AbstractSampling(ABC):
    """Trials that share one sampling: the data enter the line fit only through this class.

    Attributes
    ----------
    values : array (channels, trials, samples)
        Zero where a sample is missing.
    start : float
        Time of the first sample.
    step : float
        Sampling step; the median one when the times are scattered.
    background : int
        Columns in front of the lines: 1 offset, 2 offset and drift.
    nonlinear : int
        Parameters of a line that are not amplitudes.
    """

    values: Array
    start: float
    step: float
    background: int = BACKGROUND
    nonlinear: int = 1

    @property
    def n_channels(self) -> int:
        """The data are ``n_channels × n_trials`` series of equal length."""
        return int(self.values.shape[0])

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return int(self.values.shape[1])

    @property
    def centre(self) -> float:
        """``t_c`` of the scaled time ``u = (t - t_c)/H``."""
        return self.start + self.half

    @property
    def duration(self) -> float:
        """Length of one trial in time, ``2H + step``."""
        return 2 * self.half + self.step

    @property
    def unit(self) -> float:
        """Unit of the time that multiplies the derivative columns."""
        return self.half

    @property
    @abstractmethod
    def half(self) -> float:
        """``H``."""

    @property
    @abstractmethod
    def counts(self) -> Array:
        """Number of samples present in each channel of one trial, (channels,)."""

    @cached_property
    def power(self) -> Array:
        """Sum of squares ``yᵀy`` of each channel over all its trials, shape (channels,)."""
        return np.asarray(np.einsum("arm,arm->a", self.values, self.values))

    @abstractmethod
    def moments(self, places: Places) -> tuple[Array, Array]:
        """Gram matrices ``EᵀE`` and inner products ``Eᵀy``.

        Shapes (1 or channels, p, p), one if the channels share it, and (channels, p, trials);
        ``p = 4N + 2`` for N steady lines.
        """

    def gram(self, places: Places) -> Array:
        """Gram matrices ``EᵀE`` alone."""
        return self.moments(places)[0]

    @abstractmethod
    def residual(self, places: Places, coefficients: Array) -> Self:
        """Return the sampling of ``y - E c``; ``c`` has shape (channels, 2N+2, trials)."""

    @abstractmethod
    def spectrum(self, spacing: float, count: int, unit: Array) -> Single:
        """Periodogram ``Σ_r |Σ_t y e^{-iωt}|² / M`` at ``ω_k = k·spacing``, (channels, count).

        For start values and the noise floor only, so single precision is enough; the data are
        divided by ``unit`` (channels,) first to stay inside its range.
        """

    @abstractmethod
    def cut(self, fraction: float) -> tuple[Self, Self]:
        """The first part of every trial, and the rest."""

    def spread(self, rate: float) -> float:
        """Length of a uniform window with the spread in time of what a line of this rate sees."""
        return self.duration

    def directions(self, amplitudes: Array) -> Array:
        """Coefficients of the derivative columns for a change of each parameter of a line.

        ``∂y/∂φ_j = B_j u cos φ_j u - A_j u sin φ_j u``.

        Parameters
        ----------
        amplitudes : array (channels, 2N, trials)

        Returns
        -------
        array (parameters, channels, 2N, trials)
        """
        N = amplitudes.shape[1] // 2
        return np.concatenate([amplitudes[:, N:], -amplitudes[:, :N]], axis=1)[None]


@dataclass(frozen=True)
class UniformSampling(AbstractSampling):
    """Trials sampled at the same uniform times with no sample missing.

    Parameters
    ----------
    values : array (channels, trials, samples)
    step : float
    start : float
        Time of the first sample.
    """

    values: Array
    step: float
    start: float

    @property
    def samples(self) -> int:
        """Number of samples in one series."""
        return int(self.values.shape[2])

    @property
    def half(self) -> float:
        """``H``."""
        return 0.5 * (self.samples - 1) * self.step

    @property
    def counts(self) -> Array:
        """Number of samples of each channel of one trial."""
        return np.full(self.n_channels, float(self.samples))

    # -- closed-form sums ---------------------------------------------------------------

    @cached_property
    def _power_sums(self) -> Array:
        """``Σ_k u_k^{2n}``, n = 0, 1, ...: Euler-Maclaurin, which ends for a polynomial."""
        h = 0.5 * (self.samples - 1)
        bernoulli_numbers = bernoulli(2 * limits.SERIES_TERMS + 2)
        sums = np.empty(limits.SERIES_TERMS + 1)
        for n in range(limits.SERIES_TERMS + 1):
            total = 2 * h / (2 * n + 1) + 1.0
            # falling factorial (2n)(2n-1)...(2n-2m+2) / (2m)! · B_2m · 2 / h^(2m-1)
            ratio = 1.0
            for m in range(1, n + 1):
                ratio *= (2 * n if m == 1 else (2 * n - 2 * m + 3) * (2 * n - 2 * m + 2)) / (
                    (2 * m - 1) * (2 * m)
                )
                total += 2 * bernoulli_numbers[2 * m] * ratio / h ** (2 * m - 1)
            sums[n] = total
        return sums

    def _dirichlet(self, phi: Array) -> tuple[Array, Array, Array]:
        """``Σ cos φu``, ``Σ u sin φu``, ``Σ u² cos φu`` over the samples.

        With ``b = φ/(2h)``, ``h = (M-1)/2`` and ``f(b) = sin(Mb)/sin(b)``, these are ``f``,
        ``-f'/(2h)`` and ``-f''/(2h)²``, where ``f'' = (1-M²) f - 2 cot(b) f'``. Near φ = 0 the
        closed form cancels and the Taylor series is used instead.
        """
        M = self.samples
        scale = 1.0 / (M - 1)
        # f(b + kπ) = (-1)^{(M+1)k} f(b): two lines near the Nyquist frequency add up to b = π
        turns = np.round(phi * scale / np.pi)
        phi = phi - turns * np.pi / scale
        sign = 1.0 if M % 2 else 1.0 - 2.0 * (turns % 2)
        small = np.abs(phi) < limits.SERIES_LIMIT
        b = np.where(small, 1.0, phi) * scale
        sin_b, cot_b = np.sin(b), 1.0 / np.tan(b)
        f = np.sin(M * b) / sin_b
        f1 = M * np.cos(M * b) / sin_b - f * cot_b
        f2 = (1.0 - M * M) * f - 2.0 * cot_b * f1
        c0, s1, c2 = f, -scale * f1, -scale * scale * f2
        if small.any():
            x = phi[small]
            c0[small], s1[small], c2[small] = self._series(x)
        return sign * c0, sign * s1, sign * c2

    def _series(self, phi: Array) -> tuple[Array, Array, Array]:
        """Taylor series of the three sums in φ, exact to rounding for ``|φ| ≤ 3/2``."""
        p = self._power_sums
        square = -phi * phi
        c0, s1, c2 = np.zeros_like(phi), np.zeros_like(phi), np.zeros_like(phi)
        term = np.ones_like(phi)  # (-1)^n φ^{2n} / (2n)!
        for n in range(limits.SERIES_TERMS):
            c0 += term * p[n]
            c2 += term * p[n + 1]
            s1 += term * phi / (2 * n + 1) * p[n + 1]
            term = term * square / ((2 * n + 1) * (2 * n + 2))
        return c0, s1, c2

    def gram(self, omega: Array) -> Array:
        """Gram matrix from sums and differences of the phases, in closed form."""
        N = len(omega)
        phi = omega * self.half
        plus, minus = phi[:, None] + phi, phi[:, None] - phi
        angles = np.concatenate([plus.ravel(), minus.ravel(), phi, [0.0]])
        c0, s1, c2 = self._dirichlet(angles)
        n2 = N * N

        def split(v: Array) -> tuple[Array, Array, Array]:
            return v[:n2].reshape(N, N), v[n2 : 2 * n2].reshape(N, N), v[2 * n2 : 2 * n2 + N]

        (c0p, c0m, c0l), (s1p, s1m, s1l), (c2p, c2m, c2l) = split(c0), split(s1), split(c2)
        Q = np.zeros((4 * N + BACKGROUND,) * 2)
        cos, sin, ucos, usin = (slice(2 + i * N, 2 + (i + 1) * N) for i in range(4))
        Q[0, 0], Q[1, 1] = c0[-1], c2[-1]
        Q[0, cos] = Q[cos, 0] = c0l
        Q[0, usin] = Q[usin, 0] = s1l
        Q[1, sin] = Q[sin, 1] = s1l
        Q[1, ucos] = Q[ucos, 1] = c2l
        Q[cos, cos] = 0.5 * (c0m + c0p)
        Q[sin, sin] = 0.5 * (c0m - c0p)
        Q[ucos, ucos] = 0.5 * (c2m + c2p)
        Q[usin, usin] = 0.5 * (c2m - c2p)
        # Σ u cos φ_j u sin φ_k u = ½ [s1(φ_k + φ_j) + s1(φ_k - φ_j)]
        Q[cos, usin] = 0.5 * (s1p - s1m)
        Q[usin, cos] = Q[cos, usin].T
        Q[sin, ucos] = 0.5 * (s1p + s1m)
        Q[ucos, sin] = Q[sin, ucos].T
        return Q[None]

    def moments(self, places: Places) -> tuple[Array, Array]:
        """Gram matrix in closed form, and inner products with the data."""
        least, single = limits.UNIFORM_WORK
        spend(least + single * self.values.size * len(places))
        return self.gram(places), self.project(places)

    # -- data ----------------------------------------------------------------------------

    @cached_property
    def _tiles(self) -> tuple[Array, Array, Array]:
        """The series cut into tiles (series, tiles, width), tile centres and in-tile times in u."""
        channels, trials, samples = self.values.shape
        width = int(2 ** max(4, np.ceil(np.log2(np.sqrt(samples)))))
        tiles = -(-samples // width)
        flat = self.values.reshape(channels * trials, samples)
        if tiles * width != samples:
            padded = np.zeros((channels * trials, tiles * width))
            padded[:, :samples] = flat
            flat = padded
        h = 0.5 * (samples - 1)
        inner = (np.arange(width) - 0.5 * (width - 1)) / h
        outer = (np.arange(tiles) * width + 0.5 * (width - 1) - h) / h
        return flat.reshape(-1, tiles, width), outer, inner

    def project(self, omega: Array) -> Array:
        """``Eᵀy`` with ``e^{iφu} = e^{iφu_p} e^{iφv}``, u_p a tile centre, v the time inside."""
        tiles, outer, inner = self._tiles
        N, phi = len(omega), omega * self.half
        angle = inner[:, None] * phi
        cos, sin = np.cos(angle), np.sin(angle)
        weight = inner[:, None]
        basis = np.hstack([cos, sin, weight * cos, weight * sin, np.ones_like(weight), weight])
        moments = tiles @ basis  # (series, tiles, 4N + 2)
        plain = moments[..., :N] + 1j * moments[..., N : 2 * N]
        ramp = moments[..., 2 * N : 3 * N] + 1j * moments[..., 3 * N : 4 * N]
        phase = np.exp(1j * outer[:, None] * phi)
        ramp = ramp + outer[:, None] * plain
        z0 = np.einsum("spj,pj->js", plain, phase)
        z1 = np.einsum("spj,pj->js", ramp, phase)
        total = moments[..., -2]
        first = moments[..., -1] + outer * total
        out = np.vstack(
            [total.sum(1)[None], first.sum(1)[None], z0.real, z0.imag, z1.real, z1.imag]
        )
        shaped = out.reshape(-1, self.n_channels, self.n_trials)
        return np.ascontiguousarray(shaped.transpose(1, 0, 2))

    def residual(self, places: Places, coefficients: Array) -> Self:
        """Subtract the fit, synthesised tile by tile from the factorised phases."""
        tiles, outer, inner = self._tiles
        N, phi = len(places), places * self.half
        c = coefficients.transpose(0, 2, 1).reshape(-1, 2 * N + 2)  # (series, 2N+2)
        angle = inner[:, None] * phi
        basis = np.hstack([np.cos(angle), np.sin(angle), np.ones((len(inner), 1)), inner[:, None]])
        # A cos φu + B sin φu = Re[(A - iB) e^{iφu_p} e^{iφv}]
        z = (c[:, 2 : 2 + N] - 1j * c[:, 2 + N :])[:, None, :] * np.exp(1j * outer[:, None] * phi)
        level = c[:, 0, None] + c[:, 1, None] * outer
        slope = np.broadcast_to(c[:, 1, None], level.shape)
        local = np.concatenate([z.real, -z.imag, level[..., None], slope[..., None]], axis=-1)
        rest = tiles - local @ basis.T
        flat = rest.reshape(len(rest), -1)[:, : self.samples]
        return replace(self, values=flat.reshape(self.values.shape))

    def cut(self, fraction: float) -> tuple[Self, Self]:
        """The first part of every trial, and the rest."""
        k = round(fraction * self.samples)
        first, rest = (np.ascontiguousarray(v) for v in np.split(self.values, [k], axis=2))
        later = self.start + k * self.step
        return replace(self, values=first), replace(self, values=rest, start=later)

    def spectrum(self, spacing: float, count: int, unit: Array) -> Single:
        """Periodogram by one real FFT per series, zero-padded to the asked spacing."""
        length = round(2 * np.pi / (spacing * self.step))
        if length >= self.samples and np.isclose(length * spacing * self.step, 2 * np.pi):
            return self._fft_power(length, unit)[:, :count]
        # another record of the ensemble fixes the spacing: sample this one finely, interpolate
        length = scipy.fft.next_fast_len(8 * self.samples, real=True)
        power = self._fft_power(length, unit)
        own = 2 * np.pi / (length * self.step) * np.arange(power.shape[1])
        asked = spacing * np.arange(count)
        return np.stack([np.interp(asked, own, row) for row in power]).astype(np.float32)

    def _fft_power(self, length: int, unit: Array) -> Single:
        """Summed power in single precision: half the memory to move, and far below any noise."""
        power = np.zeros((self.n_channels, length // 2 + 1), np.float32)
        group = max(1, (1 << 20) // length)
        for a in range(self.n_channels):
            for r in range(0, self.n_trials, group):
                scaled = (self.values[a, r : r + group] * (1 / unit[a])).astype(np.float32)
                z = scipy.fft.rfft(scaled, length, axis=-1)
                power[a] += np.einsum("rk,rk->k", z.real, z.real)
                power[a] += np.einsum("rk,rk->k", z.imag, z.imag)
        power *= np.float32(1 / self.samples)
        return power
