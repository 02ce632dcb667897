"""``prism kernel`` and ``prism bounds``: kernels as tables, and least errors."""

import csv
import io

import numpy as np
import pytest

import prism
from prism import systems

ONE = systems.chain(observed=[0])


def table(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return {name: np.array([row[name] for row in rows], float) for name in rows[0]}


@pytest.fixture
def model(here):
    record = ONE.released(60, 0.3, [1.0])
    found = prism.identify(record, experiment="released", kind="steady")
    found.save(here / "model.json")
    return found


def test_memory_and_friction_over_time(run, here, model):
    status, out, err = run("kernel", "model.json", "--until", "12", "--points", "7")
    assert (status, err) == (0, "")
    found = table(out)
    t = found["t"]
    np.testing.assert_allclose(t, np.linspace(0, 12, 7))
    friction = model.kernel.friction(t)[:, 0, 0]
    np.testing.assert_allclose(found["K_q1_q1"], model.kernel(t)[:, 0, 0], atol=1e-9)
    np.testing.assert_allclose(found["friction_q1_q1"], friction, atol=1e-9)


def test_spectral_density_over_frequency(run, here, model):
    assert run("kernel", "model.json", "--over", "frequency", "-o", "density.csv")[0] == 0
    found = table((here / "density.csv").read_text("utf-8"))
    exact = model.kernel.spectral_density(found["omega"])[:, 0, 0]
    np.testing.assert_allclose(found["J_q1_q1"], exact, rtol=1e-9)
    assert found["omega"][-1] > model.kernel.poles[-1]


def test_what_has_no_kernel(run, here):
    free = prism.identify(ONE.free(40, 0.3, rng=0), kind="steady")
    free.save(here / "free.json")
    status, _, err = run("kernel", "free.json")
    assert status == 1
    assert "the memory kernel is not determined" in err
    assert run("kernel", "free.json", "--over", "phase")[0] == 2


def test_least_errors_are_printed(run, here):
    record = ONE.released(60, 0.3, [1.0])
    prism.io.write(record, here / "clean.csv")
    arguments = ("--noise", "0.01", "--experiment", "released", "--quiet")
    status, out, err = run("bounds", "clean.csv", *arguments)
    assert (status, err) == (0, "")
    least = prism.bounds(record, 0.01, experiment="released")
    rows = "".join(f"\n  {value:.3g}" for value in least.hidden_frequencies)
    assert f"hidden frequencies{rows}\n" in out
    status, out, _ = run("bounds", "clean.csv", "--noise", "0.01", "--quiet")
    assert status == 0
    assert "The Hamiltonian would not be determined" in out
    assert run("bounds", "clean.csv")[0] == 2  # without noise there is no bound


def test_what_else_is_known_goes_with_the_bounds(run, here):
    two = systems.chain()
    record = two.free(60, 0.3, rng=0)
    np.save(here / "x.npy", record.trials[0])
    np.savetxt(here / "kappa.csv", two.stiffness, delimiter=",")
    given = ("--mass", "identity", "--known-stiffness", "kappa.csv")
    status, out, err = run("bounds", "x.npy", "--dt", "0.3", "--noise", "0.01,0.02", *given)
    assert (status, err) == (0, "")
    assert "couplings\n" in out
    prism.io.write(record, here / "x.csv")
    seen = ("--channels", "q4", "--quantity", "velocity", "--damped")
    status, out, _ = run("bounds", "x.csv", "--noise", "0.01", *seen)
    assert status == 0
    assert "damping\n" in out


def test_bounds_of_a_response_in_proportion_to_its_values(run, here):
    omega = np.linspace(0.1, 2.5, 120)
    response = ONE.response(omega, loss=0.02, damping="viscous")
    prism.io.write(response, here / "frf.csv")
    status, out, err = run("bounds", "frf.csv", "--relative", "0.02")
    assert (status, err) == (0, "")
    least = prism.bounds(response, 0.0, relative=0.02)
    assert "damping" + "".join(f"\n  {value:.3g}" for value in least.damping) in out
