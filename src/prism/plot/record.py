"""The record and the motion that was fitted to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prism.errors import OptionError
from prism.model import Model
from prism.plot import _limits as limits
from prism.plot._canvas import (
    BLUE,
    INK,
    MUTED,
    Sheet,
    envelope,
    label,
    legend_above,
    panel_height,
    shown,
    sketch,
    spread,
    stacked,
)
from prism.plot._fitted import fitted, paces
from prism.plot.chart import Axis, Band, Chart, Line, Mark, Panel, Rule
from prism.plot.spectrum import check_record
from prism.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RecordView", "record_view"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RecordView:
    """What the figure of a record shows.

    Attributes
    ----------
    channels, quantity : tuple of str
    t : array (samples,)
    data, fit : array (samples, channels)
        NaN where a sample is missing, and where there is no fit.
    end : float
        Time of the last sample that was fitted.
    close : int
        Samples of the close-up, from the first on; as many as there are when it is the whole.
    trial : tuple of (int, int)
        Which trial is shown, counted from 0, and how many there are.
    """

    channels: tuple[str, ...]
    quantity: tuple[str, ...]
    t: Array
    data: Array
    fit: Array
    end: float
    close: int
    trial: tuple[int, int]

    @property
    def layout(self) -> Sheet:
        """One row per channel: the whole record and, where it is long, a close-up."""
        rows = stacked(len(self.channels))
        return Sheet(rows.rows, 2 if self._long else 1, rows.width, rows.height)

    @property
    def _long(self) -> bool:
        return self.close < len(self.t)

    @property
    def dense(self) -> bool:
        """Whether the whole is too long to tell the data from the fit: a page begins close by."""
        return limits.DENSE_CLOSE_UPS * self.close < len(self.t)

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw the whole record and the close-up of each channel."""
        columns = self.layout.columns
        for k, ax in enumerate(axes):
            a, column = divmod(k, columns)
            self._draw_part(ax, a, self.close if column else len(self.t))
            if column == 0:
                ax.set_ylabel(label(self.channels[a]))
            if k >= len(axes) - columns:
                ax.set_xlabel("time (time units)")
            else:
                ax.tick_params(axis="x", labelbottom=False)
        legend_above(axes[0])

    def _draw_part(self, ax: Axes, a: int, samples: int) -> None:
        t = self.t[:samples]
        x, y = sketch(t, self.data[:samples, a])
        ax.plot(x, y, color=MUTED, lw=0.8, label="data")
        if np.isfinite(self.fit[:samples, a]).any():
            x, y = sketch(t, self.fit[:samples, a])
            ax.plot(x, y, color=BLUE, lw=1.0, ls=(0, (6, 1.5)), label="fit")
        if self.end < t[-1]:
            ax.axvline(self.end, color=INK, lw=0.9, ls=(0, (5, 3)), label="end of the fit")
        ax.set_xlim(t[0], t[-1])

    def chart(self) -> Chart:
        """One panel per channel; every sample of the close-up is there, of a long record too."""
        count = shown(self.channels)
        zooms: tuple[tuple[str, tuple[float, float]], ...] = ()
        if self._long:
            whole = (float(self.t[0]), float(self.t[-1]))
            near = (float(self.t[0]), float(self.t[self.close - 1]))
            zooms = (("whole record", whole), ("close-up", near))
        panels = [self._panel(a, panel_height(count)) for a in range(count)]
        return Chart(panels, stack=count, zooms=zooms, first=int(self.dense))

    def _panel(self, a: int, height: int) -> Panel:
        marks = self._curve("data", "muted", self.data[:, a])
        if np.isfinite(self.fit[:, a]).any():
            marks += self._curve("fit", "blue", self.fit[:, a])
        if self.end < self.t[-1]:
            marks.append(Rule("end of the fit", "ink", np.array([self.end]), dash=1))
        return Panel(
            Axis("t", "time units", (float(self.t[0]), float(self.t[-1]))),
            Axis(self.channels[a], self.quantity[a], spread(self.data[:, a])),
            marks,
            height=height,
        )

    @property
    def whole(self) -> int:
        """Samples that a page draws one by one; what follows is drawn by its extremes."""
        return len(self.t) if len(self.t) <= limits.MOST_SINGLE_SAMPLES else self.close

    def _curve(self, name: str, colour: str, y: Array) -> list[Mark]:
        """Samples as a line, and the many that follow them as a band of their extremes."""
        n = self.whole
        marks: list[Mark] = []
        if np.isfinite(y[:n]).any():
            line = sketch(self.t[:n], y[:n], most=n)
            marks.append(Line(name, colour, *line, faint=colour == "muted"))
        if n < len(y):
            opacity = 0.9 if colour == "muted" else 0.75
            marks.append(Band(name, colour, *envelope(self.t[n:], y[n:]), opacity))
        return marks


def record_view(model: Model, record: Record, trial: int = 0) -> RecordView:
    """Collect one trial of a record and the motion that was fitted to it.

    Parameters
    ----------
    model : Model
    record : Record
        The one that was fitted. The motion of a forced one depends on the force: it has no fit.
    trial : int
        Which trial of an ensemble.

    Raises
    ------
    OptionError
        When the record is not the one of the model, or has no such trial.
    """
    if model.response is None:
        check_record(model, record)
    if not 0 <= trial < record.n_trials:
        raise OptionError(
            f"trial {trial} is not among the {record.n_trials} trials of this record; count them "
            "from 0."
        )
    t, data = record.times[trial], record.trials[trial]
    used = model.record.samples[trial]
    return RecordView(
        channels=record.channels,
        quantity=_quantities(model, record),
        t=t,
        data=data,
        fit=np.full_like(data, np.nan) if model.trajectories is None else fitted(model, t, trial),
        end=float(t[min(used, len(t)) - 1]),
        close=_close(model, t),
        trial=(trial, record.n_trials),
    )


def _quantities(model: Model, record: Record) -> tuple[str, ...]:
    """What each channel measures; one that the model does not know is a force."""
    pairs = zip(record.channels, record.quantity, strict=True)
    return tuple(kind if name in model.channels else "force" for name, kind in pairs)


def _close(model: Model, t: Array) -> int:
    """Samples of the close-up: some periods, or all where that is most of the record."""
    reach = limits.CLOSE_UP_PERIODS * 2 * np.pi / float(np.median(paces(model)))
    within = np.searchsorted(t, t[0] + reach)
    count = int(np.clip(within, limits.FEWEST_CLOSE_UP, limits.MOST_CLOSE_UP))
    return count if 2 * count < len(t) else len(t)
