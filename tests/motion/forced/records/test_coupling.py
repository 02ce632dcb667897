"""Friction between the modes of a record: found where it is, and left out where it is not."""

import numpy as np
import pytest
from tests.motion.forced.records.test_records import (
    chain_matrices,
    dense_motion,
    dense_record,
    forces_of,
    gaussian,
)

import prism
from prism.motion.forced.friction.system import poles_of
from prism.motion.forced.records import fit_records
from prism.record import Record

MASS, TUNING, STRUCTURE, DT = 0.05, 0.95, 0.005, 0.6


def damper_record(ratio, seed, *, noise=0.02, samples=2000, colour=0.0):
    """A mass on a spring with a tuned mass damper, pushed by noise from a motion of its own."""
    rng = np.random.default_rng(seed)
    k, c = MASS * TUNING**2, 2 * ratio * MASS * TUNING
    M, K = np.diag([1.0, MASS]), np.array([[1 + k, -k], [-k, k]])
    D = np.array([[2 * STRUCTURE + c, -c], [-c, c]])
    force = gaussian(DT * np.arange(samples), rng, 2.0)[:, None]
    x = dense_motion(M, K, D, [0], force, DT, "first", rng.standard_normal(4))[0][:, :1]
    errors = rng.standard_normal(samples)
    for i in range(1, samples):
        errors[i] += colour * errors[i - 1]
    x = x + noise * x.std() * errors[:, None]
    return Record(np.hstack([x, force]), dt=DT, channels=["x", "f"])


@pytest.mark.parametrize(
    ("ratio", "seed", "colour"), [(0.01, 0, 0.0), (0.05, 1, 0.0), (0.05, 2, 0.8), (0.2, 3, 0.0)]
)
def test_a_damper_is_within_its_errors(ratio, seed, colour):
    record = damper_record(ratio, seed, colour=colour)
    model = prism.identify(record, experiment="forced", force=["f"])
    assert model.response.damping == "coupled"
    (hidden,) = model.hamiltonian.hidden
    assert abs(hidden.frequency - TUNING) < 3.5 * hidden.frequency_std < 0.02
    assert abs(hidden.damping - ratio) < 3.5 * hidden.damping_std < 0.3 * ratio
    # a damper of 20 % is wider than it is far from the mode of the structure
    codes = [one.code for one in model.identifiability.remarks]
    assert ("overlapping-modes" in codes) == (ratio == 0.2)
    s = 1j * np.linspace(0.6, 1.4, 30)
    pull = MASS * TUNING**2 + 2 * ratio * MASS * TUNING * s
    exact = 1 / (s**2 + 2 * STRUCTURE * s + 1 + pull * MASS * s**2 / (MASS * s**2 + pull))
    assert np.abs(model.receptance(s)[:, 0, 0] / exact - 1).max() < 0.03


def test_what_is_found_is_written_and_read(tmp_path):
    model = prism.identify(damper_record(0.05, 4), experiment="forced", force=["f"])
    assert "friction on h1: - 0.0" in str(model.hamiltonian)
    model.save(tmp_path / "model.json")
    again = prism.load(tmp_path / "model.json")
    np.testing.assert_allclose(again.hamiltonian.friction, model.hamiltonian.friction)
    assert again.hamiltonian.hidden_damping == pytest.approx(model.hamiltonian.hidden_damping)


def test_modes_with_losses_of_their_own_are_left_alone():
    record = dense_record(
        *chain_matrices(3), [0, 2], 1500, 0.4, np.random.default_rng(5), loss=0.05, highest=2.5
    )
    fit = fit_records(record, forces_of(record)).fit
    assert fit.foster.damping == "viscous"
    assert len(fit.foster.omega) == 3


def test_a_damper_between_two_places_that_are_seen():
    """Three masses, two seen, a damper from the first to the third: one hidden oscillator."""
    rng, dt = np.random.default_rng(6), 0.4
    M, K = chain_matrices(3)
    link = np.array([1.0, 0.0, -1.0])
    D = 0.02 * np.eye(3) + 0.2 * np.outer(link, link)
    t = dt * np.arange(1500)
    force = np.stack([gaussian(t, rng, 2.5) for _ in range(2)], axis=1)
    start = rng.standard_normal(6)
    x = dense_motion(M, K, D, [0, 2], force, dt, "first", start)[0][:, [0, 2]]
    x = x + 0.02 * x.std(axis=0) * rng.standard_normal(x.shape)
    record = Record(np.hstack([x, force]), dt=dt, channels=["a", "b", "f_a", "f_b"])
    model = prism.identify(record, experiment="forced", force=["f_a", "f_b"])
    (hidden,) = model.hamiltonian.hidden
    assert abs(hidden.frequency - np.sqrt(2)) < 3.5 * hidden.frequency_std < 0.02
    assert abs(hidden.damping - 0.01 / np.sqrt(2)) < 3.5 * hidden.damping_std < 0.01
    friction, std = model.hamiltonian.friction, model.hamiltonian.friction_std
    assert np.all(np.abs(friction[:2, :2] - D[[0, 2]][:, [0, 2]]) < 4 * std[:2, :2])


def test_a_damper_inside_a_body_that_nothing_holds():
    """Three masses in a row that drift far beside what they swing; the first is seen."""
    rng, dt, samples = np.random.default_rng(7), 0.4, 2000
    K = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    link = np.array([0.0, 1.0, -1.0])
    D = 0.02 * K + 0.15 * np.outer(link, link)
    force = rng.standard_normal((samples, 1))
    x = dense_motion(np.eye(3), K, D, [0], force, dt, "first", np.zeros(6))[0]
    beside = x - x.mean(axis=1, keepdims=True)
    assert x.std() > 200 * beside.std()
    x = x[:, :1] + 0.02 * beside.std() * rng.standard_normal((samples, 1))
    record = Record(np.hstack([x, force]), dt=dt, channels=["x", "f"])
    model = prism.identify(record, experiment="forced", force=["f"])
    assert model.response.damping == "coupled"
    assert (len(model.modes), int(model.modes.rigid.sum())) == (3, 1)
    held = poles_of(K[1:, 1:], D[1:, 1:])
    for j, hidden in enumerate(model.hamiltonian.hidden):
        assert abs(hidden.frequency - held.frequency[j]) < 3.5 * hidden.frequency_std < 0.05
        assert abs(hidden.damping - held.ratio[j]) < 3.5 * hidden.damping_std < 0.05
