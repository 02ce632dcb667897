import numpy as np
import pytest

import prism
from prism.motion.steady import estimate_lines
from prism.motion.steady.torus import all_orders
from prism.systems import chain
from prism_bench.paper import henon_record, noisy


def torus_record(rng, fundamentals, terms, duration=400, noise=0.05):
    t = 0.05 * np.arange(round(duration / 0.05))
    x = np.zeros_like(t)
    for amplitude, k in terms:
        x += amplitude * np.cos(np.dot(k, fundamentals) * t + rng.uniform(0, 2 * np.pi))
    return prism.Record(x + noise * x.std() * rng.standard_normal(len(t)), dt=0.05), t, x


TERMS = [
    (1.0, (1, 0)),
    (0.7, (0, 1)),
    (0.2, (2, 0)),
    (0.15, (3, -2)),
    (0.1, (1, 1)),
    (0.3, (1, -1)),
]


def test_orders_are_all_combinations_once():
    table = all_orders(2)
    assert len(table) == len(np.unique(table, axis=0))
    assert np.abs(table).sum(axis=1).max() == 7
    flipped = {tuple(-row) for row in table}
    assert not flipped & {tuple(row) for row in table}
    # |k1| + |k2| ≤ 7 holds for 113 pairs, half of the 112 other than zero
    assert len(table) == 56


def test_slow_difference_line_is_tied():
    """The difference frequency makes 0.8 turns in the record; ties are found in most runs."""
    tied = [slow_difference_is_tied(seed) for seed in range(5)]
    assert sum(tied) >= 4


def slow_difference_is_tied(seed):
    rng = np.random.default_rng(seed)
    fundamentals = np.array([0.9723, 0.9409])
    record, t, x = torus_record(rng, fundamentals, TERMS)
    lines = estimate_lines(record.head(0.4), false_alarm=1e-3)
    if lines.torus is None:
        return False
    spread = np.abs(lines.torus.omega[:, None] - np.array([0.9723, 0.9409, 0.0314])).min(axis=0)
    assert spread.max() < 2e-3
    model = prism.identify(record.head(0.4))
    rest = t >= 160
    error = model.forecast(t[rest]).values[:, 0] - x[rest]
    assert np.sqrt(np.mean(error**2)) / x[rest].std() < 0.1
    assert model.hamiltonian is None
    assert "integer combinations" in model.identifiability.why
    return True


def test_periodic_motion_has_one_fundamental():
    rng = np.random.default_rng(0)
    terms = [(1.0, (1,)), (0.3, (2,)), (0.2, (3,)), (0.1, (5,))]
    record, _, _ = torus_record(rng, np.array([0.37]), terms, duration=60)
    lines = estimate_lines(record, false_alarm=1e-3)
    free = np.array([0.37, 0.74, 1.11, 1.85])
    # whether tied or not (four free lines do as well), the lines are right
    z = (lines.fit.omega - free) / np.sqrt(np.diag(lines.fit.covariance)[:4])
    assert np.abs(z).max() < 4


def test_linear_systems_are_not_tied():
    """The four lines of the chain at short records, where chance coincidences are likely."""
    for seed in range(40):
        record = chain().free(50, 0.05, noise=0.1, rng=seed)
        assert estimate_lines(record, false_alarm=1e-3).torus is None


@pytest.mark.slow
def test_a_regular_orbit_is_tied_by_its_own_record():
    """x of Hénon-Heiles: the slow line is the difference of the two strong ones, 0.8 turns."""
    clean = henon_record(0.05, 400.0)
    rest = clean.tail(0.4)
    errors, tied = [], 0
    for seed in range(6):
        model = prism.identify(noisy(clean, np.random.default_rng([77, seed])).head(0.4))
        tied += "integer combinations" in model.identifiability.why
        off = model.forecast(rest.times[0]).values - rest.trials[0]
        errors.append(np.sqrt(np.mean(off**2)) / rest.trials[0].std())
    assert tied >= 5
    assert np.median(errors) < 0.1
