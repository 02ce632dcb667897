"""Very long records: a first part says what kind of motion it is."""

from __future__ import annotations

import numpy as np
import pytest

import prism
from prism.errors import NoLineError
from prism.motion import _limits as limits
from prism.record import Record
from prism.systems import chain, driven


@pytest.fixture
def short_is_long(monkeypatch):
    """Records of eight thousand numbers count as very long, half of that is a first part."""
    monkeypatch.setattr(limits, "VERY_LONG", 8000)
    monkeypatch.setattr(limits, "FIRST_PART", 4000)


def windy(samples):
    frame = chain(2, observed=[0, 1])
    return driven(frame, 0.5 * samples, 0.5, damping=0.02, noise=0.1, rng=5)


@pytest.mark.usefixtures("short_is_long")
def test_driven_motion_is_weighed_on_a_first_part_and_fitted_to_all():
    record, told = windy(5000), []
    model = prism.identify(record, progress=told.append)
    assert model.kind == "driven"
    assert "modes of the whole record" in told
    remark = next(one for one in model.identifiability.remarks if one.code == "first-part")
    assert "first 2000 of 5000 samples" in str(remark)
    assert model.evidence.sentence(model.kind)
    whole = prism.identify(record, kind="driven")
    np.testing.assert_allclose(model.modes.frequencies, whole.modes.frequencies, rtol=1e-12)
    part = prism.identify(record.head(0.4), kind="driven")
    assert np.all(model.modes.frequencies_std < part.modes.frequencies_std)


@pytest.mark.usefixtures("short_is_long")
def test_a_few_channels_tell_the_kind(monkeypatch):
    monkeypatch.setattr(limits, "FIRST_CHANNELS", 1)
    model = prism.identify(windy(6000))
    assert model.modes.shapes.shape == (2, 2)
    remark = next(one for one in model.identifiability.remarks if one.code == "first-part")
    assert "first 4000 of 6000 samples of q1, the modes" in str(remark)


@pytest.mark.usefixtures("short_is_long")
def test_other_motion_is_weighed_on_all_of_it():
    record = chain(2, observed=[0]).free(1000, 0.1, noise=0.1, rng=1)
    model = prism.identify(record)
    assert model.kind == "steady"
    assert not [one for one in model.identifiability.remarks if one.code == "first-part"]


@pytest.mark.usefixtures("short_is_long")
def test_what_a_part_does_not_show_the_whole_may():
    """A line so faint that the first part is noise."""
    rng, t = np.random.default_rng(2), 0.5 * np.arange(10000)
    values = 0.11 * np.cos(0.7 * t) + rng.standard_normal(len(t))
    with pytest.raises(NoLineError):
        prism.identify(Record(values[:4000], dt=0.5))
    model = prism.identify(Record(values, dt=0.5))
    assert len(model.modes) == 1


def test_records_of_a_usual_length_are_weighed_whole():
    model = prism.identify(windy(2000))
    assert model.kind == "driven"
    assert not [one for one in model.identifiability.remarks if one.code == "first-part"]
