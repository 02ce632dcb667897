r"""Whether friction couples the modes of a forced record: decided by the likelihood.

Poles with complex residues are searched as poles with real ones are, in the same noise. Of those
found, two models compete: real modes with a loss each, and modes with any passive friction. The
second needs its price for each number more, and more than chance gives it where there is none: the
rule of measured responses (`prism.motion.forced.response.coupling`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, chdtri

from prism._types import Array
from prism.errors import CannotTellError
from prism.motion.forced.records import _limits as limits
from prism.motion.forced.records.colour import PoleSearch, find_in_colour
from prism.motion.forced.records.complex_start import complex_start
from prism.motion.forced.records.coupled import SharedFit, SharedRecord
from prism.motion.forced.records.data import ForcedData
from prism.motion.forced.records.pole_fit import PoleFit, Poles, evaluate, refine
from prism.motion.forced.records.pole_search import PoleFamily
from prism.motion.forced.records.reciprocal import ModalFit, Reciprocal
from prism.motion.forced.records.residual import spread_of
from prism.motion.forced.records.start import start_from_poles
from prism.motion.forced.response._limits import NO_FRICTION, OUT_OF_REACH
from prism.search.noise import noise_weights
from prism.search.projection import attempted


@dataclass(frozen=True)
class SharedFriction:
    """Modes of a record with friction between them.

    Attributes
    ----------
    coupled : SharedRecord
    fit : SharedFit
    poles : PoleFit
        With free complex residues, where it started.
    gain : float
        In ``-2 log L`` over real modes from the same poles.
    price : float
        Of its further numbers.
    chance : float
        Chance of such a gain where no friction couples modes.
    """

    coupled: SharedRecord
    fit: SharedFit
    poles: PoleFit
    gain: float = np.inf
    price: float = 0.0
    chance: float = 0.0

    @property
    def clear(self) -> bool:
        """Whether real modes are so far behind that none need be searched for.

        With several channels a pole with complex residues may stand for two real modes: these are
        searched for in any case.
        """
        alone = len(self.coupled.data.motions) == 1
        return alone and self.passive and self.gain > OUT_OF_REACH * self.price

    @property
    def likely(self) -> bool:
        """Whether the gain is worth its numbers, and no chance."""
        return self.gain > self.price and self.chance < NO_FRICTION

    @property
    def possible(self) -> bool:
        """Whether the data do not tell: less than the price, and hardly chance."""
        return not self.likely and self.chance < limits.POSSIBLE_FRICTION

    @property
    def rise(self) -> float:
        """Of χ² over that of free residues."""
        return self.fit.cost - float(self.fit.weights @ self.poles.rss)

    @property
    def passive(self) -> bool:
        """Whether free residues, which need be neither passive nor reciprocal, fit no better."""
        data, poles = self.coupled.data, self.poles.places
        A, B, R = len(data.motions), len(data.forces), len(data.trials)
        N = int(poles.driven.sum())
        loose = 2 * N + A * B * poles.shares + 2 * R * N * A
        dof = loose - self.fit.modal.free_count - 2 * R * N
        chance = float(chdtrc(max(dof, 1), max(self.rise, 0.0)))
        return self.rise < limits.MISFIT_RISE or chance > limits.MISFIT_CHANCE


@dataclass(frozen=True)
class _Bounded:
    """A search for complex residues that gives up where they are too many.

    What real modes do not explain for another reason than friction, a nonlinear spring or a force
    elsewhere, complex residues follow by more and more of their kind.
    """

    search: PoleSearch

    def __call__(
        self, data: ForcedData, *, start: Poles | None = None
    ) -> tuple[PoleFit, PoleFamily]:
        fit, family = self.search(data, start=start)
        if len(fit.places) >= limits.MOST_COMPLEX:
            raise CannotTellError(f"{len(fit.places)} complex residues are not enough.")
        return fit, family


class ComplexPoles(NamedTuple):
    """Poles with free complex residues.

    Attributes
    ----------
    data : ForcedData
        The record as they see it, through the filters of its noise.
    fit : PoleFit
    family : PoleFamily
    """

    data: ForcedData
    fit: PoleFit
    family: PoleFamily


def complex_poles(recorded: ForcedData, search: PoleSearch) -> ComplexPoles | None:
    """Search for them; None where they are too many.

    Parameters
    ----------
    recorded : ForcedData
    search : callable
        For poles with complex residues, at most `limits.MOST_COMPLEX`.
    """
    try:
        return ComplexPoles(*find_in_colour(recorded, _Bounded(search)))
    except CannotTellError:
        return None


def shared_friction(recorded: ForcedData, found_poles: ComplexPoles) -> SharedFriction | None:
    """Modes with friction between them, and what they gain over the same modes without.

    Parameters
    ----------
    recorded : ForcedData
    found_poles : ComplexPoles
    """
    data, poles, family = found_poles
    N = int(poles.places.driven.sum())
    if N < 2 or N + poles.places.rigid < len(data.motions):
        return None
    found = _fitted(data, family.look(poles), family)
    if found is None:
        return None
    plain = _real_modes(data, poles, family)
    if plain is None:
        return found
    gain = _deviance(data, plain.rss, family.floor) - _deviance(data, found.fit.rss, family.floor)
    more = found.fit.modal.free_count - _numbers(plain)
    chance = float(chdtrc(more, max(gain, 0.0))) if more > 0 else 0.0
    return replace(found, gain=gain, price=_price(more, recorded), chance=chance)


def _fitted(data: ForcedData, poles: PoleFit, family: PoleFamily) -> SharedFriction | None:
    """The joint fit, with the noise levels that it leaves."""
    nuisance = replace(poles.places.picked(~poles.places.driven), rigid=False, static=False)
    coupled = SharedRecord(Reciprocal(data, replace(nuisance, turned=False)))
    # a start with errors of a percent would get lost in less noise than that
    rough = np.minimum(poles.weights, 1 / (limits.ROUGH_NOISE * _swinging(data, poles)) ** 2)
    modal, fit = complex_start(data, poles), None
    for weights in (rough, poles.weights):
        fit = coupled.evaluate(modal, weights)
        if fit is None:
            return None
        fit = coupled.refine(fit)
        modal = fit.modal
    assert fit is not None
    for _ in range(3):
        new = noise_weights(fit.rss, coupled.spare(fit.modal), family.floor)
        change = np.abs(np.log(new / fit.weights)).max()
        again = coupled.evaluate(fit.modal, new)
        if again is None:
            return None
        fit = again
        if change < limits.LEVELS_SETTLED or len(new) == 1:
            break
        fit = coupled.refine(fit, limits.BARRIERS[-1:])
    return SharedFriction(coupled, fit, poles)


def _swinging(data: ForcedData, poles: PoleFit) -> Array:
    """Size of the motion beside that of the body as a whole, which may be a thousand times it."""
    places = poles.places
    if not places.rigid:
        return spread_of(data)
    whole = evaluate(data, places.picked(np.zeros(len(places), bool)), poles.weights)
    return np.asarray(np.sqrt(whole.rss / data.counts))


def _real_modes(data: ForcedData, poles: PoleFit, family: PoleFamily) -> ModalFit | None:
    """Real modes from the same poles, each with its own loss; None where none is passive."""
    real = attempted(evaluate, data, replace(poles.places, turned=False), poles.weights)
    if real is None:
        return None
    try:
        start = start_from_poles(data, refine(data, real))
    except CannotTellError:
        return None
    reciprocal = Reciprocal(data, start.nuisance)
    return reciprocal.converged(start.modal, start.weights, family.floor, False)


def _numbers(fit: ModalFit) -> int:
    return 2 * fit.modal.count + fit.modal.shapes.size


def _price(more: int, recorded: ForcedData) -> float:
    """Schwarz's price of so many numbers."""
    return float(np.log(recorded.counts.sum())) * more


def _deviance(data: ForcedData, rss: Array, floor: Array) -> float:
    r""":math:`-2 \log L` with the noise levels fitted, none below what rounding leaves."""
    return float(data.counts @ np.log(np.maximum(rss / data.counts, floor)))


def beats(shared: SharedFriction, plain: ModalFit, data: ForcedData, recorded: ForcedData) -> bool:
    """Whether friction is worth its numbers against real modes that were searched for.

    Parameters
    ----------
    shared : SharedFriction
    plain : ModalFit
    data, recorded : ForcedData
        The record as real modes see it, through the filters of its noise, and as it is.
    """
    before = _whole(data, plain.rss, recorded)
    gain = before - _whole(shared.coupled.data, shared.fit.rss, recorded)
    more = shared.fit.modal.free_count - _numbers(plain)
    chance = float(chdtri(more, NO_FRICTION)) if more > 0 else 0.0
    return bool(gain > max(_price(more, recorded), chance))


def _whole(data: ForcedData, rss: Array, recorded: ForcedData) -> float:
    """``-2 log L`` of all samples, with the price of the colour of the noise."""
    colour = sum(len(h) - 1 for h in data.filters)
    level = np.maximum(rss / data.counts, 1e-300)
    return float(recorded.counts @ np.log(level) + colour * np.log(recorded.counts.sum()))
