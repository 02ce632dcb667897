"""Fits of given structures to one record: from scratch, or from near another fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from prism._types import Array
from prism.motion.potential import _limits as limits
from prism.motion.potential.linear import scan_of
from prism.motion.potential.path import Slaved, released, slaved
from prism.motion.potential.pieces import Course, cut
from prism.motion.potential.score import Judge, Structure
from prism.motion.potential.shooting import Estimate, refine
from prism.motion.potential.smooth import Prepared
from prism.motion.potential.terms import Library
from prism.symplectic import QUICK

__all__ = ["Fitter"]


class Fitter:
    """Fits of structures to one record.

    Parameters
    ----------
    prepared : Prepared
    """

    def __init__(self, prepared: Prepared) -> None:
        # Structures are compared with a scheme whose error is far below the noise.
        self.prepared = replace(prepared, integrator=replace(prepared.integrator, scheme=QUICK))
        self.judge = Judge(self.prepared)
        self._rungs: list[float] = []
        self._least = np.full(2, np.inf)

    def opened(self, library: Library, numbers: Iterable[int]) -> dict[int, Slaved]:
        """Fits with the observer open, for growing numbers of modes."""
        scan = scan_of(self.prepared, library, self.prepared.grid)
        out: dict[int, Slaved] = {}
        last = np.full(2, np.inf)
        for m in numbers:
            guesses = scan.best(m, limits.GUESSES if m else 1)
            fit = slaved(self.prepared, [guess.course(self.prepared) for guess in guesses])
            if fit is None:
                continue
            out[m] = fit
            close = fit.open.misfit < limits.NEARLY_THERE * self.judge.samples
            if close and (last - fit.misfits < limits.MODE_GAIN).all():
                break
            last = fit.misfits
        return out

    def remember(self, fits: Iterable[Slaved]) -> None:
        """Fits that others are compared with from now on."""
        self._least = np.min([self._least, *map(self._measures, fits)], axis=0)

    def contends(self, fit: Slaved) -> bool:
        """Whether a fit comes near the best, by either measure: chaos spoils the second."""
        return bool(np.any(self._measures(fit) < self._least + limits.CONTENDERS))

    def _measures(self, fit: Slaved) -> Array:
        """χ² with the observer open and half closed, with what chance gains by each mode."""
        return np.asarray(fit.misfits + limits.MODE_GAIN * fit.open.modes)

    def released(self, slave: Slaved) -> Estimate | None:
        """A fit without the observer."""
        found = released(self.prepared, slave, self._rungs)
        if found is None or found.converged or self.is_far(found):
            return found
        # A library is not to be passed over because its fit was slow.
        more = refine(self.prepared, found, (limits.MORE_STEPS, limits.REFINED[1]))
        return more or found

    def is_far(self, estimate: Estimate) -> bool:
        """Whether a fit does not describe the motion."""
        return estimate.misfit > limits.UNDESCRIBED * self.judge.samples

    def from_scratch(
        self, library: Library, modes: int, full: Library, *, contending: bool = False
    ) -> Structure | None:
        """A structure from its own starting points, if asked for only where it may be the best."""
        slave = self.opened(library, [modes]).get(modes)
        if slave is None or (contending and not self.contends(slave)):
            return None
        estimate = self.released(slave)
        return None if estimate is None else self.judge.found(estimate, full)

    def rescued(self, start: Course) -> Estimate | None:
        """A fit from the open observer on, where it promises to come near the best."""
        whole = Course(start.parameters, start.starts[start.pieces.firsts], cut(self.prepared.data))
        slave = slaved(self.prepared, [whole])
        return self.released(slave) if slave is not None and self.contends(slave) else None
