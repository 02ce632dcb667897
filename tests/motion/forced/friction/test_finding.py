"""Errors of poles and hidden oscillators, and what is said of friction that hidden parts share."""

import numpy as np
import pytest

from prism.motion.forced.foster import Foster, FosterFit
from prism.motion.forced.friction.finding import FrictionFinding

OMEGA = np.array([0.9, 1.3, 1.8])


def finding(V, C, covariance):
    foster = Foster(OMEGA, V, np.diag(C) / OMEGA, "coupled", friction=C)
    N, n = V.shape
    fit = FosterFit(
        foster=foster,
        covariance=np.zeros((N * (n + 2),) * 2),
        gains=np.ones(N),
        chi2=1.0,
        dof=1,
        noise="",
        noise_std=np.ones(n),
        inside=np.ones(N, bool),
        coupled=covariance,
    )
    return FrictionFinding(fit, tuple(f"x{k}" for k in range(n)))


@pytest.fixture(scope="module")
def parts():
    rng = np.random.default_rng(0)
    L = np.tril(0.2 * rng.standard_normal((3, 3)))
    root = 1e-4 * rng.standard_normal((3 + 6 + 6, 15))
    return rng.standard_normal((3, 2)), L @ L.T, root


def test_errors_are_those_of_draws(parts):
    V, C, root = parts
    found = finding(V, C, root @ root.T)
    h = found.outcome("known").hamiltonian
    rng = np.random.default_rng(1)
    frequencies, damping, poles = [], [], []
    for _ in range(300):
        moved = found._at(np.concatenate([OMEGA**2, V.ravel(), C[np.tril_indices(3)]])
                          + root @ rng.standard_normal(15))  # fmt: skip
        form = moved.split()
        frequencies.append(form.hidden_frequencies[0])
        damping.append(form.hidden_damping[0])
        poles.append(moved.poles.frequency)
    assert h.hidden[0].frequency_std == pytest.approx(np.std(frequencies), rel=0.15)
    assert h.hidden[0].damping_std == pytest.approx(np.std(damping), rel=0.15)
    np.testing.assert_allclose(found.modes.frequencies_std, np.std(poles, axis=0), rtol=0.15)


def test_complex_shapes_are_told(parts):
    V, C, root = parts
    sure = finding(V, C, 1e-8 * root @ root.T).modes
    assert not sure.in_phase.all()
    assert sure.phase_ratio.max() == pytest.approx(0.00278, rel=1e-2)
    unsure = finding(V, C, 1e8 * root @ root.T).modes
    assert unsure.in_phase.all()


def test_shared_friction_of_hidden_oscillators_widens_their_errors(parts):
    """Two hidden oscillators on one damper, which no star explains."""
    w = np.array([0.1, 1.0, 0.9])
    K = np.array([[3.0, 0.3, 0.2], [0.3, 1.0, 0.0], [0.2, 0.0, 1.3]])
    lam, phi = np.linalg.eigh(K)
    N = 3
    C = phi.T @ (0.4 * np.outer(w, w)) @ phi
    foster = Foster(np.sqrt(lam), phi[:1].T, np.diag(C) / np.sqrt(lam), "coupled", friction=C)
    zero = 1e-16 * np.eye(N + N + 6)
    found = FrictionFinding(
        FosterFit(foster, np.zeros((9, 9)), np.ones(3), 1.0, 1, "", np.ones(1), np.ones(3, bool),
                  coupled=zero), ("x",))  # fmt: skip
    assert [one.code for one in found.remarks] == ["coupled-friction", "hidden-friction"]
    h = found.outcome("known").hamiltonian
    s = found.system.receptance(1j * np.array([0.5, 1.1, 2.0]))
    np.testing.assert_allclose(h.receptance(1j * np.array([0.5, 1.1, 2.0])), s, rtol=1e-8)
    assert max(one.frequency_std for one in h.hidden) > 1e-3
