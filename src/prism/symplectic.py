r"""Symplectic integration of :math:`H = Σ_i p_i²/2m_i + V(q)`.

The scheme is SRKN\ :sub:`6`\ :sup:`b` of S. Blanes and P. C. Moan, "Practical symplectic
partitioned Runge-Kutta and Runge-Kutta-Nyström methods", J. Comput. Appl. Math. 142 (2002) 313-330,
Table 3: symmetric, explicit, of order four, six forces a step. Its energy error stays bounded
instead of growing with time, and is some hundred times smaller than that of Yoshida's three-stage
scheme for the same number of forces.

`QUICK` is the position extended Forest-Ruth-like scheme of I. P. Omelyan, I. M. Mryglod and
R. Folk, "Optimized Forest-Ruth- and Suzuki-like algorithms for integration of motion in many-body
systems", Comput. Phys. Commun. 146 (2002) 188-202: of order four too, four forces a step, some
thirty times the error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.errors import OptionError

__all__ = [
    *("FINE", "QUICK", "Integrated", "Scheme"),
    *("integrate", "integrate_within", "relative_energy_error"),
]


class Scheme(NamedTuple):
    """Shares of the step: a drift of the positions before each kick, and one after the last.

    Attributes
    ----------
    drifts : ndarray (stages + 1,)
    kicks : ndarray (stages,)
    """

    drifts: Array
    kicks: Array


_A = (0.245298957184271, 0.604872665711080)
_B = (0.0829844064174052, 0.396309801498368, -0.0390563049223486)
FINE = Scheme(
    np.array([0.0, *_A, 0.5 - sum(_A), 0.5 - sum(_A), *_A[::-1], 0.0]),
    np.array([*_B, 1 - 2 * sum(_B), *_B[::-1]]),
)
_XI, _LAMBDA, _CHI = 0.1786178958448091, -0.2123418310626054, -0.06626458266981849
QUICK = Scheme(
    np.array([_XI, _CHI, 1 - 2 * (_CHI + _XI), _CHI, _XI]),
    np.array([0.5 - _LAMBDA, _LAMBDA, _LAMBDA, 0.5 - _LAMBDA]),
)
_ORDER = 4
_MAX_SUBSTEPS = 4096
_LEAST_ERROR = 1e-14

Force = Callable[[Array], Array]


class Integrated(NamedTuple):
    """A motion at its sampling times.

    Attributes
    ----------
    q, p : ndarray (..., steps + 1, coordinates)
        Positions and momenta, the start included.
    substeps : int
        Integration steps for each sampling step.
    energy_error : float
        What `relative_energy_error` makes of it.
    """

    q: Array
    p: Array
    substeps: int
    energy_error: float


def integrate(
    force: Force,
    q0: ArrayLike,
    p0: ArrayLike,
    dt: float,
    steps: int,
    substeps: int = 1,
    masses: ArrayLike = 1.0,
    scheme: Scheme = FINE,
) -> tuple[Array, Array]:
    r"""Follow :math:`q' = p/m,\; p' = F(q)` with `substeps` integration steps for each sample.

    Each step of length h alternates kicks :math:`p ← p + b_i h F(q)` and drifts
    :math:`q ← q + a_i h p/m`.

    Parameters
    ----------
    force : callable
        F, from (..., coordinates) to the same shape.
    q0, p0 : array (..., coordinates)
        Start; leading axes are independent motions, followed together.
    dt : float
        Sampling step; a negative one goes back in time.
    steps : int
        Number of sampling steps.
    substeps : int
    masses : float or array (coordinates,)
    scheme : Scheme
        One that begins and ends with a kick: its first and its last drift are zero.

    Returns
    -------
    q, p : ndarray (..., steps + 1, coordinates)
        NaN from the first sample on that is not finite.
    """
    if steps < 1 or substeps < 1 or not (np.isfinite(dt) and dt != 0):
        raise OptionError(
            f"{steps} steps of {dt} in {substeps} substeps: give at least one step and one "
            "substep, of finite length."
        )
    q, p = _start(q0, p0)
    path = np.full((2, steps + 1, *q.shape), np.nan)
    path[:, 0] = q, p
    h = dt / substeps
    drifts = [a * h / np.asarray(masses, float) for a in scheme.drifts[1:-1]]
    kicks = [b * h for b in scheme.kicks]
    with np.errstate(over="ignore", invalid="ignore"):  # a motion that runs away ends in NaN
        f = force(q)
        for k in range(1, steps + 1):
            for _ in range(substeps):
                f = _step(force, f, q, p, drifts, kicks)
            if not np.isfinite(q).all():
                break
            path[:, k] = q, p
    return np.moveaxis(path[0], 0, -2), np.moveaxis(path[1], 0, -2)


def _start(q0: ArrayLike, p0: ArrayLike) -> tuple[Array, Array]:
    """Own copies of the start, of one shape."""
    try:
        q, p = np.broadcast_arrays(np.asarray(q0, float), np.asarray(p0, float))
    except ValueError:
        raise OptionError(
            f"positions of shape {np.shape(q0)} and momenta of shape {np.shape(p0)} do not belong "
            "together: give (coordinates,) or (trials, coordinates)."
        ) from None
    if q.ndim == 0 or not (np.isfinite(q).all() and np.isfinite(p).all()):
        raise OptionError("positions and momenta must be finite arrays (..., coordinates).")
    return q.copy(), p.copy()


def _step(
    force: Force, f: Array, q: Array, p: Array, drifts: list[Array], kicks: list[float]
) -> Array:
    """One step in place; the force at its end serves the first kick of the next."""
    p += kicks[0] * f
    for a, b in zip(drifts, kicks[1:], strict=True):
        q += a * p
        f = force(q)
        p += b * f
    return f


def relative_energy_error(energy: Array, kinetic: Array) -> float:
    r"""Greatest :math:`|H(t) - H(0)| / \max_t T(t)` over the motions.

    The kinetic energy is the scale because, unlike H, it does not depend on where the potential
    is set to zero.

    Parameters
    ----------
    energy, kinetic : ndarray (..., samples)
    """
    change = np.abs(energy - energy[..., :1]).max(axis=-1)
    scale = kinetic.max(axis=-1)
    return float(np.max(np.divide(change, scale, out=np.zeros_like(change), where=scale > 0)))


def integrate_within(
    force: Force,
    potential: Callable[[Array], Array],
    q0: ArrayLike,
    p0: ArrayLike,
    dt: float,
    steps: int,
    *,
    masses: ArrayLike = 1.0,
    tolerance: float = 1e-9,
) -> Integrated:
    """Integrate with as many substeps as keep `relative_energy_error` within a tolerance.

    The error of a fourth-order scheme falls with the fourth power of the substeps, so a run
    foretells how many the next one needs; two runs are usual.

    Parameters
    ----------
    force, potential : callable
        From (..., coordinates) to (..., coordinates) and to (...).
    q0, p0, dt, steps, masses
        As in `integrate`.
    tolerance : float
        At least 1e-14; long motions reach some 1e-13 before rounding forbids more.

    Raises
    ------
    OptionError
        When the motion runs away, or the tolerance is out of reach.
    """
    if not tolerance >= _LEAST_ERROR:
        raise OptionError(f"tolerance {tolerance:g} of the energy: give at least {_LEAST_ERROR:g}.")
    m = np.asarray(masses, float)
    substeps, error, fate = 1, np.inf, -1
    while substeps <= _MAX_SUBSTEPS:
        q, p = integrate(force, q0, p0, dt, steps, substeps, m)
        last, before = _last_finite(q), error
        # An unstable step fails sooner or later as it is changed, an escape where it was.
        if 1 < last < steps and abs(last - fate) <= 1 + 0.01 * fate:
            raise OptionError(f"the motion runs away near t = {abs(dt) * last:g}: start lower.")
        fate = last if last < steps else -1
        error = _energy_error(potential, q, p, m) if last == steps else np.inf
        if error <= tolerance:
            return Integrated(q, p, substeps, error)
        if error < 1 and error > before / 1.2:  # rounding, which more steps do not mend
            break
        substeps = _more(substeps, error, tolerance)
    raise OptionError(
        f"the energy error stays at {error:.1e} and does not come below {tolerance:g}: take a "
        "shorter step, a greater tolerance or a lower start."
    )


def _energy_error(potential: Callable[[Array], Array], q: Array, p: Array, m: Array) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        kinetic = (p**2 / (2 * m)).sum(axis=-1)
        error = relative_energy_error(kinetic + potential(q), kinetic)
    return error if np.isfinite(error) else np.inf


def _more(substeps: int, error: float, tolerance: float) -> int:
    """Substeps to try next; an error that is not small foretells nothing."""
    if error > 0.1:
        return 4 * substeps
    needed: float = 1.1 * (error / tolerance) ** (1 / _ORDER)
    return math.ceil(substeps * max(1.25, needed))


def _last_finite(q: Array) -> int:
    """Index of the last sample before the first that is not finite."""
    lost = np.isnan(q).any(axis=-1).reshape(-1, q.shape[-2])
    return int(q.shape[-2]) - 1 - int(lost.sum(axis=-1).max())
