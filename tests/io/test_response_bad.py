import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism.errors import InputError, ReadError
from prism.io import holds_response, read, read_record, read_response
from prism.io._registry import FORMATS
from prism.io._response_names import UndecidedError, split_pairs
from prism.io.response import RESPONSE_FORMATS

W = np.linspace(0.5, 2.0, 7)


def columns(pairs, values=None):
    """Columns of a table: name and numbers, for pairs of names joined by an underscore."""
    values = [np.cos(W * (k + 1)) + 1j * np.sin(W) for k in range(len(pairs))]
    parts = [(f"H_{p}_re", v.real) for p, v in zip(pairs, values, strict=True)]
    return parts + [(f"H_{p}_im", v.imag) for p, v in zip(pairs, values, strict=True)]


def text(*pieces, delimiter=",", above=""):
    names = delimiter.join(name for name, _ in pieces)
    rows = zip(*(np.asarray(v).tolist() for _, v in pieces), strict=True)
    return above + "\n".join([names, *(delimiter.join(map(repr, row)) for row in rows)]) + "\n"


OMEGA = ("omega", W)
SISO = text(OMEGA, *columns(["a_a"]))


@pytest.fixture
def save(tmp_path, monkeypatch):
    """Write a file into an empty working directory and return its short name."""
    monkeypatch.chdir(tmp_path)

    def write_text(content, name="frf.csv"):
        (tmp_path / name).write_text(content, encoding="utf-8")
        return name

    return write_text


# ------------------------------------------------------------------ names with underscores


@pytest.mark.parametrize(
    ("outputs", "inputs"),
    [
        (["q_1", "q_2"], ["q_1", "q_2"]),
        (["q_1", "q_2", "q_3"], ["q_1"]),
        (["q_1"], ["q_1", "q_2"]),
        (["tip", "tip_x"], ["tip_x"]),
        (["a", "b"], ["c"]),
        (["a_", "b"], ["b"]),
    ],
)
def test_pairs_with_underscores(outputs, inputs):
    pairs = [(a, b) for a in outputs for b in inputs]
    assert list(split_pairs([f"{a}_{b}" for a, b in pairs]).values()) == pairs


def test_part_of_a_matrix_with_underscores():
    pairs = [("q_1", "q_1"), ("q_2", "q_1"), ("q_2", "q_2")]
    assert list(split_pairs([f"{a}_{b}" for a, b in pairs]).values()) == pairs


def test_a_table_without_driving_points_decides():
    # Only one way of splitting makes every output meet every input.
    bodies = ["u_1_f", "u_1_g_2", "v_f", "v_g_2"]
    found = split_pairs(bodies)
    assert found["u_1_g_2"] == ("u_1", "g_2")
    assert found["v_f"] == ("v", "f")


@pytest.mark.parametrize(
    "bodies",
    [
        ["x_tip_base"],
        ["acc_1_ham_1", "acc_2_ham_1"],
        ["a", "a_b"],
        ["_a"],
        ["a_b", "b_c", "a_b_c", "a_b_a_b", "b_c_b_c"],
    ],
)
def test_pairs_that_nothing_decides(save, bodies):
    with pytest.raises(UndecidedError):
        split_pairs(bodies)
    with pytest.raises(
        ReadError, match=r"^frf\.csv, column 'H_.*_re': .*(call it|rename).*# outputs: a,b"
    ):
        read(save(text(OMEGA, *columns(bodies))))


def test_an_ambiguity_is_spelt_out(save):
    words = "output 'x' with input 'tip_base' or output 'x_tip' with input 'base'"
    with pytest.raises(ReadError, match=words):
        read(save(text(OMEGA, *columns(["x_tip_base"]))))


def test_stated_names_decide(save):
    body = text(OMEGA, *columns(["x_tip_base"]))
    frf = read(save("# outputs: x_tip\n# inputs: base\n" + body))
    assert (frf.outputs, frf.inputs) == (("x_tip",), ("base",))
    assert read(save("# outputs: x\n" + body)).inputs == ("tip_base",)
    with pytest.raises(ReadError, match="names no output and input"):
        read(save("# outputs: y\n" + body))


name_text = st.text("ab_1", min_size=1, max_size=4)


@settings(deadline=None)
@given(
    outputs=st.lists(name_text, min_size=1, max_size=3, unique=True),
    inputs=st.lists(name_text, min_size=1, max_size=3, unique=True),
)
def test_what_is_decided_is_consistent(outputs, inputs):
    bodies = list(dict.fromkeys(f"{a}_{b}" for a in outputs for b in inputs))
    try:
        found = split_pairs(bodies)
    except UndecidedError:
        return
    assert [f"{a}_{b}" for a, b in found.values()] == bodies
    assert all(a and b for a, b in found.values())


# ------------------------------------------------------------------ csv that cannot be read


def edited(row, cell, word):
    rows = SISO.splitlines()
    cells = rows[row].split(",")
    cells[cell] = word
    rows[row] = ",".join(cells)
    return "\n".join(rows)


BAD = {
    "text cell": (edited(3, 1, "oops"), r"^frf\.csv, line 4, column 'H_a_a_re': 'oops' is not"),
    "decimal comma": (
        text(OMEGA, *columns(["a_a"]), delimiter=";").replace("0.5;", "0,5;", 1),
        r"^frf\.csv, line 2, column 1: '0,5' has a decimal comma",
    ),
    "cut line": (SISO + "3.0,1.0\n", "line 9: 2 cells where 3"),
    "no imaginary part": (
        text(OMEGA, *columns(["a_a"])[:1]),
        r"column 'H_a_a_re': there is no column 'H_a_a_im'",
    ),
    "no real part": (
        text(OMEGA, *columns(["a_a"])[1:]),
        r"column 'H_a_a_im': there is no column 'H_a_a_re'",
    ),
    "same part twice": (
        text(OMEGA, *columns(["a_a"]), ("h_a_a_Re", W)),
        "column 'h_a_a_Re': stands for something that is already there",
    ),
    "other column": (
        text(OMEGA, *columns(["a_a"]), ("weight", W)),
        "column 'weight': is neither a frequency nor part of a response",
    ),
    "variance of nothing": (
        text(OMEGA, *columns(["a_a"]), ("V_b_a", W)),
        "column 'V_b_a': there is no 'H_b_a_re'",
    ),
    "some variances": (
        text(OMEGA, *columns(["a_a", "b_a"]), ("V_a_a", W)),
        "no variance 'V_b_a': give one for each pair, or none",
    ),
    "missing variance": (
        text(OMEGA, *columns(["a_a"]), ("V_a_a", np.where(W > 1, W, np.nan))),
        "variance",
    ),
    "one frequency": ("\n".join(SISO.splitlines()[:2]), r"^frf\.csv: 1 frequency: .* at least 4"),
    "repeated frequency": (edited(3, 0, "0.5"), r"^frf\.csv: the frequency 0\.5 is there 2 times"),
    "missing frequency": (edited(3, 0, ""), r"^frf\.csv: frequency 2 .* is nan"),
    "negative frequency": (edited(3, 0, "-1"), r"^frf\.csv: frequency 2 .* is -1"),
    "infinite": (edited(3, 1, "inf"), r"^frf\.csv: line 2 .* is infinite"),
    "nothing but NaN": (
        re.sub(r",.*", ",nan,nan", SISO).replace(",nan,nan", ",H_a_a_re,H_a_a_im", 1),
        r"^frf\.csv: no value is left",
    ),
    "two quantities": ("# quantity: velocity, displacement\n" + SISO, "a response has one"),
    "unknown quantity": ("# quantity: force\n" + SISO, r"^frf\.csv: unknown quantity 'force'"),
    "no pair": (
        text(OMEGA, ("H_re", W), ("H_im", W)),
        "column 'H_re': names no output and input: call it H_<out>_<in>_re",
    ),
    "trials": (
        text(("trial", np.arange(7) % 2), OMEGA, *columns(["a_a"])),
        "a frequency response has no trials",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_csv_is_refused_by_place_and_remedy(save, case):
    content, words = BAD[case]
    with pytest.raises(ReadError, match=words) as caught:
        read(save(content))
    assert str(caught.value).startswith("frf.csv")
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("omega\n" + "1\n2\n3\n4\n5\n", "no column holds a response.*there are omega"),
        ("1,2,3\n4,5,6\n", "the columns have no names"),
        ("omega,H_a_a_re,H_a_a_im\n", "only a header"),
        ("", "the file is empty"),
    ],
)
def test_tables_that_are_no_response(save, content, words):
    name = save(content)
    assert not holds_response(name)
    with pytest.raises(ReadError, match=words):
        read_response(name)


def test_options_that_do_not_fit(save):
    with pytest.raises(ReadError, match="leave out the sampling step"):
        read(save(SISO), dt=0.1)
    with pytest.raises(ReadError, match="no array to choose with response"):
        read("frf.csv", response="H")


def test_missing_files_and_suffixes(save):
    for name in ("none.csv", "none.npz", "none.mat"):
        assert not holds_response(name)
        with pytest.raises(ReadError, match=rf"^{name}: cannot be read \(no such file"):
            read_response(name)
        with pytest.raises(ReadError, match=rf"^{name}: cannot be read \(no such file"):
            read(name)
    with pytest.raises(ReadError, match=r"not read from '\.npy': the suffixes are \.csv"):
        read_response("a.npy")
    with pytest.raises(ReadError, match="no file is given"):
        read_response([])
    with pytest.raises(ReadError, match=r"^a\.mat: cannot be read \(no such file"):
        read_record("a.mat")
    with pytest.raises(ReadError, match=r"unknown format '\.xyz'.*\.csv.*\.mat"):
        read("a.xyz")


def test_registries_agree():
    record = {suffix for entry in FORMATS for suffix in entry.suffixes}
    response = {suffix for entry in RESPONSE_FORMATS for suffix in entry.suffixes}
    assert response <= record
