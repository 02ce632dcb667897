"""One ambient record, identified without any option, beside its truth."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import scipy.optimize

from prism._types import Array, Index
from prism.errors import CannotTellError
from prism.model import Model
from prism.motion.driven.driven import DrivenFit, fit_driven
from prism.pipeline import identify
from prism_bench.ambient.case import Case, Structure
from prism_bench.ambient.deserved import least_margin

__all__ = ["Score", "score"]

CLOSE = (5.0, 7.5)  # angular frequencies about close modes
SEPARATED = 10.0  # twice the log-likelihood over the price, from which an order is asked for
SAME_MODE = (1.0, 3.0)  # half widths and resolution cells between a mode and the true one
SAME_LINE = 0.5  # resolution cells between a machine's line and the true one
SAID = ("mode-number", "neighbours", "misfit", "faint")
"""Codes of remarks that say that the number of modes is open, or that two hardly part."""


@dataclass(frozen=True)
class Score:
    """What one record gave.

    Attributes
    ----------
    row : str
    seed : int
    silent : bool
        Whether modes are wrong in number though the data tell it, without a word.
    kind : str
    false, missed : int
    separated : bool
        Whether the data tell all modes apart.
    said : bool
        Whether something is said of the number of modes.
    frequency, damping, shape : arrays
        Errors of modes that were found over their standard deviations; of ln ζ.
    inside : array
        Whether the interval of a damping ratio holds the truth, one or zero.
    wider : array
        Standard deviations of frequencies over those of the full record.
    lines, named : int
        Lines of machines, and those that are named.
    undamped : int
        Modes that are no modes of the structure, at a machine's line.
    seconds : float
        CPU time.
    """

    row: str
    seed: int
    silent: bool
    kind: str
    false: int
    missed: int
    separated: bool
    said: bool
    frequency: Array
    damping: Array
    shape: Array
    inside: Array
    wider: Array
    lines: int
    named: int
    undamped: int
    seconds: float


def score(case: Case) -> Score:
    """Identify a record and compare.

    Parameters
    ----------
    case : Case
    """
    begin = time.process_time()
    try:
        model: Model | None = identify(case.record)
    except CannotTellError:
        model = None
    seconds = time.process_time() - begin
    close = not (case.full or len(case.machines))
    margin = least_margin(case.record, case.truth, CLOSE) if close else np.inf
    separated, lines = bool(margin > SEPARATED), len(case.machines)
    if model is None or model.kind != "driven":
        kind, nothing = "none" if model is None else model.kind, np.zeros(0)
        return Score(
            row=case.row,
            seed=case.seed,
            silent=True,
            kind=kind,
            false=0,
            missed=len(case.truth.omega),
            separated=separated,
            said=False,
            frequency=nothing,
            damping=nothing,
            shape=nothing,
            inside=nothing,
            wider=nothing,
            lines=lines,
            named=0,
            undamped=0,
            seconds=seconds,
        )
    found, true = _paired(model, case)
    frequency, damping, shape, inside = _errors(model, case.truth, found, true)
    false, missed = len(model.modes) - len(found), len(case.truth.omega) - len(found)
    said = any(getattr(one, "code", None) in SAID for one in model.identifiability.remarks)
    named, undamped = _machines(case, model, found)
    return Score(
        row=case.row,
        seed=case.seed,
        silent=bool((false or missed) and separated and not said),
        kind=model.kind,
        false=false,
        missed=missed,
        separated=separated,
        said=said,
        frequency=frequency,
        damping=damping,
        shape=shape,
        inside=inside,
        wider=_wider(case, model, found, true),
        lines=lines,
        named=named,
        undamped=undamped,
        seconds=seconds,
    )


def _paired(model: Model, case: Case) -> tuple[Index, Index]:
    """Modes that were found and the true ones they are, each once."""
    truth, span = case.truth, case.record.duration
    modes = model.modes
    apart = np.abs(modes.frequencies[:, None] - truth.omega)
    widths, cells = SAME_MODE
    reach = widths * truth.zeta * truth.omega + cells * 2 * np.pi / span
    alike = (modes.shapes @ truth.shapes.T) ** 2
    cost = np.where(apart < reach, apart / reach + 2 * (1 - alike), 10.0)
    found, true = scipy.optimize.linear_sum_assignment(cost)
    keep = cost[found, true] < 10.0
    return found[keep], true[keep]


def _errors(
    model: Model, truth: Structure, found: Index, true: Index
) -> tuple[Array, Array, Array, Array]:
    modes = model.modes
    assert modes.damping is not None
    assert modes.damping_std is not None
    assert modes.damping_interval is not None
    z = (modes.frequencies[found] - truth.omega[true]) / modes.frequencies_std[found]
    ratio = modes.damping[found] / truth.zeta[true]
    damping = np.log(ratio) * modes.damping[found] / modes.damping_std[found]
    low, high = modes.damping_interval[found].T
    inside = (low <= truth.zeta[true]) & (truth.zeta[true] <= high)
    shapes = truth.shapes[true]
    shapes = shapes * np.sign(np.sum(shapes * modes.shapes[found], axis=1))[:, None]
    shape = (modes.shapes[found] - shapes) / modes.shapes_std[found]
    return z, damping, shape.ravel(), inside.astype(float)


def _wider(case: Case, model: Model, found: Index, true: Index) -> Array:
    """Errors of frequencies over those that the full record gives."""
    if case.full is None:
        return np.zeros(0)
    full: DrivenFit = fit_driven(case.full)
    out = []
    for i, j in zip(found, true, strict=True):
        k = int(np.argmin(np.abs(full.frequencies - case.truth.omega[j])))
        out.append(model.modes.frequencies_std[i] / full.frequencies_std[k])
    return np.array(out)


def _machines(case: Case, model: Model, found: Index) -> tuple[int, int]:
    """Lines of machines that are named, and modes that stand for one."""
    if not len(case.machines):
        return 0, 0
    reach = SAME_LINE * 2 * np.pi / case.record.duration
    lines = model.machine_lines
    at = np.zeros(0) if lines is None else lines.frequencies
    named = sum(bool(np.any(np.abs(at - w) < reach)) for w in case.machines)
    rest = np.delete(model.modes.frequencies, found)
    undamped = sum(bool(np.any(np.abs(case.machines - w) < 4 * reach)) for w in rest)
    return named, undamped
