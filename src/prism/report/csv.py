"""Results as tables of numbers for other programs."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

import numpy as np

from prism._types import Array, ComplexArray
from prism.kernel import MemoryKernel
from prism.model import Model
from prism.motion.steady.sdp import ResidueLine
from prism.report import _limits as limits
from prism.tracking import Track

__all__ = ["write_forecast", "write_kernel", "write_modes", "write_track", "write_transform"]

_KERNELS = {"K": "K_{}", "friction": "friction_{}", "J": "J_{}"}


def write_forecast(model: Model, step: float, count: int, file: TextIO, trial: int = 0) -> None:
    """Write the motion after the end of the record: ``t``, then each channel and its error.

    Parameters
    ----------
    model : Model
    step : float
        Between the times; the first is one step after the end of the record.
    count : int
        Number of times.
    file : text file
        Opened with ``newline=""``.
    trial : int
        Which trial of an ensemble to continue.
    """
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["t", *(word for name in model.channels for word in (name, f"{name}_std"))])
    for rows in _forecast_rows(model, step, count, trial):
        writer.writerows(rows)


def _forecast_rows(model: Model, step: float, count: int, trial: int) -> Iterator[list[list[str]]]:
    for first in range(1, count + 1, limits.CSV_ROWS_AT_ONCE):
        steps = np.arange(first, min(first + limits.CSV_ROWS_AT_ONCE, count + 1))
        made = model.forecast(model.record.end + step * steps, trial)
        pairs = np.stack([made.values, made.std], axis=-1).reshape(len(steps), -1)
        yield [
            [f"{t:.12g}", *(f"{v:.10g}" for v in row)]
            for t, row in zip(made.t.tolist(), pairs.tolist(), strict=True)
        ]


def write_modes(model: Model, file: TextIO) -> None:
    """Write the visible modes, one per row: frequency, damping ratio and shape, with errors.

    The ends of the 95 % interval of the damping are there where it was found.

    Parameters
    ----------
    model : Model
    file : text file
        Opened with ``newline=""``. What was not estimated is left empty.
    """
    modes = model.modes
    names = [word for name in model.channels for word in (f"shape_{name}", f"shape_{name}_std")]
    head = ["mode", "frequency", "frequency_std", "frequency_hz", "damping", "damping_std"]
    ends = modes.damping_interval
    head += [] if ends is None else ["damping_low", "damping_high"]
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*head, *names])
    for m in range(len(modes)):
        losses = [modes.damping[m], None if modes.damping_std is None else modes.damping_std[m]]
        losses += [] if ends is None else list(ends[m])
        shape = np.stack([modes.shapes[m], modes.shapes_std[m]], axis=1).ravel().tolist()
        line = [modes.frequencies[m], modes.frequencies_std[m], modes.frequencies_hz[m]]
        writer.writerow([m + 1, *map(_cell, [*line, *losses, *shape])])


def write_track(track: Track, channels: tuple[str, ...], file: TextIO) -> None:
    """Write lines over time, a row per window: ``t``, then each line and each bare frequency.

    A line has ``frequency_k``, its error, ``amplitude_k``, whether it is ``unsteady_k`` in its
    window (1 or 0) and, where an experiment was given, ``residue_k_<out>_<in>``. What was not
    seen is left empty.

    Parameters
    ----------
    track : Track
    channels : tuple of str
    file : text file
        Opened with ``newline=""``.
    """
    writer = csv.writer(file, lineterminator="\n")
    columns = dict(_track_columns(track, channels))
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([_cell(None if value is np.ma.masked else float(value)) for value in row])


def _track_columns(
    track: Track, channels: tuple[str, ...]
) -> Iterator[tuple[str, np.ma.MaskedArray]]:
    yield "t", np.ma.array(track.times)
    rows, columns = np.triu_indices(len(channels))
    residues = track.residues
    for k in range(track.frequencies.shape[1]):
        absent = ~track.present[:, k]
        yield f"frequency_{k + 1}", track.frequencies[:, k]
        yield f"frequency_{k + 1}_std", track.frequencies_std[:, k]
        yield f"amplitude_{k + 1}", track.amplitudes[:, k]
        yield f"unsteady_{k + 1}", np.ma.array(track.unsteady[:, k], mask=absent)
        for a, b in zip(rows, columns, strict=True) if residues is not None else ():
            assert residues is not None
            yield f"residue_{k + 1}_{channels[a]}_{channels[b]}", residues[:, k, a, b]
    if track.hidden_frequencies is None or track.hidden_frequencies_std is None:
        return
    for i in range(track.hidden_frequencies.shape[1]):
        yield f"hidden_{i + 1}", track.hidden_frequencies[:, i]
        yield f"hidden_{i + 1}_std", track.hidden_frequencies_std[:, i]


def write_kernel(
    kernel: MemoryKernel,
    channels: tuple[str, ...],
    file: TextIO,
    *,
    over: str = "time",
    until: float | None = None,
    points: int,
) -> None:
    """Write a kernel of one hidden mode or more, a row per time or frequency.

    Over time these are ``t``, ``K_<out>_<in>`` and ``friction_<out>_<in>``, over frequency
    ``omega`` and the spectral density ``J_<out>_<in>``.

    Parameters
    ----------
    kernel : MemoryKernel
    channels : tuple of str
    file : text file
        Opened with ``newline=""``.
    over : {"time", "frequency"}
    until : float, optional
        Last time or frequency; some periods of the slowest hidden mode, or above the fastest.
    points : int
    """
    if over == "time":
        slowest = 2 * np.pi / float(kernel.poles.min())
        t = np.linspace(0.0, until or limits.CSV_KERNEL_PERIODS * slowest, points)
        tables = {"K": kernel(t), "friction": kernel.friction(t)}
        _write_columns({"t": t, **_entries(tables, _KERNELS, channels)}, file)
        return
    omega = np.linspace(0.0, until or limits.CSV_DENSITY_BAND * float(kernel.poles.max()), points)
    density = {"J": kernel.spectral_density(omega)}
    _write_columns({"omega": omega, **_entries(density, _KERNELS, channels)}, file)


def write_transform(
    s: ComplexArray,
    values: ComplexArray,
    channels: tuple[str, ...],
    file: TextIO,
    lines: Sequence[ResidueLine] | None = None,
) -> None:
    """Write a kernel K(s) along a line, or its poles and residues.

    A row for each s has ``re``, ``im`` and ``K_<out>_<in>_re`` and ``..._im``, one for each pole
    ``frequency``, ``rank`` and ``R_<out>_<in>``.

    Parameters
    ----------
    s : array (points,)
    values : array (points, channels, channels)
    channels : tuple of str
    file : text file
        Opened with ``newline=""``.
    lines : sequence of ResidueLine, optional
        Poles with residues, in place of the values.
    """
    if lines is None:
        tables = {"K": values.real, "K_im": values.imag}
        names = {"K": "K_{}_re", "K_im": "K_{}_im"}
        first = {"re": s.real, "im": s.imag}
    else:
        tables = {"R": np.array([one.residue for one in lines]).reshape(-1, *values.shape[1:])}
        names = {"R": "R_{}"}
        first = {
            "frequency": np.array([one.frequency for one in lines]),
            "rank": np.array([float(one.rank) for one in lines]),
        }
    _write_columns({**first, **_entries(tables, names, channels)}, file)


def _entries(
    tables: Mapping[str, Array], names: Mapping[str, str], channels: tuple[str, ...]
) -> dict[str, Array]:
    """Upper triangles of matrices as columns, called by the channels."""
    rows, columns = np.triu_indices(len(channels))
    return {
        names[what].format(f"{channels[a]}_{channels[b]}"): values[:, a, b]
        for what, values in tables.items()
        for a, b in zip(rows, columns, strict=True)
    }


def _write_columns(columns: Mapping[str, Array], file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(float(v)) for v in row] for row in zip(*columns.values(), strict=True))


def _cell(value: float | None) -> str:
    return f"{value:.12g}" if value is not None and np.isfinite(value) else ""
