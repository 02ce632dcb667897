"""What the views share that have a panel for each channel, and which trials they average."""

from __future__ import annotations

from abc import ABC, abstractmethod

from prism.model import Model
from prism.plot import _limits as limits
from prism.plot._canvas import Sheet, panel_height, shown, stacked
from prism.plot.chart import Chart, Panel
from prism.record import Record

__all__ = ["StackedView", "averaged"]


class StackedView(ABC):
    """A panel for each channel, one above the other.

    Attributes
    ----------
    channels : tuple of str
    """

    channels: tuple[str, ...]

    @property
    def layout(self) -> Sheet:
        """One panel per channel, one above the other."""
        return stacked(len(self.channels))

    def chart(self) -> Chart:
        """One panel per channel, one above the other; of very many channels the first."""
        count = shown(self.channels)
        return Chart([self._panel(a, panel_height(count)) for a in range(count)], stack=count)

    @abstractmethod
    def _panel(self, a: int, height: int) -> Panel:
        """Draw one channel."""


def averaged(model: Model, record: Record) -> int:
    """How many trials of a record an average takes, from the first on.

    Parameters
    ----------
    model : Model
        One from a file may have kept the motion of the first trials only.
    record : Record
    """
    moving = model.trajectories
    kept = record.n_trials if moving is None else len(moving.trials)
    return min(record.n_trials, kept, limits.MOST_AVERAGED)
