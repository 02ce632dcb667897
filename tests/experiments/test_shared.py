"""Several rigid-body modes: magnitudes of what they span, exactly, and with errors that hold."""

import numpy as np
import pytest

import prism
from prism.experiments.base import OfLines
from prism.experiments.shared import Spanned
from prism.record import Record
from prism.systems import LinearSystem

OMEGA = np.array([0.0, 0.0, 0.0, 1.0, 1.7])


def floating(size=6, seen=2):
    """Masses whose springs resist three combinations only: three rigid-body modes."""
    rng = np.random.default_rng(3)
    arms = rng.standard_normal((size - 3, size))
    K = arms.T @ np.diag(np.linspace(0.6, 3.0, size - 3)) @ arms
    return LinearSystem(np.diag(rng.uniform(0.5, 2, size)), K, np.eye(size)[:seen])


def clamped(system):
    """Frequencies with the seen coordinates clamped, without what is then free."""
    n = len(system.channels)
    M, K = system.full_mass[n:, n:], system.full_stiffness[n:, n:]
    squares = np.linalg.eigvalsh(np.linalg.solve(np.linalg.cholesky(M), K) / np.sqrt(np.diag(M)))
    return np.sqrt(squares[squares > 1e-9])


def seen_mass(system):
    G = system.observation
    return np.linalg.inv(G @ np.linalg.solve(system.full_mass, G.T))


def test_directions_stand_for_a_matrix():
    span = Spanned.of(OMEGA)
    assert span.size == 8
    rng = np.random.default_rng(0)
    S = np.diag(rng.uniform(1, 2, 5))
    S[:3, :3] += 0.2 * np.array([[0, 1, 2], [1, 0, -1], [2, -1, 0.0]])
    np.testing.assert_allclose(span.matrix(span.magnitudes(S)), S, atol=1e-14)
    assert span.positive(span.magnitudes(S))
    assert not span.positive(span.magnitudes(S - 3 * np.eye(5)))


def test_derivatives_are_those_of_differences():
    rng = np.random.default_rng(1)
    span, known = Spanned.of(OMEGA), OfLines(mass=np.eye(3) + 0.1)
    d, s = rng.standard_normal((5, 3)), rng.uniform(0.5, 1, 8)
    found = span.relations(known, OMEGA, d, s)
    for k in range(15):
        step = np.zeros(15)
        step[k] = 1e-6
        up, down = (
            span.relations(known, OMEGA, d + sign * step.reshape(5, 3), s).h for sign in (1, -1)
        )
        np.testing.assert_allclose(found.by_shape[:, k], (up - down) / 2e-6, atol=1e-8)


def test_modes_of_a_span_have_its_matrix_and_its_errors():
    rng = np.random.default_rng(2)
    span = Spanned.of(OMEGA)
    d = np.vstack([np.linalg.qr(rng.standard_normal((4, 3)))[0].T, rng.standard_normal((2, 4))])
    S = np.diag([1.0, 2.0, 1.5, 0.7, 0.4])
    S[:3, :3] += 0.3
    s, root = span.magnitudes(S), 1e-5 * rng.standard_normal((3 + 20 + 8, 31))
    joint = span.joint(np.array([0.0, 1.0, 1.7]), d, s, root @ root.T)
    v = np.sqrt(joint.value("s"))[:, None] * joint.value("shapes")
    np.testing.assert_allclose(v[:3].T @ v[:3], d[:3].T @ S[:3, :3] @ d[:3], atol=1e-12)
    draws = []
    for _ in range(400):
        x = root @ rng.standard_normal(31)
        moved = span.joint(x[:3], d + x[3:23].reshape(5, 4), s + x[23:], np.zeros((31, 31)))
        draws.append(moved.value("s"))
    std = np.sqrt(np.diag(joint.between("s")))
    np.testing.assert_allclose(np.std(draws, axis=0), std, rtol=0.15)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_release_with_two_rigid_bodies_is_completed_exactly():
    system = floating()
    mass = seen_mass(system)
    z = np.eye(2) @ mass @ system.participation.T
    t = 0.1 * np.arange(1000)
    waves = np.cos(np.multiply.outer(t, system.frequencies))
    record = Record(np.array([waves @ (row[:, None] * system.participation) for row in z]), dt=0.1)
    model = prism.identify(record, experiment="released", mass=mass, rigid=2)
    np.testing.assert_allclose(model.hamiltonian.hidden_frequencies, clamped(system), rtol=1e-6)
    assert model.certificate.rigid == 2


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_free_motion_with_three_rigid_bodies_is_completed_exactly():
    system = floating(seen=4)
    record = system.free(100, 0.1, trials=4, rng=1)
    model = prism.identify(record, kind="steady", mass=seen_mass(system), rigid=3)
    np.testing.assert_allclose(model.hamiltonian.hidden_frequencies, clamped(system), rtol=1e-6)
    one = prism.identify(system.free(100, 0.1, rng=1), kind="steady", rigid=3)
    assert "show 1 rigid-body mode only" in one.identifiability.why
