"""The pipeline: Record → lines → Modes → completion → Hamiltonian → Model.

This is the only module that knows all rooms of the house.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism._version import __version__
from prism.completion import complete
from prism.errors import OptionError
from prism.experiments import EXPERIMENTS, Known, Magnitudes, Undetermined
from prism.hamiltonian import Hamiltonian
from prism.identifiability import Identifiability
from prism.kernel import certify, certify_lines
from prism.lines import METHODS, Lines
from prism.model import ForecastCheck, Model, RecordSummary, Settings
from prism.modes import Modes
from prism.motion import Trajectories
from prism.record import Record

DEFAULT_FALSE_ALARM = 1e-3


def identify(
    record: Record,
    *,
    experiment: str = "free",
    mass: ArrayLike | str | None = None,
    stiffness: ArrayLike | None = None,
    method: str = "likelihood",
    max_modes: int | None = None,
    false_alarm: float = DEFAULT_FALSE_ALARM,
    fit_fraction: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Model:
    """Identify the passive Hamiltonian behind a record of some of its coordinates.

    Parameters
    ----------
    record : Record
    experiment : {"free", "equilibrium", "released"}
        How the record was made: with unknown excitation, at thermal equilibrium (equal mean
        energy in every mode), or released from rest with the hidden part undisplaced.
    mass : array (channels, channels) or "identity", optional
        Effective mass of the seen coordinates, if known.
    stiffness : array (channels, channels), optional
        Stiffness of the seen coordinates with the hidden ones clamped, if known.
    method : {"likelihood", "nnls", "sdp"}
        How lines are found: by maximum likelihood (the default), by the non-negative cosine fit
        of the autocorrelation that the paper describes, or by its semidefinite program.
    max_modes : int, optional
        Look for at most so many lines; 200 by default.
    false_alarm : float
        Probability that noise alone shows a line anywhere in the band.
    fit_fraction : float, optional
        Fit this first part of the record only and test the forecast on the rest.
    progress : callable, optional
        Called with a short text as the search goes on.

    Raises
    ------
    NoLineError, RecordTooShortError
        When the data hold nothing to identify.
    OptionError
        When an option makes no sense.

    Examples
    --------
    >>> import prism
    >>> record = prism.systems.chain().free(400, 0.05, noise=0.1, rng=0)
    >>> prism.identify(record).modes.frequencies.round(3)
    array([0.347, 1.   , 1.532, 1.879])
    """
    _check_record(record)
    known = Known(_matrix(mass, "mass", record), _matrix(stiffness, "stiffness", record))
    _check_options(experiment, method, max_modes, false_alarm)
    fitted = record if fit_fraction is None else record.head(fit_fraction)
    lines = METHODS[method](fitted, false_alarm=false_alarm, max_modes=max_modes, progress=progress)
    outcome = _not_lines(lines) or EXPERIMENTS[experiment](lines, known)
    trajectories = Trajectories(lines.motion, lines.trials, lines.means)
    model = _assemble(fitted, experiment, lines, outcome, trajectories)
    model = replace(model, settings=Settings(method, false_alarm, max_modes, __version__))
    if fit_fraction is None:
        return model
    return replace(model, forecast_check=check_forecast(model, record, fit_fraction))


def check_forecast(model: Model, record: Record, fit_fraction: float) -> ForecastCheck:
    """Compare the forecast with the part of the record after ``fit_fraction``."""
    rest = record.tail(fit_fraction)
    errors, values = [], []
    for r, (t, seen) in enumerate(zip(rest.times, rest.trials, strict=True)):
        errors.append(model.forecast(t, r).values - seen)
        values.append(seen)
    rms = np.sqrt(np.nanmean(np.concatenate(errors) ** 2, axis=0))
    return ForecastCheck(fit_fraction, rms / np.nanstd(np.concatenate(values), axis=0))


# -- assembling the answer -----------------------------------------------------------------------


def _assemble(
    record: Record,
    experiment: str,
    lines: Lines,
    outcome: Magnitudes | Undetermined,
    trajectories: Trajectories,
) -> Model:
    n = record.n_channels
    verdict = Identifiability(
        modes=len(lines.fit.line), channels=n, magnitudes=False, remarks=_remarks(lines)
    )
    hamiltonian = None
    if isinstance(outcome, Magnitudes):
        completion = complete(
            outcome.omega[outcome.line], outcome.participation, outcome.participation_covariance
        )
        hamiltonian = Hamiltonian(completion, record.channels)
        certificate = certify(completion.stiffness, hamiltonian.kernel)
        verdict = replace(
            verdict,
            magnitudes=True,
            scale=outcome.scale,
            remarks=verdict.remarks + outcome.remarks,
        )
    else:
        certificate = certify_lines(lines.fit.omega)
        verdict = replace(verdict, why=outcome.why, remedy=outcome.remedy)
    return Model(
        experiment=experiment,
        channels=record.channels,
        quantity=record.quantity,
        record=RecordSummary.of(record),
        noise_std=lines.noise,
        modes=_modes(lines, outcome, trajectories),
        hamiltonian=hamiltonian,
        certificate=certificate,
        identifiability=verdict,
        trajectories=trajectories,
        settings=Settings("", 0.0, None, __version__),
        temperature=outcome.temperature if isinstance(outcome, Magnitudes) else None,
    )


def _not_lines(lines: Lines) -> Undetermined | None:
    """A record whose lines are not independent undamped modes has no linear Hamiltonian."""
    if lines.torus is not None:
        some = " and ".join(f"{w:.6g}" for w in lines.torus.fundamentals)
        return Undetermined(
            f"the lines are integer combinations of {some}: quasi-periodic motion of a nonlinear "
            "system, whose lines are not normal modes",
            "at smaller amplitude the motion is linear and the lines are normal modes",
        )
    if not lines.crowded:
        return None
    return Undetermined(
        "the record is not a sum of undamped lines: several lines crowd around one frequency "
        "closer than the record resolves, as a decaying or modulated oscillation makes them",
        "use the stationary part of the record, or a part so short that the decay does not show",
    )


def _modes(lines: Lines, outcome: Magnitudes | Undetermined, motion: Trajectories) -> Modes:
    fit = lines.fit
    line = fit.line
    K, n = fit.shapes.shape
    N = len(fit.omega)
    omega, shapes, covariance = fit.omega, fit.shapes, fit.covariance
    residues = residues_std = energies = None
    amplitudes = Trajectories(fit, lines.trials, lines.means).amplitudes
    if isinstance(outcome, Magnitudes):
        omega, shapes = outcome.omega, outcome.shapes
        covariance = outcome.covariance[: N + K * n, : N + K * n]
        v = outcome.participation
        residues = np.einsum("ma,mb->mab", v, v)
        residues_std = _residues_std(v, outcome.participation_covariance[K:, K:])
        energies = 0.5 * omega[line] ** 2 * amplitudes**2 / outcome.s
    # one row per mode: the modes of a degenerate line share its frequency
    pick = np.concatenate([line, np.arange(N, N + K * n)])
    covariance = covariance[np.ix_(pick, pick)]
    std = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return Modes(
        frequencies=omega[line],
        frequencies_std=std[:K],
        shapes=shapes,
        shapes_std=std[K:].reshape(K, n),
        covariance=covariance,
        amplitudes=amplitudes,
        significance=np.sqrt(lines.gains)[line],
        phase_ratio=np.array([t.ratio[1] if n > 1 else 0.0 for t in lines.tests])[line],
        in_phase=~lines.out_of_phase[line],
        residues=residues,
        residues_std=residues_std,
        energies=energies,
        damping=np.zeros(K),
    )


def _residues_std(v: Array, covariance: Array) -> Array:
    """Standard deviations of ``v vᵀ``: ``d(v_a v_b) = v_b dv_a + v_a dv_b``."""
    K, n = v.shape
    out = np.empty((K, n, n))
    for m in range(K):
        C = covariance[m * n : (m + 1) * n, m * n : (m + 1) * n]
        variance = (
            np.outer(np.diag(C), v[m] ** 2)
            + np.outer(v[m] ** 2, np.diag(C))
            + 2 * C * np.outer(v[m], v[m])
        )
        out[m] = np.sqrt(np.maximum(variance, 0.0))
    return out


def _remarks(lines: Lines) -> tuple[str, ...]:
    remarks = []
    out = np.flatnonzero(lines.out_of_phase)
    if len(out):
        which = ", ".join(f"{lines.fit.omega[j]:.5g}" for j in out[:5])
        remarks.append(
            f"the line{'s' * (len(out) > 1)} at {which} {'are' if len(out) > 1 else 'is'} not in "
            "phase on all channels, as a mode of a lossless reciprocal system must be: two modes "
            "of one frequency, damping, rotation or a delay between channels would do this"
        )
    if lines.slow:
        remarks.append(
            "there is motion slower than one period of the record, which was left out; a longer "
            "record would resolve it"
        )
    if lines.fit.background > 1:
        remarks.append("a linear drift is significant and was fitted together with the lines")
    return tuple(remarks)


# -- checking what was asked ----------------------------------------------------------------------


def _check_record(record: object) -> None:
    if not isinstance(record, Record):
        raise OptionError(
            f"identify needs a Record, got {type(record).__name__}; "
            "wrap an array as prism.Record(values, dt=...) or use prism.read(path)."
        )


def _check_options(experiment: str, method: str, max_modes: int | None, false_alarm: float) -> None:
    if experiment not in EXPERIMENTS:
        raise OptionError(
            f"unknown experiment {experiment!r}; use one of {', '.join(EXPERIMENTS)}."
        )
    if method not in METHODS:
        raise OptionError(f"unknown method {method!r}; use one of {', '.join(METHODS)}.")
    if max_modes is not None and max_modes < 1:
        raise OptionError(f"max_modes must be at least 1, got {max_modes}.")
    if not 0 < false_alarm < 1:
        raise OptionError(f"the false-alarm probability must lie in (0, 1), got {false_alarm}.")


def _matrix(given: ArrayLike | str | None, name: str, record: Record) -> Array | None:
    """Check a known mass or stiffness: symmetric, of the size of the channels."""
    n = record.n_channels
    if given is None:
        return None
    if isinstance(given, str):
        if given != "identity" or name != "mass":
            raise OptionError(f"unknown {name} {given!r}; give a {n} x {n} matrix or a number.")
        return np.eye(n)
    out = np.asarray(given, float)
    out = out * np.eye(n) if out.ndim == 0 else out
    if out.shape != (n, n):
        raise OptionError(
            f"the {name} has shape {out.shape}, but the record has {n} channels; "
            f"give a {n} x {n} matrix."
        )
    if not np.all(np.isfinite(out)) or not np.allclose(out, out.T, rtol=1e-8):
        raise OptionError(f"the {name} must be finite and symmetric.")
    if np.linalg.eigvalsh(out)[0] <= 0:
        raise OptionError(f"the {name} must be positive definite.")
    return np.asarray(0.5 * (out + out.T))
