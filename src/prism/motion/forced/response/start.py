"""Where the fit starts: the noise before any model, and poles from the rational step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import prism.motion.forced.response._limits as limits
from prism._types import Array, ComplexArray
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.modal import ModalPoint
from prism.motion.forced.response.noise import ResponseNoise, estimate_noise
from prism.motion.forced.response.rational import mode_vector, relocate, residues

NoiseGuess = tuple[ResponseNoise, bool]  # before any model; trusted if data hold nothing else


def first_guesses(data: ResponseData) -> list[NoiseGuess]:
    """Guesses of the noise, the most trustworthy alone if there is one.

    The difference of reciprocal measurements is noise whatever the system. Without it the
    imaginary part is noise if the system has no losses, and more than noise if it has; purely
    additive and purely multiplicative noise are tried beside that guess, and the likelihood
    chooses.
    """
    power = np.abs(data.Y) ** 2
    twice = data.scatter > 0
    if twice.sum() >= limits.ENOUGH_PAIRS:
        once = twice.astype(np.float64)
        return [(estimate_noise(power, once, data.scatter, data.shape, data.even), True)]
    quiet = 2 * data.counts * data.Y.imag**2 + data.scatter
    guess = estimate_noise(data.Y.real**2, data.counts, quiet, data.shape, data.even)
    level = float(np.median(power[data.counts > 0]))
    return [(guess, True), (ResponseNoise(a2=1e-4 * level), False), (ResponseNoise(b2=1e-4), False)]


def weights_of(data: ResponseData, noise: ResponseNoise) -> Array:
    """Inverse standard deviations of the means, from the data themselves.

    Values that are small by the cancellation of many modes, and a line that sits on a pole, are
    known with a precision that poles and residues reach only later: neither may decide here.
    """
    s2 = data.variance(noise, data.Y)
    return np.sqrt(data.counts / (s2 + 1e-6 * tolerance(data, s2)))


def tolerance(data: ResponseData, variance: Array) -> Array:
    """Variance of a rough fit: as the median of the data, and a percent of each value."""
    rough = float(np.median(variance[data.counts > 0])) + np.abs(data.Y) ** 2
    return np.asarray(rough)


@dataclass(frozen=True)
class RationalFit:
    """Poles, their residues as vectors (None where they are no mode), and what they cost."""

    poles: ComplexArray
    vectors: list[Array | None]
    cost: float
    chi2: float
    lossless: bool


def count_peaks(data: ResponseData) -> int:
    """Number of peaks that rise and fall by a factor e in power."""
    size = np.log(np.maximum((np.abs(data.Y) ** 2).sum(axis=1), 1e-300))
    count, rising, extreme = 0, True, size[0]
    for value in size:
        extreme = max(extreme, value) if rising else min(extreme, value)
        if abs(value - extreme) > limits.PROMINENCE:
            count, rising, extreme = count + rising, not rising, value
    return count


def ladder(data: ResponseData, noise: ResponseNoise, price: float) -> RationalFit:
    """Best of the rational fits of growing order, which ends when more poles do not pay.

    This is no pursuit: all poles of an order are placed anew, and none stays from the last.

    Parameters
    ----------
    price : float
        What a mode must gain.
    """
    weights = weights_of(data, noise)
    limit = max(len(data.omega) // 3, 1)
    order = max(1, min(count_peaks(data), limit))
    best, beyond = of_order(data, weights, order, price), 0
    while beyond <= limits.LADDER_PATIENCE:
        order += 1 if order < 4 else 2
        if order > limit:
            break
        fit = of_order(data, weights, order, price)
        best, beyond = (fit, 0) if fit.cost < best.cost else (best, beyond + 1)
    return _pruned(data, weights, best, price)


def _pruned(data: ResponseData, weights: Array, fit: RationalFit, price: float) -> RationalFit:
    """Take out poles whose residue is no mode, let the others settle, keep that if it pays."""
    for _ in range(limits.PRUNINGS):
        modes = np.array([v is not None for v in fit.vectors])
        if modes.all() or not modes.any():
            return fit
        smaller = _settled(data, weights, fit.poles[modes], price)
        if smaller.cost > fit.cost:
            return fit
        fit = smaller
    return fit


def of_order(data: ResponseData, weights: Array, order: int, price: float) -> RationalFit:
    """Rational fit with a given number of poles, which start evenly over the band."""
    grid = np.linspace(data.omega[0], data.omega[-1], order + 2)[1:-1] ** 2
    return _settled(data, weights, grid * (1 + 0.02j), price)


def _settled(data: ResponseData, weights: Array, start: ComplexArray, price: float) -> RationalFit:
    """Relocate the poles and find their residues, with losses or without, whichever fits."""
    poles = _at_rest(data.x, relocate(data.x, data.Y, weights, start, limits.RATIONAL_STEPS))
    on_axis = np.asarray(_off_the_lines(data.x, poles.real), complex)
    real, full = (residues(data.x, data.Y, weights, one) for one in (on_axis, poles))
    lossless = real[2] <= full[2]
    R, std, chi2 = real if lossless else full
    vectors = [
        mode_vector(data, one, spread) if pole.real >= 0 else None
        for pole, one, spread in zip(poles, R, std, strict=True)
    ]
    return RationalFit(poles, vectors, chi2 + len(poles) * price, chi2, lossless)


def _at_rest(x: Array, poles: ComplexArray) -> ComplexArray:
    """Put poles at zero that noise has brought beyond it: a rigid body is there, half of the time.

    What is further beyond zero than the lowest line is from it is no mode, but a background.
    """
    return np.asarray(np.where((poles.real <= 0) & (poles.real > -x[0]), 0.0, poles), complex)


def _off_the_lines(x: Array, poles: Array) -> Array:
    """Keep real poles a rounding error away from the lines of the grid."""
    near = np.abs(poles[:, None] - x).argmin(axis=1)
    step = 1e-9 * np.gradient(x)[near]
    side = np.where(poles >= x[near], 1.0, -1.0)
    return np.where(np.abs(poles - x[near]) < step, x[near] + side * step, poles)


def as_point(data: ResponseData, fit: RationalFit, damping: str) -> ModalPoint:
    """Rank-one modes of a rational fit; poles without a positive residue are left out."""
    pairs = zip(fit.poles, fit.vectors, strict=True)
    modes = [(pole, v) for pole, v in pairs if v is not None and np.any(v)]
    poles = np.array([pole for pole, _ in modes], complex)
    V = np.array([v for _, v in modes]).reshape(len(modes), data.ports)
    rigid = poles == 0
    eta = np.where(rigid, 0.0, np.minimum(np.abs(poles.imag) / np.where(rigid, 1, poles.real), 0.3))
    lam = _off_the_lines(data.x, np.minimum(poles.real, limits.FAR_AWAY))
    losses = eta if damping != "none" else np.zeros(len(modes))
    return ModalPoint(lam, V, losses, damping, rigid=rigid)
