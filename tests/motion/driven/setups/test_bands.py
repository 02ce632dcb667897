"""Joint bands: what a mode costs and what set-ups say of it, and that intervals hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from prism.motion.driven.setups.bands import JointBand, JointMode, joint_modes
from prism.motion.driven.setups.linkage import Linkage
from prism.motion.driven.spectrum import fourier_lines
from prism.record import Record
from prism.systems.chain import chain
from prism.systems.driven import driven

TRIO = chain(3, springs=20.0, observed=range(3))
ENDS = (0.4, 11.5)
NAMES = (("q1", "q2"), ("q2", "q3"))


def a_band(seed, mode=0, levels=(1.0, 5.0)):
    """Two set-ups around one mode, started from the truth; the other modes are held."""
    records = []
    for k, (names, level) in enumerate(zip(NAMES, levels, strict=True)):
        whole = driven(
            TRIO, 150.0, 0.25, damping=0.02, forces=level**2 * np.eye(3), noise=0.05, rng=[seed, k]
        )
        records.append(Record(whole.trials[0], dt=0.25, channels=TRIO.channels).select(names))
    linkage = Linkage.of(records)
    lines = [fourier_lines(record) for record in records]
    modes = [
        JointMode(float(omega), 0.02, shape, 1.0, 100.0, tuple(_forces(shape, levels)))
        for omega, shape in zip(TRIO.frequencies, TRIO.shapes, strict=True)
    ]
    others = [one for k, one in enumerate(modes) if k != mode]
    place = JointBand.around(lines, linkage, [modes[mode]], others, ENDS)
    return place, place.model([modes[mode]])


def _forces(shape, levels):
    """Spectra of the forces on what each set-up sees of a unit shape."""
    for (a, b), level in zip(NAMES, levels, strict=True):
        seen = shape[[TRIO.channels.index(a), TRIO.channels.index(b)]]
        yield float(level**2 * seen @ seen)


def test_intervals_hold_the_truth():
    """Twenty draws: the mean of squared errors over the stated ones is one within its scatter."""
    squares = []
    for seed in range(20):
        place, model = a_band(seed)
        fit = place.linked(model).fit(model, 1e-2)
        (mode,) = joint_modes(fit, [_told(place, fit)])
        at = np.concatenate([fit.model.at["frequency"], fit.model.at["damping"]])
        C = np.linalg.inv(fit.information)[np.ix_(at, at)]
        error = np.log([mode.omega / TRIO.frequencies[0], mode.zeta / 0.02])
        squares.append(error @ np.linalg.solve(C, error))
        assert (mode.shape @ TRIO.shapes[0]) ** 2 > 0.999
    low, high = chi2.ppf([1e-3, 1 - 1e-3], 2 * len(squares))
    assert low < np.sum(squares) < 1.4 * high  # few correlation times: the bound is not quite met


def _told(place, fit):
    gains = 2 * (fit.log_likelihoods - place.empty())
    return place.support(fit, 0, gains, 1e-3)


def test_both_set_ups_show_the_mode():
    place, model = a_band(0)
    fit = place.fit(model)
    support = _told(place, fit)
    assert support.setups == (0, 1)
    assert support.ratio > 3
    assert support.gain > place.least(fit, 0, 1e-3)


def test_a_mode_of_one_set_up_pays_for_that_one():
    place, model = a_band(1)
    fit = place.fit(model)
    price = place._price(fit, 0, [0], 1e-3)
    support = place.support(fit, 0, np.array([1.1 * price, 0.0]), 1e-3)
    assert support.ratio == pytest.approx(1.1)
    assert support.setups == (0,)
    assert price < place.least(fit, 0, 1e-3)


def test_a_silent_set_up_turns_no_shape():
    place, model = a_band(2)
    fit = place.fit(model)
    (mode,) = joint_modes(fit, [_told(place, fit)._replace(setups=(0,))])
    assert mode.absent.tolist() == [False, True]
    assert mode.forces[1] == 0.0
    assert mode.shape[2] == 0.0  # q3 is in the second set-up alone
    again = place.first(place.model([mode]))
    still = again.model.still
    assert len(still) > 0
    assert np.all(np.abs(again.slope[0][still]) < 1e-3 * np.abs(again.slope[0]).max())
    top = again.best(tolerance=1e-2)
    assert np.diag(top.model.parts[1].force).real[0] == pytest.approx(1e-9)
