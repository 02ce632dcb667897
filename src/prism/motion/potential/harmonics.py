r"""Harmonics too faint for a search of the whole band, where and as a spring would make them.

A motion :math:`A \cos φ` of a spring that is not quite linear has a part
:math:`a_h \cos hφ` at h times its frequency, whose phase is known but for its sign. What lines
leave is projected on it,

.. math:: c = \sum_r \mathrm{Re} \sum_t e_t \, e^{-ihφ_r(t)},

and :math:`c^2` over its mean for noise, as it is at K neighbouring frequencies, follows the law
F(1, 2KR) of R trials if there is no such part. One place and one phase cost no more than two tests.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import fdtrc

from prism._format import format_chance
from prism._types import Array
from prism.modes import Modes
from prism.motion.potential import _limits as limits
from prism.record import Record

__all__ = ["faint_harmonics"]


def faint_harmonics(record: Record, rests: Sequence[Array], modes: Modes) -> list[str]:
    """Harmonics of the strongest line in what lines leave, in words.

    Parameters
    ----------
    record : Record
        Evenly sampled.
    rests : sequence of arrays (samples, channels)
        Without the lines, of each trial.
    modes : Modes
        The lines.
    """
    modes = modes.vibrating()
    parent = float(modes.frequencies[np.argmax(np.mean(modes.amplitudes, axis=0))])
    orders = [h for h in limits.HARMONICS if _is_free(record, h * parent, modes.frequencies)]
    tests = len(orders) * record.n_channels
    return [
        f"in step with the line at {parent:.4g} there is motion of {h} times its frequency "
        f"(chance {format_chance(tests * chance)})"
        for h in orders
        if (chance := min(_chances(record, rests, parent, h))) * tests < limits.HARMONIC_LEVEL
    ]


def _is_free(record: Record, omega: float, lines: Array) -> bool:
    """Whether only noise is left around a frequency, if there is no harmonic."""
    assert record.dt is not None
    resolution = 2 * np.pi / record.duration
    reach = (limits.HARMONIC_NEIGHBOURS + 1) * resolution
    near = np.any(np.abs(lines - omega) < limits.HARMONIC_APART * resolution)
    return not near and reach < omega < np.pi / record.dt - reach


def _chances(record: Record, rests: Sequence[Array], parent: float, order: int) -> Array:
    """Chance of what is in step on each channel, if it is noise, (channels,)."""
    K = limits.HARMONIC_NEIGHBOURS
    along, noise = np.zeros(record.n_channels), np.zeros(record.n_channels)
    for t, y, rest in zip(record.times, record.trials, rests, strict=True):
        turn = np.exp(-1j * parent * (t - t[0]))
        phase = np.angle((np.hanning(len(t)) * turn) @ y)
        # at zero frequency after the turn: in step there, and the noise of the neighbours
        spectrum = np.fft.fft((turn**order)[:, None] * rest, axis=0)
        along += (spectrum[0] * np.exp(-1j * order * phase)).real
        around = np.concatenate([spectrum[1 : K + 1], spectrum[-K:]])
        noise += np.mean(np.abs(around) ** 2, axis=0) / 2
    return np.asarray(fdtrc(1, 4 * K * len(rests), along**2 / noise))
