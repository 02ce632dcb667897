r"""Whittle likelihood of noise-driven modes in a band, and Fisher scoring for its maximum.

.. math:: Y(ω) \sim CN(0, E(ω)), \quad
          E = \sum_{ij} φ_i φ_j^T \, D_i D_j^* ρ_{ij} Q_{ij} + R, \quad
          D = \frac{(iω)^q}{ω_n^2 - ω^2 + 2iζω_nω}

Q is the spectrum of the modal forces, R the noise and what leaks from outside the band. To every
:math:`Y Y^H` a tiny ε is added, so that noise-free data keep a bounded likelihood.
A record of length T sees (integrate the correlation under its triangular window)

.. math:: ρ_{ij} = \frac{g_i + g_j^*}{1/u_i + 1/u_j^*},\quad u = iω - λ,\quad
          g = \frac1u - \frac{1 - e^{-uT}}{T u^2}.

Fast Bayesian FFT modal identification has this likelihood without ρ (Au, Mech. Syst. Signal
Process. 26 (2012) 60); score and Fisher information of a complex Gaussian are those of Kay,
Fundamentals of Statistical Signal Processing, section 15.7:
:math:`\partial_p = y^H E^{-1} E_p E^{-1} y - \operatorname{tr} E^{-1} E_p`,
:math:`F_{pq} = \operatorname{tr} E^{-1} E_p E^{-1} E_q`. Every :math:`E_p = X + X^H` with X an
outer product.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from prism._types import Array, ComplexArray, Index, Mask
from prism.damped.spectrum import Lines

_CHUNK = 4_000_000  # complex numbers of derivatives held at a time
_STEP_DAMPING = 0.7  # of ln ζ, at most in one step
_MAX_STEPS = 80
_FLOOR = 1e-8  # ε, of the mean power of each channel
_CONVERGED = 1e-3  # twice the gain in log-likelihood still promised
_NEARLY = 0.05  # the same, worth no remark


@dataclass(frozen=True)
class Band:
    """Fourier lines of one band in channel units of order one.

    Attributes
    ----------
    omega, span : arrays (K,)
    values : array (K, n)
    powers : array (K, n)
        :math:`(iω/ω_c)^{q_a}`: what turns a displacement into channel a.
    """

    omega: Array
    span: Array
    values: ComplexArray
    powers: ComplexArray


@dataclass(frozen=True)
class Model:
    """Modes, modal forces and background of a band.

    Attributes
    ----------
    omega, zeta : arrays (m,)
    shapes : array (m, n)
        Unit, in the channel units of the band.
    gains : array (m,)
        Constants that make Q of order one.
    force : array (m, m)
        Q, Hermitian.
    noise : array (n, n)
        R, Hermitian. Neither it nor Q need be positive, as long as E is at every line: an
        estimate of nothing must be free to be negative.
    free : array of bool (m,)
        Whether frequency, damping and shape are fitted.
    full : bool
        Whether R has entries off its diagonal.
    """

    omega: Array
    zeta: Array
    shapes: Array
    gains: Array
    force: ComplexArray
    noise: ComplexArray
    free: Mask
    full: bool

    @property
    def count(self) -> int:
        """Number of modes."""
        return len(self.omega)

    def without(self, j: int) -> Model:
        """All modes but one."""
        keep = np.delete(np.arange(self.count), j)
        return replace(
            self,
            omega=self.omega[keep],
            zeta=self.zeta[keep],
            shapes=self.shapes[keep],
            gains=self.gains[keep],
            force=self.force[np.ix_(keep, keep)],
            free=self.free[keep],
        )


@dataclass(frozen=True)
class Fit:
    """A model at the maximum of its likelihood.

    Attributes
    ----------
    model : Model
    log_likelihood : float
    information : array (P, P)
        Of all parameters in the order of `parameter_slices`.
    converged : bool
    """

    model: Model
    log_likelihood: float
    information: Array
    converged: bool


def scaled_band(lines: Lines) -> Band:
    """Lines with every channel scaled to unit power at the middle of the band."""
    middle = float(np.sqrt(lines.omega[0] * lines.omega.max()))
    scale = channel_scales(lines)
    powers = np.asarray((1j * lines.omega[:, None] / middle) ** lines.orders, complex)
    values = lines.values / scale
    return Band(lines.omega, lines.span, values, powers)


def channel_scales(lines: Lines) -> Array:
    """Root mean square of each channel over the lines."""
    return np.asarray(np.sqrt(np.mean(np.abs(lines.values) ** 2, axis=0)))


def displacement_factors(lines: Lines) -> Array:
    """What turns shapes in the units of the band into shapes in displacement."""
    middle = float(np.sqrt(lines.omega[0] * lines.omega.max()))
    return np.asarray(channel_scales(lines) / middle ** lines.orders.astype(float))


def poles(omega: Array, zeta: Array) -> ComplexArray:
    r""":math:`λ = -ζω_n + iω_n\sqrt{1 - ζ^2}`."""
    return np.asarray(-zeta * omega + 1j * omega * np.sqrt(1 - zeta**2))


def _window(u: ComplexArray, span: Array) -> tuple[ComplexArray, ComplexArray]:
    """The function g of a finite record, and dg/du."""
    decay = np.exp(-u * span[:, None])
    rest = (1 - decay) / (span[:, None] * u**2)
    return 1 / u - rest, -(1 + decay) / u**2 + 2 * rest / u


def transfers(model: Model, band: Band) -> tuple[ComplexArray, ComplexArray, ComplexArray]:
    r"""``M_ij = D_i D_j^* ρ_ij`` and its derivatives by ln ω and ln ζ of the first index.

    Returns
    -------
    three arrays (K, m, m)
    """
    w = band.omega[:, None]
    lam = poles(model.omega, model.zeta)
    u = 1j * w - lam
    g, dg = _window(u, band.span)
    below = 1 / u[:, :, None] + 1 / u[:, None, :].conj()
    above = g[:, :, None] + g[:, None, :].conj()
    D = model.gains / (model.omega**2 - w**2 + 2j * model.zeta * model.omega * w)
    rho = above / below
    M = D[:, :, None] * D[:, None, :].conj() * rho
    # d ln ρ / du of the first index
    slope = dg[:, :, None] / above + 1 / (u**2)[:, :, None] / below
    by_omega = -(2 * model.omega**2 + 2j * model.zeta * model.omega * w) * D / model.gains
    by_zeta = -2j * model.zeta * model.omega * w * D / model.gains
    root = np.sqrt(1 - model.zeta**2)
    lam_zeta = -model.zeta * model.omega - 1j * model.omega * model.zeta**2 / root
    d_omega = M * (by_omega[:, :, None] - slope * lam[:, None])
    d_zeta = M * (by_zeta[:, :, None] - slope * lam_zeta[:, None])
    return M, d_omega, d_zeta


def covariance(model: Model, band: Band) -> ComplexArray:
    """E at every line, (K, n, n)."""
    M = transfers(model, band)[0]
    columns = model.shapes.T * band.powers[:, :, None]
    E = columns @ (M * model.force) @ columns.conj().swapaxes(1, 2)
    return np.asarray(E + model.noise)


def log_likelihood(model: Model, band: Band) -> float:
    """``-Σ (ln det E + yᴴ E⁻¹ y + ε tr E⁻¹)``; minus infinity where E is not positive definite."""
    if np.any(model.zeta <= 0) or np.any(model.zeta >= 1) or np.any(model.omega <= 0):
        return -np.inf
    if np.any(np.diag(model.force).real <= 0):
        return -np.inf
    try:
        L = np.linalg.cholesky(covariance(model, band))
    except np.linalg.LinAlgError:
        return -np.inf
    white = np.linalg.inv(L)
    z = (white @ band.values[:, :, None])[:, :, 0]
    diagonal = np.einsum("kaa->ka", L).real
    value = -2 * np.sum(np.log(diagonal)) - np.sum(np.abs(z) ** 2)
    value -= _FLOOR * np.sum(np.abs(white) ** 2)
    return float(value) if np.isfinite(value) else -np.inf


def tangents(shape: Array) -> Array:
    """Orthonormal directions in which a unit shape can move, (n, n - 1)."""
    return np.asarray(scipy.linalg.null_space(shape[None, :]))


def pairs(count: int) -> list[tuple[int, int]]:
    """Index pairs i < j."""
    return [(i, j) for i in range(count) for j in range(i + 1, count)]


def parameter_slices(model: Model) -> dict[str, Index]:
    """Places of the parameters.

    ``frequency`` (ln ω), ``damping`` (ln ζ) and ``shape`` (tangents) of the free modes, then the
    force spectrum and R.
    """
    free, n, m = int(model.free.sum()), model.shapes.shape[1], model.count
    noise = n + (n * (n - 1) if model.full else 0)
    sizes = {
        "frequency": free,
        "damping": free,
        "shape": free * (n - 1),
        "auto": m,
        "cross": m * (m - 1),
        "noise": noise,
    }
    ends = np.cumsum(list(sizes.values()))
    return {
        key: np.arange(end - size, end)
        for (key, size), end in zip(sizes.items(), ends, strict=True)
    }


def _outer_factors(model: Model, band: Band) -> tuple[ComplexArray, ComplexArray]:
    """U and V, (K, P, n): the derivative by parameter p is ``U Vᴴ`` plus its adjoint."""
    M, d_omega, d_zeta = transfers(model, band)
    K, n = band.values.shape
    c = model.shapes[None] * band.powers[:, None, :]  # (K, m, n)
    free = [int(i) for i in np.flatnonzero(model.free)]
    Q = model.force
    U: list[ComplexArray] = []
    V: list[ComplexArray] = []
    for derivative in (d_omega, d_zeta):
        for i in free:
            U.append(c[:, i])
            V.append(np.einsum("kj,kjn->kn", (Q[i] * derivative[:, i]).conj(), c))
    for i in free:
        right = np.einsum("kj,kjn->kn", (Q[i] * M[:, i]).conj(), c)
        for direction in tangents(model.shapes[i]).T:
            U.append(direction * band.powers)
            V.append(right)
    for i in range(model.count):
        U.append(0.5 * M[:, i, i, None] * c[:, i])
        V.append(c[:, i])
    for i, j in pairs(model.count):
        U += [M[:, i, j, None] * c[:, i], 1j * M[:, i, j, None] * c[:, i]]
        V += [c[:, j], c[:, j]]
    unit = np.eye(n, dtype=complex)
    for a, b, factor in _noise_entries(model):
        U.append(np.broadcast_to(factor * unit[a], (K, n)))
        V.append(np.broadcast_to(unit[b], (K, n)))
    return np.stack(U, axis=1), np.stack(V, axis=1)


def _noise_entries(model: Model) -> list[tuple[int, int, complex]]:
    """Row, column and factor of each parameter of R: with its adjoint, the derivative of R."""
    n = len(model.noise)
    out: list[tuple[int, int, complex]] = [(a, a, 0.5) for a in range(n)]
    if model.full:
        for a, b in pairs(n):
            out += [(a, b, 1.0), (a, b, 1j)]
    return out


def score_and_information(model: Model, band: Band) -> tuple[Array, Array]:
    """Gradient (P,) of the log-likelihood and Fisher information (P, P)."""
    size = sum(len(part) for part in parameter_slices(model).values())
    n = band.values.shape[1]
    score, information = np.zeros(size), np.zeros((size, size))
    chunk = max(1, _CHUNK // (size * n * n))
    for start in range(0, len(band.omega), chunk):
        part = slice(start, start + chunk)
        piece = replace(
            band,
            omega=band.omega[part],
            span=band.span[part],
            values=band.values[part],
            powers=band.powers[part],
        )
        L = np.linalg.cholesky(covariance(model, piece))
        white = np.linalg.inv(L)
        z = (white @ piece.values[:, :, None])[:, :, 0]
        U, V = (X @ white.swapaxes(1, 2) for X in _outer_factors(model, piece))
        G = U[..., :, None] * V[..., None, :].conj()
        G = G + G.conj().swapaxes(2, 3)
        seen = z[:, :, None] * z[:, None, :].conj() + _FLOOR * white @ white.conj().swapaxes(1, 2)
        excess = (seen - np.eye(n)).swapaxes(1, 2)
        score += np.einsum("kpab,kab->p", G, excess, optimize=True).real
        flat = G.swapaxes(0, 1).reshape(size, -1)
        information += flat.real @ flat.real.T + flat.imag @ flat.imag.T
    return score, information


def moved(model: Model, step: Array) -> Model:
    """The model after a step of its parameters."""
    at = parameter_slices(model)
    free = [int(i) for i in np.flatnonzero(model.free)]
    omega, zeta, shapes = model.omega.copy(), model.zeta.copy(), model.shapes.copy()
    omega[free] *= np.exp(step[at["frequency"]])
    zeta[free] *= np.exp(step[at["damping"]])
    turns = step[at["shape"]].reshape(len(free), shapes.shape[1] - 1)
    for row, i in enumerate(free):
        turned = shapes[i] + tangents(shapes[i]) @ turns[row]
        shapes[i] = turned / np.linalg.norm(turned)
    force = model.force.copy()
    force[np.diag_indices(model.count)] += step[at["auto"]]
    cross = step[at["cross"]].reshape(-1, 2)
    for (i, j), (real, imag) in zip(pairs(model.count), cross, strict=True):
        force[i, j] += real + 1j * imag
        force[j, i] = force[i, j].conj()
    noise = model.noise.copy()
    for (a, b, factor), change in zip(_noise_entries(model), step[at["noise"]], strict=True):
        noise[a, b] += factor * change
        noise[b, a] += np.conj(factor) * change
    return replace(model, omega=omega, zeta=zeta, shapes=shapes, force=force, noise=noise)


def _capped(model: Model, band: Band, step: Array) -> Array:
    """The step, shortened so that poles move by a fraction of their width at most."""
    at = parameter_slices(model)
    width = np.maximum(model.zeta, 3 / (model.omega * band.span.max()))[model.free]
    ratio = [
        np.abs(step[at["frequency"]]) / width,
        np.abs(step[at["damping"]]) / _STEP_DAMPING,
        np.abs(step[at["shape"]]) / 0.5,
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


def maximise(model: Model, band: Band, held: Index | None = None) -> Fit:
    """Fisher scoring with a Levenberg-Marquardt safeguard.

    Parameters
    ----------
    model : Model
        Start.
    band : Band
    held : array of int, optional
        Parameters that keep their values.
    """
    value = log_likelihood(model, band)
    if not np.isfinite(value):
        raise ValueError("the start of a fit must have a finite likelihood")
    score, information = score_and_information(model, band)
    moving = np.setdiff1d(np.arange(len(score)), [] if held is None else held)
    damping, decrement = 1e-3, np.inf
    for _ in range(_MAX_STEPS):
        step = np.zeros(len(score))
        step[moving], decrement = _scoring_step(
            score[moving], information[np.ix_(moving, moving)], damping
        )
        if decrement < _CONVERGED or damping > 1e6:
            break
        trial = moved(model, _capped(model, band, step))
        new = log_likelihood(trial, band)
        if new > value:
            model, value, damping = trial, new, max(damping / 5, 1e-9)
            score, information = score_and_information(model, band)
        else:
            damping = max(4 * damping, 1e-4)
    return Fit(model, value, information, decrement < _NEARLY)
