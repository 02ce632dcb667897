r"""Whether what an explanation leaves is noise, or asks for another explanation.

The Fourier lines of what is left, whitened by the covariance between channels, have powers
:math:`d_k = Y_k^H S^{-1} Y_k` that are Gamma(n R) distributed if they are white noise. Sums over
windows of 1, 2, 4, ... neighbouring lines are Gamma(n R w); the smallest chance over all windows,
times their number, bounds the chance of the most conspicuous one. A line that decays, moves or is
kicked, and motion driven by noise, leave a hump, narrow or broad, wherever it is.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv

from prism._types import Array, ComplexArray, Index, Mask
from prism.modes import Modes
from prism.motion import _limits as limits
from prism.motion.driven.spectrum import FourierLines, hann
from prism.motion.scan import scan_chance

__all__ = ["bunches", "coincident", "flanked", "hump_chance", "rough", "symmetric"]


def bunches(omega: Array, resolution: float) -> list[Index]:
    """Indices of lines, ascending, in groups whose neighbours may be one line."""
    apart = np.flatnonzero(np.diff(omega) > limits.MAY_BE_ONE * resolution) + 1
    return [group for group in np.split(np.arange(len(omega)), apart) if len(group)]


def symmetric(modes: Modes, within: float = np.inf) -> bool:
    """Whether two weaker lines stand at one distance on both sides of a stronger one.

    Modulation makes such lines; separate modes hit that by chance, seldom.

    Parameters
    ----------
    modes : Modes
    within : float
        Largest distance from the stronger one.
    """
    omega, variance, strength = modes.frequencies, modes.frequencies_std**2, modes.significance
    for j, middle in enumerate(omega):
        weaker = strength < strength[j]
        below, above = (
            np.flatnonzero(weaker & (omega < middle) & (omega > middle - within)),
            np.flatnonzero(weaker & (omega > middle) & (omega < middle + within)),
        )
        off = omega[below][:, None] + omega[above] - 2 * middle
        error = np.sqrt(variance[below][:, None] + variance[above] + 4 * variance[j])
        if np.any(np.abs(off) < limits.SYMMETRIC * error):
            return True
    return False


def flanked(modes: Modes, within: float) -> bool:
    """Whether two weaker lines stand on both sides of a stronger one, hardly resolved from it.

    The sidebands of a modulation by about a period in the record need not look symmetric.

    Parameters
    ----------
    modes : Modes
    within : float
        Largest distance from the stronger one.
    """
    omega, strength = modes.frequencies, modes.significance
    off = omega - omega[:, None]
    weaker = (strength < strength[:, None]) & (np.abs(off) < within)
    return bool(np.any(np.any(weaker & (off < 0), axis=1) & np.any(weaker & (off > 0), axis=1)))


def coincident(modes: Modes) -> list[float]:
    """Frequencies at which lines of one shape are not told apart.

    Two steady lines of one shape and one frequency are one. Where a record needs both, the
    amplitude of that one changes: it decays, or moves.

    Parameters
    ----------
    modes : Modes
        Ascending in frequency.
    """
    omega, shapes, C = modes.frequencies, modes.shapes, modes.joint.between("frequencies")
    error = np.sqrt(np.maximum(np.diag(C)[1:] + np.diag(C)[:-1] - 2 * np.diag(C, 1), 0.0))
    alike = np.sum(shapes[1:] * shapes[:-1], axis=1) ** 2 > limits.SAME_DIRECTION
    near = (np.diff(omega) < limits.ONE_PLACE * error) & alike & (omega[:-1] > 0)
    return [float(w) for w in omega[:-1][near]]


def hump_chance(lines: FourierLines) -> float:
    """Chance of the most conspicuous window of a spectrum, if it is that of white noise.

    Parameters
    ----------
    lines : FourierLines
        Of what is left.
    """
    lowest = 2 * np.pi * limits.LOWEST_CYCLES / lines.longest
    trials = [part.values[part.omega >= lowest] for part in lines.trials]
    lengths = {len(values) for values in trials}
    if len(lengths) == 1:
        power = np.sum([_powers(values) for values in trials], axis=0)
        return scan_chance(power, len(trials) * lines.values.shape[1])
    each = [scan_chance(_powers(values), values.shape[1]) for values in trials]
    return min(1.0, len(each) * min(each))


def rough(lines: FourierLines) -> bool:
    """Whether what moves spreads over more of the spectrum than lines that change smoothly do.

    Fourier lines that stand out of the noise, after a Hann window, come in groups of about five
    for steady, decaying and slowly moving lines, and of many more where noise or kicks drive the
    motion. In very little noise the skirts of the window stand out too, and do not count. This
    decides what is fitted first, and nothing else.

    Parameters
    ----------
    lines : FourierLines
        Of the record.
    """
    for part in lines.trials:
        v = part.values
        power = _powers(hann(v))
        least = limits.STANDS_OUT * v.shape[1]
        if _largest_group(power > least) > limits.SMOOTH_GROUP and (
            _largest_group(power > least + _skirts(power)) > limits.SMOOTH_GROUP
        ):
            return True
    return False


def _largest_group(out: Mask) -> int:
    """Lines in the largest group of those that stand out."""
    place = np.flatnonzero(out)
    apart = np.flatnonzero(np.diff(place) > limits.GROUPS_APART) + 1
    return max(len(group) for group in np.split(place, apart))


def _skirts(power: Array) -> Array:
    r"""Power that lines beside a Fourier line may leave there, after a Hann window.

    A steady line half way between two Fourier lines has :math:`1/(π d (d^2 - 1))^2` at the distance
    d, over .72 at the nearest of them.
    """
    d = np.arange(3, max(4, min(limits.SKIRT_LINES, len(power) // 2)))
    side = limits.SKIRT_MARGIN / 0.72 / (np.pi * d * (d**2 - 1.0)) ** 2
    kernel = np.concatenate([side[::-1], np.zeros(5), side])
    return np.convolve(power, kernel, mode="same")


def _powers(values: ComplexArray) -> Array:
    """``Yᴴ S⁻¹ Y`` of every line, with the median that white noise has.

    S is the covariance of the quieter lines; those that stand out do not enter it.
    """
    n = values.shape[1]
    scale = np.median(np.abs(values) ** 2, axis=0) + limits.TINY
    unit = values / np.sqrt(scale)
    size = np.sum(np.abs(unit) ** 2, axis=1)
    quiet = unit[size <= np.quantile(size, limits.QUIET_SHARE)]
    S = quiet.T @ quiet.conj() / len(quiet) + limits.ROUNDING * np.eye(n)
    power = np.sum((unit.conj() @ np.linalg.inv(S)) * unit, axis=1).real
    return np.asarray(power * gammaincinv(n, 0.5) / np.median(power))
