"""Derivatives and information of moving lines against dense, obvious versions."""

from dataclasses import replace

import numpy as np
import pytest

import prism
from prism.motion.moving import _limits as limits
from prism.motion.moving.fit import Data, columns, complex_amplitudes, evaluate, jacobian
from prism.motion.moving.law import ALL, PHASE, SIZE, Freedom, Law
from prism.motion.moving.slow import SlowProducts

MODULATION = limits.DEGREE + 1


@pytest.fixture(scope="module")
def law():
    steady = Law.steady(np.array([1.3, 2.1]), 40.0)
    free = [
        Freedom(PHASE, 0, 2),
        Freedom(SIZE, 1, 1),
        Freedom(SIZE, ALL, 3),
        Freedom(PHASE, ALL, 4),
        Freedom(SIZE, ALL, MODULATION),
        Freedom(PHASE, 1, MODULATION + 3),
    ]
    return replace(steady.freed(free, [0.8, -0.4, 0.2, 0.3, 0.25, 0.15]), rate=9.0)


@pytest.fixture(scope="module")
def record(law):
    rng = np.random.default_rng(11)
    t = 80.0 * np.arange(400) / 399
    E = columns(law, t / 40 - 1)
    trials = []
    for _ in range(2):
        x = rng.standard_normal((2, len(E)))
        trials.append((x @ E).T + 0.1 * rng.standard_normal((400, 2)))
    trials[1][50:60, 1] = np.nan
    return prism.Record(trials, dt=80.0 / 399)


def bent(law, i, step):
    delta = np.zeros(law.size)
    delta[i] = step
    return law.moved(delta)


def test_the_jacobian_is_the_derivative(law):
    u = np.linspace(-1, 1, 57)
    x = np.random.default_rng(0).standard_normal(2 + 2 * law.count)
    moving = complex_amplitudes(x)[:, None] * np.exp(law.exponents(u))
    J, h = jacobian(law, u, moving), 1e-6
    for i in range(law.size):
        numeric = (x @ columns(bent(law, i, h), u) - x @ columns(bent(law, i, -h), u)) / (2 * h)
        np.testing.assert_allclose(J[i], numeric, atol=1e-7)


def test_the_law_of_a_part_is_that_of_the_whole(law):
    part = law.in_first_part(0.8 * law.half)
    u = np.linspace(-1, 1, 57)
    now, before = part.exponents(u), law.exponents(0.8 * u - 0.2)
    off = now - before  # of each line a constant, which its amplitude takes up
    np.testing.assert_allclose(off, np.broadcast_to(off[:, :1], off.shape), atol=1e-9)


def test_the_gradient_is_that_of_the_projected_cost(law, record):
    data, weights, h = Data.of(record), np.array([100.0, 80.0]), 1e-5
    off = law.moved(np.full(law.size, 0.02))
    fit = evaluate(data, off, weights)
    for i in range(law.size):
        up, down = (evaluate(data, bent(off, i, s), weights).cost for s in (h, -h))
        np.testing.assert_allclose(-2 * fit.gradient[i], (up - down) / (2 * h), rtol=2e-4)


def test_the_information_is_that_of_all_parameters_together(law, record):
    """The dense matrix over law and amplitudes of every series, of which the law is a block."""
    data, weights = Data.of(record), np.array([100.0, 80.0])
    fit = evaluate(data, law, weights)
    L, P = 2 + 2 * law.count, law.size
    series = [(r, a) for r in range(2) for a in range(2)]
    rows = []
    u = data.groups[0].u
    E, e = columns(law, u), np.exp(law.exponents(u))
    for k, (r, a) in enumerate(series):
        there = np.isfinite(record.trials[r][:, a])
        block = np.zeros((int(there.sum()), P + L * len(series)))
        J = jacobian(law, u, fit.linear[r, a].amplitudes[:, None] * e)
        block[:, :P], block[:, P + k * L : P + (k + 1) * L] = J.T[there], E.T[there]
        rows.append(np.sqrt(weights[a]) * block)
    dense = np.vstack(rows)
    covariance = np.linalg.inv(dense.T @ dense)
    np.testing.assert_allclose(np.linalg.inv(fit.fisher), covariance[:P, :P], rtol=1e-6, atol=1e-12)


def test_a_slow_score_is_the_gain_of_the_fit():
    rng, t = np.random.default_rng(3), 0.2 * np.arange(3000)
    u = 2 * t / t[-1] - 1
    y = np.cos(2.0 * t + 0.03 * u**2) + 0.5 * np.sin(3.1 * t)
    record = prism.Record(y + 0.05 * rng.standard_normal(len(t)), dt=0.2)
    law = Law.steady(np.array([2.0, 3.1]), Data.of(record).half)
    fit = evaluate(Data.of(record), law, np.array([400.0]))
    bend = Freedom(PHASE, 0, 2)
    freed = evaluate(fit.data, law.freed([bend]), fit.weights)
    change = np.linalg.solve(freed.fisher, freed.gradient)
    before = np.linalg.solve(fit.fisher, fit.gradient)
    exact = change @ freed.gradient - before @ fit.gradient
    assert exact > 50
    np.testing.assert_allclose(SlowProducts.of(fit).gain(bend), exact, rtol=0.05)


def test_the_mean_frequency_is_the_weighted_mean_of_the_frequency(law):
    bent_law = law.freed([Freedom(PHASE, 0, 3), Freedom(PHASE, ALL, 5)], [0.7, -0.4])
    u = np.linspace(-1, 1, 1001)
    curves = np.array([bent_law.frequencies(float(one)) for one in u])
    mean = np.trapezoid(0.75 * (1 - u**2)[:, None] * curves, u, axis=0)
    np.testing.assert_allclose(bent_law.mean_frequencies(), mean, rtol=1e-5)
    step = np.random.default_rng(3).standard_normal(bent_law.size) * 1e-3
    moved = bent_law.moved(step).mean_frequencies() - bent_law.mean_frequencies()
    np.testing.assert_allclose(bent_law.mean_rows() @ step, moved, atol=1e-12)
