"""How well a response could determine its modes at best: the Cramér-Rao bound."""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.frequency_response import FrequencyResponse
from prism.motion.forced.foster import Foster
from prism.motion.forced.response.data import Data
from prism.motion.forced.response.noise import Noise
from prism.motion.forced.response.order import State, covariance
from prism.motion.forced.response.report import user_covariance
from prism.motion.forced.response.scoring import Point


def response_bound(
    response: FrequencyResponse, truth: Foster, *, additive: float, multiplicative: float
) -> Array:
    r"""Cramér-Rao bound on the covariance of the modes of a response.

    The noise of a measured receptance has the variance :math:`a^2 + b^2 |H|^2`; the modes and
    their number are known, a and b too.

    Parameters
    ----------
    response : FrequencyResponse
        Which lines and entries are measured; its values do not matter.
    truth : Foster
    additive, multiplicative : float
        a and b.

    Returns
    -------
    array
        Covariance of ``(omega, participation.ravel(), loss)``, as in `FosterFit`.
    """
    data = Data.of(response.ports)
    scale = np.sqrt(data.value_unit) * data.frequency_unit
    point = Point(
        (truth.omega / data.frequency_unit) ** 2,
        truth.participation / scale,
        truth.loss,
        truth.damping,
    )
    noise = Noise((additive / data.value_unit) ** 2, multiplicative**2)
    state = State(point, noise, np.inf, True)
    order = np.arange(len(truth.omega))
    return user_covariance(data, state, covariance(data, state), order)
