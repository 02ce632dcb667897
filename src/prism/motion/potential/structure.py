"""Which terms, how many hidden modes: the search over structures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from prism._types import Array
from prism.motion.potential.added import with_another_mode
from prism.motion.potential.kernel import Parameters
from prism.motion.potential.linear import scan_of
from prism.motion.potential.path import Estimate, Slaved, descend, refine, slaved, start_of
from prism.motion.potential.pieces import Problem
from prism.motion.potential.score import (
    INDISTINCT,
    Found,
    Information,
    Judge,
    information,
    rewritten,
)
from prism.motion.potential.smooth import Prepared
from prism.motion.potential.subsets import inflated, rise, subsets
from prism.motion.potential.terms import Library, derivatives
from prism.symplectic import QUICK

__all__ = ["Search"]

_LIKELY = 10.0  # a foretold score within this of the best is worth a fit
_MOST_REFITS, _MOST_RESCUES = 24, 6
_GAINS = 20.0  # χ² that one more mode must gain, with the observer open, to go on
_CONTENDERS = 60.0, 100.0  # χ² above the best worth a closer look, observer open or half closed
_NEAR_NOISE = 1.15  # χ² per datum that uncertainty of the noise level allows
_HOPELESS = 60.0  # χ² that terms cannot make up for
_FAR = 3.0  # χ² per datum of a motion that is not described
_CREEPING = 25.0  # scores above the best from which a fit in a valley may still come back
_MORE_STEPS = 100
_RIVALS = 15.0, 30.0  # scores above the best that leave the choice to the terms: any, first ones

Progress = Callable[[str], None]


def _rivals(whole: Sequence[Found]) -> list[Found]:
    """Whole libraries worth a search for terms; the best fit of each is given more room.

    The score of a badly determined whole says little about its parts.
    """
    seen: set[str] = set()
    out = []
    for found in whole:
        room = _RIVALS[found.full.name not in seen]
        seen.add(found.full.name)
        if found.score < whole[0].score + room:
            out.append(found)
    return out


def _keep(kept: dict[tuple[object, ...], Found], more: Iterable[Found]) -> None:
    """Add structures; of several fits of one structure the best one stays."""
    for found in more:
        if found.key not in kept or found.score < kept[found.key].score:
            kept[found.key] = found


class Search:
    """The search over structures for one record.

    Parameters
    ----------
    problem : Problem
    prepared : Prepared
    max_modes : int
    progress : callable
        Called with a short text as the search goes on.
    """

    def __init__(
        self, problem: Problem, prepared: Prepared, max_modes: int, progress: Progress
    ) -> None:
        self.prepared = prepared
        # Structures are compared with a scheme whose error is far below the noise.
        self.problem = replace(problem, scheme=QUICK)
        self.max_modes, self.progress = max_modes, progress
        self.judge = Judge(self.problem, prepared)
        self._rungs: list[float] = []
        self._rescues = 0
        self._least = np.full(2, np.inf)

    def run(self, libraries: Sequence[Library]) -> list[Found]:
        """Structures worth naming, best first; empty when every motion escapes."""
        whole = self._whole(libraries)
        # Where no library comes near the noise, its terms are effective ones: none is to be told.
        if not whole or whole[0].estimate.misfit > _FAR * self.judge.samples:
            return whole
        kept: dict[tuple[object, ...], Found] = {}
        for found in _rivals(whole):
            self.progress(f"terms of the {found.full.name} force")
            _keep(kept, self._pruned(found).values())
        for library in libraries:
            mine = [one for one in kept.values() if one.full is library]
            while mine and (fewer := self._fewer(min(mine, key=lambda one: one.score))) is not None:
                _keep(kept, [fewer])
                mine = [fewer]
        while True:
            best = min(kept.values(), key=lambda one: one.score)
            self.progress(f"{best.estimate.modes + 1} hidden modes")
            more = self._one_more(best)
            if more is None:
                break
            _keep(kept, [more])
            if more.score >= best.score:
                break
            wide = self._other_modes(best, more.estimate.modes, best.full)
            _keep(kept, self._pruned(wide if wide is not None else more).values())
        return self._polished(sorted(kept.values(), key=lambda one: one.score))

    def _polished(self, found: list[Found]) -> list[Found]:
        """The best ones followed to the very minimum, best first."""
        out = []
        for one in found:
            e = one.estimate
            close = one.score < found[0].score + INDISTINCT
            # A fit that crept along a valley may have farther to go.
            if close or (not e.converged and one.score < found[0].score + _CREEPING):
                fine = refine(
                    *(self.problem, e.parameters, e.starts, e.pieces), steps=150, tolerance=0.003
                )
                e = e if fine is None else fine
            out.append(self.judge.found(e, one.full))
        return sorted(out, key=lambda one: one.score)

    # -- number of modes --------------------------------------------------------------------------

    def _whole(self, libraries: Sequence[Library]) -> list[Found]:
        """Fits of whole libraries with the numbers of modes worth one, best first."""
        every = {one.name: self._opened(one, range(self.max_modes + 1)) for one in libraries}
        measures = [self._measures(fit) for fits in every.values() for fit in fits.values()]
        self._least = np.min([*measures, np.full(2, np.inf)], axis=0)
        out: list[Found] = []
        for library in libraries:
            fits = every[library.name]
            out += self._climbed(library, fits, [m for m in fits if self._contends(fits[m])])
        return sorted(out, key=lambda one: one.score)

    def _measures(self, fit: Slaved) -> Array:
        """χ² with the observer open and half closed, with what chance gains by each mode."""
        chance = _GAINS * fit.open.parameters.modes
        return np.array([fit.open.misfit + chance, fit.half.misfit + chance])

    def _contends(self, fit: Slaved) -> bool:
        """Whether a fit comes near the best, by either measure: chaos spoils the second."""
        return bool(np.any(self._measures(fit) < self._least + _CONTENDERS))

    def _climbed(
        self, library: Library, fits: dict[int, Slaved], numbers: list[int]
    ) -> list[Found]:
        """Fits with growing numbers of modes until one more is no better."""
        out: list[Found] = []
        for m in numbers:
            if out and self._enough(out, fits, m):
                break
            self.progress(f"{library.name} force, {m} hidden modes")
            estimate = self._descended(fits[m])
            if estimate is not None:
                out.append(self.judge.found(estimate, library))
                if len(out) > 1 and out[-1].score > out[-2].score and self._reached(out[-2]):
                    break
        return out

    def _enough(self, out: list[Found], fits: dict[int, Slaved], modes: int) -> bool:
        """Whether the last fit reaches the noise and the next promises nothing."""
        before, after = fits[out[-1].estimate.modes], fits[modes]
        promise = max(
            before.half.misfit - after.half.misfit, before.open.misfit - after.open.misfit
        )
        return self._reached(out[-1]) and promise < _GAINS

    def _reached(self, found: Found) -> bool:
        """Whether a fit reaches the noise."""
        return found.estimate.misfit < _NEAR_NOISE * self.judge.samples

    def _opened(self, library: Library, numbers: range) -> dict[int, Slaved]:
        """Fits with the observer open, for growing numbers of modes."""
        scan = scan_of(self.prepared, library, self._scanned)
        out: dict[int, Slaved] = {}
        last = np.full(2, np.inf)
        for m in numbers:
            guesses = scan.best(m, 3 if m else 1)
            begin = [(guess.parameters, start_of(self.prepared, guess)) for guess in guesses]
            fit = slaved(self.problem, self.prepared, begin)
            if fit is None:
                continue
            out[m] = fit
            close = fit.open.misfit < 1.3 * self.judge.samples
            now = np.array([fit.open.misfit, fit.half.misfit])
            if (last - now < _GAINS).all() and close:
                break
            last = now
        return out

    @property
    def _scanned(self) -> tuple[float, float]:
        return 3 * np.pi / self.prepared.duration, 1.1 * self.prepared.highest

    def _descended(self, slave: Slaved) -> Estimate | None:
        found = descend(self.problem, self.prepared, slave, self._rungs)
        if found is None or found.converged or found.misfit > _FAR * self.judge.samples:
            return found
        # A library is not to be passed over because its fit was slow.
        more = refine(self.problem, found.parameters, found.starts, found.pieces, steps=_MORE_STEPS)
        return more or found

    def _other_modes(
        self, found: Found, modes: int, library: Library | None = None
    ) -> Found | None:
        """The same terms, or a whole library, with another number of modes."""
        if not 0 <= modes <= self.max_modes:
            return None
        terms = library or found.estimate.parameters.library
        opened = self._opened(terms, range(modes, modes + 1))
        estimate = self._descended(opened[modes]) if modes in opened else None
        return None if estimate is None else self.judge.found(estimate, found.full)

    def _one_more(self, best: Found) -> Found | None:
        """The same terms with one more mode: from scratch, or where the residuals ask for it."""
        fits = [self._other_modes(best, best.estimate.modes + 1)]
        if best.estimate.modes < self.max_modes:
            low, high = self._scanned
            grid = np.arange(low, high, np.pi / self.prepared.duration)
            added = with_another_mode(self.problem, best.estimate, grid)
            fits.append(None if added is None else self.judge.found(added, best.full))
        return min(filter(None, fits), key=lambda one: one.score, default=None)

    def _fewer(self, best: Found) -> Found | None:
        """The same terms without one of the modes, from where the others are, if better."""
        out = best
        e = best.estimate
        n, m = e.parameters.channels, e.modes
        for i in range(m):
            stay = np.array([k for k in range(m) if k != i], int)
            columns = [*range(n), *(n + stay), *range(n + m, 2 * n + m), *(2 * n + m + stay)]
            p = e.parameters
            fewer = replace(
                p, omega=p.omega[stay], residues=p.residues[stay], ratios=p.ratios[stay]
            )
            bar = e.misfit + 2 * _HOPELESS
            starts = e.starts[:, columns]
            fit = refine(self.problem, fewer, starts, e.pieces, give_up=bar)
            if fit is None or fit.misfit > bar:
                # Where the motion is chaotic a small change is lost unless the data hold it.
                fit = self._rescued(fewer, starts, e) or fit
            if fit is not None:
                out = min(out, self.judge.found(fit, best.full), key=lambda one: one.score)
        return None if out is best else out

    # -- terms ------------------------------------------------------------------------------------

    def _pruned(self, whole: Found) -> dict[tuple[object, ...], Found]:
        """Subsets of terms, with a fit for each that may be among the best."""
        kept = {whole.key: whole} | self._linear(whole)
        tried: set[tuple[int, ...]] = set()
        self._rescues = 0
        for _ in range(5):
            best = min(kept.values(), key=lambda one: one.score)
            wide = rewritten(best.estimate, whole.full)
            seen = information(self.problem, wide)
            for chosen in self._promising(wide, seen, best.score):
                if chosen in tried:
                    continue
                tried.add(chosen)
                found = self._refitted(wide, seen, chosen)
                _keep(kept, [] if found is None else [found])
            if min(kept.values(), key=lambda one: one.score) is best:
                break
        return kept

    def _linear(self, whole: Found) -> dict[tuple[object, ...], Found]:
        """The linear force, from its own starting points.

        Where the record is linear or nearly so, the fit of a whole library is so badly
        determined that it foretells nothing about its parts.
        """
        terms = [
            k
            for k, term in enumerate(whole.full.terms)
            if term.has_linear_part and term.is_linear_force
        ]
        modes = whole.estimate.modes
        opened = self._opened(whole.full.choose(terms), range(modes, modes + 1)) if terms else {}
        if modes not in opened or not self._contends(opened[modes]):
            return {}
        estimate = self._descended(opened[modes])
        if estimate is None:
            return {}
        found = self.judge.found(estimate, whole.full)
        return {found.key: found}

    def _promising(self, wide: Estimate, seen: Information, least: float) -> list[tuple[int, ...]]:
        """Subsets of the library whose foretold score comes near the best, best first."""
        K, modes = len(wide.parameters.library), wide.modes
        theta = wide.parameters.theta + seen.step[:K]
        C = seen.covariance[:K, :K]
        scales = self.judge.scales(wide.parameters.library, modes)
        rest = list(range(K, len(scales)))
        floor = max(wide.misfit - seen.gain, 0.5 * wide.misfit)
        options = []
        for chosen in subsets(theta, C):
            gone = [k for k in range(K) if k not in chosen]
            misfit = floor + rise(theta, C, gone)
            own = [*chosen, *rest]
            part = seen.precision[np.ix_(own, own)]
            score = self.judge.score(misfit, part, scales[own], len(chosen), K, modes)
            options.append((score, chosen))
        options.sort()
        # Foretold scores below the least one are hopes; they do not make the others unlikely.
        bar = max(options[0][0], least) + _LIKELY
        return [chosen for score, chosen in options if score < bar][:_MOST_REFITS]

    def _refitted(self, wide: Estimate, seen: Information, chosen: tuple[int, ...]) -> Found | None:
        """Fit some terms, from where the linearised fit expects them or from the same force."""
        bar = wide.misfit + _HOPELESS
        out: Estimate | None = None
        for start, begin in (self._expected(wide, seen, chosen), self._matched(wide, chosen)):
            one = refine(
                *(self.problem, start, begin, wide.pieces), steps=25, tolerance=0.1, give_up=bar
            )
            if one is not None and (out is None or one.misfit < out.misfit):
                out = one
            if out is not None and out.misfit < bar:
                return self.judge.found(out, wide.parameters.library)
        if self._rescues < _MOST_RESCUES:
            self._rescues += 1
            out = self._rescued(*self._matched(wide, chosen), wide) or out
        return None if out is None else self.judge.found(out, wide.parameters.library)

    def _rescued(self, start: Parameters, starts: Array, near: Estimate) -> Estimate | None:
        """A fit from the open observer on, where it promises to come near the best."""
        firsts = np.append(True, ~near.pieces.linked[:-1])
        slave = slaved(self.problem, self.prepared, [(start, starts[firsts])])
        if slave is None or not self._contends(slave):
            return None
        return self._descended(slave)

    def _matched(self, wide: Estimate, chosen: tuple[int, ...]) -> tuple[Parameters, Array]:
        """Parameters with the nearest force along the motion, everything else as it is."""
        p = wide.parameters
        slope, _ = derivatives(p.library.kinds, p.library.shapes, self.judge.motion, curved=False)
        flat = slope.reshape(-1, len(p.theta))
        own = flat[:, list(chosen)]
        theta = np.asarray(np.linalg.lstsq(own, flat @ p.theta, rcond=1e-10)[0], float)
        return replace(p, library=p.library.choose(chosen), theta=theta), wide.starts

    def _expected(
        self, wide: Estimate, seen: Information, chosen: tuple[int, ...]
    ) -> tuple[Parameters, Array]:
        """Parameters and starts given that the other terms vanish, in the linearised fit."""
        p = wide.parameters
        K, P = len(p.theta), len(p.vector)
        gone = [k for k in range(K) if k not in chosen]
        dz = seen.step.copy()
        if gone:
            part = inflated(seen.covariance[np.ix_(gone, gone)])
            dz -= seen.covariance[:, gone] @ np.linalg.solve(part, p.theta[gone] + dz[gone])
        moved = p.with_vector(p.vector + dz[:P])
        start = replace(
            moved,
            library=p.library.choose(chosen),
            theta=moved.theta[list(chosen)],
            omega=np.clip(moved.omega, *self.problem.band),
            residues=np.maximum(moved.residues, 0.0),
        )
        return start, wide.starts + dz[P:].reshape(wide.starts.shape)
