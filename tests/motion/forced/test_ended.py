"""A search for poles ends when the work allowed is done, and says so."""

import numpy as np
import pytest

import prism
from prism.motion.forced.ended import ENDED
from prism.motion.forced.records.data import take_apart
from prism.motion.forced.records.pole_fit import Poles, evaluate
from prism.search import work
from prism.systems import chain, forced


def record(samples=3000):
    rng = np.random.default_rng(3)
    force = np.repeat(rng.standard_normal(samples // 3), 3)[:, None]
    return forced(chain(4, observed=[0]), force, 0.2, noise=0.02, rng=4).with_force()


def test_what_it_takes_is_counted(monkeypatch):
    """In proportion to the samples, and for complex residues more."""
    seen = []
    monkeypatch.setattr("prism.motion.forced.records.pole_fit.spend", seen.append)
    at = np.array([0.6, 1.1, 1.6])
    for samples, turned in ((1000, False), (10000, False), (10000, True)):
        values = np.random.default_rng(0).standard_normal((samples, 2))
        one = prism.Record(values, dt=0.2, channels=["x", "f_x"])
        poles = Poles(at, 0.01 * at, np.ones(3, bool), False, False, "first", False, turned)
        evaluate(take_apart(one, ["f_x"], None), poles, np.ones(1))
    assert seen[1] > 5 * seen[0]
    assert seen[2] > seen[1]


@pytest.mark.parametrize("share", [1e-3, 1.0])
def test_an_early_end_is_said(share, monkeypatch):
    """With a thousandth of the work, fewer modes than there are; with all of it no word."""
    monkeypatch.setattr("prism.motion._limits.ALL_WORK", share * 3.2e10)
    model = prism.identify(record(), force=["f_q1"], experiment="forced")
    assert (ENDED in model.identifiability.remarks) == (share < 1)
    assert (len(model.modes) == 4) == (share == 1)


def test_nothing_ends_where_nothing_is_limited():
    with work.part(1e-9):
        model = prism.identify(record(1500), force=["f_q1"], experiment="forced")
    assert ENDED not in model.identifiability.remarks
