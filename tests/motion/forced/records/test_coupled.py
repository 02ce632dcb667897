"""Modes with friction in a record: a matrix exponential of the whole system, and differences."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh
from tests.motion.forced.records.test_records import QUANTITY, dense_motion, gaussian

from prism.motion.forced.records.columns import mode_columns
from prism.motion.forced.records.coupled import SharedModal, SharedRecord
from prism.motion.forced.records.data import take_apart
from prism.motion.forced.records.pole_fit import Poles
from prism.motion.forced.records.reciprocal import Reciprocal
from prism.motion.forced.response.friction import FrictionPoint, factor
from prism.record import Record

DT = 0.2
M = np.diag([1.0, 0.7, 1.3, 0.2])
K = np.array(
    [[2.2, -1, 0, 0], [-1, 2.1, -1, 0], [0, -1, 1.7, -0.4], [0, 0, -0.4, 0.4]]
)  # springs in a row
D = 0.05 * np.array([[2, -1, 0, 0], [-1, 2, 0, 0], [0, 0, 3, -3], [0, 0, -3, 4.0]])


def dense_friction(ports=(0, 2), kinds=(0, 2), hold="first", samples=300, seed=0):
    """Exact record of four masses with dampers between them, and the point that it is made of."""
    rng = np.random.default_rng(seed)
    t = DT * np.arange(samples)
    force = np.stack([gaussian(t, rng, 3.0) for _ in ports], axis=1)
    start = 0.3 * rng.standard_normal(8)
    motions = dense_motion(M, K, D, list(ports), force, DT, hold, start)
    x = np.stack([motions[k][:, p] for k, p in zip(kinds, ports, strict=True)], axis=1)
    names = [f"m{p}" for p in ports]
    record = Record(
        np.hstack([x, force]),
        dt=DT,
        channels=[*names, *(f"f_{name}" for name in names)],
        quantity=[QUANTITY[k] for k in kinds] + ["displacement"] * len(ports),
    )
    lam, modes = eigh(K, M)
    C = factor(modes.T @ D @ modes)
    point = FrictionPoint(lam, modes[list(ports)].T, C, np.ones(4, bool), 1e3)
    return record, SharedModal(point, np.zeros((0, len(ports))), 0, hold)


def shared_record(record, hold, filters=()):
    data = take_apart(record, [name for name in record.channels if name.startswith("f_")], None)
    data = data.whitened(filters) if filters else data
    nothing = np.zeros(0), np.zeros(0), np.zeros(0, bool)
    return SharedRecord(Reciprocal(data, Poles(*nothing, False, False, hold, False)))


@pytest.mark.parametrize("hold", ["zero", "first"])
@pytest.mark.parametrize("kinds", [(0, 1), (2, 0)])
def test_the_true_system_leaves_nothing(hold, kinds):
    record, modal = dense_friction(kinds=kinds, hold=hold)
    shared = shared_record(record, hold)
    fit = shared.evaluate(modal, np.ones(2))
    assert fit.cost < 1e-18
    np.testing.assert_allclose(shared.output(fit)[0], record.trials[0][:, :2], atol=1e-10)


@pytest.mark.parametrize("filters", [(), (np.array([1.0, -0.6]), np.array([1.0, 0.2, 0.1]))])
def test_the_gradient_is_that_of_differences(filters):
    """Free amplitudes drop out; a rigid body and a static term are there too."""
    record, modal = dense_friction()
    shared = shared_record(record, "first", filters)
    rng = np.random.default_rng(1)
    modal = replace(modal, shapes=0.1 * rng.standard_normal((2, 2)), rigid=1)
    modal = modal.moved(0.01 * rng.standard_normal(modal.size))
    weights, h = np.array([1.0, 2.0]), 1e-6
    fit = shared.evaluate(modal, weights)
    for k in range(modal.size):
        step = np.zeros(modal.size)
        step[k] = h
        up, down = (shared.evaluate(modal.moved(sign * step), weights).cost for sign in (1, -1))
        expected = -(up - down) / (4 * h)
        assert fit.gradient[k] == pytest.approx(expected, rel=1e-5, abs=1e-6 * fit.cost)


def test_the_descent_leads_from_modes_without_shared_friction_to_the_truth():
    record, truth = dense_friction(kinds=(0, 0), samples=600)
    shared = shared_record(record, "first")
    own = np.sqrt(np.diag(truth.point.C))
    start = replace(truth, point=replace(truth.point, L=np.diag(own)))
    before = shared.evaluate(start, np.full(2, 1e4))
    fit = shared.refine(before)
    assert fit.cost < 1e-2 < 1e6 < before.cost
    s = 1j * np.linspace(0.3, 2.5, 9)[:, None, None]
    made, true = (
        p.V.T @ np.linalg.inv(s**2 * np.eye(4) + s * p.C + np.diag(p.lam)) @ p.V
        for p in (fit.modal.point, truth.point)
    )
    np.testing.assert_allclose(made, true, atol=1e-4 * np.abs(true).max())
    assert np.linalg.eigvalsh(fit.modal.point.C)[0] > 0


def test_columns_of_a_complex_residue_have_their_derivatives():
    force, h = np.random.default_rng(1).standard_normal((100, 2)), 1e-6
    for kind in range(3):
        value, by_omega, by_decay = mode_columns(3.0, 0.1, force, 0.1, "first").turned(kind)
        real = mode_columns(3.0, 0.1, force, 0.1, "first").forced(kind)[0]
        np.testing.assert_allclose(value[:, :2], real, atol=1e-12)
        for slope, dw, dd in ((by_omega, h, 0.0), (by_decay, 0.0, h)):
            up, down = (
                mode_columns(3.0 + s * dw, 0.1 + s * dd, force, 0.1, "first").turned(kind)[0]
                for s in (1, -1)
            )
            np.testing.assert_allclose(slope, (up - down) / (2 * h), atol=1e-5)
