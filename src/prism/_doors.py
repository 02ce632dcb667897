"""The doors: where a value calls a room above its own, by name and only when asked.

A model can be saved, drawn and reported, and a notebook shows every value, but the mathematics must
not know how. These are the only calls upwards; the architecture test reads this table.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["DOORS", "through"]

DOORS = {
    "comparison_summary": "prism.report.comparison:comparison_summary",
    "forecast_html": "prism.report.notebook:forecast_html",
    "hamiltonian_html": "prism.report.notebook:hamiltonian_html",
    "model_html": "prism.report.notebook:model_html",
    "modes_html": "prism.report.notebook:modes_html",
    "record_html": "prism.report.notebook:record_html",
    "response_html": "prism.report.notebook:response_html",
    "summary": "prism.report.text:summary",
    "plot": "prism.plot:Plot",
    "report": "prism.report:write_report",
    "save": "prism.io.model:save_model",
    "to_uff": "prism.io.uff_modes:write_modes",
    "record_to_sep005": "prism.io.sep005:record_to_sep005",
    "record_from_sep005": "prism.io.sep005:record_from_sep005",
    "record_to_xarray": "prism.labelled:record_to_xarray",
    "record_from_xarray": "prism.labelled:record_from_xarray",
    "forecast_to_xarray": "prism.labelled:forecast_to_xarray",
    "modes_to_xarray": "prism.labelled:modes_to_xarray",
}
"""Name of a door, and the function or class behind it."""


def through(door: str) -> Any:
    """What is behind a door.

    Parameters
    ----------
    door : str
        One of `DOORS`.
    """
    module, _, name = DOORS[door].partition(":")
    return getattr(importlib.import_module(module), name)
