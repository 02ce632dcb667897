"""The error of a receptance where friction between modes is not shown, and may be there."""

from dataclasses import replace

import numpy as np
import pytest

import prism
from prism.motion.forced.records import open_friction as source
from prism.motion.forced.records.coupled import SharedModal, SharedRecord
from prism.motion.forced.records.data import take_apart
from prism.motion.forced.records.open_friction import open_friction
from prism.motion.forced.records.pole_search import find_poles
from prism.motion.forced.records.reciprocal import Reciprocal
from prism.motion.forced.records.start import start_from_poles
from prism.motion.forced.response.friction import FrictionPoint
from prism_bench.mechanics import TUNING, make, score


def fitted(row, seed):
    """Real modes in a record, each with its own loss."""
    made = make(row, seed, TUNING).made
    data = take_apart(made.data, list(made.options["force"]), made.options.get("at"))
    poles, family = find_poles(data, false_alarm=1e-3, lossless=False, holds=("first", "zero"))
    start = start_from_poles(data, poles)
    reciprocal = Reciprocal(data, start.nuisance)
    return reciprocal, reciprocal.converged(start.modal, start.weights, family.floor, False)


@pytest.mark.parametrize("seed", [903, 948])
def test_what_friction_gains_and_how_likely_it_is(seed, monkeypatch):
    """Beside the likelihood over the friction between two modes, all else fitted, summed up."""
    reciprocal, fit = fitted("absorber-record", seed)
    modal, rate = fit.modal, 2 * fit.modal.decay
    most = np.sqrt(rate.prod())
    shared = SharedRecord(reciprocal)

    def left(between):
        """χ² with a friction between the modes, after some steps in all other numbers."""
        C = np.diag(rate) + between * most * (1 - np.eye(2))
        point = FrictionPoint(
            modal.omega**2 + modal.decay**2,
            modal.shapes[:2],
            np.linalg.cholesky(C),
            np.ones(2, bool),
            far=np.inf,
        )
        at = shared.evaluate(SharedModal(point, modal.shapes[2:], 0, modal.hold), fit.weights)
        cell = point.losses + int(np.flatnonzero(point.cells[0] != point.cells[1])[0])
        keep = np.setdiff1d(np.arange(len(at.gradient)), [cell])
        for _ in range(4):
            step = np.zeros(len(at.gradient))
            step[keep] = np.linalg.solve(at.fisher[np.ix_(keep, keep)], at.gradient[keep])
            at = shared.evaluate(at.modal.moved(step), fit.weights)
        return at.cost

    grid = np.linspace(-0.9, 0.9, 61)
    likelihood = np.exp(-0.5 * (np.array([left(one) for one in grid]) - left(0.0)))
    ratio = np.trapezoid(likelihood, grid) / 2  # uniform between -1 and 1
    seen = []
    monkeypatch.setattr(source, "expit", lambda x: seen.append(x) or 1 / (1 + np.exp(-x)))
    open_friction(reciprocal, fit)
    # a normal law of the same variance is lower by √(6/π) at its middle than an even one
    assert seen[0] == pytest.approx(np.log(ratio) + 0.5 * np.log(6 / np.pi), abs=0.35)


def test_modes_without_friction_leave_nothing_open():
    reciprocal, fit = fitted("absorber-record", 903)
    modal = replace(fit.modal, decay=np.array([0.0, fit.modal.decay[1]]))
    assert open_friction(reciprocal, replace(fit, modal=modal)) is None


def test_light_dampers_that_no_test_sees_are_in_the_error_of_the_receptance():
    """Errors of Im H were up to 100 times what was said."""
    z = [score(make("absorber-record", seed, TUNING)).banded for seed in (903, 924, 928, 948)]
    assert all(len(one) for one in z)
    assert max(np.abs(one).max() for one in z) < 5
    assert np.sqrt(np.mean(np.concatenate(z) ** 2)) < 1.7


def test_a_saved_model_keeps_it(tmp_path):
    made = make("absorber-record", 903, TUNING).made
    model = prism.identify(made.data, **made.options)
    assert "coupled-friction" not in [one.code for one in model.identifiability.remarks]
    model.save(tmp_path / "m.json")
    s = 1j * np.linspace(0.5, 1.5, 7)
    np.testing.assert_allclose(
        prism.load(tmp_path / "m.json").receptance_std(s), model.receptance_std(s)
    )
