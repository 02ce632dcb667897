"""Which terms of a library: subsets by what the linearised fit foretells, with fits of the best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from prism._types import Array
from prism.motion.potential import _limits as limits
from prism.motion.potential.fits import Fitter
from prism.motion.potential.pieces import Course
from prism.motion.potential.score import Information, Kept, Structure, information, rewritten
from prism.motion.potential.shooting import Estimate, refine

__all__ = ["TermChoice"]


class TermChoice:
    """The search for terms, beside a given number of modes.

    Parameters
    ----------
    fitter : Fitter
    whole : Structure
        Fit of a library whose terms are to be chosen.
    """

    def __init__(self, fitter: Fitter, whole: Structure) -> None:
        self.fitter, self.whole = fitter, whole
        self._rescues = 0

    def run(self) -> Kept:
        """Subsets of terms, with a fit for each that may be among the best."""
        kept = Kept()
        kept.add(self.whole, self._linear())
        tried: set[tuple[int, ...]] = set()
        for _ in range(limits.TERM_ROUNDS):
            best = kept.best
            wide = rewritten(best.estimate, self.whole.full)
            seen = information(self.fitter.prepared, wide)
            for chosen in self._promising(wide, seen, best.score):
                if chosen not in tried:
                    tried.add(chosen)
                    kept.add(self._refitted(wide, seen, chosen))
            if kept.best is best:
                break
        return kept

    def _linear(self) -> Structure | None:
        """The linear force, from its own starting points.

        Where the record is linear or nearly so, the fit of a whole library is so badly
        determined that it foretells nothing about its parts.
        """
        full, modes = self.whole.full, self.whole.estimate.modes
        linear = [k for k, term in enumerate(full.terms) if term.is_linear_spring]
        if not linear:
            return None
        return self.fitter.from_scratch(full.choose(linear), modes, full, contending=True)

    def _promising(self, wide: Estimate, seen: Information, least: float) -> list[tuple[int, ...]]:
        """Subsets of the library whose foretold score comes near the best, best first."""
        judge, library, modes = self.fitter.judge, wide.parameters.library, wide.modes
        K = len(library)
        theta = wide.parameters.theta + seen.step[:K]
        C = seen.covariance[:K, :K]
        scales = judge.scales(library, modes)
        rest = list(range(K, len(scales)))
        floor = max(wide.misfit - seen.gain, 0.5 * wide.misfit)
        options = []
        for chosen in _subsets(theta, C):
            gone = [k for k in range(K) if k not in chosen]
            misfit = floor + _rise(theta, C, gone)
            own = [*chosen, *rest]
            part = seen.precision[np.ix_(own, own)]
            score = judge.score(misfit, part, scales[own], len(chosen), K, modes)
            options.append((score, chosen))
        options.sort()
        # Foretold scores below the least one are hopes; they do not make the others unlikely.
        bar = max(options[0][0], least) + limits.LIKELY
        return [chosen for score, chosen in options if score < bar][: limits.MOST_REFITS]

    def _refitted(
        self, wide: Estimate, seen: Information, chosen: tuple[int, ...]
    ) -> Structure | None:
        """Fit some terms, from where the linearised fit expects them or from the same force."""
        prepared, found = self.fitter.prepared, self.fitter.judge.found
        bar = wide.misfit + limits.TERMS_FAIL
        matched = self._matched(wide, chosen)
        out: Estimate | None = None
        for start in (self._expected(wide, seen, chosen), matched):
            one = refine(prepared, start, limits.REFITTED, give_up=bar)
            if one is not None and (out is None or one.misfit < out.misfit):
                out = one
            if out is not None and out.misfit < bar:
                return found(out, self.whole.full)
        if self._rescues < limits.MOST_RESCUES:
            self._rescues += 1
            out = self.fitter.rescued(matched) or out
        return None if out is None else found(out, self.whole.full)

    def _matched(self, wide: Course, chosen: tuple[int, ...]) -> Course:
        """The nearest force along the motion, everything else as it is."""
        p = wide.parameters
        flat = p.library.slopes(self.fitter.judge.motion).reshape(-1, len(p.theta))
        theta = np.linalg.lstsq(flat[:, list(chosen)], flat @ p.theta, rcond=1e-10)[0]
        parameters = replace(p, library=p.library.choose(chosen), theta=np.asarray(theta, float))
        return Course(parameters, wide.starts, wide.pieces)

    def _expected(self, wide: Course, seen: Information, chosen: tuple[int, ...]) -> Course:
        """All numbers given that the other terms vanish, in the linearised fit."""
        theta, full = wide.parameters.theta, wide.parameters.library
        gone = [k for k in range(len(full)) if k not in chosen]
        dz = seen.step.copy()
        if gone:
            part = _inflated(seen.covariance[np.ix_(gone, gone)])
            dz -= seen.covariance[:, gone] @ np.linalg.solve(part, theta[gone] + dz[gone])
        moved = wide.moved(dz, self.fitter.prepared.band)
        p, own = moved.parameters, list(chosen)
        return replace(moved, parameters=replace(p, library=full.choose(own), theta=p.theta[own]))


def _subsets(theta: Array, C: Array) -> Iterator[tuple[int, ...]]:
    """Sets of terms to consider: all of a small library, else those along a backward elimination.

    Beside each set on the way stand those with one term less, more, or exchanged.
    """
    K = len(theta)
    if K <= limits.ALL_SUBSETS:
        for size in range(K + 1):
            yield from combinations(range(K), size)
        return
    seen: set[tuple[int, ...]] = set()
    now = list(range(K))
    while now:
        gone = [k for k in range(K) if k not in now]
        near = [now, *([k for k in now if k != j] for j in now), *([*now, j] for j in gone)]
        near += [[*(k for k in now if k != i), j] for i in now for j in gone]
        for one in near:
            key = tuple(sorted(one))
            if key not in seen:
                seen.add(key)
                yield key
        now = min(near[1 : 1 + len(now)], key=lambda left: _cost_without(theta, C, left))


def _cost_without(theta: Array, C: Array, left: list[int]) -> float:
    return _rise(theta, C, [k for k in range(len(theta)) if k not in left])


def _inflated(C: Array) -> Array:
    """A covariance with a diagonal that rounding cannot make singular."""
    return C + 1e-12 * np.diag(np.diag(C)) + 1e-300 * np.eye(len(C))


def _rise(theta: Array, C: Array, gone: list[int]) -> float:
    """χ² that leaving out terms costs, in the linearised fit."""
    if not gone:
        return 0.0
    part = _inflated(C[np.ix_(gone, gone)])
    return float(theta[gone] @ np.linalg.solve(part, theta[gone]))
