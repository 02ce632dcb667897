"""Lines turn, or two modes share a frequency, or all is in phase."""

import numpy as np
import pytest

from prism.motion.gyroscopic.turning import turning
from prism.motion.steady.likelihood import estimate_lines
from prism.systems import rotor
from prism.systems.gyroscopic import GyroscopicSystem


def seen(system, trials, rng=0):
    record = system.free(60.0, 0.25, noise=0.1, trials=trials, rng=rng)
    return turning(estimate_lines(record, false_alarm=1e-3), record)


@pytest.mark.parametrize("trials", [1, 12])
def test_a_spinning_disc_turns(trials):
    found = seen(rotor(0.7, springs=((1.0, 1.6), (2.0, 2.3))), trials)
    assert found.told
    assert found.lines >= 2
    assert found.lead > 10


@pytest.mark.parametrize("rng", range(3))
def test_a_disc_at_rest_does_not(rng):
    found = seen(rotor(0.0, springs=((1.0, 1.6), (2.0, 2.3))), 12, rng)
    assert not found.told
    assert found.chance > 1e-4


def test_two_modes_at_one_frequency_are_no_mode_that_turns():
    # equal modes along x1 and x2, and a third that both see
    K = np.diag([1.0, 1.0, 6.0])
    M = np.eye(3)
    look = np.array([[1.0, 0.0, 0.7], [0.0, 1.0, 0.5]])
    found = seen(GyroscopicSystem(M, np.zeros((3, 3)), K, look), 12)
    assert found.pairs == 1
    assert not found.told
