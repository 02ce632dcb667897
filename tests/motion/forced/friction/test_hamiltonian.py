"""The Hamiltonian with friction: its response, its port form, its file, its words."""

import json

import numpy as np
import pytest

import prism
from prism.io.model import model_from_json, model_to_json
from prism.motion.forced.friction import FrictionHamiltonian
from prism.systems import tuned_absorber

LINES = np.linspace(0.4, 1.8, 300)
C = 2 * 0.08 * 0.05 * 0.95
FRICTION = np.array([[0.01 + C, -C], [-C, C]])


@pytest.fixture(scope="module")
def system():
    return tuned_absorber(m=0.05, k=0.05 * 0.95**2)


@pytest.fixture(scope="module")
def model(system):
    return prism.identify(system.response(LINES, friction=FRICTION, noise=0.01, rng=0))


def test_it_names_the_friction(model):
    h = model.hamiltonian
    assert isinstance(h, FrictionHamiltonian)
    assert h.hidden_damping == pytest.approx([0.08], rel=0.02)
    assert np.all(h.friction_std > 0)
    assert "friction on h1" in str(h)
    assert "ζ" in model.summary().split("Hidden modes")[1].splitlines()[1]
    assert "coupled-friction" in [one.code for one in model.identifiability.remarks]


def test_response_and_state_space_agree_with_the_system(system, model):
    s = 1j * LINES
    exact = system.response(LINES, friction=FRICTION).values
    H = model.receptance(s)
    assert np.abs(H / exact - 1).max() < 0.01
    port = model.port_hamiltonian()
    np.testing.assert_allclose(port.transfer(s), s[:, None, None] * H, rtol=1e-8)
    space = model.to_statespace()
    dense = [space.C @ np.linalg.solve(z * np.eye(4) - space.A, space.B) for z in s[::50]]
    np.testing.assert_allclose(dense, H[::50], rtol=1e-8)


def test_poles_are_those_of_the_system(system, model):
    M, K = system.full_mass, system.full_stiffness
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K),
                  -np.linalg.solve(M, FRICTION)]])  # fmt: skip
    s = np.linalg.eigvals(A)
    s = s[s.imag > 0][np.argsort(np.abs(s[s.imag > 0]))]
    modes = model.modes
    assert np.all(np.abs(modes.frequencies - np.abs(s)) < 4 * modes.frequencies_std)
    assert np.all(np.abs(modes.damping + s.real / np.abs(s)) < 4 * modes.damping_std)


def test_a_saved_model_is_the_same(model):
    again = model_from_json(json.loads(json.dumps(model_to_json(model))))
    assert isinstance(again.hamiltonian, FrictionHamiltonian)
    np.testing.assert_array_equal(again.receptance(1j * LINES), model.receptance(1j * LINES))
    assert again.hamiltonian.hidden[0].damping_std == model.hamiltonian.hidden[0].damping_std
    assert str(again) == str(model)


def test_the_conservative_part_keeps_its_energy(model):
    h = model.hamiltonian
    state = np.array([1.0, 0.2, 0.0, 0.1])
    later = h.flow(state, np.linspace(0, 30, 5))
    np.testing.assert_allclose(h.energy(later), h.energy(state), rtol=1e-10)
