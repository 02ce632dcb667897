"""``prism simulate`` of forced tests and responses; the rest is in test_cli."""

import numpy as np
import pytest

import prism
from prism import systems
from prism.cli import main
from prism.cli._experiments import EXPERIMENTS, SimulationSettings
from prism.cli._systems import SYSTEMS


@pytest.fixture
def run(capsys):
    """Run the command; return its exit status, its output and its complaints."""

    def call(*arguments):
        status = main(["simulate", *map(str, arguments)])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return call


@pytest.fixture
def written(monkeypatch):
    """What a response experiment hands to the writer."""
    import sys
    from types import ModuleType

    seen = {}
    module = ModuleType("prism.io.response")
    module.write_response = lambda response, path: seen.update({path: response})
    monkeypatch.setitem(sys.modules, "prism.io.response", module)
    return seen


@pytest.mark.parametrize("excitation", ["random", "sweep", "dwell", "burst", "hammer"])
def test_forced_record(run, here, excitation):
    arguments = ("--experiment", "forced", "--excitation", excitation, "--duration", "200")
    status, out, err = run("absorber", *arguments, "--noise", "0", "--loss", "0.02", "-o", "f.csv")
    assert (status, err) == (0, "")
    assert "channels x f_x" in out
    record = prism.read("f.csv")
    assert record.channels == ("x", "f_x")
    motion, force = record.trials[0].T
    system = systems.tuned_absorber()
    again = systems.forced(system, force, 0.05, loss=0.02).record.trials[0][:, 0]
    np.testing.assert_allclose(motion, again, atol=1e-6 * np.abs(motion).max())
    band = system.frequencies[0] / 2, 1.25 * system.frequencies[-1]
    if excitation != "dwell":
        made = systems.excitation(excitation, *band, 0.05, 200.0, 0)
        np.testing.assert_allclose(force, made, atol=1e-9)


def test_forced_record_pushes_each_port_in_its_turn(run, here):
    arguments = ("--experiment", "forced", "--trials", "3", "--duration", "50", "--seed", "4")
    assert run("chain", *arguments, "-o", "f.npz")[0] == 0
    record = prism.read("f.npz")
    assert record.channels == ("q1", "q4", "f_q1", "f_q4")
    pushed = [trial[:, 2:].any(axis=0).tolist() for trial in record.trials]
    assert pushed == [[True, False], [False, True], [True, False]]
    assert np.abs(record.trials[0] - record.trials[2]).max() > 0.1
    assert run("chain", *arguments, "-o", "g.npz")[0] == 0
    np.testing.assert_array_equal(record.trials, prism.read("g.npz").trials)


def test_forced_record_in_a_band(run, here):
    arguments = ("--experiment", "forced", "--band", "4,6", "--duration", "100")
    assert run("slosh", *arguments, "-o", "f.csv")[0] == 0
    force = prism.read("f.csv").select("f_x").trials[0][:, 0]
    omega = 2 * np.pi * np.fft.rfftfreq(len(force), 0.05)
    power = np.abs(np.fft.rfft(force)) ** 2
    assert power[(omega < 4) | (omega > 6)].max() < 1e-6 * power.max()


def test_response(run, here, written):
    arguments = ("--experiment", "response", "--band", "2,15", "--lines", "50", "--loss", "0.02")
    status, out, err = run("slosh", *arguments, "--noise", "0", "-o", "r.csv")
    assert (status, err) == (0, "")
    assert out.startswith("r.csv: FrequencyResponse(50 frequencies 2 to 15")
    expected = systems.slosh_tank().response(np.linspace(2, 15, 50), loss=0.02)
    np.testing.assert_array_equal(written["r.csv"].values, expected.values)


@pytest.mark.parametrize("kind", ["multiplicative", "additive", "both"])
def test_response_with_noise(run, here, written, kind):
    arguments = ("--experiment", "response", "--noise", "0.2", "--noise-kind", kind, "--seed", "5")
    assert run("chain", *arguments, "--observed", "1,2", "-o", "r.npz")[0] == 0
    system, found = systems.chain(observed=[0, 1]), written["r.npz"]
    assert (len(found), found.outputs) == (400, ("q1", "q2"))
    expected = system.response(found.omega, loss=0.01, noise=0.2, noise_kind=kind, rng=5)
    np.testing.assert_array_equal(found.values, expected.values)
    assert found.omega[0] < system.frequencies[0]
    assert found.omega[-1] > system.frequencies[-1]


def test_response_is_written_and_read(run, here):
    module = pytest.importorskip("prism.io.response")
    for name in ("r.csv", "r.npz"):
        assert run("absorber", "--experiment", "response", "-o", name)[0] == 0
        found = module.read_response(name)
        expected = systems.tuned_absorber().response(found.omega, loss=0.01, noise=0.1, rng=0)
        np.testing.assert_allclose(found.values, expected.values, rtol=1e-6)
        assert (found.outputs, found.quantity) == (("x",), "displacement")


@pytest.mark.parametrize("system", ["absorber", "slosh"])
def test_new_systems_have_the_usual_experiments(run, here, system):
    for experiment in ("free", "equilibrium", "released", "snapback"):
        arguments = ("--experiment", experiment, "--duration", "20", "--observed", "1,2")
        assert run(system, *arguments, "-o", "e.npz")[0] == 0
        assert prism.read("e.npz").n_channels == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--excitation", "sweep"], "--excitation means nothing to a free experiment"),
        (["--loss", "0.1", "--band", "1,2"], "--loss, --band means nothing to a free"),
        (["--experiment", "forced", "--lines", "9"], "--lines means nothing to a forced"),
        (["--experiment", "forced", "--noise-kind", "both"], "--noise-kind means nothing"),
        (["--experiment", "response", "--trials", "3"], "--trials means nothing to a response"),
        (["--experiment", "response", "--dt", "1"], "--dt means nothing to a response"),
        (["--experiment", "response", "--duration", "1"], "--duration means nothing"),
        (["--experiment", "response", "--excitation", "random"], "--excitation means nothing"),
        (["--experiment", "forced", "--excitation", "tap"], "unknown excitation 'tap'"),
        (["--experiment", "forced", "--loss", "-1"], "--loss is -1"),
        (["--experiment", "forced", "--loss", "2"], "stop oscillating"),
        (["--experiment", "forced", "--dt", "0"], "fewer than 8 samples"),
        (["--experiment", "forced", "--dt", "nan"], "fewer than 8 samples"),
        (["--experiment", "forced", "--dt", "5"], "half the sampling rate"),
        (["--experiment", "forced", "--band", "1,90"], "half the sampling rate"),
        (["--experiment", "forced", "--band", "2,1"], "--band is '2,1'"),
        (["--experiment", "forced", "--band", "1"], "--band is '1'"),
        (["--experiment", "response", "--band", "a,b"], "--band is 'a,b'"),
        (["--experiment", "response", "--lines", "3"], "--lines is 3: give at least 4"),
        (["--experiment", "response", "--noise-kind", "red"], "unknown noise_kind 'red'"),
        (["--masses", "3"], "--masses means nothing to absorber"),
        (["--observed", "3"], "name x, y or both"),
    ],
)
def test_refusals(run, here, written, arguments, words):
    status, out, err = run("absorber", *arguments, "-o", "x.csv")
    assert (status, out) == (2, "")
    assert words in err
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("experiment", ["forced", "response"])
def test_nonlinear_systems_are_free(run, here, experiment):
    status, _, err = run("fput", "--experiment", experiment, "-o", "x.csv")
    assert status == 2
    assert "one free trial only" in err


def test_help_names_what_there_is(run):
    text = " ".join(run("--help")[1].split())
    for name in (*SYSTEMS, *EXPERIMENTS, *systems.EXCITATIONS, str(SimulationSettings.dt)):
        assert name in text
