r"""Complex amplitudes of gyroscopic lines and their rank-one factors.

In trial r the motion is :math:`x_r(t) = \mathrm{Re} \sum_j z_{rj} e^{iΩ_j t}` with
:math:`z_{rj} = 2 a_{rj} b_j`: one complex direction for all trials, times an amplitude which at
equilibrium is circular Gaussian with :math:`⟨|a_j|^2⟩ = kT`. Hence

.. math:: ⟨z_j z_j^*⟩ = 4 kT\, b_j b_j^* + \mathrm{diag}(ν), \qquad ⟨z_j z_j^T⟩ = 0,

ν the variance by noise. The direction is the leading eigenvector in the metric of the noise and
is known as well as the noise allows; the magnitude scatters by :math:`1/\sqrt R` for R trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy.special import chdtrc

from prism._types import Array, ComplexArray, Index, Mask
from prism.motion.gyroscopic import _limits as limits
from prism.motion.gyroscopic.completion import hermitian
from prism.motion.steady.fit import LineFit, evaluate
from prism.search.sampling import BACKGROUND, AbstractSampling


@dataclass(frozen=True)
class LineAmplitudes:
    """Free complex amplitudes of all lines in all trials.

    Attributes
    ----------
    omega : array (lines,)
    fisher : array (lines, lines)
        Information of the frequencies.
    raw : complex array (lines, channels, trials)
        At the centre of the trial, in the quantity that the channel measures.
    variance : array (lines, channels, trials)
        ``⟨|δz|²⟩`` by noise, of the same.
    orders : array of int (channels,)
        Derivative that each channel measures.
    """

    omega: Array
    fisher: Array
    raw: ComplexArray
    variance: Array
    orders: Index

    def displacement(self) -> tuple[ComplexArray, Array]:
        """Amplitudes of the displacement, ``z/(iΩ)^k``, and their variance."""
        factor = ((1j * self.omega[:, None]) ** self.orders)[:, :, None]
        return np.asarray(self.raw / factor), np.asarray(self.variance / np.abs(factor) ** 2)


@dataclass(frozen=True)
class LineFactors:
    r"""Directions and magnitudes of the lines: :math:`kT B_j = W_j d_j d_j^*`.

    Errors are those for canonical amplitudes; frequencies, directions and magnitudes have
    independent ones, and so have different lines.

    Attributes
    ----------
    omega, omega_covariance : array (lines,), (lines, lines)
    directions : complex array (lines, channels)
        Unit vectors, the first entry that is not small real and positive.
    across : complex array (lines, channels, channels)
        :math:`⟨δd δd^*⟩`, circular.
    log_energy, spread : array (lines,)
        ``log W`` and its variance.
    p_value : array (lines,)
        Probability of a larger rest after one complex direction, if that rest is noise.
    """

    omega: Array
    omega_covariance: Array
    directions: ComplexArray
    across: ComplexArray
    log_energy: Array
    spread: Array
    p_value: Array

    @property
    def measured(self) -> Array:
        """``(omega, Re d, Im d, log W)`` in one vector."""
        d = self.directions
        return np.concatenate([self.omega, d.real.ravel(), d.imag.ravel(), self.log_energy])

    @property
    def covariance(self) -> Array:
        """Of ``(omega, Re d, Im d, log W)``."""
        C = scipy.linalg.block_diag(*self.across)
        # a circular error of covariance C has real and imaginary parts of covariance C/2
        turned = 0.5 * np.block([[C.real, -C.imag], [C.imag, C.real]])
        return np.asarray(
            scipy.linalg.block_diag(self.omega_covariance, turned, np.diag(self.spread))
        )


def line_amplitudes(
    samplings: Sequence[AbstractSampling], fit: LineFit, orders: Index
) -> LineAmplitudes:
    """Read the complex amplitudes ``A - iB`` off a fit with free amplitudes."""
    N = fit.count
    raw, variance = [], []
    for sampling, c in zip(samplings, fit.coefficients, strict=True):
        linear = 2 * N + BACKGROUND
        inverse = np.linalg.inv(sampling.gram(fit.omega)[:, :linear, :linear])
        diagonal = np.einsum("akk->ak", inverse)[:, BACKGROUND:] / fit.weights[:, None]
        z = c[:, BACKGROUND : BACKGROUND + N] - 1j * c[:, BACKGROUND + N :]
        noise = (diagonal[:, :N] + diagonal[:, N:]).T
        raw.append(z.transpose(1, 0, 2))
        variance.append(np.repeat(noise[:, :, None], sampling.n_trials, axis=2))
    return LineAmplitudes(
        fit.omega, fit.fisher, np.concatenate(raw, 2), np.concatenate(variance, 2), orders
    )


def without_groups(
    samplings: Sequence[AbstractSampling], fit: LineFit, full: LineAmplitudes, groups: int
) -> list[LineAmplitudes]:
    r"""Leave out every ``groups``-th trial in turn, for a jackknife.

    Gradient and information of the frequencies add up over trials, so one Gauss-Newton step
    :math:`(F - F_g)^{-1} (∇ - ∇_g)` gives the frequencies without group g. The amplitudes of the
    other trials hardly depend on the frequencies, as these turn about the middle of the record.
    """
    trials = np.arange(full.raw.shape[2])
    places = np.split(trials, np.cumsum([s.n_trials for s in samplings])[:-1])
    out = []
    for g in range(groups):
        gone = [_only(s, at % groups == g) for s, at in zip(samplings, places, strict=True)]
        part = evaluate([s for s in gone if s.n_trials], fit.omega, fit.weights)
        fisher, keep = fit.fisher - part.fisher, trials % groups != g
        out.append(
            replace(
                full,
                omega=fit.omega + np.linalg.solve(fisher, fit.gradient - part.gradient),
                fisher=fisher,
                raw=full.raw[:, :, keep],
                variance=full.variance[:, :, keep],
            )
        )
    return out


def _only(sampling: AbstractSampling, trials: Mask) -> AbstractSampling:
    """Some of the trials; every sampling is a dataclass."""
    values = np.ascontiguousarray(sampling.values[:, trials])
    return replace(sampling, values=values)  # type: ignore[type-var]


def line_factors(amplitudes: LineAmplitudes) -> LineFactors:
    """Leading eigenvector of ``⟨z z*⟩`` in the metric of the noise, for every line."""
    z, variance = amplitudes.displacement()
    _, n, R = z.shape
    metric = np.sqrt(variance.mean(axis=2))
    white = z / metric[:, :, None]
    values, vectors = np.linalg.eigh(white @ white.conj().swapaxes(1, 2) / R)
    e, top = vectors[:, :, -1], values[:, -1]
    signal = np.maximum(top - 1, limits.LEAST_SIGNAL * top)
    d = metric * e
    length = np.linalg.norm(d, axis=1)
    beside = (np.eye(n) - hermitian(e)) * hermitian(metric)
    dof, rest = 2 * (n - 1) * (R - 1), 2 * R * values[:, :-1].sum(axis=1)
    return LineFactors(
        omega=amplitudes.omega,
        omega_covariance=np.asarray(np.linalg.inv(amplitudes.fisher), float),
        directions=_unit_phase(d) * d / length[:, None],
        across=beside * (top / (R * signal**2 * length**2))[:, None, None],
        log_energy=np.log(signal * length**2 / 4),
        spread=(top / signal) ** 2 / R,
        p_value=chdtrc(dof, rest) if dof else np.ones(len(z)),
    )


def _unit_phase(d: ComplexArray) -> ComplexArray:
    """Factors that make the first entry of each row that is not small real and positive."""
    size = np.abs(d)
    first = np.argmax(size > limits.NOT_SMALL * size.max(axis=1, keepdims=True), axis=1)[:, None]
    entry = np.take_along_axis(d, first, axis=1)
    return np.asarray(entry.conj() / np.abs(entry))
