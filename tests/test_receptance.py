"""The error of a receptance: against differences, draws, and the truth of simulated responses."""

import numpy as np
import pytest

import prism
from prism.errors import CannotTellError
from prism.receptance import modal_scales, receptance_slopes, receptance_std
from prism.systems import chain
from prism.uncertainty import Gaussian

POINTS = 1j * np.array([0.3, 0.9, 1.4, 2.2]) + np.array([0.0, 0.0, 0.1, 0.0])


def modal(coupled, size=1e-3):
    """Three modes in two ports with some joint error."""
    rng = np.random.default_rng(4)
    C = 0.02 * np.diag([1.0, 2.0, 1.5])
    C[0, 1] = C[1, 0] = 0.01
    friction = C[np.tril_indices(3)] if coupled else np.diag(C)
    values = {"squares": [0.8, 2.0, 4.5], "participation": rng.standard_normal((3, 2))}
    root = size * rng.standard_normal((9 + len(friction),) * 2)
    return Gaussian.of(values | {"friction": friction}, root @ root.T)


def dense(theta, coupled):
    """V' (s² + C s + Λ)⁻¹ V, written out."""
    lam, V, rest = theta[:3], theta[3:9].reshape(3, 2), theta[9:]
    C = np.diag(rest) if not coupled else np.zeros((3, 3))
    if coupled:
        C[np.tril_indices(3)] = rest
        C = C + np.tril(C, -1).T
    return np.array(
        [V.T @ np.linalg.inv(s**2 * np.eye(3) + s * C + np.diag(lam)) @ V for s in POINTS]
    )


@pytest.mark.parametrize("coupled", [False, True])
def test_slopes_are_differences(coupled):
    one = modal(coupled)
    slopes = receptance_slopes(one, POINTS)
    for p, step in enumerate(1e-6 * np.eye(len(one.mean))):
        off = dense(one.mean + step, coupled) - dense(one.mean - step, coupled)
        np.testing.assert_allclose(slopes[..., p], off / 2e-6, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("coupled", [False, True])
def test_the_error_is_that_of_draws(coupled):
    one = modal(coupled, size=1e-4)
    draws = np.random.default_rng(0).multivariate_normal(one.mean, one.covariance, 4000)
    seen = np.array([dense(theta, coupled) for theta in draws])
    std = receptance_std(one, POINTS)
    np.testing.assert_allclose(std.real, seen.real.std(axis=0), rtol=0.06)
    np.testing.assert_allclose(std.imag, seen.imag.std(axis=0), rtol=0.06)


def test_the_truth_is_within_the_error():
    system, omega = chain(4, observed=[0, 2]), np.linspace(0.2, 2.4, 200)
    at, inside = omega[::7], []
    known = {"loss": 0.02, "damping": "viscous"}
    truth = system.response(at, noise=0.0, **known).receptance
    for seed in range(12):
        model = prism.identify(system.response(omega, noise=0.02, rng=seed, **known))
        off, std = model.receptance(1j * at) - truth, model.receptance_std(1j * at)
        inside.append(np.abs(off.real) < 1.96 * std.real)
        inside.append(np.abs(off.imag) < 1.96 * std.imag)
    assert 0.92 < np.mean(inside) < 0.98


def test_structural_damping_has_none():
    """The receptance has its ratio at resonance: what that changes elsewhere is no error."""
    omega = np.linspace(0.2, 2.4, 200)
    system = chain(4, observed=[0, 2])
    response = system.response(omega, noise=0.02, loss=0.05, damping="structural", rng=1)
    model = prism.identify(response)
    assert model.response.damping == "structural"
    with pytest.raises(CannotTellError, match="not structural"):
        model.receptance_std(1j)


def test_it_survives_a_file(tmp_path):
    response = chain(3, observed=[0]).response(
        np.linspace(0.2, 2.2, 150), noise=0.02, loss=0.01, damping="viscous", rng=1
    )
    model = prism.identify(response)
    model.save(tmp_path / "m.json")
    at = 1j * np.linspace(0.3, 2, 5)
    again = prism.load(tmp_path / "m.json")
    np.testing.assert_allclose(again.receptance_std(at), model.receptance_std(at), rtol=1e-9)


def test_who_measured_no_force_has_none():
    record = chain(3, observed=[0]).equilibrium(100, 0.2, trials=20, noise=0.1, rng=0)
    model = prism.identify(record, experiment="equilibrium", mass="identity")
    with pytest.raises(CannotTellError, match="measured responses and forced records"):
        model.receptance_std(1j)


def test_scales_of_complex_modes_make_the_receptance():
    one = modal(coupled=True)
    C = np.zeros((3, 3))
    C[np.tril_indices(3)] = one.value("friction")
    C, V = C + np.tril(C, -1).T, one.value("participation")
    squares = np.diag(one.value("squares"))
    values, vectors = np.linalg.eig(np.block([[np.zeros((3, 3)), np.eye(3)], [-squares, -C]]))
    up = values.imag > 0
    poles, shapes = values[up], (V.T @ vectors[:3, up]).T

    def receptance(s):
        middle = np.array([np.linalg.inv(x**2 * np.eye(3) + x * C + squares) for x in s])
        return V.T @ middle @ V

    scales = modal_scales(receptance, poles, shapes)
    parts = [
        np.multiply.outer(1 / (POINTS - pole), np.outer(psi, psi) / a)
        for pole, psi, a in zip(
            [*poles, *poles.conj()], [*shapes, *shapes.conj()], [*scales, *scales.conj()],
            strict=True,
        )
    ]  # fmt: skip
    np.testing.assert_allclose(sum(parts), receptance(POINTS), rtol=1e-9)


def test_poles_without_a_scale():
    """Two of one frequency, and residues that are not symmetric."""
    skew = np.array([[1.0, 0.5], [-0.5, 1.0]])

    def receptance(s):
        return np.multiply.outer(1 / (s**2 + 1), skew)

    shapes = np.eye(2, dtype=complex)
    assert not modal_scales(receptance, np.array([1j, 1j]), shapes).any()
    assert not modal_scales(receptance, np.array([1j]), shapes[:1]).any()
