"""Which joint modes stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from prism.motion.driven.setups.bands import JointMode
from prism.motion.driven.setups.linkage import Linkage
from prism.motion.driven.setups.search import JointSearch
from prism.motion.driven.spectrum import fourier_lines
from prism.record import Record
from prism.systems.chain import chain
from prism.systems.driven import driven

TRIO = chain(3, springs=20.0, observed=range(3))
NAMES = (("q1", "q2"), ("q2", "q3"))


@pytest.fixture(scope="module")
def search():
    records = []
    for k, names in enumerate(NAMES):
        whole = driven(TRIO, 150.0, 0.25, damping=0.02, noise=0.05, rng=k)
        records.append(Record(whole.trials[0], dt=0.25, channels=TRIO.channels).select(names))
    lines = tuple(fourier_lines(record) for record in records)
    return JointSearch(lines, Linkage.of(records), (0.4, 11.5), 1e-3)


def true_modes():
    return [
        JointMode(float(omega), 0.02, shape, 0.0, 100.0, (0.0, 0.0))
        for omega, shape in zip(TRIO.frequencies, TRIO.shapes, strict=True)
    ]


def test_modes_that_are_there_stay(search):
    modes = [mode for part in search.needed(true_modes()) for mode in part.modes]
    assert len(modes) == 3
    for mode, omega in zip(sorted(modes, key=lambda m: m.omega), TRIO.frequencies, strict=True):
        assert mode.omega == pytest.approx(omega, rel=0.02)
        assert mode.support.setups == (0, 1)
        assert min(mode.forces) > 0


def test_a_mode_that_is_not_there_goes(search):
    one = true_modes()[0]
    false = replace(one, omega=3.5)
    modes = [mode for part in search.needed([*true_modes(), false]) for mode in part.modes]
    assert len(modes) == 3


def test_the_last_fit_keeps_what_was_decided(search):
    modes = [mode for part in search.needed(true_modes()) for mode in part.modes]
    parts = search.sweep(modes, test=False)
    after = [mode for part in parts for mode in part.modes]
    assert {mode.support for mode in after} == {mode.support for mode in modes}
    assert all(part.fit.converged for part in parts)


def test_a_mode_outside_the_ends_is_not_fitted(search):
    assert search.sweep([replace(true_modes()[0], omega=0.1)], test=True) == []
    assert search.span == pytest.approx(150.0)
    assert np.isclose(search.lines[0].longest, 150.0)
