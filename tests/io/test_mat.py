import numpy as np
import pytest
from scipy.io import savemat
from tests.places import real_data

from prism.errors import ReadError
from prism.io import holds_response, read, read_record, read_response

W = np.linspace(0.5, 2.0, 7)
H = 1.0 / (1.1 - W**2 + 0.1j * W)
COLUMNS = np.column_stack([H, 2 * H, 3 * H])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ({"omega": W, "H": H}, {}),
        ({"Omega": W, "H": H[:, None]}, {}),
        ({"hz": W[:, None] / (2 * np.pi), "H": H[None, :]}, {}),
        ({"Freq": W, "Recep": H, "note": "text"}, {"unit": "rad"}),
        ({"a": W, "b": H, "c": H}, {"frequency": "a", "response": "b", "unit": "rad"}),
    ],
)
def test_mat(folder, content, options):
    savemat("a.mat", content)
    frf = read("a.mat", **options)
    np.testing.assert_allclose(frf.omega, W, rtol=1e-15)
    np.testing.assert_array_equal(frf.values[:, 0, 0], H)
    assert frf.quantity == "displacement"


def test_names_and_quantity_in_a_mat(folder):
    names = np.array(["tip", "mid", "root"], dtype=object)
    content = {"omega": W, "H": COLUMNS, "outputs": names, "quantity": "velocity"}
    savemat("a.mat", content | {"inputs": np.array(["tip"], dtype=object)})
    frf = read("a.mat")
    assert (frf.outputs, frf.inputs) == (("tip", "mid", "root"), ("tip",))
    assert frf.quantity == "velocity"
    savemat("a.mat", content | {"inputs": "tip"})
    assert read("a.mat").inputs == ("tip",)


def test_the_frequencies_may_be_the_last_axis(folder):
    full = H[:, None, None] * np.array([[1.0, 2.0], [2.0, 5.0]])
    savemat("a.mat", {"omega": W, "H": np.moveaxis(full, 0, 2)})
    np.testing.assert_array_equal(read("a.mat").values, full)


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ({"f": W, "H": H}, {}, "'f' do not state a unit"),
        ({"x": W, "y": W}, {"response": "x"}, r"no array is named as.*x 1x7, y 1x7\."),
        ({"x": W, "y": W}, {}, r"several arrays could be the values: x 7, y 7\. Choose with array"),
        ({"f": W, "y": W}, {"unit": "hz"}, r"no array is the response.*f 1x7, y 1x7\."),
        ({"f": W, "a": H, "b": H}, {"unit": "hz"}, r"a and b could each be.*response.*b 1x7"),
        ({"f": W, "freq": W, "H": H}, {"unit": "hz"}, "f and freq could both be the frequencies"),
        ({"omega": W, "H": COLUMNS}, {}, r"\(7, 3\).* the 3 columns is: say channels"),
        ({"omega": W, "H": COLUMNS}, {"channels": ["a/a", "b/a"]}, "the 3 columns"),
        ({"omega": W, "H": COLUMNS}, {"channels": ["a/a", "b/a", "a/a"]}, "already there"),
        ({"omega": W, "H": "text"}, {}, "'H' is of type"),
        ({}, {"unit": "hz"}, "There are no arrays"),
        ({}, {}, r"no array holds values \(there are: none\)"),
    ],
)
def test_bad_mat(folder, content, options, words):
    savemat("a.mat", content)
    with pytest.raises(ReadError, match=words) as caught:
        read("a.mat", **options)
    assert str(caught.value).startswith("a.mat: ")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"MATLAB 7.3 MAT-file, Platform: GLNXA64" + b" " * 500, "not an hdf5 file"),
        (b"", "not a .mat file, or it is damaged"),
        (b"no matlab " * 100, "not a .mat file, or it is damaged"),
    ],
)
def test_other_files_under_the_suffix(folder, content, words):
    (folder / "a.mat").write_bytes(content)
    assert not holds_response("a.mat")
    with pytest.raises(ReadError, match=rf"^a\.mat: .*{words}"):
        read("a.mat")


def test_a_truncated_mat(folder):
    savemat("a.mat", {"omega": W, "H": H})
    whole = (folder / "a.mat").read_bytes()
    for size in (130, 200, len(whole) - 9):
        (folder / "a.mat").write_bytes(whole[:size])
        with pytest.raises(ReadError, match=r"^a\.mat: "):
            read("a.mat")


def test_holds_response(folder):
    savemat("a.mat", {"omega": W, "H": H})
    assert holds_response("a.mat")
    savemat("a.mat", {"Freq": W, "Recep": COLUMNS})
    assert holds_response("a.mat")
    savemat("a.mat", {"t": W, "x": W})
    assert not holds_response("a.mat")
    with pytest.raises(ReadError, match="at least 8 samples"):
        read_record("a.mat")


def test_a_clean_receptance():
    path = real_data("beam_frf/mckiddat.mat")
    assert holds_response(path)
    with pytest.raises(ReadError, match="'Freq' do not state a unit"):
        read(path)
    with pytest.raises(ReadError, match=r"\(401, 3\).* the 3 columns"):
        read(path, unit="hz")
    frf = read(path, unit="hz", channels=["1/1", "2/1", "3/1"])
    assert frf.shape == (3, 1)
    assert frf.ports.driving_points == (0,)
    # The reference modes stand out of the response of the driving point.
    size = np.abs(frf.values[:, 0, 0])
    hz = frf.omega / (2 * np.pi)
    for reference in (0.103, 0.196, 0.325):
        near = np.abs(hz - reference) < 0.02
        assert abs(hz[near][size[near].argmax()] - reference) < 0.002


def test_a_hammer_test():
    path = real_data("beam_frf/case1.mat")
    assert not holds_response(path)
    with pytest.raises(
        ReadError, match=r"could be the values: .*Time_chan_2 4096, .*Hf_chan_2 1601"
    ):
        read(path)
    with pytest.raises(ReadError, match="with frequency and response"):
        read(path)
    with pytest.raises(ReadError, match=r"frequency and response\..*Hf_chan_2 1601x1"):
        read_response(path)
    with pytest.raises(ReadError, match="Hf_chan_2 and Hf_Cross_Spec_chan_2 could each be"):
        read(path, frequency="Freq_domain", unit="hz")
    names = {"frequency": "Freq_domain", "response": "Hf_chan_2"}
    frf = read_response(path, unit="hz", quantity="acceleration", **names)
    assert len(frf) == 1601
    assert frf.omega[-1] / (2 * np.pi) == pytest.approx(500.0)
    assert frf.missing == 1  # an acceleration at rest says nothing
