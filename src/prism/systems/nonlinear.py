"""A nonlinear conservative system, some of whose coordinates are seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.errors import OptionError
from prism.record import Record
from prism.symplectic import integrate_within
from prism.systems import _limits as limits
from prism.systems._sampled import sampling_times
from prism.systems.linear import LinearSystem

__all__ = ["NonlinearSystem", "Trajectory", "check_start", "measured"]


class Trajectory(NamedTuple):
    """The motion of all coordinates.

    Attributes
    ----------
    t : ndarray (samples,)
    q, p : ndarray (..., samples, coordinates)
    energy_error : float
        Greatest change of the energy over the greatest kinetic energy.
    """

    t: Array
    q: Array
    p: Array
    energy_error: float


@dataclass(frozen=True, kw_only=True, eq=False)
class NonlinearSystem:
    r""":math:`H = Σ_i p_i²/2m_i + V(q)`, of which some coordinates are seen.

    Parameters
    ----------
    potential : callable
        V, from (..., N) to (...).
    force : callable
        :math:`-∇V`, from (..., N) to (..., N).
    masses : array (N,)
    observed : sequence of int
        Indices, from 0, of the coordinates that are recorded.
    names : sequence of str
        Of all coordinates; those of the observed ones name the channels.
    hessian : callable, optional
        :math:`∇∇V`, from (..., N) to (..., N, N); by default differences of the force.

    Examples
    --------
    >>> import numpy as np
    >>> duffing = NonlinearSystem(
    ...     potential=lambda q: (q**2 / 2 + q**4 / 4).sum(axis=-1),
    ...     force=lambda q: -q - q**3,
    ...     masses=[1.0], observed=[0], names=["x"],
    ... )
    >>> duffing.simulate([1.0], [0.0], 10, 0.1)
    Record(1 trial of 100 samples, dt=0.1, channels x, displacement)
    """

    potential: Callable[[Array], Array]
    force: Callable[[Array], Array]
    masses: ArrayLike
    observed: Sequence[int]
    names: Sequence[str]
    hessian: Callable[[Array], Array] | None = None

    def __post_init__(self) -> None:
        m = np.asarray(self.masses, float)
        if m.ndim != 1 or not m.size or not (np.isfinite(m) & (m > 0)).all():
            raise OptionError(f"masses {m.tolist()} must be a list of positive numbers.")
        if len(self.names) != len(m):
            raise OptionError(f"{len(self.names)} names for {len(m)} coordinates: give one each.")
        seen = list(self.observed)
        if not seen or len(set(seen)) != len(seen) or not set(seen) <= set(range(len(m))):
            raise OptionError(
                f"observed coordinates {seen} must be distinct indices from 0 to {len(m) - 1}."
            )
        vars(self).update(masses=m, observed=tuple(seen), names=tuple(self.names))

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the observed coordinates."""
        return tuple(self.names[i] for i in self.observed)

    def energy(self, q: ArrayLike, p: ArrayLike) -> Array:
        r""":math:`H(q, p)`, from (..., N) to (...)."""
        kinetic = np.asarray(p, float) ** 2 / (2 * np.asarray(self.masses))
        return np.asarray(kinetic.sum(axis=-1) + self.potential(np.asarray(q, float)))

    def curvature(self, q: ArrayLike) -> Array:
        """Hessian of the potential, (..., N) to (..., N, N)."""
        at = np.asarray(q, float)
        return self.hessian(at) if self.hessian else _differences(self.force, at)

    def trajectory(
        self,
        position: ArrayLike,
        momentum: ArrayLike,
        duration: float,
        dt: float,
        *,
        tolerance: float = limits.ENERGY_TOLERANCE,
    ) -> Trajectory:
        """Follow all coordinates.

        Parameters
        ----------
        position, momentum : array (N,) or (trials, N)
        duration, dt : float
            The samples are at ``0, dt, ...``, short of the duration.
        tolerance : float
            Of the energy, relative to the greatest kinetic energy.
        """
        check_start(self.names, position, momentum)
        t = sampling_times(duration, dt)
        motion = integrate_within(
            *(self.force, self.potential, position, momentum, dt, len(t) - 1),
            masses=self.masses,
            tolerance=tolerance,
        )
        return Trajectory(t, motion.q, motion.p, motion.energy_error)

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
        position, momentum : array (N,) or (trials, N)
        duration, dt : float
        noise : float
            Standard deviation of the measurement noise as a fraction of each channel's.
        """
        q = self.trajectory(position, momentum, duration, dt).q
        return measured(q[..., list(self.observed)], dt, self.channels, noise=noise, rng=rng)

    def linearised(self, at: ArrayLike | None = None) -> LinearSystem:
        r""":math:`M δq'' + ∇∇V(q_0)\, δq = 0` about an equilibrium.

        Parameters
        ----------
        at : array (N,), optional
            The equilibrium :math:`q_0`, by default zero; it must be stable.
        """
        m = np.asarray(self.masses)
        q = np.zeros(len(m)) if at is None else np.asarray(at, float)
        if q.shape != m.shape:
            raise OptionError(f"an equilibrium of shape {q.shape}: give ({len(m)},).")
        residual = float(np.abs(self.force(q)).max())
        if not residual <= limits.FORCE_FREE:
            raise OptionError(
                f"a force of {residual:.1e} acts at {q.tolist()}: linearise at an equilibrium."
            )
        K = self.curvature(q)
        seen = np.eye(len(m))[list(self.observed)]
        return LinearSystem(np.diag(m), (K + K.T) / 2, seen, self.channels)


def check_start(names: Sequence[str], position: ArrayLike, momentum: ArrayLike) -> None:
    """Refuse a start that does not fit the coordinates.

    Parameters
    ----------
    names : sequence of str
        Of the coordinates.
    position, momentum : array (..., coordinates)
    """
    for kind, value in (("position", position), ("momentum", momentum)):
        if np.shape(value)[-1:] != (len(names),) or not np.isfinite(value).all():
            raise OptionError(
                f"{kind} of shape {np.shape(value)}: give ({len(names)},) or (trials, "
                f"{len(names)}), a finite number for each of {', '.join(names)}."
            )


def _differences(force: Callable[[Array], Array], q: Array) -> Array:
    """Hessian by central differences of fourth order, good to about 1e-11."""
    h = limits.DIFFERENCE_STEP
    columns = []
    for shift in h * np.eye(q.shape[-1]):
        near = force(q + shift) - force(q - shift)
        far = force(q + 2 * shift) - force(q - 2 * shift)
        columns.append((far - 8 * near) / (12 * h))
    return np.stack(columns, axis=-1)


def measured(
    values: Array,
    dt: float,
    channels: Sequence[str],
    *,
    noise: float = 0.0,
    rng: np.random.Generator | int | None = None,
) -> Record:
    """Make a record of exact values by adding white noise.

    Parameters
    ----------
    values : ndarray (..., samples, channels)
    dt : float
    channels : sequence of str
    noise : float
        As a fraction of the standard deviation of each channel over all trials.
    rng : Generator or int, optional
    """
    if not 0 <= noise < np.inf:
        raise OptionError(f"noise {noise} must be zero or a positive number.")
    if noise:
        spread = values.reshape(-1, values.shape[-1]).std(axis=0)
        errors = np.random.default_rng(rng).standard_normal(values.shape)
        values = values + noise * spread * errors
    return Record(values, dt=dt, channels=channels)
