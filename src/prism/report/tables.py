"""The tables of a result, as words: the text summary and the page lay the same ones out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prism._format import format_percent, format_value, short
from prism.completion import Hidden
from prism.determination import Determination
from prism.hamiltonian import Hamiltonian
from prism.model import Model, RecordSummary, ResponseSummary
from prism.modes import Modes
from prism.options import all_options
from prism.report import _limits as limits

__all__ = [
    "INTERVAL",
    "Table",
    "check_table",
    "facts",
    "hidden_table",
    "intervals",
    "lines_sentence",
    "loss_sentence",
    "mode_table",
    "oscillator_table",
    "quantity_table",
    "settings",
    "shape_words",
]

Array = NDArray[np.float64]

_ALWAYS_SHOWN = ("method", "false_alarm", "max_modes", "fit_fraction")  # settings

_DAMPINGS = {
    "none": "none, the modes are lossless",
    "viscous": "viscous, with a ratio ζ of each mode",
    "structural": "structural, with a loss factor 2ζ of each mode at all frequencies",
    "coupled": "viscous, with friction between modes",
}


INTERVAL = "ζ, 95 %"
"""Heading of the intervals of the damping ratios."""


@dataclass(frozen=True)
class Table:
    """Rows of words.

    Attributes
    ----------
    headers : tuple of str
    rows : tuple of tuple of str
    key : int
        So many first columns name the row; they are repeated where a wide table is broken.
    notes : tuple of str
        Sentences below the table.
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    key: int = 1
    notes: tuple[str, ...] = ()


def facts(model: Model) -> tuple[tuple[str, str], ...]:
    """What was measured: pairs of a heading and a sentence.

    Parameters
    ----------
    model : Model
    """
    if model.response is not None:
        return _forced_facts(model, model.response)
    return (
        ("experiment", model.experiment),
        *_motion(model),
        ("channels", _channels(model)),
        ("record", _record(model)),
        ("noise", _noise(model)),
        *_machines(model),
        *_temperature(model),
    )


def _machines(model: Model) -> tuple[tuple[str, str], ...]:
    lines = model.machine_lines
    return () if lines is None else (("machines", f"steady lines at {lines.words()}"),)


def _motion(model: Model) -> tuple[tuple[str, str], ...]:
    """The kind of motion and how sure it is, where the data chose it."""
    sentence = model.evidence.sentence(model.kind)
    return (("motion", sentence),) if sentence else ()


def _forced_facts(model: Model, response: ResponseSummary) -> tuple[tuple[str, str], ...]:
    measured = _measured_response(model)
    ports = f"{', '.join(model.channels)} ({model.quantity[0]} per force)"
    return (
        ("experiment", model.experiment),
        ("ports", ports if measured else _channels(model)),
        ("measured", _pairs(model, response)),
        ("response", lines_sentence(model)) if measured else ("record", _record(model)),
        ("noise", response.noise),
        ("damping", _DAMPINGS[response.damping]),
    )


def _measured_response(model: Model) -> bool:
    """Whether the data were a response over frequency; forced records have one sampling step."""
    return model.record.span is None


def _pairs(model: Model, response: ResponseSummary) -> str:
    pairs = response.pairs
    if 1 < len(pairs) == len(model.channels) ** 2:
        return f"all {len(pairs)} pairs of output and input"
    listed = ", ".join(f"{out}/{inp}" for out, inp in pairs[: limits.MOST_LISTED_PAIRS])
    more = (
        f" and {len(pairs) - limits.MOST_LISTED_PAIRS} more"
        if len(pairs) > limits.MOST_LISTED_PAIRS
        else ""
    )
    return f"{listed}{more} (output/input)"


def lines_sentence(model: Model) -> str:
    """The lines of a measured response and their band.

    Parameters
    ----------
    model : Model
        Of a frequency response.
    """
    record, response = model.record, model.response
    assert response is not None
    missing = f"{record.missing} values missing" if record.missing else "none missing"
    return (
        f"{record.samples[0]} lines, ω = {response.low:.6g} to {response.high:.6g} rad per time "
        f"unit, {missing}"
    )


def _channels(model: Model) -> str:
    kinds = set(model.quantity)
    if len(kinds) == 1:
        return f"{_listed(model.channels)} ({model.quantity[0]})"
    pairs = zip(model.channels, model.quantity, strict=True)
    return _listed([f"{name} ({kind})" for name, kind in pairs])


def _listed(words: Sequence[str]) -> str:
    """The first words, and how many follow them."""
    more = len(words) - limits.MOST_LISTED_CHANNELS
    return ", ".join(words[: limits.MOST_LISTED_CHANNELS]) + (
        f" and {more} more" if more > 0 else ""
    )


def _record(model: Model) -> str:
    record = model.record
    low, high = min(record.samples), max(record.samples)
    samples = f"{high}" if low == high else f"{low} to {high}"
    trials, what = len(record.samples), "set-ups" if record.setups else "trials"
    parts = [
        f"{trials} {what} of {samples} samples" if trials > 1 else f"{samples} samples",
        _step(record),
        f"t = {record.start:.6g} to {record.end:.6g}",
    ]
    parts += [f"{record.missing} missing"] if record.missing else ["none missing"]
    if model.forecast_check is not None:
        share = format_percent(model.forecast_check.fit_fraction)
        parts.append(f"the first {share} of the whole")
    return ", ".join(parts)


def _step(record: RecordSummary) -> str:
    if record.dt is None:
        return "different steps" if record.setups else "irregular times"
    return f"dt = {record.dt:.6g}"


def _noise(model: Model) -> str:
    if model.noise_std is None:
        return "flat within the band of each mode; its share is in the notes"
    shares = model.noise_std / np.where(model.record.std > 0, model.record.std, np.nan)
    rows = zip(model.channels, model.noise_std, shares, strict=True)
    listed = _listed([f"{name} {std:.3g} ({format_percent(s)})" for name, std, s in rows])
    return f"std (and share of the signal): {listed}"


def _temperature(model: Model) -> tuple[tuple[str, str], ...]:
    if model.temperature is None:
        return ()
    return (("temperature", f"kT = {model.temperature:.4g}"),)


def mode_table(model: Model) -> Table:
    """The visible modes, one per row.

    Parameters
    ----------
    model : Model
    """
    modes = model.modes
    frequencies = zip(modes.frequencies, modes.frequencies_hz, modes.frequencies_std, strict=True)
    cells = [(format_value(f, s), format_value(hz, s / (2 * np.pi))) for f, hz, s in frequencies]
    columns: list[tuple[str, Sequence[str]]] = [
        ("mode", [f"{m + 1}{mark}" for m, mark in enumerate(_marks(model))]),
        ("Ω", [cell[0] for cell in cells]),
        ("Ω/2π", [cell[1] for cell in cells]),
        *_amplitudes(model),
        *_dampings(model),
        ("signif.", [f"{size:.0f} σ" if size else "–" for size in modes.significance]),
    ]
    shapes = [shape_words(modes, m) for m in range(len(modes))]
    columns += [
        (f"d({short(name)})", [row[a] for row in shapes]) for a, name in enumerate(model.channels)
    ]
    return Table(
        tuple(name for name, _ in columns),
        tuple(zip(*(cells for _, cells in columns), strict=True)),
        key=2,
        notes=_mode_notes(model),
    )


def _marks(model: Model) -> list[str]:
    modes = model.modes
    inside = [True] * len(modes) if model.response is None else model.response.inside
    each = zip(modes.in_phase, inside, modes.rigid, strict=True)
    return [
        ("" if in_phase else "*") + ("‡" if rigid else "" if within else "†")
        for in_phase, within, rigid in each
    ]


def _mode_notes(model: Model) -> tuple[str, ...]:
    marks = "".join(_marks(model))
    notes = {
        "*": f"* not in phase on all channels, see the verdict{_moduli_note(model.modes)}.",
        "†": "† outside the measured band: it stands for all modes there.",
        "‡": f"‡ rigid-body mode: the body moves as a whole{_its_speed(model)}.",
    }
    return tuple(note for mark, note in notes.items() if mark in marks)


def _moduli_note(modes: Modes) -> str:
    return "; |…| is how far a channel moves, its phase is free" * bool(modes.turning.any())


def shape_words(modes: Modes, m: int) -> tuple[str, ...]:
    """The shape of a mode with errors; of one that turns the magnitudes, whose phase is free.

    Parameters
    ----------
    modes : Modes
    m : int
    """
    shapes, errors = modes.shapes_or_moduli
    cells = _with_errors(shapes[m], errors[m])
    return tuple(f"|{cell}|" for cell in cells) if modes.turning[m] else cells


def _its_speed(model: Model) -> str:
    return ", and its amplitude is a speed" if len(model.modes.amplitudes) else ""


def _amplitudes(model: Model) -> list[tuple[str, list[str]]]:
    """The column of the amplitudes; a forced experiment has none."""
    amplitudes = model.modes.amplitudes
    if not len(amplitudes):
        return []
    name = "rms ampl." if len(model.record.samples) > 1 else "amplitude"
    return [(name, [f"{size:.4g}" for size in np.sqrt(np.mean(amplitudes**2, axis=0))])]


def _dampings(model: Model) -> list[tuple[str, list[str]]]:
    """The columns of the damping ratios and of their intervals, where they were fitted."""
    modes = model.modes
    if modes.damping_std is None:
        return []
    ratios = [("ζ", list(_with_errors(modes.damping, modes.damping_std)))]
    return ratios + ([] if modes.damping_interval is None else [(INTERVAL, intervals(modes))])


def intervals(modes: Modes) -> list[str]:
    """The intervals of the damping ratios, one per mode; none where they were not found.

    Parameters
    ----------
    modes : Modes
    """
    if modes.damping_interval is None:
        return []
    return [f"{low:.3g} to {high:.3g}" for low, high in modes.damping_interval]


def _with_errors(values: Array, stds: Array | None) -> tuple[str, ...]:
    errors: Sequence[float | None] = [None] * len(values) if stds is None else list(stds)
    return tuple(format_value(float(v), e) for v, e in zip(values, errors, strict=True))


def hidden_table(model: Model) -> Table | None:
    """The bare hidden modes, or None where they are not determined or there are none.

    Parameters
    ----------
    model : Model
    """
    if model.hamiltonian is None or not model.hamiltonian.hidden:
        return None
    return oscillator_table(model.hamiltonian)


def oscillator_table(hamiltonian: Hamiltonian) -> Table:
    """The hidden oscillators of a Hamiltonian, one per row.

    Parameters
    ----------
    hamiltonian : Hamiltonian
    """
    rows, notes = [], []
    for i, hidden in enumerate(hamiltonian.hidden, start=1):
        frequency = format_value(hidden.frequency, hidden.frequency_std)
        if hidden.rank == 1:
            cells = _with_errors(hidden.couplings[0], hidden.coupling_std)
        else:
            cells = ("–",) * len(hamiltonian.channels)
            notes.append(_residue_note(i, hidden))
        rows.append((str(i), frequency, *_own_loss(hidden), *cells))
    names = tuple(f"c({short(name)})" for name in hamiltonian.channels)
    losses = ("ζ",) * any(one.damping is not None for one in hamiltonian.hidden)
    return Table(("hidden", "ω", *losses, *names), tuple(rows), key=2, notes=tuple(notes))


def _own_loss(hidden: Hidden) -> tuple[str, ...]:
    """Damping ratio of a hidden oscillator, where it has one of its own."""
    if hidden.damping is None:
        return ()
    return (format_value(hidden.damping, hidden.damping_std),)


def _residue_note(number: int, hidden: Hidden) -> str:
    residue = "; ".join(
        " ".join(
            format_value(float(v), None if hidden.residue_std is None else hidden.residue_std[a, b])
            for b, v in enumerate(row)
        )
        for a, row in enumerate(hidden.residue)
    )
    return (
        f"hidden {number} has rank {hidden.rank}: only the residue is determined, R = [{residue}]."
    )


def quantity_table(model: Model) -> Table | None:
    """Each quantity with its value or bound, or None where all or none of them are determined.

    Parameters
    ----------
    model : Model
    """
    shown = model.identifiability.in_doubt
    if not shown:
        return None
    rows = tuple(
        (one.name, _known(one), one.state.value) for one in shown[: limits.MOST_QUANTITIES]
    )
    reasons: dict[str, list[str]] = {}
    for one in shown:
        if one.why:
            reasons.setdefault(one.why, []).append(one.name)
    notes = [f"{_listed(names)}: {why.rstrip('.')}." for why, names in reasons.items()]
    if len(shown) > len(rows):
        notes.insert(0, f"{len(shown) - len(rows)} more are in the model file.")
    return Table(("quantity", "value", ""), rows, notes=tuple(notes))


def _known(one: Determination) -> str:
    if one.value is not None:
        return format_value(one.value, one.std)
    return "–" if one.bound is None else f"at most {one.bound:.2g} (95 %)"


def loss_sentence(model: Model) -> str | None:
    """What the equations of a lossy model leave out, or None for a lossless one.

    Parameters
    ----------
    model : Model
    """
    if model.hamiltonian is None or not np.any(model.modes.damping):
        return None
    if model.response is not None and model.response.damping == "coupled":
        return (
            "The first lines are the conservative part of the model; the forces of friction, below "
            "them, act on their right-hand sides."
        )
    return (
        "These equations are the conservative part of the model; its losses are the damping ratios "
        "ζ of the modes."
    )


def check_table(model: Model) -> Table | None:
    """The test of the forecast on what was held back, if there was one.

    Parameters
    ----------
    model : Model
    """
    check = model.forecast_check
    if check is None or model.noise_std is None:
        return None
    std = model.record.std if check.std is None else check.std
    rows = tuple(
        (short(name), f"{error:.4g}", f"{noise:.4g}")
        for name, error, noise in zip(
            model.channels, check.nrmse, model.noise_std / std, strict=True
        )
    )
    return Table(("channel", "error", "noise alone"), rows)


def settings(model: Model) -> tuple[tuple[str, str], ...]:
    """How the model was made: pairs of a setting and its value.

    Parameters
    ----------
    model : Model
    """
    made = model.settings
    fraction = None if model.forecast_check is None else model.forecast_check.fit_fraction
    default = "200, the default" if model.response is None else "no limit"
    more = {name: value for name, value in made.given.items() if name not in _ALWAYS_SHOWN}
    return (
        ("PRISM", made.version),
        ("experiment", model.experiment),
        ("method", made.method),
        ("false-alarm probability", f"{made.false_alarm:g}"),
        ("most modes", default if made.max_modes is None else str(made.max_modes)),
        ("part that was fitted", "all" if fraction is None else format_percent(fraction)),
        *(_setting(name, value) for name, value in more.items()),
    )


def _setting(name: str, value: object) -> tuple[str, str]:
    """An option in words; that of a kind of motion that is not here by its bare name."""
    known = {option.name: option for option in all_options()}
    if name not in known:
        return name, str(value)
    return known[name].heading, known[name].write(value)
