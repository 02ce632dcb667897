"""The audit: experiments of every kind, half of them not what they are said to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from prism_bench.mechanics.audit import forced, lossless
from prism_bench.mechanics.audit.scene import AbstractScene, Violation
from prism_bench.mechanics.case import Made, chance

__all__ = ["KINDS", "VIOLATIONS", "audit"]

KINDS: dict[str, Callable[[np.random.Generator], AbstractScene]] = {
    **lossless.KINDS,
    **forced.KINDS,
}
VIOLATIONS: dict[str, Violation[Any]] = {**lossless.VIOLATIONS, **forced.VIOLATIONS}


def audit(rng: np.random.Generator) -> Made:
    """One experiment of any kind, with or without something that is wrong."""
    while True:
        kind = str(rng.choice(list(KINDS)))
        scene, violation = KINDS[kind](rng), ""
        if chance(rng, 0.5):
            fits = [name for name, one in VIOLATIONS.items() if one.fits(kind, scene)]
            violation = str(rng.choice(fits))
            scene = VIOLATIONS[violation].change(rng, scene)
        data = scene.measured(rng)
        if scene.visible(data):
            break
    # where something is wrong, what holds the answer back for another reason does not count
    about = VIOLATIONS[violation].about if violation else scene.about
    return Made(
        *(data, scene.options, scene.truth, f"{kind} {scene.words}", violation),
        power=scene.power if violation else lambda: 0.0,
        about=about,
    )
