"""Lines followed from window to window."""

import numpy as np
import pytest

from prism.errors import NoLineError, OptionError, RecordTooShortError
from prism.record import Record
from prism.systems import chain
from prism.tracking import _join, _pairs, track

DT = 0.2
T = np.arange(0, 240, DT)


def noisy(values, level=0.1, seed=0):
    return values + level * np.random.default_rng(seed).standard_normal(np.shape(values))


def record(values, **options):
    return Record(noisy(values), dt=DT, **options)


def test_steady_line_is_constant_within_its_error():
    z = []
    for seed in range(6):
        found = track(Record(noisy(0.7 * np.cos(2.3 * T), seed=seed), dt=DT), 24)
        assert found.frequencies.shape == (19, 1)
        assert not found.gaps.any()
        z.append((found.frequencies[:, 0] - 2.3) / found.frequencies_std[:, 0])
        np.testing.assert_allclose(found.amplitudes[:, 0], 0.7, atol=0.06)
    assert 0.8 < np.std(z) < 1.2


def test_windows_are_where_they_are_said_to_be():
    found = track(record(np.cos(2.3 * T)), 24, 36)
    np.testing.assert_allclose(found.times, 12 + 36 * np.arange(7))
    assert found.window == 24
    later = Record(noisy(np.cos(2.3 * T)), t=T + 1000)
    np.testing.assert_allclose(track(later, 24, 36).times, found.times + 1000)


def test_window_without_a_line_is_a_gap_and_not_a_number():
    burst = np.where((T < 96) | (T >= 168), np.cos(2.3 * T), 0.0)
    found = track(record(burst), 24, 24)
    assert found.frequencies.shape == (10, 1)
    np.testing.assert_array_equal(np.flatnonzero(found.gaps), [4, 5, 6])
    np.testing.assert_array_equal(found.present[:, 0], ~found.gaps)
    for table in (found.frequencies, found.frequencies_std, found.amplitudes):
        assert table[5, 0] is np.ma.masked
        assert np.isfinite(table.data).all()
    assert abs(found.frequencies[:, 0].mean() - 2.3) < 0.005


def test_missing_samples_are_a_gap():
    values = noisy(np.cos(2.3 * T))
    values[(T >= 95) & (T < 121)] = np.nan
    found = track(Record(values, dt=DT), 24, 24)
    np.testing.assert_array_equal(np.flatnonzero(found.gaps), [4])


def test_moving_line_has_the_bias_of_its_curvature():
    W, rate = 40.0, 2e-5
    centred = T - 120
    phase = 2.5 * T + rate / 6 * centred**3  # ω = 2.5 + rate·t²/2
    clean = Record(noisy(np.cos(phase), 0.01), dt=DT)
    found = track(clean, W, 10)
    error = found.frequencies[:, 0] - (2.5 + rate / 2 * (found.times - 120) ** 2)
    assert np.mean(error) == pytest.approx(rate * W**2 / 40, rel=0.15)
    assert found.unsteady.any()


def test_lines_that_cross_keep_their_identity():
    up = np.cos(2.0 * T + 0.002 * T**2)  # 2 to 2.96
    down = 0.5 * np.cos(3.0 * T - 0.002 * T**2)  # 3 to 2.04
    found = track(record(up + down), 20, 5)
    first = np.argmin([abs(c.compressed()[0] - 2.04) for c in found.frequencies.T])
    line = found.frequencies[:, first]
    np.testing.assert_allclose(line.compressed(), (2 + 0.004 * found.times)[~line.mask], atol=0.08)
    assert line.compressed()[-1] > 2.8


def test_lines_that_are_commensurate_by_accident_are_not_tied():
    # 2.1 to 2.1 + 0.002: half of the steady line, all the time
    values = np.cos(2.1 * T + 4e-6 * T**2) + 0.5 * np.cos(4.2 * T + 1)
    z = []
    for seed in range(4):
        found = track(Record(noisy(values, seed=seed), dt=DT), 40)
        assert found.frequencies.shape[1] == 2
        z.append((found.frequencies[:, 0] - 2.1 - 8e-6 * found.times) / found.frequencies_std[:, 0])
    assert 0.7 < np.std(z) < 1.3


def test_channels_and_trials_share_the_lines():
    system = chain()
    ensemble = system.free(240, DT, noise=0.05, trials=3, rng=0)
    found = track(ensemble, 80, 80)
    np.testing.assert_allclose(found.frequencies.mean(axis=0), system.frequencies, rtol=2e-3)
    assert found.amplitudes.shape == (3, 4)


def test_trials_that_end_early_are_left_out_of_later_windows():
    short = Record([noisy(np.cos(2.3 * T)), noisy(np.cos(2.3 * T[:300]), seed=1)], dt=DT)
    found = track(short, 24, 24)
    assert not found.gaps.any()
    assert found.frequencies_std[-1, 0] > 1.2 * found.frequencies_std[0, 0]


def test_irregular_times():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 240, 1500))
    found = track(Record(noisy(np.cos(2.3 * t)), t=t), 24, 24)
    assert found.frequencies.shape[1] == 1
    assert np.abs(found.frequencies - 2.3).max() < 0.01


def test_matching_is_joint_and_within_reach():
    assert _pairs(np.array([1.0, 1.4]), np.array([1.3, 1.6]), 0.5) == {0: 0, 1: 1}
    assert _pairs(np.array([1.0]), np.array([1.6]), 0.5) == {}
    assert _pairs(np.zeros(0), np.array([1.6]), 0.5) == {}
    seen = [np.array([1.0]), np.zeros(0), np.array([1.1, 3.0])]
    assert _join(np.arange(3.0), seen, 0.2) == [[(0, 0), (2, 0)], [(2, 1)]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"window": 0.0}, "window"),
        ({"window": np.inf}, "window"),
        ({"step": -1.0}, "step"),
        ({"jump": 0.0}, "jump"),
        ({"shortest": 0}, "shortest"),
        ({"false_alarm": 2.0}, "false-alarm"),
        ({"max_modes": 0}, "max_modes"),
    ],
)
def test_options_that_make_no_sense(options, words):
    with pytest.raises(OptionError, match=words):
        track(record(np.cos(2.3 * T)), **({"window": 24.0} | options))


def test_what_cannot_be_done_is_said():
    with pytest.raises(RecordTooShortError, match="does not fit"):
        track(record(np.cos(2.3 * T)), 300)
    with pytest.raises(NoLineError, match="no line is seen"):
        track(record(np.zeros(len(T))), 24)
    with pytest.raises(OptionError, match="Record"):
        track(np.cos(T), 24)


def test_residues_and_bare_frequencies_follow_a_system_that_changes():
    """A spring that is stiffer in the second half of every trial."""
    systems = [chain(3, [1.0, stiff, 1.0], observed=[0]) for stiff in (1.0, 1.4)]
    options = {"trials": 24, "energies": np.ones(3), "noise": 0.01, "rng": 0}
    halves = [system.free(60, 0.3, **options) for system in systems]
    both = [np.vstack(pair) for pair in zip(*(half.trials for half in halves), strict=True)]
    found = track(Record(both, dt=0.3), 60, 60, experiment="equilibrium", known={"mass": 1.0},
                  jump=0.5)  # fmt: skip
    for w, system in enumerate(systems):
        z = found.hidden_frequencies[w] - system.hidden_frequencies
        assert np.abs(z / found.hidden_frequencies_std[w]).max() < 4
        np.testing.assert_allclose(found.residues[w, :, 0, 0], system.residues[:, 0, 0], rtol=0.03)
    assert found.why == ("", "")


def test_why_there_are_no_residues():
    t = 0.2 * np.arange(600)
    found = track(Record(np.cos(2.3 * t), dt=0.2), 60, 60, experiment="free")
    assert found.residues.mask.all()
    assert "how strongly each mode was excited" in found.why[0]
