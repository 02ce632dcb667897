"""One more hidden mode by the residuals of a fit."""

from dataclasses import replace

import numpy as np
import pytest

from prism.motion.potential.added import gains, with_another_mode
from prism.motion.potential.kernel import Parameters
from prism.motion.potential.pieces import Course, cut
from prism.motion.potential.shooting import linearise, refine
from prism.motion.potential.smooth import prepare
from prism.motion.potential.terms import library_of
from prism.systems.nonlinear_particle import duffing

GRID = np.arange(0.3, 3.0, np.pi / 60)


@pytest.fixture(scope="module")
def lacking():
    """A fit that knows one of two hidden modes, and its problem."""
    system = duffing(1.0, 0.5, [0.7, 1.9], [0.35, 0.15])
    record = system.simulate([1.5, 0.0, 0.3], [0.0, 0.0, 0.0], 60, 0.1, noise=0.05, rng=0)
    problem = prepare(record)
    known = Parameters(
        *(library_of(["x", "x^3"], 1), np.array([1.0, 0.5]), np.array([0.7])),
        *(np.array([0.35**2]), np.ones((1, 1))),
    )
    start = Course(known, np.array([[1.5, 0.0, 0.0, 0.0]]), cut(problem.data))
    return problem, refine(problem, start, (100, 0.02))


def dense_gain(problem, fit, omega):
    """The same from differences of motions with a mode that is a little alive."""
    p, pieces, small = fit.parameters, fit.pieces, 1e-6
    base = linearise(problem, fit)
    x, u, v, w = fit.starts.T
    zero = np.zeros(1)

    def path(R, u0, w0):
        more = replace(
            p,
            omega=np.append(p.omega, omega),
            residues=np.append(p.residues, R),
            ratios=np.ones((2, 1)),
        )
        start = np.column_stack([x, u, zero + u0, v, w, zero + w0])
        return Course(more, start, pieces).fly(problem).path.ravel() / problem.noise[0]

    still = path(0.0, 0.0, 0.0)
    columns = np.column_stack(
        [(path(*(small * row)) - still) / small for row in np.eye(3)]  # by R, u0 and w0
    )
    whole = fit.fly(problem, sensitive=True)
    A = whole.dpath.reshape(len(still), -1) / problem.noise[0]
    b = (pieces.data.ravel() - still * problem.noise[0]) / problem.noise[0]
    assert b @ b == pytest.approx(base.misfit, rel=1e-9)
    for chosen in (columns, columns[:, 1:]):
        both = np.hstack([A, chosen])
        z, *_ = np.linalg.lstsq(both, b, rcond=1e-12)
        gain = b @ b - np.sum((b - both @ z) ** 2)
        if chosen is not columns or z[A.shape[1]] >= 0:
            return gain


def test_gains_are_those_of_differences(lacking):
    problem, fit = lacking
    some = np.array([0.5, 1.2, 1.9, 2.6])
    found, _ = gains(problem, fit, some)
    expected = [dense_gain(problem, fit, omega) for omega in some]
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=0.05)


def test_the_missing_mode_is_found(lacking):
    problem, fit = lacking
    found, steps = gains(problem, fit, GRID)
    assert abs(GRID[found.argmax()] - 1.9) < 0.1
    more = with_another_mode(problem, fit, GRID)
    assert more.modes == 2
    assert more.parameters.omega[1] == pytest.approx(1.9, abs=0.02)
    # The step foretells what the fit then gains.
    assert fit.misfit - more.misfit == pytest.approx(found.max(), rel=0.2)
    assert steps.shape == (len(GRID), len(more.numbers))


def test_where_nothing_is_missing_nothing_is_added(lacking):
    problem, fit = lacking
    more = with_another_mode(problem, fit, GRID)
    assert with_another_mode(problem, more, GRID) is None


def test_pieces_that_are_linked_are_left_to_the_other_route(lacking):
    problem, fit = lacking
    assert with_another_mode(problem, replace(fit, pieces=cut(problem.data, 4)), GRID) is None
