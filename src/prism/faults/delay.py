r"""A channel that is late: all its lines are shifted in phase by their frequency times one delay.

With the amplitude :math:`z_{aj}` of line j in channel a, fitted freely to n samples, the best
common phase of all channels leaves

.. math:: Q(τ) = \frac n4 \sum_j \Big(\sum_a w_a |z_{aj}|^2 - \Big|\sum_a w_a z_{aj}^2\Big|\Big)

of ``χ²``, where the amplitudes of one channel were turned by :math:`e^{iΩ_j τ}`. A delay
lowers Q to its expectation; lines that are out of phase in any other way do not.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc, chdtri

from prism._types import Array, ComplexArray
from prism.faults import _limits as limits
from prism.faults.fault import Fault
from prism.faults.find import view_of
from prism.faults.hypothesis import fitted
from prism.motion.steady.likelihood import Lines
from prism.record import QUANTITIES, Record
from prism.search.projection import LineFit

__all__ = ["find_delays"]


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
    omega = np.sort(lines.fit.omega)
    if record.n_channels < 2 or len(omega) < 2:
        return ()
    turned = np.array([1j ** -QUANTITIES.index(one) for one in record.quantity])
    phasors, weights, samples = [], [], []
    for trial in range(record.n_trials):
        view = view_of(record, trial)
        fit = fitted(view, omega, 1 / lines.noise**2)
        if fit is None or fit.count != len(omega):
            return ()
        phasors.append(turned[:, None] * _amplitudes(fit))
        weights.append(fit.weights)
        samples.append(len(view.times))
    z, w = np.array(phasors), np.array(weights) * np.array(samples)[:, None]
    return _late(z, w, omega, record.channels, false_alarm)


def _amplitudes(fit: LineFit) -> ComplexArray:
    cos, sin = np.split(fit.linear[0].lines[:, :, 0], 2, axis=1)
    return np.asarray(cos - 1j * sin)


def quadrature(z: ComplexArray, weights: Array, turn: ComplexArray, channel: int) -> Array:
    """``Q`` with one channel turned.

    Parameters
    ----------
    z : array (trials, channels, lines)
    weights : array (trials, channels)
        ``n w``.
    turn : array (delays, lines)
        ``exp(iΩτ)``.
    channel : int
    """
    power = np.einsum("ra,raj->", weights, np.abs(z) ** 2)
    squares = weights[..., None] * z**2
    others = squares.sum(axis=1) - squares[:, channel]
    both = others[None] + squares[None, :, channel] * turn[:, None] ** 2
    return np.asarray(0.25 * (power - np.abs(both).sum(axis=(1, 2))))


def _late(
    z: ComplexArray, w: Array, omega: Array, channels: tuple[str, ...], false_alarm: float
) -> tuple[Fault, ...]:
    most = 2 * np.pi * limits.DELAY_CELLS / omega.max()
    lags = np.linspace(-most, most, limits.DELAY_STEPS)
    costs = [quadrature(z, w, np.exp(1j * np.outer(lags, omega)), a) for a in range(len(channels))]
    before = float(costs[0][len(lags) // 2])
    a = int(np.argmin([cost.min() for cost in costs]))
    lag, error, after = _bottom(z, w, omega, a, float(lags[costs[a].argmin()]), lags[1] - lags[0])
    if len(channels) == 2 and lag < 0:
        a, lag = 1 - a, -lag
    chance = false_alarm / (len(channels) * limits.DELAY_STEPS)
    dof = z.shape[0] * z.shape[2] * (len(channels) - 1) - 1
    if before - after < chdtri(1, chance) or chdtrc(dof, after) < limits.DELAY_LEFT:
        return ()
    fault = Fault(
        "delay",
        f"channel {channels[a]} is late by {lag:.4g}, or the others are early",
        f"± {error:.2g}, from the phases of {len(omega)} lines",
        (channels[a],),
        size=(lag,),
        error=(error,),
        gain=before - after,
    )
    return (fault,)


def _bottom(
    z: ComplexArray, w: Array, omega: Array, a: int, lag: float, width: float
) -> tuple[float, float, float]:
    """The delay at the bottom of a parabola, its standard error and the cost there."""
    for _ in range(limits.TURNS):
        near = lag + width * np.array([-1.0, 0.0, 1.0])
        low, here, high = quadrature(z, w, np.exp(1j * np.outer(near, omega)), a)
        bend = max(low - 2 * here + high, 1e-300)
        lag += width * float(np.clip(0.5 * (low - high) / bend, -1.0, 1.0))
        error, width = float(width * np.sqrt(2 / bend)), 0.2 * width
    cost = float(quadrature(z, w, np.exp(1j * np.outer([lag], omega)), a)[0])
    return lag, error, cost
