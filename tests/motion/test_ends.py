"""The ends of a record in its Fourier lines, against a recursion that is summed up term by term."""

import numpy as np
import pytest

import prism
from prism.motion.driven.spectrum import fourier_lines
from prism.motion.ends import end_columns, without_ends
from prism_bench.kinds import make

STEP, COUNT = 0.2, 601
POLES = np.array([-0.004 + 1.3j, -0.01 + 4.1j])


def recursion(pole, drive):
    """x_t = 2 Re(p) x_{t-1} - |p|² x_{t-2} + e_t, from rest a long time before."""
    p, x = np.exp(STEP * pole), np.zeros(len(drive))
    for t in range(len(drive)):
        x[t] = 2 * p.real * x[t - 1] - abs(p) ** 2 * x[t - 2] + drive[t] if t > 1 else drive[t]
    return x


@pytest.mark.parametrize("pole", POLES)
def test_what_the_ends_add_is_two_numbers(pole):
    drive = np.random.default_rng(1).standard_normal(5 * COUNT)
    x = recursion(pole, drive)[-COUNT:]
    X, E = np.fft.rfft(x), np.fft.rfft(drive[-COUNT:])
    omega = 2 * np.pi * np.fft.rfftfreq(COUNT, STEP)
    columns = end_columns(omega, np.array([pole]), STEP)
    ends = X - columns[:, 0] * E
    both = np.concatenate([columns.real, columns.imag])
    found, *_ = np.linalg.lstsq(both, np.concatenate([ends.real, ends.imag]), rcond=None)
    np.testing.assert_allclose(columns @ found, ends, atol=1e-9 * np.abs(X).max())
    assert np.abs(ends).max() > 0.1 * np.abs(X).max()


def test_nothing_is_left_of_a_motion_that_is_all_ends():
    t = STEP * np.arange(COUNT)
    free = np.array([[1.0, 0.5], [0.3, -0.8]])
    y = (np.exp(np.outer(t, POLES)) * np.exp(1j * np.array([0.4, 2.0]))).real @ free
    lines = fourier_lines(prism.Record(y, dt=STEP))
    # the mean was taken off, which is in no other line
    columns = end_columns(lines.omega, POLES, STEP)
    pieces = np.array_split(np.arange(len(lines.omega)), 7)
    left = without_ends(lines, pieces, columns, np.ones(lines.values.shape))
    assert np.abs(left).max() < 1e-9 * np.abs(lines.values).max()


@pytest.mark.parametrize("seed", [664, 668])
def test_narrow_modes_far_above_the_noise_are_driven(seed):
    """Steady lines, or decays, won by explaining the ends: by 380 of twice the log-likelihood."""
    case = make("driven-narrow", seed)
    model = prism.identify(case.record)
    assert model.kind == "driven"
    assert len(model.modes) == sum(mode.visible for mode in case.modes)
    assert min(one.behind for one in model.evidence.rivals[1:]) > 50
