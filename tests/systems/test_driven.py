"""Stationary records of damped systems under white noise, against exact second moments."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from prism.errors import OptionError
from prism.systems.chain import chain
from prism.systems.driven import driven

ZETA = np.array([0.05, 0.03, 0.02, 0.04])


def dense_moments(system, zeta, lag):
    """Covariance of the seen displacement at a lag, from physical matrices and a Lyapunov solve."""
    M, K = system.full_mass, system.full_stiffness
    values, modes = scipy.linalg.eigh(K, M)
    C = M @ modes @ np.diag(2 * zeta * np.sqrt(values)) @ modes.T @ M
    n = len(M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    B = np.vstack([np.zeros((n, n)), np.linalg.inv(M)])
    P = scipy.linalg.solve_continuous_lyapunov(A, -B @ B.T)
    G = np.hstack([system.observation, np.zeros_like(system.observation)])
    H = np.hstack([np.zeros_like(system.observation), system.observation])
    step = scipy.linalg.expm(A * lag)
    return G @ step @ P @ G.T, H @ step @ P @ H.T


@pytest.mark.parametrize(("quantity", "place"), [("displacement", 0), ("velocity", 1)])
def test_moments_are_those_of_the_exact_process(quantity, place):
    system = chain(masses=[1.0, 2.0, 1.5, 1.0], springs=[3.0, 2.0, 4.0, 1.0])
    record = driven(system, 4000, 0.5, damping=ZETA, quantity=quantity, trials=4, rng=0)
    for lag in (0, 3):
        exact = dense_moments(system, ZETA, 0.5 * lag)[place]
        seen = np.mean(
            [x[lag:].T @ x[: len(x) - lag] / (len(x) - lag) for x in record.trials], axis=0
        )
        scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact))) if lag == 0 else np.abs(exact)
        assert np.all(np.abs(seen - exact) < 0.12 * scale.max())


def test_acceleration_is_the_derivative_of_the_velocity_below_the_sampling_rate():
    system = chain(observed=[0, 1])
    record = driven(system, 3000, 0.2, damping=0.002, quantity=["velocity", "acceleration"], rng=1)
    same = chain(observed=[0, 1]).shapes
    omega = 2 * np.pi * np.fft.rfftfreq(record.samples[0], 0.2)
    spectrum = np.fft.rfft(record.trials[0] * np.hanning(record.samples[0])[:, None], axis=0)
    near = np.abs(omega - system.frequencies[1]) < 0.005
    ratio = np.sum(spectrum[near, 1] * spectrum[near, 0].conj()) / np.sum(
        np.abs(spectrum[near, 0]) ** 2
    )
    assert ratio == pytest.approx(1j * system.frequencies[1] * same[1, 1] / same[1, 0], rel=0.05)


def test_noise_is_a_fraction_of_each_channel():
    clean = driven(chain(), 500, 0.5, rng=3)
    noisy = driven(chain(), 500, 0.5, noise=0.1, rng=3)
    ratio = (noisy.trials[0] - clean.trials[0]).std(axis=0) / clean.std()
    assert ratio == pytest.approx([0.1, 0.1], rel=0.1)


@pytest.mark.parametrize(
    "bad",
    [
        {"damping": 0.0},
        {"damping": [0.1, 0.1]},
        {"quantity": "heat"},
        {"forces": -np.eye(4)},
        {"forces": np.eye(3)},
        {"duration": 1.0},
    ],
)
def test_bad_options_are_refused(bad):
    options = {"duration": 100.0, "dt": 0.5, **bad}
    with pytest.raises(OptionError):
        driven(chain(), options.pop("duration"), options.pop("dt"), **options)
