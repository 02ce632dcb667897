"""Forces whose spectrum is not flat."""

import numpy as np
import pytest

from prism.motion.driven.driven import fit_driven
from prism.motion.driven.tilt import tilted
from prism.record import Record
from prism.systems.chain import chain
from prism.systems.driven import driven

OMEGA, ZETA, DT, SAMPLES = 1.0, 0.04, 0.4, 6000


def tilted_record(p, seed):
    """One mode whose force has the spectrum ω^p: white forces, and every line in proportion."""
    system = chain(1, springs=OMEGA**2, observed=(0,))
    made = driven(system, SAMPLES * DT, DT, damping=ZETA, rng=seed)
    x = made.trials[0]
    spectrum = np.fft.rfft(x, axis=0)
    omega = 2 * np.pi * np.fft.rfftfreq(len(x), DT)
    share = np.zeros(len(omega))
    share[1:] = (np.maximum(omega[1:], 0.2) / OMEGA) ** (0.5 * p)
    x = np.fft.irfft(spectrum * share[:, None], len(x), axis=0)
    noise = 0.02 * x.std() * np.random.default_rng([seed, 1]).standard_normal(x.shape)
    return Record(x + noise, dt=DT)


def flat_and_tilted(p, seed, monkeypatch):
    tilt = fit_driven(tilted_record(p, seed))
    monkeypatch.setattr("prism.motion.driven._limits.TILTED_BAND", np.inf)
    flat = fit_driven(tilted_record(p, seed))
    return [(one.frequencies[0] - OMEGA) / np.sqrt(one.covariance[0, 0]) for one in (flat, tilt)]


@pytest.mark.parametrize("p", [1.5, -1.0])
def test_a_slope_of_the_drive_no_longer_shifts_a_mode(p, monkeypatch):
    flat, tilt = flat_and_tilted(p, 3, monkeypatch)
    assert abs(flat) > 3
    assert abs(tilt) < 2.5


def test_the_exponent_is_found_with_its_error():
    z = []
    for seed in range(8):
        fit = fit_driven(tilted_record(1.0, seed))
        found = tilted(fit.bands[int(np.argmax(fit.significance))])
        z.append((found.fit.band.tilt - 1.0) / found.std)
    assert np.abs(z).max() < 3.5
    assert 0.4 < np.sqrt(np.mean(np.square(z))) < 1.9


def test_errors_hold_what_is_not_known_of_the_slope(monkeypatch):
    record = tilted_record(0.0, 5)
    tilt = fit_driven(record)
    monkeypatch.setattr("prism.motion.driven._limits.TILTED_BAND", np.inf)
    flat = fit_driven(record)
    assert 1.02 < np.sqrt(tilt.covariance[0, 0] / flat.covariance[0, 0]) < 2
    wide, narrow = (np.diff(np.log(one.damping_interval[0]))[0] for one in (tilt, flat))
    assert wide > narrow


def test_narrow_bands_have_no_tilt():
    made = driven(
        chain(2, springs=4.0, observed=(0, 1)), 6000.0, 0.25, damping=0.001, noise=0.05, rng=2
    )
    fit = fit_driven(made)
    narrow = [b for b in fit.bands if b.band.omega.max() < 1.1 * b.band.omega.min()]
    assert narrow
    assert all(tilted(band) is None and band.band.tilt == 0 for band in narrow)
