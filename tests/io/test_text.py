"""Text tables from other places: decimal commas, other encodings, times that cannot be."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.places import real_data

from prism.errors import PrismWarning, ReadError
from prism.io import describe, quantity_by_name, read, read_record
from prism.options.spelling import COMMAND_LINE

T = 0.05 * np.arange(12)
Q = np.column_stack([np.cos(T), np.sin(3 * T)])
DEGREE = "t;q in °;p\n"


@pytest.fixture
def save(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text, encoding="utf-8", name="a.csv"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return name

    return write


def table(header="t;q;p\n", delimiter=";", decimal=",", rows=None):
    rows = np.column_stack([T, Q]) if rows is None else rows
    lines = [delimiter.join(repr(float(x)).replace(".", decimal) for x in row) for row in rows]
    return header.replace(";", delimiter) + "\n".join(lines) + "\n"


# ------------------------------------------------------------------ decimal commas


@pytest.mark.parametrize("delimiter", [";", "; ", "\t", " ", "   "])
@pytest.mark.parametrize("header", ["t;q;p\n", "# t;q;p\n", "# made, here\n\nt;q;p\n"])
def test_decimal_commas(save, delimiter, header):
    record = read(save(table(header, delimiter)))
    assert (record.dt, record.channels) == (0.05, ("q", "p"))
    np.testing.assert_array_equal(record.trials[0], Q)


def test_decimal_commas_without_a_header(save):
    record = read(save(table("")), time_column=1)
    np.testing.assert_array_equal(record.trials[0], Q)


def test_decimal_commas_with_missing_cells_comments_and_integers(save):
    text = table().replace("\n0,1;", "\n0,1 ;").splitlines()
    text[4] = "0,15;;NaN"
    text[5] += "  # a remark with 0.5 in it"
    text[6] = "0,25;1;2"
    record = read(save("\n".join(text)))
    assert record.missing == 2
    np.testing.assert_array_equal(record.trials[0][5], [1.0, 2.0])
    np.testing.assert_array_equal(record.trials[0][6:], Q[6:])


def test_one_column_with_commas_stays_two_columns(save):
    assert read(save("1,5\n2,5\n" * 8), dt=1.0, channels=["x1"]).n_channels == 1
    assert describe("a.csv").channels == ("x1", "x2")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            table(rows=None).replace("0,1;", "0.1;", 1),
            "line 2, column 1: '0,0' has a decimal comma",
        ),
        ("1,234;5,678\n" * 9, r"line 2: the comma in '1,234'.* decimals or thousands"),
        ("0,5;1,5\n" * 40 + "0,5;1.5\n", r"line 41, column 2: '1\.5' has a decimal point, but"),
        ("0,5;1,5\n" * 40 + "0,5;1,5,5\n", r"line 41, column 2: '1,5,5' is not a number"),
        ("1.234,5;2,5\n" * 9, r"line 1.* '1\.234,5' is not a number|decimal comma"),
    ],
)
def test_commas_in_doubt(save, text, words):
    with pytest.raises(ReadError, match=words):
        read(save(text), dt=1.0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    values=st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.floats(-1e-3, 1e-3)), min_size=8, max_size=40
    ),
    delimiter=st.sampled_from([";", "\t", " "]),
)
def test_commas_and_points_read_alike(tmp_path, values, delimiter):
    rows = np.array([[0.5, 0.5], [1.25, 0.25], *values])
    for name, decimal in (("a.csv", ","), ("b.csv", ".")):
        (tmp_path / name).write_text(table("u;v\n", delimiter, decimal, rows))
    comma, point = read(tmp_path / "a.csv", dt=1.0), read(tmp_path / "b.csv", dt=1.0)
    np.testing.assert_array_equal(comma.trials[0], point.trials[0])
    assert comma.channels == point.channels == ("u", "v")


# ------------------------------------------------------------------ encodings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
@pytest.mark.parametrize("decimal", [",", "."])
def test_encodings(save, encoding, decimal):
    text = "# gemessen in Köln\n" + table(DEGREE, decimal=decimal)
    record = read(save(text, encoding))
    assert record.channels == ("q in °", "p")
    np.testing.assert_array_equal(record.trials[0], Q)


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_both_orders_of_utf_16(save, mark):
    order = "utf-16-le" if mark == b"\xff\xfe" else "utf-16-be"
    assert read(save(mark + table(DEGREE).encode(order))).channels == ("q in °", "p")
    with pytest.raises(ReadError, match=r"^a\.csv: is not whole text in UTF-16"):
        read(save(mark + table(DEGREE).encode(order)[:-1]))


def test_comments_among_the_data_may_have_other_bytes(save):
    lines = table().splitlines()
    lines[3] += " # 20 °C"
    lines.insert(5, "# grün")
    np.testing.assert_array_equal(read(save("\n".join(lines), "latin-1")).trials[0], Q)


def test_a_bad_byte_among_the_numbers(save):
    lines = table().splitlines()
    lines[7] = "0,3;0,5°;1"
    with pytest.raises(ReadError, match=r"^a\.csv, line 8: the byte 0xb0 is not text in UTF-8"):
        read(save("\n".join(lines), "latin-1"))


def test_bytes_that_are_no_text_at_all(save):
    with pytest.raises(ReadError, match=r"^a\.csv"):
        read(save(bytes(range(256)) * 9), dt=1.0)


# ------------------------------------------------------------------ times that cannot be


def with_time(row, text, extra=""):
    lines = table(decimal=".").splitlines()
    cells = lines[row].split(";")
    lines[row] = ";".join([text, *cells[1:]])
    return "\n".join(["# remark", "", *lines[:3], *([extra] if extra else []), *lines[3:]])


@pytest.mark.parametrize(
    ("time", "words"),
    [
        ("0.2", r"column 't': duplicate time: 0\.2 stands here and in the sample before"),
        ("0.01", r"column 't': times must increase, but 0\.01 follows 0\.2"),
        ("", "column 't': the time is nan"),
        ("inf", "column 't': the time is inf"),
    ],
)
def test_times_are_refused_by_line(save, time, words):
    for reader in (read, read_record, describe):
        with pytest.raises(ReadError, match=rf"^a\.csv, line 9, {words}"):
            reader(save(with_time(6, time)))
        with pytest.raises(ReadError, match=rf"^a\.csv, line 10, {words}"):
            reader(save(with_time(6, time, "# among the data")))


@pytest.mark.parametrize("interleaved", [False, True])
def test_the_line_of_a_trial(save, interleaved):
    rows = [[k, t, q] for k in (0, 1) for t, q in zip(T, Q[:, 0], strict=True)]
    rows[20][1] = rows[19][1]
    line = 22
    if interleaved:
        rows = [row for pair in zip(rows[:12], rows[12:], strict=True) for row in pair]
        line = 2 + 17
    with pytest.raises(ReadError, match=rf"^a\.csv, line {line}, column 't': duplicate"):
        read(save(table("trial;t;q\n", decimal=".", rows=rows)))


# ------------------------------------------------------------------ measured files


def test_a_tide():
    record = read(real_data("honolulu_tide/HNL2010.asc"), time_column=1)
    assert record.samples == (8760,)
    assert describe(real_data("honolulu_tide/HNL2010.asc")).time_hint == 1


def test_two_masses():
    path = real_data("two_masses/real_double_linear_h_1.txt")
    assert describe(path).time_hint == 2
    with pytest.raises(ReadError, match=r"column 2 .*increases evenly, as a time does"):
        read(path)
    found = describe(path, time_column=2)
    assert found.dt is None
    assert found.samples == (495,)
    for name in ("real_linear_h_1.txt", "real_double_pend_h_1.txt"):
        assert describe(real_data(f"two_masses/{name}")).missing == 0


def test_a_named_time_column_is_found_by_its_number_too(tmp_path):
    path = tmp_path / "bench.csv"
    rows = [f"{0.02 * k:.2f};{(k * 7) % 5}".replace(".", ",") for k in range(30)]
    path.write_text("\n".join(["Uhr [s];Weg [mm]", *rows]), encoding="utf-8")
    with pytest.raises(
        ReadError, match=r"column 1 'Uhr \[s\]' .*: time_column=1 reads it so"
    ) as caught:
        read(path)
    assert ": --time-column 1 reads it so" in caught.value.words.spell(COMMAND_LINE)
    record = read(path, time_column=1)
    assert record.channels == ("Weg [mm]",)
    assert record.dt == pytest.approx(0.02)


@pytest.mark.parametrize(
    "name", ["Zeit [s]", "TIME (ms)", "t/s", "time_s", "Elapsed Time (s)", "temps [s]", "Tiempo"]
)
def test_names_of_the_time(save, name):
    record = read(save(table(f"{name};q;p\n")))
    assert (record.dt, record.channels) == (0.05, ("q", "p"))


@pytest.mark.parametrize("name", ["temps", "tempo [°C]", "times", "t1", "timeout", "t_x"])
def test_names_that_are_no_time(save, name):
    assert describe(save(table(f"{name};q;p\n"))).time_column is None


# ------------------------------------------------------------------ lines above the table

LOGGER = "Logger X-200\nSerial: 12345\n\nDate;2024-03-01\nRate;100;Hz\n"


@pytest.mark.parametrize("units", ["", "s;mm;m/s^2\n", "[s];[mm];[-]\n", "s;;%\n"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_lines_of_a_logger_are_left_out_with_a_note(save, units, decimal):
    name = save(table(f"{LOGGER}clock;q;p\n{units}", decimal=decimal))
    with pytest.warns(PrismWarning, match=r"a\.csv: 4 lines above the names of the columns left"):
        record = read(name, time_column="clock")
    assert (record.dt, record.channels) == (0.05, ("q", "p"))
    np.testing.assert_array_equal(record.trials[0], Q)


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_row_of_units_alone(save, decimal):
    record = read(save(table("t;q;p\ns;mm;m/s^2\n", decimal=decimal)))
    np.testing.assert_array_equal(record.trials[0], Q)


def test_a_long_preamble_and_the_line_of_an_error(save):
    text = table("note\n" * 100 + "t;q;p\n", decimal=".").replace("0.1;", "0.1;x", 1)
    with pytest.raises(ReadError, match=r"line 104, column 'q': 'x"), pytest.warns(PrismWarning):
        read(save(text))


def test_a_header_that_names_the_time_stands_below_words_of_the_same_number(save):
    name = save(table("Make;Model;X\nt;q;p\n"))
    with pytest.warns(PrismWarning, match="1 line above"):
        assert read(name).channels == ("q", "p")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t;q\nfoo;bar\n0;1\n1;2\n", "line 2, column 't': 'foo' is not a number"),
        ("t;q\n0;hello\n1;2\n2;3\n", "line 2, column 'q': 'hello' is not a number"),
        ("t;q\n0;1\n1;hello\n2;3\n", "line 3, column 'q': 'hello' is not a number"),
        ("Logger\nX-200\n0;1\n1;2\n", "line 1: the numbers begin in line 3, and what stands"),
    ],
)
def test_what_is_no_preamble_is_refused(save, text, words):
    with pytest.raises(ReadError, match=words):
        read(save(text))


# ------------------------------------------------------------------ what names say


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("acc", "acceleration"),
        ("Accel 1", "acceleration"),
        ("ACC_x", "acceleration"),
        ("x [g]", "acceleration"),
        ("Beschl. (m/s²)", "acceleration"),
        ("vel1", "velocity"),
        ("probe [mm/s]", "velocity"),
        ("account", None),
        ("marvel", None),
        ("mass [kg]", None),
        ("a2", None),
    ],
)
def test_a_name_may_tell_what_is_measured(name, kind):
    assert quantity_by_name(name) == kind


def test_a_long_bridge():
    record = read(real_data("hardanger_bridge/acc_data_hardanger.txt"), quantity="acceleration")
    assert (record.dt, record.samples, record.n_channels) == (0.5, (3720,), 6)


def test_a_frame():
    record = read(real_data("weimar_frame/setup1.npy"), dt=1 / 256)
    assert record.trials[0].shape == (61440, 6)
