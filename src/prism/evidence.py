r"""Evidence: which kinds of motion were considered, and how much worse each explains the record.

Every kind is weighed on the same samples, with the same noise model, by

.. math:: \text{score} = -2 \log L + \text{price of its parameters},

so that a difference of x makes the better kind :math:`e^{x/2}` times as likely.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["CLOSE_CALL", "UNWEIGHED", "Evidence", "Rival", "Unseen"]

CLOSE_CALL = 10.0
"""Difference of two scores below which neither kind is ruled out ("very strong" begins here)."""


@dataclass(frozen=True)
class Rival:
    """One kind of motion that was weighed.

    Attributes
    ----------
    kind : str
    words : str
        What it is, in a few words.
    modes : int
        Modes, or lines, that it needs.
    behind : float
        Its score minus the lowest one; 0 for the kind that was chosen by the data.
    shared : int or None
        Modes of the kind that was chosen that it has too, within three standard deviations of the
        frequency; None where it is no close call.
    foretold : float or None
        Root mean square error over the noise of the last fifth of the record, foretold from the
        rest; None where it is no close call, or where nothing can be foretold.
    """

    kind: str
    words: str
    modes: int
    behind: float
    shared: int | None = None
    foretold: float | None = None


@dataclass(frozen=True)
class Unseen:
    """What may be there all the same: how large it can be without showing, with 95 % certainty.

    Attributes
    ----------
    swing : tuple of float
        Slow change of the amplitude of each mode, as a share of it; of its phase, in radians: of a
        sine, or of any change of the same power. Slow are up to four periods in the record; faster
        ones make lines of their own.
    line : float
        Size of a further line, a harmonic for one, as a share of the strongest.
    """

    swing: tuple[float, ...]
    line: float

    def sentence(self) -> str:
        """In words."""
        least, most = min(self.swing), max(self.swing)
        each = f"{100 * least:.2g} %"
        if float(f"{most:.2g}") > float(f"{least:.2g}"):
            each += f" of the strongest line, {100 * most:.2g} % of the weakest"
        else:
            each += " of a line"
        return (
            f"a slow change by less than {each}, or a further line below {100 * self.line:.2g} % "
            "of the strongest, would not show"
        )


@dataclass(frozen=True)
class Evidence:
    """Kinds of motion that were weighed, best first.

    Attributes
    ----------
    rivals : tuple of Rival
        Empty where options left no choice.
    chance : float or None
        Smallest chance, over all tests made, of what the chosen kind leaves over, if that is noise.
    doubts : tuple of str
        Why others were asked, in words.
    unseen : Unseen or None
        Of steady lines: what these tests could not have shown.
    """

    rivals: tuple[Rival, ...] = ()
    chance: float | None = None
    doubts: tuple[str, ...] = ()
    unseen: Unseen | None = None

    @property
    def margin(self) -> float | None:
        """Lead of the best kind over the next; None where it is alone."""
        return self.rivals[1].behind if len(self.rivals) > 1 else None

    @property
    def close(self) -> tuple[Rival, ...]:
        """Kinds that are not ruled out, without the best."""
        return tuple(one for one in self.rivals[1:] if one.behind < CLOSE_CALL)

    def sentence(self, kind: str) -> str:
        """What kind of motion it is and how sure that is; empty where nothing was weighed.

        Parameters
        ----------
        kind : str
            The kind that was fitted.
        """
        if not self.rivals:
            return ""
        best = self.rivals[0]
        words = next((one.words for one in self.rivals if one.kind == kind), best.words)
        if best.kind != kind:
            behind = next((one.behind for one in self.rivals if one.kind == kind), None)
            much = "" if behind is None else f", by {_plain(behind)} in twice the log-likelihood"
            return f"{words}, as asked; the data speak for another kind: {best.words}{much}"
        beyond = "" if self.unseen is None else f"; {self.unseen.sentence()}"
        if len(self.rivals) == 1:
            return f"{words}; no test speaks against it{beyond}"
        second = self.rivals[1]
        much = f"{_plain(second.behind)} in twice the log-likelihood"
        if self.close:
            return f"{words}; not ruled out: {second.words} (behind by {much}{self._compared})"
        return f"{words}; next best: {second.words}, behind by {much}{beyond}"

    @property
    def _compared(self) -> str:
        """Where the best two agree, and which foretells better, in words."""
        best, second = self.rivals[:2]
        said = ""
        if second.shared is not None:
            said += f"; {second.shared} of {best.modes} modes are the same in both"
        if best.foretold is not None and second.foretold is not None:
            said += (
                f"; the last fifth, foretold from the rest, is missed by {best.foretold:.3g} and "
                f"{second.foretold:.3g} times the noise"
            )
        return said

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "rivals": [dict(vars(one)) for one in self.rivals],
            "chance": self.chance,
            "doubts": list(self.doubts),
            **({} if self.unseen is None else {"unseen": asdict(self.unseen)}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Evidence:
        """Rebuild from `to_json`."""
        rivals = tuple(Rival(**one) for one in data["rivals"])
        limits = data.get("unseen")
        unseen = None if limits is None else Unseen(tuple(limits["swing"]), limits["line"])
        return cls(rivals, data["chance"], tuple(data["doubts"]), unseen)


UNWEIGHED = Evidence()
"""Of a model whose options left no choice."""


def _plain(lead: float) -> str:
    """Three digits, without an exponent where people do not write one."""
    return f"{float(f'{lead:.3g}'):.6g}"
