"""Few canonical trials: intervals of hidden frequencies that hold, although energies scatter."""

import numpy as np
import pytest

import prism
from prism.uncertainty import student_factor
from prism_bench.kinds.systems import Wanted, draw

WANTED = Wanted((2, 5), (1, 1), (400, 800), unit_mass=True, hidden=True)


def test_student_factor():
    assert student_factor([1.0, 4.0, 1e9]) == pytest.approx([6.4829, 1.41658, 1.0], rel=1e-4)


def test_three_trials_cover():
    """Without the wider errors 81 % of the intervals held it, in 252 numbers."""
    rng, z = np.random.default_rng(5), []
    for _ in range(40):
        drawn = draw(rng, WANTED)
        system = drawn.system
        record = system.equilibrium(drawn.duration, drawn.dt, trials=3, noise=0.05, rng=rng)
        h = prism.identify(record, experiment="equilibrium").hamiltonian
        if h is not None and len(h.hidden) == len(system.hidden_frequencies):
            z.extend((h.hidden_frequencies - system.hidden_frequencies) / h.hidden_frequencies_std)
    assert len(z) > 40
    assert np.mean(np.abs(z) < 1.96) > 0.9
    assert np.sqrt(np.mean(np.square(z))) > 0.4
