"""What the figures of the page show, in words."""

from __future__ import annotations

import numpy as np

from prism.plot import (
    CorrelationView,
    ForecastView,
    PolesView,
    RecordView,
    ResponseView,
    ShapesView,
    SpectrumView,
    View,
)
from prism.plot._canvas import shown

__all__ = ["caption"]

_CAPTIONS = {
    "record": "What was measured, and the motion that was fitted to it.",
    "response": "Magnitude and phase of what was measured, with the fit. Orange: poles, the "
    "natural frequencies. Green: zeros of the entry, where a force leaves the place at rest.",
    "model response": "Magnitude and phase of the response that was fitted. Orange: poles, the "
    "natural frequencies. Green: zeros of the entry, where a force leaves the place at rest.",
    "spectrum": "Amplitude spectrum of each channel with the lines that were found, the noise "
    "floor, and what is left after the fit.",
    "correlation": "Autocorrelation of each channel from the first lag on, of the data and of the "
    "fit; lag zero would hold the noise.",
    "potential": "The potential, its lowest value at zero, with a band of two standard deviations, "
    "and its force; dashed lines are the range of the record.",
    "shapes": "Shape of each mode on the channels, a row for each mode; bars show two standard "
    "deviations.",
    "ladder": "How many modes the data ask for: each row is the best fit with so many modes in a "
    "band, as wide as their resonances. Point at a mode to see what the last one of its row gains "
    "in twice the log-likelihood, and the price that it has to pay.",
    "frequencies": "Frequency of each line over the record, with a band of two standard "
    "deviations.",
    "strip": "Shape of each mode on the channels, a row for each mode: the stronger the colour, "
    "the further the channel moves, blue one way, orange with a stroke the other way.",
    "forecast": "The fit before and the forecast after the end of the fitted record. The inner "
    "band is the uncertainty of the motion, the outer one includes the noise of a measurement.",
    "kernel": "Memory kernel of the seen coordinates in time and over frequency; it is infinite at "
    "the bare hidden frequencies.",
}


def caption(name: str, view: View) -> str:
    """What a figure shows, as far as it is drawn.

    Parameters
    ----------
    name : str
    view : View
    """
    if isinstance(view, PolesView):
        return _poles_words(view)
    said = [_CAPTIONS[name]]
    if isinstance(view, ShapesView) and view.is_strip:
        said = [_CAPTIONS["strip"]]
    if isinstance(view, ShapesView) and view.turning:
        said.append("Of a mode that turns it is how far each channel moves.")
    if isinstance(view, SpectrumView):
        said = [_spectrum_words(view)]
    if isinstance(view, RecordView):
        said = _record_words(view)
    if isinstance(view, CorrelationView) and not np.isfinite(view.fit).all():
        said = ["Autocorrelation of each channel from the first lag on; lag zero holds the noise."]
    if isinstance(view, ResponseView):
        said = [_response_words(view)]
    if isinstance(view, ResponseView) and view.omitted:
        said.append(f"{view.omitted} more entries are not drawn.")
    return " ".join([*said, *_left_out(view)])


def _spectrum_words(view: SpectrumView) -> str:
    if not len(view.lines):
        return "Amplitude spectrum of each channel, the noise floor, and what the fit leaves."
    if view.floor is None:
        return "Amplitude spectrum of each channel with the modes that were found."
    return _CAPTIONS["spectrum"]


def _response_words(view: ResponseView) -> str:
    return _CAPTIONS["response"] if view.has_data else _CAPTIONS["model response"]


def _record_words(view: RecordView) -> list[str]:
    has_fit = bool(np.isfinite(view.fit).any())
    said = [_CAPTIONS["record"] if has_fit else "What was measured."]
    trial, trials = view.trial
    if trials > 1:
        said.append(f"Trial {trial + 1} of {trials} is shown.")
    if view.dense:
        said.append("The first part is shown; a button shows the whole.")
    if view.whole < len(view.t):
        said.append(
            f"The first {view.whole} samples are drawn one by one, the rest by the extremes of "
            "short stretches."
        )
    return said


def _poles_words(view: PolesView) -> str:
    kinds = {group.kind for group in view.groups}
    said = ["Crosses are poles, the natural frequencies."] if "poles" in kinds else []
    if "zeros" in kinds:
        said.append("Rings are zeros, where a force leaves its place at rest.")
    if "hidden" in kinds:
        said.append("Discs are zeros of all places together, the bare hidden frequencies.")
    if view.omitted:
        said.append(f"The zeros of {view.omitted} more entries are not drawn.")
    if not view.lossy:
        said.append("Bars show two standard deviations.")
    return " ".join(said)


def _left_out(view: View) -> list[str]:
    """Channels beyond the last panel."""
    if not isinstance(view, RecordView | SpectrumView | CorrelationView | ForecastView):
        return []
    drawn, every = shown(view.channels), len(view.channels)
    return [f"The first {drawn} of {every} channels are drawn."] if drawn < every else []
