"""How many modes: one more that is nearly there is told, with its odds."""

import numpy as np
import pytest

import prism
from prism.motion.driven.bands import DrivenMode
from prism.motion.driven.driven import band_of
from prism.motion.driven.number import OneMore, neighbour_remarks, number_remark, one_more
from prism.motion.driven.search import ModeSearch
from prism.motion.driven.spectrum import fourier_lines


def slow_mode_alone(coupling, seed=1):
    """Two masses, and the fit of their slower mode; the faster is as strong as it is pushed."""
    K = np.array([[1.5, -0.4], [-0.4, 1.7]])
    system = prism.systems.LinearSystem(np.eye(2), K, np.eye(2))
    push = system.shapes.T @ np.diag([1.0, coupling]) @ system.shapes
    record = prism.systems.driven(system, 600, 0.2, damping=0.02, noise=0.1, forces=push, rng=seed)
    search = ModeSearch(fourier_lines(record), band_of(record), 1e-3)
    slow = DrivenMode(system.frequencies[0], 0.02, system.shapes[0], force=1.0)
    (part,) = search.sweep([slow], test=False)
    return system, part.fit


def test_a_mode_that_was_left_out_is_one_more():
    system, fit = slow_mode_alone(1.0)
    more = one_more(fit, 1e-3)
    assert more.known == 1
    assert more.gain > 100 > more.price
    assert more.chance == pytest.approx(1.0)
    assert max(more.fit.model.omega) == pytest.approx(system.frequencies[1], rel=0.02)


def test_where_nothing_is_left_there_is_none():
    _, fit = slow_mode_alone(0.0)
    assert one_more(fit, 1e-3) is None


def test_the_chance_is_even_where_the_gain_equals_the_price():
    _, fit = slow_mode_alone(1.0)
    assert OneMore(fit, 20.0, 20.0, 1).chance == pytest.approx(0.5)
    assert OneMore(fit, 20.0, 22.0, 1).chance == pytest.approx(1 / (1 + np.e))


def test_the_remark_names_the_frequencies_with_one_more_and_the_odds():
    _, fit = slow_mode_alone(1.0)
    more = one_more(fit, 1e-3)._replace(gain=20.0, price=22.0)
    remark = number_remark([more])
    assert remark.code == "mode-number"
    for w in sorted(more.fit.model.omega):
        assert f"{w:.5g}" in str(remark)
    assert "probability = 0.27" in str(remark)
    assert number_remark([]) is None


def test_neighbours_whose_errors_go_together_are_named_with_the_correlation():
    covariance = np.array([[4.0, -1.4, 0.0], [-1.4, 1.0, 0.1], [0.0, 0.1, 1.0]])
    (remark,) = neighbour_remarks(np.array([1.0, 1.01, 2.0]), covariance)
    assert remark.code == "neighbours"
    assert "1 and 1.01 (-0.70)" in str(remark)
    assert "2 (" not in str(remark)
    assert list(neighbour_remarks(np.array([1.0, 1.5]), np.eye(2))) == []
