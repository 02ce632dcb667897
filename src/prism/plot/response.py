"""A measured frequency response, the fit through it, its poles and its zeros."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prism.errors import CannotTellError
from prism.frequency_response import FrequencyResponse
from prism.model import Model, ResponseSummary
from prism.motion.forced.foster import Foster
from prism.plot import _limits as limits
from prism.plot._canvas import (
    BLUE,
    GREEN,
    GRID,
    MUTED,
    ORANGE,
    Sheet,
    cut,
    legend_above,
    plain,
    thin,
)
from prism.plot._entries import measured, unmeasured
from prism.plot.chart import Axis, Chart, Dots, Line, Mark, Panel, Rule
from prism.record import QUANTITIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ResponseView", "response_view"]

Array = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]

_HALF_TURN = 180.0


@dataclass(frozen=True)
class ResponseView:
    """What the figure of a response shows.

    Attributes
    ----------
    entries : tuple of str
        Output and input of each entry that is drawn.
    quantity : str
        What was measured per force.
    omega : array (lines,)
    data : array (lines, entries)
        NaN where missing.
    grid : array (points,)
    fit : array (points, entries)
    poles : array
        Natural frequencies inside the band.
    zeros : tuple of arrays
        Of each entry, inside the band.
    columns : int
        Entries beside each other.
    omitted : int
        Entries that are not drawn.
    """

    entries: tuple[str, ...]
    quantity: str
    omega: Array
    data: ComplexArray
    grid: Array
    fit: ComplexArray
    poles: Array
    zeros: tuple[Array, ...]
    columns: int
    omitted: int

    @property
    def layout(self) -> Sheet:
        """Magnitude above phase for each entry."""
        rows = math.ceil(len(self.entries) / self.columns)
        each = 3.6 if rows == 1 else 2.6
        width = 8.0 if self.columns < limits.MOST_ENTRY_COLUMNS else 9.5
        return Sheet(
            2 * rows,
            self.columns,
            width,
            0.9 + each * rows,
            share_x=True,
            heights=(2.0, 1.0) * rows,
        )

    @property
    def has_data(self) -> bool:
        """Whether anything was measured over frequency."""
        return bool(np.isfinite(self.data).any())

    def _sizes(self, k: int) -> Array:
        """Magnitudes that a panel shows: those of the data, else of the curve off its poles."""
        size = np.abs(self.data[:, k])
        if np.any(size > 0):
            return np.asarray(size[size > 0], float)
        height = np.abs(self.fit[self._kept(k), k])
        return np.asarray(height[height < limits.INFINITE_HEIGHT * np.median(height)], float)

    @property
    def _centre(self) -> float:
        """Phase in the middle of a panel: a driving point turns from 90 above it to 90 below."""
        return 90.0 * QUANTITIES.index(self.quantity) - 90.0

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw each entry on two panels and blank the panels that are left over."""
        count, columns = len(self.entries), self.columns
        used = []
        for k in range(count):
            row, column = divmod(k, columns)
            upper, lower = (axes[(2 * row + part) * columns + column] for part in (0, 1))
            used += [upper, lower]
            self._draw_magnitude(upper, k)
            self._draw_phase(lower, k)
            if column == 0:
                upper.set_ylabel("magnitude")
                lower.set_ylabel("phase (°)")
            if k + columns >= count:  # the lowest of its column, also above a blank one
                lower.set_xlabel("ω (rad / time unit)")
                lower.tick_params(axis="x", labelbottom=True)
        for ax in axes:
            if ax not in used:
                ax.set_axis_off()
        self._legend(axes[0])

    def _legend(self, ax: Axes) -> None:
        legend_above(ax, 16)
        if self.columns == 1:
            return
        # Wider than its panel: it must not push the others aside, but still have its height.
        legend = ax.get_legend()
        if legend is not None:
            legend.set_in_layout(False)
        ax.annotate(" ", (0, 1), (0, 26), xycoords="axes fraction", textcoords="offset points")

    def _draw_magnitude(self, ax: Axes, k: int) -> None:
        size = np.abs(self.data[:, k])
        seen = size > 0
        self._dots(ax, self.omega[seen], size[seen])
        keep = self._kept(k)
        height = np.abs(self.fit[keep, k])
        ax.plot(self.grid[keep], height, color=BLUE, label="fit", zorder=2.3)
        self._mark(ax, k)
        ax.set_yscale("log")
        ax.minorticks_off()  # there may be many panels, and a tick is slow to draw
        ax.set_ylim(*_decades(self._sizes(k)))
        ax.set_xlim(self.omega[0], self.omega[-1])
        ax.grid(axis="y", which="major", color=GRID)
        ax.set_title(plain(self.entries[k]), loc="left")

    def _draw_phase(self, ax: Axes, k: int) -> None:
        values = self.data[:, k]
        seen = np.abs(values) > 0
        self._dots(ax, self.omega[seen], self._phase(values[seen]))
        keep = self._kept(k)
        ax.plot(*self._phase_curve(k, keep), color=BLUE, zorder=2.3)
        if not self._crowded(k):
            self._mark(ax, k)
        ax.set_ylim(self._centre - _HALF_TURN, self._centre + _HALF_TURN)
        ax.set_yticks([self._centre - 90, self._centre, self._centre + 90])
        ax.grid(axis="y", which="major", color=GRID)

    def _phase_curve(self, k: int, keep: NDArray[np.intp]) -> tuple[Array, Array]:
        """A curve that leaves the panel below comes back above: no line from there to here."""
        phase = self._phase(self.fit[keep, k])
        around = np.flatnonzero(np.abs(np.diff(phase)) > 1.2 * _HALF_TURN) + 1
        x = self.grid[keep]
        return np.insert(x, around, x[around]), np.insert(phase, around, np.nan)

    def chart(self) -> Chart:
        """Magnitude above phase for each entry."""
        each = [panel for k in range(len(self.entries)) for panel in self._panels(k)]
        return Chart(each, stack=2, columns=self.columns)

    def _panels(self, k: int) -> tuple[Panel, Panel]:
        seen = np.abs(self.data[:, k]) > 0
        values, keep = self.data[seen, k], self._kept(k)
        x = Axis("ω", "rad / time unit", (float(self.omega[0]), float(self.omega[-1])))
        size, at = np.abs(values), self.omega[seen]
        marks: tuple[Mark, ...] = (
            Rule("poles", "orange", self.poles, dash=2, notes=_places("pole", self.poles)),
            Rule("zeros", "green", self.zeros[k], dash=1, notes=_places("zero", self.zeros[k])),
        )
        upper = Panel(
            x,
            Axis("|H|", f"{self.quantity} per force", _decades(self._sizes(k)), log=True),
            [
                *marks,
                *([Dots("data", "muted", at, size)] if len(at) else []),
                Line("fit", "blue", self.grid[keep], np.abs(self.fit[keep, k])),
            ],
            title=self.entries[k],
            height=170,
        )
        quarters = tuple(self._centre + 90.0 * turn for turn in (-1, 0, 1))
        lower = Panel(
            x,
            Axis(
                "phase",
                "°",
                (self._centre - _HALF_TURN, self._centre + _HALF_TURN),
                ticks=tuple((angle, f"{angle:.0f}°".replace("-", "−")) for angle in quarters),
            ),
            [
                *marks,
                *([Dots("data", "muted", at, self._phase(values))] if len(at) else []),
                Line("fit", "blue", *self._phase_curve(k, keep)),
            ],
            height=90,
        )
        return upper, lower

    def _phase(self, values: ComplexArray) -> Array:
        turned = np.degrees(np.angle(values)) - self._centre + _HALF_TURN
        return np.asarray(turned % 360.0 - _HALF_TURN + self._centre, float)

    def _kept(self, k: int) -> NDArray[np.intp]:
        """Points of the curve that show: not where an undamped pole makes it infinite."""
        size = np.abs(self.fit[:, k])
        there = np.flatnonzero(np.isfinite(size) & (size > 0))
        return there[thin(np.log(size[there]), limits.MOST_RESPONSE_POINTS)]

    def _dots(self, ax: Axes, x: Array, y: Array) -> None:
        if not len(x):
            return
        stride = -(-len(x) * 2 * len(self.entries) // limits.MOST_RESPONSE_DOTS)
        size = 2.6 if len(x) > 300 or self.columns > 1 else 3.4
        ax.plot(x[::stride], y[::stride], ".", color=MUTED, ms=size, label="data", zorder=2.1)

    def _crowded(self, k: int) -> bool:
        return max(len(self.poles), len(self.zeros[k])) * self.columns > limits.MOST_LONG_MARKS

    def _mark(self, ax: Axes, k: int) -> None:
        """Mark poles and zeros: through the panel, or many of them by strokes at its edges."""
        crowded = self._crowded(k)
        for places, color, low, high, name in (
            (self.poles, ORANGE, 0.9 if crowded else 0.0, 1.0, "poles"),
            (self.zeros[k], GREEN, 0.0, 0.1 if crowded else 1.0, "zeros"),
        ):
            for m, place in enumerate(places):
                ax.axvline(
                    place,
                    low,
                    high,
                    color=color,
                    lw=1.1 if crowded else 0.9,
                    ls="-" if crowded else ":",
                    label="_" if m else name,
                    zorder=2.2 if crowded else 1.0,
                )


def _decades(size: Array) -> tuple[float, float]:
    return 0.4 * float(size.min()), 2.5 * float(size.max())


def _places(word: str, at: Array) -> tuple[str, ...]:
    return tuple(f"{word} at ω = {place:.5g} rad / time unit" for place in at)


def response_view(model: Model, response: FrequencyResponse | None = None) -> ResponseView:
    """Compute the fit of a model over a measured response, or over the band that it knows.

    Parameters
    ----------
    model : Model
        Of a forced experiment.
    response : FrequencyResponse, optional
        The one that was fitted, or another of the same ports; a forced record has none.

    Raises
    ------
    CannotTellError
        When the model is not that of a forced experiment.
    OptionError
        When the response names ports that the model does not know.
    """
    known = model.response
    if known is None:
        raise CannotTellError(
            f"the model of a record of kind {model.experiment!r} has no response to draw: "
            "identify a frequency response, or a record with its forces."
        )
    seen = unmeasured(model, known) if response is None else measured(model, response)
    low, high = float(seen.omega[0]), float(seen.omega[-1])
    inside = (model.modes.frequencies >= low) & (model.modes.frequencies <= high)
    grid = _grid(model, seen.omega)
    index = [(model.channels.index(out), model.channels.index(inp)) for out, inp in seen.places]
    return ResponseView(
        entries=tuple(f"{cut(out)} / {cut(inp)}" for out, inp in seen.places),
        quantity=seen.quantity,
        omega=seen.omega,
        data=seen.data,
        grid=grid,
        fit=_fit(model, known, index, grid, seen.quantity),
        poles=np.unique(model.modes.frequencies[inside]),
        zeros=tuple(_zeros(known, out, inp, (low, high)) for out, inp in seen.places),
        columns=seen.columns,
        omitted=seen.omitted,
    )


def _grid(model: Model, omega: Array) -> Array:
    """Frequencies of the curve: finer than the data, and finest at damped poles and zeros."""
    parts = max(1, min(limits.MOST_GRID_PARTS, limits.RESPONSE_GRID // len(omega)))
    steps = np.arange(parts) / parts
    between = omega[:-1, None] + np.diff(omega)[:, None] * steps
    modes = model.modes
    lossy = modes.damping > 0
    width = (modes.damping * modes.frequencies)[lossy]
    near = modes.frequencies[lossy, None] + width[:, None] * np.linspace(-4, 4, 17)
    every = np.concatenate([between.ravel(), omega[-1:], near.ravel()])
    return np.unique(every[(every >= omega[0]) & (every <= omega[-1])])


def _fit(
    model: Model,
    known: ResponseSummary,
    index: Sequence[tuple[int, int]],
    grid: Array,
    quantity: str,
) -> ComplexArray:
    """The fitted response of each entry, in the quantity that was measured."""
    modes, V = model.modes, known.participation
    order = QUANTITIES.index(quantity)
    if known.damping == "coupled":
        rows, columns = np.transpose(index)
        every = model.receptance(1j * grid)[:, rows, columns]
        return np.asarray(every * (1j * grid[:, None]) ** order, complex)
    weights = Foster(modes.frequencies, V, 2 * modes.damping, known.damping).denominators(grid)
    curves = [weights @ (V[:, a] * V[:, b]) for a, b in index]
    return np.asarray(np.stack(curves, axis=1) * (1j * grid[:, None]) ** order, complex)


def _zeros(known: ResponseSummary, out: str, inp: str, band: tuple[float, float]) -> Array:
    """Zeros of an entry; a reciprocal one has the same."""
    found = [
        zero.frequency
        for zero in known.zeros
        if zero.inside
        and (zero.outputs, zero.inputs) in {((out,), (inp,)), ((inp,), (out,))}
        and band[0] <= zero.frequency <= band[1]
    ]
    return np.unique(np.array(found, float))
