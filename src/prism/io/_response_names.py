"""What the names of columns and arrays say about a frequency response."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = [
    "FREQUENCY_NAMES",
    "UndecidedError",
    "frequency_unit",
    "is_frequency_name",
    "is_response_name",
    "response_part",
    "split_pairs",
    "variance_part",
]

Pair = tuple[str, str]

FREQUENCY_NAMES = "omega, hz, f, freq or frequency"

FREQUENCY = re.compile(
    r"(?P<name>omega|hz|f|freq|frequency)(_(?P<end>hz|rad))?\s*([\[(](?P<unit>.*)[\])])?",
    re.IGNORECASE,
)
RESPONSE = re.compile(r"H(_(?P<pair>.+))?_(?P<part>re|im)", re.IGNORECASE)
VARIANCE = re.compile(r"V_(?P<pair>.+)", re.IGNORECASE)
MEANING = {"omega": "rad", "rad": "rad", "hz": "hz"}


class UndecidedError(ValueError):
    """The output and the input cannot be told apart in the name of a column.

    Parameters
    ----------
    body : str
        Output and input, joined by an underscore.
    splits : sequence of pairs
        What it could mean.
    """

    def __init__(self, body: str, splits: Sequence[Pair]) -> None:
        ways = [f"output {a!r} with input {b!r}" for a, b in splits[:3]]
        super().__init__(" or ".join(ways))
        self.body = body


def is_frequency_name(name: str) -> bool:
    """Tell whether a column or array is the frequency by its name.

    Parameters
    ----------
    name : str
        In any case, with or without a unit in brackets.
    """
    return FREQUENCY.fullmatch(name.strip()) is not None


def frequency_unit(name: str) -> str | None:
    """Return ``rad`` or ``hz`` where the name of a frequency says it, without contradiction.

    Parameters
    ----------
    name : str
        Name of a column or array.
    """
    match = FREQUENCY.fullmatch(name.strip())
    if match is None:
        return None
    said = {MEANING.get((match[key] or "").lower()) for key in ("name", "end")} - {None}
    if match["unit"]:
        said.add(_bracket(match["unit"]))
    return said.pop() if len(said) == 1 else None


def _bracket(unit: str) -> str | None:
    word = unit.strip().lower()
    if re.match(r"rad\b", word):
        return "rad"
    return "hz" if word in ("hz", "hertz") else None


def is_response_name(name: str) -> bool:
    """Tell whether a column is the real or imaginary part of a response.

    Parameters
    ----------
    name : str
    """
    return RESPONSE.fullmatch(name.strip()) is not None


def response_part(name: str) -> tuple[str, str] | None:
    """Return the pair, still joined, and ``re`` or ``im``; None for another kind of column.

    The pair is empty where the name leaves it out.

    Parameters
    ----------
    name : str
    """
    match = RESPONSE.fullmatch(name.strip())
    return None if match is None else (match["pair"] or "", match["part"].lower())


def variance_part(name: str) -> str | None:
    """Return the pair, still joined, of a column of variances; None for another kind.

    Parameters
    ----------
    name : str
    """
    match = VARIANCE.fullmatch(name.strip())
    return None if match is None else match["pair"]


def split_pairs(
    bodies: Sequence[str],
    outputs: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
) -> dict[str, Pair]:
    """Tell the output from the input in joined names, where each may hold underscores itself.

    What is certain comes first: names with one underscore, and driving points, whose two halves
    are equal. The coordinates that they name then decide the others. Where nothing is certain,
    the names must form one table of all outputs by all inputs.

    Parameters
    ----------
    bodies : sequence of str
        ``<out>_<in>``, each once.
    outputs, inputs : sequence of str, optional
        The names, where they are known.

    Raises
    ------
    UndecidedError
        When a name can be read in several ways, or in none.
    """
    choices = {body: _splits(body) for body in bodies}
    if outputs is not None or inputs is not None:
        choices = {
            body: [
                (a, b)
                for a, b in splits
                if (outputs is None or a in outputs) and (inputs is None or b in inputs)
            ]
            for body, splits in choices.items()
        }
    for body, splits in choices.items():
        if not splits:
            raise UndecidedError(body, splits)
    certain = {name for s in choices.values() if len(s) == 1 for name in s[0]}
    certain |= {a for splits in choices.values() for a, b in splits if a == b}
    return _spread(choices, certain) if certain else _full_table(choices)


def _splits(body: str) -> list[Pair]:
    ends = range(1, len(body) - 1)
    return [(body[:k], body[k + 1 :]) for k in ends if body[k] == "_"]


def _spread(choices: dict[str, list[Pair]], certain: set[str]) -> dict[str, Pair]:
    """Let known names decide, and what they decide decide further."""
    known, pairs = set(certain), {b: s[0] for b, s in choices.items() if len(s) == 1}
    while len(pairs) < len(choices):
        left = [body for body in choices if body not in pairs]
        best = {body: _most_known(choices[body], known) for body in left}
        decided = {body: splits[0] for body, splits in best.items() if len(splits) == 1}
        if not decided:
            raise UndecidedError(left[0], choices[left[0]])
        pairs |= decided
        known |= {name for pair in decided.values() for name in pair}
    # A name found late may allow a second reading of what was decided early.
    for body, splits in choices.items():
        readings = [(a, b) for a, b in splits if a in known and b in known]
        if readings != [pairs[body]]:
            raise UndecidedError(body, readings)
    return {body: pairs[body] for body in choices}


def _most_known(splits: Iterable[Pair], known: set[str]) -> list[Pair]:
    counted = [((a in known) + (b in known), (a, b)) for a, b in splits]
    most = max(count for count, _ in counted)
    return [pair for count, pair in counted if count == most] if most else []


def _full_table(choices: dict[str, list[Pair]]) -> dict[str, Pair]:
    """Find the one way in which the names are all outputs by all inputs."""
    body = next(iter(choices))
    tables = [table for a, b in choices[body] if (table := _table(choices, a, b)) is not None]
    if len(tables) != 1:
        raise UndecidedError(body, [table[body] for table in tables] or choices[body])
    return {body: tables[0][body] for body in choices}


def _table(bodies: Iterable[str], output: str, forced: str) -> dict[str, Pair] | None:
    names = set(bodies)
    outputs = [b[: -len(forced) - 1] for b in names if b.endswith("_" + forced)]
    inputs = [b[len(output) + 1 :] for b in names if b.startswith(output + "_")]
    if "" in outputs or "" in inputs or len(outputs) * len(inputs) != len(names):
        return None
    table = {f"{a}_{b}": (a, b) for a in outputs for b in inputs}
    return table if table.keys() == names else None
