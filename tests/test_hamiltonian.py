import numpy as np
import pytest
from scipy.integrate import solve_ivp, trapezoid

from prism.completion import Completion, Hidden, complete
from prism.errors import CannotTellError, OptionError
from prism.hamiltonian import Hamiltonian
from prism.kernel import MemoryKernel, certify, certify_lines
from prism.systems import LinearSystem, cart_pendulum, chain
from prism_bench.chain import random_hamiltonian


@pytest.fixture
def hamiltonian():
    system = chain()
    return Hamiltonian(complete(system.frequencies, system.participation), ("q1", "q4"))


def test_flow_solves_hamiltons_equations(hamiltonian):
    """Exact flow against a high-order integrator of q' = M⁻¹p, p' = -Kq."""
    M, K = hamiltonian.matrices
    size = hamiltonian.size
    state = np.random.default_rng(0).standard_normal(2 * size)

    def rate(_, z):
        return np.concatenate([np.linalg.solve(M, z[size:]), -K @ z[:size]])

    t = np.linspace(0, 20, 41)
    path = solve_ivp(rate, (0, 20), state, "DOP853", t, rtol=1e-12, atol=1e-12).y.T
    np.testing.assert_allclose(hamiltonian.flow(state, t), path, atol=1e-9)
    np.testing.assert_allclose(hamiltonian.simulate(state, t), path[:, :2], atol=1e-9)
    np.testing.assert_allclose(hamiltonian.flow(state, 5.0), path[10], atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_energy_is_conserved_over_a_million_periods(seed):
    rng = np.random.default_rng(seed)
    h = random_hamiltonian(rng)
    state = rng.standard_normal(2 * h.size)
    times = np.append(
        rng.uniform(0, 1e6 * 2 * np.pi / h.frequencies.min(), 100),
        1e6 * 2 * np.pi / h.frequencies.min(),
    )
    np.testing.assert_allclose(h.energy(h.flow(state, times)), h.energy(state), rtol=1e-10)


def test_energy_is_the_written_formula(hamiltonian):
    rng = np.random.default_rng(1)
    z = rng.standard_normal(8)
    x, q, p, pq = z[:2], z[2:4], z[4:6], z[6:]
    expected = 0.5 * p @ np.linalg.inv(hamiltonian.mass) @ p + 0.5 * x @ hamiltonian.stiffness @ x
    for i, h in enumerate(hamiltonian.hidden):
        expected += 0.5 * pq[i] ** 2 + 0.5 * h.frequency**2 * q[i] ** 2 + q[i] * h.couplings[0] @ x
    np.testing.assert_allclose(hamiltonian.energy(z), expected, rtol=1e-13)


def test_closed_loop_frequencies_come_back(hamiltonian):
    np.testing.assert_allclose(hamiltonian.frequencies, chain().frequencies, rtol=1e-12)


def test_equation_of_the_chain_in_words(hamiltonian):
    assert str(hamiltonian).splitlines() == [
        "q1'' + 2 q1 + 0.7071 h1 + 0.7071 h2 = 0",
        "q4'' + q4 + 0.7071 h1 - 0.7071 h2 = 0",
        "h1'' + h1 + 0.7071 q1 + 0.7071 q4 = 0      (ω = 1)",
        "h2'' + 3 h2 + 0.7071 q1 - 0.7071 q4 = 0      (ω = 1.73205)",
    ]


def test_wrong_state_is_refused(hamiltonian):
    with pytest.raises(OptionError, match="8 entries"):
        hamiltonian.energy(np.zeros(4))


def test_memory_kernel_in_time_is_the_inverse_laplace_transform(hamiltonian):
    """∫ K(t) e^{-st} dt by quadrature equals K̂(s)."""
    kernel = hamiltonian.kernel
    s = 0.5 + 0.4j
    t, weight = np.polynomial.legendre.leggauss(2000)
    t, weight = 40 * (t + 1), 40 * weight
    integral = np.einsum("t,tab->ab", weight * np.exp(-s * t), kernel(t))
    np.testing.assert_allclose(integral, kernel.laplace(s), atol=1e-9)
    assert np.all(kernel(-1.0) == 0)


def test_memory_equation_reproduces_the_flow(hamiltonian):
    """μx'' = -κx + ∫K x + F holds along the exact motion with the hidden part at rest."""
    state = np.array([1.0, -0.5, 0, 0, 0, 0, 0, 0])
    t = np.linspace(0, 10, 4001)
    x = hamiltonian.simulate(state, t)
    h = t[1] - t[0]
    acceleration = (x[2:] - 2 * x[1:-1] + x[:-2]) / h**2
    i = 3000
    memory = np.einsum("tab,tb->ta", hamiltonian.kernel(t[i] - t[: i + 1]), x[: i + 1])
    memory = trapezoid(memory, dx=h, axis=0)
    expected = -hamiltonian.stiffness @ x[i] + memory
    np.testing.assert_allclose(acceleration[i - 1], expected, atol=1e-5)  # h² of both rules


def test_spectral_density_integrates_to_the_residues(hamiltonian):
    """∫ J(ω) dω = (π/2) Σ R/ω for narrow lines."""
    kernel = hamiltonian.kernel
    w = np.linspace(0.0, 30.0, 300001)
    total = trapezoid(kernel.spectral_density(w, width=1e-3), w, axis=0)
    expected = np.pi / 2 * np.einsum("iab,i->ab", kernel.residues, 1 / kernel.poles)
    np.testing.assert_allclose(total, expected, atol=2e-3)
    assert np.linalg.eigvalsh(kernel.spectral_density(w[::1000])).min() >= -1e-15


def test_certificate_can_fail():
    """A negative residue and a mean force that pulls outward are both refused."""
    good = MemoryKernel(np.array([1.0]), np.array([[[0.5]]]))
    assert certify(np.array([[1.0]]), good).passive
    assert not certify(np.array([[0.4]]), good).passive
    bad = MemoryKernel(np.array([1.0]), np.array([[[-0.5]]]))
    verdict = certify(np.array([[1.0]]), bad)
    assert not verdict.passive
    assert "negative" in str(verdict)
    assert not certify_lines(np.array([0.0, 1.0])).passive


def test_rank_two_has_masked_couplings():
    residue = np.eye(2)
    hidden = Hidden(1.0, 0.1, np.eye(2), None, residue, 0.1 * residue)
    h = Hamiltonian(Completion(np.eye(2), 3 * np.eye(2), None, None, (hidden,)), ("a", "b"))
    assert np.ma.getmaskarray(h.couplings).all()
    assert np.ma.getmaskarray(h.couplings_std).all()
    np.testing.assert_array_equal(h.residues[0], residue)
    assert h.size == 4


@pytest.mark.parametrize("unit", [1e-15, 1.0, 1e12])
def test_the_equation_keeps_its_terms_in_any_unit(unit):
    """A mass of a microgram, or of a molecule, in SI units is no rounding."""
    omega, v = np.array([1.0, 2.0, 3.0]), np.array([[1.0, 0.3], [0.4, -1.0], [0.5, 0.6]])
    h = Hamiltonian(complete(omega, v / np.sqrt(unit)), ("x", "y"))
    plain = Hamiltonian(complete(omega, v), ("x", "y"))
    for line, other in zip(str(h).splitlines(), str(plain).splitlines(), strict=True):
        assert line.count("''") == other.count("''")
        assert len(line.split()) == pytest.approx(len(other.split()), abs=1)


def test_three_stiffnesses_of_a_cart_with_a_pendulum():
    """Dynamic k + mg/l; static and clamped k: in rest and with the bob held nothing else pulls."""
    system = cart_pendulum()
    h = Hamiltonian(complete(system.frequencies, system.participation), ("x",))
    assert h.stiffness[0, 0] == pytest.approx(15 + 0.5 * 9.81)
    assert h.static_stiffness == pytest.approx(system.static_stiffness)
    assert h.static_stiffness[0, 0] == pytest.approx(15.0)
    # q = √m l (θ + x/l) up to its sign, which is that of the coupling
    kinetic = -np.sign(h.couplings[0]) * np.sqrt(0.5)
    assert h.clamped_stiffness(kinetic[None])[0, 0] == pytest.approx(15.0)
    assert system.clamped_stiffness[0, 0] == pytest.approx(15.0)


def test_without_kinetic_coupling_clamped_and_dynamic_stiffness_are_one(hamiltonian):
    system = chain()
    assert hamiltonian.clamped_stiffness(np.zeros((2, 2))) == pytest.approx(hamiltonian.stiffness)
    assert system.clamped_stiffness == pytest.approx(system.stiffness)
    assert hamiltonian.static_stiffness == pytest.approx(np.linalg.inv(system.receptance(0).real))
    with pytest.raises(OptionError, match="a row for each hidden coordinate"):
        hamiltonian.clamped_stiffness(np.zeros((1, 2)))


def test_what_is_not_a_coordinate_clamps_nothing():
    system = LinearSystem(np.eye(2), np.diag([1.0, 2.0]), [[1.0, 0.5]])
    with pytest.raises(OptionError, match="no coordinates"):
        _ = system.clamped_stiffness


def test_an_unstable_mode_grows():
    """x'' = -κx + c q, q'' = -ω² q + c x with c² > κω²: against a high-order integrator."""
    hidden = Hidden(1.0, None, np.array([[1.5]]), None, np.array([[2.25]]), None)
    h = Hamiltonian(Completion(np.eye(1), np.eye(1), None, None, (hidden,)), ("x",))
    M, K = h.matrices

    def rate(_, z):
        return np.concatenate([np.linalg.solve(M, z[2:]), -K @ z[:2]])

    state, t = np.array([1.0, 0.2, -0.3, 0.5]), np.linspace(0, 4, 9)
    path = solve_ivp(rate, (0, 4), state, "DOP853", t, rtol=1e-12, atol=1e-12).y.T
    np.testing.assert_allclose(h.flow(state, t), path, rtol=1e-8)
    assert np.abs(h.flow(state, 20.0)).max() > 1e3
    with pytest.raises(CannotTellError, match=r"grows at the rate 0\.7071"):
        _ = h.frequencies
