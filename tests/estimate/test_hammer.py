"""Hits of a hammer: the windows, what they add, and double hits."""

import numpy as np
import pytest

from prism.errors import PrismWarning
from prism.estimate.estimation import estimate_response
from prism.record import Record


def struck(rng, hits=8, samples=1000, dt=0.05, noise=0.0, force_noise=0.0):
    """Hits on ``x'' + 2ζΩx' + Ω²x = f``; the response is exact for the held force."""
    from scipy.signal import cont2discrete, lfilter

    up, down, _ = cont2discrete(([1.0], [1.0, 0.04, 4.0]), dt, method="foh")
    t = dt * np.arange(samples)
    out = []
    for _ in range(hits):
        f = rng.uniform(0.5, 2) * np.exp(-0.5 * ((t - 1.0) / 0.1) ** 2) * (abs(t - 1) < 0.5)
        x = lfilter(np.ravel(up), down, f)
        x = x + noise * rng.standard_normal(samples)
        out.append(np.column_stack([f + force_noise * rng.standard_normal(samples), x]))
    return Record(out, dt=dt, channels=["f", "x"])


def receptance(s, dt=0.05):
    """Of the struck oscillator, with the force held at first order between its samples."""

    def hold(z):
        return ((1 - np.exp(-z * dt)) / dt) ** 2 * np.exp(z * dt) / z**2

    images = 2j * np.pi * np.arange(-20, 21) / dt
    z = s[:, None] + images
    return (hold(z) / (z**2 + 0.04 * z + 4)).sum(axis=1)


def test_exponential_window_adds_exactly_its_decay():
    record = struck(np.random.default_rng(1), hits=2)
    found = estimate_response(record, "f", excitation="hammer", final=1e-8, pulse=1.2)
    assert found.added_decay == pytest.approx(-np.log(1e-8) / 50)
    response = found.response.band(0.2, 5)
    expected = receptance(1j * response.omega + found.added_decay)
    np.testing.assert_allclose(response.receptance[:, 0, 0], expected, rtol=2e-7)
    plain = estimate_response(record, "f", excitation="hammer")
    assert plain.added_decay == 0.0


def test_velocity_under_an_exponential_window_is_the_shifted_receptance():
    rng = np.random.default_rng(1)
    record = struck(rng, hits=3)
    as_velocity = [
        np.column_stack([trial[:, 0], trial[:, 1], np.gradient(trial[:, 1], record.dt)])
        for trial in record.trials
    ]
    kinds = ["displacement", "velocity", "velocity"]
    fake = Record(as_velocity, record.dt, channels=["f", "v", "w"], quantity=kinds)
    found = estimate_response(fake, "f", excitation="hammer", final=1e-6, at={"f": "v"})
    same = estimate_response(record, "f", excitation="hammer", final=1e-6)
    s = 1j * found.response.omega + found.added_decay
    np.testing.assert_allclose(
        found.response.receptance[:, 0, 0], same.response.values[:, 0, 0] / s, rtol=1e-9
    )


def test_hits_are_calibrated():
    rng = np.random.default_rng(9)
    squares, variances = [], []
    for _ in range(200):
        record = struck(rng, hits=10, samples=400, noise=0.02, force_noise=0.002)
        found = estimate_response(record, "f", excitation="hammer", final=1e-4, pulse=1.2)
        response = found.response.band(0.2, 6)
        expected = receptance(1j * response.omega + found.added_decay)
        squares.append(abs(response.values[:, 0, 0] - expected) ** 2)
        variances.append(response.variance[:, 0, 0])
    assert np.mean(squares) / np.mean(variances) == pytest.approx(1, abs=0.1)


def test_a_pretrigger_takes_off_the_offset():
    clean = struck(np.random.default_rng(1), hits=2)
    moved = Record(
        [trial + np.array([0.01, 0.3]) for trial in clean.trials], clean.dt, channels=["f", "x"]
    )
    options = {"excitation": "hammer", "final": 1e-6}
    expected = estimate_response(clean, "f", **options).response.values
    found = estimate_response(moved, "f", pretrigger=8, **options).response.values
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


def test_double_hits_are_noticed():
    record = struck(np.random.default_rng(1), hits=3, force_noise=1e-3)
    trials = [np.array(trial) for trial in record.trials]
    trials[1][:, 0] += 0.2 * np.roll(trials[1][:, 0], 40)
    with pytest.warns(PrismWarning, match="trial 1 .* double hit"):
        estimate_response(Record(trials, record.dt, channels=["f", "x"]), "f", excitation="hammer")


@pytest.mark.filterwarnings("error::prism.errors.PrismWarning")
def test_clean_hits_are_not_called_double():
    record = struck(np.random.default_rng(1), hits=3, force_noise=5e-3)
    estimate_response(record, "f", excitation="hammer")
