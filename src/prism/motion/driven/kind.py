"""Motion driven by unmeasured noise as an explanation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np

from prism.finding import Finding
from prism.motion.account import Account, price_of, usable
from prism.motion.driven import _limits as limits
from prism.motion.driven.driven import DrivenFit, fit_driven
from prism.motion.driven.gaps import fit_gapped
from prism.motion.driven.scoring import BandFit
from prism.motion.driven.steadiness import drive_remark
from prism.motion.explanation import Attempt, Question
from prism.motion.losses import LossyMotion, finding_of


class Driven(LossyMotion):
    """Modes that stationary noise keeps moving."""

    name: ClassVar[str] = "driven"
    words: ClassVar[str] = "it loses energy, and noise that nobody measured keeps it moving"

    def meant(self, asked: Question) -> Driven | None:
        """Where losses are asked for, and nothing simpler explains the motion."""
        wanted = asked.settings.damped or self.named(asked)
        return self if wanted and not asked.is_response else None

    label: ClassVar[str] = "motion driven by unmeasured noise"

    def rivals(
        self, asked: Question, lead: Finding | None, driven: Finding | None
    ) -> Iterator[Attempt]:
        """Modes that noise drives, where the record has Fourier lines."""
        if usable(asked.record):
            yield Attempt(self, partial(self.find, asked))

    def account(self, asked: Question, found: Finding) -> Account | None:
        """The spectra of the bands, and the price of modes and their forces."""
        if not isinstance(found.fit, DrivenFit):
            return None
        record, bands, on_top = asked.record, found.fit.bands, found.fit.on_top
        parameters = parameters_of(bands)
        rests = record.trials
        if on_top is not None:
            if np.mean((on_top.rest.std() / record.std()) ** 2) < limits.LEAST_DRIVEN:
                return None  # steady lines in coloured noise
            rests = on_top.rest.trials
            parameters += len(on_top.lines) * (1 + 2 * record.n_channels * record.n_trials)
        return Account(rests, price_of(record, parameters), bands)

    def find(self, asked: Question) -> Finding:
        """Fit the modes."""
        settings = asked.settings
        fit_them = fit_driven if usable(asked.record) else fit_gapped
        fit = fit_them(
            asked.record,
            false_alarm=settings.false_alarm,
            max_modes=settings.max_modes,
            insist=bool(settings.damped) or self.named(asked),
            progress=asked.tell,
        )
        drive = drive_remark(fit.bands)
        found = finding_of(
            asked,
            fit,
            kind=self.name,
            amplitudes=np.zeros((0, len(fit))),
            phase_ratio=np.zeros(len(fit)),
            noise_std=None,
            motion=None,
            remarks=(
                "fitted as motion driven by stationary noise that nobody measured; a chaotic "
                "motion that nothing drives would look alike",
                f"what the modes leave: {fit.noise}",
                *fit.remarks,
                *([] if drive is None else [drive]),
            ),
        )
        lines = None if fit.on_top is None else fit.on_top.lines
        return replace(found, machine_lines=lines)


def parameters_of(bands: Sequence[BandFit]) -> int:
    """Parameters of the modes of all bands, of their forces and of the tilt of these.

    The forces of neighbours are fitted in several bands, and are one set of numbers all the same:
    m modes have at most m(m - 1) for all cross spectra. A peak without a shape has one pole and a
    matrix.
    """
    moving = [band for band in bands if not band.shapeless]
    modes = sum(band.model.fitted for band in moving)
    cross = sum(len(band.model.at["cross"]) for band in moving)
    own = sum(band.model.fitted * (band.band.values.shape[1] + 2) for band in moving)
    tilts = sum(band.band.tilt != 0 for band in bands)
    peaks = sum(2 + band.band.values.shape[1] ** 2 for band in bands if band.shapeless)
    return int(own + peaks + tilts + min(cross, modes * (modes - 1)))
