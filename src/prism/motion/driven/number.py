r"""How many modes: what one more would explain, and the neighbours of each.

With g twice the gain in log-likelihood that a further mode brings and p its price
(`bands.threshold`), the odds of one more are taken for

.. math:: e^{(g - p) / 2},

as for any two explanations that are weighed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.stats

from prism._format import format_chance
from prism._types import Array
from prism.motion.driven import _limits as limits
from prism.motion.driven.bands import DrivenMode, HeldBand, start
from prism.motion.driven.overlooked import overlooked
from prism.motion.driven.scoring import BandFit
from prism.remarks import Remark
from prism.search.work import over

__all__ = ["OneMore", "neighbour_remarks", "number_remark", "one_more"]


class OneMore(NamedTuple):
    """The fit of a band with one more mode.

    Attributes
    ----------
    fit : BandFit
    gain, price : float
    known : int
        Modes of the band without it.
    """

    fit: BandFit
    gain: float
    price: float
    known: int

    @property
    def chance(self) -> float:
        """Probability of one more, of these two."""
        return float(1 / (1 + np.exp(0.5 * min(self.price - self.gain, limits.MOST_ODDS))))


def one_more(fit: BandFit, false_alarm: float) -> OneMore | None:
    """A band with one more mode, where that gains more than chance.

    Parameters
    ----------
    fit : BandFit
        At its maximum.
    false_alarm : float
        Chance of a false mode.
    """
    trial = _best(overlooked(fit, false_alarm, limits.ONE_MORE_SHARE))
    if trial is None or over():
        return None
    model = fit.model
    held = model.only(np.arange(model.fitted, model.count))
    place = HeldBand(fit.band, replace(held, fitted=0, linked=model.linked))
    more = place.fit(model.free().joined(start(fit.band, [trial])))
    last, gain = model.fitted, 2 * (more.log_likelihood - fit.log_likelihood)
    price = place.least_gain(more.model, last, false_alarm)
    lines, channels = fit.band.size
    freedom = channels + 2 + 2 * (more.model.driven - 1)
    if not np.isfinite(price) or gain < scipy.stats.chi2.isf(false_alarm / lines, freedom):
        return None
    return OneMore(more, gain, price, model.fitted)


def _best(found: Sequence[DrivenMode]) -> DrivenMode | None:
    return max(found, key=lambda mode: mode.gain, default=None)


def number_remark(found: Sequence[OneMore]) -> Remark | None:
    """Say where the number of modes is not certain, the least certain band.

    Parameters
    ----------
    found : sequence of OneMore
    """
    if not found:
        return None
    one = max(found, key=lambda each: each.chance)
    model = one.fit.model
    order = np.argsort(model.omega[: model.fitted])
    listed = ", ".join(f"{w:.5g}" for w in model.omega[order])
    ratios = ", ".join(f"{z:.2g}" for z in model.zeta[order])
    return Remark(
        f"near {model.omega[: one.known].mean():.5g} rad per time unit one more mode may be there: "
        f"with {one.known + 1} modes they are at {listed}, with damping ratios {ratios} "
        f"(probability {format_chance(one.chance)})",
        f"it gains {one.gain:.3g} in twice the log-likelihood, and its price is {one.price:.3g}",
        "a longer record, or more channels, tells",
        code="mode-number",
    )


def neighbour_remarks(omega: Array, covariance: Array) -> Iterator[Remark]:
    """Say which neighbours are told apart so badly that their errors go together.

    Parameters
    ----------
    omega : array (modes,)
        Ascending.
    covariance : array (modes, modes)
        Of the frequencies.
    """
    std = np.sqrt(np.maximum(np.diag(covariance), limits.TINIEST_VARIANCE))
    together = np.diag(covariance, 1) / (std[:-1] * std[1:])
    pairs = np.flatnonzero(np.abs(together) > limits.NEIGHBOURS_TOGETHER)
    if not len(pairs):
        return
    listed = ", ".join(f"{omega[j]:.5g} and {omega[j + 1]:.5g} ({together[j]:.2f})" for j in pairs)
    yield Remark(
        f"errors of neighbouring frequencies go together: correlation of {listed}",
        advice="use the joint covariance of the modes for what depends on both",
        code="neighbours",
    )
