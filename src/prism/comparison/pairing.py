r"""Which modes of two models are the same: one to one, by frequency and shape together.

.. math:: \text{cost} = |\ln Ω_b/Ω_a| / r + 2 (1 - \mathrm{MAC})

A pair of modes may cost 1 at most, and all pairs together cost the least, where two modes without
a partner cost 1 as well. MAC counts as high as its errors allow: a shape that is hardly known
speaks neither for a pair nor against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from prism.comparison import _limits as limits
from prism.comparison.seen import SeenMode, likeness_of
from prism.likeness import Likeness

__all__ = ["Matched", "matched"]


class Matched(NamedTuple):
    """Two modes that are the same, and how alike their shapes are."""

    before: SeenMode
    after: SeenMode
    likeness: Likeness | None


def matched(before: Sequence[SeenMode], after: Sequence[SeenMode], reach: float) -> list[Matched]:
    """Pair the modes of two models, in the order of the first.

    Parameters
    ----------
    before, after : sequence of SeenMode
    reach : float
        Of ln Ω.
    """
    alike: dict[tuple[int, int], Likeness | None] = {}
    gain = np.zeros((len(before), len(after)))
    for i, a in enumerate(before):
        for j, b in enumerate(after):
            apart = abs(np.log(b.frequency / a.frequency)) / reach
            if apart < 1:
                alike[i, j] = seen = likeness_of(a, b)
                unlike = 0.0 if seen is None else (1 - seen.interval[1]) / limits.LEAST_LIKE
                gain[i, j] = max(0.0, 1 - apart - unlike)
    rows, columns = linear_sum_assignment(gain, maximize=True)
    found = [(i, j) for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if gain[i, j] > 0]
    return [Matched(before[i], after[j], alike[i, j]) for i, j in found]
