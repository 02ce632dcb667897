"""Forced experiments as explanations: the Foster form of a response, or of forced records."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from scipy.special import chdtrc

from prism._linalg import positive_sign
from prism._types import Array
from prism.errors import CannotTellError, OptionError
from prism.finding import (
    Determined,
    Finding,
    RecordSummary,
    ResponseSummary,
    Zero,
    determined,
)
from prism.frequency_response import FrequencyResponse
from prism.hamiltonian import Hamiltonian
from prism.kernel import Certificate
from prism.magnitudes import Undetermined
from prism.modes import Modes, spread_of_residues
from prism.motion.explanation import Explanation, Question
from prism.motion.faint import faint
from prism.motion.forced.foster import FosterFit
from prism.motion.forced.friction.finding import FrictionFinding
from prism.motion.forced.friction.hamiltonian import FrictionHamiltonian
from prism.motion.forced.places import place_forces
from prism.motion.forced.records import fit_records
from prism.motion.forced.records.turning import Quadrature
from prism.motion.forced.response import fit_response
from prism.motion.forced.rigid import with_rigid_bodies
from prism.motion.forced.rotating import RotatingFit, asymmetry_of, explained_by_gains, fit_rotating
from prism.motion.forced.rotating.finding import (
    Sight,
    not_reciprocal,
    refusal_of,
    rotating_finding,
    why_not,
)
from prism.motion.forced.zeros import zeros_of
from prism.record import Record
from prism.remarks import Ask, Remark, Words
from prism.uncertainty import Gaussian

_BEYOND = 3.0  # Nyquist frequencies: where the modes of a static compliance are placed
_MOST_ENTRIES = 16  # single entries whose zeros are listed
_MOST_LEFT = 0.3  # of a typical value of a response, by modes that describe it
_MEANINGLESS = {
    "fit_fraction": "continuing the motion needs the force to come",
    "ignore": "a line that the force does not make is noise there",
    "potential": "the response is that of a linear system",
}

Pairs = list[tuple[str, str]]


class ForcedMotion(Explanation):
    """Poles that a measured force drives."""

    name: ClassVar[str] = "forced"
    words: ClassVar[str] = "a measured force drives it"
    experiments: ClassVar[tuple[str, ...]] = ("forced",)
    hamiltonians: ClassVar[tuple[type[Hamiltonian], ...]] = (FrictionHamiltonian,)
    meaningless: ClassVar[tuple[str, ...]] = ("mass", "stiffness", "rigid", *_MEANINGLESS)

    def meant(self, asked: Question) -> ForcedMotion | None:
        """Where the experiment was a forced one."""
        if asked.experiment.name != "forced":
            return None
        return ForcedResponse() if asked.is_response else ForcedRecords()

    def refusal(self, asked: Question, strange: list[str]) -> Words | str:
        """What force and motion determine, or what needs a free motion."""
        if not strange:
            method = asked.settings.method
            return f"a forced experiment is fitted by likelihood, not by {method!r}."
        why = _MEANINGLESS.get(strange[0], "force and motion determine it")
        return Words(
            f"{{0:name}} means nothing in a forced experiment: {why}; leave it out.",
            (Ask(strange[0]),),
        )

    def find(self, asked: Question) -> Finding:
        """Fit what `meant` has chosen."""
        raise NotImplementedError


class ForcedResponse(ForcedMotion):
    """The Foster form of a measured frequency response."""

    def check(self, asked: Question) -> None:
        """A response names its inputs."""
        super().check(asked)
        experiment = asked.experiment
        if experiment.force or experiment.at or experiment.hold != "auto":
            raise OptionError(
                Words(
                    "{0:name}, {1:name} and {2:name} are for time records: a frequency response "
                    "names its inputs.",
                    (Ask("force"), Ask("at"), Ask("hold")),
                )
            )

    def find(self, asked: Question) -> Finding:
        """Fit the response, as that of a system that rotates where reciprocity fails."""
        seen = asymmetry_of(asked.data) if asked.settings.gyroscopic is not False else None
        if seen is None or not seen.is_signal or explained_by_gains(asked.data):
            return self._reciprocal(asked)
        asked.tell("lines that turn")
        try:
            fit, why = self._rotating(asked), ""
        except CannotTellError as refusal:
            fit, why = None, str(refusal).rstrip(".")
        if fit is not None and fit.lead > 0 and not seen.is_active:
            return rotating_finding(fit, Sight.of(asked.data, seen.words), _measured(asked.data))
        if fit is not None:
            why = f"nor does it rotate: {why_not(fit)}"
        try:
            return not_reciprocal(self._reciprocal(asked), seen, why)
        except CannotTellError as refusal:
            raise refusal_of(refusal, seen, why) from None

    def _rotating(self, asked: Question) -> RotatingFit:
        settings = asked.settings
        return fit_rotating(
            asked.data,
            damped=settings.damped,
            false_alarm=settings.false_alarm,
            max_modes=settings.max_modes,
        )

    def _reciprocal(self, asked: Question) -> Finding:
        response, settings = asked.data, asked.settings
        fit = fit_response(
            response,
            damped=settings.damped,
            rank=asked.experiment.rank,
            false_alarm=settings.false_alarm,
            max_modes=settings.max_modes,
            progress=asked.tell,
        )
        names = response.ports.names
        pairs = [(a, b) for a in response.outputs for b in response.inputs]
        kinds = (response.quantity,) * len(names)
        return _finding(fit, names, kinds, _measured(response), pairs, response.omega[[0, -1]])


def _measured(response: FrequencyResponse) -> RecordSummary:
    size = np.sqrt(np.nanmean(np.abs(response.ports.values) ** 2, axis=(0, 2)))
    return RecordSummary(
        samples=(len(response),),
        dt=None,
        missing=response.missing,
        span=None,
        std=np.asarray(size),
    )


class ForcedRecords(ForcedMotion):
    """The same form directly from records of force and motion."""

    def check(self, asked: Question) -> None:
        """A record has to say which channels are forces."""
        super().check(asked)
        if not asked.experiment.force:
            channels = ", ".join(asked.record.channels)
            raise OptionError(
                Words(
                    "a forced record needs the names of its force channels: give {0} among "
                    f"{channels}.",
                    (Ask("force", None, "[...]"),),
                )
            )
        if asked.experiment.rank != "one":
            said = "{0:name} is for frequency responses: leave it out."
            raise OptionError(Words(said, (Ask("rank"),)))

    def find(self, asked: Question) -> Finding:
        """Fit the records."""
        record, settings, experiment = asked.record, asked.settings, asked.experiment
        force, at = list(experiment.force), experiment.places
        found = fit_records(
            record,
            force,
            at=at,
            damped=settings.damped,
            hold=experiment.hold,
            false_alarm=settings.false_alarm,
            max_modes=settings.max_modes,
            may_rotate=settings.gyroscopic is not False,
            progress=asked.tell,
        )
        motions = [k for k, name in enumerate(record.channels) if name not in set(force)]
        whole = RecordSummary.of(record)
        measured = replace(whole, std=whole.std[motions])
        assert record.dt is not None
        nyquist = np.pi / record.dt
        longest = max(len(trial) for trial in record.trials) * record.dt
        ports = tuple(record.channels[k] for k in motions)
        quantity = tuple(record.quantity[k] for k in motions)
        places = place_forces(ports, force, at)
        pairs = [(a, b) for a in ports for b in places.values()]
        band = np.array([2 * np.pi / longest, nyquist])
        if isinstance(found, RotatingFit):
            low, high = float(band[0]), float(band[1])
            sight = Sight(ports, quantity, tuple(pairs), low, high, found.words)
            return _with_faint(rotating_finding(found, sight, measured), record)
        finding = _finding(
            with_rigid_bodies(found.fit, 2 * np.pi / longest).with_static_modes(_BEYOND * nyquist),
            *(ports, quantity, measured, pairs, band),
        )
        finding = _with_faint(finding, record)
        turns = found.quadrature.told and settings.gyroscopic is not False
        return _turning(finding, found.quadrature) if turns else finding


def _with_faint(finding: Finding, record: Record) -> Finding:
    r"""With a word on modes in the band that noise may have made.

    At each of the Fourier lines of a record noise gains :math:`χ^2` with as many degrees of freedom
    as a mode has numbers: a frequency, a decay and a participation.
    """
    modes, summary = finding.modes, finding.response
    assert summary is not None
    lines = sum(record.samples) / 2
    chance = lines * chdtrc(2 + len(finding.channels), modes.significance**2)
    inside = summary.inside & (modes.frequencies > 0)
    found = faint(modes.frequencies, np.where(inside, chance, 0.0), what="mode", where="records")
    return finding.with_remarks(*found)


def _turning(finding: Finding, seen: Quadrature) -> Finding:
    """Forced records of a system that rotates: their reciprocal fit determines nothing."""
    why = (
        "the response is not reciprocal: lines that turn, as in a system that rotates, explain "
        f"what reciprocal modes leave (they gain {seen.gain:.3g} in χ² with {seen.dof} parameters)"
    )
    remedy = Words(
        "records with a force at every port determine a system that rotates, as do a frequency "
        "response of all ports and records at equilibrium ({0})",
        (Ask("experiment", "equilibrium"),),
    )
    return replace(
        finding,
        modes=replace(finding.modes, residues=None, residues_std=None),
        outcome=Undetermined(why, remedy, refuted=True),
        certificate=Certificate(True, None, None, "every mode is stable"),
    )


def _finding(
    fit: FosterFit,
    names: tuple[str, ...],
    quantity: tuple[str, ...],
    measured: RecordSummary,
    pairs: Pairs,
    band: Array,
) -> Finding:
    """Put together what a Foster form says."""
    foster = fit.foster
    K, n = foster.participation.shape
    outcome: Determined | Undetermined | None = _undetermined(fit, names)
    certificate = Certificate(True, None, None, "every mode is stable: no loss factor is negative")
    scale = "fixed by the measured forces"
    coupled = None if foster.friction is None else FrictionFinding(fit, names)
    if outcome is None and coupled is not None:
        outcome = coupled.outcome(scale)
        certificate = outcome.certificate
    if outcome is None:
        part = K * (n + 1)
        values = {"frequencies": foster.omega, "participation": foster.participation}
        outcome = determined(
            Gaussian.of(values, fit.covariance[:part, :part]),
            names,
            scale,
        )
        certificate = outcome.certificate
    return Finding(
        kind=ForcedMotion.name,
        channels=names,
        quantity=quantity,
        measured=measured,
        modes=_modes(fit) if coupled is None else coupled.modes,
        outcome=outcome,
        certificate=certificate,
        noise_std=fit.noise_std,
        remarks=(*_band_remarks(fit), *(coupled.remarks if coupled else ()), *fit.remarks),
        response=ResponseSummary(
            low=float(band[0]),
            high=float(band[1]),
            pairs=tuple(pairs),
            damping=foster.damping,
            noise=fit.noise,
            inside=fit.inside,
            participation=foster.participation,
            zeros=_zeros(fit, names, pairs, band),
            modal=None if foster.damping == "structural" else fit.modal,
        ),
        fit=fit,
    )


def _undetermined(fit: FosterFit, names: tuple[str, ...]) -> Undetermined | None:
    """Why there is no Hamiltonian, and what would supply it; None when there is one."""
    if not fit.driven:
        return Undetermined(
            "no driving point was measured: only the products of the participations of outputs "
            "and inputs are known",
            "measure the motion where a force acts, and give both the same name",
        )
    if fit.left > _MOST_LEFT:
        return Undetermined(
            f"the modes do not describe the response: at a typical line they leave "
            f"{100 * fit.left:.2g} % of it, and that is no noise",
            Words(
                "check the sign and the timing of the channels, allow more modes ({0}), or fit a "
                "part of the band",
                (Ask("max_modes"),),
            ),
        )
    V = fit.foster.participation / np.abs(fit.foster.participation).max(axis=0)
    rigid = V[fit.foster.omega == 0]
    if len(rigid) > np.linalg.matrix_rank(rigid, tol=1e-8):
        return Undetermined(
            f"{len(rigid)} modes at zero frequency are more than the {len(names)} ports can tell "
            "apart: a hidden part would have no stiffness",
            Words("allow more modes ({0}), or measure more of the band", (Ask("max_modes"),)),
        )
    rank = int(np.linalg.matrix_rank(V, tol=1e-8))
    if rank == len(names) or fit.foster.friction is None:
        return None
    return Undetermined(
        f"{len(V)} mode{'s' * (len(V) > 1)} that friction couples cannot move {len(names)} ports "
        "independently",
        "measure more of the band, or fewer ports",
    )


def _band_remarks(fit: FosterFit) -> tuple[Remark, ...]:
    outside = int((~fit.inside & (fit.foster.omega > 0)).sum())
    if not outside:
        return ()
    some = f"{outside} mode{'s' * (outside > 1)}"
    return (
        Remark(
            f"{some} outside the measured band stand{'s' * (outside == 1)} for all modes there: "
            "the effective mass, the stiffness and hidden frequencies outside the band are those "
            "of a model that holds inside it",
            code="outside-band",
        ),
    )


def _modes(fit: FosterFit) -> Modes:
    """Unit shapes and damping ratios: ``d(v/|v|) = (1 - d dᵀ) dv/|v|``, ``ζ = η/2``."""
    foster = fit.foster
    K, n = foster.participation.shape
    size = np.linalg.norm(foster.participation, axis=1)
    signs = np.array([positive_sign(v) for v in foster.participation])
    V = foster.participation * signs[:, None]
    shapes = V / size[:, None]
    lossy = foster.damping != "none"
    rows = K * (n + 1 + lossy)
    T = np.zeros((rows, len(fit.covariance)))
    T[:K, :K] = np.eye(K)
    for k in range(K):
        part = slice(K + k * n, K + (k + 1) * n)
        tangent = (np.eye(n) - np.outer(shapes[k], shapes[k])) / size[k]
        T[part, part] = signs[k] * tangent
    values = {"frequencies": foster.omega, "shapes": shapes}
    if lossy:
        T[K * (n + 1) :, K * (n + 1) :] = 0.5 * np.eye(K)
        values["damping"] = foster.loss / 2
    inner = fit.covariance[K : K * (n + 1), K : K * (n + 1)]
    flip = np.repeat(signs, n)
    return Modes(
        joint=Gaussian.of(values, T @ fit.covariance @ T.T),
        amplitudes=np.zeros((0, K)),
        significance=np.sqrt(np.maximum(fit.gains, 0.0)),  # rounding, where errors are huge
        phase_ratio=np.zeros(K),
        in_phase=np.ones(K, bool),
        residues=np.einsum("ka,kb->kab", V, V) if fit.driven else None,
        residues_std=spread_of_residues(V, inner * np.outer(flip, flip)) if fit.driven else None,
    )


def _zeros(fit: FosterFit, names: tuple[str, ...], pairs: Pairs, band: Array) -> tuple[Zero, ...]:
    """Zeros of each measured entry, and of the whole square receptance of several ports."""
    if not fit.driven and any(a == b for a, b in pairs):
        return ()
    limits = (float(band[0]), float(band[1]))
    out: list[Zero] = []
    # reciprocal entries have the same zeros
    once = [pair for k, pair in enumerate(pairs) if pair[::-1] not in pairs[:k]]
    for a, b in once[:_MOST_ENTRIES]:
        out += zeros_of(fit, names, [names.index(a)], [names.index(b)], limits)
    every = list(range(len(names)))
    if len(names) > 1 and fit.driven and len(fit.foster.omega) > len(names):
        out += zeros_of(fit, names, every, every, limits)
    return tuple(out)
