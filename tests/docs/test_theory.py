"""What THEORY calls checked, checked again: dense and obvious, on systems with known answers."""

import numpy as np
import pytest

from prism.completion import chain_form, complete
from prism.systems import LinearSystem, chain

RTOL = 1e-10  # a few digits above rounding for matrices of condition below 1e3


def random_system(rng, size=6, seen=2):
    """Full symmetric positive definite mass and stiffness: kinetic coupling included."""
    A, B = rng.standard_normal((2, size, size))
    mass = A @ A.T / size + np.eye(size)
    stiffness = B @ B.T / size + 0.5 * np.eye(size)
    return LinearSystem(mass, stiffness, np.eye(size)[:seen])


def cart_pendulum():
    M, m, length, k, g = 1.0, 0.5, 1.0, 15.0, 9.81
    mass = [[M + m, m * length], [m * length, m * length**2]]
    return LinearSystem(mass, np.diag([k, m * g * length]), [[1.0, 0.0]])


def laplace_of_cosines(amplitudes, omega, s):
    """Laplace transform of Σ B_j cos Ω_j τ."""
    return np.einsum("jab,j->ab", amplitudes, s / (s**2 + omega**2))


@pytest.mark.parametrize("seed", range(5))
def test_receptance_is_a_sum_over_modes(seed):
    """Equation (1), and the modes add up to the inverse effective mass."""
    system = random_system(np.random.default_rng(seed))
    s = 0.3 + 0.7j
    weights = 1 / (s**2 + system.frequencies**2)
    np.testing.assert_allclose(
        np.einsum("j,jab->ab", weights, system.residues), system.receptance(s), rtol=RTOL
    )
    np.testing.assert_allclose(system.residues.sum(axis=0), np.linalg.inv(system.mass), rtol=RTOL)


@pytest.mark.parametrize("seed", range(5))
def test_inverse_receptance_has_positive_residues_with_kinetic_coupling(seed):
    """Equation (2) with R ⪰ 0 for every reciprocal conservative system."""
    system = random_system(np.random.default_rng(seed))
    s = 0.2 + 1.1j
    kernel = np.einsum(
        "ia,ib,i->ab", system.couplings, system.couplings, 1 / (s**2 + system.hidden_frequencies**2)
    )
    np.testing.assert_allclose(
        np.linalg.inv(system.receptance(s)),
        system.mass * s**2 + system.stiffness - kernel,
        rtol=1e-9,
        atol=1e-9,
    )


def test_cart_pendulum_has_a_positive_residue():
    """Erratum E4: μ = 1, κ = k + mg/l, R = +m g²/l², ω = √(g/l)."""
    system = cart_pendulum()
    np.testing.assert_allclose(system.mass, [[1.0]], rtol=RTOL)
    np.testing.assert_allclose(system.stiffness, [[19.905]], rtol=RTOL)
    np.testing.assert_allclose(system.couplings**2, [[0.5 * 9.81**2]], rtol=RTOL)
    np.testing.assert_allclose(system.hidden_frequencies, [np.sqrt(9.81)], rtol=RTOL)


def test_completion_of_the_paper_chain():
    """κ = diag(2, 1), ω = {1, √3}, c = (1, ±1)/√2 to machine precision."""
    system = chain()
    done = complete(system.frequencies, system.participation)
    np.testing.assert_allclose(done.mass, np.eye(2), atol=1e-14)
    np.testing.assert_allclose(done.stiffness, np.diag([2.0, 1.0]), atol=1e-14)
    np.testing.assert_allclose([h.frequency for h in done.hidden], [1, np.sqrt(3)], rtol=1e-14)
    for h, sign in zip(done.hidden, (1, -1), strict=True):
        np.testing.assert_allclose(h.couplings[0], np.array([1, sign]) / np.sqrt(2), atol=1e-14)


@pytest.mark.parametrize("seed", range(10))
def test_completion_equals_block_elimination(seed):
    """Two routes to the bare Hamiltonian: from the modes, and from the matrices."""
    rng = np.random.default_rng(seed)
    system = random_system(rng, size=int(rng.integers(3, 9)), seen=int(rng.integers(1, 4)))
    done = complete(system.frequencies, system.participation)
    np.testing.assert_allclose(done.mass, system.mass, rtol=1e-9)
    np.testing.assert_allclose(done.stiffness, system.stiffness, rtol=1e-9, atol=1e-12)
    found = [h.frequency for h in done.hidden]
    np.testing.assert_allclose(found, system.hidden_frequencies, rtol=1e-9)
    for h, c in zip(done.hidden, system.couplings, strict=True):
        np.testing.assert_allclose(h.residue, np.outer(c, c), rtol=1e-7, atol=1e-9)


def equilibrium_correlation(system, s):
    """C(0) and Ĉ(s) at kT = 1: the amplitude of line j is v vᵀ/Ω²."""
    amplitudes = system.residues / system.frequencies[:, None, None] ** 2
    return amplitudes.sum(axis=0), laplace_of_cosines(amplitudes, system.frequencies, s)


@pytest.mark.parametrize("system", [chain(observed=[0]), chain(), cart_pendulum()])
def test_kubo_gives_the_receptance_at_equilibrium(system):
    """Equation (4): H(s) = C(0) - s Ĉ(s) at kT = 1."""
    s = 0.4 + 0.9j
    C0, C = equilibrium_correlation(system, s)
    np.testing.assert_allclose(C0 - s * C, system.receptance(s), rtol=RTOL)


def kernel_poles(kernel, grid):
    """Poles of a scalar K̂ on the imaginary axis: sign changes of 1/K̂, bisected."""

    def inverse(w):
        with np.errstate(divide="ignore", invalid="ignore"):  # exactly on a pole or zero
            return 1 / kernel(1j * w).real

    values = np.array([inverse(w) for w in grid])
    poles = []
    for a, b, fa, fb in zip(grid, grid[1:], values, values[1:], strict=False):
        if fa * fb < 0:
            low, high = a, b
            for _ in range(80):
                mid = 0.5 * (low + high)
                low, high = (mid, high) if inverse(low) * inverse(mid) > 0 else (low, mid)
            if abs(inverse(low)) < 1e-6:
                poles.append(low)
    return poles


def test_wrong_deconvolution_displaces_the_bare_frequencies():
    """Erratum E3: (5) on equilibrium data gives other frequencies than the truth and (4)."""
    system = chain(observed=[0])
    grid = np.linspace(0.2, 2.3, 4001)

    def by_paper(s):
        C0, C = equilibrium_correlation(system, s)
        return (s**2 * C - s * C0 + system.stiffness @ C)[0, 0] / C[0, 0]

    def by_kubo(s):
        C0, C = equilibrium_correlation(system, s)
        H = (C0 - s * C)[0, 0]
        return system.mass[0, 0] * s**2 + system.stiffness[0, 0] - 1 / H

    np.testing.assert_allclose(kernel_poles(by_kubo, grid), [0.445, 1.247, 1.802], atol=5e-4)
    np.testing.assert_allclose(kernel_poles(by_paper, grid), [0.765, 1.414, 1.848], atol=5e-4)
    np.testing.assert_allclose(system.hidden_frequencies, [0.445, 1.247, 1.802], atol=5e-4)


def test_released_motion_is_the_receptance_times_the_mass():
    """Released: X(s) = s H(s) μ x(0), so x(t) = Σ v vᵀ μ x0 cos Ωt."""
    system = random_system(np.random.default_rng(3))
    x0 = np.array([0.7, -0.4])
    record = system.released(20, 0.1, x0)
    t = record.times[0]
    cosines = np.cos(np.outer(t, system.frequencies))
    expected = np.einsum("tj,jab,b->ta", cosines, system.residues, system.mass @ x0)
    np.testing.assert_allclose(record.trials[0], expected, atol=1e-12)
    np.testing.assert_allclose(record.trials[0][0], x0, atol=1e-12)


@pytest.mark.parametrize("seen", [1, 2, 3])
def test_chain_form_is_the_continued_fraction(seen):
    """Block Lanczos reproduces H(s) as Mori's continued fraction."""
    system = random_system(np.random.default_rng(seen), size=7, seen=seen)
    form = chain_form(system.frequencies, system.participation)
    s = 0.3 + 0.8j
    tail = np.zeros((0, 0))
    for k in range(len(form.diagonal) - 1, -1, -1):
        A = form.diagonal[k]
        block = s**2 * np.eye(len(A)) + A
        if k < len(form.diagonal) - 1:
            block = block - form.links[k].T @ np.linalg.solve(tail, form.links[k])
        tail = block
    inverse = form.root_mass @ tail @ form.root_mass
    np.testing.assert_allclose(np.linalg.inv(inverse), system.receptance(s), rtol=1e-8, atol=1e-12)


def test_chain_form_of_a_chain_is_the_chain():
    """Seen at its free end, the Lanczos chain of a mass chain is the mass chain."""
    system = chain(5, observed=[4])
    form = chain_form(system.frequencies, system.participation)
    np.testing.assert_allclose([A.item() for A in form.diagonal], [1, 2, 2, 2, 2], rtol=1e-10)
    np.testing.assert_allclose([abs(B.item()) for B in form.links], np.ones(4), rtol=1e-10)


def test_friction_kernel_is_positive_real_and_the_memory_kernel_alone_is_not():
    """Erratum E1: Re of sK̂(s) is nonnegative in the right half plane; Re of K̂(s) is not."""
    system = chain()
    s = np.array([0.1 + 0.3j, 0.05 + 1.5j, 0.2 + 3j])
    kernel = np.einsum(
        "ia,ib,si->sab",
        system.couplings,
        system.couplings,
        1 / (s[:, None] ** 2 + system.hidden_frequencies**2),
    )
    scaled = s[:, None, None] * kernel
    assert np.linalg.eigvalsh((scaled + np.swapaxes(scaled, 1, 2).conj()).real).min() >= 0
    assert np.linalg.eigvalsh(kernel.real).min() < 0
