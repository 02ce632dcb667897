r"""A clock that drifts, and its rival: amplitudes that change smoothly.

If all lines move in proportion to their frequency, the time itself is bent,
:math:`y(t) = \sum_j \mathrm{Re}\, z_j e^{iΩ_j τ(t)}` with
:math:`τ = t + H \sum_m c_m P_{m+2}(u)`: one or two numbers for all lines. A constant
and a linear part of the bend say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.fft
from scipy.special import chdtri

from prism._types import Array
from prism.faults import _limits as limits
from prism.faults.breaks import Search
from prism.faults.fault import Fault
from prism.faults.hypothesis import Hypothesis, fitted
from prism.faults.scan import columns
from prism.faults.view import TrialView, warped_times
from prism.search.projection import LineFit


def drifting(search: Search, misfit: Array | float) -> Iterator[Hypothesis]:
    """The clock is bent, by one number or by two.

    Parameters
    ----------
    misfit : array (channels,)
        Variance that the best other hypothesis leaves.
    """
    view, omega = search.now.view, search.starts[0]
    if not len(omega):
        return
    bend = _rough(view, float(omega.max()))
    fit = fitted(view.warped(bend), omega, search.now.weights)
    for _ in range(limits.TURNS):
        if fit is None:
            return
        bend = bend + bend_step(view, view.warped(bend), fit, 1)[0]
        fit = fitted(view.warped(bend), fit.omega, fit.weights)
    if fit is None or np.any(fit.rss > limits.BEND_COST * misfit * len(view.times)):
        return
    for degree in (1, 2):
        found = _bent(search, np.pad(bend, (0, degree - 1)), fit.omega)
        if found is not None:
            yield found


def _rough(view: TrialView, fastest: float) -> Array:
    """The bend for which the spectrum is most concentrated."""
    times = view.times
    half = 0.5 * float(times[-1] - times[0])
    most = limits.WARP_CELLS * np.pi / (6 * fastest * half)
    bends = np.linspace(-most, most, int(2 * limits.WARP_CELLS * limits.WARP_STEPS) + 1)
    y = view.values / np.maximum(view.values.std(axis=0), 1e-300)
    best = max(bends, key=lambda bend: _concentration(times, y, float(bend)))
    return np.array([float(best)])


def _concentration(times: Array, y: Array, bend: float) -> float:
    """``Σ |Y|⁴`` of the record on the even grid of the bent clock."""
    warped = warped_times(times, np.array([bend]))
    even = np.linspace(warped[0], warped[-1], len(times))
    spectra = [scipy.fft.rfft(np.interp(even, warped, one)) for one in y.T]
    return float(sum(np.sum(np.abs(one) ** 4) for one in spectra))


def _bent(search: Search, bend: Array, omega: Array) -> Hypothesis | None:
    """Lines and bend fitted together, all lines of it found."""
    view = warped = search.now.view
    fit: LineFit | None = None
    for turn in range(2 * limits.TURNS):
        warped = view.warped(bend)
        if np.any(np.diff(warped.times) <= 0):
            return None
        last = turn == limits.TURNS
        fit = search.completed(warped, omega) if last else fitted(warped, omega, search.now.weights)
        if fit is None:
            return None
        step, covariance = bend_step(view, warped, fit, len(bend))
        bend, omega, error = bend + step, fit.omega, np.sqrt(np.diag(covariance))
    if fit is None:
        return None
    whole = (float(6 * bend[0]), float(6 * error[0]))
    tries = 2 * limits.WARP_CELLS * limits.WARP_STEPS
    fault = Fault(
        "clock-drift",
        f"the clock drifts, or all frequencies drift alike, by {100 * whole[0]:.3g} % over the "
        "record",
        f"± {100 * whole[1]:.2g} %",
        search.channels,
        trial=search.trial,
        size=tuple(float(one) for one in bend),
        error=tuple(float(one) for one in error),
    )
    price = float(chdtri(1, search.chance / tries))
    price += float(chdtri(1, search.chance)) * (len(bend) - 1)
    return search.hypothesis(warped, fit, price, fault)


def bend_step(view: TrialView, warped: TrialView, fit: LineFit, degree: int) -> tuple[Array, Array]:
    """Gauss-Newton step of the bend with frequencies and amplitudes free, and its covariance.

    Parameters
    ----------
    view : TrialView
        On the clock as it was recorded.
    warped : TrialView
        On the bent clock, where the lines were fitted.
    fit : LineFit
    degree : int
        Numbers that describe the bend.
    """
    normal, right = _normal(view, warped, fit, degree)
    return _solved(normal, right, fit.count)


def _solved(normal: Array, right: Array, lines: int) -> tuple[Array, Array]:
    # a line that came out with no amplitude has no frequency to move
    size = np.sqrt(np.maximum(np.diag(normal), np.finfo(float).tiny))
    scaled = normal / np.outer(size, size)
    inverse = np.linalg.pinv(scaled, rcond=1e-12, hermitian=True) / np.outer(size, size)
    return np.asarray((inverse @ right)[lines:]), np.asarray(inverse[lines:, lines:], float)


def _normal(view: TrialView, warped: TrialView, fit: LineFit, degree: int) -> tuple[Array, Array]:
    """Normal equations of frequencies and bend, the amplitudes eliminated."""
    size = fit.count + degree
    normal, right = np.zeros((size, size)), np.zeros(size)
    rest = warped.residual(fit)
    for part, sampling, one in zip(view.parts, fit.samplings, fit.linear, strict=True):
        lag = warped.times[part] - sampling.centre
        angle = np.outer(lag, fit.omega)
        cos, sin = np.cos(angle), np.sin(angle)
        E = np.hstack([np.ones((len(lag), 1)), lag[:, None] / sampling.half, cos, sin])
        P = _polynomials(view, degree)[part]
        for a, weight in enumerate(fit.weights):
            A, B = np.split(one.lines[a, :, 0], 2)
            speed = B * cos - A * sin  # per unit of phase
            D = np.hstack([lag[:, None] * speed, P * (speed @ fit.omega)[:, None]])
            D = D - E @ np.linalg.solve(E.T @ E, E.T @ D)
            normal += weight * D.T @ D
            right += weight * D.T @ rest[part, a]
    return normal, right


def _polynomials(view: TrialView, degree: int) -> Array:
    """``H P_{m+2}(u)`` at the samples, (samples, degree)."""
    half = 0.5 * float(view.times[-1] - view.times[0])
    u = (view.times - view.times[0]) / half - 1
    return np.asarray(half * np.polynomial.legendre.legvander(u, degree + 1)[:, 2:])


def drift_gain(view: TrialView, fit: LineFit) -> float:
    """Gain that a small drift of the clock would bring."""
    normal, right = _normal(view, view, fit, 1)
    step, covariance = _solved(normal, right, fit.count)
    return float(step[0] ** 2 / covariance[0, 0])


# -- the rival -------------------------------------------------------------------------------------


def smoothly(search: Search, omega: Array) -> Iterator[Hypothesis]:
    """Amplitudes that are polynomials of time, each on its own."""
    view = search.now.view
    lines, channels = len(omega), len(search.channels)
    for degree in limits.SMOOTH_DEGREES:
        dof = 2 * lines * channels * degree
        if dof > 0.5 * view.values.size:
            return
        residual = np.concatenate([_smooth(view, part, omega, degree) for part in view.parts])
        spare = view.values.size - dof - 2 * lines * channels
        weights = view.values.size / spare * (residual**2).mean(axis=0)
        price = search.now.price + float(chdtri(dof, search.chance))
        yield Hypothesis(view, omega, residual, 1 / weights, price, smooth=True)


def _smooth(view: TrialView, part: slice, omega: Array, degree: int) -> Array:
    E = columns(view.times[part], omega)
    u = E[:, 1]
    powers = np.polynomial.legendre.legvander(u, degree)
    X = np.hstack([E[:, :2], *(E[:, 2:] * powers[:, m : m + 1] for m in range(degree + 1))])
    gram = X.T @ X
    ridge = 1e-9 * np.diag(np.diag(gram))
    y = view.values[part]
    rest = y - X @ np.linalg.solve(gram + ridge, X.T @ y)
    return np.where(view.present[part], rest, 0.0)
