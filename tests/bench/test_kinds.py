"""Makers of records of every kind: what they draw, and the truth that they state, done densely."""

from dataclasses import replace

import numpy as np
import pytest

from prism.record import Record
from prism.systems import LinearSystem
from prism_bench.decays import _bound
from prism_bench.kinds import ROWS, SCORING, TUNING, make, score
from prism_bench.kinds.assumed import power
from prism_bench.kinds.case import TOLD
from prism_bench.kinds.faults import left_by_lines, out_of_phase
from prism_bench.kinds.free import Swinging, amplitudes, kicked_motion, poles, swing
from prism_bench.kinds.stationary import driven_modes
from prism_bench.kinds.systems import Drawn, Wanted, draw
from prism_bench.kinds.truth import free_modes, told_from_steady


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_makes_records_that_can_be_judged(row):
    case = make(row.name, 0, TUNING)
    again = make(row.name, 0, TUNING)
    other = make(row.name, 0, SCORING)
    assert all(np.isfinite(values).all() for values in case.record.trials)
    assert all(map(np.array_equal, case.record.trials, again.record.trials))
    assert case.record.samples != other.record.samples or not np.array_equal(
        case.record.trials[0], other.record.trials[0]
    )
    assert case.kinds or row.codes
    assert 1 <= case.record.n_channels <= 8
    for mode in case.modes or ():
        assert 0 < mode.frequency < np.pi / case.record.dt
        assert mode.reach(case.resolution) > 0


def test_names_of_rows_stand_once():
    assert len({row.name for row in ROWS}) == len({row.words for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("seed", range(20))
def test_systems_are_sampled_as_promised(seed):
    drawn = draw(np.random.default_rng(seed))
    omega, cell = drawn.system.frequencies, 2 * np.pi / drawn.duration
    assert 2 <= len(omega) <= 8
    assert 1 <= len(drawn.system.channels) <= len(omega)
    assert 4 <= 2 * np.pi / (omega[-1] * drawn.dt) <= 12
    assert 2000 <= drawn.samples <= 8000
    assert np.diff(omega).min() > 4 * cell


def test_sizes_and_subsets_vary():
    drawn = [draw(np.random.default_rng(seed)) for seed in range(60)]
    assert {len(one.zeta) for one in drawn} == set(range(2, 9))
    assert len({len(one.system.channels) for one in drawn}) >= 6


def test_the_bound_of_a_decay_is_that_of_all_samples():
    rng = np.random.default_rng(5)
    wanted = Wanted(
        (3, 3), (2, 2), (2000, 2000), damping=lambda r, w, T: np.array([1, 2, 3]) / w / T
    )
    motion = swing(rng, drawn := draw(rng, wanted))
    modes = free_modes(drawn, motion.z, motion.noise, Record(motion.clean, dt=drawn.dt))
    waves = np.exp(np.multiply.outer(drawn.t, poles(drawn)))
    size = motion.z[:, 0][:, None] * drawn.system.participation
    present = np.ones(motion.clean.shape, bool)
    dense, _ = _bound(drawn.t, poles(drawn), waves, size, motion.noise, present)
    np.testing.assert_allclose([mode.std for mode in modes], dense, rtol=0.1)


def test_what_steady_lines_leave_is_what_a_dense_fit_leaves():
    rng = np.random.default_rng(6)
    wanted = Wanted(
        (2, 2), (1, 1), (2000, 2000), damping=lambda r, w, T: np.array([0.3, 0.6]) / w / T
    )
    motion = swing(rng, drawn := draw(rng, wanted))
    modes = free_modes(drawn, motion.z, motion.noise, Record(motion.clean, dt=drawn.dt))
    told = told_from_steady(motion.z, np.array([mode.gain for mode in modes]))
    dense = left_by_lines(motion.clean[:, 0], drawn.dt, 2) / motion.noise[0] ** 2
    assert told == pytest.approx(dense, rel=0.1)


@pytest.mark.parametrize("row", ["sweep", "fault-clock"])
def test_the_frequency_of_a_line_that_moves_is_its_mean_over_the_samples(row):
    """Linear in time, it is that of the middle sample: half a step before the middle of T."""
    case = make(row, 0, TUNING)
    t, cells = case.record.times[0], case.extras["cells"]
    T = len(t) * case.record.dt
    omega = np.array([mode.frequency for mode in case.modes])
    # a clock moves lines in proportion to their frequency, the highest by all cells
    share = omega / omega[-1] if row == "fault-clock" else 1.0
    at_the_middle_of_T = omega + np.pi * cells * share / (len(t) * T)
    rng = np.random.default_rng([TUNING, [kind.name for kind in ROWS].index(row), 0])
    np.testing.assert_allclose(at_the_middle_of_T, draw(rng).system.frequencies, rtol=1e-9)


def test_what_modes_in_phase_leave_of_a_late_channel():
    rng = np.random.default_rng(7)
    motion = swing(rng, drawn := draw(rng, Wanted((3, 3), (3, 3))))
    turn = np.exp(-0.3j * drawn.system.frequencies)
    w = drawn.system.participation / motion.noise + 0j
    w[:, 1] *= turn
    angles = np.linspace(0, np.pi, 4001)
    rest = np.sum((w[:, None] * np.exp(-1j * angles)[:, None]).imag ** 2, axis=2).min(axis=1)
    dense = 0.5 * np.sum(np.abs(motion.z) ** 2, axis=1) @ rest
    assert out_of_phase(motion, turn, 1) == pytest.approx(dense, rel=1e-3)


def test_a_kick_leaves_the_displacement_and_changes_the_velocity():
    rng = np.random.default_rng(8)
    drawn = draw(rng, Wanted((2, 4), (1, 1)))
    at = drawn.samples // 2
    state = rng.bit_generator.state
    motion = kicked_motion(rng, drawn, np.array([at]))
    rng.bit_generator.state = state
    start = amplitudes(rng, drawn.system.frequencies)
    free = start[:, None] * np.exp(np.multiply.outer(poles(drawn), drawn.t))
    assert np.array_equal(motion.z[:, :at], free[:, :at])
    # half a step before the kick both are the same in displacement and not in velocity
    back = np.exp(-0.5 * poles(drawn) * drawn.dt)
    off = (motion.z[:, at] - free[:, at]) * back
    np.testing.assert_allclose(off.real, 0, atol=1e-12)
    assert np.all(np.abs(off.imag) > 0)


def test_the_frequency_of_a_resonance_is_known_to_its_width_over_the_time():
    system = LinearSystem(np.eye(1), np.eye(1), np.eye(1))
    drawn = Drawn(system, np.array([0.01]), 0.5, 20000)
    record = Record(np.random.default_rng(0).standard_normal((20000, 1)), dt=0.5)
    (mode,) = driven_modes(drawn, np.eye(1), np.array([1e-3]), record)
    assert mode.std == pytest.approx(np.sqrt(0.01 / drawn.duration), rel=0.05)
    assert mode.visible
    (mode,) = driven_modes(drawn, np.eye(1), np.array([300.0]), record)
    assert not mode.visible


def test_an_oracle_tells_two_signals_with_the_certainty_that_is_stated():
    rng = np.random.default_rng(9)
    signal = np.sqrt(TOLD / 100) * np.ones(100)
    y = rng.standard_normal((20000, 100))
    # log-likelihood ratio of "signal" against "nothing", where there is nothing
    assert np.mean(y @ signal < 0.5 * TOLD) == pytest.approx(0.99, abs=0.003)


def test_the_power_of_a_test_of_equilibrium():
    rng = np.random.default_rng(10)
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    v, even = turn[:, :2], np.ones(5)
    assert power(v, even, 200) == pytest.approx(1e-3, rel=0.01)
    assert power(v[:, :1], np.array([1, 2, 3, 4, 5.0]), 200) == 0
    assert power(v * [1.0, 1.5], even, 2000) > 0.99
    assert power(v * [1.0, 1.05], even, 20) < power(v * [1.0, 1.05], even, 2000)


def test_a_motion_is_the_sum_of_its_modes():
    rng = np.random.default_rng(11)
    drawn = draw(rng, Wanted((2, 3), (2, 2)))
    motion = swing(rng, drawn)
    assert isinstance(motion, Swinging)
    K, M = drawn.system.full_stiffness, drawn.system.full_mass
    omega, shapes = drawn.system.frequencies, drawn.system._modal[1]
    np.testing.assert_allclose(K @ shapes, M @ shapes * omega**2, atol=1e-9)
    whole = shapes @ motion.z.real
    np.testing.assert_allclose(drawn.system.observation @ whole, motion.clean.T, atol=1e-12)


def test_what_is_smaller_than_the_limit_is_no_silent_answer():
    """A swing that no test could see: steady lines, and the sentence says how large it may be."""
    found = score(make("modulated", 845, 0))
    assert (found.outcome, found.right, found.silent, found.below) == ("steady", False, False, True)
    assert "unseen" in str(found)


def test_a_change_above_the_limit_is_not_excused():
    case = make("modulated", 845, 0)
    loud = replace(case, extras={**case.extras, "swing": 3 * case.extras["swing"]})
    assert score(loud).silent
    assert score(replace(case, extras={})).silent


def test_a_sweep_knows_how_far_its_phase_is_off():
    """The sentence on what stays unseen is of phases in radians too."""
    case = make("sweep-small", 3, TUNING)
    u = np.linspace(-0.5, 0.5, 20001)
    phase = np.pi * case.extras["cells"][0] * u**2
    assert np.sqrt(2) * phase.std() == pytest.approx(case.extras["swing"][0], rel=1e-3)
