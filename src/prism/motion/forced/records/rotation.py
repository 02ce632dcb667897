r"""Systems that rotate, from forced records of all ports.

Poles with free complex residues are those of every linear system (`pole_fit`). Of one that does not
rotate the residues are symmetric; where they are not, beyond noise and gains of the channels, they
are adjusted to what holds of masses, springs, friction and gyroscopic forces
(`prism.motion.forced.rotating.losses`), from which the bare system follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import chdtrc

from prism._format import format_chance
from prism._types import Array
from prism.adjust import adjust
from prism.errors import CannotTellError
from prism.motion.forced.records import _limits as limits
from prism.motion.forced.records.data import ForcedData
from prism.motion.forced.records.pole_fit import PoleFit, evaluate, joint_covariance
from prism.motion.forced.records.pole_search import PoleFamily
from prism.motion.forced.records.residual import Left
from prism.motion.forced.records.start import nuisance_remarks
from prism.motion.forced.rotating import RotatingFit, significance
from prism.motion.forced.rotating._limits import LARGEST_GAIN, LAWFUL_LEVEL
from prism.motion.forced.rotating.free import FreeLines
from prism.motion.forced.rotating.losses import bare_estimates, structured
from prism.motion.gyroscopic.result import GyroscopicEstimates
from prism.remarks import Remark

__all__ = ["TurningRecord", "is_square", "rotating_records", "turning_record"]


@dataclass(frozen=True)
class TurningRecord:
    """Lines with free residues of a record in which every port is pushed.

    Attributes
    ----------
    lines : FreeLines
    covariance : array
        Of their `FreeLines.flat`.
    price : float
        Of one parameter.
    """

    lines: FreeLines
    covariance: Array
    price: float

    @cached_property
    def gain(self) -> float:
        """χ² of the differences of reciprocal entries."""
        d, T = self._differences
        return float(d @ np.linalg.lstsq(T @ self.covariance @ T.T, d, rcond=1e-12)[0])

    @property
    def dof(self) -> int:
        """Number of these."""
        return len(self._differences[0])

    @cached_property
    def share(self) -> float:
        """Their size over that of the residues."""
        R = self.lines.residue
        return float(np.linalg.norm(R - R.swapaxes(1, 2)) / np.linalg.norm(R)) / 2

    @cached_property
    def told(self) -> bool:
        """Whether residues are not symmetric, by more than noise and gains of the channels."""
        dear = self.gain > self.price * self.dof
        told = dear and bool(chdtrc(self.dof, self.gain) < limits.TURNING_CHANCE)
        return told and not self._explained_by_gains

    @property
    def strange(self) -> bool:
        """Whether no reciprocal modes are worth a search."""
        dear = self.gain > limits.TURNING_PRICES * self.price * self.dof
        return self.told and dear and self.share > limits.TURNING_SHARE

    @property
    def words(self) -> str:
        """Say how large it is."""
        return (
            f"responses to reciprocal forces differ by {200 * self.share:.3g} % of their size (χ² "
            f"= {self.gain:.4g} for {self.dof} differences)"
        )

    @cached_property
    def bare(self) -> tuple[GyroscopicEstimates, float] | str:
        """The bare system and the probability of its misfit, or why there is none."""
        tied = structured(self.lines, self.covariance)
        if not tied.converged or tied.p_value <= LAWFUL_LEVEL:
            return (
                "the lines are not those of positions, masses, springs and friction "
                f"(p {format_chance(tied.p_value)}), as where a force acts elsewhere, or modes are "
                "missing"
            )
        try:
            return bare_estimates(tied, self.lines.residue.shape[1], 1.0, 1.0), tied.p_value
        except CannotTellError as refusal:
            return str(refusal).rstrip(".")

    @property
    def _differences(self) -> tuple[Array, Array]:
        """Differences of reciprocal entries, and their derivatives by `FreeLines.flat`."""
        N, n = self.lines.residue.shape[:2]
        cells = np.arange(2 * N * n * n).reshape(2 * N, n, n)
        a, b = np.triu_indices(n, 1)
        T = np.zeros((2 * N * len(a), 2 * N + cells.size))
        row = np.arange(len(T))
        T[row, 2 * N + cells[:, a, b].ravel()] = 1.0
        T[row, 2 * N + cells[:, b, a].ravel()] = -1.0
        return T @ self.lines.flat, T

    @property
    def _explained_by_gains(self) -> bool:
        r"""Whether gains of motions make residues symmetric: :math:`R_{ab} g_b = R_{ba} g_a`."""
        N, n = self.lines.residue.shape[:2]
        a, b = np.triu_indices(n, 1)
        T = self._differences[1]
        plus, minus = np.maximum(T, 0.0), np.maximum(-T, 0.0)
        first, second = (np.tile(one, 2 * N) for one in (a, b))

        def relations(p: Array, q: Array) -> tuple[Array, Array, Array]:
            g = np.exp(np.append(0.0, q))
            x, y = plus @ p, minus @ p
            B = np.zeros((len(x), n))
            row = np.arange(len(x))
            B[row, second] += x * g[second]
            B[row, first] -= y * g[first]
            A = plus * g[second][:, None] - minus * g[first][:, None]
            return x * g[second] - y * g[first], A, B[:, 1:]

        longest = np.append(np.full(T.shape[1], np.inf), np.full(n - 1, 0.3))
        tied = adjust(self.lines.flat, self.covariance, np.zeros(n - 1), relations, longest)
        likely = np.abs(np.append(0.0, tied.q)).max() < np.log(LARGEST_GAIN)
        return bool(likely and tied.converged and tied.p_value > limits.TURNING_CHANCE)


def rotating_records(
    recorded: ForcedData, data: ForcedData, poles: PoleFit, family: PoleFamily
) -> RotatingFit | None:
    """A system that rotates; None where the record does not tell, or a calibration may be off.

    Parameters
    ----------
    recorded, data : ForcedData
        As recorded, and as the poles see it.
    poles : PoleFit
        With complex residues.
    family : PoleFamily

    Raises
    ------
    CannotTellError
        When it is far from reciprocal and does not rotate.
    """
    fit = family.look(poles)
    turning = turning_record(data, fit)
    if turning is None or not turning.told:
        return None
    if isinstance(turning.bare, str):
        if not turning.strange:
            return None
        raise CannotTellError(
            f"the response is not that of a reciprocal system: {turning.words}; nor does it "
            f"rotate: {turning.bare}. Check sign, direction, gain and place of the channels."
        )
    rest = evaluate(recorded, fit.places, fit.weights).residual
    pairs = zip(recorded.trials, rest, strict=True)
    left = Left(recorded, data, [t.motion - r for t, r in pairs], np.sqrt(1 / fit.weights))
    nuisance = fit.places.picked(~fit.places.driven)
    return _reported(turning, *turning.bare, left, nuisance_remarks(nuisance))


def _reported(
    turning: TurningRecord,
    estimates: GyroscopicEstimates,
    lawful: float,
    left: Left,
    remarks: tuple[Remark, ...],
) -> RotatingFit:
    lines, C = turning.lines, turning.covariance
    N = len(lines)
    return RotatingFit(
        omega=lines.omega,
        rate=lines.rate,
        rate_std=np.sqrt(np.diag(C)[:N]),
        lossy=bool((lines.rate > 0).any()),
        estimates=estimates,
        gains=significance(lines.residue, C[2 * N :, 2 * N :]),
        lead=turning.gain - turning.price * turning.dof,
        misfit=1.0,
        left=0.0,
        lawful=lawful,
        noise=left.noise,
        noise_std=left.noise_std,
        remarks=(*remarks, *left.remarks),
        words=turning.words,
    )


def is_square(data: ForcedData) -> bool:
    """Whether there are several ports, and a force at each."""
    n = len(data.motions)
    return n > 1 and sorted(data.ports) == list(range(n))


def turning_record(data: ForcedData, fit: PoleFit) -> TurningRecord | None:
    """Lines of a record in units of the record; None where they do not tell rotation.

    Parameters
    ----------
    data : ForcedData
    fit : PoleFit
        With complex residues, in units of its own noise.
    """
    poles = fit.places
    few = int(poles.driven.sum()) < len(data.motions)
    if not is_square(data) or poles.rigid or poles.static or few:
        return None
    lines, T = _lines(data, fit)
    C = joint_covariance(data, fit)
    return TurningRecord(lines, T @ C @ T.T, float(np.log(data.counts.sum())))


def _lines(data: ForcedData, fit: PoleFit) -> tuple[FreeLines, Array]:
    r"""Driven lines, and their derivatives by (ω, δ, C).

    A residue R moves a channel by :math:`2 \operatorname{Re} Rz`, which is
    :math:`(C_1 \operatorname{Im} z + C_2 \operatorname{Re} z)/ω` with
    :math:`R = (C_2 - iC_1)/2ω`.
    """
    poles, n, every = fit.places, len(data.motions), len(fit.places)
    own = np.flatnonzero(poles.driven)
    N, size = len(own), fit.shared.shape[1]
    omega = poles.omega[own]
    where = 2 * every + np.arange(n * size).reshape(n, N, 2, n)  # channel, line, part, force
    C = fit.shared.reshape(n, N, 2, n)
    R = np.zeros((N, n, n), complex)
    T = np.zeros((2 * N + 2 * N * n * n, 2 * every + n * size))
    T[np.arange(N), every + own] = -1.0
    T[N + np.arange(N), own] = 1.0
    cells = 2 * N + np.arange(2 * N * n * n).reshape(2, N, n, n)
    for j in range(N):
        for a in range(n):
            for b, port in enumerate(data.ports):
                R[j, a, port] = (C[a, j, 1, b] - 1j * C[a, j, 0, b]) / (2 * omega[j])
                T[cells[0, j, a, port], where[a, j, 1, b]] = 0.5 / omega[j]
                T[cells[1, j, a, port], where[a, j, 0, b]] = -0.5 / omega[j]
                T[cells[0, j, a, port], own[j]] = -R[j, a, port].real / omega[j]
                T[cells[1, j, a, port], own[j]] = -R[j, a, port].imag / omega[j]
    return FreeLines(-poles.decay[own] + 1j * omega, R), T
