"""Every example is run; its numbers hold, and docs/applications.md quotes them."""

import importlib.util
import re
import subprocess
import sys
from functools import cache

import pytest
from tests.places import ROOT, real_data

EXAMPLES = ROOT / "examples"
PAGE = (ROOT / "docs" / "applications.md").read_text("utf-8")
NAMES = ("bath", "slosh", "dwell", "plasma", "tearing", "flutter", "duffing", "two_masses")
MEASURED = {"two_masses": "two_masses/real_double_linear_h_1.txt"}

# The rows of each table of the page, in order, by the names that main() returns.
QUOTED = {
    "bath": (
        "lines",
        "hidden",
        "hidden_error",
        "coupling_median",
        "coupling_z",
        "density_rms",
        "density_max",
    ),
    "slosh": ("line_1", "line_2", "exact", "found", "std", "displaced"),
    "dwell": ("modes", "exact_1", "found_1", "std_1", "found_2", "found_3", "loss"),
    "plasma": ("lines", "hidden", "exact_1", "found_1", "std_1", "hidden_error", "z"),
    "tearing": (
        "windows",
        "lines",
        "std",
        "error_max",
        "bias_max",
        "z_raw",
        "z",
        "amplitude",
    ),
    "duffing": ("hidden", "spring", "cubic", "omega_1", "omega_2", "nrmse", "linear_nrmse"),
    "two_masses": (
        *("modes", "found_1", "std_1", "other_1", "found_2", "std_2", "other_2"),
        *("z", "damping", "ratio_1", "ratio_2", "nrmse"),
    ),
    "flutter": (
        "index_speed",
        "measured_index_speed",
        "index_speed_pitch",
        "flutter_speed",
        "divergence_speed",
        "published_index_speed",
        "published_flutter_speed",
        "published_divergence_speed",
    ),
}


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def numbers(name):
    return load(name).main(*(real_data(MEASURED[one]) for one in (name,) if one in MEASURED))


def quoted(name):
    """Last column of the table headed by the name of the script, as text."""
    rows = PAGE.split(f"| `{name}.py` |")[1].split("\n\n")[0].splitlines()[2:]
    return [row.rstrip("| ").rsplit("|", 1)[1].strip() for row in rows]


@pytest.mark.parametrize("name", NAMES)
def test_page_quotes_what_the_script_returns(name):
    texts = quoted(name)
    assert len(texts) == len(QUOTED[name])
    for key, text in zip(QUOTED[name], texts, strict=True):
        figure = re.match(r"[\d.]+", text)[0]
        step = 10.0 ** -len(figure.partition(".")[2])
        # a little over half a unit: the last bit of the arithmetic may turn a rounding
        assert abs(numbers(name)[key] - float(figure)) <= 0.55 * step, key


def test_page_names_every_example():
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == sorted(NAMES)
    for name in NAMES:
        assert f"`{name}.py`" in PAGE


def test_bath_is_recovered_at_strong_coupling():
    found = numbers("bath")
    assert found["lines"] == 61
    assert found["line_error"] < 1e-4
    assert found["hidden"] == 60
    assert found["hidden_error"] < 0.1 * found["spacing"]
    assert found["coupling_median"] < found["energy_scatter"]
    assert 0.75 < found["coupling_z"] < 1.3
    assert found["density_rms"] < 5
    assert found["passive"]


def test_slosh_frequency_comes_from_output_alone():
    found = numbers("slosh")
    assert found["line_error"] < 1e-4
    assert abs(found["z"]) < 3
    assert found["std"] < 0.015 * found["exact"]
    assert found["displacement"] > 15  # the paper's formula, in percent


def test_slosh_frequencies_are_zeros_of_a_dwell_test():
    found = numbers("dwell")
    assert found["modes"] == 4
    assert found["zeros"] == 3
    assert found["error_max"] < 0.1  # percent
    assert found["z_max"] < 3
    assert abs(found["mass_error"]) < 2  # percent
    assert found["loss"] == pytest.approx(5e-3, rel=0.05)


def test_a_nonlinear_spring_and_two_oscillators_from_one_record():
    found = numbers("duffing")
    assert found["hidden"] == 2
    assert found["z_max"] < 3
    assert found["nrmse"] < 0.055
    assert found["nrmse"] < found["linear_nrmse"]


def test_waves_beside_a_probe_are_those_of_the_shorter_columns():
    """A field on a lattice, whose modes with the probe held are known in closed form."""
    found = numbers("plasma")
    assert found["lines"] == 7
    assert found["line_error"] < 1e-4
    assert found["hidden"] == 6
    assert found["hidden_error"] < 0.5  # percent
    assert 0.5 < found["z"] < 1.6


def test_moving_line_is_tracked_within_its_error_and_bias():
    found = numbers("tearing")
    assert found["lines"] == 2
    assert found["seen"] == 2 * found["windows"]
    assert found["z_max"] < 3.3
    assert found["z"] < 1.2
    assert found["error_max"] < found["bias_max"] + 3 * found["std"]
    assert found["steady_error"] < 0.01


def test_flutter_index_is_a_precursor():
    found = numbers("flutter")
    assert found["index_speed_pitch"] < found["index_speed"] < found["flutter_speed"]
    assert found["flutter_speed"] < found["divergence_speed"]
    assert found["index_at_flutter"] < -1
    assert found["measured_index_speed"] == pytest.approx(found["index_speed"], rel=0.02)
    assert found["z"] < 1.7
    assert found["index_speed"] < found["refused_from"]


def test_one_mass_shows_the_modes_that_the_other_one_has():
    found = numbers("two_masses")
    assert (found["kind"], found["modes"]) == ("decaying", 2)
    assert found["z"] < 3
    assert found["nrmse"] < 0.03


def test_a_script_runs_on_its_own_and_draws(tmp_path):
    pytest.importorskip("matplotlib")
    figure = tmp_path / "flutter.png"
    command = [sys.executable, EXAMPLES / "flutter.py", "--figure", figure]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "flutter (coalescence)" in done.stdout
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["slosh", "tearing"])
def test_figures_are_drawn(name, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    load(name).main(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
