"""What the tests of steady lines could not have shown."""

import numpy as np
import pytest

import prism
from prism.evidence import Evidence, Unseen
from prism.systems.chain import chain

LIMITS = Unseen((0.008, 0.054), 0.0072)


def test_limits_in_words():
    assert LIMITS.sentence() == (
        "a slow change by less than 0.8 % of the strongest line, 5.4 % of the weakest, or a "
        "further line below 0.72 % of the strongest, would not show"
    )
    assert "less than 20 % of a line, or" in Unseen((0.2,), 0.1).sentence()


def test_limits_are_kept_in_files():
    evidence = Evidence(unseen=LIMITS)
    assert Evidence.from_json(evidence.to_json()) == evidence
    assert Evidence.from_json({"rivals": [], "chance": None, "doubts": []}).unseen is None


def swinging(share, seed, periods=2.5):
    """Two lines, the second of which swings."""
    rng = np.random.default_rng([6, seed])
    t = 0.1 * np.arange(4000)
    swing = 1 + share * np.cos(2 * np.pi * (periods * t / 400 + rng.random()))
    x = np.cos(1.1 * t + 6 * rng.random()) + swing * np.cos(2.3 * t + 6 * rng.random())
    return prism.Record(x + 0.3 * rng.standard_normal(len(t)), dt=0.1)


def test_what_is_above_the_limit_shows_and_half_of_it_seldom_does():
    limit = prism.identify(swinging(0.0, 0)).evidence.unseen.swing[1]
    assert 0.05 < limit < 0.3
    seen = [
        [bool(prism.identify(swinging(size, seed)).evidence.doubts) for seed in range(20)]
        for size in (limit, 0.4 * limit)
    ]
    assert np.sum(seen[0]) >= 17
    assert np.sum(seen[1]) <= 10


def test_a_further_line_at_the_limit_is_found():
    record = chain().free(400, 0.05, noise=0.1, rng=0)
    model = prism.identify(record)
    limits = model.evidence.unseen
    assert limits.swing[0] == pytest.approx(min(limits.swing))
    assert "would not show" in model.summary().replace("\n              ", " ")
    size = limits.line * model.modes.significance.max()
    found = 0
    for seed in range(10):
        rng = np.random.default_rng([9, seed])
        t = record.times[0]
        x = np.cos(rng.uniform(3.0, 6.0) * t)[:, None] * rng.standard_normal(2)
        x *= size / np.sqrt(np.sum((x / model.noise_std) ** 2))
        more = prism.identify(prism.Record(record.trials[0] + x, dt=record.dt))
        found += len(more.modes) == len(model.modes) + 1
    assert found >= 8


def test_only_steady_lines_have_limits():
    t = 0.1 * np.arange(3000)
    rng = np.random.default_rng(1)
    x = np.exp(-0.01 * t) * np.cos(1.3 * t) + 0.05 * rng.standard_normal(len(t))
    model = prism.identify(prism.Record(x, dt=0.1))
    assert model.kind == "decaying"
    assert model.evidence.unseen is None
