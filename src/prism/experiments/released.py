r"""Records released from rest: x(0) set, x'(0) = 0, hidden part undisplaced and at rest.

Then (THEORY §3) :math:`x(t) = \sum_m v_m (v_m^T m_r) \cos Ω_m t` with :math:`m_r = μ x_r(0)`:
at the first sample the sine amplitude of every mode vanishes and its cosine amplitude along the
unit shape is :math:`s_m d_m^T m_r`. With a known mass the modes also add up to μ⁻¹ and one
release suffices; without it the magnitudes follow, up to one scale, from a scalar record or from
releases out of as many independent positions as the equations need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from prism._types import Array, ComplexArray
from prism.adjust import Adjusted, adjust
from prism.experiments import _limits as limits
from prism.experiments.base import OfLines, per_line, too_few_lines
from prism.magnitudes import Magnitudes, Outcome, Undetermined
from prism.remarks import Ask, Words
from prism.uncertainty import Gaussian

if TYPE_CHECKING:
    from prism.motion.steady import Lines
    from prism.motion.steady.inphase import InPhaseFit


class Released(OfLines):
    """Released from rest with the hidden part undisplaced."""

    name: ClassVar[str] = "released"
    label: ClassVar[str] = "Released from rest"
    words: ClassVar[str] = "Held away from rest, then let go; what is hidden was not displaced."

    def magnitudes(self, lines: Lines) -> Outcome:
        """Magnitudes from the amplitudes at the instant of release."""
        return _outcome(lines, self)


def _outcome(lines: Lines, known: OfLines) -> Outcome:
    few = too_few_lines(lines)
    if few is not None:
        return few
    fit = lines.fit
    if len(np.unique(fit.line)) < len(fit.line):
        return Undetermined(
            "two modes share one frequency, so a release does not separate their magnitudes",
            Words("an ensemble at equilibrium ({0}) would", (Ask("experiment", "equilibrium"),)),
        )
    problem = _Releases(fit, known)
    start = problem.start()
    if start is None:
        K, n = fit.shapes.shape
        return Undetermined(
            f"{problem.trials} release{'s' * (problem.trials > 1)} of {n} channels with {K} modes "
            "and an unknown mass leave the magnitudes of the modes open",
            f"give the mass, or release from {n} independent positions as the trials of one record",
        )
    result = adjust(problem.measured, problem.covariance, start, problem.relations)
    s = result.q[: len(fit.line)]
    if not result.converged or s.min() <= 0 or result.p_value < limits.CONSISTENCY_LEVEL:
        return _contradiction(result)
    return _magnitudes(fit, known, result)


def _contradiction(result: Adjusted) -> Undetermined:
    return Undetermined(
        "the record does not look like a release from rest with the hidden part undisplaced "
        f"(misfit {result.chi2:.3g} on {result.dof} degrees of freedom)",
        Words(
            "let the record begin at the instant of release, check the given mass, release from a "
            "position that excites every mode, or use {0}",
            (Ask("experiment", "free"),),
        ),
    )


def _magnitudes(fit: InPhaseFit, known: OfLines, result: Adjusted) -> Magnitudes:
    K, n = fit.shapes.shape
    N, P = len(fit.omega), len(result.p)
    keep = np.r_[0 : N + K * n, P : P + K]
    values = {
        "omega": result.p[:N],
        "shapes": result.p[N : N + K * n].reshape(K, n),
        "s": result.q[:K],
    }
    joint = Gaussian.of(values, result.covariance[np.ix_(keep, keep)])
    return Magnitudes(joint, fit.line, known.scale)


class _Releases:
    """Measured: (Ω, d, A and B of every trial). Unknown: (s, m_r of every trial)."""

    def __init__(self, fit: InPhaseFit, known: OfLines) -> None:
        self.fit, self.known = fit, known
        self.modes, self.channels = fit.shapes.shape
        self.lines = len(fit.omega)
        self.nonlinear = self.lines + fit.shapes.size
        self.trials = sum(m.values.shape[1] for m in fit.motions)
        # scaled time of the first sample times H: the phase since the centre is Ω times this
        self.lead = np.concatenate(
            [np.full(m.values.shape[1], m.start - m.centre) for m in fit.motions]
        )
        self.measured, self.covariance = self._assemble()

    def _assemble(self) -> tuple[Array, Array]:
        """Joint estimate and covariance; trials are tied by the shared frequencies and shapes."""
        fit, K2 = self.fit, 2 * self.modes
        values = np.hstack([m.values[:K2] for m in fit.motions]).T.ravel()
        S = np.concatenate([m.sensitivity[:, :K2] for m in fit.motions]).reshape(-1, self.nonlinear)
        size = self.nonlinear + len(values)
        spread = np.vstack([np.eye(self.nonlinear), S])
        C = spread @ fit.covariance @ spread.T
        at = self.nonlinear
        for m in fit.motions:
            for scatter in m.scatter:
                C[at : at + K2, at : at + K2] += scatter * m.covariance[:K2, :K2]
                at += K2
        assert at == size
        return np.concatenate([fit.omega, fit.shapes.ravel(), values]), C

    def _unpack(self, p: Array) -> tuple[Array, Array, ComplexArray]:
        omega = p[: self.lines]
        d = p[self.lines : self.nonlinear].reshape(self.modes, self.channels)
        z = p[self.nonlinear :].reshape(self.trials, 2, self.modes)
        return omega, d, z[:, 0] - 1j * z[:, 1]

    def _at_release(self, p: Array) -> ComplexArray:
        """``A - iB`` at the first sample, e^{iΩ(t_0 - t_c)} times the central one."""
        omega, _, z = self._unpack(p)
        return z * np.exp(1j * np.outer(self.lead, omega[self.fit.line]))

    def start(self) -> Array | None:
        """Start values of (s, m), or None where they are not determined."""
        d = self.fit.shapes
        alpha = self._at_release(self.measured).real  # (trials, modes)
        if self.known.mass is not None:
            m = alpha @ d @ self.known.mass  # x(0) = Σ α d
            drive = m @ d.T
            s = np.abs((alpha * drive).sum(axis=0) / (drive**2).sum(axis=0))
            return np.concatenate([s, m.ravel()])
        return self._start_without_mass(alpha, d)

    def _start_without_mass(self, alpha: Array, d: Array) -> Array | None:
        """``α_rm /s_m = d_mᵀ m_r`` is linear and homogeneous in (1/s, m): its null vector."""
        R, K, n = self.trials, self.modes, self.channels
        M = np.zeros((R * K, K + n * R))
        for r in range(R):
            for k in range(K):
                M[r * K + k, k] = alpha[r, k]
                M[r * K + k, K + r * n : K + (r + 1) * n] = -d[k]
        scale = 1 / np.linalg.norm(M, axis=0)
        _, singular, Vt = np.linalg.svd(M * scale)
        singular = np.append(singular, np.zeros(M.shape[1] - len(singular)))
        if len(singular) > 1 and singular[-2] < limits.SECOND_NULL * singular[0]:
            return None
        x = Vt[-1] * scale
        x = x * np.sign(x[:K].sum())
        if x[:K].min() <= 0:
            return None
        factor = n / np.sum(1 / x[:K])
        return np.concatenate([factor / x[:K], x[K:] / 1.0])

    def relations(self, p: Array, q: Array) -> tuple[Array, Array, Array]:
        """At release the sine amplitudes vanish and the cosine ones are ``s_m d_mᵀ m_r``."""
        R, K, n = self.trials, self.modes, self.channels
        omega, d, _ = self._unpack(p)
        s, m = q[:K], q[K:].reshape(R, n)
        z = self._at_release(p)
        drive = m @ d.T  # (trials, modes)
        known = self.known.relations(omega[self.fit.line], d, s)
        H = len(known.h)
        h = np.concatenate([z.imag.ravel(), (z.real - s * drive).ravel(), known.h])
        A = np.zeros((2 * R * K + H, len(p)))
        B = np.zeros((2 * R * K + H, len(q)))
        turn = np.exp(1j * np.outer(self.lead, omega[self.fit.line]))
        for r in range(R):
            for k in range(K):
                sine, cosine = r * K + k, R * K + r * K + k
                by_omega = 1j * self.lead[r] * z[r, k]
                at = self.nonlinear + r * 2 * K + k
                for row, part in ((sine, np.imag), (cosine, np.real)):
                    A[row, self.fit.line[k]] = part(by_omega)
                    A[row, at] = part(turn[r, k])
                    A[row, at + K] = part(-1j * turn[r, k])
                A[cosine, self.lines + k * n : self.lines + (k + 1) * n] = -s[k] * m[r]
                B[cosine, k] = -drive[r, k]
                B[cosine, K + r * n : K + (r + 1) * n] = -s[k] * d[k]
        A[2 * R * K :, : self.lines] = per_line(known.by_omega, self.fit.line, self.lines)
        A[2 * R * K :, self.lines : self.nonlinear] = known.by_shape
        B[2 * R * K :, :K] = known.by_s
        return h, A, B
