"""Errors of lines whose amplitudes are hardly known."""

import numpy as np
import pytest

import prism
from prism.motion.steady import METHODS
from prism.motion.steady.weak import information

find = METHODS["likelihood"]


def test_weak_lines_of_many_trials_know_their_errors():
    """Thirty trials whose line is hardly seen in each: the amplitudes are as noisy as the rest."""
    t, d, frequency, shape = np.arange(200.0), np.array([0.6, 0.8]), [], []
    for seed in range(50):
        rng = np.random.default_rng([31, seed])
        z = rng.standard_normal((30, 2)) @ [[1], [1j]]
        trials = [np.outer((one * np.exp(0.7j * t)).real, d) for one in z]
        noise = 5.5 * rng.standard_normal((30, len(t), 2))
        fit = find(prism.Record(list(trials + noise), dt=1.0), false_alarm=0.01).fit
        k, lines = int(np.argmin(np.abs(fit.omega - 0.7))), len(fit.omega)
        std = np.sqrt(np.diag(fit.covariance))
        frequency.append((fit.omega[k] - 0.7) / std[k])
        found = fit.shapes[k] * np.sign(fit.shapes[k] @ d)
        shape.append((found - d)[0] / std[lines + 2 * k])
    # 50 records: a coverage of .95 scatters by .03; without the correction it is near .8
    assert np.mean(np.abs(frequency) < 1.96) > 0.87
    assert np.mean(np.abs(shape) < 1.96) > 0.87


def test_information_is_the_squared_amplitude_over_its_noise():
    """Of a line on one channel: N A²/(2σ²)."""
    rng, t = np.random.default_rng(0), np.arange(4000.0)
    y = 0.5 * np.cos(0.7 * t) + 0.2 * rng.standard_normal(len(t))
    fit = find(prism.Record(y[:, None], dt=1.0), false_alarm=0.01).fit
    assert information(fit)[0] == pytest.approx(4000 * 0.25 / (2 * 0.04), rel=0.05)
