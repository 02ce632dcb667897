"""A fitted potential and its force over the range of the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prism.errors import CannotTellError
from prism.model import Model
from prism.motion.potential.terms import Potential
from prism.plot import _limits as limits
from prism.plot._canvas import BLUE, MUTED, Sheet, label, spread
from prism.plot.chart import Axis, Band, Chart, Line, Panel, Rule
from prism.remarks import Ask, Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PotentialView", "potential_of", "potential_view"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PotentialView:
    """What the figure of a potential shows.

    Attributes
    ----------
    name : str
        Of the coordinate.
    x, values, std, force : arrays (points,)
        V with its lowest value at zero, its standard deviation, and -V'.
    low, high : float
        Range of the record; outside, V is extrapolated.
    text : str
    """

    name: str
    x: Array
    values: Array
    std: Array
    force: Array
    low: float
    high: float
    text: str

    @property
    def layout(self) -> Sheet:
        """The potential beside the force."""
        return Sheet(1, 2, 8.0, 2.9)

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw both panels."""
        left, right = axes
        left.fill_between(
            self.x,
            self.values - 2 * self.std,
            self.values + 2 * self.std,
            color=BLUE,
            alpha=0.25,
            lw=0,
            label="±2σ",
        )
        left.plot(self.x, self.values, color=BLUE, label="V")
        right.plot(self.x, self.force, color=BLUE)
        right.axhline(0.0, color=MUTED, lw=0.8)
        for ax, title in ((left, "potential V"), (right, "force −V′")):
            for edge in (self.low, self.high):
                ax.axvline(edge, color=MUTED, lw=0.9, ls="--")
            ax.set_xlim(self.x[0], self.x[-1])
            ax.set_xlabel(label(self.name))
            ax.set_title(title, loc="left")
        left.legend(loc="upper center", ncols=2)

    def chart(self) -> Chart:
        """The potential beside the force."""
        x = Axis(self.name, "displacement", (float(self.x[0]), float(self.x[-1])))
        low, high = self.values - 2 * self.std, self.values + 2 * self.std
        edges = Rule("range of the record", "muted", np.array([self.low, self.high]), dash=1)
        potential = Panel(
            x,
            Axis("V", "energy", spread(low, high)),
            [
                Band("±2σ", "blue", self.x, low, high, 0.25),
                Line("V", "blue", self.x, self.values),
                edges,
            ],
            title="potential V",
            height=210,
        )
        force = Panel(
            x,
            Axis("−V′", "force", spread(self.force)),
            [Line("−V′", "green", self.x, self.force), edges],
            title="force −V′",
            height=210,
        )
        return Chart([potential, force], columns=2)


def potential_of(model: Model) -> Potential | None:
    """The fitted potential of a single seen coordinate, if there is one.

    Parameters
    ----------
    model : Model
    """
    if len(model.channels) > 1:
        return None
    return getattr(model.hamiltonian, "potential", None)


def potential_view(model: Model) -> PotentialView:
    """Compute the potential of a model of one coordinate.

    Raises
    ------
    CannotTellError
        When there is none, or when it has two coordinates.
    """
    potential = potential_of(model)
    if potential is None:
        raise CannotTellError(
            Words(
                "there is no potential of one coordinate to draw: identify with {0}.",
                (Ask("potential", "auto"),),
            )
        )
    low, high = (float(edge[0]) for edge in potential.reach)
    gap = limits.POTENTIAL_MARGIN * (high - low)
    x = np.linspace(low - gap, high + gap, limits.POTENTIAL_POINTS)
    values = potential(x)
    return PotentialView(
        name=model.channels[0],
        x=x,
        values=values - values.min(),
        std=potential.band(x),
        force=-potential.gradient(x),
        low=low,
        high=high,
        text=str(potential),
    )
