r"""Harmonics too faint for a search of the whole band, where and as a spring would make them.

A motion :math:`A \cos φ` of a spring that is not quite linear has a part
:math:`a_h \cos hφ` at h times its frequency, whose phase is known but for its sign; a motion of two
lines has such parts at :math:`h_1 φ_1 + h_2 φ_2` too. What lines leave is projected on them,

.. math:: c = \sum_r \mathrm{Re} \sum_t e_t \, e^{-i h·φ_r(t)},

and :math:`c^2` over its mean for noise, as it is at K neighbouring frequencies, follows the law
F(1, 2KR) of R trials if there is no such part. One place and one phase cost no more than two tests.
Where there are two lines the sum of all, :math:`χ^2` with as many degrees of freedom as places, is
one test more: none of many parts may stand out alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, fdtrc

from prism._format import format_chance
from prism._types import Array, ComplexArray
from prism.modes import Modes
from prism.motion.potential import _limits as limits
from prism.record import Record

__all__ = ["faint_harmonics"]


def faint_harmonics(record: Record, rests: Sequence[Array], modes: Modes) -> list[str]:
    """Harmonics of the strongest line, and of the two strongest, in what lines leave, in words.

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
    strongest = np.argsort(np.mean(modes.amplitudes, axis=0))[::-1]
    parents = modes.frequencies[strongest[:2]]
    trials = _turned(record, rests, parents)
    alone = [_gains(record, trials, parents, (h,), modes) for h in limits.HARMONICS]
    size = 4 * limits.HARMONIC_NEIGHBOURS * record.n_trials
    tests = sum(gains is not None for gains in alone) * record.n_channels
    found = [
        f"in step with the line at {parents[0]:.4g} there is motion of {h} times its frequency "
        f"(chance {format_chance(tests * chance)})"
        for h, gains in zip(limits.HARMONICS, alone, strict=True)
        if gains is not None
        and (chance := float(fdtrc(1, size, gains).min())) * tests < limits.HARMONIC_LEVEL
    ]
    return found or _combined(record, trials, parents, modes)


def _combined(record: Record, trials: Sequence[_Turned], parents: Array, modes: Modes) -> list[str]:
    """All sums and multiples of two lines together."""
    near = limits.HARMONIC_APART * 2 * np.pi / record.duration
    if len(parents) < 2 or abs(parents[1] - parents[0]) < near:
        return []
    each = [_gains(record, trials, parents, orders, modes) for orders in limits.COMBINATIONS]
    there = [gains for gains in each if gains is not None]
    if not there:
        return []
    chance = record.n_channels * float(chdtrc(len(there), np.sum(there, axis=0)).min())
    if chance >= limits.HARMONIC_LEVEL:
        return []
    names = f"{parents[0]:.4g} and {parents[1]:.4g}"
    return [
        f"in step with the lines at {names} there is motion at their sums, differences and "
        f"multiples (chance {format_chance(chance)})"
    ]


def _is_free(record: Record, omega: float, lines: Array) -> bool:
    """Whether only noise is left around a frequency, if there is no harmonic."""
    assert record.dt is not None
    resolution = 2 * np.pi / record.duration
    reach = (limits.HARMONIC_NEIGHBOURS + 1) * resolution
    near = np.any(np.abs(lines - omega) < limits.HARMONIC_APART * resolution)
    return not near and reach < omega < np.pi / record.dt - reach


class _Turned(NamedTuple):
    """A trial with two lines: what they leave, their turns at unit rate, and their phases.

    Parameters
    ----------
    rest : array (samples, channels)
    turns : complex array (parents, samples)
        ``exp(-iΩt)``.
    phases : array (parents, channels)
    """

    rest: Array
    turns: ComplexArray
    phases: Array

    def turn(self, orders: Sequence[int]) -> ComplexArray:
        """``exp(-iωt)`` at a combination of the frequencies."""
        out = np.ones(len(self.rest), complex)
        for one, order in zip(self.turns, orders, strict=True):
            for _ in range(abs(order)):
                out = out * (one if order > 0 else one.conj())
        return out


def _turned(record: Record, rests: Sequence[Array], parents: Array) -> list[_Turned]:
    """Every trial, for all combinations of the same lines."""
    out = []
    for t, y, rest in zip(record.times, record.trials, rests, strict=True):
        turns = np.exp(-1j * np.multiply.outer(parents, t - t[0]))
        phases = np.angle((np.hanning(len(t)) * turns) @ y)
        out.append(_Turned(rest, turns, phases))
    return out


def _gains(
    record: Record,
    trials: Sequence[_Turned],
    parents: Array,
    orders: tuple[int, ...],
    modes: Modes,
) -> Array | None:
    """``c²`` over its mean for noise, (channels,); None where a line or an end is too near."""
    orders = (*orders, *[0] * (len(parents) - len(orders)))
    if not _is_free(record, abs(float(np.dot(orders, parents))), modes.frequencies):
        return None
    K = limits.HARMONIC_NEIGHBOURS
    along, noise = np.zeros(record.n_channels), np.zeros(record.n_channels)
    for one in trials:
        # at zero frequency after the turn: in step there, and the noise of the neighbours
        spectrum = np.fft.fft(one.turn(orders) * one.rest.T).T
        along += (spectrum[0] * np.exp(-1j * np.dot(orders, one.phases))).real
        around = np.concatenate([spectrum[1 : K + 1], spectrum[-K:]])
        noise += np.mean(np.abs(around) ** 2, axis=0) / 2
    return np.asarray(along**2 / noise)
