"""Which modes of several set-ups are one."""

from __future__ import annotations

import numpy as np
import pytest

from prism.motion.driven.setups.linkage import Linkage
from prism.motion.driven.setups.matching import Sighting, matched, stitched
from prism.motion.driven.spectrum import fourier_lines
from prism.record import Record

NAMES = (("a", "b", "c"), ("c", "d", "b"), ("d", "e", "f"))


def a_linkage(setups=NAMES):
    names = tuple(dict.fromkeys(name for setup in setups for name in setup))
    return Linkage(setups, names, ("displacement",) * len(names))


def seen_by(linkage, shape, rng=None, error=0.0):
    """Parts of a shape, each at a size and sign of its own."""
    out = {}
    for setup, places in enumerate(linkage.places):
        part = (-1.0) ** setup * shape[places] / np.linalg.norm(shape[places])
        if rng is not None:
            part = part + error * rng.standard_normal(len(part))
        out[setup] = (part / np.linalg.norm(part), 1.0)
    return out


def test_parts_of_a_chain_are_stitched():
    linkage = a_linkage()
    shape = np.random.default_rng(0).standard_normal(6)
    shape /= np.linalg.norm(shape)
    found = stitched(seen_by(linkage, shape), linkage)
    assert abs(found @ shape) == pytest.approx(1.0)


def test_groups_are_stitched_each_by_itself():
    linkage = a_linkage((("a", "b"), ("c", "d"), ("b", "e")))
    shape = np.random.default_rng(1).standard_normal(5)
    found = stitched(seen_by(linkage, shape), linkage)
    for group in linkage.groups:
        cosine = found[group] @ shape[group]
        cosine /= np.linalg.norm(found[group]) * np.linalg.norm(shape[group])
        assert abs(cosine) == pytest.approx(1.0)


def test_what_nobody_sees_is_zero():
    linkage = a_linkage()
    shape = np.random.default_rng(2).standard_normal(6)
    seen = seen_by(linkage, shape)
    del seen[2]
    assert np.array_equal(np.flatnonzero(stitched(seen, linkage) == 0), [4, 5])


def lines_of(linkage):
    rng = np.random.default_rng(3)
    return [
        fourier_lines(Record(rng.standard_normal((400, len(names))), dt=0.1, channels=names))
        for names in linkage.setups
    ]


def sighting(setup, omega, shape, gain=100.0, zeta=0.01):
    return Sighting(setup, omega, 0.002, zeta, shape / np.linalg.norm(shape), 1e4, gain)


def test_sightings_of_one_pole_are_one_mode():
    linkage = a_linkage()
    shapes = np.random.default_rng(4).standard_normal((2, 6))
    sightings = [
        [
            sighting(setup, omega + 0.002 * setup, shape[places])
            for omega, shape in zip((5.0, 9.0), shapes, strict=True)
        ]
        for setup, places in enumerate(linkage.places)
    ]
    del sightings[1][0]  # the first mode has a node in the second set-up, say
    modes = matched(sightings, linkage, lines_of(linkage))
    assert [round(mode.omega, 1) for mode in modes] == [5.0, 9.0]
    assert abs(modes[1].shape @ shapes[1]) / np.linalg.norm(shapes[1]) == pytest.approx(1.0)
    assert modes[0].gain == pytest.approx(200.0)


def test_close_modes_are_told_by_their_shapes():
    """On shared channels: both set-ups see two modes closer than their widths, in other order."""
    setups = (("a", "b", "c"), ("a", "b", "d"))
    linkage = a_linkage(setups)
    one, two = np.array([1.0, 1.0, 0.5, 0.3]), np.array([1.0, -1.0, 0.2, -0.6])
    sightings = [
        [sighting(0, 5.0, one[[0, 1, 2]]), sighting(0, 5.01, two[[0, 1, 2]])],
        [sighting(1, 5.01, one[[0, 1, 3]]), sighting(1, 5.0, two[[0, 1, 3]])],
    ]
    modes = matched(sightings, linkage, lines_of(linkage))
    assert len(modes) == 2
    for mode in modes:
        overlap = [abs(mode.shape @ shape) / np.linalg.norm(shape) for shape in (one, two)]
        assert max(overlap) == pytest.approx(1.0)


def test_distant_poles_are_two_modes():
    linkage = a_linkage()
    shape = np.random.default_rng(5).standard_normal(6)
    sightings = [
        [sighting(setup, 5.0 + setup, shape[places])] for setup, places in enumerate(linkage.places)
    ]
    assert len(matched(sightings, linkage, lines_of(linkage))) == 3
