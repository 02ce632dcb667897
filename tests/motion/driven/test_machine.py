"""Steady lines on top of driven motion are kept apart."""

import numpy as np
import pytest

import prism


def shaken(seed, lines=()):
    system = prism.systems.chain(3, observed=[0, 1])
    record = prism.systems.driven(system, 1200, 0.25, damping=0.01, noise=0.1, rng=seed)
    values = record.trials[0].copy()
    for w in lines:
        tone = np.cos(w * record.times[0] + 1.0)
        values += 0.5 * values.std(axis=0) * np.array([1.0, -0.6]) * tone[:, None]
    return prism.Record(values, dt=0.25)


def machine(model):
    return [r for r in model.identifiability.remarks if r.code == "machine-lines"]


def test_a_machine_is_named_and_no_mode():
    plain, model = prism.identify(shaken(1)), prism.identify(shaken(1, lines=(0.9,)))
    assert model.kind == plain.kind == "driven"
    assert len(model.modes) == len(plain.modes) == 3
    assert not machine(plain)
    lines = model.machine_lines
    assert plain.machine_lines is None
    assert abs(lines.frequencies[0] - 0.9) < 4 * lines.frequencies_std[0]
    assert lines.words() in str(machine(model)[0])
    # the modes are those of the record without the machine
    off = np.abs(model.modes.frequencies - plain.modes.frequencies)
    assert np.all(off < 0.5 * plain.modes.frequencies_std)


@pytest.mark.slow
def test_its_frequency_has_an_error_that_holds():
    from prism.motion.driven.driven import fit_driven

    z = []
    for seed in range(5):
        on_top = fit_driven(shaken(seed, lines=(0.9,))).on_top
        z.append(float((on_top.lines.frequencies[0] - 0.9) / on_top.lines.frequencies_std[0]))
    assert 0.3 < np.sqrt(np.mean(np.square(z))) < 1.8
