"""Zeros with friction between modes: where H loses rank, and how they move."""

import numpy as np
import pytest

from prism.motion.forced.friction import FrictionSystem
from prism.motion.forced.friction.zeros import coupled_zeros, zero_error


@pytest.fixture(scope="module")
def system():
    rng = np.random.default_rng(4)
    L = 0.1 * rng.standard_normal((4, 4))
    return FrictionSystem(np.array([0.5, 1.2, 2.0, 3.1]), rng.standard_normal((4, 2)), L @ L.T)


@pytest.mark.parametrize(("out", "inp"), [([0], [0]), ([0], [1]), ([0, 1], [0, 1])])
def test_the_response_loses_rank_at_a_zero(system, out, inp):
    found = coupled_zeros(system, out, inp)
    assert len(found)
    scale = np.abs(system.receptance(np.array([0.3j]))).max()
    for s in found:
        H = system.receptance(np.array([s]))[0][np.ix_(out, inp)]
        assert np.linalg.svd(H)[1][-1] < 1e-8 * scale * (1 + abs(s) ** 2)


def test_the_error_of_a_zero_is_that_of_differences(system):
    covariance = np.zeros((4 + 8 + 10,) * 2)
    covariance[1, 1] = 1e-8
    covariance[12 + 1, 12 + 1] = 1e-8  # C[1, 0]
    s = coupled_zeros(system, [0], [0])[0]

    def size(lam_step, friction_step):
        lam, C = system.lam.copy(), system.C.copy()
        lam[1] += lam_step
        C[1, 0] += friction_step
        C[0, 1] = C[1, 0]
        return abs(coupled_zeros(FrictionSystem(lam, system.V, C), [0], [0])[0])

    h = 1e-5
    slopes = [(size(h, 0) - size(-h, 0)) / (2 * h), (size(0, h) - size(0, -h)) / (2 * h)]
    expected = 1e-4 * np.hypot(*slopes)
    assert zero_error(system, complex(s), [0], [0], covariance) == pytest.approx(expected, rel=1e-4)
