"""Which poles a forced record needs: pursuit, joint refinement, merging, dropping.

The rules are those of `lines.pursuit`: the likelihood alone decides. A pole is added where the
residual wants one most, all are refined jointly, and what the likelihood does not need is taken
out again: one of two neighbours, a weak pole, the rigid body, the static compliance. Whether the
force was held (zero order) or went straight from sample to sample (first order) is decided by the
likelihood after each change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri, fdtri

from prism._types import Array, Index
from prism.motion.forced.records.data import ForcedData
from prism.motion.forced.records.pole_fit import (
    PoleFit,
    Poles,
    attempt,
    each_without,
    evaluate,
    refine,
    spare,
)
from prism.motion.forced.records.scan import DECAYS, scan
from prism.search.noise import log_false_alarm

_CLOSE = 1.5  # poles nearer than this many resolution widths are tested for merging
_PEAKS = 3  # candidates tried in one round
_HOPE = 0.4  # of the threshold: the scan underrates a pole next to another
_CLEARLY = 6.0  # gain in -2 log L for which the unusual hold is chosen
_MOST = 60
_LOOSE, _TIGHT = 1e-2, 1e-6
_LOCAL = 32  # bins on either side that tell the floor next to a pole
_NEIGHBOUR = 4.0  # widths within which a pole has a neighbour
_SHARE = 0.75  # of what is left there that a pole next to another has to explain
_EXACT = 1e-10  # of the signal: residual taken for rounding


@dataclass(frozen=True)
class Search:
    """The record and the rules of one search.

    Attributes
    ----------
    data : ForcedData
    threshold : float
        Gain in ``χ²`` that keeps a pole.
    single : float
        Gain that keeps what has no frequency to be searched for.
    holds : tuple of str
        To choose from.
    most : int
        Poles at most.
    lossless : bool
    floor : array (channels,)
        Smallest noise variance believed.
    """

    data: ForcedData
    threshold: float
    single: float
    holds: tuple[str, ...]
    most: int
    lossless: bool
    floor: Array

    def weights(self, fit: PoleFit) -> Array:
        """``1/σ²`` from the residual of a fit."""
        return 1 / np.maximum(fit.rss / spare(self.data, fit.poles), self.floor)

    def likelihood(self, fit: PoleFit) -> float:
        """``-2 log L`` with the noise levels fitted."""
        level = np.maximum(fit.rss / self.data.counts, self.floor)
        return float(self.data.counts @ np.log(level))


def thresholds(data: ForcedData, false_alarm: float, lossless: bool) -> tuple[float, float]:
    r"""Gains in χ² of a pole, and of a term without frequency, at a false-alarm probability.

    A pole at a fixed place has :math:`s = n_{out}(n_{in} + 2R)` amplitudes and its decay; the
    search over frequencies is Davies' bound of `lines.noise.log_false_alarm`. What has no
    frequency is tested once in every round, hence at a tenth of the probability.
    """
    A, B, R = len(data.motions), len(data.forces), len(data.trials)
    dof = A * (B + 2 * R) + (0 if lossless else 1)
    cycles = max((data.band[1] - data.band[0]) / data.resolution, 1.0)
    low, high = float(dof), 2.0 * dof + 20
    while log_false_alarm(high, dof, cycles) > np.log(false_alarm):
        high *= 1.5
    level = float(
        brentq(lambda u: log_false_alarm(u, dof, cycles) - np.log(false_alarm), low, high)
    )
    return _with_few(level, dof, data), _with_few(
        float(chdtri(A * B, false_alarm / 10)), A * B, data
    )


def _with_few(level: float, dof: int, data: ForcedData) -> float:
    """From the χ² to the F quantile of the same probability: the noise level is estimated."""
    chance = float(chdtrc(dof, level))
    left = float(data.counts.sum()) - 2 * dof
    if chance < 1e-14 or left < 1:
        return level
    return max(level, dof * float(fdtri(dof, left, 1 - chance)))


def find_poles(
    data: ForcedData,
    *,
    false_alarm: float,
    lossless: bool,
    holds: tuple[str, ...],
    most: int | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> tuple[PoleFit, Search]:
    """Find and fit all significant poles; the fit may hold none.

    Parameters
    ----------
    false_alarm : float
        Probability that noise alone shows a pole anywhere in the band.
    lossless : bool
        Keep all decays at zero.
    holds : tuple of str
        One, or both to choose from.
    most : int, optional
        Poles at most.
    """
    threshold, single = thresholds(data, false_alarm, lossless)
    none = Poles(np.zeros(0), np.zeros(0), np.zeros(0, bool), False, False, holds[0], lossless)
    fit = evaluate(data, none, np.ones(len(data.motions)))
    floor = np.maximum(_EXACT**2 * fit.rss / data.counts, 1e-300)
    limit = min(_MOST if most is None else most, int(data.counts.min() / (12 * len(data.trials))))
    search = Search(data, threshold, single, holds, limit, lossless, floor)
    while True:
        fit = evaluate(data, fit.poles, search.weights(fit))
        better = _grow(search, fit)
        if better is None:
            break
        before, fit = fit, _simplify(search, _best_hold(search, better), _LOOSE)
        if search.likelihood(fit) >= search.likelihood(before):  # what was added fell away again
            fit = before
            break
        tell(f"{fit.poles.count} modes")
    fit = refine(data, fit, tolerance=_TIGHT)
    return _driven(search, _simplify(search, fit, _TIGHT)), search


def _grow(search: Search, fit: PoleFit) -> PoleFit | None:
    """Fit with the best term more, or None when none is significant."""
    data, found = search.data, []
    if fit.poles.count < search.most:
        found.append(_best_pole(search, fit))
    if not fit.poles.rigid:
        found.append(_single(search, fit, "rigid"))
    inside = (
        found[0] is not None and _has_power(data, found[0].poles, fit.poles) if found else False
    )
    if not fit.poles.static and not inside:
        found.append(_single(search, fit, "static"))
    return min((f for f in found if f is not None), key=search.likelihood, default=None)


def _has_power(data: ForcedData, new: Poles, old: Poles) -> bool:
    """Whether the pole that was added is in the band of the force."""
    low, high = data.force_band()
    return bool(low <= new.omega[_added(old, new)] <= high)


def _with_single(poles: Poles, name: str, present: bool) -> Poles:
    if name == "rigid":
        return replace(poles, rigid=present)
    return replace(poles, static=present)


def _single(search: Search, fit: PoleFit, name: str) -> PoleFit | None:
    """Fit with the rigid body or the static compliance, if significant."""
    poles = _with_single(fit.poles, name, True)
    return _accepted(search, fit, poles, search.single, None)


def _best_pole(search: Search, fit: PoleFit) -> PoleFit | None:
    levels = 1 if search.lossless else len(DECAYS)
    omega, gain, decay = scan(search.data, fit.residual, fit.weights, fit.poles.hold, levels)
    for i in _peaks(omega, gain, search.data.resolution):
        if gain[i] < _HOPE * search.threshold:
            break
        if np.abs(fit.poles.omega - omega[i]).min(initial=np.inf) < 0.1 * search.data.resolution:
            continue
        start = fit.poles.plus(float(omega[i]), float(decay[i]))
        found = _accepted(search, fit, start, search.threshold, float(omega[i]))
        if found is not None:
            return found
    return None


def _peaks(omega: Array, gain: Array, resolution: float) -> list[int]:
    """Highest maxima, at least a resolution width apart."""
    gain = gain.copy()
    found = []
    for _ in range(_PEAKS):
        found.append(int(np.argmax(gain)))
        gain[np.abs(omega - omega[found[-1]]) < resolution] = -np.inf
    return found


def _accepted(
    search: Search, fit: PoleFit, poles: Poles, threshold: float, where: float | None
) -> PoleFit | None:
    """Refined fit of a larger model if it gains enough at its own noise level."""
    trial = attempt(search.data, poles, fit.weights)
    if trial is None:
        return None
    trial = refine(search.data, trial, tolerance=_LOOSE)
    trial = evaluate(search.data, trial.poles, search.weights(trial))
    gain = float(trial.weights @ fit.rss) - trial.cost
    if where is None or gain <= threshold:
        return trial if gain > threshold else None
    near = _neighbours(search.data, fit.poles, trial.poles)
    if _cancel(search.data, trial, near):
        return None
    before, after = (_nearby(search.data, f.residual, trial.weights, where) for f in (fit, trial))
    excess = float(after.mean())
    if excess < 1 + 4 / np.sqrt(after.size):
        return trial
    share = 1 - excess / float(before.mean())
    if len(near) > 1 and share < _SHARE:
        return None
    return trial if gain > threshold * excess else None


def _nearby(data: ForcedData, residual: list[Array], weights: Array, omega: float) -> Array:
    """Periodogram of the residual next to a frequency, in units of the noise.

    Its mean over n values scatters by ``1/√n`` about one. Where it stays above after a pole has
    been added, something is left that no mode explains, a nonlinearity or a force measured
    elsewhere, and must not be taken for one mode after another: a mode has to stand out of this
    neighbourhood, and one next to another has to explain most of it.
    """
    powers = []
    for rest in residual:
        M = len(rest)
        k = round(omega * M * data.dt / (2 * np.pi))
        power = np.abs(np.fft.rfft(rest, axis=0)[max(k - _LOCAL, 1) : k + _LOCAL + 1]) ** 2 / M
        powers.append(power * weights)
    return np.concatenate(powers)


def _neighbours(data: ForcedData, old: Poles, new: Poles) -> Index:
    """The pole that was added and those within its width."""
    k = _added(old, new)
    reach = _NEIGHBOUR * (data.resolution + new.decay[k] + new.decay)
    return np.flatnonzero(np.abs(new.omega - new.omega[k]) < reach)


def _cancel(data: ForcedData, fit: PoleFit, near: Index) -> bool:
    """Whether neighbours answer the force with opposite signs, significantly.

    Residues at driving points are positive for every mode of a passive system (THEORY (1)); two
    poles side by side of which one takes away what the other gives are no modes.
    """
    B = len(data.forces)
    column = np.cumsum(fit.poles.driven) - 1
    signs = []
    for j in near[fit.poles.driven[near]]:
        rows = [(port, B * column[j] + b) for b, port in enumerate(data.ports)]
        value = sum(fit.shared[row] for row in rows)
        std = np.sqrt(sum(fit.shared_std[row] ** 2 for row in rows))
        signs.append(np.sign(value) if abs(value) > 3 * std else 0.0)
    return -1.0 in signs and 1.0 in signs


def _added(old: Poles, new: Poles) -> int:
    """Index of the pole farthest from all old ones."""
    away = [np.abs(old.omega - w).min(initial=np.inf) for w in new.omega]
    return int(np.argmax(away))


def _best_hold(search: Search, fit: PoleFit) -> PoleFit:
    """The likelier hold; the first order unless the zero order is clearly better."""
    if len(search.holds) == 1:
        return fit
    other = "zero" if fit.poles.hold == "first" else "first"
    trial = attempt(search.data, replace(fit.poles, hold=other), fit.weights)
    if trial is None:
        return fit
    trial = refine(search.data, trial, tolerance=_LOOSE)
    first, zero = (fit, trial) if other == "zero" else (trial, fit)
    gain = search.likelihood(first) - search.likelihood(zero)
    return zero if gain > _CLEARLY else first


def _simplify(search: Search, fit: PoleFit, tolerance: float) -> PoleFit:
    """Take out, one at a time, everything that the likelihood does not need."""
    while True:
        smaller = _best_smaller(search, fit, tolerance)
        if smaller is None:
            return fit
        fit = smaller


def _best_smaller(search: Search, fit: PoleFit, tolerance: float) -> PoleFit | None:
    data, poles = search.data, fit.poles
    for pair, merged in _merged(data, poles, _NEIGHBOUR):
        one = attempt(data, merged, fit.weights) if _cancel(data, fit, pair) else None
        if one is not None:
            return refine(data, one, tolerance=tolerance)
    present = [name for name in ("rigid", "static") if getattr(poles, name)]
    starts = [(_with_single(poles, name, False), search.single) for name in present]
    for _, rest in each_without(poles):
        quick = attempt(data, rest, fit.weights)
        if quick is not None and quick.cost - fit.cost < 2 * search.threshold:
            starts.append((rest, search.threshold))
    starts += [(merged, search.threshold) for _, merged in _merged(data, poles, _CLOSE)]
    best: PoleFit | None = None
    for start, threshold in starts:
        trial = attempt(data, start, fit.weights)
        if trial is None:
            continue
        trial = refine(data, trial, tolerance=tolerance, hopeless=fit.cost + threshold)
        if trial.cost - fit.cost < threshold and (best is None or trial.cost < best.cost):
            best = trial
    return best


def _merged(data: ForcedData, poles: Poles, widths: float) -> list[tuple[Index, Poles]]:
    """Each pair of close neighbours, and the poles with one between them in its place."""
    out = []
    for j in np.flatnonzero(np.diff(poles.omega) < widths * data.resolution):
        rest = poles.without(int(j) + 1)
        omega, decay, driven = rest.omega.copy(), rest.decay.copy(), rest.driven.copy()
        omega[j] = poles.omega[j : j + 2].mean()
        decay[j] = poles.decay[j : j + 2].mean()
        driven[j] = poles.driven[j : j + 2].any()
        pair = np.array([j, j + 1])
        out.append((pair, replace(rest, omega=omega, decay=decay, driven=driven)))
    return out


def _driven(search: Search, fit: PoleFit) -> PoleFit:
    """Mark poles that the force does not drive significantly: their motion is free or a hum."""
    for j in np.flatnonzero(fit.poles.driven):
        driven = fit.poles.driven.copy()
        driven[j] = False
        trial = attempt(search.data, replace(fit.poles, driven=driven), fit.weights)
        if trial is not None and trial.cost - fit.cost < search.single:
            fit = refine(search.data, trial, tolerance=_TIGHT)
    return fit
