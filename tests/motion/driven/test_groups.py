"""Neighbouring lines together, against every line by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.motion.driven.test_whittle import a_band, a_model

from prism.motion.driven.bands import HeldBand
from prism.motion.driven.driven import fit_driven
from prism.motion.driven.groups import grouped, joined
from prism.motion.driven.overlooked import overlooked
from prism.motion.driven.scoring import log_likelihood, maximise, score_and_information, white_lines
from prism.motion.driven.search import KeptModes
from prism.motion.driven.spectrum import fourier_lines, line_band
from prism.systems.chain import chain
from prism.systems.driven import driven


def at_few_frequencies(rng, tilt):
    """Two trials with three lines at every frequency, the last of each trial alone or in twos."""
    band = a_band(rng, tilt=tilt)
    omega, starts = band.omega.copy(), np.append(np.arange(0, 40, 3), np.arange(40, 66, 3))
    for first, end in zip(starts, np.append(starts[1:], 66), strict=True):
        omega[first:end] = omega[first]
    return replace(band, omega=omega), starts


@pytest.mark.parametrize("tilt", [0.0, 3.0])
def test_a_group_of_lines_at_one_frequency_is_as_good_as_its_lines(tilt):
    rng = np.random.default_rng(0)
    band, starts = at_few_frequencies(rng, tilt)
    model = replace(a_model(rng, m=4, held=1), fitted=2, linked=1)
    together = joined(band, np.arange(66), starts)
    assert len(together.omega) == len(starts)
    assert together.size == band.size
    assert together.ends == band.ends
    one, two = log_likelihood(model, band), log_likelihood(model, together)
    assert two == pytest.approx(one, rel=1e-10)
    for exact in (False, True):
        first = score_and_information(model, band, exact=exact)
        second = score_and_information(model, together, exact=exact)
        for a, b in zip(first, second, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-8, atol=1e-9 * np.abs(a).max())


def test_the_score_of_groups_is_the_gradient():
    rng = np.random.default_rng(1)
    band, starts = at_few_frequencies(rng, 0.0)
    omega = a_band(np.random.default_rng(1)).omega
    together = joined(replace(band, omega=omega), np.arange(66), starts)
    model, h = a_model(rng), 1e-6
    score = score_and_information(model, together)[0][model.at["frequency"]]
    for j in range(2):
        sides = []
        for side in (-h, h):
            moved = model.omega.copy()
            moved[j] *= np.exp(side)
            sides.append(log_likelihood(replace(model, omega=moved), together))
        assert score[j] == pytest.approx((sides[1] - sides[0]) / (2 * h), rel=1e-5)


def windy(count=24000):
    frame = chain(4, springs=20.0, observed=[0, 3])
    return driven(
        frame, 0.25 * count, 0.25, damping=[0.02, 0.01, 0.005, 0.002], noise=0.1, rng=5000
    )


def test_groups_of_a_long_record_move_modes_by_little():
    """Fitted on its groups and on all its lines, every mode is the same within a tenth of a std."""
    fit, seen = fit_driven(windy()), 0
    assert len(fit) == 4
    for part in fit.bands:
        if part.band.groups is None:
            continue
        seen += 1
        assert len(part.band.omega) < 0.5 * part.band.size[0]
        entire = maximise(part.model, part.band.entire, tolerance=1e-4)
        again = maximise(part.model, part.band, tolerance=1e-4)
        m = 2 * part.model.fitted
        std = np.sqrt(np.diag(np.linalg.inv(entire.information)))[:m]
        moved = np.log([*again.model.omega, *again.model.zeta])
        moved -= np.log([*entire.model.omega, *entire.model.zeta])
        assert np.all(np.abs(moved[: m // 2]) < 0.1 * std[: m // 2])
        assert again.entire.log_likelihood == pytest.approx(entire.log_likelihood, abs=0.05)
        assert sum(len(white) for white in white_lines(part)) == part.band.size[0]
    assert seen


def test_a_mode_that_was_left_out_is_seen_in_groups():
    record = windy()
    modes = [mode for part in fit_driven(record).bands for mode in _modes(part)]
    left = modes[1]
    near = (left.omega * 0.8, left.omega * 1.2)
    place = HeldBand.around(fourier_lines(record), [modes[0]], modes[2:], near)
    assert place.band.groups is not None
    found = overlooked(place.empty(), 1e-3)
    assert any(abs(mode.omega / left.omega - 1) < 0.02 for mode in found)


def _modes(part):
    return KeptModes(part, np.zeros(part.model.fitted)).modes


def test_no_group_holds_lines_of_two_trials_and_short_bands_stay_as_they_are():
    record = driven(chain(2), 2500, 0.5, damping=0.05, noise=0.1, trials=2, rng=3)
    band = line_band(fourier_lines(record))
    together = grouped(band, [1.0], [0.05])
    assert together.groups is not None
    assert together.counts.sum() == len(band.omega)
    assert set(together.trial) == {0, 1}
    for number in (0, 1):
        assert together.counts[together.trial == number].sum() == np.sum(band.trial == number)
    short = line_band(fourier_lines(record).between(0.9, 1.1))
    assert grouped(short, [1.0], [0.05]) is short
