"""Parts of the page: the typeset Hamiltonian, tables with all digits, the hash of the data."""

import csv
import hashlib
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import prism
from prism import systems
from prism.motion.potential.hamiltonian import nonlinear_hamiltonian
from prism.motion.potential.terms import COSINE, POWER, SINE, Library, Potential, Term
from prism.report._page import saving, table
from prism.report.mathml import hamiltonian_mathml
from prism.report.plain import (
    fingerprint,
    hidden_numbers,
    mode_numbers,
    separated,
    zero_numbers,
)
from prism.report.tables import Table


@pytest.fixture(scope="module")
def ensemble():
    record = systems.chain().equilibrium(100, 0.2, trials=60, noise=0.1, rng=1)
    return prism.identify(record, experiment="equilibrium", mass="identity"), record


def words(markup):
    """Text of well-formed markup."""
    return "".join(ElementTree.fromstring(markup).itertext())


# ------------------------------------------------------------------ equations


def test_the_hamiltonian_is_typeset(ensemble):
    h = ensemble[0].hamiltonian
    form, seen, mass, stiffness, *hidden = [words(line) for line in hamiltonian_mathml(h)]
    assert form == "H=12p⊤μ−1p+12x⊤κx+∑i(12pi2+12ωi2qi2+qici⊤x)"
    assert seen == "x⊤=(q1,q4)"
    assert mass == "μ=1001"
    assert stiffness.startswith("κ=1.9")
    assert len(hidden) == 2
    assert hidden[0].startswith("ω1=0.99")
    assert all("e-" not in line and "e−" not in line for line in (mass, stiffness))


def test_names_in_an_equation_are_escaped():
    values = systems.chain(2).free(200, 0.1, noise=0.05, rng=0).trials[0]
    record = prism.Record(values, dt=0.1, channels=["<mi>&", "b"])
    model = prism.identify(record, mass="identity")
    lines = hamiltonian_mathml(model.hamiltonian)
    assert words(lines[1]) == "x⊤=(<mi>&,b)"
    assert "∑" not in words(lines[0])


def test_large_matrices_are_left_to_the_file():
    record = systems.chain(10, observed=list(range(10))).free(400, 0.2, noise=0.1, rng=2)
    model = prism.identify(record, mass="identity")
    assert len(hamiltonian_mathml(model.hamiltonian)) == 2
    from prism.report.html import html_page

    assert "All numbers are in the model file." in html_page(model)


def potential(*terms, names=("x",), values=None):
    count, n = len(terms), len(names)
    theta = np.array([0.5, -2.0, 1.25][:count] if values is None else values)
    std = np.full(count, 0.01)
    reach = np.array([[-1.0] * n, [1.0] * n])
    return Potential(Library(terms, "given"), theta, std, np.diag(std**2), names, reach)


@pytest.mark.parametrize(
    ("chosen", "names", "text"),
    [
        ((Term(POWER, 2), Term(POWER, 4)), ("x",), "V(x)=0.500(10)x22−2.000(10)x44"),
        ((Term(POWER, 1),), ("x",), "V(x)=0.500(10)x"),
        ((Term(SINE, 1), Term(COSINE, 2)), ("a",), "V(a)=0.500(10)(−cosa)−2.000(10)(sin2a)2"),
        ((Term(POWER, 2, 1),), ("x", "y"), "V(x,y)=0.500(10)x2y2"),
    ],
)
def test_a_potential_is_typeset(chosen, names, text):
    none = (np.zeros(0), np.zeros(0)), (np.zeros((0, len(names))), np.zeros((0, len(names))))
    unknown = np.zeros((len(chosen), len(chosen)))
    h = nonlinear_hamiltonian(potential(*chosen, names=names), *none, unknown)
    form, _, shown = [words(line) for line in hamiltonian_mathml(h)]
    assert form == "H=12p⊤p+V(x)"
    assert shown == text


# ------------------------------------------------------------------ tables with all digits


def rows_of(text, mark=","):
    return list(csv.DictReader(io.StringIO(text), delimiter=mark))


def test_the_modes_come_back_from_the_text(ensemble):
    model, _ = ensemble
    for mark in (",", "\t"):
        rows = rows_of(separated(mode_numbers(model), mark), mark)
        found = np.array([float(row["frequency"]) for row in rows])
        np.testing.assert_allclose(found, model.modes.frequencies, rtol=1e-11)
        shape = [[float(row[f"shape {name}"]) for name in model.channels] for row in rows]
        np.testing.assert_allclose(shape, model.modes.shapes, rtol=1e-10)
    assert "damping" not in rows[0]


def test_hidden_modes_and_zeros_come_back(ensemble, lossy):
    (first, _) = rows_of(separated(hidden_numbers(ensemble[0]), ","))
    hidden = ensemble[0].hamiltonian.hidden[0]
    assert float(first["coupling q4"]) == pytest.approx(hidden.couplings[0, 1], rel=1e-11)
    assert float(first["coupling_std q4"]) == pytest.approx(hidden.coupling_std[1], rel=1e-11)
    zeros = rows_of(separated(zero_numbers(lossy[0]), ","))
    assert len(zeros) == len(lossy[0].response.zeros)
    assert {row["inside_band"] for row in zeros} == {"yes", "no"}
    assert any(row["outputs"] == "q1 q3 q6" for row in zeros)
    assert "damping" in rows_of(separated(mode_numbers(lossy[0]), ","))[0]


def test_what_is_not_there_has_no_table(ensemble, cart):
    record = systems.chain(2).free(200, 0.1, noise=0.05, rng=0)
    free = prism.identify(record)
    assert hidden_numbers(free) is None
    assert zero_numbers(free) is None
    assert saving(None, "x") == ""
    none = prism.identify(record, mass="identity")
    assert hidden_numbers(none) is None


def test_a_residue_of_higher_rank_has_no_couplings():
    record = systems.chain(5, observed=[0, 2, 4]).free(400, 0.05, noise=0.1, rng=2)
    row = rows_of(separated(hidden_numbers(prism.identify(record, mass="identity")), ","))[0]
    assert row["rank"] == "2"
    assert row["coupling q1"] == ""


def test_a_wide_table_is_broken_on_paper():
    headers = tuple(f"h{k}" for k in range(20))
    wide = Table(headers, (tuple(f"c{k}" for k in range(20)),), key=2)
    screen, _, paper = table(wide).partition('<div class="paper">')
    assert screen.count("<table>") == 1
    blocks = re.findall(r"<thead><tr>(.*?)</tr>", paper)
    shown = [re.findall(r"<th>(\w+)</th>", block) for block in blocks]
    assert all(block[:2] == ["h0", "h1"] for block in shown)
    assert [name for block in shown for name in block[2:]] == list(headers[2:])
    assert max(map(len, shown)) <= 9
    assert "paper" not in table(Table(headers[:9], (headers[:9],)))


def test_awkward_names_survive_copying_and_saving():
    awkward = Table(('a,"b"', "<c>&"), (("1", "2\t3"),))
    markup = saving(awkward, "t")
    assert "<c>" not in markup
    link = re.search(r'href="data:text/csv;charset=utf-8,([^"]*)"', markup)[1]
    from urllib.parse import unquote

    assert list(csv.reader(io.StringIO(unquote(link)))) == [['a,"b"', "<c>&"], ["1", "2\t3"]]


# ------------------------------------------------------------------ fingerprint


def test_the_fingerprint_is_that_of_the_values(cart):
    values = np.array([[1.0, 2.0], [np.nan, 4.0], [3.0, 1.0]] * 5)
    record = prism.Record(values, dt=0.1)
    assert fingerprint(record) == hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()
    other = values.copy()
    other[3, 1] += 1e-12
    assert fingerprint(prism.Record(other, dt=0.1)) != fingerprint(record)
    assert fingerprint(cart[1]) == hashlib.sha256(cart[1].values.tobytes()).hexdigest()


def test_every_nan_is_the_same():
    values = np.arange(20.0)
    values[3] = np.nan
    strange = values.copy()
    strange.view(np.uint64)[3] |= np.uint64(7)  # another bit pattern of NaN
    assert np.isnan(strange[3])
    assert strange.tobytes() != values.tobytes()
    assert fingerprint(prism.Record(strange, dt=1.0)) == fingerprint(prism.Record(values, dt=1.0))
