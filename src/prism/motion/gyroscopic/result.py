"""What is found in records of a gyroscopic system at equilibrium."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import chdtri

from prism._format import format_chance
from prism._types import Array, ComplexArray, Index, Mask
from prism.experiments.consistency import Consistency
from prism.motion.gyroscopic._limits import TURNING_LEVEL
from prism.motion.gyroscopic.completion import GyroscopicCompletion, line_sum
from prism.motion.gyroscopic.delay import DelayTest
from prism.motion.steady import Lines
from prism.uncertainty import Gaussian

GIVEN_MASS = "the given mass"


@dataclass(frozen=True)
class GyroscopicEstimates(GyroscopicCompletion):
    r"""The bare system with errors: :math:`H^{-1} = μ s^2 + γ s + κ - \hat K(s)`.

    For a complex quantity the real and imaginary parts of ``..._std`` are those of its real and
    imaginary parts.

    Attributes
    ----------
    frequencies, frequencies_std : array (lines,)
        :math:`Ω_j`, ascending.
    factors : complex array (lines, channels)
        :math:`b_j`, each up to its phase.
    residues, residues_std : complex array (lines, channels, channels)
        :math:`B_j = b_j b_j^*`.
    mass, gyroscopic, stiffness : array (channels, channels)
        μ, γ and κ, with ``mass_std``, ``gyroscopic_std`` and ``stiffness_std``.
    static_stiffness, static_stiffness_std : array (channels, channels)
        :math:`κ_0 = κ - \hat K(0)`.
    hidden_frequencies, hidden_frequencies_std : array (hidden,)
        Bare frequencies :math:`ω_i`: the hidden part with the channels clamped.
    couplings : complex array (hidden, channels)
        :math:`c_i`, each up to its phase.
    hidden_residues, hidden_residues_std : complex array (hidden, channels, channels)
        :math:`c_i c_i^*` of the kernel.
    joint : Gaussian
        All of these with their joint covariance; of complex ones ``..._real`` and ``..._imag``.
    """

    frequencies: Array
    frequencies_std: Array
    factors: ComplexArray
    residues: ComplexArray
    residues_std: ComplexArray
    mass_std: Array
    gyroscopic_std: Array
    stiffness_std: Array
    static_stiffness_std: Array
    hidden_frequencies_std: Array
    hidden_residues: ComplexArray
    hidden_residues_std: ComplexArray
    joint: Gaussian = field(repr=False)

    def receptance(self, s: complex) -> ComplexArray:
        r""":math:`H(s) = \sum_j 2Ω_j (Ω_j \mathrm{Re} B_j + s\,\mathrm{Im} B_j)/(s^2 + Ω_j^2)`."""
        return line_sum(self.frequencies, self.factors, s)


@dataclass(frozen=True)
class GyroscopicFit(GyroscopicEstimates):
    r"""The bare system behind records at equilibrium, with errors by jackknife over trials.

    Its lines are those of :math:`C(τ) = 2 kT\, \mathrm{Re} \sum_j B_j e^{iΩ_j τ}`.

    Attributes
    ----------
    channels : tuple of str
    noise : array (channels,)
        Standard deviation of the noise.
    temperature : float or None
        kT, where the scale is known. Otherwise residues are in units of kT, and mass,
        gyroscopic matrix and stiffness in units of 1/kT.
    scale : str
        What fixes the scale, in words.
    in_phase : array (lines,)
        Probability that the line is in phase on all channels, as without gyroscopic forces.
    one_direction : array (lines,)
        Probability that the line has one complex direction, as one gyroscopic mode has.
    consistency : float
        Probability of the misfit of the relations of ``prism.motion.gyroscopic.relations``.
    delay : DelayTest
        Whether delays between the channels explain the phases as well.
    lines : Lines
        The lines of the records, which go on as they are.
    """

    channels: tuple[str, ...]
    noise: Array
    temperature: float | None
    scale: str
    in_phase: Array
    one_direction: Array
    consistency: float
    delay: DelayTest
    lines: Lines = field(repr=False)

    @property
    def rotating(self) -> Mask:
        """Lines that turn: not in phase on all channels, yet with one complex direction."""
        return np.asarray((self.in_phase < TURNING_LEVEL) & (self.one_direction >= TURNING_LEVEL))

    @property
    def test(self) -> Consistency:
        """The relations that test the energies of the lines, beyond those that the scale takes."""
        n = len(self.channels)
        commuting = n * (n - 1) // 2 if self.rotating.any() else 0
        dof = commuting + (n * (n + 1) // 2 - 1 if self.scale == GIVEN_MASS else 0)
        return Consistency(float(chdtri(dof, self.consistency)) if dof else 0.0, dof)

    @property
    def evidence(self) -> bool:
        """Whether the records need gyroscopic forces: lines turn, and no delay explains it."""
        return bool(self.rotating.any() and self.delay.refuted)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Whether the records need gyroscopic forces, in words."""
        turning, p = np.count_nonzero(self.rotating), self.delay.p_value
        some = f"{turning} of {len(self.frequencies)} lines turn"
        if self.evidence:
            why = self.delay.words
            return (f"{some}, and no delay between the channels explains it ({why})",)
        if turning:
            late = ", ".join(f"{delay:.4g}" for delay in self.delay.delays)
            return (
                f"{some}, but channels sampled late by {late} would show the same "
                f"(p {format_chance(p)}): the gyroscopic matrix may be such a delay",
            )
        return ("no line turns: the records do not need gyroscopic forces",)

    def sense(self, first: int = 0, second: int = 1) -> Index:
        r"""Sense of rotation of each line in the plane of two channels.

        +1 from the first channel towards the second, -1 the other way, 0 for a line that does
        not turn. The relation :math:`\sum_j Ω_j \mathrm{Im} B_j = 0` lets no set of lines turn
        all in one sense.
        """
        turn = np.sign(self.residues[:, first, second].imag).astype(int)
        return np.where(self.rotating, turn, 0)
