r"""H1, H2 and Hv from averaged cross spectra, with the variance of every value.

With n independent averages, i inputs, o outputs, and total complex variances
:math:`E|\hat H - H|^2` (the variance of the modulus is half of it):

* **H1**, noise on the motions, :math:`H = S_{yf} S_{ff}^{-1}`. Given the forces,
  :math:`\hat H - H = \sum_k e_k f_k^H (\sum_k f_k f_k^H)^{-1}` is linear in the noise e, so

  .. math:: \operatorname{var} H_{ab} =
      \frac{R_{aa}}{n - i} (S_{ff}^{-1})_{bb},\qquad R = S_{yy} - S_{yf} S_{ff}^{-1} S_{fy};

  with one input it is :math:`|H|^2 (1-γ^2)/(γ^2 (n-1))` (Bendat and Piersol, Random Data, 4th
  ed., sec. 9.2, with n - 1 because the residual R has lost one degree of freedom).
* **H2**, noise on the forces, :math:`H = S_{yy} S_{fy}^{-1}`: the inverse of the regression of
  the forces on the motions, :math:`dH = -H\,dG\,H`, so

  .. math:: \operatorname{var} H_{ab} =
      \frac{(H Q H^H)_{aa} (H^H S_{yy}^{-1} H)_{bb}}{n - o},\qquad
      Q = S_{ff} - S_{fy} S_{yy}^{-1} S_{yf}.

* **Hv**, noise on both: total least squares, output by output. The vector z of all forces and
  one motion, in units of its noise, has the spectral matrix
  :math:`\tilde S = D S D = U Λ U^H`, and the eigenvector of the smallest eigenvalue is the
  relation :math:`v_0^H D z = 0`. The variance is that of a complex Wishart matrix,
  :math:`d\tilde S = U Λ^{1/2} W Λ^{1/2} U^H` with independent :math:`E|W_{ij}|^2 = 1/(n - i)`,
  through the derivative of the eigenvector (and of D, when that is taken from S).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import scipy.special

import prism.estimate._limits as limits
from prism._types import Array, ComplexArray, Mask
from prism.errors import CannotTellError, OptionError, RecordError
from prism.estimate.channels import DrivenRecord
from prism.estimate.spectra import Spectra

ESTIMATORS = ("H1", "H2", "Hv")
ChannelNoise = Mapping[str, float] | None


@dataclass(frozen=True)
class LineValues:
    """Values on lines, and what stands behind them.

    Attributes
    ----------
    omega : array (F,)
    values : array (F, outputs, inputs)
        NaN where nothing can be said.
    variance : array (F, outputs, inputs) or None
    coherence : array (F, outputs)
        NaN when there are too few averages.
    p_values : array (F, outputs) or None
        Of no relation at all between the forces and a motion.
    averages : float
    skipped : int
        Segments, periods, hits or samples left out because samples are missing.
    decay : float
        Rate that a window has added to every pole.
    remarks : tuple of str
    """

    omega: Array
    values: ComplexArray
    variance: Array | None
    coherence: Array
    p_values: Array | None
    averages: float
    skipped: int
    decay: float = 0.0
    remarks: tuple[str, ...] = ()


L = TypeVar("L", Spectra, LineValues)


def keep(lines: L, kept: Mask) -> L:
    """Some of the lines: every array has them first."""
    arrays: dict[str, Any] = {
        name: one for name, one in vars(lines).items() if isinstance(one, np.ndarray)
    }
    return replace(lines, **{name: one[kept] for name, one in arrays.items()})


def diagonal(matrix: ComplexArray) -> Array:
    """Real diagonals of a stack of matrices."""
    return np.asarray(np.einsum("...bb->...b", matrix).real)


def excited(force: Array, limit: float, names: Sequence[str]) -> tuple[Mask, tuple[str, ...]]:
    """Lines with enough of all forces, (F, inputs), and what to say about the others.

    Parameters
    ----------
    limit : float
        Least part of the largest force amplitude that a line must have.
    """
    if not 0 <= limit < 1:
        raise OptionError(f"threshold is {limit!r}: give a number from 0 to below 1.")
    for name, largest in zip(names, force.max(axis=0), strict=True):
        if largest == 0:
            raise RecordError(
                f"the force channel {name!r} is constant in all that is used: check the sensor."
            )
    kept = np.asarray((force >= limit * force.max(axis=0)).all(axis=1))
    if kept.all():
        return kept, ()
    text = f"{int(kept.sum())} of {len(kept)} lines are excited: {', '.join(names)} above {limit:g}"
    return kept, (f"{text} of the largest amplitude",)


def divided(
    record: DrivenRecord, spectra: Spectra, estimator: str, noise: ChannelNoise, threshold: float
) -> LineValues:
    """Frequency response of averaged spectra, on the lines that are excited.

    Parameters
    ----------
    estimator : {"H1", "H2", "Hv"}
    noise : mapping of channel to float, optional
        Relative standard deviations of the noise of forces and motions, for Hv.
    threshold : float
        Least part of the largest force amplitude that a line must have.
    """
    forces = record.forces
    kept, remarks = excited(np.sqrt(diagonal(spectra.ff)), threshold, forces)
    spectra = keep(spectra, kept)
    levels = None if noise is None else _levels(noise, estimator, record)
    check_averages(spectra.segments, forces)
    inverse, good = inverted(spectra.ff, forces)
    coherence = _coherence(spectra, inverse)
    if estimator == "H1":
        values, scatter = _h1(spectra, inverse, coherence)
    elif estimator == "H2":
        values, scatter = _h2(spectra, coherence)
    else:
        values, scatter = _hv(spectra, levels)
    values = np.where(good[:, None, None], values, np.nan)
    behind = (spectra.averages, spectra.skipped, spectra.decay, remarks)
    dof = spectra.averages - len(forces)
    if spectra.segments <= len(forces) or dof < limits.FEWEST_DOF:
        unknown = np.full_like(coherence, np.nan)
        return LineValues(spectra.omega, values, None, unknown, None, *behind)
    # chance of a greater coherence of unrelated Gaussian signals: γ² is then Beta(i, n - i)
    p_values = np.asarray(scipy.special.betainc(dof, len(forces), 1 - coherence))
    return LineValues(spectra.omega, values, scatter / dof, coherence, p_values, *behind)


def _levels(noise: Mapping[str, float], estimator: str, record: DrivenRecord) -> Array:
    """Standard deviations of the noise of forces and motions, checked."""
    if estimator != "Hv":
        raise OptionError(f"noise is for the estimator Hv, not {estimator}: leave it out.")
    names = (*record.forces, *record.outputs)
    out = np.array([noise.get(name, np.nan) for name in names], float)
    if set(noise) != set(names) or not (np.isfinite(out) & (out > 0)).all():
        raise OptionError(
            f"noise {dict(noise)}: give a positive standard deviation for each channel, "
            f"{', '.join(record.channels)}."
        )
    return out


def check_averages(segments: int, forces: tuple[str, ...]) -> None:
    """Refuse fewer averages than inputs."""
    if segments < len(forces):
        raise CannotTellError(
            f"{segments} segment{'s' * (segments > 1)} for {len(forces)} forces "
            f"({', '.join(forces)}): telling their shares apart takes at least as many, so "
            "measure more trials or choose shorter segments."
        )


def inverted(ff: ComplexArray, forces: tuple[str, ...]) -> tuple[ComplexArray, Mask]:
    """Inverse on the lines where all forces act, and not as one, else NaN; and these lines.

    Few such lines are an error.

    Parameters
    ----------
    ff : array (F, inputs, inputs)
    """
    power = diagonal(ff)
    acts = (power > limits.SILENT_FORCE * power.max()).all(axis=1)
    scale = 1 / np.sqrt(np.where(acts[:, None], power, 1.0))
    values = np.linalg.eigvalsh(ff * scale[:, :, None] * scale[:, None, :])
    least = np.where(values[:, -1] > 0, limits.EPS * values[:, -1], 1.0)
    condition = values[:, -1] / np.maximum(values[:, 0], least)
    good = np.asarray(acts & (condition < limits.CONDITION))
    if len(forces) > 1 and 2 * good.sum() < acts.sum():
        raise CannotTellError(
            f"the forces {', '.join(forces)} are correlated: the condition number of their "
            f"correlation matrix is {np.median(condition[acts]):.1e} on the median line (limit "
            f"{limits.CONDITION:.0e}); drive them independently, or take part of them as one force."
        )
    there = good[:, None, None]
    inverse = np.linalg.inv(np.where(there, ff, np.eye(ff.shape[-1])))
    return np.asarray(np.where(there, inverse, np.nan)), good


def _coherence(spectra: Spectra, inverse: ComplexArray) -> Array:
    r""":math:`γ_a^2 = S_{af} S_{ff}^{-1} S_{fa}/S_{aa}`, ordinary or multiple."""
    explained = np.einsum("fab,fbc,fac->fa", spectra.yf, inverse, spectra.yf.conj()).real
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.clip(explained / spectra.yy, 0.0, 1.0))


def _h1(spectra: Spectra, inverse: ComplexArray, coherence: Array) -> tuple[ComplexArray, Array]:
    """Values, and their variance times its degrees of freedom; so do all that follow."""
    residual = spectra.yy * np.maximum(1 - coherence, limits.EPS)
    return spectra.yf @ inverse, residual[:, :, None] * diagonal(inverse)[:, None, :]


def _h2(spectra: Spectra, coherence: Array) -> tuple[ComplexArray, Array]:
    if spectra.yf.shape[2] == 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = spectra.yy[:, :, None] / spectra.yf.conj()
            noise = np.maximum(1 - coherence, limits.EPS) / coherence
        return values, np.abs(values) ** 2 * noise[:, :, None]
    if spectra.full is None:
        outputs, inputs = spectra.yf.shape[1:]
        raise OptionError(
            f"H2 of {outputs} outputs and {inputs} inputs: it inverts a matrix of motions and "
            "forces, so take as many outputs as inputs, one input, or use H1 or Hv."
        )
    yy, yf = spectra.full, spectra.yf
    fy = np.swapaxes(yf.conj(), 1, 2)
    inverse, _ = inverted(yy, tuple(f"motion {k + 1}" for k in range(yy.shape[1])))
    values = np.swapaxes(np.linalg.solve(yf.conj(), np.swapaxes(yy, 1, 2)), 1, 2)
    residual = spectra.ff - fy @ inverse @ yf
    left, whole = (
        np.einsum("fai,fij,faj->fa", values, noise, values.conj()).real
        for noise in (residual, spectra.ff)
    )
    right = np.einsum("fib,fij,fjb->fb", values.conj(), inverse, values).real
    return values, np.maximum(left, limits.EPS * whole)[:, :, None] * right[:, None, :]


def _hv(spectra: Spectra, noise: Array | None) -> tuple[ComplexArray, Array]:
    """Total least squares of each output; without `noise`, equal relative noise on each line."""
    F, o, i = spectra.yf.shape
    joint = np.empty((F, o, i + 1, i + 1), complex)
    joint[:, :, :i, :i] = spectra.ff[:, None]
    joint[:, :, i, :i] = spectra.yf
    joint[:, :, :i, i] = spectra.yf.conj()
    joint[:, :, i, i] = spectra.yy
    if noise is None:
        power = diagonal(joint)
        scale = 1 / np.sqrt(np.where(power > 0, power, 1.0))
    else:
        units = np.column_stack([np.tile(noise[:i], (o, 1)), noise[i:]])
        scale = np.broadcast_to(1 / units, (F, o, i + 1))
    scaled = joint * scale[..., :, None] * scale[..., None, :]
    lam, U = np.linalg.eigh(scaled)
    lam = np.maximum(lam, limits.EPS * lam[..., -1:])
    w = U[..., :, 0].conj()
    units = scale[..., :i] / scale[..., i:]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = w[..., :i] / w[..., i:]
        square = _hv_spread(lam, U, ratio, auto=noise is None)
        return -ratio * units, square * units**2


def _hv_spread(lam: Array, U: ComplexArray, ratio: ComplexArray, *, auto: bool) -> Array:
    r"""Sum over i, j of :math:`|∂(\text{ratio}_b)/∂W_{ij}|^2`.

    With :math:`w = \bar v_0`: :math:`dw^T = \sum_{k>0} \frac{w^T d\tilde S\, u_k}{λ_0 - λ_k}
    u_k^H`. Units taken from S itself add :math:`-\frac12(Δ\tilde S + \tilde S Δ)` with
    :math:`Δ = \operatorname{diag} d\tilde S` to :math:`d\tilde S`, and
    :math:`-\frac12(Δ_b - Δ_y)` to the logarithm of H.
    """
    m = lam.shape[-1]
    i = m - 1
    root = np.sqrt(lam)
    w = U[..., :, 0].conj()
    c = np.zeros((*lam.shape[:-1], m, m, m), complex)  # W_ij and k
    for k in range(1, m):
        c[..., 0, k, k] = root[..., 0] * root[..., k]
    change = np.zeros((*lam.shape[:-1], m, m, m), complex)  # W_ij and entry
    if auto:
        weight = root[..., :, None] * root[..., None, :]
        change = np.einsum("...ij,...pi,...pj->...ijp", weight, U, U.conj())
        both = (lam + lam[..., :1])[..., None, None, :]
        c = c - 0.5 * both * np.einsum("...p,...ijp,...pk->...ijk", w, change, U)
    gap = lam[..., :1] - lam
    gap[..., 0] = np.inf
    c = c / gap[..., None, None, :]
    dw = np.einsum("...ijk,...pk->...ijp", c, U.conj())
    end = w[..., None, None, i:]
    r = ratio[..., None, None, :]
    out = (dw[..., :i] - r * dw[..., i:]) / end
    out = out - 0.5 * r * (change[..., :i] - change[..., i:])
    return np.asarray((np.abs(out) ** 2).sum(axis=(-3, -2)))
