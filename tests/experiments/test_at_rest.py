"""Lines that noise makes are told from modes by their phase where all modes begin at rest."""

from dataclasses import replace

import numpy as np
import pytest

import prism
from prism.experiments.at_rest import at_rest
from prism.motion.steady import estimate_lines
from prism.systems import chain
from prism_bench.mechanics import TUNING, make

ONE = chain(observed=[0])


def with_line(record, phase, size):
    """The record with a weak line beside its own."""
    t = record.times[0]
    line = size * np.cos(3.7 * t + phase)[:, None]
    return record.with_values([y + line for y in record.trials])


def lines_of(record):
    return estimate_lines(record, false_alarm=1e-3)


def gained_by_search(record, omega, noise):
    """Gain of a line held at rest at the first sample, over all frequencies near to one."""
    t, y = record.times[0], record.trials[0][:, 0]
    t = t - t[0]
    places = omega + np.linspace(-1, 1, 401) * 2 * np.pi / t[-1]
    cosines = np.cos(np.outer(places, t))
    return np.max((cosines @ y) ** 2 / np.sum(cosines**2, axis=1)) / noise**2


@pytest.mark.parametrize("phase", [0.0, 0.4, 0.8, 1.3, 2.0])
def test_what_a_line_gains_at_rest_is_what_a_search_finds(phase):
    rng = np.random.default_rng(5)
    t, noise = np.arange(0, 100, 0.1), 1.0
    y = 3.0 * np.cos(1.9 * t + phase) + noise * rng.standard_normal(len(t))
    record = prism.Record(y[:, None], dt=0.1)
    lines = lines_of(record)
    # it stays at a threshold just below and goes at one just above, unless it begins at rest
    searched = gained_by_search(record, 1.9, lines.noise[0])
    for factor, stays in ((0.9, True), (1.1, phase == 0)):
        moved = replace(lines, threshold=factor * searched)
        assert at_rest(moved).tolist() == [stays]


@pytest.mark.parametrize(("phase", "gain", "modes"), [(0.0, 38, 5), (np.pi / 2, 30, 4)])
def test_a_line_that_does_not_begin_at_rest_is_noise(phase, gain, modes):
    record = ONE.snapback(100, 0.1, [1.0], noise=0.02, rng=3)
    values = record.trials[0]
    size = 0.02 * values.std() * np.sqrt(2 * gain / len(values))  # in χ², beside the noise there
    model = prism.identify(with_line(record, phase, size), experiment="snapback")
    assert len(model.modes) == modes
    codes = [one.code for one in model.identifiability.remarks]
    assert ("not-at-rest" in codes) == (modes == 4)


@pytest.mark.parametrize(("row", "seed"), [("snapback-1-pull", 223), ("snapback-2-pull", 216)])
def test_lines_of_noise_are_not_modes_of_a_snap_back(row, seed):
    made = make(row, seed, TUNING).made
    model = prism.identify(made.data, **made.options)
    assert len(model.modes) == made.truth.elastic
    h = model.hamiltonian
    assert np.abs((h.hidden_frequencies - made.truth.hidden) / h.hidden_frequencies_std).max() < 4


def test_strong_lines_that_begin_late_stay_modes():
    record = ONE.snapback(100, 0.1, [1.0], noise=0.02, rng=3)
    late = prism.Record(record.trials[0][4:], dt=0.1)
    model = prism.identify(late, experiment="snapback")
    assert len(model.modes) == 4
    assert "does not look like" in str(model.identifiability.why)
