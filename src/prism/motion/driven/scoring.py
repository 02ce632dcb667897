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
A weak prior :math:`|R|^ν`, ν = 0.1, worth a tenth of a line, keeps the background off the edge of
the positive matrices, where scoring would crawl.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import Array, ComplexArray, Index
from prism.motion.driven.leakage import boundary, boundary_rates
from prism.motion.driven.whittle import (
    Band,
    Model,
    hermitian_basis,
    moved,
    noise_root,
    outer_factors,
    parameter_count,
    parameter_slices,
    spectrum,
)

_STEP_DAMPING = 0.7  # of ln ζ, at most in one step
_STEP_POWER = 2.0  # of the logarithm of a spectrum
_MAX_STEPS = 40
_PRIOR = 0.1  # ν
_FLOOR = 1e-8  # ε, of the mean power of each channel
_CONVERGED = 1e-2  # twice the gain in log-likelihood still promised
_FAIR = 0.4  # of the promised gain
_IDLE = 2  # steps in a row that gain less than the tolerance
_PATIENCE = 10  # steps before a fit may be given up
_NEARLY = 0.05  # the same, worth no remark


@dataclass(frozen=True)
class Fit:
    """A model at the maximum of its likelihood.

    Attributes
    ----------
    model : Model
    log_likelihood : float
    information : array (P, P)
        Of all parameters in the order of `parameter_slices`; that of independent lines where the
        fit was a rough one.
    converged : bool
    """

    model: Model
    log_likelihood: float
    information: Array
    converged: bool


@dataclass(frozen=True)
class _White:
    """One trial, whitened by D: ``L⁻¹`` (K, n, n), lines, Z, T with ``Z T = L⁻¹ U``, S, I + X."""

    inverse: ComplexArray
    lines: ComplexArray
    log_det: float
    Z: ComplexArray
    T: ComplexArray
    S: ComplexArray
    values: Array
    vectors: ComplexArray

    def power(self, exponent: float) -> ComplexArray:
        """``(I + X)`` to a power."""
        return np.asarray((self.vectors * self.values**exponent) @ self.vectors.conj().T)


def _whitened(model: Model, band: Band) -> _White | None:
    """One trial whitened; None where E is not positive definite."""
    try:
        L = np.linalg.cholesky(spectrum(model, band))
    except np.linalg.LinAlgError:
        return None
    inverse = np.asarray(np.linalg.inv(L), complex)
    lines = (inverse @ band.values[:, :, None])[:, :, 0].ravel()
    log_det = 2 * float(np.sum(np.log(np.einsum("kaa->ka", L).real)))
    U, S = boundary(model, band)
    Z, T = np.linalg.qr((inverse @ U).reshape(len(lines), -1))
    X = T @ S @ T.conj().T
    if not np.all(np.isfinite(X)) or not np.all(np.isfinite(lines)):
        return None
    values, vectors = np.linalg.eigh(np.eye(len(X)) + 0.5 * (X + X.conj().T))
    if values.min(initial=1.0) <= 0:
        return None
    log_det += float(np.sum(np.log(values)))
    return _White(inverse, lines, log_det, Z, T, S, values, vectors)


def _possible(model: Model) -> bool:
    free = slice(0, model.fitted)
    zeta, omega = model.zeta[free], model.omega[free]
    force = np.diag(model.force).real[free]
    return bool(np.all((zeta > 0) & (zeta < 1) & (omega > 0) & (force > 0)))


def log_likelihood(model: Model, band: Band) -> float:
    """``-ln det E - yᴴ E⁻¹ y - ε tr D⁻¹ + ν ln det R``; minus infinity where E is not positive."""
    if not _possible(model):
        return -np.inf
    total = _PRIOR * 2 * float(np.linalg.slogdet(noise_root(model))[1])
    for rows in band.trials:
        white = _whitened(model, band.part(rows))
        if white is None:
            return -np.inf
        inside = white.vectors.conj().T @ (white.Z.conj().T @ white.lines)
        total -= white.log_det + float(np.vdot(white.lines, white.lines).real)
        total += float(np.sum((1 - 1 / white.values) * np.abs(inside) ** 2))
        total -= _FLOOR * float(np.sum(np.abs(white.inverse) ** 2))
    return total if np.isfinite(total) else -np.inf


def score_and_information(model: Model, band: Band, *, exact: bool = True) -> tuple[Array, Array]:
    """Gradient (P,) of the log-likelihood and Fisher information (P, P).

    Without `exact` the information is that of independent lines, which is enough for a step.
    """
    size = parameter_count(model)
    score, information = np.zeros(size), np.zeros((size, size))
    powers = parameter_slices(model)["noise"][: band.values.shape[1]]
    score[powers] += _PRIOR
    information[powers, powers] += _PRIOR
    for rows in band.trials:
        part = band.part(rows)
        white = _whitened(model, part)
        if white is None:
            raise ValueError("a score needs a positive definite covariance")
        more = _trial_score(model, part, white, exact)
        score += more[0]
        information += more[1]
    return score, information


def _trial_score(model: Model, band: Band, white: _White, exact: bool) -> tuple[Array, Array]:
    rank = white.Z.shape[1]
    inverse, root = white.power(-1.0), white.power(-0.5)
    Z, ZH = white.Z, white.Z.conj().T
    eye = np.eye(rank)
    seen = white.lines - Z @ ((eye - inverse) @ (ZH @ white.lines))  # Ẽ⁻¹ z
    score, information, H, within = _diagonal_part(model, band, white, seen, exact)
    if not rank:
        return score, information
    C = _boundary_part(model, band, white)
    moving = slice(0, len(C))  # the background has no part in C
    inside = ZH @ C
    score[moving] += 2 * ((ZH @ seen) @ (seen.conj() @ C).T).real
    score[moving] -= 2 * np.einsum("rs,psr->p", inverse, inside).real
    score += np.einsum("rs,psr->p", eye - inverse, within).real
    if not exact:
        return score, information
    # B = -H Y + Z Y (ZᴴGZ) Y / 2 + (C - Z Y ZᴴC)(I - Y) with I - Z Y Zᴴ = Ẽ^(-1/2)
    Y = eye - root
    B = -H @ Y + Z @ (0.5 * Y @ within @ Y)
    B[moving] += (C - Z @ (Y @ inside)) @ root
    return score, information + _inner(H, B, Z)


def _inner(H: ComplexArray, B: ComplexArray, Z: ComplexArray) -> Array:
    """What ``B Zᴴ + Z Bᴴ`` adds to the information of G, with ``H = G Z``."""
    size = len(H)
    A = (Z.conj().T @ B).reshape(size, -1)
    swapped = A.reshape(size, Z.shape[1], -1).swapaxes(1, 2).reshape(size, -1)
    flat = B.reshape(size, -1)
    # tr(G Λ) + tr(Λ G) + tr(Λ Λ), the first two with half of the third each
    cross = _products(flat, 2 * H.reshape(size, -1) + flat)
    return np.asarray(cross + cross.T + 2 * (A @ swapped.T).real)


def _traces(G: ComplexArray) -> Array:
    """``Σ_k tr G_kp G_kq`` of Hermitian G (K, P, n, n), by their upper triangles."""
    size, n = G.shape[1:3]
    rows, columns = np.triu_indices(n)
    weight = np.where(rows == columns, 1.0, np.sqrt(2.0))
    upper = (G[:, :, rows, columns] * weight).swapaxes(0, 1).reshape(size, -1)
    real, imag = np.ascontiguousarray(upper.real), np.ascontiguousarray(upper.imag)
    return np.asarray(real @ real.T + imag @ imag.T)


def _products(x: ComplexArray, y: ComplexArray) -> Array:
    """Real parts of the inner products of all rows."""
    return np.asarray(x.real @ y.real.T + x.imag @ y.imag.T)


def _diagonal_part(
    model: Model, band: Band, white: _White, seen: ComplexArray, exact: bool
) -> tuple[Array, Array, ComplexArray, ComplexArray]:
    """What G gives to score and information, ``G Z`` (P, K n, rank), and ``Zᴴ G Z``.

    Most parameters are those of the background, whose :math:`G = W B_p W^H` with W the whitened
    root of R and :math:`B_p` a basis of Hermitian matrices: sums over lines of products of
    :math:`W^H W` replace those over lines and pairs of parameters.
    """
    size, rank = parameter_count(model), white.Z.shape[1]
    K, n = band.values.shape
    modal = int(parameter_slices(model)["noise"][0])
    score, information = np.zeros(size), np.zeros((size, size))
    H = np.empty((size if exact else modal, K, n, rank), complex)
    within = np.empty((size, rank, rank), complex)
    Z, seen = white.Z.reshape(K, n, rank), seen.reshape(K, n)
    W = white.inverse @ noise_root(model)
    WH = W.conj().swapaxes(1, 2)
    excess = seen[:, :, None] * seen[:, None, :].conj() - np.eye(n)
    excess = excess + _FLOOR * white.inverse @ white.inverse.conj().swapaxes(1, 2)
    rows, columns, factors = _basis(n, full=model.full)
    if modal:
        turned = white.inverse.swapaxes(1, 2)
        U, V = (X @ turned for X in outer_factors(model, band))
        G = U[..., :, None] * V[..., None, :].conj()
        G = G + G.conj().swapaxes(2, 3)
        score[:modal] = np.einsum("kpab,kba->p", G, excess, optimize=True).real
        information[:modal, :modal] = _traces(G)
        H[:modal] = (G @ Z[:, None]).swapaxes(0, 1)
        within[:modal] = white.Z.conj().T @ H[:modal].reshape(modal, K * n, rank)
        mixed = np.sum(WH[:, None] @ G @ W[:, None], axis=0)
        part = 2 * (factors * mixed[:, columns, rows]).real
        information[:modal, modal:], information[modal:, :modal] = part, part.T
    score[modal:] = 2 * (factors * np.sum(WH @ excess @ W, axis=0)[columns, rows]).real
    information[modal:, modal:] = _background_information(WH @ W, rows, columns, factors)
    low = WH @ Z  # (K, n, rank)
    sums = np.einsum("kar,kbs->abrs", low.conj(), low, optimize=True)
    f = factors[:, None, None]
    within[modal:] = f * sums[rows, columns] + f.conj() * sums[columns, rows]
    if rank and exact:
        left = W.transpose(2, 0, 1)[:, :, :, None]
        right = low.transpose(1, 0, 2)[:, :, None, :]
        f = f[:, None]
        H[modal:] = f * left[rows] * right[columns] + f.conj() * left[columns] * right[rows]
    return score, information, H.reshape(len(H), K * n, rank), within


def _basis(size: int, *, full: bool) -> tuple[Index, Index, ComplexArray]:
    """Rows, columns and factors of `hermitian_basis`."""
    entries = hermitian_basis(size, full=full)
    rows, columns = (np.array([entry[k] for entry in entries]) for k in range(2))
    return rows, columns, np.array([entry[2] for entry in entries], complex)


def _background_information(
    M: ComplexArray, rows: Index, columns: Index, factors: ComplexArray
) -> Array:
    """``Σ_k tr M B_p M B_q`` with ``B = f e_a e_bᵀ`` plus its adjoint, M (K, n, n) Hermitian."""
    n = M.shape[1]
    flat = M.reshape(len(M), n * n)
    T = (flat.T @ flat).reshape(n, n, n, n)  # Σ_k M_ij M_rs
    a, b, f = rows[:, None], columns[:, None], factors[:, None]
    c, d, g = rows[None], columns[None], factors[None]
    # tr M e_a e_bᵀ M e_c e_dᵀ = M_da M_bc, and with the second one adjoint
    return np.asarray(2 * (f * g * T[d, a, b, c] + f * g.conj() * T[c, a, b, d]).real)


def _boundary_part(model: Model, band: Band, white: _White) -> ComplexArray:
    """C, (P, K n, rank): the derivative of ``U S Uᴴ``, whitened, is ``C Zᴴ + Z Cᴴ``."""
    K, n = band.values.shape
    if not model.fitted:
        return np.zeros((0, *white.Z.shape), complex)
    dU, dS = boundary_rates(model, band)
    dV = (white.inverse @ dU).reshape(len(dU), K * n, -1)
    f = model.fitted
    free = np.concatenate([np.arange(f), len(white.S) // 2 + np.arange(f)])
    T = white.T[:, free]
    TH = T.conj().T
    return np.asarray(dV @ (white.S[np.ix_(free, free)] @ TH) + white.Z @ (0.5 * T @ dS @ TH))


def _capped(model: Model, band: Band, step: Array) -> Array:
    """The step, shortened so that poles move by a fraction of their width at most."""
    at = parameter_slices(model)
    width = np.maximum(model.zeta, 3 / (model.omega * band.span.max()))[: model.fitted]
    ratio = [
        np.abs(step[at["frequency"]]) / width,
        np.abs(step[at["damping"]]) / _STEP_DAMPING,
        np.abs(step[at["shape"]]) / 0.5,
        np.abs(np.concatenate([step[at[key]] for key in ("auto", "cross", "noise")])) / _STEP_POWER,
    ]
    largest = max((float(part.max(initial=0.0)) for part in ratio), default=0.0)
    return step / max(1.0, largest)


def _scoring_step(score: Array, information: Array, damping: float) -> tuple[Array, float]:
    """The damped step, and the gain that the undamped one promises (twice)."""
    scale = 1 / np.sqrt(np.maximum(np.diag(information), 1e-300))
    values, vectors = np.linalg.eigh(information * np.outer(scale, scale))
    values = np.maximum(values, 1e-12)
    inner = vectors.T @ (scale * score)
    decrement = float(np.sum(inner**2 / (values + 1e-9)))
    return scale * (vectors @ (inner / (values + damping))), decrement


def maximise(
    model: Model,
    band: Band,
    held: Index | None = None,
    *,
    tolerance: float = _CONVERGED,
    wanted: float = -np.inf,
) -> Fit:
    """Fisher scoring with a Levenberg-Marquardt safeguard.

    Parameters
    ----------
    model : Model
        Start.
    band : Band
    held : array of int, optional
        Parameters that keep their values.
    tolerance : float
        Twice the gain in log-likelihood that may still be promised at the end.
    wanted : float
        Give up when, after some steps, what is promised would not lead here.
    """
    value = log_likelihood(model, band)
    if not np.isfinite(value):
        raise ValueError("the start of a fit must have a finite likelihood")
    score, information = score_and_information(model, band, exact=False)
    moving = np.setdiff1d(np.arange(len(score)), [] if held is None else held)
    damping, decrement, pace, idle = 1e-3, np.inf, 1.0, 0
    for count in range(_MAX_STEPS):
        step = np.zeros(len(score))
        step[moving], decrement = _scoring_step(
            score[moving], information[np.ix_(moving, moving)], damping
        )
        if decrement < tolerance or damping > 1e6:
            break
        if count >= _PATIENCE and value + decrement < wanted:
            break
        trial = moved(model, _capped(model, band, pace * step))
        new = log_likelihood(trial, band)
        if new > value:
            # Where the model is wrong the expected curvature is too, and full steps overshoot.
            fair = 2 * (new - value) > _FAIR * decrement
            pace = min(1.0, 1.3 * pace) if fair else max(0.2, 0.6 * pace)
            idle = idle + 1 if 2 * (new - value) < tolerance else 0
            model, value, damping = trial, new, max(damping / 5, 1e-9)
            score, information = score_and_information(model, band, exact=False)
            if idle == _IDLE:
                break
        else:
            damping = max(4 * damping, 1e-4)
    if tolerance <= _CONVERGED and band.leakage:
        information = score_and_information(model, band)[1]
    return Fit(model, value, information, decrement < _NEARLY or idle == _IDLE)
