"""What the tables show of damping and of how a model was made."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.report_kinds import KINDS

import prism
from prism._format import format_chance
from prism.determination import Determination
from prism.io.model import model_from_json, model_to_json
from prism.plot import shapes_view
from prism.report.csv import write_modes
from prism.report.html import html_page
from prism.report.notebook import model_html, modes_html
from prism.report.plain import mode_numbers
from prism.report.tables import facts, mode_table, quantity_table, settings
from prism.report.text import summary
from prism.settings import Settings
from prism.systems import rotor


@pytest.fixture(scope="module")
def decay():
    return KINDS["decay"]()[0]


@pytest.fixture(scope="module")
def free():
    return KINDS["free"]()[0]


def test_lines_that_turn_show_how_far_channels_move():
    """The major axis of a circle may point anywhere, and had errors of .4."""
    system = rotor()
    record = system.equilibrium(120, 0.25, trials=20, noise=0.02, rng=0)
    model = prism.identify(record, experiment="equilibrium", mass=system.mass)
    modes, table = model.modes, mode_table(model)
    turning = np.flatnonzero(modes.turning)
    assert len(turning)
    assert modes.moduli_std[turning].max() < 0.1
    np.testing.assert_allclose(np.linalg.norm(modes.moduli, axis=1), 1.0)
    cell = table.rows[turning[0]][-1]
    assert cell.startswith("|")
    assert cell in summary(model)
    assert cell in modes_html(modes)
    assert any("its phase is free" in note for note in table.notes)
    shown, errors = shapes_view(model).shapes, shapes_view(model).shapes_std
    np.testing.assert_array_equal(shown[turning], modes.moduli[turning])
    np.testing.assert_array_equal(errors[turning], modes.moduli_std[turning])
    # as without rotation: the square of a coupling is the residue of the kernel
    kernel = model.kernel
    np.testing.assert_allclose(
        model.hamiltonian.couplings**2, np.einsum("iaa->ia", kernel.residues), rtol=1e-9
    )
    assert not model.hamiltonian.mass_std.any()  # it was given
    again = model_from_json(model_to_json(model)).modes
    np.testing.assert_allclose(again.moduli_std, modes.moduli_std)


@pytest.mark.parametrize(("chance", "said"), [(0.0, "< 1e-300"), (3.14e-5, "= 3.1e-05")])
def test_a_chance_that_is_zero_by_rounding_is_a_bound(chance, said):
    assert format_chance(chance) == said


def test_intervals_of_the_damping_are_shown_everywhere(decay):
    low, high = decay.modes.damping_interval[0]
    said = f"{low:.3g} to {high:.3g}"
    assert 0 <= low < decay.modes.damping[0] < high
    table = mode_table(decay)
    assert table.rows[0][table.headers.index("ζ, 95 %")] == said
    for text in (summary(decay), html_page(decay), model_html(decay), modes_html(decay.modes)):
        assert said in text
        assert "ζ, 95 %" in text
    text = io.StringIO()
    write_modes(decay, text)
    (first, *_) = csv.DictReader(io.StringIO(text.getvalue()))
    assert float(first["damping_low"]) == pytest.approx(low)
    assert float(first["damping_high"]) == pytest.approx(high)
    numbers = mode_numbers(decay)
    assert numbers.rows[0][numbers.headers.index("damping_high")] == f"{high:.12g}"


def test_without_intervals_there_is_no_column(free):
    assert free.modes.damping_interval is None
    text = io.StringIO()
    write_modes(free, text)
    for shown in (summary(free), html_page(free), modes_html(free.modes), text.getvalue()):
        assert "95 %" not in shown
        assert "damping_low" not in shown


def test_each_quantity_is_shown_where_some_are_in_doubt(decay, free):
    known = Determination.determined("mass of x", 1.25, 0.02)
    bounded = Determination.bounded("coupling of hidden mode 1", 0.214, "its effect is too small")
    open_ = Determination.undetermined("coupling of hidden mode 2", "it does not move x.")
    verdict = replace(decay.identifiability, quantities=(known, bounded, open_))
    model = replace(decay, identifiability=verdict)
    table = quantity_table(model)
    assert table.rows == (
        ("mass of x", "1.25(2)", "determined"),
        ("coupling of hidden mode 1", "at most 0.21 (95 %)", "bounded"),
        ("coupling of hidden mode 2", "–", "undetermined"),
    )
    assert table.notes == (
        "coupling of hidden mode 1: its effect is too small.",
        "coupling of hidden mode 2: it does not move x.",
    )
    for text in (summary(model), html_page(model), model_html(model)):
        assert "at most 0.21 (95 %)" in text
    many = replace(model, identifiability=replace(verdict, quantities=(known, *[bounded] * 99)))
    assert len(quantity_table(many).rows) == 60
    assert quantity_table(many).notes[0] == "40 more are in the model file."
    assert quantity_table(free) is None


def test_every_option_that_was_given_is_shown(decay):
    given = Settings(
        damped=True,
        mass=np.eye(2),
        potential=("x", "x^3"),
        force=("f",),
        at=(("f", "x"),),
        ignore=((49, 51), "60hz"),
        drift=3,
        fit_fraction=0.7,
        more={"tone": 2.0},
    )
    shown = dict(settings(replace(decay, settings=given)))
    assert shown["damped"] == "yes"
    assert shown["known mass"] == "2 x 2"
    assert shown["potential"] == "x,x^3"
    assert shown["force"] == "f"
    assert shown["at"] == "f=x"
    assert shown["ignored"] == "49-51,60hz"
    assert shown["degree of the drift"] == "3"
    assert shown["part that was fitted"] == "70 %"
    assert shown["tone"] == "2.0"
    assert "hold" not in shown


def test_settings_of_a_plain_model_are_short(free):
    assert [name for name, _ in settings(free)] == [
        "PRISM",
        "experiment",
        "method",
        "false-alarm probability",
        "most modes",
        "part that was fitted",
    ]


def test_a_response_has_frequencies_and_no_times():
    model = KINDS["response"]()[0]
    said = dict(facts(model))["response"]
    assert re.match(r"150 lines, ω = 0\.17 to 2\.3 rad per time unit, none missing", said)
