"""The command line on forced experiments: frequency responses, and records with their forces."""

import importlib
import json
import re

import numpy as np
import pytest

import prism
from prism import systems

W = np.linspace(0.3, 2.0, 120)


@pytest.fixture
def frf(here):
    """A file with a response of a mass with an absorber."""
    response = systems.tuned_absorber().response(W, loss=0.02, noise=0.05, rng=0)
    prism.io.write(response, "frf.csv")
    return response


@pytest.fixture
def forced(here):
    """A file with a record of the same under a random force."""
    push = np.random.default_rng(0).standard_normal(1500)
    done = systems.forced(systems.tuned_absorber(), push, 0.1, loss=0.01, noise=0.05, rng=1)
    prism.io.write(done.with_force(), "forced.csv")
    return done.with_force()


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def value(text, row):
    """The cell after the name of a row."""
    return re.search(rf"^\s*{row}\s+([0-9.]+)", text, re.MULTILINE).group(1)


# ------------------------------------------------------------------ frequency responses


def test_a_response_is_identified(run, frf, here):
    status, out, err = run("identify", "frf.csv", "--json", "m.json", "--report", "r.html")
    assert (status, err) == (0, "")
    for words in (
        "2 modes at 1 port, 1 hidden oscillator",
        "x (displacement per force)",
        "120 lines, ω = 0.3 to 2 rad per time unit, none missing",
        "% of each value",
        "structural",
        "Zeros (anti-resonances",
        "conservative part",
    ):
        assert words in out
    assert float(value(out, "x/x")) == pytest.approx(1 / 1.1, rel=5e-3)
    assert files(here) == ["frf.csv", "m.json", "r.html"]
    data = json.loads((here / "m.json").read_text(encoding="utf-8"))
    assert data["experiment"] == "forced"
    assert data["modes"][0]["damping"] == pytest.approx(0.01, rel=0.2)
    page = (here / "r.html").read_text(encoding="utf-8")
    assert "x / x" in page
    assert "<h2>Response</h2>" in page
    assert "<h2>Forecast</h2>" not in page


@pytest.mark.parametrize(("option", "law"), [("--damped", "structural"), ("--undamped", "none")])
def test_losses_can_be_asked_for(run, frf, option, law):
    status, out, _ = run("identify", "frf.csv", option)
    assert status == 0
    assert f"damping     {law}" in out


def test_rank_and_quantity_and_channels_of_a_response(run, here):
    chain = systems.chain(2, observed=[0, 1])
    prism.io.write(chain.response(W, noise=0.02, rng=0), "two.npz")
    status, out, _ = run("identify", "two.npz", "--rank", "full", "--experiment", "forced")
    assert status == 0
    assert "all 4 pairs" in out
    status, out, _ = run(
        *("identify", "two.npz", "--channels", "q1", "--quantity", "velocity", "--undamped")
    )
    assert status == 0
    assert "ports       q1 (velocity per force)" in out


def test_names_and_unit_of_arrays(run, frf):
    hz = W / (2 * np.pi)
    np.savez("odd.npz", Freq=hz, Recep=frf.values[:, 0, 0])
    arguments = ("--frequency", "Freq", "--response", "Recep", "--unit", "hz")
    status, out, _ = run("identify", "odd.npz", *arguments)
    assert status == 0
    assert "ω = 0.3 to 2 rad" in out


def test_a_frequency_column_without_unit_is_asked_about(run, frf, here):
    table = (here / "frf.csv").read_text().replace("omega", "frequency")
    (here / "f.csv").write_text(table)
    status, out, err = run("identify", "f.csv", "--json", "m.json")
    assert (status, out) == (2, "")
    assert "are they in Hz or in rad per time unit?" in err
    assert "--unit" in err
    assert not (here / "m.json").exists()
    assert run("identify", "f.csv", "--unit", "rad", "--quiet") == (0, "", "")
    assert "It would be refused" in run("info", "f.csv")[1]
    status, out, _ = run("info", "f.csv", "--unit", "rad")
    assert status == 0
    assert "band      0.3 to 2 rad" in out
    assert "prism identify f.csv --unit rad" in out
    assert run("info", "f.csv", "--unit", "furlong")[0] == 2


def test_missing_lines_are_counted(run, frf):
    values = frf.values.copy()
    values[10:15] = np.nan
    prism.io.write(prism.FrequencyResponse(W, values, outputs=["x"]), "gaps.csv")
    status, out, _ = run("identify", "gaps.csv")
    assert status == 0
    assert "5 values missing" in out


def test_without_a_driving_point_the_verdict_says_so(run, here):
    full = systems.chain(4).response(np.linspace(0.1, 2.2, 300), loss=0.02, noise=0.03, rng=1)
    cross = prism.FrequencyResponse(
        full.omega, full.values[:, 1:, :1], outputs=["q4"], inputs=["q1"]
    )
    prism.io.write(cross, "cross.csv")
    status, out, _ = run("identify", "cross.csv", "--json", "m.json", "--report", "r.html")
    assert status == 0
    assert "the Hamiltonian is not determined" in out
    assert "no driving point was measured" in out
    assert "What would settle it" in out
    assert json.loads((here / "m.json").read_text())["hamiltonian"]["identifiable"] is False
    assert 'class="plot"' in (here / "r.html").read_text(encoding="utf-8")


def test_an_unsymmetric_response_is_noted(run, here):
    full = systems.chain(4).response(np.linspace(0.1, 2.2, 300), loss=0.02, noise=0.03, rng=1)
    values = full.values.copy()
    values[:, 0, 1] *= 1.6
    prism.io.write(prism.FrequencyResponse(full.omega, values, outputs=["q1", "q4"]), "u.csv")
    status, out, _ = run("identify", "u.csv")
    assert status == 0
    said = " ".join(out.split())
    assert "the response is unsymmetric: reciprocal values differ by 46 % of their size" in said


def test_bad_responses_end_in_a_sentence(run, frf, here):
    head, *rows = (here / "frf.csv").read_text().splitlines()
    bad = {
        "nan.csv": ([f"{w},nan,nan" for w in W], "no value is left"),
        "one.csv": (rows[:1], "1 frequency: a response needs at least 4"),
        "text.csv": ([*rows[:5], "1.7,high,0"], "'high' is not a number"),
    }
    for name, (lines, words) in bad.items():
        (here / name).write_text("\n".join([head, *lines]) + "\n")
        status, out, err = run("identify", name, "--json", "m.json", "--report", "r.html")
        assert (status, out) == (2, ""), (name, err)
        assert err.startswith(f"prism: {name}")
        assert words in err
        assert len(err.splitlines()) == 1
    assert files(here) == sorted(["frf.csv", *bad])


def test_a_response_of_pure_noise_has_no_mode(run, here):
    re, im = np.random.default_rng(0).standard_normal((2, len(W)))
    prism.io.write(prism.FrequencyResponse(W, re + 1j * im), "noise.csv")
    status, out, err = run("identify", "noise.csv", "--json", "m.json")
    assert (status, out) == (1, "")
    assert err.startswith("prism: noise.csv: no mode stands out of the noise")
    assert files(here) == ["noise.csv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--force", "x"], "a frequency response names its inputs"),
        (["--force", "x", "--quantity", "velocity"], "a frequency response names its inputs"),
        (["--at", "x=x"], "a frequency response names its inputs"),
        (["--hold", "zero"], "a frequency response names its inputs"),
        (["--dt", "0.1"], "leave out the sampling step"),
        (["--time-column", "omega"], "leave out the sampling step"),
        (["--experiment", "free"], "a frequency response is a forced experiment"),
        (["--mass", "identity"], "mass means nothing in a forced experiment"),
        (["--fit-fraction", "0.5"], "means nothing in a forced experiment"),
        (["--method", "nnls"], "a forced experiment is fitted by likelihood"),
        (["--rank", "two"], "unknown rank 'two'"),
        (["--unit", "furlong"], "the unit is 'furlong'"),
        (["--unit", "hz"], "'omega' says rad"),
        (["--frequency", "omg"], "there is no column 'omg'"),
        (["--response", "H"], "a text table has no array to choose"),
        (["--channels", "y"], "there is no coordinate 'y'"),
        (["--quantity", "velocity,displacement"], "it has one"),
    ],
)
def test_options_that_a_response_refuses(run, frf, here, arguments, words):
    status, out, err = run("identify", "frf.csv", *arguments, "--json", "m.json")
    assert (status, out) == (2, "")
    assert err.startswith("prism: ")
    assert words in err
    assert files(here) == ["frf.csv"]


# ------------------------------------------------------------------ universal files


def test_a_universal_file_without_functions(run, here):
    pytest.importorskip("pyuff", reason="universal files need pyuff")
    (here / "empty.uff").write_text("    -1\n   151\nx\n    -1\n")
    status, out, err = run("identify", "empty.uff")
    assert (status, out) == (2, "")
    assert err == (
        "prism: empty.uff: holds no set 58, which is where universal files keep functions: "
        "export one.\n"
    )


def test_a_universal_file_without_the_package(run, here, monkeypatch):
    true = importlib.import_module

    def missing(name, *rest):
        if name == "pyuff":
            raise ModuleNotFoundError("No module named 'pyuff'", name="pyuff")
        return true(name, *rest)

    monkeypatch.setattr(importlib, "import_module", missing)
    (here / "a.uff").write_text("    -1\n    58\n    -1\n")
    status, _, err = run("identify", "a.uff")
    assert status == 2
    assert err == 'prism: reading UFF files needs pyuff: pip install "prism-id[io]"\n'


# ------------------------------------------------------------------ records with forces


def test_a_forced_record_is_identified(run, forced, here):
    outputs = ("--json", "m.json", "--report", "r.html")
    status, out, err = run("identify", "forced.csv", "--force", "f_x", *outputs)
    assert (status, err) == (0, "")
    for words in (
        "2 modes at 1 port, 1 hidden oscillator",
        "1500 samples, dt = 0.1",
        "white noise",
        "viscous",
        "Zeros (anti-resonances",
    ):
        assert words in out
    assert float(value(out, "x/x")) == pytest.approx(1 / 1.1, rel=5e-3)
    page = (here / "r.html").read_text(encoding="utf-8")
    assert "Magnitude and phase of the response that was fitted." in page
    assert "<h2>Zeros (anti-resonances)</h2>" in page


def test_where_forces_act_can_be_said(run, forced, here):
    odd = prism.Record(forced.trials[0], dt=0.1, channels=["x", "shaker"])
    prism.io.write(odd, "odd.csv")
    arguments = ("--force", "shaker", "--at", "shaker=x", "--hold", "first", "--undamped")
    status, out, _ = run("identify", "odd.csv", *arguments)
    assert status == 0
    assert "2 modes" in out or "3 modes" in out
    assert "none, the modes are lossless" in out


def test_quantities_are_those_of_the_motions(run, forced, here):
    v = np.gradient(forced.trials[0][:, 0], 0.1)
    table = np.column_stack([forced.trials[0][:, 0], forced.trials[0][:, 1], v])
    prism.io.write(prism.Record(table, dt=0.1, channels=["x", "f_x", "y"]), "mix.csv")
    for given in ("displacement,velocity", "displacement,displacement,velocity"):
        status, out, _ = run("identify", "mix.csv", "--force", "f_x", "--quantity", given)
        assert status == 0
        assert "x (displacement), y (velocity)" in out
    arguments = ("--channels", "f_x,y", "--at", "f_x=y", "--quantity", "velocity")
    status, out, _ = run("identify", "mix.csv", "--force", "f_x", *arguments)
    assert status == 0
    assert "ports       y (velocity)" in out
    status, _, err = run(
        *("identify", "mix.csv", "--force", "f_x"),
        *("--quantity", "velocity,velocity,velocity,velocity"),
    )
    assert status == 2
    assert "--quantity names 4 quantities, but the motion channels are x, y" in err


def test_a_file_with_forces_and_quantities_is_read_once(run, forced, here, monkeypatch):
    prism.io.write(forced, "forced.csv")
    reads, read = [], prism.io._registry.read_raw
    monkeypatch.setattr(prism.io, "read_raw", lambda *a: reads.append(a) or read(*a))
    status, _, _ = run("identify", "forced.csv", "--force", "f_x", "--quantity", "displacement")
    assert status == 0
    assert len(reads) == 1
    status, _, err = run("identify", "forced.csv", "--force", "f_x", "--quantity", "weight")
    assert status == 2
    assert "forced.csv: unknown quantity 'weight'" in err


@pytest.mark.parametrize(
    ("arguments", "expected", "words"),
    [
        (["--force", "g"], 2, "there is no force channel 'g'"),
        (["--force", "f_x", "--channels", "x"], 2, "there is no force channel 'f_x'"),
        (["--force", "x,f_x"], 2, "all channels are forces"),
        (["--force", "f_x,f_x"], 2, "each once"),
        (["--force", "f_x", "--experiment", "free"], 2, "force belongs to forced experiments"),
        (["--force", "f_x", "--rank", "full"], 2, "rank is for frequency responses"),
        (["--force", "f_x", "--hold", "second"], 2, "unknown hold 'second'"),
        (["--force", "f_x", "--at", "f_x"], 2, "give FORCE=MOTION"),
        (["--force", "f_x", "--at", "f_x=x,f_x=y"], 2, "name it once"),
        (["--force", "f_x", "--at", "g=x"], 2, "'g' is not a force"),
        (["--force", "f_x", "--at", "f_x=y"], 1, "where no motion is measured"),
        (["--force", "f_x", "--mass", "identity"], 2, "mass means nothing"),
        (["--experiment", "forced"], 2, "--force"),
        (["--damped", "--mass", "identity"], 2, "--damped is for free records"),
        (["--at", "f_x=x"], 2, "at belongs to forced experiments"),
        (["--hold", "zero"], 2, "hold belongs to forced experiments"),
        (["--rank", "full"], 2, "rank belongs to forced experiments"),
        (["--unit", "hz"], 2, "no column is named as a frequency"),
        (["--response", "x"], 2, "a text table has no array to choose"),
    ],
)
def test_options_that_a_record_refuses(run, forced, here, arguments, expected, words):
    status, out, err = run("identify", "forced.csv", *arguments, "--json", "m.json")
    assert (status, out) == (expected, "")
    assert err.startswith("prism: ")
    assert words in err
    assert len(err.splitlines()) == 1
    assert files(here) == ["forced.csv"]


def test_a_force_that_is_always_zero(run, forced, here):
    rows = [[f"{0.1 * k:.1f}", repr(float(x)), "0.0"] for k, (x, _) in enumerate(forced.trials[0])]
    (here / "zero.csv").write_text("t,x,f_x\n" + "".join(",".join(row) + "\n" for row in rows))
    status, out, err = run("identify", "zero.csv", "--force", "f_x")
    assert (status, out) == (2, "")
    assert "channel 'f_x' is constant at 0" in err


def test_records_and_responses_do_not_mix(run, frf, forced):
    status, _, err = run("identify", "frf.csv", "forced.csv")
    assert status == 2
    assert "forced.csv: holds no frequency response, but frf.csv does" in err


# ------------------------------------------------------------------ what follows


def test_forced_models_have_no_forecast(run, frf, here):
    run("identify", "frf.csv", "--json", "m.json", "--quiet")
    status, out, err = run("forecast", "m.json", "--until", "100", "-o", "f.csv")
    assert (status, out) == (1, "")
    assert err.startswith("prism: m.json: a forced or noise-driven record has no motion")
    assert not (here / "f.csv").exists()


def test_info_on_models_of_forced_experiments(run, frf, forced):
    run("identify", "frf.csv", "--json", "m.json", "--quiet")
    status, out, _ = run("info", "m.json")
    assert status == 0
    for words in (
        "2 modes at 1 port",
        "120 lines",
        "structural",
        "zeros     1 inside",
        "none: the",
    ):
        assert words in out
    assert "prism forecast" not in out
    run("identify", "forced.csv", "--force", "f_x", "--json", "m.json", "--quiet")
    assert "1500 samples, dt = 0.1" in run("info", "m.json")[1]
    status, _, err = run("info", "m.json", "--unit", "hz")
    assert status == 2
    assert "leave it out" in err


def test_info_on_a_response_says_how_to_go_on(run, frf):
    status, out, _ = run("info", "frf.csv")
    assert status == 0
    assert "To read it:  prism identify frf.csv\n" in out
