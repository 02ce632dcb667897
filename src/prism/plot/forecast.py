"""The motion before and after the end of the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prism.errors import OptionError
from prism.model import Model
from prism.plot import _limits as limits
from prism.plot._canvas import (
    BLUE,
    INK,
    MUTED,
    ORANGE,
    label,
    legend_above,
    spread,
    thin,
)
from prism.plot._fitted import paces
from prism.plot._stacked import StackedView
from prism.plot.chart import Axis, Band, Dots, Line, Mark, Panel, Rule
from prism.plot.spectrum import check_record
from prism.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ForecastView", "forecast_view"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ForecastView(StackedView):
    """What the figure of a forecast shows.

    Attributes
    ----------
    channels, quantity : tuple of str
    t : array (times,)
    values, std : array (times, channels)
        The motion and its standard deviation.
    noise_std : array (channels,)
    end : float
        Time of the last sample that was fitted.
    data_t : array (samples,)
    data : array (samples, channels)
        What was measured in the time shown; empty when no record was given.
    """

    channels: tuple[str, ...]
    quantity: tuple[str, ...]
    t: Array
    values: Array
    std: Array
    noise_std: Array
    end: float
    data_t: Array
    data: Array

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw on one panel per channel."""
        for a, ax in enumerate(axes):
            self._draw_channel(ax, a)
        axes[-1].set_xlabel("time (time units)")
        legend_above(axes[0])

    def _draw_channel(self, ax: Axes, a: int) -> None:
        self._draw_data(ax, a)
        keep = thin(self.values[:, a])
        t, y = self.t[keep], self.values[keep, a]
        before, after = t <= self.end, t >= self.end
        self._draw_bands(ax, a, keep[after])
        ax.plot(t[before], y[before], color=BLUE, label="fit")
        ax.plot(t[after], y[after], color=ORANGE, label="forecast")
        if before.any() and after.any():
            ax.axvline(self.end, color=INK, lw=0.9, ls=(0, (5, 3)), label="end of the fit")
        ax.set_xlim(self.t[0], self.t[-1])
        ax.set_ylabel(label(self.channels[a]))

    def _draw_data(self, ax: Axes, a: int) -> None:
        t, y = self._samples(a)
        if len(t):
            size = 1.8 if len(t) > 600 else 3.0
            ax.plot(t, y, ".", color=MUTED, ms=size, label="data")

    def _samples(self, a: int) -> tuple[Array, Array]:
        """Data to draw: every n-th, for the extremes would show more noise than there is."""
        seen = np.flatnonzero(~np.isnan(self.data[:, a]))
        seen = seen[:: -(-len(seen) // limits.MOST_FORECAST_DOTS) or 1]
        return self.data_t[seen], self.data[seen, a]

    def _draw_bands(self, ax: Axes, a: int, keep: NDArray[np.intp]) -> None:
        for width, alpha, name in self._widths(a):
            t, y, half = self.t[keep], self.values[keep, a], width[keep]
            ax.fill_between(t, y - half, y + half, color=ORANGE, alpha=alpha, lw=0, label=name)

    def _widths(self, a: int) -> list[tuple[Array, float, str]]:
        """Half widths of the bands, with their opacity and their name."""
        std = self.std[:, a]
        total = np.hypot(std, self.noise_std[a])
        return [(2 * total, 0.22, "±2σ with noise"), (2 * std, 0.45, "±2σ")]

    def _panel(self, a: int, height: int) -> Panel:
        y = self.values[:, a]
        before, after = self.t <= self.end, self.t >= self.end
        marks: list[Mark] = [
            Band(name, "orange", self.t[after], (y - half)[after], (y + half)[after], alpha)
            for half, alpha, name in self._widths(a)
            if after.any() and np.isfinite(half).any()
        ]
        data_t, data = self._samples(a)
        if len(data):
            marks.append(Dots("data", "muted", data_t, data))
        if before.any():
            marks.append(Line("fit", "blue", self.t[before], y[before]))
        if after.any():
            marks.append(Line("forecast", "orange", self.t[after], y[after], dash=1))
        if before.any() and after.any():
            marks.append(Rule("end of the fit", "ink", np.array([self.end]), dash=1))
        return Panel(
            Axis("t", "time units", (float(self.t[0]), float(self.t[-1]))),
            Axis(self.channels[a], self.quantity[a], self._span(a, data)),
            marks,
            height=height,
        )

    def _span(self, a: int, data: Array) -> tuple[float, float]:
        """Range of the motion, its noise and the data; a band that is much wider is cut."""
        y = self.values[:, a]
        half = self._widths(a)[0][0]
        reach = np.fmin(half, np.fmax(np.nanmax(np.abs(y)), 2 * self.noise_std[a]))
        return spread(y - reach, y + reach, *([data] if len(data) else []))


def forecast_view(
    model: Model, t: ArrayLike | None = None, record: Record | None = None, trial: int = 0
) -> ForecastView:
    """Compute the motion of one trial around the end of the record.

    Parameters
    ----------
    model : Model
    t : array (times,), optional
        Ascending times; by default some periods before and after the end of the record.
    record : Record, optional
        To draw the data, also those that were held back.
    trial : int
    """
    model.forecast([model.record.end], trial)  # refuses an unknown trial
    end = _end(model, record, trial)
    times = _window(model, end) if t is None else np.atleast_1d(np.asarray(t, float))
    if len(times) < 2 or not np.all(np.diff(times) > 0):
        raise OptionError("the times of a figure must ascend, at least two of them.")
    made = model.forecast(times, trial)
    data_t, data = _data(record, trial, times, len(model.channels))
    return ForecastView(
        channels=model.channels,
        quantity=model.quantity,
        t=times,
        values=made.values,
        std=made.std,
        noise_std=made.noise_std,
        end=end,
        data_t=data_t,
        data=data,
    )


def _end(model: Model, record: Record | None, trial: int) -> float:
    if record is None:
        return model.record.end
    check_record(model, record)
    return float(record.times[trial][model.record.samples[trial] - 1])


def _window(model: Model, end: float) -> Array:
    omega = paces(model)
    swings = limits.FORECAST_PERIODS * 2 * np.pi / float(np.median(omega))
    reach = min(swings, end - model.record.start)
    periods = 2 * reach * float(omega[-1]) / (2 * np.pi)
    points = periods * limits.FORECAST_POINTS_PER_PERIOD
    half = int(np.clip(points, limits.FEWEST_FORECAST_POINTS, limits.MOST_POINTS - 2)) // 2
    before = np.linspace(end - reach, end, half)
    return np.concatenate([before, np.linspace(end, end + reach, half)[1:]])


def _data(record: Record | None, trial: int, times: Array, n: int) -> tuple[Array, Array]:
    if record is None:
        return np.zeros(0), np.zeros((0, n))
    t = record.times[trial]
    shown = (t >= times[0]) & (t <= times[-1])
    return t[shown], record.trials[trial][shown]
