"""The fast scan against dense least squares, and the price against simulation."""

import numpy as np
import pytest
from tests.faults.conftest import OMEGA

from prism.faults.find import view_of
from prism.faults.hypothesis import fitted
from prism.faults.scan import best_split, break_price, columns, scan


def dense(E, y, H):
    """Fall of the sum of squares when the columns H come in."""
    before = y - E @ np.linalg.lstsq(E, y, rcond=None)[0]
    X = np.hstack([E, H])
    after = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
    return (before**2).sum(axis=0) - (after**2).sum(axis=0)


def test_gains_are_those_of_dense_least_squares(make):
    made = make("jump", 0, 0.05)
    view = view_of(made.record, 0)
    weights = np.array([3.0, 5.0])
    E = columns(view.times, OMEGA)
    y = view.values
    rest = y - E @ np.linalg.lstsq(E, y, rcond=None)[0]
    found = scan(view, OMEGA, rest, weights)
    for place in (3, 100, 200):
        late = (np.arange(len(y)) >= found.index[place])[:, None]
        assert found.kick[place] == pytest.approx(weights @ dense(E, y, late * E), rel=1e-3)
        assert found.jump[place] == pytest.approx(weights * dense(E, y, late), rel=1e-3)


def test_the_price_of_a_break_is_that_of_a_brownian_bridge():
    """Simulated maxima exceed the price of one in twenty in at most that share of cases."""
    rng = np.random.default_rng(8)
    samples, edge, dof = 600, 0.05, 3
    steps = rng.standard_normal((2000, samples, dof))
    walk = np.cumsum(steps, axis=1)
    t = np.arange(1, samples + 1) / samples
    bridge = (walk - t[:, None] * walk[:, -1:]) / np.sqrt(samples)
    inside = (t >= edge) & (t <= 1 - edge)
    gain = (bridge**2).sum(axis=2)[:, inside] / (t * (1 - t))[inside]
    share = np.mean(gain.max(axis=1) > break_price(dof, edge, 0.05))
    assert 0.02 < share < 0.06


def test_a_split_is_where_one_model_takes_over():
    rng = np.random.default_rng(2)
    rest = 0.1 * rng.standard_normal((400, 2))
    before, after = rest.copy(), rest.copy()
    before[250:] += 1.0
    after[:250] += 1.0
    index, error = best_split(before, after, np.full(2, 100.0))
    assert index == 250
    assert error < 0.5


def test_crowded_lines_are_no_fit(make):
    view = view_of(make().record, 0)
    assert fitted(view.cut(12), np.linspace(0.7, 0.9, 8), np.ones(2)) is None
