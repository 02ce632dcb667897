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
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.special import chdtrc

from prism._types import Array, ComplexArray, Index, Mask
from prism.motion.steady.fit import LineFit, evaluate
from prism.search.sampling import (
    BACKGROUND,
    AbstractSampling,
    ScatteredSampling,
    UniformSampling,
)


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

    @property
    def trials(self) -> int:
        """Number of trials."""
        return int(self.raw.shape[2])

    def displacement(self) -> tuple[ComplexArray, Array]:
        """Amplitudes of the displacement, ``z/(iΩ)^k``, and their variance."""
        factor = (1j * self.omega[:, None]) ** self.orders
        return (
            np.asarray(self.raw / factor[:, :, None]),
            np.asarray(self.variance / np.abs(factor[:, :, None]) ** 2),
        )


@dataclass(frozen=True)
class LineFactors:
    r"""Directions and magnitudes of the lines: :math:`kT B_j = W_j d_j d_j^*`.

    Attributes
    ----------
    omega : array (lines,)
    directions : complex array (lines, channels)
        Unit vectors, the first entry that is not small real and positive.
    log_energy : array (lines,)
        ``log W``.
    covariance : array
        Of ``(omega, Re d, Im d, log W)``, for canonical amplitudes.
    p_value : array (lines,)
        Probability of a larger rest after one complex direction, if that rest is noise.
    """

    omega: Array
    directions: ComplexArray
    log_energy: Array
    covariance: Array
    p_value: Array


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
    first = np.cumsum([0, *(s.n_trials for s in samplings)])
    out = []
    for g in range(groups):
        gradient, fisher = fit.gradient.copy(), fit.fisher.copy()
        for sampling, start in zip(samplings, first[:-1], strict=True):
            inside = (np.arange(sampling.n_trials) + start) % groups == g
            if inside.any():
                part = evaluate([_trials_of(sampling, inside)], fit.omega, fit.weights)
                gradient -= part.gradient
                fisher -= part.fisher
        keep = np.arange(full.trials) % groups != g
        omega = fit.omega + np.linalg.solve(fisher, gradient)
        out.append(
            replace(
                full,
                omega=omega,
                fisher=fisher,
                raw=full.raw[:, :, keep],
                variance=full.variance[:, :, keep],
            )
        )
    return out


def _trials_of(sampling: AbstractSampling, which: Mask) -> AbstractSampling:
    values = np.ascontiguousarray(sampling.values[:, which])
    if isinstance(sampling, ScatteredSampling):
        return replace(sampling, values=values)
    return UniformSampling(values, sampling.step, sampling.start)


def line_factors(amplitudes: LineAmplitudes) -> LineFactors:
    """Direction, magnitude and rank test of every line, with their covariance."""
    z, variance = amplitudes.displacement()
    parts = [_factor(z[j], variance[j]) for j in range(len(z))]
    across = scipy.linalg.block_diag(*(part.across for part in parts))
    # a circular error of covariance C has real and imaginary parts of covariance C/2
    turned = 0.5 * np.block([[across.real, -across.imag], [across.imag, across.real]])
    spread = np.diag([part.spread for part in parts])
    return LineFactors(
        omega=amplitudes.omega,
        directions=np.array([part.direction for part in parts]),
        log_energy=np.array([part.log_energy for part in parts]),
        covariance=scipy.linalg.block_diag(np.linalg.inv(amplitudes.fisher), turned, spread),
        p_value=np.array([part.p_value for part in parts]),
    )


class _Factor(NamedTuple):
    direction: ComplexArray
    log_energy: float
    across: ComplexArray  # ⟨δd δd*⟩
    spread: float  # variance of the logarithm of the energy
    p_value: float


def _factor(z: ComplexArray, variance: Array) -> _Factor:
    """Leading eigenvector of ``⟨z z*⟩`` in the metric of the noise, (channels, trials)."""
    n, R = z.shape
    metric = np.sqrt(variance.mean(axis=1))
    white = z / metric[:, None]
    values, vectors = np.linalg.eigh(white @ white.conj().T / R)
    e, top = vectors[:, -1], float(values[-1])
    signal = max(top - 1, 1e-6 * top)
    d = metric * e
    length = float(np.linalg.norm(d))
    beside = np.eye(n) - np.outer(e, e.conj())
    across = np.outer(metric, metric) * beside * top / (R * signal**2 * length**2)
    rest = 2 * R * float(values[:-1].sum())
    return _Factor(
        direction=_unit_phase(d) * d / length,
        log_energy=float(np.log(signal * length**2 / 4)),
        across=across,
        spread=(top / signal) ** 2 / R,
        p_value=float(chdtrc(2 * (n - 1) * (R - 1), rest)) if n > 1 and R > 1 else 1.0,
    )


def _unit_phase(d: ComplexArray) -> complex:
    """Factor that makes the first entry that is not small real and positive."""
    first = d[np.argmax(np.abs(d) > 0.1 * np.abs(d).max())]
    return complex(np.conj(first) / np.abs(first))
