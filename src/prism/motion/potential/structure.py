"""Which terms, how many hidden modes: the search over structures.

Hidden modes come and go by the one pursuit of `prism.search.pursuit`, of which this search is a
family: a member is a hidden mode, the cost is the score of `Judge`, which holds the price of a
mode, and so a move pays when the score falls. Three things are not of that kind and stay here.
Whole libraries are compared first, with their modes from a scan, because the spectrum of a
nonlinear motion shows the harmonics of its force beside the hidden modes: no leftover tells them
apart before the force is known. Terms are chosen by the foretold score of every subset (`choice`),
because they are correlated and one at a time misleads. And what is fitted is a path that closes an
observer (`path`), because the likelihood of a chaotic motion has no other way down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from prism._types import Array
from prism.motion.potential import _limits as limits
from prism.motion.potential.added import with_another_mode
from prism.motion.potential.choice import TermChoice
from prism.motion.potential.fits import Fitter
from prism.motion.potential.path import Slaved
from prism.motion.potential.score import Kept, Structure
from prism.motion.potential.shooting import Estimate, refine
from prism.motion.potential.smooth import Prepared
from prism.motion.potential.terms import Library
from prism.search.pursuit import LOOSE, AbstractFamily, Move, pursue, simplified

__all__ = ["StructureSearch"]

Route = Callable[[], Structure | None]
"""A way to a fit with another number of modes."""


class StructureSearch(AbstractFamily[Route, Structure, Structure]):
    """The search over structures for one record.

    Parameters
    ----------
    prepared : Prepared
    max_modes : int
    progress : callable
        Called with a short text as the search goes on.
    """

    def __init__(self, prepared: Prepared, max_modes: int, progress: Callable[[str], None]) -> None:
        self.fitter = Fitter(prepared)
        self.judge, self.prepared = self.fitter.judge, self.fitter.prepared
        self.max_modes, self.progress = max_modes, progress
        self.kept = Kept()

    def run(self, libraries: Sequence[Library]) -> list[Structure]:
        """Structures worth naming, best first; empty when every motion escapes."""
        whole = self._whole(libraries)
        # Where no library comes near the noise, its terms are effective ones: none is to be told.
        if not whole or self.fitter.is_far(whole[0].estimate):
            return whole
        for found in _rivals(whole):
            self.progress(f"terms of the {found.full.name} force")
            self.kept.add(*TermChoice(self.fitter, found).run().values())
        for library in libraries:
            mine = [one for one in self.kept.ranked() if one.full is library]
            if mine:
                simplified(self, mine[0], LOOSE)
        pursue(self, self.kept.best, polish=False)
        return self._polished(self.kept.ranked())

    def _polished(self, found: list[Structure]) -> list[Structure]:
        """The best ones followed to the very minimum, best first."""
        out = Kept()
        for one in found:
            e = one.estimate
            close = one.score < found[0].score + limits.INDISTINCT
            # A fit that crept along a valley may have farther to go.
            if close or (not e.converged and one.score < found[0].score + limits.CREEPING):
                e = refine(self.prepared, e, limits.POLISHED) or e
            out.add(self.judge.found(e, one.full))
        return out.ranked()

    # -- whole libraries --------------------------------------------------------------------------

    def _whole(self, libraries: Sequence[Library]) -> list[Structure]:
        """Fits of whole libraries with the numbers of modes worth one, best first."""
        numbers = range(self.max_modes + 1)
        every = [(one, self.fitter.opened(one, numbers)) for one in libraries]
        self.fitter.remember(fit for _, fits in every for fit in fits.values())
        out = [found for library, fits in every for found in self._climbed(library, fits)]
        return sorted(out, key=self.cost)

    def _climbed(self, library: Library, fits: dict[int, Slaved]) -> list[Structure]:
        """Fits with growing numbers of modes until one more is no better."""
        out: list[Structure] = []
        for m, fit in fits.items():
            if not self.fitter.contends(fit):
                continue
            if out and self._enough(out[-1], fits[out[-1].estimate.modes], fit):
                break
            self.progress(f"{library.name} force, {m} hidden modes")
            estimate = self.fitter.released(fit)
            if estimate is not None:
                out.append(self.judge.found(estimate, library))
                if len(out) > 1 and out[-1].score > out[-2].score and self._reached(out[-2]):
                    break
        return out

    def _enough(self, last: Structure, before: Slaved, after: Slaved) -> bool:
        """Whether the last fit reaches the noise and the next promises nothing."""
        promise = float((before.misfits - after.misfits).max())
        return self._reached(last) and promise < limits.MODE_GAIN

    def _reached(self, found: Structure) -> bool:
        """Whether a fit reaches the noise."""
        return found.estimate.misfit < limits.NEAR_NOISE * self.judge.samples

    # -- hidden modes, as the family of a pursuit -------------------------------------------------

    def look(self, fit: Structure) -> Structure:
        """A fit says itself what it leaves over."""
        return fit

    def fit(self, rest: Structure) -> Structure:
        """The same."""
        return rest

    def members(self, fit: Structure) -> Route:
        """No way at all."""
        return lambda: fit

    def cost(self, fit: Structure) -> float:
        """The score."""
        return fit.score

    def words(self, fit: Structure) -> str:
        """The number of modes that is tried next."""
        return f"{fit.estimate.modes + 1} hidden modes"

    def refined(
        self, start: Route, like: Structure, tolerance: float = LOOSE, hopeless: float = np.inf
    ) -> Structure | None:
        """The fit at the end of a way, which knows itself how far to go."""
        return start()

    def additions(self, rest: Structure) -> Iterator[Sequence[Move[Route]]]:
        """The same terms with one more mode: from scratch, or where the residuals ask for it."""
        self.progress(self.words(rest))
        if rest.estimate.modes < self.max_modes:
            ways = (partial(self._anew, rest), partial(self._another, rest))
            yield [Move(way, 0.0, around=np.zeros(0), plain=True) for way in ways]

    def enlarged(self, start: Route, like: Structure) -> Structure | None:
        """A fit with one more mode; worth naming even where it does not pay."""
        found = start()
        self.kept.add(found)
        return found

    def joined(self, fit: Structure) -> Structure:
        """The best structure after the terms were chosen anew, beside that number of modes."""
        wide = self.fitter.from_scratch(fit.full, fit.estimate.modes, fit.full)
        self.kept.add(*TermChoice(self.fitter, wide or fit).run().values())
        return self.kept.best

    def removals(self, fit: Structure, around: Array | None) -> Iterator[Sequence[Move[Route]]]:
        """The same terms without one of the modes, from where the others are."""
        if around is None:  # a mode that was added has just been judged
            yield [Move(partial(self._without, fit, i), 0.0) for i in range(fit.estimate.modes)]

    def left(self, fit: Structure) -> Structure:
        """A structure with fewer modes, worth naming."""
        self.kept.add(fit)
        return fit

    def _anew(self, best: Structure) -> Structure | None:
        terms = best.estimate.parameters.library
        return self.fitter.from_scratch(terms, best.estimate.modes + 1, best.full)

    def _another(self, best: Structure) -> Structure | None:
        added = with_another_mode(self.prepared, best.estimate, self.prepared.grid)
        return None if added is None else self.judge.found(added, best.full)

    def _without(self, best: Structure, mode: int) -> Structure | None:
        e = best.estimate
        fewer = e.with_modes(k for k in range(e.modes) if k != mode)
        bar = e.misfit + 2 * limits.TERMS_FAIL
        fit: Estimate | None = refine(self.prepared, fewer, give_up=bar)
        if fit is None or fit.misfit > bar:
            # Where the motion is chaotic a small change is lost unless the data hold it.
            fit = self.fitter.rescued(fewer) or fit
        return None if fit is None else self.judge.found(fit, best.full)


def _rivals(whole: Iterable[Structure]) -> list[Structure]:
    """Whole libraries worth a search for terms; the best fit of each is given more room.

    The score of a badly determined whole says little about its parts.
    """
    whole, seen, out = list(whole), set[str](), []
    for found in whole:
        room = limits.RIVALS[found.full.name not in seen]
        seen.add(found.full.name)
        if found.score < whole[0].score + room:
            out.append(found)
    return out
