import importlib
from pathlib import Path

import numpy as np
import pytest
from tests.places import real_data

from prism.cli import main
from prism.errors import MissingDependencyError, ReadError
from prism.io import holds_response, read, read_response
from prism.options.spelling import COMMAND_LINE

pyuff = pytest.importorskip("pyuff", reason='UFF files need pyuff: pip install "prism-id[io]"')

HZ = 0.25 * np.arange(1, 9)
W = 2 * np.pi * HZ
H = 1.0 / (30.0 - W**2 + 2j * W)
UNEVEN = np.array([0.5, 0.75, 1.5, 2.0, 3.0])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def function(output, forced, data=H, x=HZ, **changes):
    """A set 58; outputs and inputs are node and direction."""
    return {
        "type": 58,
        "func_type": 4,
        "rsp_node": output[0],
        "rsp_dir": output[1],
        "ref_node": forced[0],
        "ref_dir": forced[1],
        "abscissa_spacing": 1,
        "abscissa_spec_data_type": 18,
        "ordinate_spec_data_type": 8,
        "orddenom_spec_data_type": 13,
        "z_axis_spec_data_type": 0,
        "data": np.array(data),
        "x": np.array(x),
    } | changes


def save(*sets, name="a.uff"):
    # Not "overwrite", which loses the header of a binary set.
    Path(name).unlink(missing_ok=True)
    pyuff.UFF(name).write_sets(list(sets), "add")
    return name


@pytest.mark.parametrize("binary", [0, 1])
@pytest.mark.parametrize("suffix", [".uff", ".unv", ".UFF"])
def test_text_and_binary(folder, binary, suffix):
    name = save(
        function((12, 1), (12, 1), binary=binary),
        function((3, 3), (12, 1), 2 * H, binary=binary),
        name="a" + suffix,
    )
    assert holds_response(name)
    frf = read(name)
    assert (frf.outputs, frf.inputs) == (("12x", "3z"), ("12x",))
    assert frf.quantity == "displacement"
    np.testing.assert_allclose(frf.omega, W, rtol=1e-12)
    np.testing.assert_allclose(frf.values[:, :, 0], np.column_stack([H, 2 * H]), rtol=1e-10)


@pytest.mark.parametrize("binary", [0, 1])
def test_uneven_frequencies(folder, binary):
    save(function((1, 1), (1, 1), H[:5], UNEVEN, abscissa_spacing=0, binary=binary))
    frf = read("a.uff")
    np.testing.assert_allclose(frf.omega, 2 * np.pi * UNEVEN, rtol=1e-12)
    np.testing.assert_allclose(frf.values[:, 0, 0], H[:5], rtol=1e-10)


def test_single_precision(folder):
    one = function((1, 1), (1, 1), ord_data_type=5)
    pyuff.UFF("a.uff").write_sets(one, "add", force_double=False)
    np.testing.assert_allclose(read("a.uff").values[:, 0, 0], H, rtol=1e-5)


@pytest.mark.parametrize(
    ("output", "forced", "names", "sign"),
    [
        ((12, -1), (12, 1), ("12x", "12x"), -1),
        ((12, -1), (12, -1), ("12x", "12x"), 1),
        ((7, 2), (4, -3), ("7y", "4z"), -1),
        ((7, 4), (7, -6), ("7rx", "7rz"), -1),
        ((7, 0), (0, 0), ("7", "0"), 1),
    ],
)
def test_negative_directions_flip_the_sign(folder, output, forced, names, sign):
    frf = read(save(function(output, forced)))
    assert (frf.outputs[0], frf.inputs[0]) == names
    np.testing.assert_allclose(frf.values[:, 0, 0], sign * H, rtol=1e-10)


@pytest.mark.parametrize(
    ("kind", "quantity"), [(8, "displacement"), (11, "velocity"), (12, "acceleration")]
)
def test_quantities(folder, kind, quantity):
    save(function((1, 1), (1, 1), ordinate_spec_data_type=kind))
    assert read("a.uff").quantity == quantity


def test_quantities_are_converted_to_the_first(folder):
    save(
        function((1, 1), (1, 1), ordinate_spec_data_type=12),
        function((2, 1), (1, 1), ordinate_spec_data_type=8),
        function((3, 1), (1, 1), ordinate_spec_data_type=11),
    )
    frf = read("a.uff")
    assert frf.quantity == "acceleration"
    expected = np.column_stack([H, -(W**2) * H, 1j * W * H])
    np.testing.assert_allclose(frf.values[:, :, 0], expected, rtol=1e-9)
    override = read("a.uff", quantity="velocity")
    np.testing.assert_allclose(override.values[:, 1, 0], H, rtol=1e-10)


def test_a_converted_value_at_rest_is_missing(folder):
    x = HZ - HZ[0]
    save(
        function((1, 1), (1, 1), x=x),
        function((2, 1), (1, 1), x=x, ordinate_spec_data_type=12),
    )
    frf = read("a.uff")
    assert frf.missing == 1
    assert np.isnan(frf.values[0, 1, 0])


def test_an_unknown_quantity_is_asked_for(folder):
    save(function((1, 1), (1, 1), ordinate_spec_data_type=0))
    with pytest.raises(ReadError, match=r"does not say what .*: say quantity, one of") as caught:
        read("a.uff")
    assert ": say --quantity, one of" in caught.value.words.spell(COMMAND_LINE)
    assert read("a.uff", quantity="velocity").quantity == "velocity"


def test_pairs_that_were_not_measured_are_missing(folder):
    save(function((1, 1), (1, 1)), function((2, 1), (1, 1)), function((2, 1), (2, 1)))
    frf = read("a.uff")
    assert frf.shape == (2, 2)
    assert np.isnan(frf.values[:, 0, 1]).all()
    assert frf.missing == len(W)


def test_other_sets_are_passed_over(folder):
    save(
        {"type": 151, "model_name": "m", "description": "d", "db_app": "p", "program": "p"},
        function((1, 1), (1, 1), func_type=6, data=np.ones(8)),
        function((1, 1), (1, 1)),
        function((1, 1), (1, 1), func_type=1, data=np.ones(8)),
    )
    assert read("a.uff").shape == (1, 1)


def test_several_files(folder):
    save(function((1, 1), (1, 1)), function((2, 1), (1, 1)), name="a.uff")
    save(function((1, 1), (2, 1)), function((2, 1), (2, 1)), name="b.uff")
    assert read(["a.uff", "b.uff"]).inputs == ("1x", "2x")
    assert read(["a.uff", "b.uff"], channels="2x").shape == (1, 1)


def test_units_of_the_abscissa(folder):
    save(function((1, 1), (1, 1), abscissa_axis_units_lab="Hz"))
    assert read("a.uff").omega[0] == pytest.approx(W[0])
    with pytest.raises(ReadError, match=r"'frequency \[Hz\]' says hz"):
        read("a.uff", unit="rad")
    save(function((1, 1), (1, 1), abscissa_axis_units_lab="rad/s"))
    assert read("a.uff").omega[0] == pytest.approx(HZ[0])
    for changes in ({"abscissa_spec_data_type": 0}, {"abscissa_axis_units_lab": "kHz"}):
        save(function((1, 1), (1, 1), **changes))
        with pytest.raises(ReadError, match=r'^a\.uff, set 1: .* Say unit="hz" or') as caught:
            read("a.uff")
        assert "Say --unit hz or --unit rad" in caught.value.words.spell(COMMAND_LINE)
        assert read("a.uff", unit="hz").omega[0] == pytest.approx(W[0])


BAD = {
    "spectra": (
        [{"func_type": 2, "data": np.ones(8)}, {"func_type": 9, "data": np.ones(8)}],
        r"holds no time response \(function type 1\), but auto spectrum, power spectral",
    ),
    "pressure": (
        [{}, {"ordinate_spec_data_type": 15, "rsp_node": 2}],
        "the responses measure displacement, pressure: only",
    ),
    "odd type": ([{"ordinate_spec_data_type": 99}], "the responses measure data type 99"),
    "transmissibility": ([{"orddenom_spec_data_type": 12}], "per acceleration, not per force"),
    "twice": ([{}, {}], r"set 2: the response of '1x' to '1x' is already .* a\.uff, set 1"),
    "other grid": (
        [{}, {"rsp_node": 2, "x": 1.1 * HZ}],
        r"set 2: frequency 0 .* in a\.uff, set 1: .*share their frequencies",
    ),
    "other length": ([{}, {"rsp_node": 2, "data": H[:6], "x": HZ[:6]}], "set 2: 6 frequencies"),
    "over time": ([{"abscissa_spec_data_type": 17}], "set 1: the abscissa is time"),
    "direction": ([{"rsp_dir": 9}], "set 1: the direction 9 is unknown"),
    "one frequency": ([{"data": H[:2], "x": HZ[:2]}], "2 frequencies: .* at least 4"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_uff(folder, case):
    changes, words = BAD[case]
    save(*(function((1, 1), (1, 1)) | change for change in changes))
    with pytest.raises(ReadError, match=words) as caught:
        read("a.uff")
    assert str(caught.value).startswith("a.uff")


def test_files_that_hold_no_functions(folder):
    for content in (b"", b"no sets\n", b"    -1\n   999\nabc\n    -1\n"):
        (folder / "a.uff").write_bytes(content)
        assert not holds_response("a.uff")
        with pytest.raises(ReadError, match="holds no set 58"):
            read("a.uff")
    (folder / "a.uff").write_bytes(b"    -1\n    58\nshort\n    -1\n")
    with pytest.raises(ReadError, match=r"^a\.uff, set 1: cannot be read: .*damaged"):
        read("a.uff")


@pytest.mark.parametrize("binary", [0, 1])
def test_a_cut_set(folder, binary):
    save(function((1, 1), (1, 1), binary=binary))
    whole = (folder / "a.uff").read_bytes()
    (folder / "a.uff").write_bytes(whole[:-87] + b"    -1\n")
    with pytest.raises(ReadError, match=r"^a\.uff, set 1: .*(damaged|cut short)"):
        read("a.uff")


def test_missing_files_and_options(folder):
    assert not holds_response("none.uff")
    with pytest.raises(ReadError, match=r"^none\.uff: cannot be read \(no such file"):
        read("none.uff")
    save(function((1, 1), (1, 1)))
    with pytest.raises(ReadError, match="no arrays to choose"):
        read("a.uff", response="H")


def test_without_the_library(folder, monkeypatch):
    save(function((1, 1), (1, 1)))
    load = importlib.import_module

    def absent(name, *rest):
        if name == "pyuff":
            raise ModuleNotFoundError("No module named 'pyuff'", name="pyuff")
        return load(name, *rest)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(MissingDependencyError, match=r'needs pyuff: pip install "prism-id\[io\]"'):
        read_response("a.uff")


def test_info(folder, capsys):
    save(function((1, 1), (1, 1)), function((2, 1), (1, 1)))
    assert main(["info", "a.uff"]) == 0
    out = capsys.readouterr().out
    assert "(uff, frequency response)" in out
    assert "outputs   1x, 2x" in out
    save(function((1, 1), (1, 1), func_type=1, data=np.ones(8)))
    assert main(["info", "a.uff"]) == 2
    assert "a.uff, set 1: the abscissa is frequency, not time" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Sample_UFF58_ascii.uff", r"but time response: read it as a time record"),
        ("Sample_UFF58b_bin.uff", r"but time response: read it as a time record"),
        ("sample_dataset58_psd.uff", "power spectral density: export the frequency"),
    ],
)
def test_measured_samples_are_no_responses(name, words):
    path = real_data(f"uff_samples/{name}")
    assert not holds_response(path)
    with pytest.raises(ReadError, match=words):
        read_response(path)
