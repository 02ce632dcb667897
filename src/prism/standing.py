"""How well each quantity of a finding is known: a value, a bound, or the reason for neither."""

from __future__ import annotations

from collections.abc import Iterator

from prism.determination import Determination
from prism.finding import Determined, Finding
from prism.hamiltonian import Hamiltonian
from prism.magnitudes import Undetermined

__all__ = ["quantities_of"]

_COUPLING_SEEN = 2.0  # standard deviations from zero at which a coupling is seen
_ONE_SIDED_95 = 1.645  # standard deviations of a 95 % bound
_OF_THE_HAMILTONIAN = ("mass", "stiffness", "hidden frequencies", "couplings", "memory kernel")


def quantities_of(found: Finding) -> tuple[Determination, ...]:
    """Damping ratios and what belongs to the Hamiltonian, one by one.

    Parameters
    ----------
    found : Finding
        What it says of its own quantities stands as it is.
    """
    outcome = found.outcome
    if found.quantities:
        return found.quantities
    losses = tuple(_losses(found))
    if isinstance(outcome, Undetermined):
        why = str(outcome.why)
        return losses + tuple(Determination.undetermined(n, why) for n in _OF_THE_HAMILTONIAN)
    return losses + tuple(_bare(outcome))


def _losses(found: Finding) -> Iterator[Determination]:
    """Damping ratios; one whose interval begins at zero is bounded."""
    modes = found.modes
    if modes.damping_std is None:
        return
    for m, (ratio, std) in enumerate(zip(modes.damping, modes.damping_std, strict=True)):
        name = f"damping of mode {m + 1}"
        interval = None if modes.damping_interval is None else modes.damping_interval[m]
        if interval is not None and interval[0] <= 0:
            yield Determination.bounded(name, float(interval[1]), "zero is inside its interval")
        else:
            yield Determination.determined(name, float(ratio), float(std))


def _bare(outcome: Determined) -> Iterator[Determination]:
    h = outcome.hamiltonian
    for name, matrix, std in (
        ("mass", h.mass, h.mass_std),
        ("stiffness", h.stiffness, h.stiffness_std),
    ):
        for a, channel in enumerate(h.channels):
            error = None if std is None else std[a, a]
            yield Determination.determined(f"{name} of {channel}", matrix[a, a], error)
    yield from _hidden(h)


def _hidden(h: Hamiltonian) -> Iterator[Determination]:
    for i, one in enumerate(h.hidden):
        which = f"frequency of hidden mode {i + 1}"
        yield Determination.determined(which, one.frequency, one.frequency_std)
        if one.damping is not None:
            yield Determination.determined(
                f"damping of hidden mode {i + 1}", one.damping, one.damping_std
            )
        name = f"coupling of hidden mode {i + 1}"
        if one.rank > 1:
            why = (
                f"the frequencies of {one.rank} hidden modes are not told apart: only their "
                "residue is determined"
            )
            yield Determination.undetermined(name, why)
            continue
        for a, (channel, c) in enumerate(zip(h.channels, one.couplings[0], strict=True)):
            which = f"{name} to {channel}"
            error = None if one.coupling_std is None else one.coupling_std[a]
            if error is not None and abs(c) < _COUPLING_SEEN * error:
                bound = abs(float(c)) + _ONE_SIDED_95 * float(error)
                yield Determination.bounded(which, bound, "it is within its error of zero")
            else:
                yield Determination.determined(which, float(c), error)
