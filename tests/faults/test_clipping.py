"""Samples near a level of clipping are left out by the motion, not by their noise."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import prism
from prism.errors import NoLineError
from prism.experiments import Free
from prism.faults import corrected, find_raw
from prism.faults.clipping import clear_of_levels, near_level
from prism.motion.explanation import Question
from prism.motion.steady.kind import Steady
from prism.remarks import Remark
from prism.search.work import allowed, spend
from prism.settings import Settings

OMEGA = np.array([0.83, 1.31])
SHAPES = np.array([[1.0, 0.5], [0.4, -0.9]])
DT = 0.3


def motion(samples=3000):
    """Two lines on two channels."""
    t = DT * np.arange(samples)
    return np.cos(np.outer(t, OMEGA) + np.array([0.3, 1.1])) @ SHAPES


def clipped(seed, noise=0.2, quantile=0.9):
    x = motion()
    y = x + noise * np.random.default_rng([8, seed]).standard_normal(x.shape)
    high = np.quantile(np.abs(y), quantile, axis=0)
    return prism.Record(np.clip(y, -high, high), dt=DT)


def said(model, code):
    return [str(one) for one in model.identifiability.remarks if one.code == code]


# -- one channel -----------------------------------------------------------------------------------


def test_near_is_a_matter_of_the_motion_and_the_level():
    x = np.linspace(-1, 1, 2001)
    y = x + 0.05 * np.where(np.arange(2001) % 2, 1, -1)
    near = near_level(y, x, (-np.inf, 0.9))
    assert near.reach == 3
    # the noise is 1.4826 medians of 0.05
    assert np.array_equal(near.mask, (x > 0.9 - 3 * 1.4826 * 0.05) | (y >= 0.9))


def test_without_noise_only_clipped_samples_are_left_out():
    x = np.sin(0.1 * np.arange(500))
    near = near_level(np.where(np.abs(x) < 0.8, x, np.nan), x, (-0.8, 0.8))
    assert np.array_equal(near.mask, np.abs(x) >= 0.8)


def test_large_noise_leaves_no_more_than_a_quarter_out():
    rng = np.random.default_rng(0)
    x = np.sin(0.1 * np.arange(4000))
    y = x + rng.standard_normal(4000)
    near = near_level(np.where(np.abs(y) < 1.5, y, np.nan), x, (-1.5, 1.5))
    seen = np.abs(y) < 1.5
    assert near.reach < 1.5
    assert near.mask[seen].mean() == pytest.approx(0.25, abs=0.01)


def test_what_is_kept_has_no_mean_along_the_motion():
    rng = np.random.default_rng(1)
    x = np.sin(0.37 * np.arange(200_000))
    noise = 0.04 * rng.standard_normal(len(x))
    y = np.where(np.abs(x + noise) < 0.8, x + noise, np.nan)
    third = np.sin(3 * 0.37 * np.arange(len(x)))

    def z(kept):
        return third[kept] @ noise[kept] / (0.04 * np.linalg.norm(third[kept]))

    assert abs(z(np.isfinite(y))) > 5
    assert abs(z(~near_level(y, x, (-0.8, 0.8)).mask)) < 3


# -- whole records ---------------------------------------------------------------------------------


@cache
def both(seed):
    """Modes with clipped samples missing alone, and as they are found."""
    record = clipped(seed)
    plain = prism.identify(corrected(record, find_raw(record)))
    return plain.modes, prism.identify(record)


SEEDS = range(4)


def test_false_lines_are_gone():
    assert sum(len(both(seed)[0]) - 2 for seed in SEEDS) >= 3
    assert [len(both(seed)[1].modes) for seed in SEEDS] == [2] * len(SEEDS)


def test_shapes_are_no_longer_bent():
    true = SHAPES / np.linalg.norm(SHAPES, axis=1)[:, None]

    def z(modes):
        nearest = [np.argmin(np.abs(modes.frequencies - omega)) for omega in OMEGA]
        shapes = modes.shapes[nearest]
        sign = np.sign(np.sum(shapes * true, axis=1))[:, None]
        return (sign * shapes - true) / modes.shapes_std[nearest]

    new = np.array([z(both(seed)[1].modes) for seed in SEEDS])
    assert np.mean(np.abs(new) < 1.96) > 0.8
    assert np.abs(new).max() < 3.5


def test_the_remark_says_what_was_done():
    first, second = said(both(0)[1], "clipping")
    assert "channel x1 is clipped" in first
    assert "x2" in second
    assert "nearer to that level than" in first
    assert not said(both(0)[1], "nonlinear")


def test_a_level_holds_in_every_trial_that_stays_within_it():
    x, rng = motion(2000)[:, :1], np.random.default_rng(4)
    trials = [size * x + 0.02 * rng.standard_normal(x.shape) for size in (1.0, 0.7)]
    asked, found, raw = asked_of(prism.Record(np.clip(trials, -1.0, 1.0), dt=DT))
    assert {one.trial for one in raw} == {0}
    cleared = clear_of_levels(asked, found, raw, Steady().find)
    left_out = np.isnan(cleared.asked.record.trials[1])
    close = np.abs(0.7 * x) > 1 - 0.06
    assert close.sum() > 5
    assert np.mean(left_out == close) > 0.995


def test_lines_of_a_bent_channel_are_doubted():
    x = motion()
    bent = x - 0.12 * x**3 + 0.02 * np.random.default_rng(5).standard_normal(x.shape)
    model = prism.identify(prism.Record(np.minimum(bent, 0.9), dt=DT))
    assert "may come from the clipping" in said(model, "doubt")[-1]


# -- where it cannot be done -----------------------------------------------------------------------


def asked_of(record):
    raw = find_raw(record)
    question = Question(corrected(record, raw), Free(), Settings(), lambda _: None)
    return question, Steady().find(question), raw


DOUBTED = {"kind": "moving", "remarks": (Remark("it may be another motion", code="doubt"),)}


@pytest.mark.parametrize("change", [{"motion": None}, DOUBTED], ids=["none", "doubted"])
def test_without_a_motion_to_rely_on_the_bias_is_said(change):
    asked, found, raw = asked_of(clipped(0))
    cleared = clear_of_levels(asked, replace(found, **change), raw, Steady().find)
    assert cleared.asked is asked
    assert "not at random" in str(cleared.faults[0].remark)


def test_a_refusal_leaves_the_first_answer():
    def refuse(_):
        raise NoLineError("nothing is left.")

    asked, found, raw = asked_of(clipped(0))
    cleared = clear_of_levels(asked, found, raw, refuse)
    assert len(cleared.found.modes) == len(found.modes)
    assert "not at random" in str(cleared.faults[0].remark)


def test_where_nothing_is_clipped_nothing_is_asked():
    record = prism.Record(motion() + 0.1, dt=DT)
    asked, found, raw = asked_of(record)
    cleared = clear_of_levels(asked, found, raw, Steady().find)
    assert cleared == (asked, found, raw)


def test_a_second_fit_that_would_take_too_long_is_not_made_and_that_is_said():
    asked, found, raw = asked_of(clipped(0))

    def never(question):
        raise AssertionError("there is no work left for it")

    with allowed(1.0):
        spend(0.6)
        cleared = clear_of_levels(asked, found, raw, never)
    assert "cut-short" in {one.code for one in cleared.found.remarks if isinstance(one, Remark)}
    assert cleared.asked is asked
