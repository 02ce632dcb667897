r"""Least squares for what is nonlinear in a sum of lines: variable projection.

Every member of a sum has amplitudes, free in every series and linear in the data, and a place (its
frequency, or its pole) shared by all of them. Given the places p, everything else drops out, and

.. math:: χ²(p) = Σ_a w_a ‖P^⊥ y_a‖² , \qquad w_a = 1/σ_a²,

depends on a few numbers alone. With E the linear columns, D their derivatives by the places times
the amplitudes, the gradient is :math:`D^T (y - Ec)` and the Gauss-Newton matrix (Kaufman's form)
:math:`D^T (1 - E (E^T E)^{-1} E^T) D`: at the same time the Fisher information of the places with
all amplitudes unknown. A steady line is a decay with rate zero; columns and derivatives of both are
those of their `AbstractSampling`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

import numpy as np
from scipy.special import chdtrc

from prism._types import Array, ComplexArray, Mask
from prism.search import _limits as limits
from prism.search.descent import Control, Step, Stop, damped_solution, descend
from prism.search.noise import noise_weights, resolution, spare_of
from prism.search.pursuit import LOOSE, AbstractFamily
from prism.search.sampling import AbstractSampling, Places


class CrowdedError(np.linalg.LinAlgError):
    """Members so close together that their amplitudes cannot be told apart."""


# -- what is linear --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Amplitudes:
    """Linear parameters of the trials of one sampling.

    Attributes
    ----------
    values : array (channels, background + 2N, trials)
        Offset (and drift), then the first and the second amplitude of each line.
    gram : array (1 or channels, background + 2N, background + 2N)
    slopes : array (1 or channels, background + 2N, 2N)
        Regression of the derivative columns on the linear ones, which turns a change of a place
        into a change of ``values``.
    background : int
    """

    values: Array
    gram: Array
    slopes: Array
    background: int

    @cached_property
    def inverse(self) -> Array:
        """Covariance of ``values`` at fixed places for noise of variance one."""
        return np.asarray(np.linalg.inv(self.gram))

    @property
    def lines(self) -> Array:
        """Amplitudes without the background, (channels, 2N, trials)."""
        return self.values[:, self.background :]

    def pair(self, j: int) -> tuple[Array, Array]:
        """Both amplitudes of line j, (channels, 2, trials), and their information."""
        first = self.background + j
        both = [first, first + self.lines.shape[1] // 2]
        information = np.linalg.inv(self.inverse[:, both][:, :, both])
        return self.values[:, both], np.broadcast_to(information, (len(self.values), 2, 2))


def unit_diagonal(gram: Array) -> tuple[Array, Array]:
    """Gram matrices of columns of length one, and one over the lengths."""
    scale = 1 / np.sqrt(np.maximum(np.diagonal(gram, axis1=-2, axis2=-1), 1e-300))
    return gram * scale[..., :, None] * scale[..., None, :], scale


def check_independent(unit: Array, least: float = limits.DEPENDENT_LINES) -> Array:
    """Cholesky factors of Gram matrices of unit columns.

    Raises
    ------
    CrowdedError
        When a column is a combination of the others, up to a part of sine ``least``.
    """
    try:
        root = np.asarray(np.linalg.cholesky(unit), float)
    except np.linalg.LinAlgError as error:
        raise CrowdedError("lines coincide") from error
    if np.diagonal(root, axis1=-2, axis2=-1).min(initial=1.0) < least:
        raise CrowdedError("lines coincide")
    return root


def _solve(gram: Array, right: Array) -> Array:
    """Solve ``gram x = right`` for (1 or channels, p, p) and (channels, p, trials)."""
    if len(gram) == len(right):
        return np.asarray(np.linalg.solve(gram, right))
    channels, p, trials = right.shape
    flat = right.transpose(1, 0, 2).reshape(p, channels * trials)
    solution = np.linalg.solve(gram[0], flat).reshape(p, channels, trials)
    return np.asarray(solution.transpose(1, 0, 2))


# -- the fit at given places -----------------------------------------------------------------------


class Curved:
    """A fit that knows its members, its gradient and its Gauss-Newton matrix.

    Where the matrix depends on the damping, ``curved`` is written anew and ``gradient`` and
    ``fisher`` are not there.
    """

    places: Any
    cost: float
    gradient: Array
    fisher: Array

    @property
    def fit(self) -> Self:
        """Itself: a fit may carry what it leaves over."""
        return self

    @property
    def count(self) -> int:
        """Number of members."""
        return len(self.places)

    def curved(self, damping: float) -> tuple[Array, Array]:
        """Gauss-Newton matrix, and half the negative gradient."""
        return self.fisher, self.gradient


@dataclass(frozen=True)
class LineFit(Curved):
    """Lines fitted with free amplitudes.

    Attributes
    ----------
    samplings : sequence of AbstractSampling
        The data.
    places : array (N,)
        Frequencies of steady lines, or poles of decaying ones; ascending in frequency.
    weights : array (channels,)
        ``w_a = 1/σ_a²`` used in the cost.
    cost : float
        ``χ²``.
    rss : array (channels,)
        Residual sum of squares per channel.
    gradient, fisher : arrays (P,), (P, P)
        Half the negative gradient of ``χ²`` by the frequencies (and the rates of decay) and its
        Gauss-Newton matrix.
    linear : list of Amplitudes
        One for each sampling.
    """

    samplings: Sequence[AbstractSampling]
    places: Places
    weights: Array
    cost: float
    rss: Array
    gradient: Array
    fisher: Array
    linear: list[Amplitudes]

    @property
    def omega(self) -> Array:
        """Angular frequencies."""
        return frequencies(self.places)

    @property
    def poles(self) -> ComplexArray:
        """λ = -δ + iω."""
        return np.asarray(self.places if np.iscomplexobj(self.places) else 1j * self.places)

    @property
    def background(self) -> int:
        """Columns of the background: 1 offset, 2 offset and drift."""
        return self.samplings[0].background

    @property
    def coefficients(self) -> list[Array]:
        """Offset, drift and amplitudes in each sampling, (channels, 2N+2, trials)."""
        return [one.values for one in self.linear]

    def weighted(self, weights: Array) -> LineFit:
        """The same in units of another noise."""
        return replace(self, weights=weights, cost=float(weights @ self.rss))

    def residuals(self) -> list[AbstractSampling]:
        """What the lines leave of each sampling."""
        parts = zip(self.samplings, self.linear, strict=True)
        return [sampling.residual(self.places, one.values) for sampling, one in parts]


def frequencies(places: Places) -> Array:
    """Angular frequencies of steady or decaying lines."""
    return np.asarray(places.imag if np.iscomplexobj(places) else places)


def evaluate(samplings: Sequence[AbstractSampling], places: Places, weights: Array) -> LineFit:
    """Cost, gradient and Gauss-Newton matrix of the lines at the given places.

    Raises
    ------
    CrowdedError
        When the columns of the lines are linearly dependent in the arithmetic at hand.
    """
    size = samplings[0].nonlinear * len(places)
    rss, gradient, fisher = np.zeros(len(weights)), np.zeros(size), np.zeros((size, size))
    linear = []
    for sampling in samplings:
        Q, e = sampling.moments(places)
        one, rest, schur = _eliminated(Q, e, sampling.background + 2 * len(places), sampling)
        rss += _residual_power(sampling, places, e, one.values)
        linear.append(one)
        if size:
            g, f = _derivatives(sampling.directions(one.lines), rest, schur, weights)
            gradient += sampling.unit * g
            fisher += sampling.unit**2 * f
    cost = float(weights @ rss)
    return LineFit(samplings, places, weights, cost, rss, gradient, fisher, linear)


def _eliminated(
    Q: Array, e: Array, linear: int, sampling: AbstractSampling
) -> tuple[Amplitudes, Array, Array]:
    """Amplitudes; ``D^T r`` of the derivative columns; their information off the linear ones."""
    gram, cross = Q[:, :linear, :linear], Q[:, :linear, linear:]
    check_independent(unit_diagonal(gram)[0])
    values, slopes = _solve(gram, e[:, :linear]), np.asarray(np.linalg.solve(gram, cross), float)
    back = Q[:, linear:, :linear]
    one = Amplitudes(values, gram, slopes, sampling.background)
    return one, e[:, linear:] - back @ values, Q[:, linear:, linear:] - back @ slopes


def _residual_power(sampling: AbstractSampling, places: Places, e: Array, c: Array) -> Array:
    """``‖y - E c‖²`` per channel: ``yᵀy - eᵀc``, or explicitly where that cancels."""
    rss = sampling.power - np.einsum("akr,akr->a", e[:, : c.shape[1]], c)
    if np.all(rss > limits.CANCELLATION * sampling.power):
        return np.asarray(rss)
    return sampling.residual(places, c).power


def _derivatives(V: Array, rest: Array, schur: Array, weights: Array) -> tuple[Array, Array]:
    """Gradient and Gauss-Newton matrix, in units of the scaled time.

    With V (parameters, channels, 2N, trials) the coefficients of the derivative columns, the
    gradient is ``V · D^T r`` and the matrix is ``V V^T ∘ schur``, summed over both columns of a
    line.
    """
    v, n, k, trials = V.shape
    N = k // 2
    X = np.moveaxis(V, 0, 1).reshape(n, v * k, trials)
    W = weights[:, None, None] * X
    g = (W.reshape(n, v, k, trials) * rest[:, None]).sum(axis=(0, 3)).reshape(v, 2, N)
    moments = (W @ np.swapaxes(X, 1, 2)).reshape(n, v, k, v, k)
    if len(schur) < n:
        moments = moments.sum(axis=0, keepdims=True)
    full = (schur[:, None, :, None, :] * moments).sum(axis=0).reshape(v, 2, N, v, 2, N)
    both = full[:, 0] + full[:, 1]
    return (g[:, 0] + g[:, 1]).ravel(), (both[..., 0, :] + both[..., 1, :]).reshape(v * N, v * N)


# -- refinement ------------------------------------------------------------------------------------


A = TypeVar("A", bound=Curved)
M = TypeVar("M")
R = TypeVar("R")


@dataclass(frozen=True)
class Valley(Generic[A]):
    """χ² over the places, as a `Landscape`.

    Attributes
    ----------
    after : callable
        The fit after a step, or None where members run into each other: they are one, and the
        pair that is left behind is merged by whoever decides the number of members.
    free : callable
        Parameters that may move from where they are.
    ridge, least : float
        Damping that is always there, and smallest curvature believed.
    """

    after: Callable[[A, Step], A | None]
    free: Callable[[A], Mask | None] = lambda fit: None
    ridge: float = limits.STEP_RIDGE
    least: float = 1e-12

    def cost(self, point: A) -> float:
        """``χ²``."""
        return point.cost

    def step(self, point: A, damping: float) -> Step:
        """The damped Gauss-Newton step."""
        matrix, gradient = point.curved(damping)
        ridge, free = damping + self.ridge, self.free(point)
        delta = damped_solution(matrix, gradient, ridge, self.least, free=free)
        return Step(delta, float(delta @ gradient), damping)

    def moved(self, point: A, step: Step) -> A | None:
        """The fit after a step."""
        return self.after(point, step)

    def bottom(self, start: A, stop: Stop, control: Control | None = None) -> A:
        """All members fitted together."""
        return descend(self, start, stop, control).point if start.count else start


class ProjectionFamily(AbstractFamily[M, A, R]):
    """Members whose places are fitted by variable projection.

    Attributes
    ----------
    noun : str
        What they are called.
    """

    noun: ClassVar[str]

    @abstractmethod
    def fitted(self, start: M, like: A, tolerance: float, hopeless: float) -> A:
        """All members fitted together, with the noise of another fit.

        Raises
        ------
        CrowdedError
            When they are too close together to be told apart.
        """

    def refined(
        self, start: M, like: A, tolerance: float = LOOSE, hopeless: float = np.inf
    ) -> A | None:
        """All members fitted together; None when they are too crowded to be told apart."""
        return attempted(self.fitted, start, like, tolerance, hopeless)

    def cost(self, fit: A) -> float:
        """``χ²``."""
        return fit.cost

    def members(self, fit: A) -> M:
        """Their places."""
        return cast(M, fit.places)

    def fit(self, rest: Any) -> A:
        """The fit that left it."""
        return cast(A, rest.fit)

    def words(self, fit: A) -> str:
        """How far the search is."""
        return f"{fit.count} {self.noun}"


def refine(
    samplings: Sequence[AbstractSampling],
    places: Places,
    weights: Array,
    stop: Stop,
    *,
    band: tuple[float, float] = (0.0, np.inf),
    free: Mask | None = None,
) -> LineFit:
    """Fit the places of all lines together.

    Parameters
    ----------
    stop : Stop
    band : (low, high)
        Frequencies are kept inside.
    free : array of bool (P,), optional
        Parameters that move.

    Raises
    ------
    CrowdedError
        When the start values are too close together to be fitted at all.
    """
    width = resolution_of(samplings)
    gap = limits.SMALLEST_GAP * width

    def after(fit: LineFit, step: Step) -> LineFit | None:
        trial = _moved(fit.places, step.delta, band, width)
        if closest(trial) < gap or np.any(np.diff(frequencies(trial)) < 0):
            return None
        return attempted(evaluate, samplings, trial, weights)

    start = evaluate(samplings, apart(places, 1.01 * gap), weights)
    return Valley(after, lambda fit: free).bottom(start, stop)


def attempted(function: Callable[..., A], *arguments: object) -> A | None:
    """A fit, or None where members are too crowded for it."""
    try:
        return function(*arguments)
    except CrowdedError:
        return None


def resolution_of(samplings: Sequence[AbstractSampling]) -> float:
    """``2π/T`` of the longest trial."""
    return resolution(max(s.duration for s in samplings))


def shortening(step: Array, width: Array) -> float:
    """The part of a step in which no member moves by more than its width; at most all of it."""
    size = np.maximum(np.abs(step.reshape(-1, len(width))), 1e-300)
    return float((width / size).min(initial=1.0))


def _moved(places: Places, step: Array, band: tuple[float, float], resolution: float) -> Places:
    """Take the step, shortened so that no line moves by more than a third of its width."""
    N = len(places)
    step = step * shortening(step, limits.STEP_REACH * widths(places, resolution))
    omega = np.clip(frequencies(places) + step[:N], *band)
    if len(step) == N:
        return np.sort(omega)
    slowest = -limits.FASTEST_GROWTH * resolution / (2 * np.pi)
    return -np.clip(-places.real + step[N:], slowest, limits.STRONGEST_RATE * omega) + 1j * omega


def widths(places: Places, resolution: float) -> Array:
    """Distance in frequency at which lines are resolved: 2π/T, or the rate of decay."""
    rates = np.abs(places.real) if np.iscomplexobj(places) else np.zeros(len(places))
    return np.asarray(np.maximum(resolution, rates))


def neighbours(omega: Array, reach: Array | float) -> list[int]:
    """The first of every two neighbours that are nearer to each other than ``reach``."""
    return [int(j) for j in np.flatnonzero(np.diff(omega) < reach)]


def closest(places: Places) -> float:
    """Smallest distance of two places."""
    pairs = np.abs(places[:, None] - places)[np.triu_indices(len(places), 1)]
    return float(pairs.min(initial=np.inf))


def apart(places: Places, gap: float) -> Places:
    """Sort by frequency; move start values that coincide apart, upwards."""
    out = places[np.argsort(frequencies(places))]
    upwards = 1j if np.iscomplexobj(places) else 1.0
    for j in range(1, len(out)):
        rise = frequencies(out)[j] - frequencies(out)[j - 1]
        if rise < 0 or abs(out[j] - out[j - 1]) < gap:
            out[j] += (gap - rise) * upwards
    return out


# -- what a fit says -------------------------------------------------------------------------------


def degrees_of_freedom(samplings: Sequence[AbstractSampling], count: int) -> Array:
    """Samples minus fitted linear parameters, per channel; places are shared out evenly."""
    first, samples = samplings[0], total_counts(samplings)
    linear = sum(s.n_trials for s in samplings) * (2 * count + first.background)
    return spare_of(samples, linear, first.nonlinear * count)


def total_counts(samplings: Sequence[AbstractSampling]) -> Array:
    """Samples of each channel over all trials."""
    return np.asarray(np.sum([s.counts * s.n_trials for s in samplings], axis=0))


def residual_weights(fit: LineFit, floor: Array) -> Array:
    """``1/σ²`` per channel from what the lines leave; no variance below ``floor`` is believed."""
    return noise_weights(fit.rss, degrees_of_freedom(fit.samplings, fit.count), floor)


def gains(fit: LineFit) -> Array:
    """Rise of ``χ²`` by channel when one line is taken out and the others held, (N, channels)."""
    out = np.zeros((fit.count, len(fit.weights)))
    for one in fit.linear:
        for j in range(fit.count):
            values, information = one.pair(j)
            out[j] += fit.weights * np.einsum("air,aij,ajr->a", values, information, values)
    return out


def drift_p_value(fit: LineFit, levels: Array | float = 1.0) -> float:
    """χ² test of all drift coefficients together.

    Parameters
    ----------
    levels : array (channels,)
        Noise that the drift sees over that of each channel.
    """
    statistic, dof = 0.0, 0
    for one in fit.linear:
        square = (one.values[:, 1] ** 2).sum(axis=-1)
        statistic += float(np.sum(fit.weights / levels * square / one.inverse[:, 1, 1]))
        dof += one.values[:, 1].size
    return float(chdtrc(dof, statistic))
