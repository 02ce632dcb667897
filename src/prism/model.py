"""Model: the answer."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray
from prism.errors import CannotTellError
from prism.hamiltonian import Hamiltonian
from prism.identifiability import Identifiability
from prism.kernel import Certificate, MemoryKernel
from prism.modes import Modes
from prism.motion import Forecast, Trajectories
from prism.record import Record

if TYPE_CHECKING:
    from scipy.signal import StateSpace

    from prism.plot import Plot


@dataclass(frozen=True)
class RecordSummary:
    """What the model remembers of its record.

    Attributes
    ----------
    samples : tuple of int
        Per trial.
    dt : float or None
        None when the times are irregular.
    missing : int
    start, end : float
        Times of the first and of the last sample, over all trials.
    std : array (channels,)
    """

    samples: tuple[int, ...]
    dt: float | None
    missing: int
    start: float
    end: float
    std: Array

    @classmethod
    def of(cls, record: Record) -> RecordSummary:
        """Summarise a record."""
        return cls(
            samples=record.samples,
            dt=record.dt,
            missing=record.missing,
            start=min(record.starts),
            end=max(record.ends),
            std=record.std(),
        )


@dataclass(frozen=True)
class ForecastCheck:
    """Forecast of the part of the record that was held back.

    Attributes
    ----------
    fit_fraction : float
        The fit used this first part of the record.
    nrmse : array (channels,)
        rms error on the rest, over all trials, divided by the std of the channel there.
    """

    fit_fraction: float
    nrmse: Array


@dataclass(frozen=True)
class Settings:
    """How the model was made."""

    method: str
    false_alarm: float
    max_modes: int | None
    version: str


@dataclass(frozen=True)
class Model:
    """What PRISM found in a record.

    Attributes
    ----------
    experiment : str
        free, equilibrium or released.
    channels, quantity : tuple of str
    record : RecordSummary
        Of the part that was fitted.
    noise_std : array (channels,)
        Standard deviation of the measurement noise.
    modes : Modes
    hamiltonian : Hamiltonian or None
        None when `identifiability` says that the data do not determine it.
    certificate : Certificate
    identifiability : Identifiability
    trajectories : Trajectories
        The fitted motion of every trial.
    temperature : float or None
        kT, for equilibrium records with a known scale.
    forecast_check : ForecastCheck or None
    settings : Settings
    """

    experiment: str
    channels: tuple[str, ...]
    quantity: tuple[str, ...]
    record: RecordSummary
    noise_std: Array
    modes: Modes
    hamiltonian: Hamiltonian | None
    certificate: Certificate
    identifiability: Identifiability
    trajectories: Trajectories
    settings: Settings
    temperature: float | None = None
    forecast_check: ForecastCheck | None = None

    @property
    def kernel(self) -> MemoryKernel | None:
        """Memory kernel of the seen coordinates, or None with the Hamiltonian."""
        return None if self.hamiltonian is None else self.hamiltonian.kernel

    def forecast(self, t: ArrayLike, trial: int = 0) -> Forecast:
        """Motion at any times, continuing the record; times count as in the record.

        Parameters
        ----------
        t : array (times,)
        trial : int
            Which trial of an ensemble to continue.
        """
        return self.trajectories.at(t, trial)

    def receptance(self, s: ArrayLike) -> ComplexArray:
        r""":math:`H(s) = \sum_m v_m v_m^T / (s^2 + Ω_m^2)`, shape (\*s.shape, channels, channels).

        Raises
        ------
        CannotTellError
            When the data do not determine the magnitudes.
        """
        if self.modes.residues is None:
            raise self._cannot("the receptance")
        weights = 1 / (np.asarray(s, complex)[..., None] ** 2 + self.modes.frequencies**2)
        return np.asarray(np.tensordot(weights, self.modes.residues, axes=1), complex)

    def to_statespace(self) -> StateSpace:
        """Forces on the seen coordinates to their positions, as a `scipy.signal.StateSpace`.

        Raises
        ------
        CannotTellError
            When the data do not determine the Hamiltonian.
        """
        from scipy.signal import StateSpace

        if self.hamiltonian is None:
            raise self._cannot("the state-space form")
        M, K = self.hamiltonian.matrices
        size, n = len(M), len(self.channels)
        zero, eye = np.zeros((size, size)), np.eye(size)
        inverse = np.linalg.inv(M)
        A = np.block([[zero, eye], [-inverse @ K, zero]])
        B = np.vstack([np.zeros((size, n)), inverse[:, :n]])
        C = np.hstack([eye[:n], np.zeros((n, size))])
        return StateSpace(A, B, C, np.zeros((n, n)))

    def _cannot(self, what: str) -> CannotTellError:
        verdict = self.identifiability
        return CannotTellError(f"{what} is not determined: {verdict.why}; {verdict.remedy}.")

    def summary(self) -> str:
        """The result as text for people."""
        from prism.report.text import summary

        return summary(self)

    def __str__(self) -> str:
        """Return the summary."""
        return self.summary()

    @property
    def plot(self) -> Plot:
        """Figures: ``model.plot.spectrum(record)``, ``.shapes()``, ``.forecast()`` ..."""
        from prism.plot import Plot

        return Plot(self)

    def report(self, path: str | os.PathLike[str], record: Record | None = None) -> None:
        """Write a self-contained HTML page.

        Parameters
        ----------
        path : path
        record : Record, optional
            The record that was fitted, to draw its spectrum and the fit over the data.
        """
        from prism.report import write_report

        write_report(self, path, record)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as plain JSON (schema ``prism.model/1``)."""
        from prism.io.model import save_model

        save_model(self, path)
