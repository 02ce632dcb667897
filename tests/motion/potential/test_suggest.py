"""Phases tell the harmonics of a spring from modes that happen to be commensurate."""

import numpy as np
import pytest

import prism
from prism.motion.potential.suggest import Phasors, suggests_nonlinearity
from prism_bench.kinds.table import TUNING, make

OMEGA = np.array([1.0, 1.6, 3.0, 4.2])


@pytest.mark.parametrize(
    ("phase", "locked"),
    [(3 * 0.7, True), (3 * 0.7 + np.pi, True), (3 * 0.7 + 0.15, True), (3 * 0.7 + 0.6, False)],
)
def test_phase_of_a_third_harmonic(phase, locked):
    z = np.exp(1j * np.array([[0.7, 0.2, phase, 0.0]]))
    phasors = Phasors(OMEGA, z, np.array([[0.0, 0.0, 0.05**2, 0.0]]))
    assert phasors.locked(3.0, np.array([3.0]), np.array([1.0])) is locked


def test_phase_of_a_combination_in_two_trials():
    """4.2 = 1 + 2 x 1.6; the error of a parent counts as often as the parent does."""
    phase = np.array([[0.7, 0.2, 0.0, 1.1], [2.0, -0.4, 0.0, 1.2 + np.pi]])
    phasors = Phasors(OMEGA, np.exp(1j * phase), np.zeros((2, 4)) + 1e-6)
    arguments = 4.2, np.array([1.0, 2.0]), np.array([1.0, 1.6])
    assert phasors.locked(*arguments)
    off = phasors._replace(z=phasors.z * np.exp([[0, 0, 0, 0], [0, 0.1j, 0, 0]]))
    assert not off.locked(*arguments)
    unsure = off._replace(variance=off.variance + np.array([0, 0.03**2, 0, 0]))
    assert unsure.locked(*arguments)


def test_modes_that_are_commensurate_are_not_called_nonlinear():
    record = make("commensurate", 512, TUNING).record
    model = prism.identify(record)
    assert suggests_nonlinearity(model.modes).nonlinear  # by its frequencies alone
    assert "nonlinear" not in [one.code for one in model.identifiability.remarks]
