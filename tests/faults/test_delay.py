"""A late channel is told from lines in phase or out of phase, and put in time."""

import numpy as np
import pytest
from tests.faults.conftest import DT, OMEGA

import prism
from prism.faults import corrected, find_delays
from prism.faults.delay import Phases, _lags, _late, quadrature
from prism.motion.steady import estimate_lines
from prism.record import Record


def record(seed, lag=0.0, turn=0.0):
    rng = np.random.default_rng([41, seed])
    t = DT * np.arange(2000)
    shape = rng.uniform(0.4, 1.0, (3, 4)) * rng.choice([-1, 1], (3, 4))
    z = np.exp(2j * np.pi * rng.uniform(size=4))
    late = np.zeros((3, 4))
    late[1] = OMEGA * lag + turn * rng.standard_normal(4)
    e = np.exp(1j * np.outer(t, OMEGA)) * z
    x = np.stack([np.real(e * np.exp(-1j * late[a])) @ shape[a] for a in range(3)], axis=1)
    return Record(x + 0.05 * rng.standard_normal(x.shape), dt=DT)


def found(made):
    return find_delays(made, estimate_lines(made, false_alarm=1e-3), 1e-3)


def test_lines_in_phase_have_no_delay():
    assert [found(record(seed)) for seed in range(10)] == [()] * 10


def test_a_delay_has_its_channel_size_and_error():
    z = []
    for seed in range(10):
        (fault,) = found(record(seed, lag=0.03))
        assert (fault.code, fault.channels) == ("delay", ("x2",))
        z.append((fault.size[0] - 0.03) / fault.error[0])
    assert 0.4 < np.sqrt(np.mean(np.square(z))) < 1.7


def test_lines_out_of_phase_are_no_delay():
    assert [found(record(seed, turn=0.3)) for seed in range(5)] == [()] * 5


def test_one_line_out_of_phase_is_no_delay():
    """Any delay explains one phase: the others must show it too."""
    t = DT * np.arange(2000)
    rng = np.random.default_rng(5)
    x = np.cos(np.outer(t, OMEGA)) @ rng.uniform(0.4, 1.0, (4, 3))
    x[:, 1] += 0.1 * np.sin(OMEGA[3] * t)
    assert found(Record(x + 0.05 * rng.standard_normal(x.shape), dt=DT)) == ()


def test_a_delay_that_one_line_alone_shows_is_named_and_not_corrected():
    """The other line turns too little to tell, and agrees."""
    t, rng = DT * np.arange(2000), np.random.default_rng(8)
    late = t[:, None] - np.array([0.0, 0.03])
    x = np.cos(4.0 * late) + 0.3 * np.cos(0.9 * late) * np.array([1.0, -0.7])
    (fault,) = found(Record(x + 0.1 * rng.standard_normal(x.shape), dt=DT))
    assert (fault.code, fault.channels, fault.lines) == ("delay", ("x2",), ())
    assert abs(fault.size[0] - 0.03) < 4 * fault.error[0]
    assert "channel x2 may be late by" in str(fault.remark)
    assert "one line alone shows it" in str(fault.remark)


@pytest.mark.filterwarnings("error")
def test_a_channel_without_lines_does_not_tell_its_delay():
    z = np.array([[[1.0, 0.5], [0.8, 0.7], [0.0, 0.0]]], complex)
    phases = Phases(z, np.full((1, 3), 1e3), np.array([1.0, 2.3]))
    lags = np.linspace(-1, 1, 201)
    assert [one.error for one in _lags(phases, lags) if one.channel == 2] == [np.inf]
    assert all(one.error < 1 for one in _lags(phases, lags) if one.channel < 2 and one.left < 1)


def test_a_delay_that_another_explains_as_well_is_not_corrected():
    """Lines that are close turn alike: a delay, and one a whole turn from it, look the same."""
    omega = np.array([2.0, 2.02, 2.04])
    rng = np.random.default_rng(6)
    z = np.array([rng.uniform(0.5, 1.0, (3, 3)).astype(complex)])
    z[:, 0] *= np.exp(-1j * omega * 0.75)
    near = _late(Phases(z, np.full((1, 3), 900.0), omega), ("a", "b", "c"), 1e-3, omega)
    sure = _late(Phases(z, np.full((1, 3), 9e6), omega), ("a", "b", "c"), 1e-3, omega)
    assert [one.channels for one in near + sure] == [("a",), ("a",)]
    assert (near[0].lines, len(sure[0].lines)) == ((), 3)
    assert "would explain them as well" in near[0].why
    assert near[0].treatment == "nothing was changed"


def test_few_phases_cannot_exclude_a_rotation():
    """A weak gyroscopic force turns the two lines of two coordinates as a delay does."""
    rotor = prism.systems.GyroscopicSystem(
        np.eye(2), [[0, 0.05], [-0.05, 0]], [[2.0, -0.7], [-0.7, 1.2]], np.eye(2)
    )
    t = np.arange(0, 900, 0.4)
    x = np.real(np.exp(1j * np.outer(t, rotor.frequencies)) @ rotor.factors)
    noise = 0.02 * x.std() * np.random.default_rng(7).standard_normal(x.shape)
    (fault,) = found(Record(x + noise, dt=0.4))
    assert "a system that rotates would look the same" in fault.why
    (sure,) = found(record(0, lag=0.03))
    assert "rotates" not in sure.why


def test_the_lines_of_the_late_channel_are_moved():
    noise = 0.05 * np.random.default_rng(8).standard_normal((2, 2000, 3))
    t = DT * np.arange(2000)
    shape = np.random.default_rng(9).uniform(0.4, 1.0, (4, 3))
    true = np.cos(np.outer(t, OMEGA)) @ shape
    seen = true.copy()
    seen[:, 1] = np.cos(np.outer(t - 0.5, OMEGA)) @ shape[:, 1]
    made = Record([seen + noise[0], -0.3 * seen + noise[1]], dt=DT)
    mended = corrected(made, found(made))
    for got, scale, one in zip(mended.trials, (1.0, -0.3), noise, strict=True):
        rest = got - scale * true - one
        assert np.abs(rest[:, [0, 2]]).max() < 1e-12
        assert rest[:, 1].std() < 0.01
    assert corrected(mended, found(mended)) is mended


def test_the_quadrature_is_that_of_the_best_phase():
    rng = np.random.default_rng(3)
    z = rng.standard_normal((1, 3, 1)) + 1j * rng.standard_normal((1, 3, 1))
    w = rng.uniform(1, 2, (1, 3))
    phases = np.linspace(0, np.pi, 20001)
    left = (w[0, :, None] * np.imag(z[0] * np.exp(-1j * phases)) ** 2).sum(axis=0) / 2
    assert quadrature(z, w, np.ones((1, 1)), 0)[0, 0] == pytest.approx(left.min(), rel=1e-6)
