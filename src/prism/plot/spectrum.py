"""The spectrum of a record, the lines found in it, and what the fit leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prism._format import format_value
from prism.errors import CannotTellError, OptionError
from prism.model import Model
from prism.plot import _limits as limits
from prism.plot._canvas import BLUE, GRID, INK, MUTED, ORANGE, label, legend_above, thin
from prism.plot._fitted import fitted, paces
from prism.plot._names import name_above
from prism.plot._stacked import StackedView, averaged
from prism.plot.chart import Axis, Dots, Line, Mark, Panel, Rule
from prism.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SpectrumView", "spectrum_view"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SpectrumView(StackedView):
    """What the figure of a spectrum shows.

    Attributes
    ----------
    channels : tuple of str
    frequencies : array (frequencies,)
        Angular frequencies of the periodogram.
    data, residual : array (frequencies, channels)
        Root mean square over the trials of the Hann-windowed amplitude spectrum, scaled so that
        a line of amplitude A has the height A; before and after the fit is taken away. Motion
        driven by noise has no fit to take away: NaN.
    floor : array (channels,) or None
        Expected height of the noise; None where it is not known.
    lines, lines_std : array (modes,)
        Frequencies of the modes.
    trials : tuple of (int, int)
        Trials that were averaged, and how many there are.
    """

    channels: tuple[str, ...]
    frequencies: Array
    data: Array
    residual: Array
    floor: Array | None
    lines: Array
    lines_std: Array
    trials: tuple[int, int]

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw on one panel per channel."""
        for a, ax in enumerate(axes):
            self._draw_channel(ax, a)
        self._name_lines(axes[0])
        axes[-1].set_xlabel("angular frequency (rad / time unit)")
        legend_above(axes[0], 38 if self._crowded else 14)

    @property
    def _crowded(self) -> bool:
        return len(self.lines) > limits.MOST_LEVEL_NAMES

    def _draw_channel(self, ax: Axes, a: int) -> None:
        for y, color, width, name, order in (
            (self.data[:, a], BLUE, 1.0, "data", 2.2),
            (self.residual[:, a], MUTED, 0.8, "after the fit", 2.1),
        ):
            if np.isnan(y).all():
                continue
            keep = thin(np.log(np.maximum(y, 1e-300)))
            ax.plot(
                self.frequencies[keep], y[keep], color=color, lw=width, label=name, zorder=order
            )
        floor = self._level(a)
        if self.floor is not None:
            ax.axhline(floor, color=INK, lw=0.9, ls=(0, (5, 3)), label="noise floor", zorder=2.3)
        for k, line in enumerate(self.lines):
            ax.axvline(line, color=ORANGE, lw=0.8, ls=":", label="_" if k else "lines", zorder=1.0)
        ax.set_yscale("log")
        ax.set_ylim(0.12 * floor, 2.5 * max(self.data[:, a].max(), floor))
        ax.set_xlim(0.0, self.frequencies[-1])
        ax.set_ylabel(label(self.channels[a]))
        ax.grid(axis="y", which="major", color=GRID)

    def _panel(self, a: int, height: int) -> Panel:
        marks: list[Mark] = []
        for y, colour, name in (
            (self.data[:, a], "blue", "data"),
            (self.residual[:, a], "muted", "after the fit"),
        ):
            if not np.isnan(y).all():
                keep = thin(np.log(np.maximum(y, 1e-300)))
                faint = colour == "muted"
                marks.append(Line(name, colour, self.frequencies[keep], y[keep], faint=faint))
        low = self._level(a)
        if self.floor is not None:
            marks.append(Rule("noise floor", "ink", self.floor[a : a + 1], upright=False, dash=1))
        if len(self.lines):
            marks.append(self._line_dots(a))
        span = (0.12 * low, 3.0 * max(float(self.data[:, a].max()), low))
        return Panel(
            Axis("ω", "rad / time unit", (0.0, float(self.frequencies[-1]))),
            Axis(self.channels[a], "amplitude", span, log=True),
            marks,
            height=height,
        )

    def _level(self, a: int) -> float:
        """Height of the noise, or the middle of the spectrum where it is not known."""
        if self.floor is None:
            return float(np.median(self.data[:, a]))
        return float(self.floor[a])

    def _line_dots(self, a: int) -> Dots:
        """The found lines: on the highest point of the data within two steps of each."""
        at = np.searchsorted(self.frequencies, self.lines)
        near = np.clip(at[:, None] + np.arange(-2, 3), 0, len(self.frequencies) - 1)
        pairs = zip(self.lines, self.lines_std, strict=True)
        notes = tuple(
            f"line Ω = {format_value(float(f), float(s))} rad / time unit" for f, s in pairs
        )
        heights = self.data[near, a].max(axis=1, initial=0.0)
        return Dots("found lines", "orange", self.lines, heights, "triangle", notes=notes)

    def _name_lines(self, ax: Axes) -> None:
        """Write the frequencies above the first panel; of crowded ones the first is written."""
        gap = (0.018 if self._crowded else 0.06) * float(self.frequencies[-1])
        turn = 90 if self._crowded else 0
        name_above(ax, self.lines, gap, "#.4g", rotation=turn, va="bottom", color=ORANGE)


def spectrum_view(model: Model, record: Record) -> SpectrumView:
    """Compute the spectrum of a record with the lines of a model.

    Parameters
    ----------
    model : Model
    record : Record
        The one that was fitted. Of a record that was fitted in part, that part is shown.

    Raises
    ------
    OptionError
        When the record is not the one of the model.
    CannotTellError
        For a forced experiment, whose motion depends on the force.
    """
    if model.response is not None:
        raise CannotTellError(
            "a forced experiment has no lines of free motion: draw model.plot.response with the "
            "frequency response instead."
        )
    check_record(model, record)
    moving = model.trajectories
    count = averaged(model, record)
    omega = _grid(model, record)
    powers = np.zeros((3, len(omega), record.n_channels))
    for r in range(count):
        samples = model.record.samples[r]
        t, y = record.times[r][:samples], record.trials[r][:samples]
        rest = y - fitted(model, t, r)
        step = record.steps[r]
        powers[0] += _power(t, y - np.nanmean(y, axis=0), omega, step)
        powers[1] += np.nan if moving is None else _power(t, rest, omega, step)
        powers[2] += _noise_power(t, ~np.isnan(y))
    data, residual, gain = np.sqrt(powers / count)
    return SpectrumView(
        channels=model.channels,
        frequencies=omega,
        data=data,
        residual=residual,
        floor=None if model.noise_std is None else gain[0] * model.noise_std,
        lines=model.modes.frequencies,
        lines_std=model.modes.frequencies_std,
        trials=(count, record.n_trials),
    )


def check_record(model: Model, record: Record) -> None:
    """Make sure that a record is the one a model was made from.

    Parameters
    ----------
    model : Model
    record : Record
    """
    if not isinstance(record, Record):
        raise OptionError(f"{record!r} is no record: give the one that was fitted.")
    same = record.channels == model.channels and record.n_trials == len(model.record.samples)
    longer = same and all(
        have >= used for have, used in zip(record.samples, model.record.samples, strict=True)
    )
    if not longer:
        raise OptionError(
            f"{record!r} is not the record of this model, which has the channels "
            f"{' '.join(model.channels)} and {len(model.record.samples)} trials; give that one."
        )


def _grid(model: Model, record: Record) -> Array:
    """Frequencies to draw: a grid finer than the resolution, up to the band."""
    span = max(end - start for start, end in zip(record.starts, record.ends, strict=True))
    used = max(model.record.samples) / max(record.samples)
    spacing = 0.5 * np.pi / (span * used)
    step = record.dt or span / max(record.samples)
    top = min(limits.LINE_BAND * float(paces(model)[-1]), np.pi / step)
    count = int(top / spacing) + 1
    if record.is_uniform:
        return np.asarray(spacing * np.arange(max(count, 2)), float)
    return np.linspace(0.0, top, min(max(count, 2), limits.MOST_IRREGULAR_FREQUENCIES))


def _window(t: Array) -> Array:
    """Hann window over the time of the record: lines without side lobes over the floor."""
    u = (t - t[0]) / (t[-1] - t[0])
    return np.asarray(0.5 - 0.5 * np.cos(2 * np.pi * u), float)


def _power(t: Array, y: Array, omega: Array, step: float | None) -> Array:
    """Squared amplitude spectrum of each column, missing samples left out."""
    seen = ~np.isnan(y)
    w = _window(t)[:, None] * seen
    weighted = w * np.where(seen, y, 0.0)
    sums = _direct(t, weighted, omega) if step is None else _zoomed(weighted, omega, step)
    return np.asarray(np.abs(2 * sums / w.sum(axis=0)) ** 2, float)


def _noise_power(t: Array, seen: NDArray[np.bool_]) -> Array:
    """Expected squared amplitude of noise of unit variance."""
    w = _window(t)[:, None] * seen
    return np.asarray(4 * (w**2).sum(axis=0) / w.sum(axis=0) ** 2, float)


def _zoomed(y: Array, omega: Array, step: float) -> NDArray[np.complex128]:
    """Transform an even record at an even grid of frequencies by the chirp-z algorithm."""
    from scipy.signal import zoom_fft

    band = (omega[0], omega[-1])
    return np.asarray(
        zoom_fft(y, band, m=len(omega), fs=2 * np.pi / step, endpoint=True, axis=0), complex
    )


def _direct(t: Array, y: Array, omega: Array) -> NDArray[np.complex128]:
    out = np.empty((len(omega), y.shape[1]), complex)
    step = limits.FREQUENCIES_AT_ONCE
    for start in range(0, len(omega), step):
        part = slice(start, start + step)
        out[part] = np.exp(-1j * np.multiply.outer(omega[part], t)) @ y
    return out
