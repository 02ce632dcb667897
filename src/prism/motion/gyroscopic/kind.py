"""Lines that turn as an explanation: a system that rotates, at thermal equilibrium."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from prism._types import Array, ComplexArray
from prism.experiments.consistency import equilibrium_remark
from prism.finding import Determined, Finding, RecordSummary
from prism.forecast import Motion
from prism.hamiltonian import Hamiltonian
from prism.modes import Modes
from prism.motion.explanation import Explanation, Question
from prism.motion.gyroscopic.fit import fit_gyroscopic
from prism.motion.gyroscopic.hamiltonian import GyroscopicHamiltonian, certify_gyroscopic
from prism.motion.gyroscopic.result import GyroscopicFit
from prism.motion.steady.trajectories import Trajectories
from prism.remarks import Remark
from prism.uncertainty import Gaussian

_RESIDUE_STEP = 1e-6  # of a residue, for the derivatives of a shape


class Gyroscopic(Explanation):
    """A system that rotates: its lines turn instead of moving in phase."""

    name: ClassVar[str] = "gyroscopic"
    words: ClassVar[str] = "it rotates: lines turn instead of moving in phase"
    experiments: ClassVar[tuple[str, ...]] = ("equilibrium",)
    meaningless: ClassVar[tuple[str, ...]] = (
        *("stiffness", "rigid", "damped", "potential", "ignore", "drift", "max_modes"),
    )
    motions: ClassVar[tuple[type[Motion], ...]] = (Trajectories,)
    hamiltonians: ClassVar[tuple[type[Hamiltonian], ...]] = (GyroscopicHamiltonian,)

    def meant(self, asked: Question) -> Gyroscopic | None:
        """Where a system that rotates is asked for."""
        wanted = asked.settings.gyroscopic or self.named(asked)
        return self if wanted and not asked.is_response else None

    def refusal(self, asked: Question, strange: list[str]) -> str:
        """It is fitted to records at equilibrium, whose scale a known mass may fix."""
        rest = f": leave out {', '.join(strange)}." if strange else "."
        return f"a system that rotates is fitted to records at equilibrium, by likelihood{rest}"

    def find(self, asked: Question) -> Finding:
        """Fit the lines, and complete them to the bare system."""
        record = asked.record
        fit = fit_gyroscopic(
            record,
            mass=asked.experiment.mass,
            false_alarm=asked.settings.false_alarm,
            progress=asked.tell,
        )
        lines = fit.lines
        certificate = certify_gyroscopic(fit)
        outcome = Determined(
            GyroscopicHamiltonian.of(fit), certificate, _scale(fit), fit.temperature
        )
        return Finding(
            kind=self.name,
            channels=record.channels,
            quantity=record.quantity,
            measured=RecordSummary.of(record),
            modes=_modes(fit),
            outcome=outcome,
            certificate=certificate,
            noise_std=lines.noise,
            motion=Trajectories(
                lines.motion, lines.trials, lines.means, lines.background, lines.trend
            ),
            remarks=(
                *fit.remarks,
                equilibrium_remark(fit.test, len(fit.frequencies)),
                *_hidden_remark(fit),
            ),
            fit=fit,
        )


def _scale(fit: GyroscopicFit) -> str:
    return fit.scale if fit.temperature is None else f"fixed by {fit.scale}"


def _hidden_remark(fit: GyroscopicFit) -> tuple[Remark, ...]:
    if not len(fit.hidden_frequencies):
        return ()
    return (
        Remark(
            "couplings of a system that rotates are complex, each up to a phase: tables show "
            "their magnitudes",
            code="complex-couplings",
        ),
    )


def _modes(fit: GyroscopicFit) -> Modes:
    r"""Each line as a mode along the major axis of its ellipse.

    The residue of :math:`s^2 + Ω^2` is :math:`2Ω^2\,\mathrm{Re}\,B`; what turns is in the
    Hamiltonian.
    """
    shapes, ratio = _ellipses(fit.residues)
    amplitudes = Trajectories(fit.lines.fit, fit.lines.trials, fit.lines.means).amplitudes
    line = fit.lines.fit.line
    weight = 2 * fit.frequencies[:, None, None] ** 2
    return Modes(
        joint=fit.joint.mapped(
            {"frequencies": fit.frequencies, "shapes": shapes}, _jacobian(fit, fit.joint)
        ),
        amplitudes=np.stack(
            [np.linalg.norm(amplitudes[:, line == j], axis=1) for j in np.unique(line)], axis=1
        ),
        significance=np.sqrt(fit.lines.gains),
        phase_ratio=ratio,
        in_phase=~fit.rotating,
        residues=weight * fit.residues.real,
        residues_std=weight * fit.residues_std.real,
    )


def _ellipses(residues: ComplexArray) -> tuple[Array, Array]:
    """Unit major axes (lines, channels) and the ratios of the axes, of ``B = b b*``."""
    values, vectors = np.linalg.eigh(residues)
    b = vectors[:, :, -1] * np.sqrt(np.maximum(values[:, -1:], 0.0))
    # the phase that makes the real part longest: half the angle of b·b
    b = b * np.exp(-0.5j * np.angle((b**2).sum(axis=1)))[:, None]
    size = np.linalg.norm(b.real, axis=1)
    shapes = b.real / size[:, None]
    largest = np.take_along_axis(shapes, np.abs(shapes).argmax(axis=1)[:, None], axis=1)
    return shapes * np.sign(largest), np.linalg.norm(b.imag, axis=1) / size


def _jacobian(fit: GyroscopicFit, joint: Gaussian) -> Array:
    """Derivatives of (frequencies, shapes) by everything that has an error, by differences."""
    N, n = fit.factors.shape
    out = np.zeros((N + N * n, len(joint.mean)))
    out[np.arange(N), np.arange(len(joint.mean))[joint.where("frequencies")]] = 1.0
    step = _RESIDUE_STEP * float(np.abs(fit.residues).max())
    for name, unit in (("residues_real", 1.0), ("residues_imag", 1j)):
        at = joint.where(name).start
        for k in range(fit.residues.size):
            change = np.zeros(fit.residues.size, complex)
            change[k] = 0.5 * step * unit
            moved = change.reshape(fit.residues.shape)
            moved = moved + moved.conj().swapaxes(1, 2)  # B stays Hermitian
            ends = [_ellipses(fit.residues + sign * moved)[0] for sign in (1, -1)]
            out[N:, at + k] = ((ends[0] - ends[1]) / (2 * step)).ravel()
    return out
