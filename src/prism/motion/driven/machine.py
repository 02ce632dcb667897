r"""Steady lines on top of motion that noise drives: machines, mains, or a mode that hardly decays.

A driven mode forgets its phase within :math:`1/(ζΩ)`. A "mode" whose width ζ f is a small part of
1/T kept its phase all through the record: it is fitted as a steady line instead,

.. math:: y_a(t) = \sum_l A_{la} \cos Ω_l t + B_{la} \sin Ω_l t + \text{driven motion},

and taken out before the modes are fitted once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.driven import _limits as limits
from prism.motion.driven.bands import DrivenMode
from prism.motion.driven.spectrum import FourierLines, fourier_lines
from prism.motion.steady.fit import LineFit, refine
from prism.motion.steady.spikes import residuals_of
from prism.record import Record
from prism.remarks import Remark
from prism.search.projection import attempted
from prism.search.series import samplings_of

__all__ = ["SteadyOnTop", "steady_on_top"]


@dataclass(frozen=True)
class SteadyOnTop:
    """Steady lines that were taken out of a record.

    Attributes
    ----------
    frequencies, frequencies_std : array (lines,)
    sizes : array (lines, channels)
        Root mean square over the trials of the amplitude of each.
    rest : Record
        The record without them.
    others : tuple of DrivenMode
        Modes that were found beside them.
    instead : array
        Poles of all modes while they were still among them.
    """

    frequencies: Array
    frequencies_std: Array
    sizes: Array
    rest: Record
    others: tuple[DrivenMode, ...]
    instead: ComplexArray

    def remark(self) -> Remark:
        """Where they are."""
        which = ", ".join(
            f"{w:.6g} ± {std:.1g}"
            for w, std in zip(self.frequencies, self.frequencies_std, strict=True)
        )
        many = len(self.frequencies) > 1
        return Remark(
            f"{'steady lines stand' if many else 'a steady line stands'} on top of the driven "
            f"motion, at {which} rad per time unit",
            "the phase is kept over the whole record",
            f"{'they were' if many else 'it was'} fitted and {'are' if many else 'is'} not among "
            "the modes: a machine, or a mode whose damping is too small to be seen, would do this",
            code="machine-lines",
        )


def steady_on_top(record: Record, modes: Sequence[DrivenMode]) -> SteadyOnTop | None:
    """Steady lines in place of modes that are too narrow to be driven ones; None without any.

    Parameters
    ----------
    record : Record
    modes : sequence of DrivenMode
        All modes, those that are steady among them.
    """
    omega, zeta = (np.array([getattr(m, name) for m in modes]) for name in ("omega", "zeta"))
    narrow = zeta * omega / (2 * np.pi) * record.duration < limits.STEADY_WIDTH
    if not narrow.any() or narrow.all():
        return None
    weights = 1 / np.maximum(record.std() ** 2, limits.TINY)
    taken = _taken_out(record, np.sort(omega[narrow]), weights)
    if taken is None:
        return None
    lines, rest = taken
    background = lines.background
    square = np.mean(
        [np.sum(one.values[:, background:] ** 2, axis=2) for one in lines.linear], axis=0
    )
    sizes = np.sqrt(square.reshape(record.n_channels, 2, -1).sum(axis=1).T / record.n_trials)
    level = _levels(fourier_lines(rest), lines.omega) / (record.dt or 1.0)
    own = np.sqrt(np.diag(np.linalg.inv(lines.fisher)) * (level @ weights) / record.n_channels)
    others = tuple(mode for mode, steady in zip(modes, narrow, strict=True) if not steady)
    poles = np.asarray(-zeta * omega + 1j * omega * np.sqrt(1 - zeta**2))
    return SteadyOnTop(lines.omega, own, sizes, rest, others, poles[np.argsort(omega)])


def without_steady(record: Record, omega: Array) -> Record:
    """A record without steady lines near given frequencies; it may have gaps."""
    weights = 1 / np.maximum(record.std() ** 2, limits.TINY)
    taken = _taken_out(record, omega, weights)
    return record if taken is None else taken[1]


def _taken_out(record: Record, omega: Array, weights: Array) -> tuple[LineFit, Record] | None:
    """Steady lines that were fitted, and the record without them."""
    samplings, trials, means = samplings_of(record)
    lines = attempted(refine, samplings, omega, weights)
    if lines is None:
        return None
    rests = [rest + mean for rest, mean in zip(residuals_of(trials, lines), means, strict=True)]
    return lines, record.with_values(rests)


def _levels(lines: FourierLines, omega: Array) -> Array:
    """Median power of the Fourier lines around each frequency, as a mean, (lines, channels)."""
    out = []
    for w in omega:
        order = np.argsort(np.abs(lines.omega - w))[: limits.AROUND_STEADY * len(lines.trials)]
        out.append(np.median(np.abs(lines.values[order]) ** 2, axis=0) / np.log(2))
    return np.array(out)
