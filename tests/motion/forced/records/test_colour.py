"""Coloured noise in forced records: the filter, and what the search makes of it."""

import numpy as np
from scipy.signal import lfilter

from prism.motion.forced.records import fit_records
from prism.motion.forced.records.colour import autoregression
from prism.motion.forced.records.data import filtered, take_apart
from prism.motion.forced.records.pole_fit import Poles, evaluate
from prism.record import Record
from prism.systems import cart_pendulum, forced
from prism.systems.forced import _mode_response

DT = 0.1


def slow_noise(rng, size, root):
    return lfilter([1.0], [1.0, -root], rng.standard_normal(size + 500))[500:]


def cart_in_noise(seed, root=0.97, share=0.2, samples=3000):
    rng, system = np.random.default_rng(seed), cart_pendulum()
    force = rng.standard_normal((samples, 1))
    x = forced(system, force, DT, loss=0.01).record.trials[0]
    e = slow_noise(rng, samples, root)
    x = x + (share * x.std() / e.std()) * e[:, None]
    return Record(np.hstack([x, force]), dt=DT, channels=["x", "f_x"]), system


def test_a_filter_is_that_of_scipy():
    x = np.random.default_rng(0).standard_normal((50, 2))
    h = np.array([1.0, -0.5, 0.2])
    np.testing.assert_allclose(filtered(x, h), lfilter(h, [1.0], x, axis=0), atol=1e-14)


def test_samples_beside_a_gap_are_not_seen_through_a_filter():
    record, _ = cart_in_noise(0, samples=200)
    values = record.trials[0].copy()
    values[100, 0] = np.nan
    data = take_apart(Record(values, dt=DT, channels=["x", "f_x"]), ["f_x"], None)
    seen = data.whitened((np.array([1.0, -0.9, 0.1]),)).trials[0].seen[:, 0]
    np.testing.assert_array_equal(np.flatnonzero(~seen), [0, 1, 100, 101, 102])


def test_the_autoregression_is_found_and_white_noise_has_none():
    rng = np.random.default_rng(1)
    white, slow = rng.standard_normal(4000), slow_noise(rng, 4000, 0.9)
    everywhere = [np.ones(4000, bool)]
    assert len(autoregression([white], everywhere)) == 1
    h = autoregression([slow], everywhere)
    np.testing.assert_allclose(h[:2], [1, -0.9], atol=0.06)
    assert np.std(filtered(slow[:, None], h)[len(h) :]) < 1.05


def test_a_filtered_fit_is_generalised_least_squares():
    record, system = cart_in_noise(2, samples=400)
    h = np.array([1.0, -0.9])
    data = take_apart(record, ["f_x"], None).whitened((h,))
    poles = Poles(
        system.frequencies, np.full(2, 0.01), np.ones(2, bool), False, False, "first", False
    )
    fit = evaluate(data, poles, np.ones(1))
    values = record.trials[0]
    t = DT * np.arange(len(values))
    columns = [np.ones_like(t), t]
    for w in system.frequencies:
        root = complex(-0.01, w)
        columns += [np.exp(root * t).real, np.exp(root * t).imag]
        columns.append(_mode_response(values[:, 1], root, DT, "first"))
    A = lfilter(h, [1.0], np.array(columns).T, axis=0)[1:]
    y = lfilter(h, [1.0], values[:, 0])[1:]
    rest = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose(fit.rss, rest @ rest, rtol=1e-8)


def test_slow_noise_is_no_rigid_body_and_intervals_hold():
    z = []
    for seed in range(8):
        record, system = cart_in_noise([3, seed])
        found = fit_records(record, ["f_x"])
        fit = found.fit
        np.testing.assert_allclose(fit.foster.omega, system.frequencies, rtol=1e-2)
        assert fit.noise.startswith("coloured noise")
        assert [r.code for r in fit.remarks] == ["coloured"]
        z.append((fit.foster.omega - system.frequencies) / np.sqrt(np.diag(fit.covariance))[:2])
    assert 0.5 < np.sqrt(np.mean(np.square(z))) < 1.5


def test_a_rigid_body_is_found_in_slow_noise():
    rng = np.random.default_rng(4)
    force = rng.standard_normal((3000, 1))
    # two equal masses and a spring: the mean moves freely
    x = _mode_response(force[:, 0], complex(-0.01, 2.0), DT, "first") / 2
    v = np.cumsum((force[:-1, 0] + force[1:, 0]) / 2) * DT
    x[1:] += np.cumsum(v) * DT / 2
    x += 0.02 * slow_noise(rng, 3000, 0.95)
    record = Record(np.column_stack([x, force]), dt=DT, channels=["x", "f_x"])
    fit = fit_records(record, ["f_x"]).fit
    np.testing.assert_allclose(fit.foster.omega, [0, 2.0], rtol=1e-2)
