"""Friction between modes: what is found with it, and that it is left out where it is not there."""

import numpy as np
import pytest

import prism
from prism.motion.forced import fit_response
from prism.motion.forced.response.coupling import few_modes_with_friction
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.start import first_guesses
from prism.systems import chain, tuned_absorber
from prism.systems.linear import LinearSystem

LINES = np.linspace(0.4, 1.8, 400)
MASS, TUNING, STRUCTURE = 0.05, 0.95, 0.005


def damper(ratio):
    """A mass with a tuned mass damper, and its friction."""
    system = tuned_absorber(m=MASS, k=MASS * TUNING**2)
    c = 2 * ratio * MASS * TUNING
    return system, np.array([[2 * STRUCTURE + c, -c], [-c, c]])


@pytest.mark.parametrize("ratio", [0.01, 0.05, 0.2])
def test_without_noise_the_damper_is_recovered_exactly(ratio):
    system, friction = damper(ratio)
    model = prism.identify(system.response(LINES, friction=friction))
    (hidden,) = model.hamiltonian.hidden
    assert hidden.frequency == pytest.approx(TUNING, rel=1e-6)
    assert hidden.damping == pytest.approx(ratio, rel=1e-5)
    np.testing.assert_allclose(model.hamiltonian.mass, [[1.0]], rtol=1e-6)
    c = 2 * ratio * TUNING
    D = [[2 * STRUCTURE + c * MASS, -c * np.sqrt(MASS)], [-c * np.sqrt(MASS), c]]
    np.testing.assert_allclose(np.abs(model.hamiltonian.friction), np.abs(D), rtol=1e-4)


@pytest.mark.parametrize(("ratio", "seed"), [(0.003, 0), (0.01, 1), (0.05, 2), (0.1, 3), (0.2, 4)])
def test_with_noise_the_damper_is_within_its_errors(ratio, seed):
    system, friction = damper(ratio)
    response = system.response(LINES, friction=friction, noise=0.02, rng=seed)
    model = prism.identify(response)
    (hidden,) = model.hamiltonian.hidden
    assert abs(hidden.frequency - TUNING) < 3.5 * hidden.frequency_std < 0.02
    assert abs(hidden.damping - ratio) < 3.5 * hidden.damping_std < 0.5 * ratio
    assert model.response.damping == "coupled"
    exact = system.response(LINES, friction=friction).values
    assert np.abs(model.receptance(1j * LINES) / exact - 1).max() < 0.03


def test_several_ports_and_a_damper_out_of_sight():
    """Three masses seen at two, a damper on the third: two hidden oscillators."""
    mass, c, k = 0.06, 2 * 0.08 * 0.06 * 1.2, 0.06 * 1.2**2
    link = np.array([0.0, 0.0, 1.0, -1.0])
    stiffness = np.zeros((4, 4))
    stiffness[:3, :3] = chain(3).full_stiffness
    system = LinearSystem(
        np.diag([1.0, 1.0, 1.0, mass]), stiffness + k * np.outer(link, link), np.eye(4)[:2]
    )
    own = 0.004 * np.diag([1.0, 1.0, 1.0, 0.0])
    lines = np.linspace(0.3, 2.3, 400)
    friction = own + c * np.outer(link, link)
    model = prism.identify(system.response(lines, friction=friction, noise=0.02, rng=5))
    assert len(model.modes) == 4
    exact = system.response(lines, friction=friction).values
    assert np.abs(model.receptance(1j * lines) - exact).max() < 0.02 * np.abs(exact).max()
    D = model.port_hamiltonian().R
    assert np.linalg.eigvalsh(D)[0] > -1e-9


@pytest.mark.parametrize("law", ["viscous", "structural"])
@pytest.mark.parametrize("seed", range(3))
def test_losses_of_single_modes_stay_what_they_are(law, seed):
    system = chain(3, observed=[0])
    lines = np.linspace(0.2, 2.2, 300)
    response = system.response(lines, loss=0.02, damping=law, noise=0.02, rng=seed)
    fit = fit_response(response)
    assert fit.foster.friction is None
    assert fit.foster.damping == law
    assert len(fit.foster.omega) == 3


def test_one_mode_has_nothing_to_share():
    w = np.linspace(0.5, 1.5, 200)
    one = LinearSystem([[1.0]], [[1.0]], [[1.0]])
    response = one.response(w, loss=0.02, damping="viscous", noise=0.02, rng=0)
    data = ResponseData.of(response.ports)
    assert few_modes_with_friction(data, first_guesses(data)) is None


def test_lossless_on_request():
    system, friction = damper(0.01)
    response = system.response(LINES, friction=friction, noise=0.02, rng=0)
    assert fit_response(response, damped=False).foster.damping == "none"
