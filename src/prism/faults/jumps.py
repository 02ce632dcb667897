"""A jump of the offset of some channels as a hypothesis; the lines go on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri

from prism._types import Array, Mask
from prism.faults import _limits as limits
from prism.faults.breaks import Search, price_of, scanned, time_of
from prism.faults.fault import Fault
from prism.faults.hypothesis import Hypothesis
from prism.faults.scan import best_split, columns, edge_of
from prism.faults.view import TrialView
from prism.search.projection import LineFit


def jumped(search: Search) -> Iterator[Hypothesis]:
    """The offset of some channels steps; the lines go on."""
    for start in (search.now.omega, search.starts[0]):
        found = _jumped(search, start)
        if found is not None:
            yield found


def _jumped(search: Search, omega: Array) -> Hypothesis | None:
    gains = scanned(search, omega)
    if gains is None or not len(gains.index):
        return None
    at, a = np.unravel_index(gains.jump.argmax(), gains.jump.shape)
    index, channels = int(gains.index[at]), len(search.channels)
    more = float(chdtri(1, search.chance / channels))
    which = gains.jump[at] > more
    which[a] = True
    view, error, step = search.now.view, 0.0, _steps(search.now.view, omega, index, which)
    fit = search.pruned(view.stepped(index, step.size), omega)
    for _ in range(limits.TURNS):
        if fit is None:
            return None
        place, error = _step_place(search, fit, view.stepped(index, step.size), index, step.size)
        settled = place == index
        index, step = place, _steps(view, fit.omega, place, which)
        fit = search.pruned(view.stepped(index, step.size), fit.omega)
        if settled:
            break
    return None if fit is None else _jump(search, fit, index, error, step, more)


class OffsetStep(NamedTuple):
    """Steps of the offsets of some channels, and their standard errors for noise of one."""

    which: Mask
    size: Array
    spread: Array


def _jump(
    search: Search, fit: LineFit, index: int, error: float, step: OffsetStep, more: float
) -> Hypothesis:
    which, spread = step.which, step.spread / np.sqrt(fit.weights)
    names = tuple(name for name, one in zip(search.channels, which, strict=True) if one)
    time = time_of(search, index)
    sizes = ", ".join(f"{step.size[a]:.4g} ± {spread[a]:.2g}" for a in np.flatnonzero(which))
    fault = Fault(
        "jump",
        f"the offset of {', '.join(names)} jumps at {time:.6g}",
        f"by {sizes}",
        names,
        trial=search.trial,
        time=time,
        time_error=error * search.now.view.step,
        index=index,
        size=tuple(float(one) for one in step.size[which]),
        error=tuple(float(one) for one in spread[which]),
    )
    price = price_of(search, 1, fit.count) + 2 * np.log(len(search.channels))
    view = search.now.view.stepped(index, step.size)
    return search.hypothesis(view, fit, price + more * (len(names) - 1), fault)


def _steps(view: TrialView, omega: Array, index: int, which: Mask) -> OffsetStep:
    """Steps of the offsets at a sample, the lines fitted with them."""
    part = next(one for one in view.parts if one.start <= index < one.stop)
    E = columns(view.times[part], omega)
    H = (np.arange(part.start, part.stop) >= index).astype(float)[:, None]
    size, spread = np.zeros(len(which)), np.zeros(len(which))
    for a in np.flatnonzero(which):
        there = view.present[part, a]
        X = np.hstack([E, H])[there]
        inverse = np.linalg.inv(X.T @ X)
        size[a] = (inverse @ (X.T @ view.values[part, a][there]))[-1]
        spread[a] = np.sqrt(inverse[-1, -1])
    return OffsetStep(which, size, spread)


def _step_place(
    search: Search, fit: LineFit, clean: TrialView, index: int, size: Array
) -> tuple[int, float]:
    """The sample at which the offsets step, for given lines."""
    view = search.now.view
    part = next(one for one in view.parts if one.start <= index < one.stop)
    rest = clean.residual(fit)
    H = (np.arange(len(rest)) >= index)[:, None]
    before = np.where(view.present, rest + H * size, 0.0)
    after = np.where(view.present, rest - ~H * size, 0.0)
    edge = edge_of(part.stop - part.start, fit.count)
    inside = slice(part.start + edge, part.stop - edge)
    place, error = best_split(before[inside], after[inside], fit.weights)
    return place + inside.start, error
