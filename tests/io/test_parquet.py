from types import SimpleNamespace

import numpy as np
import pytest

from prism.errors import MissingDependencyError, ReadError
from prism.io import describe, read

pa = pytest.importorskip("pyarrow", reason='parquet needs pyarrow: pip install "prism-id[io]"')
pq = pytest.importorskip("pyarrow.parquet", reason="this pyarrow comes without parquet")

T = 0.05 * np.arange(20)
Q1, Q4 = np.cos(T), np.sin(3 * T)


@pytest.fixture
def save(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(columns, metadata=None):
        table = columns if isinstance(columns, pa.Table) else pa.table(columns)
        pq.write_table(table.replace_schema_metadata(metadata), "a.parquet")
        return "a.parquet"

    return write


def test_columns(save):
    record = read(save({"t": T, "q1": Q1, "q4": Q4}))
    assert (record.dt, record.channels) == (0.05, ("q1", "q4"))
    np.testing.assert_array_equal(record.trials[0], np.column_stack([Q1, Q4]))
    assert read("a.parquet", channels="q4").channels == ("q4",)
    assert describe("a.parquet").format == "parquet"


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64(), pa.int16(), pa.uint8()])
def test_types_and_nulls(save, kind):
    numbers = [None, *range(1, 20)]
    record = read(save({"t": T, "q": pa.array(numbers, kind)}))
    assert record.missing == 1
    np.testing.assert_array_equal(record.trials[0][1:, 0], np.arange(1.0, 20.0))


def test_trials(save):
    record = read(save({"trial": [0] * 20 + [1] * 20, "t": np.r_[T, T], "q": np.r_[Q1, Q4]}))
    assert record.n_trials == 2
    np.testing.assert_array_equal(record.trials[1][:, 0], Q4)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_dates_and_durations_are_seconds(save, unit):
    dates = np.datetime64("2020-01-01T00:00:00", unit) + np.arange(20) * np.timedelta64(2, "s")
    record = read(save({"time": dates, "q": Q1}))
    assert (record.dt, record.starts) == (2.0, (0.0,))
    since = (np.arange(20) * np.timedelta64(2, "s")).astype(f"timedelta64[{unit}]")
    assert read(save({"when": since, "q": Q1}), time_column="when").dt == 2.0


def test_metadata(save):
    record = read(save({"q": Q1}, {"fs": "20", "quantity": "velocity", "author": "x"}))
    assert (record.dt, record.quantity) == (0.05, ("velocity",))
    with pytest.raises(ReadError, match="metadata say dt = 'fast', which is not a number"):
        read(save({"q": Q1}, {"dt": "fast"}))


def test_row_labels_of_pandas_are_no_channel(save):
    assert read(save({"q": Q1, "__index_level_0__": range(20)}), dt=1.0).channels == ("q",)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"t": T, "q": ["a"] * 20}, r"^a\.parquet, column 'q': is of type string, not numbers"),
        ({"t": T, "q": Q1 > 0}, "column 'q': is of type bool"),
        ({"q": Q1}, "no sampling step"),
        ({"t": T[:0], "q": Q1[:0]}, "2 columns of 0 rows"),
        ({"trial": [1.0] * 20}, "no column of values"),
        ({"t": np.r_[T[:9], T[8:-1]], "q": Q1}, "sample 9 .*duplicate time"),
        (pa.Table.from_arrays([pa.array(Q1)] * 2, ["q", "q"]), "the name 'q' occurs twice"),
        ({"when": np.arange(20).astype("datetime64[s]"), "q": Q1}, "'when': .*with time_column"),
    ],
)
def test_tables_that_are_refused(save, columns, words):
    with pytest.raises(ReadError, match=words):
        read(save(columns))


def test_missing_and_damaged_files(save, tmp_path):
    with pytest.raises(ReadError, match=r"^a\.parquet: cannot be read \(no such file"):
        read("a.parquet")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(ReadError, match=r"^a\.parquet: is not a parquet file, or it is damaged"):
        read("a.parquet")


def test_without_the_library(save, monkeypatch):
    name = save({"t": T, "q": Q1})

    def absent(asked):
        raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")

    monkeypatch.setattr("prism._optional.importlib", SimpleNamespace(import_module=absent))
    with pytest.raises(MissingDependencyError, match=r'pyarrow: pip install "prism-id\[io\]"'):
        read(name)
