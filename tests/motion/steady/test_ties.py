"""Commensurate modes are not called nonlinear unless their phases or their number say so."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import prism
from prism.motion.steady import estimate_lines
from prism.systems import LinearSystem
from prism_bench.kinds import TUNING, make


def commensurate(seed, ratios=(1, 2, 3), seen=2):
    rng = np.random.default_rng(seed)
    K = len(ratios)
    Q = np.linalg.qr(rng.standard_normal((K, K)))[0]
    omega = np.array(ratios) * rng.uniform(0.8, 1.2)
    return LinearSystem(np.eye(K), Q @ np.diag(omega**2) @ Q.T, np.eye(K)[:seen])


def codes(model):
    return [remark.code for remark in model.identifiability.remarks]


@pytest.mark.parametrize("trials", [1, 20])
def test_commensurate_modes_are_not_called_nonlinear(trials):
    kinds = []
    for seed in range(6):
        system = commensurate(seed)
        record = system.equilibrium(60, 0.1, trials=trials, noise=0.05, rng=seed)
        lines = estimate_lines(record, false_alarm=1e-3)
        kinds.append("free" if lines.ties is None else lines.ties.kind)
        assert lines.torus is None
    assert kinds.count("linear") >= 4


def test_the_linear_answer_comes_with_a_remark():
    system = commensurate(0)
    record = system.equilibrium(60, 0.1, trials=40, noise=0.05, rng=0)
    model = prism.identify(record, experiment="equilibrium", mass="identity")
    assert model.hamiltonian is not None
    assert "commensurate" in codes(model)
    z = (model.modes.frequencies - system.frequencies) / model.modes.frequencies_std
    assert np.abs(z).max() < 4


def asymmetric_spring(seed, lead):
    rng = np.random.default_rng(seed)
    t = 0.05 * np.arange(3000)
    x = solve_ivp(
        lambda _, y: [y[1], -y[0] - 0.4 * y[0] ** 2],
        (0, lead + t[-1] + 0.1),
        [1.1, 0.0],
        t_eval=lead + t,
        rtol=1e-9,
        atol=1e-9,
    ).y[0]
    return prism.Record(x + 0.003 * x.std() * rng.standard_normal(len(t)), dt=0.05)


def test_locked_phases_are_those_of_a_nonlinear_motion():
    model = prism.identify(asymmetric_spring(0, lead=2.345))
    assert "their phases are locked" in model.identifiability.why
    assert "nonlinear" in model.identifiability.why


def test_a_release_does_not_tell():
    """A linear system that is released begins with the same phases."""
    model = prism.identify(asymmetric_spring(0, lead=0.0))
    assert "commensurate" in codes(model)
    assert "these data do not tell" in str(model.identifiability)
    system = commensurate(3)
    record = system.released(100, 0.1, [1.0, 0.6], noise=0.02, rng=0)
    lines = estimate_lines(record, false_alarm=1e-3)
    assert lines.torus is None


def test_fundamentals_near_a_ratio_of_integers_are_read_in_both_ways():
    """A Duffing particle with a hidden mode at 2.51 times its frequency, which is not 5 : 2."""
    case = make("duffing", 13, TUNING)
    model = prism.identify(case.record)
    assert "nonlinear" in codes(model)


def test_phases_that_are_no_mirror_are_those_of_modes():
    """Their evidence for being locked is small, and they are off by many of their errors."""
    for seed in (45, 51):
        model = prism.identify(make("commensurate", seed, TUNING).record)
        assert "commensurate" in codes(model)
        assert "nonlinear" not in codes(model)
