"""The likelihood of driven modes, against dense and numerical versions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from prism.motion.driven import _limits as limits
from prism.motion.driven._limits import POWER_PRIOR
from prism.motion.driven.bands import (
    DrivenMode,
    HeldBand,
    band_edges,
    clusters,
    in_band,
    start,
    threshold,
)
from prism.motion.driven.driven import fit_driven
from prism.motion.driven.intervals import damping_profile
from prism.motion.driven.leakage import boundary
from prism.motion.driven.scoring import (
    BandFit,
    log_likelihood,
    maximise,
    score_and_information,
    white_lines,
)
from prism.motion.driven.search import KeptModes
from prism.motion.driven.spectrum import (
    FourierLines,
    LineBand,
    common_order,
    fourier_lines,
    line_band,
)
from prism.motion.driven.whittle import BandModel, moved, spectrum, tangents
from prism.systems.chain import chain
from prism.systems.driven import driven


def a_model(rng, m=2, n=3, held=0):
    A = rng.standard_normal((m, m)) + 1j * rng.standard_normal((m, m))
    L = 0.1 * (rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n)))
    shapes = rng.standard_normal((m, n))
    shapes /= np.linalg.norm(shapes, axis=1, keepdims=True)
    force = A @ A.conj().T
    force[: m - held, m - held :] = 0
    force[m - held :, : m - held] = 0
    return BandModel(
        omega=np.linspace(7.5, 8.1, m),
        zeta=np.linspace(0.002, 0.02, m),
        shapes=shapes,
        gains=np.full(m, 3.0),
        force=force,
        noise=L @ L.conj().T + 0.1 * np.eye(n),
        fitted=m - held,
        full=True,
    )


def a_band(rng, n=3, tilt=0.0):
    """Two trials of different length."""
    omega = np.concatenate([2 * np.pi * np.arange(165, 205) / 150, np.arange(110, 136) * 0.0628])
    span = np.concatenate([np.full(40, 150.0), np.full(26, 2 * np.pi / 0.0628)])
    values = rng.standard_normal((66, n)) + 1j * rng.standard_normal((66, n))
    orders = np.arange(n)
    trial = np.repeat([0, 1], [40, 26])
    return LineBand(omega, span, values, orders, trial, np.ones(n), 7.8, leakage=True, tilt=tilt)


def dense(model, band):
    """Covariance of all lines of one trial."""
    D, (U, S) = spectrum(model, band), boundary(model, band)
    K, n = band.values.shape
    flat = U.reshape(K * n, -1)
    E = flat @ S @ flat.conj().T
    for k in range(K):
        E[k * n : (k + 1) * n, k * n : (k + 1) * n] += D[k]
    return E


def test_spectrum_is_the_sum_over_pairs_of_modes():
    rng = np.random.default_rng(0)
    model, band = a_model(rng), a_band(rng)
    for k in (0, 11, 39):
        w = band.omega[k]
        h = 3.0 / (model.omega**2 - w**2 + 2j * model.zeta * model.omega * w)
        E = model.noise.copy()
        for i in range(2):
            for j in range(2):
                a, b = (model.shapes[x] * band.powers[k] for x in (i, j))
                E += np.outer(a, b.conj()) * h[i] * h[j].conj() * model.force[i, j]
        assert np.allclose(spectrum(model, band)[k], E, rtol=1e-12)


def test_lines_of_a_finite_record_have_the_covariance_of_the_integral():
    """Against the double integral of the correlation over the record, one mode."""
    omega, zeta, T, step = 2.0, 0.004, 60.0, 0.01
    lines = 2 * np.pi * np.arange(16, 23) / T
    one = np.ones((1, 1))
    values = np.ones((len(lines), 1), complex)
    span, orders, trial = np.full(len(lines), T), np.array([0]), np.zeros(len(lines), int)
    band = LineBand(lines, span, values, orders, trial, np.ones(1), 2.0, leakage=True)
    model = BandModel(
        omega=np.array([omega]),
        zeta=np.array([zeta]),
        shapes=one,
        gains=np.ones(1),
        force=one + 0j,
        noise=0j * one,
        fitted=1,
        full=False,
    )
    lam = complex(model.poles[0])
    lag = step * np.arange(round(T / step))
    C = ((1 + 1j * lam.real / lam.imag) * np.exp(lam * lag)).real / (4 * zeta * omega**3)
    size = 2 ** int(np.ceil(np.log2(2 * len(lag))))
    kernel = np.zeros(size)
    kernel[: len(lag)], kernel[-len(lag) + 1 :] = C, C[:0:-1]
    waves = np.exp(1j * lines[:, None] * (lag + step / 2))
    through = np.fft.ifft(np.fft.fft(kernel) * np.fft.fft(waves, n=size))[:, : len(lag)]
    exact = (waves.conj() @ through.T) * step**2 / T  # E[Y_k conj Y_l]
    found = dense(model, band)
    scale = np.sqrt(np.outer(np.diag(exact).real, np.diag(exact).real))
    assert np.all(np.abs(found - exact) / scale < 0.02)
    assert np.max(np.abs(exact - np.diag(np.diag(exact))) / scale) > 0.3


@pytest.mark.parametrize(
    ("free", "held", "linked", "tilt"),
    [(2, 0, 0, 0), (2, 1, 0, 0), (2, 0, 1, 0), (2, 1, 2, 0), (0, 1, 0, 0), (2, 1, 1, 3.0)],
)
def test_score_is_the_gradient_and_information_the_dense_one(free, held, linked, tilt):
    rng = np.random.default_rng(1)
    model, band = a_model(rng, m=free + linked + held, held=held), a_band(rng, tilt=tilt)
    model = replace(model, fitted=free, linked=linked)
    score, information = score_and_information(model, band)
    h = 1e-5
    steps = h * np.eye(len(score))
    numeric = [
        (log_likelihood(moved(model, e), band) - log_likelihood(moved(model, -e), band)) / (2 * h)
        for e in steps
    ]
    assert np.allclose(score, numeric, rtol=1e-5, atol=1e-3)
    exact = np.zeros_like(information)
    for part in band.trials:
        inverse = np.linalg.inv(dense(model, part))
        changes = [
            inverse @ (dense(moved(model, e), part) - dense(moved(model, -e), part)) / (2 * h)
            for e in steps
        ]
        exact += [[np.trace(x @ y).real for x in changes] for y in changes]
    powers = np.arange(2 * free + len(model.at["shape"]), model.parameters)
    exact[powers, powers] += POWER_PRIOR
    size = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    assert np.allclose(information / size, exact / size, atol=1e-5)


def test_in_many_channels_the_ends_tell_nothing_of_the_background(monkeypatch):
    """That part is left out of the information, and moves errors of modes by less than .5 %."""
    record = driven(chain(3, springs=20.0, observed=[0, 2]), 300, 0.25, damping=0.01, rng=7)
    (whole, *_) = fit_driven(record).bands
    monkeypatch.setattr(limits, "ENDS_OF_BACKGROUND", 1)
    part = score_and_information(whole.model, whole.band)[1]
    alone = score_and_information(whole.model, whole.band, exact=False)[1]
    noise = whole.model.at["noise"]
    assert np.array_equal(part[noise], alone[noise])
    assert not np.allclose(part, alone, rtol=1e-3)
    first = 2 * whole.model.fitted
    errors = [np.sqrt(np.diag(np.linalg.inv(x)))[:first] for x in (part, whole.information)]
    assert np.allclose(errors[0], errors[1], rtol=5e-3)


def test_a_tilt_is_that_of_the_whole_motion():
    """Lines of the motion, ends included, each times (ω/ω_c)^(p/2): E stays a covariance."""
    rng = np.random.default_rng(2)
    model = a_model(rng)
    flat, tilt = (a_band(np.random.default_rng(3), tilt=p).trials[0] for p in (0.0, 2.5))
    quiet = np.kron(np.eye(len(flat.omega)), model.noise)
    share = np.repeat((flat.omega / flat.middle) ** 1.25, 3)
    expected = (dense(model, flat) - quiet) * np.outer(share, share) + quiet
    assert np.allclose(dense(model, tilt), expected, rtol=1e-12)


def test_likelihood_is_that_of_the_dense_covariance():
    rng = np.random.default_rng(2)
    model, band = a_model(rng), a_band(rng)
    total = POWER_PRIOR * sum(np.linalg.slogdet(X)[1] for X in (model.noise, model.force))
    for part in band.trials:
        E, y = dense(model, part), part.values.ravel()
        total -= np.linalg.slogdet(E)[1] + (y.conj() @ np.linalg.solve(E, y)).real
    assert log_likelihood(model, band) == pytest.approx(total, rel=1e-6)


def test_whitened_lines_have_the_size_that_the_dense_covariance_gives_them():
    rng = np.random.default_rng(6)
    model, band = a_model(rng), a_band(rng)
    for part, white in zip(band.trials, white_lines(BandFit.at(model, band)), strict=True):
        y = part.values.ravel()
        assert white.shape == part.values.shape
        assert np.sum(np.abs(white) ** 2) == pytest.approx(
            (y.conj() @ np.linalg.solve(dense(model, part), y)).real
        )


def test_forces_of_linked_modes_leave_a_covariance_whatever_their_coherence():
    """One mode hardly decays in the record, the other does: the ends count for both."""
    rng = np.random.default_rng(3)
    band = a_band(rng).trials[0]
    model = replace(
        a_model(rng), zeta=np.array([3e-4, 0.03]), noise=1e-6 * np.eye(3, dtype=complex)
    )
    model = replace(model, fitted=1, linked=1)
    for phase in np.exp(2j * np.pi * np.arange(8) / 8):
        force = np.array([[1.0, 0.99 * phase], [0.99 * phase.conj(), 1.0]])
        E = dense(replace(model, force=force), band)
        assert np.linalg.eigvalsh(E).min() > 0


def test_tangents_are_orthonormal_to_the_shape():
    for shape in ([1.0], [0.0, 0.6, -0.8], [-0.6, 0.0, 0.8]):
        base = np.column_stack([shape, tangents(np.array(shape))])
        assert np.allclose(base.T @ base, np.eye(len(shape)))


def a_place(rng=3):
    system = chain(2, springs=10.0, observed=[0, 1])
    record = driven(system, 600, 0.3, damping=0.01, noise=0.05, rng=rng)
    modes = [DrivenMode(system.frequencies[j], 0.01, system.shapes[j], 1.0) for j in range(2)]
    place = HeldBand.around(fourier_lines(record), modes[:1], modes[1:], (0.1, 9.0))
    return system, modes, place


def test_scoring_reaches_the_maximum_and_its_score_vanishes():
    system, modes, place = a_place()
    first = start(place.band, [replace(modes[0], zeta=0.02, shape=system.shapes[1])])
    fit = place.fit(first, tolerance=1e-3)
    score, information = score_and_information(fit.model, place.band)
    assert fit.converged
    assert score @ np.linalg.solve(information, score) < 2e-3
    assert fit.model.omega[0] == pytest.approx(system.frequencies[0], rel=0.01)
    assert fit.model.zeta[1] == 0.01  # the neighbour is held


def test_damping_profile_drops_by_half_the_quantile():
    _, modes, place = a_place(rng=5)
    fit = place.fit(start(place.band, modes[:1]), tolerance=1e-2)
    low, high = damping_profile(fit, 0, 0.2)
    assert low < fit.model.zeta[0] < high
    at = fit.model.at["damping"]
    for end in (low, high):
        zeta = fit.model.zeta.copy()
        zeta[0] = end
        there = maximise(replace(fit.model, zeta=zeta), place.band, held=at)
        assert fit.log_likelihood - there.log_likelihood == pytest.approx(1.92, abs=0.4)


def test_modes_come_back_from_the_units_of_a_band():
    _, modes, place = a_place()
    fit = maximise(in_band(place.band, modes[:1]), place.band, tolerance=1e9)
    (back,) = KeptModes(fit, np.array([7.0])).modes
    assert back.force == pytest.approx(1.0)
    assert np.allclose(np.abs(back.shape), np.abs(modes[0].shape))
    assert back.gain == 7.0


def test_noise_free_lines_keep_the_likelihood_bounded():
    rng = np.random.default_rng(4)
    band = a_band(rng)
    shape = np.array([0.6, 0.0, 0.8])
    flat = replace(band, values=band.values[:, :1] * shape)
    fit = maximise(a_model(rng, m=1), flat)
    assert np.isfinite(fit.log_likelihood)


def test_a_held_parameter_keeps_its_value():
    rng = np.random.default_rng(5)
    model, band = a_model(rng, m=1), a_band(rng)
    at = model.at["damping"]
    assert maximise(model, band, held=at).model.zeta[0] == model.zeta[0]


def test_overlapping_modes_are_grouped_and_bands_stop_short_of_others():
    modes = [DrivenMode(w, 0.01, np.ones(1)) for w in (1.0, 5.0, 5.2)]
    assert [len(group) for group in clusters(modes, 1000.0)] == [1, 2]
    low, high = band_edges(modes[:1], [], 1000.0, (0.1, 20.0))
    assert low < 0.7
    assert high > 1.3
    stopped = band_edges(modes[:1], [DrivenMode(1.25, 0.001, np.ones(1))], 1000.0, (0.1, 20.0))
    assert stopped[0] == low
    assert 1.1 < stopped[1] < 1.25


def test_threshold_is_the_penalty_or_the_quantile():
    assert threshold(100, 4, 2, 1e-3) == pytest.approx(1.5 * 8 * np.log(400))
    assert threshold(100, 4, 2, 1e-30) == pytest.approx(chi2.isf(1e-32, 8))
    assert threshold(100, 1, 1, 1e-3, linked=4) == pytest.approx(chi2.isf(1e-5, 5))


def test_common_quantity_is_the_most_frequent():
    assert common_order(np.array([0, 2, 2])) == 2
    assert common_order(np.array([0, 1])) == 1


def test_lines_between_keeps_rows_together():
    lines = FourierLines(
        np.arange(1.0, 5.0),
        np.ones(4),
        np.arange(4)[:, None] + 0j,
        np.array([0]),
        np.array([0, 0, 1, 1]),
    )
    part = lines.between(2.0, 3.0)
    assert part.values[:, 0].tolist() == [1, 2]
    assert [len(trial.omega) for trial in line_band(part).trials] == [1, 1]
