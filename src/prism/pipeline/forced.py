"""FrequencyResponse or forced Record → Foster form → Modes → completion → Model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from prism._linalg import positive_sign
from prism._types import Array
from prism._version import __version__
from prism.completion import complete
from prism.frequency_response import FrequencyResponse
from prism.hamiltonian import Hamiltonian
from prism.identifiability import Identifiability
from prism.kernel import Certificate, certify
from prism.model import Model, RecordSummary, ResponseSummary, Settings
from prism.modes import Modes
from prism.motion.forced import FosterFit, fit_records, fit_response
from prism.motion.forced.places import place_forces
from prism.motion.forced.zeros import Zero, zeros_of
from prism.pipeline.lines import spread_of_residues
from prism.record import Record
from prism.remarks import Remark, as_remarks

Progress = Callable[[str], None] | None

_FAR = 3.0  # Nyquist frequencies: where the modes of a static compliance are placed
_MOST_ENTRIES = 16  # single entries whose zeros are listed


def from_response(
    response: FrequencyResponse,
    *,
    damped: bool | None,
    rank: str,
    false_alarm: float,
    max_modes: int | None,
    progress: Progress,
) -> Model:
    """Model of a measured frequency response."""
    fit = fit_response(
        response,
        damped=damped,
        rank=rank,
        false_alarm=false_alarm,
        max_modes=max_modes,
        progress=progress,
    )
    names = response.ports.names
    size = np.sqrt(np.nanmean(np.abs(response.ports.values) ** 2, axis=(0, 2)))
    summary = RecordSummary(
        samples=(len(response),),
        dt=None,
        missing=response.missing,
        start=float(response.omega[0]),
        end=float(response.omega[-1]),
        std=np.asarray(size),
    )
    pairs = [(a, b) for a in response.outputs for b in response.inputs]
    return _assemble(
        fit, names, (response.quantity,) * len(names), summary, pairs, response.omega[[0, -1]]
    )


def from_records(
    record: Record,
    force: Sequence[str],
    *,
    at: Mapping[str, str] | None,
    damped: bool | None,
    hold: str,
    false_alarm: float,
    max_modes: int | None,
    progress: Progress,
) -> Model:
    """Model of records whose forces were recorded too."""
    found = fit_records(
        record,
        force,
        at=at,
        damped=damped,
        hold=hold,
        false_alarm=false_alarm,
        max_modes=max_modes,
        progress=progress,
    )
    motions = [k for k, name in enumerate(record.channels) if name not in set(force)]
    whole = RecordSummary.of(record)
    summary = RecordSummary(
        whole.samples, whole.dt, whole.missing, whole.start, whole.end, whole.std[motions]
    )
    assert record.dt is not None
    longest = max(len(trial) for trial in record.trials) * record.dt
    places = place_forces(found.ports, force, at)
    pairs = [(a, b) for a in found.ports for b in places.values()]
    return _assemble(
        found.fit.with_static_modes(_FAR * np.pi / record.dt),
        found.ports,
        tuple(record.quantity[k] for k in motions),
        summary,
        pairs,
        np.array([2 * np.pi / longest, np.pi / record.dt]),
    )


def _assemble(
    fit: FosterFit,
    names: tuple[str, ...],
    quantity: tuple[str, ...],
    summary: RecordSummary,
    pairs: list[tuple[str, str]],
    band: Array,
) -> Model:
    foster = fit.foster
    K, n = foster.participation.shape
    why, remedy = _undetermined(fit, names)
    verdict = Identifiability(
        modes=K,
        channels=n,
        magnitudes=not why,
        scale="" if why else "fixed by the measured forces",
        why=why,
        remedy=remedy,
        remarks=(*_band_remarks(fit), *as_remarks(fit.remarks)),
        motion=False,
    )
    hamiltonian = None
    certificate = Certificate(True, None, None, "every mode is stable: no loss factor is negative")
    if not why:
        part = K * (n + 1)
        completion = complete(foster.omega, foster.participation, fit.covariance[:part, :part])
        hamiltonian = Hamiltonian(completion, names)
        certificate = certify(
            completion.stiffness, hamiltonian.kernel, rigid=bool(np.any(foster.omega == 0))
        )
    return Model(
        experiment="forced",
        channels=names,
        quantity=quantity,
        record=summary,
        noise_std=fit.noise_std,
        modes=_modes(fit),
        hamiltonian=hamiltonian,
        certificate=certificate,
        identifiability=verdict,
        trajectories=None,
        settings=Settings("", 0.0, None, __version__),
        response=ResponseSummary(
            low=float(band[0]),
            high=float(band[1]),
            pairs=tuple(pairs),
            damping=foster.damping,
            noise=fit.noise,
            inside=fit.inside,
            participation=foster.participation,
            zeros=_zeros(fit, names, pairs, band),
        ),
    )


def _undetermined(fit: FosterFit, names: tuple[str, ...]) -> tuple[str, str]:
    """Why there is no Hamiltonian, and what would supply it; empty when there is one."""
    if not fit.driven:
        return (
            "no driving point was measured: only the products of the participations of outputs "
            "and inputs are known",
            "measure the motion where a force acts, and give both the same name",
        )
    V = fit.foster.participation
    rank = int(np.linalg.matrix_rank(V / np.abs(V).max(axis=0), tol=1e-8))
    if rank < len(names):
        return (
            f"{len(V)} mode{'s' * (len(V) > 1)} cannot move {len(names)} ports independently",
            "measure more of the band, or fewer ports",
        )
    return "", ""


def _band_remarks(fit: FosterFit) -> tuple[Remark, ...]:
    outside = int((~fit.inside).sum())
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
    foster = fit.foster
    V = foster.participation
    K, n = V.shape
    size = np.linalg.norm(V, axis=1)
    signs = np.array([positive_sign(v) for v in V])
    V = V * signs[:, None]
    shapes = V / size[:, None]
    flip = np.concatenate([np.ones(K), np.repeat(signs, n), np.ones(K)])
    C = fit.covariance * np.outer(flip, flip)
    # d(v/|v|) = (1 - d dᵀ) dv/|v|
    T = np.zeros((K * (n + 1), K * (n + 1)))
    T[:K, :K] = np.eye(K)
    for k in range(K):
        part = slice(K + k * n, K + (k + 1) * n)
        T[part, part] = (np.eye(n) - np.outer(shapes[k], shapes[k])) / size[k]
    inner = C[: K * (n + 1), : K * (n + 1)]
    covariance = T @ inner @ T.T
    std = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    lossy = foster.damping != "none"
    loss_std = np.sqrt(np.maximum(np.diag(C)[K * (n + 1) :], 0.0))
    return Modes(
        frequencies=foster.omega,
        frequencies_std=std[:K],
        shapes=shapes,
        shapes_std=std[K:].reshape(K, n),
        covariance=covariance,
        amplitudes=np.zeros((0, K)),
        significance=np.sqrt(fit.gains),
        phase_ratio=np.zeros(K),
        in_phase=np.ones(K, bool),
        residues=np.einsum("ka,kb->kab", V, V) if fit.driven else None,
        residues_std=spread_of_residues(V, inner[K:, K:]) if fit.driven else None,
        energies=None,
        damping=foster.loss / 2,
        damping_std=loss_std / 2 if lossy else None,
    )


def _zeros(
    fit: FosterFit, names: tuple[str, ...], pairs: list[tuple[str, str]], band: Array
) -> tuple[Zero, ...]:
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
