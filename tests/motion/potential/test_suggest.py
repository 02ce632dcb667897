"""Phases tell the harmonics of a spring from modes that happen to be commensurate."""

import numpy as np
import pytest

import prism
from prism.motion.potential.suggest import Phasors, suggests_nonlinearity
from prism_bench.kinds.table import TUNING, make

OMEGA = np.array([1.0, 1.6, 3.0, 4.2])


@pytest.mark.parametrize(
    ("phase", "locked"),
    [(2.1, True), (2.1 + np.pi, True), (2.1 + 0.15, True), (2.1 + 0.6, False)],
)
def test_phase_of_a_third_harmonic(phase, locked):
    z = np.exp(1j * np.array([[0.7, 0.2, phase, 0.0]]))
    phasors = Phasors(OMEGA, z, np.array([[0.0, 0.0, 0.05**2, 0.0]]))
    chance = phasors.locked(3.0, np.array([3.0]), np.array([1.0]))
    assert chance == (pytest.approx(8 * 0.05 / np.pi) if locked else None)


def test_phase_of_a_combination_in_two_trials():
    """4.2 = 1 + 2 x 1.6; the error of a parent counts as often as the parent does."""
    phase = np.array([[0.7, 0.2, 0.0, 1.1], [2.0, -0.4, 0.0, 1.2 + np.pi]])
    phasors = Phasors(OMEGA, np.exp(1j * phase), np.zeros((2, 4)) + 1e-6)
    arguments = 4.2, np.array([1.0, 2.0]), np.array([1.0, 1.6])
    assert phasors.locked(*arguments) == pytest.approx((8 * np.sqrt(6e-6) / np.pi) ** 2)
    off = phasors._replace(z=phasors.z * np.exp([[0, 0, 0, 0], [0, 0.1j, 0, 0]]))
    assert off.locked(*arguments) is None
    unsure = off._replace(variance=off.variance + np.array([0, 0.03**2, 0, 0]))
    assert unsure.locked(*arguments) is not None


def test_a_difference_that_is_negative_turns_the_other_way():
    """2 x .8 - 1.65 = -.05: the line at .05 has minus that phase."""
    omega, phase = np.array([0.05, 0.8, 1.65]), np.array([[-0.7, 1.0, 1.3]])
    phasors = Phasors(omega, np.exp(1j * phase), np.full((1, 3), 1e-6))
    assert phasors.locked(0.05, np.array([2.0, -1.0]), np.array([0.8, 1.65])) is not None


def test_phases_make_up_for_frequencies_that_are_hardly_known():
    """The third harmonic is within one error, as one line in thirty is by chance."""
    model = prism.identify(make("duffing", 538, TUNING).record)
    assert not suggests_nonlinearity(model.modes).nonlinear
    assert "nonlinear" in [one.code for one in model.identifiability.remarks]


def test_modes_that_are_commensurate_are_not_called_nonlinear():
    record = make("commensurate", 512, TUNING).record
    model = prism.identify(record)
    assert suggests_nonlinearity(model.modes).nonlinear  # by its frequencies alone
    assert "nonlinear" not in [one.code for one in model.identifiability.remarks]
