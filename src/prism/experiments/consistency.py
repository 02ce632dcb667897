"""Whether the energies of modes agree with equal mean energy and what is known, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, ndtr

from prism._format import format_chance
from prism._types import Array
from prism.adjust import Adjusted
from prism.experiments import _limits as limits
from prism.remarks import Remark

__all__ = ["Cause", "Consistency", "equilibrium_remark", "gain_causes", "mass_causes", "untested"]


class Cause(NamedTuple):
    """What may be wrong with energies or given values.

    Attributes
    ----------
    words : str
        With places for the size and for the factor :math:`e^{size}`.
    size, std : float
        A power, or the logarithm of a factor, and its standard deviation.
    worth : float
        Size that a test ought to see.
    unseen : str
        Words for a cause of that size.
    """

    words: str
    size: float
    std: float
    worth: float = np.inf
    unseen: str = ""

    @property
    def escapes(self) -> bool:
        """Whether a size worth seeing may escape even a test that looks for nothing else."""
        return bool(self.worth < limits.SEEN_FROM * self.std)


@dataclass(frozen=True)
class Consistency:
    """How well energies agree with equipartition and what is known.

    Attributes
    ----------
    chi2, dof : float, int
        Misfit of all relations together; nothing is tested without freedom.
    cause : str
        What would explain the misfit, alone and all of it, in words; empty where nothing does.
    focused : float or None
        Probability that one of the causes looked for stands out so much at equilibrium; None
        where none was looked for.
    few : bool
        Whether the trials are so few that a cause is worth a remark, not a refusal: the errors of
        few exponential energies are skew.
    unseen : tuple of str
        Causes of a size worth seeing that the data could not show, in words.
    """

    chi2: float
    dof: int
    cause: str = ""
    focused: float | None = None
    few: bool = False
    unseen: tuple[str, ...] = ()

    def against(self, causes: Sequence[Cause], *, few: bool) -> Consistency:
        """The same with the cause that stands out most, at a price for each that was looked for.

        Sizes are those of equations that were linearised: a factor far from 1 is not named.

        Parameters
        ----------
        causes : sequence of Cause
        few : bool
        """
        name, size, std, _, _ = max(causes, key=lambda cause: abs(cause.size) / cause.std)
        chance = min(1.0, 2 * len(causes) * float(ndtr(-abs(size) / std)))
        left = max(self.chi2 - (size / std) ** 2, 0.0)
        enough = self.dof > 1 and chdtrc(self.dof - 1, left) > limits.DOUBTFUL_LEVEL
        near = abs(size) < np.log(limits.LARGEST_CAUSE)
        cause = name.format(size, np.exp(size)) if enough and near else ""
        unseen = tuple(_counted(causes))
        return replace(self, cause=cause, focused=chance, few=few, unseen=unseen)

    @property
    def whole(self) -> float:
        """Probability of a larger misfit of all relations at equilibrium."""
        return float(chdtrc(self.dof, self.chi2)) if self.dof > 0 else 1.0

    @property
    def p_value(self) -> float:
        """Probability that equilibrium would look worse; decides whether it is refused."""
        return self.whole if self.few else self.worst

    @property
    def worst(self) -> float:
        """The same with the causes looked for, whatever the number of trials."""
        return self.whole if self.focused is None else min(1.0, 2 * min(self.whole, self.focused))

    @property
    def suspect(self) -> str:
        """What stands out, where it does, as the rest of a sentence."""
        found = self.focused is not None and self.focused < limits.DOUBTFUL_LEVEL
        return f"; {self.cause} would explain it" if self.cause and found else ""


def _counted(causes: Sequence[Cause]) -> Iterator[str]:
    """Causes that escape; those of one kind are counted."""
    for words, same in groupby(causes, key=lambda cause: cause.unseen):
        each = list(same)
        missed = sum(cause.escapes for cause in each)
        if missed:
            yield words.format(f"{missed} of {len(each)}")


def gain_causes(
    result: Adjusted, by_shape: Array, shapes: Array, *, masses: bool = True
) -> list[Cause]:
    """Gains of the channels that may be wrong.

    Parameters
    ----------
    result : Adjusted
    by_shape : array (relations, modes and channels)
        Derivative of the relations by the shapes.
    shapes : array (modes, channels)
    masses : bool
        Whether a wrong mass looks like a wrong gain, so that the words are for both.
    """
    out, percent = [], 100 * (limits.WORTH_GAIN - 1)
    worth, also = float(np.log(limits.WORTH_GAIN)), ", or masses to match" if masses else ""
    unseen = f"gains of {{0}} channels to {percent:.2g} %{also}"
    for a in range(shapes.shape[1]):
        scaled = np.zeros(shapes.shape)
        scaled[:, a] = shapes[:, a]
        name = f"a gain of channel {a + 1} of {{1:.3g}}, or a mass to match"
        out.append(Cause(name, *result.shift(by_shape @ scaled.ravel()), worth, unseen))
    return out


def mass_causes(result: Adjusted, inverse_mass: Array, first: int) -> list[Cause]:
    """Masses that may be wrong, by a row and a column of μ at a time.

    Parameters
    ----------
    result : Adjusted
    inverse_mass : array (channels, channels)
    first : int
        Where the relation of the mass begins among all.
    """
    out, n = [], len(inverse_mass)
    worth, unseen = float(np.log(limits.WORTH_GAIN)), "masses of {0} channels to 10 %"
    i, j = np.triu_indices(n)
    for a in range(n):
        change, own = np.zeros(len(result.multipliers)), np.zeros((n, n))
        own[a] += inverse_mass[a]
        own[:, a] += inverse_mass[a]
        change[first : first + len(i)] = own[i, j]
        out.append(Cause("a mass of {1:.3g}", *result.shift(change), worth, unseen))
    return out


def untested(causes: Sequence[Cause]) -> tuple[Remark, ...]:
    """Say what may be wrong that these data could not have shown.

    Parameters
    ----------
    causes : sequence of Cause
    """
    unseen = tuple(_counted(causes))
    if not unseen:
        return ()
    return (
        Remark(
            f"could not be tested and was taken as given: {', '.join(unseen)}",
            "an error of that size moves hidden frequencies, and the data would look the same",
            "more channels, trials or known values would test it",
            code="untested",
        ),
    )


def equilibrium_remark(test: Consistency, modes: int) -> Remark:
    """Say whether equal mean energy was tested, and with which result.

    Parameters
    ----------
    test : Consistency
    modes : int
        How many there are: all their energies but one could be tested.
    """
    if test.dof < 1 or modes < 2:
        return Remark(
            "equal mean energy of the modes was not tested: these data cannot; it was taken as "
            "given",
            advice="a known mass or stiffness of two or more channels would test it",
            code="equilibrium-untested",
        )
    ways, all_ways = min(test.dof, modes - 1), modes - 1
    part = f"{ways} of {all_ways} ratio{'s' * (all_ways > 1)} of energies"
    part += f", p {format_chance(test.worst)}"
    if test.worst < limits.DOUBTFUL_LEVEL:
        return Remark(
            "the energies of the modes agree poorly with equal mean energy and the given values",
            part + test.suspect,
            "check the given values, the gains of the channels, and that the trials are at "
            "equilibrium",
            code="equilibrium-doubtful",
        )
    unseen = f"; could not be tested: {', '.join(test.unseen)}" if test.unseen else ""
    return Remark(
        "equal mean energy of the modes was tested against what is known and holds",
        part + unseen,
        code="equilibrium-tested",
    )
