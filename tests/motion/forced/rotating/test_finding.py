"""Responses of rotors come in by the front door; active ones are refused with a figure."""

import numpy as np
import pytest

import prism
from prism import FrequencyResponse
from prism.systems import rotor

OMEGA = np.linspace(0.2, 4.5, 160)
SYSTEM = rotor(0.9, springs=((1.0, 1.6), (2.0, 2.3)))


def measured(H, rng):
    rng = np.random.default_rng(rng)
    error = rng.standard_normal((2, *H.shape)) / np.sqrt(2)
    return FrequencyResponse(OMEGA, H * (1 + 0.02 * (error[0] + 1j * error[1])), outputs=["x", "y"])


@pytest.fixture(scope="module")
def model():
    H = np.array([SYSTEM.receptance(1j * w) for w in OMEGA])
    return prism.identify(measured(H, 3))


def test_a_rotor_is_found_from_its_response(model):
    h = model.hamiltonian
    assert len(model.modes) == 4
    z = (h.hidden_frequencies - SYSTEM.hidden_frequencies) / h.hidden_frequencies_std
    assert np.abs(z).max() < 4
    z = (h.gyroscopic - SYSTEM.gyroscopic)[0, 1] / h.gyroscopic_std[0, 1]
    assert abs(z) < 4
    z = (model.modes.frequencies - SYSTEM.frequencies) / model.modes.frequencies_std
    assert np.abs(z).max() < 4
    assert model.evidence.rivals[1].behind > 100
    assert "rotation" in [one.code for one in model.identifiability.remarks]


def test_it_is_saved_and_reported(model, tmp_path):
    model.save(tmp_path / "m.json")
    again = prism.load(tmp_path / "m.json")
    assert again == model
    s = 0.3 + 1.1j
    np.testing.assert_allclose(again.receptance(s), SYSTEM.receptance(s), rtol=0.02, atol=0.01)
    model.report(tmp_path / "r.html")
    assert "<mi>γ</mi>" in (tmp_path / "r.html").read_text("utf-8")


def lossy(D):
    G, M, K = SYSTEM.observation, SYSTEM.full_mass, SYSTEM.full_stiffness
    C = SYSTEM.full_gyroscopic + D
    return np.array([G @ np.linalg.solve(K + 1j * w * C - w**2 * M, G.T + 0j) for w in OMEGA])


@pytest.mark.parametrize("share", [0.004, 0.04])
def test_losses_do_not_hide_the_bare_system(share):
    """With a rate per line, bare frequencies were covered in three of four at such losses."""
    c = share * SYSTEM.frequencies[0]
    model = prism.identify(measured(lossy(c * SYSTEM.full_mass), 0))
    h = model.hamiltonian
    assert len(model.modes) == 4
    z = (h.hidden_frequencies - SYSTEM.hidden_frequencies) / h.hidden_frequencies_std
    assert np.abs(z).max() < 4
    z = (h.gyroscopic - SYSTEM.gyroscopic)[0, 1] / h.gyroscopic_std[0, 1]
    assert abs(z) < 4
    # one of friction in proportion to the mass is c/2 of each line, were it not for the rotation
    assert 0.2 * c < (model.modes.damping * model.modes.frequencies).max() < c
    assert "losses-left-out" in [one.code for one in model.identifiability.remarks]


def test_forces_that_are_not_those_of_springs_are_not_taken_for_rotation():
    turn = np.zeros((4, 4))
    turn[0, 1], turn[1, 0] = 0.05, -0.05
    G, M, K = SYSTEM.observation, SYSTEM.full_mass, SYSTEM.full_stiffness + turn
    C = SYSTEM.full_gyroscopic + 0.2 * M
    H = np.array([G @ np.linalg.solve(K + 1j * w * C - w**2 * M, G.T + 0j) for w in OMEGA])
    model = prism.identify(measured(H, 0))
    assert model.hamiltonian is None
    assert "symmetric mass or stiffness" in str(model.identifiability.why)


def test_an_active_response_is_refused_with_the_energy_it_gives_out():
    # two coordinates alone would not do: a gain of one channel makes the same response
    K = np.array([[3.0, -0.4, -1.0], [-1.6, 4.0, -0.7], [-1.0, -0.7, 6.0]])
    H = np.linalg.inv(K - np.diag([1.0, 1.5, 0.8]) * OMEGA[:, None, None] ** 2)[:, :2, :2]
    model = prism.identify(measured(H + 0j, 0))
    assert model.hamiltonian is None
    why = str(model.identifiability.why)
    assert "forces take energy out of it" in why
    assert "% of its response" in why
    assert not model.certificate.passive
