r"""The memory kernel itself, from a correlation: explicit deconvolution.

Which formula holds depends on how the records were made (THEORY §3, erratum E3):

* at thermal equilibrium Kubo's relation (THEORY (4)),

  .. math:: H(s) = \frac{C(0) - s \hat C(s)}{kT}, \qquad \hat K(s) = μ s^2 + κ - H(s)^{-1};

* after a release from rest with the hidden part undisplaced (THEORY (5), the paper's eq.
  (kernel_from_corr) with :math:`μ = 1`, :math:`G = -κ`),

  .. math:: \hat K(s) = μ s^2 + κ - μ\,[s + Λ]\, C(0)\, \hat C(s)^{-1}.

The paper uses the second for equilibrium data. There the hidden coordinates are correlated with
x, :math:`⟨q_i | x⟩ = -c_i^T x/ω_i^2`, and it gives wrong poles: {0.765, 1.414, 1.848} instead of
{0.445, 1.247, 1.802} for the four-mass chain seen at its first mass, and 3.836 instead of 3.132
for the cart-pendulum.

Each function takes the correlation in line form (`CosineSum`, exact) or an empirical
`Correlation`, whose Laplace transform is computed numerically at :math:`\mathrm{Re}\,s > 0`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray, Index
from prism.correlation import Correlation, CosineSum, correlate_groups, pool
from prism.errors import CannotTellError, OptionError, RecordError
from prism.kernel import MemoryKernel
from prism.record import QUANTITIES, Record

_NO_RANK = 1e-9  # singular value of a residue, over the largest, that is rounding
_NO_FREQUENCY = 1e-6  # imaginary part of a squared frequency, over its size, that is rounding
_SAME_POLE = 1e-9  # relative distance of poles that are one
_BOOTSTRAP_GROUPS = 64  # groups of trials that the bootstrap draws from, at most

__all__ = [
    "KernelBand",
    "LaplaceTransform",
    "bootstrap_kernel",
    "kernel_at_equilibrium",
    "kernel_poles",
    "kernel_released",
    "laplace_transform",
    "release_correlation",
    "temperature_of",
]


@dataclass(frozen=True)
class LaplaceTransform:
    r"""Numerical Laplace transform of a correlation.

    Attributes
    ----------
    values : array (points, channels, channels)
    zero : array (channels, channels)
        C(0) without noise.
    truncation : array (points, channels, channels)
        Bound of what lies beyond the last lag, :math:`\sqrt{C_{aa}(0) C_{bb}(0)}\,
        e^{-\mathrm{Re}(s) τ_{\max}}/\mathrm{Re}(s)`; zero for a correlation in line form.
    """

    values: ComplexArray
    zero: Array
    truncation: Array


def laplace_transform(correlation: Correlation | CosineSum, s: ArrayLike) -> LaplaceTransform:
    r"""Laplace transform :math:`\hat C(s) = \int_0^∞ C(τ) e^{-sτ} dτ`.

    For an empirical correlation: the trapezoidal rule with the end corrections of Euler and
    Maclaurin at lag zero (the slope there is :math:`ΛC(0) - sC(0)`), whose quadrature error is of
    order :math:`(h|s + iΩ|)^4` of a line, and C(0) continued from later lags. Choose
    :math:`\mathrm{Re}\,s` of a few :math:`1/τ_{\max}`: smaller, and the truncation bound is large;
    larger, and poles wash out.

    Parameters
    ----------
    s : array (points,)

    Raises
    ------
    OptionError
        When Re s is not positive and the correlation is empirical.
    """
    points = np.atleast_1d(np.asarray(s, complex))
    if points.ndim != 1:
        raise OptionError("the values of s must be a list.")
    if isinstance(correlation, CosineSum):
        values = correlation.laplace(points)
        return LaplaceTransform(values, correlation.zero, np.zeros(values.shape))
    if np.any(points.real <= 0):
        raise OptionError("an empirical correlation has a Laplace transform for Re s > 0 only.")
    return _numerical_transform(correlation, points)


def _numerical_transform(correlation: Correlation, s: ComplexArray) -> LaplaceTransform:
    h, tau = correlation.step, correlation.lags
    zero = correlation.noise_free_zero().value
    slope = correlation.streaming() @ zero
    values = correlation.values.copy()
    values[0] = zero
    weights = np.full(len(tau), h)
    weights[[0, -1]] *= 0.5
    out = np.tensordot(weights * np.exp(-np.multiply.outer(s, tau)), values, axes=1)
    # f = C e^{-sτ}:  ∫ = trapezoid + h²/12 f'(0),  f'(0) = C'(0) - s C(0)
    out = out + h**2 / 12 * (slope - s[:, None, None] * zero)
    sigma = s.real
    size = np.sqrt(np.outer(np.diag(zero), np.diag(zero)))
    bound = (np.exp(-sigma * tau[-1]) / sigma)[:, None, None] * size
    return LaplaceTransform(np.asarray(out, complex), zero, bound)


def temperature_of(correlation: Correlation | CosineSum, mass: ArrayLike) -> float:
    r"""The kT of records at equilibrium: :math:`-\ddot C(0) = \sum_j Ω_j^2 B_j = kT μ^{-1}`."""
    mu = np.atleast_2d(np.asarray(mass, float))
    if isinstance(correlation, CosineSum):
        product = np.tensordot(correlation.omega**2, correlation.amplitudes, axes=1)
    else:
        product = -correlation.noise_free_zero().curvature
    return float(np.trace(mu @ product) / len(mu))


def kernel_at_equilibrium(
    correlation: Correlation | CosineSum,
    s: ArrayLike,
    mass: ArrayLike,
    stiffness: ArrayLike,
    *,
    temperature: float | None = None,
) -> ComplexArray:
    r""":math:`\hat K(s)` of records at thermal equilibrium, by Kubo's relation (THEORY (4)).

    Parameters
    ----------
    correlation : Correlation or CosineSum
        Of displacement.
    s : array (points,)
    mass, stiffness : array (channels, channels)
        Effective mass μ and dynamic stiffness κ of the seen coordinates.
    temperature : float, optional
        kT; by default from the curvature of C at lag zero and the mass.

    Returns
    -------
    array (points, channels, channels)
    """
    _check_displacement(correlation)
    kT = temperature_of(correlation, mass) if temperature is None else temperature
    transform = laplace_transform(correlation, s)
    z = np.atleast_1d(np.asarray(s, complex))[:, None, None]
    H = (transform.zero - z * transform.values) / kT
    return _dynamic(z, mass, stiffness) - np.linalg.inv(H)


def kernel_released(
    correlation: Correlation | CosineSum,
    s: ArrayLike,
    mass: ArrayLike,
    stiffness: ArrayLike,
    *,
    streaming: Array | None = None,
) -> ComplexArray:
    r""":math:`\hat K(s)` of released records by the paper's deconvolution (THEORY (5)).

    Right for the response :math:`⟨x(τ) x(0)^T⟩` after a release from rest with the hidden part
    undisplaced (`release_correlation`), wrong for an equilibrium correlation.

    Parameters
    ----------
    streaming : array (channels, channels), optional
        Λ; zero by default, its value for every reciprocal system.
    """
    _check_displacement(correlation)
    mu = np.atleast_2d(np.asarray(mass, float))
    transform = laplace_transform(correlation, s)
    z = np.atleast_1d(np.asarray(s, complex))[:, None, None]
    drive = z * np.eye(len(mu)) + (0.0 if streaming is None else streaming)
    inverse = mu @ drive @ transform.zero @ np.linalg.inv(transform.values)
    return np.asarray(_dynamic(z, mass, stiffness) - inverse)


def _dynamic(z: ComplexArray, mass: ArrayLike, stiffness: ArrayLike) -> ComplexArray:
    mu, kappa = (np.atleast_2d(np.asarray(m, float)) for m in (mass, stiffness))
    return np.asarray(mu * z**2 + kappa)


def _check_displacement(correlation: Correlation | CosineSum) -> None:
    if isinstance(correlation, Correlation) and np.any(correlation.orders):
        raise OptionError(
            f"the deconvolution needs displacement, this record holds "
            f"{', '.join(QUANTITIES[k] for k in correlation.orders)}: use the line form."
        )


def release_correlation(record: Record, positions: ArrayLike) -> Correlation:
    r"""Response of released records, :math:`⟨x(τ) x(0)^T⟩` over trials, not over time.

    Parameters
    ----------
    positions : array (trials, channels)
        The displacements x(0) the trials were released from: as many independent ones as there
        are channels. They are known where x was set; the first sample carries noise.
    """
    x0 = np.atleast_2d(np.asarray(positions, float))
    shape = (record.n_trials, record.n_channels)
    if x0.shape != shape or np.linalg.matrix_rank(x0) < shape[1]:
        raise OptionError(
            f"positions of shape {x0.shape} must be {shape} and span all channels: release the "
            "record from as many independent displacements as it has channels."
        )
    if record.dt is None or len(set(record.samples)) > 1 or record.missing:
        raise RecordError("a release needs trials of one length and step without missing samples.")
    values = np.einsum("rta,rb->tab", np.stack(record.trials), x0) / len(x0)
    orders = np.array([QUANTITIES.index(q) for q in record.quantity])
    counts = np.full(values.shape, float(len(x0)))
    return Correlation(record.dt, values, counts, record.duration, orders)


# -- pole-residue form ---------------------------------------------------------------------------


def kernel_poles(lines: CosineSum, mass: ArrayLike, *, relation: str) -> MemoryKernel:
    r"""Poles and residues of the kernel of a correlation in line form; its call gives K(τ).

    Both relations are the inversion of a Foster form :math:`H = \sum_j P_j/(s^2 + Ω_j^2)`, which
    needs no transform. By (4) :math:`P_j = Ω_j^2 B_j/kT`; by (5), where
    :math:`\hat C = s H μ C(0)`, :math:`P_j = B_j C(0)^{-1} μ^{-1}`. With factors
    :math:`P_j = L_j R_j`, :math:`L = (L_1 …)`, :math:`R = (R_1; …)` and W, Z such that
    :math:`L Z = 0`, :math:`W R = 0`, :math:`W Z = 1` (THEORY (3) is the case
    :math:`R = L^T`),

    .. math:: \hat K(s) = m\, L Ω^2 Z\, (s^2 + W Ω^2 Z)^{-1} W Ω^2 R\, m, \qquad m = (LR)^{-1} .

    Parameters
    ----------
    relation : {"equilibrium", "released"}
        Equation (4) or (5). By (5) on equilibrium data the residues need not be symmetric.

    Raises
    ------
    CannotTellError
        When some pole is no frequency: the relation does not hold for these lines.
    """
    mu = np.atleast_2d(np.asarray(mass, float))
    if relation == "equilibrium":
        power = lines.omega**2 / temperature_of(lines, mu)
        P = lines.amplitudes * power[:, None, None]
    elif relation == "released":
        P = lines.amplitudes @ np.linalg.inv(mu @ lines.zero)
    else:
        raise OptionError(f"unknown relation {relation!r}; use equilibrium or released.")
    return _inverted(lines.omega, P)


def _inverted(omega: Array, P: Array) -> MemoryKernel:
    """The kernel of a Foster form with residues of any kind."""
    line, L, R = _factors(P)
    stiff = omega[line] ** 2
    W = scipy.linalg.null_space(R.T).T
    Z = scipy.linalg.null_space(L)
    Z = Z @ np.linalg.inv(W @ Z)
    m = np.linalg.inv(L @ R)
    squares, vectors = np.linalg.eig(W @ (stiff[:, None] * Z))
    if np.any(np.abs(squares.imag) > _NO_FREQUENCY * np.abs(squares)) or np.any(squares.real <= 0):
        raise CannotTellError(
            "the kernel has poles that are no frequencies: the correlation is not that of such an "
            "experiment with this mass."
        )
    left = m @ (L * stiff) @ Z @ vectors
    right = np.linalg.solve(vectors, W @ (stiff[:, None] * R) @ m)
    order = np.argsort(squares.real)
    residues = np.einsum("ai,ib->iab", left, right).real[order]
    return _merged(np.sqrt(squares.real[order]), residues)


def _factors(P: Array) -> tuple[Index, Array, Array]:
    """Lines with the columns and rows whose products add up to their matrices."""
    U, values, V = np.linalg.svd(P)
    line, place = np.nonzero(values > _NO_RANK * values.max(axis=1, keepdims=True))
    return line, (U[line, :, place] * values[line, place, None]).T, V[line, place]


def _merged(poles: Array, residues: Array) -> MemoryKernel:
    """One pole for those that coincide, with the sum of their residues."""
    apart = np.flatnonzero(np.diff(poles) > _SAME_POLE * poles[1:]) + 1
    groups = [group for group in np.split(np.arange(len(poles)), apart) if len(group)]
    n = residues.shape[1:]
    return MemoryKernel(
        np.array([poles[group].mean() for group in groups]),
        np.array([residues[group].sum(axis=0) for group in groups]).reshape(-1, *n),
    )


# -- error bands ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class KernelBand:
    r"""A function of the correlation with its error band over resampled trials.

    Attributes
    ----------
    values : array
        From all trials.
    std : array
        Standard deviation over the replicas, of the real part in the real part of a complex
        array, of the imaginary part in its imaginary part.
    low, high : array
        Percentiles 2.5 and 97.5 of the replicas, likewise.
    """

    values: Array | ComplexArray
    std: Array | ComplexArray
    low: Array | ComplexArray
    high: Array | ComplexArray


def bootstrap_kernel(
    record: Record,
    kernel: Callable[[Correlation], Array | ComplexArray],
    *,
    rng: np.random.Generator | int | None,
    replicas: int = 100,
    max_lag: float | None = None,
) -> KernelBand:
    r"""Error band of :math:`\hat K(s)`, of K(τ), or of any function of the correlation.

    Bootstrap over trials, drawn with replacement in at most 64 groups. It holds the noise and
    the scatter of the modal energies between trials; not the truncation error of a Laplace
    transform, which all replicas share (`LaplaceTransform.truncation`).

    Parameters
    ----------
    kernel : callable
        For example ``lambda C: kernel_at_equilibrium(C, s, mass, stiffness)``.
    rng : Generator or int
    replicas : int

    Raises
    ------
    RecordError
        With fewer than eight trials.
    """
    if record.n_trials < 8:
        raise RecordError(
            f"a bootstrap over {record.n_trials} trial{'s' * (record.n_trials > 1)} means "
            "nothing: at least eight are needed."
        )
    generator = np.random.default_rng(rng)
    parts = correlate_groups(record, min(record.n_trials, _BOOTSTRAP_GROUPS), max_lag)
    draws = generator.integers(len(parts), size=(replicas, len(parts)))
    samples = np.array([kernel(pool([parts[k] for k in draw])) for draw in draws])
    values = kernel(pool(parts))
    std = _by_parts(lambda x: np.std(x, axis=0, ddof=1), samples)
    low = _by_parts(lambda x: np.percentile(x, 2.5, axis=0), samples)
    high = _by_parts(lambda x: np.percentile(x, 97.5, axis=0), samples)
    return KernelBand(values, std, low, high)


def _by_parts(
    function: Callable[[Array], Array], samples: Array | ComplexArray
) -> Array | ComplexArray:
    """Apply to real and imaginary parts apart."""
    if not np.iscomplexobj(samples):
        return function(np.asarray(samples, float))
    return np.asarray(function(samples.real) + 1j * function(samples.imag), complex)
