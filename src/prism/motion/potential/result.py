"""What a fit of a potential returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.determination import Determination
from prism.errors import CannotTellError
from prism.forecast import Forecast
from prism.motion.potential.hamiltonian import NonlinearHamiltonian, nonlinear_hamiltonian
from prism.motion.potential.horizon import Horizon, horizon_of
from prism.motion.potential.motion import NonlinearMotion
from prism.motion.potential.terms import Potential
from prism.motion.potential.verdict import Verdict
from prism.remarks import Remark

__all__ = ["Alternative", "NonlinearFit"]


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
    alternatives : tuple of Alternative
        Structures that the data do not distinguish from this one.
    verdict : Verdict
        On the Hamiltonian as a whole.
    determinations : tuple of Determination
        What is known about each coefficient, hidden frequency and coupling.
    remarks : tuple of Remark or str
    misfit : float
        χ² per degree of freedom, with the noise taken from the upper half of the band.
    motion : NonlinearMotion
        Of all trials, with its uncertainty.
    """

    potential: Potential | None
    hidden_frequencies: Array
    hidden_frequencies_std: Array
    couplings: Array
    couplings_std: Array
    covariance: Array
    alternatives: tuple[Alternative, ...]
    verdict: Verdict
    determinations: tuple[Determination, ...]
    remarks: tuple[Remark | str, ...]
    misfit: float
    motion: NonlinearMotion = field(repr=False)
    _trials: tuple[Array, ...] = field(repr=False)

    @property
    def modes(self) -> int:
        """Number of hidden modes of the motion, determined or not."""
        return self.motion.parameters.modes

    @property
    def noise_std(self) -> Array:
        """Standard deviation of the measurement noise, (channels,)."""
        return self.motion.noise_std

    @property
    def initial_states(self) -> Array:
        """Positions, then velocities, of (x, u) at the first sample of each trial.

        For one seen coordinate :math:`u_i = -|c_i| q_i` is the force that mode i exerts.
        """
        return self.motion.pieces[np.unique(self.motion.piece_trials, return_index=True)[1]]

    def forecast(self, t: ArrayLike, trial: int = 0) -> Forecast:
        """Motion of one trial at the given times, inside or outside the record.

        Parameters
        ----------
        t : array
            Times on the clock of the record.
        trial : int
        """
        return self.motion.at(t, trial)

    @cached_property
    def horizon(self) -> Horizon | None:
        """How far the forecast reaches when the motion is chaotic; None when it is regular."""
        return horizon_of(self.motion, self._trials)

    @cached_property
    def hamiltonian(self) -> NonlinearHamiltonian:
        """The fitted Hamiltonian, with its hidden coordinates; effective where not determined."""
        if self.potential is None:
            raise CannotTellError(f"there is no Hamiltonian: {self.verdict.why}.")
        return nonlinear_hamiltonian(
            self.potential,
            (self.hidden_frequencies, self.hidden_frequencies_std),
            (self.couplings, self.couplings_std),
            self.covariance,
        )

    def __str__(self) -> str:
        """Return the equations, the verdict and the remarks."""
        lines = []
        if self.potential is not None:
            lines.append(str(self.potential))
            lines += [self._hidden_text(i) for i in range(len(self.hidden_frequencies))]
        lines.append(str(self.verdict))
        if self.alternatives:
            lines.append("Not distinguished from it by these data:")
            lines += [f"  {one}" for one in self.alternatives]
        lines += [f"Note: {remark}." for remark in self.remarks]
        return "\n".join(lines)

    def _hidden_text(self, i: int) -> str:
        """One hidden mode in writing."""
        omega, std = self.hidden_frequencies[i], self.hidden_frequencies_std[i]
        each = zip(self.couplings[i], self.couplings_std[i], strict=True)
        c = ", ".join(f"{value:.4g} ± {error:.2g}" for value, error in each)
        return f"hidden mode {i + 1}: frequency {omega:.4g} ± {std:.2g}, coupling {c}"
