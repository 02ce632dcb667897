"""The command line on records that decay, hum or are driven by noise."""

import json

import numpy as np


def write(path, values, dt=0.05):
    t = dt * np.arange(len(values))
    np.savetxt(path, np.column_stack([t, values]), delimiter=",", header="t,a,b", comments="")


def motion(decay, hum=0.0, T=120.0, dt=0.05):
    rng = np.random.default_rng(0)
    t = dt * np.arange(round(T / dt))
    a = np.exp(-decay * t) * np.cos(2.0 * t)
    b = np.exp(-2 * decay * t) * np.sin(3.3 * t)
    x = np.stack([a + b, a - 0.7 * b], axis=1) + hum * np.cos(2 * np.pi * 4 * t)[:, None]
    return x + 0.01 * rng.standard_normal(x.shape)


def test_damped(here, run):
    write("decay.csv", motion(0.02))
    status, out, _ = run("identify", "decay.csv", "--damped", "--json", "m.json")
    assert status == 0
    assert "free decay" in out
    modes = json.loads((here / "m.json").read_text())["modes"]
    np.testing.assert_allclose([m["damping"] for m in modes], [0.01, 0.04 / 3.3], rtol=0.02)
    status, out, _ = run("forecast", "m.json", "--until", "125", "--dt", "1")
    assert status == 0
    assert len(out.splitlines()) > 4


def test_a_decay_is_found_without_an_option(here, run):
    write("decay.csv", motion(0.02))
    status, out, _ = run("identify", "decay.csv", "--json", "m.json")
    assert status == 0
    assert "motion      a free decay; next best: " in out
    assert json.loads((here / "m.json").read_text())["kind"] == "decaying"


def test_ignore(here, run):
    write("hum.csv", motion(0.0, hum=0.3))
    status, out, _ = run("identify", "hum.csv", "--ignore", "4hz", "--json", "m.json")
    assert status == 0
    assert "ignored bands (25.13" in " ".join(out.split())
    assert len(json.loads((here / "m.json").read_text())["modes"]) == 2


def test_ignore_what_makes_no_sense(here, run):
    write("hum.csv", motion(0.0))
    status, out, err = run("identify", "hum.csv", "--ignore", "mains")
    assert (status, out) == (2, "")
    assert "cannot ignore 'mains'" in err


def test_potential(here, run):
    from prism.systems.nonlinear_particle import duffing

    record = duffing(1.0, 0.5, [], []).simulate([1.5], [0.0], 60, 0.1, noise=0.01, rng=0)
    x = record.trials[0][:, 0]
    np.savetxt("x.csv", np.column_stack([record.times[0], x]), delimiter=",", header="t,x")
    arguments = ("identify", "x.csv", "--potential", "x,x^3", "--max-modes", "1")
    status, out, err = run(*arguments, "--json", "m.json")
    assert status == 0, err
    assert "V(x) = " in out
    assert json.loads((here / "m.json").read_text())["hamiltonian"]["potential"]["terms"] == [
        "x",
        "x^3",
    ]
    status, _, err = run("identify", "x.csv", "--potential", "cosh")
    assert status == 2
    assert "cosh" in err


def test_drift(here, run):
    x = motion(0.0)
    write("bent.csv", x + 5 * np.linspace(-1, 1, len(x))[:, None] ** 2)
    status, out, _ = run("identify", "bent.csv", "--drift", "2", "--json", "m.json")
    assert status == 0
    assert "drift of degree 2" in out
    assert len(json.loads((here / "m.json").read_text())["modes"]) == 2
