"""The receptance of lines that turn is that of the dense system."""

import numpy as np

from prism.motion.forced.rotating.model import RotatingLines
from prism.systems import rotor

SYSTEM = rotor(0.9, springs=((1.0, 1.6), (2.0, 2.3)))
OMEGA = np.linspace(0.2, 5.0, 40)  # no line is among them
FACTORS = np.sqrt(SYSTEM.frequencies)[:, None] * SYSTEM.factors


def test_it_is_the_receptance_of_the_dense_system():
    lines = RotatingLines(SYSTEM.frequencies, FACTORS)
    exact = np.array([SYSTEM.receptance(1j * w) for w in OMEGA])
    np.testing.assert_allclose(lines(OMEGA), exact, rtol=1e-9, atol=1e-9)
    assert np.abs(exact - exact.swapaxes(1, 2)).max() > 0.1


def test_derivatives_equal_differences():
    lines = RotatingLines(SYSTEM.frequencies, FACTORS)
    J = lines.jacobian(OMEGA)
    assert len(J) == 4 * (1 + 2 * 2)
    for k, exact in enumerate(J):
        step = np.zeros(len(J))
        step[k] = 1e-6
        ends = [lines.moved(sign * step)(OMEGA) for sign in (1, -1)]
        np.testing.assert_allclose((ends[0] - ends[1]) / 2e-6, exact, atol=1e-4 * abs(exact).max())
