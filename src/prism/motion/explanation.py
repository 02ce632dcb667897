"""The face of every kind of motion: what it needs, when it is meant, how it is found.

A kind of motion is one folder with a class like this, and one entry in `prism.motion.kinds.KINDS`.
The keywords of `prism.identify`, the command line, the page and saved models follow from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from prism.errors import CannotTellError, OptionError
from prism.finding import Finding
from prism.forecast import Motion
from prism.frequency_response import FrequencyResponse
from prism.hamiltonian import Hamiltonian
from prism.motion import _limits as limits
from prism.record import Record
from prism.remarks import Remark, Words
from prism.search.work import over
from prism.settings import Settings

if TYPE_CHECKING:
    from prism.motion.account import Account
    from prism.options import Option

__all__ = ["CUT_SHORT", "Attempt", "Explanation", "Question", "cut_short"]

Tell = Callable[[str], None]

CUT_SHORT = Remark(
    "the search was ended early",
    "it takes long in a record with so many lines or samples",
    "there may be more than was found: fit a shorter part of the record",
    code="cut-short",
)
"""Said where the work allowed was done before the search had come to its end."""


def cut_short(found: Finding, share: float = 1.0) -> Finding:
    """What was found, with a word where the work allowed is done."""
    said = CUT_SHORT in found.remarks
    return found.with_remarks(CUT_SHORT if over(share) and not said else None)


class Question(NamedTuple):
    """What is asked of the data.

    Attributes
    ----------
    data : Record or FrequencyResponse
        The part that is to be fitted.
    experiment : Experiment
        How it was made.
    settings : Settings
    tell : callable
        Told what is being done.
    """

    data: Any
    experiment: Any
    settings: Settings
    tell: Tell

    @property
    def is_response(self) -> bool:
        """Whether the data are a frequency response."""
        return isinstance(self.data, FrequencyResponse)

    @property
    def record(self) -> Record:
        """The data, which are a record."""
        assert isinstance(self.data, Record)
        return self.data

    @property
    def work(self) -> float:
        """Work allowed: more for a large record, by its size."""
        numbers = 0 if self.is_response else sum(self.record.samples) * self.record.n_channels
        return limits.ALL_WORK * max(1.0, numbers / limits.NUMBERS)


class Attempt(NamedTuple):
    """A fit that may be made.

    Attributes
    ----------
    explanation : Explanation
        Of what it finds.
    find : callable
        Makes the fit; it may refuse.
    most : int or None
        Lines that it may find, at most; the fit is no evidence for what is left beyond these.
    """

    explanation: Explanation
    find: Callable[[], Finding]
    most: int | None = None


@dataclass(frozen=True)
class Explanation(ABC):
    """A kind of motion that could have made the data."""

    name: ClassVar[str]
    """What ``kind=`` calls it."""
    words: ClassVar[str]
    """What it is, in a few words."""
    label: ClassVar[str] = ""
    """What the motion is called where kinds are compared; its name by default."""
    options: ClassVar[tuple[Option, ...]] = ()
    """Options of its own; they appear as keywords, on the command line and on the page."""
    experiments: ClassVar[tuple[str, ...]] = ()
    """Experiments whose data it is fitted to; none stands for all."""
    methods: ClassVar[tuple[str, ...]] = ("likelihood",)
    """Methods by which it is fitted."""
    meaningless: ClassVar[tuple[str, ...]] = ()
    """Options that mean nothing to it."""
    drifts: ClassVar[bool] = False
    """Whether it may drift along a polynomial."""
    motions: ClassVar[tuple[type[Motion], ...]] = ()
    """Classes of its fitted motions, so that a saved model finds them again."""
    hamiltonians: ClassVar[tuple[type[Hamiltonian], ...]] = ()
    """Classes of its Hamiltonians, for the same reason."""

    @abstractmethod
    def meant(self, asked: Question) -> Explanation | None:
        """Itself, ready to be fitted, where the options or the data ask for it; else None."""

    @abstractmethod
    def find(self, asked: Question) -> Finding:
        """Fit it.

        Raises
        ------
        CannotTellError
            When the data hold nothing of this kind.
        """

    def named(self, asked: Question) -> bool:
        """Whether it was asked for by its name."""
        return asked.settings.kind == self.name

    def takes(self, asked: Question) -> bool:
        """Whether it is fitted to such an experiment, by such a method."""
        known = not self.experiments or asked.experiment.name in self.experiments
        return known and asked.settings.method in self.methods

    def strange(self, asked: Question) -> list[str]:
        """Options that were given and mean nothing to it."""
        given = asked.settings.given
        return [name for name in self.meaningless if given.get(name)]

    def refusal(self, asked: Question, strange: list[str]) -> Words | str:
        """What is said where an experiment, a method or an option means nothing to it."""
        return f"{self.name} motion is not fitted so: leave out {', '.join(strange) or 'kind'}."

    def check(self, asked: Question) -> None:
        """Refuse what means nothing to this kind of motion.

        Raises
        ------
        OptionError
        """
        strange, settings = self.strange(asked), asked.settings
        if strange or not self.takes(asked):
            raise OptionError(self.refusal(asked, strange))
        if settings.drift > 1 and not (self.drifts and settings.method == "likelihood"):
            raise OptionError(
                "drift of a higher degree is fitted with undamped lines, by likelihood: leave it "
                "out."
            )

    def at_sight(self, asked: Question) -> Iterator[Attempt]:
        """Fits that the samples suggest by themselves: they are made before all others.

        Parameters
        ----------
        asked : Question
            Of a record that steady lines do not explain.
        """
        return iter(())

    def rivals(
        self, asked: Question, lead: Finding | None, driven: Finding | None
    ) -> Iterator[Attempt]:
        """Fits of this kind to data that another kind does not explain, the simplest first.

        Parameters
        ----------
        asked : Question
        lead : Finding or None
            Steady lines, as far as any were found.
        driven : Finding or None
            Modes driven by noise, where these were fitted first.
        """
        return iter(())

    def overlooked(self, asked: Question, found: Finding, account: Account) -> Iterator[Attempt]:
        """Fits of this kind that promise more than the best so far.

        Parameters
        ----------
        asked : Question
        found : Finding
            What explains the record best.
        account : Account
            How well it does.
        """
        return iter(())

    def again(self, asked: Question, found: Finding) -> Finding:
        """The same motion fitted once more, to the first part of the record it was found in.

        Parameters
        ----------
        asked : Question
            Of that part.
        found : Finding

        Raises
        ------
        CannotTellError
            When that part shows nothing of it.
        """
        few = replace(asked.settings, max_modes=len(found.modes))
        return self.find(asked._replace(settings=few))

    def called(self, found: Finding) -> str:
        """What the motion that was found is called where kinds are compared."""
        return self.label or self.name

    def account(self, asked: Question, found: Finding) -> Account | None:
        """How well it explains the samples; None where that cannot be compared."""
        return None

    def instead(self, asked: Question, found: Finding) -> Finding | None:
        """What this kind finds in place of steady lines, where the data speak for it.

        Unlike `rivals` it is asked of every experiment, with lines that have been found already.

        Parameters
        ----------
        asked : Question
        found : Finding
            Steady lines.
        """
        return None

    def suggests(self, asked: Question, found: Finding) -> Remark | None:
        """A cheap test: whether the data speak for this kind and not for the one found."""
        return None

    def instead_of(self, asked: Question, refusal: CannotTellError) -> CannotTellError | None:
        """A better refusal, where another kind finds nothing and this one might."""
        return None
