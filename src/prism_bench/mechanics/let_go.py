"""Makers of snap-backs: held systems that a steady force has pulled, known or not."""

from __future__ import annotations

from typing import Any

import numpy as np

from prism._types import Array
from prism_bench.kinds.systems import Wanted
from prism_bench.mechanics.case import Made, chance
from prism_bench.mechanics.motion import Motion
from prism_bench.mechanics.rigid import FORCED_NOISE, LONG, at_rest, positions, seen
from prism_bench.mechanics.systems import Sampled, draw, held

__all__ = ["snapback"]


def snapback(channels: int, pull: bool, rng: np.random.Generator) -> Made:
    """Pulled and let go.

    Parameters
    ----------
    channels : int
    pull : bool
        Whether the force is known; otherwise the mass is in half of the draws.
    rng : Generator
    """
    pulls: list[Array] = []

    def make(rng: np.random.Generator) -> tuple[Sampled, Motion, int]:
        drawn = draw(rng, "held", held, Wanted((channels + 1, 8), (channels,) * 2, LONG))
        system = drawn.system
        pulls.append(positions(rng, channels))
        z = pulls[-1] @ system.participation.T / system.frequencies**2
        return drawn, at_rest(drawn, z), 0

    drawn, data, truth = seen(rng, make, FORCED_NOISE, rest=True)
    options: dict[str, Any] = {"experiment": "snapback"}
    if pull:
        options["pull"] = pulls[-1]
    elif chance(rng, 0.5):
        options["mass"] = drawn.mass
    known = ", ".join(name for name in ("pull", "mass") if name in options) or "nothing"
    return Made(data, options, truth, f"{data.n_trials} pulls, {known} known")
