"""The likelihood of several set-ups, against the obvious one and numerical derivatives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from prism.motion.driven.leakage import boundary
from prism.motion.driven.scoring import BandFit
from prism.motion.driven.setups.joint import JointFit, JointFrame, JointModel
from prism.motion.driven.setups.linkage import Linkage
from prism.motion.driven.spectrum import LineBand
from prism.motion.driven.whittle import BandModel
from prism.motion.driven.whittle import spectrum as driven_spectrum

CHAIN = (("a", "b", "c"), ("c", "d"), ("a", "e", "b"))
APART = (("a", "b", "c"), ("d", "e"), ("e", "f"))


def a_linkage(setups):
    names = tuple(dict.fromkeys(name for setup in setups for name in setup))
    return Linkage(setups, names, ("displacement",) * len(names))


def a_band(rng, n, lines, scale):
    span = 2 * np.pi * lines / 1.6
    omega = 7.0 + 1.6 * np.arange(lines) / lines
    values = rng.standard_normal((lines, n)) + 1j * rng.standard_normal((lines, n))
    once = (np.full(lines, span), values, np.zeros(n, int), np.zeros(lines, int))
    return LineBand(omega, *once, scale * np.exp(0.3 * rng.standard_normal(n)), 7.8, leakage=True)


def a_part(rng, n, f, held=1):
    """Free modes of poles that all set-ups share, and one held mode, linked or not."""
    m = f + held
    A = rng.standard_normal((m, m)) + 1j * rng.standard_normal((m, m))
    L = 0.1 * (rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n)))
    shapes = rng.standard_normal((m, n))
    return BandModel(
        omega=np.linspace(7.5, 8.1, m),
        zeta=np.linspace(0.004, 0.02, m),
        shapes=shapes / np.linalg.norm(shapes, axis=1, keepdims=True),
        gains=np.full(m, 3.0),
        force=A @ A.conj().T + 0.3 * np.eye(m),
        noise=L @ L.conj().T + 0.1 * np.eye(n),
        fitted=f,
        full=True,
        linked=held,
    )


def a_fit(rng, setups, f=2):
    linkage = a_linkage(setups)
    sizes = [len(setup) for setup in setups]
    bands = [a_band(rng, n, 30 + 7 * n, 10.0**r) for r, n in enumerate(sizes)]
    parts = [a_part(rng, n, f) for n in sizes]
    frame = JointFrame.of(linkage, bands)
    shapes = rng.standard_normal((f, linkage.size))
    return JointFit.at(JointModel.of(parts, shapes, frame), bands)


def dense(fit):
    """Sum over set-ups of the complex Gaussian log-likelihood, with the shapes of the union."""
    model, total = fit.model, 0.0
    frame = model.frame
    names = frame.linkage.channels
    for setup, (part, band) in enumerate(zip(model.parts, fit.bands, strict=True)):
        at = [names.index(name) for name in frame.linkage.setups[setup]]
        seen = (model.shapes * frame.units)[:, at] / band.displacement
        seen = seen / np.linalg.norm(seen, axis=1, keepdims=True)
        own = replace(part, shapes=np.concatenate([seen, part.shapes[model.fitted :]]))
        D, (U, S) = driven_spectrum(own, band), boundary(own, band)
        K, n = band.values.shape
        flat = U.reshape(K * n, -1)
        E = flat @ S @ flat.conj().T
        for k in range(K):
            E[k * n : (k + 1) * n, k * n : (k + 1) * n] += D[k]
        y = band.values.ravel()
        total -= np.linalg.slogdet(E)[1] + (y.conj() @ np.linalg.solve(E, y)).real
        total -= 1e-8 * np.trace(np.linalg.inv(D), axis1=1, axis2=2).real.sum()
        Q, R = part.force[: part.driven, : part.driven], part.noise
        total += 0.1 * (np.linalg.slogdet(Q)[1] + np.linalg.slogdet(R)[1])
    return total


def roots_of(fit):
    """Of the covariances of the lines of all set-ups."""
    roots = []
    for part, band in zip(fit.model.parts, fit.bands, strict=True):
        D, (U, S) = driven_spectrum(part, band), boundary(part, band)
        K, n = band.values.shape
        flat = U.reshape(K * n, -1)
        E = flat @ S @ flat.conj().T
        for k in range(K):
            E[k * n : (k + 1) * n, k * n : (k + 1) * n] += D[k]
        roots.append(np.linalg.cholesky(E))
    return roots


def drawn(fit, roots, rng):
    """The same model beside data that it draws."""
    fits = []
    for part, band, root in zip(fit.model.parts, fit.bands, roots, strict=True):
        z = rng.standard_normal((2, len(root))) / np.sqrt(2)
        values = (root @ (z[0] + 1j * z[1])).reshape(band.values.shape)
        fits.append(BandFit.at(part, replace(band, values=values)))
    return replace(fit, fits=tuple(fits))


@pytest.mark.parametrize("setups", [CHAIN, APART])
def test_the_likelihood_is_the_sum_over_set_ups(setups):
    fit = a_fit(np.random.default_rng(1), setups)
    assert fit.log_likelihood == pytest.approx(dense(fit), rel=1e-6)


@pytest.mark.parametrize("setups", [CHAIN, APART])
def test_the_score_is_the_gradient(setups):
    fit = a_fit(np.random.default_rng(2), setups)
    score = fit.slope[0]
    step = 1e-5
    numerical = np.empty(len(score))
    for p in range(len(score)):
        delta = np.zeros(len(score))
        delta[p] = step
        up, down = fit.after(delta), fit.after(-delta)
        numerical[p] = (up.log_likelihood - down.log_likelihood) / (2 * step)
    assert np.allclose(score, numerical, rtol=2e-5, atol=2e-4 * np.abs(score).max())


def test_the_information_is_the_mean_square_of_the_score():
    """Over data that the model itself draws, to what 300 draws can tell."""
    rng = np.random.default_rng(3)
    fit = a_fit(rng, (("a", "b"), ("b", "c")), f=1)
    scores = []
    roots = roots_of(fit)
    for _ in range(300):
        one = drawn(fit, roots, rng)
        scores.append(one.slope[0] - one.prior)
    F = fit.information
    powers = np.concatenate([fit.model.at[name] for name in ("auto", "cross", "noise")])
    F = F.copy()
    F[powers, powers] -= 0.1  # of the prior, of each of which a set-up has its own
    scale = np.sqrt(np.diag(F))
    found = np.cov(np.array(scores).T) / np.outer(scale, scale)
    assert np.abs(found - F / np.outer(scale, scale)).max() < 0.35


def test_shapes_stay_units_and_shared():
    fit = a_fit(np.random.default_rng(4), CHAIN)
    moved = fit.after(0.05 * np.random.default_rng(5).standard_normal(fit.model.parameters))
    model = moved.model
    assert np.allclose(np.linalg.norm(model.shapes, axis=1), 1.0)
    for setup, part in enumerate(model.parts):
        seen = model.frame.seen(model.shapes, setup)[0]
        assert np.allclose(part.shapes[: model.fitted], seen)
        assert np.array_equal(part.omega[: model.fitted], model.omega)
        assert np.array_equal(part.zeta[: model.fitted], model.zeta)


def test_a_climb_ends_at_a_maximum():
    rng = np.random.default_rng(6)
    fit = a_fit(rng, CHAIN, f=1)
    fit = drawn(fit, roots_of(fit), rng)
    held = fit.model.at["frequency"]
    top = fit.best(held, tolerance=1e-4)
    assert top.converged
    assert top.model.omega == pytest.approx(fit.model.omega)
    assert top.log_likelihood > fit.log_likelihood
    score = np.delete(top.slope[0], held)
    F = np.delete(np.delete(top.slope[1], held, 0), held, 1)
    assert score @ np.linalg.pinv(F, rcond=1e-9) @ score < 1e-2


def test_a_step_is_as_long_as_every_set_up_allows():
    fit = a_fit(np.random.default_rng(7), CHAIN)
    delta = np.zeros(fit.model.parameters)
    delta[fit.model.at["damping"]] = 1.4
    assert fit.excess(delta) == pytest.approx(2.0)
