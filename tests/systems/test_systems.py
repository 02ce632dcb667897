"""Nonlinear systems, their integrator, forced linear systems: against exact and dense answers."""

import numpy as np
import pytest
from scipy.linalg import expm, sqrtm

from prism import symplectic, systems
from prism.errors import OptionError, PrismWarning, RecordError
from prism.systems.nonlinear import NonlinearSystem

LATTICE = systems.fput()
HENON = systems.henon_heiles()
# name: system, position, momentum of a motion that is well away from its linear limit
MOTIONS = {
    "fput": (LATTICE, *LATTICE.single_mode(1.0)),
    "fput-beta": (b := systems.fput(5, 0.1, 0.8, ends="fixed-free"), *b.single_mode(0.7, 2)),
    "henon-heiles": (HENON, *HENON.start(0.12, x=0.1, y=-0.1, py=0.05)),
}
ALL = pytest.mark.parametrize("motion", MOTIONS.values(), ids=list(MOTIONS))


def duffing(hessian=None, masses=(2.0,)):
    return NonlinearSystem(
        potential=lambda q: (q**2 / 2 + q**4 / 4).sum(axis=-1),
        force=lambda q: -q - q**3,
        hessian=hessian,
        masses=masses,
        observed=[0],
        names=["x"],
    )


# ------------------------------------------------------------------ the integrator


@pytest.mark.parametrize("scheme", [symplectic.FINE, symplectic.QUICK], ids=["fine", "quick"])
def test_order_conditions(scheme):
    """A symmetric composition with these four sums has order four."""
    a, b = scheme
    at = np.cumsum(a)[:-1]
    pushed = np.concatenate([[0], np.cumsum(b)])
    sums = [a.sum(), b.sum(), b @ at**2, a @ pushed**2]
    np.testing.assert_allclose(sums, [1, 1, 1 / 3, 1 / 3], atol=1e-15)
    np.testing.assert_array_equal(a, a[::-1])
    np.testing.assert_array_equal(b, b[::-1])


@ALL
def test_order_four_by_halving(motion):
    system, q0, p0 = motion

    def end(steps):
        q, p = symplectic.integrate(system.force, q0, p0, 8 / steps, steps)
        return np.concatenate([q[-1], p[-1]])

    truth = end(2560)
    errors = [np.abs(end(steps) - truth).max() for steps in (40, 80, 160)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    np.testing.assert_allclose(orders, 4, atol=0.35)


@ALL
def test_motion_goes_back_where_it_came_from(motion):
    system, q0, p0 = motion
    q, p = symplectic.integrate(system.force, q0, p0, 0.1, 500)
    q, p = symplectic.integrate(system.force, q[-1], p[-1], -0.1, 500)
    np.testing.assert_allclose(q[-1], q0, atol=1e-11)
    np.testing.assert_allclose(p[-1], p0, atol=1e-11)


@ALL
def test_step_is_symplectic(motion):
    system, q0, p0 = motion
    n, h = len(q0), 1e-5
    z0 = np.concatenate([q0, p0])
    starts = z0 + h * np.concatenate([np.eye(2 * n), -np.eye(2 * n)])
    q, p = symplectic.integrate(system.force, starts[:, :n], starts[:, n:], 0.3, 1)
    z = np.concatenate([q[:, -1], p[:, -1]], axis=-1)
    jacobian = (z[: 2 * n] - z[2 * n :]).T / (2 * h)
    form = np.kron([[0, 1], [-1, 0]], np.eye(n))
    np.testing.assert_allclose(jacobian.T @ form @ jacobian, form, atol=1e-8)


def test_error_against_the_scheme_of_yoshida():
    system, q0, p0 = MOTIONS["fput"]

    def error(dt, scheme):
        start = (system.force, q0, p0, dt, round(60 / dt))
        energy = system.energy(*symplectic.integrate(*start, scheme=scheme))
        return np.abs(energy - energy[0]).max()

    c = 1 / (2 - 2 ** (1 / 3))
    yoshida = symplectic.Scheme([0, c, 1 - 2 * c, c, 0], [c / 2, (1 - c) / 2, (1 - c) / 2, c / 2])
    # three forces a step, so half the step costs the same
    assert error(0.15, yoshida) > 100 * error(0.3, symplectic.FINE)


def test_tolerance_sets_the_substeps():
    system, q0, p0 = MOTIONS["henon-heiles"]
    start = (system.force, system.potential, q0, p0, 0.5, 100)
    runs = [symplectic.integrate_within(*start, tolerance=t) for t in (1e-5, 1e-9, 1e-12)]
    assert runs[0].substeps < runs[1].substeps < runs[2].substeps
    for run, tolerance in zip(runs, (1e-5, 1e-9, 1e-12), strict=True):
        energy = system.energy(run.q, run.p)
        kinetic = (run.p**2 / 2).sum(axis=-1)
        assert run.energy_error == pytest.approx(np.ptp(energy) / kinetic.max(), rel=1.1, abs=1e-16)
        assert 0 < run.energy_error <= tolerance


def test_a_step_far_too_long_is_divided():
    motion = symplectic.integrate_within(
        lambda q: -900 * q, lambda q: 450 * (q**2).sum(axis=-1), [1.0], [0.0], 1.0, 20
    )
    assert motion.substeps > 100
    np.testing.assert_allclose(motion.q[:, 0], np.cos(30 * np.arange(21)), atol=1e-5)


def test_rest_stays_at_rest_without_error():
    motion = symplectic.integrate_within(LATTICE.force, LATTICE.potential, [0.0] * 8, 0.0, 0.1, 10)
    assert (motion.energy_error, np.abs(motion.q).max()) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steps": 0}, "at least one step"),
        ({"dt": 0.0}, "finite length"),
        ({"q0": np.ones(3)}, "do not belong together"),
        ({"q0": np.array([np.nan, 0])}, "must be finite"),
        ({"tolerance": 0.0}, "give at least 1e-14"),
        ({"tolerance": 1e-14, "steps": 400}, "does not come below 1e-14"),
        ({"q0": np.array([0.0, 1e6])}, "lower start"),
        ({"q0": np.array([0.0, 1.5])}, "runs away near t = "),
    ],
)
def test_integrator_refuses(options, words):
    usual = {"q0": np.array([0.0, 0.1]), "p0": np.zeros(2), "dt": 0.1, "steps": 200}
    with pytest.raises(OptionError, match=words):
        symplectic.integrate_within(HENON.force, HENON.potential, **usual | options)


# ------------------------------------------------------------------ systems in general


@ALL
def test_force_and_curvature_are_derivatives(motion):
    system, q, _ = motion
    h = 1e-4
    moved = q + h * np.concatenate([np.eye(len(q)), -np.eye(len(q))])
    plus, minus = np.split(system.potential(moved), 2)
    np.testing.assert_allclose(system.force(q), (minus - plus) / (2 * h), atol=1e-7)
    plus, minus = np.split(system.force(moved), 2)
    np.testing.assert_allclose(system.curvature(q), (minus - plus) / (2 * h), atol=1e-7)


@ALL
def test_trials_move_as_they_would_alone(motion):
    system, q0, p0 = motion
    scale = np.array([[1.0], [0.5], [0.25]])
    together = system.trajectory(scale * q0, scale * p0, 20, 0.1, tolerance=1e-12)
    assert together.q.shape == (3, 200, len(q0))
    for k in range(3):
        alone = system.trajectory(scale[k] * q0, scale[k] * p0, 20, 0.1, tolerance=1e-12)
        np.testing.assert_allclose(together.q[k], alone.q, atol=1e-9)
        np.testing.assert_allclose(together.p[k], alone.p, atol=1e-9)


def test_differences_replace_a_missing_hessian():
    q = np.array([[0.3], [-0.7]])
    np.testing.assert_allclose(duffing().curvature(q)[:, :, 0], 1 + 3 * q**2, atol=1e-10)
    np.testing.assert_allclose(duffing().linearised().frequencies, np.sqrt(0.5), atol=1e-10)


def test_record_of_a_nonlinear_system():
    start = ([[1.0], [0.5]], [[0.0], [0.0]], 50, 0.1)
    clean = duffing().simulate(*start)
    assert (clean.n_trials, clean.channels, clean.dt) == (2, ("x",), 0.1)
    exact = duffing().trajectory(*start)
    np.testing.assert_array_equal(clean.trials, exact.q)
    np.testing.assert_allclose(exact.t, clean.times[0])
    noisy, again = (duffing().simulate(*start, noise=0.2, rng=1) for _ in "ab")
    np.testing.assert_array_equal(noisy.trials, again.trials)
    added = np.concatenate(noisy.trials) - np.concatenate(clean.trials)
    assert added.std() == pytest.approx(0.2 * np.concatenate(clean.trials).std(), rel=0.1)


def test_duffing_period():
    """T = 4 K(m) √(M/(1+A²)), m = A²/2(1+A²), of M x'' + x + x³ = 0 released at A."""
    from scipy.special import ellipk

    period = 4 * ellipk(1 / 4) * np.sqrt(2.0 / 2)
    q = duffing().trajectory([1.0], [0.0], 10.0001 * period, period / 40).q[:, 0]
    np.testing.assert_allclose(q[::40], 1.0, atol=1e-7)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: duffing(masses=(-1.0,)), "positive numbers"),
        (lambda: duffing(masses=(1.0, 1.0)), "1 names for 2 coordinates"),
        (lambda: systems.henon_heiles(observed=[2]), "observed coordinates"),
        (lambda: systems.henon_heiles(observed=[]), "observed coordinates"),
        (lambda: duffing().simulate([1.0, 2.0], [0.0], 10, 0.1), "position of shape"),
        (lambda: duffing().simulate([1.0], [np.inf], 10, 0.1), "momentum of shape"),
        (lambda: duffing().simulate([1.0], [0.0], 0.5, 0.1), "fewer than 8 samples"),
        (lambda: duffing().simulate([1.0], [0.0], 10, 0.1, noise=-1), "noise -1"),
        (lambda: duffing().linearised(at=[0.5]), "linearise at an equilibrium"),
        (lambda: duffing().linearised(at=[[0.0]]), "of shape"),
        (lambda: HENON.linearised(at=[0.0, 1.0]), "positive definite"),
        (lambda: systems.fput(0), "at least 1"),
        (lambda: systems.fput(ends="free"), "unknown ends"),
        (lambda: LATTICE.single_mode(1.0, 9), "no mode 9"),
        (lambda: HENON.start(0.001, y=-0.1), "give more energy"),
    ],
)
def test_systems_refuse(call, words):
    with pytest.raises(OptionError, match=words):
        call()


def test_a_record_has_no_third_axis():
    with pytest.raises(RecordError, match="shape"):
        duffing().simulate(np.ones((2, 2, 1)), np.zeros((2, 2, 1)), 10, 0.1)


# ------------------------------------------------------------------ Fermi-Pasta-Ulam-Tsingou


def test_lattice_keeps_its_energy():
    motion = LATTICE.trajectory(*LATTICE.single_mode(1.0), 400, 0.05)
    energy = LATTICE.energy(motion.q, motion.p)
    assert np.abs(energy / energy[0] - 1).max() <= 1e-9
    assert motion.energy_error <= 1e-9


def test_lattice_hamiltonian_is_that_of_the_paper():
    rng = np.random.default_rng(0)
    q, p = rng.normal(size=(2, 8))
    r = np.diff(np.concatenate([[0], q, [0]]))
    expected = (p**2 / 2).sum() + (r**2 / 2 + 0.25 * r**3 / 3).sum()
    assert LATTICE.energy(q, p) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("ends", ["fixed-fixed", "fixed-free"])
@pytest.mark.parametrize("mode", [1, 3, 8])
def test_lattice_without_anharmonicity_moves_in_normal_modes(ends, mode):
    lattice = systems.fput(alpha=0.0, ends=ends, observed=range(8))
    q0, p0 = lattice.single_mode(0.7, mode)
    motion = lattice.trajectory(q0, p0, 40, 0.1, tolerance=1e-12)
    omega = lattice.linear_frequencies[mode - 1]
    expected = np.cos(omega * motion.t)[:, None] * q0
    np.testing.assert_allclose(motion.q, expected, atol=1e-9)


@pytest.mark.parametrize("ends", ["fixed-fixed", "fixed-free"])
def test_lattice_linearised_is_the_chain(ends):
    lattice = systems.fput(6, 0.4, 0.3, ends=ends, observed=[0, 2])
    linear = lattice.linearised()
    chain = systems.chain(6, ends=ends, observed=[0, 2])
    np.testing.assert_allclose(linear.full_stiffness, chain.full_stiffness, atol=1e-14)
    np.testing.assert_allclose(linear.frequencies, lattice.linear_frequencies, atol=1e-13)
    assert linear.channels == chain.channels
    q0, p0 = lattice.single_mode(1e-6, 2)
    moved = lattice.simulate(q0, p0, 30, 0.1).trials[0]
    times = 0.1 * np.arange(300)
    np.testing.assert_allclose(moved, linear.motion(q0, p0, times), atol=1e-10)


def test_frequencies_of_the_paper():
    j = np.arange(1, 9)
    np.testing.assert_allclose(LATTICE.linear_frequencies, 2 * np.sin(j * np.pi / 18), atol=1e-15)
    assert LATTICE.linear_frequencies[0] == pytest.approx(0.347, abs=5e-4)


# ------------------------------------------------------------------ Hénon-Heiles


def test_start_has_the_energy_asked_for():
    q, p = HENON.start(0.11, x=0.2, y=-0.1, py=0.1)
    assert HENON.energy(q, p) == pytest.approx(0.11, rel=1e-14)
    assert p[0] > 0
    assert HENON.energy([0.0, 1.0], [0.0, 0.0]) == pytest.approx(1 / 6)
    with pytest.warns(PrismWarning, match="above the escape energy"):
        HENON.start(0.17)


def test_potential_has_its_threefold_symmetry():
    turn = 2 * np.pi / 3
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    q = np.random.default_rng(0).normal(size=(20, 2))
    np.testing.assert_allclose(HENON.potential(q @ rotation.T), HENON.potential(q), atol=1e-13)


def test_regular_and_chaotic_motion_are_told_apart():
    """Start x = 0, y = -0.1, py = 0: regular at E = 0.05, chaotic at 0.15 with λ = 0.11."""
    points = np.array([HENON.start(energy, y=-0.1) for energy in (0.05, 0.15)])
    found = systems.largest_lyapunov(HENON, points[:, 0], points[:, 1], 3000, 0.2)
    regular, chaotic = found.exponent
    assert regular < 1.5 * np.log(3000) / 3000
    assert 0.09 < chaotic < 0.125
    assert found.spread[1] < 0.02
    assert found.is_chaotic.tolist() == [False, True]
    assert found.energy_error < 1e-7
    # λ(t) t of a regular motion is a logarithm: it gains ln 4 while t grows fourfold
    half = found.trace[0, [749, 2999]] * found.times[[749, 2999]]
    assert np.diff(half) == pytest.approx(np.log(4), abs=0.5)


def test_disturbance_grows_as_the_distance_of_neighbours():
    q0, p0 = HENON.start(0.15, y=-0.1)
    found = systems.largest_lyapunov(HENON, q0, p0, 50, 0.05)
    direction = np.random.default_rng(0).standard_normal((2, 2))
    direction *= 1e-7 / np.linalg.norm(direction)
    apart = [
        np.concatenate(symplectic.integrate(HENON.force, q, p, 0.05, 1000), axis=-1)[-1]
        for q, p in ((q0 + direction[0], p0 + direction[1]), (q0 - direction[0], p0 - direction[1]))
    ]
    growth = np.log(np.linalg.norm(apart[0] - apart[1]) / 2e-7)
    assert found.trace[-1] * 50 == pytest.approx(growth, abs=1e-4)
    assert found.trace.shape == found.times.shape == (50,)


def test_saddle_has_the_exponent_of_its_linearisation():
    found = systems.largest_lyapunov(HENON, [0.0, 1.0], [0.0, 0.0], 20, 0.05)
    slopes = np.linalg.eigvalsh(HENON.curvature([0.0, 1.0]))
    gained = found.trace[-1] * 20 - found.trace[9] * 10
    assert gained / 10 == pytest.approx(np.sqrt(-slopes[0]), rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.0], [0.0, 0.0], 100), "position of shape"),
        (([0.0, 0.0], [0.1, 0.0], 5), "at least 8 intervals"),
        (([0.0, 0.0], [0.1, 0.0], 100, 2.0), "step within the interval"),
        (([0.0, 1.5], [0.0, 0.0], 100), "runs away"),
    ],
)
def test_lyapunov_refuses(arguments, words):
    with pytest.raises(OptionError, match=words):
        systems.largest_lyapunov(HENON, *arguments)


# ------------------------------------------------------------------ cart and pendulum


def test_cart_pendulum_numbers():
    system = systems.cart_pendulum()
    found = [system.mass, system.stiffness, system.couplings**2, [system.hidden_frequencies]]
    np.testing.assert_allclose(np.ravel(found), [1, 19.905, 48.118, 3.132], atol=1e-3)
    np.testing.assert_allclose(system.frequencies, [2.506, 4.841], atol=1e-3)
    assert systems.cart_pendulum(observed=["x", "theta"]).channels == ("x", "theta")


@pytest.mark.parametrize("angle", [0.5, 2.5])
def test_cart_pendulum_keeps_its_energy(angle):
    motion = systems.CartPendulum().trajectory([0.1, angle], [0.0, 0.0], 100, 0.1)
    assert motion.energy_error < 1e-10
    assert motion.q.shape == motion.p.shape == (1000, 2)


def test_cart_pendulum_obeys_lagrange():
    """The equations of motion in velocities, from differences of the path."""
    system, h = systems.CartPendulum(), 1e-3
    motion = system.trajectory([0.3, 1.2], [0.4, -0.2], 2, h)
    x, theta = motion.q.T
    velocity = np.gradient(motion.q, h, axis=0)
    acceleration = np.gradient(velocity, h, axis=0)
    (vx, vt), (ax, at) = velocity.T, acceleration.T
    ml = system.m * system.l
    cart = (system.M + system.m) * ax + ml * (at * np.cos(theta) - vt**2 * np.sin(theta))
    bob = ml * ax * np.cos(theta) + ml * system.l * at + ml * system.g * np.sin(theta)
    np.testing.assert_allclose((cart + system.k * x)[5:-5], 0, atol=1e-3)
    np.testing.assert_allclose(bob[5:-5], 0, atol=1e-3)
    momentum = (system.M + system.m) * vx + ml * vt * np.cos(theta)
    np.testing.assert_allclose(motion.p[5:-5, 0], momentum[5:-5], atol=1e-4)


def test_small_motion_of_the_cart_is_linear():
    whole = systems.CartPendulum(m=0.7, l=1.3, observed=("x", "theta"))
    start = 1e-5 * np.array([1.0, -0.5])
    record = whole.simulate([start, 2 * start], np.zeros((2, 2)), 20, 0.05)
    linear = whole.linearised()
    for k, trial in enumerate(record.trials):
        expected = linear.motion((k + 1) * start, [0.0, 0.0], 0.05 * np.arange(400))
        np.testing.assert_allclose(trial, expected, atol=1e-12)


def test_cart_goes_back_where_it_came_from():
    system = systems.CartPendulum()
    there = system.trajectory([0.2, 1.0], [0.3, -0.4], 20, 0.1)
    back = system.trajectory(there.q[-1], -there.p[-1], 20, 0.1)
    np.testing.assert_allclose(back.q[-1], [0.2, 1.0], atol=1e-8)
    np.testing.assert_allclose(back.p[-1], [-0.3, 0.4], atol=1e-8)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: systems.cart_pendulum(l=0.0), "must be positive"),
        (lambda: systems.cart_pendulum(observed="angle"), "name x, theta or both"),
        (lambda: systems.cart_pendulum(observed=["x", "x"]), "name x, theta or both"),
        (lambda: systems.cart_pendulum(observed=[]), "name x, theta or both"),
        (lambda: systems.CartPendulum().trajectory([0.1], [0.0], 10, 0.1), "position of shape"),
    ],
)
def test_cart_refuses(call, words):
    with pytest.raises(OptionError, match=words):
        call()


# ------------------------------------------------------------------ forced


def dense_response(system, u, dt, hold, loss=0.0):
    """March the full first-order system with the exponential of its matrix, force included."""
    n, channels = len(system.full_mass), len(system.channels)
    # of all matrices C with M⁻¹C = loss (M⁻¹K)^½ there is one: the ratio is loss/2 for every mode
    rate = loss * sqrtm(np.linalg.solve(system.full_mass, system.full_stiffness)).real
    big = np.zeros((2 * n + 2 * channels,) * 2)
    inverse = np.linalg.inv(system.full_mass)
    big[:n, n : 2 * n] = np.eye(n)
    big[n : 2 * n, :n] = -inverse @ system.full_stiffness
    big[n : 2 * n, n : 2 * n] = -rate
    big[n : 2 * n, 2 * n : -channels] = inverse @ system.observation.T
    big[2 * n : -channels, -channels:] = np.eye(channels)  # the force grows by its slope
    step = expm(big * dt)
    state, out = np.zeros(2 * n), []
    slopes = np.diff(u, axis=0, append=u[-1:]) / dt * (hold == "first")
    for force, slope in zip(u, slopes, strict=True):
        out.append(system.observation @ state[:n])
        state = (step @ np.concatenate([state, force, slope]))[: 2 * n]
    return np.array(out)


@pytest.mark.parametrize("hold", ["zero", "first"])
@pytest.mark.parametrize(("dt", "loss"), [(0.05, 0.0), (0.8, 0.0), (0.05, 0.03), (0.8, 1.2)])
@pytest.mark.parametrize(
    "system", [systems.cart_pendulum(), systems.chain()], ids=["cart-pendulum", "chain"]
)
def test_forced_response_against_the_dense_one(system, dt, loss, hold):
    u = np.random.default_rng(0).standard_normal((2, 400, len(system.channels)))
    record, force = systems.forced(system, u, dt, hold=hold, loss=loss)
    np.testing.assert_array_equal(force, u)
    for trial, pushed in zip(record.trials, u, strict=True):
        expected = dense_response(system, pushed, dt, hold, loss)
        np.testing.assert_allclose(trial, expected, atol=1e-10 * np.abs(expected).max())


def test_forced_by_a_sine_answers_with_the_receptance():
    system, w = systems.cart_pendulum(), 1.7
    record, force = systems.forced(system, lambda t: np.sin(w * t), 0.001, duration=20)
    assert force.shape == (20000, 1)
    t = 0.001 * np.arange(20000)
    # from rest: the steady sine and free motion that cancels its velocity at the start
    v2, omega = system.residues[:, 0, 0], system.frequencies
    modes = np.sin(w * t[:, None]) - w / omega * np.sin(omega * t[:, None])
    expected = modes @ (v2 / (omega**2 - w**2))
    np.testing.assert_allclose(record.trials[0][:, 0], expected, atol=1e-6)
    steady = system.receptance(1j * w)[0, 0].real
    assert steady == pytest.approx((v2 / (omega**2 - w**2)).sum())


def test_forced_noise_is_repeatable():
    push = np.ones(100)
    noisy = [systems.forced(systems.cart_pendulum(), push, 0.1, noise=0.1, rng=3) for _ in "ab"]
    np.testing.assert_array_equal(noisy[0].record.trials, noisy[1].record.trials)


def test_forced_steady_state_is_the_response():
    """After the free motion has died away a sine answers with H(iω) of the same loss."""
    system, w, loss = systems.chain(3), 1.1, 0.2
    push = lambda t: np.stack([np.sin(w * t), 0 * t], axis=-1)  # noqa: E731
    record = systems.forced(system, push, 0.005, duration=300, loss=loss).record
    t = record.times[0][-4000:]
    H = system.response(w * np.arange(1, 5), loss=loss, damping="viscous").values[0]
    expected = (H[:, 0] * np.exp(1j * w * t)[:, None]).imag
    np.testing.assert_allclose(record.trials[0][-4000:], expected, atol=1e-4 * np.abs(H).max())


def test_force_beside_the_motion():
    rng = np.random.default_rng(0)
    force = np.zeros((3, 50, 2))
    force[:, :, 1] = rng.standard_normal((3, 50))
    done = systems.forced(systems.chain(), force, 0.1, noise=0.1, rng=rng)
    both = done.with_force()
    assert both.channels == ("q1", "q4", "f_q4")  # q1 is never pushed
    assert set(both.quantity) == {"displacement"}
    assert (both.n_trials, both.dt) == (3, 0.1)
    np.testing.assert_array_equal(np.stack(both.trials)[..., :2], np.stack(done.record.trials))
    np.testing.assert_array_equal(np.stack(both.trials)[..., 2], force[..., 1])
    alone = systems.forced(systems.cart_pendulum(), rng.standard_normal(50), 0.1).with_force()
    assert alone.channels == ("x", "f_x")


@pytest.mark.parametrize(
    ("force", "options", "words"),
    [
        (np.ones(100), {"hold": "second"}, "unknown hold"),
        (np.ones(100), {"loss": -0.1}, "loss -0.1"),
        (np.ones(100), {"loss": 2.0}, "stop oscillating"),
        (np.ones((100, 2)), {}, "give finite numbers"),
        (np.full(100, np.nan), {}, "give finite numbers"),
        (np.ones(4), {}, "fewer than 8 samples"),
        (np.ones(100), {"duration": 10}, "leave it out"),
        (np.sin, {}, "needs a duration"),
    ],
)
def test_forced_refuses(force, options, words):
    with pytest.raises(OptionError, match=words):
        systems.forced(systems.cart_pendulum(), force, 0.1, **options)
