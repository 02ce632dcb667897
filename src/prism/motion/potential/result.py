"""What a fit of a potential returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.errors import OptionError
from prism.forecast import Forecast, checked_times
from prism.motion.potential.forecast import Growth, growth_of, motion_at
from prism.motion.potential.kernel import Parameters
from prism.motion.potential.path import Estimate
from prism.motion.potential.pieces import Problem
from prism.motion.potential.terms import Potential, derivatives, potential_values
from prism.remarks import Remark, Words
from prism.systems.nonlinear import NonlinearSystem

__all__ = ["Alternative", "Horizon", "NonlinearFit", "Verdict", "hidden_text"]


@dataclass(frozen=True)
class Alternative:
    """A structure that the data do not tell from the one reported.

    Attributes
    ----------
    terms : tuple of str
        Terms of the force, or of V for two coordinates.
    modes : int
        Number of hidden modes.
    difference : float
        Score minus that of the structure reported, which is the plainest of those not told
        apart; negative where this one fits a little better.
    coefficients : tuple of float
        Of the terms.
    """

    terms: tuple[str, ...]
    modes: int
    difference: float
    coefficients: tuple[float, ...]

    def __str__(self) -> str:
        some = f"{self.modes} hidden mode{'s' * (self.modes != 1)}"
        return f"terms {', '.join(self.terms) or 'none'} with {some} (score {self.difference:+.1f})"


@dataclass(frozen=True)
class Verdict:
    """Whether the record determines the Hamiltonian.

    Attributes
    ----------
    identifiable : bool
        Whether potential, hidden frequencies and couplings are determined.
    why : Words or str
        What is missing; empty when they are.
    remedy : Words or str
        What would supply it.
    linear : bool
        Whether no nonlinearity is seen.
    reaches_noise : bool
        Whether the motion is described to within the noise.
    """

    identifiable: bool
    why: Words | str = ""
    remedy: Words | str = ""
    linear: bool = False
    reaches_noise: bool = True

    @property
    def words(self) -> Words:
        """The verdict in sentences."""
        if self.identifiable:
            return Words("Determined: the potential, the hidden frequencies and the couplings.")
        why = "Not determined: " + Words.of(self.why) + ". What would settle it: "
        return why + self.remedy + "."

    def __str__(self) -> str:
        return str(self.words)


@dataclass(frozen=True)
class Horizon:
    """How far the forecast of a chaotic motion reaches.

    Attributes
    ----------
    time : float
        After the last sample, until the standard deviation of the forecast is half that of the
        record; infinite when it stays below for as long as the record lasted.
    lyapunov : float
        Largest Lyapunov exponent.
    """

    time: float
    lyapunov: float

    @property
    def lyapunov_times(self) -> float:
        """The horizon in units of the time in which a disturbance grows by e."""
        return self.time * self.lyapunov


@dataclass(frozen=True, eq=False)
class NonlinearFit:
    r"""A potential and hidden modes, from the motion of the seen coordinates.

    .. math:: H = \tfrac12 |p|^2 + V(x)
              + \sum_i \left[\tfrac12 p_i^2 + \tfrac12 ω_i^2 q_i^2 + q_i\, c_i^T x\right]

    Attributes
    ----------
    potential : Potential or None
        V; None when a linear record leaves it undetermined.
    hidden_frequencies, hidden_frequencies_std : ndarray (modes,)
        ω, ascending; empty where undetermined.
    couplings, couplings_std : ndarray (modes, channels)
        c, the greatest of each mode positive.
    covariance : ndarray
        Of (coefficients of V, ω, couplings), where they are determined.
    initial_states : ndarray (trials, 2 coordinates)
        Positions, then velocities, of (x, u) at the first sample of each trial, with
        :math:`u_i = -|c_i| q_i` for one seen coordinate: the force that mode i exerts.
    noise_std : ndarray (channels,)
    alternatives : tuple of Alternative
        Structures that the data do not distinguish from this one.
    verdict : Verdict
    remarks : tuple of Remark or str
    channels : tuple of str
    misfit : float
        χ² per degree of freedom, with the noise taken from the upper half of the band.
    """

    potential: Potential | None
    hidden_frequencies: Array
    hidden_frequencies_std: Array
    couplings: Array
    couplings_std: Array
    covariance: Array
    initial_states: Array
    noise_std: Array
    alternatives: tuple[Alternative, ...]
    verdict: Verdict
    remarks: tuple[Remark | str, ...]
    channels: tuple[str, ...]
    misfit: float
    _problem: Problem = field(repr=False)
    _estimate: Estimate = field(repr=False)
    _full_covariance: Array = field(repr=False)
    _starts: tuple[float, ...] = field(repr=False)

    @property
    def modes(self) -> int:
        """Number of hidden modes of the motion, determined or not."""
        return self._estimate.modes

    def forecast(self, t: ArrayLike, trial: int = 0) -> Forecast:
        """Motion of one trial at the given times, inside or outside the record.

        Parameters
        ----------
        t : array
            Times on the clock of the record.
        trial : int
        """
        times = checked_times(t, trial, len(self._starts))
        values, std = motion_at(
            self._problem,
            self._estimate,
            self._full_covariance,
            trial,
            times - self._starts[trial],
        )
        return Forecast(times, values, std, self.noise_std)

    @cached_property
    def growth(self) -> Growth | None:
        """Growth of disturbances of the fitted motion; None when it escapes."""
        return growth_of(self._problem, self._estimate)

    @cached_property
    def horizon(self) -> Horizon | None:
        """How far the forecast reaches when the motion is chaotic; None when it is regular."""
        growth = self.growth
        if growth is None or not growth.is_chaotic:
            return None
        y, dt = self._problem.data[0], self._problem.dt
        end = len(y) * dt
        ahead = np.asarray(dt * np.arange(1, len(y) + 1), float)
        _, std = motion_at(
            self._problem, self._estimate, self._full_covariance, 0, end - dt + ahead
        )
        beyond = (std > 0.5 * np.nanstd(y, axis=0)).any(axis=1)
        time = float(ahead[np.argmax(beyond)]) if beyond.any() else float("inf")
        return Horizon(time, growth.exponent)

    @property
    def system(self) -> NonlinearSystem:
        """The fitted Hamiltonian as a system to simulate, with its hidden coordinates."""
        if self.potential is None:
            raise OptionError(f"there is no Hamiltonian to simulate: {self.verdict.why}.")
        return _system(self._estimate.parameters, self.channels)

    def kernel(self, t: ArrayLike) -> Array:
        r"""Memory kernel :math:`\sum_i c_i c_i^T \sin(ω_i t)/ω_i`, (times, channels, channels)."""
        p = self._estimate.parameters
        at = np.multiply.outer(np.asarray(t, float), p.omega)
        each = np.sin(at) / p.omega
        return np.asarray(np.einsum("...m,ma,mb->...ab", each, p.couplings, p.couplings))

    def __str__(self) -> str:
        """Return the equations, the verdict and the remarks."""
        lines = []
        if self.potential is not None:
            lines.append(str(self.potential))
            lines += [hidden_text(self, i) for i in range(len(self.hidden_frequencies))]
        lines.append(str(self.verdict))
        if self.alternatives:
            lines.append("Not distinguished from it by these data:")
            lines += [f"  {one}" for one in self.alternatives]
        lines += [f"Note: {remark}." for remark in self.remarks]
        return "\n".join(lines)


def hidden_text(fit: NonlinearFit, i: int) -> str:
    """One hidden mode in writing."""
    omega, std = fit.hidden_frequencies[i], fit.hidden_frequencies_std[i]
    c = ", ".join(
        f"{value:.4g} ± {error:.2g}"
        for value, error in zip(fit.couplings[i], fit.couplings_std[i], strict=True)
    )
    return f"hidden mode {i + 1}: frequency {omega:.4g} ± {std:.2g}, coupling {c}"


def _system(p: Parameters, channels: tuple[str, ...]) -> NonlinearSystem:
    m, n = p.ratios.shape
    lib, couplings = p.library, p.couplings

    def potential(q: Array) -> Array:
        x, h = q[..., :n], q[..., n:]
        own = potential_values(lib, x) @ p.theta
        return np.asarray(own + (0.5 * (p.omega * h) ** 2).sum(-1) + (h @ couplings * x).sum(-1))

    def force(q: Array) -> Array:
        x, h = q[..., :n], q[..., n:]
        slope, _ = derivatives(lib.kinds, lib.shapes, x, curved=False)
        seen = -(slope @ p.theta) - h @ couplings
        return np.concatenate([seen, -(p.omega**2) * h - x @ couplings.T], axis=-1)

    def hessian(q: Array) -> Array:
        out = np.zeros((*q.shape, n + m))
        _, curve = derivatives(lib.kinds, lib.shapes, q[..., :n])
        out[..., :n, :n] = curve @ p.theta
        out[..., :n, n:], out[..., n:, :n] = couplings.T, couplings
        i = np.arange(n, n + m)
        out[..., i, i] = p.omega**2
        return out

    names = [*channels, *(f"hidden {i + 1}" for i in range(m))]
    return NonlinearSystem(
        potential=potential,
        force=force,
        hessian=hessian,
        masses=np.ones(n + m),
        observed=range(n),
        names=names,
    )
