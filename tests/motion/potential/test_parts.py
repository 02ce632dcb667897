"""The parts of the nonlinear fit against their dense, obvious forms."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

from prism.errors import OptionError
from prism.motion.potential.kernel import (
    Integrator,
    Parameters,
    has_fast_kernel,
    kernel_named,
)
from prism.motion.potential.linear import scan_of
from prism.motion.potential.pieces import Course, ShootingProblem, cut
from prism.motion.potential.shooting import linearise, minimise
from prism.motion.potential.smooth import noise_level, prepare, smoothed
from prism.motion.potential.terms import Library, Potential, Term, library_of
from prism.systems.nonlinear_particle import (
    asymmetric_well,
    double_well,
    duffing,
    nonlinear_bath,
    pendulum,
    quintic,
)

KERNELS = ["plain", *(["fast"] if has_fast_kernel() else [])]
MIXED = Library((Term(0, 2), Term(0, 4), Term(1, 1), Term(2, 2)), "mixed")


def parameters(channels=1):
    if channels == 1:
        return Parameters(
            MIXED,
            np.array([1.0, 0.5, 0.2, -0.1]),
            np.array([0.7, 1.9]),
            np.array([0.12, 0.36]),
            np.ones((2, 1)),
        )
    theta = np.random.default_rng(1).uniform(0.1, 0.3, 14)
    ratios = np.array([[1.0, 0.3], [0.4, 1.0]])
    return Parameters(
        library_of("polynomial", 2), theta, np.array([0.7, 1.9]), np.array([0.1, 0.2]), ratios
    )


def flight(kernel, p, starts, data, *, substeps=1, limit=1e6, **options):
    return Integrator(0.05, substeps, limit, kernel).shoot(p, starts, data, **options)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("observer", [0.0, 0.6])
def test_sensitivities_are_the_differences_of_the_motion(kernel, channels, observer):
    rng = np.random.default_rng(0)
    p = parameters(channels)
    starts = rng.uniform(-0.5, 0.5, (2, 2 * sum(p.ratios.shape)))
    data = rng.standard_normal((2, 25, channels))
    data[0, 3] = np.nan
    exact = flight(kernel, p, starts, data, observer=observer)

    def off(vector, begin):
        out = flight(kernel, p.with_vector(vector), begin, data, observer=observer, sensitive=False)
        return out.path, out.ends

    step, P = 1e-6, len(p.vector)
    for j in range(P + starts.shape[1]):
        dz = np.zeros(P + starts.shape[1])
        dz[j] = step
        more = off(p.vector + dz[:P], starts + dz[P:])
        less = off(p.vector - dz[:P], starts - dz[P:])
        np.testing.assert_allclose((more[0] - less[0]) / 2e-6, exact.dpath[..., j], atol=1e-8)
        np.testing.assert_allclose((more[1] - less[1]) / 2e-6, exact.dends[..., j], atol=1e-8)


@pytest.mark.skipif(not has_fast_kernel(), reason="numba is not installed")
@pytest.mark.parametrize("channels", [1, 2])
def test_both_kernels_agree(channels):
    rng = np.random.default_rng(0)
    p = parameters(channels)
    starts = rng.uniform(-0.5, 0.5, (3, 2 * sum(p.ratios.shape)))
    data = rng.standard_normal((3, 40, channels))
    data[1, 5:9] = np.nan
    fast = flight("fast", p, starts, data, observer=0.4, substeps=2)
    plain = flight("plain", p, starts, data, observer=0.4, substeps=2)
    for one, other in zip(fast, plain, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_motion_is_that_of_the_equations(kernel):
    p = parameters()
    start = np.array([1.2, 0.3, -0.2, 0.1, 0.2, 0.4])

    def slope(_, z):
        x, u, v, w = z[0], z[1:3], z[3], z[4:]
        force = 1.0 * x + 0.5 * x**3 + 0.2 * np.sin(x) - 0.1 * np.cos(2 * x)
        return [v, *w, -force + u.sum(), *(-(p.omega**2) * u + p.residues * x)]

    t = 0.05 * np.arange(200)
    exact = solve_ivp(slope, (0, t[-1]), start, t_eval=t, rtol=1e-11, atol=1e-12).y[0]
    found = flight(kernel, p, start[None], np.full((1, 200, 1), np.nan), sensitive=False)
    np.testing.assert_allclose(found.path[0, :, 0], exact, atol=2e-6)


def test_the_integrator_keeps_the_energy():
    p = parameters()
    c = p.couplings[:, 0]
    state = np.array([1.2, 0.3, -0.2, 0.1, 0.2, 0.4])
    energies = []
    for _ in range(20):
        x, q, v, w = state[0], -state[1:3] / c, state[3], -state[4:] / c
        own = float(MIXED.values(np.array([x])) @ p.theta)
        hidden = 0.5 * w @ w + 0.5 * (p.omega * q) @ (p.omega * q) + x * (c @ q)
        energies.append(0.5 * v * v + own + hidden)
        data = np.full((1, 20, 1), np.nan)
        state = flight("plain", p, state[None], data, sensitive=False).ends[0]
    assert np.ptp(energies) < 1e-6 * abs(energies[0])


@pytest.mark.parametrize("kernel", KERNELS)
def test_an_escape_is_marked_and_does_not_disturb_other_pieces(kernel):
    p = Parameters(
        Library((Term(0, 4),), "x"), np.array([-1.0]), *np.zeros((2, 0)), np.ones((0, 1))
    )
    starts, data = np.array([[0.1, 0.0], [3.0, 0.0]]), np.full((2, 40, 1), np.nan)
    found = flight(kernel, p, starts, data, limit=100.0)
    assert np.isfinite(found.path[0]).all()
    assert np.isfinite(found.ends[0]).all()
    lost = np.isinf(found.path[1, :, 0])
    assert lost[-1]
    assert (np.diff(lost.astype(int)) >= 0).all()  # from the escape to the end
    assert np.isinf(found.ends[1]).all()


def problem_of(record, kernel="plain", noise=0.05):
    return ShootingProblem(
        data=tuple(record.trials),
        noise=np.array([noise]),
        band=(0.05, 10.0),
        integrator=Integrator(record.dt, 1, 50.0, kernel),
    )


def test_cutting_keeps_every_sample_and_links_pieces_of_a_trial():
    first, second = np.arange(10.0)[:, None], np.arange(7.0)[:, None]
    pieces = cut((first, second), 3)
    assert pieces.data.shape[1] == 4
    assert pieces.trial.tolist() == [0, 0, 0, 1, 1]
    assert pieces.linked.tolist() == [True, True, False, True, False]
    assert np.nansum(pieces.data) == first.sum() + second.sum()


def test_pieces_drawn_together_are_the_motion_in_one_go():
    record = duffing(1.0, 0.5, [], []).simulate([1.3], [0.0], 12, 0.1, noise=0.05, rng=3)
    problem = problem_of(record)
    library = library_of(["x", "x^3"], 1)
    p = Parameters(library, np.array([1.05, 0.48]), *np.zeros((2, 0)), np.ones((0, 1)))
    start = Course(p, np.array([[1.3, 0.0]]), cut(problem.data))
    whole = minimise(problem, start, (30, 1e-6))
    held = minimise(problem, start.in_pieces(problem, 3), joint=0.1 * np.ones(2))
    for joint in (1e-2, 1e-3, 1e-5):
        held = minimise(problem, held, (30, 1e-6), joint=joint * np.ones(2))
    assert held.misfit == pytest.approx(whole.misfit, abs=1e-3)
    np.testing.assert_allclose(held.parameters.vector, whole.parameters.vector, atol=1e-3)


def test_the_minimum_is_that_of_scipy():
    record = duffing(1.0, 0.5, [1.3], [0.4]).simulate(
        [1.3, 0.2], [0.0, 0.1], 20, 0.1, noise=0.05, rng=3
    )
    problem = problem_of(record)
    library = library_of(["x", "x^3"], 1)
    p = Parameters(
        library, np.array([1.1, 0.4]), np.array([1.25]), np.array([0.2]), np.ones((1, 1))
    )
    start = Course(p, np.array([[1.3, 0.0, 0.0, 0.0]]), cut(problem.data))

    def off(numbers):
        path = start.with_numbers(numbers).fly(problem).path
        return (problem.data[0] - path[0])[:, 0] / problem.noise

    exact = least_squares(off, start.numbers, x_scale="jac", xtol=1e-14, ftol=1e-14, gtol=1e-14)
    found = minimise(problem, start, (60, 1e-10))
    assert found.converged
    assert found.misfit == found.cost == pytest.approx(2 * exact.cost, rel=1e-9)
    np.testing.assert_allclose(found.numbers, exact.x, rtol=1e-4, atol=1e-5)


def test_a_fit_that_cannot_come_near_is_given_up_and_an_escape_is_no_fit():
    record = duffing(1.0, 0.5, [], []).simulate([1.3], [0.0], 12, 0.1, noise=0.05, rng=3)
    problem = problem_of(record)
    p = Parameters(library_of(["x"], 1), np.array([1.0]), *np.zeros((2, 0)), np.ones((0, 1)))
    start = Course(p, np.array([[1.3, 0.0]]), cut(problem.data))
    far = minimise(problem, start, give_up=1.0)
    assert not far.converged
    assert far.misfit > 100
    unbound = replace(p, theta=np.array([-50.0]))
    assert minimise(problem, replace(start, parameters=unbound)) is None


def test_modes_of_a_course_can_be_chosen_and_added():
    p = parameters()
    states = np.arange(12.0).reshape(2, 6)  # x, u1, u2, v, w1, w2 of two trials
    course = Course(p, states, cut((np.zeros((5, 1)), np.zeros((5, 1)))))
    turned = course.with_modes([1, 0])
    np.testing.assert_array_equal(turned.parameters.omega, p.omega[::-1])
    np.testing.assert_array_equal(turned.starts[0], [0, 2, 1, 3, 5, 4])
    one = course.with_modes([1])
    np.testing.assert_array_equal(one.starts[1], [6, 8, 9, 11])
    more = one.with_modes_at_rest(np.array([3.0]))
    np.testing.assert_array_equal(more.starts[1], [6, 8, 0, 9, 11, 0])
    np.testing.assert_array_equal(more.with_modes([0]).numbers, one.numbers)
    moved = course.moved(np.full(len(course.numbers), -1.0), (0.1, 5.0))
    np.testing.assert_allclose(moved.parameters.omega, [0.1, 0.9])
    np.testing.assert_array_equal(moved.parameters.residues, [0, 0])


def test_turned_rows_have_the_inner_products_of_all_rows():
    record = duffing(1.0, 0.5, [], []).simulate([1.3], [0.0], 10, 0.1, noise=0.05, rng=3)
    problem, p = (
        problem_of(record),
        Parameters(
            library_of(["x", "x^3"], 1), np.array([1.0, 0.5]), *np.zeros((2, 0)), np.ones((0, 1))
        ),
    )
    course = Course(p, np.array([[1.3, 0.0]]), cut(problem.data))
    rows = linearise(problem, course)
    flown, pieces = course.fly(problem, sensitive=True), course.pieces
    J, r = flown.dpath[0, :, 0] / 0.05, (pieces.data[0] - flown.path[0])[:, 0] / 0.05
    np.testing.assert_allclose(rows.A.T @ rows.A, J.T @ J, rtol=1e-9)
    np.testing.assert_allclose(rows.A.T @ rows.b, J.T @ r, rtol=1e-7, atol=1e-7)
    assert rows.cost == pytest.approx(r @ r)


def test_linear_stage_finds_two_hidden_frequencies():
    record = duffing().simulate([1.5, 0.3, -0.2], [0, 0.2, 0.3], 150, 0.05, noise=0.05, rng=1000)
    prepared = prepare(record)
    best = scan_of(
        prepared, library_of("polynomial", 1), np.arange(0.1, 4.0, np.pi / prepared.duration)
    ).best(2, 3)
    np.testing.assert_allclose(best[0].parameters.omega, [0.7, 1.9], atol=0.03)
    assert all((guess.parameters.residues > 0).all() for guess in best)
    assert best[0].cost < best[1].cost


def test_noise_level_and_smoothing():
    rng = np.random.default_rng(0)
    t = 0.05 * np.arange(4000)
    x = np.cos(t)[:, None]
    y = x + 0.1 * rng.standard_normal((4000, 1))
    assert noise_level([y])[0] == pytest.approx(0.1, rel=0.08)
    y[100:105] = np.nan
    assert np.std(smoothed(y, 0.05, 3.0) - x) < 0.04


def test_terms_are_gradients_of_their_potentials():
    for library, n in ((MIXED, 1), (library_of("trigonometric", 1), 1), (parameters(2).library, 2)):
        x = np.random.default_rng(0).uniform(-1, 1, (5, n))
        slope, curve = library.slopes(x), library.curves(x)
        for a in range(n):
            step = np.zeros(n)
            step[a] = 1e-6
            up, down = x + step, x - step
            V = (library.values(up) - library.values(down)) / 2e-6
            np.testing.assert_allclose(slope[:, a], V, atol=1e-8)
            more, less = library.slopes(up), library.slopes(down)
            np.testing.assert_allclose(curve[:, a], (more - less) / 2e-6, atol=1e-7)


def test_potential_reads_and_evaluates():
    library = library_of(["x", "x^3", "sin(x)"], 1)
    V = Potential(
        library,
        np.array([-1.0, 2.0, 0.5]),
        np.full(3, 0.1),
        0.01 * np.eye(3),
        ("x",),
        np.array([[-1.0], [1.0]]),
    )
    assert V.terms == ("x", "x^3", "sin(x)")
    assert str(V) == "V(x) = -1 x^2/2 + 2 x^4/4 + 0.5 (-cos(x))"
    x = np.array([0.3, 0.7])
    np.testing.assert_allclose(V(x), -(x**2) / 2 + x**4 / 2 - 0.5 * np.cos(x))
    np.testing.assert_allclose(V.gradient(x), -x + 2 * x**3 + 0.5 * np.sin(x))
    assert V(0.3).shape == ()
    assert V.band(x).shape == (2,)
    assert V.band(0.0) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ("cubic", "unknown potential 'cubic'"),
        (["x", "tan(x)"], "unknown term 'tan(x)'"),
        (["x", "x"], "give distinct ones"),
        ([], "give distinct ones"),
        (["sin(0x)"], "wave number"),
    ],
)
def test_strange_libraries_are_refused(terms, words):
    with pytest.raises(OptionError, match=words.replace("(", r"\(").replace(")", r"\)")):
        library_of(terms, 1)


def test_an_unknown_kernel_is_refused():
    with pytest.raises(OptionError, match="unknown kernel"):
        kernel_named("quick")


@pytest.mark.parametrize(
    "system",
    [
        duffing(),
        double_well(),
        pendulum(1.0, 0.3, [1.6], [0.5]),
        quintic(frequencies=[1.1], couplings=[0.3]),
        asymmetric_well(),
        nonlinear_bath(),
    ],
)
def test_systems_are_consistent(system):
    q = np.random.default_rng(0).uniform(-0.5, 0.5, len(system.names))
    for a in range(len(q)):
        step = np.zeros(len(q))
        step[a] = 1e-6
        slope = (system.potential(q + step) - system.potential(q - step)) / 2e-6
        assert system.force(q)[a] == pytest.approx(-slope, abs=1e-8)
    curve = -(system.force(q + step) - system.force(q - step)) / 2e-6
    np.testing.assert_allclose(system.curvature(q)[-1], curve, atol=1e-7)


def test_systems_refuse_unequal_lists():
    with pytest.raises(OptionError, match="as many of one as of the other"):
        duffing(1.0, 0.5, [0.7], [])
    with pytest.raises(OptionError, match="positive numbers"):
        nonlinear_bath(friction=-1.0)
