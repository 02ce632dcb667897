r"""What moving lines say: mean frequencies, shapes, and how they move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, expit

from prism._linalg import inverse_scaled, positive_sign
from prism._types import Array, ComplexArray, Index, Mask
from prism.motion.moving import _limits as limits
from prism.motion.moving.fit import Linear, MovingFit, evaluate
from prism.motion.moving.law import ALL, PHASE, SIZE, Freedom, Law
from prism.motion.moving.sidebands import line_gains
from prism.search.sampling import BACKGROUND


@dataclass(frozen=True)
class MovingModes:
    """Modes whose frequency or amplitude moves, ascending in frequency.

    Attributes
    ----------
    lines : array of int (modes,)
        Line of the fit that each mode is.
    frequencies : array (modes,)
        Means over the record (`Law.mean_frequencies`), without a periodic modulation.
    shapes : array (modes, channels)
        Unit, in displacement.
    covariance : array
        Of ``(frequencies, shapes.ravel())``.
    amplitudes : array (trials, modes)
        In displacement along the shape, in the middle of the record.
    significance : array (modes,)
    phase_ratio : array (modes,)
    in_phase : array of bool (modes,)
    """

    lines: Index
    frequencies: Array
    shapes: Array
    covariance: Array
    amplitudes: Array
    significance: Array
    phase_ratio: Array
    in_phase: Mask


def next_freedoms(law: Law) -> list[Freedom]:
    """The next degree of everything that moves along a polynomial."""
    out = []
    for part in (SIZE, PHASE):
        for line in (*range(law.count), ALL):
            own = [
                o.order
                for o in law.free
                if (o.part, o.line) == (part, line)
                and o.order <= limits.DEGREE
                and (o.part, o.order) != (PHASE, 1)
            ]
            if own and max(own) < limits.DEGREE:
                out.append(Freedom(part, line, max(own) + 1))
    return out


def widened(fit: MovingFit) -> MovingFit:
    """The fit with the next degree of everything that moves, at zero."""
    more = next_freedoms(fit.law)
    return evaluate(fit.data, fit.law.freed(more), fit.weights) if more else fit


def modes_of(fit: MovingFit, orders: Array) -> MovingModes:
    """Frequencies, shapes and their joint covariance.

    Parameters
    ----------
    fit : MovingFit
    orders : array of int (channels,)
        Derivative that each channel measures.
    """
    law, n = fit.law, len(fit.weights)
    omega = law.mean_frequencies()
    rows = law.mean_rows()
    C = inverse_scaled(fit.fisher)
    found = [_shape(fit, j, omega[j], orders) for j in range(law.count)]
    by_law = np.zeros((law.count * n, law.size))
    noise = np.zeros((law.count * n,) * 2)
    for (r, a), one in fit.linear.items():
        G = _by_linear(found, r, a, law.count, n)
        by_law += G @ one.slopes
        noise += G @ one.inverse @ G.T / fit.weights[a]
    T = np.vstack([rows, by_law])
    covariance = T @ C @ T.T
    covariance[law.count :, law.count :] += noise
    covariance[: law.count, : law.count] += np.diag(_undecided(fit))
    order = np.argsort(omega)
    pick = np.concatenate([order, *(law.count + j * n + np.arange(n) for j in order)]).astype(int)
    amplitudes = np.array([[_size(one, r) for one in found] for r in range(fit.data.n_trials)])
    return MovingModes(
        lines=order,
        frequencies=omega[order],
        shapes=np.array([one.shape for one in found])[order],
        covariance=covariance[np.ix_(pick, pick)],
        amplitudes=amplitudes[:, order],
        significance=np.sqrt(line_gains(fit))[order],
        phase_ratio=np.array([one.ratio for one in found])[order],
        in_phase=np.array([one.p_value > limits.PHASE_LEVEL for one in found])[order],
    )


def _undecided(fit: MovingFit) -> Array:
    r"""Variance of the frequencies because the next degree may be there and was not seen.

    A line that moves by coefficients of size τ may have a next one of that size too. With its
    estimate :math:`\hat c ± s` it is there with the odds (Gaussian prior, even chances)

    .. math:: \left(1 + τ^2/s^2\right)^{-1/2} \exp \frac{\hat c^2 τ^2}{2 s^2 (τ^2 + s^2)},

    and adds :math:`p\,(\hat c^2 + s^2)` times the squared change of the frequency. A line of
    constant size has a mean frequency that does not change with it; one that fades has.
    """
    out, law = np.zeros(fit.count), fit.law
    for one in next_freedoms(law):
        if one.part != PHASE:
            continue
        wide = evaluate(fit.data, law.freed([one]), fit.weights)
        C = inverse_scaled(wide.fisher)
        i = len(law.free)
        guess, variance = float(C[i] @ wide.gradient), float(C[i, i])
        prior = _largest(law, one.line) ** 2 / variance
        odds = guess**2 / variance * prior / (1 + prior) - np.log1p(prior)
        change = wide.law.mean_rows() @ C[:, i] / variance
        out += float(expit(0.5 * odds)) * (guess**2 + variance) * change**2
    return out


def _largest(law: Law, line: int) -> float:
    """Largest coefficient by which a phase bends."""
    rows = zip(law.free, law.values, strict=True)
    own = [v for o, v in rows if (o.part, o.line) == (PHASE, line) and 1 < o.order <= limits.DEGREE]
    return float(np.abs(own).max())


# -- shapes ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Shape:
    """Rank-one part of the amplitudes of a line.

    ``X = scale · displacement`` over (channels, 2 · trials), ``X ≈ s d vᵀ``.
    """

    line: int
    shape: Array
    scaled: Array
    right: Array
    strength: float
    scale: Array
    factor: ComplexArray
    ratio: float
    p_value: float


def _shape(fit: MovingFit, j: int, omega: float, orders: Array) -> _Shape:
    """Shape of a line from the amplitudes of all trials, each channel by its noise."""
    trials, n = fit.data.n_trials, len(fit.weights)
    middle = np.exp(fit.law.exponents(np.zeros(1))[j, 0])
    factor = np.asarray((1j * omega) ** orders / middle, complex)
    A = np.array([[fit.linear[r, a].amplitudes[j] for r in range(trials)] for a in range(n)])
    x = A / factor[:, None]
    pairs = np.concatenate([x.real, x.imag], axis=1)
    scale = np.sqrt(fit.weights) * np.abs(factor)
    U, s, V = np.linalg.svd(scale[:, None] * pairs, full_matrices=False)
    d = U[:, 0] / scale
    sign = positive_sign(d)
    second = float(s[1] / s[0]) if len(s) > 1 else 0.0
    dof = (n - 1) * (2 * trials - 1)
    error = np.mean([_variance(fit.linear[r, 0], j) for r in range(trials)])
    p = float(chdtrc(dof, np.sum(s[1:] ** 2) / error)) if dof else 1.0
    unit = sign * d / np.linalg.norm(d)
    return _Shape(j, unit, sign * U[:, 0], sign * V[0], float(s[0]), scale, factor, second, p)


def _variance(one: Linear, j: int) -> float:
    N = (len(one.values) - BACKGROUND) // 2
    own = np.diag(one.inverse)[[BACKGROUND + j, BACKGROUND + N + j]]
    return float(own.mean())


def _size(one: _Shape, r: int) -> float:
    """Displacement along the unit shape in a trial."""
    half = len(one.right) // 2
    along = one.strength * np.linalg.norm(one.scaled / one.scale)
    return float(along * np.hypot(one.right[r], one.right[half + r]))


def _by_linear(found: list[_Shape], r: int, a: int, count: int, n: int) -> Array:
    """Derivatives of all shapes by the linear parameters of one series, (count · n, L)."""
    G = np.zeros((count * n, BACKGROUND + 2 * count))
    for one in found:
        j, half = one.line, len(one.right) // 2
        turn = np.array([1.0, 1j]) / one.factor[a]  # displacement by real and imaginary part
        along = turn.real * one.right[r] + turn.imag * one.right[half + r]
        change = np.zeros((n, 2))
        change[a] = one.scale[a] * along / one.strength
        change -= np.outer(one.scaled, one.scaled @ change)
        change = change / one.scale[:, None] / np.linalg.norm(one.scaled / one.scale)
        change -= np.outer(one.shape, one.shape @ change)
        G[j * n : (j + 1) * n, [BACKGROUND + j, BACKGROUND + count + j]] = change
    return G
