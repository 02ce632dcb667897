"""Where the paper and the mathematics part: one exact, dense check for each erratum.

E1 to E10 are those of `docs/paper-audit.md`; E1, E3 and E4 are in `test_theory.py` as well. The
last sections check other statements of the paper that the page judges.
"""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.linalg import block_diag, expm

import prism
from prism.completion import complete
from prism.correlation import CosineSum
from prism.deconvolution import kernel_poles
from prism.kernel import MemoryKernel, certify
from prism.least_errors import cramer_rao
from prism.systems import (
    LinearSystem,
    NonlinearSystem,
    cart_pendulum,
    chain,
    fput,
    henon_heiles,
    largest_lyapunov,
)

CHAIN = chain()  # seen at both ends: position coupling
FIRST = chain(observed=[0])
CART = cart_pendulum()  # reactive coupling
SYSTEMS = pytest.mark.parametrize("system", [FIRST, CART], ids=["position", "reactive"])


def generator(system):
    """A of z' = A z with z = (q, q'), and the output row x = Γ q."""
    size = len(system.full_mass)
    A = np.zeros((2 * size, 2 * size))
    A[:size, size:] = np.eye(size)
    A[size:, :size] = -np.linalg.solve(system.full_mass, system.full_stiffness)
    return A, np.hstack([system.observation, np.zeros_like(system.observation)])


def gramian(system, horizon, points=40001):
    """∫ exp(Aᵀt) ΓᵀΓ exp(At) dt over (0, horizon), by Simpson's rule."""
    A, G = generator(system)
    t = np.linspace(0, horizon, points)
    step = expm(A * t[1])
    rows = np.empty((points, *G.shape))
    rows[0] = G
    for k in range(1, points):
        rows[k] = rows[k - 1] @ step
    weights = np.full(points, 2.0)
    weights[1::2] = 4.0
    weights[[0, -1]] = 1.0
    return np.einsum("t,tai,taj->ij", weights * t[1] / 3, rows, rows)


def modal_basis(system):
    """Columns (φ, 0) and (0, Ωφ): one turning unit vector in each of its two phases."""
    values, vectors = np.linalg.eig(np.linalg.solve(system.full_mass, system.full_stiffness))
    order = np.argsort(values)
    phi = vectors[:, order]
    phi = phi / np.sqrt(np.einsum("ij,ik,kj->j", phi, system.full_mass, phi))
    zero = np.zeros_like(phi)
    return np.block([[phi, zero], [zero, phi * np.sqrt(values[order])]])


def zeros(values, grid):
    """Sign changes of a real function on a fine grid, without its poles."""
    change = np.nonzero(values[:-1] * values[1:] < 0)[0]
    small = np.abs(values[change] - values[change + 1]) < 0.1 * np.abs(values).max()
    return 0.5 * (grid[change] + grid[change + 1])[small]


def equilibrium(system, s):
    """C(0) and Ĉ(s) at kT = 1."""
    lines = CosineSum.at_equilibrium(system.frequencies, system.participation)
    return lines.zero, lines.laplace(s)


# -- E1: K̂ is not positive real (see also test_theory.py) ----------------------------------------


def test_e1_positive_residues_alone_do_not_bound_the_motion():
    """R = 0.5 ⪰ 0 at ω = 1, κ = 0.4 < R/ω²: the full stiffness has a negative eigenvalue."""
    full = np.array([[0.4, np.sqrt(0.5)], [np.sqrt(0.5), 1.0]])
    assert np.linalg.eigvalsh(full)[0] < 0
    kernel = MemoryKernel(np.array([1.0]), np.array([[[0.5]]]))
    assert not certify(np.array([[0.4]]), kernel).passive
    assert certify(np.array([[0.6]]), kernel).passive


def test_e1_a_free_observable_cannot_couple_through_position():
    """G = 0 with H_c = Σ xᵀc q: indefinite for every coupling, so "G = 0" needs a counterterm."""
    for c, omega in [(1e-3, 5.0), (1.0, 1.0), (3.0, 0.2)]:
        full = np.array([[0.0, c], [c, omega**2]])
        assert np.linalg.eigvalsh(full)[0] < 0
        kernel = MemoryKernel(np.array([omega]), np.array([[[c**2]]]))
        assert not certify(np.zeros((1, 1)), kernel).passive
        assert certify(np.array([[1.001 * c**2 / omega**2]]), kernel).passive


def test_e1_the_function_of_positive_type_is_the_friction_kernel():
    """Bochner: the matrix (γ(t_i - t_k)) of Σ R/ω² cos ωt is semidefinite, K(t) is odd."""
    poles, residues = FIRST.hidden_frequencies, FIRST.couplings[:, 0] ** 2
    apart = np.subtract.outer(np.arange(30) * 0.7, np.arange(30) * 0.7)
    friction = (residues / poles**2 * np.cos(apart[..., None] * poles)).sum(axis=-1)
    memory = (residues / poles * np.sin(apart[..., None] * poles)).sum(axis=-1)
    assert np.linalg.eigvalsh(friction)[0] > -1e-12
    np.testing.assert_allclose(memory, -memory.T, atol=1e-14)


# -- E2: the observability Gramian ----------------------------------------------------------------


def test_e2_gramian_grows_linearly_and_its_rate_is_the_participation():
    """W(T)/T → |v_j|²/2 in each phase of each mode; the integral over (0, ∞) does not exist."""
    basis = modal_basis(CHAIN)
    rates = np.repeat(0.5 * np.sum(CHAIN.participation**2, axis=1)[None], 2, axis=0).ravel()
    before = np.inf
    for horizon in (200.0, 400.0, 800.0):
        W = basis.T @ gramian(CHAIN, horizon) @ basis
        error = np.abs(W / horizon - np.diag(rates)).max()
        assert error < 2.0 / horizon  # cross terms stay bounded: 1/(2·smallest gap) each
        assert error < before
        before = error
        assert np.trace(W) == pytest.approx(horizon * rates.sum(), rel=0.02)


def test_e2_a_mode_without_participation_is_the_null_space():
    """Fixed-fixed chain of three, seen in the middle: the second mode has a node there."""
    system = chain(3, ends="fixed-fixed", observed=[1])
    assert abs(system.participation[1, 0]) < 1e-12
    W = gramian(system, 400.0)
    assert np.linalg.matrix_rank(W, tol=1e-6 * np.trace(W)) == 4


def test_e2_the_gramian_needs_the_full_state_matrix():
    """With A of the observable part alone W is positive definite whatever is hidden."""
    system = chain(3, ends="fixed-fixed", observed=[1])
    alone = LinearSystem(system.mass, system.stiffness, np.eye(1))
    assert np.linalg.eigvalsh(gramian(alone, 50.0))[0] > 1.0


def test_e2_the_lemma_on_invertibility_is_false():
    """Ĉ(s) is invertible for Re s > 0 iff C(0) ≻ 0, not iff all modes are observable."""
    system = chain(3, ends="fixed-fixed", observed=[1])  # a mode is invisible, Ĉ has no zero
    s = np.add.outer(np.array([1e-3, 0.1, 2.0]), 1j * np.linspace(-3, 3, 301))
    assert (
        np.abs(CosineSum.at_equilibrium(system.frequencies, system.participation).laplace(s)).min()
        > 0
    )
    # Re s/(s²+Ω²) = Re(s) (|s|²+Ω²)/|s²+Ω²|² > 0, so Re Ĉ ≻ 0
    values = CosineSum.at_equilibrium(CHAIN.frequencies, CHAIN.participation).laplace(s)
    hermitian = values + np.conj(np.swapaxes(values, -1, -2))
    assert np.linalg.eigvalsh(hermitian).min() > 0


# -- E3: the deconvolution at equilibrium (see also test_theory.py, test_deconvolution.py) --------


@SYSTEMS
def test_e3_hidden_coordinates_are_correlated_with_x_at_equilibrium(system):
    """⟨q x⟩ = -c ⟨x x⟩/ω² at equilibrium, so ⟨F(τ) x(0)⟩ ≠ 0; the shifted force is free of it."""
    omega, c = system.hidden_frequencies, system.couplings[:, 0]
    total = np.diag(np.concatenate([system.stiffness[0], omega**2]))
    total[0, 1:] = total[1:, 0] = c
    covariance = np.linalg.inv(total)
    xx, qx = covariance[0, 0], covariance[1:, 0]
    np.testing.assert_allclose(qx, -c / omega**2 * xx, rtol=1e-10)
    tau = np.linspace(0, 10, 101)
    turn = np.cos(np.outer(tau, omega))
    force = -turn @ (c * qx)  # ⟨F(τ) x(0)⟩ of the paper's F = -Σ c r
    shifted = -turn @ (c * (qx + c / omega**2 * xx))
    assert np.abs(force).max() > 0.1 * xx
    assert np.abs(shifted).max() < 1e-12


@pytest.mark.parametrize("system", [FIRST, CHAIN, CART], ids=["first", "ends", "cart"])
def test_e3_stationary_measure_for_which_the_paper_is_right(system):
    """Modal energies proportional to Ω²: then, and not at equal energies, (5) is exact."""
    inverse = np.linalg.inv(system.mass)
    assert np.allclose(inverse, np.eye(len(inverse)))  # the paper's μ = I
    equal_amplitudes = CosineSum(system.frequencies, system.residues)
    found = kernel_poles(equal_amplitudes, system.mass, relation="released")
    np.testing.assert_allclose(found.poles, system.hidden_frequencies, rtol=1e-10)
    truth = np.einsum("ia,ib->iab", system.couplings, system.couplings)
    np.testing.assert_allclose(found.residues, truth, atol=1e-9)


@pytest.mark.parametrize("system", [FIRST, CHAIN, CART], ids=["first", "ends", "cart"])
def test_e3_any_factorised_ensemble_obeys_the_relation_of_the_paper(system):
    """Hidden start uncorrelated with x(0), of whatever energy: ⟨F x(0)⟩ = 0, and (5) is exact."""
    rng = np.random.default_rng(5)
    omega, c, n = system.hidden_frequencies, system.couplings, len(system.channels)
    K = np.block([[system.stiffness, c.T], [c, np.diag(omega**2)]])
    size = len(K)
    A = np.block([[np.zeros((size, size)), np.eye(size)], [-K, np.zeros((size, size))]])
    seen = rng.standard_normal((n, n))
    hidden = [np.diag(rng.uniform(0.5, 3.0, size - n)) for _ in range(2)]
    blocks = [seen @ seen.T, hidden[0], 0.4 * np.eye(n), hidden[1]]
    start = block_diag(*blocks)  # of (x, q, x', q'): μ = I here
    tau = np.linspace(0, 10, 21)
    correlation = np.array([(expm(A * t) @ start)[:n, :n] for t in tau])
    # only what x(0) itself sets going is left: the release, times ⟨x x⟩
    released = np.array([expm(A * t)[:n, :n] @ blocks[0] for t in tau])
    np.testing.assert_allclose(correlation, released, atol=1e-12)
    turned = np.cos(np.multiply.outer(tau, system.frequencies))
    lines = np.einsum("tm,mab->tab", turned, system.residues) @ blocks[0]
    np.testing.assert_allclose(correlation, lines, atol=1e-9)
    found = kernel_poles(
        CosineSum(system.frequencies, system.residues @ blocks[0]), system.mass, relation="released"
    )
    np.testing.assert_allclose(found.poles, omega, rtol=1e-8)


def test_e3_poles_by_the_paper_depend_on_the_excitation():
    """The zero of Ĉ for two lines, anywhere between them; 3.836 at equal energies."""
    a, b = CART.frequencies**2
    v2 = CART.residues[:, 0, 0]
    found = []
    for energies in ([1, 1], [1, 20], [20, 1], [a, b]):
        B = energies * v2 / CART.frequencies**2
        lines = CosineSum(CART.frequencies, B[:, None, None])
        (pole,) = kernel_poles(lines, CART.mass, relation="released").poles
        assert pole**2 == pytest.approx((B[0] * b + B[1] * a) / B.sum(), rel=1e-10)
        found.append(pole)
    np.testing.assert_allclose(found, [3.836, 2.659, 4.753, np.sqrt(9.81)], atol=1e-3)


# -- E4: the sign of the cart-pendulum kernel (see also test_theory.py) ---------------------------


def test_e4_the_kernel_of_the_paper_contradicts_its_own_receptance():
    """Inserted in H = 1/(s² - G - K̂), (mg/l) s²/(s²+g/l) gives complex frequencies."""
    k, mgl, wp2 = 15.0, 0.5 * 9.81, 9.81
    # (Ω² - k)(Ω² - ω_p²) ± (mg/l) Ω² = 0 in λ = Ω²; + as printed, - as it must be
    printed = np.roots([1, -(k + wp2) + mgl, k * wp2])
    right = np.roots([1, -(k + wp2) - mgl, k * wp2])
    assert np.all(np.abs(printed.imag) > 1)
    np.testing.assert_allclose(np.sort(np.sqrt(right)), [2.506, 4.841], atol=1e-3)
    np.testing.assert_allclose(np.sort(np.sqrt(right)), CART.frequencies, rtol=1e-10)


def test_e4_constant_term_acts_at_high_frequency_and_not_statically():
    """K̂ = κ - k - ...: -mg/l for s → ∞, zero for s → 0, in the sign of the receptance."""

    def kernel(s):
        return s**2 + 15.0 - 1 / CART.receptance(s)[0, 0]

    assert kernel(1e-6).real == pytest.approx(0.0, abs=1e-9)
    assert kernel(1e4).real == pytest.approx(-4.905, rel=1e-3)


def test_e4_line_amplitudes_are_positive_for_reactive_coupling_too():
    """Phase 2 fits C(τ): its weights kT v²/Ω² are positive, nothing has to be relaxed."""
    assert np.all(CART.residues[:, 0, 0] > 0)
    np.testing.assert_allclose(CART.residues[:, 0, 0].sum(), 1.0, rtol=1e-12)


# -- E5: which anti-resonance is the bare frequency -----------------------------------------------


@SYSTEMS
def test_e5_zeros_of_the_correlation_and_of_the_receptance(system):
    """On the axis Ĉ(iw) = iw Σ B/(Ω²-w²): its zeros are not ω, those of C(0) - sĈ are."""
    top = 1.05 * system.frequencies[-1]
    grid = np.linspace(1e-3, top, 200001)
    B = system.residues[:, 0, 0] / system.frequencies**2
    with np.errstate(divide="ignore"):
        lines = B / (system.frequencies**2 - grid[:, None] ** 2)
    correlation = lines.sum(axis=1)
    kubo = B.sum() + (grid[:, None] ** 2 * lines).sum(axis=1)
    inside = (grid > system.frequencies[0]) & (grid < system.frequencies[-1])
    cut = 1e3  # away from the poles
    of_c = zeros(np.clip(correlation[inside], -cut, cut), grid[inside])
    of_kubo = zeros(np.clip(kubo[inside], -cut, cut), grid[inside])
    np.testing.assert_allclose(of_kubo, system.hidden_frequencies, atol=1e-4)
    assert len(of_c) == len(system.hidden_frequencies)
    assert np.all(of_c > 1.02 * system.hidden_frequencies)  # displaced for both couplings


def test_e5_the_matrix_loses_one_rank_and_does_not_vanish():
    """At ω_k only the direction c_k is annihilated: H(iω_k) c_k = 0 with H(iω_k) ≠ 0."""
    system = chain(4, [1.0, 1.5, 0.7, 1.2])
    for omega, c in zip(system.hidden_frequencies, system.couplings, strict=True):
        H = system.receptance(1j * omega)
        assert np.linalg.norm(H @ c) < 1e-12
        assert np.linalg.norm(H) > 0.1


def test_e5_a_bare_frequency_of_the_chain_is_a_peak():
    """With two channels a bare frequency may be a line: ω_1 = Ω_2 = 1 in the paper's own chain."""
    assert CHAIN.hidden_frequencies[0] == pytest.approx(CHAIN.frequencies[1], rel=1e-12)
    assert np.sum(CHAIN.participation[1] ** 2) > 0.5
    assert np.abs(CHAIN.receptance(1j * 1.0001)).max() > 1e3


# -- E6, E7: assembly -----------------------------------------------------------------------------


def test_e6_a_fit_of_the_correlation_has_the_lines_as_poles():
    """Phases 1 and 2 on records at equilibrium: poles are Ω, the inversion (4) of them gives ω."""
    record = FIRST.equilibrium(200, 0.2, trials=60, noise=0.05, rng=3)
    model = prism.identify(record, experiment="equilibrium", method="nnls", mass="identity")
    found = model.modes.frequencies
    np.testing.assert_allclose(found, FIRST.frequencies, rtol=2e-3)
    apart = np.abs(found / FIRST.hidden_frequencies[:, None] - 1).min(axis=1)
    assert apart.min() > 0.03  # no pole of the fit is a bare frequency
    bare = model.hamiltonian.hidden_frequencies  # by completion, which is the inversion
    np.testing.assert_allclose(bare, FIRST.hidden_frequencies, rtol=0.03)


def test_e6_the_lines_are_not_the_bare_frequencies():
    """Four lines Ω for two bare ω, and v_j for c_i: as a Hamiltonian it has the wrong lines."""
    truth = CHAIN.hidden_frequencies
    np.testing.assert_allclose(truth, [1, np.sqrt(3)], rtol=1e-12)
    nearest = np.abs(CHAIN.frequencies / truth[:, None] - 1).min(axis=1)
    np.testing.assert_allclose(nearest, [0.0, 0.085], atol=1e-3)  # 1.879 stands for 1.732
    single = np.abs(FIRST.frequencies / FIRST.hidden_frequencies[:, None] - 1).min(axis=1)
    np.testing.assert_allclose(single, [0.220, 0.198, 0.043], atol=1e-3)
    # Phase 3 as printed: H with ω_i = Ω_i and c_i = v_i for every line
    size = 2 + 4
    stiffness = np.zeros((size, size))
    stiffness[:2, :2] = CHAIN.stiffness
    stiffness[2:, 2:] = np.diag(CHAIN.frequencies**2)
    stiffness[:2, 2:] = CHAIN.participation.T
    stiffness[2:, :2] = CHAIN.participation
    assembled = np.linalg.eigvalsh(stiffness)
    assert assembled[0] < 0  # it even runs away
    done = complete(CHAIN.frequencies, CHAIN.participation)
    full = np.zeros((4, 4))
    full[:2, :2] = done.stiffness
    full[2:, 2:] = np.diag([h.frequency**2 for h in done.hidden])
    full[:2, 2:] = np.array([h.couplings[0] for h in done.hidden]).T
    full[2:, :2] = full[:2, 2:].T
    np.testing.assert_allclose(np.sqrt(np.linalg.eigvalsh(full)), CHAIN.frequencies, rtol=1e-12)


def test_e6_bare_and_closed_loop_frequencies_interlace():
    """Cauchy: between Ω_j and Ω_{j+n} there is a bare frequency, so they differ in general."""
    for system in (FIRST, CART, CHAIN, chain(6, observed=[1, 3])):
        n = len(system.channels)
        omega, bare = system.frequencies, system.hidden_frequencies
        assert np.all(omega[: len(bare)] <= bare + 1e-12)
        assert np.all(bare <= omega[n:] + 1e-12)


def test_e7_cholesky_of_a_rank_one_residue():
    """Singular: it fails, or returns a triangle whose second column is rounding error."""
    c = np.array([0.6, -0.8])
    failures, columns = 0, []
    for seed in range(200):
        noise = np.random.default_rng(seed).standard_normal((2, 2))
        R = np.outer(c, c) + 1e-3 * (noise + noise.T)
        try:
            columns.append(np.linalg.norm(np.linalg.cholesky(R)[:, 1]))
        except np.linalg.LinAlgError:
            failures += 1
        values, vectors = np.linalg.eigh(R)
        leading = vectors[:, -1] * np.sqrt(values[-1])
        assert np.linalg.norm(leading * np.sign(leading @ c) - c) < 5e-3
    assert 60 < failures < 140  # det R is as often negative as positive
    assert np.median(columns) > 0.01  # noise of 1e-3 gives a second "coupling" of √1e-3
    exact = np.outer([0.0, 1.0], [0.0, 1.0])  # c without a share in the first channel
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(exact)


# -- E8: Hénon-Heiles -----------------------------------------------------------------------------


def test_e8_chaos_begins_below_the_escape_energy():
    """Same start (y = -0.1), both energies below 1/6; and a regular orbit at E = 0.15 beside it."""
    system = henon_heiles()
    starts = [(0.05, -0.1, 0.0), (0.15, -0.1, 0.0), (0.15, 0.3, 0.0), (1 / 8, 0.0, 0.0)]
    points = np.array([system.start(e, y=y, py=py) for e, y, py in starts])
    found = largest_lyapunov(system, points[:, 0], points[:, 1], 2000, 0.2)
    assert found.is_chaotic.tolist() == [False, True, False, False]
    assert found.exponent[0] < 0.01
    assert found.exponent[1] > 0.08
    assert found.exponent[2] < 0.01


def test_e8_the_frequency_depends_on_the_orbit():
    """At E = 0.05 the dominant line of x lies below or above 1, so one number needs one start."""
    system = henon_heiles()
    starts = np.array([system.start(0.05, y=y, py=py) for y, py in [(-0.1, 0), (0.2, 0), (0, 0.2)]])
    motion = system.trajectory(starts[:, 0], starts[:, 1], 1000, 0.2, tolerance=1e-7)
    window = np.hanning(len(motion.t))
    power = np.abs(np.fft.rfft(motion.q[:, :, 0] * window, 1 << 18, axis=1))
    dominant = 2 * np.pi * power.argmax(axis=1) / (0.2 * (1 << 18))
    np.testing.assert_allclose(dominant, [0.972, 1.015, 0.955], atol=2e-3)


def test_e8_the_hidden_coordinate_leaves_no_line_in_the_linear_limit():
    """x²y is quadratic in x: the linear coupling c is zero, so nothing of y can be identified."""
    linear = henon_heiles().linearised()
    np.testing.assert_allclose(linear.full_stiffness, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(linear.couplings, 0.0, atol=1e-12)


# -- E9: resolution and the Cramér-Rao bound ------------------------------------------------------


def two_lines(duration, distance, psi, dt=0.05, middle=2.0):
    """Two unit lines whose phases differ by psi at the middle of the record; no noise."""
    t = dt * np.arange(round(duration / dt))
    u = t - 0.5 * (t[0] + t[-1])
    omega = middle + 0.5 * distance * np.array([-1, 1])
    return omega, np.cos(omega[0] * u) + np.cos(omega[1] * u + psi)


def test_e9_lines_closer_than_the_rule_are_separated_at_the_bound():
    """Half of π/T apart, 0.5 % noise: both found in every run, scattered as the bound says."""
    duration, sigma = 100.0, 0.005
    omega, clean = two_lines(duration, 0.5 * np.pi / duration, np.pi / 2)
    bound = cramer_rao(prism.Record(clean, dt=0.05), omega, sigma)
    assert np.all(10 * bound < np.diff(omega))
    scores = []
    for seed in range(12):
        noise = sigma * np.random.default_rng(seed).standard_normal(len(clean))
        modes = prism.identify(prism.Record(clean + noise, dt=0.05)).modes
        assert len(modes) == 2
        scores.append((modes.frequencies - omega) / bound)
    assert 0.6 < np.sqrt(np.mean(np.square(scores))) < 1.5  # 24 unit normals, correlated in pairs


@pytest.mark.parametrize(
    ("psi", "law"),
    [
        (np.pi / 2, lambda x: np.sqrt(60) / x),
        (np.pi / 4, lambda x: np.sqrt(60) / (x * np.sin(np.pi / 4))),
        (0.0, lambda x: np.sqrt(8400) / x**2),
    ],
    ids=["quadrature", "between", "in phase"],
)
def test_e9_the_bound_for_close_lines(psi, law):
    """std of Ω over that of a single line: √60/(δT |sin ψ|), and √8400/(δT)² in phase."""
    duration, sigma = 400.0, 0.01
    x = 0.5  # δT, six times less than the rule's π
    omega, clean = two_lines(duration, x / duration, psi)
    found = cramer_rao(prism.Record(clean, dt=0.05), omega, sigma)
    single = np.sqrt(24 * sigma**2 / (0.05**2 * len(clean) ** 3))
    np.testing.assert_allclose(found / single, law(x), rtol=0.05)


def test_e9_the_rule_counts_the_wrong_frequencies():
    """The rule is stated for the bare ω; what has to be resolved are the lines Ω."""
    bare, lines = np.diff(CHAIN.hidden_frequencies).min(), np.diff(CHAIN.frequencies).min()
    assert np.pi / bare == pytest.approx(4.29, abs=0.01)
    assert np.pi / lines == pytest.approx(9.05, abs=0.01)


def test_e9_two_lines_are_not_uncorrelated_over_the_time_of_the_rule():
    """Time average of a_j a_l over T = π/ΔΩ: correlation up to 2/π, not zero."""
    a, b = 20.0, 20.5
    t = np.linspace(0, np.pi / (b - a), 200001)
    phases = np.linspace(0, 2 * np.pi, 73)
    worst = max(abs(np.mean(np.cos(a * t) * np.cos(b * t + p)) / 0.5) for p in phases)
    assert worst == pytest.approx(2 / np.pi, rel=0.05)


# -- E10: the flutter index -----------------------------------------------------------------------


class Section:
    """Plunge h and pitch α of unit mass and pitch frequency, with the lift q α at e.

    ``[[1, x], [x, r]] q'' + [[w², q], [0, r - q e]] q = 0``, h seen.
    """

    w2, x, r, e = 0.25, 0.2, 0.25, 0.1

    def squares(self, q):
        """Ω² of both modes."""
        M = np.array([[1, self.x], [self.x, self.r]])
        return np.linalg.eigvals(np.linalg.solve(M, [[self.w2, q], [0, self.r - q * self.e]]))

    def kernel(self, q):
        """ω² and R of h: H⁻¹ = (1 - x²/r) s² + κ - R/(s² + ω²) by polynomial division."""
        bare = (self.r - q * self.e) / self.r  # h clamped
        return bare, self.x * bare * (self.x * bare - q) / self.r


def test_e10_index_crosses_zero_before_the_frequencies_coalesce():
    """Below: two real lines; at R = 0 a line meets its zero and leaves h; flutter needs R < 0."""
    section = Section()
    q = np.linspace(0, 1.0, 100001)
    index = np.array([section.kernel(p)[1] for p in q])
    crossing = q[np.nonzero(index < 0)[0][0]]
    assert crossing == pytest.approx(
        section.x * section.r / (section.r + section.x * section.e), abs=1e-4
    )
    complex_pair = np.array([abs(section.squares(p)[0].imag) > 1e-9 for p in q[::50]])
    flutter = q[::50][np.nonzero(complex_pair)[0][0]]
    assert crossing < 0.9 * flutter
    # at the crossing both frequencies are real and distinct, and one of them is the bare one
    squares = np.sort(section.squares(crossing).real)
    assert np.diff(squares)[0] > 0.1
    bare = section.kernel(crossing)[0]
    assert np.abs(squares - bare).min() < 1e-4
    # at flutter the index is well below zero: μ R = -(κ - μ ω²)²/4
    assert section.kernel(flutter)[1] < -0.1 * index[0]


def test_e10_coalescence_needs_a_negative_residue():
    """(λ-a)(λ-b) = R has a double root at R = -(a-b)²/4 and nowhere else."""
    rng = np.random.default_rng(0)
    for a, b in rng.uniform(0.5, 3.0, (20, 2)):
        assert np.all(np.isreal(np.roots([1, -(a + b), a * b - 0.1])))
        double = np.roots([1, -(a + b), a * b + 0.25 * (a - b) ** 2])
        np.testing.assert_allclose(double, 0.5 * (a + b), rtol=1e-6)


def test_e10_index_of_a_rank_one_residue_is_zero_with_two_channels():
    """min λ_min(c cᵀ) = 0 at every speed when more than one coordinate is seen."""
    for c in CHAIN.couplings:
        assert abs(np.linalg.eigvalsh(np.outer(c, c))[0]) < 1e-15


# -- what else the paper states -------------------------------------------------------------------


def test_frequencies_quoted_for_the_chain():
    j = np.arange(1, 5)
    np.testing.assert_allclose(CHAIN.frequencies, 2 * np.sin((2 * j - 1) * np.pi / 18), rtol=1e-12)
    np.testing.assert_allclose(CHAIN.frequencies, [0.347, 1.000, 1.532, 1.879], atol=5e-4)


def test_effective_frequency_of_the_lattice():
    """At A = 0.1 it is 0.34735, 0.02 % above the linear one; 0.346 is 0.4 % below it."""
    lattice = fput()
    motion = lattice.trajectory(*lattice.single_mode(0.1), 2000, 0.25, tolerance=1e-7)
    power = np.abs(np.fft.rfft(motion.q[:, 0] * np.hanning(len(motion.t)), 1 << 20))
    dominant = 2 * np.pi * power.argmax() / (0.25 * (1 << 20))
    linear = 2 * np.sin(np.pi / 18)
    assert dominant / linear - 1 == pytest.approx(2e-4, abs=1.5e-4)
    assert 0.346 / linear - 1 == pytest.approx(-0.0037, abs=1e-4)


@pytest.mark.parametrize(
    ("y", "py", "error"), [(-0.1, 0.0, 1.16), (0.0, 0.0, 0.58), (0.2, 0.0, 0.07)]
)
def test_one_line_forecasts_some_regular_orbits_only(y, py, error):
    """Least-squares line on 40 % of T = 400 without noise, E = 0.05: the start decides."""
    system = henon_heiles()
    motion = system.trajectory(*system.start(0.05, y=y, py=py), 400, 0.1, tolerance=1e-8)
    t, x = motion.t, motion.q[:, 0]
    n = len(t) * 2 // 5
    best = (np.inf, 0.0)
    for omega in np.arange(0.93, 1.05, 2e-4):
        design = np.stack([np.cos(omega * t), np.sin(omega * t), np.ones_like(t)], axis=1)
        c = np.linalg.lstsq(design[:n], x[:n], rcond=None)[0]
        rest = design @ c - x
        best = min(best, (np.sum(rest[:n] ** 2), np.sqrt(np.mean(rest[n:] ** 2)) / x[n:].std()))
    assert best[1] == pytest.approx(error, abs=0.05)


def test_elimination_is_exact_for_a_nonlinear_self_force():
    """x'' = g(x) + ∫K x + F with V = x²/2 + x⁴/4, one hidden mode, arbitrary start."""
    omega, c = 1.3, 0.5
    system = NonlinearSystem(
        potential=lambda z: (
            z[..., 0] ** 2 / 2
            + z[..., 0] ** 4 / 4
            + omega**2 * z[..., 1] ** 2 / 2
            + c * z[..., 0] * z[..., 1]
        ),
        force=lambda z: np.stack(
            [
                -z[..., 0] - z[..., 0] ** 3 - c * z[..., 1],
                -(omega**2) * z[..., 1] - c * z[..., 0],
            ],
            axis=-1,
        ),
        masses=[1.0, 1.0],
        observed=[0],
        names=["x", "q"],
    )
    h = 0.005
    motion = system.trajectory([0.8, -0.4], [0.3, 0.6], 10, h)
    t, x = motion.t, motion.q[:, 0]
    i = 1800
    kernel = c**2 / omega * np.sin(omega * (t[i] - t[: i + 1]))
    force = -c * (-0.4 * np.cos(omega * t[i]) + 0.6 / omega * np.sin(omega * t[i]))
    written = -x[i] - x[i] ** 3 + trapezoid(kernel * x[: i + 1], dx=h) + force
    assert (x[i + 1] - 2 * x[i] + x[i - 1]) / h**2 == pytest.approx(written, abs=1e-4)


def test_correlation_is_fixed_up_to_the_energies_only():
    """Two Hamiltonians of mass 1, one correlation: uniqueness needs the modal energies."""
    v2 = np.array([0.4, 0.3, 0.2, 0.1])
    done = complete(FIRST.frequencies, np.sqrt(v2)[:, None])
    target = FIRST.residues[:, 0, 0] / FIRST.frequencies**2
    energies = target * FIRST.frequencies**2 / v2
    C = CosineSum(FIRST.frequencies, (energies * v2 / FIRST.frequencies**2)[:, None, None])
    same = CosineSum.at_equilibrium(FIRST.frequencies, FIRST.participation)
    tau = np.linspace(0, 30, 301)
    np.testing.assert_allclose(C(tau), same(tau), atol=1e-12)
    bare = np.array([h.frequency for h in done.hidden])
    assert np.abs(bare / FIRST.hidden_frequencies - 1).max() > 0.05
    np.testing.assert_allclose(done.mass, FIRST.mass, atol=1e-12)


def test_scale_follows_from_the_mass_and_not_from_the_zero_lag():
    """Σ v vᵀ = μ⁻¹ fixes kT; C(0) = kT κ_eff⁻¹ would need the mean-force stiffness."""
    lines = CosineSum.at_equilibrium(CHAIN.frequencies, CHAIN.participation, 2.5)
    power = np.einsum("j,jab->ab", CHAIN.frequencies**2, lines.amplitudes)
    np.testing.assert_allclose(power, 2.5 * np.linalg.inv(CHAIN.mass), atol=1e-12)
    taken = np.einsum(
        "ia,ib,i->ab", CHAIN.couplings, CHAIN.couplings, 1 / CHAIN.hidden_frequencies**2
    )
    mean_force = CHAIN.stiffness - taken
    np.testing.assert_allclose(lines.zero, 2.5 * np.linalg.inv(mean_force), atol=1e-12)


def test_equal_energy_per_hidden_mode_is_not_equipartition():
    """Weights of the lines when every bare oscillator has energy 1, x at rest at zero."""
    omega, c = CHAIN.hidden_frequencies, CHAIN.couplings
    stiffness = np.zeros((4, 4))
    stiffness[:2, :2], stiffness[2:, 2:] = CHAIN.stiffness, np.diag(omega**2)
    stiffness[:2, 2:], stiffness[2:, :2] = c.T, c
    values, phi = np.linalg.eigh(stiffness)
    position = np.diag([0, 0, *(1 / omega**2)])
    momentum = np.diag([0.0, 0.0, 1.0, 1.0])
    energies = 0.5 * np.diag(phi.T @ momentum @ phi + values * (phi.T @ position @ phi))
    assert energies.max() > 1.5 * energies.min()


def test_off_diagonal_weights_of_a_chain_have_both_signs():
    """Σ_j v_j1 v_j4 = (μ⁻¹)_12 = 0, so a non-negative fit of the entry C_14 is impossible."""
    cross = CHAIN.residues[:, 0, 1]
    assert abs(cross.sum()) < 1e-14
    assert cross.min() < -0.1
    assert cross.max() > 0.1


def test_residues_fitted_entry_by_entry_are_not_semidefinite():
    """Rank one plus errors: about half of the smallest eigenvalues are negative."""
    record = CHAIN.equilibrium(60, 0.1, trials=20, noise=0.1, rng=0)
    x = np.stack(record.trials)
    smallest = []
    tau = 0.1 * np.arange(1, 300)
    design = np.cos(np.outer(tau, CHAIN.frequencies))
    for k in range(len(x)):
        C = np.array([x[k, i:].T @ x[k, : 600 - i] / (600 - i) for i in range(1, 300)])
        C = 0.5 * (C + np.swapaxes(C, 1, 2))
        B = np.linalg.lstsq(design, C.reshape(299, 4), rcond=None)[0].reshape(4, 2, 2)
        smallest.append(np.linalg.eigvalsh(B)[:, 0])
    assert 0.2 < np.mean(np.array(smallest) < 0) < 0.8


def test_residue_error_of_the_paper_needs_no_noise():
    """300 canonical energies without any noise: a mean Frobenius error of some 4 % remains."""
    rng = np.random.default_rng(0)
    weight = np.sum(CHAIN.participation**2, axis=1)  # |v vᵀ| = |v|²
    means = []
    for _ in range(400):
        energies = rng.exponential(1.0, (300, 4)).mean(axis=0)
        scale = (weight**2 * energies).sum() / (weight**2 * energies**2).sum()
        means.append(100 * np.abs(scale * energies - 1).mean())
    low, high = np.percentile(means, [5, 95])
    assert low < 3.3 < high
    assert 3.0 < np.median(means) < 5.0


def test_correlation_and_its_transpose_are_not_one_for_a_gyroscope():
    """⟨x(t) x(t+τ)ᵀ⟩ and ⟨x(t+τ) x(t)ᵀ⟩ are both called C(τ); with rotation they differ."""
    M, K = np.eye(2), np.diag([1.0, 2.0])
    g = np.array([[0.0, 0.8], [-0.8, 0.0]])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-K, -g]])
    covariance = np.block(
        [[np.linalg.inv(K), np.zeros((2, 2))], [np.zeros((2, 2)), np.linalg.inv(M)]]
    )
    C = (expm(1.1 * A) @ covariance)[:2, :2]
    assert np.abs(C - C.T).max() > 0.1
    s = 0.3 + 0.7j
    transform = np.linalg.solve(s * np.eye(4) - A, covariance)[:2, :2]
    H = np.linalg.inv(M * s**2 + g * s + K)
    np.testing.assert_allclose(covariance[:2, :2] - s * transform, H, atol=1e-12)  # Kubo
    assert np.abs(H - H.T).max() > 0.1  # not reciprocal: coupling through velocity


def test_a_tuned_absorber_is_of_both_kinds():
    """Mass on a mass: absolute coordinates couple by position, relative ones by acceleration."""
    M, m, k, ka = 1.0, 0.3, 2.0, 0.6
    absolute = LinearSystem(np.diag([M, m]), [[k + ka, -ka], [-ka, ka]], [[1.0, 0.0]])
    relative = LinearSystem([[M + m, m], [m, m]], np.diag([k, ka]), [[1.0, 0.0]])
    for name in ("mass", "stiffness", "hidden_frequencies"):
        np.testing.assert_allclose(getattr(absolute, name), getattr(relative, name), rtol=1e-12)
    np.testing.assert_allclose(np.abs(absolute.couplings), np.abs(relative.couplings), rtol=1e-12)


def test_transmission_zero_of_the_cart_is_the_pendulum():
    assert abs(CART.receptance(1j * np.sqrt(9.81))[0, 0]) < 1e-14
    assert CART.frequencies[0] < np.sqrt(9.81) < CART.frequencies[1]
    assert np.sqrt(9.81) == pytest.approx(3.13, abs=5e-3)


def test_lines_alone_forecast():
    """A list of lines can be continued: no Hamiltonian is determined here, the forecast is."""
    clean = FIRST.free(200, 0.05, rng=4)
    noisy = FIRST.free(200, 0.05, noise=0.1, rng=4)
    model = prism.identify(noisy.head(0.4))
    assert model.hamiltonian is None
    rest = clean.tail(0.4)
    error = model.forecast(rest.times[0]).values - rest.trials[0]
    assert np.sqrt(np.mean(error**2)) < 0.1 * rest.trials[0].std()


# -- what a record that excites all modes shows ---------------------------------------------------


def test_excited_modes_show_and_degenerate_ones_have_the_direction_of_the_start():
    """One direction for two modes of one frequency, another one from another start."""
    pair = LinearSystem(np.eye(2), np.eye(2), np.eye(2))
    found = []
    for start in ([1.0, 0.3], [0.2, -1.0]):
        record = pair.released(150, 0.1, start, noise=0.02, rng=0)
        (shape,) = prism.identify(record).modes.shapes
        np.testing.assert_allclose(shape, start / np.linalg.norm(start), atol=0.01)
        found.append(shape)
    assert abs(found[0] @ found[1]) < 0.5
    rng = np.random.default_rng(1)
    all_of_them = CHAIN.free(400, 0.05, energies=np.ones(4), noise=0.1, rng=rng)
    assert len(prism.identify(all_of_them).modes) == 4
    but_one = CHAIN.free(400, 0.05, energies=np.array([1, 1, 0, 1.0]), noise=0.1, rng=rng)
    left = prism.identify(but_one).modes.frequencies
    np.testing.assert_allclose(left, CHAIN.frequencies[[0, 1, 3]], rtol=1e-3)
