r"""Likelihood of the Fourier lines of a band, and Fisher scoring for its maximum.

.. math:: Y \sim CN(0, E), \qquad E = \operatorname{diag} D(ω_k) + U S U^H

(`whittle` for D, `leakage` for the rest; trials are independent). With
:math:`D = L L^H` and an orthonormal basis Z of :math:`L^{-1} U`,
:math:`\tilde E = L^{-1} E L^{-H} = I + Z X Z^H` costs no more than D alone. Score and information
are those of a complex Gaussian (Kay, Fundamentals of Statistical Signal Processing, section
15.7): :math:`\partial_p = y^H E^{-1} E_p E^{-1} y - \operatorname{tr} E^{-1} E_p`,
:math:`F_{pq} = \operatorname{tr} E^{-1} E_p E^{-1} E_q`. Whitened,
:math:`E_p` is :math:`G_p + C_p Z^H + Z C_p^H` with G diagonal in the lines, and so is
:math:`\tilde E^{-1/2} \tilde E_p \tilde E^{-1/2} = G_p + B_p Z^H + Z B_p^H`.

To every :math:`Y_k Y_k^H` a tiny ε is added, so that noise-free data keep a bounded likelihood.
A weak prior :math:`|Q|^ν |R|^ν`, ν = 0.1, worth a tenth of a line, keeps forces and background off
the edge of the positive matrices, where scoring would crawl: there the likelihood is linear in a
power e, and so the curvature of :math:`ν \ln e - g e` in ln e is ν at its maximum, which the
expected information, of order :math:`e^2`, does not know.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from prism._types import Array, ComplexArray, Index
from prism.motion.driven import _limits as limits
from prism.motion.driven.ascent import ascended
from prism.motion.driven.leakage import (
    boundary,
    boundary_rates,
    boundary_slopes,
    moving_modes,
)
from prism.motion.driven.spectrum import LineBand
from prism.motion.driven.whittle import (
    BandModel,
    HermitianBasis,
    moved,
    outer_factors,
    power_factors,
    spectrum,
)
from prism.search.work import spend


@dataclass(frozen=True)
class BandFit:
    """A model and its likelihood in a band: at the maximum, or on the way there.

    Attributes
    ----------
    model : BandModel
    band : LineBand
    log_likelihood : float
    converged : bool
    shapeless : bool
        Whether it is a peak of one pole in all directions (`peak`), and no modes.
    """

    model: BandModel
    band: LineBand
    log_likelihood: float
    converged: bool = False
    shapeless: bool = False

    @classmethod
    def at(cls, model: BandModel, band: LineBand) -> BandFit:
        """A model as it is."""
        return cls(model, band, log_likelihood(model, band))

    @cached_property
    def entire(self) -> BandFit:
        """The same model on all lines of the band, each by itself."""
        if self.band.groups is None:
            return self
        fit = BandFit.at(self.model, self.band.entire)
        return replace(fit, converged=self.converged, shapeless=self.shapeless)

    @cached_property
    def slope(self) -> tuple[Array, Array]:
        """Score, and the information of independent lines: enough for a step."""
        return score_and_information(self.model, self.band, exact=False)

    @cached_property
    def information(self) -> Array:
        """Fisher information of all parameters, in the order of `BandModel.at`."""
        free = slice(0, self.model.fitted)
        turns = self.model.zeta[free] * self.model.omega[free] * self.band.longest
        if np.all(turns > limits.ENDS_MATTER):
            return self.slope[1]
        return score_and_information(self.model, self.band)[1]

    @cached_property
    def white(self) -> list[ComplexArray]:
        """Lines of every trial as `white_lines` has them."""
        return white_lines(self)

    @property
    def prior(self) -> Array:
        """Gradient of the prior."""
        return prior_score(self.model)

    def after(self, delta: Array) -> BandFit:
        """The point after a step."""
        return BandFit.at(moved(self.model, delta), self.band)

    def excess(self, delta: Array) -> float:
        """How many times too long a step is, of which poles move by a fraction of their width."""
        model, f = self.model, self.model.fitted
        width = np.maximum(model.zeta, limits.STEP_WIDTH / (model.omega * self.band.longest))
        most = np.full(len(delta), limits.STEP_POWER)
        most[model.at["frequency"]] = width[:f]
        most[model.at["damping"]] = limits.STEP_DAMPING
        most[model.at["shape"]] = limits.STEP_SHAPE
        return float(np.max(np.abs(delta) / most))

    def ended(self, *, converged: bool) -> BandFit:
        """The same at the end of a descent."""
        return replace(self, converged=converged)

    @property
    def span(self) -> float:
        """Duration of the longest trial."""
        return self.band.longest

    @property
    def tilt(self) -> float:
        """The p of its forces, as `LineBand` has it."""
        return self.band.tilt

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest frequency of its lines."""
        return self.band.ends

    def with_damping(self, j: int, zeta: float) -> BandFit:
        """The maximum with the damping of a mode held, started from here."""
        begin = feasible(shifted(self.model, j, zeta), self.band)
        at = self.model.at["damping"][j : j + 1]
        return maximise(begin, self.band, held=at, tolerance=limits.FAIR_GAIN)


@dataclass(frozen=True)
class _White:
    """One trial, whitened by D: ``L⁻¹`` (K, n, n), lines, Z, T with ``Z T = L⁻¹ U``, S, I + X.

    Where lines stand for groups, `rest` (K, n, n) is what else is in a group.
    """

    band: LineBand
    inverse: ComplexArray
    lines: ComplexArray
    rest: ComplexArray | None
    log_det: float
    Z: ComplexArray
    T: ComplexArray
    S: ComplexArray
    values: Array
    vectors: ComplexArray

    def power(self, exponent: float) -> ComplexArray:
        """``(I + X)`` to a power."""
        return np.asarray((self.vectors * self.values**exponent) @ self.vectors.conj().T)


def _whitened(model: BandModel, band: LineBand) -> _White | None:
    """One trial whitened; None where E is not positive definite."""
    try:
        L = np.linalg.cholesky(spectrum(model, band))
    except np.linalg.LinAlgError:
        return None
    inverse = np.asarray(np.linalg.inv(L), complex)
    lines = (inverse @ band.values[:, :, None])[:, :, 0].ravel()
    rest = None
    sizes = np.log(np.einsum("kaa->ka", L).real)
    if band.groups is not None:
        rest = inverse @ band.groups.rest @ inverse.conj().swapaxes(1, 2)
        sizes = sizes * band.counts[:, None]
    log_det = 2 * float(np.sum(sizes))
    U, S = boundary(model, band)
    Z, T = np.linalg.qr((inverse @ U).reshape(len(lines), -1))
    X = T @ S @ T.conj().T
    if not np.all(np.isfinite(X)) or not np.all(np.isfinite(lines)):
        return None
    values, vectors = np.linalg.eigh(np.eye(len(X)) + 0.5 * (X + X.conj().T))
    if values.min(initial=1.0) <= 0:
        return None
    log_det += float(np.sum(np.log(values)))
    return _White(band, inverse, lines, rest, log_det, Z, T, S, values, vectors)


def white_lines(fit: BandFit) -> list[ComplexArray]:
    r"""Lines of every trial whitened by all that the model says, :math:`E^{-1/2} Y`, (K, n)."""
    out = []
    for part in fit.band.entire.trials:
        white = _whitened(fit.model, part)
        if white is not None:
            turned = (white.power(-0.5) - np.eye(len(white.values))) @ (
                white.Z.conj().T @ white.lines
            )
            out.append((white.lines + white.Z @ turned).reshape(len(part.omega), -1))
    return out


def _possible(model: BandModel) -> bool:
    free = slice(0, model.fitted)
    zeta, omega = model.zeta[free], model.omega[free]
    force = np.diag(model.force).real[free]
    return bool(np.all((zeta > 0) & (zeta < 1) & (omega > 0) & (force > 0)))


def log_likelihood(model: BandModel, band: LineBand) -> float:
    """``-ln det E - yᴴ E⁻¹ y - ε tr D⁻¹ + ν ln (det Q det R)``; minus infinity where E <= 0."""
    if not _possible(model):
        return -np.inf
    roots = (model.force_root, model.noise_root)
    total = limits.POWER_PRIOR * 2 * float(sum(np.linalg.slogdet(root)[1] for root in roots))
    for part in band.trials:
        white = _whitened(model, part)
        if white is None:
            return -np.inf
        inside = white.vectors.conj().T @ (white.Z.conj().T @ white.lines)
        total -= white.log_det + float(np.vdot(white.lines, white.lines).real)
        total += float(np.sum((1 - 1 / white.values) * np.abs(inside) ** 2))
        floor = np.abs(white.inverse) ** 2
        if white.rest is not None:
            total -= float(np.einsum("kaa->", white.rest).real)
            floor = floor * part.counts[:, None, None]
        total -= limits.POWER_FLOOR * float(np.sum(floor))
    return total if np.isfinite(total) else -np.inf


def score_and_information(
    model: BandModel, band: LineBand, *, exact: bool = True
) -> tuple[Array, Array]:
    """Gradient (P,) of the log-likelihood and Fisher information (P, P).

    Without `exact` the information is that of independent lines.
    """
    score, information = prior_score(model), np.zeros((model.parameters,) * 2)
    powers = np.concatenate([model.at[name] for name in ("auto", "cross", "noise")])
    # what the likelihood falls by at the edge, where it is linear in a power
    information[powers, powers] += limits.POWER_PRIOR
    for part in band.trials:
        white = _whitened(model, part)
        if white is None:
            raise ValueError("a score needs a positive definite covariance")
        spend(limits.SCORING_WORK * part.values.size * model.parameters)
        more = _trial_score(model, white, exact)
        score += more[0]
        information += more[1]
    return score, information


def prior_score(model: BandModel) -> Array:
    """Gradient of the prior."""
    out = np.zeros(model.parameters)
    out[model.at["auto"]] = out[model.at["noise"][: len(model.noise)]] = limits.POWER_PRIOR
    return out


def _trial_score(model: BandModel, white: _White, exact: bool) -> tuple[Array, Array]:
    """Score and information of one trial.

    With Ẽ = I + Z X Zᴴ the covariance whitened by D and G the derivative of D, whitened, the score
    is ``Σ_k tr G (ẑ ẑᴴ - I + Z (I - (I + X)⁻¹) Zᴴ)`` with ``ẑ = Ẽ⁻¹ z``, and what the ends give.
    """
    rank, (K, n) = white.Z.shape[1], white.band.values.shape
    inverse, root = white.power(-1.0), white.power(-0.5)
    Z, ZH = white.Z, white.Z.conj().T
    eye = np.eye(rank)
    seen = white.lines - Z @ ((eye - inverse) @ (ZH @ white.lines))  # Ẽ⁻¹ z
    each, y = Z.reshape(K, n, rank), seen.reshape(K, n)
    excess = y[:, :, None] * y[:, None, :].conj() - np.eye(n)
    floor = limits.POWER_FLOOR * white.inverse @ white.inverse.conj().swapaxes(1, 2)
    if white.rest is not None:
        counts = white.band.counts[:, None, None]
        floor = floor * counts + white.rest - (counts - 1) * np.eye(n)
    excess = excess + floor
    excess = excess + each @ (eye - inverse) @ each.conj().swapaxes(1, 2)
    slopes = _slopes(model, white)
    score, information = slopes.score(excess), slopes.counted(white.band).information()
    if not rank:
        return score, information
    moving = slice(0, model.modal)  # the background has no part in the ends
    score[moving] += _boundary_score(model, white, seen, inverse)
    if not exact:
        return score, information
    if n > limits.ENDS_OF_BACKGROUND:
        slopes = slopes.leading(model.modal)
    H = slopes.times(each)
    C = _boundary_part(model, white)
    within, inside = slopes.between(each), ZH @ C
    # B = -H Y + Z Y (ZᴴGZ) Y / 2 + (C - Z Y ZᴴC)(I - Y) with I - Z Y Zᴴ = Ẽ^(-1/2)
    Y = eye - root
    B = -H @ Y + Z @ (0.5 * Y @ within @ Y)
    B[moving] += (C - Z @ (Y @ inside)) @ root
    told = slice(0, len(H))
    information[told, told] += _inner(H, B, Z)
    return score, information


def _inner(H: ComplexArray, B: ComplexArray, Z: ComplexArray) -> Array:
    """What ``B Zᴴ + Z Bᴴ`` adds to the information of G, with ``H = G Z``."""
    size = len(H)
    A = Z.conj().T @ B
    swapped = A.swapaxes(1, 2).reshape(size, -1)
    # tr(G Λ) + tr(Λ G) + tr(Λ Λ), the first two with half of the third each
    cross = _products(B.reshape(size, -1), (2 * H + B).reshape(size, -1))
    return np.asarray(cross + cross.T + 2 * (A.reshape(size, -1) @ swapped.T).real)


def _products(x: ComplexArray, y: ComplexArray) -> Array:
    """Real parts of the inner products of all rows, ``Re x yᴴ``."""
    real = np.ascontiguousarray(x.real) @ np.ascontiguousarray(y.real).T
    return np.asarray(real + np.ascontiguousarray(x.imag) @ np.ascontiguousarray(y.imag).T)


class _Slopes(NamedTuple):
    """Derivatives G of D, whitened, at every line.

    For frequency, damping and shape :math:`G = U V^H` plus its adjoint, U and V (K, P', n). All
    other parameters are powers, of forces and background, whose :math:`G = W B_p W^H` with W the
    whitened columns and :math:`B_p` a basis of Hermitian matrices: sums over lines of products of
    :math:`W^H W` replace those over lines and pairs of parameters.
    """

    U: ComplexArray
    V: ComplexArray
    W: ComplexArray
    basis: HermitianBasis

    def counted(self, band: LineBand) -> _Slopes:
        """The same, times the root of the lines that each stands for."""
        if band.groups is None:
            return self
        share = band.counts[:, None, None] ** 0.25
        return _Slopes(self.U * share, self.V * share, self.W * share, self.basis)

    def leading(self, count: int) -> _Slopes:
        """Those of the first parameters."""
        powers, (rows, columns, factors) = slice(0, count - self.U.shape[1]), self.basis
        basis = HermitianBasis(rows[powers], columns[powers], factors[powers])
        return self._replace(basis=basis)

    def score(self, excess: ComplexArray) -> Array:
        """``Σ_k tr G X`` for every parameter, X (K, n, n) Hermitian."""
        moving = 2 * np.sum((self.U @ excess.swapaxes(1, 2)) * self.V.conj(), axis=(0, 2)).real
        powers = np.sum(self.W.conj().swapaxes(1, 2) @ excess @ self.W, axis=0)
        return np.append(moving, self.basis.traces(powers))

    def information(self) -> Array:
        """``Σ_k tr G_p G_q``."""
        flat, W = _hermitian_entries(self.U, self.V), self.W.conj()
        mixed = self.basis.traces(_crossed(self.U @ W, self.V @ W))
        powers = _power_information(W.swapaxes(1, 2) @ self.W, self.basis)
        return np.block([[flat @ flat.T, mixed], [mixed.T, powers]])

    def times(self, Z: ComplexArray) -> ComplexArray:
        """``G Z``, (P, K n, rank), of Z (K, n, rank)."""
        K, n, rank = Z.shape
        U, V = (X.swapaxes(0, 1)[..., None] for X in (self.U, self.V))
        UZ, VZ = ((X.conj() @ Z).swapaxes(0, 1)[:, :, None] for X in (self.U, self.V))
        low = (self.W.conj().swapaxes(1, 2) @ Z).transpose(1, 0, 2)[:, :, None]
        left, (rows, columns, f) = self.W.transpose(2, 0, 1)[..., None], self.basis
        f = f[:, None, None, None]
        powers = f * left[rows] * low[columns] + f.conj() * left[columns] * low[rows]
        return np.concatenate([U * VZ + V * UZ, powers]).reshape(-1, K * n, rank)

    def between(self, Z: ComplexArray) -> ComplexArray:
        """``Σ_k Zᴴ G Z``, (P, rank, rank), of Z (K, n, rank)."""
        rows, columns, f = self.basis.rows, self.basis.columns, self.basis.factors[:, None, None]
        low = self.W.conj().swapaxes(1, 2) @ Z
        sums = np.einsum("kar,kbs->abrs", low.conj(), low, optimize=True)
        powers = f * sums[rows, columns] + f.conj() * sums[columns, rows]
        return np.concatenate([_crossed(self.U @ Z.conj(), self.V @ Z.conj()), powers])


def _slopes(model: BandModel, white: _White) -> _Slopes:
    factors, basis = power_factors(model, white.band)
    U, V = (X @ white.inverse.swapaxes(1, 2) for X in outer_factors(model, white.band))
    return _Slopes(U, V, white.inverse @ factors, basis)


def _crossed(x: ComplexArray, y: ComplexArray) -> ComplexArray:
    """``Σ_k x yᴴ`` plus its adjoint for every parameter, x and y (K, P, m)."""
    left = np.ascontiguousarray(x.transpose(1, 2, 0))
    out = left @ np.ascontiguousarray(y.transpose(1, 0, 2)).conj()
    return np.asarray(out + out.conj().swapaxes(1, 2))


def _hermitian_entries(U: ComplexArray, V: ComplexArray) -> Array:
    """Entries of ``U Vᴴ`` plus its adjoint, (P, n² K), real, with the same inner products."""
    u, v = (np.ascontiguousarray(X.transpose(2, 1, 0)) for X in (U, V))  # (n, P, K)
    n, parameters, K = u.shape
    out = np.empty((parameters, n * n, K))
    at = iter(range(n * n))
    for a in range(n):
        out[:, next(at)] = 2 * (u[a] * v[a].conj()).real
        for b in range(a):
            entry = np.sqrt(2) * (u[a] * v[b].conj() + v[a] * u[b].conj())
            out[:, next(at)], out[:, next(at)] = entry.real, entry.imag
    return out.reshape(parameters, n * n * K)


def _power_information(M: ComplexArray, basis: HermitianBasis) -> Array:
    """``Σ_k tr M B_p M B_q`` with ``B = f e_a e_bᵀ`` plus its adjoint, M (K, m, m) Hermitian."""
    m = M.shape[1]
    above, strict = np.triu_indices(m), np.triu_indices(m, 1)
    real = np.concatenate([M.real[:, *above], M.imag[:, *strict]], axis=1)
    sums = real.T @ real
    # M_ij = real[re_ij] + i sign_ij real[im_ij]
    re, im, sign = np.zeros((m, m), int), np.zeros((m, m), int), np.zeros((m, m))
    each = np.arange(real.shape[1])
    re[above] = re[above[::-1]] = each[: len(above[0])]
    im[strict] = im[strict[::-1]] = each[len(above[0]) :]
    sign[strict], sign[strict[::-1]] = 1.0, -1.0

    def products(*at: Index) -> ComplexArray:
        """``Σ_k M_ij M_rs``."""
        (p, q), (u, v), (x, y) = ((one[at[:2]], one[at[2:]]) for one in (re, im, sign))
        return np.asarray(sums[p, q] - x * y * sums[u, v] + 1j * (y * sums[p, v] + x * sums[u, q]))

    a, b, f = basis.rows[:, None], basis.columns[:, None], basis.factors[:, None]
    c, d, g = basis
    # tr M e_a e_bᵀ M e_c e_dᵀ = M_da M_bc, and with the second one adjoint
    both = f * g * products(d, a, b, c) + f * g.conj() * products(c, a, b, d)
    return np.asarray(2 * both.real)


def _boundary_score(
    model: BandModel, white: _White, seen: ComplexArray, inverse: ComplexArray
) -> Array:
    r"""What the derivative B of :math:`U S U^H`, whitened, adds to the score.

    .. math:: z^H \tilde E^{-1} B \tilde E^{-1} z - \operatorname{tr} (I + X)^{-1} Z^H B Z
    """
    (K, n), moving = white.band.values.shape, _moving_columns(model, white)
    TH, S = white.T[:, moving].conj().T, white.S[np.ix_(moving, moving)]
    y = TH @ (white.Z.conj().T @ seen)
    back = (white.Z.conj().T.reshape(-1, K, 1, n) @ white.inverse)[:, :, 0]  # Zᴴ L⁻¹
    lines = (white.inverse.conj().swapaxes(1, 2) @ seen.reshape(K, n, 1))[:, :, 0]
    outer = lines.conj()[:, :, None] * (S @ y)
    outer -= np.tensordot(back, (S @ TH @ inverse).T, axes=(0, 0))
    middle = np.outer(y.conj(), y) - (TH @ inverse @ TH.conj().T).T
    return boundary_slopes(model, white.band, 2 * outer, middle)


def _moving_columns(model: BandModel, white: _White) -> Index:
    """Columns of U that change with the parameters: those of modes whose force is fitted."""
    first = np.arange(len(moving_modes(model, white.band)))
    return np.append(first, len(white.S) // 2 + first)


def _boundary_part(model: BandModel, white: _White) -> ComplexArray:
    """C, (P', K n, rank): the derivative of ``U S Uᴴ``, whitened, is ``C Zᴴ + Z Cᴴ``."""
    dU, dS = boundary_rates(model, white.band)
    dV = (white.inverse @ dU).reshape(len(dU), len(white.lines), dU.shape[-1])
    moving = _moving_columns(model, white)
    T = white.T[:, moving]
    TH = T.conj().T
    return np.asarray(dV @ (white.S[np.ix_(moving, moving)] @ TH) + white.Z @ (0.5 * T @ dS @ TH))


def maximise(
    model: BandModel,
    band: LineBand,
    held: Index | None = None,
    *,
    tolerance: float = limits.FINE_GAIN,
    wanted: float = -np.inf,
    tied: bool = False,
) -> BandFit:
    """Fisher scoring with a Levenberg-Marquardt safeguard.

    Parameters
    ----------
    model : BandModel
        Start.
    band : LineBand
    held : array of int, optional
        Parameters that keep their values.
    tolerance : float
        Twice the gain in log-likelihood that may still be promised at the end.
    wanted : float
        Give up when, after some steps, what is promised would not lead here.
    tied : bool
        Whether all free modes have one pole, as they do at the start.
    """
    start = BandFit.at(model, band)
    return ascended(start, held, tolerance=tolerance, wanted=wanted, tied=tied)


def shifted(model: BandModel, index: int, zeta: float) -> BandModel:
    """The model at another damping, its force kept so that the power stays."""
    zetas, factor = model.zeta.copy(), np.ones(model.count)
    factor[index] = np.sqrt(zeta / zetas[index])
    zetas[index] = zeta
    return replace(model, zeta=zetas, force=model.force * np.outer(factor, factor))


def feasible(model: BandModel, band: LineBand) -> BandModel:
    """The model itself, or one close to it whose covariance is positive definite."""
    for attempt in range(limits.RAISES):
        if np.isfinite(log_likelihood(model, band)):
            return model
        model = raised(model, band, 0.1 * 3.0**attempt)
    return replace(model, force=np.diag(np.diag(model.force)))


def raised(model: BandModel, band: LineBand, share: float = 0.1) -> BandModel:
    """The model with positive force spectrum and a raised, positive background."""
    power = np.median(band.powers_seen, axis=0)
    noise = _positive(model.noise) + np.diag(share * power + 1e-6)
    force, driven = model.force.copy(), slice(0, model.driven)
    force[driven, driven] = _positive(force[driven, driven])
    return replace(model, noise=noise, force=force)


def _positive(matrix: ComplexArray) -> ComplexArray:
    """The nearest positive definite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    least = 1e-6 * values.max(initial=1e-6)
    return np.asarray((vectors * np.maximum(values, least)) @ vectors.conj().T)
