"""Steady lines at any time, with their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.forecast import Forecast, checked_times
from prism.motion.steady.background import Background
from prism.motion.steady.inphase import InPhaseFit, SeriesMotion
from prism.motion.steady.trend import Trend
from prism.uncertainty import root_of_variance

Json = dict[str, Any]

# Numbers that one trial needs for its forecast grow with modes × channels; a large ensemble keeps
# the first trials only.
_MOST_NUMBERS = 200_000


class Late(NamedTuple):
    """A channel that shows its lines too late.

    Attributes
    ----------
    channel : int
    delay, error : float
        With its standard error.
    """

    channel: int
    delay: float
    error: float


@dataclass(frozen=True, eq=False)
class Trajectories:
    r"""The motion of all trials of a record.

    .. math:: x_a(t) = b_a + s_a u + \sum_m d_{ma}\,
              \mathrm{Re}\left[(iΩ_m)^{k_a} (A_m - i B_m) e^{iΩ_m (t - t_c - τ_a)}\right]

    with :math:`k_a` the derivative that channel a measures, and :math:`τ_a` its delay.

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
    late : Late, optional
        The fit is that of the channel in time; the motion is that of the channel as it is.
    """

    key: ClassVar[str] = "motion"
    integrated: ClassVar[bool] = False

    fit: InPhaseFit
    trials: tuple[tuple[int, int], ...]
    means: Array
    background: Background | None = None
    trend: Trend | None = None
    late: Late | None = None

    @property
    def delays(self) -> Array:
        """τ of each channel."""
        out = np.zeros(self.fit.shapes.shape[1])
        if self.late is not None:
            out[self.late.channel] = self.late.delay
        return out

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
        own = np.einsum("atp,pq,atq->ta", linear, motion.covariance, linear, optimize=True)
        scatter = float(motion.scatter[j])
        variance += scatter * (own + doubt)
        if self.late is not None:
            variance += (
                self.late.error * self._by_delay(self.late.channel, linear, motion, j)
            ) ** 2
        std = root_of_variance(variance)
        return Forecast(times, values, std, np.sqrt(scatter) * self.noise_std)

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
        if self.late is not None:
            weights = weights * np.exp(-1j * np.multiply.outer(omega, self.delays))
        out = (np.exp(1j * np.multiply.outer(lag, omega)) @ weights).real
        if self.background is not None:
            out += self.background.at(times, trial)[0]
        else:
            drift = v[2 * K :].reshape(-1, nb)
            out += (lag[:, None] / motion.half) ** np.arange(nb) @ drift.T + self.means[trial]
        return np.asarray(out if self.trend is None else out + self.trend.at(times, trial))

    def _jacobians(self, motion: SeriesMotion, values: Array, t: Array) -> tuple[Array, Array]:
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
        for a, (k, delay) in enumerate(zip(fit.orders, self.delays, strict=True)):
            seen = (1j * omega) ** k * turn  # (times, modes)
            if delay:
                seen *= np.exp(-1j * omega * delay)
            linear[a, :, :K] = (fit.shapes[:, a] * seen).real
            linear[a, :, K : 2 * K] = (-1j * fit.shapes[:, a] * seen).real
            for i in range(nb):
                linear[a, :, 2 * K + nb * a + i] = (lag / motion.half) ** i
            nonlinear[a, :, N + a :: n][:, :K] = (z * seen).real
            by_omega = (
                fit.shapes[:, a] * (k / omega + 1j * (lag - delay)[:, None]) * z * seen
            ).real
            np.add.at(nonlinear[a].T, fit.line, by_omega.T)
        return linear, nonlinear

    def _by_delay(self, late: int, linear: Array, motion: SeriesMotion, place: int) -> Array:
        r"""Derivative of the motion by the delay of a channel, (times, channels).

        The phase of a line is that of all channels: where the delay of channel a grows by δ, it
        follows by :math:`s_m Ω_m δ`, and the line of that channel moves by
        :math:`(s_m - 1) Ω_m δ`, with the share :math:`s_m = w_a d_a^2 / \sum_b w_b d_b^2` of
        what the channels say of it.

        Parameters
        ----------
        late : int
            The channel.
        linear : array (channels, times, parameters)
            As `_jacobians` gives it.
        motion : SeriesMotion
        place : int
            Of the trial.
        """
        fit, K = self.fit, len(self.fit.line)
        omega = fit.omega[fit.line]
        told = fit.weights * fit.shapes**2 * omega[:, None] ** (2 * fit.orders)
        turn = np.repeat((told[:, late] / told.sum(axis=1))[:, None], told.shape[1], axis=1)
        turn[:, late] -= 1
        A, B = motion.values[:K, place], motion.values[K : 2 * K, place]
        # (A - iB) turned by ε is (A + εB) - i(B - εA)
        by_cos, by_sin = (omega[:, None] * turn) * B[:, None], -(omega[:, None] * turn) * A[:, None]
        change = np.einsum("atm,ma->ta", linear[:, :, :K], by_cos)
        return np.asarray(change + np.einsum("atm,ma->ta", linear[:, :, K : 2 * K], by_sin))

    def to_json(self) -> Json:
        """Plain numbers."""
        fit = self.fit
        per_trial = fit.motions[0].sensitivity[0].size + len(fit.motions[0].values)
        kept = self.trials[: max(1, _MOST_NUMBERS // per_trial)]
        under = self.background
        return {
            "trend": None if self.trend is None else _trend_to_json(self.trend, len(kept)),
            "under": None if under is None else _background_to_json(under, len(kept)),
            "frequencies": fit.omega.tolist(),
            "line": fit.line.tolist(),
            "shapes": fit.shapes.tolist(),
            "covariance": fit.covariance.tolist(),
            "weights": fit.weights.tolist(),
            "orders": fit.orders.tolist(),
            "background": fit.background,
            **({} if self.late is None else {"late": self.late._asdict()}),
            "means": self.means[: len(kept)].tolist(),
            "samplings": [
                {
                    "centre": m.centre,
                    "half": m.half,
                    "start": m.start,
                    "step": m.step,
                    "covariance": m.covariance.tolist(),
                }
                for m in fit.motions
            ],
            "trials": [_trial_to_json(fit.motions[i], i, j) for i, j in kept],
        }

    @classmethod
    def from_json(cls, data: Json) -> Trajectories:
        """Rebuild from `to_json`."""
        motions, places = [], []
        members: list[list[Json]] = [[] for _ in data["samplings"]]
        for trial in data["trials"]:
            places.append((trial["sampling"], len(members[trial["sampling"]])))
            members[trial["sampling"]].append(trial)
        for sampling, trials in zip(data["samplings"], members, strict=True):
            covariance = np.array(sampling["covariance"], float)
            size = (len(trials), len(covariance), len(data["covariance"]))
            motions.append(
                SeriesMotion(
                    values=np.array([t["values"] for t in trials], float).reshape(size[:2]).T,
                    covariance=covariance,
                    sensitivity=np.array([t["sensitivity"] for t in trials], float).reshape(size),
                    centre=sampling["centre"],
                    half=sampling["half"],
                    start=sampling["start"],
                    levels=_levels_from_json(trials),
                    step=sampling.get("step", 0.0),
                )
            )
        fit = InPhaseFit(
            omega=np.array(data["frequencies"], float),
            line=np.array(data["line"], int),
            shapes=np.array(data["shapes"], float),
            covariance=np.array(data["covariance"], float),
            weights=np.array(data["weights"], float),
            orders=np.array(data["orders"], int),
            background=data["background"],
            motions=motions,
        )
        under = _background_from_json(data.get("under"))
        trend = _trend_from_json(data.get("trend"))
        late = Late(**data["late"]) if "late" in data else None
        return cls(fit, tuple(places), np.array(data["means"], float), under, trend, late)


def _trial_to_json(motion: SeriesMotion, sampling: int, place: int) -> Json:
    """A trial, with its level of noise where trials differ."""
    out: Json = {
        "sampling": sampling,
        "values": motion.values[:, place].tolist(),
        "sensitivity": motion.sensitivity[place].tolist(),
    }
    return out if motion.levels is None else out | {"level": float(motion.levels[place])}


def _levels_from_json(trials: list[Json]) -> Array | None:
    found = [trial["level"] for trial in trials if "level" in trial]
    return np.array(found, float) if found else None


def _background_to_json(background: Background, trials: int) -> Json:
    return {
        "step": background.step,
        "covariance": background.covariance.tolist(),
        "times": [t.tolist() for t in background.times[:trials]],
        "values": [
            [[float(x) if np.isfinite(x) else None for x in row] for row in v]
            for v in background.values[:trials]
        ],
    }


def _trend_to_json(trend: Trend | None, trials: int) -> Json | None:
    if trend is None:
        return None
    return {
        "coefficients": trend.coefficients[:trials].tolist(),
        "middles": trend.middles[:trials].tolist(),
        "halves": trend.halves[:trials].tolist(),
    }


def _trend_from_json(data: Json | None) -> Trend | None:
    if data is None:
        return None
    return Trend(**{name: np.array(values, float) for name, values in data.items()})


def _background_from_json(data: Json | None) -> Background | None:
    if data is None:
        return None
    return Background(
        step=data["step"],
        covariance=np.array(data["covariance"], float),
        times=tuple(np.array(t, float) for t in data["times"]),
        values=tuple(np.array(v, float) for v in data["values"]),
    )
