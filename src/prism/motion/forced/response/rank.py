"""Residues of higher rank: further vectors at the poles that are there."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtri

from prism.motion.forced.response.data import Data
from prism.motion.forced.response.order import State, data_variance, refit, settle
from prism.motion.forced.response.scan import promises


def widen(data: Data, state: State, false_alarm: float) -> State:
    """Give poles further vectors while the likelihood asks for them, up to full rank.

    A structure with equal frequencies (a square plate, a shaft) has residues of rank two; so has
    a pair of modes closer than the measurement can tell.
    """
    price = float(chdtri(data.ports, false_alarm / len(state.point)))
    for _ in range((data.ports - 1) * len(state.point)):
        gains, vectors = promises(data, state.point, data_variance(data, state.noise))
        full = np.bincount(state.point.pole, minlength=len(state.point)) >= data.ports
        gains = np.where(full, 0.0, gains)
        j = int(gains.argmax())
        if gains[j] < price:
            return state
        found = refit(data, state, state.point.widened(j, vectors[j]))
        if found.value > state.value - price:
            return state
        state = settle(data, found)
    return state
