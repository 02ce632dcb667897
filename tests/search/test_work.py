"""Work is counted, and ends what would take long."""

import numpy as np
import pytest

import prism
from prism.motion.explanation import Question
from prism.search.descent import Ending, Step, Stop, descend
from prism.search.work import allowed, enough, exhausted, over, part, spend


def test_without_an_allowance_nothing_ends():
    spend(1e300)
    assert enough()
    assert not over()
    assert not exhausted()


def test_what_is_done_within_counts_for_all_around():
    with allowed(10.0):
        with allowed(4.0):
            spend(4.0)
            assert over()
            assert not exhausted()
            spend(1.5)
            assert exhausted()
        assert not over()
        assert not enough()
        with allowed(100.0):
            assert not over()
            assert over(0.9)
            spend(5.0)
            assert over()
        with allowed(1.0, more=True):
            assert not over()
            spend(2.0)
            assert exhausted()
        assert not exhausted()
        spend(3.0)
        assert exhausted()
    assert not over()


def test_a_part_is_a_share_of_the_innermost_allowance():
    with part(0.1):
        spend(1e300)
        assert not over()
    with allowed(10.0):
        with part(0.3):
            spend(2.9)
            assert not over()
            spend(0.1)
            assert over()
        assert not over(0.31)
        assert over(0.3)


def fail_after(amount):
    spend(amount)
    raise ValueError("no")


def test_an_allowance_ends_with_an_error_too():
    with pytest.raises(ValueError, match="no"), allowed(1.0):
        fail_after(2.0)
    assert not over()


class Slope:
    """Half of the distance to zero in every step."""

    def cost(self, point):
        return point**2

    def step(self, point, damping):
        spend(1.0)
        return Step(-0.5 * point, point**2, damping)

    def moved(self, point, step):
        return point + step.delta


def test_a_descent_ends_when_the_grace_is_used_up():
    with allowed(4.0):
        end = descend(Slope(), 1.0, Stop(steps=100, tolerance=1e-12))
    assert end.ending is Ending.OUT_OF_WORK
    assert not end.ending.at_minimum
    assert end.point == pytest.approx(0.5**6)
    assert descend(Slope(), 1.0, Stop(steps=100, tolerance=1e-12)).ending is Ending.CONVERGED


def test_a_record_that_would_take_long_is_answered_with_a_word(monkeypatch):
    record = prism.systems.chain().free(400, 0.05, noise=0.1, rng=0)
    plain = prism.identify(record)
    monkeypatch.setattr("prism.motion._limits.ALL_WORK", 1.2e7)
    short = prism.identify(record)
    assert "cut-short" not in {one.code for one in plain.identifiability.remarks}
    assert "cut-short" in {one.code for one in short.identifiability.remarks}
    assert 1 <= len(short.modes) < len(plain.modes)


def test_a_larger_record_may_take_longer():
    values = np.random.default_rng(0).standard_normal((300_000, 2))
    small, large = (
        Question(prism.Record(values[:n], dt=1.0), None, None, print) for n in (10, 300_000)
    )
    assert large.work == pytest.approx(3 * small.work)
