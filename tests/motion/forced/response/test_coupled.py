"""The likelihood of modes with friction: its gradient, and the covariance that it promises."""

import numpy as np
import pytest

from prism.motion.forced.response.coupled import coupled, plain_covariance
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.friction import FrictionPoint
from prism.motion.forced.response.modal import ModalPoint
from prism.motion.forced.response.noise import ResponseNoise
from prism.motion.forced.response.scoring import ResponseFit
from prism.systems import chain

MODAL = ModalPoint(
    np.array([0.1, 0.4, 0.7]), np.array([[1.0], [0.7], [-0.4]]), np.full(3, 0.02), "viscous"
)


@pytest.fixture(scope="module", params=[{"a2": 1e-3}, {"b2": 1e-3}, {"a2": 1e-3, "b2": 1e-3}])
def fit(request):
    data = ResponseData.of(chain(3, observed=[0]).response(np.linspace(0.2, 2, 60), loss=0.1).ports)
    plain = ResponseFit(data, MODAL, ResponseNoise(**request.param))
    point = FrictionPoint.of(MODAL, np.ones(3, bool))
    turned = point.moved(0.02 * np.random.default_rng(0).standard_normal(point.size))
    return coupled(plain, turned)


def test_the_gradient_is_that_of_differences(fit):
    gradient, _ = fit.information
    step = 1e-6
    for k in range(len(gradient)):
        move = np.zeros(len(gradient))
        move[k] = step
        up, down = (coupled(fit, fit.friction.moved(sign * move)).value for sign in (1, -1))
        assert gradient[k] == pytest.approx(-(up - down) / (4 * step), rel=1e-4, abs=1e-3)


def test_what_turns_hidden_coordinates_has_no_error(fit):
    """Three modes at one port have one friction that changes no response."""
    covariance = plain_covariance(fit)
    assert np.linalg.matrix_rank(fit.plain_information[1], tol=1e-9, hermitian=True) >= 11
    assert np.all(np.isfinite(covariance))
    assert np.all(np.diag(covariance) > 0)
