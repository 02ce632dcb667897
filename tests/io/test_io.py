import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from prism.errors import InputError, ReadError, WriteError
from prism.io import describe, read, write, write_csv, write_npz
from prism.io._registry import FORMATS
from prism.record import Record

ROWS = 12
T = 0.05 * np.arange(ROWS)
Q1, Q4 = np.cos(T), np.sin(3 * T)


def table(delimiter=",", header="t,q1,q4", rows=None, decimal="."):
    rows = rows or [[repr(float(x)) for x in row] for row in zip(T, Q1, Q4, strict=True)]
    body = [delimiter.join(row) for row in rows]
    head = [header.replace(",", delimiter)] if header else []
    return "\n".join([*head, *(line.replace(".", decimal) for line in body)]) + "\n"


def edited(line, cell, text):
    """The table with one cell of one data line (counted from 1, below the header) replaced."""
    lines = table().splitlines()
    cells = lines[line].split(",")
    cells[cell] = text
    lines[line] = ",".join(cells)
    return "\n".join(lines) + "\n"


@pytest.fixture
def save(tmp_path, monkeypatch):
    """Write a text file into an empty working directory and return its short name."""
    monkeypatch.chdir(tmp_path)

    def write_text(text, name="bench.csv"):
        if isinstance(text, bytes):
            (tmp_path / name).write_bytes(text)
        else:
            (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return write_text


def assert_same(a, b):
    assert a.channels == b.channels
    assert a.quantity == b.quantity
    assert a.dt == b.dt
    assert a.samples == b.samples
    for k in range(a.n_trials):
        np.testing.assert_array_equal(a.trials[k], b.trials[k])
        np.testing.assert_array_equal(a.times[k], b.times[k])


# ------------------------------------------------------------------ csv that can be read


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " ", "   ", ", "])
def test_delimiters(save, delimiter):
    record = read(save(table(delimiter)))
    assert record.channels == ("q1", "q4")
    assert record.dt == 0.05
    np.testing.assert_array_equal(record.trials[0], np.column_stack([Q1, Q4]))


@pytest.mark.parametrize("suffix", [".csv", ".CSV", ".tsv", ".txt", ".dat"])
def test_suffixes_and_path_objects(save, tmp_path, suffix):
    save(table(), "bench" + suffix)
    assert read(tmp_path / ("bench" + suffix)).channels == ("q1", "q4")


@pytest.mark.parametrize("name", ["t", "T", "time", "Time", "TIME", "time (s)", "t [ms]"])
def test_time_names(save, name):
    record = read(save(table(header=f"{name},q1,q4")))
    assert record.channels == ("q1", "q4")
    assert record.dt == 0.05


def test_time_need_not_be_first_and_can_be_named(save):
    rows = [[repr(float(x)) for x in row] for row in zip(Q1, T, Q4, strict=True)]
    record = read(save(table(header="q1,clock,q4", rows=rows)), time_column="clock")
    assert record.channels == ("q1", "q4")
    np.testing.assert_array_equal(record.times[0], T)


def test_without_header(save):
    name = save(table(header=None))
    assert read(name, dt=1.0).channels == ("x1", "x2", "x3")
    assert read(name, dt=1.0, channels=["a", "b", "c"]).channels == ("a", "b", "c")
    assert read(name, dt=1.0, channels="x3").channels == ("x3",)
    by_number = read(name, time_column="1", channels=["a", "b"])
    assert by_number.dt == 0.05
    np.testing.assert_array_equal(by_number.trials[0], np.column_stack([Q1, Q4]))
    assert_same(read(name, time_column=1), read(name, time_column="1"))


def test_channels_select_from_a_header_in_the_order_asked(save):
    record = read(save(table()), channels=["q4", "q1"], quantity=["velocity", "displacement"])
    assert record.channels == ("q4", "q1")
    assert record.quantity == ("velocity", "displacement")
    np.testing.assert_array_equal(record.trials[0], np.column_stack([Q4, Q1]))


def test_an_unselected_bad_channel_does_no_harm(save):
    rows = [[repr(float(t)), repr(float(q)), "7"] for t, q in zip(T, Q1, strict=True)]
    name = save(table(rows=rows))
    with pytest.raises(ReadError, match="'q4' is constant"):
        read(name)
    assert read(name, channels="q1").channels == ("q1",)


def test_comments_blank_lines_byte_order_mark_and_carriage_returns(save):
    text = "# made by a logger, 3 columns\n\n" + table().replace("\n", "\n# note\n\n", 3)
    assert_same(read(save(text)), read(save(table(), "plain.csv")))
    assert_same(read(save(b"\xef\xbb\xbf" + table().encode())), read("plain.csv"))
    assert_same(read(save(table().replace("\n", "\r\n").encode())), read("plain.csv"))


def test_a_header_in_a_comment_right_above_the_data(save):
    assert read(save("# " + table())).channels == ("q1", "q4")
    assert read(save("% " + table())).channels == ("q1", "q4")
    assert read(save("% x v\n" + table(" ", header=None)), dt=1.0).n_channels == 3
    assert read(save("# three words here\n" + table(" ", header=None)), dt=1.0).n_channels == 3


@pytest.mark.parametrize("missing", ["", " ", "NaN", "nan", "NAN"])
def test_missing_cells(save, missing):
    record = read(save(edited(4, 1, missing)))
    assert record.missing == 1
    assert np.isnan(record.trials[0][3, 0])
    np.testing.assert_array_equal(record.trials[0][:, 1], Q4)


def test_a_delimiter_at_the_end_of_each_line(save):
    assert read(save(table().replace("\n", ",\n"))).channels == ("q1", "q4")
    assert read(save(table(header=None).replace("\n", ",\n")), time_column=1).n_channels == 2


def test_quoted_names_and_numbers(save):
    text = table(header='t,"q,1","q ""4"""').replace(repr(float(Q1[5])), f'"{float(Q1[5])!r}"')
    record = read(save(text))
    assert record.channels == ("q,1", 'q "4"')
    np.testing.assert_array_equal(record.trials[0][:, 0], Q1)


def test_numbers_may_be_names_beside_a_time(save):
    assert read(save(table(header="t,1,4"))).channels == ("1", "4")


@pytest.mark.parametrize("order", ["contiguous", "interleaved"])
def test_trial_column(save, order):
    rows = [(k, t, q) for k, q in ((7, Q1), (3, Q4)) for t, q in zip(T, q, strict=True)]
    if order == "interleaved":
        rows = [row for pair in zip(rows[:ROWS], rows[ROWS:], strict=True) for row in pair]
    text = table(header="Trial,t,q", rows=[[repr(float(x)) for x in row] for row in rows])
    record = read(save(text))
    assert record.n_trials == 2
    assert record.times[0] is record.times[1]
    np.testing.assert_array_equal(record.trials[0][:, 0], Q1)
    np.testing.assert_array_equal(record.trials[1][:, 0], Q4)


def test_several_files_are_trials(save):
    save(table(), "a.csv")
    save("\n".join(table().splitlines()[:10]), "b.csv")
    assert read(["a.csv", "b.csv"]).samples == (ROWS, 9)


def test_dt_that_agrees_with_a_rounded_time_column_wins(save):
    step = 1.0 / 30.0
    rows = [[f"{2 + k * step:.3f}", repr(float(q)), "0"] for k, q in enumerate(Q1)]
    name = save(table(rows=rows))
    assert read(name, channels="q1").dt is None
    record = read(name, dt=step, channels="q1")
    assert record.dt == pytest.approx(step, rel=1e-12)
    assert record.times[0][0] == 2.0


# ------------------------------------------------------------------ csv that cannot be read

HEADER_PLUS = table().splitlines()

BAD_CSV = {
    "text cell": (
        edited(6, 2, "oops"),
        {},
        r"^bench\.csv, line 7, column 'q4': 'oops' is not a number",
    ),
    "text cell, no header": (
        edited(6, 2, "oops").split("\n", 1)[1],
        {"dt": 1.0},
        r"^bench\.csv, line 6, column 3: 'oops'",
    ),
    "text in first data line": (
        "0.1,oops,0.3\n" + table(header=None),
        {"dt": 1.0},
        r"line 1, column 2: 'oops' is not a number",
    ),
    "underscore": (edited(6, 2, "1_000"), {}, "line 7, column 'q4': '1_000'"),
    "short row": ("\n".join([*HEADER_PLUS[:5], "1.0,2.0"]), {}, "line 6: 2 cells where 3"),
    "long row": ("\n".join([*HEADER_PLUS[:5], "1,2,3,4"]), {}, "line 6: 4 cells where 3"),
    "header of other width": (table(header="t,q1"), {}, "line 2: 3 cells where 2"),
    "wrong delimiter": (table("|"), {}, "line 2: .*delimiter must be a comma"),
    "wrong delimiter, no header": (
        table("|", header=None),
        {},
        "line 2: .*delimiter must be a comma",
    ),
    "wrong delimiter, one line": (
        table("|", header=None).split("\n")[0],
        {},
        "line 1: .*delimiter",
    ),
    "empty": ("", {}, "empty"),
    "only comments": ("# nothing\n\n#here\n", {}, "empty"),
    "header only": ("t,q1,q4\n", {}, "line 1: only a header"),
    "late decimal comma": (
        table(";").rstrip() + "\n" + "3;4;5\n" * 30 + "4;0,5;1\n",
        {},
        r"line 44, column 'q1': '0,5' has a decimal comma",
    ),
    "unnamed column": (table(header=",q1,q4"), {"dt": 1.0}, "line 1: column 1 has no name"),
    "unnamed last column": (table(header="t,q1,"), {}, "column 3 has no name"),
    "name twice": (table(header="t,q1,q1"), {}, "line 1: the name 'q1' occurs twice"),
    "no step": (
        table(header="a,b,c"),
        {},
        "no sampling step: give dt or a time column; column 1 'a' .*: time_column=1",
    ),
    "two times": (table(header="t,time,q"), {}, "'t' and 'time' both look like the time"),
    "no such time": (table(), {"time_column": "z"}, "no time column 'z'.*t, q1, q4"),
    "no such number": (table(header=None), {"time_column": "9"}, "'9'.*1 to 3"),
    "dt contradicts": (table(), {"dt": 0.06}, r"dt = 0\.06 contradicts the time column 't'.*0\.05"),
    "bad dt": (table(header="a,b,c"), {"dt": -1.0}, r"^bench\.csv: dt is -1\.0"),
    "no such channel": (table(), {"channels": ["q1", "q9"]}, "no channel 'q9'.*q1, q4"),
    "number of names": (
        table(header=None),
        {"dt": 1.0, "channels": ["a"]},
        "1 channel names for 3",
    ),
    "unknown quantity": (table(), {"quantity": "force"}, r"^bench\.csv: unknown quantity 'force'"),
    "infinite": (edited(6, 2, "inf"), {}, r"^bench\.csv: trial 0, sample 5 .*'q4' is inf"),
    "backward time": (
        edited(6, 0, "0.01"),
        {},
        r"^bench\.csv, line 7, column 't': times must increase",
    ),
    "missing time": (edited(6, 0, ""), {}, r"^bench\.csv, line 7, column 't': .*finite"),
    "duplicate time": (edited(6, 0, "0.2"), {}, r"line 7, column 't': duplicate time: 0\.2 "),
    "too short": ("\n".join(HEADER_PLUS[:4]), {}, "at least 8 samples"),
    "missing trial": (
        edited(6, 1, "").replace("q1", "trial"),
        {},
        "column 'trial': row 6 .*no trial",
    ),
    "only a trial": ("trial\n" + "1\n" * 9, {"dt": 1.0}, "no column of values"),
    "blank line in one column": ("1\n2\n\n4\n" * 3, {"dt": 1.0}, "line 3: a blank line"),
    "complex numbers": ("(1+2j)\n(3-4j)\n" * 9, {"dt": 1.0}, r"line 2, column .*'\(3-4j\)' is not"),
    "binary": (b"\x00\x01\x02" * 9, {}, "not text"),
    "other encoding": ("t,q\n1,2\n3,4°\n".encode("latin-1"), {}, r"line 3: the byte 0xb0 .*UTF-8"),
}


@pytest.mark.parametrize("case", BAD_CSV)
def test_bad_csv_is_refused_by_place_and_remedy(save, case):
    text, options, words = BAD_CSV[case]
    with pytest.raises(ReadError, match=words) as caught:
        read(save(text), **options)
    assert str(caught.value).startswith("bench.csv")
    assert isinstance(caught.value, InputError)


def test_missing_file_directory_and_unknown_suffix(save, tmp_path):
    save("x", "a.xyz")
    with pytest.raises(ReadError, match=r"^none\.csv: cannot be read \(no such file"):
        read("none.csv")
    with pytest.raises(ReadError, match=r"^none\.npy: cannot be read \(no such file"):
        read("none.npy")
    with pytest.raises(ReadError, match=r"a\.xyz: unknown format '\.xyz'.*\.csv.*\.npy.*\.npz"):
        read("a.xyz")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ReadError, match=r"folder\.csv: cannot be read"):
        read("folder.csv")
    with pytest.raises(ReadError, match="no file is given"):
        read([])


def test_files_of_one_ensemble_must_agree(save):
    save(table(), "a.csv")
    save(table(header="t,q1,q5"), "b.csv")
    with pytest.raises(ReadError, match=r"^b\.csv: the columns are q1, q5, but a\.csv has q1, q4"):
        read(["a.csv", "b.csv"])


# ------------------------------------------------------------------ npy and npz


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("shape", [(20,), (20, 2), (3, 20, 2)])
def test_npy(folder, shape):
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    np.save("a.npy", values)
    assert_same(read("a.npy", dt=0.1), Record(values, dt=0.1))


def test_npy_with_a_time_column(folder):
    np.save("a.npy", np.column_stack([T, Q1, Q4]))
    record = read("a.npy", time_column=1, channels=["q1", "q4"])
    assert record.channels == ("q1", "q4")
    assert record.dt == 0.05


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        (np.array([None, 1.0]), {"dt": 1.0}, "Python objects"),
        (np.empty((0, 2)), {"dt": 1.0}, r"empty, of shape \(0, 2\)"),
        (np.ones((2, 2, 2, 2)), {"dt": 1.0}, r"shape \(2, 2, 2, 2\)"),
        (np.array(3.0), {"dt": 1.0}, r"shape \(\)"),
        (np.arange(20.0), {}, "no sampling step"),
        (np.array(["a"] * 20), {"dt": 1.0}, "not numbers"),
        (np.arange(20) * 1j, {"dt": 1.0}, "complex"),
        (np.random.default_rng(0).normal(size=(2, 20)), {"dt": 1.0}, "transposed"),
    ],
)
def test_bad_npy(folder, values, options, words):
    np.save("a.npy", values, allow_pickle=True)
    with pytest.raises(ReadError, match=words) as caught:
        read("a.npy", **options)
    assert str(caught.value).startswith("a.npy: ")


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
@pytest.mark.parametrize(
    "content", [b"", b"not an array", b"\x93NUMPY\x01\x00", b"PK\x03\x04broken"]
)
def test_damaged_arrays(folder, name, content):
    (folder / name).write_bytes(content)
    with pytest.raises(ReadError, match=rf"^{name}: .*(is not|damaged)"):
        read(name, dt=1.0)


def test_an_array_under_the_wrong_suffix(folder):
    np.save("a.npy", Q1)
    os.rename("a.npy", "a.npz")
    with pytest.raises(ReadError, match=r"rename it to \.npy"):
        read("a.npz", dt=1.0)


@pytest.mark.parametrize("key", ["values", "x", "y", "data", "anything"])
def test_npz_keys(folder, key):
    np.savez("a.npz", **{key: np.column_stack([Q1, Q4])}, dt=0.05, channels=["q1", "q4"])
    record = read("a.npz")
    assert record.channels == ("q1", "q4")
    assert record.dt == 0.05
    assert read("a.npz", channels="q4").channels == ("q4",)


def test_npz_times(folder):
    np.savez("a.npz", y=Q1, time=T)
    assert read("a.npz").dt == 0.05
    np.savez("a.npz", y=Q1, clock=T**2)
    assert read("a.npz", time_column="clock").dt is None
    np.savez("a.npz", y=np.stack([Q1, Q4])[:, :, None], t=np.stack([T, 1 + T]))
    assert read("a.npz").times[1][0] == 1.0


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (
            {"x": Q1, "y": Q4, "dt": 1.0},
            {},
            r"several arrays.*: x 12, y 12\. Choose with array, .*'values'",
        ),
        ({"a": Q1, "b": Q4, "dt": 1.0}, {}, r"several arrays.*a 12, b 12"),
        ({"dt": 1.0, "t": T}, {}, r"no array holds values.*dt scalar, t 12"),
        ({"values": Q1, "dt": 1.0}, {"array": "q"}, r"no array 'q'.*values 12, dt scalar"),
        ({"a": Q1, "b": Q4[1:], "dt": 1.0}, {"array": ["a", "b"]}, "not series of one length"),
        ({"values": Q1, "dt": 0.5, "fs": 3.0}, {}, r"dt = 0\.5 and fs = 3\.0 contradict"),
        ({"values": Q1, "fs": 0.0}, {}, r"'fs' is 0\.0: save one positive sampling rate"),
        ({"values": Q1}, {}, "no sampling step"),
        ({"values": Q1, "dt": -1.0}, {}, r"'dt' is -1\.0"),
        ({"values": Q1, "dt": [1.0, 2.0]}, {}, r"'dt' is \[1\.0, 2\.0\]"),
        ({"values": Q1, "dt": 0.05}, {"dt": 0.1}, r"dt = 0\.05 but dt = 0\.1"),
        ({"values": Q1, "t": T}, {"dt": 0.1}, r"dt = 0\.1 contradicts the time column 't'"),
        ({"values": Q1, "t": T, "time": T}, {}, "both 't' and 'time'"),
        ({"values": Q1, "t": T[:5]}, {}, "5 times for 12 samples"),
        ({"values": Q1, "t": ["a"] * ROWS}, {}, "'t' is not an array of times"),
        ({"values": Q1, "dt": 1.0, "lengths": [4, 4]}, {}, "'lengths' do not add up"),
        ({"values": Q1, "dt": 1.0, "channels": ["a", "b"]}, {}, "2 channel names for 1"),
        ({"values": np.array([None] * 9), "dt": 1.0}, {}, "Python objects"),
    ],
)
def test_bad_npz(folder, content, options, words):
    np.savez("a.npz", **content)
    with pytest.raises(ReadError, match=words) as caught:
        read("a.npz", **options)
    assert str(caught.value).startswith("a.npz: ")


# ------------------------------------------------------------------ writing


def some_records():
    rng = np.random.default_rng(5)
    values = rng.standard_normal((3, 30, 2))
    holes = values.copy()
    holes[1, 4, 0] = np.nan
    names = ["q,1", 'the "second" # one']
    irregular = np.sort(rng.uniform(size=30))
    yield "uniform", Record(values[0], dt=0.05, channels=["q1", "q4"])
    yield "third", Record(values[0], dt=1.0 / 3.0)
    yield "tail", Record(values[0], dt=0.05).tail(0.37)
    yield "one channel", Record(values[0, :, 0], dt=0.05)
    yield "ensemble", Record(values, dt=0.1, quantity=["velocity", "acceleration"])
    yield "missing", Record(holes, dt=0.1, channels=names)
    yield "ragged", Record([values[0], values[1, :20]], dt=0.1)
    yield "irregular", Record(values, t=irregular)
    yield "own times", Record(values[:2], t=[irregular, 2 + irregular**2])
    yield "later trial", Record(values[:2], t=[0.1 * np.arange(30), 7 + 0.1 * np.arange(30)])


@pytest.mark.parametrize("name", ["a.csv", "a.npz", "a.txt"])
@pytest.mark.parametrize("record", [pytest.param(r, id=name) for name, r in some_records()])
def test_round_trip_is_exact(folder, record, name):
    write(record, name)
    assert_same(read(name), record)
    assert os.listdir(folder) == [name]


finite = st.floats(allow_nan=False, allow_infinity=False)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8).filter(
    # what the csv writer refuses has a test of its own
    lambda s: s.isprintable() and s.strip() and s.strip()[0].lower() != "t"
)


@st.composite
def records(draw):
    count = draw(st.integers(1, 3))
    channels = draw(st.lists(names, min_size=count, max_size=count, unique_by=str.strip))
    shape = (draw(st.integers(1, 3)), draw(st.integers(8, 20)), count)
    values = draw(arrays.arrays(np.float64, shape, elements=finite | st.just(np.nan)))
    values[0, :2] = [[0.0], [1.0]]  # no channel is constant or wholly missing
    dt = draw(st.floats(1e-9, 1e9))
    return Record(values, dt=dt, channels=channels)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(record=records(), suffix=st.sampled_from([".csv", ".npz"]))
def test_any_record_survives_a_round_trip(tmp_path, record, suffix):
    path = tmp_path / f"a{suffix}"
    write(record, path)
    assert_same(read(path), record)


def test_writers_by_name(folder):
    record = Record(Q1, dt=0.05)
    write_csv(record, "a.log")
    write_npz(record, folder / "b.bin")
    assert (folder / "a.log").read_text().startswith("t,x1\n0.0,1.0\n0.05,")
    assert (folder / "b.bin").read_bytes().startswith(b"PK")


@pytest.mark.parametrize("name", ["a.csv", "a.npz"])
def test_same_record_same_bytes(folder, name):
    record = Record(Q1, dt=0.05)
    write(record, name)
    first = (folder / name).read_bytes()
    write(record, name)
    assert (folder / name).read_bytes() == first


def test_refused_writing(folder):
    record = Record(Q1, dt=0.05)
    with pytest.raises(WriteError, match=r"a\.npy: cannot write format '\.npy'.*\.csv.*\.npz"):
        write(record, "a.npy")
    with pytest.raises(WriteError, match=r"none.a\.csv: cannot be written \(no such file"):
        write(record, folder / "none" / "a.csv")
    with pytest.raises(WriteError, match="'Time' would be read back"):
        write(Record(Q1, dt=0.05, channels=["Time"]), "a.csv")
    assert os.listdir(folder) == []


def test_a_failed_write_leaves_the_old_file(folder, monkeypatch):
    record = Record(np.column_stack([Q1, Q4]), dt=0.05)
    write(record, "a.csv")
    before = (folder / "a.csv").read_bytes()

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("prism.io._atomic.os.replace", fails)
    with pytest.raises(WriteError, match=r"a\.csv: .*no space left"):
        write(record.head(0.8), "a.csv")
    assert (folder / "a.csv").read_bytes() == before
    assert os.listdir(folder) == ["a.csv"]


# ------------------------------------------------------------------ describe and the registry


def test_describe(save):
    found = describe(save(edited(4, 1, "")))
    assert (found.format, found.samples, found.trials) == ("csv", (ROWS,), 1)
    assert (found.channels, found.time_column, found.missing) == (("q1", "q4"), "t", 1)
    assert found.dt == 0.05


def test_describe_needs_no_step(save):
    np.save("a.npy", np.ones((2, 9, 3)))
    found = describe("a.npy")
    assert (found.format, found.samples, found.dt, found.time_column) == ("npy", (9, 9), None, None)
    with pytest.raises(ReadError, match="times must increase"):
        describe(save(edited(6, 0, "0.01")))


def test_every_suffix_has_one_format():
    suffixes = [suffix for entry in FORMATS for suffix in entry.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in suffixes)
