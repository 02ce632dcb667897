"""Modes in universal files, read back by pyuff and by columns."""

import importlib
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.report_kinds import KINDS

import prism
from prism.errors import (
    CannotTellError,
    GeometryError,
    MissingDependencyError,
    OptionError,
    WriteError,
)
from prism.io.uff_geometry import numbers_of
from prism.io.uff_modes import UNITS
from prism.systems import rotor, tuned_absorber

pyuff = pytest.importorskip("pyuff", reason='UFF files need pyuff: pip install "prism-id[io]"')

POINTS = 1j * np.array([0.31, 0.77, 1.2, 2.2])


@pytest.fixture(scope="module")
def chain():
    return KINDS["response"]()[0]


@pytest.fixture(scope="module")
def windy():
    return KINDS["noise-driven"]()[0]


@pytest.fixture(scope="module")
def turning():
    system = rotor()
    record = system.equilibrium(120, 0.25, trials=20, noise=0.02, rng=0)
    return prism.identify(record, experiment="equilibrium", mass=system.mass), system


@pytest.fixture(scope="module")
def damper():
    """A mass with a tuned mass damper, seen at both; friction makes the modes complex."""
    system = tuned_absorber(m=0.05, k=0.05, observed=["x", "y"])
    c = 2 * 0.05 * 0.05
    lines = np.linspace(0.4, 1.8, 300)
    response = system.response(lines, friction=np.array([[0.01 + c, -c], [-c, c]]))
    model = prism.identify(response)
    assert model.modes.phases is not None
    return model


def written(model, folder, **options):
    path = folder / "modes.uff"
    model.to_uff(path, **options)
    return pyuff.UFF(str(path)).read_sets()


def named(model, *channels):
    return replace(model, channels=channels)


# -- normal modes ----------------------------------------------------------------------------------


def test_a_receptance_can_be_rebuilt_from_the_file(chain, tmp_path):
    """Losses are structural here: the loss factor stands in its field, and alone."""
    head, units, *sets = written(chain, tmp_path, units="SI")
    assert (head["type"], units["type"], {one["type"] for one in sets}) == (151, 164, {55})
    H = 0
    for one in sets:
        assert (one["analysis_type"], one["modal_damp_vis"]) == (2, 0)
        shape = one["r1"]
        assert np.linalg.norm(shape) == pytest.approx(1, abs=1e-5)
        omega = 2 * np.pi * one["freq"]
        below = omega**2 * (1 + 1j * one["modal_damp_his"]) + POINTS**2
        H = H + np.multiply.outer(1 / below, np.outer(shape, shape) / one["modal_m"])
    expected = chain.receptance(POINTS)
    assert np.abs(H - expected).max() < 1e-2 * np.abs(expected).max()
    np.testing.assert_allclose([one["modal_m"] for one in sets], chain.modes.masses, rtol=1e-5)


def test_modes_of_driven_motion(windy, tmp_path):
    head, units, *sets = written(windy, tmp_path)
    assert head["program"] == f"PRISM {prism.__version__}"
    assert head["model_name"] == "modes"
    assert head["description"] == "Modes of driven motion, channels q1, q2"
    assert (units["units_code"], units["length"], units["force"]) == (9, 1.0, 1.0)
    assert units["units_description"] == "those of the data"
    for m, one in enumerate(sets):
        assert one["mode_n"] == m + 1
        assert one["freq"] == pytest.approx(windy.modes.frequencies_hz[m], rel=1e-5)
        assert one["modal_damp_vis"] == pytest.approx(windy.modes.damping[m], rel=1e-5)
        assert (one["modal_m"], one["modal_damp_his"]) == (0, 0)
        assert "modal mass not determined, 0 is written" in one["id2"]
        assert "Hz if time is in seconds, damping ratio 0.0" in one["id3"]
        assert one["spec_data_type"] == 8  # displacement
        # nobody said where the channels are: no direction is claimed
        assert one["data_ch"] == 0
        assert one["id4"] == "No directions known: field 1, nodes 1 to 2 = q1, q2"
        assert list(one["node_nums"]) == [1, 2]
        np.testing.assert_allclose(one["r1"], windy.modes.shapes[m], atol=1e-5)
        assert not np.any([one["r2"], one["r3"]])


def test_columns_are_those_of_the_format(windy, tmp_path):
    windy.to_uff(tmp_path / "modes.UNV")
    text = (tmp_path / "modes.UNV").read_text("ascii")
    assert max(map(len, text.splitlines())) <= 80
    lines = text.split("    55" + " " * 74 + "\n")[1].splitlines()
    assert all(line.strip() for line in lines[:5])  # lines of text may not be blank
    whole = [int(lines[5][k : k + 10]) for k in range(0, 60, 10)]
    assert whole == [1, 2, 0, 8, 2, 3]
    assert [int(lines[6][k : k + 10]) for k in range(0, 40, 10)] == [2, 4, 0, 1]
    real = [float(lines[7][k : k + 13]) for k in range(0, 52, 13)]
    np.testing.assert_allclose(
        real, [windy.modes.frequencies_hz[0], 0, windy.modes.damping[0], 0], rtol=1e-5
    )
    assert int(lines[8]) == 1
    assert float(lines[9][:13]) == pytest.approx(windy.modes.shapes[0, 0], abs=1e-5)


def test_channels_are_written_where_their_names_say(windy, tmp_path):
    _, _, one, _ = written(named(windy, "3:-z", "12x"), tmp_path)
    left, right = windy.modes.shapes[0]
    assert one["data_ch"] == 2
    assert list(one["node_nums"]) == [3, 12]
    values = np.array([one["r1"], one["r2"], one["r3"]]).T
    np.testing.assert_allclose(values, [[0, 0, -left], [right, 0, 0]], atol=1e-5)
    assert "Nodes and directions from the names of the channels" in one["id4"]


def test_rotations_have_three_more_fields(windy, tmp_path):
    _, _, one, _ = written(named(windy, "3z", "3ry"), tmp_path)
    assert (one["data_ch"], one["n_data_per_node"]) == (3, 6)
    values = [float(one[f"r{k}"][0]) for k in range(1, 7)]
    left, right = windy.modes.shapes[0]
    np.testing.assert_allclose(values, [0, 0, left, 0, right, 0], atol=1e-5)


def test_nodes_with_names_are_counted(windy, tmp_path):
    _, _, one, _ = written(named(windy, "deck:z", "tower µ:x"), tmp_path)
    assert list(one["node_nums"]) == [1, 2]
    assert one["id4"] == "From the names of the channels; nodes 1 to 2 = deck, tower ?"


def test_a_geometry_is_written_along(windy, tmp_path):
    frame = prism.Geometry(
        ["base", "deck", "top"],
        [[0, 0, 0], [0, 0, 3], [1, 0, 6]],
        [("base", "deck"), ("deck", "top"), ("base", "top")],
        {"q1": "deck:-y", "q2": prism.geometry.Place("top", (0.6, 0.0, 0.8))},
    )
    _, _, points, lines, one, _ = written(windy, tmp_path, geometry=frame)
    assert (points["type"], lines["type"]) == (2411, 82)
    assert list(points["node_nums"]) == [1, 2, 3]
    np.testing.assert_array_equal(points["z"], [0, 3, 6])
    pairs = {tuple(sorted(map(int, pair))) for pair in pairwise(lines["nodes"]) if 0 not in pair}
    assert pairs == {(1, 2), (2, 3), (1, 3)}
    left, right = windy.modes.shapes[0]
    assert list(one["node_nums"]) == [2, 3]
    values = np.array([one["r1"], one["r2"], one["r3"]]).T
    np.testing.assert_allclose(values, [[0, -left, 0], [0.6 * right, 0, 0.8 * right]], atol=1e-5)
    assert one["id4"] == "From the geometry; nodes 1 to 3 = base, deck, top"
    again = prism.read_geometry(tmp_path / "modes.uff")
    np.testing.assert_array_equal(again.positions, frame.positions)
    assert len(again.lines) == 3
    with pytest.raises(GeometryError, match="no place for the channel 'q2'"):
        windy.to_uff(tmp_path / "m.uff", prism.Geometry(["1"], [[0, 0, 0]], (), {"q1": "1x"}))


def test_many_lines_are_several_traces(windy, tmp_path):
    """A set 82 has 250 nodes at most."""
    count = 400
    star = [("0", str(k)) for k in range(1, count)]
    nodes = [str(k) for k in range(count)]
    frame = prism.Geometry(
        [f"{int(n) + 1}" for n in nodes],
        np.zeros((count, 3)),
        [(f"{int(a) + 1}", f"{int(b) + 1}") for a, b in star],
        {"q1": "1x", "q2": "2x"},
    )
    lines = [one for one in written(windy, tmp_path, geometry=frame) if one["type"] == 82]
    assert len(lines) > 1
    assert max(len(one["nodes"]) for one in lines) <= 250
    assert prism.read_geometry(tmp_path / "modes.uff").lines == frame.lines


@pytest.mark.parametrize("names", [("7", "12"), ("0", "1"), ("7", "07"), ("a", "1")])
def test_numbers_of_nodes(names):
    """Their names, where these are whole numbers above zero."""
    expected = [7, 12] if names == ("7", "12") else [1, 2]
    assert list(numbers_of(names).values()) == expected


@pytest.mark.parametrize("name", UNITS)
def test_units(windy, tmp_path, name):
    """What a file states in its units is divided by the factors to be SI."""
    units = written(windy, tmp_path, units=name.lower())[1]
    metre = {"BG": 3.280839895, "BA": 3.280839895, "IN": 39.37007874, "MM": 1e3, "GM": 1e3}
    newton = {"BG": 0.2248089431, "IN": 0.2248089431, "BA": 7.233013851, "MG": 0.1019716213}
    newton |= {"GM": 0.1019716213, "MM": 1e3, "CM": 1e2}
    assert units["units_code"] == list(UNITS).index(name) + 1
    assert units["length"] == pytest.approx({"CM": 1e2, **metre}.get(name, 1.0), rel=1e-9)
    assert units["force"] == pytest.approx(newton.get(name, 1.0), rel=1e-9)


# -- complex modes ---------------------------------------------------------------------------------


def test_modes_that_turn(turning, tmp_path):
    model, system = turning
    sets = written(model, tmp_path)[2:]
    for one, factor, omega in zip(sets, system.factors, system.frequencies, strict=True):
        assert one["analysis_type"] == 3
        assert one["eig"].real == pytest.approx(0, abs=1e-12)
        assert one["eig"].imag == pytest.approx(omega, rel=1e-2)
        # residues are ψ ψ*, and no a makes them ψ ψᵀ/a
        assert one["modal_a"] == one["modal_b"] == 0
        assert "modal A not determined" in one["id2"]
        # as the system turns, and not the other way round
        assert abs(np.vdot(factor, one["r1"])) / np.linalg.norm(factor) > 0.99
    assert abs(factor @ one["r1"]) / np.linalg.norm(factor) < 0.9


def test_a_receptance_can_be_rebuilt_from_complex_modes(damper, tmp_path):
    sets = written(damper, tmp_path)[2:]
    H = 0
    for one in sets:
        psi, pole = one["r1"], one["eig"]
        assert one["modal_b"] == pytest.approx(-pole * one["modal_a"], rel=1e-4)
        residue = np.outer(psi, psi) / one["modal_a"]
        H = H + np.multiply.outer(1 / (POINTS - pole), residue)
        H = H + np.multiply.outer(1 / (POINTS - pole.conjugate()), residue.conj())
    expected = damper.receptance(POINTS)
    assert np.abs(H - expected).max() < 1e-4 * np.abs(expected).max()


def test_a_saved_model_writes_the_same(turning, tmp_path):
    model, _ = turning
    model.save(tmp_path / "m.json")
    again = prism.load(tmp_path / "m.json")
    np.testing.assert_array_equal(again.modes.phases, model.modes.phases)
    for one, other in zip(written(model, tmp_path), written(again, tmp_path), strict=True):
        if one["type"] == 55:
            assert {k: np.asarray(v).tolist() for k, v in one.items()} == {
                k: np.asarray(v).tolist() for k, v in other.items()
            }


# -- refusals --------------------------------------------------------------------------------------


def test_what_cannot_be_written(windy, turning, tmp_path):
    with pytest.raises(WriteError, match=r"m\.json: cannot write modes .* \.uff or \.unv"):
        windy.to_uff(tmp_path / "m.json")
    with pytest.raises(WriteError, match="cannot be written"):
        windy.to_uff(tmp_path / "nowhere" / "m.uff")
    with pytest.raises(OptionError, match="unknown units 'furlong': choose among SI"):
        windy.to_uff(tmp_path / "m.uff", units="furlong")
    with pytest.raises(OptionError, match="channel 'acc' does not say where it is, but others do"):
        named(windy, "acc", "3z").to_uff(tmp_path / "m.uff")
    with pytest.raises(OptionError, match="complex shapes of rotations"):
        named(turning[0], "3rz", "4z").to_uff(tmp_path / "m.uff")
    none = replace(windy, modes=prism.Modes.none(2, 1))
    with pytest.raises(CannotTellError, match="no lines, and so no modes"):
        none.to_uff(tmp_path / "m.uff")
    assert list(tmp_path.iterdir()) == []


def test_without_the_library(windy, tmp_path, monkeypatch):
    load = importlib.import_module

    def absent(name, *rest):
        if name == "pyuff":
            raise ModuleNotFoundError("No module named 'pyuff'", name="pyuff")
        return load(name, *rest)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(MissingDependencyError, match=r'needs pyuff: pip install "prism-id\[io\]"'):
        windy.to_uff(tmp_path / "m.uff")
