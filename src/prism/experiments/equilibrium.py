r"""Records at thermal equilibrium: equal mean energy in every mode.

The mean energy along the unit shape, :math:`W_m = \frac{1}{2} Ω_m^2 ⟨A^2 + B^2⟩`, is
:math:`θ_m s_m` (THEORY (4) in line form), where θ is kT, or more where quanta matter
(`prism.experiments.energy`). Without a known mass or temperature this gives everything up to one
scale. With a known mass the magnitudes are adjusted to :math:`\sum_m s_m d_m d_m^T = μ^{-1}`,
which removes most of the scatter of the energies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.optimize import brentq

from prism._types import Array
from prism.adjust import Adjusted, adjust
from prism.errors import OptionError
from prism.experiments import _limits as limits
from prism.experiments.base import (
    SCALE_FREE,
    OfLines,
    alone_remarks,
    magnitudes_alone,
    per_line,
)
from prism.experiments.consistency import Cause, Consistency, equilibrium_remark, gain_causes
from prism.experiments.energy import mean_energy, quantum_remark
from prism.experiments.ensemble import Advance, advance, clock_of, neither, not_independent
from prism.experiments.modal_energies import ModalEnergies, modal_energies
from prism.experiments.relations import Relation, no_relation
from prism.experiments.speeds import biased, speeds_of, too_few_speeds
from prism.magnitudes import Magnitudes, Outcome, Undetermined
from prism.remarks import Ask, Words
from prism.uncertainty import Gaussian, student_factor

if TYPE_CHECKING:
    from prism.motion.steady import Lines
    from prism.motion.steady.inphase import InPhaseFit


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium(OfLines):
    """At thermal equilibrium: every mode has the mean energy of the temperature.

    Attributes
    ----------
    temperature : float or None
        kT, in the units of energy of the record, where it is known.
    hbar : float or None
        ħ in the same units, where quanta matter.
    """

    name: ClassVar[str] = "equilibrium"
    label: ClassVar[str] = "Thermal equilibrium"
    words: ClassVar[str] = (
        "Many records in which every mode has the same mean energy, as in a heat bath."
    )
    options: ClassVar[tuple[str, ...]] = (*OfLines.options, "temperature", "hbar")

    temperature: float | None = None
    hbar: float | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any], channels: int) -> Self:
        """Make it of options.

        Parameters
        ----------
        given : mapping
            ``mass`` and ``stiffness`` as of any experiment, ``temperature`` and ``hbar``.
        channels : int

        Raises
        ------
        OptionError
            When one of them makes no sense, or ħ is given without what tells the temperature.
        """
        known = OfLines.of(given, channels)
        temperature, hbar = given.get("temperature"), given.get("hbar")
        if hbar is not None and known.mass is None and temperature is None:
            raise OptionError(
                Words(
                    "{0:name} needs the temperature ({1:name}) or the mass ({2:name}): without "
                    "them the size of a quantum beside kT is not known.",
                    (Ask("hbar"), Ask("temperature"), Ask("mass")),
                )
            )
        return cls(known.mass, known.stiffness, known.rigid, temperature, hbar)

    @property
    def scale(self) -> str:
        """What fixes the scale."""
        if self.temperature is not None and self.mass is None:
            return "fixed by the given temperature"
        return super().scale

    def gauge(self, shapes: Array, s: Array) -> Relation:
        """None where the temperature fixes the scale."""
        known = self.temperature is not None
        return no_relation(shapes) if known else super().gauge(shapes, s)

    def of_lines(self, lines: Lines) -> Outcome:
        """Magnitudes from equipartition."""
        return _magnitudes(lines, self)


def _magnitudes(lines: Lines, known: Equilibrium) -> Outcome:
    speeds = speeds_of(lines.fit)
    few = not_independent(_advance(lines)) or too_few_speeds(speeds)
    if few is not None:
        return few
    problem = _Energies(mixed_axes(principal_axes(lines.fit)), known)
    result = problem.adjusted(np.log(problem.energies.mean), problem.start)
    test = problem.consistency(result)
    refusal = neither(problem.energies.scatter) or biased(speeds) or _contradiction(result, test)
    return problem.magnitudes(result, test) if refusal is None else refusal


def _advance(lines: Lines) -> Advance:
    """Whether the trials go on from one to the next."""
    fit = lines.fit
    K = len(fit.line)
    places = {place: r for r, place in enumerate(lines.trials)}
    z = np.zeros((len(fit.omega), K, len(places)), complex)
    for i, m in enumerate(fit.motions):
        at = [places[i, j] for j in range(m.values.shape[1])]
        z[fit.line[:, None], np.arange(K)[:, None], at] = m.values[:K] - 1j * m.values[K : 2 * K]
    turns = fit.omega > 0
    return advance(z[turns], fit.omega[turns], clock_of(lines))


def _contradiction(result: Adjusted, test: Consistency) -> Undetermined | None:
    if result.converged and test.p_value >= limits.CONSISTENCY_LEVEL:
        return None
    return Undetermined(
        "the modal energies of these records do not agree with thermal equilibrium and the "
        f"given values (misfit {test.chi2:.3g} on {test.dof} degrees of freedom{test.suspect})",
        "check that every mode has the same mean energy, the given mass or stiffness, and the "
        "gains of the channels",
        refuted=True,
    )


class _Energies:
    """Measured: (Ω, d, log W). Unknown: log kT. Tied by equipartition and what is known."""

    def __init__(self, fit: InPhaseFit, known: Equilibrium) -> None:
        self.fit, self.known = fit, known
        self.energies = modal_energies(fit)
        self.lines, self.shape = len(fit.omega), fit.shapes.shape
        self.size = self.lines + fit.shapes.size
        spread = np.vstack([np.eye(self.size), self.energies.sensitivity])
        self.covariance = spread @ fit.covariance @ spread.T
        self.covariance[self.size :, self.size :] += self.energies.covariance
        self.start = np.array([self._start()])

    def _start(self) -> float:
        """The log kT at which the magnitudes add up to what is known of them."""
        if self.known.temperature is not None:
            return float(np.log(self.known.temperature))
        total = _sum_of_magnitudes(self.fit.shapes, self.known)
        classical = float(np.log(self.energies.mean.sum() / total))
        if self.known.hbar is None:
            return classical
        omega, logs = self.fit.omega[self.fit.line], np.log(self.energies.mean)

        def excess(log_temperature: float) -> float:
            theta = mean_energy(omega, log_temperature, self.known.hbar).log
            return float(np.log(np.exp(logs - theta).sum() / total))

        # colder than classical; where half a quantum is too much already, the relations will tell
        coldest = classical - limits.COLDEST
        return brentq(excess, coldest, classical) if excess(coldest) > 0 else coldest

    def relations(self, p: Array, q: Array) -> tuple[Array, Array, Array]:
        """What is known of ``s_m = W_m/θ_m``, with its derivatives."""
        N, size, line = self.lines, self.size, self.fit.line
        omega = p[:N][line]
        theta = mean_energy(omega, q[0], self.known.hbar)
        s = np.exp(p[size:] - theta.log)
        relation = self.known.relations(omega, p[N:size].reshape(self.shape), s)
        by_log = relation.by_s * s
        by_omega = per_line(relation.by_omega - by_log * theta.by_omega, line, N)
        A = np.hstack([by_omega, relation.by_shape, by_log])
        B = -by_log @ theta.by_log_temperature[:, None]
        if self.known.temperature is None:
            return relation.h, A, B
        h = np.append(relation.h, q[0] - np.log(self.known.temperature))
        return h, np.vstack([A, np.zeros(A.shape[1])]), np.vstack([B, [[1.0]]])

    def adjusted(self, logs: Array, start: Array) -> Adjusted:
        """Adjust frequencies, shapes and these logarithms of the energies."""
        measured = np.concatenate([self.fit.omega, self.fit.shapes.ravel(), logs])
        longest = np.full(len(measured) + len(start), np.inf)
        longest[self.size :] = limits.LOG_STEP
        return adjust(measured, self.covariance, start, self.relations, longest)

    def consistency(self, result: Adjusted) -> Consistency:
        """Test the relations as a whole, and against the likeliest causes one by one."""
        if result.dof < 1:
            return Consistency(0.0, 0)
        few = self.energies.trials < limits.SCATTER_TRIALS
        whole = self._whole(result) if few else Consistency(result.chi2, result.dof)
        return whole.against(self._causes(result), few=few)

    def _causes(self, result: Adjusted) -> list[Cause]:
        """What may be wrong, by how much, and the standard deviation of that."""
        _, A, _ = self.relations(result.p, result.q)
        d = result.p[self.lines : self.size].reshape(self.shape)
        omega = result.p[: self.lines][self.fit.line]
        by_log = A[:, self.size :]

        def cause(words: str, change: Array, worth: float, unseen: str) -> Cause:
            return Cause(words, *result.shift(change), worth, unseen)

        power = "energies that go with a power {0:.2g} of the frequency"
        unseen = "energies that go with the frequency"
        logs = np.log(np.where(omega > 0, omega, 1.0))
        out = [cause(power, by_log @ logs, limits.WORTH_POWER, unseen)]
        worth, unseen = float(np.log(limits.WORTH_ENERGY)), "twice the energy in {0} modes"
        for m, one in enumerate(by_log.T):
            name = f"an energy of the mode at {omega[m]:.5g} that is {{1:.2g}} times the others'"
            out.append(cause(name, one, worth, unseen))
        return out + gain_causes(result, A[:, self.lines : self.size], d)

    def _whole(self, result: Adjusted) -> Consistency:
        r"""Test the relations with the likelihood of canonical energies, for few trials.

        The logarithm of the mean of few exponential energies is skew. Their likelihood itself,
        :math:`2R(\bar E/W - 1 - \log \bar E/W)` for each mode, is χ² from two trials on; it is
        least where the energies are adjusted with the weights and the working values
        :math:`\log W + \bar E/W - 1` of a generalised linear model.
        """
        plain = Consistency(result.chi2, result.dof)
        for _ in range(limits.GAMMA_STEPS):
            logs = result.p[self.size :]
            excess = self.energies.mean * np.exp(-logs) - 1
            again = self.adjusted(logs + np.minimum(excess, limits.LARGEST_EXCESS), result.q)
            if not again.converged:
                return plain
            moved = np.abs(again.p[self.size :] - logs).max()
            result = again
            if moved < limits.GAMMA_CONVERGED:
                break
        return self._deviance(result)

    def _deviance(self, result: Adjusted) -> Consistency:
        excess = self.energies.mean * np.exp(-result.p[self.size :]) - 1
        information = 1 / np.diag(self.energies.covariance)
        skew = 2 * (excess - np.log1p(excess)) - excess**2
        return Consistency(result.chi2 + float(information @ skew), result.dof)

    def magnitudes(self, result: Adjusted, test: Consistency) -> Magnitudes:
        """The adjusted modes with the magnitudes ``s_m = W_m/θ_m``."""
        N, size, K = self.lines, self.size, self.shape[0]
        omega = result.p[:N][self.fit.line]
        theta = mean_energy(omega, result.q[0], self.known.hbar)
        s = np.exp(result.p[size:] - theta.log)
        C = self._wider(result)
        J = np.zeros((size + K, len(C)))
        J[:size, :size] = np.eye(size)
        J[size:, size : size + K] = np.diag(s)
        J[size + np.arange(K), self.fit.line] = -s * theta.by_omega
        J[size:, -1] = -s * theta.by_log_temperature
        values = {"omega": result.p[:N], "shapes": result.p[N:size].reshape(self.shape), "s": s}
        free = self.known.scale == SCALE_FREE
        quanta = quantum_remark(omega, result.q[0], self.known.hbar)
        alone = alone_remarks(self.fit.shapes, self.known, test.worst if test.dof else None)
        return Magnitudes(
            joint=Gaussian.of(values, J @ C @ J.T),
            line=self.fit.line,
            scale=self.known.scale,
            temperature=None if free else float(np.exp(result.q[0])),
            remarks=(
                *_scatter_remarks(self.energies),
                *quanta,
                *alone,
                equilibrium_remark(test, K),
            ),
            tested=test.dof,
        )

    def _wider(self, result: Adjusted) -> Array:
        """Covariance of what was adjusted, with the wider errors of few canonical energies.

        The mean of few exponential energies has a long tail, and what follows from it is far from
        linear: with so many degrees of freedom the intervals of hidden frequencies of random
        systems hold the truth in 95 % of the ensembles, from two trials on. What is known exactly
        stays so.
        """
        if not self.energies.canonical:
            return result.covariance
        few, each = limits.FREEDOM_OF_TRIALS
        factor = float(student_factor(few + each * self.energies.trials))
        C = self.covariance.copy()
        C[self.size :, self.size :] += (factor**2 - 1) * self.energies.covariance
        return np.asarray(result.response @ C @ result.response.T)


def principal_axes(fit: InPhaseFit) -> InPhaseFit:
    """Turn the modes of a degenerate line so that their amplitudes are uncorrelated.

    The modes of one frequency are defined up to a rotation; equipartition makes the principal
    axes of their amplitudes the ones that add up to the residue.
    """
    K = len(fit.line)
    turn = np.eye(K)
    for ell in np.unique(fit.line):
        rows = np.flatnonzero(fit.line == ell)
        if len(rows) > 1:
            z = np.hstack([np.hstack([m.values[rows], m.values[K + rows]]) for m in fit.motions])
            turn[np.ix_(rows, rows)] = np.linalg.eigh(z @ z.T)[1].T[::-1]
    if np.array_equal(turn, np.eye(K)):
        return fit
    n, N = fit.shapes.shape[1], len(fit.omega)
    by_shape = np.kron(turn, np.eye(n))
    full = np.eye(len(fit.covariance))
    full[N:, N:] = by_shape
    motions = []
    for m in fit.motions:
        T = np.eye(len(m.values))
        T[:K, :K] = T[K : 2 * K, K : 2 * K] = turn
        motions.append(
            replace(
                m,
                values=T @ m.values,
                covariance=T @ m.covariance @ T.T,
                sensitivity=T @ m.sensitivity @ full.T,
            )
        )
    return replace(
        fit,
        shapes=turn @ fit.shapes,
        covariance=full @ fit.covariance @ full.T,
        motions=motions,
    )


def mixed_axes(fit: InPhaseFit) -> InPhaseFit:
    r"""Let the shapes of several rigid-body modes be uncertain within what they span.

    The covariance C of their speeds over R trials is known as far as R trials tell. With
    :math:`F = C^{1/2}` in place of the magnitudes, :math:`δF_{ij} = δC_{ij}/(f_i + f_j)` has, in
    principal axes, the standard deviation :math:`f_i f_j/(f_i + f_j)/\sqrt R`, however close f is
    to each other.
    """
    (K, n), N = fit.shapes.shape, len(fit.omega)
    rows = np.flatnonzero(fit.omega[fit.line] == 0)
    b = np.hstack([m.values[K + rows] for m in fit.motions])
    f, R = np.sqrt(np.mean(b**2, axis=1)), b.shape[1]
    covariance = fit.covariance.copy()
    for i, k in combinations(rows, 2):
        way = np.zeros(len(covariance))
        way[N + i * n : N + (i + 1) * n] = f[k] / (f[i] + f[k]) * fit.shapes[k]
        way[N + k * n : N + (k + 1) * n] = f[i] / (f[i] + f[k]) * fit.shapes[i]
        covariance += np.outer(way, way) / R
    return replace(fit, covariance=covariance)


def _sum_of_magnitudes(shapes: Array, known: OfLines) -> float:
    K, n = shapes.shape
    if known.mass is not None and n > K:
        return float(magnitudes_alone(shapes, known.mass).sum())
    return float(n if known.inverse_mass is None else np.trace(known.inverse_mass))


def _scatter_remarks(energies: ModalEnergies) -> tuple[str, ...]:
    if not energies.canonical:
        return ()
    trials = energies.trials
    percent = 100 / np.sqrt(trials)
    return (
        f"the mean energy of {trials} canonical sample{'s' * (trials > 1)} scatters by "
        f"{percent:.2g} %, which is part of the error bars of magnitudes",
    )
