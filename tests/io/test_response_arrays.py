import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from prism.cli import main
from prism.errors import ReadError, WriteError
from prism.frequency_response import FrequencyResponse
from prism.io import holds_response, read, read_response, write, write_response

W = np.linspace(0.5, 2.0, 7)
RNG = np.random.default_rng(3)
MATRIX = RNG.standard_normal((7, 2, 2)) + 1j * RNG.standard_normal((7, 2, 2))
MATRIX = MATRIX + np.swapaxes(MATRIX, 1, 2)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_same(a, b):
    assert (a.outputs, a.inputs, a.quantity) == (b.outputs, b.inputs, b.quantity)
    np.testing.assert_array_equal(a.omega, b.omega)
    np.testing.assert_array_equal(a.values, b.values)
    assert (a.variance is None) == (b.variance is None)
    if a.variance is not None:
        np.testing.assert_array_equal(a.variance, b.variance)


# ------------------------------------------------------------------ npz


@pytest.mark.parametrize(
    ("content", "options", "shape"),
    [
        ({"omega": W, "H": MATRIX[:, 0, 0]}, {}, (1, 1)),
        ({"omega": W, "H": MATRIX[:, :1, 0]}, {}, (1, 1)),
        ({"omega": W, "H": MATRIX}, {}, (2, 2)),
        ({"omega": W[:, None], "H": np.moveaxis(MATRIX, 0, 2)}, {}, (2, 2)),
        ({"f": W, "H": MATRIX}, {"unit": "rad"}, (2, 2)),
        ({"omega": W, "hz": W / (2 * np.pi), "H": MATRIX}, {}, (2, 2)),
        ({"omega": W, "mobility": MATRIX, "note": np.arange(3)}, {}, (2, 2)),
        ({"w": W, "G": MATRIX}, {"frequency": "w", "response": "G", "unit": "rad"}, (2, 2)),
        ({"omega": W, "H": MATRIX[:, :, :1], "outputs": ["a", "b"], "inputs": ["a"]}, {}, (2, 1)),
        ({"omega": W, "H": MATRIX[:, :, 0], "outputs": ["a", "b"], "inputs": ["a"]}, {}, (2, 1)),
        ({"omega": W, "H": MATRIX[:, :, 0]}, {"channels": ["a/a", "b/a"]}, (2, 1)),
        ({"omega": W, "H": MATRIX[:, :, :1]}, {"channels": ["a/a", "b/a"]}, (2, 1)),
    ],
)
def test_npz(folder, content, options, shape):
    np.savez("a.npz", **content)
    assert holds_response("a.npz") or options
    frf = read("a.npz", **options)
    assert frf.shape == shape
    np.testing.assert_allclose(frf.omega, W, rtol=1e-15)
    np.testing.assert_array_equal(frf.values, MATRIX[:, : shape[0], : shape[1]])


def test_npz_names_and_quantity(folder):
    np.savez("a.npz", omega=W, H=MATRIX, quantity="velocity", outputs=["a", "b"])
    frf = read("a.npz")
    assert (frf.outputs, frf.inputs, frf.quantity) == (("a", "b"), ("a", "b"), "velocity")
    np.savez("a.npz", omega=W, H=MATRIX, variance=np.ones((7, 2, 2)))
    assert read("a.npz", channels=["p", "q"]).outputs == ("p", "q")
    assert read("a.npz").variance.sum() == 28


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ({"f": W, "H": MATRIX}, {}, "'f' do not state a unit"),
        ({"omega": W, "hz": W, "H": MATRIX}, {}, "'omega' and 'hz' contradict each other"),
        ({"omega": W, "f": W, "H": MATRIX}, {}, "omega and f could both be the frequencies"),
        ({"omega": W, "A": MATRIX, "B": MATRIX}, {}, r"A and B could each be.*A 7x2x2, B 7x2x2"),
        ({"omega": W, "H": MATRIX[:, :, 0]}, {}, r"\(7, 2\).* the 2 columns.*: say channels,"),
        ({"omega": W, "H": MATRIX[:, :, :1]}, {}, r"\(7, 2, 1\).* the 2 columns"),
        ({"omega": W, "H": MATRIX}, {"channels": ["a"]}, r"\(7, 2, 2\).* the 4 columns"),
        ({"omega": W, "H": MATRIX[:6]}, {}, r"'H' has the shape \(6, 2, 2\).* 7 frequencies"),
        ({"omega": W, "H": MATRIX[..., None]}, {}, r"'H' has the shape"),
        ({"omega": MATRIX.real, "H": MATRIX}, {}, r"'omega' has the shape \(7, 2, 2\)"),
        ({"omega": 1j * W, "H": MATRIX}, {}, "'omega' is of type complex128, not real"),
        ({"omega": W, "H": ["a"] * 7}, {}, "'H' is of type"),
        ({"omega": W, "H": MATRIX, "variance": np.ones(7)}, {}, r"'variance' has the shape \(7,\)"),
        ({"omega": W, "H": MATRIX, "quantity": ["velocity", "force"]}, {}, "a response has one"),
        ({"omega": W, "H": MATRIX, "quantity": "force"}, {}, "unknown quantity 'force'"),
        ({"omega": W, "H": MATRIX, "outputs": ["a"]}, {}, "names a for 2 outputs"),
        ({"omega": W, "H": MATRIX[:, :, 0], "outputs": ["a", "b"]}, {}, "save it as .frequencies"),
        ({"omega": W, "H": MATRIX}, {"response": "G"}, r"no array 'G': .*omega 7, H 7x2x2"),
        ({"omega": W, "H": MATRIX}, {"frequency": "w"}, r"no array 'w'"),
        ({"omega": W[:3], "H": MATRIX[:3]}, {}, "3 frequencies: .* at least 4"),
    ],
)
def test_bad_npz(folder, content, options, words):
    np.savez("a.npz", **content)
    with pytest.raises(ReadError, match=words) as caught:
        read("a.npz", **options)
    assert str(caught.value).startswith("a.npz: ")


def test_npz_without_a_response(folder):
    np.savez("a.npz", omega=W, values=np.cos(W))
    assert not holds_response("a.npz")
    with pytest.raises(ReadError, match="no array is the response at the 7 frequencies"):
        read_response("a.npz")
    np.savez("a.npz", H=MATRIX)
    with pytest.raises(ReadError, match="no array is named as a frequency"):
        read_response("a.npz")
    np.savez("a.npz", omega=W, H=np.array([None] * 7))
    with pytest.raises(ReadError, match="Python objects"):
        read("a.npz")


@pytest.mark.parametrize("content", [b"", b"not an array", b"PK\x03\x04broken"])
def test_damaged_npz(folder, content):
    (folder / "a.npz").write_bytes(content)
    assert not holds_response("a.npz")
    with pytest.raises(ReadError, match="damaged"):
        read_response("a.npz")


# ------------------------------------------------------------------ writing


def some_responses():
    holes = MATRIX.copy()
    holes[2, 0, 1] = np.nan
    holes[:, 1, 1] = np.nan
    spread = np.abs(MATRIX) ** 2 / 3
    unknown = np.where(np.isnan(holes), np.inf, spread)
    yield "siso", FrequencyResponse(W, MATRIX[:, 0, 0])
    yield "mimo", FrequencyResponse(W, MATRIX, "acceleration", ["q_1", "q_2"])
    yield "holes", FrequencyResponse(W, holes, outputs=["a", "b"], inputs=["b", "a"])
    yield "variance", FrequencyResponse(W, MATRIX, "velocity", variance=spread)
    yield "both", FrequencyResponse(W, holes, variance=unknown)
    yield "column", FrequencyResponse(W, MATRIX[:, :, :1], "velocity", ["acc_1", "acc_2"], ["f_1"])
    yield (
        "odd names",
        FrequencyResponse(W, MATRIX, outputs=["q,1", 'the "b" # one'], inputs=["q,1", "_"]),
    )
    yield "from rest", FrequencyResponse(np.append(0.0, W[1:]), MATRIX, "velocity")


@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.npz"])
@pytest.mark.parametrize("frf", [pytest.param(r, id=name) for name, r in some_responses()])
def test_round_trip_is_exact(folder, frf, name):
    write(frf, name)
    assert_same(read(name), frf)
    assert os.listdir(folder) == [name]


finite = st.floats(-1e200, 1e200, allow_subnormal=False)
labels = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6).filter(
    lambda s: s.isprintable() and s == s.strip()
)


@st.composite
def responses(draw):
    size = (draw(st.integers(1, 3)), draw(st.integers(1, 2)))
    lines = draw(st.integers(4, 8))
    shape = (lines, *size)
    values = np.empty(shape, complex)
    values.real = draw(arrays.arrays(np.float64, shape, elements=finite | st.just(np.nan)))
    values.imag = draw(arrays.arrays(np.float64, shape, elements=finite))
    values[:, 0, 0] = 1 + np.arange(lines)
    grid = draw(st.lists(st.floats(1e-9, 1e9), min_size=lines, max_size=lines, unique=True))
    pool = draw(st.lists(labels, min_size=3, max_size=3, unique=True))
    kind = draw(st.sampled_from(["displacement", "velocity", "acceleration"]))
    return FrequencyResponse(grid, values, kind, pool[: size[0]], pool[1 : 1 + size[1]])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(frf=responses(), suffix=st.sampled_from([".csv", ".npz"]))
def test_any_response_survives_a_round_trip(tmp_path, frf, suffix):
    path = tmp_path / f"a{suffix}"
    try:
        write_response(frf, path)
    except WriteError:
        assert suffix == ".csv"  # whose columns cannot hold every name
        return
    assert_same(read_response(path), frf)


def test_names_are_stated_only_where_they_are_in_doubt(folder):
    write(FrequencyResponse(W, MATRIX, outputs=["q_1", "q_2"]), "a.csv")
    assert (folder / "a.csv").read_text().startswith("omega,H_q_1_q_1_re,H_q_1_q_1_im,H_q_1_q_2_re")
    write(FrequencyResponse(W, MATRIX[:, :1, :1], "velocity", ["x_tip"], ["base"]), "a.csv")
    head = "# quantity: velocity\n# outputs: x_tip\n# inputs: base\nomega,"
    assert (folder / "a.csv").read_text().startswith(head)


@pytest.mark.parametrize(
    ("outputs", "inputs", "words"),
    [
        (["a", "a_b"], ["c", "b_c"], "names a, a_b, c, b_c cannot be told apart"),
        (["a\nb", "c"], ["a\nb", "c"], "printable name"),
        (["", "c"], ["", "c"], "printable name"),
        ([" a", "c"], [" a", "c"], "without blanks around it"),
    ],
)
def test_names_that_a_table_cannot_hold(folder, outputs, inputs, words):
    frf = FrequencyResponse(W, MATRIX, outputs=outputs, inputs=inputs)
    with pytest.raises(WriteError, match=words):
        write(frf, "a.csv")
    assert os.listdir(folder) == []
    write(frf, "a.npz")
    assert_same(read("a.npz"), frf)


def test_what_cannot_be_written(folder):
    frf = FrequencyResponse(W, MATRIX)
    with pytest.raises(WriteError, match=r"'\.mat': choose a suffix among \.csv.*\.npz"):
        write(frf, "a.mat")
    with pytest.raises(WriteError, match="cannot be written"):
        write(frf, "none/a.csv")


# ------------------------------------------------------------------ prism info


@pytest.fixture
def run(capsys):
    def call(*arguments):
        status = main(list(arguments))
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return call


def test_info_on_a_response(run, folder):
    lopsided = MATRIX.copy()
    lopsided[3, 0, 1] = np.nan
    write(FrequencyResponse(W, lopsided, "velocity", ["a", "b"]), "a.csv")
    status, out, _ = run("info", "a.csv")
    assert status == 0
    for words in (
        "(csv, frequency response)",
        "lines     7",
        "0.5 to 2 rad",
        "0.0795775 to 0.31831 cycles",
        "outputs   a, b",
        "velocity per force",
        "1 values",
        "driving   a, b",
        "antisymmetric part at most 0 %",
    ):
        assert words in out


def test_info_says_how_unsymmetric_a_response_is(run, folder):
    ones = np.ones((7, 2, 2))
    ones[2, 0, 1] = 0.5
    write(FrequencyResponse(W, ones), "a.npz")
    assert "antisymmetric part at most 25 %" in run("info", "a.npz")[1]
    write(FrequencyResponse(W, ones[:, :, :1], outputs=["a", "b"], inputs=["c"]), "a.npz")
    _, out, _ = run("info", "a.npz")
    assert "no driving point" in out
    assert "symmetric" not in out


def test_info_asks_for_the_unit(run, folder):
    write(FrequencyResponse(W, MATRIX), "frf.csv")
    table = (folder / "frf.csv").read_text().replace("omega", "f")
    (folder / "frf.csv").write_text(table)
    status, out, _ = run("info", "frf.csv")
    assert status == 0
    assert "It would be refused: frf.csv: the frequencies 'f' do not state a unit" in out


def test_info_on_missing_files(run, folder):
    for name in ("none.mat", "none.uff"):
        status, out, err = run("info", name)
        assert (status, out) == (2, "")
        assert f"{name}: cannot be read" in err
