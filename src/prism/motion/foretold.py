r"""How well a kind of motion foretells the part of a record that was held back.

.. math:: e = \Big(\frac{1}{nN} \sum_{ta} \frac{(y_a(t) - \hat y_a(t))^2}{σ_a^2}\Big)^{1/2}

over the last part of every trial, with :math:`\hat y` fitted to the part before, and σ the noise of
the whole record. It is about 1 where the motion goes on as it is said to.
"""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.errors import PrismError
from prism.motion import _limits as limits
from prism.motion.explanation import Explanation, Question

__all__ = ["foretold"]


def foretold(asked: Question, explanation: Explanation, noise: Array | None) -> float | None:
    """The error e of a kind of motion; None where it foretells nothing.

    Parameters
    ----------
    asked : Question
    explanation : Explanation
        Fitted once more, to the first part of the record.
    noise : array (channels,) or None
        σ.
    """
    record = asked.record
    if noise is None:
        return None
    first, last = record.head(limits.FITTED_PART), record.tail(limits.FITTED_PART)
    try:
        found = explanation.find(asked._replace(data=first))
    except PrismError:  # the part is too short for it, or shows nothing
        return None
    if found.motion is None:
        return None
    errors = np.concatenate(
        [
            (found.motion.values(t, r) - y) / noise
            for r, (t, y) in enumerate(zip(last.times, last.trials, strict=True))
        ]
    )
    return float(np.sqrt(np.nanmean(errors**2)))
