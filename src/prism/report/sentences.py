"""What a record shows of its modes, and how far a forecast went, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from prism.diagnostics import ACTIVE
from prism.model import Model

__all__ = ["horizon_sentence", "mode_facts"]

_LISTED = 5  # peaks


def mode_facts(model: Model) -> tuple[str, ...]:
    """What a lossless record shows of its modes: active peaks, observability, a sentence each.

    Parameters
    ----------
    model : Model
    """
    modes = model.modes
    if model.record.span is None or np.any(modes.damping) or not len(modes.amplitudes):
        return ()
    return (*_peaks(model), *_observability(model))


def _peaks(model: Model) -> Iterator[str]:
    """Where some lines carry little, as combinations of a nonlinear motion do."""
    if len(model.modes.vibrating()) < 2:
        return
    peaks = model.active_peaks()
    shown = ", ".join(f"{omega:.5g}" for omega in peaks[:_LISTED]) + ", …" * (len(peaks) > _LISTED)
    yield (
        f"Active peaks, with {100 * ACTIVE:.0f} % of the energy of the strongest or more: "
        f"{len(peaks)}, at {shown}."
    )


def _observability(model: Model) -> Iterator[str]:
    turns = model.hamiltonian is not None and not model.hamiltonian.real_modes
    if model.modes.residues is None or turns:
        return
    seen = model.observability()
    weakest = int(np.argmin(seen.participation))
    yield (
        f"Observability over {seen.duration:.4g}: {seen.rank} of {len(seen.gramian)} states are "
        f"seen; mode {weakest + 1} is seen least, |v| = {seen.participation[weakest]:.3g}."
    )


def horizon_sentence(model: Model) -> tuple[str, ...]:
    """How long the forecast that was tested held, if it was.

    Parameters
    ----------
    model : Model
    """
    check = model.forecast_check
    if check is None or check.horizon is None:
        return ()
    return (
        "Horizon, the time until the error is half the standard deviation of a channel more than "
        f"noise explains: {check.horizon}.",
    )
