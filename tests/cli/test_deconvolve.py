"""``prism deconvolve``: the kernel K(s) of an ensemble as a table, and its poles."""

import csv
import io
from importlib.util import find_spec

import numpy as np
import pytest

import prism
from prism import systems

ONE = systems.chain(observed=[0])
QUIET = ("--mass", "identity", "--quiet")

needs_solver = pytest.mark.skipif(
    not (find_spec("cvxpy") and find_spec("clarabel")),
    reason="needs the extra sdp",
)


def table(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return {name: np.array([row[name] for row in rows], float) for name in rows[0]}


def exact(s):
    weights = 1 / (s[:, None] ** 2 + ONE.hidden_frequencies**2)
    return weights @ ONE.couplings[:, 0] ** 2


@pytest.fixture
def ensemble(here):
    prism.io.write(ONE.equilibrium(100, 0.1, trials=300, noise=0.02, rng=0), here / "e.npz")


def test_at_equilibrium(run, here, ensemble):
    status, out, err = run("deconvolve", "e.npz", "--re", "0.3", "--points", "9", *QUIET)
    assert (status, err) == (0, "")
    found = table(out)
    s = found["re"] + 1j * found["im"]
    assert s[0] == 0.3
    assert s[-1].imag == pytest.approx(1.2 * ONE.frequencies[-1], rel=1e-3)
    np.testing.assert_allclose(found["K_q1_q1_re"] + 1j * found["K_q1_q1_im"], exact(s), atol=0.08)


def test_after_a_release(run, here):
    prism.io.write(ONE.released(200, 0.1, [1.0], noise=1e-4, rng=0), here / "r.npz")
    given = ("--experiment", "released", "--re", "0.2", "--until", "2", "-o", "k.csv")
    assert run("deconvolve", "r.npz", *given, *QUIET)[0] == 0
    found = table((here / "k.csv").read_text("utf-8"))
    s = found["re"] + 1j * found["im"]
    assert s[-1] == pytest.approx(0.2 + 2j)
    np.testing.assert_allclose(found["K_q1_q1_re"] + 1j * found["K_q1_q1_im"], exact(s), atol=0.02)


@needs_solver
def test_poles_by_the_semidefinite_program(run, here, ensemble):
    status, out, _ = run("deconvolve", "e.npz", "--residues", *QUIET)
    assert status == 0
    found = table(out)
    np.testing.assert_allclose(found["frequency"], ONE.hidden_frequencies, rtol=0.03)
    np.testing.assert_allclose(found["R_q1_q1"], ONE.couplings[:, 0] ** 2, atol=0.05)
    assert (found["rank"] == 1).all()


def test_a_stiffness_that_is_known(run, here, ensemble):
    (here / "kappa.csv").write_text("3.0\n", "utf-8")
    more = ("--known-stiffness", "kappa.csv", "--points", "3", "--re", "0.3")
    shifted = table(run("deconvolve", "e.npz", *more, *QUIET)[1])
    plain = table(run("deconvolve", "e.npz", "--points", "3", "--re", "0.3", *QUIET)[1])
    model = prism.identify(prism.read(here / "e.npz"), experiment="equilibrium", mass="identity")
    off = 3.0 - float(model.hamiltonian.stiffness[0, 0])
    np.testing.assert_allclose(shifted["K_q1_q1_re"] - plain["K_q1_q1_re"], off, atol=1e-9)


def test_what_was_not_tested_is_said(run, here):
    prism.io.write(ONE.free(40, 0.3, rng=0), here / "one.csv")
    arguments = ("deconvolve", "one.csv", "--mass", "identity", "--points", "3")
    status, out, err = run(*arguments)
    assert status == 0
    assert len(out.splitlines()) == 4
    assert "canonical" in err
    assert "not tested" in err
    assert run(*arguments, "--quiet")[2] == ""


def test_refusals(run, here, ensemble):
    assert run("deconvolve", "e.npz", "--points", "1", *QUIET)[0] == 2
    status, _, err = run("deconvolve", "e.npz", "--experiment", "free", *QUIET)
    assert status == 2
    assert "equilibrium or released" in err
    prism.io.write(ONE.free(4, 0.3, noise=5.0, rng=0), here / "free.csv")
    status, out, err = run("deconvolve", "free.csv", *QUIET)
    assert (status, out) == (1, "")
    assert "free.csv" in err
    prism.io.write(ONE.response(np.linspace(0.1, 3, 60)), here / "frf.csv")
    status, _, err = run("deconvolve", "frf.csv", *QUIET)
    assert status == 2
    assert "no correlation" in err
