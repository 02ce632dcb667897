"""The memory kernel in time, and its poles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prism.errors import CannotTellError
from prism.kernel import MemoryKernel
from prism.model import Model
from prism.plot._canvas import BLUE, GRID, INK, MUTED, PALETTE, Layout, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["KernelView", "kernel_view"]

Array = NDArray[np.float64]

_PERIODS = 6  # of the slowest pole
_POINTS_PER_PERIOD = 40
_LEGEND_COLUMNS = 3


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
    poles, poles_std : array (hidden,)
        Bare frequencies; the errors are None where they are not known.
    strength : array (hidden,)
        Traces of the residues.
    """

    t: Array
    entries: tuple[str, ...]
    values: Array
    omitted: int
    poles: Array
    poles_std: Array | None
    strength: Array

    @property
    def layout(self) -> Layout:
        """The kernel in time beside its poles."""
        return Layout(1, 2, 8.0, 2.7 + 0.2 * self._legend_rows if len(self.poles) else 0.6)

    @property
    def _legend_rows(self) -> int:
        return -(-len(self.entries) // _LEGEND_COLUMNS)

    @property
    def _title_pad(self) -> float:
        return 6.0 + 15.0 * self._legend_rows

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw both panels."""
        if not len(self.poles):
            _say_empty(axes)
            return
        self._draw_time(axes[0])
        self._draw_poles(axes[1])

    def _draw_time(self, ax: Axes) -> None:
        ax.axhline(0.0, color=MUTED, lw=0.8)
        for k, name in enumerate(self.entries):
            ax.plot(self.t, self.values[:, k], color=PALETTE[k], label=name)
        ax.set_xlim(0.0, self.t[-1])
        ax.set_xlabel("time (time units)")
        more = f" ({self.omitted} smaller entries not drawn)" if self.omitted else ""
        ax.set_title(f"memory kernel K(t){more}", loc="left", pad=self._title_pad)
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0.0, 0.98),
            ncols=_LEGEND_COLUMNS,
            handlelength=1.2,
            columnspacing=1.0,
            borderaxespad=0.1,
        )

    def _draw_poles(self, ax: Axes) -> None:
        ax.vlines(self.poles, 0.0, self.strength, color=BLUE, lw=2.4)
        spread = None if self.poles_std is None else 2 * self.poles_std
        ax.errorbar(self.poles, self.strength, xerr=spread, fmt="o", ms=5, color=BLUE, capsize=2.5)
        top = 1.25 * float(self.strength.max())
        step, last = 0.1 * 1.15 * float(self.poles[-1]), -np.inf
        for pole, height in zip(self.poles, self.strength, strict=True):
            if pole - last < step:
                continue
            last = pole
            ax.annotate(
                f"{pole:.4g}",
                (pole, height),
                xytext=(0, 6),
                textcoords="offset points",
                ha="center",
                color=INK,
                fontsize=9,
            )
        ax.set_xlim(0.0, 1.15 * float(self.poles[-1]))
        ax.set_ylim(0.0, top)
        ax.grid(axis="y", color=GRID)
        ax.set_xlabel("bare frequency ω (rad / time unit)")
        ax.set_title("poles and traces of their residues", loc="left", pad=self._title_pad)


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
    if kernel is None or hamiltonian is None:
        raise CannotTellError(
            f"the memory kernel is not determined: {verdict.why}; {verdict.remedy}."
        )
    t = _times(kernel)
    rows, columns = np.triu_indices(len(model.channels))
    values = kernel(t)[:, rows, columns]
    largest = np.argsort(-np.abs(values).max(axis=0, initial=0.0), kind="stable")[: len(PALETTE)]
    largest = np.sort(largest)
    names = [label(name, 10) for name in model.channels]
    return KernelView(
        t=t,
        entries=tuple(f"{names[rows[k]]}, {names[columns[k]]}" for k in largest),
        values=values[:, largest],
        omitted=len(rows) - len(largest),
        poles=kernel.poles,
        poles_std=hamiltonian.hidden_frequencies_std,
        strength=np.trace(kernel.residues, axis1=1, axis2=2),
    )


def _times(kernel: MemoryKernel) -> Array:
    if not len(kernel.poles):
        return np.linspace(0.0, 1.0, 2)
    reach = _PERIODS * 2 * np.pi / float(kernel.poles[0])
    periods = reach * float(kernel.poles[-1]) / (2 * np.pi)
    return np.linspace(0.0, reach, int(np.clip(periods * _POINTS_PER_PERIOD, 300, 4000)))
