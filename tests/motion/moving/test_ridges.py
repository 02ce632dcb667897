"""Lines that sweep far, followed through short pieces of a record."""

import numpy as np
import pytest

import prism
from prism.motion.moving.law import PHASE
from prism.motion.moving.ridges import law_of, ridges
from prism_bench.kinds import TUNING, make

SAMPLES = 4000
U = np.linspace(-1, 1, SAMPLES)


def swept(*paths, noise=0.1, channels=1, seed=0):
    """Lines whose frequencies, in cycles per sample, follow functions of u."""
    rng = np.random.default_rng([5, seed])
    motion = np.zeros((SAMPLES, channels))
    for path in paths:
        phase = 2 * np.pi * (np.cumsum(path(U)) - path(U) / 2) + rng.uniform(0, 6)
        motion += np.outer(np.cos(phase), rng.uniform(0.5, 1, channels))
    return prism.Record(motion + noise * rng.standard_normal(motion.shape), dt=1.0)


def rising(start, cells):
    return lambda u: start + cells / SAMPLES * (u + 1) / 2


def steady(place):
    return lambda u: place + 0 * u


@pytest.mark.parametrize("cells", [10, 40, 200, 900])
def test_a_line_is_followed_however_far_it_sweeps(cells):
    path = rising(0.1, cells)
    first = ridges(swept(path))[0]
    off = first.frequency(U) / (2 * np.pi) - path(U)
    assert np.abs(off).max() * SAMPLES < 2 + 0.01 * cells
    # of an even sweep, seen in windows whose middles stay off the ends of the record
    assert first.swept == pytest.approx(cells, rel=0.1)


def test_the_phase_is_the_integral_of_the_frequency():
    found = ridges(swept(lambda u: 0.2 + 0.02 * u + 0.01 * u**2))
    law = law_of(found[:1], SAMPLES / 2)
    assert {one.part for one in law.free} == {PHASE}
    phase = law.exponents(U)[0].imag
    slope = np.gradient(phase, U) / (SAMPLES / 2)
    np.testing.assert_allclose(slope[5:-5], found[0].frequency(U)[5:-5], atol=1e-4)


def test_lines_beside_it_are_followed_too_even_across():
    found = ridges(swept(rising(0.1, 400), steady(0.3), steady(0.14), channels=2))
    places = np.sort([one.frequency(0.0) / (2 * np.pi) for one in found[:3]])
    np.testing.assert_allclose(places, [0.14, 0.15, 0.3], atol=1e-3)


@pytest.mark.parametrize(
    "record",
    [
        swept(steady(0.1), steady(0.23)),
        prism.Record(np.random.default_rng(1).standard_normal(2000), dt=1.0),
        prism.Record([np.cos(np.arange(300.0)), np.cos(np.arange(400.0))], dt=1.0),
        prism.Record(np.cos(np.arange(100.0)), dt=1.0),
    ],
    ids=["steady", "noise", "lengths", "short"],
)
def test_nothing_is_followed_where_nothing_sweeps(record):
    assert ridges(record) == []


@pytest.mark.slow
def test_random_motion_is_no_sweep():
    """What noise drives wanders: in 20 records of it at most two look like a smooth path."""
    seen = [bool(ridges(make("driven", seed, TUNING).record)) for seed in range(20)]
    assert sum(seen) <= 2


@pytest.mark.parametrize("cells", [20, 150])
def test_a_machine_that_runs_up_is_a_line_that_moves(cells):
    """It was called motion driven by noise, without a word."""
    record = swept(rising(0.1, cells), steady(0.3))
    model = prism.identify(record)
    assert (model.kind, len(model.modes)) == ("moving", 2)
    mean = 2 * np.pi * np.array([0.1 + cells / SAMPLES / 2, 0.3])
    off = np.abs(model.modes.frequencies - mean)
    assert np.all(off < 4 * model.modes.frequencies_std + 1e-3 / SAMPLES)


def test_orders_of_a_machine_run_up_together():
    paths = [lambda u, k=k: k * (0.04 + 0.01 * u + 0.004 * u**2) for k in (1, 2, 3)]
    model = prism.identify(swept(*paths, channels=2))
    assert (model.kind, len(model.modes)) == ("moving", 3)
    assert "common-drift" in [one.code for one in model.identifiability.remarks]


def test_lines_that_cross_are_two():
    model = prism.identify(swept(rising(0.1, 200), lambda u: 0.15 - 0.025 * u))
    assert (model.kind, len(model.modes)) == ("moving", 2)


def test_a_line_that_sweeps_and_dies_away():
    record = swept(rising(0.1, 60), noise=0.0)
    values = record.trials[0] * np.exp(-1.5 * (U + 1))[:, None]
    values += 0.02 * np.random.default_rng(2).standard_normal(values.shape)
    model = prism.identify(prism.Record(values, dt=1.0))
    assert (model.kind, len(model.modes)) == ("moving", 1)
