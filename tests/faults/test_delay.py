"""A late channel is told from lines in phase, and from lines that are out of phase."""

import numpy as np
import pytest
from tests.faults.conftest import DT, OMEGA

from prism.faults import find_delays
from prism.faults.delay import quadrature
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


def test_the_quadrature_is_that_of_the_best_phase():
    rng = np.random.default_rng(3)
    z = rng.standard_normal((1, 3, 1)) + 1j * rng.standard_normal((1, 3, 1))
    w = rng.uniform(1, 2, (1, 3))
    phases = np.linspace(0, np.pi, 20001)
    left = (w[0, :, None] * np.imag(z[0] * np.exp(-1j * phases)) ** 2).sum(axis=0) / 2
    assert quadrature(z, w, np.ones((1, 1)), 0)[0] == pytest.approx(left.min(), rel=1e-6)
