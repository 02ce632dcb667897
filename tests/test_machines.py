"""Steady lines of machines, sorted by their harmonics, and kept in a file."""

import numpy as np
import pytest

import prism
from prism.machines import MachineLines, harmonics
from prism.systems import chain
from prism.systems.driven import driven

CELL = 0.01


def test_multiples_of_a_line_belong_to_its_machine():
    omega = np.array([1.0, 1.7, 2.0, 3.0001, 5.1])
    machine, harmonic = harmonics(omega, np.full(5, 1e-4), CELL)
    assert machine.tolist() == [0, 1, 0, 0, 1]
    assert harmonic.tolist() == [1, 1, 2, 3, 3]


def test_a_line_near_a_multiple_is_another_machine_where_its_frequency_is_known_well():
    omega = np.array([1.0, 2.003])
    assert harmonics(omega, np.full(2, 1e-4), CELL)[0].tolist() == [0, 1]
    assert harmonics(omega, np.full(2, 1e-3), CELL)[0].tolist() == [0, 0]


def test_words_name_every_machine():
    omega, std = np.array([1.0, 1.7, 2.0]), np.full(3, 1e-4)
    lines = MachineLines.of(omega, std, np.ones((3, 2)), CELL)
    assert lines.words() == "1 ± 0.0001 with 2 × at 2; 1.7 ± 0.0001"
    assert len(lines) == 3


@pytest.fixture(scope="module")
def hummed():
    """A shaken chain with a machine within its first resonance, and the second harmonic."""
    system = chain(2, springs=4.0)
    record = driven(system, 1500.0, 0.25, damping=0.01, noise=0.05, rng=3)
    t, values = record.times[0], np.array(record.trials[0])
    base = system.frequencies[0] * 1.005
    for times, phase in ((1, 0.3), (2, 1.0)):
        shape = 0.25 * values.std(axis=0) * np.array([1.0, -0.7])
        values += np.cos(times * base * t + phase)[:, None] * shape
    return system, base, prism.identify(record.with_values([values]))


def test_a_machine_within_a_resonance_and_its_harmonic_are_named(hummed):
    system, base, model = hummed
    lines = model.machine_lines
    z = (lines.frequencies - base * np.array([1, 2])) / lines.frequencies_std
    assert np.all(np.abs(z) < 4)
    assert lines.harmonic.tolist() == [1, 2]
    assert len(model.modes) == 2
    z = (model.modes.frequencies - system.frequencies) / model.modes.frequencies_std
    assert np.all(np.abs(z) < 4)
    assert "machines" in model.summary()
    assert "with 2 × at" in model.summary()


def test_they_survive_a_file(hummed, tmp_path):
    model = hummed[2]
    model.save(tmp_path / "model.json")
    assert prism.load(tmp_path / "model.json") == model
