"""The memory kernel in time and over frequency, with its poles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prism._format import format_value
from prism.kernel import MemoryKernel
from prism.model import Model
from prism.plot import _limits as limits
from prism.plot._canvas import COLOURS, GRID, INK, MUTED, PALETTE, Sheet, cut, plain, spread
from prism.plot._names import name_above
from prism.plot.chart import Axis, Chart, Line, Mark, Panel, Rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["KernelView", "kernel_view"]

Array = NDArray[np.float64]

_DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), (0, (3, 1)), (0, (8, 2)))


@dataclass(frozen=True)
class KernelView:
    """What the figure of a kernel shows.

    Attributes
    ----------
    t : array (times,)
    entries : tuple of str
        Names of the entries of K that are drawn: the largest ones.
    values : array (times, entries)
    omitted : int
        Entries that are not drawn.
    omega : array (frequencies,)
    response : array (frequencies, entries)
        Magnitude of K̂(iω) of these entries; infinite at the poles, which the frequencies avoid.
    poles, poles_std : array (hidden,)
        Bare frequencies; the errors are None where they are not known.
    strength : array (hidden,)
        Traces of the residues.
    """

    t: Array
    entries: tuple[str, ...]
    values: Array
    omitted: int
    omega: Array
    response: Array
    poles: Array
    poles_std: Array | None
    strength: Array

    @property
    def layout(self) -> Sheet:
        """The kernel in time beside its magnitude over frequency."""
        return Sheet(1, 2, 8.0, 2.7 + 0.2 * self._legend_rows if len(self.poles) else 0.6)

    @property
    def _legend_rows(self) -> int:
        return -(-len(self.entries) // limits.KERNEL_LEGEND_COLUMNS)

    @property
    def _title_pad(self) -> float:
        return 6.0 + 15.0 * self._legend_rows

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw both panels."""
        if not len(self.poles):
            _say_empty(axes)
            return
        self._draw_time(axes[0])
        self._draw_response(axes[1])

    def _draw_time(self, ax: Axes) -> None:
        ax.axhline(0.0, color=MUTED, lw=0.8)
        for k, name in enumerate(self.entries):
            ax.plot(self.t, self.values[:, k], color=PALETTE[k], ls=_DASHES[k], label=plain(name))
        ax.set_xlim(0.0, self.t[-1])
        ax.set_xlabel("time (time units)")
        more = f" ({self.omitted} smaller entries not drawn)" if self.omitted else ""
        ax.set_title(f"memory kernel K(t){more}", loc="left", pad=self._title_pad)
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0.0, 0.98),
            ncols=limits.KERNEL_LEGEND_COLUMNS,
            handlelength=1.2,
            columnspacing=1.0,
            borderaxespad=0.1,
        )

    def _draw_response(self, ax: Axes) -> None:
        for k in range(len(self.entries)):
            ax.plot(self.omega, self.response[:, k], color=PALETTE[k], ls=_DASHES[k])
        ax.set_yscale("log")
        ax.set_ylim(*self._reach())
        for pole in self.poles:
            ax.axvline(pole, color=MUTED, lw=0.8, ls=":")
        self._name_poles(ax)
        ax.set_xlim(0.0, self.omega[-1])
        ax.grid(axis="y", color=GRID)
        ax.set_xlabel("angular frequency (rad / time unit)")
        ax.set_title("|K̂(iω)| and its poles", loc="left", pad=self._title_pad)

    def _name_poles(self, ax: Axes) -> None:
        """Write the bare frequencies above the panel; of crowded ones the first is written."""
        name_above(ax, self.poles, 0.1 * float(self.omega[-1]), color=INK)

    def _reach(self) -> tuple[float, float]:
        """Magnitudes that are drawn: neither at a pole nor at a zero of an entry."""
        high = limits.POLE_HEIGHT * float(np.median(self.response.max(axis=1)))
        size = np.median(self.response, axis=0)
        return float(max(size.min() / limits.POLE_HEIGHT, 1e-6 * high)), high

    def chart(self) -> Chart:
        """The kernel in time beside its magnitude over frequency."""
        if not len(self.poles):
            return Chart([])
        return Chart([self._time_panel(), self._response_panel()], columns=2, linked=False)

    def _time_panel(self) -> Panel:
        return Panel(
            Axis("t", "time units", (0.0, float(self.t[-1]))),
            Axis("K(t)", "force / displacement / time", spread(self.values)),
            [
                Line(name, COLOURS[k], self.t, self.values[:, k], dash=k)
                for k, name in enumerate(self.entries)
            ],
            title="memory kernel K(t)",
            height=210,
        )

    def _response_panel(self) -> Panel:
        curves: list[Mark] = [
            Line(name, COLOURS[k], self.omega, self.response[:, k], dash=k)
            for k, name in enumerate(self.entries)
        ]
        poles = Rule("poles", "muted", self.poles, dash=2, notes=self._pole_notes())
        return Panel(
            Axis("ω", "rad / time unit", (0.0, float(self.omega[-1]))),
            Axis("|K̂(iω)|", "force / displacement", self._reach(), log=True),
            [poles, *curves],
            title="|K̂(iω)| with the bare hidden frequencies",
            height=210,
        )

    def _pole_notes(self) -> tuple[str, ...]:
        errors = [None] * len(self.poles) if self.poles_std is None else list(self.poles_std)
        rows = zip(self.poles, errors, self.strength, strict=True)
        return tuple(
            f"pole ω = {format_value(float(pole), error)} rad / time unit, tr R = {size:.4g}"
            for pole, error, size in rows
        )


def _say_empty(axes: Sequence[Axes]) -> None:
    for ax in axes:
        ax.set_axis_off()
    axes[0].text(0.0, 0.5, "No mode is hidden: K(t) = 0.", color=INK)


def kernel_view(model: Model) -> KernelView:
    """Compute the memory kernel of a model.

    Parameters
    ----------
    model : Model

    Raises
    ------
    CannotTellError
        When the data do not determine it; the message is the verdict.
    """
    kernel, hamiltonian, verdict = model.kernel, model.hamiltonian, model.identifiability
    if not kernel or hamiltonian is None:
        raise verdict.refusal("the memory kernel")
    t = _times(kernel)
    rows, columns = np.triu_indices(len(hamiltonian.channels))
    values = kernel(t)[:, rows, columns]
    largest = np.argsort(-np.abs(values).max(axis=0, initial=0.0), kind="stable")[: len(PALETTE)]
    largest = np.sort(largest)
    names = [cut(name, limits.LONGEST_TICK) for name in hamiltonian.channels]
    omega = _frequencies(kernel)
    response = np.abs(kernel.laplace(1j * omega)[:, rows, columns])
    return KernelView(
        t=t,
        entries=tuple(f"{names[rows[k]]}, {names[columns[k]]}" for k in largest),
        values=values[:, largest],
        omitted=len(rows) - len(largest),
        omega=omega,
        response=response[:, largest],
        poles=kernel.poles,
        poles_std=hamiltonian.hidden_frequencies_std,
        strength=np.trace(kernel.residues, axis1=1, axis2=2),
    )


def _times(kernel: MemoryKernel) -> Array:
    if not len(kernel.poles):
        return np.linspace(0.0, 1.0, 2)
    reach = limits.KERNEL_PERIODS * 2 * np.pi / float(kernel.poles[0])
    periods = reach * float(kernel.poles[-1]) / (2 * np.pi)
    points = periods * limits.KERNEL_POINTS_PER_PERIOD
    count = np.clip(points, limits.FEWEST_KERNEL_POINTS, limits.MOST_KERNEL_POINTS)
    return np.linspace(0.0, reach, int(count))


def _frequencies(kernel: MemoryKernel) -> Array:
    """Frequencies of the curve, close to the poles but not on them."""
    if not len(kernel.poles):
        return np.linspace(0.0, 1.0, 2)
    top = limits.POLE_BAND * float(kernel.poles[-1])
    near = np.multiply.outer(kernel.poles, 1 + np.geomspace(1e-4, 1e-2, 12))
    below = 2 * kernel.poles[:, None] - near
    even = np.linspace(0.0, top, limits.KERNEL_FREQUENCIES)
    every = np.unique(np.concatenate([even, *near, *below]))
    gap = np.abs(every[:, None] - kernel.poles).min(axis=1)
    return np.asarray(every[gap > 1e-9 * top], float)
