"""Channels of several set-ups, and what links them."""

from __future__ import annotations

import numpy as np
import pytest

from prism.errors import OptionError, RecordError, RecordTooShortError
from prism.motion.driven.setups.linkage import Linkage
from prism.record import Record


def a_record(*names, quantity="displacement", samples=100):
    values = np.random.default_rng(0).standard_normal((samples, len(names)))
    return Record(values, dt=0.1, channels=names, quantity=quantity)


def test_channels_of_one_name_are_one_place():
    linkage = Linkage.of([a_record("a", "b"), a_record("c", "a", "d"), a_record("d", "e")])
    assert linkage.channels == ("a", "b", "c", "d", "e")
    assert [part.tolist() for part in linkage.places] == [[0, 1], [2, 0, 3], [3, 4]]
    assert len(linkage.groups) == 1  # a chain links all
    assert linkage.turns == 4


def test_groups_without_a_common_channel():
    linkage = Linkage.of([a_record("a", "b"), a_record("c", "d"), a_record("b", "e")])
    assert [group.tolist() for group in linkage.groups] == [[0, 1, 4], [2, 3]]
    assert linkage.turns == 3
    assert linkage.group_names() == ["a, b, e", "c, d"]
    assert [group.tolist() for group in linkage.linked_by([0, 1])] == [[0, 1], [2, 3]]
    shape = linkage.unit(np.array([3.0, 4.0, 0.1, 0.0, 0.0]))
    assert np.linalg.norm(shape) == pytest.approx(1.0)
    assert np.linalg.norm(shape[[2, 3]]) ** 2 == pytest.approx(2 / 5)


def test_a_late_link_joins_groups():
    linkage = Linkage.of([a_record("a", "b"), a_record("c", "d"), a_record("b", "c")])
    assert len(linkage.groups) == 1


def test_one_set_up_is_refused():
    with pytest.raises(OptionError, match="1 set-up: several are needed"):
        Linkage.of([a_record("a", "b")])


def test_an_ensemble_is_no_set_up():
    ensemble = Record(np.zeros((3, 100, 1)) + np.arange(100)[:, None] % 7, dt=0.1, channels=["a"])
    with pytest.raises(RecordError, match="set-up 2 has 3 trials"):
        Linkage.of([a_record("a", "b"), ensemble])


def test_a_name_has_one_quantity():
    other = a_record("c", "b", quantity=["displacement", "acceleration"])
    with pytest.raises(RecordError, match=r"'b' measures displacement in set-up 1 and accel"):
        Linkage.of([a_record("a", "b"), other])


def test_uneven_times_and_short_records_are_refused_by_number():
    t = np.cumsum(np.random.default_rng(1).uniform(0.05, 0.15, 100))
    uneven = Record(np.ones((100, 1)) * t[:, None], t=t, channels=["a"])
    with pytest.raises(RecordError, match="set-up 2: the times are irregular"):
        Linkage.of([a_record("a", "b"), uneven])
    with pytest.raises(RecordTooShortError, match="set-up 1: 20 samples"):
        Linkage.of([a_record("a", samples=20), a_record("a")])
