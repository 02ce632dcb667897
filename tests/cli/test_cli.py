"""The command line, in this process and a few times in its own."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.places import ROOT

import prism
from prism import systems
from prism.cli import main
from prism.cli._console import program
from prism.errors import CannotTellError, PrismWarning

COMMANDS = (
    "identify",
    "forecast",
    "export",
    "simulate",
    "track",
    "kernel",
    "bounds",
    "info",
    "benchmark",
    "compare",
    "compare-models",
    "demo",
)


@pytest.fixture
def bench(here):
    """A file with a record of the chain."""
    record = systems.chain().free(200, 0.1, noise=0.1, rng=0)
    prism.io.write(record, here / "bench.csv")
    return "bench.csv"


@pytest.fixture
def model(bench, run):
    """A file with a model of that record."""
    status, _, _ = run("identify", bench, "--json", "model.json", "--quiet")
    assert status == 0
    return "model.json"


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def in_own_process(*arguments, cwd, **options):
    code = "import sys; from prism.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


# ------------------------------------------------------------------ help and version


def test_without_arguments_help_is_shown(run):
    status, out, err = run()
    assert (status, err) == (0, "")
    assert all(name in out for name in COMMANDS)


def test_version(run):
    assert run("--version") == (0, f"prism {prism.__version__}\n", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_a_purpose_and_examples(run, name):
    status, out, _ = run(name, "--help")
    assert status == 0
    assert f"Usage: prism {name}" in out
    assert "Examples:" in out
    assert f"    prism {name}" in out


def test_every_option_is_exercised(run):
    folders = (ROOT / "tests" / name for name in ("cli", "bench", "app"))
    tests = sorted(path for folder in folders for path in folder.glob("test_*.py"))
    text = "".join(path.read_text(encoding="utf-8") for path in tests)
    for name in COMMANDS:
        _, out, _ = run(name, "--help")
        found = re.findall(r"^\s+(?:-\w, )?(--[a-z-]+)(?: / (--[a-z-]+))?", out, re.MULTILINE)
        for option in [one for pair in found for one in pair if one]:
            assert f'"{option}"' in text or option == "--help", (name, option)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bogus"], "No such command 'bogus'"),
        (["identify"], "Missing argument 'FILE'"),
        (["identify", "x.csv", "--bogus"], "--bogus"),
        (["identify", "x.csv", "--dt", "fast"], "--dt"),
        (["forecast", "m.json"], "Missing option '--until'"),
        (["simulate", "chain"], "Missing option '-o'"),
    ],
)
def test_wrong_usage(run, arguments, words):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("prism: ")
    assert words in err
    assert len(err.splitlines()) == 1
    assert "--help" in err


# ------------------------------------------------------------------ identify


def test_identify_prints_the_summary(run, bench):
    status, out, err = run("identify", bench)
    assert (status, err) == (0, "")
    assert "4 modes in 2 channels" in out
    assert "Verdict" in out


def test_identify_quiet_prints_nothing(run, bench):
    assert run("identify", bench, "--quiet") == (0, "", "")


def test_identify_writes_model_and_report(run, bench, here):
    outputs = ["--json", "m.json", "--report", "r.html"]
    status, out, _ = run("identify", bench, "--fit-fraction", "0.5", *outputs)
    assert status == 0
    assert files(here) == ["bench.csv", "m.json", "r.html"]
    data = json.loads((here / "m.json").read_text(encoding="utf-8"))
    assert data["schema"] == "prism.model/1"
    assert data["forecast"]["fit_fraction"] == 0.5
    assert len(data["modes"]) == 4
    assert 'class="plot"' in (here / "r.html").read_text(encoding="utf-8")
    assert "Forecast of the rest" in out


def test_identify_without_a_hamiltonian_still_succeeds(run, bench, here):
    status, out, _ = run("identify", bench, "--mass", "identity", "--json", "m.json")
    assert status == 0
    assert "Not determined" in out
    data = json.loads((here / "m.json").read_text(encoding="utf-8"))
    assert data["hamiltonian"]["identifiable"] is False
    assert data["hamiltonian"]["why"]


def test_identify_an_ensemble_of_files(run, here):
    record = systems.chain(2).equilibrium(100, 0.2, trials=3, noise=0.1, rng=0)
    for k, trial in enumerate(record.trials):
        np.savetxt(here / f"{k}.txt", trial)
    names = ["0.txt", "1.txt", "2.txt"]
    status, out, _ = run("identify", *names, "--dt", "0.2", "--experiment", "equilibrium")
    assert status == 0
    assert "3 trials of 500 samples" in out


def test_the_kind_of_motion_can_be_named(run, bench):
    status, out, _ = run("identify", bench, "--kind", "steady")
    assert status == 0
    assert "4 modes in 2 channels" in out
    status, _, err = run("identify", bench, "--kind", "forced")
    assert status == 2
    assert "'forced'" in err


def test_what_was_typed_reaches_python_as_values(run, bench, monkeypatch):
    asked = []

    def refuse(data, *, progress, **options):
        asked.append(options)
        raise CannotTellError("no.")

    monkeypatch.setattr(prism, "identify", refuse)
    assert run("identify", bench)[0] == 1
    typed = ["--gyroscopic", "--experiment", "equilibrium", "--potential", "x,x^3", "--undamped"]
    more = ["--max-modes", "3", "--ignore", "50hz", "--drift", "2", "--mass", "identity"]
    assert run("identify", bench, *typed, *more)[0] == 1
    assert run("identify", bench, "--not-gyroscopic")[0] == 1
    assert asked == [
        {},  # what nobody said is left to its default
        {
            "experiment": "equilibrium",
            "damped": False,
            "potential": ["x", "x^3"],
            "gyroscopic": True,
            "mass": "identity",
            "max_modes": 3,
            "ignore": "50hz",
            "drift": 2,
        },
        {"gyroscopic": False},
    ]


def test_a_free_body_is_asked_about_and_completed(run, here):
    free = prism.systems.chain(3, ends="free-free", observed=[0])
    record = free.released(100, 0.1, [1.0], noise=0.02, rng=0)
    table = np.column_stack([record.times[0], record.trials[0]])
    np.savetxt("free.csv", table, delimiter=",", header="t,x", comments="")
    released = ("identify", "free.csv", "--experiment", "released")
    assert "say which: --rigid 1 or --rigid 0" in " ".join(run(*released)[1].split())
    status, out, _ = run(*released, "--rigid", "1", "--json", "m.json")
    assert status == 0
    assert "(1 of them a rigid-body mode)" in out
    saved = json.loads((here / "m.json").read_text())
    assert saved["certificate"]["rigid"] == 1
    assert saved["modes"][0]["frequency"] == 0


def test_options_are_checked_before_files_are_read(run, here):
    status, _, err = run("identify", "missing.csv", "--false-alarm", "2")
    assert status == 2
    assert err == "prism: the false-alarm probability must lie in (0, 1), got 2.0.\n"


def test_identify_channels_quantity_and_time_column(run, here):
    t = 0.1 * np.arange(1000)
    table = np.column_stack([t, np.cos(t), np.sin(t), np.cos(3 * t)])
    np.savetxt(here / "d.csv", table, delimiter=",", header="clock,a,b,c", comments="")
    status, out, _ = run(
        *("identify", "d.csv", "--time-column", "clock", "--channels", "a,b"),
        *("--quantity", "displacement,velocity"),
    )
    assert status == 0
    assert "a (displacement), b (velocity)" in out
    status, out, _ = run(
        *("identify", "d.csv", "--time-column", "clock", "--channels", "c"),
        *("--quantity", "velocity"),
    )
    assert status == 0
    assert "c (velocity)" in out


def test_identify_known_matrices(run, here):
    chain = systems.chain(2, observed=[0, 1])
    prism.io.write(chain.free(200, 0.1, noise=0.05, rng=0), here / "two.npz")
    np.save(here / "mass.npy", np.eye(2))
    (here / "stiffness.csv").write_text("# two masses\n2, -1\n-1, 1\n")
    status, out, _ = run(
        *("identify", "two.npz", "--mass", "mass.npy", "--known-stiffness", "stiffness.csv")
    )
    assert status == 0
    assert "no hidden oscillators" in out


def test_identify_search_options(run, bench):
    arguments = ("--method", "likelihood", "--max-modes", "2", "--false-alarm", "1e-6")
    status, out, _ = run("identify", bench, *arguments)
    assert status == 0
    assert "2 modes in 2 channels" in out


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--experiment", "magic", "unknown experiment 'magic'"),
        ("--method", "magic", "unknown method 'magic'"),
        ("--max-modes", "0", "at least 1"),
        ("--false-alarm", "2", "must lie in (0, 1)"),
        ("--fit-fraction", "1.5", "--fit-fraction must lie in (0, 1), got 1.5"),
        ("--dt", "0.3", "contradicts the time column"),
        ("--dt", "0", "positive, finite sampling step"),
        ("--dt", "-1", "positive, finite sampling step"),
        ("--channels", "q1,q9", "there is no channel 'q9'"),
        ("--quantity", "weight", "unknown quantity 'weight'"),
        ("--quantity", "velocity,velocity,velocity", "3 quantities for 2 channels"),
        ("--time-column", "clock", "there is no time column 'clock'"),
        ("--mass", "none.csv", "none.csv: cannot be read"),
        ("--mass", "matrix.xls", "unknown format '.xls'"),
        ("--mass", "wide.txt", "give a square matrix"),
        ("--mass", "words.txt", "is not a table of numbers"),
        ("--mass", "pickle.npy", "is not a table of numbers"),
        ("--mass", "three.txt", "2 x 2 matrix"),
        ("--known-stiffness", "none.npy", "none.npy: cannot be read"),
        ("--known-stiffness", "identity", "unknown format ''"),
    ],
)
def test_identify_refuses_bad_options(run, bench, here, option, value, words):
    (here / "wide.txt").write_text("1 2 3\n4 5 6\n")
    (here / "words.txt").write_text("1 two\n3 4\n")
    (here / "three.txt").write_text("1 0 0\n0 1 0\n0 0 1\n")
    np.save(here / "pickle.npy", np.array([{"a": 1}]), allow_pickle=True)
    before = files(here)
    status, out, err = run("identify", bench, option, value, "--json", "m.json")
    assert (status, out) == (2, "")
    assert err.startswith("prism: ")
    assert words in err
    assert files(here) == before


SINE = "".join(f"{0.1 * k:.1f},{np.cos(0.1 * k):.6f}\n" for k in range(200))


def noise_table():
    rows = np.random.default_rng(3).standard_normal((400, 2))
    return "t,a,b\n" + "".join(f"{0.1 * k:.1f},{a:.6f},{b:.6f}\n" for k, (a, b) in enumerate(rows))


def slow_table():
    t = 0.1 * np.arange(100)
    return "t,a\n" + "".join(f"{x:.1f},{np.sin(0.12 * x):.8f}\n" for x in t)


BAD = {
    "empty file": ("", 2, "the file is empty"),
    "wrong delimiter": ("t|a\n" + SINE.replace(",", "|"), 2, "delimiter"),
    "text cell": ("t,a\n" + SINE.replace("0.540302", "high"), 2, "'high' is not a number"),
    "all-NaN channel": ("t,a\n" + re.sub(r",.*", ",nan", SINE), 2, "a"),
    "constant channel": ("t,a\n" + re.sub(r",.*", ",1.5", SINE), 2, "constant"),
    "one sample": ("t,a\n0.0,1.0\n", 2, "sample"),
    "more channels than samples": (
        "\n".join(",".join(f"{(3 * i + k) % 7}" for k in range(20)) for i in range(5)) + "\n",
        2,
        "samples",
    ),
    "non-monotone times": ("t,a\n" + SINE + "3.0,0.5\n", 2, "increas"),
    "inf": ("t,a\n" + SINE.replace("0.540302", "inf"), 2, "inf"),
    "shorter than one period": (slow_table(), 1, ""),
    "pure noise": (noise_table(), 1, "no line is significant"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_end_in_a_sentence(run, here, name):
    text, expected, words = BAD[name]
    (here / "bad.csv").write_text(text, encoding="utf-8")
    step = () if text.startswith("t") else ("--dt", "0.1")
    outputs = ("--json", "m.json", "--report", "r.html")
    status, out, err = run("identify", "bad.csv", *step, *outputs)
    assert (status, out) == (expected, "")
    assert err.startswith("prism: ")
    assert words in err
    assert files(here) == ["bad.csv"]


@pytest.mark.parametrize(
    ("name", "words"), [("none.csv", "cannot be read"), ("bench.xyz", "unknown format '.xyz'")]
)
def test_files_that_cannot_be_read(run, here, name, words):
    (here / "bench.xyz").write_text(SINE)
    status, _, err = run("identify", name, "--dt", "0.1", "--json", "m.json")
    assert status == 2
    assert name in err
    assert words in err
    assert files(here) == ["bench.xyz"]


@pytest.mark.parametrize("option", ["--json", "--report"])
@pytest.mark.parametrize(
    ("path", "words"),
    [("missing/out", "no directory missing"), (".", "is a directory"), ("bench.csv", "used twice")],
)
def test_outputs_are_checked_before_the_work(run, bench, monkeypatch, option, path, words):
    def never(*args, **options):
        raise AssertionError

    monkeypatch.setattr("prism.read", never, raising=False)
    before = Path(bench).read_bytes()
    status, _, err = run("identify", bench, option, path)
    assert status == 2
    assert words in err
    assert Path(bench).read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_directory_without_permission(run, bench, here):
    (here / "closed").mkdir(mode=0o500)
    status, _, err = run("identify", bench, "--json", "closed/m.json")
    assert status == 2
    assert "permission denied" in err


def test_one_file_for_two_outputs(run, bench, here):
    status, _, err = run("identify", bench, "--json", "out", "--report", "out")
    assert status == 2
    assert "used twice" in err


def test_nothing_is_written_when_the_report_fails(run, bench, here, monkeypatch):
    def fail(*args):
        raise prism.errors.WriteError("r.html: cannot be written (no space left).")

    monkeypatch.setattr("prism.report.write_report", fail)
    status, _, err = run("identify", bench, "--json", "m.json", "--report", "r.html")
    assert status == 2
    assert "no space left" in err
    assert files(here) == ["bench.csv"]


def test_report_needs_no_extra(run, bench, here, monkeypatch):
    def missing(module, feature, extra):
        raise prism.errors.MissingDependencyError(feature, module, extra)

    monkeypatch.setattr("prism._optional.require", missing)
    status, _, err = run("identify", bench, "--report", "r.html")
    assert status == 0, err
    assert files(here) == ["bench.csv", "r.html"]


def test_warnings_are_words(run, bench, monkeypatch):
    import warnings

    true = prism.identify

    def warned(*args, **options):
        warnings.warn("the record is odd", PrismWarning, stacklevel=2)
        warnings.warn("for programmers", RuntimeWarning, stacklevel=2)
        return true(*args, **options)

    monkeypatch.setattr(prism, "identify", warned)
    status, _, err = run("identify", bench, "--quiet")
    assert (status, err) == (0, "prism: note: the record is odd\n")


def test_interruption(run, bench, here, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(prism, "identify", interrupted)
    status, _, _ = run("identify", bench, "--json", "m.json")
    assert status == 130
    assert files(here) == ["bench.csv"]


def test_progress_is_shown_on_a_terminal_only(run, bench, monkeypatch):
    from prism.cli._console import progress

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    status, out, err = run("identify", bench)
    assert status == 0
    assert "Verdict" in out
    assert "searching" in err
    assert run("identify", bench, "--quiet") == (0, "", "")
    with progress("work") as say:
        say("[bold] is no markup")


# ------------------------------------------------------------------ forecast


def table_of(text):
    rows = list(csv.reader(text.splitlines()))
    return rows[0], np.array(rows[1:], float)


def test_forecast_continues_the_record(run, model):
    status, out, err = run("forecast", model, "--until", "201")
    assert (status, err) == (0, "")
    header, rows = table_of(out)
    assert header == ["t", "q1", "q1_std", "q4", "q4_std"]
    np.testing.assert_allclose(rows[:, 0], 199.9 + 0.1 * np.arange(1, 12))
    made = prism.load(model).forecast(rows[:, 0])
    np.testing.assert_allclose(rows[:, [1, 3]], made.values, rtol=1e-6)
    np.testing.assert_allclose(rows[:, [2, 4]], made.std, rtol=1e-6)


def test_forecast_to_a_file_with_another_step(run, model, here):
    status, out, _ = run("forecast", model, "--until", "220", "--dt", "2", "-o", "f.csv")
    assert (status, out) == (0, "")
    _, rows = table_of((here / "f.csv").read_text())
    np.testing.assert_allclose(np.diff(rows[:, 0]), 2.0)
    assert prism.read("f.csv").n_channels == 4


def test_forecast_of_a_trial(run, here):
    record = systems.chain(2).equilibrium(50, 0.2, trials=3, noise=0.1, rng=0)
    prism.io.write(record, "e.npz")
    run("identify", "e.npz", "--json", "m.json", "--quiet")
    outputs = [run("forecast", "m.json", "--until", "51", "--trial", k)[1] for k in (0, 2)]
    assert outputs[0] != outputs[1]
    status, out, err = run("forecast", "m.json", "--until", "51", "--trial", "3")
    assert (status, out) == (2, "")
    assert "trial 3 is not among" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--until", "100"], "the record ends at 199.9"),
        (["--until", "nan"], "give a later time"),
        (["--until", "300", "--dt", "0"], "positive, finite step"),
        (["--until", "300", "--output", "missing/f.csv"], "no directory missing"),
        (["--until", "300", "--output", "model.json"], "used twice"),
    ],
)
def test_forecast_refuses(run, model, here, arguments, words):
    before = files(here)
    status, out, err = run("forecast", model, *arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert files(here) == before


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"schema": "prism.model/1"}'])
def test_forecast_needs_a_model(run, here, text):
    (here / "m.json").write_text(text)
    status, _, err = run("forecast", "m.json", "--until", "1")
    assert status == 2
    assert err.startswith("prism: m.json: ")


def test_forecast_of_irregular_times_needs_a_step(run, here):
    t = np.sort(np.random.default_rng(0).uniform(0, 100, 600))
    prism.io.write(prism.Record(np.cos(t), t=t), "i.csv")
    run("identify", "i.csv", "--json", "m.json", "--quiet")
    status, _, err = run("forecast", "m.json", "--until", "120")
    assert status == 2
    assert "--dt" in err
    assert run("forecast", "m.json", "--until", "120", "--dt", "1")[0] == 0


# ------------------------------------------------------------------ simulate


def test_simulate_writes_the_same_every_time(run, here):
    status, out, _ = run("simulate", "chain", "-o", "a.csv", "--duration", "50", "--dt", "0.1")
    assert status == 0
    assert "500 samples" in out
    run("simulate", "chain", "-o", "b.csv", "--duration", "50", "--dt", "0.1", "--seed", "0")
    assert (here / "a.csv").read_bytes() == (here / "b.csv").read_bytes()
    run("simulate", "chain", "-o", "b.csv", "--duration", "50", "--dt", "0.1", "--seed", "1")
    assert (here / "a.csv").read_bytes() != (here / "b.csv").read_bytes()


def test_a_snap_back_with_its_pull(run, here):
    """Simulate pulls with a force of one."""
    made = ("--experiment", "snapback", "--observed", "1", "--noise", "0.02", "--duration", "200")
    assert run("simulate", "chain", *made, "-o", "s.csv")[0] == 0
    given = ("identify", "s.csv", "--experiment", "snapback", "--quiet", "--json", "m.json")
    assert run(*given, "--pull", "1")[0] == 0
    model = prism.load("m.json")
    assert model.hamiltonian.mass[0, 0] == pytest.approx(1.0, abs=0.02)
    status, _, err = run(*given, "--pull", "much")
    assert (status, "numbers with commas" in err) == (2, True)


def test_equilibrium_at_a_temperature_where_quanta_matter(run, here):
    made = ("--experiment", "equilibrium", "--trials", "20", "--duration", "60", "--dt", "0.1")
    assert run("simulate", "chain", *made, "-o", "e.npz")[0] == 0
    given = ("identify", "e.npz", "--experiment", "equilibrium", "--quiet", "--json", "m.json")
    assert run(*given, "--temperature", "1", "--hbar", "0.001")[0] == 0
    assert prism.load("m.json").settings.hbar == 0.001
    status, _, err = run(*given, "--hbar", "1")
    assert (status, "--temperature" in err) == (2, True)


@pytest.mark.parametrize("experiment", ["free", "equilibrium", "released"])
def test_simulate_experiments(run, here, experiment):
    arguments = ("--experiment", experiment, "--trials", "3", "--noise", "0", "--duration", "20")
    assert run("simulate", "chain", *arguments, "--output", "e.npz")[0] == 0
    record = prism.read("e.npz")
    assert record.n_trials == 3
    if experiment == "released":
        starts = [trial[0] for trial in record.trials]
        np.testing.assert_allclose(starts, [[1, 0], [0, 1], [1, 0]], atol=1e-12)


def test_simulate_another_chain(run, here):
    chain = ("--masses", "1,2,1", "--springs", "1,1,2", "--observed", "1,3")
    assert run("simulate", "chain", *chain, "--noise", "0.01", "-o", "c.csv")[0] == 0
    exact = systems.chain([1, 2, 1], [1, 1, 2], observed=[0, 2]).frequencies
    found = prism.identify(prism.read("c.csv"))
    assert found.channels == ("q1", "q3")
    np.testing.assert_allclose(found.modes.frequencies, exact, atol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "channels", "frequency"),
    [
        (["fput", "--amplitude", "0.1"], ("q1",), 0.347),
        (["fput", "--masses", "4", "--amplitude", "0.1", "--observed", "2,3"], ("q2", "q3"), 0.618),
        (["henon-heiles", "--energy", "0.006"], ("x",), 1.0),
        (["henon-heiles", "--energy", "0.02", "--observed", "2"], ("y",), 1.0),
        (["cart-pendulum"], ("x",), 2.506),
        (["cart-pendulum", "--observed", "1,2"], ("x", "theta"), 2.506),
    ],
)
def test_simulate_other_systems(run, here, arguments, channels, frequency):
    options = ("--duration", "200", "--noise", "0.01", "-o", "s.csv")
    assert run("simulate", *arguments, *options)[0] == 0
    record = prism.read("s.csv")
    assert record.channels == channels
    found = prism.identify(record, max_modes=4).modes.frequencies
    assert np.abs(found - frequency).min() < 0.01


def test_simulate_the_cart_at_equilibrium(run, here):
    arguments = ("--experiment", "equilibrium", "--trials", "3", "--duration", "20")
    assert run("simulate", "cart-pendulum", *arguments, "-o", "e.npz")[0] == 0
    assert prism.read("e.npz").n_trials == 3


def test_simulate_says_that_a_motion_may_escape(run, here):
    arguments = ("henon-heiles", "--energy", "0.17", "--duration", "5", "-o", "h.csv")
    status, _, err = run("simulate", *arguments)
    assert status == 0
    assert err.startswith("prism: note: energy 0.17 is above the escape energy")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rope", "-o", "x.csv"], "unknown system 'rope'"),
        (["chain", "-o", "x.csv", "--energy", "1"], "--energy means nothing to chain"),
        (["fput", "-o", "x.csv", "--springs", "1"], "--springs means nothing to fput"),
        (["fput", "-o", "x.csv", "--masses", "1,2"], "give their number"),
        (["fput", "-o", "x.csv", "--amplitude", "9"], "runs away"),
        (["fput", "-o", "x.csv", "--trials", "2"], "one free trial only"),
        (["henon-heiles", "-o", "x.csv", "--experiment", "released"], "one free trial only"),
        (["henon-heiles", "-o", "x.csv", "--energy", "0"], "give more energy"),
        (["henon-heiles", "-o", "x.csv", "--observed", "3"], "observed coordinates"),
        (["cart-pendulum", "-o", "x.csv", "--masses", "3"], "--masses means nothing"),
        (["cart-pendulum", "-o", "x.csv", "--observed", "3"], "name x, theta or both"),
        (["chain", "-o", "x.xyz"], "cannot write format '.xyz'"),
        (["chain", "-o", "missing/x.csv"], "no directory missing"),
        (["chain", "-o", "x.csv", "--trials", "0"], "at least 1"),
        (["chain", "-o", "x.csv", "--noise", "-1"], "--noise is -1"),
        (["chain", "-o", "x.csv", "--seed", "-1"], "--seed is -1"),
        (["chain", "-o", "x.csv", "--dt", "0"], "fewer than 8 samples"),
        (["chain", "-o", "x.csv", "--observed", "0"], "count the masses from 1"),
        (["chain", "-o", "x.csv", "--observed", "9"], "observed masses"),
        (["chain", "-o", "x.csv", "--masses", "a,b"], "--masses is 'a,b'"),
        (["chain", "-o", "x.csv", "--springs", "1,1"], "springs"),
        (["chain", "-o", "x.csv", "--experiment", "magic"], "unknown experiment 'magic'"),
        (["chain", "-o", "x.csv", "--excitation", "sweep"], "--excitation means nothing to a free"),
        (["chain", "-o", "x.csv", "--loss", "0.1"], "--loss means nothing to a free"),
        (["chain", "-o", "x.csv", "--band", "1,2"], "--band means nothing to a free"),
        (["chain", "-o", "x.csv", "--lines", "50"], "--lines means nothing to a free"),
        (["chain", "-o", "x.csv", "--noise-kind", "both"], "--noise-kind means nothing to a free"),
    ],
)
def test_simulate_refuses(run, here, arguments, words):
    status, out, err = run("simulate", *arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert files(here) == []


# ------------------------------------------------------------------ info


def test_info_on_data(run, bench):
    status, out, _ = run("info", bench)
    assert status == 0
    for words in ("csv", "2000", "q1, q4", "column 't', dt = 0.1", "prism identify bench.csv"):
        assert words in out


def test_info_on_data_without_times(run, here):
    (here / "raw.txt").write_text("".join(f"{np.cos(k):.4f} {np.sin(k):.4f}\n" for k in range(50)))
    status, out, _ = run("info", "raw.txt")
    assert status == 0
    assert "x1, x2" in out
    assert "prism identify raw.txt --dt X" in out


def test_info_on_data_that_would_be_refused(run, here):
    (here / "flat.csv").write_text("t,a\n" + re.sub(r",.*", ",1.5", SINE))
    status, out, _ = run("info", "flat.csv")
    assert status == 0
    assert "It would be refused" in out


def test_info_on_a_model(run, model):
    status, out, _ = run("info", model)
    assert status == 0
    assert "4 modes in 2 channels" in out
    assert "prism forecast model.json --until" in out


def test_info_on_nothing(run, here):
    status, _, err = run("info", "none.csv")
    assert status == 2
    assert "none.csv" in err


# ------------------------------------------------------------------ benchmark


class Result:
    """A benchmark that is done at once."""

    def __init__(self, name, seeds):
        self.name, self.seeds = name, seeds

    def to_json(self):
        return {"benchmark": self.name, "seeds": self.seeds, "rows": [{"measured": np.nan}]}

    def __str__(self):
        return f"table of {self.name}"


@pytest.fixture
def benchmarks(monkeypatch):
    def runner(name):
        def run_one(seeds, progress):
            progress("half way")
            return Result(name, seeds)

        return run_one

    monkeypatch.setattr(
        "prism_bench.BENCHMARKS", {name: runner(name) for name in ("first", "second")}
    )


def test_benchmark_all(run, here, benchmarks):
    status, out, _ = run("benchmark", "--json", "b.json")
    assert status == 0
    assert out == "table of first\ntable of second\n"
    data = json.loads((here / "b.json").read_text())
    assert [item["benchmark"] for item in data["benchmarks"]] == ["first", "second"]
    assert data["benchmarks"][0]["rows"] == [{"measured": None}]


def test_benchmark_one(run, benchmarks, here):
    status, out, _ = run("benchmark", "second", "--seeds", "3")
    assert (status, out) == (0, "table of second\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["third"], "unknown benchmark 'third'; use one of first, second, all"),
        (["--seeds", "0"], "at least 1"),
        (["--json", "missing/b.json"], "no directory missing"),
    ],
)
def test_benchmark_refuses(run, benchmarks, here, arguments, words):
    status, out, err = run("benchmark", *arguments)
    assert (status, out) == (2, "")
    assert words in err


# ------------------------------------------------------------------ demo and whole processes


@pytest.mark.parametrize(
    ("typed", "path", "words"),
    [
        ("bin/prism", "", "bin/prism"),  # a command that is not on the path, as after make demo
        ("bin/prism", "bin", "prism"),
        ("/site/prism/__main__.py", "", "-m prism"),
        ("/site/pytest/__main__.py", "", "prism"),
    ],
)
def test_commands_are_shown_as_they_can_be_typed(here, monkeypatch, typed, path, words):
    command = here / "bin" / "prism"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(here / path) if path else "")
    monkeypatch.setattr(sys, "argv", [typed])
    assert program().endswith(words)
    assert program().startswith(words) or typed.startswith("/site/prism")


def test_a_name_like_another_quantity_is_noted(run, here):
    record = prism.systems.chain().free(60, 0.2, noise=0.1, rng=0)
    prism.io.write(prism.Record(record.trials[0], dt=0.2, channels=["acc", "q"]), here / "a.csv")
    assert "acc is called like acceleration and read as displacement" in run("identify", "a.csv")[2]
    assert run("identify", "a.csv", "--quantity", "acceleration")[2] == ""


def test_demo(run, here):
    status, out, err = run("demo", "--directory", "tour")
    assert (status, err) == (0, "")
    assert files(here / "tour") == ["ensemble.csv", "free.csv", "model.json", "report.html"]
    for words in ("Ω exact", "|c2(q4)|", "Forecast of the other 60 %", "What to try next"):
        assert words in out
    assert "passive" in out
    data = json.loads((here / "tour" / "model.json").read_text())
    assert data["hamiltonian"]["identifiable"] is True
    assert data["forecast"]["nrmse"]
    (here / "file").write_text("")
    assert run("demo", "--directory", "file")[0] == 2


def test_commands_follow_on_each_other(tmp_path):
    done = in_own_process(*("simulate", "chain", "--duration", "100", "-o", "c.csv"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = in_own_process("identify", "c.csv", "--json", "m.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Visible modes" in done.stdout
    assert "\x1b" not in done.stdout
    done = in_own_process("forecast", "m.json", "--until", "101", cwd=tmp_path)
    assert done.stdout.startswith("t,q1,q1_std,q4,q4_std\n100,")


def test_bad_input_in_its_own_process(tmp_path):
    (tmp_path / "noise.csv").write_text(noise_table())
    done = in_own_process("identify", "noise.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "no line is significant" in done.stderr
    assert "Traceback" not in done.stderr
    done = in_own_process("identify", "none.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_closed_pipe_is_quiet(tmp_path):
    read, write = os.pipe()
    os.close(read)
    code = "import sys; from prism.cli import main; sys.exit(main(['--help']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 1


def test_importing_the_command_line_is_light():
    code = (
        "import sys, prism.cli, prism.cli._app;"
        "print(*[m for m in ('numpy', 'scipy', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == []


@pytest.mark.slow
def test_benchmark_draws_the_figures_of_the_paper(tmp_path, capsys):
    assert main(["benchmark", "--figures", str(tmp_path / "figures")]) == 0
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names == ["cart-pendulum.png", "chain.png", "fput.png", "henon-heiles.png"]
    assert all(path.stat().st_size > 20_000 for path in (tmp_path / "figures").iterdir())
    assert "chain.png" in capsys.readouterr().out


def test_array_of_a_mat_file_is_chosen_by_name(run, here):
    from scipy.io import savemat

    values = systems.chain().free(200, 0.1, noise=0.1, rng=0).trials[0]
    savemat(here / "lab.mat", {"motion": values, "other": values[:, ::-1], "dt": 0.1})
    status, _, err = run("identify", "lab.mat")
    assert status == 2
    assert "--array" in err
    status, out, _ = run("identify", "lab.mat", "--array", "motion")
    assert status == 0
    assert "4 modes" in out
