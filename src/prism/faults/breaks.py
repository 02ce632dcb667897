"""Breaks of all lines of a trial as hypotheses: a kick, lost samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri

from prism._types import Array, ComplexArray
from prism.faults import _limits as limits
from prism.faults.fault import Fault
from prism.faults.hypothesis import Hypothesis, completed, fitted, pruned
from prism.faults.scan import BreakGains, best_split, break_price, edge_of, scan
from prism.faults.view import TrialView
from prism.search.projection import LineFit
from prism.search.sampling import BACKGROUND


@dataclass(frozen=True)
class Search:
    """What is looked for, and where.

    Attributes
    ----------
    now : Hypothesis
        The best explanation so far.
    starts : tuple of arrays (lines,)
        Frequencies to begin with, without those that a break may have added; the first from all
        samples.
    chance : float
        False alarms that one kind of fault may give.
    false_alarm : float
        Of a line.
    threshold : float
        Gain that a line must have.
    channels : tuple of str
    trial : int
    """

    now: Hypothesis
    starts: tuple[Array, ...]
    chance: float
    false_alarm: float
    threshold: float
    channels: tuple[str, ...]
    trial: int

    def completed(self, view: TrialView, start: Array) -> LineFit | None:
        """All lines of a view."""
        return completed(view, start, self.now.weights, self.false_alarm)

    def pruned(self, view: TrialView, start: Array) -> LineFit | None:
        """Lines of a view that are needed."""
        return pruned(view, start, self.now.weights, self.threshold)

    def hypothesis(self, view: TrialView, fit: LineFit, price: float, fault: Fault) -> Hypothesis:
        """Steady lines in a view, with a fault more than now."""
        return Hypothesis(
            view, fit.omega, view.residual(fit), fit.weights, self.now.price + price, fault
        )


def scanned(search: Search, omega: Array) -> BreakGains | None:
    """Gains of breaks with lines at some frequencies."""
    fit = fitted(search.now.view, omega, search.now.weights)
    if fit is None:
        return None
    residual = search.now.view.residual(fit)
    return scan(search.now.view, fit.omega, residual, fit.weights)


def price_of(search: Search, dof: int, lines: int) -> float:
    """What a break of so many parameters must gain."""
    samples = len(search.now.residual)
    return break_price(dof, min(edge_of(samples, lines) / samples, 0.4), search.chance)


# -- kicks -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Broken:
    """A trial cut where its lines break.

    Attributes
    ----------
    index : int
        First sample after.
    error : float
        Its standard error.
    view : TrialView
        Cut there.
    fit : LineFit
    """

    index: int
    error: float
    view: TrialView
    fit: LineFit

    @property
    def sides(self) -> tuple[int, int]:
        """Numbers of the parts before and after."""
        place = self.view.cuts.index(self.index)
        return place, place + 1


def find_break(search: Search) -> Broken | None:
    """The likeliest time at which all amplitudes change, with all lines of both sides."""
    tried = [place_of_break(search, start) for start in search.starts]
    places = [one for one in tried if one is not None]
    found = min(places, key=lambda one: _misfit(search, one), default=None)
    for _ in range(limits.TURNS):
        if found is None:
            return None
        fit = search.completed(found.view, found.fit.omega)
        if fit is None:
            return found
        last, found = found.index, _placed(search, replace(found, fit=fit))
        if found.index == last:
            return found
    return found


def _misfit(search: Search, broken: Broken) -> float:
    """``-2 log L`` with the price of the lines."""
    logs = np.log(np.maximum(broken.fit.rss, 1e-300))
    return float(len(search.now.residual) * logs.sum() + search.threshold * broken.fit.count)


def place_of_break(search: Search, omega: Array) -> Broken | None:
    """A break with the strongest lines alone: their frequencies and its place in turn."""
    view = search.now.view
    found: Broken | None = None
    for _ in range(limits.TURNS):
        gains = scanned(search, omega)
        if gains is None or not len(gains.index):
            return found
        index = int(gains.index[gains.kick.argmax()])
        if found is not None and abs(index - found.index) <= len(view.times) / limits.BREAK_GRID:
            return found
        cut = view.cut(index)
        fit = fitted(cut, omega, search.now.weights)
        if fit is None:
            return found
        found = _placed(search, Broken(index, 0.0, cut, fit))
        omega = found.fit.omega
    return found


def _placed(search: Search, broken: Broken) -> Broken:
    """The same at the best sample."""
    for _ in range(limits.TURNS):
        first, second = broken.sides
        a, b = broken.view.parts[first].start, broken.view.parts[second].stop
        before, after = (_left(broken, side, slice(a, b)) for side in (first, second))
        edge = edge_of(b - a, broken.fit.count)
        inside = slice(edge, b - a - edge)
        index, error = best_split(before[inside], after[inside], broken.fit.weights)
        index += a + edge
        if index == broken.index:
            return Broken(index, error, broken.view, broken.fit)
        view = search.now.view.cut(index)
        fit = fitted(view, broken.fit.omega, broken.fit.weights)
        if fit is None:
            return broken
        broken = Broken(index, error, view, fit)
    return broken


def _left(broken: Broken, side: int, where: slice) -> Array:
    """What the lines of one side leave of some samples."""
    view, fit = broken.view, broken.fit
    sampling, one = fit.samplings[side], fit.linear[side]
    lag = view.times[where] - sampling.centre
    angle = np.outer(lag, fit.omega)
    u = (lag / sampling.half)[:, None]
    E = np.hstack([np.ones_like(u), u, np.cos(angle), np.sin(angle)])
    rest = view.values[where] - E @ one.values[:, :, 0].T
    return np.where(view.present[where], rest, 0.0)


def kicked(search: Search, broken: Broken) -> Hypothesis:
    """All amplitudes change at once."""
    lines, channels = broken.fit.count, len(search.channels)
    before, after = amplitudes(broken)
    root = np.sqrt(broken.fit.weights)[:, None]
    size = float(np.linalg.norm(root * before))  # in units of the noise of each channel
    change = float(np.linalg.norm(root * (after - before))) / size
    error = float(1 / np.sqrt(_information(broken))) / size
    time = time_of(search, broken.index)
    fault = Fault(
        "kick",
        f"the amplitudes of all lines change at {time:.6g}",
        f"by {100 * change:.2g} % of what they were",
        search.channels,
        trial=search.trial,
        time=time,
        time_error=broken.error * search.now.view.step,
        index=broken.index,
        size=(change,),
        error=(error,),
    )
    dof = (2 * lines + BACKGROUND) * channels
    # lost samples and jumps are kicks of fewer parameters: not to be given up for chance
    single = price_of(search, 1, lines) + float(shift_price(int(0.1 * len(search.now.residual))))
    price = max(price_of(search, dof, lines), single + float(chdtri(dof - 1, search.chance)))
    return search.hypothesis(broken.view, broken.fit, price, fault)


def time_of(search: Search, index: int) -> float:
    """When a sample was taken."""
    return float(search.now.view.times[index])


def amplitudes(broken: Broken) -> tuple[ComplexArray, ComplexArray]:
    """``z`` of ``Re z exp(iΩt)`` before and after, (channels, lines), t the time of the break."""
    return _phasors(broken, broken.sides[0]), _phasors(broken, broken.sides[1])


def _phasors(broken: Broken, side: int) -> ComplexArray:
    sampling, one = broken.fit.samplings[side], broken.fit.linear[side]
    cos, sin = np.split(one.lines[:, :, 0], 2, axis=1)
    lag = float(broken.view.times[broken.index]) - sampling.centre
    return np.asarray((cos - 1j * sin) * np.exp(1j * broken.fit.omega * lag))


# -- lost samples ----------------------------------------------------------------------------------


def lost(search: Search, broken: Broken) -> Iterator[Hypothesis]:
    """The clock jumps by a whole number of samples."""
    for shift in _shifts(search, broken):
        found = _shifted(search, broken, shift)
        if found is not None:
            yield found


def _shifts(search: Search, broken: Broken) -> list[int]:
    """The likeliest numbers of lost samples, from the phases on both sides."""
    samples, step = len(search.now.residual), search.now.view.step
    most = int(limits.LONGEST_LOSS * samples)
    k = np.concatenate([np.arange(-most, 0), np.arange(1, most + 1)])
    before, after = amplitudes(broken)
    turn = np.exp(1j * np.outer(k * step, broken.fit.omega))
    overlap = np.einsum("a,aj,aj->j", broken.fit.weights, after, before.conj())
    cost = -_information(broken) * np.real(turn.conj() @ overlap) * 2 + 2 * shift_price(k)
    return [int(k[i]) for i in np.argsort(cost)[: limits.SHIFTS_TRIED]]


def _information(broken: Broken) -> float:
    """``n₁ n₂/2(n₁ + n₂)`` of the samples on both sides."""
    sizes = [broken.view.parts[side].stop - broken.view.parts[side].start for side in broken.sides]
    return float(0.5 * sizes[0] * sizes[1] / (sizes[0] + sizes[1]))


def shift_price(shift: Array | int) -> Array:
    """Small numbers of lost samples are likelier: ``2 log`` of a prior ``∝ 1/(1 + |k|)²``."""
    return np.asarray(2 * np.log(1.0 + np.abs(shift)))


def _shifted(search: Search, broken: Broken, shift: int) -> Hypothesis | None:
    now, lag, index = search.now, shift * search.now.view.step, broken.index
    error, view = broken.error, search.now.view.shifted(index, lag)
    fit = fitted(view, broken.fit.omega, broken.fit.weights)
    for _ in range(limits.TURNS):
        if fit is None:
            return None
        place, error = _shift_place(search, fit, index, lag)
        if place == index:
            break
        index, view = place, now.view.shifted(place, lag)
        fit = fitted(view, fit.omega, fit.weights)
    if fit is None:
        return None
    z = amplitudes(broken)[0]
    speed = np.einsum("a,aj->", fit.weights, np.abs(z * broken.fit.omega) ** 2)
    spread = 1 / np.sqrt(2 * _information(broken) * float(speed)) / now.view.step
    time = time_of(search, index)
    many, word = abs(shift), "lost" if shift > 0 else "repeated"
    fault = Fault(
        "lost-samples",
        f"{many} sample{'s' * (many > 1)} {'were' if many > 1 else 'was'} {word} at {time:.6g}",
        f"the phases of all lines jump by {lag:.4g} times their frequency",
        search.channels,
        trial=search.trial,
        time=time,
        time_error=error * now.view.step,
        index=index,
        size=(float(shift),),
        error=(float(spread),),
    )
    price = price_of(search, 1, fit.count) + float(shift_price(shift))
    return search.hypothesis(view, fit, price, fault)


def _shift_place(search: Search, fit: LineFit, index: int, lag: float) -> tuple[int, float]:
    """The sample at which the clock jumps, for given lines."""
    view = search.now.view
    part = next(one for one in view.parts if one.start <= index < one.stop)
    number = view.parts.index(part)
    early = Broken(index, 0.0, view, fit)
    late = Broken(index, 0.0, view.shifted(part.start, lag), fit)
    edge = edge_of(part.stop - part.start, fit.count)
    inside = slice(part.start + edge, part.stop - edge)
    place, error = best_split(
        _left(early, number, inside), _left(late, number, inside), fit.weights
    )
    return place + inside.start, error
