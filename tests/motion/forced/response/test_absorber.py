"""One more hidden oscillator: the first-order change is that of the system with it."""

import numpy as np
import pytest

from prism.motion.forced.response.absorber import absorbers
from prism.motion.forced.response.coupled import coupled
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.friction import FrictionPoint
from prism.motion.forced.response.modal import ModalPoint
from prism.motion.forced.response.noise import ResponseNoise
from prism.motion.forced.response.scoring import ResponseFit
from prism.systems import tuned_absorber

LINES = np.linspace(0.4, 1.8, 200)
MASS, TUNING, RATIO = 2e-4, 0.95, 0.12


@pytest.fixture(scope="module")
def fit():
    """A mass alone, measured with an oscillator on it that is too small to shift it."""
    system = tuned_absorber(m=MASS, k=MASS * TUNING**2)
    c = 2 * RATIO * MASS * TUNING
    friction = np.array([[0.02 + c, -c], [-c, c]])
    data = ResponseData.of(system.response(LINES, friction=friction).ports)
    unit = np.sqrt(data.value_unit) * data.frequency_unit
    modal = ModalPoint(
        np.array([data.frequency_unit**-2]), np.array([[1 / unit]]), np.array([0.02]), "viscous"
    )
    plain = ResponseFit(data, modal, ResponseNoise(b2=1e-10))
    return coupled(plain, FrictionPoint.of(modal, np.ones(1, bool)))


def test_the_scan_finds_place_ratio_and_mass(fit):
    best = absorbers(fit)[0]
    step = np.ptp(fit.data.omega) / 49
    assert best.omega == pytest.approx(TUNING / fit.data.frequency_unit, abs=1.5 * step)
    assert best.rate / (2 * best.omega) == RATIO
    assert (best.place**2).sum() == pytest.approx(MASS, rel=0.2)


def test_the_gain_is_delivered_where_it_is_small(fit):
    best = absorbers(fit)[0]
    after = coupled(fit, best.joined(fit.friction))
    assert after.value < fit.value
