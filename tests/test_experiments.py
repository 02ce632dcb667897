"""What each experiment determines, and what it refuses with which words."""

import numpy as np
import pytest

import prism
from prism.errors import CannotTellError
from prism.experiments.modal_energies import modal_energies
from prism.experiments.relations import (
    gauge_relation,
    mass_relation,
    stiffness_relation,
)
from prism.motion.steady import estimate_lines
from prism.systems import LinearSystem, chain

FIVE = chain(5, [1, 2, 1, 1.5, 0.5], observed=[0, 2, 4])


def assert_hamiltonian(model, system, sigmas=4.5):
    """Every quantity within some of its own standard deviations of the exact one."""
    h = model.hamiltonian
    assert h is not None, str(model.identifiability)
    z = (h.hidden_frequencies - system.hidden_frequencies) / h.hidden_frequencies_std
    assert np.abs(z).max() < sigmas
    sign = np.sign(np.sum(system.couplings * h.couplings, axis=1))[:, None]
    assert np.abs((sign * h.couplings - system.couplings) / h.couplings_std).max() < sigmas
    # a known mass has no error; rounding is then all that is left
    assert np.abs((h.mass - system.mass) / (h.mass_std + 1e-6)).max() < sigmas
    assert np.abs((h.stiffness - system.stiffness) / h.stiffness_std).max() < sigmas
    assert model.certificate.passive


# -- relations -------------------------------------------------------------------------------------


def _relation_functions():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((2, 3, 3))
    G, kappa = A @ A.T + np.eye(3), B @ B.T + np.eye(3)
    return {
        "mass": lambda w, d, s: mass_relation(w, d, s, G),
        "stiffness": lambda w, d, s: stiffness_relation(w, d, s, kappa, G),
        "stiffness without mass": lambda w, d, s: stiffness_relation(w, d, s, kappa, None),
        "gauge": lambda w, d, s: gauge_relation(d, s),
    }


@pytest.mark.parametrize("name", list(_relation_functions()))
def test_derivatives_of_relations(name):
    relation = _relation_functions()[name]
    rng = np.random.default_rng(1)
    K, n = 5, 3
    x = np.concatenate([rng.uniform(1, 2, K), rng.standard_normal(K * n), rng.uniform(1, 2, K)])

    def at(x):
        return relation(x[:K], x[K : K + K * n].reshape(K, n), x[K + K * n :])

    exact = np.hstack([at(x).by_omega, at(x).by_shape, at(x).by_s])
    step = 1e-6
    numeric = [(at(x + e).h - at(x - e).h) / (2 * step) for e in step * np.eye(len(x))]
    np.testing.assert_allclose(exact, np.array(numeric).T, atol=1e-7)


def test_relations_hold_for_exact_modes():
    s = np.sum(FIVE.participation**2, axis=1)
    args = (FIVE.frequencies, FIVE.shapes, s)
    inverse = np.linalg.inv(FIVE.mass)
    assert np.abs(mass_relation(*args, inverse).h).max() < 1e-12
    assert np.abs(stiffness_relation(*args, FIVE.stiffness, inverse).h).max() < 1e-12
    assert np.abs(stiffness_relation(*args, FIVE.stiffness, None).h).max() < 1e-12


# -- free ---------------------------------------------------------------------------------------


def test_free_record_with_known_mass_gives_everything():
    record = FIVE.free(400, 0.05, noise=0.1, rng=1)
    assert_hamiltonian(prism.identify(record, mass=np.eye(3)), FIVE)


def test_known_stiffness_replaces_a_channel():
    """Four modes in two channels: the mass alone leaves one magnitude open."""
    record = chain().free(400, 0.05, noise=0.1, rng=2)
    assert prism.identify(record, mass="identity").hamiltonian is None
    model = prism.identify(record, mass="identity", stiffness=np.diag([2.0, 1.0]))
    assert_hamiltonian_frequencies(model, chain())


def assert_hamiltonian_frequencies(model, system):
    h = model.hamiltonian
    assert h is not None, str(model.identifiability)
    z = (h.hidden_frequencies - system.hidden_frequencies) / h.hidden_frequencies_std
    assert np.abs(z).max() < 4.5


def test_general_mass_matrix():
    """A mass that is neither unit nor diagonal, hidden modes coupled by mass and stiffness."""
    rng = np.random.default_rng(5)
    A, B = rng.standard_normal((2, 5, 5))
    system = LinearSystem(
        A @ A.T / 5 + np.eye(5), B @ B.T / 5 + 0.5 * np.eye(5), np.eye(5)[[0, 2, 4]]
    )
    record = system.free(800, 0.05, noise=0.02, rng=1)
    assert_hamiltonian(prism.identify(record, mass=system.mass), system)


def test_equations_that_are_used_up_leave_a_missing_mode_untested():
    """Without its fourth mode the chain has another Hamiltonian: nothing in the data says so."""
    record = chain().free(400, 0.05, energies=[1.0, 1.0, 1.0, 0.0], noise=0.1, rng=2)
    model = prism.identify(record, mass="identity")
    assert "if a mode was not excited" in untested(model)
    assert np.abs(model.hamiltonian.hidden_frequencies - 1).min() > 0.05  # it is wrong
    refused = chain().free(400, 0.05, energies=[1.0, 1.0, 0.0, 1.0], noise=0.1, rng=2)
    why = str(prism.identify(refused, mass="identity").identifiability.why)
    assert "a magnitude would be negative" in why
    rich = prism.identify(FIVE.free(400, 0.05, noise=0.1, rng=1), mass="identity")
    assert "not excited" not in untested(rich)


def untested(model):
    """All that could not be tested, in words."""
    return " ".join(str(one) for one in model.identifiability.remarks if one.code == "untested")


def test_one_channel_free_is_refused_with_the_way_out():
    record = chain(observed=[0]).free(400, 0.05, noise=0.1, rng=0)
    model = prism.identify(record, mass="identity")
    assert model.hamiltonian is None
    assert not model.kernel
    for ask in (lambda k: k(1.0), lambda k: k.laplace(1j), lambda k: k.poles, lambda k: k.static()):
        with pytest.raises(CannotTellError, match="the memory kernel is not determined"):
            ask(model.kernel)
    assert model.modes.residues is None
    verdict = str(model.identifiability)
    assert "Not determined" in verdict
    assert "equilibrium" in verdict
    assert "released" in verdict
    with pytest.raises(prism.errors.CannotTellError, match="equilibrium"):
        model.receptance(1j)
    with pytest.raises(prism.errors.CannotTellError):
        model.to_statespace()


def test_free_without_mass_says_that_the_mass_would_do():
    model = prism.identify(FIVE.free(400, 0.05, noise=0.1, rng=1))
    assert model.hamiltonian is None
    assert "mass" in model.identifiability.remedy


def test_wrong_mass_is_noticed():
    """Five modes in three channels leave one equation to test the mass."""
    record = FIVE.free(400, 0.05, noise=0.1, rng=1)
    wrong = np.eye(3) + 0.3 * (np.eye(3, k=1) + np.eye(3, k=-1))
    model = prism.identify(record, mass=wrong)
    assert model.hamiltonian is None
    assert "add up to the given mass" in model.identifiability.why


def test_coincident_hidden_frequencies_give_one_residue_of_rank_two():
    system = chain(5, observed=[0, 2, 4])
    model = prism.identify(system.free(400, 0.05, noise=0.1, rng=1), mass="identity")
    (hidden,) = model.hamiltonian.hidden
    assert hidden.rank == 2
    assert abs(hidden.frequency - np.sqrt(2)) < 4.5 * hidden.frequency_std
    truth = system.couplings.T @ system.couplings
    assert np.abs((hidden.residue - truth) / hidden.residue_std).max() < 4.5
    assert np.ma.is_masked(model.hamiltonian.couplings)
    assert model.kernel.poles.shape == (1,)


# -- equilibrium ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ensemble():
    return chain().equilibrium(100, 0.1, trials=200, noise=0.1, temperature=2.5, rng=3)


def test_equilibrium_with_known_mass(ensemble):
    model = prism.identify(ensemble, experiment="equilibrium", mass="identity")
    assert_hamiltonian(model, chain())
    assert model.temperature == pytest.approx(2.5, rel=0.15)  # 3 % scatter of 800 energies


def test_equilibrium_without_mass_gives_all_but_one_scale(ensemble):
    model = prism.identify(ensemble, experiment="equilibrium")
    assert "free" in model.identifiability.scale
    assert model.temperature is None
    h = model.hamiltonian
    z = (h.hidden_frequencies - chain().hidden_frequencies) / h.hidden_frequencies_std
    assert np.abs(z).max() < 4
    assert np.trace(np.linalg.inv(h.mass)) == pytest.approx(2)


def test_equilibrium_with_known_stiffness_fixes_the_scale(ensemble):
    model = prism.identify(ensemble, experiment="equilibrium", stiffness=np.diag([2.0, 1.0]))
    assert model.temperature == pytest.approx(2.5, rel=0.25)
    np.testing.assert_allclose(model.hamiltonian.stiffness, np.diag([2.0, 1.0]), atol=1e-6)


def test_equilibrium_of_one_channel():
    """Cart and pendulum: reactive coupling from output alone, by Kubo's relation."""
    system = LinearSystem([[1.5, 0.5], [0.5, 0.5]], np.diag([15.0, 4.905]), [[1.0, 0.0]])
    record = system.equilibrium(60, 0.05, trials=300, noise=0.1, rng=0)
    model = prism.identify(record, experiment="equilibrium")
    h = model.hamiltonian
    assert abs(h.hidden_frequencies[0] - np.sqrt(9.81)) < 4 * h.hidden_frequencies_std[0]
    assert h.hidden_frequencies_std[0] < 0.02 * np.sqrt(9.81)


def test_records_far_from_equilibrium_are_noticed():
    energies = np.array([1.0, 6.0, 0.2, 3.0])
    record = chain().free(100, 0.1, trials=100, noise=0.1, energies=energies, rng=0)
    model = prism.identify(record, experiment="equilibrium", mass="identity")
    assert model.hamiltonian is None
    assert "equilibrium" in model.identifiability.why


def test_equal_energies_are_recognised_as_less_scattered_than_canonical():
    record = chain().free(60, 0.1, trials=60, noise=0.1, energies=np.ones(4), rng=0)
    lines = estimate_lines(record, false_alarm=1e-3)
    energies = modal_energies(lines.fit)
    assert not energies.canonical
    assert np.sqrt(np.diag(energies.covariance)).max() < 0.02
    truth = np.sum(chain().participation ** 2, axis=1)
    np.testing.assert_allclose(energies.mean, truth, rtol=0.03)
    canonical = chain().equilibrium(60, 0.1, trials=60, noise=0.1, rng=0)
    assert modal_energies(estimate_lines(canonical, false_alarm=1e-3).fit).canonical


def test_degenerate_line_becomes_two_modes_with_the_right_residue():
    """An isotropic pair: the residue of the one line has rank two."""
    system = LinearSystem(np.eye(2), np.eye(2), np.eye(2))
    record = system.equilibrium(60, 0.1, trials=200, noise=0.1, rng=0)
    model = prism.identify(record, experiment="equilibrium", mass="identity")
    assert len(model.modes) == 2
    assert not model.modes.in_phase.any()
    np.testing.assert_allclose(model.modes.residues.sum(axis=0), np.eye(2), atol=1e-8)


def test_more_channels_than_modes_is_said():
    system = LinearSystem(np.eye(1), np.eye(1), [[1.0], [0.5]])
    record = system.equilibrium(60, 0.1, trials=10, noise=0.1, rng=0)
    model = prism.identify(record, experiment="equilibrium")
    np.testing.assert_allclose(model.hamiltonian.reduction.matrix[:, 0], [1.0, 0.5], atol=0.01)
    assert "2 channels in 1 direction only" in str(model.identifiability)


# -- released ---------------------------------------------------------------------------------


def test_release_with_known_mass():
    record = FIVE.released(400, 0.05, [1.0, 0.5, -0.7], noise=0.1, rng=1)
    assert_hamiltonian(prism.identify(record, experiment="released", mass="identity"), FIVE)


def test_release_of_one_channel_needs_no_mass():
    system = chain(observed=[0])
    record = system.released(400, 0.05, [1.0], noise=0.1, rng=1)
    assert_hamiltonian(prism.identify(record, experiment="released"), system)


def test_releases_from_independent_positions_need_no_mass():
    record = FIVE.released(200, 0.05, np.eye(3), noise=0.1, rng=1)
    model = prism.identify(record, experiment="released")
    assert_hamiltonian(model, FIVE)  # the true mean of the inverse mass is 1, like the gauge
    assert "free" in model.identifiability.scale


def test_one_release_of_several_channels_needs_the_mass():
    record = FIVE.released(400, 0.05, [1.0, 0.5, -0.7], noise=0.1, rng=1)
    model = prism.identify(record, experiment="released")
    assert model.hamiltonian is None
    assert "give the mass" in model.identifiability.remedy


def test_record_that_was_not_released_is_noticed():
    record = FIVE.free(400, 0.05, noise=0.1, rng=1)
    model = prism.identify(record, experiment="released", mass="identity")
    assert model.hamiltonian is None
    assert "release from rest" in model.identifiability.why
