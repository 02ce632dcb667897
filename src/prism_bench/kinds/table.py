"""The rows: what each is about, which answers are right, and the words by which one tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from prism_bench._rows import SCORING, TUNING, named
from prism_bench.kinds import assumed, faults, free, noise, shaken
from prism_bench.kinds.case import Case

__all__ = [
    "DOUBT_CODES",
    "DOUBT_WORDS",
    "ROWS",
    "SCORING",
    "TUNING",
    "UNTESTED",
    "Kind",
    "make",
    "records",
    "row_of",
]

Maker = Callable[[np.random.Generator], free.Made]


@dataclass(frozen=True)
class Kind:
    """One row.

    Attributes
    ----------
    name, words : str
    make : callable
    kinds : tuple of str
        Kinds of motion that are right; ``noise`` is the answer that there is no line.
    codes : tuple of str
        Codes of remarks that name what the record is.
    said : tuple of str
        Words of a remark, a verdict or a refusal that do.
    by_remark : bool
        Whether such a remark or refusal is an answer that is right, whatever the kind.
    both : bool
        Whether the kind and such a remark are needed together.
    assumed : bool
        Whether it is about an assumption that is wrong.
    never, never_said : tuple of str
        Codes, and words, that make an answer wrong.
    """

    name: str
    words: str
    make: Maker
    kinds: tuple[str, ...]
    codes: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    by_remark: bool = False
    both: bool = False
    assumed: bool = False
    never: tuple[str, ...] = ()
    never_said: tuple[str, ...] = ()


DOUBT_CODES = (
    *("close-call", "doubt", "alternatives", "not-lines", "unexplained"),
    *("decays", "driven", "kicks", "moving", "nonlinear"),
)
"""Codes of remarks that say that the kind of motion is in doubt, or that it is another one."""
UNTESTED = ("untested", "could not be tested", "was not tested", "cannot be tested")
"""Codes and words that say that an assumption was believed."""
DOUBT_WORDS = (
    *("not a sum of undamped lines", "close call", "cannot be told apart", "in doubt"),
    "a delay between channels",
)

STEADY, DECAYING, KICKED, DRIVEN = ("steady",), ("decaying",), ("kicked",), ("driven",)
MOVING, NONE = ("moving",), ("noise",)
_DECAY = (("decays", "decaying"), ("decay",))
_KICK = (("kicks", "kicked"), ("kick",))
_DRIVEN = (("driven",), ("driven by", "noise drives", "noise-driven", "drives it"))
_MACHINE = (("machine-lines", "steady-lines", "machine"), ("machine", "steady line"))
_MOVING = (("moving", "modulated", "gain-drift", "clock-drift"), ("moves", "modulat", "drifts in"))
_NOISE = (("noise", "faint"), ("no line",))
_NONLINEAR = (("nonlinear", "torus", "harmonics"), ("nonlinear", "quasi-periodic"))
_EQUAL = (
    (
        *("equilibrium-doubtful", "not-equilibrium", "equilibrium", "energies", "pieces"),
        *("mass", "gain"),
    ),
    ("do not agree with", "disagree", "pieces of one record", "contradict", "not at equilibrium"),
)
_CLOCK = (("clock-drift",), ("clock",))

_decaying = partial(partial, free.decaying)
_driven = partial(partial, shaken.driven)
_machine = partial(shaken.machine, 0.003, 0.015)
_sweep = partial(partial, free.sweep)
_modulated = partial(partial, free.modulated)
_correlated = partial(partial, noise.correlated, 0.5)
_lines = partial(noise.correlated_lines, 0.9, 4)
_energies = partial(partial, assumed.energies)


def _filtered(last: float) -> Maker:
    return partial(noise.filtered, np.array([1.0, last]))


def _fault(
    name: str,
    words: str,
    maker: Maker,
    codes: tuple[str, ...],
    said: tuple[str, ...],
    kinds: tuple[str, ...] = (),
) -> Kind:
    """A row in which a remark or a refusal that names the fault is the right answer."""
    return Kind(name, words, maker, kinds, codes, said, by_remark=True)


def _wrong(name: str, words: str, maker: Maker) -> Kind:
    """A row in which something wrong is assumed."""
    return Kind(name, words, maker, STEADY, *_EQUAL, assumed=True)


ROWS = (
    Kind("steady", "steady lines", free.steady, STEADY),
    Kind(
        *("commensurate", "frequencies as 1 : 2 : 3", free.commensurate, STEADY),
        never=("nonlinear",),
        never_said=("looks nonlinear", "motion of a nonlinear system"),
    ),
    Kind("decay-weak", "decay, ζΩT = .05 to .3", _decaying(0.05, 0.3), DECAYING, *_DECAY),
    Kind("decay", "decay, ζΩT = .3 to 1", _decaying(0.3, 1.0), DECAYING, *_DECAY),
    Kind("decay-strong", "decay, ζΩT = 1 to 3", _decaying(1.0, 3.0), DECAYING, *_DECAY),
    Kind("kicked", "decay between 2 to 5 kicks", free.kicked, KICKED, *_KICK),
    Kind("driven-narrow", "driven, ζ = .05 to .3 %", _driven(0.0005, 0.003), DRIVEN, *_DRIVEN),
    Kind("driven", "driven, ζ = .3 to 1.5 %", _driven(0.003, 0.015), DRIVEN, *_DRIVEN),
    Kind("driven-broad", "driven, ζ = 1.5 to 5 %", _driven(0.015, 0.05), DRIVEN, *_DRIVEN),
    Kind("machine", "driven, with machine lines", _machine, DRIVEN, *_MACHINE, both=True),
    Kind("sweep-small", "lines sweep .1 to .5 cells", _sweep(0.1, 0.5), MOVING, *_MOVING),
    Kind("sweep", "lines sweep .5 to 3 cells", _sweep(0.5, 3.0), MOVING, *_MOVING),
    Kind("gain-drift", "all amplitudes modulated alike", _modulated(True), MOVING, *_MOVING),
    Kind("modulated", "one amplitude modulated", _modulated(False), MOVING, *_MOVING),
    _fault("duffing", "Duffing, cubic 5 to 30 %", faults.cubic, *_NONLINEAR, ("nonlinear",)),
    Kind("white", "white noise", noise.white, NONE, *_NOISE),
    Kind("ar1", "AR(1) noise, .9", _filtered(-0.9), NONE, *_NOISE),
    Kind("ar1-neg", "AR(1) noise, -.9", _filtered(0.9), NONE, *_NOISE),
    Kind("ar2", "AR(2) noise, ζ = 5 %", noise.broad_peak, (*NONE, *DRIVEN), *_NOISE),
    Kind("white-8", "white noise, ρ = .5, 8 channels", _correlated(8), NONE, *_NOISE),
    Kind("white-3", "white noise, ρ = .5, 3 channels", _correlated(3), NONE, *_NOISE),
    Kind("white-trials", "white noise, 8 trials of other level", noise.levels, NONE, *_NOISE),
    Kind("lines-correlated", "3 lines in noise of ρ = .9, 4 channels", _lines, STEADY),
    Kind("lines-trials", "lines in 8 trials of other noise", noise.levelled_lines, STEADY),
    _fault("fault-kick", "a kick in a steady record", faults.struck, *_KICK, KICKED),
    _fault("fault-lost", "3 samples lost", faults.lost, ("lost-samples",), ("lost",)),
    _fault("fault-clock", "clock drift, .5 to 3 cells", faults.clock, *_CLOCK, MOVING),
    _fault("fault-clip", "clipped at the 90 % quantile", faults.clipped, ("clipping",), ("clip",)),
    _fault("fault-step", "the offset of a channel jumps", faults.stepped, ("jump",), ("jump",)),
    _fault("fault-delay", "a channel is late", faults.delayed, ("delay",), ("late by", "delayed")),
    _wrong("cut", "one record in 40 pieces, called equilibrium", assumed.cut),
    _wrong("energy-slope", "energies as frequencies, called equal", _energies(True)),
    _wrong("energy-random", "random energies, called equal", _energies(False)),
    _wrong("wrong-mass", "one mass 10 % too large", assumed.wrong_mass),
    _wrong("wrong-gain", "one gain 5 % too large", assumed.wrong_gain),
)


def row_of(name: str) -> Kind:
    """The row of a name."""
    return named(ROWS, name)


def make(name: str, seed: int, stream: int = SCORING) -> Case:
    """One record of a row with its truth.

    Parameters
    ----------
    name : str
    seed : int
    stream : int
        `SCORING` or `TUNING`; the record is drawn from ``default_rng([stream, row, seed])``.
    """
    row = row_of(name)
    made = row.make(np.random.default_rng([stream, ROWS.index(row), seed]))
    return Case(
        *(row.name, seed, stream, made.record, frozenset(row.kinds) | made.also, made.modes),
        options=made.options,
        told=made.told,
        bounded=made.bounded,
        extras=made.extras,
    )


def records(name: str, seeds: int, stream: int = SCORING) -> Iterator[Case]:
    """Records of a row, one after the other.

    Parameters
    ----------
    name : str
    seeds, stream : int
    """
    for seed in range(seeds):
        yield make(name, seed, stream)
