"""A cart on a spring that carries a pendulum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.errors import OptionError
from prism.record import Record
from prism.symplectic import relative_energy_error
from prism.systems import _limits as limits
from prism.systems._sampled import sampling_times
from prism.systems.linear import LinearSystem
from prism.systems.nonlinear import Trajectory, check_start, measured

__all__ = ["CartPendulum", "cart_pendulum"]

_COORDINATES = ("x", "theta")


@final
@dataclass(frozen=True, eq=False)
class CartPendulum:
    r"""Cart at x on a spring, with a pendulum at the angle θ from hanging down.

    .. math::
        L = \tfrac12 (M+m)\,x'^2 + m l\,x' θ' \cos θ + \tfrac12 m l^2 θ'^2
            - \tfrac12 k x^2 - m g l\,(1 - \cos θ)

    The kinetic energy depends on θ, so that the symplectic scheme of separable systems does not
    apply; DOP853 with a relative tolerance of 1e-12 follows the motion, with an energy error of
    some 1e-10 over a hundred periods, which `trajectory` reports.

    Parameters
    ----------
    M, m : float
        Mass of the cart and of the bob.
    l : float
        Length of the pendulum.
    k : float
        Stiffness of the spring.
    g : float
        Gravity.
    observed : {"x", "theta"} or sequence of them
        What is recorded.
    """

    M: float = 1.0
    m: float = 0.5
    l: float = 1.0  # noqa: E741 - the letter of the theory
    k: float = 15.0
    g: float = 9.81
    observed: str | Sequence[str] = "x"

    def __post_init__(self) -> None:
        if not all(0 < value < np.inf for value in (self.M, self.m, self.l, self.k, self.g)):
            raise OptionError("M, m, l, k and g of a cart and pendulum must be positive numbers.")
        if sorted(self.channels) not in (["theta"], ["theta", "x"], ["x"]):
            raise OptionError(f"observed {self.observed!r}: name x, theta or both.")

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the observed coordinates."""
        return (self.observed,) if isinstance(self.observed, str) else tuple(self.observed)

    @property
    def _seen(self) -> list[int]:
        return [_COORDINATES.index(name) for name in self.channels]

    def linearised(self) -> LinearSystem:
        r"""Small motions about hanging at rest.

        .. math:: M_{tot} = \begin{pmatrix} M+m & ml \\ ml & ml^2 \end{pmatrix},\qquad
            K = \begin{pmatrix} k & 0 \\ 0 & mgl \end{pmatrix}

        Seen at x: :math:`μ = M,\; κ = k + mg/l,\; ω^2 = g/l,\; c^2 = mg^2/l^2`.
        """
        stiffness = np.diag([self.k, self.m * self.g * self.l])
        return LinearSystem(self._mass(0.0), stiffness, np.eye(2)[self._seen], self.channels)

    def energy(self, q: ArrayLike, p: ArrayLike) -> Array:
        r""":math:`H(q, p)` with :math:`p = ∂L/∂q'`, from (..., 2) to (...)."""
        return self._kinetic(q, p) + self._potential(np.asarray(q, float))

    def trajectory(
        self, position: ArrayLike, momentum: ArrayLike, duration: float, dt: float
    ) -> Trajectory:
        """Follow both coordinates.

        Parameters
        ----------
        position, momentum : array (2,) or (trials, 2)
            Of x and θ.
        duration, dt : float
        """
        check_start(_COORDINATES, position, momentum)
        t = sampling_times(duration, dt)
        starts = np.concatenate(np.broadcast_arrays(position, momentum), axis=-1, dtype=float)
        paths = np.stack([self._path(start, t) for start in np.atleast_2d(starts)])
        q, p = np.split(paths.reshape(*starts.shape[:-1], len(t), 4), 2, axis=-1)
        return Trajectory(t, q, p, relative_energy_error(self.energy(q, p), self._kinetic(q, p)))

    def simulate(
        self,
        position: ArrayLike,
        momentum: ArrayLike,
        duration: float,
        dt: float,
        *,
        noise: float = 0.0,
        rng: np.random.Generator | int | None = None,
    ) -> Record:
        """Record the observed coordinates.

        Parameters
        ----------
        position, momentum : array (2,) or (trials, 2)
        duration, dt : float
        noise : float
            Standard deviation of the measurement noise as a fraction of each channel's.
        """
        q = self.trajectory(position, momentum, duration, dt).q
        return measured(q[..., self._seen], dt, self.channels, noise=noise, rng=rng)

    def _mass(self, theta: float) -> Array:
        off = self.m * self.l * np.cos(theta)
        return np.array([[self.M + self.m, off], [off, self.m * self.l**2]])

    def _velocity(self, q: Array, p: Array) -> Array:
        """Solve ``M(θ) q' = p``."""
        cos, ml = np.cos(q[..., 1]), self.m * self.l
        determinant = ml * self.l * (self.M + self.m * (1 - cos**2))
        x = ml * self.l * p[..., 0] - ml * cos * p[..., 1]
        theta = (self.M + self.m) * p[..., 1] - ml * cos * p[..., 0]
        return np.asarray(np.stack([x, theta], axis=-1) / determinant[..., None])

    def _kinetic(self, q: ArrayLike, p: ArrayLike) -> Array:
        momentum = np.asarray(p, float)
        velocity = self._velocity(np.asarray(q, float), momentum)
        return np.asarray((velocity * momentum).sum(axis=-1) / 2)

    def _potential(self, q: Array) -> Array:
        lift = 2 * np.sin(q[..., 1] / 2) ** 2  # 1 - cos θ without cancellation
        return np.asarray(self.k * q[..., 0] ** 2 / 2 + self.m * self.g * self.l * lift)

    def _path(self, start: Array, t: Array) -> Array:
        from scipy.integrate import solve_ivp  # slow to import, and seldom needed

        options = {"method": "DOP853", "rtol": limits.PATH_RTOL, "atol": limits.PATH_ATOL}
        found = solve_ivp(self._flow, (0.0, t[-1]), start, t_eval=t, **options)
        if not found.success:
            raise OptionError(f"the motion from {start.tolist()} cannot be followed: start lower.")
        return np.asarray(found.y.T)

    def _flow(self, _: float, z: Array) -> list[float]:
        r"""Hamilton's equations; :math:`p_θ' = -m l \sin θ\,(x' θ' + g)`.

        In plain numbers, which are several times faster than arrays of two.
        """
        x, theta, px, pt = z.tolist()
        cos, sin, ml = math.cos(theta), math.sin(theta), self.m * self.l
        determinant = ml * self.l * (self.M + self.m * sin**2)
        vx = (ml * self.l * px - ml * cos * pt) / determinant
        vt = ((self.M + self.m) * pt - ml * cos * px) / determinant
        return [vx, vt, -self.k * x, -ml * sin * (vx * vt + self.g)]


def cart_pendulum(
    M: float = 1.0,
    m: float = 0.5,
    l: float = 1.0,  # noqa: E741 - the letter of the theory
    k: float = 15.0,
    g: float = 9.81,
    *,
    observed: str | Sequence[str] = "x",
) -> LinearSystem:
    """Build the linearised cart and pendulum; `CartPendulum` is the whole of it.

    Parameters
    ----------
    M, m, l, k, g, observed
        As in `CartPendulum`.

    Examples
    --------
    >>> import numpy as np
    >>> np.round(cart_pendulum().frequencies, 3)
    array([2.506, 4.841])
    """
    return CartPendulum(M, m, l, k, g, observed).linearised()
