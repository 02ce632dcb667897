"""Which poles a forced record needs: the family of :mod:`prism.search.pursuit` that is driven.

A pole is added where the residual wants one most; a rigid body and a static compliance are members
without a pole. Whether the force was held (zero order) or went straight from sample to sample
(first order) is decided by the likelihood after each addition. Unlike lines, which are compared in
units of one noise, every larger model is judged by its own residual: modes in the band of the force
are strong, and the noise is known only once they are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import chdtri

from prism._types import Array, Index
from prism.motion.forced.records import _limits as limits
from prism.motion.forced.records.data import ForcedData
from prism.motion.forced.records.pole_fit import PoleFit, Poles, evaluate, refine, spare
from prism.motion.forced.records.scan import scan
from prism.search.noise import gain_threshold, noise_weights, with_spare
from prism.search.projection import ProjectionFamily, attempted, neighbours
from prism.search.pursuit import TIGHT, Move, Places, larger, pursue

_TERMS = ("rigid", "static")  # members without a pole


def thresholds(
    data: ForcedData, false_alarm: float, lossless: bool, turned: bool = False
) -> tuple[float, float]:
    r"""Gains in χ² of a pole, and of a term without frequency, at a false-alarm probability.

    A pole at a fixed place has :math:`s = n_{out}(n_{in} + 2R)` amplitudes, or
    :math:`2 n_{out}(n_{in} + R)` where residues are complex, and its decay. What has
    no frequency is tested once in every round, hence at a tenth of the probability.
    """
    A, B, R = len(data.motions), len(data.forces), len(data.trials)
    dof = A * ((1 + turned) * B + 2 * R) + (0 if lossless else 1)
    cycles = (data.band[1] - data.band[0]) / data.resolution
    samples = float(data.counts.sum())
    single = float(chdtri(A * B, false_alarm / 10))
    return (
        gain_threshold(dof, cycles, false_alarm, samples - 2 * dof),
        with_spare(single, A * B, samples - 2 * A * B),
    )


@dataclass(frozen=True)
class PoleFamily(ProjectionFamily[Poles, PoleFit, PoleFit]):
    """Poles that a force drives, and the rules of their search.

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
    floor : array (channels,)
        Smallest noise variance believed.
    """

    data: ForcedData
    threshold: float
    single: float
    holds: tuple[str, ...]
    most: int
    floor: Array

    noun: ClassVar[str] = "modes"

    # -- what the pursuit asks -----------------------------------------------------------------

    def look(self, fit: PoleFit) -> PoleFit:
        """The fit in units of its own noise; it carries what it leaves."""
        weights = noise_weights(fit.rss, spare(self.data, fit.places), self.floor)
        return evaluate(self.data, fit.places, weights)

    def rank(self, fit: PoleFit) -> float:
        """``-2 log L`` with the noise levels fitted."""
        level = np.maximum(fit.rss / self.data.counts, self.floor)
        return float(self.data.counts @ np.log(level))

    def fitted(self, start: Poles, like: PoleFit, tolerance: float, hopeless: float) -> PoleFit:
        """Refine all poles together."""
        fit = evaluate(self.data, start, like.weights)
        return refine(self.data, fit, tolerance=tolerance, hopeless=hopeless)

    def enlarged(self, start: Poles, like: PoleFit) -> PoleFit | None:
        """A larger model in units of its own noise."""
        fit = self.refined(start, like)
        return None if fit is None else self.look(fit)

    def better(self, before: PoleFit, after: PoleFit) -> bool:
        """Whether what was added did not fall away again."""
        return self.rank(after) < self.rank(before)

    # -- larger models -------------------------------------------------------------------------

    def additions(self, rest: PoleFit) -> Iterator[Sequence[Move[Poles]]]:
        """The best pole, the rigid body, the static compliance: the likeliest of those that pay."""
        poles = rest.places
        terms = [
            Move(_with(poles, name, True), self.single, plain=True)
            for name in _TERMS
            if not getattr(poles, name)
        ]
        first: Iterator[Move[Poles]] = self._poles(rest)
        if len(poles) >= self.most:
            first, terms = iter(terms[:1]), terms[1:]
        for move in first:
            ready = larger(self, rest, move)
            if ready is not None:
                # within the band of the force a pole explains what a compliance would
                low, high = self.data.force_band()
                new = ready.places.omega[_added(poles, ready.places)] if len(ready.places) else 0.0
                if low <= new <= high:
                    terms = [term for term in terms if not term.start.static or poles.static]
                terms.insert(0, replace(move, ready=ready))
                break
        yield terms

    def _poles(self, rest: PoleFit) -> Iterator[Move[Poles]]:
        """One pole more, where the residual wants it most first."""
        data, poles = self.data, rest.places
        decays = limits.SCANNED_DECAYS[: 1 if poles.lossless else None]
        if poles.turned:
            decays += limits.BROAD_DECAYS
        omega, gain, decay = scan(
            data, rest.residual, rest.weights, poles.hold, decays, poles.turned
        )
        for i in _peaks(omega, gain, data.resolution):
            if gain[i] < limits.HOPE * self.threshold:
                break
            if np.abs(poles.omega - omega[i]).min(initial=np.inf) < limits.TAKEN * data.resolution:
                continue
            start = poles.plus(float(omega[i]), float(decay[i]))
            yield Move(start, self.threshold, omega[i : i + 1], plain=True)

    def pays(self, before: PoleFit, after: PoleFit, move: Move[Poles]) -> bool:
        """Whether a larger model gains enough at its own noise level."""
        gain = float(after.weights @ before.rss) - after.cost
        if move.around is None or gain <= move.price:
            return gain > move.price
        near = _neighbours(self.data, before.places, after.places)
        if _cancel(self.data, after, near):
            return False
        left, where = after.weights, float(move.around[0])
        then, now = (_nearby(self.data, f.residual, left, where) for f in (before, after))
        excess = float(now.mean())
        if excess < 1 + 4 / np.sqrt(now.size):
            return True
        share = 1 - excess / float(then.mean())
        return gain > move.price * excess and (len(near) == 1 or share >= limits.EXPLAINED_SHARE)

    def joined(self, fit: PoleFit) -> PoleFit:
        """The likelier hold; the first order unless the zero order is clearly better."""
        if len(self.holds) == 1:
            return fit
        other = "zero" if fit.places.hold == "first" else "first"
        trial = self.refined(replace(fit.places, hold=other), fit)
        if trial is None:
            return fit
        first, zero = (fit, trial) if other == "zero" else (trial, fit)
        return zero if self.rank(first) - self.rank(zero) > limits.HOLD_GAIN else first

    # -- smaller models ------------------------------------------------------------------------

    def removals(self, fit: PoleFit, around: Places | None) -> Iterator[Sequence[Move[Poles]]]:
        """First pairs that cancel, at any price; then terms, weak poles and close neighbours."""
        data, poles = self.data, fit.places
        for j in neighbours(poles.omega, limits.NEIGHBOURHOOD * data.resolution):
            if _cancel(data, fit, np.array([j, j + 1])):
                yield [Move(poles.merged(j), np.inf)]
        moves = [Move(_with(poles, n, False), self.single) for n in _TERMS if getattr(poles, n)]
        for j in range(len(poles)):
            quick = attempted(evaluate, data, poles.without(j), fit.weights)
            if quick is not None and quick.cost - fit.cost < 2 * self.threshold:
                moves.append(Move(poles.without(j), self.threshold))
        close = neighbours(poles.omega, limits.CLOSE_POLES * data.resolution)
        yield moves + [Move(poles.merged(j), self.threshold) for j in close]


def find_poles(
    data: ForcedData,
    *,
    false_alarm: float,
    lossless: bool,
    holds: tuple[str, ...],
    most: int | None = None,
    tell: Callable[[str], None] = lambda text: None,
    turned: bool = False,
    start: Poles | None = None,
) -> tuple[PoleFit, PoleFamily]:
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
    turned : bool
        Let residues be complex.
    start : Poles, optional
        Where to start; none by default.
    """
    nothing = np.zeros(0), np.zeros(0), np.zeros(0, bool)
    none = Poles(*nothing, False, False, holds[0], lossless, turned)
    fit = evaluate(data, none, np.ones(len(data.motions)))
    floor = np.maximum(limits.EXACT**2 * fit.rss / data.counts, 1e-300)
    room = int(data.counts.min() / (limits.SAMPLES_OF_A_POLE * len(data.trials)))
    limit = min(limits.MOST_POLES if most is None else most, room)
    family = PoleFamily(data, *thresholds(data, false_alarm, lossless, turned), holds, limit, floor)
    first = None if start is None else attempted(evaluate, data, start, fit.weights)
    return _driven(family, pursue(family, fit if first is None else first, tell=tell)), family


def _with(poles: Poles, name: str, present: bool) -> Poles:
    """The same with or without a member that has no pole."""
    if name == "rigid":
        return replace(poles, rigid=present)
    return replace(poles, static=present)


def _peaks(omega: Array, gain: Array, resolution: float) -> list[int]:
    """Highest maxima, at least a resolution width apart."""
    gain = gain.copy()
    found = []
    for _ in range(limits.CANDIDATES):
        found.append(int(np.argmax(gain)))
        gain[np.abs(omega - omega[found[-1]]) < resolution] = -np.inf
    return found


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
        power = (
            np.abs(
                np.fft.rfft(rest, axis=0)[max(k - limits.LOCAL_BINS, 1) : k + limits.LOCAL_BINS + 1]
            )
            ** 2
            / M
        )
        powers.append(power * weights)
    return np.concatenate(powers)


def _neighbours(data: ForcedData, old: Poles, new: Poles) -> Index:
    """The pole that was added and those within its width."""
    k = _added(old, new)
    reach = limits.NEIGHBOURHOOD * (data.resolution + new.decay[k] + new.decay)
    return np.flatnonzero(np.abs(new.omega - new.omega[k]) < reach)


def _cancel(data: ForcedData, fit: PoleFit, near: Index) -> bool:
    """Whether neighbours answer the force with opposite signs, significantly.

    Residues at driving points are positive for every mode of a passive system (THEORY (1)); two
    poles side by side of which one takes away what the other gives are no modes. Complex residues
    have no sign.
    """
    if fit.places.turned:
        return False
    B = len(data.forces)
    column = np.cumsum(fit.places.driven) - 1
    signs = []
    for j in near[fit.places.driven[near]]:
        rows = [(port, B * column[j] + b) for b, port in enumerate(data.ports)]
        value = sum(fit.shared[row] for row in rows)
        std = np.sqrt(sum(fit.shared_std[row] ** 2 for row in rows))
        signs.append(np.sign(value) if abs(value) > 3 * std else 0.0)
    return -1.0 in signs and 1.0 in signs


def _added(old: Poles, new: Poles) -> int:
    """Index of the pole farthest from all old ones."""
    away = [np.abs(old.omega - w).min(initial=np.inf) for w in new.omega]
    return int(np.argmax(away))


def _driven(family: PoleFamily, fit: PoleFit) -> PoleFit:
    """Mark poles that the force does not drive significantly: their motion is free or a hum."""
    for j in np.flatnonzero(fit.places.driven):
        driven = fit.places.driven.copy()
        driven[j] = False
        trial = attempted(evaluate, family.data, replace(fit.places, driven=driven), fit.weights)
        if trial is not None and trial.cost - fit.cost < family.single:
            fit = refine(family.data, trial, tolerance=TIGHT)
    return fit
