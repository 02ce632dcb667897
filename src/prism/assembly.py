"""The one place where a model is made: of a finding, and of how it was asked for."""

from __future__ import annotations

from prism.finding import Determined, Finding
from prism.identifiability import Identifiability
from prism.magnitudes import Undetermined
from prism.model import ForecastCheck, Model
from prism.remarks import Remark, as_remarks
from prism.settings import Settings
from prism.standing import quantities_of

__all__ = ["assemble", "verdict_of"]


def assemble(
    found: Finding,
    experiment: str,
    settings: Settings,
    *,
    verdict: Identifiability | None = None,
    check: ForecastCheck | None = None,
) -> Model:
    """Make the model.

    Parameters
    ----------
    found : Finding
    experiment : str
        How the data were made.
    settings : Settings
        What was asked for.
    verdict : Identifiability, optional
        As a file has it; by default that of the finding.
    check : ForecastCheck, optional
        Of the part that was held back.
    """
    known = found.outcome if isinstance(found.outcome, Determined) else None
    return Model(
        experiment=experiment,
        kind=found.kind,
        channels=found.channels,
        quantity=found.quantity,
        record=found.measured,
        noise_std=found.noise_std,
        noise_correlation=found.noise_correlation,
        modes=found.modes,
        hamiltonian=None if known is None else known.hamiltonian,
        certificate=found.certificate,
        identifiability=verdict_of(found) if verdict is None else verdict,
        trajectories=found.motion,
        settings=settings,
        response=found.response,
        temperature=None if known is None else known.temperature,
        forecast_check=check,
        evidence=found.evidence,
        machine_lines=found.machine_lines,
    )


def verdict_of(found: Finding) -> Identifiability:
    """What the data determine, in words and as a table.

    Parameters
    ----------
    found : Finding
    """
    outcome = found.outcome
    words = (
        {"magnitudes": True, "scale": outcome.scale}
        if isinstance(outcome, Determined)
        else {"magnitudes": False, "why": outcome.why, "remedy": outcome.remedy}
    )
    return Identifiability(
        modes=len(found.modes),
        channels=len(found.channels),
        remarks=as_remarks((*found.remarks, *_reduced(outcome))),
        rank=_rank(outcome),
        motion=found.motion is not None,
        statement=found.statement,
        quantities=quantities_of(found),
        **words,
    )


def _rank(outcome: Determined | Undetermined) -> int | None:
    """How many directions of the channels the modes span, where these are fewer."""
    reduction = outcome.hamiltonian.reduction if isinstance(outcome, Determined) else None
    return None if reduction is None else reduction.rank


def _reduced(outcome: Determined | Undetermined) -> tuple[Remark, ...]:
    reduction = outcome.hamiltonian.reduction if isinstance(outcome, Determined) else None
    return () if reduction is None else (reduction.remark(),)
