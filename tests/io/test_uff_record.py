"""Time responses in universal files."""

from pathlib import Path

import numpy as np
import pytest
from tests.places import real_data

from prism.cli import main
from prism.errors import ReadError
from prism.io import describe, read, read_record
from prism.options.spelling import COMMAND_LINE

pyuff = pytest.importorskip("pyuff", reason='UFF files need pyuff: pip install "prism-id[io]"')

T = 0.05 * np.arange(16)
Q = np.cos(T)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def series(node, direction, data=Q, x=T, kind=12, **changes):
    """A set 58 with a time response."""
    return {
        "type": 58,
        "func_type": 1,
        "rsp_node": node,
        "rsp_dir": direction,
        "ref_node": 0,
        "ref_dir": 0,
        "abscissa_spacing": 1,
        "abscissa_min": float(x[0]),
        "abscissa_inc": float(x[1] - x[0]),
        "abscissa_spec_data_type": 17,
        "ordinate_spec_data_type": kind,
        "orddenom_spec_data_type": 0,
        "z_axis_spec_data_type": 0,
        "data": np.array(data),
        "x": np.array(x),
    } | changes


def save(*sets):
    # Not "overwrite", which loses the header of a binary set.
    Path("a.uff").unlink(missing_ok=True)
    pyuff.UFF("a.uff").write_sets(list(sets), "add")
    return "a.uff"


@pytest.mark.parametrize("binary", [0, 1])
def test_channels(folder, binary):
    kinds = [(3, 1, 8), (3, -2, 11), (12, 3, 12), (7, 6, 13)]
    sets = [series(n, d, (k + 1) * Q, kind=q, binary=binary) for k, (n, d, q) in enumerate(kinds)]
    record = read(save(*sets))
    assert record.channels == ("3x", "3y", "12z", "7rz")
    # A force has no motion of its own.
    assert record.quantity == ("displacement", "velocity", "acceleration", "displacement")
    assert record.dt == pytest.approx(0.05)
    np.testing.assert_allclose(record.trials[0], np.outer(Q, [1, -2, 3, 4]), rtol=1e-6)


@pytest.mark.parametrize("binary", [0, 1])
def test_uneven_times(folder, binary):
    t = T + 0.01 * np.cos(7 * T)
    record = read(save(series(1, 1, x=t, abscissa_spacing=0, binary=binary)))
    assert record.dt is None
    np.testing.assert_allclose(record.times[0], t, atol=1e-6)


def test_a_later_start(folder):
    assert read(save(series(1, 1, x=3.0 + T))).starts[0] == pytest.approx(3.0)


@pytest.mark.parametrize("kind", [0, 1, 15, 21])
def test_an_unknown_quantity_must_be_said(folder, kind):
    save(series(1, 1), series(2, 1, kind=kind))
    with pytest.raises(ReadError, match=r"^a\.uff: .* motion 2x measures: say quantity") as caught:
        read("a.uff")
    assert ": say --quantity" in caught.value.words.spell(COMMAND_LINE)
    assert read("a.uff", quantity="velocity").quantity == ("velocity", "velocity")
    assert read("a.uff", channels="1x").quantity == ("acceleration",)
    assert describe("a.uff").quantity == ("acceleration", "")


def test_names_that_repeat(folder):
    save(series(0, 1, id1="Mic 1"), series(0, 1, id1="Mic 2"))
    assert read("a.uff").channels == ("Mic 1", "Mic 2")
    save(series(5, 1, id1="same"), series(5, 1, id1="same"))
    with pytest.raises(ReadError, match="the channel '5x' occurs 2 times"):
        read("a.uff")


def test_a_record_beside_a_response(folder):
    hz = np.arange(1.0, 9.0)
    response = series(1, 1, hz + 1j, hz, func_type=4, abscissa_spec_data_type=18)
    save(series(1, 1), response | {"orddenom_spec_data_type": 13})
    assert len(read("a.uff")) == 8
    assert read_record("a.uff").samples == (16,)


BAD = {
    "length": ([series(1, 1), series(2, 1, Q[:9], T[:9])], r"set 2: 9 samples .*a\.uff, set 1 has"),
    "rate": ([series(1, 1), series(2, 1, x=2 * T)], "set 2: 16 samples .*sampled together"),
    "abscissa": ([series(1, 1, abscissa_spec_data_type=18)], "set 1: the abscissa is frequency"),
    "complex": ([series(1, 1, Q * 1j)], "set 1: complex values"),
    "direction": ([series(1, 9)], "set 1: the direction 9 is unknown"),
    "step": ([series(1, 1, abscissa_inc=0.0, x=0 * T)], "set 1: the step of the abscissa is 0.0"),
    "kind": ([series(1, 1, func_type=2)], "no time response .*but auto spectrum"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_sets(folder, case):
    sets, words = BAD[case]
    with pytest.raises(ReadError, match=words):
        read(save(*sets))


def test_no_arrays_to_choose(folder):
    with pytest.raises(ReadError, match="a uff file has no arrays to choose"):
        read_record(save(series(1, 1)), array="x")


def test_info(folder, capsys):
    save(series(1, 1), series(2, 1, kind=0))
    assert main(["info", "a.uff"]) == 0
    out = capsys.readouterr().out
    assert "acceleration, not known" in out
    assert "prism identify a.uff --quantity Q" in out


@pytest.mark.parametrize("name", ["Sample_UFF58_ascii.uff", "Sample_UFF58b_bin.uff"])
def test_a_measured_sound(name):
    path = real_data(f"uff_samples/{name}")
    with pytest.raises(ReadError, match="which motion 0x measures"):
        read(path)
    record = read(path, quantity="displacement")
    assert record.samples == (79292,)
    assert record.dt == pytest.approx(1.52588e-05)
