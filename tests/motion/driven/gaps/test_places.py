"""The even grid behind a record."""

import numpy as np
import pytest

from prism.errors import RecordError, RecordTooShortError
from prism.motion.driven.gaps.places import places_of
from prism.record import Record

STEP = 0.25


def values(samples, channels=2):
    return np.random.default_rng(0).standard_normal((samples, channels))


def test_missing_samples_keep_their_grid():
    x = values(200)
    x[30:50] = np.nan
    x[60, 1] = np.nan
    (own,) = places_of(Record(x, dt=STEP))
    assert own.even
    assert own.samples == 200
    assert own.step == STEP
    assert own.seen.sum() == 400 - 41
    filled = own.filled(x)
    assert np.array_equal(filled[own.seen], x[own.seen])
    assert np.allclose(filled[40], x[29] + (x[50] - x[29]) * 11 / 21)


def test_dropped_rows_are_gaps():
    keep = np.random.default_rng(1).random(500) > 0.4
    keep[[0, -1]] = True
    t = 3.0 + STEP * np.flatnonzero(keep)
    (own,) = places_of(Record(values(keep.sum()), t=t))
    assert own.even
    assert own.samples == 500
    assert np.array_equal(own.cells, np.flatnonzero(keep))


@pytest.mark.parametrize("dropped", [0.0, 0.3])
def test_times_that_jitter_have_a_step(dropped):
    rng = np.random.default_rng(2)
    keep = rng.random(2000) >= dropped
    t = STEP * (np.arange(2000) + rng.uniform(-0.3, 0.3, 2000))[keep]
    (own,) = places_of(Record(values(len(t)), t=t))
    assert not own.even
    assert own.step == pytest.approx(STEP, rel=1e-4)
    assert own.samples == pytest.approx(2000, abs=2)
    assert np.allclose(np.diff(own.at) * own.step, np.diff(t))


def test_trials_share_their_step():
    rng = np.random.default_rng(3)
    t = [STEP * (np.arange(n) + rng.uniform(-0.2, 0.2, n)) for n in (300, 400)]
    one, two = places_of(Record([values(300), values(400)], t=t))
    assert one.step == two.step == pytest.approx(STEP, rel=1e-3)


def test_random_times_are_refused_with_what_to_do():
    t = np.sort(np.random.default_rng(4).uniform(0, 100, 400))
    with pytest.raises(RecordError, match="have no step of an even grid of their own"):
        places_of(Record(values(400), t=t))


def test_a_channel_that_was_hardly_measured_is_named():
    x = values(200)
    x[20:180, 1] = np.nan
    with pytest.raises(RecordError, match="20% of the samples of channel x2"):
        places_of(Record(x, dt=STEP))


def test_a_short_record_is_refused():
    x = values(40)
    x[3] = np.nan
    with pytest.raises(RecordTooShortError, match="40 samples"):
        places_of(Record(x, dt=STEP))
