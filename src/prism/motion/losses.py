"""What decays and noise-driven motion have in common: damped modes without magnitudes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from prism._types import Array
from prism.finding import Finding, RecordSummary
from prism.forecast import Motion
from prism.ignore import ignored_bands, within
from prism.kernel import certify_damped
from prism.magnitudes import Undetermined
from prism.modes import Modes
from prism.motion.damped import DampedModes
from prism.motion.explanation import Explanation, Question
from prism.remarks import Ask, Remark, Words
from prism.uncertainty import Gaussian

_IN_PHASE = 0.05  # second singular value over the first below which a mode is in phase
_LISTED = 5  # frequencies that a remark names
_UNKNOWN = Undetermined(
    "an unmeasured drive or start excites each mode by an unknown amount",
    Words(
        "a record with measured forces ({0}) would determine them",
        (Ask("force", None, "[...]"),),
    ),
)


class LossyMotion(Explanation):
    """A kind of motion that loses energy."""

    experiments: ClassVar[tuple[str, ...]] = ("free",)
    meaningless: ClassVar[tuple[str, ...]] = ("mass", "stiffness", "rigid")

    def refusal(self, asked: Question, strange: list[str]) -> Words:
        """Losses are fitted to free records, by likelihood, without known magnitudes."""
        return Words(
            "{0} is for free records, by likelihood, without a known mass or stiffness: their "
            "magnitudes are not determined.",
            (Ask("damped", True),),
        )


def finding_of(
    asked: Question,
    fit: DampedModes,
    *,
    kind: str,
    amplitudes: Array,
    phase_ratio: Array,
    noise_std: Array | None,
    motion: Motion | None,
    remarks: tuple[Remark | Words | str, ...],
    noise_correlation: Array | None = None,
) -> Finding:
    """Put together what damped modes say.

    Parameters
    ----------
    asked : Question
    fit : DampedModes
    kind : str
    amplitudes : array (trials, modes)
    phase_ratio : array (modes,)
    noise_std : array (channels,) or None
    motion : Motion or None
    remarks : tuple
    noise_correlation : array (channels, channels) or None
    """
    record = asked.record
    bands = ignored_bands(asked.settings.ignore, record, fit.frequencies, "modes")
    ignored = within(fit.frequencies, bands)
    if ignored.any():
        which = ", ".join(f"{w:.5g}" for w in fit.frequencies[ignored][:_LISTED])
        left = f"modes in the ignored bands were fitted and left out: {which}"
        remarks = (*remarks, Remark(left, code="ignored"))
    values = {"frequencies": fit.frequencies, "shapes": fit.shapes, "damping": fit.damping}
    modes = Modes(
        joint=Gaussian.of(values, fit.covariance),
        amplitudes=amplitudes,
        significance=fit.significance,
        phase_ratio=phase_ratio,
        in_phase=phase_ratio < _IN_PHASE,
        damping_interval=fit.damping_interval,
    ).take(np.flatnonzero(~ignored))
    return Finding(
        kind=kind,
        channels=record.channels,
        quantity=record.quantity,
        measured=RecordSummary.of(record),
        modes=modes,
        outcome=_UNKNOWN,
        certificate=certify_damped(modes.damping),
        noise_std=noise_std,
        noise_correlation=noise_correlation,
        motion=motion,
        remarks=remarks,
        fit=fit,
    )
