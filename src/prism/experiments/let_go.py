r"""Records that begin at rest, let go: what the amplitudes at that instant tell.

A system at rest whose seen part is held away moves as
:math:`x(t) = \sum_m v_m a_m \cos Ω_m t` when it is let go. There are two ways to hold it
(THEORY §3):

* *released*: the hidden part is undisplaced, and :math:`a_m = v_m^T μ x(0)`;
* *snap-back*: a steady force f has pulled at x, all else has followed it, and
  :math:`a_m = v_m^T f / Ω_m^2`, which is :math:`x(0) - s X(s) = H(s) f`.

At the first sample the sine amplitude of every mode vanishes, and with :math:`v_m = \sqrt{s_m} d_m`
its cosine amplitude along the unit shape is :math:`s_m d_m^T m_r / Ω_m^p`, where p is 0 and
:math:`m_r = μ x_r(0)`, or p is 2 and :math:`m_r = f_r`. With a known mass the modes also add up to
μ⁻¹ and one record suffices; without it the magnitudes follow, up to one scale, from a scalar record
or from as many independent positions as the equations need. A known pull fixes that scale.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from prism._types import Array, ComplexArray
from prism.adjust import Adjusted, adjust
from prism.experiments import _limits as limits
from prism.experiments.base import (
    OfLines,
    alone_remarks,
    not_positive,
    per_line,
    weakly_seen,
)
from prism.experiments.consistency import Cause, gain_causes, mass_causes, untested
from prism.experiments.shared import Spanned
from prism.magnitudes import Magnitudes, Outcome, Undetermined
from prism.remarks import Ask, Remark, Words

if TYPE_CHECKING:
    from prism.motion.steady import Lines
    from prism.motion.steady.inphase import InPhaseFit


class LetGo(Enum):
    """How it was held: the power p of the frequency, and words."""

    UNDISPLACED = 0, "a release from rest with the hidden part undisplaced", "released"
    FOLLOWED = 2, "a steady pull that was let go", "snapback"

    @property
    def power(self) -> int:
        """Exponent p of the frequency."""
        return self.value[0]

    @property
    def words(self) -> str:
        """What was done."""
        return self.value[1]

    @property
    def other(self) -> LetGo:
        """The other way."""
        return LetGo.FOLLOWED if self is LetGo.UNDISPLACED else LetGo.UNDISPLACED

    @property
    def ask(self) -> Ask:
        """How to say so."""
        return Ask("experiment", self.value[2])


def outcome(lines: Lines, known: OfLines, how: LetGo, pull: Array | None = None) -> Outcome:
    """Magnitudes of the modes, or why they are not determined.

    Parameters
    ----------
    lines : Lines
    known : OfLines
    how : LetGo
    pull : array (trials, channels), optional
        The forces, where they are known.
    """
    fit = lines.fit
    turning = fit.line[fit.omega[fit.line] > 0]
    if len(np.unique(turning)) < len(turning):
        return Undetermined(
            "two modes share one frequency, so a release does not separate their magnitudes",
            Words("an ensemble at equilibrium ({0}) would", (Ask("experiment", "equilibrium"),)),
        )
    problem = _Releases(fit, known, how, pull)
    result = problem.adjusted()
    if result is None:
        return _open(problem)
    other = None
    # nothing that is free can be pulled steadily; without hidden parts a mass tells all
    if np.all(fit.omega > 0) and not (known.mass is not None and np.equal(*fit.shapes.shape)):
        other = _Releases(fit, OfLines(known.mass, known.stiffness), how.other, None).adjusted()
    weak = problem.weakly_driven(result)
    if weak is not None:
        return weak
    if not _agrees(result, problem.span):
        return _contradiction(result, how, other is not None and _agrees(other, problem.span))
    # that it begins at rest says nothing of the magnitudes
    tested = result.dof - int(problem.tells.sum() - problem.modes * problem.trials)
    remarks = (
        *alone_remarks(fit.shapes, known, result.p_value if tested > 0 else None),
        *_untold(result, other, how),
        *untested(problem.causes(result)),
    )
    return replace(_magnitudes(problem, result, remarks), tested=tested)


def _agrees(result: Adjusted, span: Spanned) -> bool:
    positive = span.positive(result.q[: span.size])
    return result.converged and positive and result.p_value >= limits.CONSISTENCY_LEVEL


def _untold(result: Adjusted, other: Adjusted | None, how: LetGo) -> tuple[Remark, ...]:
    """Whether the data show that it was held in this way."""
    if other is None or other.chi2 - result.chi2 >= limits.TOLD_APART:
        return ()
    return (
        Remark(
            f"that the record is {how.words} could not be tested",
            f"{how.other.words} agrees as well, with other hidden frequencies and couplings",
            Words(
                "if it was that, say so ({0}); the mass or more releases would tell",
                (how.other.ask,),
            ),
            code="untested",
        ),
    )


def _open(problem: _Releases) -> Undetermined:
    K, n = problem.modes, problem.channels
    if n > K:
        return Undetermined(
            f"{K} modes move {n} channels in {K} directions, and with as many modes as directions "
            "every mass agrees with what is seen after it is let go",
            "give the mass or, for a steady pull, the force",
        )
    return Undetermined(
        f"{problem.trials} release{'s' * (problem.trials > 1)} of {n} channels with {K} modes "
        "and an unknown mass leave the magnitudes of the modes open",
        f"give the mass, or release from {n} independent positions as the trials of one record",
    )


def _contradiction(result: Adjusted, how: LetGo, other: bool) -> Undetermined:
    why = (
        f"the record does not look like {how.words} (misfit {result.chi2:.3g} on {result.dof} "
        "degrees of freedom)"
    )
    if other:
        return Undetermined(
            f"{why}, but like {how.other.words}",
            Words("if it was that, say so ({0})", (how.other.ask,)),
            refuted=True,
        )
    return Undetermined(
        why,
        Words(
            "let the record begin at the instant of release, check the given mass, release from a "
            "position that excites every mode, or use {0}",
            (Ask("experiment", "free"),),
        ),
        refuted=True,
    )


def _magnitudes(problem: _Releases, result: Adjusted, remarks: tuple[Remark, ...]) -> Magnitudes:
    fit, span = problem.fit, problem.span
    N, first, P = len(fit.omega), problem.nonlinear, len(result.p)
    keep = np.r_[0:first, P : P + span.size]
    shapes, s = result.p[N:first].reshape(fit.shapes.shape), result.q[: span.size]
    joint = span.joint(result.p[:N], shapes, s, result.covariance[np.ix_(keep, keep)])
    return Magnitudes(joint, fit.line, problem.known.scale, remarks=remarks)


class _Releases:
    """Measured: (Ω, d, A and B of every trial). Unknown: (s, m_r of every trial).

    Several rigid-body modes have further s for what they share (`prism.experiments.shared`).
    """

    def __init__(self, fit: InPhaseFit, known: OfLines, how: LetGo, pull: Array | None) -> None:
        self.fit, self.known, self.power, self.pull = fit, known, how.power, pull
        self.modes, self.channels = fit.shapes.shape
        self.span = Spanned.of(fit.omega[fit.line])
        # forces that no mode feels are left out; a known pull is what it is
        few = pull is None and self.modes < self.channels
        self.felt = np.linalg.qr(fit.shapes.T)[0].T if few else np.eye(self.channels)
        self.lines = len(fit.omega)
        self.nonlinear = self.lines + fit.shapes.size
        self.trials = sum(m.values.shape[1] for m in fit.motions)
        # scaled time of the first sample times H: the phase since the centre is Ω times this
        self.lead = np.concatenate(
            [np.full(m.values.shape[1], m.start - m.centre) for m in fit.motions]
        )
        self.measured, self.covariance = self._assemble()
        at = self.nonlinear + self.modes + np.arange(self.modes)
        # a rigid-body mode of a fit without slopes is at rest, and that says nothing
        seen = self.covariance.diagonal()[at + 2 * self.modes * np.arange(self.trials)[:, None]] > 0
        self.tells = np.concatenate([seen.ravel(), np.ones(seen.size, bool)])

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

    def adjusted(self) -> Adjusted | None:
        """Modes and magnitudes that agree with the release; None where they stay open."""
        start = self.start()
        if start is None:
            return None
        return adjust(self.measured, self.covariance, start, self.relations)

    def start(self) -> Array | None:
        """Start values of (s, m), or None where they are not determined."""
        d = self.fit.shapes
        # a pull moves a mode by its flexibility; times Ω² it is as if it had been undisplaced
        factor = self.fit.omega[self.fit.line] ** self.power
        alpha = factor * self._at_release(self.measured).real  # (trials, modes)
        if self.pull is not None:
            return np.concatenate([self._first(alpha, self.pull @ d.T), self.pull.ravel()])
        if self.known.mass is not None:
            m = alpha @ d @ self.known.mass  # x(0) = Σ α d
            return np.concatenate([self._first(alpha, m @ d.T), (m @ self.felt.T).ravel()])
        return self._start_without_mass(alpha, d @ self.felt.T) if self.span.rigid < 2 else None

    def _first(self, alpha: Array, drive: Array) -> Array:
        """Magnitudes of least squares, ``α_r = S d m_r``."""
        s = np.abs((alpha * drive).sum(axis=0) / (drive**2).sum(axis=0))
        p = self.span.rigid
        if p < 2:
            return np.asarray(s)
        S = np.diag(s)
        block = np.linalg.lstsq(drive[:, :p], alpha[:, :p], rcond=None)[0]
        S[:p, :p] = 0.5 * (block + block.T)
        return self.span.magnitudes(S)

    def _start_without_mass(self, alpha: Array, d: Array) -> Array | None:
        """``α_rm /s_m = d_mᵀ m_r`` is linear and homogeneous in (1/s, m): its null vector."""
        R, K, n = self.trials, *d.shape
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
        factor = self.channels / np.sum(1 / x[:K])
        return np.concatenate([factor / x[:K], x[K:] / 1.0])

    def weakly_driven(self, result: Adjusted) -> Undetermined | None:
        r"""A refusal where a mode is driven so little that its magnitude is open.

        It is the ratio of its amplitude and of :math:`d_m^T m_r`, which must be told from zero
        where no mass says more.
        """
        each = self.fit.omega[self.fit.line]
        if result.converged and result.p_value >= limits.CONSISTENCY_LEVEL:
            weak = not_positive(result, each)
            if weak is not None:
                return weak
        if self.known.mass is not None or self.known.stiffness is not None:
            return None
        m, n = result.q[self.span.size :].reshape(self.trials, -1) @ self.felt, self.channels
        for k in np.flatnonzero(each > 0):
            rows = slice(self.lines + k * n, self.lines + (k + 1) * n)
            error = np.einsum("ra,ab,rb->r", m, self.fit.covariance[rows, rows], m)
            if np.all((m @ self.fit.shapes[k]) ** 2 < limits.DRIVEN_SIGMAS**2 * error):
                return weakly_seen(float(each[k]))
        return None

    def causes(self, result: Adjusted) -> list[Cause]:
        """Gains, masses and pulls that may be wrong; of one channel they scale everything alike."""
        given = self.known.mass is not None or self.pull is not None
        if not 2 <= self.channels <= self.modes or not given:
            return []  # of more channels than modes `alone_remarks` says what was taken as given
        h, A, _ = self.relations(result.p, result.q)
        _, d, _ = self._unpack(result.p)
        out = gain_causes(result, A[:, self.lines : self.nonlinear], d, masses=False)
        if self.known.inverse_mass is not None:
            out += mass_causes(result, self.known.inverse_mass, int(self.tells.sum()))
        if self.pull is None:
            return out
        worth, unseen = float(np.log(limits.WORTH_PULL)), "pulls of {0} channels to 10 %"
        for a in range(self.channels):
            change = np.zeros(len(h))
            given_pull = np.zeros(self.pull.shape)
            given_pull[:, a] = -self.pull[:, a]
            change[len(h) - self.pull.size :] = given_pull.ravel()
            if np.any(change):
                out.append(Cause("a pull of {1:.3g}", *result.shift(change), worth, unseen))
        return out

    def relations(self, p: Array, q: Array) -> tuple[Array, Array, Array]:
        """At release sine amplitudes vanish, cosine ones times Ω^p are ``s_m d_mᵀ m_r``."""
        R, K, n = self.trials, self.modes, self.channels
        omega, d, _ = self._unpack(p)
        E, f, L = self.span.size, len(self.felt), self.span.mixing
        s, m = q[:E], q[E:].reshape(R, f) @ self.felt
        S = self.span.matrix(s)
        z, each = self._at_release(p), omega[self.fit.line]
        factor, steeper = each**self.power, self.power * each ** max(self.power - 1, 0)
        drive = m @ d.T  # (trials, modes)
        known = self.span.relations(self.known, each, d, s)
        H = len(known.h)
        h = np.concatenate([z.imag.ravel(), (factor * z.real - drive @ S).ravel(), known.h])
        A = np.zeros((2 * R * K + H, len(p)))
        B = np.zeros((2 * R * K + H, len(q)))
        turn = np.exp(1j * np.outer(self.lead, each))
        for r in range(R):
            for k in range(K):
                sine, cosine = r * K + k, R * K + r * K + k
                by_omega = 1j * self.lead[r] * z[r, k]
                at = self.nonlinear + r * 2 * K + k
                for row, part, by in ((sine, np.imag, 1.0), (cosine, np.real, factor[k])):
                    A[row, self.fit.line[k]] = by * part(by_omega)
                    A[row, at] = by * part(turn[r, k])
                    A[row, at + K] = by * part(-1j * turn[r, k])
                A[cosine, self.fit.line[k]] += steeper[k] * z[r, k].real
                A[cosine, self.lines : self.nonlinear] = -np.outer(S[k], m[r]).ravel()
                B[cosine, :E] = -L[:, k] * (L @ drive[r])
                B[cosine, E + r * f : E + (r + 1) * f] = -self.felt @ (S[k] @ d)
        rows = np.append(self.tells, np.ones(H, bool))
        A[2 * R * K :, : self.lines] = per_line(known.by_omega, self.fit.line, self.lines)
        A[2 * R * K :, self.lines : self.nonlinear] = known.by_shape
        B[2 * R * K :, :E] = known.by_s
        h, A, B = h[rows], A[rows], B[rows]
        if self.pull is None:
            return h, A, B
        given = np.hstack([np.zeros((R * n, E)), np.eye(R * n)])
        h = np.concatenate([h, (m - self.pull).ravel()])
        return h, np.vstack([A, np.zeros((R * n, len(p)))]), np.vstack([B, given])
