"""The rows: what each is about, which answers are right, and the words by which one tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from prism.errors import OptionError
from prism_bench.kinds import assumed, faults, free, noise, shaken
from prism_bench.kinds.case import Case

SCORING, TUNING = 0, 1
"""Streams of random numbers: rules are tuned on records of the second, scored on the first."""

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
    assumed : bool
        Whether it is about an assumption that is wrong.
    """

    name: str
    words: str
    make: Maker
    kinds: tuple[str, ...]
    codes: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    by_remark: bool = False
    assumed: bool = False


DOUBT_CODES = ("close-call", "doubt", "alternatives", "not-lines", "unexplained")
"""Codes of remarks that say that the kind of motion is in doubt."""
DOUBT_WORDS = ("not a sum of undamped lines", "close call", "cannot be told apart", "in doubt")

STEADY, NONE = ("steady",), ("noise",)
_DECAY = (("decays", "decaying"), ("decay",))
_KICK = (("kicks", "kicked"), ("kick",))
_DRIVEN = (("driven",), ("driven by", "noise drives", "noise-driven", "drives it"))
_MACHINE = (("machine-lines", "steady-lines", "machine"), ("machine", "steady line"))
_MOVING = (("moving", "modulated", "gain-drift", "clock-drift"), ("moves", "modulat", "drifts in"))
_NOISE = (("noise",), ("no line",))
_NONLINEAR = (("nonlinear", "torus", "harmonics"), ("nonlinear", "quasi-periodic"))
_EQUAL = (
    ("equilibrium", "not-equilibrium", "energies", "untested", "mass", "gain", "pieces"),
    ("equilibrium was", "not at equilibrium", "equal energy", "equal energies", "not tested",
     "could not be tested", "energies", "disagree", "pieces of one record", "contradict"),
)  # fmt: skip
_ANY = ("steady", "equilibrium")

ROWS = (
    Kind("steady", "steady lines", free.steady, STEADY),
    Kind("commensurate", "frequencies as 1 : 2 : 3", free.commensurate, STEADY),
    Kind("decay-weak", "decay, ζΩT = .05 to .3", partial(free.decaying, 0.05, 0.3), ("decaying",), *_DECAY),
    Kind("decay", "decay, ζΩT = .3 to 1", partial(free.decaying, 0.3, 1.0), ("decaying",), *_DECAY),
    Kind("decay-strong", "decay, ζΩT = 1 to 3", partial(free.decaying, 1.0, 3.0), ("decaying",), *_DECAY),
    Kind("kicked", "decay between 2 to 5 kicks", free.kicked, ("kicked",), *_KICK),
    Kind("driven-narrow", "driven, ζ = .05 to .3 %", partial(shaken.driven, 0.0005, 0.003, True), ("driven",), *_DRIVEN),
    Kind("driven", "driven, ζ = .3 to 1.5 %", partial(shaken.driven, 0.003, 0.015, False), ("driven",), *_DRIVEN),
    Kind("driven-broad", "driven, ζ = 1.5 to 5 %", partial(shaken.driven, 0.015, 0.05, False), ("driven",), *_DRIVEN),
    Kind("machine", "driven, with machine lines", partial(shaken.machine, 0.003, 0.015), ("driven",), *_MACHINE),
    Kind("sweep-small", "lines sweep .1 to .5 cells", partial(free.sweep, 0.1, 0.5), ("moving",), *_MOVING),
    Kind("sweep", "lines sweep .5 to 3 cells", partial(free.sweep, 0.5, 3.0), ("moving",), *_MOVING),
    Kind("gain-drift", "all amplitudes modulated alike", partial(free.modulated, True), ("moving",), *_MOVING),
    Kind("modulated", "one amplitude modulated", partial(free.modulated, False), ("moving",), *_MOVING),
    Kind("duffing", "Duffing, cubic 5 to 30 %", faults.cubic, ("nonlinear",), *_NONLINEAR, by_remark=True),
    Kind("white", "white noise", noise.white, NONE, *_NOISE),
    Kind("ar1", "AR(1) noise, .9", partial(noise.filtered, np.array([1, -0.9])), NONE, *_NOISE),
    Kind("ar1-neg", "AR(1) noise, -.9", partial(noise.filtered, np.array([1, 0.9])), NONE, *_NOISE),
    Kind("ar2", "AR(2) noise, ζ = 5 %", noise.broad_peak, ("noise", "driven"), *_NOISE),
    Kind("white-8", "white noise, ρ = .5, 8 channels", partial(noise.correlated, 0.5, 8), NONE, *_NOISE),
    Kind("white-3", "white noise, ρ = .5, 3 channels", partial(noise.correlated, 0.5, 3), NONE, *_NOISE),
    Kind("white-trials", "8 trials of white noise of different level", noise.levels, NONE, *_NOISE),
    Kind("lines-correlated", "3 lines in noise of ρ = .9, 4 channels", partial(noise.correlated_lines, 0.9, 4), STEADY),
    Kind("lines-trials", "lines in 8 trials of different noise", noise.levelled_lines, STEADY),
    Kind("fault-kick", "a kick in a steady record", faults.struck, ("kicked",), *_KICK, by_remark=True),
    Kind("fault-lost", "3 samples lost", faults.lost, (), ("lost-samples",), ("lost",), by_remark=True),
    Kind("fault-clock", "clock drift of .5 to 3 cells", faults.clock, ("moving",), ("clock-drift",), ("clock",), by_remark=True),
    Kind("fault-clip", "clipped at the 90 % quantile", faults.clipped, (), ("clipping",), ("clip",), by_remark=True),
    Kind("fault-step", "the offset of a channel jumps", faults.stepped, (), ("jump",), ("jump",), by_remark=True),
    Kind("fault-delay", "a channel is late by .2 to 2 samples", faults.delayed, (), ("delay",), ("late by", "delayed"), by_remark=True),
    Kind("cut", "one record cut into 40 pieces, called equilibrium", assumed.cut, _ANY, *_EQUAL, assumed=True),
    Kind("energy-slope", "energies as frequencies, called equal", partial(assumed.energies, True), _ANY, *_EQUAL, assumed=True),
    Kind("energy-random", "random energies, called equal", partial(assumed.energies, False), _ANY, *_EQUAL, assumed=True),
    Kind("wrong-mass", "one mass 10 % too large", assumed.wrong_mass, _ANY, *_EQUAL, assumed=True),
    Kind("wrong-gain", "one gain 5 % too large", assumed.wrong_gain, _ANY, *_EQUAL, assumed=True),
)  # fmt: skip


def row_of(name: str) -> Kind:
    """The row of a name."""
    for row in ROWS:
        if row.name == name:
            return row
    raise OptionError(f"no row {name!r}; use one of {', '.join(row.name for row in ROWS)}.")


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
