"""From a measured frequency response to its Foster form, with nothing told but the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

import prism.motion.forced.response._limits as limits
from prism.errors import CannotTellError, NoLineError, OptionError
from prism.frequency_response import FrequencyResponse
from prism.motion.forced.ended import ENDED
from prism.motion.forced.foster import FosterFit
from prism.motion.forced.response.checks import asymmetry
from prism.motion.forced.response.coupled import CoupledFit
from prism.motion.forced.response.coupling import (
    better_of,
    few_modes_with_friction,
    with_friction,
)
from prism.motion.forced.response.damping import LAWS, alike, decide, likeliest_law
from prism.motion.forced.response.damping import damped as with_losses
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.order import empty_value, refit, select, settle, strongest, widen
from prism.motion.forced.response.price import price_of
from prism.motion.forced.response.report import report
from prism.motion.forced.response.rest import further_bodies, rested, woken
from prism.motion.forced.response.scoring import ResponseFit, climb
from prism.motion.forced.response.start import (
    NoiseGuess,
    as_point,
    first_guesses,
    ladder,
    tolerance,
    weights_of,
)
from prism.search.work import allowed, over

RANKS = ("one", "full")


def fit_response(
    response: FrequencyResponse,
    *,
    damped: bool | None = None,
    rank: str = "one",
    false_alarm: float = 1e-3,
    max_modes: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> FosterFit:
    r"""Fit :math:`H = \sum_j v_j v_j^T D_j` to a measured response by maximum likelihood.

    The number of modes, the kind and the level of the noise (additive, multiplicative or both)
    and the law of the damping are found from the data. Where friction couples the modes, as that
    of a tuned mass damper does, H is :math:`V^T (Ω^2 - ω^2 + iωC)^{-1} V` with any passive C.
    Modes outside the measured band take the place of residual terms: one below it is a mass line,
    one far above it a static compliance.

    Parameters
    ----------
    response : FrequencyResponse
    damped : bool, optional
        Fit losses, or do not; by default the likelihood decides.
    rank : {"one", "full"}
        Whether a pole may have a residue of higher rank.
    false_alarm : float
        Probability that noise alone shows a mode anywhere in the band.
    max_modes : int, optional
        Most modes to look for.
    progress : callable, optional

    Without a driving point only the products of the participations of outputs and inputs are
    determined, of either sign; the fit then shares each product evenly.

    Raises
    ------
    NoLineError
        When no mode stands out of the noise.
    CannotTellError
        When the residues of the driving points have the wrong sign.
    """
    if rank not in RANKS:
        raise OptionError(f"unknown rank {rank!r}; use one of {', '.join(RANKS)}.")
    say = progress or (lambda text: None)
    data = ResponseData.of(response.ports)
    say("rational start")
    guesses = first_guesses(data)
    few = None
    if rank == "one" and damped is not False:
        few = few_modes_with_friction(data, guesses, max_modes)
        if few is not None and few[1]:
            return report(few[0], response)
    # strong friction is searched for in vain by modes that it does not couple
    with allowed(limits.SEARCH_WORK * max(1.0, data.Y.size / limits.WORK_NUMBERS)):
        fit = _search(data, guesses, damped, false_alarm, max_modes, say)
        if fit.misfit > limits.MISFIT and not over():
            # the repeatability is better than the model: what is left over counts as noise instead
            fit = _search(data, [(fit.noise, False)], damped, false_alarm, max_modes, say)
        short = over()
    if rank == "full":
        fit = widen(fit, false_alarm)
    elif damped is not False:
        fit = with_friction(fit, max_modes)
        fit = fit if few is None else better_of(few[0], fit)
    found = report(fit, response)
    if short and not isinstance(fit, CoupledFit):
        return replace(found, remarks=(*found.remarks, ENDED))
    return found


def _search(
    data: ResponseData,
    guesses: list[NoiseGuess],
    damped: bool | None,
    false_alarm: float,
    most: int | None,
    say: Callable[[str], None],
) -> ResponseFit:
    price = price_of(data, false_alarm, 0.0)
    starts = [_start(data, guess, damped, price) for guess in guesses]
    found = [one for one in starts if one is not None]
    if not found:
        raise _nothing(data, guesses[0], price)
    best = min(found, key=lambda one: one.value + len(one.point) * price)
    decided = _damping(best, damped)
    price = price_of(data, false_alarm, decided.point.typical_loss)
    fit = _selected(decided, false_alarm, say)
    if len(fit.point) == 1 and empty_value(data) - fit.value < price:
        raise _no_line(data)
    if most is not None:
        fit = strongest(fit, most)
    fit = woken(rested(fit if fit.point is decided.point else _damping(fit, damped)))
    return further_bodies(fit, false_alarm) if most is None or len(fit.point) < most else fit


def _selected(fit: ResponseFit, false_alarm: float, say: Callable[[str], None]) -> ResponseFit:
    """Join and drop modes; with one loss factor for all as long as the data agree to that.

    A mode without a loss of its own is told from noise at a lower price. The modes that are found
    then have each their own again, and if these are not alike after all, so has the search.
    """
    eta = fit.point.typical_loss
    even = alike(fit)
    if even is not None:
        found = select(even, price_of(fit.data, false_alarm, eta, own=False), say)
        if found.point is even.point:
            return fit
        freed = with_losses(found, found.point.damping)
        if alike(freed) is not None:
            return freed
    return select(fit, price_of(fit.data, false_alarm, eta), say)


def _nothing(data: ResponseData, guess: NoiseGuess, price: float) -> CannotTellError:
    """Why there is no start: no resonance, or resonances of the wrong sign."""
    best = ladder(data, guess[0], price)
    whole = 2 * float((weights_of(data, guess[0]) ** 2 * np.abs(data.Y) ** 2).sum())
    if whole - best.chi2 < price:
        return _no_line(data)
    return CannotTellError(
        "the response has resonances, but no residue is positive: poles and zeros do not "
        "alternate; a force or a motion is reversed, or not at the place that its name says. Turn "
        "its sign, or give it another name."
    )


def _no_line(data: ResponseData) -> NoLineError:
    different = asymmetry(data)
    remedy = "measure nearer to a resonance, or average more."
    if different > limits.UNSYMMETRIC_SHARE:
        remedy = (
            f"reciprocal values differ by {200 * different:.2g} % of their size: check the sign "
            "and the direction of the channels."
        )
    return NoLineError(
        f"no mode stands out of the noise between {data.omega[0] * data.frequency_unit:g} and "
        f"{data.frequency_unit:g} rad per time unit; {remedy}"
    )


def _start(
    data: ResponseData, guess: NoiseGuess, damped: bool | None, price: float
) -> ResponseFit | None:
    """Best rational fit under one guess of the noise, as modes."""
    noise, trusted = guess
    rational = ladder(data, noise, price)
    lossy = not rational.lossless if damped is None else damped
    points = [as_point(data, rational, law) for law in (LAWS if lossy else ("none",))]
    if not len(points[0]):
        return None
    fits = [ResponseFit(data, point, noise, trusted) for point in points]
    return settle(refit(fits[0], _likelier(fits).point, price if trusted else np.inf))


def _likelier(fits: list[ResponseFit]) -> ResponseFit:
    """The law of damping that fits better after a few steps, with a tolerance of a percent."""
    if len(fits) == 1:
        return fits[0]
    fixed = fits[0].data_variance
    variance = fixed + 1e-4 * tolerance(fits[0].data, fixed)
    tried = [climb(fit.held_at(variance), 10) for fit in fits]
    return min(tried, key=lambda one: one.value)


def _damping(fit: ResponseFit, damped: bool | None) -> ResponseFit:
    if damped is None:
        return decide(fit)
    return likeliest_law(fit) if damped else fit
