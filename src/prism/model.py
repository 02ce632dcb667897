"""Model: the answer."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from prism._doors import through
from prism._optional import require
from prism._types import Array, ComplexArray
from prism._value import Value
from prism.diagnostics import ForecastHorizon, active_peaks
from prism.errors import CannotTellError
from prism.evidence import UNWEIGHED, Evidence
from prism.finding import RecordSummary, ResponseSummary
from prism.forecast import Forecast, Motion
from prism.frequency_response import FrequencyResponse
from prism.gramian import Observability, observability
from prism.hamiltonian import Hamiltonian
from prism.identifiability import Identifiability
from prism.kernel import Certificate, MemoryKernel, UndeterminedKernel
from prism.machines import MachineLines
from prism.modes import Modes
from prism.port_hamiltonian import PortHamiltonian, port_matrices, port_names
from prism.receptance import receptance_std
from prism.record import Record
from prism.remarks import Remark, Words
from prism.settings import Settings

if TYPE_CHECKING:
    import control
    from scipy.signal import StateSpace

    from prism.geometry import Geometry
    from prism.plot import Plot

__all__ = ["ForecastCheck", "Model", "RecordSummary", "ResponseSummary", "Settings"]


@dataclass(frozen=True, eq=False, repr=False)
class ForecastCheck(Value):
    """Forecast of the part of the record that was held back.

    Attributes
    ----------
    fit_fraction : float
        The fit used this first part of the record.
    nrmse : array (channels,)
        rms error on the rest, over all trials, divided by the std of the channel there.
    std : array (channels,), optional
        That std.
    horizon : ForecastHorizon, optional
        How long the forecast of the first trial held: until its error is half the std of a
        channel more than noise explains.
    """

    fit_fraction: float
    nrmse: Array
    std: Array | None = None
    horizon: ForecastHorizon | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Model(Value):
    """What PRISM found in a record.

    Attributes
    ----------
    experiment : str
        free, equilibrium, released or forced.
    kind : str
        Kind of motion: steady, decaying, kicked, driven, nonlinear, forced, ...
    channels, quantity : tuple of str
    record : RecordSummary
        Of the part that was fitted.
    noise_std : array (channels,) or None
        Standard deviation of the measurement noise; None where only its share of the motion is
        known, as for noise-driven records.
    noise_correlation : array (channels, channels) or None
        Of that noise between channels; None where it counts as independent.
    modes : Modes
    hamiltonian : Hamiltonian or None
        None when `identifiability` says that the data do not determine it.
    certificate : Certificate
    identifiability : Identifiability
    trajectories : Motion or None
        The fitted motion of every trial; None for forced and noise-driven records, whose motion
        depends on the force to come.
    response : ResponseSummary or None
        Band, noise, damping and zeros of a forced experiment.
    temperature : float or None
        kT, for equilibrium records with a known scale.
    forecast_check : ForecastCheck or None
    settings : Settings
    evidence : Evidence
        Kinds of motion that were weighed, best first.
    machine_lines : MachineLines or None
        Steady lines on top of a noise-driven motion, with their harmonics; they are no modes.
    """

    experiment: str
    kind: str
    channels: tuple[str, ...]
    quantity: tuple[str, ...]
    record: RecordSummary
    noise_std: Array | None
    modes: Modes
    hamiltonian: Hamiltonian | None
    certificate: Certificate
    identifiability: Identifiability
    trajectories: Motion | None
    settings: Settings
    response: ResponseSummary | None = None
    temperature: float | None = None
    forecast_check: ForecastCheck | None = None
    evidence: Evidence = UNWEIGHED
    noise_correlation: Array | None = None
    machine_lines: MachineLines | None = None

    def __repr__(self) -> str:
        hidden = 0 if self.hamiltonian is None else len(self.hamiltonian.hidden)
        found = "no Hamiltonian" if self.hamiltonian is None else f"{hidden} hidden"
        channels = ", ".join(self.channels[:4]) + (", …" if len(self.channels) > 4 else "")
        return (
            f"Model({self.kind}, {self.experiment}: {channels}; {len(self.modes)} modes, {found})"
        )

    def with_remark(self, remark: Remark | Words | str) -> Model:
        """The model with one more remark in its verdict; an empty one adds nothing."""
        return replace(self, identifiability=self.identifiability.with_remark(remark))

    @property
    def kernel(self) -> MemoryKernel:
        """Memory kernel of the seen coordinates.

        Where the data do not determine it, every question to it raises `CannotTellError`, and it
        counts as false.
        """
        if self.hamiltonian is not None:
            return self.hamiltonian.kernel
        return UndeterminedKernel(str(self._cannot("the memory kernel")))

    def forecast(self, t: ArrayLike, trial: int = 0) -> Forecast:
        """Motion at any times, continuing the record; times count as in the record.

        Parameters
        ----------
        t : array (times,)
        trial : int
            Which trial of an ensemble to continue.

        Raises
        ------
        CannotTellError
            For a forced experiment.
        """
        if self.trajectories is None:
            raise CannotTellError(
                "a forced or noise-driven record has no motion to continue: it depends on the "
                "force to come."
            )
        return replace(self.trajectories.at(t, trial), channels=self.channels)

    def receptance(self, s: ArrayLike) -> ComplexArray:
        r""":math:`H(s) = \sum_m v_m v_m^T / (s^2 + 2 ζ_m Ω_m s + Ω_m^2)`.

        The shape is (\*s.shape, channels, channels). Structural damping enters by its ratio at
        resonance. Of a system that rotates it has a skew part too.

        Raises
        ------
        CannotTellError
            When the data do not determine the magnitudes, or the motion is nonlinear.
        """
        if self.modes.residues is None and self.hamiltonian is not None:
            raise CannotTellError(
                "the receptance of a nonlinear motion depends on how large it is; that of small "
                "motions is that of model.to_statespace()."
            )
        if self.modes.residues is None:
            raise self._cannot("the receptance")
        turning = getattr(self.hamiltonian, "receptance", None)
        if turning is not None:
            return np.asarray(turning(s), complex)
        points, omega = np.asarray(s, complex)[..., None], self.modes.frequencies
        weights = 1 / (points**2 + 2 * self.modes.damping * omega * points + omega**2)
        return np.asarray(np.tensordot(weights, self.modes.residues, axes=1), complex)

    def receptance_std(self, s: ArrayLike) -> ComplexArray:
        r"""Standard deviations of the real and of the imaginary part of `receptance`.

        As ``std(Re H) + 1j std(Im H)``, of the shape of `receptance`: from the joint error of all
        modes, so that what they say together about a frequency between them is in it.

        Raises
        ------
        CannotTellError
            When the data do not determine the magnitudes, or no response was fitted.
        """
        if self.modes.residues is None:
            raise self._cannot("the receptance")
        if self.response is None or self.response.modal is None:
            raise CannotTellError(
                "the error of a receptance is known of measured responses and forced records "
                "whose damping is not structural: elsewhere those of residues, frequencies and "
                "damping ratios are."
            )
        return receptance_std(self.response.modal, s)

    def observability(self, duration: float | None = None) -> Observability:
        """What a record shows of the state of the modes: Gramian, rank, participation.

        Parameters
        ----------
        duration : float, optional
            Length of the record; by default that of the one that was fitted.

        Raises
        ------
        CannotTellError
            When the data do not determine the magnitudes, or a response has no length.
        """
        if self.modes.residues is None:
            raise self._cannot("the observability")
        still = self.hamiltonian is None or self.hamiltonian.real_modes
        if np.any(self.modes.damping) or not still:
            raise CannotTellError("the Gramian is that of modes that neither turn nor lose energy.")
        length = self.record.end - self.record.start if duration is None else duration
        values, vectors = np.linalg.eigh(self.modes.residues)
        v = np.sqrt(np.maximum(values[:, -1:], 0.0)) * vectors[:, :, -1]
        return observability(self.modes.frequencies, v, length)

    def active_peaks(self, separation: float | None = None) -> Array:
        """Frequencies of the spectral peaks that carry a share of the energy.

        See `prism.diagnostics.active_peaks`.

        Parameters
        ----------
        separation : float, optional
            Lines nearer to each other are one peak; three resolutions of the record by default.
        """
        span = self.record.end - self.record.start
        return active_peaks(self.modes, 6 * np.pi / span if separation is None else separation)

    def port_hamiltonian(self) -> PortHamiltonian:
        r"""Port-Hamiltonian form: matrices J, R, Q, B of :math:`\dot z = (J - R) Q z + B u`.

        .. math:: \dot z = (J - R)\, Q z + B u, \qquad y = B^T Q z

        with J skew, R and Q positive semidefinite. u are the forces on the seen coordinates, y
        their velocities, and z is the state of `Hamiltonian.energy`; the transfer function is the
        mobility :math:`s H(s)`. R is zero for a lossless model. Where losses were fitted it holds
        the viscous ratio of each mode, structural damping by its ratio at resonance. Of a
        nonlinear model it is the form of small motions.

        Raises
        ------
        CannotTellError
            When the data do not determine the Hamiltonian, or its energy has no lower bound.

        Examples
        --------
        >>> import prism
        >>> chain = prism.systems.chain(5, observed=[0, 2, 4])
        >>> model = prism.identify(chain.free(400, 0.05, noise=0.1, rng=0), mass="identity")
        >>> system = model.port_hamiltonian()
        >>> system.Q.shape, system.B.shape, system.lossless
        ((10, 10), (10, 3), True)
        """
        matrices = self._port_matrices("the port-Hamiltonian form")
        assert self.hamiltonian is not None
        return PortHamiltonian(*matrices, self.channels, port_names(self.hamiltonian))

    def to_statespace(self) -> StateSpace:
        r"""Forces on the seen coordinates to their positions, as a `scipy.signal.StateSpace`.

        .. math:: \dot z = A z + B u,\quad x = C z,\qquad C (s - A)^{-1} B = H(s)

        with the state z, the forces u and the losses of `port_hamiltonian`.

        Raises
        ------
        CannotTellError
            When the data do not determine the Hamiltonian.
        """
        from scipy.signal import StateSpace

        J, R, Q, B = self._port_matrices("the state-space form")
        assert self.hamiltonian is not None
        n = B.shape[1]
        return StateSpace((J - R) @ Q, B, self.hamiltonian.seen_positions(), np.zeros((n, n)))

    def to_control(self) -> control.StateSpace:
        r"""Forces to positions, as `to_statespace`, for python-control, with names.

        Inputs are ``f_<channel>``, outputs the channels. A pair of ports is
        ``model.to_control()["x1", "f_x2"]``.

        Raises
        ------
        CannotTellError
            When the data do not determine the Hamiltonian.
        MissingDependencyError
            When python-control is not installed.

        Examples
        --------
        >>> import prism
        >>> chain = prism.systems.chain(5, observed=[0, 2, 4])
        >>> model = prism.identify(chain.free(400, 0.05, noise=0.1, rng=0), mass="identity")
        >>> system = model.to_control()
        >>> system.input_labels, system.output_labels
        (['f_q1', 'f_q3', 'f_q5'], ['q1', 'q3', 'q5'])
        """
        system = self.to_statespace()
        package = require("control", "the form of python-control", "control")
        assert self.hamiltonian is not None
        return package.ss(
            *(system.A, system.B, system.C, system.D),
            inputs=[f"f_{name}" for name in self.channels],
            outputs=list(self.channels),
            states=list(port_names(self.hamiltonian)),
        )

    def to_xarray(self) -> Any:
        """Modes as an `xarray.Dataset` over mode and channel, under the names of `Modes`.

        Modes are counted from 1; ``channel_in`` is where the force of a residue acts.

        Examples
        --------
        >>> import prism
        >>> record = prism.systems.chain().free(100, 0.1, noise=0.1, rng=0)
        >>> round(prism.identify(record).to_xarray()["frequencies"].sel(mode=2).item(), 2)
        1.0
        """
        return through("modes_to_xarray")(self)

    def _port_matrices(self, what: str) -> tuple[Array, Array, Array, Array]:
        if self.hamiltonian is None:
            raise self._cannot(what)
        return port_matrices(self.hamiltonian, self.modes.damping)

    def _cannot(self, what: str) -> CannotTellError:
        return self.identifiability.refusal(what)

    def summary(self) -> str:
        """The result as text for people."""
        return str(through("summary")(self))

    def __str__(self) -> str:
        """Return the summary."""
        return self.summary()

    def _repr_html_(self) -> str:
        return str(through("model_html")(self))

    @property
    def plot(self) -> Plot:
        """Figures: ``model.plot.record(record)``, ``.spectrum(record)``, ``.poles()`` ..."""
        return through("plot")(self)  # type: ignore[no-any-return]

    def report(
        self,
        path: str | os.PathLike[str],
        record: Record | FrequencyResponse | None = None,
        geometry: Geometry | None = None,
    ) -> None:
        """Write a self-contained HTML page whose figures can be zoomed and read off.

        Parameters
        ----------
        path : path
        record : Record or FrequencyResponse, optional
            What was fitted, to draw it with the fit, its spectrum and correlation, or the response.
        geometry : Geometry, optional
            To move the structure in its modes.
        """
        through("report")(self, path, record, geometry)

    def to_uff(
        self,
        path: str | os.PathLike[str],
        geometry: Geometry | None = None,
        units: str | None = None,
    ) -> None:
        """Write the modes to a universal file: `prism.io.uff_modes.write_modes` says how.

        Parameters
        ----------
        path : path
        geometry : Geometry, optional
        units : str, optional
        """
        through("to_uff")(self, path, geometry, units)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as plain JSON (schema ``prism.model/1``)."""
        through("save")(self, path)
