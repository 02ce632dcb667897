r"""Lines in phase, seen by channels that are late: the rival of lines that turn.

With the turned directions :math:`t_{ja} = d_{ja} e^{iΩ_j δ_a}`, :math:`δ_0 = 0`, modes in phase
obey, for each line with a channel c where it is large,

.. math:: \mathrm{Im}\, t_{ja} t_{jc}^* = 0 \quad (a ≠ c), \qquad
          \sum_j 2 Ω_j^2 s_j \mathrm{Re}\, t_j t_j^* = μ^{-1}

where the mass is known. These are adjusted to the same measurements as the relations of lines that
turn (:mod:`.relations`), so that the two misfits can be compared. To first order in δ they are
often the same: a delay passes for the gyroscopic matrix :math:`γ_{ab} = δ κ_{ab}`.
"""

from __future__ import annotations

import numpy as np

from prism._types import Array, ComplexArray, Index
from prism.adjust import Adjusted, adjust
from prism.experiments._limits import LOG_STEP
from prism.motion.gyroscopic.amplitudes import LineFactors
from prism.motion.gyroscopic.completion import hermitian
from prism.motion.gyroscopic.relations import changes, weighted_sum

__all__ = ["adjust_free_late", "adjust_late", "late_relations"]


def adjust_late(lines: LineFactors, delays: Array, inverse_mass: Array | None) -> Adjusted:
    """Adjust lines at equilibrium to modes in phase and late channels; q = (δ, log kT).

    Parameters
    ----------
    lines : LineFactors
    delays : array (channels - 1,)
        Of all channels but the first, to start with.
    inverse_mass : array (channels, channels) or None
        If it is known; log kT is then unknown.
    """
    size, known = len(delays), inverse_mass is not None
    start = np.zeros(0)
    if inverse_mass is not None:
        moving = 2 * np.exp(lines.log_energy) @ (lines.omega**2)  # directions have length one
        start = np.log(np.atleast_1d(moving / np.trace(inverse_mass)))

    def relations(p: Array, q: Array) -> tuple[Array, Array, Array]:
        N = len(lines.omega)
        at = np.append(p[:-N], p[-N:] - q[size:].sum())
        h, A, B = late_relations(at, q[:size], lines.directions.shape, inverse_mass)
        by_scale = -A[:, len(p) - N :].sum(axis=1, keepdims=True)
        return h, A, np.hstack([B, by_scale]) if known else B

    longest = np.append(np.full(len(lines.measured) + size, np.inf), np.full(len(start), LOG_STEP))
    return adjust(lines.measured, lines.covariance, np.append(delays, start), relations, longest)


def adjust_free_late(
    lines: LineFactors, delays: Array, inverse_mass: Array, start: Array
) -> Adjusted:
    """Adjust free lines of unknown energy to modes in phase and late channels; q = (δ, log s).

    Parameters
    ----------
    lines : LineFactors
    delays : array (channels - 1,)
        Of all channels but the first, to start with.
    inverse_mass : array (channels, channels)
    start : array (lines,)
        Logarithms of the magnitudes to start with.
    """
    shape, size = lines.directions.shape, len(delays)
    seen = shape[0] + 2 * shape[0] * shape[1]

    def relations(p: Array, q: Array) -> tuple[Array, Array, Array]:
        h, A, B = late_relations(np.append(p, q[size:]), q[:size], shape, inverse_mass)
        return h, A[:, :seen], np.hstack([B, A[:, seen:]])

    longest = np.append(np.full(seen + size, np.inf), np.full(shape[0], LOG_STEP))
    return adjust(
        lines.measured[:seen],
        lines.covariance[:seen, :seen],
        np.append(delays, start),
        relations,
        longest,
    )


def late_relations(
    p: Array, delays: Array, shape: tuple[int, int], inverse_mass: Array | None
) -> tuple[Array, Array, Array]:
    """The relations and their derivatives by p = (Ω, Re d, Im d, log s) and by the delays.

    Parameters
    ----------
    p : array
    delays : array (channels - 1,)
    shape : (lines, channels)
    inverse_mass : array (channels, channels) or None
    """
    N, size = shape[0], shape[0] * shape[1]
    omega, s = p[:N], np.exp(p[N + 2 * size :])
    d = (p[N : N + size] + 1j * p[N + size : N + 2 * size]).reshape(shape)
    late = np.append(0.0, delays)
    turn = np.exp(1j * np.outer(omega, late))
    t = np.asarray(d * turn)
    h, by_t = _in_phase(t)
    by_omega, by_log = np.zeros((len(h), N)), np.zeros((len(h), N))
    if inverse_mass is not None:
        upper = np.triu_indices(shape[1])
        weight, slope = 2 * omega**2 * s, 4 * omega * s
        more, A = weighted_sum(hermitian(t), changes(t), weight, slope, upper)
        h = np.append(h, more - inverse_mass[upper])
        by_t = np.vstack([by_t, A[:, N : N + 2 * size]])
        by_omega = np.vstack([by_omega, A[:, :N]])
        by_log = np.vstack([by_log, A[:, N + 2 * size :]])
    # δt = e^{iΩδ} δd + i t (δ δΩ + Ω δδ)
    by_angle = _along(by_t, 1j * t)
    by_omega = by_omega + (by_angle * late).sum(axis=2)
    by_delay = (by_angle * omega[:, None]).sum(axis=1)[:, 1:]
    by_d = [_along(by_t, turn).reshape(len(h), -1), _along(by_t, 1j * turn).reshape(len(h), -1)]
    return h, np.hstack([by_omega, *by_d, by_log]), by_delay


def _along(by_t: Array, change: ComplexArray) -> Array:
    """Derivatives along a change of each entry of t, (relations, lines, channels)."""
    real, imaginary = np.split(by_t, 2, axis=1)
    shape = (len(by_t), *change.shape)
    return np.asarray(real.reshape(shape) * change.real + imaginary.reshape(shape) * change.imag)


def _in_phase(t: ComplexArray) -> tuple[Array, Array]:
    """``Im t_a t_c*`` of every line, c its largest channel, and the derivatives by (Re t, Im t)."""
    N, n = t.shape
    rows = [(j, a, c) for j, c in enumerate(_largest(t)) for a in range(n) if a != c]
    h, real, imaginary = np.zeros(len(rows)), *np.zeros((2, len(rows), N, n))
    for k, (j, a, c) in enumerate(rows):
        h[k] = (t[j, a] * t[j, c].conj()).imag
        real[k, j, a], real[k, j, c] = -t[j, c].imag, t[j, a].imag
        imaginary[k, j, a], imaginary[k, j, c] = t[j, c].real, -t[j, a].real
    return h, np.hstack([real.reshape(len(rows), -1), imaginary.reshape(len(rows), -1)])


def _largest(t: ComplexArray) -> Index:
    return np.asarray(np.abs(t).argmax(axis=1))
