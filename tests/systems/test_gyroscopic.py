"""Gyroscopic systems: exact answers, and the completion of their lines."""

import numpy as np
import pytest
import scipy.linalg

from prism.errors import CannotTellError, OptionError
from prism.motion.gyroscopic import commutator, complete_gyroscopic, line_sum
from prism.systems import chain
from prism.systems.gyroscopic import GyroscopicSystem, foucault_pendulum, rotor


def random_system(seed, coordinates=4, seen=2):
    """Full mass, gyroscopic and stiffness matrices, and coordinates seen in mixtures."""
    rng = np.random.default_rng(seed)
    N = coordinates
    X, Y, g, mix = (rng.standard_normal((N, N)) for _ in range(4))
    M, K = X @ X.T / N + np.eye(N), 2 * Y @ Y.T / N + np.eye(N)
    return GyroscopicSystem(M, g - g.T, K, np.eye(N)[:seen] + 0.3 * mix[:seen])


def line_correlation(system, lag):
    """``2 Re Σ B e^{iΩτ}``."""
    phase = np.exp(1j * system.frequencies * lag)
    return 2 * np.einsum("jab,j->ab", system.residues, phase).real


# -- the systems ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_modes_solve_the_quadratic_eigenproblem_and_have_energy_norm_one(seed):
    system = random_system(seed)
    M, g, K = system.full_mass, system.full_gyroscopic, system.full_stiffness
    eigenvalues = np.linalg.eigvals(system.generator)
    positive = np.sort(eigenvalues.imag[eigenvalues.imag > 0])
    np.testing.assert_allclose(system.frequencies, positive, rtol=1e-10)
    for omega, mode in zip(system.frequencies, system.modes, strict=True):
        np.testing.assert_allclose((K + 1j * omega * g - omega**2 * M) @ mode, 0, atol=1e-12)
        energy = mode.conj() @ (K + omega**2 * M) @ mode
        np.testing.assert_allclose(energy, 1, rtol=1e-12)


def test_correlation_is_a_sum_of_hermitian_lines_and_not_symmetric():
    system = random_system(1)
    lags = np.array([0.0, 0.4, 1.7, 9.0])
    for lag, C in zip(lags, system.correlation(lags), strict=True):
        np.testing.assert_allclose(line_correlation(system, lag), C, atol=1e-13)
    C = system.correlation([1.7])[0]
    assert np.abs(C - C.T).max() > 0.1 * np.abs(C).max()


def test_kubo_holds_with_gyroscopic_forces():
    """``H(s) = C(0) - s ∫ C e^{-sτ}`` by quadrature, against the dense solve."""
    system = random_system(2)
    s, step = 0.7, 0.01
    lags = step * np.arange(4001)
    integrand = system.correlation(lags) * np.exp(-s * lags)[:, None, None]
    weights = np.full(len(lags), 2.0)
    weights[1::2], weights[[0, -1]] = 4.0, 1.0
    laplace = step / 3 * np.einsum("t,tab->ab", weights, integrand)
    found = system.correlation([0.0])[0] - s * laplace
    np.testing.assert_allclose(found, system.receptance(s).real, atol=1e-8)


def test_records_follow_the_exact_flow_and_the_canonical_distribution():
    system = random_system(3)
    rng = np.random.default_rng(0)
    record = system.free(3.0, 0.1, trials=2, energies=np.ones(4), rng=rng)
    assert record.trials[0].shape == (30, 2)
    ensemble = system.equilibrium(1.0, 0.1, trials=20000, temperature=2.0, rng=1)
    x = np.array(ensemble.trials)
    for k in (0, 9):  # stationary, with the exact correlation
        measured = np.einsum("ra,rb->ab", x[:, k], x[:, 0]) / len(x)
        exact = system.correlation([0.1 * k], 2.0)[0]
        assert np.abs(measured - exact).max() < 0.04 * np.abs(system.correlation([0.0], 2.0)).max()


def test_motion_is_the_matrix_exponential_and_free_records_have_the_asked_energies():
    system = random_system(4)
    q, v = np.array([1.0, 0.5, -0.3, 0.2]), np.array([0.0, 0.1, 0.0, -1.0])
    w = scipy.linalg.expm(system.generator * 2.0) @ np.concatenate([q, v])
    motion = system.motion(q, v, [0.0, 0.5, 2.0])
    np.testing.assert_allclose(motion[2], system.observation @ w[:4], atol=1e-12)
    energies = np.array([1.0, 2.0, 0.5, 3.0])
    x = system.free(3000.0, 0.2, energies=energies, rng=0).trials[0]
    expected = 2 * energies @ np.abs(system.factors) ** 2  # mean square of 2 Re Σ a b e^{iΩt}
    np.testing.assert_allclose((x**2).mean(axis=0), expected, rtol=0.01)


def test_without_gyroscopic_forces_it_is_the_linear_system():
    plain = chain()
    same = GyroscopicSystem(
        plain.full_mass, np.zeros((4, 4)), plain.full_stiffness, plain.observation
    )
    np.testing.assert_allclose(same.frequencies, plain.frequencies)
    # 2Ω² Re B = v vᵀ: the residues of the two forms
    np.testing.assert_allclose(
        2 * same.frequencies[:, None, None] ** 2 * same.residues, plain.residues, atol=1e-12
    )
    np.testing.assert_allclose(same.hidden_frequencies, plain.hidden_frequencies)
    np.testing.assert_allclose(same.stiffness, plain.stiffness, atol=1e-12)


def test_foucault_pendulum_turns_both_ways():
    system = foucault_pendulum(0.1)
    np.testing.assert_allclose(system.frequencies, [0.9, 1.1])
    np.testing.assert_allclose(system.gyroscopic, [[0, -0.2], [0.2, 0]], atol=1e-15)
    senses = np.sign(system.residues[:, 0, 1].imag)
    assert sorted(senses) == [-1, 1]
    assert len(system.hidden_frequencies) == 0


def test_rotor_with_its_centre_held_nutates_at_two_known_frequencies():
    """``I ω² ± I_p Ω ω - k_θ = 0`` for the tilts of an isotropic rotor."""
    spin, inertia, polar = 2.0, 0.5, 0.8
    tilt = 1.0 * 0.6**2 + 2.0 * 1.0**2
    root = np.sqrt((polar * spin) ** 2 + 4 * inertia * tilt)
    expected = np.array([root - polar * spin, root + polar * spin]) / (2 * inertia)
    system = rotor(spin, inertia=inertia, polar=polar)
    np.testing.assert_allclose(system.hidden_frequencies, expected, rtol=1e-12)
    np.testing.assert_allclose(system.gyroscopic, 0, atol=1e-15)  # of the translations: none


@pytest.mark.parametrize(
    "make",
    [
        lambda: GyroscopicSystem(np.eye(2), np.eye(2), np.eye(2), np.eye(2)),
        lambda: GyroscopicSystem(np.eye(2), np.zeros((2, 2)), -np.eye(2), np.eye(2)),
        lambda: GyroscopicSystem(np.eye(2), np.zeros((2, 2)), np.eye(2), np.eye(3)),
        lambda: GyroscopicSystem(np.eye(2), np.zeros((2, 2)), np.eye(2), np.ones((2, 2))),
        lambda: foucault_pendulum(1.5),
        lambda: foucault_pendulum(length=0.0),
        lambda: rotor(springs=(1.0, -1.0)),
        lambda: rotor().equilibrium(0.1, 0.1, trials=1),
    ],
)
def test_wrong_options_are_refused(make):
    with pytest.raises(OptionError):
        make()


# -- completion ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_completion_of_exact_lines_recovers_the_bare_system(seed):
    rng = np.random.default_rng(seed)
    N = int(rng.integers(1, 8))
    sizes = (4, 2) if seed < 10 else (N, int(rng.integers(1, N + 1)))
    system = random_system(seed, *sizes)
    done = complete_gyroscopic(system.frequencies, system.factors)
    np.testing.assert_allclose(done.mass, system.mass, atol=1e-10)
    np.testing.assert_allclose(done.gyroscopic, system.gyroscopic, atol=1e-10)
    np.testing.assert_allclose(done.stiffness, system.stiffness, atol=1e-10)
    np.testing.assert_allclose(done.hidden_frequencies, system.hidden_frequencies, atol=1e-10)
    for s in (0.3 + 0.7j, 2.0, 0.1 + 3.0j):
        H = system.receptance(s)
        np.testing.assert_allclose(line_sum(system.frequencies, system.factors, s), H, atol=1e-11)
        np.testing.assert_allclose(done.inverse_receptance(s), np.linalg.inv(H), atol=1e-9)
    static = np.linalg.inv(system.correlation([0.0])[0])
    np.testing.assert_allclose(done.static_stiffness, static, atol=1e-10)
    np.testing.assert_allclose(commutator(system.frequencies, system.factors), 0, atol=1e-12)


def test_gyroscopic_matrix_is_the_block_of_the_full_one_for_separate_masses():
    """γ and the bare frequencies read off the matrices by eye."""
    rng = np.random.default_rng(0)
    g, X = rng.standard_normal((4, 4)), rng.standard_normal((4, 4))
    g, K = g - g.T, X @ X.T + np.eye(4)
    system = GyroscopicSystem(np.diag([1.0, 2.0, 3.0, 4.0]), g, K, np.eye(4)[:2])
    done = complete_gyroscopic(system.frequencies, system.factors)
    np.testing.assert_allclose(done.mass, np.diag([1.0, 2.0]), atol=1e-11)
    np.testing.assert_allclose(done.gyroscopic, g[:2, :2], atol=1e-11)
    clamped = GyroscopicSystem(np.diag([3.0, 4.0]), g[2:, 2:], K[2:, 2:], np.eye(2))
    np.testing.assert_allclose(done.hidden_frequencies, clamped.frequencies, atol=1e-11)


@pytest.mark.parametrize("seed", range(10))
def test_hidden_frequencies_are_real_and_interlace_whatever_the_lines(seed):
    """Even for lines that no system of positions has: the energy is positive by construction."""
    rng = np.random.default_rng(seed)
    omega = np.sort(rng.uniform(0.2, 4.0, 5))
    factors = rng.standard_normal((5, 2)) + 1j * rng.standard_normal((5, 2))
    done = complete_gyroscopic(omega, factors)
    assert len(done.hidden_frequencies) == 3
    assert done.hidden_frequencies.min() >= 0
    assert done.hidden_frequencies.max() <= omega[-1]
    assert np.linalg.eigvalsh(done.static_stiffness)[0] > 0


def test_too_few_lines_cannot_be_completed():
    with pytest.raises(CannotTellError, match="at least 2 lines"):
        complete_gyroscopic(np.array([1.0]), np.ones((1, 2)) + 0j)
    with pytest.raises(CannotTellError, match="does not move"):
        complete_gyroscopic(np.array([1.0, 2.0]), np.ones((2, 2)) + 0j)
    with pytest.raises(OptionError):
        complete_gyroscopic(np.array([-1.0, 2.0]), np.eye(2) + 0j)
