r"""Steady lines on top of motion that noise drives: machines, mains, or a mode that hardly decays.

A driven mode forgets its phase within :math:`1/(ζΩ)`. A "mode" whose width ζ f is a small part of
1/T kept its phase all through the record: it is fitted as a steady line instead,

.. math:: y_a(t) = \sum_l A_{la} \cos Ω_l t + B_{la} \sin Ω_l t + \text{driven motion},

and taken out before the modes are fitted once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincc

from prism._types import Array, ComplexArray, Index, Mask
from prism.machines import MachineLines
from prism.motion.driven import _limits as limits
from prism.motion.driven.bands import DrivenMode
from prism.motion.driven.scoring import BandFit
from prism.motion.driven.spectrum import FourierLines, fourier_lines
from prism.record import Record
from prism.remarks import Remark

__all__ = ["SteadyOnTop", "outstanding", "steady_on_top", "too_narrow", "without_steady"]


@dataclass(frozen=True)
class SteadyOnTop:
    """Steady lines that were taken out of a record.

    Attributes
    ----------
    lines : MachineLines
    rest : Record
        The record without them. What the fit of a line took along of the motion is drawn again.
    levels : array (lines, channels, channels)
        Spectral matrix of the motion at each line.
    others : tuple of DrivenMode
        Modes that were found beside them.
    instead : array
        Poles of all modes while they were still among them.
    """

    lines: MachineLines
    rest: Record
    levels: ComplexArray
    others: tuple[DrivenMode, ...]
    instead: ComplexArray

    def remark(self) -> Remark:
        """Where they are."""
        many = len(self.lines) > 1
        return Remark(
            f"{'steady lines stand' if many else 'a steady line stands'} on top of the driven "
            f"motion, at {self.lines.words()} rad per time unit",
            "the phase is kept over the whole record",
            f"{'they were' if many else 'it was'} fitted and {'are' if many else 'is'} not among "
            "the modes: a machine, or a mode whose damping is too small to be seen, would do this",
            code="machine-lines",
        )


def outstanding(fits: Sequence[BandFit]) -> Array:
    """Frequencies of single lines, or two neighbours, that stand out of the spectrum of modes.

    A steady line within a resonance has no peak of its own for a mode to explain. Whitened lines
    of a motion that noise drives have powers of a Gamma distribution; one that is far too strong
    beside neighbours that are not is steady.

    Parameters
    ----------
    fits : sequence of BandFit
        At their maximum.
    """
    return np.unique([omega for fit in fits for omega in _outstanding(fit)])


def _outstanding(fit: BandFit) -> Iterator[float]:
    n = fit.band.values.shape[1]
    for part, white in zip(fit.band.entire.trials, fit.white, strict=False):
        power = np.sum(np.abs(white) ** 2, axis=1)
        both = np.maximum(np.append(power[1:], 0.0), np.append(0.0, power[:-1])) + power
        chance = len(power) * np.minimum(gammaincc(n, power), 2 * gammaincc(2 * n, both))
        near, far = limits.BESIDE
        for k in np.flatnonzero(chance < limits.OUTSTANDING):
            if not far <= k < len(power) - far:
                continue  # at the ends of a band a spectrum is least known
            beside = np.append(power[k - far : k - near], power[k + 1 + near : k + 1 + far])
            plain = np.median(beside) < limits.PLAIN_BESIDE * n
            if plain and power[k] == power[k - 2 : k + 3].max():
                yield float(part.omega[k])


def steady_on_top(
    record: Record, modes: Sequence[DrivenMode], lines: Array | None = None
) -> SteadyOnTop | None:
    """Steady lines in place of modes that are too narrow to be driven ones; None without any.

    Parameters
    ----------
    record : Record
    modes : sequence of DrivenMode
        All modes, those that are steady among them.
    lines : array, optional
        Frequencies of further steady lines.
    """
    omega, zeta = (np.array([getattr(m, name) for m in modes]) for name in ("omega", "zeta"))
    narrow, cell = too_narrow(record, modes), 2 * np.pi / record.duration
    places = np.sort(np.append(omega[narrow], [] if lines is None else lines))
    places = places[np.append(True, np.diff(places) > cell)[: len(places)]]
    if not len(places) or narrow.all():
        return None
    places, std = _settled(record, places)
    fitted = _Fitted.of(record, places)
    levels = _levels(fourier_lines(fitted.rest), places)
    found = MachineLines.of(places, std, fitted.sizes, cell)
    others = tuple(mode for mode, steady in zip(modes, narrow, strict=True) if not steady)
    poles = np.asarray(-zeta * omega + 1j * omega * np.sqrt(1 - zeta**2))
    rest = _refilled(fitted.rest, places, levels)
    return SteadyOnTop(found, rest, levels, others, poles[np.argsort(omega)])


def too_narrow(record: Record, modes: Sequence[DrivenMode]) -> Mask:
    """Which modes keep their phase over the record."""
    omega, zeta = (np.array([getattr(m, name) for m in modes]) for name in ("omega", "zeta"))
    return np.asarray(zeta * omega / (2 * np.pi) * record.duration < limits.STEADY_WIDTH)


def without_steady(record: Record, on_top: SteadyOnTop) -> Record:
    """A record without the steady lines of one like it; it may have gaps."""
    omega = on_top.lines.frequencies
    return _refilled(_Fitted.of(record, omega).rest, omega, on_top.levels)


class _Fitted(NamedTuple):
    r"""Least squares for :math:`\operatorname{Re} (a + b u) e^{iω(t - t_c)}`, u from -1 to 1.

    With b as free as a, no frequency has to be known to better than a part of a resolution cell.

    Attributes
    ----------
    a, b : arrays (trials, lines, channels)
    spans : array (trials,)
    rest : Record
        What is left.
    """

    a: ComplexArray
    b: ComplexArray
    spans: Array
    rest: Record

    @classmethod
    def of(cls, record: Record, omega: Array) -> _Fitted:
        """The fit at given frequencies; samples may be missing."""
        each = [_of_trial(*both, omega) for both in zip(record.times, record.trials, strict=True)]
        amplitudes = np.array([found for found, _ in each])
        a, b = np.split(amplitudes, 2, axis=1)
        rest = record.with_values([left for _, left in each])
        return cls(a, b, np.array([t[-1] - t[0] for t in record.times]), rest)

    @property
    def sizes(self) -> Array:
        """Root mean square over the trials of the amplitudes, (lines, channels)."""
        return np.asarray(np.sqrt(np.mean(np.abs(self.a) ** 2, axis=0)), float)

    def shift(self, levels: ComplexArray) -> tuple[Array, Array]:
        r"""How far each frequency is off, and the standard deviation of that.

        A shift δ makes :math:`b = i a δ T/2`. With S the spectrum of the motion there,
        :math:`δ = \tfrac2T \operatorname{Re} (ia)^H S^{-1} b / a^H S^{-1} a` and its variance is
        :math:`24 / (T^3 a^H S^{-1} a)`.
        """
        seen = np.linalg.solve(levels, self.a[..., None])[..., 0]
        size = np.sum(self.a.conj() * seen, axis=2).real
        turned = np.sum((1j * seen).conj() * self.b, axis=2).real
        spans = self.spans[:, None]
        weight = np.sum(size * spans**3, axis=0) / 24
        return np.sum(turned * spans**2, axis=0) / 12 / weight, 1 / np.sqrt(weight)


def _of_trial(t: Array, values: Array, omega: Array) -> tuple[ComplexArray, Array]:
    """Amplitudes a, then b, of one trial, (2 lines, channels), and what is left of it."""
    middle, half = 0.5 * (t[0] + t[-1]), 0.5 * (t[-1] - t[0])
    pieces = np.array_split(np.arange(len(t)), 1 + len(t) // limits.STEADY_CHUNK)

    def columns(piece: Index) -> Array:
        about = t[piece] - middle
        turned = np.exp(1j * about[:, None] * omega)
        both = np.concatenate([turned, turned * (about / half)[:, None]], axis=1)
        return np.column_stack([np.ones(len(piece)), both.real, -both.imag])

    size, n = 1 + 4 * len(omega), values.shape[1]
    seen = np.isfinite(values)
    gram, right = np.zeros((n, size, size)), np.zeros((n, size))
    for piece in pieces:
        X = columns(piece)
        whole = bool(seen[piece].all())
        same = X.T @ X if whole else None
        for channel in range(n):
            own = seen[piece, channel]
            gram[channel] += X[own].T @ X[own] if same is None else same
            right[channel] += X[own].T @ values[piece[own], channel]
    found = np.linalg.solve(gram, right[..., None])[..., 0]
    left = np.array(values)
    for piece in pieces:
        left[piece] -= columns(piece)[:, 1:] @ found[:, 1:].T
    real, imaginary = np.split(found[:, 1:], 2, axis=1)
    return np.asarray((real + 1j * imaginary).T), left


def _settled(record: Record, omega: Array) -> tuple[Array, Array]:
    """Frequencies of steady lines, each weighed by the spectrum of the motion there, and errors."""
    cell, std = 2 * np.pi / record.duration, np.zeros(len(omega))
    for _ in range(limits.STEADY_STEPS):
        fitted = _Fitted.of(record, omega)
        levels = _levels(fourier_lines(fitted.rest), omega)
        shift, std = fitted.shift(levels)
        omega = omega + np.clip(shift, -0.5 * cell, 0.5 * cell)
        if np.all(np.abs(shift) < limits.STEADY_SETTLED * std):
            break
    return omega, std


def _refilled(rest: Record, omega: Array, levels: ComplexArray) -> Record:
    r"""What the fit of a line took along of the motion, drawn again.

    A fit of amplitude and frequency leaves nothing of the motion in
    :math:`\operatorname{Re} (a + b u) e^{iωt}`, u from -1 to 1 over the record: a hole that a mode
    of no width would seem to explain. With S the spectrum there, a and b are complex Gaussian with
    covariances :math:`4S/T` and :math:`12S/T`.
    """
    rng = np.random.default_rng(limits.REFILL_SEED)
    trials = []
    for t, values in zip(rest.times, rest.trials, strict=True):
        span = t[-1] - t[0]
        u = 2 * (t - t[0]) / span - 1
        filled = np.array(values)
        for w, S in zip(omega, levels, strict=True):
            root = np.linalg.cholesky(S + limits.TINY * np.eye(len(S)))
            draw = rng.standard_normal((4, len(S))) / np.sqrt(2)
            a, b = (2 / np.sqrt(span) * root @ (draw[k] + 1j * draw[k + 1]) for k in (0, 2))
            turned = np.exp(1j * w * (t - t[0]))
            both = turned[:, None] * (a + np.sqrt(3) * u[:, None] * b)
            filled += both.real
        trials.append(filled)
    return rest.with_values(trials)


def _levels(lines: FourierLines, omega: Array) -> ComplexArray:
    """Spectral matrix of the Fourier lines around each frequency, (lines, channels, channels).

    Powers are medians, as those of a mean; coherences are those of the mean.
    """
    out = []
    cell = 2 * np.pi / lines.longest
    for w in omega:
        off = np.abs(lines.omega - w)
        off[off < 1.5 * cell] = np.inf  # what the fit of the line has taken along
        near = lines.values[np.argsort(off)[: limits.AROUND_STEADY * len(lines.trials)]]
        mean = near.T @ near.conj() / len(near)
        power = np.median(np.abs(near) ** 2, axis=0) / np.log(2)
        size = np.sqrt(power / np.maximum(np.diag(mean).real, limits.TINY))
        out.append(mean * np.outer(size, size))
    return np.array(out)
