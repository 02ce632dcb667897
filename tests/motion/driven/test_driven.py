"""Modes of noise-driven records, found blind."""

from __future__ import annotations

import numpy as np
import pytest

from prism.errors import NoLineError, OptionError, RecordError, RecordTooShortError
from prism.motion.driven import fit_driven
from prism.motion.driven.innovations import drive_remarks, excess_kurtosis, kicks
from prism.motion.driven.search import ModeSearch
from prism.motion.driven.sensor import sensor_kind
from prism.motion.driven.spectrum import fourier_lines
from prism.motion.driven.subspace import (
    _observability,
    candidates,
    covariances,
    modes_of_order,
)
from prism.record import Record
from prism.systems.chain import chain
from prism.systems.driven import driven
from prism_bench.driven import CASES, driven_bound
from prism_bench.driven import ZETA as SPREAD

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
    given = np.array([*fit.frequencies_std, *fit.shapes_std.ravel(), *fit.damping_std])
    # shapes to second order: never less, and hardly more where errors are small
    assert np.allclose(std, given, rtol=1e-3)
    assert np.all(given >= std * (1 - 1e-12))
    assert np.all(fit.significance > 5)


def test_bands_hold_what_the_whole_record_tells():
    """Errors stated for a blind fit are those of the bound; narrow bands make them a third more."""
    case = CASES[0]
    record = case.record(1000)
    fit = fit_driven(record)
    frequency, damping = driven_bound(case, record)
    assert len(fit) == 4
    # an error of ln ζ goes with the inverse root of the damping found
    stated = fit.damping_std / fit.damping * np.sqrt(fit.damping / SPREAD)
    assert np.all(np.abs(np.mean((stated / damping)[:3]) - 1.07) < 0.12)
    assert np.mean(fit.frequencies_std / fit.frequencies / frequency) < 1.3
    assert np.all(np.abs(fit.frequencies - case.system.frequencies) < 4 * fit.frequencies_std)


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


def ringing(noise, seed=0, gap=100):
    """A mode kicked every `gap` samples."""
    rng = np.random.default_rng(seed)
    hits = np.zeros(1200)
    hits[::gap] = 1 + rng.uniform(size=len(hits[::gap]))
    ring = np.convolve(hits, np.exp((-0.05 + 3j) * DT * np.arange(1200)))[:1200].real
    return Record(ring + noise * rng.normal(size=1200), dt=DT)


@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_kicks_are_found_to_the_sample(noise):
    record = ringing(noise)
    assert excess_kurtosis(record)[0] > 10
    (times,) = kicks(record)
    assert np.allclose(times, 100 * DT * np.arange(1, 12))
    assert "11 kicks, at 25, 50" in drive_remarks(record)[0]


def test_steady_noise_has_no_kicks():
    for noise, quantity in ((0.0, "displacement"), (0.1, "acceleration")):
        steady = driven(PAIR, T, DT, damping=0.01, noise=noise, quantity=quantity, rng=3)
        assert kicks(steady) == ()
        assert drive_remarks(steady) == ()


def test_trials_of_different_length_are_fitted_together():
    long = driven(PAIR, T, DT, damping=ZETA, noise=0.1, rng=5).select("q1")
    short = driven(PAIR, 0.6 * T, DT, damping=ZETA, noise=0.1, rng=6).select("q1")
    both = Record([long.trials[0], short.trials[0]], dt=DT)
    fit, alone = fit_driven(both), fit_driven(long)
    assert len(fit) == len(alone) == 2
    assert np.all(np.abs(fit.frequencies - PAIR.frequencies) < 4 * fit.frequencies_std)
    assert np.mean(fit.frequencies_std / alone.frequencies_std) < 0.95


def test_a_mode_that_barely_decays_has_a_wide_interval_of_damping():
    """ζ f T = 0.2: the frequency is sharp, the damping hardly known."""
    system = chain(1, springs=16.0, observed=[0])
    record = driven(system, T, DT, damping=0.001, noise=0.1, rng=7)
    fit = fit_driven(record)
    assert len(fit) == 1
    assert abs(fit.frequencies[0] - 4.0) < 4 * fit.frequencies_std[0] < 0.1
    low, high = fit.damping_interval[0]
    assert low <= 0.001 <= high
    assert high > 3 * low


def test_close_modes_are_told_apart():
    system = chain(2, springs=[20.0, 0.6, 20.0], ends="fixed-fixed", observed=[0, 1])
    record = driven(system, 2 * T, DT, damping=0.004, noise=0.05, rng=8)
    fit = fit_driven(record)
    assert len(fit) == 2
    assert np.all(np.abs(fit.frequencies - system.frequencies) < 4 * fit.frequencies_std)


@pytest.mark.parametrize("quantity", ["displacement", "velocity", "acceleration"])
def test_the_kind_of_sensor_is_told_by_its_likelihood(quantity):
    record = driven(PAIR, T, DT, damping=ZETA, noise=0.05, quantity=quantity, rng=9)
    nameless = Record(record.trials[0], dt=DT)
    kind = sensor_kind(nameless, fit_driven(record.select("q1")))
    assert kind.best == quantity
    assert max(kind.log_likelihood.values()) == 0.0


def test_covariances_are_the_lagged_products():
    x = np.random.default_rng(0).standard_normal((50, 2))
    dense = [x[k:].T @ x[: 50 - k] / 50 for k in range(4)]
    assert np.allclose(covariances([x], 3), dense)


def test_candidates_hold_the_modes():
    record = driven(PAIR, T, DT, damping=ZETA, noise=0.1, rng=4)
    found = [c.omega for c in candidates(fourier_lines(record), 0.1, 12.0)]
    for omega in PAIR.frequencies:
        assert np.min(np.abs(np.array(found) / omega - 1)) < 0.01


def test_poles_of_each_order_are_those_of_the_shifted_observability():
    record = driven(PAIR, T, DT, damping=ZETA, noise=0.1, rng=3)
    values, blocks, n = record.trials[0], 20, record.n_channels
    R = covariances([values], 2 * blocks)
    U = _observability(R, blocks)
    hankel = np.block([[R[1 + i + j] for j in range(blocks)] for i in range(blocks)])
    left, s, _ = np.linalg.svd(hankel)
    gram, shift = U[:-n].T @ U[:-n], U[:-n].T @ U[n:]
    for order in (8, 16, 24):
        observability = left[:, :order] * np.sqrt(s[:order])
        A = np.linalg.lstsq(observability[:-n], observability[n:], rcond=None)[0]
        values, vectors = np.linalg.eig(A)
        upper = np.flatnonzero(values.imag > 0)
        poles, shapes = modes_of_order(U[:n], gram, shift, order, record.dt)
        dense = np.log(values[upper]) / record.dt
        assert len(poles) == len(dense)
        for pole, shape in zip(poles, shapes, strict=True):
            k = int(np.argmin(np.abs(dense - pole)))
            assert abs(dense[k] - pole) < 1e-8 * abs(pole)
            other = observability[:n] @ vectors[:, upper[k]]
            alike = abs(np.vdot(other, shape)) / np.linalg.norm(other) / np.linalg.norm(shape)
            assert alike > 1 - 1e-9


def test_modes_that_all_grow_too_broad_are_refused(monkeypatch):
    record = driven(PAIR, T, DT, damping=ZETA, noise=0.1, rng=3)
    monkeypatch.setattr(ModeSearch, "sweep", lambda *args, **more: [])
    with pytest.raises(NoLineError, match=r"none of \d+ candidate modes stands out of the noise"):
        fit_driven(record)
