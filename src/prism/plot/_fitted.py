"""The fitted motion over a whole record, however long it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prism.model import Model
from prism.plot import _limits as limits

__all__ = ["fitted", "paces"]

Array = NDArray[np.float64]


def fitted(model: Model, t: Array, trial: int) -> Array:
    """Motion that was fitted, (times, channels); NaN where there is none.

    Parameters
    ----------
    model : Model
    t : array (times,)
    trial : int
    """
    moving = model.trajectories
    if moving is None:
        return np.full((len(t), len(model.channels)), np.nan)
    if moving.integrated:  # from the start: once is least work
        return moving.values(t, trial)
    step = limits.TIMES_AT_ONCE
    parts = [t[k : k + step] for k in range(0, len(t), step)]
    return np.concatenate([moving.values(part, trial) for part in parts])


def paces(model: Model) -> Array:
    """Frequencies that say how fast the motion is, ascending.

    Those of the modes; of a motion without lines, those of small swings in its Hamiltonian.
    """
    if len(model.modes):
        return model.modes.frequencies
    h = model.hamiltonian
    if h is None:
        span = model.record.end - model.record.start
        return np.array([limits.GUESSED_PERIODS * 2 * np.pi / span])
    own = np.sqrt(np.abs(np.linalg.eigvalsh(h.stiffness)))
    return np.sort(np.concatenate([own, h.hidden_frequencies]))
