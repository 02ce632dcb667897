"""How many modes there are: a stabilisation diagram made of likelihoods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prism.errors import CannotTellError
from prism.model import Model
from prism.motion.account import usable
from prism.motion.driven.kind import Driven
from prism.motion.driven.ladder import Rung, ladder
from prism.plot import _limits as limits
from prism.plot._canvas import BLUE, GRID, MUTED, ORANGE, Sheet, spread
from prism.plot.chart import Axis, Chart, Dots, Mark, Panel
from prism.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LadderView", "has_ladder", "ladder_view"]

Array = NDArray[np.float64]

_KEPT, _REFUSED = "asked for by the data", "one more, refused"


@dataclass(frozen=True)
class LadderView:
    """What the figure of orders shows.

    Attributes
    ----------
    rungs : tuple of Rung
    """

    rungs: tuple[Rung, ...]

    @property
    def highest(self) -> int:
        """Most modes of a rung."""
        return max(len(rung.frequencies) for rung in self.rungs)

    @property
    def layout(self) -> Sheet:
        """One panel, higher where a band has many modes."""
        return Sheet(1, 1, 8.0, 2.2 + 0.35 * self.highest)

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw the modes of every rung, as wide as their resonances."""
        ax = axes[0]
        ax.grid(axis="y", color=GRID)
        looks = ((True, _KEPT, BLUE, BLUE), (False, _REFUSED, ORANGE, "none"))
        for kept, name, colour, face in looks:
            x, y, half = self._points(kept=kept)
            if len(x):
                ax.errorbar(x, y, xerr=half, fmt="o", ms=4.5, color=colour, mfc=face, label=name)
        for rung in self.rungs:
            words = f"{rung.gain:.0f} / {rung.price:.0f}"
            place = (float(rung.frequencies.max()), len(rung.frequencies))
            ax.annotate(words, place, (6, 4), textcoords="offset points", fontsize=7.5, color=MUTED)
        ax.set_yticks(np.arange(1, self.highest + 1))
        ax.set_ylim(0.5, self.highest + 0.6)
        ax.margins(x=0.1)
        ax.set_xlabel("angular frequency (rad / time unit)")
        ax.set_ylabel("modes in the band")
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)

    def _points(self, *, kept: bool) -> tuple[Array, Array, Array]:
        """Frequencies, rungs and half widths."""
        some = [rung for rung in self.rungs if rung.kept is kept]
        nothing = [np.zeros(0)]
        x = np.concatenate([*(rung.frequencies for rung in some), *nothing])
        y = [np.full(len(rung.frequencies), float(len(rung.frequencies))) for rung in some]
        half = [rung.damping * rung.frequencies for rung in some]
        return x, np.concatenate([*y, *nothing]), np.concatenate([*half, *nothing])

    def chart(self) -> Chart:
        """The same for a page."""
        marks: list[Mark] = []
        for kept, name, colour, marker in (
            (True, _KEPT, "blue", "disc"),
            (False, _REFUSED, "orange", "ring"),
        ):
            x, y, half = self._points(kept=kept)
            if len(x):
                notes = tuple(
                    f"{w:.5g} rad / time unit, ζ = {z:.2g}; gains {rung.gain:.0f}, "
                    f"price {rung.price:.0f}"
                    for rung in self.rungs
                    if rung.kept is kept
                    for w, z in zip(rung.frequencies, rung.damping, strict=True)
                )
                marks.append(Dots(name, colour, x, y, marker, x_error=half, notes=notes))
        every = np.concatenate([rung.frequencies for rung in self.rungs])
        counts = tuple((float(k), str(k)) for k in range(1, self.highest + 1))
        return Chart(
            [
                Panel(
                    Axis("angular frequency", "rad / time unit", spread(every)),
                    Axis("modes in the band", "", (0.5, self.highest + 0.6), ticks=counts),
                    marks,
                    height=140 + 26 * self.highest,
                )
            ]
        )


def has_ladder(model: Model, record: Record) -> bool:
    """Whether a model and its record have rungs that take no long time.

    Parameters
    ----------
    model : Model
    record : Record
    """
    numbers = sum(record.samples) * record.n_channels
    there = model.kind == Driven.name and not model.record.setups and len(model.modes) > 0
    return there and usable(record) and numbers <= limits.LADDER_NUMBERS


def ladder_view(model: Model, record: Record) -> LadderView:
    """Compute the rungs.

    Parameters
    ----------
    model : Model
    record : Record
        The one that was fitted.

    Raises
    ------
    CannotTellError
        When the motion is not driven by noise, or the record has gaps.
    """
    if model.kind != Driven.name or not len(model.modes):
        raise CannotTellError(
            f"the motion is {model.kind}: orders are compared for motion that noise drives."
        )
    if model.record.setups or not usable(record):
        raise CannotTellError(
            "orders are compared for one record with an even step and without gaps."
        )
    rungs = ladder(record.select(model.channels), model.modes, model.machine_lines)
    if not rungs:
        raise CannotTellError("no mode of this model is in this record: give the one it is from.")
    return LadderView(rungs)
