"""What these data can and cannot determine, in words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from prism._value import Value
from prism.determination import Determination, Standing
from prism.errors import CannotTellError
from prism.remarks import PYTHON, Remark, Speller, Words, spelled

_OF_THE_HAMILTONIAN = (
    "residues",
    "mass",
    "stiffness",
    "hidden frequencies",
    "couplings",
    "kernel",
)


@dataclass(frozen=True, eq=False, repr=False)
class Identifiability(Value):
    """The verdict on one record.

    Attributes
    ----------
    modes, channels : int
        Visible modes and seen coordinates; the minimal Hamiltonian has ``modes - channels``
        hidden oscillators.
    magnitudes : bool
        Whether the magnitudes of the modes, and with them the bare Hamiltonian, are determined.
    scale : str
        What fixes the scale of mass, stiffness and couplings.
    why : Words or str
        What is missing; empty when the Hamiltonian is determined.
    remedy : Words or str
        Which experiment would supply it.
    remarks : tuple of Remark
        What else the user should know.
    motion : bool
        Whether there is a motion to forecast; a forced experiment has none.
    statement : Words or str
        What is and is not determined, where that is not a matter of modes.
    quantities : tuple of Determination
        Damping ratios and all that belongs to the Hamiltonian: each with its value, with a bound,
        or with the reason why there is neither.
    rank : int or None
        How many directions of the channels the modes span, where these are fewer than channels:
        then it takes their place.
    """

    modes: int
    channels: int
    magnitudes: bool
    scale: str = ""
    why: Words | str = ""
    remedy: Words | str = ""
    remarks: tuple[Remark, ...] = ()
    motion: bool = True
    statement: Words | str = ""
    quantities: tuple[Determination, ...] = ()
    rank: int | None = None

    @property
    def determined(self) -> tuple[str, ...]:
        """What the data determine."""
        more = ("amplitudes", "forecast") if self.motion else ("zeros",)
        always: tuple[str, ...] = ("frequencies", "shapes", *more)
        return always + _OF_THE_HAMILTONIAN if self.magnitudes else always

    @property
    def undetermined(self) -> tuple[str, ...]:
        """What the data leave open."""
        if self.magnitudes:
            free = self.scale.startswith("free")
            scale = ("common scale of mass, stiffness and couplings",) if free else ()
            still = "mass of directions of the channels that no visible mode moves"
            return scale if self.rank is None else (*scale, still)
        return _OF_THE_HAMILTONIAN

    @property
    def in_doubt(self) -> tuple[Determination, ...]:
        """Quantities to show one by one, where some are known and some are not.

        Those that are missing for the reason that the verdict gives need no row of their own.
        """
        rows = tuple(one for one in self.quantities if not one.why or one.why != str(self.why))
        return rows if any(one.state is not Standing.DETERMINED for one in rows) else ()

    def with_remark(self, remark: Remark | Words | str) -> Identifiability:
        """The verdict with one more remark; an empty one adds nothing.

        Parameters
        ----------
        remark : Remark, Words or str
        """
        return replace(self, remarks=(*self.remarks, Remark.of(remark))) if remark else self

    def refusal(self, what: str) -> CannotTellError:
        """The error of asking for something that the data do not determine.

        Parameters
        ----------
        what : str
            Beginning of a sentence.
        """
        why, remedy = (Words.of(one).without_stop() for one in (self.why, self.remedy))
        return CannotTellError(f"{what} is not determined: " + why + "; " + remedy + ".")

    def spell(self, speller: Speller) -> str:
        """The verdict in plain sentences, one per line, with options in the words of the reader.

        Parameters
        ----------
        speller : Speller
        """
        notes = [f"Note: {remark.spell(speller)}." for remark in self.remarks]
        return "\n".join([*self._sentences(speller), *notes])

    def __str__(self) -> str:
        """Return the verdict as Python calls its options."""
        return self.spell(PYTHON)

    def _sentences(self, speller: Speller) -> list[str]:
        if self.statement:
            return [spelled(self.statement, speller)]
        some = f"{self.modes} mode{'s' * (self.modes != 1)}"
        what = "forecast" if self.motion else "damping"
        first = f"Determined: frequencies, shapes and {what} of {some}."
        if self.magnitudes:
            return [
                first,
                f"Determined: the bare Hamiltonian, with {self._hidden()}",
                f"The common scale of mass and couplings is {self.scale}.",
            ]
        why, remedy = (
            Words.of(one).without_stop().spell(speller) for one in (self.why, self.remedy)
        )
        return [
            first,
            f"Not determined: the bare hidden frequencies and couplings, because {why}.",
            f"What would settle it: {remedy}.",
        ]

    def _hidden(self) -> str:
        seen = self.channels if self.rank is None else self.rank
        hidden = self.modes - seen
        if not hidden:
            what = "channels" if self.rank is None else "directions in which channels move"
            return f"no hidden oscillator: as many modes are visible as {what}."
        one = hidden == 1
        return (
            f"{hidden} hidden oscillator{'s' * (not one)}, {'its' if one else 'their'} couplings "
            "and the memory kernel."
        )
