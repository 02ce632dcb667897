"""From a measured frequency response to its Foster form, with nothing told but the data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from prism.errors import CannotTellError, NoLineError, OptionError
from prism.frequency_response import FrequencyResponse
from prism.motion.forced.foster import FosterFit
from prism.motion.forced.response.checks import MISFIT, asymmetry
from prism.motion.forced.response.damping import alike, decide
from prism.motion.forced.response.damping import damped as with_losses
from prism.motion.forced.response.data import Data
from prism.motion.forced.response.order import (
    State,
    data_variance,
    empty_value,
    refit,
    select,
    settle,
    strongest,
)
from prism.motion.forced.response.price import price_of
from prism.motion.forced.response.rank import widen
from prism.motion.forced.response.report import misfit_of, report
from prism.motion.forced.response.scoring import Point, climb
from prism.motion.forced.response.start import (
    Guess,
    as_point,
    first_guesses,
    ladder,
    tolerance,
    weights_of,
)

RANKS = ("one", "full")
_UNSYMMETRIC = 0.3  # share of the response


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
    and the law of the damping are found from the data. Modes outside the measured band take the
    place of residual terms: one below it is a mass line, one far above it a static compliance.

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
    data = Data.of(response.ports)
    say("rational start")
    state = _search(data, first_guesses(data), damped, false_alarm, max_modes, say)
    if misfit_of(data, state) > MISFIT:
        # the repeatability is better than the model: what is left over counts as noise instead
        loose = [Guess(state.noise, False)]
        state = _search(data, loose, damped, false_alarm, max_modes, say)
    if rank == "full":
        state = widen(data, state, false_alarm)
    return report(data, state, response)


def _search(
    data: Data,
    guesses: list[Guess],
    damped: bool | None,
    false_alarm: float,
    most: int | None,
    say: Callable[[str], None],
) -> State:
    price = price_of(data, false_alarm, 0.0)
    starts = [_start(data, guess, damped, price) for guess in guesses]
    found = [one for one in starts if one is not None]
    if not found:
        raise _nothing(data, guesses[0], price)
    state = min(found, key=lambda one: one.value + len(one.point) * price)
    state = _damping(data, state, damped)
    price = price_of(data, false_alarm, float(np.median(state.point.eta)))
    decided, state = state, _selected(data, state, false_alarm, say)
    if len(state.point) == 1 and empty_value(data) - state.value < price:
        raise _no_line(data)
    if most is not None:
        state = strongest(data, state, most)
    return state if state is decided else _damping(data, state, damped)


def _selected(data: Data, state: State, false_alarm: float, say: Callable[[str], None]) -> State:
    """Join and drop modes; with one loss factor for all as long as the data agree to that.

    A mode without a loss of its own is told from noise at a lower price. The modes that are found
    then have each their own again, and if these are not alike after all, so has the search.
    """
    eta = float(np.median(state.point.eta))
    even = alike(data, state)
    if even is not None:
        found = select(data, even, price_of(data, false_alarm, eta, own=False), say)
        if found is even:
            return state
        freed = with_losses(data, found, found.point.damping)
        if alike(data, freed) is not None:
            return freed
    return select(data, state, price_of(data, false_alarm, eta), say)


def _nothing(data: Data, guess: Guess, price: float) -> CannotTellError:
    """Why there is no start: no resonance, or resonances of the wrong sign."""
    best = ladder(data, guess.noise, price)
    weights = weights_of(data, guess.noise)
    whole = 2 * float((weights**2 * np.abs(data.Y) ** 2).sum())
    if whole - best.chi2 < price:
        return _no_line(data)
    return CannotTellError(
        "the response has resonances, but no residue is positive: poles and zeros do not "
        "alternate; a force or a motion is reversed, or not at the place that its name says. Turn "
        "its sign, or give it another name."
    )


def _no_line(data: Data) -> NoLineError:
    different = asymmetry(data)
    remedy = "measure nearer to a resonance, or average more."
    if different > _UNSYMMETRIC:
        remedy = (
            f"reciprocal values differ by {200 * different:.2g} % of their size: check the sign "
            "and the direction of the channels."
        )
    return NoLineError(
        f"no mode stands out of the noise between {data.omega[0] * data.frequency_unit:g} and "
        f"{data.frequency_unit:g} rad per time unit; {remedy}"
    )


def _start(data: Data, guess: Guess, damped: bool | None, price: float) -> State | None:
    """Best rational fit under one guess of the noise, as modes."""
    fit = ladder(data, guess.noise, price)
    lossy = not fit.lossless if damped is None else damped
    laws = ("structural", "viscous") if lossy else ("none",)
    points = [as_point(data, fit, law) for law in laws]
    if not len(points[0]):
        return None
    if lossy:
        points = [_likelier(data, points, guess)]
    blank = State(points[0], guess.noise, np.inf, guess.trusted)
    return settle(data, refit(data, blank, points[0], price=price if guess.trusted else np.inf))


def _likelier(data: Data, points: list[Point], guess: Guess) -> Point:
    """The law of damping that fits better after a few steps, with a tolerance of a percent."""
    fixed = data_variance(data, guess.noise)
    variance = fixed + 1e-4 * tolerance(data, fixed)
    fits = [climb(data, point, guess.noise, 10, variance) for point in points]
    return min(fits, key=lambda one: one[1])[0]


def _damping(data: Data, state: State, damped: bool | None) -> State:
    if damped is None:
        return decide(data, state)
    if not damped:
        return state
    laws = (with_losses(data, state, law) for law in ("structural", "viscous"))
    return min(laws, key=lambda one: one.value)
