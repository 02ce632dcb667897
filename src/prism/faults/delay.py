r"""A channel that is late: all its lines are shifted in phase by their frequency times one delay.

With the amplitude :math:`z_{aj}` of line j in channel a, fitted freely to n samples, the best
common phase of all channels leaves

.. math:: Q(τ) = \frac n4 \sum_j \Big(\sum_a w_a |z_{aj}|^2 - \Big|\sum_a w_a z_{aj}^2\Big|\Big)

of ``χ²``, where the amplitudes of one channel were turned by :math:`e^{iΩ_j τ}`. A delay
lowers Q to its expectation; lines that are out of phase in any other way do not. One kind of motion
is an exception: a weak gyroscopic force turns the two lines of two coordinates as a delay does, in
proportion to their frequencies. With few lines and channels this is said.

The channel is put right by what its lines would have been a time τ later,

.. math:: y_a(t) + \mathrm{Re} \sum_j z_{aj} (e^{iΩ_j τ} - 1)\, e^{iΩ_j t},

which turns the amplitudes that fit it best, with their errors, and leaves its noise as it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.signal
from scipy.special import chdtrc, chdtri

from prism._types import Array, ComplexArray
from prism.faults import _limits as limits
from prism.faults.fault import Fault
from prism.faults.find import view_of
from prism.faults.hypothesis import fitted
from prism.motion.steady.fit import evaluate
from prism.motion.steady.likelihood import Lines
from prism.record import QUANTITIES, Record
from prism.search.projection import LineFit

__all__ = ["find_delays", "in_time"]


def find_delays(record: Record, lines: Lines, false_alarm: float) -> tuple[Fault, ...]:
    """The channel that is late against the others, if there is one.

    A single line cannot tell a delay from a shape that is out of phase, nor can one channel.

    Parameters
    ----------
    record : Record
    lines : Lines
    false_alarm : float
        Probability that lines in phase on all channels show a delay.
    """
    if record.n_channels < 2 or len(lines.fit.omega) < 2:
        return ()
    omega = np.sort(lines.motion.omega)
    # what is slower than the record, or was ignored, moves too, but need not be in phase
    modes = np.abs(omega - np.sort(lines.fit.omega)[:, None]).argmin(axis=1)
    turned = np.array([1j ** -QUANTITIES.index(one) for one in record.quantity])
    plain = record if lines.trend is None else lines.trend.removed(record)
    phasors, weights, samples = [], [], []
    for trial in range(record.n_trials):
        view = view_of(plain, trial)
        fit = fitted(view, omega, 1 / lines.noise**2)
        if fit is None or fit.count != len(omega):
            return ()
        phasors.append(turned[:, None] * _amplitudes(fit)[:, modes])
        weights.append(fit.weights)
        samples.append(len(view.times))
    z, w = np.array(phasors), np.array(weights) * np.array(samples)[:, None]
    return _late(Phases(z, w, omega[modes]), record.channels, false_alarm, omega)


def in_time(record: Record, fault: Fault) -> Record:
    r"""The record with the lines of the late channel where they would be in time.

    :math:`y_a(t) + \mathrm{Re} \sum_j z_{aj} (e^{iΩ_j τ} - 1) e^{iΩ_j t}`, with the amplitudes
    that fit each trial best.

    Parameters
    ----------
    record : Record
    fault : Fault
        A delay, with its lines.
    """
    a, omega = record.channels.index(fault.channels[0]), np.array(fault.lines)
    moved = []
    for trial, (times, values) in enumerate(zip(record.times, record.trials, strict=True)):
        view = view_of(record, trial)
        fit = evaluate(view.samplings, omega, np.ones(record.n_channels))
        z = _amplitudes(fit)[a] * (np.exp(1j * omega * fault.size[0]) - 1)
        late = np.array(values, float)
        late[:, a] += (np.exp(1j * np.outer(times - view.samplings[0].centre, omega)) @ z).real
        moved.append(late)
    return record.with_values(moved)


def _amplitudes(fit: LineFit) -> ComplexArray:
    cos, sin = np.split(fit.linear[0].lines[:, :, 0], 2, axis=1)
    return np.asarray(cos - 1j * sin)


class Phases(NamedTuple):
    """Amplitudes that were fitted freely.

    Attributes
    ----------
    z : array (trials, channels, lines)
    weights : array (trials, channels)
        ``n w``.
    omega : array (lines,)
    """

    z: ComplexArray
    weights: Array
    omega: Array

    @property
    def power(self) -> float:
        """What all lines contribute to ``χ²``."""
        return float(np.einsum("ra,raj->", self.weights, np.abs(self.z) ** 2))

    def cost(self, lags: Array, channel: int) -> Array:
        """``Q`` of some delays of a channel, (delays,)."""
        return np.asarray(self.costs(lags, channel).sum(axis=1))

    def costs(self, lags: Array, channel: int) -> Array:
        """What each line contributes to ``Q``, (delays, lines)."""
        turn = np.exp(1j * np.multiply.outer(lags, self.omega))
        return quadrature(self.z, self.weights, turn, channel)


def quadrature(z: ComplexArray, weights: Array, turn: ComplexArray, channel: int) -> Array:
    """What each line contributes to ``Q`` with one channel turned, (delays, lines).

    Parameters
    ----------
    z : array (trials, channels, lines)
    weights : array (trials, channels)
        ``n w``.
    turn : array (delays, lines)
        ``exp(iΩτ)``.
    channel : int
    """
    power = np.einsum("ra,raj->j", weights, np.abs(z) ** 2)
    squares = weights[..., None] * z**2
    others = squares.sum(axis=1) - squares[:, channel]
    both = others[None] + squares[None, :, channel] * turn[:, None] ** 2
    return np.asarray(0.25 * (power - np.abs(both).sum(axis=1)))


class Lag(NamedTuple):
    """A delay of a channel, its standard error, and the ``Q`` that it leaves.

    The error is infinite where ``Q`` has no minimum: at an end of the delays tried, or flat.
    """

    channel: int
    size: float
    error: float
    left: float


def _late(
    phases: Phases, channels: tuple[str, ...], false_alarm: float, omega: Array
) -> tuple[Fault, ...]:
    most = 2 * np.pi * limits.DELAY_CELLS / phases.omega.max()
    lags = np.linspace(-most, most, limits.DELAY_STEPS)
    best, *others = sorted(_lags(phases, lags), key=lambda one: one.left)
    if len(channels) == 2 and best.size < 0:
        best = best._replace(channel=1 - best.channel, size=-best.size)
    before, after = phases.costs(np.array([0.0, best.size]), best.channel)
    gains = before - after
    needed = chdtri(1, false_alarm / (len(channels) * limits.DELAY_STEPS))
    dof = phases.z.shape[0] * phases.z.shape[2] * (len(channels) - 1) - 1
    told = np.isfinite(best.error) and gains.sum() >= needed
    if not told or chdtrc(dof, best.left) < limits.DELAY_LEFT:
        return ()
    rival = next((one for one in others if not _same(best, one, len(channels))), None)
    only = rival is None or rival.left - best.left > limits.DELAY_CLEAR
    # the strongest line alone has its phase from any delay: the others must show the same one
    shown = gains.sum() - gains.max() >= needed
    clear = only and shown
    why = f"± {best.error:.2g}, from the phases of {len(phases.omega)} lines"
    if rival is not None and not only:
        why += f"; {channels[rival.channel]} late by {rival.size:.4g} would explain them as well"
    if not shown:
        why += "; one line alone shows it, which may be out of phase for a reason of its own"
    if len(phases.omega) * (len(channels) - 1) < limits.DELAY_PHASES:
        why += "; with so few lines and channels a system that rotates would look the same"
    fault = Fault(
        "delay",
        f"channel {channels[best.channel]} {'is' if shown else 'may be'} late by {best.size:.4g}, "
        f"or the others {'are ' if shown else ''}early",
        why,
        (channels[best.channel],),
        size=(best.size,),
        error=(best.error,),
        gain=float(gains.sum()),
        lines=tuple(omega.tolist()) if clear else (),
    )
    return (fault,)


def _lags(phases: Phases, lags: Array) -> list[Lag]:
    """All delays of all channels that are better than those beside them."""
    found, step = [], float(lags[1] - lags[0])
    for channel in range(phases.z.shape[1]):
        cost = phases.cost(lags, channel)
        places = {int(cost.argmin()), *scipy.signal.argrelmin(cost)[0].tolist()}
        found += [_bottom(phases, channel, float(lags[k]), step) for k in places]
    return found


def _same(best: Lag, other: Lag, channels: int) -> bool:
    """Whether two delays are one: of two channels either is late or the other early."""
    mirrored = channels == 2 and other.channel != best.channel
    size = -other.size if mirrored else other.size
    error = best.error + (other.error if np.isfinite(other.error) else 0.0)
    near = abs(size - best.size) < error
    return near and (mirrored or other.channel == best.channel)


def _bottom(phases: Phases, channel: int, lag: float, width: float) -> Lag:
    """The delay at the bottom of a parabola, its standard error and the cost there."""
    error, rounding = np.inf, limits.DELAY_FLAT * phases.power
    for _ in range(limits.TURNS):
        low, here, high = phases.cost(lag + width * np.array([-1.0, 0.0, 1.0]), channel)
        bend = float(low - 2 * here + high)
        if bend <= rounding:
            return Lag(channel, lag, error, float(here))
        lag += width * float(np.clip(0.5 * (low - high) / bend, -1.0, 1.0))
        error, width = float(width * np.sqrt(2 / bend)), 0.2 * width
    return Lag(channel, lag, error, float(phases.cost(np.array([lag]), channel)[0]))
