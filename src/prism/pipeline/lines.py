"""Record → lines → Modes → completion → Hamiltonian → Model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prism._types import Array
from prism._version import __version__
from prism.completion import complete
from prism.experiments import Magnitudes, Undetermined
from prism.forecast import Trajectories
from prism.hamiltonian import Hamiltonian
from prism.identifiability import Identifiability
from prism.kernel import certify, certify_lines
from prism.model import Model, RecordSummary, Settings
from prism.modes import Modes
from prism.motion.steady import Lines
from prism.record import Record
from prism.remarks import Ask, Remark, Words


def assemble(
    record: Record,
    experiment: str,
    lines: Lines,
    outcome: Magnitudes | Undetermined,
    trajectories: Trajectories,
) -> Model:
    """Put the model of a record together."""
    n = record.n_channels
    verdict = Identifiability(
        modes=len(lines.fit.line),
        channels=n,
        magnitudes=False,
        remarks=_remarks(lines, record.channels),
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


def not_lines(lines: Lines) -> Undetermined | None:
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
        "closer than the record resolves, or most of the motion is between the lines, as a "
        "decaying, modulated, noise-driven or chaotic oscillation makes it",
        Words(
            "if the motion decays or is driven by noise, fit it as such ({0}); otherwise use the "
            "stationary part of the record",
            (Ask("damped", True),),
        ),
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
        residues_std = spread_of_residues(v, outcome.participation_covariance[K:, K:])
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


def spread_of_residues(v: Array, covariance: Array) -> Array:
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


def _remarks(lines: Lines, channels: tuple[str, ...]) -> tuple[Remark, ...]:
    remarks = []

    def add(code: str, what: str) -> None:
        remarks.append(Remark(what, code=code))

    out = np.flatnonzero(lines.out_of_phase)
    if len(out):
        which = ", ".join(f"{lines.fit.omega[j]:.5g}" for j in out[:5])
        add(
            "out-of-phase",
            f"the line{'s' * (len(out) > 1)} at {which} {'are' if len(out) > 1 else 'is'} not in "
            "phase on all channels, as a mode of a lossless reciprocal system must be: two modes "
            "of one frequency, damping, rotation or a delay between channels would do this; "
            "records at equilibrium of a system that rotates are fitted by identify_gyroscopic",
        )
    if lines.slow:
        add(
            "slow-motion",
            "there is motion slower than one period of the record; it is in the forecast, but not "
            "among the modes: a longer record would resolve it",
        )
    if lines.trend is not None:
        degree = lines.trend.coefficients.shape[1] - 1
        add(
            "drift",
            f"a drift of degree {degree} was fitted together with the lines; the forecast goes on "
            "along it, and its error is not in the band",
        )
    if lines.ignored is not None:
        which = ", ".join(f"{w:.5g}" for w in lines.ignored.omega[:5])
        count = len(lines.ignored.omega)
        add(
            "ignored",
            f"{count} line{'s' * (count > 1)} in the ignored bands ({which}"
            f"{', ...' * (count > 5)}) {'were' if count > 1 else 'was'} fitted and "
            f"{'are' if count > 1 else 'is'} not among the modes",
        )
    if lines.spikes is not None and lines.spikes.any():
        some = " and ".join(
            f"{count} of {name}"
            for name, count in zip(channels, lines.spikes, strict=True)
            if count
        )
        add(
            "spikes",
            f"isolated samples more than six standard deviations off ({some}) were not used",
        )
    if lines.coloured:
        add(
            "coloured-noise",
            "the noise is not white: every line is judged by the noise at its frequency, and so "
            "are its errors",
        )
    if lines.fit.background > 1:
        add("drift", "a linear drift is significant and was fitted together with the lines")
    return tuple(remarks)
