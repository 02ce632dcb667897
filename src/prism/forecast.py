r"""The fitted motion of every trial at any time, with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.errors import OptionError
from prism.motion.decays.result import Continuation
from prism.motion.steady.background import Background
from prism.motion.steady.inphase import InPhaseFit, Motion
from prism.motion.steady.trend import Trend


@dataclass(frozen=True)
class Forecast:
    """Motion at given times.

    Attributes
    ----------
    t : array (times,)
    values : array (times, channels)
        In the quantity of each channel.
    std : array (times, channels)
        Standard deviation of the motion itself, without the measurement noise.
    noise_std : array (channels,)
        Standard deviation of the measurement noise; a new measurement scatters by
        ``hypot(std, noise_std)``.
    channels : tuple of str or None
        Their names; the forecast of a model has them.
    """

    t: Array
    values: Array
    std: Array
    noise_std: Array
    channels: tuple[str, ...] | None = None

    def to_xarray(self) -> Any:
        """Return an `xarray.Dataset` of values, std (time, channel) and noise_std (channel).

        Examples
        --------
        >>> import prism
        >>> record = prism.systems.chain().free(100, 0.1, noise=0.1, rng=0)
        >>> data = prism.identify(record).forecast([100.0, 110.0]).to_xarray()
        >>> data["std"].sel(channel="q4").shape
        (2,)
        """
        from prism.labelled import forecast_to_xarray

        return forecast_to_xarray(self)

    def _repr_html_(self) -> str:
        from prism.report.notebook import forecast_html

        return forecast_html(self)


@dataclass(frozen=True)
class Trajectories:
    r"""The motion of all trials of a record.

    .. math:: x_a(t) = b_a + s_a u + \sum_m d_{ma}\,
              \mathrm{Re}\left[(iΩ_m)^{k_a} (A_m - i B_m) e^{iΩ_m (t - t_c)}\right]

    with :math:`k_a` the derivative that channel a measures.

    Parameters
    ----------
    fit : InPhaseFit
    trials : tuple of (int, int)
        For each trial: which motion of the fit, and its place there.
    means : array (trials, channels)
        Subtracted from the series before the fit.
    background : Background, optional
        Coloured noise, which takes the place of offset and drift.
    trend : Trend, optional
        Drift of degree two and higher, as it is: its error is not in the band.
    """

    fit: InPhaseFit
    trials: tuple[tuple[int, int], ...]
    means: Array
    background: Background | None = None
    trend: Trend | None = None

    @property
    def noise_std(self) -> Array:
        """Standard deviation of the measurement noise per channel."""
        return 1 / np.sqrt(self.fit.weights)

    @property
    def amplitudes(self) -> Array:
        """Amplitude of every mode along its unit shape, (trials, modes)."""
        K = len(self.fit.line)
        out = np.empty((len(self.trials), K))
        for r, (i, j) in enumerate(self.trials):
            v = self.fit.motions[i].values[:, j]
            out[r] = np.hypot(v[:K], v[K : 2 * K])
        return out

    def at(self, t: ArrayLike, trial: int = 0) -> Forecast:
        """Motion of one trial at the given times, inside or outside the record."""
        times = checked_times(t, trial, len(self.trials))
        i, j = self.trials[trial]
        motion = self.fit.motions[i]
        linear, nonlinear = self._jacobians(motion, motion.values[:, j], times)
        under, doubt = self.means[trial], np.zeros(self.means.shape[1])
        if self.background is not None:
            linear[:, :, 2 * len(self.fit.line) :] = 0.0
            under, doubt = self.background.at(times, trial)
        values = np.einsum("atp,p->ta", linear, motion.values[:, j]) + under
        if self.trend is not None:
            values = values + self.trend.at(times, trial)
        total = nonlinear + linear @ motion.sensitivity[j]
        variance = np.einsum("atp,pq,atq->ta", total, self.fit.covariance, total, optimize=True)
        variance += np.einsum("atp,pq,atq->ta", linear, motion.covariance, linear, optimize=True)
        return Forecast(times, values, np.sqrt(np.maximum(variance + doubt, 0.0)), self.noise_std)

    def values(self, t: ArrayLike, trial: int = 0) -> Array:
        """Motion of one trial without its error, (times, channels): as `at`, for many times.

        Parameters
        ----------
        t : array (times,)
        trial : int
        """
        times = checked_times(t, trial, len(self.trials))
        fit, (i, j) = self.fit, self.trials[trial]
        motion, K, nb = fit.motions[i], len(fit.line), fit.background
        v, omega, lag = motion.values[:, j], fit.omega[fit.line], times - motion.centre
        orders = np.asarray(fit.orders)
        weights = (1j * omega[:, None]) ** orders * fit.shapes
        weights = weights * (v[:K] - 1j * v[K : 2 * K])[:, None]
        out = (np.exp(1j * np.multiply.outer(lag, omega)) @ weights).real
        if self.background is not None:
            out += self.background.at(times, trial)[0]
        else:
            drift = v[2 * K :].reshape(-1, nb)
            out += (lag[:, None] / motion.half) ** np.arange(nb) @ drift.T + self.means[trial]
        return np.asarray(out if self.trend is None else out + self.trend.at(times, trial))

    def _jacobians(self, motion: Motion, values: Array, t: Array) -> tuple[Array, Array]:
        """Derivatives by the linear and by the nonlinear parameters, (channels, times, ·)."""
        fit = self.fit
        K, n = fit.shapes.shape
        N, nb = len(fit.omega), fit.background
        omega = fit.omega[fit.line]
        lag = t - motion.centre
        z = values[:K] - 1j * values[K : 2 * K]
        linear = np.zeros((n, len(t), 2 * K + nb * n))
        nonlinear = np.zeros((n, len(t), N + K * n))
        turn = np.exp(1j * np.multiply.outer(lag, omega))
        for a, k in enumerate(fit.orders):
            seen = (1j * omega) ** k * turn  # (times, modes)
            linear[a, :, :K] = (fit.shapes[:, a] * seen).real
            linear[a, :, K : 2 * K] = (-1j * fit.shapes[:, a] * seen).real
            for i in range(nb):
                linear[a, :, 2 * K + nb * a + i] = (lag / motion.half) ** i
            nonlinear[a, :, N + a :: n][:, :K] = (z * seen).real
            by_omega = (fit.shapes[:, a] * (k / omega + 1j * lag[:, None]) * z * seen).real
            np.add.at(nonlinear[a].T, fit.line, by_omega.T)
        return linear, nonlinear


@dataclass(frozen=True)
class DecayMotion:
    r"""The motion of trials that decay.

    Attributes
    ----------
    continuations : tuple of Continuation
        The last stretch of each trial: it holds from its start on.
    noise_std : array (channels,)
    """

    continuations: tuple[Continuation, ...]
    noise_std: Array

    @property
    def trials(self) -> tuple[Continuation, ...]:
        """One entry per trial."""
        return self.continuations

    def at(self, t: ArrayLike, trial: int = 0) -> Forecast:
        """Motion of one trial at the given times; NaN before its last stretch."""
        times = checked_times(t, trial, len(self.continuations))
        part = self.continuations[trial]
        values, std = part(times)
        before = times < part.start - 1e-9 * part.span
        values[before] = std[before] = np.nan
        return Forecast(times, values, std, self.noise_std)


def checked_times(t: ArrayLike, trial: int, trials: int) -> Array:
    """Times as an array; an error if they or the trial make no sense."""
    if not 0 <= trial < trials:
        raise OptionError(
            f"trial {trial} is not among the {trials} trials of this model; count them from 0."
        )
    times = np.atleast_1d(np.asarray(t, float))
    if times.ndim != 1 or not np.all(np.isfinite(times)):
        raise OptionError("forecast times must be a list of finite numbers.")
    return times
