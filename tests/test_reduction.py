"""More channels than the visible modes can move: exact answers for every experiment."""

import json

import numpy as np
import pytest

import prism
from prism.reduction import reduced
from prism.systems import LinearSystem, chain
from prism.uncertainty import Gaussian

# A light bar on two springs with three equal masses: a sensor at each, the middle one follows.
BAR = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
NAMES = ["a", "b", "c"]
INNER = np.array([[3.0, -1.0], [-1.0, 2.0]])
SEEN = LinearSystem(BAR.T @ BAR, INNER, BAR, NAMES)
ENDS = LinearSystem(BAR.T @ BAR, INNER, np.eye(2), ["a", "c"])


def released(position, noise=0.0, rng=0):
    ends = ENDS.released(150, 0.1, position).trials[0] @ BAR.T
    more = noise * ends.std(axis=0) * np.random.default_rng(rng).standard_normal(ends.shape)
    return prism.Record(ends + more, dt=0.1, channels=NAMES)


def identified(name, noise=0.0, rng=0):
    """The bar in one experiment each, with what fixes its scale."""
    if name == "equilibrium":
        record = SEEN.free(60, 0.1, trials=24, energies=[0.7, 0.7], noise=noise, rng=rng)
        return prism.identify(record, experiment=name, temperature=0.7)
    if name == "snapback":
        record = SEEN.snapback(150, 0.1, [1.0, 0.4, 0.2], noise=noise, rng=rng)
        return prism.identify(record, experiment=name, pull=[1.0, 0.4, 0.2])
    if name == "forced":
        return prism.identify(SEEN.response(np.linspace(0.2, 3, 90), noise=noise, rng=rng))
    if name == "released":
        return prism.identify(released([1.0, 0.3], noise, rng), experiment=name, mass="identity")
    return prism.identify(SEEN.free(150, 0.1, noise=noise, rng=rng), mass="identity")


@pytest.mark.parametrize("name", ["free", "equilibrium", "released", "snapback", "forced"])
def test_more_sensors_than_masses_give_the_hamiltonian_of_the_masses(name):
    model = identified(name)
    h = model.hamiltonian
    assert h.channels == ("a", "c")
    assert h.reduction.rank == model.identifiability.rank == 2
    np.testing.assert_allclose(h.reduction.matrix, BAR, atol=1e-6)
    np.testing.assert_allclose(h.mass, ENDS.mass, atol=1e-5)
    np.testing.assert_allclose(h.stiffness, ENDS.stiffness, atol=2e-5)
    assert not h.hidden
    assert "reduced" in {remark.code for remark in model.identifiability.remarks}


@pytest.mark.parametrize("name", ["free", "snapback", "forced"])
def test_errors_in_reduced_coordinates_hold(name):
    z = []
    for seed in range(6):
        h = identified(name, 0.05, seed).hamiltonian
        z += [(h.reduction.matrix[1] - 0.5) / h.reduction.matrix_std[1]]
        z += [((h.stiffness - ENDS.stiffness) / h.stiffness_std)[[0, 0, 1], [0, 1, 1]]]
    assert 0.6 < np.sqrt(np.mean(np.square(z[::2]))) < 1.5
    assert 0.6 < np.sqrt(np.mean(np.square(np.concatenate(z[1::2])))) < 1.5


def test_all_masses_seen_but_one_mode_not_excited():
    """Modes are orthogonal in the mass of all that moves, whichever of them are excited."""
    system = chain(4, observed=[0, 1, 2, 3])
    record = system.free(300, 0.1, energies=[1.0, 1.0, 0.0, 1.0], noise=1e-4, rng=3)
    model = prism.identify(record, mass="identity")
    V = system.participation[[0, 1, 3]]
    assert model.hamiltonian.reduction.rank == 3
    np.testing.assert_allclose(model.modes.residues, np.einsum("ma,mb->mab", V, V), atol=1e-4)
    at = [system.channels.index(name) for name in model.hamiltonian.channels]
    np.testing.assert_allclose(model.hamiltonian.mass, np.linalg.inv(V[:, at].T @ V[:, at]), 1e-3)
    assert "reduced-known" in {remark.code for remark in model.identifiability.remarks}


def test_a_mass_that_the_shapes_contradict_is_refused():
    """Five masses, four seen, three modes excited: the fifth moves along."""
    system = chain(5, observed=[0, 1, 2, 3])
    record = system.free(300, 0.1, energies=[1.0, 1.0, 0.0, 0.0, 1.0], noise=0.01, rng=3)
    model = prism.identify(record, mass="identity")
    assert model.hamiltonian is None
    assert "are not orthogonal with the given mass of 4 channels" in str(model.identifiability.why)


def test_at_equilibrium_a_given_mass_tests_the_energies():
    record = SEEN.equilibrium(60, 0.1, trials=60, noise=0.05, rng=2)
    model = prism.identify(record, experiment="equilibrium", mass="identity")
    np.testing.assert_allclose(model.hamiltonian.mass, ENDS.mass, atol=1e-2)
    assert 0.7 < model.temperature < 1.4
    wrong = np.diag([1.0, 1.0, 4.0])
    assert prism.identify(record, experiment="equilibrium", mass=wrong).hamiltonian is None


def test_what_is_let_go_needs_the_mass_or_the_force():
    model = prism.identify(released([1.0, 0.3]), experiment="released")
    assert model.hamiltonian is None
    assert "every mass agrees" in str(model.identifiability.why)


def test_a_sensor_between_two_others_is_found_to_follow():
    """Four modes in three channels that move in two directions: two hidden oscillators."""
    inner = chain(4)
    between = np.array([[1, 0, 0, 0], [0.5, 0, 0, 0.5], [0, 0, 0, 1.0]])
    system = LinearSystem(inner.full_mass, inner.full_stiffness, between, ["q1", "mid", "q4"])
    record = system.equilibrium(100, 0.1, trials=100, noise=0.1, rng=5)
    model = prism.identify(record, experiment="equilibrium", temperature=1.0)
    h = model.hamiltonian
    assert h.channels == ("q1", "q4")
    z = (h.hidden_frequencies - inner.hidden_frequencies) / h.hidden_frequencies_std
    assert np.abs(z).max() < 3
    z = (h.reduction.matrix[1] - 0.5) / h.reduction.matrix_std[1]
    assert np.abs(z).max() < 3
    assert len(model.identifiability.undetermined) == 1


def test_a_channel_that_departs_by_more_than_its_errors_does_not_follow():
    V = np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0], [1.0, 1.0, 1.0 + 1e-2]])
    for error, rank in ((1e-4, 3), (1e-1, 2)):
        joint = Gaussian.of({"frequencies": [1.0, 2, 3], "participation": V},
                            error**2 * np.eye(12))  # fmt: skip
        _, reduction = reduced(joint, ("a", "b", "c"))
        assert (3 if reduction is None else reduction.rank) == rank


def test_files_state_space_and_text_know_of_it(tmp_path):
    model = identified("forced", 0.01)
    model.save(tmp_path / "m.json")
    again = prism.load(tmp_path / "m.json")
    assert again.hamiltonian == model.hamiltonian
    assert again.identifiability.rank == 2
    saved = json.loads((tmp_path / "m.json").read_text("utf-8"))["hamiltonian"]
    assert saved["reduction"]["coordinates"] == ["a", "c"]
    space, s = model.to_statespace(), 0.2 + 0.9j
    H = space.C @ np.linalg.inv(s * np.eye(4) - space.A) @ space.B
    np.testing.assert_allclose(H, SEEN.receptance(s), rtol=0.02)
    assert str(model.hamiltonian).splitlines()[-1].startswith("b = 0.5")
    assert "3 ports that move in 2 directions" in model.summary()
    mobility = model.port_hamiltonian().transfer(s)
    np.testing.assert_allclose(mobility, s * H, rtol=1e-9)
    np.testing.assert_allclose(model.hamiltonian.reduction.unmoved @ BAR, [[0, 0]], atol=0.01)
