"""Errors that neighbouring lines share: against the dense form, and by simulation."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg

from prism.frequency_response import FrequencyResponse
from prism.motion.forced.response import fit_response
from prism.motion.forced.response.correlated import (
    LineErrors,
    correlated_covariance,
    correlated_remark,
    line_errors,
)
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.modal import ModalPoint, jacobian
from prism.motion.forced.response.noise import ResponseNoise
from prism.motion.forced.response.order import settle
from prism.motion.forced.response.scoring import ResponseFit, covariance

OMEGA = np.array([1.0, 1.7])
SHAPES = np.array([[0.8, 0.5], [0.6, -0.7]])
GRID = np.linspace(0.5, 2.2, 120)
ALONG = [1.0, 2 / 3, 1 / 3]  # of a mean over three lines


def responses(rng, width, *, relative=False, loss=0.02, noise=0.03):
    """A response whose errors are means over some lines."""
    H = np.einsum(
        "fk,ka,kb->fab", 1 / (OMEGA**2 * (1 + 1j * loss) - GRID[:, None] ** 2), SHAPES, SHAPES
    )
    size = (2, len(GRID) + width - 1, 2, 2)
    re, im = rng.standard_normal(size) / np.sqrt(2)
    error = sum((re + 1j * im)[k : k + len(GRID)] for k in range(width)) / np.sqrt(width)
    return FrequencyResponse(GRID, H * (1 + noise * error) if relative else H + noise * error)


def true_fit(response, noise):
    data = ResponseData.of(response.ports)
    unit = np.sqrt(data.value_unit) * data.frequency_unit
    point = ModalPoint(
        (OMEGA / data.frequency_unit) ** 2, SHAPES / unit, np.full(2, 0.02), "structural"
    )
    return ResponseFit(data, point, noise)


def test_the_covariance_is_that_of_dense_matrices():
    fit = true_fit(responses(np.random.default_rng(0), 3), ResponseNoise(a2=1e-3))
    errors = LineErrors(1.0, np.array(ALONG))
    J = jacobian(fit.data, fit.point, fit.at) * np.sqrt(2 * fit.data.counts / fit.spread)
    R = scipy.linalg.toeplitz([*ALONG, *np.zeros(len(GRID) - 3)])
    meat = np.einsum("pfe,fg,qge->pq", J.conj(), R, J).real
    inverse = covariance(fit)
    dense = inverse @ meat @ inverse
    scale = np.sqrt(np.diag(dense))
    found = correlated_covariance(fit, errors)
    np.testing.assert_allclose(
        found / np.outer(scale, scale), dense / np.outer(scale, scale), atol=1e-8
    )


def test_one_lag_is_the_inverse_information():
    fit = true_fit(responses(np.random.default_rng(0), 1), ResponseNoise(a2=1e-3, b2=1e-4))
    np.testing.assert_array_equal(
        correlated_covariance(fit, LineErrors(1.0, np.ones(1))), covariance(fit)
    )


def test_a_correlation_of_zero_changes_nothing():
    fit = true_fit(responses(np.random.default_rng(0), 1), ResponseNoise(a2=1e-3, b2=1e-4))
    found = correlated_covariance(fit, LineErrors(1.0, np.array([1.0, 0.0])))
    np.testing.assert_allclose(found, covariance(fit), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("relative", [False, True])
def test_the_correlation_is_found_in_what_the_fit_leaves(relative):
    # about the fitted modes residuals are smaller than the errors; the mean over runs is right
    found = []
    for seed in range(8):
        response = responses(np.random.default_rng(seed), 3, relative=relative)
        fit = true_fit(response, ResponseNoise(a2=1.0))
        errors = line_errors(settle(replace(fit, noise=fit.data.noise_about(fit.H))))
        found.append(np.append(errors.rho, np.zeros(3))[:3])
    np.testing.assert_allclose(np.mean(found, axis=0), ALONG, atol=0.06)


@pytest.mark.slow
def test_intervals_cover_and_a_remark_says_so():
    z = []
    for seed in range(12):
        fit = fit_response(responses(np.random.default_rng([5, seed]), 5))
        assert [r.code for r in fit.remarks if hasattr(r, "code")] == ["correlated-response"]
        z.append((fit.foster.omega - OMEGA) / np.sqrt(np.diag(fit.covariance))[:2])
    # without the correlation the rms is 1.6 and more
    assert 0.6 < np.sqrt(np.mean(np.square(z))) < 1.35


def test_independent_lines_are_not_remarked_on():
    fit = fit_response(responses(np.random.default_rng(1), 1))
    assert not fit.remarks


def test_remarks():
    assert correlated_remark(LineErrors(1.0, np.ones(1))) == ()
    (one,) = correlated_remark(LineErrors(1.0, np.array(ALONG), relative=True))
    assert "relative errors" in str(one)
    assert "3 lines" in str(one)
    (other,) = correlated_remark(LineErrors(1.0, np.array([1.0, -0.4])))
    assert "alternate" in str(other)
