"""A tank on a spring, with liquid that sloshes in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from prism._types import Array
from prism.errors import OptionError
from prism.systems.linear import LinearSystem

__all__ = ["SloshModes", "slosh_modes", "slosh_tank"]


class SloshModes(NamedTuple):
    """The mechanical analogue of a liquid.

    Attributes
    ----------
    frequencies : ndarray (modes,)
        Of the liquid in a tank held still.
    masses : ndarray (modes,)
        Of the pendula.
    lengths : ndarray (modes,)
        Of the pendula.
    rigid : float
        What moves with the tank: the liquid without the masses above.
    """

    frequencies: Array
    masses: Array
    lengths: Array
    rigid: float


def slosh_modes(
    length: float = 1.0,
    depth: float = 0.5,
    width: float = 1.0,
    density: float = 1000.0,
    g: float = 9.81,
    *,
    modes: int = 2,
) -> SloshModes:
    r"""Find the pendula that act on a rectangular tank like the liquid in it.

    .. math:: ω_n^2 = k_n g \tanh k_n h,\qquad
        \frac{m_n}{ρ L b h} = \frac{8 \tanh k_n h}{(k_n L)^3\, h/L},\qquad
        k_n = \frac{(2n-1)π}{L},\qquad l_n = \frac{g}{ω_n^2}

    for small waves of an ideal liquid in a tank that moves along its length L; waves that are even
    about the middle do not push it. See H. N. Abramson (ed.), *The Dynamic Behavior of Liquids in
    Moving Containers*, NASA SP-106 (1966), or R. A. Ibrahim, *Liquid Sloshing Dynamics* (2005). The
    rest of the liquid, with all modes above those asked for, moves with the tank.

    Parameters
    ----------
    length, depth, width : float
        L along the motion, h of the liquid, b across.
    density, g : float
    modes : int
        How many, at least 1.
    """
    if modes < 1:
        raise OptionError(f"{modes} slosh modes: give at least 1.")
    if not all(0 < value < np.inf for value in (length, depth, width, density, g)):
        raise OptionError(
            "length, depth, width, density and g of a slosh tank must be positive numbers."
        )
    liquid = density * length * width * depth
    root = (2 * np.arange(modes) + 1) * np.pi
    filled = np.tanh(root * depth / length)
    square = root * g / length * filled
    masses = liquid * 8 * filled / (root**3 * depth / length)
    return SloshModes(np.sqrt(square), masses, g / square, float(liquid - masses.sum()))


def slosh_tank(
    M: float = 100.0,
    k: float = 3.0e4,
    length: float = 1.0,
    depth: float = 0.5,
    width: float = 1.0,
    density: float = 1000.0,
    g: float = 9.81,
    *,
    modes: int = 2,
    observed: str | Sequence[str] = "x",
) -> LinearSystem:
    r"""Build a rectangular tank at x on a spring, with pendula at the angles θ_n for the liquid.

    .. math:: M_{tot} = \begin{pmatrix} M + m_0 + \sum_n m_n & m_n l_n \\
        m_n l_n & \mathrm{diag}(m_n l_n^2) \end{pmatrix},\qquad
        K = \begin{pmatrix} k & 0 \\ 0 & \mathrm{diag}(m_n g l_n) \end{pmatrix}

    with the masses and lengths of `slosh_modes`. The coupling is reactive, through the mass. Seen
    at x: effective mass :math:`M + m_0` and, for the tank held still, the slosh frequencies
    :math:`ω_n` themselves as bare ones.

    Parameters
    ----------
    M, k : float
        Mass of the empty tank and stiffness of its mount.
    length, depth, width, density, g, modes
        Of the liquid, as in `slosh_modes`; SI units by default.
    observed : {"x", "theta1", ...} or sequence of them
        What is seen, and where forces (for an angle: moments) act.

    Examples
    --------
    >>> import numpy as np
    >>> np.round(slosh_tank().hidden_frequencies, 3)
    array([5.317, 9.615])
    """
    if not all(0 < value < np.inf for value in (M, k)):
        raise OptionError("M and k of a slosh tank must be positive numbers.")
    liquid = slosh_modes(length, depth, width, density, g, modes=modes)
    names = ("x", *(f"theta{n + 1}" for n in range(modes)))
    seen = (observed,) if isinstance(observed, str) else tuple(observed)
    if not seen or len(set(seen)) != len(seen) or not set(seen) <= set(names):
        raise OptionError(f"observed {observed!r}: name some of {', '.join(names)}, each once.")
    moment = liquid.masses * liquid.lengths
    mass = np.diag([M + liquid.rigid + liquid.masses.sum(), *(moment * liquid.lengths)])
    mass[0, 1:] = mass[1:, 0] = moment
    rows = np.eye(modes + 1)[[names.index(name) for name in seen]]
    return LinearSystem(mass, np.diag([k, *(moment * g)]), rows, seen)
