"""The frequencies of lines that move, over the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prism.errors import CannotTellError
from prism.model import Model
from prism.motion.moving.motion import MovingMotion
from prism.plot import _limits as limits
from prism.plot._canvas import BLUE, spread
from prism.plot._stacked import StackedView
from prism.plot.chart import Axis, Band, Line, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FrequenciesView", "frequencies_view"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FrequenciesView(StackedView):
    """What the figure of moving frequencies shows.

    Attributes
    ----------
    channels : tuple of str
        A name for each line: its panel.
    t : array (times,)
    values, std : array (times, lines)
        Angular frequencies, with standard deviations.
    """

    channels: tuple[str, ...]
    t: Array
    values: Array
    std: Array

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw one line per panel."""
        for a, ax in enumerate(axes):
            y, half = self.values[:, a], 2 * self.std[:, a]
            ax.fill_between(self.t, y - half, y + half, color=BLUE, alpha=0.25, lw=0, label="±2σ")
            ax.plot(self.t, y, color=BLUE, label="frequency")
            ax.set_ylabel(self.channels[a])
        axes[0].legend(loc="upper left", ncols=2)
        axes[-1].set_xlim(self.t[0], self.t[-1])
        axes[-1].set_xlabel("time (time units)")

    def _panel(self, a: int, height: int) -> Panel:
        low, high = (self.values[:, a] + sign * 2 * self.std[:, a] for sign in (-1, 1))
        return Panel(
            Axis("t", "time units", (float(self.t[0]), float(self.t[-1]))),
            Axis(self.channels[a], "rad / time unit", spread(low, high)),
            [
                Band("±2σ", "blue", self.t, low, high, 0.25),
                Line("frequency", "blue", self.t, self.values[:, a]),
            ],
            height=height,
        )


def frequencies_view(model: Model) -> FrequenciesView:
    """Compute the frequencies of lines that move.

    Parameters
    ----------
    model : Model

    Raises
    ------
    CannotTellError
        When its lines do not move.
    """
    motion = model.trajectories
    if not isinstance(motion, MovingMotion):
        raise CannotTellError("the lines of this model do not move: there is nothing to follow.")
    t = np.linspace(model.record.start, model.record.end, limits.MOVING_POINTS)
    values, std = motion.frequencies(t)
    names = tuple(f"Ω{j + 1}" for j in range(values.shape[1]))
    return FrequenciesView(names, t, values, std)
