"""Two models of one structure: which modes are the same, and what moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from prism.comparison import _limits as limits
from prism.comparison.changes import (
    ModeChange,
    damping_change,
    frequency_change,
    holm,
    shape_change,
)
from prism.comparison.pairing import Matched, matched
from prism.comparison.result import ModelComparison, ModePair
from prism.comparison.seen import SeenMode, seen_modes
from prism.errors import CannotTellError, OptionError
from prism.model import Model
from prism.remarks import Remark

__all__ = ["compare_models"]


def compare_models(
    before: Model, after: Model, *, reach: float = limits.REACH, level: float = limits.MOVED_LEVEL
) -> ModelComparison:
    """Compare two models of one structure, from different records: what moved, beyond its error.

    Modes are paired by frequency and shape together. Of each pair frequency, damping ratio and
    shape are tested; what is called moved keeps the chance of a false alarm, over all tests of
    the comparison, below the level. A change says nothing of its cause: temperature, sensors that
    were put up anew and loads move modes as damage does.

    Parameters
    ----------
    before, after : Model
        Their channels are linked by name; shapes are compared on those that both have.
    reach : float
        How far a frequency may have moved, as a logarithm, for a mode to be the same.
    level : float
        Chance that anything is called moved where nothing did.

    Raises
    ------
    CannotTellError
        When both are models of the same samples, whose errors are shared, or one has no modes.
    OptionError
        When they share no channel, or an option makes no sense.

    Examples
    --------
    >>> import prism
    >>> chain = prism.systems.chain(3, observed=[0, 1, 2])
    >>> heavier = prism.systems.chain([1, 1, 1.05], observed=[0, 1, 2])
    >>> pair = [one.free(200, 0.2, noise=0.1, rng=k) for k, one in enumerate((chain, heavier))]
    >>> found = prism.compare_models(*map(prism.identify, pair))
    >>> found.moved, len(found.pairs), round(found.pairs[0].frequency.size, 3)
    (True, 3, -0.013)
    """
    _check(before, after, reach, level)
    channels = tuple(name for name in before.channels if name in after.channels)
    _check_independent(before, after, channels)
    first, second = _some(before, channels, "first"), _some(after, channels, "second")
    pairs = matched(first, second, reach)
    return ModelComparison(
        before=before.modes,
        after=after.modes,
        channels=channels,
        pairs=_judged([_pair(one) for one in pairs], level),
        gone=_left(first, [one.before.number for one in pairs]),
        new=_left(second, [one.after.number for one in pairs]),
        level=level,
        remarks=(*_remarks(before, after, channels), *_absences(pairs)),
    )


def _check(before: Model, after: Model, reach: float, level: float) -> None:
    for model in (before, after):
        if not isinstance(model, Model):
            raise OptionError(f"a {type(model).__name__} is no Model: give what identify returns.")
    if not 0 < reach < np.inf:
        raise OptionError(f"reach is {reach!r}: give a positive number, 0.2 for a fifth.")
    if not 0 < level < 1:
        raise OptionError(f"level is {level!r}: give a chance between 0 and 1, such as 0.05.")


def _check_independent(before: Model, after: Model, channels: Sequence[str]) -> None:
    """Refuse models that share nothing, or all their noise."""
    if not channels:
        raise OptionError(
            f"the models share no channel: the first has {', '.join(before.channels)}, the second "
            f"{', '.join(after.channels)}; give the same names to what is measured at one place."
        )
    first, second = (
        model.record.std[[model.channels.index(name) for name in channels]]
        for model in (before, after)
    )
    same = np.allclose(first, second, rtol=limits.SAME_STD, atol=0.0)
    if same and before.record.samples == after.record.samples:
        raise CannotTellError(
            "both models are of the same samples, so that they share their noise and errors do not "
            "tell what moved: compare models of two records."
        )


def _some(model: Model, channels: Sequence[str], which: str) -> list[SeenMode]:
    modes = seen_modes(model, channels)
    if not modes:
        raise CannotTellError(f"the {which} model has no modes that vibrate, nothing to compare.")
    return modes


def _pair(one: Matched) -> ModePair:
    return ModePair(
        before=one.before.number,
        after=one.after.number,
        frequency=frequency_change(one),
        damping=damping_change(one),
        shape=shape_change(one.likeness),
        likeness=one.likeness,
    )


def _judged(pairs: Sequence[ModePair], level: float) -> tuple[ModePair, ...]:
    """Every change with its chance among all."""
    adjusted = iter(
        holm([change.chance for pair in pairs for _, change in pair.changes()]).tolist()
    )

    def judged(change: ModeChange | None) -> ModeChange | None:
        if change is None:
            return None
        chance = next(adjusted)
        return replace(change, adjusted=chance, moved=chance < level)

    return tuple(
        replace(
            pair,
            frequency=judged(pair.frequency),
            damping=judged(pair.damping),
            shape=judged(pair.shape),
        )
        for pair in pairs
    )


def _left(seen: Sequence[SeenMode], taken: Sequence[int]) -> tuple[int, ...]:
    return tuple(one.number for one in seen if one.number not in taken)


def _remarks(before: Model, after: Model, channels: Sequence[str]) -> Iterator[Remark]:
    """What the models do not have in common."""
    for which, model in (("first", before), ("second", after)):
        more = [name for name in model.channels if name not in channels]
        if more:
            what = f"only the {which} model has {', '.join(more)}: shapes are compared without"
            yield Remark(what, code="other-channels")
    if before.kind != after.kind:
        yield Remark(
            f"the motion is {before.kind} in the first model and {after.kind} in the second: what "
            "one of them leaves out may look like a change",
            code="other-motion",
        )
    spans = [one.record.span for one in (before, after) if one.record.span is not None]
    if len(spans) == 2 and spans[0][0] != spans[1][0] and max(spans)[0] < min(spans)[1]:
        yield Remark(
            "the times of the records overlap: parts of one record share noise, and changes are "
            "less sure than is said",
            code="overlap",
        )


def _absences(pairs: Sequence[Matched]) -> Iterator[Remark]:
    """What could not be compared, each reason once."""
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in pairs:
        for what, why in _not_compared(one):
            reasons[what, why].append(str(one.before.number + 1))
    for (what, why), names in reasons.items():
        which = "" if len(names) == len(pairs) else f" of mode {', '.join(names)}"
        yield Remark(f"the {what}{which} is not compared: {why}", code=f"no-{what}")


def _not_compared(one: Matched) -> Iterator[tuple[str, str]]:
    """What, and why."""
    if frequency_change(one) is None:
        yield "frequency", "its error is not known"
    if one.before.damping is None or one.after.damping is None:
        yield "damping", "it was not fitted in both models, or its error is not known"
    elif damping_change(one) is None:
        yield "damping", "it is at an end of its interval"
    if one.likeness is None:
        yield "shape", one.before.why or one.after.why or "the errors of both are zero"
