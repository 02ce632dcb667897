"""How well a response could determine its modes at best: the Cramér-Rao bound."""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.frequency_response import FrequencyResponse
from prism.motion.forced.foster import Foster
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.modal import ModalPoint
from prism.motion.forced.response.noise import ResponseNoise
from prism.motion.forced.response.report import user_covariance
from prism.motion.forced.response.scoring import ModalFit


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
    data = ResponseData.of(response.ports)
    lam = (truth.omega / data.frequency_unit) ** 2
    V = truth.participation / (np.sqrt(data.value_unit) * data.frequency_unit)
    point = ModalPoint(lam, V, truth.loss, truth.damping)
    noise = ResponseNoise((additive / data.value_unit) ** 2, multiplicative**2)
    return user_covariance(ModalFit(data, point, noise), np.arange(len(lam)))
