"""Records in files of named arrays: npz, mat, hdf5 and zarr read alike."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from tests.places import real_data

from prism.cli import main
from prism.errors import MissingDependencyError, ReadError
from prism.io import describe, read, read_record, read_response
from prism.options.spelling import COMMAND_LINE

h5py = pytest.importorskip("h5py", reason='hdf5 files need h5py: pip install "prism-id[io]"')
zarr = pytest.importorskip("zarr", reason='zarr stores need zarr: pip install "prism-id[io]"')

T = 0.05 * np.arange(20)
Q = np.column_stack([np.cos(T), np.sin(3 * T), T**2])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save_hdf5(arrays, name="a.h5", attributes=None):
    with h5py.File(name, "w") as file:
        for key, array in arrays.items():
            file.create_dataset(key, data=_for_hdf5(array))
        for place, stated in (attributes or {}).items():
            file[place or "/"].attrs.update(stated)
    return name


def _for_hdf5(array):
    words = np.asarray(array).dtype.kind in "UO"
    return np.asarray(array, dtype=h5py.string_dtype()) if words else array


def save_zarr(arrays, name="a.zarr", attributes=None):
    shutil.rmtree(name, ignore_errors=True)
    root = zarr.open_group(name, mode="w")
    for key, array in arrays.items():
        root.create_array(key, data=np.asarray(array))
    for place, stated in (attributes or {}).items():
        (root[place] if place else root).attrs.update(stated)
    return name


def save_npz(arrays, name="a.npz"):
    np.savez(name, **arrays)
    return name


def save_mat(arrays, name="a.mat"):
    savemat(name, arrays)
    return name


def save_mat73(arrays, name="a.mat"):
    """A .mat file as MATLAB writes it in version 7.3: hdf5 behind a header, by columns."""
    with h5py.File(name, "w", userblock_size=512) as file:
        for key, array in arrays.items():
            _matlab(file, key, array)
    with open(name, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116))
    return name


def _matlab(file, key, array):
    if isinstance(array, str):
        codes = np.array([[ord(letter)] for letter in array], dtype=np.uint16)
        file.create_dataset(key, data=codes).attrs["MATLAB_class"] = np.bytes_("char")
    elif isinstance(array, list):
        for k, word in enumerate(array):
            _matlab(file, f"#refs#/{key}{k}", word)
        cells = np.array(
            [[file[f"#refs#/{key}{k}"].ref] for k in range(len(array))], h5py.ref_dtype
        )
        file.create_dataset(key, data=cells).attrs["MATLAB_class"] = np.bytes_("cell")
    else:
        values = np.atleast_2d(np.asarray(array)).T
        if values.dtype.kind == "c":
            pair = np.empty(values.shape, [("real", "f8"), ("imag", "f8")])
            pair["real"], pair["imag"] = values.real, values.imag
            values = pair
        file.create_dataset(key, data=values).attrs["MATLAB_class"] = np.bytes_("double")


SAVERS = {
    "npz": save_npz,
    "mat": save_mat,
    "mat73": save_mat73,
    "hdf5": save_hdf5,
    "zarr": save_zarr,
}


@pytest.fixture(params=SAVERS)
def save(folder, request):
    return SAVERS[request.param]


@pytest.mark.parametrize("key", ["values", "data", "x", "y", "anything"])
def test_names_of_the_values(save, key):
    record = read(save({key: Q, "dt": 0.05}))
    assert (record.dt, record.channels) == (0.05, ("x1", "x2", "x3"))
    np.testing.assert_array_equal(record.trials[0], Q)


@pytest.mark.parametrize("clock", [{"t": T}, {"time": T}, {"fs": 20.0}, {"dt": 0.05, "fs": 20.0}])
def test_times_steps_and_rates(save, clock):
    record = read(save({"values": Q} | clock))
    assert record.dt == pytest.approx(0.05, rel=1e-12)
    np.testing.assert_allclose(record.times[0], T, atol=1e-15)


def test_the_only_table_beside_other_arrays(save):
    name = save({"rec": Q, "wn": np.arange(1.0, 7.0), "mass": 3.5, "dt": 0.05})
    np.testing.assert_array_equal(read(name).trials[0], Q)
    assert describe(name).arrays[0] == "rec 20x3"
    assert "wn 6" in describe(name).arrays


def test_a_series_as_long_as_the_table_is_a_rival(save):
    name = save({"rec": Q, "force": Q[:, 0], "dt": 0.05})
    with pytest.raises(ReadError, match=r"several arrays .*rec 20x3, force 20|force 20, rec 20x3"):
        read(name)
    assert read(name, array="rec").n_channels == 3


def test_the_times_tell_which_array_and_which_way_round(save):
    name = save({"rz": Q.T, "phi": np.ones((6, 80)), "y": np.arange(80.0), "t": T})
    record = read(name)
    np.testing.assert_array_equal(record.trials[0], Q)


def test_arrays_that_are_asked_for(save):
    name = save({"a": Q[:, 0], "b": Q[:, 1], "c": Q, "clock": T**2 + T})
    one = read(name, array="c", time_column="clock", channels=["u", "v", "w"])
    assert (one.dt, one.channels) == (None, ("u", "v", "w"))
    two = read_record(name, array=["b", "a"], time_column="clock", quantity="velocity")
    assert two.channels == ("b", "a")
    np.testing.assert_array_equal(two.trials[0], Q[:, [1, 0]])
    with pytest.raises(ReadError, match=r"several arrays could .*Choose with array, or") as caught:
        read(name, dt=0.05)
    assert "Choose with --array, or" in caught.value.words.spell(COMMAND_LINE)
    with pytest.raises(ReadError, match=r"no array 'z'.*There are: .*c 20x3"):
        read(name, dt=0.05, array="z")
    with pytest.raises(ReadError, match="not series of one length"):
        read(name, dt=0.05, array=["a", "c"])


def test_trials(save):
    values = np.random.default_rng(0).normal(size=(3, 20, 2))
    record = read(save({"values": values, "dt": 0.1}))
    assert record.n_trials == 3
    np.testing.assert_array_equal(record.trials[2], values[2])


def test_contradictions(save):
    with pytest.raises(ReadError, match=r"dt = 0\.05 and fs = 30\.0 contradict"):
        read(save({"values": Q, "dt": 0.05, "fs": 30.0}))
    with pytest.raises(ReadError, match=r"dt = 0\.1 contradicts the time column 't'"):
        read(save({"values": Q, "t": T}), dt=0.1)
    with pytest.raises(ReadError, match=r"sample 5 .*duplicate time"):
        read(save({"values": Q, "t": np.r_[T[:5], T[4:-1]]}))
    with pytest.raises(ReadError, match="for a record; unit, frequency and response"):
        read(save({"values": Q, "t": T}), array="values", unit="hz")


@pytest.mark.parametrize("names", [["a", "b", "c"], np.array(["a", "b", "c"], dtype=object)])
@pytest.mark.parametrize("save_as", [save_mat, save_mat73, save_hdf5])
def test_channels_and_quantity(folder, names, save_as):
    words = list(names) if save_as is save_mat73 else names
    name = save_as({"values": Q, "dt": 0.05, "channels": words, "quantity": "velocity"})
    record = read(name)
    assert record.channels == ("a", "b", "c")
    assert record.quantity == ("velocity",) * 3


@pytest.mark.parametrize("save_as", [save_hdf5, save_zarr])
def test_attributes_nearest_first(folder, save_as):
    arrays = {"run1/values": Q, "run2/values": 2 * Q, "run2/t": 2 * T, "note": np.arange(3)}
    stated = {
        "": {"fs": 10.0, "quantity": "acceleration"},
        "run1": {"fs": 20.0},
        "run1/values": {"channels": ["a", "b", "c"]},
    }
    name = save_as(arrays, attributes=stated)
    with pytest.raises(ReadError, match=r"several arrays.*run1/values 20x3, run2/values 20x3"):
        read(name)
    one = read(name, array="run1/values")
    assert (one.dt, one.channels, one.quantity[0]) == (0.05, ("a", "b", "c"), "acceleration")
    two = read(name, array="run2/values")
    assert two.dt == pytest.approx(0.1)
    assert two.channels == ("x1", "x2", "x3")


def test_a_zarr_store_that_is_one_array(folder):
    zarr.create_array("a.zarr", data=Q).attrs["dt"] = 0.05
    assert read("a.zarr").dt == 0.05
    assert read(folder / "a.zarr").n_channels == 3


def test_responses_in_matlab_73(folder):
    omega = np.linspace(1.0, 2.0, 9)
    save_mat73({"omega": omega, "H": omega + 2j})
    np.testing.assert_array_equal(read("a.mat").values[:, 0, 0], omega + 2j)


def test_only_what_is_used_is_read(folder):
    save_hdf5({"values": Q, "dt": 0.05, "text": np.array(["a", "b"])})
    with h5py.File("a.h5", "a") as file:
        file.create_dataset("huge", shape=(10**9, 4), dtype="f8", chunks=True)
        file.create_group("empty")
        file.create_dataset("nothing", data=h5py.Empty("f8"))
    assert read("a.h5", array="values").n_channels == 3


@pytest.mark.parametrize("name", ["a.h5", "a.hdf5", "a.zarr", "a.mat"])
def test_missing_and_damaged_files(folder, name):
    with pytest.raises(ReadError, match=rf"^{name}: cannot be read \(no such file"):
        read(name, dt=1.0)
    (folder / name).write_bytes(b"neither this nor that")
    with pytest.raises(ReadError, match=rf"^{name}: is not a.* damaged"):
        read(name, dt=1.0)


def test_a_cut_hdf5_file(folder):
    whole = Path(save_hdf5({"values": Q, "dt": 0.05})).read_bytes()
    for size in (100, len(whole) // 2, len(whole) - 9):
        Path("a.h5").write_bytes(whole[:size])
        with pytest.raises(ReadError, match=r"^a\.h5: "):
            read("a.h5")


def test_an_empty_folder_is_no_store(folder):
    (folder / "a.zarr").mkdir()
    with pytest.raises(ReadError, match=r"^a\.zarr: "):
        read("a.zarr", dt=1.0)


def test_formats_without_arrays(folder):
    np.save("a.npy", Q)
    with pytest.raises(ReadError, match=r"^a\.npy: a npy file has no arrays to choose"):
        read("a.npy", dt=1.0, array="values")


@pytest.mark.parametrize(
    ("save_as", "module"), [(save_hdf5, "h5py"), (save_mat73, "h5py"), (save_zarr, "zarr")]
)
def test_without_the_library(folder, monkeypatch, capsys, save_as, module):
    name = save_as({"values": Q, "dt": 0.05})
    monkeypatch.setitem(sys.modules, module, None)
    words = rf'needs {module}: pip install "prism-id\[io\]"'
    with pytest.raises(MissingDependencyError, match=words):
        read(name)
    assert main(["info", name]) == 2
    assert "prism-id[io]" in capsys.readouterr().err


def test_identify_takes_a_store(folder, capsys):
    t = 0.1 * np.arange(400)
    save_zarr({"values": np.cos(t) + 0.01 * np.sin(37 * t**2), "t": t})
    assert main(["identify", "a.zarr", "--quiet"]) == 0
    assert main(["info", "a.zarr"]) == 0
    assert "To read it:  prism identify a.zarr\n" in capsys.readouterr().out


# ------------------------------------------------------------------ measured files


def test_a_bridge():
    record = read(real_data("bridge_sim/BridgeData.mat"))
    assert record.trials[0].shape == (54000, 5)
    assert record.dt == pytest.approx(1 / 15)


def test_the_time_channels_of_a_hammer_test():
    path = real_data("beam_frf/case1.mat")
    names = ["Time_chan_1", "Time_chan_2"]
    record = read(path, array=names, time_column="Time_domain")
    assert record.channels == tuple(names)
    assert record.samples == (4096,)
    with pytest.raises(ReadError, match="no array is named as a frequency"):
        read_response(path)


def test_memory_kernels():
    path = real_data("surface_kernels/Pt_111__EMT_T_300_a_4_b_4_c_4.npz")
    record = read(path, array=["Kt_x", "Kt_z"], time_column="t_arr")
    assert record.dt == pytest.approx(0.005)
