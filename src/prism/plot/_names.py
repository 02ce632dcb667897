"""Numbers above a panel, where there is room for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["name_above"]


def name_above(
    ax: Axes, places: NDArray[np.float64], gap: float, form: str = ".4g", **look: Any
) -> None:
    """Write places of the x axis above a panel; of crowded ones the first is written.

    Parameters
    ----------
    ax : Axes
    places : array
        Ascending.
    gap : float
        Least distance of two that are written.
    form : str
        How a number is written.
    **look
        Of the text.
    """
    last = -np.inf
    for place in places:
        if place - last < gap:
            continue
        last = place
        ax.annotate(
            f"{place:{form}}",
            (place, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=9,
            **look,
        )
