"""Whether friction couples the modes: decided by the likelihood, at a price for each number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TypeVar, cast

import numpy as np
from scipy.special import chdtri

import prism.motion.forced.response._limits as limits
from prism._types import Mask
from prism.motion.forced.response.absorber import absorbers
from prism.motion.forced.response.coupled import CoupledFit, coupled, plain_covariance
from prism.motion.forced.response.damping import likeliest_law
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.friction import FrictionPoint
from prism.motion.forced.response.modal import ModalPoint
from prism.motion.forced.response.noise import ResponseNoise
from prism.motion.forced.response.order import approached, memory, settle
from prism.motion.forced.response.rest import rested
from prism.motion.forced.response.scoring import ResponseFit, climb, wald
from prism.motion.forced.response.start import (
    NoiseGuess,
    as_point,
    count_peaks,
    of_order,
    weights_of,
)


def with_friction(fit: ResponseFit, most: int | None = None) -> ResponseFit:
    """The fit, or one with friction between its modes where the data ask for that.

    Real modes that stand for complex ones come in the wrong number: the search starts from them,
    and takes out modes and adds hidden oscillators with dampers as the likelihood wants.

    Parameters
    ----------
    most : int, optional
        Most modes.
    """
    point = fit.point
    linked = _linked(fit)
    if not fit.data.driven or not linked.any() or len(point.V) != len(point):
        return fit
    if len(point) > limits.MOST_LINKED or not _worth_a_trial(fit):
        return fit
    found = _settled(coupled(fit, FrictionPoint.of(point, linked)))
    rough = memory(fit) > 1 and len(point) <= limits.MOST_SEARCHED and len(point) != most
    if rough or (len(point) <= limits.FEW_LINKED and _faint(fit)):
        found = _searched(found, most)
    return found if _sharing(found) and _beats(found, fit) else fit


def few_modes_with_friction(
    data: ResponseData, guesses: list[NoiseGuess], most: int | None = None
) -> tuple[CoupledFit, bool] | None:
    """Modes with friction between them, from as many as there are peaks; None if that is in vain.

    Real modes follow complex ones by adding more and more of their kind. Where few modes with
    friction leave nothing but noise, and the same modes without it do, that search need not be
    begun: then the second value is true.

    Parameters
    ----------
    guesses : list of NoiseGuess
        Of the noise, before any model.
    most : int, optional
        Most modes.
    """
    peaks = max(count_peaks(data), 1)
    if not data.driven or peaks > min(most or limits.MOST_LINKED, limits.MOST_LINKED):
        return None
    orders = (peaks, peaks + 1)
    starts = [_of_order(data, guess[0], order) for order in orders for guess in guesses]
    found = [one for one in starts if one is not None]
    if not found:
        return None
    start = _best([one for one, _ in found])
    plain = _best([one for _, one in found] + [_real_modes(start)])
    if not _better(start, plain) and (memory(plain) == 1 or _far_below(plain, start)):
        return None
    best = _searched(start, most)
    if not _beats(best, plain) or not _sharing(best):
        return None
    return best, _convincing(best, guesses)


def better_of(few: CoupledFit, fit: ResponseFit) -> ResponseFit:
    """Few modes with friction, or what a search for more has found."""
    return few if _beats(few, fit) else fit


def _far_below(one: ResponseFit, other: ResponseFit) -> bool:
    """Whether a fit is so much better that no further modes bring the other down to it."""
    return bool(one.value < other.value - limits.OUT_OF_REACH * np.log(2 * one.data.total))


def _of_order(
    data: ResponseData, noise: ResponseNoise, order: int
) -> tuple[CoupledFit, ResponseFit] | None:
    """So many modes, with friction between them and without; None where nothing is lost."""
    rational = of_order(data, weights_of(data, noise), order, 0.0)
    point = as_point(data, rational, "viscous")
    if rational.lossless or not len(point):
        return None
    fit = ResponseFit(data, point, noise, trusted=False)
    start = coupled(fit, FrictionPoint.of(point, _linked(fit)))
    return _settled(cast("CoupledFit", approached(start))), likeliest_law(approached(fit))


Fit = TypeVar("Fit", bound=ResponseFit)


def _best(fits: Sequence[Fit]) -> Fit:
    return reduce(lambda one, two: two if _better(two, one) else one, fits)


def _convincing(fit: CoupledFit, guesses: list[NoiseGuess]) -> bool:
    """Whether friction leaves nothing but noise, and no real modes of that number do."""
    noise, repeated = guesses[0]
    if memory(fit) > 1:
        return False
    if len(guesses) == 1 and repeated:
        known = fit.data.variance(noise, fit.H)
        if (fit.squares / known).sum() > limits.COMPLETE * fit.data.total:
            return False
    return _beats(fit, _real_modes(fit))


def _beats(fit: CoupledFit, plain: ResponseFit) -> bool:
    """Whether friction gains its price, and more than chance does where there is none."""
    more = _numbers(fit) - _numbers(plain)
    if more <= 0 or not _better(fit, plain):
        return _better(fit, plain)
    lines = min(memory(fit), memory(plain))
    return plain.value - fit.value > lines * float(chdtri(more, limits.NO_FRICTION))


def _sharing(fit: CoupledFit) -> bool:
    """Whether there are modes to share friction, and enough of them to move every port."""
    return bool(fit.friction.linked.sum() > 1 and len(fit.point) >= fit.data.ports)


def _real_modes(fit: CoupledFit) -> ResponseFit:
    """The same modes, each with its own loss, by the law that fits better."""
    point = fit.friction
    eta = np.diag(point.C) / np.sqrt(np.maximum(point.lam, 1e-12))
    eta = np.clip(eta, 0.0, limits.MOST_LOSS)
    modal = ModalPoint(point.lam, point.V, eta, "viscous", rigid=point.rigid)
    return likeliest_law(ResponseFit(fit.data, modal, fit.noise, trusted=False))


def price_of_number(fit: ResponseFit) -> float:
    """What a further parameter must gain: Schwarz's price, where errors have no memory."""
    return float(np.log(2 * fit.data.total)) * memory(fit)


def _score(fit: ResponseFit, unit: float) -> float:
    return fit.value + unit * _numbers(fit)


def _numbers(fit: ResponseFit) -> int:
    """Number of parameters; the frequency and the loss of a mode at rest were searched for, too."""
    return fit.point.free_count + 2 * int(fit.point.rigid.sum())


def _linked(fit: ResponseFit) -> Mask:
    """Modes near enough to the band that the data can tell what they share."""
    omega, band = np.sqrt(fit.point.lam), fit.data.omega
    low, high = band[0] / limits.NEAR_BAND, band[-1] * limits.NEAR_BAND
    return np.asarray((omega >= low) & (omega <= high))


def _worth_a_trial(fit: ResponseFit) -> bool:
    """Few modes cost nothing; more are tried where what they leave is no white noise."""
    if not fit.noise.parameters:
        return False  # an exact fit leaves rounding errors
    few = len(fit.point) <= limits.FEW_LINKED and fit.point.lossy
    return few or memory(fit) > 1


def _faint(fit: ResponseFit) -> bool:
    """Whether noise may have made a mode: it may stand for friction between the others."""
    least = float(wald(fit)[_linked(fit)].min(initial=np.inf))
    lines, numbers = len(fit.data.omega), 2 + fit.data.ports
    return least < float(chdtri(numbers, limits.NO_FRICTION / lines))


def _settled(fit: CoupledFit) -> CoupledFit:
    """Modes, friction and noise of greatest likelihood."""
    return cast("CoupledFit", rested(settle(climb(fit, limits.COUPLED_STEPS))))


def _searched(fit: CoupledFit, most: int | None) -> CoupledFit:
    """Take out and add modes while that pays."""
    for _ in range(limits.COUPLED_ROUNDS):
        best = fit
        for point in _moves(fit, most):
            trial = _from_near_or_far(coupled(fit, point))
            best = trial if _better(trial, best) else best
        if best is fit:
            break
        fit = best
    return fit


def _from_near_or_far(start: CoupledFit) -> CoupledFit:
    """The better of two descents: straight down, and with a tolerance that falls on the way."""
    near = _settled(start)
    if memory(near) == 1:
        return near
    far = _settled(cast("CoupledFit", approached(start)))
    return far if far.value < near.value else near


def _better(one: ResponseFit, other: ResponseFit) -> bool:
    """Which is worth its numbers.

    What a model leaves that lacks a mode is smooth in frequency, and that of the other one is not:
    only what both leave smooth is taken for a memory of the errors.
    """
    unit = min(price_of_number(one), price_of_number(other))
    return _score(one, unit) < _score(other, unit)


def _moves(fit: CoupledFit, most: int | None) -> Iterator[FrictionPoint]:
    """Points with one mode less, the weakest first, and with one oscillator more."""
    point = fit.friction
    worth = wald(fit, plain_covariance(fit))
    if len(point) > 1:
        for j in np.argsort(worth)[: limits.WEAKEST]:
            yield point.without(int(j))
    if len(point) >= min(most or limits.MOST_LINKED, limits.MOST_LINKED):
        return
    unit = float(np.log(2 * fit.data.total))
    for one in absorbers(fit):
        joined = one.joined(point)
        more = joined.free_count - point.free_count
        if one.gain > limits.PROMISED * unit * more:
            yield joined
