"""Responses and zeros of linear systems: against other routes through the same matrices."""

import numpy as np
import pytest
from scipy.optimize import brentq

from prism import systems
from prism.errors import OptionError, ResponseError
from prism.motion.forced.foster import Foster
from prism.systems import LinearSystem

OMEGA = np.linspace(0.05, 2.4, 61)
SYSTEMS = {
    "chain": systems.chain(5, observed=[0, 2, 3]),
    "cart": systems.cart_pendulum(observed=["x", "theta"]),
    "slosh": systems.slosh_tank(),
}
ALL = pytest.mark.parametrize("system", SYSTEMS.values(), ids=list(SYSTEMS))


def random_system(size, seed, observed=(0, 1)):
    """Full matrices: nothing in them is special."""
    A, B = np.random.default_rng(seed).standard_normal((2, size, size))
    mass, stiffness = A @ A.T + size * np.eye(size), B @ B.T + 0.1 * np.eye(size)
    return LinearSystem(mass, stiffness, np.eye(size)[list(observed)])


# ------------------------------------------------------------------ response


@ALL
@pytest.mark.parametrize("loss", [0.0, 0.03])
def test_structural_response_is_the_sum_over_modes(system, loss):
    found = system.response(OMEGA, loss=loss)
    assert found.outputs == found.inputs == system.channels
    assert found.variance is None
    denominator = system.frequencies**2 * (1 + 1j * loss) - OMEGA[:, None] ** 2
    expected = np.einsum("fj,jab->fab", 1 / denominator, system.residues)
    np.testing.assert_allclose(found.values, expected, rtol=1e-9, atol=1e-12)


@ALL
def test_viscous_response_is_the_dense_one(system):
    loss, M, K, G = 0.05, system.full_mass, system.full_stiffness, system.observation
    values, modes = np.linalg.eig(np.linalg.solve(M, K))
    C = M @ modes @ np.diag(loss * np.sqrt(values)) @ np.linalg.inv(modes)
    found = system.response(OMEGA, loss=loss, damping="viscous")
    for w, H in zip(OMEGA, found.values, strict=True):
        expected = G @ np.linalg.inv(K - w**2 * M + 1j * w * C) @ G.T
        np.testing.assert_allclose(H, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("damping", ["structural", "viscous"])
def test_response_has_the_conventions_of_the_fit(damping):
    system = SYSTEMS["chain"]
    foster = Foster(
        omega=system.frequencies,
        participation=system.participation,
        loss=np.full(5, 0.04),
        damping=damping,
        compliance=np.zeros((3, 3)),
    )
    found = system.response(OMEGA, loss=0.04, damping=damping)
    np.testing.assert_allclose(found.values, foster(OMEGA), rtol=1e-9, atol=1e-12)
    assert found.values[:, 0, 0].imag.max() < 0  # a force loses energy to the loss


@pytest.mark.parametrize(("quantity", "order"), [("velocity", 1), ("acceleration", 2)])
def test_response_of_other_quantities(quantity, order):
    system, shuffled = SYSTEMS["chain"], OMEGA[np.random.default_rng(0).permutation(len(OMEGA))]
    found = system.response(shuffled, loss=0.02, quantity=quantity)
    plain = system.response(OMEGA, loss=0.02)
    assert found.quantity == quantity
    np.testing.assert_allclose(
        found.values, plain.values * (1j * OMEGA)[:, None, None] ** order, rtol=1e-12
    )
    np.testing.assert_allclose(found.receptance, plain.values, rtol=1e-12)


@pytest.mark.parametrize("quantity", ["displacement", "acceleration"])
@pytest.mark.parametrize("kind", ["multiplicative", "additive", "both"])
def test_noise_has_the_level_it_is_said_to_have(kind, quantity):
    system, omega = SYSTEMS["chain"], np.linspace(0.05, 2.4, 4000)
    options = {"loss": 0.05, "quantity": quantity}
    clean = system.response(omega, **options).values
    noisy = system.response(omega, noise=0.2, noise_kind=kind, rng=0, **options).values
    median = np.median(np.abs(clean))
    square = {"multiplicative": np.abs(clean) ** 2, "additive": median**2 + 0 * np.abs(clean)}
    square["both"] = square["multiplicative"] + square["additive"]
    error = (noisy - clean) / (0.2 * np.sqrt(square[kind]))
    count = error.size
    assert np.mean(np.abs(error) ** 2) == pytest.approx(1, abs=5 / np.sqrt(count))
    assert abs(np.mean(error**2)) < 5 / np.sqrt(count)  # circular: no direction is preferred
    assert abs(np.mean(error)) < 5 / np.sqrt(count)
    assert np.mean(np.abs(error) ** 4) == pytest.approx(2, abs=25 / np.sqrt(count))  # Gaussian
    # each entry has its own: also H_ab and H_ba, and neighbouring lines
    across = np.mean(error[:, 0, 1] * error[:, 1, 0].conj())
    along = np.mean(error[1:] * error[:-1].conj())
    assert abs(across) < 5 / np.sqrt(len(omega))
    assert abs(along) < 5 / np.sqrt(count)
    for a, b in ((0, 0), (0, 2), (2, 1)):
        level = np.mean(np.abs(error[:, a, b]) ** 2)
        assert level == pytest.approx(1, abs=5 / np.sqrt(len(omega)))


def test_noise_is_repeatable():
    one, two, other = (
        SYSTEMS["cart"].response(OMEGA, noise=0.1, rng=seed).values for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(one, two)
    assert np.abs(one - other).min() > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": -0.1}, "loss -0.1"),
        ({"noise": np.nan}, "noise nan"),
        ({"damping": "dry"}, "unknown damping 'dry'"),
        ({"noise_kind": "pink"}, "unknown noise_kind 'pink'"),
        ({"quantity": "force"}, "unknown quantity 'force'"),
        ({"omega": [0.5, 1.0, 1.5, 2.0]}, "the line 1 is on a resonance"),
        ({"omega": [[0.5, 1.2]]}, "give finite numbers"),
    ],
)
def test_response_refuses(options, words):
    with pytest.raises(OptionError, match=words):
        systems.chain().response(**{"omega": OMEGA} | options)


def test_response_needs_lines():
    with pytest.raises(ResponseError, match="at least 4"):
        systems.chain().response([0.5, 0.6, 0.7])


# ------------------------------------------------------------------ zeros


@ALL
def test_zeros_of_the_determinant_are_the_bare_frequencies(system):
    found = system.zeros()
    np.testing.assert_allclose(found, 1j * system.hidden_frequencies)
    scale = abs(np.linalg.det(system.receptance(0.1j * system.frequencies[0])))
    for s in found:
        assert abs(np.linalg.det(system.receptance(s))) < 1e-9 * scale


def polynomial_zeros(system, a, b):
    """Roots in s² of the numerator of H_ab, by interpolation of dense determinants."""
    M, K = system.full_mass, system.full_stiffness
    size = len(M)
    scale = system.frequencies[-1] ** 2
    points = scale * np.exp(2j * np.pi * np.arange(2 * size) / (2 * size))
    pencil = np.zeros((size + 1, size + 1), complex)
    values = []
    for square in points:
        pencil[:size, :size] = (K + square * M) / scale
        pencil[:size, size] = system.observation[b]
        pencil[size, :size] = system.observation[a]
        values.append(np.linalg.det(pencil))
    coefficients = np.fft.fft(values) / len(points)
    coefficients[np.abs(coefficients) < 1e-11 * np.abs(coefficients).max()] = 0
    return scale * np.roots(np.trim_zeros(coefficients.real[::-1], "f"))


def squares_of(zeros):
    """s² of each zero with its conjugate counted, a real pair once."""
    one = zeros[(zeros.imag > 0) | (zeros.real >= 0)]
    return np.sort_complex(np.round(one**2, 12))


@pytest.mark.parametrize("size", [3, 4, 6])
@pytest.mark.parametrize("seed", range(6))
def test_zeros_of_an_entry_against_a_polynomial(size, seed):
    system = random_system(size, seed)
    for a, b in ((0, 0), (0, 1), (1, 0)):
        found = system.zeros(a, b)
        expected = np.sort_complex(polynomial_zeros(system, a, b))
        assert len(expected) == size - 1
        np.testing.assert_allclose(squares_of(found), expected, rtol=1e-5)
        at = [abs(system.receptance(s)[a, b]) for s in found]
        near = [abs(system.receptance(s * 1.01)[a, b]) for s in found]
        assert np.all(np.array(at) < 1e-7 * np.array(near))
        assert (found.imag >= 0).all()
    np.testing.assert_allclose(system.zeros(0, 1), system.zeros(1, 0), rtol=1e-7)
    assert not system.zeros(0, 0).real.any()


def test_zeros_apart_may_be_real_or_complex():
    found = np.concatenate([random_system(4, seed).zeros(0, 1) for seed in range(10)])
    real, imaginary = np.abs(found.imag) == 0, np.abs(found.real) < 1e-12
    assert real.any()
    assert imaginary.any()
    assert (~real & ~imaginary).any()
    np.testing.assert_allclose(np.sort(found[real].real), np.sort(-found[real].real))


@pytest.mark.parametrize("size", [2, 5, 12, 40])
def test_zeros_of_a_chain_are_those_of_its_loose_ends(size):
    """(tridiagonal)⁻¹_ab has the determinants of what lies left of a and right of b above."""
    rng = np.random.default_rng(size)
    spread = 1.0 if size < 20 else 0.1  # disorder shuts modes up in a part of a long chain
    m, k = np.exp(spread * rng.uniform(-0.7, 0.7, (2, size)))
    system = systems.chain(m, k, observed=range(size))
    K = system.full_stiffness
    for a, b in ((0, size - 1), (size // 3, size - 1), (size // 2, size // 2), (1, size // 2)):
        low, high = sorted((a, b))
        parts = [np.linalg.eigvals(K[s, s] / m[s, None]) for s in _slices(low, high, size)]
        expected = np.sqrt(np.sort(np.concatenate(parts).real))
        found = system.zeros(a, b)
        np.testing.assert_allclose(found.imag, expected, rtol=1e-6)
        np.testing.assert_allclose(found.real, 0, atol=1e-6)
        np.testing.assert_array_equal(found, system.zeros(f"q{a + 1}", f"q{b + 1}"))


def _slices(low, high, size):
    return slice(0, low), slice(high + 1, size)


def test_zeros_by_a_scan_along_the_axis():
    system = SYSTEMS["chain"]
    grid = np.linspace(0.01, 2.2, 20001)
    for port in range(3):
        H = lambda w, port=port: system.receptance(1j * w)[port, port].real  # noqa: E731
        values = np.array([H(w) for w in grid])
        turns = np.flatnonzero(values[1:] * values[:-1] < 0)
        crossings = [brentq(H, grid[k], grid[k + 1], xtol=1e-13) for k in turns]
        zeros = [w for w in crossings if abs(H(w)) < 1]  # a pole changes the sign as well
        np.testing.assert_allclose(system.zeros(port, port), 1j * np.array(zeros), atol=1e-9)


def test_zeros_at_rest():
    """Cart under a moment on the pendulum: H = -ml s²/det, a double zero at s = 0."""
    np.testing.assert_array_equal(SYSTEMS["cart"].zeros("x", "theta"), [0, 0])


def test_a_zero_on_an_unseen_pole_is_none():
    system = systems.chain(3, ends="fixed-fixed", observed=[1])  # its second mode has a node there
    np.testing.assert_allclose(system.zeros("q2", "q2"), [1j * np.sqrt(2)])
    np.testing.assert_allclose(system.zeros(), 1j * np.sqrt([2, 2]))
    two = LinearSystem(np.eye(2), np.diag([1.0, 3.0]), np.eye(2))
    assert len(two.zeros(0, 1)) == len(two.zeros(0, 0)) == 0  # two oscillators that do not meet
    again = LinearSystem(np.eye(3), np.diag([1.0, 1.0, 3.0]), [[1.0, 1.0, 1.0]])
    np.testing.assert_allclose(again.zeros(0, 0), [1j * np.sqrt(7 / 3)])  # 2/(1+λ) + 1/(3+λ)


def test_zeros_of_ports_that_hardly_know_each_other():
    """No residue of the entry reaches 1e-11; its zero is the last mass with its neighbour held."""
    stiffness = np.diag([1.0, 2.0, 3.0, 4.0])
    for k, link in enumerate((1e-6, 1e-6, 0.5)):
        stiffness[k, k + 1] = stiffness[k + 1, k] = link
    system = LinearSystem(np.eye(4), stiffness, np.eye(4))
    assert np.abs(system.residues[:, 0, 2]).max() < 1e-11
    found = system.zeros(0, 2)
    np.testing.assert_allclose(found, [2j], rtol=1e-9)


@pytest.mark.parametrize(
    ("ports", "words"),
    [((0,), "give both or none"), (("q1", "q9"), "no port 'q9'"), ((0, 2), "no port 2")],
)
def test_zeros_refuse(ports, words):
    with pytest.raises(OptionError, match=words):
        systems.chain().zeros(*ports)


# ------------------------------------------------------------------ absorber and slosh


def test_absorber_numbers():
    M, K, m, k = 2.0, 3.0, 0.4, 0.5
    system = systems.tuned_absorber(M, K, m, k)
    found = [system.mass, system.stiffness, [system.hidden_frequencies**2], system.couplings**2]
    np.testing.assert_allclose(np.ravel(found), [M, K + k, k / m, k**2 / m])
    assert abs(system.receptance(1j * np.sqrt(k / m))[0, 0]) < 1e-14
    both = systems.tuned_absorber(M, K, m, k, observed=["y", "x"])
    assert both.channels == ("y", "x")
    assert both.hidden_frequencies.size == 0
    np.testing.assert_allclose(both.frequencies, system.frequencies)


def test_absorber_has_den_hartogs_tuning():
    """Equal height of the two fixed points, through which the response passes at every damping."""
    M, K, m = 1.0, 1.0, 0.2
    k = float(systems.tuned_absorber(M, K, m).hidden_frequencies[0] ** 2 * m)

    def height(w, c):
        link = k + 1j * w * c
        matrix = np.array([[K + link - w**2 * M, -link], [-link, link - w**2 * m]])
        return abs(np.linalg.inv(matrix)[0, 0])

    grid = np.linspace(0.5, 1.4, 4001)
    gap = np.array([height(w, 0.02) - height(w, 5.0) for w in grid])
    at = [
        brentq(lambda w: height(w, 0.02) - height(w, 5.0), grid[i], grid[i + 1])
        for i in np.flatnonzero(gap[1:] * gap[:-1] < 0)
    ]
    assert len(at) == 2
    heights = [height(w, 0.02) for w in at]
    assert heights[0] == pytest.approx(heights[1], rel=1e-6)
    assert heights[0] == pytest.approx(np.sqrt(1 + 2 * M / m) / K, rel=1e-6)


@pytest.mark.parametrize("depth", [0.1, 0.5, 3.0])
@pytest.mark.parametrize("modes", [1, 3])
def test_slosh_tank_shows_the_frequencies_of_its_liquid(depth, modes):
    tank = {"length": 1.3, "depth": depth, "width": 0.7, "density": 900.0, "g": 9.7}
    liquid = systems.slosh_modes(**tank, modes=modes)
    system = systems.slosh_tank(50.0, 2e4, **tank, modes=modes)
    np.testing.assert_allclose(system.hidden_frequencies, liquid.frequencies, rtol=1e-12)
    np.testing.assert_allclose(system.zeros("x", "x"), 1j * liquid.frequencies, rtol=1e-12)
    total = 900 * 1.3 * 0.7 * depth
    assert liquid.rigid + liquid.masses.sum() == pytest.approx(total)
    assert system.full_mass[0, 0] == pytest.approx(50 + total)
    np.testing.assert_allclose(system.mass, 50 + liquid.rigid)
    np.testing.assert_allclose(liquid.lengths, 9.7 / liquid.frequencies**2)
    # c² = m_n g²/l_n², as of the cart and pendulum
    np.testing.assert_allclose(
        system.couplings[:, 0] ** 2, liquid.masses * (9.7 / liquid.lengths) ** 2
    )


def test_slosh_tank_of_one_mode_is_a_cart_and_pendulum():
    liquid = systems.slosh_modes(modes=1)
    cart = systems.cart_pendulum(
        100 + liquid.rigid, liquid.masses[0], liquid.lengths[0], 3e4, observed=["x", "theta"]
    )
    tank = systems.slosh_tank(100, 3e4, modes=1, observed=["x", "theta1"])
    np.testing.assert_allclose(tank.full_mass, cart.full_mass)
    np.testing.assert_allclose(tank.full_stiffness, cart.full_stiffness)


def test_shallow_liquid_sloshes_as_a_whole():
    liquid = systems.slosh_modes(depth=1e-6, modes=4000)
    assert liquid.rigid / (1000 * 1e-6) == pytest.approx(0, abs=1e-4)
    np.testing.assert_allclose(
        liquid.frequencies[:3], np.array([1, 3, 5]) * np.pi * np.sqrt(9.81e-6), rtol=1e-9
    )


def apparent_mass(omega2, length, depth, g, cells):
    r"""Force over acceleration of a moving tank, per ρb: Laplace's equation by finite volumes.

    φ_xx + φ_zz = 0, φ_x = 1 on the walls, φ_z = 0 on the bottom, g φ_z = ω² φ on the surface.
    """
    nx, nz = cells
    dx, dz = length / nx, depth / nz
    at = np.arange(nx * nz).reshape(nx, nz)
    matrix, right = np.zeros((nx * nz,) * 2), np.zeros(nx * nz)

    def join(one, two, weight):
        for i, j in ((one, two), (two, one)):
            matrix[i.ravel(), i.ravel()] -= weight
            matrix[i.ravel(), j.ravel()] += weight

    join(at[:-1], at[1:], dz / dx)
    join(at[:, :-1], at[:, 1:], dx / dz)
    right[at[-1]] -= dz  # what the walls push in and out
    right[at[0]] += dz
    # the surface is half a cell above: φ_s (2/dz - ω²/g) = 2 φ/dz, flux 2 (φ_s - φ)/dz
    raised = 2 / dz / (2 / dz - omega2 / g)
    matrix[at[:, -1], at[:, -1]] += 2 * dx / dz * (raised - 1)
    phi = np.linalg.solve(matrix, right)[at]
    wall = phi[-1] - phi[0] + dx  # half a cell at each side with slope 1
    return float(wall.sum() * dz)


@pytest.mark.parametrize("depth", [0.2, 0.6])
def test_slosh_modes_push_the_tank_like_the_liquid(depth):
    """m0 + Σ m_n/(1 - ω²/ω_n²) against the potential flow itself."""
    g, length = 9.81, 1.0
    liquid = systems.slosh_modes(length, depth, 1.0, 1.0, g, modes=200)
    first = liquid.frequencies[0] ** 2
    for omega2 in (0.0, 0.5 * first, 1.5 * first, 2.0 * first):
        expected = liquid.rigid + np.sum(liquid.masses / (1 - omega2 / liquid.frequencies**2))
        coarse, fine = (apparent_mass(omega2, length, depth, g, c) for c in ((20, 16), (40, 32)))
        found = fine + (fine - coarse) / 3  # the error is of second order
        assert found == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: systems.tuned_absorber(m=0.0), "must be positive"),
        (lambda: systems.tuned_absorber(k=-1.0), "must be positive"),
        (lambda: systems.tuned_absorber(observed="z"), "name x, y or both"),
        (lambda: systems.tuned_absorber(observed=[]), "name x, y or both"),
        (lambda: systems.slosh_tank(M=0.0), "M and k"),
        (lambda: systems.slosh_tank(depth=np.nan), "must be positive"),
        (lambda: systems.slosh_tank(modes=0), "at least 1"),
        (lambda: systems.slosh_tank(observed=["x", "theta3"]), "name some of x, theta1, theta2"),
        (lambda: systems.slosh_tank(observed=["x", "x"]), "each once"),
    ],
)
def test_new_systems_refuse(call, words):
    with pytest.raises(OptionError, match=words):
        call()


def test_a_chain_may_have_any_ports():
    system = systems.chain([1, 2, 1, 3], [1, 2, 1, 1], observed=[3, 0, 2])
    assert system.channels == ("q4", "q1", "q3")
    H = system.response(OMEGA, loss=0.01).values
    inside = systems.chain([1, 2, 1, 3], [1, 2, 1, 1], observed=range(4)).response(OMEGA, loss=0.01)
    pick = np.ix_(range(len(OMEGA)), [3, 0, 2], [3, 0, 2])
    np.testing.assert_allclose(H, inside.values[pick], rtol=1e-12)


# ------------------------------------------------------------------ excitation


def spectrum(force, dt):
    return 2 * np.pi * np.fft.rfftfreq(len(force), dt), np.abs(np.fft.rfft(force)) ** 2


def test_random_excitation_fills_its_band_evenly():
    force = systems.excitation("random", 2.0, 10.0, 0.05, 2000.0, 0)
    assert force.shape == (40000,)
    omega, power = spectrum(force, 0.05)
    inside = (omega >= 2) & (omega <= 10)
    assert power[~inside].max() < 1e-20 * power.max()
    assert force.var() == pytest.approx(1, abs=5 / np.sqrt(inside.sum()))
    halves = [power[(omega >= low) & (omega < low + 4)].mean() for low in (2, 6)]
    assert halves[0] == pytest.approx(halves[1], rel=0.2)
    assert np.mean(force**4) == pytest.approx(3, abs=0.2)
    np.testing.assert_array_equal(force, systems.excitation("random", 2, 10, 0.05, 2000, 0))
    assert np.abs(force - systems.excitation("random", 2, 10, 0.05, 2000, 1)).max() > 1


def test_burst_excitation_ends():
    force = systems.excitation("burst", 2.0, 10.0, 0.05, 1000.0, 0)
    assert not force[10000:].any()
    np.testing.assert_array_equal(force[:10000], systems.excitation("random", 2, 10, 0.05, 500, 0))


def test_sweep_excitation_goes_through_the_band():
    force = systems.excitation("sweep", 1.0, 8.0, 0.01, 200.0)
    turns = 0.01 * np.flatnonzero(np.diff(np.sign(force[1:])))
    rate = np.pi / np.diff(turns)
    np.testing.assert_allclose(rate, 1 + 7 * (turns[1:] + turns[:-1]) / 400, rtol=0.05)
    assert np.abs(force).max() == pytest.approx(1, abs=1e-3)


def test_dwell_excitation_steps_through_the_band():
    dt, dwells = 0.01, 10
    force = systems.excitation("dwell", 5.0, 15.0, dt, 200.0, 3, dwells=dwells)
    shift = np.random.default_rng(3).uniform()
    for k, part in enumerate(force.reshape(dwells, -1)):
        w = 5 + k + shift  # each dwell is a pure sine: y(t+h) + y(t-h) = 2 cos(ωh) y(t)
        np.testing.assert_allclose(
            part[2:] + part[:-2], 2 * np.cos(w * dt) * part[1:-1], atol=1e-12
        )
    assert np.abs(np.diff(force)).max() <= 15 * dt  # and no jump between them
    other = systems.excitation("dwell", 5.0, 15.0, dt, 200.0, 4, dwells=dwells)
    assert np.abs(other - force).max() > 0.1


def test_hammer_excitation_is_flat_over_the_band():
    force = systems.excitation("hammer", 0.0, 10.0, 0.001, 50.0)
    assert np.count_nonzero(force) == 314
    assert force.max() == pytest.approx(1, abs=1e-5)
    omega, power = spectrum(force, 0.001)
    inside = np.sqrt(power[omega <= 10] / power[0])
    assert inside.min() == pytest.approx(np.pi / 4, abs=0.01)
    assert inside.max() <= 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tap", 1, 2, 0.1, 100), "unknown excitation 'tap'; use one of random, burst"),
        (("random", 3, 2, 0.1, 100), "low before high"),
        (("random", 1, 40, 0.1, 100), "half the sampling rate"),
        (("random", 1.001, 1.002, 0.1, 100), "make it longer"),
        (("hammer", 1, 20, 0.1, 100), "make the step shorter"),
        (("dwell", 1, 2, 0.1, 10), "50 dwells in 100 samples"),
        (("sweep", 1, 2, 0.1, 0.1), "fewer than 8 samples"),
    ],
)
def test_excitation_refuses(arguments, words):
    with pytest.raises(OptionError, match=words):
        systems.excitation(*arguments)


def test_friction_of_equal_ratios_is_the_viscous_loss():
    system = systems.chain(3, observed=[0, 2])
    values, phi = np.linalg.eigh(system.full_stiffness)  # the masses are one
    D = (phi * 0.04 * np.sqrt(values)) @ phi.T
    found = system.response(OMEGA, friction=D).values
    expected = system.response(OMEGA, loss=0.04, damping="viscous").values
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("friction", "loss", "words"),
    [
        (np.eye(2), 0.0, "over all 3 coordinates"),
        (np.eye(3), 0.1, "without a loss"),
        (-np.eye(3), 0.0, "create energy"),
    ],
)
def test_friction_refuses(friction, loss, words):
    with pytest.raises(OptionError, match=words):
        systems.chain(3).response(OMEGA, friction=friction, loss=loss)
