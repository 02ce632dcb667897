"""Records that lose energy: free decays, kicked or not, and stationary motion driven by noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from prism._types import Array
from prism._version import __version__
from prism.errors import NoLineError, RecordTooShortError
from prism.forecast import DecayMotion
from prism.identifiability import Identifiability
from prism.kernel import certify_damped
from prism.model import Model, RecordSummary, Settings
from prism.modes import Modes
from prism.motion.damped import DampedModes
from prism.motion.decays.decays import DecayFit, damping_evidence, fit_decays
from prism.motion.driven.driven import DrivenFit, fit_driven
from prism.motion.driven.innovations import kicks
from prism.motion.steady import Lines
from prism.pipeline.ignore import Band
from prism.record import QUANTITIES, Record
from prism.remarks import Ask, Remark, Words, as_remarks

_FIRST_PART = 0.6  # of the record, which must foresee the rest if the motion is free
_FEW = 8  # modes that are enough to tell
_CLOSE = 2.0  # resolutions between lines that may be one that decays
_MOST = 100_000  # samples up to which that is tested
_SIGNIFICANT = 1e-6
_WORSE = 2.0  # times the error inside the fitted part
_MAGNITUDES = (
    "an unmeasured drive or start excites each mode by an unknown amount",
    Words(
        "a record with measured forces ({0}) would determine them", (Ask("force", like="[...]"),)
    ),
)


def from_damped(
    record: Record,
    *,
    bands: Sequence[Band],
    false_alarm: float,
    max_modes: int | None,
    progress: Callable[[str], None] | None,
) -> Model:
    """Fit a record with damping, as what it is: kicked, decaying, or driven by noise.

    Parameters
    ----------
    bands : sequence of (float, float)
        Angular frequencies of modes to ignore.
    """

    def decays(struck: Sequence[Array]) -> DecayFit:
        return fit_decays(
            record,
            kicks=tuple(struck) or None,
            false_alarm=false_alarm,
            max_modes=max_modes,
            progress=progress,
        )

    even = record.dt is not None and not record.missing
    struck = kicks(record) if even else ()
    if struck or not even or _decays(record, false_alarm):
        return _decaying(record, decays(struck), bands, struck)
    fit = fit_driven(record, false_alarm=false_alarm, max_modes=max_modes, progress=progress)
    return _driven(record, fit, bands)


def decay_remark(record: Record, lines: Lines) -> Remark | None:
    """A suggestion to fit losses, where lines that stand close together decay by the likelihood."""
    resolution = 2 * np.pi / record.duration
    if not lines.crowded and np.all(np.diff(lines.fit.omega) > _CLOSE * resolution):
        return None
    if max(record.samples) * record.n_trials > _MOST:
        return None
    evidence = damping_evidence(record, max_modes=_FEW)
    if evidence.p_value > _SIGNIFICANT:
        return None
    strongest = float(100 * evidence.damping.max())
    return Remark(
        "lines that stand close together decay by the likelihood",
        f"twice its logarithm gains {evidence.gain:.3g} with {evidence.dof} damping ratios up to "
        f"{strongest:.2g} %",
        Words("{0} fits that", (Ask("damped", True),)),
        code="decays",
    )


def _decays(record: Record, false_alarm: float) -> bool:
    """Whether free decays, fitted to the first part of each trial, foresee the rest.

    A free motion goes on as it began; one that noise drives forgets, so that the error beyond the
    fitted part is far larger than inside it.
    """
    head, tail = record.head(_FIRST_PART), record.tail(_FIRST_PART)
    try:
        fit = fit_decays(head, false_alarm=false_alarm, max_modes=_FEW)
    except (NoLineError, RecordTooShortError):
        return False
    errors = []
    for part in (head, tail):
        rests = [
            y - fit.forecast(t, r)[0]
            for r, (t, y) in enumerate(zip(part.times, part.trials, strict=True))
        ]
        errors.append(np.mean(np.concatenate(rests) ** 2, axis=0))
    return bool(np.mean(errors[1] / errors[0]) < _WORSE)


def _decaying(
    record: Record, fit: DecayFit, bands: Sequence[Band], struck: Sequence[Array]
) -> Model:
    orders = np.array([QUANTITIES.index(kind) for kind in record.quantity])
    poles = fit.frequencies * np.exp(1j * (np.pi - np.arccos(np.clip(fit.damping, 0, 1))))
    sizes = np.linalg.norm(fit.amplitudes / poles[:, None] ** orders, axis=2)
    what = "kicked" if struck else "free decay"
    return _model(
        record,
        fit,
        bands,
        amplitudes=np.array([sizes[fit.stretches == r][-1] for r in np.unique(fit.stretches)]),
        phase_ratio=fit.phase_ratio,
        noise_std=fit.noise_std,
        motion=DecayMotion(fit.continuations, fit.noise_std),
        remarks=(
            *_kick_remarks(struck),
            Remark(f"fitted as {what}", code="fitted-as"),
            *as_remarks(fit.remarks),
        ),
    )


def _kick_remarks(struck: Sequence[Array]) -> tuple[Remark, ...]:
    count = sum(len(times) for times in struck)
    if not count:
        return ()
    first = ", ".join(f"{t:.4g}" for t in struck[0][:4])
    return (
        Remark(
            f"the drive is impulsive, not steady noise: {count} kick{'s' * (count > 1)} "
            f"(the first at {first}), between which the motion decays freely",
            code="impulsive",
        ),
    )


def _driven(record: Record, fit: DrivenFit, bands: Sequence[Band]) -> Model:
    return _model(
        record,
        fit,
        bands,
        amplitudes=np.zeros((0, len(fit))),
        phase_ratio=np.zeros(len(fit)),
        noise_std=np.full(record.n_channels, np.nan),
        motion=None,
        remarks=(
            Remark(
                "fitted as motion driven by stationary noise that nobody measured", code="fitted-as"
            ),
            Remark(f"what the modes leave: {fit.noise}", code="left-over"),
            *as_remarks(fit.remarks),
        ),
    )


def _model(
    record: Record,
    fit: DampedModes,
    bands: Sequence[Band],
    *,
    amplitudes: Array,
    phase_ratio: Array,
    noise_std: Array,
    motion: DecayMotion | None,
    remarks: tuple[Remark, ...],
) -> Model:
    ignored = np.array([any(a <= w <= b for a, b in bands) for w in fit.frequencies])
    keep = np.flatnonzero(~ignored)
    if not len(keep):
        raise NoLineError(
            f"all {len(fit)} modes are in the ignored bands: ignore less, or record where the "
            "structure moves."
        )
    if ignored.any():
        which = ", ".join(f"{w:.5g}" for w in fit.frequencies[ignored][:5])
        left = f"modes in the ignored bands were fitted and left out: {which}"
        remarks = (*remarks, Remark(left, code="ignored"))
    m, n = fit.shapes.shape
    pick = np.concatenate([keep, m + (keep[:, None] * n + np.arange(n)).ravel()])
    why, remedy = _MAGNITUDES
    return Model(
        experiment="free",
        channels=record.channels,
        quantity=record.quantity,
        record=RecordSummary.of(record),
        noise_std=noise_std,
        modes=Modes(
            frequencies=fit.frequencies[keep],
            frequencies_std=fit.frequencies_std[keep],
            shapes=fit.shapes[keep],
            shapes_std=fit.shapes_std[keep],
            covariance=fit.covariance[np.ix_(pick, pick)],
            amplitudes=amplitudes[:, keep],
            significance=fit.significance[keep],
            phase_ratio=phase_ratio[keep],
            in_phase=phase_ratio[keep] < 0.05,
            residues=None,
            residues_std=None,
            energies=None,
            damping=fit.damping[keep],
            damping_std=fit.damping_std[keep],
            damping_interval=fit.damping_interval[keep],
        ),
        hamiltonian=None,
        certificate=certify_damped(fit.damping[keep]),
        identifiability=Identifiability(
            modes=len(keep),
            channels=n,
            magnitudes=False,
            why=why,
            remedy=remedy,
            remarks=remarks,
            motion=motion is not None,
        ),
        trajectories=motion,
        settings=Settings("", 0.0, None, __version__),
    )
