"""The rows: what each is about, and what makes its experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from prism_bench._rows import SCORING, TUNING, named
from prism_bench.mechanics import audit, friction, let_go, rigid, rotors
from prism_bench.mechanics.case import Case, Made

__all__ = ["ROWS", "SCORING", "TUNING", "Mechanics", "experiments", "make", "row_of"]

Maker = Callable[[np.random.Generator], Made]


@dataclass(frozen=True)
class Mechanics:
    """One row.

    Attributes
    ----------
    name, words : str
    make : callable
    audit : bool
        Whether assumptions may be wrong.
    reciprocal : bool
        Whether nothing turns, and that is to be found.
    """

    name: str
    words: str
    make: Maker
    audit: bool = False
    reciprocal: bool = False


ROWS = (
    Mechanics("free", "free body, free motion", partial(rigid.free, False)),
    Mechanics("free-mass", "free body, free motion, mass known", partial(rigid.free, True)),
    Mechanics("equilibrium", "free body, equilibrium", partial(rigid.equilibrium, False)),
    Mechanics(
        "equilibrium-mass", "free body, equilibrium, mass known", partial(rigid.equilibrium, True)
    ),
    Mechanics("released", "free body, released", partial(rigid.let_go, False)),
    Mechanics("released-mass", "free body, released, mass known", partial(rigid.let_go, True)),
    Mechanics("snapback-free", "free body, called pulled", rigid.snapback),
    Mechanics("frf-free", "free body, response", rigid.response),
    Mechanics("record-free", "free body, forced record", rigid.record),
    *(
        Mechanics(
            f"snapback-{n}{'-pull' * pull}",
            f"snap-back, {n} channel{'s' * (n > 1)}, pull {'known' if pull else 'unknown'}",
            partial(let_go.snapback, n, pull),
        )
        for n in (1, 2, 3)
        for pull in (False, True)
    ),
    *(
        Mechanics(
            f"{name}-{'record' if record else 'frf'}",
            f"{words}, {'forced record' if record else 'response'}",
            partial(maker, record),
        )
        for name, words, maker in (
            ("absorber", "tuned mass damper", friction.absorber),
            ("dampers", "dampers anywhere", friction.dampers),
            ("proportional", "proportional damping", friction.proportional),
        )
        for record in (False, True)
    ),
    *(
        Mechanics(
            f"{'rotor' if turns else 'still'}-{name}",
            f"{'rotor' if turns else 'no rotation'}, {words}",
            partial(maker, turns),
            reciprocal=not turns,
        )
        for turns in (True, False)
        for name, words, maker in (
            ("equilibrium", "equilibrium", rotors.equilibrium),
            ("free", "free motion", rotors.free),
            ("frf", "response", rotors.response),
            ("record", "forced record", rotors.forced_record),
        )
    ),
    Mechanics("audit", "all kinds, assumptions true or not", audit.audit, audit=True),
)


def row_of(name: str) -> Mechanics:
    """The row of a name."""
    return named(ROWS, name)


def make(name: str, seed: int, stream: int = SCORING) -> Case:
    """One experiment of a row with its truth.

    Parameters
    ----------
    name : str
    seed : int
    stream : int
        `SCORING` or `TUNING`; it is drawn from ``default_rng([stream, characters of name, seed])``,
        so that a new row changes none of the others.
    """
    rng = np.random.default_rng([stream, *name.encode(), seed])
    return Case(name, seed, stream, row_of(name).make(rng))


def experiments(name: str, seeds: int, stream: int = SCORING) -> Iterator[Case]:
    """Experiments of a row, one after the other."""
    for seed in range(seeds):
        yield make(name, seed, stream)
