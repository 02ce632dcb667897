r"""How many modes a band has: what each order explains, from one mode to one more than there are.

A stabilisation diagram shows poles of models of growing order and leaves the choice to the eye.
Here every order is a maximum of the likelihood. Rung k is the best fit with k modes, with the
weakest taken out of rung k + 1; it has what the last of its modes gains, twice the log-likelihood,
and the price that a mode must pay (`bands.threshold`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array
from prism.machines import MachineLines
from prism.modes import Modes
from prism.motion.driven import _limits as limits
from prism.motion.driven.bands import DrivenMode, HeldBand, start
from prism.motion.driven.driven import ends_of
from prism.motion.driven.machine import steady_on_top
from prism.motion.driven.number import one_more
from prism.motion.driven.scoring import BandFit
from prism.motion.driven.search import KeptModes, ModeSearch
from prism.motion.driven.spectrum import FourierLines, fourier_lines, line_band
from prism.record import Record

__all__ = ["Rung", "ladder"]

_FALSE_ALARM = 1e-3


@dataclass(frozen=True)
class Rung:
    """A fit of one band with some modes.

    Attributes
    ----------
    band : int
        Number of the band, from zero.
    kept : bool
        Whether all its modes are those of the model, or fewer; one more was refused.
    frequencies, damping : arrays (modes,)
    gain, price : float
        Of the mode that rung has and the one below has not.
    """

    band: int
    kept: bool
    frequencies: Array
    damping: Array
    gain: float
    price: float


def ladder(record: Record, modes: Modes, machines: MachineLines | None = None) -> tuple[Rung, ...]:
    """All rungs of all bands, the lowest first.

    Parameters
    ----------
    record : Record
        Sampled with one step, without gaps.
    modes : Modes
        Of driven motion.
    machines : MachineLines, optional
        Steady lines on top, which are taken out first.
    """
    each = zip(modes.frequencies, modes.damping, modes.shapes, modes.significance, strict=True)
    known = [DrivenMode(float(w), float(z), v, 0.0, float(s) ** 2) for w, z, v, s in each]
    on_top = None if machines is None else steady_on_top(record, known, machines.frequencies)
    lines = fourier_lines(record if on_top is None else on_top.rest)
    search = ModeSearch(lines, ends_of(record, None, _FALSE_ALARM, None), _FALSE_ALARM)
    begun = [_with_force(mode, lines) for mode in known]
    out: list[Rung] = []
    for number, part in enumerate(search.sweep(begun, test=False)):
        down = list(_down(part.fit, number))
        out += reversed(down)
        more = one_more(part.fit, search.false_alarm)
        if more is not None:
            fit = more.fit
            out.append(replace(_rung(fit, number, more.gain, more.price), kept=False))
    return tuple(out)


def _with_force(mode: DrivenMode, lines: FourierLines) -> DrivenMode:
    """A mode with the force that the lines around it show."""
    reach = mode.reach(lines.longest, limits.CORE_BAND)
    band = line_band(lines.between(mode.omega - reach, mode.omega + reach))
    fit = BandFit.at(start(band, [mode]), band)
    (seen,) = KeptModes(fit, np.array([mode.gain])).modes
    return replace(mode, force=seen.force)


def _down(fit: BandFit, number: int) -> Iterator[Rung]:
    """Rungs from the modes that were found, to one."""
    model = fit.model
    held = model.only(np.arange(model.fitted, model.count))
    place = HeldBand(fit.band, replace(held, fitted=0, linked=model.linked))
    while fit.model.fitted:
        rivals = [place.without(fit, j, np.inf) for j in range(fit.model.fitted)]
        weakest = int(np.argmax([rival.log_likelihood for rival in rivals]))
        gain = 2 * (fit.log_likelihood - rivals[weakest].log_likelihood)
        price = place.least_gain(fit.model, weakest, _FALSE_ALARM)
        yield _rung(fit, number, gain, price)
        fit = rivals[weakest]


def _rung(fit: BandFit, number: int, gain: float, price: float) -> Rung:
    free = slice(0, fit.model.fitted)
    order = np.argsort(fit.model.omega[free])
    omega, zeta = fit.model.omega[free][order], fit.model.zeta[free][order]
    return Rung(number, True, omega, zeta, float(gain), float(price))
