"""Differences of reciprocal measurements: noise, gains, rotation or an active system."""

import numpy as np
import pytest

from prism import FrequencyResponse
from prism.motion.forced.rotating import asymmetry_of, explained_by_gains

OMEGA = np.linspace(0.2, 4.0, 150)
M, K = np.diag([1.0, 1.5]), np.array([[3.0, -1.0], [-1.0, 4.0]])
TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])


def response(gyroscopic=0.0, circulatory=0.0, friction=0.0, gains=(1.0, 1.0), noise=0.03, rng=0):
    rng = np.random.default_rng(rng)
    s = 1j * OMEGA[:, None, None]
    H = np.linalg.inv(M * s**2 + (gyroscopic * TURN + friction * K) * s + K + circulatory * TURN)
    error = rng.standard_normal((2, *H.shape)) / np.sqrt(2)
    H = np.array(gains)[:, None] * H * (1 + noise * (error[0] + 1j * error[1]))
    return FrequencyResponse(OMEGA, H)


@pytest.mark.parametrize("rng", range(20))
def test_noise_is_no_signal_and_gives_out_no_energy(rng):
    seen = asymmetry_of(response(rng=rng))
    assert not seen.is_signal
    assert not seen.is_active


def test_rotation_is_a_signal_but_not_active():
    seen = asymmetry_of(response(gyroscopic=0.3))
    assert seen.is_signal
    assert not seen.is_active
    assert not explained_by_gains(response(gyroscopic=0.3))


def test_circulatory_forces_are_active_by_as_much_as_they_are():
    seen = asymmetry_of(response(circulatory=0.5, noise=1e-6))
    assert seen.is_active
    k = int(np.argmin(np.abs(OMEGA - seen.where)))
    H = np.linalg.inv(K + 0.5 * TURN - M * OMEGA[k] ** 2)
    exact = np.linalg.eigvalsh((H - H.T) / 2j)[-1] / np.linalg.norm(H)
    assert seen.active == pytest.approx(exact, rel=0.1)


def test_friction_takes_energy_in():
    assert not asymmetry_of(response(gyroscopic=0.3, friction=0.02)).is_active


def test_gains_explain_what_they_make():
    wrong = response(gains=(1.0, 1.2))
    assert asymmetry_of(wrong).is_signal
    assert explained_by_gains(wrong)


def test_a_single_port_says_nothing():
    one = response()
    assert asymmetry_of(FrequencyResponse(OMEGA, one.values[:, :1, :1])) is None
