"""Finding: the one value that every kind of motion returns.

It holds what was found in the data, whatever moved: modes with their joint uncertainty, the
Hamiltonian or why there is none, the fitted motion, the noise, remarks. `prism.assembly` makes the
model of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array, Mask
from prism._value import Value
from prism.completion import complete
from prism.determination import Determination
from prism.errors import CannotTellError
from prism.evidence import UNWEIGHED, Evidence
from prism.forecast import Motion
from prism.hamiltonian import Hamiltonian
from prism.kernel import Certificate, certify
from prism.machines import MachineLines
from prism.magnitudes import Undetermined
from prism.modes import Modes
from prism.record import Record
from prism.reduction import reduced
from prism.remarks import Remark, Words
from prism.uncertainty import Gaussian

__all__ = ["Determined", "Finding", "RecordSummary", "ResponseSummary", "Zero", "determined"]


@dataclass(frozen=True, eq=False, repr=False)
class RecordSummary(Value):
    """What the model remembers of its data.

    Attributes
    ----------
    samples : tuple of int
        Per trial; the lines of a frequency response.
    dt : float or None
        None when the times are irregular.
    missing : int
    span : (float, float) or None
        Times of the first and of the last sample, over all trials; None for a response, whose
        frequencies are in `ResponseSummary`.
    std : array (channels,)
    setups : tuple of tuple of str
        Channels of each set-up, where several were fitted together; `samples` are theirs.
    """

    samples: tuple[int, ...]
    dt: float | None
    missing: int
    span: tuple[float, float] | None
    std: Array
    setups: tuple[tuple[str, ...], ...] = ()

    @property
    def start(self) -> float:
        """Time of the first sample."""
        return self._times()[0]

    @property
    def end(self) -> float:
        """Time of the last sample."""
        return self._times()[1]

    def _times(self) -> tuple[float, float]:
        if self.span is None:
            raise CannotTellError(
                "a frequency response has no times, and no motion to continue: that depends on the "
                "force to come."
            )
        return self.span

    @classmethod
    def of(cls, record: Record) -> RecordSummary:
        """Summarise a record."""
        return cls(
            samples=record.samples,
            dt=record.dt,
            missing=record.missing,
            span=(min(record.starts), max(record.ends)),
            std=record.std(),
        )


@dataclass(frozen=True)
class Zero:
    """A zero of the receptance between some ports.

    Attributes
    ----------
    outputs, inputs : tuple of str
    frequency, frequency_std : float
        ``|s|``.
    damping : float
        Ratio ``-Re s / |s|``: 0 for an anti-resonance on the axis, ±1 for a real zero, negative
        in the right half plane.
    inside : bool
        Whether it is an anti-resonance within the measured band.
    """

    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    frequency: float
    frequency_std: float
    damping: float
    inside: bool


@dataclass(frozen=True, eq=False, repr=False)
class ResponseSummary(Value):
    """What a model of a forced experiment knows beside its modes.

    Attributes
    ----------
    low, high : float
        Measured band, in rad per time unit.
    pairs : tuple of (str, str)
        Outputs and inputs whose response was measured.
    damping : {"none", "viscous", "structural", "coupled"}
    noise : str
        The noise in words.
    inside : array of bool (modes,)
        Modes inside the band; the others stand for all modes beyond it.
    participation : array (modes, channels)
        :math:`v_m` of the fitted response. Without a driving point only products of an output
        and an input are determined.
    zeros : tuple of Zero
        Of each measured entry, and of the whole receptance of several ports.
    modal : Gaussian or None
        Of squares (modes,), participation (modes, channels) and friction of the fitted response,
        whence the error of the receptance; None where its damping is structural.
    """

    low: float
    high: float
    pairs: tuple[tuple[str, str], ...]
    damping: str
    noise: str
    inside: Mask
    participation: Array
    zeros: tuple[Zero, ...]
    modal: Gaussian | None = None


@dataclass(frozen=True, eq=False)
class Determined:
    """The Hamiltonian, with what fixes its scale.

    Attributes
    ----------
    hamiltonian : Hamiltonian
    certificate : Certificate
    scale : str
        What fixes the scale of mass, stiffness and couplings, in words.
    temperature : float or None
        kT, for equilibrium records with a known scale.
    """

    hamiltonian: Hamiltonian
    certificate: Certificate
    scale: str
    temperature: float | None = None


def determined(
    modes: Gaussian,
    channels: tuple[str, ...],
    scale: str,
    temperature: float | None = None,
) -> Determined:
    """Complete modes to the Hamiltonian behind them, and certify it.

    Where they do not move all channels independently it is that of some channels, and the others
    follow these (`prism.reduction`).

    Parameters
    ----------
    modes : Gaussian
        Of frequencies (modes,), zero for rigid-body modes, and participation (modes, channels).
    channels : tuple of str
    scale, temperature
        As of `Determined`.
    """
    omega = modes.value("frequencies")
    seen, reduction = reduced(modes, channels)
    completion = complete(omega, seen.value("participation"), seen.covariance)
    names = channels if reduction is None else reduction.coordinates
    hamiltonian = Hamiltonian(completion, names, reduction=reduction)
    certificate = certify(completion.stiffness, hamiltonian.kernel, rigid=int(np.sum(omega == 0)))
    return Determined(hamiltonian, certificate, scale, temperature)


@dataclass(frozen=True, eq=False)
class Finding:
    """What was found in the data.

    Attributes
    ----------
    kind : str
        Kind of motion: steady, decaying, kicked, driven, nonlinear, forced, ...
    channels, quantity : tuple of str
    measured : RecordSummary
    modes : Modes
    outcome : Determined or Undetermined
    certificate : Certificate
        Of the Hamiltonian, or of what is known without it.
    noise_std : array (channels,) or None
        Standard deviation of the measurement noise; None where only its share is known.
    noise_correlation : array (channels, channels) or None
        Of that noise; None where it counts as independent.
    motion : Motion or None
        The fitted motion of every trial; None where it depends on a force to come.
    remarks : tuple of Remark, Words or str
    response : ResponseSummary or None
        Of a forced experiment.
    statement : Words or str
        What is and is not determined, where that is not a matter of modes.
    quantities : tuple of Determination
        How well each quantity is known, where the kind of motion says so itself.
    fit : object
        What the engine returned, for those who ask further questions of it.
    evidence : Evidence
        Other kinds of motion that were considered.
    machine_lines : MachineLines or None
        Steady lines on top of a random motion.
    """

    kind: str
    channels: tuple[str, ...]
    quantity: tuple[str, ...]
    measured: RecordSummary
    modes: Modes
    outcome: Determined | Undetermined
    certificate: Certificate
    noise_std: Array | None
    motion: Motion | None = None
    remarks: tuple[Remark | Words | str, ...] = ()
    response: ResponseSummary | None = None
    statement: Words | str = ""
    quantities: tuple[Determination, ...] = ()
    fit: object = None
    evidence: Evidence = UNWEIGHED
    noise_correlation: Array | None = None
    machine_lines: MachineLines | None = None

    def with_remarks(self, *remarks: Remark | Words | str | None) -> Finding:
        """The same with more remarks; None adds nothing."""
        more = tuple(remark for remark in remarks if remark)
        return replace(self, remarks=self.remarks + more)
