"""The Whittle likelihood of driven modes, against dense and numerical versions."""

from __future__ import annotations

import numpy as np
import pytest

from prism.damped.bands import band_edges, start, threshold
from prism.damped.spectrum import Lines, common_order, fourier_lines
from prism.damped.subspace import Candidate
from prism.damped.whittle import (
    Band,
    Model,
    covariance,
    log_likelihood,
    maximise,
    moved,
    parameter_slices,
    poles,
    scaled_band,
    score_and_information,
)
from prism.systems.chain import chain
from prism.systems.driven import driven


def a_model(rng, m=2, n=3):
    A = rng.standard_normal((m, m)) + 1j * rng.standard_normal((m, m))
    L = 0.1 * (rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n)))
    shapes = rng.standard_normal((m, n))
    shapes /= np.linalg.norm(shapes, axis=1, keepdims=True)
    return Model(
        omega=np.linspace(7.5, 8.1, m),
        zeta=np.linspace(0.01, 0.02, m),
        shapes=shapes,
        gains=np.ones(m),
        force=A @ A.conj().T,
        noise=L @ L.conj().T + 0.1 * np.eye(n),
        free=np.ones(m, bool),
        full=True,
    )


def a_band(rng, n=3):
    omega = np.linspace(7.0, 8.6, 40)
    values = rng.standard_normal((40, n)) + 1j * rng.standard_normal((40, n))
    powers = (1j * omega[:, None] / 7.8) ** np.arange(n)
    return Band(omega, np.full(40, 150.0), values, powers)


def test_covariance_is_the_sum_over_pairs_of_modes():
    rng = np.random.default_rng(0)
    model, band = a_model(rng), a_band(rng)
    lam = poles(model.omega, model.zeta)
    for k in (0, 11, 39):
        w, T = band.omega[k], band.span[k]
        u = 1j * w - lam
        g = 1 / u - (1 - np.exp(-u * T)) / (T * u**2)
        D = 1 / (model.omega**2 - w**2 + 2j * model.zeta * model.omega * w)
        E = model.noise.copy()
        for i in range(2):
            for j in range(2):
                rho = (g[i] + g[j].conj()) / (1 / u[i] + 1 / u[j].conj())
                a, b = (model.shapes[x] * band.powers[k] for x in (i, j))
                E += np.outer(a, b.conj()) * D[i] * D[j].conj() * rho * model.force[i, j]
        assert np.allclose(covariance(model, band)[k], E, rtol=1e-12)


def test_score_is_the_gradient():
    rng = np.random.default_rng(1)
    model, band = a_model(rng), a_band(rng)
    score, information = score_and_information(model, band)
    h = 1e-5
    numeric = [
        (log_likelihood(moved(model, h * e), band) - log_likelihood(moved(model, -h * e), band))
        / (2 * h)
        for e in np.eye(len(score))
    ]
    assert np.allclose(score, numeric, rtol=1e-5, atol=1e-4)
    assert np.linalg.eigvalsh(information)[0] > 0


def test_finite_record_correction_is_the_mean_periodogram():
    """Seeded: the mean of |Y|² over many short records of a weakly damped oscillator."""
    system = chain(1, springs=4.0, observed=[0])
    record = driven(system, 60.0, 0.1, damping=0.01, trials=400, rng=2)
    lines = fourier_lines(record)
    count = len(lines.omega) // 400
    mean = np.mean(np.abs(lines.values.reshape(400, count)) ** 2, axis=0)
    omega = lines.omega[:count]
    near = np.abs(omega - 2.0) < 0.5
    band = Band(
        omega[near], np.full(near.sum(), 60.0), np.ones((near.sum(), 1)), np.ones((near.sum(), 1))
    )
    one = np.ones((1, 1))
    model = Model(
        np.array([2.0]),
        np.array([0.01]),
        one,
        np.ones(1),
        one + 0j,
        0j * one,
        np.ones(1, bool),
        False,
    )
    exact = covariance(model, band)[:, 0, 0].real
    assert np.allclose(mean[near] / exact, 1.0, atol=0.3)  # six standard deviations
    assert np.mean(mean[near] / exact) == pytest.approx(1.0, abs=0.1)


def test_scoring_reaches_the_maximum_and_its_score_vanishes():
    system = chain(2, springs=10.0, observed=[0, 1])
    record = driven(system, 600, 0.3, damping=0.01, noise=0.05, rng=3)
    lines = fourier_lines(record)
    (low, high, _), *_ = band_edges(
        [Candidate(system.frequencies[0], 0.01, system.shapes[0], 1.0)], 600, 0, 9
    )
    part = lines.between(low, high)
    band = scaled_band(part)
    first = start(part, band, [Candidate(system.frequencies[0], 0.02, system.shapes[1], 1.0)])
    fit = maximise(first, band)
    score, information = score_and_information(fit.model, band)
    assert fit.converged
    assert score @ np.linalg.solve(information, score) < 2e-3
    assert fit.model.omega[0] == pytest.approx(system.frequencies[0], rel=0.01)


def test_noise_free_lines_keep_the_likelihood_bounded():
    rng = np.random.default_rng(4)
    band = a_band(rng)
    shape = np.array([0.6, 0.0, 0.8])
    flat = Band(band.omega, band.span, band.values[:, :1] * shape, band.powers)
    fit = maximise(a_model(rng, m=1), flat)
    assert np.isfinite(fit.log_likelihood)


def test_a_held_parameter_keeps_its_value():
    rng = np.random.default_rng(5)
    model, band = a_model(rng, m=1), a_band(rng)
    at = parameter_slices(model)["damping"]
    assert maximise(model, band, held=at).model.zeta[0] == model.zeta[0]


def test_overlapping_bands_are_joined():
    modes = [Candidate(w, 0.01, np.ones(1), 1.0) for w in (1.0, 5.0, 5.2)]
    bands = band_edges(modes, 1000.0, 0.1, 20.0)
    assert [len(inside) for _, _, inside in bands] == [1, 2]


def test_threshold_is_the_penalty_or_the_quantile():
    assert threshold(100, 4, 2, 1e-3) == pytest.approx(2 * 8 * np.log(400))
    assert threshold(100, 4, 2, 1e-30) > 2 * 8 * np.log(400)


def test_common_quantity_is_the_most_frequent():
    assert common_order(np.array([0, 2, 2])) == 2
    assert common_order(np.array([0, 1])) == 1


def test_lines_between_keeps_rows_together():
    lines = Lines(np.arange(1.0, 5.0), np.ones(4), np.arange(4)[:, None] + 0j, np.array([0]))
    assert lines.between(2.0, 3.0).values[:, 0].tolist() == [1, 2]
