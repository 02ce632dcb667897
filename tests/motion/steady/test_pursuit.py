"""The number of lines: none missed, none invented."""

import numpy as np
import pytest

from prism.errors import NoLineError, RecordTooShortError
from prism.motion.steady import estimate_lines
from prism.motion.steady.pursuit import find_lines
from prism.record import Record
from prism.search.series import samplings_of
from prism.search.spectrum import line_band
from prism.systems import chain
from prism_bench.kinds import TUNING, make

CHAIN = chain()
ALARM = 1e-3


def lines_of(values, dt=0.1, **options):
    samplings, _, _ = samplings_of(Record(values, dt=dt))
    return find_lines(samplings, false_alarm=ALARM, **options)[0]


def deviations(fit):
    """Standard deviations of the frequencies."""
    return np.sqrt(np.diag(np.linalg.inv(fit.fisher)))


# -- all lines and no other ------------------------------------------------------------------------


@pytest.mark.parametrize("duration", [50, 100, 400])
def test_the_four_lines_of_the_chain_and_no_other(duration):
    scores = []
    for seed in range(20):
        record = CHAIN.free(duration, 0.05, noise=0.1, rng=seed)
        fit = lines_of(np.array(record.trials[0]), 0.05)
        assert fit.count == 4
        scores.append((fit.omega - CHAIN.frequencies) / deviations(fit))
    # 80 standard normal numbers: their rms scatters by 1/√160 = 0.08, three times that
    assert 0.76 < np.sqrt(np.mean(np.square(scores))) < 1.24
    assert np.abs(scores).max() < 4.5


def test_a_strong_line_on_a_short_record_is_not_split():
    t = 0.1 * np.arange(200)
    omega = 3.3 * 2 * np.pi / 20
    for seed in range(50):
        rng = np.random.default_rng(seed)
        values = np.cos(omega * t + rng.uniform(0, 2 * np.pi))
        values += 1e-3 * np.sqrt(0.5) * rng.standard_normal(200)
        assert lines_of(values).count == 1


def test_two_lines_half_a_resolution_apart_are_both_found():
    t = 0.1 * np.arange(1000)
    omega = 2.0 + np.array([0.0, 0.5]) * 2 * np.pi / 100
    scores = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        phase = rng.uniform(0, 2 * np.pi, (2, 2))
        values = np.cos(np.multiply.outer(t, omega)[:, None] + phase).sum(axis=-1)
        values += 0.1 * values.std(axis=0) * rng.standard_normal(values.shape)
        fit = lines_of(values)
        if fit.count == 2:
            scores.append((fit.omega - omega) / deviations(fit))
    assert len(scores) >= 38
    assert np.sqrt(np.mean(np.square(scores))) < 1.4


def test_two_lines_far_below_the_noise_of_their_distance_are_one():
    t = 0.1 * np.arange(1000)
    values = np.cos(2.0 * t) + np.cos((2.0 + 1e-3 * 2 * np.pi / 100) * t)
    values += np.random.default_rng(0).standard_normal(1000)
    assert lines_of(values).count == 1


@pytest.mark.parametrize("seed", range(3))
def test_forty_lines_over_two_decades_of_amplitude(seed):
    rng = np.random.default_rng(seed)
    t = 0.1 * np.arange(4000)
    omega = 1 + 0.7 * np.arange(40) + rng.uniform(0, 0.3, 40)
    amplitude = 10 ** rng.permutation(np.linspace(-1, 1, 40))
    phase = rng.uniform(0, 2 * np.pi, (2, 40))
    values = (amplitude * np.cos(np.multiply.outer(t, omega)[:, None] + phase)).sum(axis=-1)
    values += 0.5 * rng.standard_normal(values.shape)
    fit = lines_of(values)
    assert fit.count == 40
    # 120 standard normal numbers in all
    assert np.abs((fit.omega - omega) / deviations(fit)).max() < 4.5


@pytest.mark.parametrize(
    "periods",
    [
        1.25,
        1.5,
        2.0,
        3.0,
    ],
)
def test_a_slow_line_and_one_at_the_top_of_the_band_beside_another(periods):
    t = 0.1 * np.arange(500)
    resolution = 2 * np.pi / 50
    _, top = line_band(samplings_of(Record(t, dt=0.1))[0])
    omega = np.array([periods * resolution, 10.0, top - 0.5 * resolution])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        values = np.cos(np.multiply.outer(t, omega) + rng.uniform(0, 2 * np.pi, 3)).sum(axis=-1)
        fit = lines_of(values + 0.1 * rng.standard_normal(500))
        assert fit.count == 3
        assert np.abs((fit.omega - omega) / deviations(fit)).max() < 4.5


# -- what is not a line ----------------------------------------------------------------------------


def test_offset_and_drift_are_not_lines():
    t = 0.1 * np.arange(500)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        values = rng.normal(0, 50, 2) + rng.normal(0, 3, 2) * t[:, None]
        # forty records at a probability of 1e-3 each: one in 25 sets of seeds has a false line
        assert lines_of(values + rng.standard_normal(values.shape)).count == 0


def test_noise_alone_has_no_line():
    with pytest.raises(NoLineError, match="no line is significant"):
        estimate_lines(
            Record(np.random.default_rng(0).standard_normal((500, 2)), dt=0.1), false_alarm=ALARM
        )


@pytest.mark.parametrize("periods", [0.3, 0.5, 0.8, 0.95])
def test_less_than_one_period_is_too_short(periods):
    t = 0.1 * np.arange(500)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        values = np.cos(2 * np.pi * periods * t / 50 + rng.uniform(0, 2 * np.pi))
        record = Record(values + 0.01 * rng.standard_normal(500), dt=0.1)
        with pytest.raises(RecordTooShortError, match="shorter than one period"):
            estimate_lines(record, false_alarm=ALARM)


def test_noise_with_a_flat_slow_end_is_not_too_short():
    """AR(1) noise drifts, and its slowest powers scatter, but they do not rise."""
    for seed in (2, 13, 22, 41):
        record = make("ar1", seed, TUNING).record
        with pytest.raises(NoLineError, match="no line is significant"):
            estimate_lines(record, false_alarm=ALARM)


@pytest.mark.parametrize("damping", [0.005, 0.02])
def test_a_decaying_oscillation_is_flagged(damping):
    t = 0.1 * np.arange(2000)
    rng = np.random.default_rng(1)
    values = np.exp(-2 * damping * t) * np.cos(2 * t + 0.3) + 0.01 * rng.standard_normal(2000)
    lines = estimate_lines(Record(values, dt=0.1), false_alarm=ALARM)
    assert lines.crowded
    # one line is left, at the oscillation to the width of its resonance
    assert lines.fit.omega == pytest.approx([2.0], abs=2 * damping)


@pytest.mark.parametrize("seed", range(5))
def test_a_record_of_the_chain_is_not_flagged(seed):
    lines = estimate_lines(CHAIN.free(100, 0.05, noise=0.1, rng=seed), false_alarm=ALARM)
    assert not lines.crowded
    assert not lines.slow
    assert not lines.out_of_phase.any()
    assert len(lines.fit.omega) == 4


# -- options and units -----------------------------------------------------------------------------


def test_no_more_lines_than_allowed_and_the_strongest_first():
    t = 0.05 * np.arange(4000)
    rng = np.random.default_rng(0)
    values = 5 * np.cos(3.0 * t) + 3 * np.cos(5.0 * t) + np.cos(8.0 * t)
    values += 0.1 * rng.standard_normal(4000)
    found = [lines_of(values, 0.05, max_lines=k).omega for k in (1, 2, 3, 9)]
    assert [len(omega) for omega in found] == [1, 2, 3, 3]
    # lines left out leak into the others by less than a tenth of the resolution
    assert found[0] == pytest.approx([3.0], abs=0.003)
    assert found[1] == pytest.approx([3.0, 5.0], abs=0.003)


@pytest.mark.parametrize(
    ("scale", "offset"), [(1e-20, 0.0), (1e12, 0.0), (1.0, 1e6), (1.0, -1e6), (1e-20, 1e-14)]
)
def test_units_and_offset_do_not_matter(scale, offset):
    values = np.array(CHAIN.free(100, 0.05, noise=0.1, rng=7).trials[0])
    plain = lines_of(values, 0.05)
    scaled = lines_of(scale * values + offset, 0.05)
    assert scaled.count == plain.count == 4
    # an offset of 1e6 leaves ten digits of the data; the refinement stops at 1e-3 deviations
    assert np.all(np.abs(scaled.omega - plain.omega) < 1e-3 * deviations(plain))


def test_channels_of_very_different_units_count_alike():
    values = np.array(CHAIN.free(100, 0.05, noise=0.1, rng=8).trials[0])
    plain, scaled = lines_of(values, 0.05), lines_of(values * [1e-9, 1e6], 0.05)
    assert np.all(np.abs(scaled.omega - plain.omega) < 1e-3 * deviations(plain))


def test_progress_tells_the_number_of_lines():
    record = CHAIN.free(100, 0.05, noise=0.1, rng=8)
    told = []
    find_lines(samplings_of(record)[0], false_alarm=ALARM, progress=told.append)
    assert told
    assert told[-1] == "4 lines"
