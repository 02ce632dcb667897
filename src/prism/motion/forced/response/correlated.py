r"""Errors that neighbouring lines of a response share, and what they do to the error bars.

A spectrum that was smoothed over frequency, or averaged over windows that leak, has the same error
in several lines. The likelihood takes each line for new and its inverse information :math:`G^{-1}`
is too small. With the derivative A of the model in units of the noise and the correlation R of the
errors over frequency, the covariance of the same estimate is

.. math:: G^{-1} (A^T R A) G^{-1}.

R is that of the residual. A fit takes part of the noise away, and more of it next to its poles:
with the projection Q on what the model can do and the shift :math:`S_l` by l lines, the residual z
has the moments

.. math:: E\,z^T S_l z = \sum_m (2 - δ_{m0})\,r_m \operatorname{tr}\,S_l P S_m P,\qquad
          P = 1 - Q Q^T

which are solved for r.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import prism.motion.forced.response._limits as limits
from prism._types import Array, ComplexArray, Index
from prism.motion.forced.response.coupled import CoupledFit, plain_covariance
from prism.motion.forced.response.modal import factors, jacobian
from prism.motion.forced.response.scan import tangent
from prism.motion.forced.response.scoring import ResponseFit, covariance
from prism.remarks import Remark


@dataclass(frozen=True)
class LineErrors:
    """How the errors of neighbouring lines hang together.

    Attributes
    ----------
    level : float
        Variance of the errors over that of the fit.
    rho : array (lags,)
        Correlation at distances of 0, 1, ... lines; zero beyond.
    relative : bool
        Whether what neighbours share is the relative error, which turns with the response, and
        not the error itself.
    """

    level: float
    rho: Array
    relative: bool = False

    @property
    def memory(self) -> float:
        """How many lines share one error."""
        return float(2 * self.rho.sum() - 1)


def line_errors(fit: ResponseFit) -> LineErrors:
    """Level and correlation of the errors of a fit; one lag where lines are independent."""
    plain = _LineMoments(fit, relative=False).correlation()
    if fit.noise.b2 == 0:
        return plain
    turned = _LineMoments(fit, relative=True).correlation()
    both = [one for one in (plain, turned) if len(one.rho) > 1]
    return max(both, key=lambda one: abs(float(one.rho[1]))) if both else plain


class _LineMoments:
    """Moments of the residual of a fit over frequency, and what they are expected to be."""

    def __init__(self, fit: ResponseFit, *, relative: bool) -> None:
        data, self.relative = fit.data, relative
        root = np.where(data.counts > 0, np.sqrt(2 * data.counts / fit.spread), 0.0)
        self.turn = _turn(fit) if relative else np.ones_like(fit.data.Y)
        J = _derivatives(fit)
        self.shape = data.Y.shape
        self.Q = tangent(J * (root * self.turn.conj()))
        self.z = np.ascontiguousarray((data.Y - fit.H) * root * self.turn.conj())
        self.seen = data.counts > 0
        self.scatter = float(2 * (data.scatter / fit.spread).sum())
        self.spare = 2 * data.total - self.Q.shape[1]
        self.doubt = 1 / np.sqrt(2 * float(self.seen.sum()))

    def correlation(self) -> LineErrors:
        """Lags are added as long as the errors at that distance are significantly alike."""
        columns = [self.Q]
        inner = [np.eye(self.Q.shape[1])]
        seen = [float((np.abs(self.z) ** 2).sum())]
        level = (seen[0] + self.scatter) / self.spare
        matrix = self._grown(np.zeros((0, 0)), columns, inner)
        found = np.ones(1)
        needed = limits.CORRELATED_LINES
        for lag in range(1, max(self.shape[0] // 4, 2)):
            columns.append(self._shifted(self.Q, lag))
            inner.append(self.Q.T @ columns[-1])
            seen.append(float((self.z[:-lag].conj() * self.z[lag:]).real.sum()))
            matrix = self._grown(matrix, columns, inner)
            r = self._solved(matrix, seen)
            if r[0] <= 0 or abs(r[-1]) < needed * self.doubt * r[0]:
                break
            found, level, needed = r / r[0], r[0], limits.CORRELATED_FURTHER
        return LineErrors(float(level), found, self.relative)

    def _shifted(self, Q: Array, lag: int) -> Array:
        """Apply the symmetric shift to the columns of a basis, (2 F E, P)."""
        cube = Q.reshape(self.shape[0], -1, Q.shape[1])
        out = np.zeros_like(cube)
        out[lag:] += 0.5 * cube[:-lag]
        out[:-lag] += 0.5 * cube[lag:]
        mask = np.repeat(self.seen, 2, axis=1)[:, :, None]
        return np.asarray((out * mask).reshape(Q.shape))

    def _grown(self, matrix: Array, columns: list[Array], inner: list[Array]) -> Array:
        """The symmetric matrix of the moments with the row of one lag more."""
        last = len(columns) - 1
        taken = [2 * float(np.vdot(columns[last], one)) for one in columns]
        twice = [float(np.vdot(inner[last], one.T)) for one in inner]
        row = np.array(twice) - np.array(taken)
        row[last] += self._trace(last)
        out = np.zeros((last + 1, last + 1))
        out[:last, :last] = matrix
        out[last] = out[:, last] = row
        return out

    def _solved(self, matrix: Array, seen: list[float]) -> Array:
        both = matrix.copy()
        both[:, 1:] *= 2  # a lag stands for both sides
        return np.linalg.solve(both, np.array(seen))

    def _trace(self, lag: int) -> float:
        """Trace of the square of the symmetric shift."""
        if lag == 0:
            return 2 * float(self.seen.sum())
        return float((self.seen[lag:] & self.seen[:-lag]).sum())


def _turn(fit: ResponseFit) -> ComplexArray:
    """Phase of the response."""
    H = np.asarray(fit.H, complex)
    return np.asarray(H / np.maximum(np.abs(H), 1e-300))


def correlated_covariance(fit: ResponseFit, errors: LineErrors) -> Array:
    """Covariance of all parameters where neighbouring lines share their errors."""
    inverse = plain_covariance(fit) if isinstance(fit, CoupledFit) else covariance(fit)
    return inverse if len(errors.rho) == 1 else inverse @ _meat(fit, errors) @ inverse


def _meat(fit: ResponseFit, errors: LineErrors) -> Array:
    """Covariance of the gradient, pair of ports by pair of ports."""
    data, s2, H = fit.data, fit.spread, np.asarray(fit.H, complex)
    columns = _columns(fit)
    weight = np.where(data.counts > 0, np.sqrt(2 * data.counts / s2), 0.0)
    if errors.relative:
        weight = weight * _turn(fit).conj()
    strength = np.where(data.counts > 0, np.sqrt(data.counts), 0.0) * 2 * fit.noise.b2 / s2
    out = np.zeros((len(columns[0][1]),) * 2)
    for e, (basis, place, share) in enumerate(columns):
        G = _smeared(basis * weight[:, e, None], errors.rho)
        if fit.noise.b2 > 0:
            R = (H[:, e, None].conj() * basis).real * strength[:, e, None]
            G = G + _smeared(R, errors.rho**2)
        out += np.outer(share, share) * G[np.ix_(place, place)]
    return out


def _columns(fit: ResponseFit) -> list[tuple[Array | ComplexArray, Index, Array]]:
    """Derivatives of each pair of ports: functions, which of them, and their shares."""
    if isinstance(fit, CoupledFit):
        every = np.arange(len(fit.jacobian))
        return [(one, every, np.ones(len(every))) for one in fit.jacobian.transpose(2, 1, 0)]
    basis, place, shares = factors(fit.data, fit.point, fit.at)
    return [(basis, place, share) for share in shares.T]


def _derivatives(fit: ResponseFit) -> ComplexArray:
    """Of the response by all parameters, (parameters, F, E)."""
    if isinstance(fit, CoupledFit):
        return fit.jacobian
    return np.asarray(jacobian(fit.data, fit.point, fit.at), complex)


def _smeared(A: Array | ComplexArray, rho: Array) -> Array:
    """``Re A^H R A`` of the banded R of a correlation; its spectrum is kept from being negative."""
    size = 2 * len(A)
    spectrum = np.fft.fft(np.concatenate([rho, np.zeros(size - 2 * len(rho) + 1), rho[:0:-1]])).real
    transformed = np.fft.fft(A, size, axis=0)
    weighted = transformed * np.maximum(spectrum, 0.0)[:, None]
    return np.asarray((transformed.conj().T @ weighted).real / size)


def correlated_remark(errors: LineErrors) -> tuple[Remark, ...]:
    """What the errors of neighbours mean for the answer; nothing where lines are independent."""
    if len(errors.rho) == 1:
        return ()
    what = "relative errors" if errors.relative else "errors"
    if errors.memory > limits.SMOOTH_LINES:
        return (_smooth(errors),)
    if errors.memory > 1:
        share = f"as if {errors.memory:.2g} lines shared one error"
    else:
        share = "with errors that alternate from line to line"
    return (
        Remark(
            f"the lines of the response are not measured independently: {what} of neighbours are "
            f"correlated, {share}, and the error bars count that",
            f"correlation {errors.rho[1]:.2f} at one line's distance",
            "average over trials instead of neighbouring lines, or give every so many lines only",
            code="correlated-response",
        ),
    )


def _smooth(errors: LineErrors) -> Remark:
    """What is said of a residual that many lines share: no level of the noise is needed for it."""
    return Remark(
        f"what the fit leaves is smooth over frequency, as if {errors.memory:.2g} lines shared one "
        "error: the lines were averaged over frequency, or the system is not linear, not "
        "reciprocal, or loses energy in another way than the fit allows. The error bars count the "
        "first, and are too small for the others",
        f"correlation {errors.rho[1]:.2f} at one line's distance",
        "measure at two levels of the force, and average over trials instead of lines",
        code="misfit",
    )
