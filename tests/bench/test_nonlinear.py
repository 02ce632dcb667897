"""The benchmark's own parts; its figures come from `prism benchmark nonlinear`."""

import numpy as np
import pytest

from prism.motion.potential import has_fast_kernel
from prism_bench import nonlinear
from prism_bench._study import rng_of


@pytest.mark.parametrize("case", [*nonlinear.CASES, nonlinear.LINEAR])
def test_cases_are_complete(case):
    assert len(case.position) == len(case.momentum) == case.modes + 1 == len(case.system.names)
    if case.values:
        assert len(case.values) == len(case.terms) + 2 * case.modes


@pytest.mark.parametrize("number", range(0, 20, 2))
def test_random_systems_are_bound_and_repeatable(number):
    case, _ = nonlinear.random_case(number)
    again, _ = nonlinear.random_case(number)
    assert case.position == again.position
    assert case.terms == nonlinear.KINDS[case.name]
    path = case.system.trajectory(case.position, case.momentum, 20, 0.1, tolerance=1e-6).q[:, 0]
    assert np.abs(path).max() < 5


def test_a_run_is_summed_up():
    right = nonlinear.Run(True, True, False, np.array([0.5, -1.0]), np.array([1.0, 1.02]), 3.0)
    wrong = nonlinear.Run(True, False, True, np.zeros(0), np.zeros(0), 4.0)
    rows = nonlinear.pooled_rows([right, wrong])
    assert [row.holds for row in rows] == [True, True, True, False]
    rows = nonlinear.case_rows(nonlinear.CASES[0], [right, wrong])
    assert rows[1].measured == 0.5
    assert rows[2].measured == 1.0


def test_the_real_record_is_left_out_where_it_is_absent(monkeypatch):
    monkeypatch.setenv("PRISM_REAL_DATA", "no such folder")
    (row,) = nonlinear.double_pendulum_rows()
    assert row.quantity == "not run"


@pytest.mark.skipif(not has_fast_kernel(), reason="numba is not installed")
def test_one_run_of_the_easiest_case():
    run = nonlinear.one_run(nonlinear.CASES[-1], 0, 0)
    assert run.modes
    assert run.terms or run.listed
    assert np.all(np.abs(run.z) < 5)


def earlier(monkeypatch, number):
    """A system of the stream that served to find faults."""
    monkeypatch.setattr(nonlinear, "rng_of", lambda case, seed: rng_of(94, seed))
    return nonlinear.random_run(number)


@pytest.mark.skipif(not has_fast_kernel(), reason="numba is not installed")
@pytest.mark.parametrize(
    "number",
    [
        51,  # the same terms were found twice, the second time worse: the search never ended
        59,  # a mode that moves x so little that only the residuals of a fit show it
        57,  # a chaotic motion that few pieces do not hold
    ],
)
def test_systems_that_showed_faults_of_the_search(number, monkeypatch):
    outcome = earlier(monkeypatch, number)
    assert outcome.named
    assert not outcome.confident_and_wrong
