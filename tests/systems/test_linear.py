"""Linear systems that nothing holds: rigid-body modes, checked by the dense equations of motion."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import prism
from prism.errors import OptionError
from prism.systems import LinearSystem, chain

MASSES, SPRINGS = [1.0, 2.0, 0.7, 1.5], [1.0, 0.6, 1.4]
FREE = chain(MASSES, SPRINGS, ends="free-free", observed=[0, 2])


def test_a_free_chain_moves_as_a_whole():
    assert FREE.rigid == 1
    assert FREE.frequencies[0] == 0
    assert FREE.frequencies[1] > 0.3
    np.testing.assert_allclose(np.abs(FREE.participation[0]), 1 / np.sqrt(np.sum(MASSES)))
    np.testing.assert_allclose(FREE.residues.sum(axis=0), np.linalg.inv(FREE.mass), atol=1e-12)


def test_motion_is_that_of_the_equations():
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, 4))
    M, K = FREE.full_mass, FREE.full_stiffness

    def rates(_, z):
        return np.concatenate([z[4:], -np.linalg.solve(M, K @ z[:4])])

    t = np.linspace(0, 7, 20)
    path = solve_ivp(rates, (0, 7), np.concatenate([q, v]), t_eval=t, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(FREE.motion(q, v, t), path.y[[0, 2]].T, atol=1e-8)


def test_a_release_starts_at_rest_where_it_was_held():
    record = FREE.released(100, 0.01, [1.0, -0.5])
    x = record.trials[0]
    np.testing.assert_allclose(x[0], [1.0, -0.5], atol=1e-12)
    np.testing.assert_allclose(x[1] - x[0], 0, atol=1e-3)
    v = FREE.participation[0]
    np.testing.assert_allclose(x.mean(axis=0), v * (v @ FREE.mass @ [1.0, -0.5]), atol=0.02)


def test_slopes_at_equilibrium_scatter_as_the_rigid_body_says():
    record = FREE.equilibrium(100, 0.5, trials=4000, temperature=2.0, rng=3)
    slopes = np.array([np.polyfit(record.times[0], x, 1)[0] for x in record.trials])
    expected = 2.0 * FREE.residues[0]
    np.testing.assert_allclose(slopes.T @ slopes / 4000, expected, rtol=0.1)


def test_noise_is_measured_by_what_vibrates():
    clean = FREE.free(400, 0.1, rng=5).trials[0]
    noisy = FREE.free(400, 0.1, noise=0.1, rng=5).trials[0]
    vibrating = chain(MASSES, [*SPRINGS, 1e-9], ends="free-fixed", observed=[0, 2])
    assert np.all((noisy - clean).std(axis=0) < 0.3)
    assert vibrating.rigid == 0


def test_a_free_body_under_force_is_the_limit_of_a_softly_held_one():
    force = np.random.default_rng(2).normal(size=(200, 2))
    soft = chain(MASSES, [*SPRINGS, 1e-9], ends="free-fixed", observed=[0, 2])
    for hold in ("zero", "first"):
        run = prism.systems.forced(FREE, force, 0.1, hold=hold)
        other = prism.systems.forced(soft, force, 0.1, hold=hold)
        np.testing.assert_allclose(run.record.trials[0], other.record.trials[0], atol=1e-5)


def test_what_cannot_be_is_refused():
    with pytest.raises(OptionError, match="nothing to hold it"):
        FREE.snapback(100, 0.1, [1.0, 0.0])
    with pytest.raises(OptionError, match="positive definite, or semidefinite"):
        LinearSystem(np.eye(2), np.diag([1.0, -0.1]), np.eye(2))
    with pytest.raises(OptionError, match="on a resonance"):
        FREE.response([0.0, 1.0])
