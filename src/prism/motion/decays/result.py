"""What a fit of free decays gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray, Index
from prism.motion.damped import DampedModes
from prism.motion.decays.segments import columns, pole_directions, pole_jacobian
from prism.uncertainty import root_of_variance


@dataclass(frozen=True)
class Continuation:
    """A stretch of a trial, mostly the last, and how well it is known.

    Attributes
    ----------
    start, span : float
        Time of its first sample, and the unit of time of the drift.
    poles : array (m,)
    background : int
    values : array (channels, linear)
        Offset, (drift,) real and imaginary parts of the amplitudes.
    covariance : array (channels, linear, linear)
        Of ``values`` at fixed poles.
    slopes : array (channels, linear, 2m)
    poles_covariance : array (2m, 2m)
        Of (ω, δ).
    earlier : tuple of Continuation
        The stretches of the trial before it, ascending.
    """

    start: float
    span: float
    poles: ComplexArray
    background: int
    values: Array
    covariance: Array
    slopes: Array
    poles_covariance: Array
    earlier: tuple[Continuation, ...] = ()

    def __call__(self, t: ArrayLike) -> tuple[Array, Array]:
        """Values and standard deviations, (times, channels)."""
        times = np.atleast_1d(np.asarray(t, float)) - self.start
        X = columns(times, self.poles, self.background, self.span)
        linear = self.values.shape[1]
        E, D = X[:, :linear], X[:, linear:]
        directions = pole_directions(self.values[:, self.background :, None])[..., 0]
        variance = np.einsum("ti,aij,tj->ta", E, self.covariance, E)
        for a, slopes in enumerate(self.slopes):
            J = self.span * pole_jacobian(D - E @ slopes, directions[:, a])
            variance[:, a] += np.einsum("tp,pq,tq->t", J, self.poles_covariance, J)
        return E @ self.values.T, root_of_variance(variance)


@dataclass(frozen=True)
class DecayFit(DampedModes):
    """Modes of free decays.

    A ratio is 0 where the fit would have the mode grow. Intervals of the damping are log-normal,
    and normal cut at 0 below five standard deviations. Errors of shapes are independent of those
    of the poles.

    Attributes
    ----------
    amplitudes : array (stretches, modes, channels)
        Complex, in the units of each channel, at the start of each stretch.
    stretches : array of int (stretches,)
        Trial of each stretch; one per trial when there are no kicks.
    starts : array (stretches,)
        Time of its first sample.
    phase_ratio : array (modes,)
        Second singular value of the amplitudes over the first.
    noise_std : array (channels,)
    noise_correlation : array (channels, channels) or None
        None where the noise counts as independent.
    offset : array (stretches, channels)
        Level of each channel; in the middle of the stretch where there is a drift.
    drift : bool
        Whether a drift is in the model.
    continuations : tuple of Continuation
        The last stretch of each trial, with those before it.
    rests : tuple of arrays (samples, channels)
        What is left of each trial; zero where a sample was not used.
    unused : int
        Samples around kicks, and in stretches that are no free decay, that were not used.
    """

    amplitudes: ComplexArray
    stretches: Index
    starts: Array
    phase_ratio: Array
    noise_std: Array
    offset: Array
    drift: bool
    continuations: tuple[Continuation, ...]
    rests: tuple[Array, ...]
    unused: int
    noise_correlation: Array | None = None

    def forecast(self, t: ArrayLike, trial: int = -1) -> tuple[Array, Array]:
        """Continue a trial, the last one by default.

        Parameters
        ----------
        t : array_like
            Times, on the clock of the record.
        trial : int

        Returns
        -------
        values, std : array (times, channels)
            The motion without noise and its standard deviation, from the errors of poles,
            amplitudes and offset.
        """
        return self.continuations[trial](t)


@dataclass(frozen=True)
class DampingEvidence:
    """Likelihood-ratio test of decaying against undamped lines.

    Attributes
    ----------
    gain : float
        Twice the gain in log-likelihood of decay rates ≥ 0 over rates of zero.
    dof : int
        Number of lines.
    p_value : float
        Chance of such a gain when nothing decays.
    frequencies, damping : array (lines,)
        Of the decaying lines.
    """

    gain: float
    dof: int
    p_value: float
    frequencies: Array
    damping: Array
