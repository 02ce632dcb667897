"""One mode as a model shows it, on the channels that another model has too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from prism._types import Array
from prism.comparison import _limits as limits
from prism.likeness import Likeness, compare_shapes
from prism.model import Model
from prism.modes import Modes

__all__ = ["SeenMode", "likeness_of", "seen_modes"]


class SeenMode(NamedTuple):
    """A mode with its errors.

    Parameters
    ----------
    number : int
        Its place among the modes of its model.
    frequency, frequency_std : float
        The error may be infinite.
    damping : (float, float, float) or None
        Ratio and the ends of its 95 % interval; None where it was not fitted.
    shape : array (channels,) or None
        Unit, on the shared channels; None where it cannot be compared, as `why` says.
    covariance : array (channels, channels) or None
    why : str
    """

    number: int
    frequency: float
    frequency_std: float
    damping: tuple[float, float, float] | None
    shape: Array | None
    covariance: Array | None
    why: str


def seen_modes(model: Model, channels: Sequence[str]) -> list[SeenMode]:
    """The vibrating modes of a model, on some of its channels; of a response those in its band.

    Parameters
    ----------
    model : Model
    channels : sequence of str
    """
    modes = model.modes
    pick = np.array([model.channels.index(name) for name in channels])
    inside = True if model.response is None else model.response.inside
    return [_seen(modes, m, pick) for m in np.flatnonzero(~modes.rigid & inside).tolist()]


def _seen(modes: Modes, m: int, pick: Array) -> SeenMode:
    why = _why_no_shape(modes, m, pick)
    shape, covariance = (None, None) if why else _shape(modes, m, pick)
    return SeenMode(
        number=m,
        frequency=float(modes.frequencies[m]),
        frequency_std=float(modes.frequencies_std[m]),
        damping=_damping(modes, m),
        shape=shape,
        covariance=covariance,
        why=why,
    )


def _why_no_shape(modes: Modes, m: int, pick: Array) -> str:
    """Why the shape cannot be compared; empty where it can."""
    if len(pick) < 2:
        return "one shared channel shows no shape"
    if modes.turning[m]:
        return "it turns, so that the direction of its shape is free"
    if np.sum(modes.frequencies == modes.frequencies[m]) > 1:
        return "another mode has its frequency, and any mixture of both is a shape as well"
    if not np.all(np.isfinite(modes.shapes_std[m])) or not np.any(modes.shapes[m][pick]):
        return "the error of its shape on the shared channels is not known"
    return ""


def _shape(modes: Modes, m: int, pick: Array) -> tuple[Array, Array]:
    r"""Unit again, with :math:`(1 - u u^T) C (1 - u u^T) / |s|^2`."""
    whole = modes.shapes[m][pick]
    length = float(np.linalg.norm(whole))
    unit = whole / length
    across = (np.eye(len(pick)) - np.outer(unit, unit)) / length
    places = m * modes.shapes.shape[1] + pick
    own = modes.joint.between("shapes")[np.ix_(places, places)]
    return unit, across @ own @ across


def _damping(modes: Modes, m: int) -> tuple[float, float, float] | None:
    """Ratio and interval; a log-normal one where only a standard deviation is known."""
    if modes.damping_std is None:
        return None
    ratio = float(modes.damping[m])
    if modes.damping_interval is not None:
        low, high = modes.damping_interval[m]
        return ratio, float(low), float(high)
    std = float(modes.damping_std[m])
    if not (ratio > 0 and np.isfinite(std) and std > 0):
        return None
    spread = float(np.exp(limits.NORMAL * std / ratio))
    return ratio, ratio / spread, ratio * spread


def likeness_of(a: SeenMode, b: SeenMode) -> Likeness | None:
    """How alike the shapes of two modes of independent records are; None where one has none."""
    if a.shape is None or b.shape is None or a.covariance is None or b.covariance is None:
        return None
    nothing = np.zeros_like(a.covariance)
    joint = np.block([[a.covariance, nothing], [nothing, b.covariance]])
    return compare_shapes(a.shape, b.shape, joint) if np.trace(joint) > 0 else None
