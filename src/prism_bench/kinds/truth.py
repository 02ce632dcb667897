r"""What a record could tell at best: gains of modes, errors of frequencies, kinds told apart.

A free motion is :math:`x(t) = \sum_m v_m \,\mathrm{Re}\, z_m(t)` with
:math:`z_m = a_m(t) e^{iΩ_m t}`. The gain in χ² of a mode is
:math:`g_m = \tfrac12 \sum_t |a_m|^2\, v_m^T C^{-1} v_m`, C the covariance of the noise, and the
information on its frequency, amplitude and phase unknown, is
:math:`g_m \operatorname{var} t` with weights :math:`|a_m|^2`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize_scalar

from prism._types import Array, ComplexArray, Index
from prism.record import Record
from prism.search.series import samplings_of
from prism.search.spectrum import line_threshold
from prism.settings import DEFAULT_FALSE_ALARM
from prism_bench.kinds.case import TrueMode
from prism_bench.kinds.systems import Drawn

FASTEST = 5.0  # decay over the record that an oracle considers
PADDED = 8  # finer than a cell, to look for the steady line that fits best


def visible_from(record: Record) -> float:
    """Twice the gain that noise alone shows anywhere in the band with the usual probability."""
    samplings, _, _ = samplings_of(record)
    spare = sum(record.samples) * record.n_channels
    return 2 * line_threshold(samplings, DEFAULT_FALSE_ALARM, float(spare))


def free_modes(
    drawn: Drawn,
    z: ComplexArray,
    noise: Array,
    record: Record,
    *,
    cuts: Array | tuple[int, ...] = (),
) -> tuple[TrueMode, ...]:
    """Modes of a free motion.

    Parameters
    ----------
    drawn : Drawn
    z : complex array (modes, samples)
    noise : array (channels,)
        Standard deviations.
    record : Record
    cuts : sequence of int
        Samples at which amplitudes and phases begin anew.
    """
    weight = np.sum((drawn.system.participation / noise) ** 2, axis=1)
    gain = 0.5 * np.sum(np.abs(z) ** 2, axis=1) * weight
    std = 1 / np.sqrt(weight * _spread(drawn.t, z, [0, *cuts, drawn.samples]))
    return _modes(drawn, np.arange(len(gain)), gain, std, record)


def in_the_mean(modes: tuple[TrueMode, ...], t: Array, z: ComplexArray) -> tuple[TrueMode, ...]:
    r"""Modes of lines that move, with their mean frequencies.

    The mean is the slope of the straight line nearest to the phase at the samples,
    :math:`\sum_t (t - \bar t)\, φ_m(t) / \sum_t (t - \bar t)^2`. The samples of a record of the
    duration T end a step before T, so that a line that sweeps has its mean half a step before T/2.

    Parameters
    ----------
    modes : tuple of TrueMode
    t : array (samples,)
    z : complex array (modes, samples)
    """
    centred = t - t.mean()
    slopes = np.unwrap(np.angle(z), axis=1) @ centred / float(centred @ centred)
    return tuple(replace(mode, frequency=float(w)) for mode, w in zip(modes, slopes, strict=True))


def steady_modes(drawn: Drawn, which: Index, bound: Array, record: Record) -> tuple[TrueMode, ...]:
    """Modes of steady lines whose bound is known: the gain of a line is 12/(σ_Ω T)².

    Parameters
    ----------
    drawn : Drawn
    which : array of int
        Modes of the system that move.
    bound : array
        Standard deviations of their frequencies.
    record : Record
    """
    return _modes(drawn, which, 12 / (bound * drawn.duration) ** 2, bound, record)


def _modes(
    drawn: Drawn, which: Index, gain: Array, std: Array, record: Record
) -> tuple[TrueMode, ...]:
    system, limit = drawn.system, visible_from(record)
    columns = (system.frequencies[which], drawn.zeta[which], system.shapes[which], gain, std)
    return tuple(
        TrueMode(float(w), float(d) or None, shape, float(g), float(s), bool(g > limit))
        for w, d, shape, g, s in zip(*columns, strict=True)
    )


def _spread(t: Array, z: ComplexArray, edges: list[int]) -> Array:
    """Sum over stretches of half the power times the spread of the time."""
    out = np.zeros(len(z))
    for first, last in pairwise(edges):
        power, part = np.abs(z[:, first:last]) ** 2, t[first:last]
        mean = power @ part / power.sum(axis=1)
        out += 0.5 * np.sum(power * (part - mean[:, None]) ** 2, axis=1)
    return out


def told_from_steady(z: ComplexArray, gain: Array) -> float:
    r"""χ² that the best steady lines leave of a free motion, all parameters known.

    :math:`λ = \sum_m g_m \left(1 - \max_δ |\overline{z_m e^{-iδt}}|^2 / \overline{|z_m|^2}\right)`.

    Parameters
    ----------
    z : complex array (modes, samples)
    gain : array (modes,)
    """
    left = [1 - _best_line(one) / float(np.sum(np.abs(one) ** 2)) for one in z]
    return float(gain @ np.array(left))


def told_from_decays(z: ComplexArray, gain: Array) -> float:
    r"""χ² that the best free decay leaves of a motion, all parameters known.

    As `told_from_steady`, with :math:`e^{-(r + iδ)t}`, r ≥ 0, in place of :math:`e^{-iδt}`.

    Parameters
    ----------
    z : complex array (modes, samples)
    gain : array (modes,)
    """
    left = [1 - _best_decay(one) / float(np.sum(np.abs(one) ** 2)) for one in z]
    return float(gain @ np.array(left))


def _best_decay(z: ComplexArray) -> float:
    """Sum of squares that the best decaying line takes."""
    u = np.arange(len(z)) / len(z)

    def taken(rate: float) -> float:
        fade = np.exp(-rate * u)
        return _best_line(z * fade) / float(np.mean(fade**2))

    best = minimize_scalar(lambda rate: -taken(rate), bounds=(0.0, FASTEST), method="bounded")
    return max(taken(0.0), taken(float(best.x)))


def _best_line(z: ComplexArray) -> float:
    """Sum of squares that the best steady line takes."""
    samples = len(z)
    u = 2 * np.pi * np.arange(samples) / samples
    peak = float(np.argmax(np.abs(np.fft.fft(z, PADDED * samples)))) / PADDED

    def taken(cells: float) -> float:
        return float(np.abs(np.exp(-1j * cells * u) @ z) ** 2 / samples)

    step = 1 / PADDED
    best = minimize_scalar(lambda c: -taken(c), bounds=(peak - step, peak + step), method="bounded")
    return taken(float(best.x))
