"""The autocorrelation of each channel, of the data and of the fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prism.correlation import correlate
from prism.errors import CannotTellError, RecordError
from prism.model import Model
from prism.plot import _limits as limits
from prism.plot._canvas import BLUE, MUTED, label, legend_above, sketch, spread
from prism.plot._fitted import fitted, paces
from prism.plot._stacked import StackedView, averaged
from prism.plot.chart import Axis, Line, Mark, Panel
from prism.plot.spectrum import check_record
from prism.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CorrelationView", "correlation_view"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CorrelationView(StackedView):
    r"""What the figure of a correlation shows, :math:`C_{aa}(τ) = ⟨x_a(t+τ) x_a(t)⟩`.

    Attributes
    ----------
    channels, quantity : tuple of str
    lags : array (lags,)
        From the first step on: lag zero holds the noise.
    data, fit : array (lags, channels)
        Of the record and of the motion that was fitted, by the same estimate; NaN where there is
        no fit.
    trials : tuple of (int, int)
        Trials that were averaged, and how many there are.
    """

    channels: tuple[str, ...]
    quantity: tuple[str, ...]
    lags: Array
    data: Array
    fit: Array
    trials: tuple[int, int]

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw on one panel per channel."""
        for a, ax in enumerate(axes):
            ax.axhline(0.0, color=MUTED, lw=0.8)
            ax.plot(*sketch(self.lags, self.data[:, a]), color=MUTED, lw=1.6, label="data")
            if self._has_fit(a):
                x, y = sketch(self.lags, self.fit[:, a])
                ax.plot(x, y, color=BLUE, lw=1.0, ls=(0, (6, 1.5)), label="fit")
            ax.set_xlim(0.0, self.lags[-1])
            ax.set_ylabel(label(self.channels[a]))
        axes[-1].set_xlabel("lag τ (time units)")
        legend_above(axes[0])

    def _has_fit(self, a: int) -> bool:
        return bool(np.isfinite(self.fit[:, a]).any())

    def _panel(self, a: int, height: int) -> Panel:
        marks: list[Mark] = [Line("data", "muted", *sketch(self.lags, self.data[:, a]))]
        if self._has_fit(a):
            marks.append(Line("fit", "blue", *sketch(self.lags, self.fit[:, a]), dash=1))
        return Panel(
            Axis("τ", "time units", (0.0, float(self.lags[-1]))),
            Axis(f"C({self.channels[a]})", f"{self.quantity[a]}²", spread(self.data[:, a])),
            marks,
            height=height,
        )


def correlation_view(model: Model, record: Record) -> CorrelationView:
    """Compute the autocorrelations of a record and of the motion fitted to it.

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
        For a forced experiment, and for irregular times.
    """
    if model.response is not None:
        raise CannotTellError(
            "the correlation of a forced motion is that of its force: draw model.plot.response "
            "with the frequency response instead."
        )
    check_record(model, record)
    if record.dt is None:
        raise CannotTellError(
            "a correlation needs one uniform sampling step in all trials: draw "
            "model.plot.spectrum, which takes any times."
        )
    count = averaged(model, record)
    parts = [slice(0, model.record.samples[r]) for r in range(count)]
    data = [record.trials[r][parts[r]] for r in range(count)]
    lag = _longest_lag(model, record.dt, max(len(values) for values in data))
    fits = [fitted(model, record.times[r][parts[r]], r) for r in range(count)]
    found = _autocorrelation(data, record.dt, lag)
    # A motion that is known in part, after the last kick of a decay, is not that of the record.
    whole = all(np.isfinite(fit).all() for fit in fits)
    return CorrelationView(
        channels=model.channels,
        quantity=model.quantity,
        lags=np.asarray(record.dt * np.arange(1, len(found) + 1), float),
        data=found,
        fit=_autocorrelation(fits, record.dt, lag) if whole else np.full_like(found, np.nan),
        trials=(count, record.n_trials),
    )


def _longest_lag(model: Model, dt: float, samples: int) -> int:
    reach = limits.CORRELATION_PERIODS * 2 * np.pi / float(np.median(paces(model)))
    return min(max(limits.FEWEST_LAGS, min(round(reach / dt), samples // 2)), samples - 1)


def _autocorrelation(trials: Sequence[Array], dt: float, lag: int) -> Array:
    """Of each channel alone: all pairs of many channels would not fit into memory."""
    try:
        records = [Record([x[:, a] for x in trials], dt=dt) for a in range(trials[0].shape[1])]
        return np.stack([correlate(one, lag * dt).values[1:, 0, 0] for one in records], axis=1)
    except RecordError as error:
        raise CannotTellError(f"there is no correlation to draw: {error}") from error
