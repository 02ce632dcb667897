"""Peaks in which the channels move independently of each other."""

import numpy as np
import pytest
from scipy.signal import lfilter

import prism
from prism.errors import NoLineError
from prism.motion.driven.bands import DrivenMode, start
from prism.motion.driven.driven import fit_driven
from prism.motion.driven.peak import NoisePeakError, left_chance, peak_of
from prism.motion.driven.scoring import maximise
from prism.motion.driven.spectrum import fourier_lines, line_band
from prism.record import Record
from prism.systems.chain import chain
from prism.systems.driven import driven

ANGLE, ZETA = 0.7, 0.05


def coloured(channels, seed, samples=5000):
    """Independent noise through one filter in each channel."""
    root = np.exp(ANGLE * (-ZETA + 1j * np.sqrt(1 - ZETA**2)))
    white = np.random.default_rng([4, seed]).standard_normal((samples, channels))
    values = lfilter([1.0], [1.0, -2 * root.real, abs(root) ** 2], white, axis=0)
    return Record(values[500:], dt=1.0)


@pytest.mark.parametrize(("channels", "seed"), [(2, 0), (2, 1), (3, 2)])
def test_noise_of_one_colour_is_no_mode(channels, seed):
    with pytest.raises(NoLineError, match="independently of each other"):
        prism.identify(coloured(channels, seed))


def test_the_peak_has_the_pole_of_the_filter():
    with pytest.raises(NoisePeakError) as caught:
        fit_driven(coloured(2, 0), insist=False)
    (band,) = caught.value.bands
    assert band.shapeless
    assert np.ptp(band.model.omega[:2]) == 0
    assert band.model.omega[0] == pytest.approx(ANGLE, rel=0.02)
    assert band.model.zeta[0] == pytest.approx(ZETA, rel=0.3)


def test_those_who_insist_get_modes_and_a_remark():
    model = prism.identify(coloured(2, 0), kind="driven")
    assert len(model.modes)
    assert "noise-peak" in [one.code for one in model.identifiability.remarks]


def test_one_channel_cannot_tell():
    model = prism.identify(coloured(1, 0))
    assert model.kind == "driven"
    z = (model.modes.frequencies[0] - ANGLE) / model.modes.frequencies_std[0]
    assert abs(z) < 3


def test_modes_of_a_structure_are_no_peak():
    made = driven(
        chain(2, springs=20.0, observed=(0, 1)), 3000.0, 0.25, damping=0.02, noise=0.1, rng=1
    )
    fit = fit_driven(made, insist=False)
    assert len(fit) == 2
    assert not any(band.shapeless for band in fit.bands)
    assert all(peak_of(band) is None for band in fit.bands)


def test_one_pole_stays_one():
    band = line_band(fourier_lines(coloured(3, 5)).between(0.4, 1.1))
    each = [DrivenMode(0.72, 0.03, axis) for axis in np.eye(3)]
    model = start(band, each)
    tied = maximise(model, band, model.at["shape"], tied=True)
    free = maximise(model, band, model.at["shape"])
    assert tied.converged
    assert np.ptp(tied.model.omega) == np.ptp(tied.model.zeta) == 0
    # six more numbers gain a little, and never less than nothing
    assert 0 < 2 * (free.log_likelihood - tied.log_likelihood) < 30


def test_what_modes_leave_is_tested():
    """One mode for two: the other one is left."""
    made = driven(
        chain(2, springs=20.0, observed=(0, 1)), 3000.0, 0.25, damping=0.02, noise=0.1, rng=1
    )
    whole = fit_driven(made)
    assert min(left_chance(band) for band in whole.bands) > 1e-3
    both = line_band(fourier_lines(made).between(*(np.array([0.7, 1.2]) * whole.frequencies)))
    model = start(both, [DrivenMode(whole.frequencies[0], whole.damping[0], whole.shapes[0])])
    assert left_chance(maximise(model, both)) < 1e-10
