"""Residues of higher rank: further vectors at the poles that are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import chdtri

from prism.motion.forced.response.modal import ModalPoint
from prism.motion.forced.response.order import ResponseModes
from prism.motion.forced.response.scan import promises
from prism.motion.forced.response.scoring import ModalFit
from prism.search.pursuit import Move, Places, pursue


class FurtherVectors(ResponseModes):
    """Vectors at known poles: they join, each at its price, and none is taken out."""

    def look(self, fit: ModalFit) -> ModalFit:
        """The fit itself: a vector at a known pole has one price."""
        return fit

    def additions(self, rest: ModalFit) -> Iterator[Sequence[Move[ModalPoint]]]:
        """A vector at the pole where the score promises most, up to full rank."""
        point, ports = rest.point, rest.data.ports
        gains, vectors = promises(rest)
        full = np.bincount(point.pole, minlength=len(point)) >= ports
        j = int(np.where(full, 0.0, gains).argmax())
        if gains[j] >= self.price and not full[j]:
            yield [Move(point.widened(j, vectors[j]), self.price, plain=True)]

    def removals(
        self, fit: ModalFit, around: Places | None
    ) -> Iterator[Sequence[Move[ModalPoint]]]:
        """None."""
        yield from ()

    def better(self, before: ModalFit, after: ModalFit) -> bool:
        """A vector that joined stays."""
        return True


def widen(fit: ModalFit, false_alarm: float) -> ModalFit:
    """Give poles further vectors while the likelihood asks for them, up to full rank.

    A structure with equal frequencies (a square plate, a shaft) has residues of rank two; so has
    a pair of modes closer than the measurement can tell.
    """
    price = float(chdtri(fit.data.ports, false_alarm / len(fit.point)))
    most = (fit.data.ports - 1) * len(fit.point)
    return pursue(FurtherVectors(price), fit, rounds=most, polish=False)
