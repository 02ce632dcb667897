"""Port-Hamiltonian and state-space forms against the receptance."""

import doctest
import sys

import numpy as np
import pytest

import prism
from prism import systems
from prism.completion import complete
from prism.errors import CannotTellError, MissingDependencyError, OptionError
from prism.hamiltonian import Hamiltonian
from prism.port_hamiltonian import PortHamiltonian, damping_matrix, port_matrices, port_names

POINTS = np.array([0.1 + 0.3j, 0.7j, 1.9j, -0.4 + 2.3j, 3.0])
SKEW = np.array([[0.0, 1.0], [-1.0, 0.0]])


@pytest.fixture(scope="module")
def free():
    five = systems.chain(5, [1, 2, 1, 1.5, 0.5], observed=[0, 2, 4])
    return prism.identify(five.free(400, 0.05, noise=0.1, rng=1), mass="identity")


def mobility(system, s):
    """The dense and obvious form, one point at a time."""
    A = (system.J - system.R) @ system.Q
    return system.B.T @ system.Q @ np.linalg.inv(s * np.eye(len(A)) - A) @ system.B


def test_exact_system_has_the_mobility_of_block_elimination():
    chain = systems.chain(6, [1, 2, 1, 1.5, 0.5, 1], observed=[0, 3])
    h = Hamiltonian(complete(chain.frequencies, chain.participation), chain.channels)
    system = PortHamiltonian(*port_matrices(h), h.channels, port_names(h))
    for s in POINTS:
        np.testing.assert_allclose(mobility(system, s), s * chain.receptance(s), rtol=1e-8)


def test_a_rigid_body_has_energy_in_its_motion_alone():
    omega, V = np.array([0.0, 1.0, 2.0]), np.array([[0.6, 0.6], [0.7, -0.6], [0.5, 0.4]])
    h = Hamiltonian(complete(omega, V), ("a", "b"))
    system = PortHamiltonian(*port_matrices(h), h.channels, port_names(h))
    assert np.linalg.eigvalsh(system.Q)[0] == pytest.approx(0, abs=1e-12)
    s = 0.3 + 0.7j
    expected = s * np.einsum("m,ma,mb->ab", 1 / (s**2 + omega**2), V, V)
    np.testing.assert_allclose(mobility(system, s), expected, rtol=1e-9)


@pytest.mark.parametrize("zeta", [0.0, 0.03])
def test_damping_acts_on_each_mode_by_its_ratio(zeta):
    chain = systems.chain(4, [1, 2, 1, 1.5], observed=[0, 3])
    h = Hamiltonian(complete(chain.frequencies, chain.participation), chain.channels)
    ratios = zeta * np.arange(1, 5)
    M, K = h.matrices
    D = damping_matrix(M, K, ratios)
    omega = chain.frequencies
    for s in POINTS:
        by_modes = sum(
            np.outer(v, v) / (s**2 + 2 * z * w * s + w**2)
            for v, z, w in zip(chain.participation, ratios, omega, strict=True)
        )
        dense = np.linalg.inv(M * s**2 + D * s + K)[:2, :2]
        np.testing.assert_allclose(dense, by_modes, rtol=1e-7)


@pytest.mark.parametrize("which", ["free", "lossy", "shaken"])
def test_transfer_function_is_s_times_the_receptance(which, request):
    made = request.getfixturevalue(which)
    model = made if which == "free" else made[0]
    system = model.port_hamiltonian()
    expected = POINTS[:, None, None] * model.receptance(POINTS)
    size = np.abs(expected).max()
    np.testing.assert_allclose(system.transfer(POINTS), expected, rtol=1e-6, atol=1e-9 * size)
    dense = np.array([mobility(system, s) for s in POINTS])
    np.testing.assert_allclose(system.transfer(POINTS), dense, rtol=1e-8, atol=1e-10 * size)


@pytest.mark.parametrize("which", ["free", "lossy", "shaken"])
def test_structure_is_passive(which, request):
    made = request.getfixturevalue(which)
    model = made if which == "free" else made[0]
    system = model.port_hamiltonian()
    np.testing.assert_array_equal(system.J, -system.J.T)
    assert np.linalg.eigvalsh(system.R)[0] > -1e-9 * max(np.abs(system.R).max(), 1)
    assert np.linalg.eigvalsh(system.Q)[0] > -1e-9 * np.abs(system.Q).max()
    assert system.lossless == (not model.modes.damping.any())
    assert len(system.states) == len(system.Q) == 2 * model.hamiltonian.size
    assert system.ports == model.channels


def test_losses_are_where_the_model_has_them(lossy, free):
    assert free.port_hamiltonian().lossless
    system = lossy[0].port_hamiltonian()
    assert not system.lossless
    poles = np.linalg.eigvals(system.A)
    poles = poles[poles.imag > 0]
    poles = poles[np.argsort(np.abs(poles))]
    modes = lossy[0].modes
    np.testing.assert_allclose(np.abs(poles), modes.frequencies, rtol=1e-7)
    np.testing.assert_allclose(-poles.real / np.abs(poles), modes.damping, atol=1e-8)


def test_energy_is_that_of_the_hamiltonian_and_balances_the_work(free, lossy):
    rng = np.random.default_rng(0)
    h = free.hamiltonian
    states = rng.standard_normal((7, 2 * h.size))
    np.testing.assert_allclose(free.port_hamiltonian().energy(states), h.energy(states))
    for model in (free, lossy[0]):
        p = model.port_hamiltonian()
        z, u = rng.standard_normal(len(p.Q)), rng.standard_normal(p.B.shape[1])
        rate = (p.Q @ z) @ (p.A @ z + p.B @ u)
        loss = (p.Q @ z) @ p.R @ (p.Q @ z)
        assert rate == pytest.approx(u @ (p.C @ z) - loss)


def test_value_object_keeps_its_own_frozen_copies():
    Q = np.eye(2)
    system = PortHamiltonian(SKEW, 0 * SKEW, Q, [[0.0], [1.0]], ("x",), ("x", "p_x"))
    Q[0, 0] = 7.0
    assert system.Q[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        system.Q[0, 0] = 7.0


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"J": np.eye(2)}, OptionError, "skew"),
        ({"R": np.diag([0.0, -1.0])}, CannotTellError, "R has the negative eigenvalue -1"),
        ({"Q": np.diag([-2.0, 1.0])}, CannotTellError, "no lower bound"),
        ({"Q": [[1.0, 1.0], [0.0, 1.0]]}, OptionError, "not symmetric"),
        ({"B": np.eye(2)}, OptionError, r"B has shape \(2, 2\)"),
    ],
)
def test_what_is_not_passive_is_refused(change, error, words):
    parts = {"J": SKEW, "R": 0 * SKEW, "Q": np.eye(2), "B": [[0.0], [1.0]]} | change
    with pytest.raises(error, match=words):
        PortHamiltonian(**parts, ports=("x",), states=("x", "p_x"))


def test_wrong_number_of_damping_ratios_is_refused():
    with pytest.raises(OptionError, match="3 damping ratios for 2 modes"):
        damping_matrix(np.eye(2), np.eye(2), [0.1, 0.1, 0.1])


@pytest.mark.parametrize("form", ["port_hamiltonian", "to_statespace", "to_control"])
def test_undetermined_hamiltonian_has_no_form(form):
    model = prism.identify(systems.chain().free(200, 0.1, noise=0.1, rng=0))
    with pytest.raises(CannotTellError, match="not determined"):
        getattr(model, form)()


def test_scipy_form_is_the_receptance(lossy, free):
    for model in (lossy[0], free):
        system = model.to_statespace()
        for s in POINTS:
            dense = system.C @ np.linalg.solve(s * np.eye(len(system.A)) - system.A, system.B)
            np.testing.assert_allclose(dense, model.receptance(s), rtol=1e-6, atol=1e-12)


def test_python_control_gets_the_receptance_with_names(lossy):
    pytest.importorskip("control")
    model = lossy[0]
    system = model.to_control()
    omega = np.array([0.3, 1.1, 1.7])
    for k, w in enumerate(omega):
        np.testing.assert_allclose(system(1j * w), model.receptance(1j * w), rtol=1e-6)
        one = system[model.channels[0], f"f_{model.channels[1]}"](1j * w)
        assert one == pytest.approx(model.receptance(1j * omega)[k, 0, 1])
    assert system.input_labels == [f"f_{name}" for name in model.channels]
    assert system.output_labels == list(model.channels)
    assert system.nstates == len(system.state_labels) == 2 * len(model.modes)


def test_without_python_control_the_extra_is_named(free, monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(MissingDependencyError, match=r"prism-id\[control\]"):
        free.to_control()


def test_examples_in_the_docstrings():
    pytest.importorskip("control")
    finder = doctest.DocTestFinder(recurse=False)
    for thing in (PortHamiltonian, prism.Model.port_hamiltonian, prism.Model.to_control):
        (example,) = finder.find(thing, globs={})
        assert example.examples
        assert doctest.DocTestRunner().run(example).failed == 0
