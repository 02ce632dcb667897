"""The tab of the built-in systems: turn them, and see what a measurement can and cannot tell."""

from __future__ import annotations

import numpy as np
import streamlit as st

from prism._format import EXPLANATION, format_value
from prism._types import Array, Mask
from prism.app import _limits as limits
from prism.app import charts
from prism.app.results import verdict
from prism.app.systems import EXPERIMENTS, SYSTEMS, Outcome, Setup, Slider, System, perform
from prism.app.words import html_table, plain, spoken
from prism.completion import Hidden
from prism.frequency_response import FrequencyResponse
from prism.hamiltonian import Hamiltonian
from prism.model import Model
from prism.report.tables import Table
from prism.systems import LinearSystem

__all__ = ["play_tab"]


def _play() -> None:
    """Show the tab: the chart beside what turns it, on a narrow screen above it."""
    name = str(
        st.selectbox(
            "System", list(SYSTEMS), format_func=lambda name: SYSTEMS[name].title, key="system"
        )
    )
    st.caption(SYSTEMS[name].story)
    drawn, turned = st.columns([2, 1], gap="large")
    with turned:
        setup = _ask(name)
    if setup is None:
        drawn.info("Choose at least one coordinate to be seen.")
        return
    outcome = perform(setup)
    with drawn:
        _draw(outcome)
    _tell(outcome)


play_tab = st.fragment(_play)
"""Moving a slider here runs this tab alone."""


def _ask(name: str) -> Setup | None:
    """Ask for all that can be turned; None when nothing is seen."""
    system = SYSTEMS[name]
    values = {slider.name: _ask_number(name, slider) for slider in system.sliders}
    seen = _ask_seen(name, system, system.coordinates(values))
    experiment = str(
        st.selectbox(
            "What was done",
            list(EXPERIMENTS),
            format_func=lambda kind: EXPERIMENTS[kind][0],
            index=1,
            key="play experiment",
        )
    )
    noise = st.slider(
        "Noise", 0, 100, 10, format="%d %%", key="noise", help="Std, over that of the signal."
    )
    periods, known = _ask_record() if experiment != "forced" else (1.0, False)
    seed = st.number_input(
        "Seed", 0, 9999, 0, key="seed", help="Another seed is another measurement."
    )
    if not seen:
        return None
    numbers = tuple(values.items())
    return Setup(name, numbers, seen, experiment, noise / 100, periods, int(seed), known)


def _ask_record() -> tuple[float, bool]:
    periods = st.slider(
        "Length of a record, in periods of the slowest mode", 5, 100, 60, key="periods"
    )
    known = st.checkbox("Known mass of what is seen", value=True, key="mass known")
    return float(periods), bool(known)


def _ask_number(system: str, slider: Slider) -> float:
    whole = slider.step == int(slider.step)
    kind = int if whole else float
    limits = (kind(v) for v in (slider.low, slider.high, slider.value, slider.step))
    low, high, value, step = limits
    return float(
        st.slider(
            *(slider.label, low, high, value, step),
            key=f"{system} {slider.name}",
            help=slider.help,
        )
    )


def _ask_seen(name: str, system: System, coordinates: tuple[str, ...]) -> tuple[str, ...]:
    chosen = st.multiselect(
        "What is seen",
        coordinates,
        default=[one for one in system.seen if one in coordinates],
        key=f"{name} seen {len(coordinates)}",
        help="Forces, if there are any, act there too.",
    )
    return tuple(one for one in coordinates if one in chosen)


# -- what came out --------------------------------------------------------------------------------


def _draw(outcome: Outcome) -> None:
    charts.show(_chart(outcome), "play chart")
    port = plain(outcome.system.channels[0])
    st.caption(f"How far {port} moves per force on it. Lines mark the true resonances and zeros.")
    missed = [] if outcome.model is None else _missed(outcome.system, outcome.model)
    for sentence in [*_invisible(outcome.system), *missed]:
        st.warning(plain(sentence))


def _tell(outcome: Outcome) -> None:
    if outcome.model is None:
        st.error(spoken(outcome.error))
        return
    said, compared = st.columns([2, 1], gap="large")
    with said:
        verdict(outcome.model)
    with compared:
        st.html(html_table(_comparison(outcome.system, outcome.model)))
        st.caption(f"{EXPLANATION}.")


def _chart(outcome: Outcome) -> object:
    system, model = outcome.system, outcome.model
    omega = np.linspace(
        system.frequencies[0] / 2, 1.25 * system.frequencies[-1], limits.PLAY_POINTS
    )
    truth = system.response(omega, loss=limits.DRAWN_LOSS).values[:, 0, 0]
    curves = [("true", truth, 0)]
    if model is not None and model.modes.residues is not None:
        curves.append(("estimate", model.receptance(1j * omega)[:, 0, 0], 1))
    data = outcome.data
    measured = (data.omega, data.values[:, 0, 0]) if isinstance(data, FrequencyResponse) else None
    poles = system.frequencies[_visible(system)]
    return charts.receptance(omega, curves, poles, _zeros(system), measured)


def _visible(system: LinearSystem) -> Mask:
    """Which modes move what is seen."""
    size = np.linalg.norm(system.participation, axis=1)
    return np.asarray(size > limits.SEEN_PARTICIPATION * size.max())


def _zeros(system: LinearSystem) -> Array:
    """Anti-resonances of the first port, without those that a mode it does not see takes away."""
    zeros = system.zeros(0, 0)
    left = sorted(
        zeros.imag[np.abs(zeros.real) < limits.SEEN_PARTICIPATION * np.abs(zeros)].tolist()
    )
    moved = np.abs(system.participation[:, 0])
    for omega in system.frequencies[moved <= limits.SEEN_PARTICIPATION * moved.max()]:
        same = [zero for zero in left if abs(zero - omega) < limits.SEEN_PARTICIPATION * omega]
        if same:
            left.remove(same[0])
    return np.array(left)


def _invisible(system: LinearSystem) -> list[str]:
    return [
        f"The mode at Ω = {omega:.4g} does not move {' or '.join(system.channels)} at all: no "
        "measurement there can find it."
        for omega in system.frequencies[~_visible(system)]
    ]


def _missed(system: LinearSystem, model: Model) -> list[str]:
    """Modes that could be seen and were not found."""
    true = system.frequencies[_visible(system)]
    found = _nearest(true, model.modes.frequencies, model.modes.frequencies_std)
    return [
        f"The mode at Ω = {omega:.4g} was not found: it does not stand out of the noise in this "
        "much data."
        for omega, k in zip(true, found, strict=True)
        if k is None
    ]


def _nearest(true: Array, found: Array, std: Array | None) -> list[int | None]:
    """The estimate of each true frequency, each used once; None where there is none close by."""
    errors = np.zeros(len(found)) if std is None else std
    free = list(range(len(found)))
    pairs: list[int | None] = []
    for omega in true:
        near = min(free, key=lambda k: abs(found[k] - omega), default=None)
        if near is None or abs(found[near] - omega) > max(
            limits.NEAR_FREQUENCY * omega, 5 * errors[near]
        ):
            pairs.append(None)
            continue
        free.remove(near)
        pairs.append(near)
    return pairs


def _comparison(system: LinearSystem, model: Model) -> Table:
    """The truth beside the estimate."""
    modes = model.modes
    rows = []
    found = _nearest(system.frequencies, modes.frequencies, modes.frequencies_std)
    for m, k in enumerate(found):
        estimate = ("–", None) if k is None else (modes.frequencies[k], modes.frequencies_std[k])
        rows.append(_row(f"resonance Ω{m + 1}", system.frequencies[m], *estimate))
    return Table(("", "true", "estimate", "off by"), (*rows, *_hidden_rows(system, model)))


def _hidden_rows(system: LinearSystem, model: Model) -> list[tuple[str, ...]]:
    h = model.hamiltonian
    true = system.hidden_frequencies
    found = (
        [None] * len(true)
        if h is None
        else _nearest(true, h.hidden_frequencies, h.hidden_frequencies_std)
    )
    rows: list[tuple[str, ...]] = []
    for i, k in enumerate(found):
        one = None if h is None or k is None else h.hidden[k]
        values = ("–", None) if one is None else (one.frequency, one.frequency_std)
        rows.append(_row(f"hidden ω{i + 1}", float(true[i]), *values))
        for a, name in enumerate(system.channels):
            size, std = _coupling(h, one, name)
            rows.append(_row(f"|c{i + 1}({name})|", abs(float(system.couplings[i, a])), size, std))
    return rows


def _coupling(
    h: Hamiltonian | None, one: Hidden | None, name: str
) -> tuple[float | str, float | None]:
    """Coupling of a hidden oscillator to a channel; none to one that follows others."""
    if h is None or one is None or name not in h.channels:
        return "–", None
    a = h.channels.index(name)
    std = None if one.coupling_std is None else float(one.coupling_std[a])
    return ("–" if one.rank > 1 else abs(float(one.couplings[0, a]))), std


def _row(
    name: str, true: float, estimate: float | str, std: float | None
) -> tuple[str, str, str, str]:
    if isinstance(estimate, str):
        return name, f"{true:.6g}", estimate, ""
    off = f"{abs(estimate - true) / std:.1f} σ" if std else ""
    return name, f"{true:.6g}", format_value(estimate, std), off
