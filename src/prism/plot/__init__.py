"""Figures: each is computed first and drawn afterwards; drawing needs the extra ``plot``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from prism._optional import require
from prism.errors import CannotTellError, OptionError, WriteError
from prism.frequency_response import FrequencyResponse
from prism.geometry import Geometry
from prism.io._atomic import replacing
from prism.model import Model
from prism.motion.moving.motion import MovingMotion
from prism.plot._canvas import Drawn, View, render, show, style
from prism.plot.chart import Chart
from prism.plot.correlation import CorrelationView, correlation_view
from prism.plot.forecast import ForecastView, forecast_view
from prism.plot.frequencies import FrequenciesView, frequencies_view
from prism.plot.kernel import KernelView, kernel_view
from prism.plot.ladder import has_ladder, ladder_view
from prism.plot.poles import PolesView, poles_view
from prism.plot.potential import PotentialView, potential_of, potential_view
from prism.plot.record import RecordView, record_view
from prism.plot.response import ResponseView, response_view
from prism.plot.shapes import ShapesView, shapes_view
from prism.plot.spectrum import SpectrumView, spectrum_view
from prism.plot.structure import StructureView, structure_view
from prism.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "Chart",
    "CorrelationView",
    "ForecastView",
    "FrequenciesView",
    "KernelView",
    "Plot",
    "PolesView",
    "PotentialView",
    "RecordView",
    "ResponseView",
    "ShapesView",
    "SpectrumView",
    "StructureView",
    "View",
    "correlation_view",
    "forecast_view",
    "frequencies_view",
    "kernel_view",
    "poles_view",
    "potential_view",
    "record_view",
    "render",
    "response_view",
    "save_all",
    "shapes_view",
    "spectrum_view",
    "structure_view",
    "views",
]


@dataclass(frozen=True)
class Plot:
    """The figures of a model, as ``model.plot``.

    Every view returns the matplotlib figure. With ``ax`` it is drawn there; a view of several
    panels divides those axes among them.

    Parameters
    ----------
    model : Model
    """

    model: Model

    def record(self, record: Record, trial: int = 0, ax: Axes | None = None) -> Figure:
        """The record and the motion that was fitted to it, with a close-up of a long one.

        Parameters
        ----------
        record : Record
            The one that was fitted.
        trial : int
            Which trial of an ensemble.
        ax : Axes, optional
        """
        return show(record_view(self.model, record, trial), ax)

    def correlation(self, record: Record, ax: Axes | None = None) -> Figure:
        """Autocorrelation of each channel, of the data and of the fit.

        Parameters
        ----------
        record : Record
            The one that was fitted, sampled with one step.
        ax : Axes, optional
        """
        return show(correlation_view(self.model, record), ax)

    def poles(self, ax: Axes | None = None) -> Figure:
        """Poles and zeros: in rows over frequency, or in the complex plane where there are losses.

        Parameters
        ----------
        ax : Axes, optional
        """
        return show(poles_view(self.model), ax)

    def frequencies(self, ax: Axes | None = None) -> Figure:
        """Frequencies of lines that move, over the record.

        Parameters
        ----------
        ax : Axes, optional

        Raises
        ------
        CannotTellError
            When the lines do not move.
        """
        return show(frequencies_view(self.model), ax)

    def ladder(self, record: Record, ax: Axes | None = None) -> Figure:
        """How many modes the data ask for: a stabilisation diagram made of likelihoods.

        Each band of a noise-driven motion, with one mode to one more than were found; beside each
        order what its last mode gains, and the price it has to pay.

        Parameters
        ----------
        record : Record
            The one that was fitted.
        ax : Axes, optional

        Raises
        ------
        CannotTellError
            When the motion is not driven by noise, or the record has gaps.
        """
        return show(ladder_view(self.model, record), ax)

    def spectrum(self, record: Record, ax: Axes | None = None) -> Figure:
        """Spectrum of the record, the lines in it, the noise floor and what the fit leaves.

        Parameters
        ----------
        record : Record
            The one that was fitted.
        ax : Axes, optional
        """
        return show(spectrum_view(self.model, record), ax)

    def response(self, response: FrequencyResponse | None = None, ax: Axes | None = None) -> Figure:
        """Magnitude and phase of a measured response, the fit, its poles and its zeros.

        Parameters
        ----------
        response : FrequencyResponse, optional
            The one that was fitted, or another of the same ports; without, the fit alone.
        ax : Axes, optional
        """
        return show(response_view(self.model, response), ax)

    def shapes(self, ax: Axes | None = None) -> Figure:
        """Shapes of the modes on the channels, with bars of two standard deviations.

        Parameters
        ----------
        ax : Axes, optional
        """
        return show(shapes_view(self.model), ax)

    def structure(
        self, geometry: Geometry, modes: Sequence[int] | None = None, ax: Axes | None = None
    ) -> Figure:
        """Shapes of the modes on the structure: at rest, and at both ends of the motion.

        Each mode is drawn as large as the others. Nodes without a channel, rings, are drawn at
        rest, and so are directions that nobody measured.

        Parameters
        ----------
        geometry : Geometry
            With places of channels: see `prism.read_geometry`.
        modes : sequence of int, optional
            Numbers of those to draw, from 1; by default all, up to a dozen.
        ax : Axes, optional
        """
        return show(structure_view(self.model, geometry, modes), ax)

    def forecast(
        self,
        t: ArrayLike | None = None,
        record: Record | None = None,
        trial: int = 0,
        ax: Axes | None = None,
    ) -> Figure:
        """Fit and forecast around the end of the record, with bands of two standard deviations.

        Parameters
        ----------
        t : array (times,), optional
            Ascending times; by default some periods before and after the end of the record.
        record : Record, optional
            To draw the data too.
        trial : int
            Which trial of an ensemble.
        ax : Axes, optional
        """
        return show(forecast_view(self.model, t, record, trial), ax)

    def kernel(self, ax: Axes | None = None) -> Figure:
        """Memory kernel in time and over frequency, with its poles.

        Parameters
        ----------
        ax : Axes, optional

        Raises
        ------
        CannotTellError
            When the data do not determine the kernel; the message is the verdict.
        """
        return show(kernel_view(self.model), ax)

    def potential(self, ax: Axes | None = None) -> Figure:
        """Potential of the seen coordinate and its force, over the range of the record.

        Parameters
        ----------
        ax : Axes, optional

        Raises
        ------
        CannotTellError
            When no potential was fitted.
        """
        return show(potential_view(self.model), ax)


def views(model: Model, record: Record | FrequencyResponse | None = None) -> dict[str, View]:
    """All views that a model has, by name.

    Parameters
    ----------
    model : Model
    record : Record or FrequencyResponse, optional
        What was fitted; without it there are no record, spectrum and correlation. A forced
        experiment has neither spectrum nor correlation nor forecast.
    """
    motion, measured = _told_apart(model, record)
    found: dict[str, View] = {}
    if motion is not None:
        found |= _views_of_a_record(model, motion)
    if model.response is not None or measured is not None:
        found["response"] = response_view(model, measured)
    if len(model.channels) > 1 and len(model.modes):
        found["shapes"] = shapes_view(model)
    moves = isinstance(model.trajectories, MovingMotion)  # such lines are no poles
    if (len(model.modes) and not moves) or model.hamiltonian is not None:
        found["poles"] = poles_view(model)
    if moves:
        found["frequencies"] = frequencies_view(model)
    if model.trajectories is not None:
        found["forecast"] = forecast_view(model, record=motion)
    if potential_of(model) is not None:
        found["potential"] = potential_view(model)
    if model.kernel and len(model.kernel.poles):
        found["kernel"] = kernel_view(model)
    return found


def _views_of_a_record(model: Model, record: Record) -> dict[str, View]:
    found: dict[str, View] = {"record": record_view(model, record)}
    if model.response is not None:
        return found
    found["spectrum"] = spectrum_view(model, record)
    # Irregular times and long gaps leave no correlation to draw.
    with contextlib.suppress(CannotTellError):
        found["correlation"] = correlation_view(model, record)
    if has_ladder(model, record):
        found["ladder"] = ladder_view(model, record)
    return found


def _told_apart(
    model: Model, data: Record | FrequencyResponse | None
) -> tuple[Record | None, FrequencyResponse | None]:
    """The data as a record or as a response; a record must be what a forced model was made from.

    The views check the rest.
    """
    if isinstance(data, FrequencyResponse):
        return None, data
    if data is not None and model.response is not None:
        of_response = model.record.span is None
        if of_response or not set(model.channels) <= set(data.channels):
            made = "frequency response" if of_response else "record"
            raise OptionError(
                f"{data!r} is not what this model was made from: give the {made} with the ports "
                f"{', '.join(model.channels)}."
            )
    return data, None


def save_all(
    model: Model,
    directory: str | os.PathLike[str],
    record: Record | FrequencyResponse | None = None,
    geometry: Geometry | None = None,
) -> list[Path]:
    """Write every figure that a model has, as png, svg and pdf.

    Parameters
    ----------
    model : Model
    directory : path-like
        Made if it is not there.
    record : Record or FrequencyResponse, optional
        What was fitted; without it there is no spectrum and no response.
    geometry : Geometry, optional
        To draw the modes on the structure too.

    Returns
    -------
    list of Path
        The files.
    """
    require("matplotlib", "drawing", "plot")
    drawn: dict[str, Drawn] = {**views(model, record)}
    if geometry is not None:
        drawn["structure"] = structure_view(model, geometry)
    figures = {name: render(view) for name, view in drawn.items()}
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{folder}: cannot be made ({error.strerror}): check the name.") from error
    files = []
    for name, figure in figures.items():
        for kind in ("png", "svg", "pdf"):
            path = folder / f"{name}.{kind}"
            with replacing(path) as draft, style():
                figure.savefig(draft, format=kind)
            files.append(path)
    return files
