"""Modes at rest: held at zero where the data do not tell them from it, free where they do."""

from dataclasses import replace

import numpy as np
import pytest

from prism.motion.forced.response.coupled import coupled
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.friction import FrictionPoint
from prism.motion.forced.response.modal import ModalPoint, evaluate, jacobian
from prism.motion.forced.response.noise import ResponseNoise
from prism.motion.forced.response.rest import rested, rigid_remarks, woken
from prism.motion.forced.response.scoring import ResponseFit
from prism.motion.forced.response.start import _at_rest
from prism.systems import chain

LINES = np.linspace(0.3, 3, 300)
NOISE = ResponseNoise(b2=4e-4)
SHAPES = np.array([[0.4, 0.5], [0.5, -0.3], [0.6, 0.2], [0.3, -0.5]])


def data_of(slow=0.0, seed=0):
    """Two slow modes and two others, seen at two places, with two percent of noise."""
    system = chain([1.0, 2.0, 0.7], [1.0, 0.6], ends="free-free", observed=[0, 2])
    data = ResponseData.of(system.response(LINES).ports)
    truth = ModalPoint(np.array([slow, slow, 0.2, 0.6]), SHAPES, np.full(4, 0.02), "viscous")
    H = np.asarray(evaluate(data, truth).H, complex)
    rng = np.random.default_rng(seed)
    error = rng.standard_normal((2, *H.shape)) * np.sqrt(NOISE.b2 / (2 * data.counts))
    return replace(data, Y=H * (1 + error[0] + 1j * error[1])), truth


def stalled(truth):
    """Where a descent stopped: all loss in one slow mode."""
    lam, eta = truth.lam.copy(), truth.eta.copy()
    lam[:2], eta[:2] = [1e-4, 1e-6], [0.0, 1.0]
    return replace(truth, lam=lam, eta=eta)


@pytest.mark.parametrize("seed", range(4))
def test_bodies_at_rest_are_held_there(seed):
    data, truth = data_of(seed=seed)
    found = rested(ResponseFit(data, stalled(truth), NOISE))
    assert found.point.rigid.tolist() == [True, True, False, False]
    assert np.all(found.point.lam[:2] == 0)
    assert found.value < ResponseFit(data, truth, found.noise).value
    assert rested(found) is found
    (remark,) = rigid_remarks(found)
    assert "2 modes below the band" in str(remark)


def test_modes_that_are_told_from_rest_are_not_held_and_are_let_go():
    data, truth = data_of(slow=0.004)
    free = ResponseFit(data, truth, NOISE)
    assert not rested(free).point.rigid.any()
    still = np.array([True, True, False, False])
    found = woken(replace(free, point=truth.resting(still)))
    assert not found.point.rigid.any()
    assert found.point.lam[:2] == pytest.approx([0.004, 0.004], abs=0.002)
    assert rigid_remarks(found) == ()


def test_the_same_with_friction_between_the_others():
    data, truth = data_of()
    linked = np.array([False, False, True, True])
    start = coupled(ResponseFit(data, truth, NOISE), FrictionPoint.of(stalled(truth), linked))
    found = rested(start)
    assert found.point.rigid.tolist() == [True, True, False, False]
    assert not found.friction.C[:2].any()
    assert len(found.friction.cells[0]) == 3
    joined = found.friction.attached(np.full(4, 0.1), 0.5, 0.1)
    assert joined.rigid.tolist() == [True, True, False, False, False]
    assert not joined.C[:2].any()
    assert np.all(joined.lam[2:] > 0)


def test_turning_bodies_into_each_other_costs_no_number():
    _, truth = data_of()
    one, two = (truth.resting(np.arange(4) < count) for count in (1, 2))
    assert truth.free_count - one.free_count == 1  # of λ = 0 at its bound only the loss was free
    assert one.free_count - two.free_count == 2


def test_a_mode_at_zero_has_finite_slopes():
    data, truth = data_of()
    assert np.isfinite(jacobian(data, truth, evaluate(data, truth))).all()


def test_poles_just_beyond_zero_are_those_of_bodies_at_rest():
    poles = np.array([-0.001 + 1e-4j, -0.5 + 0.1j, 0.3 + 0.01j])
    assert _at_rest(np.array([0.01, 1.0]), poles).tolist() == [0.0, *poles[1:]]
