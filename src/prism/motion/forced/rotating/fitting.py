r"""From a square response that is not reciprocal to the lines of a system that rotates.

Poles are placed by vector fitting of the symmetric part and of the antisymmetric part over iω,
which share them; then lines are fitted to all entries by maximum likelihood, with the noise about
them: lines of rank one where nothing is lost, lines with free residues where something is. These
are then adjusted to what holds of masses, springs, friction and gyroscopic forces (`losses`). The
order with the best likelihood, at the price of its lines, is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from scipy.special import chdtri, ndtri

from prism._types import Array, ComplexArray
from prism.adjust import Adjusted, adjust
from prism.errors import CannotTellError, NoLineError
from prism.frequency_response import FrequencyResponse
from prism.motion.forced.response.noise import ResponseNoise
from prism.motion.forced.response.rational import relocate, residues
from prism.motion.forced.rotating import _limits as limits
from prism.motion.forced.rotating.data import RotatingData
from prism.motion.forced.rotating.free import FreeLines
from prism.motion.forced.rotating.likelihood import LinesFit, refined
from prism.motion.forced.rotating.losses import bare_estimates, structured
from prism.motion.forced.rotating.model import RotatingLines
from prism.motion.gyroscopic.estimates import by_differences
from prism.motion.gyroscopic.result import GyroscopicEstimates
from prism.remarks import Remark

__all__ = ["RotatingFit", "fit_rotating", "significance"]

L = TypeVar("L", RotatingLines, FreeLines)
_Lossless = LinesFit[RotatingLines]
_Lossy = LinesFit[FreeLines]


@dataclass(frozen=True)
class RotatingFit:
    """A system that rotates, from its response or from forced records.

    Attributes
    ----------
    omega, rate, rate_std : arrays (lines,)
        Frequencies of the lines and rates at which they decay.
    lossy : bool
        Whether they do.
    estimates : GyroscopicEstimates
        The bare system, without losses.
    gains : array (lines,)
        Squared significance of each line.
    lead : float
        By how much the score is better than that of lines in phase.
    misfit : float
        Variance of what is left over that of the noise, where the latter is known by itself.
    left : float
        How many standard deviations what is left is from noise, by its likeness at neighbours.
    lawful : float
        Probability of how far the lines are from those of positions, masses and springs.
    noise : str
        In words.
    noise_std : array (ports,)
        Root mean square error of the driving points.
    remarks : tuple of Remark
    words : str
        How a record shows that it rotates.
    """

    omega: Array
    rate: Array
    rate_std: Array
    lossy: bool
    estimates: GyroscopicEstimates
    gains: Array
    lead: float
    misfit: float
    left: float
    lawful: float
    noise: str
    noise_std: Array
    remarks: tuple[Remark, ...] = ()
    words: str = ""

    @property
    def holds(self) -> bool:
        """Whether it explains the response, better than lines in phase do."""
        lawful = self.lawful > limits.LAWFUL_LEVEL
        return self.lead > 0 and self.misfit < limits.MISFIT and lawful and not self.smooth_rest

    @property
    def smooth_rest(self) -> bool:
        """Whether what is left is no noise."""
        return self.left > limits.SMOOTH_SIGMAS


def fit_rotating(
    response: FrequencyResponse, *, damped: bool | None, false_alarm: float, max_modes: int | None
) -> RotatingFit:
    """Fit lines that turn to a square response.

    Parameters
    ----------
    response : FrequencyResponse
    damped : bool or None
        Whether lines lose energy; None where the likelihood shall say.
    false_alarm : float
        Probability that noise alone shows a line.
    max_modes : int or None

    Raises
    ------
    NoLineError
        When no line stands out of the noise.
    CannotTellError
        When no system of masses and springs has these lines.
    """
    data = RotatingData.of(response)
    most = max_modes or limits.MOST_TURNING
    n = data.H.shape[1]
    plain: _Lossless | None = None
    if not damped:
        place = partial(_placed, data)
        plain = _ladder(data, data.quiet, place, _price(data, 2 * n + 1, false_alarm), most)
        if plain is not None and (damped is False or not _loses(plain, false_alarm)):
            return _without_losses(plain)
    guess = data.quiet if plain is None else plain.noise
    lossy: _Lossy | None = None
    if damped is not False:
        place_free = partial(_placed_free, data)
        price = _price(data, 2 * n**2 + 2, false_alarm)
        lossy = _ladder(data, guess, place_free, price, most)
    if lossy is None:
        raise NoLineError("no line of a system that rotates stands out of the noise.")
    return _with_losses(lossy)


def _price(data: RotatingData, numbers: int, false_alarm: float) -> float:
    """Gain of -2 log L for which noise alone shows a line of so many numbers."""
    return float(chdtri(numbers, false_alarm / (2 * len(data.omega))))


def _loses(fit: _Lossless, false_alarm: float) -> bool:
    """Whether lines lose energy: more is left than noise, or a rate is significant, one-sided."""
    if _misfit(fit) >= limits.MISFIT:
        return True
    lines = fit.lines
    pole = np.asarray((1j - limits.LEAST_LOSS) * lines.omega, complex)
    R = -1j * lines.factors[:, :, None] * lines.factors[:, None, :].conj()
    free = refined(fit.data, FreeLines(pole, R), fit.noise)
    N = len(lines)
    std = np.sqrt(np.diag(free.covariance)[:N])
    return bool((free.lines.rate / std).max() > -ndtri(false_alarm / N))


def _ladder(
    data: RotatingData,
    guess: ResponseNoise,
    place: Callable[[ResponseNoise, int], L | None],
    price: float,
    most: int,
) -> LinesFit[L] | None:
    """Best of the fits of growing order, which ends when more lines do not pay."""
    best: LinesFit[L] | None = None
    lowest, beyond = np.inf, 0
    for order in range(1, min(most, len(data.omega) // 4) + 1):
        weights = guess if best is None else best.noise
        lines = place(weights, order)
        if lines is None:
            continue
        fit = refined(data, lines, weights)
        cost = fit.value + len(fit.lines) * price
        if cost < lowest:
            best, lowest, beyond = fit, cost, 0
        else:
            beyond += 1
        if beyond > limits.ORDERS_BEYOND:
            break
    return best


def _poles(data: RotatingData, noise: ResponseNoise, order: int) -> ComplexArray:
    """Poles in :math:`x = ω^2` by vector fitting, as many as a given order."""
    power = np.abs(data.H) ** 2
    variance = data.variance(noise, power)
    Y, weights = data.columns(variance + 1e-6 * (float(np.median(variance)) + power))
    start = np.linspace(data.omega[0], data.omega[-1], order + 2)[1:-1] ** 2
    poles = relocate(data.omega**2, Y, weights, start * (1 + 0.02j), limits.PLACING_STEPS)
    return np.asarray(poles[poles.real > limits.LEAST_LINE**2])


def _placed(data: RotatingData, noise: ResponseNoise, order: int) -> RotatingLines | None:
    """Lines of a given order, the strongest direction of each residue."""
    x, poles = data.omega**2, _poles(data, noise, order)
    if not len(poles):
        return None
    power = np.abs(data.H) ** 2
    variance = data.variance(noise, power)
    Y, weights = data.columns(variance + 1e-6 * (float(np.median(variance)) + power))
    R = residues(x, Y, weights, poles.real + 1e-9j * np.gradient(x).min())[0]
    omega = np.minimum(np.sqrt(poles.real), limits.FARTHEST)
    n = data.H.shape[1]
    lines = [(w, _direction(w, r, n)) for w, r in zip(omega, R, strict=True)]
    kept = [(w, c) for w, c in lines if c is not None]
    if not kept:
        return None
    return RotatingLines(np.array([w for w, _ in kept]), np.array([c for _, c in kept]))


def _placed_free(data: RotatingData, noise: ResponseNoise, order: int) -> FreeLines | None:
    """Lines of a given order with the residues that fit best."""
    poles = _poles(data, noise, order)
    if not len(poles):
        return None
    pole = 1j * np.sqrt(poles)  # x = -s²
    pole = np.minimum(pole.real, -limits.LEAST_LOSS * pole.imag) + 1j * pole.imag
    N, n = len(pole), data.H.shape[1]
    shape = FreeLines(pole, np.zeros((N, n, n), complex))
    weight = np.sqrt(2 / data.variance(noise, np.abs(data.H) ** 2))
    f, g = shape.parts(data.omega)
    basis = np.hstack([f + g, 1j * (f - g)])
    R = np.zeros((N, n, n), complex)
    for a, b in np.ndindex(n, n):
        columns = basis * weight[:, a, b, None]
        right = data.H[:, a, b] * weight[:, a, b]
        both = np.vstack([columns.real, columns.imag])
        c = np.linalg.lstsq(both, np.concatenate([right.real, right.imag]), rcond=1e-10)[0]
        R[:, a, b] = c[:N] + 1j * c[N:]
    return replace(shape, residue=R)


def _direction(omega: float, R: Array, n: int) -> ComplexArray | None:
    r"""The c of :math:`R_S = 2Ω\,\mathrm{Re}\,cc^*`, :math:`R_A = 2\,\mathrm{Im}\,cc^*`."""
    upper, above = np.triu_indices(n), np.triu_indices(n, 1)
    S, A = np.zeros((n, n)), np.zeros((n, n))
    S[upper] = S.T[upper] = R[: len(upper[0])] / (2 * omega)
    A[above] = R[len(upper[0]) :] / 2
    values, vectors = np.linalg.eigh(S + 1j * (A - A.T))
    if values[-1] <= -2 * min(values[0], 0.0) or values[-1] <= 0:
        return None
    return np.asarray(np.sqrt(values[-1]) * vectors[:, -1])


def _misfit(fit: _Lossless) -> float:
    """What is left over the noise of the anti-Hermitian part, where that shows noise alone."""
    data, lines = fit.data, fit.lines
    H = lines(data.omega)
    variance = data.variance(data.quiet, np.abs(H) ** 2)
    left = float((np.abs(data.H - H) ** 2 / variance).sum())
    return left / (data.total - lines.free / 2)


# -- what is reported ------------------------------------------------------------------------------


def _with_losses(fit: _Lossy) -> RotatingFit:
    """The bare system of lines that lose energy."""
    data, N = fit.data, len(fit.lines)
    fit = replace(fit, lines=fit.lines.picked(np.argsort(fit.lines.omega)))
    C = fit.covariance
    tied = structured(fit.lines, C)
    n, unit = data.H.shape[1], data.frequency_unit
    if not tied.converged:
        raise CannotTellError("the lines are not those of any masses, springs and friction.")
    estimates = bare_estimates(tied, n, unit, data.value_unit)
    R = fit.lines.residue
    even = replace(fit.lines, residue=0.5 * (R + R.swapaxes(1, 2)), turning=False)
    in_phase = refined(data, even, fit.noise, limits.QUICK_TURNS)
    return RotatingFit(
        omega=unit * fit.lines.omega,
        rate=unit * fit.lines.rate,
        rate_std=unit * np.sqrt(np.diag(C)[:N]),
        lossy=True,
        estimates=estimates,
        gains=significance(R, C[2 * N :, 2 * N :]),
        lead=in_phase.score - fit.score,
        misfit=1.0,
        left=fit.left,
        lawful=tied.p_value,
        noise=data.in_words(fit.noise),
        noise_std=data.at_driving_points(fit.noise),
    )


def _without_losses(fit: _Lossless) -> RotatingFit:
    """The bare system of lines that lose none."""
    data, lines = fit.data, fit.lines
    order = np.argsort(lines.omega)
    lines = replace(lines, omega=lines.omega[order], factors=lines.factors[order])
    fit = replace(fit, lines=lines)
    C = fit.covariance
    N, n = lines.factors.shape
    point = np.concatenate([lines.omega, lines.factors.real.ravel(), lines.factors.imag.ravel()])
    tied = _commuted(point, C, (N, n))
    unit, size = data.frequency_unit, np.sqrt(data.frequency_unit * data.value_unit)

    def lines_at(p: Array) -> tuple[Array, ComplexArray]:
        omega, c = _split(p, (N, n))
        return unit * omega, np.asarray(size * c / np.sqrt(unit * omega)[:, None])

    return RotatingFit(
        omega=unit * lines.omega,
        rate=np.zeros(N),
        rate_std=np.zeros(N),
        lossy=False,
        estimates=by_differences(tied.p, tied.covariance, lines_at),
        gains=significance(lines.factors, C[N:, N:]),
        lead=_in_phase(fit).score - fit.score,
        misfit=_misfit(fit),
        left=fit.left,
        lawful=tied.p_value if tied.converged else 0.0,
        noise=data.in_words(fit.noise),
        noise_std=data.at_driving_points(fit.noise),
    )


def _in_phase(fit: _Lossless) -> _Lossless:
    """The same number of lines, in phase on all ports."""
    lines = fit.lines
    C = (lines.factors[:, :, None] * lines.factors[:, None, :].conj()).real
    values, vectors = np.linalg.eigh(C)
    real = vectors[:, :, -1] * np.sqrt(np.maximum(values[:, -1:], 0.0))
    start = replace(lines, factors=real + 0j, turning=False)
    return refined(fit.data, start, fit.noise, limits.QUICK_TURNS)


def significance(c: ComplexArray, C: Array) -> Array:
    """Squared length of each c in units of its error.

    Parameters
    ----------
    c : complex array (lines, ...)
    C : array
        Covariance of the real parts, then of the imaginary ones.
    """
    flat, out = np.array([c.real, c.imag]), []
    for j in range(len(c)):
        mine = np.zeros((2, *c.shape), bool)
        mine[:, j] = True
        k = np.flatnonzero(mine)
        x = flat.ravel()[k]
        out.append(float(x @ x) ** 2 / max(float(x @ C[np.ix_(k, k)] @ x), 1e-300))
    return np.array(out)


def _split(p: Array, shape: tuple[int, int]) -> tuple[Array, ComplexArray]:
    N, size = shape[0], shape[0] * shape[1]
    c = p[N : N + size] + 1j * p[N + size : N + 2 * size]
    return p[:N], np.asarray(c.reshape(shape))


def _commuted(point: Array, covariance: Array, shape: tuple[int, int]) -> Adjusted:
    r"""Adjust the lines to :math:`\sum_j \mathrm{Im}\, c_j c_j^* = 0`: positions commute."""
    N, n = shape
    a, b = np.triu_indices(n, 1)

    def relations(p: Array, q: Array) -> tuple[Array, Array, Array]:
        _, c = _split(p, shape)
        h = (c[:, a] * c[:, b].conj()).imag.sum(axis=0)
        A = np.zeros((len(a), len(p)))
        for k, (i, j) in enumerate(zip(a, b, strict=True)):
            real, imaginary = np.zeros((2, *shape))
            real[:, i], real[:, j] = -c[:, j].imag, c[:, i].imag
            imaginary[:, i], imaginary[:, j] = c[:, j].real, -c[:, i].real
            A[k, N:] = np.concatenate([real.ravel(), imaginary.ravel()])
        return h, A, np.zeros((len(a), 0))

    return adjust(point, covariance, np.zeros(0), relations)
