import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import prism
from prism.errors import OptionError, PrismWarning, ReadError
from prism.frequency_response import FrequencyResponse
from prism.io import holds_response, read, read_response
from prism.options.spelling import COMMAND_LINE
from prism.record import Record

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


# ------------------------------------------------------------------ csv that can be read


def test_csv(save):
    frf = read(save(text(OMEGA, *columns(["a_a", "b_a"]))))
    assert isinstance(frf, FrequencyResponse)
    assert (frf.outputs, frf.inputs, frf.quantity) == (("a", "b"), ("a",), "displacement")
    np.testing.assert_array_equal(frf.omega, W)
    np.testing.assert_array_equal(frf.values[:, 1, 0], np.cos(2 * W) + 1j * np.sin(W))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
@pytest.mark.parametrize("suffix", [".csv", ".txt", ".dat", ".TSV"])
def test_delimiters_and_suffixes(save, delimiter, suffix):
    name = save(text(OMEGA, *columns(["a_a", "a_b"]), delimiter=delimiter), "frf" + suffix)
    assert read(name).inputs == ("a", "b")


def test_hz_is_converted(save):
    frf = read(save(text(("hz", W / (2 * np.pi)), *columns(["a_a"]))))
    np.testing.assert_allclose(frf.omega, W, rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("f [Hz]", 2 * np.pi),
        ("Frequency (Hz)", 2 * np.pi),
        ("freq_hz", 2 * np.pi),
        ("frequency [ rad/s ]", 1.0),
        ("freq (rad)", 1.0),
        ("Omega", 1.0),
        ("omega [rad/ms]", 1.0),
        ("HZ", 2 * np.pi),
    ],
)
def test_units_that_names_state(save, name, factor):
    file = save(text((name, W), *columns(["a_a"])))
    assert holds_response(file)
    np.testing.assert_allclose(read(file).omega, factor * W, rtol=1e-15)


@pytest.mark.parametrize("name", ["f", "freq", "Frequency", "f [kHz]", "omega [Hz]", "freq (1/s)"])
def test_a_unit_that_is_not_stated_is_asked_for(save, name):
    file = save(text((name, W), *columns(["a_a"])))
    words = r'^frf\.csv: .* in Hz or in rad per time unit\? Say unit="hz" or unit="rad"\.$'
    with pytest.raises(ReadError, match=words) as caught:
        read(file)
    assert "Say --unit hz or --unit rad." in caught.value.words.spell(COMMAND_LINE)
    assert read(file, unit="rad").omega[0] == W[0]
    assert read(file, unit="HZ").omega[0] == 2 * np.pi * W[0]


def test_any_column_can_be_chosen_as_frequency(save):
    file = save(text(("line", W), *columns(["a_a"])))
    assert holds_response(file)
    with pytest.raises(ReadError, match="no column is named as a frequency"):
        read(file)
    assert read(file, frequency="line", unit="hz").omega[0] == 2 * np.pi * W[0]
    with pytest.raises(ReadError, match=r"there is no column 'x': the columns are line, H_a_a_re"):
        read(file, frequency="x", unit="hz")


def test_both_frequency_columns_must_agree(save):
    both = [("hz", np.round(W / (2 * np.pi), 9)), OMEGA, *columns(["a_a"])]
    np.testing.assert_array_equal(read(save(text(*both))).omega, W)
    both[0] = ("hz", W)
    with pytest.raises(ReadError, match="'hz' and 'omega' contradict each other"):
        read(save(text(*both)))
    assert read("frf.csv", frequency="hz").omega[0] == 2 * np.pi * W[0]


def test_a_unit_beside_two_columns_is_for_the_one_without(save):
    file = save(text(OMEGA, ("f", W / (2 * np.pi)), *columns(["a_a"])))
    with pytest.raises(ReadError, match="'f' do not state a unit"):
        read(file)
    np.testing.assert_array_equal(read(file, unit="hz").omega, W)
    with pytest.raises(ReadError, match="contradict each other"):
        read(file, unit="rad")


def test_a_unit_that_contradicts_the_name(save):
    with pytest.raises(ReadError, match=r"'omega' says rad, but unit='hz'"):
        read(save(SISO), unit="hz")
    with pytest.raises(OptionError, match="'rpm': say hz"):
        read("frf.csv", unit="rpm")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(order=st.permutations(range(9)))
def test_columns_come_in_any_order(tmp_path, order):
    pieces = [OMEGA, *columns(["a_a", "a_b", "b_a", "b_b"])]
    path = tmp_path / "frf.csv"
    path.write_text(text(*(pieces[k] for k in order)))
    frf = read_response(path, channels=["a", "b"])
    assert (frf.outputs, frf.inputs) == (("a", "b"), ("a", "b"))
    np.testing.assert_array_equal(frf.values[:, 1, 0].real, np.cos(3 * W))


def test_lines_come_in_any_order(save):
    rows = SISO.splitlines()
    frf = read(save("\n".join([rows[0], *rows[:0:-1]])))
    np.testing.assert_array_equal(frf.omega, W)
    np.testing.assert_array_equal(frf.values[:, 0, 0].real, np.cos(W))


@pytest.mark.parametrize("missing", ["", "NaN", "nan"])
def test_missing_cells_and_pairs(save, missing):
    rows = text(OMEGA, *columns(["a_a", "b_a", "b_b"])).splitlines()
    cells = rows[3].split(",")
    rows[3] = ",".join([*cells[:4], missing, *cells[5:]])  # the imaginary part of a/a
    frf = read(save("\n".join(rows)))
    assert frf.missing == 1 + len(W)
    assert np.isnan(frf.values[2, 0, 0])
    assert np.isnan(frf.values[:, 0, 1]).all()


def test_a_header_in_a_comment(save):
    assert read(save("# " + SISO)).outputs == ("a",)


def test_quantity(save):
    assert read(save("# quantity: velocity\n" + SISO)).quantity == "velocity"
    assert read("frf.csv", quantity="acceleration").quantity == "acceleration"
    assert read("frf.csv", quantity=["acceleration"]).quantity == "acceleration"
    with pytest.raises(ReadError, match="displacement, velocity for a frequency response"):
        read("frf.csv", quantity=["displacement", "velocity"])


def test_variance(save):
    pieces = [OMEGA, *columns(["a_a", "b_a"]), ("V_b_a", W), ("V_a_a", 2 * W)]
    frf = read(save(text(*pieces)))
    np.testing.assert_array_equal(frf.variance[:, :, 0], np.column_stack([2 * W, W]))


@pytest.mark.parametrize("name", ["coherence", "gamma2_a_a", "Coh_a_a"])
def test_a_coherence_is_not_turned_into_a_variance(save, name):
    with pytest.warns(PrismWarning, match=f"{name} is not used.*number of averages"):
        frf = read(save(text(OMEGA, *columns(["a_a"]), (name, W))))
    assert frf.variance is None


def test_not_square_without_a_driving_point(save):
    frf = read(save(text(OMEGA, *columns(["a_f", "b_f", "c_f"]))))
    assert frf.shape == (3, 1)
    assert frf.ports.driving_points == ()


def test_channels_select_coordinates(save):
    name = save(text(OMEGA, *columns(["a_a", "a_b", "b_a", "b_b", "c_a", "c_b"])))
    frf = read(name, channels="b")
    assert (frf.outputs, frf.inputs) == (("b",), ("b",))
    assert read(name, channels=["c", "a"]).outputs == ("c", "a")
    with pytest.raises(ReadError, match="no coordinate 'z': choose among a, b, c"):
        read(name, channels=["z"])
    with pytest.raises(ReadError, match="the coordinates c leave no input"):
        read(name, channels=["c"])


# ------------------------------------------------------------------ records beside responses


def test_a_record_stays_a_record(save):
    t = 0.1 * np.arange(12)
    pieces = [("t", t), ("omega", np.cos(t)), ("f", np.sin(t))]
    record = read(save(text(*pieces), "rec.csv"))
    assert isinstance(record, Record)
    assert record.channels == ("omega", "f")
    assert not holds_response("rec.csv")
    timed = save(text(("t", t), ("H_a_a_re", np.cos(t)), ("H_a_a_im", np.sin(t))), "odd.csv")
    assert isinstance(read(timed), Record)


def test_records_and_responses_do_not_mix(save):
    t = 0.1 * np.arange(12)
    save(text(("t", t), ("x", np.cos(t))), "rec.csv")
    save(SISO)
    with pytest.raises(ReadError, match=r"^rec\.csv: holds no .* but frf\.csv does"):
        read(["frf.csv", "rec.csv"])
    with pytest.raises(ReadError, match=r"^none\.csv: cannot be read"):
        read(["frf.csv", "none.csv"])


# ------------------------------------------------------------------ several files


def test_files_of_one_test_are_merged_by_name(save):
    save(text(OMEGA, *columns(["a_a", "b_a"])), "one.csv")
    back = [(name, values[::-1]) for name, values in [OMEGA, *columns(["a_b", "b_b"])]]
    save(text(*back), "two.csv")
    frf = read(["one.csv", "two.csv"])
    assert (frf.outputs, frf.inputs, frf.missing) == (("a", "b"), ("a", "b"), 0)
    np.testing.assert_array_equal(frf.values[:, 1, 1].real, np.cos(2 * W))


def test_quantities_of_merged_files_are_converted_to_the_first(save):
    save("# quantity: acceleration\n" + text(OMEGA, *columns(["a_a"]), ("V_a_a", W)), "one.csv")
    save(text(OMEGA, *columns(["b_a"]), ("V_b_a", W)), "two.csv")
    frf = read(["one.csv", "two.csv"])
    assert frf.quantity == "acceleration"
    given = np.cos(W) + 1j * np.sin(W)
    np.testing.assert_allclose(frf.values[:, 1, 0], -(W**2) * given, rtol=1e-14)
    np.testing.assert_allclose(frf.variance[:, 1, 0], W**5, rtol=1e-14)
    np.testing.assert_array_equal(
        read(["one.csv", "two.csv"], quantity="velocity").values[:, 1, 0], given
    )


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (
            text(OMEGA, *columns(["a_a"])),
            r"^b\.csv: the response of 'a' to 'a' is already .* a\.csv",
        ),
        (
            text(("omega", 1.01 * W), *columns(["b_a"])),
            r"^b\.csv: frequency 0 .* is 0\.505 .* 0\.5 in",
        ),
        (text(("omega", W[:-1]), *[(n, v[:-1]) for n, v in columns(["b_a"])]), "6 frequencies.* 7"),
        (text(OMEGA, *columns(["b_a"]), ("V_b_a", W)), r"^a\.csv: states no variances, but b\.csv"),
        ("# quantity: force\n" + text(OMEGA, *columns(["b_a"])), r"^b\.csv: unknown quantity"),
    ],
)
def test_files_that_do_not_fit_together(save, second, words):
    save(SISO, "a.csv")
    save(second, "b.csv")
    with pytest.raises(ReadError, match=words):
        read(["a.csv", "b.csv"])


def test_the_front_door(save):
    assert isinstance(prism.read(save(SISO)), FrequencyResponse)
