"""Modes of noise-driven records, found blind."""

from __future__ import annotations

import numpy as np
import pytest

from prism.damped import fit_driven
from prism.damped.innovations import drive_remarks, excess_kurtosis
from prism.damped.subspace import candidates, covariances
from prism.errors import NoLineError, OptionError, RecordError, RecordTooShortError
from prism.record import Record
from prism.systems.chain import chain
from prism.systems.driven import driven

PAIR = chain(2, springs=20.0, observed=[0, 1])
ZETA = np.array([0.01, 0.008])
T, DT = 300.0, 0.25


@pytest.mark.parametrize("quantity", ["displacement", ["displacement", "acceleration"]])
def test_modes_are_found_blind(quantity):
    record = driven(PAIR, T, DT, damping=ZETA, noise=0.1, quantity=quantity, rng=0)
    told: list[str] = []
    fit = fit_driven(record, progress=told.append)
    assert len(fit) == 2
    assert len(told) == 3
    assert np.all(np.abs(fit.frequencies - PAIR.frequencies) < 4 * fit.frequencies_std)
    assert np.all(fit.frequencies_std < 0.01 * fit.frequencies)
    assert np.all(np.abs(fit.damping - ZETA) < 4 * fit.damping_std)
    assert np.all(fit.damping_interval[:, 0] < fit.damping)
    assert np.all(fit.damping < fit.damping_interval[:, 1])
    overlap = np.abs(np.sum(fit.shapes * PAIR.shapes, axis=1))
    assert np.all(overlap > 0.995)
    assert np.allclose(np.linalg.norm(fit.shapes, axis=1), 1.0)
    assert fit.covariance.shape == (8, 8)
    std = np.sqrt(np.diag(fit.covariance))
    assert np.allclose(std, [*fit.frequencies_std, *fit.shapes_std.ravel(), *fit.damping_std])
    assert np.all(fit.significance > 5)


def test_most_significant_modes_are_kept_and_one_channel_is_enough():
    record = driven(PAIR, T, DT, damping=ZETA, noise=0.1, rng=1).select("q1")
    fit = fit_driven(record, max_modes=1)
    assert len(fit) == 1
    assert fit.shapes.tolist() == [[1.0]]


def test_white_noise_has_no_modes():
    record = Record(np.random.default_rng(0).standard_normal((1200, 2)), dt=0.25)
    with pytest.raises(NoLineError, match="stands out"):
        fit_driven(record)


def test_a_band_limits_the_search():
    record = driven(PAIR, T, DT, damping=ZETA, noise=0.1, rng=2)
    low, high = PAIR.frequencies
    fit = fit_driven(record, band=(0.5 * (low + high), 1.3 * high))
    assert len(fit) == 1
    assert fit.frequencies[0] == pytest.approx(high, rel=0.01)


@pytest.mark.parametrize(
    "bad", [{"band": (2.0, 1.0)}, {"band": (0.1, 99.0)}, {"false_alarm": 0.0}, {"max_modes": 0}]
)
def test_bad_options_are_refused(bad):
    record = Record(np.random.default_rng(0).standard_normal(200), dt=0.25)
    with pytest.raises(OptionError):
        fit_driven(record, **bad)


def test_records_without_fourier_lines_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(RecordError, match="irregular"):
        fit_driven(Record(rng.standard_normal(200), t=np.sort(rng.uniform(0, 9, 200))))
    holes = rng.standard_normal(200)
    holes[5] = np.nan
    with pytest.raises(RecordError, match="missing"):
        fit_driven(Record(holes, dt=0.1))
    with pytest.raises(RecordTooShortError):
        fit_driven(Record(holes[6:40], dt=0.1))


def test_kicks_are_remarked_and_steady_noise_is_not():
    steady = driven(PAIR, T, DT, damping=0.01, noise=0.01, rng=3)
    assert drive_remarks(steady) == ()
    t = DT * np.arange(1200)
    decay = np.exp((-0.05 + 3j) * t)
    kicks = np.zeros(1200)
    kicks[::100] = np.random.default_rng(0).standard_normal(12)
    ring = np.convolve(kicks, decay)[:1200].real + 1e-3 * np.random.default_rng(1).normal(size=1200)
    record = Record(ring, dt=DT)
    assert excess_kurtosis(record)[0] > 10
    assert "kicks" in drive_remarks(record)[0]


def test_covariances_are_the_lagged_products():
    x = np.random.default_rng(0).standard_normal((50, 2))
    dense = [x[k:].T @ x[: 50 - k] / 50 for k in range(4)]
    assert np.allclose(covariances([x], 3), dense)


def test_candidates_hold_the_modes():
    record = driven(PAIR, T, DT, damping=ZETA, noise=0.1, rng=4)
    found = [c.omega for c in candidates(record, 0.1, 12.0)]
    for omega in PAIR.frequencies:
        assert np.min(np.abs(np.array(found) / omega - 1)) < 0.01
