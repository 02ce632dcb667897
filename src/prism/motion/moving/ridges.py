r"""Lines that sweep far: paths of the largest power through spectra of short pieces.

A line that moves by many resolutions has no peak in the spectrum of the whole record. In pieces so
short that it hardly moves within one it has, and the frequencies of these peaks follow a smooth
curve. With ω(u) that curve, a polynomial of scaled time, a line starts at the phase

.. math:: φ(u) = H \int ω(u)\, du .

Motion driven by noise has such peaks too, but they wander: no polynomial follows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Legendre
from numpy.polynomial.legendre import legvander

from prism._types import Array, Index
from prism.motion.moving import _limits as limits
from prism.motion.moving.law import PHASE, Freedom, Law
from prism.record import Record

__all__ = ["Ridge", "law_of", "ridges"]


class Ridge(NamedTuple):
    """A line followed through a record.

    Attributes
    ----------
    frequency : Legendre
        Angular, over scaled time from -1 to 1.
    swept : float
        How far it moves where it has power, in resolutions of the record.
    smooth : float
        The same over the distance from the curve to the peaks.
    """

    frequency: Legendre
    swept: float
    smooth: float

    @property
    def far(self) -> bool:
        """Whether it sweeps far, and on a curve that peaks of random motion seldom follow."""
        return self.swept > limits.SWEPT_FAR and self.smooth > limits.SMOOTH_SWEEP


class _Spectrogram(NamedTuple):
    """Power in windows of a record, over the noise.

    Attributes
    ----------
    u : array (windows,)
        Middle of each, on scaled time.
    omega : array (bins,)
    power : array (windows, bins)
        One, on average, where there is noise alone; all channels and trials together.
    cell : float
        Angular resolution of a window.
    samples : int
        Of a window.
    """

    u: Array
    omega: Array
    power: Array
    cell: float
    samples: int


def ridges(record: Record) -> list[Ridge]:
    """Lines of a record, strongest first, where some of them sweep far; none otherwise.

    Parameters
    ----------
    record : Record
        Evenly sampled, with trials of one length; of others nothing is found.
    """
    if record.dt is None or record.missing or len(set(record.samples)) > 1:
        return []
    most = min(limits.MOST_WINDOWS, record.samples[0] // limits.FEWEST_IN_A_WINDOW)
    counts = [2**k for k in range(3, 12) if 2**k <= most]
    views = [_spectrogram(record, count) for count in counts]
    if not views or max(view.power.max() for view in views) < limits.RIDGE_LEVEL:
        return []
    found = list(_followed(views, 2 * np.pi / record.duration))
    return found if any(one.far for one in found) else []


def law_of(found: Sequence[Ridge], half: float) -> Law:
    """The law of lines that were followed, a place to start a fit from.

    Parameters
    ----------
    found : sequence of Ridge
    half : float
        H, half the length of the record.
    """
    order = np.argsort([one.frequency.coef[0] for one in found])
    carriers = np.array([found[k].frequency.coef[0] for k in order])
    law = Law.steady(carriers, half)
    for j, k in enumerate(order):
        bend = Legendre(np.append(0.0, found[k].frequency.coef[1:])).integ() * half
        turned = {Freedom(PHASE, j, d): v for d, v in enumerate(bend.coef.tolist()) if d}
        law = law.given(turned)
    return law


def _spectrogram(record: Record, count: int) -> _Spectrogram:
    """Hann windows that overlap by half, so many of them side by side."""
    samples, dt = record.samples[0], record.dt
    assert dt is not None
    size = samples // count
    starts = np.arange(0, samples - size + 1, size // 2)
    window = np.hanning(size + 2)[1:-1]
    total = np.zeros((len(starts), size + 1))
    for values in record.trials:
        for series in (values - values.mean(axis=0)).T:
            pieces = np.array([window * series[first : first + size] for first in starts])
            power = np.abs(np.fft.rfft(pieces, 2 * size, axis=1)) ** 2
            # the median of exponential numbers is log 2 of their mean
            total += power / max(np.median(power) / np.log(2), 1e-300)
    total /= record.n_trials * record.n_channels
    u = (2 * starts + size - 1) / (samples - 1) - 1
    omega = np.asarray(np.pi * np.arange(size + 1) / (size * dt), float)
    return _Spectrogram(np.asarray(u, float), omega, total, 2 * np.pi / (size * dt), size)


def _followed(views: list[_Spectrogram], resolution: float) -> Iterator[Ridge]:
    """One path after another, each through the windows that show it best."""
    views = [view._replace(power=view.power.copy()) for view in views]
    for _ in range(limits.MOST_RIDGES):
        paths = [_path(view) for view in views]
        strength = [_strength(view, path) for view, path in zip(views, paths, strict=True)]
        first = int(np.argmax(strength))
        if np.mean(_along(views[first], paths[first])) < limits.RIDGE_LEVEL:
            return
        enough = limits.SHOWN_AS_WELL * max(strength)
        tries = [k for k in range(len(views)) if strength[k] > enough]
        curves = [curve for k in tries for curve in _curves(views[k], paths[k])]
        best = min(curves, key=lambda one: one.off * one.view.cell, default=None)
        if best is not None:
            swept = best.range / resolution
            yield Ridge(best.frequency, swept, best.range / max(best.off * best.view.cell, 1e-300))
        view, path = (views[first], paths[first]) if best is None else (best.view, best.path)
        for other in views:
            _taken(other, np.interp(other.u, view.u, view.omega[path]), view.cell)


class _Curve(NamedTuple):
    """A smooth curve along a path, and how far it is off, in resolutions of a window."""

    view: _Spectrogram
    path: Index
    frequency: Legendre
    off: float

    @property
    def range(self) -> float:
        """Of the frequency where there is power: √12 standard deviations, as of an even sweep.

        Where a line has died away its path is anywhere.
        """
        power = np.maximum(_along(self.view, self.path) - 1, 0.0) + 1e-12
        places = self.frequency(self.view.u)
        off = places - np.average(places, weights=power)
        return float(np.sqrt(12 * np.average(off**2, weights=power)))


def _curves(view: _Spectrogram, path: Index) -> Iterator[_Curve]:
    """Curves that follow a path, or the straight one where that bends: lines cross there."""
    one = _curve(view, path)
    if one.off > limits.OFF_RIDGE:
        one = _curve(view, _straight(view))
    # what lies between the pieces of two other lines is no line
    if one.off < limits.OFF_RIDGE and np.median(_along(view, one.path)) > limits.RIDGE_LEVEL:
        yield one


def _path(view: _Spectrogram) -> Index:
    """The path of the largest sum of log powers that moves by two resolutions a window at most.

    Within half a window a line moves by one resolution, or the window is too long for it; bins are
    half of one.
    """
    score = np.log(np.maximum(view.power, 1.0))
    reach = limits.STEEPEST_RIDGE
    back = np.zeros(score.shape, int)
    total = score[0]
    for b in range(1, len(score)):
        padded = np.pad(total, reach, constant_values=-np.inf)
        shifted = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1)
        step = np.argmax(shifted, axis=1)
        back[b] = np.arange(len(total)) + step - reach
        total = score[b] + shifted[np.arange(len(total)), step]
    path = np.empty(len(score), int)
    path[-1] = int(np.argmax(total))
    for b in range(len(score) - 1, 0, -1):
        path[b - 1] = back[b, path[b]]
    return path


def _straight(view: _Spectrogram) -> Index:
    """The straight path of the largest sum of log powers: lines that cross make others bend."""
    score = np.log(np.maximum(view.power, 1.0))
    windows, bins = score.shape
    reach = limits.STEEPEST_RIDGE * (windows - 1)
    best, kept = -np.inf, np.zeros(windows, int)
    part = np.arange(windows) / max(windows - 1, 1)
    for rise in range(-reach, reach + 1):
        shift = np.rint(rise * part).astype(int)
        first, stop = max(0, -rise), min(bins, bins - rise)
        if stop <= first:
            continue
        total = np.zeros(stop - first)
        for b in range(windows):
            total += score[b, first + shift[b] : stop + shift[b]]
        place = int(np.argmax(total))
        if total[place] > best:
            best, kept = float(total[place]), first + place + shift
    return kept


def _along(view: _Spectrogram, path: Index) -> Array:
    return np.asarray(view.power[np.arange(len(path)), path])


def _strength(view: _Spectrogram, path: Index) -> float:
    """Mean power of a line along a path over that of noise, for one sample.

    The power of a line grows with the length of the window as long as the line stays within one
    resolution, that of noise does not.
    """
    return float(np.mean(_along(view, path) - 1)) / view.samples


def _curve(view: _Spectrogram, path: Index) -> _Curve:
    """A polynomial through a path, of the lowest degree that follows it.

    Its distance is the root of the mean square.
    """
    at = _summits(view, path)
    weight = np.sqrt(np.maximum(_along(view, path) - 1, 0.0)) + 1e-6
    best, off = Legendre([float(np.average(at, weights=weight))]), np.inf
    for degree in range(min(limits.DEGREE, len(path) // 3)):
        X = legvander(view.u, degree)
        coefficients, *_ = np.linalg.lstsq(X * weight[:, None], at * weight, rcond=None)
        rest = at - X @ coefficients
        now = float(np.sqrt(np.average(rest**2, weights=weight**2))) / view.cell
        if now < limits.BETTER_CURVE * off:
            best, off = Legendre(coefficients), now
    return _Curve(view, path, best, off)


def _summits(view: _Spectrogram, path: Index) -> Array:
    """Frequencies of the peaks along a path, between the bins."""
    k = np.clip(path, 1, len(view.omega) - 2)
    row = np.arange(len(path))
    left, middle, right = (np.log(np.maximum(view.power[row, k + d], 1e-12)) for d in (-1, 0, 1))
    curvature = left - 2 * middle + right
    shift = np.where(curvature < 0, 0.5 * (left - right) / np.minimum(curvature, -1e-12), 0.0)
    return np.asarray(view.omega[k] + np.clip(shift, -1, 1) * (view.omega[1] - view.omega[0]))


def _taken(view: _Spectrogram, places: Array, cell: float) -> None:
    """Take a line out of a spectrogram: what lies within two resolutions of it."""
    reach = limits.RIDGE_WIDTH * max(cell, view.cell)
    view.power[np.abs(view.omega - places[:, None]) < reach] = 0.0
