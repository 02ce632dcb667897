"""Records of others, told nothing: the kind of motion, and their modes beside what is known."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from prism.model import Model
from prism.pipeline import identify
from prism.record import Record
from prism_bench import decays, driven
from prism_bench.real import folder
from prism_bench.records import tide_rows
from prism_bench.table import Row

SECONDS = 60.0  # CPU seconds for one record

Judge = Callable[[str, Model], list[Row]]


def measured_rows() -> list[Row]:
    """Two masses, a tide, two simulated structures, a bridge and the kicked frame."""
    place = folder()
    if place is None:
        note = "no folder of real measurements: set PRISM_REAL_DATA"
        return [Row("records of others", "not run", float("nan"), note=note)]
    return [
        *two_mass_rows(place),
        *tide_rows(),
        *known_rows("simulated bridge, blind", driven.bridge(place)),
        *known_rows("simulated shear frame, blind", driven.shear_frame(place)),
        *hardanger_rows(place),
        *(row for setup in (1, 5) for row in frame_rows(place, setup)),
    ]


def blind(name: str, record: Record, kind: str, judge: Judge) -> list[Row]:
    """Identify a record without any option, and judge the answer.

    Parameters
    ----------
    name : str
    record : Record
    kind : str
        What it is.
    judge : callable
        Rows for its modes.
    """
    begin = time.process_time()
    model = identify(record)
    seconds = time.process_time() - begin
    right = float(model.kind == kind)
    return [
        Row(name, f"called {kind}", right, 1, 1, note="" if right else f"called {model.kind}"),
        Row(name, "CPU time, s", seconds, None, SECONDS),
        *judge(name, model),
    ]


def two_mass_rows(place: Path) -> list[Row]:
    """Two masses on springs, and the forecast from the first 40 % of their motion."""
    name, record = "two masses, blind", decays.two_masses(place)
    rows = blind(
        name, record, "decaying", lambda name, model: decays.two_mass_modes(name, model.modes)
    )
    check = identify(record, fit_fraction=0.4).forecast_check
    assert check is not None
    return [*rows, decays.forecast_row(name, check.nrmse)]


def known_rows(name: str, known: driven.Known) -> list[Row]:
    """A structure that others simulated."""
    return blind(
        *(name, known.record, "driven"),
        lambda name, model: driven.reference_rows(name, model.modes, known.omega, known.zeta),
    )


def hardanger_rows(place: Path) -> list[Row]:
    """A suspension bridge in the wind."""
    return blind(
        *("Hardanger bridge, 31 min, blind", driven.hardanger(place), "driven"),
        lambda name, model: driven.hardanger_modes(name, model.modes.frequencies),
    )


def frame_rows(place: Path, setup: int) -> list[Row]:
    """The frame that is kicked every ten seconds."""
    return blind(
        *(f"kicked frame, setup {setup}, blind", decays.frame_record(place, setup), "kicked"),
        lambda name, model: decays.frame_modes(name, model.modes),
    )
