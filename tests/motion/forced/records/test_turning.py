"""Forced records of a system that rotates are not given a reciprocal Hamiltonian."""

import numpy as np
import pytest
import scipy.linalg

import prism
from prism.systems.gyroscopic import GyroscopicSystem

TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])


def record(spin, rng):
    mass, stiffness = np.diag([1.0, 1.5]), [[3.0, -1.0], [-1.0, 5.0]]
    system = GyroscopicSystem(mass, spin * TURN, stiffness, np.eye(2))
    rng, n, N = np.random.default_rng(rng), 2, 2
    push = np.vstack([np.zeros((N, n)), np.linalg.solve(system.full_mass, np.eye(N)[:, :n])])
    whole = np.block([[system.generator, push], [np.zeros((n, 2 * N + n))]])
    step = scipy.linalg.expm(0.2 * whole)
    force, state, out = rng.standard_normal((500, n)), np.zeros(2 * N), []
    for f in force:
        out.append(state[:n])
        state = step[: 2 * N, : 2 * N] @ state + step[: 2 * N, 2 * N :] @ f
    x = np.array(out)
    x = x + 0.02 * x.std(axis=0) * rng.standard_normal(x.shape)
    return prism.Record(np.hstack([x, force]), dt=0.2, channels=["x", "y", "f_x", "f_y"])


@pytest.mark.parametrize("spin", [0.0, 0.4])
def test_a_rotor_is_told_where_no_decay_is_allowed(spin):
    """It was a reciprocal Hamiltonian with one mode too many."""
    h = prism.identify(record(spin, 0), force=["f_x", "f_y"], damped=False).hamiltonian
    assert hasattr(h, "gyroscopic") == bool(spin)
    if spin:
        assert abs(h.gyroscopic[0, 1] - spin) < 4 * h.gyroscopic_std[0, 1]


def test_lines_that_turn_are_told_where_not_every_port_is_pushed():
    pushed = record(0.4, 0)
    rng = np.random.default_rng(1)
    values = pushed.trials[0]
    values = np.hstack([values, values[:, :1]])
    values[:, 4] += 0.02 * values[:, 0].std() * rng.standard_normal(len(values))
    three = prism.Record(values, dt=0.2, channels=["x", "y", "f_x", "f_y", "z"])
    model = prism.identify(three, force=["f_x", "f_y"])
    assert model.hamiltonian is None
    assert "lines that turn" in str(model.identifiability.why)
