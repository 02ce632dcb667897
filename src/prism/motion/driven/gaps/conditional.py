"""What was not measured, given what was, for a motion of a known spectrum."""

from __future__ import annotations

from prism.motion.driven.gaps.picked import Picked
from prism.motion.driven.gaps.places import GridPlaces, Spectrum
from prism.motion.driven.gaps.uneven import Uneven

__all__ = ["Conditional", "conditional"]

Conditional = Picked | Uneven


def conditional(places: GridPlaces, spectrum: Spectrum) -> Conditional:
    """The motion of one trial, given what was measured of it.

    Equations in the covariance of the samples take few steps where these stand on a grid, even
    with long gaps; at uneven times they take thousands, and those in the information few.

    Parameters
    ----------
    places : GridPlaces
    spectrum : callable
        Two-sided spectral matrices (K, n, n) at angular frequencies (K,).
    """
    return (Picked if places.even else Uneven).of(places, spectrum)
