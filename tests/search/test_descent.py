"""The one descent against scipy, known answers, and every way it can end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.optimize

from prism._types import Array
from prism.search.descent import (
    Ending,
    Halving,
    Marquardt,
    Nielsen,
    Step,
    Stop,
    damped_solution,
    descend,
)


@dataclass
class Squares:
    """Least squares: residuals and Jacobian, with a log of what was asked."""

    residuals: Callable[[Array], Array]
    jacobian: Callable[[Array], Array]
    dampings: list[float] = field(default_factory=list)
    moves: int = 0

    def cost(self, point: Array) -> float:
        return float(np.sum(self.residuals(point) ** 2))

    def step(self, point: Array, damping: float) -> Step | None:
        self.dampings.append(damping)
        r, J = self.residuals(point), self.jacobian(point)
        gradient = -J.T @ r
        delta = damped_solution(J.T @ J, gradient, damping + 1e-10)
        return Step(delta, float(delta @ gradient), damping)

    def moved(self, point: Array, step: Step) -> Array | None:
        self.moves += 1
        return point + step.delta


def _rosenbrock() -> Squares:
    return Squares(
        lambda x: np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]]),
        lambda x: np.array([[-20 * x[0], 10.0], [-1.0, 0.0]]),
    )


def _decay() -> Squares:
    """A sum of exponentials with noise: the minimum has a residual."""
    t = np.linspace(0, 3, 40)
    y = 2 * np.exp(-1.3 * t) + 0.05 * np.random.default_rng(1).standard_normal(40)
    return Squares(
        lambda x: x[0] * np.exp(-x[1] * t) - y,
        lambda x: np.stack([np.exp(-x[1] * t), -x[0] * t * np.exp(-x[1] * t)], axis=1),
    )


def _line(slope: float, curvature: float, honest: bool = True) -> Squares:
    """One parameter with ``cost = curvature (x - slope/curvature)²``; a liar steps upwards."""
    sign = 1.0 if honest else -1.0
    root = np.sqrt(curvature)
    return Squares(lambda x: root * (x - slope / curvature), lambda x: np.full((1, 1), sign * root))


CONTROLS = [Marquardt(), Marquardt(1e-3, tries=14), Nielsen(), Halving(60)]


@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("problem", [_rosenbrock, _decay])
def test_it_finds_the_minimum_that_scipy_finds(problem, control):
    start = np.array([-1.2, 1.0]) if problem is _rosenbrock else np.array([1.0, 0.3])
    squares = problem()
    found = descend(squares, start, Stop(steps=200, tolerance=1e-16, idle=None), control)
    expected = scipy.optimize.least_squares(
        squares.residuals, start, squares.jacobian, xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    assert found.ending in (Ending.CONVERGED, Ending.STUCK)  # stuck: at the last digit
    np.testing.assert_allclose(found.point, expected.x, rtol=1e-7)
    assert found.cost == pytest.approx(2 * expected.cost, rel=1e-10, abs=1e-15)


def test_a_quadratic_takes_one_step():
    squares = _line(3.0, 2.0)
    found = descend(squares, np.zeros(1), Stop())
    assert found.point == pytest.approx(1.5)
    assert found.ending is Ending.CONVERGED
    assert squares.moves == 1
    assert found.promise < 1e-3
    assert found.ending.at_minimum


def test_the_promise_is_what_the_damped_step_would_gain():
    """Its limit is an error of √tolerance standard deviations."""
    squares = _line(1.0, 1.0)  # at x = 0 a full step gains 1
    assert descend(squares, np.zeros(1), Stop(tolerance=1.1)).point == 0
    assert descend(squares, np.zeros(1), Stop(tolerance=0.9)).point == pytest.approx(1)
    damped = descend(squares, np.zeros(1), Stop(tolerance=0.6), Marquardt(start=1.0))
    assert damped.ending is Ending.CONVERGED
    assert damped.promise == pytest.approx(0.5)


def test_hopeless_is_when_even_three_times_the_promise_is_not_enough():
    squares = _line(2.0, 1.0)  # cost 4, promise 4
    for wanted, ending in ((-7.9, Ending.CONVERGED), (-8.1, Ending.HOPELESS)):
        assert descend(squares, np.zeros(1), Stop(hopeless=wanted)).ending is ending
    patient = descend(squares, np.zeros(1), Stop(hopeless=-8.1, patience=1))
    assert patient.ending is Ending.CONVERGED
    assert not Ending.HOPELESS.at_minimum


def test_a_rise_within_rounding_is_accepted_and_settles():
    @dataclass
    class Noisy(Squares):
        """A cost whose last digits are wrong."""

        def cost(self, point: Array) -> float:
            return 1e6 + (0.0 if self.moves == 0 else 1e-3)

    squares = Noisy(lambda x: x - 1, lambda x: np.eye(1))
    assert descend(squares, np.zeros(1), Stop()).ending is Ending.STUCK
    for stop in (Stop(rounding=1e-8), Stop(allowance=1e-2)):
        squares.moves = 0
        found = descend(squares, np.zeros(1), stop)
        assert found.ending is Ending.SETTLED
        assert found.point == pytest.approx(1)


@pytest.mark.parametrize("stop", [Stop(20, 0.0, settled=0.3), Stop(20, 0.0, settled_share=0.2)])
def test_steps_that_no_longer_pay_settle(stop):
    """A pace of one half of the promise: the cost falls by 4 to the fall of each step."""
    squares = Squares(lambda x: np.append(x, 1.0), lambda x: np.array([[2.0], [0.0]]))
    once = descend(squares, np.ones(1), stop)
    assert once.ending is Ending.SETTLED
    assert once.ending.at_minimum
    assert once.point == pytest.approx(0.25)  # costs 2, 1.25, 1.0625: the last fall is 0.19
    twice = descend(squares, np.ones(1), Stop(20, 0.0, settled=0.3, idle=2))
    assert twice.point == pytest.approx(0.125)
    never = descend(squares, np.ones(1), Stop(5, 0.0, settled=0.3, idle=None))
    assert never.ending is Ending.OUT_OF_STEPS
    assert never.point == pytest.approx(1 / 32)


def test_refused_steps_of_marquardt_count_and_damp_by_ten():
    squares = _line(1.0, 1.0, honest=False)
    found = descend(squares, np.zeros(1), Stop(steps=5))
    assert found.ending is Ending.OUT_OF_STEPS
    assert found.point == 0
    assert squares.dampings == pytest.approx([0, 1e-2, 1e-1, 1, 10])
    squares.dampings.clear()
    assert descend(squares, np.zeros(1), Stop(steps=50, tolerance=-1)).ending is Ending.STUCK
    assert squares.dampings[-1] == pytest.approx(1e7)  # beyond 10⁶ it gives up


def test_marquardt_calms_down_again_and_rests():
    control = Marquardt(1e-6, least=1e-3, floor=1e-8, rest=1e-9)
    bold, step = control.begin(), Step(np.ones(1), 1.0)
    seen = []
    for _ in range(5):
        seen.append(bold.damping)
        bold = control.accepted(bold, 1.0, step)
    np.testing.assert_allclose(seen, [1e-6, 1e-7, 1e-8, 1e-9, 1e-9])
    assert control.refused(bold).damping == pytest.approx(1e-3)


def test_unfair_steps_shorten_the_next_ones():
    control, step = Marquardt(fair=0.3), Step(np.ones(1), 1.0)
    slow = control.accepted(control.begin(), 0.2, step)
    assert slow.pace == pytest.approx(0.6)
    assert control.accepted(slow, 0.9, step).pace == pytest.approx(0.78)


@pytest.mark.parametrize(("control", "tries"), [(Halving(7), 7), (Marquardt(tries=4), 4)])
def test_refusals_at_one_point_are_limited(control, tries):
    squares = _line(1.0, 1.0, honest=False)
    found = descend(squares, np.zeros(1), Stop(steps=1, tolerance=-np.inf), control)
    assert found.ending is Ending.STUCK
    assert squares.moves == tries


def test_halving_halves_and_takes_whole_steps_again():
    @dataclass
    class Short(Squares):
        """Moves of more than 0.3 are refused."""

        def moved(self, point: Array, step: Step) -> Array | None:
            self.moves += 1
            return point + step.delta if abs(step.delta[0]) < 0.3 else None

    squares = Short(lambda x: x - 1, lambda x: np.eye(1))
    found = descend(squares, np.zeros(1), Stop(tolerance=1e-12), Halving(3))
    # 1 → ½ → ¼; then ¾ → ⅜ → 3/16, and so on
    assert found.ending is Ending.CONVERGED
    assert found.point == pytest.approx(1)
    one = descend(Short(lambda x: x - 1, lambda x: np.eye(1)), np.zeros(1), Stop(1), Halving(3))
    assert one.point == pytest.approx(0.25)


def test_nielsen_listens_to_the_ratio_of_gain_and_forecast():
    control = Nielsen()
    step = Step(np.ones(1), 5.0, predicted=1.0)
    assert control.accepted(control.begin(), 1.0, step).damping == pytest.approx(2e-4)
    assert control.accepted(control.begin(), 0.5, step).damping == pytest.approx(1e-3)
    first = control.refused(control.begin())
    second = control.refused(first)
    assert (first.damping, second.damping) == pytest.approx((2e-3, 8e-3))
    assert Nielsen(tries=1).refused(control.begin()) is None
    assert Nielsen(most=1e-3).refused(control.begin()) is None


def test_a_step_that_cannot_be_made_is_refused():
    @dataclass
    class Singular(Squares):
        def step(self, point: Array, damping: float) -> Step | None:
            return None if damping < 0.05 else Squares.step(self, point, damping)

    squares = Singular(lambda x: x - 1, lambda x: np.eye(1))
    found = descend(squares, np.zeros(1), Stop(tolerance=1e-12, steps=60))
    assert found.point == pytest.approx(1, abs=1e-5)


def test_damped_solution_against_the_dense_form():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 4)) * np.array([1.0, 1e2, 1e-3, 1.0])
    F, g = X.T @ X, rng.standard_normal(4)
    expected = np.linalg.solve(F + 0.1 * np.diag(np.diag(F)), g)
    np.testing.assert_allclose(damped_solution(F, g, 0.1), expected, rtol=1e-10)
    free = np.array([True, False, True, True])
    part = np.linalg.solve(F[np.ix_(free, free)], g[free])
    step = damped_solution(F, g, 0.0, free=free)
    np.testing.assert_allclose(step[free], part, rtol=1e-10)
    assert step[1] == 0
    F[3], F[:, 3] = 0.0, 0.0  # nothing known about the last: it stays where it is
    assert abs(damped_solution(F, np.append(g[:3], 0.0), 1e-10)[3]) == 0
