r"""The joint least-squares fit of decaying lines: variable projection with step control.

Model of stretch r, channel a, time t since the start of the stretch:

.. math:: y_{ra}(t) = b_{ra} + s_{ra} u + \operatorname{Re} \sum_j A_{raj} e^{λ_j t}
          + \text{noise}_a, \qquad λ_j = -δ_j + iω_j .

The poles are shared by all stretches and channels. Given them the rest is linear and drops out,
so the cost :math:`χ²(ω, δ) = Σ_a w_a ‖P^⊥ y_a‖²`, :math:`w_a = 1/σ_a²`, depends on 2m numbers. Its
Gauss-Newton matrix (Kaufman's form) is the Fisher information of (ω, δ) with all amplitudes
unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from prism._types import Array, ComplexArray, Mask
from prism.motion.decays.segments import Segments

_DEPENDENT = 1e-3  # sine of the angle between a column and the others, at least
_GAP = 0.02  # of the resolution 2π/T, between two poles of one fit
_HELD = 1 << 22  # numbers kept in memory at once
_ROUNDING = 1e-9  # relative accuracy of the cost
_FASTEST_GROWTH = 2.0  # e-foldings in the longest stretch that a line may grow
_STRONGEST = 0.7  # ratio δ/ω above which a motion is no line


class CrowdedPolesError(np.linalg.LinAlgError):
    """Poles so close together that their amplitudes cannot be told apart."""


@dataclass(frozen=True)
class Linear:
    """The linear parameters of the stretches of one sampling.

    Attributes
    ----------
    values : array (channels, background + 2m, stretches)
        Offset (and drift), real parts, imaginary parts of the amplitudes.
    inverse : array (1 or channels, background + 2m, background + 2m)
        Covariance at fixed poles for noise of variance one.
    slopes : array (1 or channels, background + 2m, 2m)
        Regression of the derivative columns on the linear ones, which turns a change of a
        pole into a change of ``values``.
    """

    values: Array
    inverse: Array
    slopes: Array


@dataclass(frozen=True)
class DecayPoint:
    """The fit at given poles.

    Attributes
    ----------
    poles : array (m,)
        λ, ascending in frequency.
    weights : array (channels,)
        ``1/σ_a²``.
    background : int
        Columns of the background: 1 offset, 2 offset and drift.
    cost : float
        ``χ²``.
    rss : array (channels,)
    gradient, fisher : arrays (2m,), (2m, 2m)
        Half the negative gradient of ``χ²`` by (ω, δ) and its Gauss-Newton matrix.
    linear : list of Linear
        One for each of the segments.
    """

    poles: ComplexArray
    weights: Array
    background: int
    cost: float
    rss: Array
    gradient: Array
    fisher: Array
    linear: list[Linear]

    @property
    def count(self) -> int:
        """Number of lines."""
        return len(self.poles)


def longest(segments: Sequence[Segments]) -> float:
    """Duration of the longest stretch."""
    return max(s.duration for s in segments)


def columns(times: Array, poles: ComplexArray, background: int, scale: float) -> Array:
    """Offset, drift, real and imaginary parts of the lines, and the latter times ``t/scale``."""
    z = np.exp(np.multiply.outer(times, poles))
    u = times[:, None] / scale
    parts = np.hstack([z.real, -z.imag])
    back = np.hstack([np.ones_like(u), 2 * u - 1])[:, :background]
    return np.hstack([back, parts, u * parts])


def evaluate(
    segments: Sequence[Segments], poles: ComplexArray, weights: Array, background: int = 2
) -> DecayPoint:
    """Cost, gradient and Gauss-Newton matrix at the given poles.

    Raises
    ------
    CrowdedPolesError
        When the columns of the lines are linearly dependent in the arithmetic at hand.
    """
    m, scale = len(poles), longest(segments)
    rss = np.zeros(len(weights))
    gradient, fisher = np.zeros(2 * m), np.zeros((2 * m, 2 * m))
    linear = []
    for part in segments:
        blocks = _Blocks(part, poles, background, scale)
        Q, e = _gram(part, blocks)
        one, schur = _eliminate(Q, e, background + 2 * m)
        rest, power = _residual_moments(part, blocks, one.values)
        rss += power
        linear.append(one)
        if m:
            g, f = _pole_derivatives(one.values[:, background:], rest, schur, weights)
            gradient += scale * g
            fisher += scale**2 * f
    cost = float(weights @ rss)
    return DecayPoint(poles, weights, background, cost, rss, gradient, fisher, linear)


class _Blocks:
    """The columns piece by piece: held when they are small, made anew at every pass if not."""

    def __init__(self, part: Segments, poles: ComplexArray, background: int, scale: float) -> None:
        self.width = background + 4 * len(poles)
        self._times, self._poles = part.times, poles
        self._background, self._scale = background, scale
        self._pieces = list(part.parts())
        small = len(part.times) * self.width < _HELD
        self._held = [self._make(piece) for piece in self._pieces] if small else None

    def _make(self, piece: slice) -> Array:
        return columns(self._times[piece], self._poles, self._background, self._scale)

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        if self._held is not None:
            return zip(self._pieces, self._held, strict=True)
        return ((piece, self._make(piece)) for piece in self._pieces)


def _gram(part: Segments, blocks: _Blocks) -> tuple[Array, Array]:
    """``XᵀX`` (1 or channels, p, p) and ``Xᵀy`` (channels, p, stretches)."""
    p = blocks.width
    masks = 1 if part.present is None else len(part.present)
    Q, e = np.zeros((masks, p, p)), np.zeros((len(part.values), p, part.count))
    for piece, X in blocks:
        e += np.swapaxes(part.values[:, :, piece] @ X, 1, 2)
        if part.present is None:
            Q[0] += X.T @ X
        else:
            for a, mask in enumerate(part.present[:, piece]):
                Q[a] += X[mask].T @ X[mask]
    return Q, e


def _eliminate(Q: Array, e: Array, linear: int) -> tuple[Linear, Array]:
    """Linear parameters, and the information of the derivative columns orthogonal to them."""
    Qll, Qld = Q[:, :linear, :linear], Q[:, :linear, linear:]
    scale = 1 / np.sqrt(np.einsum("aii->ai", Qll))
    unit = Qll * scale[:, :, None] * scale[:, None, :]
    try:
        root = np.linalg.cholesky(unit)
    except np.linalg.LinAlgError as error:
        raise CrowdedPolesError("poles coincide") from error
    if np.einsum("aii->ai", root).min() < _DEPENDENT:
        raise CrowdedPolesError("poles coincide")
    inverse = np.linalg.inv(unit) * scale[:, :, None] * scale[:, None, :]
    slopes = inverse @ Qld
    schur = Q[:, linear:, linear:] - np.swapaxes(Qld, 1, 2) @ slopes
    return Linear(np.asarray(inverse @ e[:, :linear]), inverse, slopes), schur


def _residual_moments(part: Segments, blocks: _Blocks, values: Array) -> tuple[Array, Array]:
    """``D^T r`` (channels, 2m, stretches) of the derivative columns, and ``r^T r``."""
    linear = values.shape[1]
    rest = np.zeros((len(values), blocks.width - linear, part.count))
    power = np.zeros(len(values))
    for piece, X in blocks:
        r = _left(part, piece, X[:, :linear], values)
        rest += np.swapaxes(r @ X[:, linear:], 1, 2)
        power += np.einsum("arm,arm->a", r, r)
    return rest, power


def _left(part: Segments, piece: slice, X: Array, values: Array) -> Array:
    """Residual in one piece, zero where a sample is missing."""
    r = part.values[:, :, piece] - np.swapaxes(values, 1, 2) @ X.T
    return r if part.present is None else r * part.present[:, None, piece]


def residual(segments: Sequence[Segments], point: DecayPoint) -> list[Array]:
    """What the lines leave, (channels, stretches, samples) for each of the segments."""
    scale, out = longest(segments), []
    for part, one in zip(segments, point.linear, strict=True):
        r = np.empty_like(part.values)
        for piece in part.parts():
            X = columns(part.times[piece], point.poles, point.background, scale)
            r[:, :, piece] = _left(part, piece, X[:, : one.values.shape[1]], one.values)
        out.append(r)
    return out


def pole_directions(amplitudes: Array) -> Array:
    """Coefficients of the derivative columns for a change of ω and of δ.

    ``∂ Re A e^{λt} = Re(iA t e^{λt}) ∂ω - Re(A t e^{λt}) ∂δ``.

    Parameters
    ----------
    amplitudes : array (channels, 2m, stretches)
        Real parts, then imaginary parts.

    Returns
    -------
    array (2, channels, 2m, stretches)
    """
    m = amplitudes.shape[1] // 2
    turned = np.concatenate([-amplitudes[:, m:], amplitudes[:, :m]], axis=1)
    return np.stack([turned, -amplitudes])


def _pole_derivatives(
    amplitudes: Array, rest: Array, schur: Array, weights: Array
) -> tuple[Array, Array]:
    m = amplitudes.shape[1] // 2
    V = pole_directions(amplitudes)
    g = np.einsum("a,vakr,akr->vk", weights, V, rest)
    moments = np.einsum("a,vakr,ualr->avkul", weights, V, V, optimize=True)
    full = np.einsum("akl,avkul->vkul", schur + 0 * moments[:, 0, :, 0, :], moments)
    f = full.reshape(2, 2, m, 2, 2, m).sum(axis=(1, 4)).reshape(2 * m, 2 * m)
    return (g[:, :m] + g[:, m:]).ravel(), f


# -- refinement -----------------------------------------------------------------------------------


def refine(
    segments: Sequence[Segments],
    poles: ComplexArray,
    weights: Array,
    *,
    band: tuple[float, float],
    background: int = 2,
    undamped: Mask | None = None,
    tolerance: float = 1e-3,
    hopeless: float = np.inf,
    max_steps: int = 40,
) -> DecayPoint:
    """Levenberg-Marquardt on the variable-projection cost, all poles at once.

    Parameters
    ----------
    band : (low, high)
        Angular frequencies are kept inside.
    undamped : array of bool (m,), optional
        Poles (ascending in frequency) whose δ is held.
    tolerance : float
        Stop when a full step would lower ``χ²`` by less than this.
    hopeless : float
        Stop as soon as three times the predicted gain would not bring ``χ²`` below this.

    Raises
    ------
    CrowdedPolesError
        When the start values are too close together to be fitted at all.
    """
    T = longest(segments)
    point = evaluate(segments, _apart(poles, _GAP * 2 * np.pi / T), weights, background)
    free = np.ones(2 * point.count, bool)
    if undamped is not None:
        free[point.count :] = ~undamped
    damping = 0.0
    for _ in range(max_steps if point.count else 0):
        step = _damped_step(point, damping, free)
        promise = float(step @ point.gradient)
        if promise < tolerance or point.cost - 3 * promise > hopeless:
            break
        slack = _ROUNDING * point.cost
        candidate = _try(segments, _moved(point.poles, step, T, band), point)
        if candidate is not None and candidate.cost <= point.cost + slack:
            settled = candidate.cost > point.cost - slack
            point, damping = candidate, 0.1 * damping if damping > 1e-4 else 0.0
            if settled:
                break
        elif damping > 1e6:
            break
        else:
            damping = max(10 * damping, 1e-2)
    return point


def _damped_step(point: DecayPoint, damping: float, free: Mask) -> Array:
    diagonal = np.diag(point.fisher)
    scale = np.sqrt(np.maximum(diagonal, 1e-12 * diagonal.max()))
    # a little damping always: a line of zero amplitude has no information about its pole
    scaled = point.fisher / np.outer(scale, scale) + (damping + 1e-10) * np.eye(len(scale))
    out = np.zeros(len(scale))
    block = scaled[np.ix_(free, free)]
    out[free] = np.linalg.solve(block, (point.gradient / scale)[free]) / scale[free]
    return out


def _moved(poles: ComplexArray, step: Array, T: float, band: tuple[float, float]) -> ComplexArray:
    """Take the step, shortened so that no pole moves by more than a third of its width."""
    m = len(poles)
    width = 0.35 * np.maximum(2 * np.pi / T, np.abs(poles.real))
    factor = min(1.0, 1 / float(np.max(np.abs(step) / np.concatenate([width, width]))))
    omega = np.clip(poles.imag + factor * step[:m], *band)
    delta = -poles.real + factor * step[m:]
    delta = np.clip(delta, -_FASTEST_GROWTH / T, _STRONGEST * omega)
    return np.asarray(-delta + 1j * omega)


def _try(segments: Sequence[Segments], poles: ComplexArray, point: DecayPoint) -> DecayPoint | None:
    # poles that run into each other are one: such a step is refused here, and the pair that is
    # left behind is merged by whoever decides the number of lines
    gap = np.abs(poles[:, None] - poles)[np.triu_indices(len(poles), 1)]
    if gap.min(initial=np.inf) < _GAP * 2 * np.pi / longest(segments):
        return None
    if np.any(np.diff(poles.imag) < 0):
        return None
    try:
        return evaluate(segments, poles, point.weights, point.background)
    except CrowdedPolesError:
        return None


def _apart(poles: ComplexArray, gap: float) -> ComplexArray:
    """Sort by frequency; move start values that coincide apart, upwards."""
    out = poles[np.argsort(poles.imag)].astype(complex)
    for j in range(1, len(out)):
        if abs(out[j] - out[j - 1]) < gap:
            out[j] = out[j].real + 1j * (out[j - 1].imag + 1.01 * gap)
    return out


# -- what a fit says ------------------------------------------------------------------------------


def degrees_of_freedom(segments: Sequence[Segments], count: int, background: int) -> Array:
    """Samples minus fitted linear parameters, per channel; poles are shared out evenly."""
    samples = np.sum([s.samples * s.count for s in segments], axis=0)
    stretches = sum(s.count for s in segments)
    spent = stretches * (2 * count + background) + 2 * count / len(samples)
    return np.asarray(np.maximum(samples - spent, 1.0))


def gains(point: DecayPoint) -> Array:
    """Rise of ``χ²`` by channel when one line is taken out and other poles held, (m, channels)."""
    m, back = point.count, point.background
    out = np.zeros((m, len(point.weights)))
    for one in point.linear:
        for j in range(m):
            pair = [back + j, back + m + j]
            information = np.linalg.inv(one.inverse[:, pair][:, :, pair])
            A = one.values[:, pair]
            full = np.broadcast_to(information, (len(A), 2, 2))
            out[j] += point.weights * np.einsum("air,aij,ajr->a", A, full, A)
    return out
