r"""Lines of a record that begins at rest: noise that stands out by chance does not begin so.

All modes of what is let go have their turning points at the first sample, :math:`\cos Ωt`. A line
of noise has any phase. What a line of gain :math:`\sum_r g_r` over the trials, with the phases
:math:`φ_r` at the first sample, gains if it is held at rest there is, since its frequency may
follow,

.. math:: \max_δ\; \mathrm{sinc}^2(δT/2) \sum_r g_r \cos^2(φ_r + δ(t_0 - t_c)) ,

the first factor being what a line loses beside its frequency. That is to be as much as any line
needs. A mode loses a χ² of one degree of freedom for each amplitude by it: what loses no more than
that stays, however weak it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtrc

from prism._types import Array, Mask

if TYPE_CHECKING:
    from prism.motion.steady import Lines

__all__ = ["at_rest"]

_LEVEL = 0.01  # chance of what a mode loses, below which a weak line is none
_PLACES = np.linspace(-np.pi, np.pi, 201)  # δT/2 within one resolution


def at_rest(lines: Lines) -> Mask:
    """Which lines stand out of the noise as lines that begin at rest, (lines,).

    Parameters
    ----------
    lines : Lines
    """
    return np.array([_begins_at_rest(lines, j) for j in range(len(lines.fit.omega))], bool)


def _begins_at_rest(lines: Lines, j: int) -> bool:
    held, amplitudes = _held(lines, j)
    lost = max(lines.gains[j] - held, 0.0)
    return held >= lines.threshold or float(chdtrc(amplitudes, lost)) > _LEVEL


def _held(lines: Lines, j: int) -> tuple[float, int]:
    """Gain of a line that is at rest at the first sample, and of how many amplitudes."""
    fit = lines.fit
    K, modes = len(fit.line), np.flatnonzero(fit.line == j)
    power, cosine = [], []
    for motion in fit.motions:
        lead = motion.start - motion.centre
        z = motion.values[modes] - 1j * motion.values[K + modes]
        phase = np.angle(z) + fit.omega[j] * lead
        power.append((np.abs(z) ** 2 / motion.scatter).ravel())
        cosine.append(_cosines(phase.ravel(), lead / motion.half))
    share = np.concatenate(power) / np.sum(np.concatenate(power))
    return float(lines.gains[j] * np.max(share @ np.concatenate(cosine))), len(share)


def _cosines(phase: Array, lead: float) -> Array:
    """Share of the gain at every place, (amplitudes, places); lead in halves of the record."""
    turned = np.cos(phase[:, None] + lead * _PLACES) ** 2
    return np.asarray(np.sinc(_PLACES / np.pi) ** 2 * turned)
