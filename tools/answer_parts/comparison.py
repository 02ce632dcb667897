"""Two sets of answers beside each other: what is the same, what is rounding, what differs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

RELATIVE = 1e-9
ABSOLUTE = 1e-12  # of the largest entry of the same array
ROUNDING = 10.0  # times what the last digit of the data moves
SHOWN = 5  # differences of a case that are written out

Json = Any


@dataclasses.dataclass(frozen=True)
class Difference:
    """One contradiction: where, what, and by how much if it is a number."""

    path: str
    text: str
    size: float | None = None

    def is_rounding(self, moved: dict[str, float | None]) -> bool:
        """Whether the last digit of the data moves the entry as well."""
        if self.path not in moved:
            return False
        limit = moved[self.path]
        return limit is None or (self.size is not None and self.size <= ROUNDING * limit)


@dataclasses.dataclass
class Differences:
    """What a comparison finds: contradictions, and keys that were not there before."""

    scale: float = 1.0  # of both tolerances
    found: list[Difference] = dataclasses.field(default_factory=list)
    new: list[str] = dataclasses.field(default_factory=list)

    def add(self, path: str, text: str, size: float | None = None) -> None:
        """Note a contradiction."""
        self.found.append(Difference(path, text, size))


def is_number(value: Json) -> bool:
    """Whether a value is a number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def numbers_in(value: Json) -> Iterator[float]:
    """All numbers of nested lists."""
    if isinstance(value, list):
        for entry in value:
            yield from numbers_in(entry)
    elif is_number(value):
        yield float(value)


def compare(before: Json, after: Json, path: str, out: Differences, slack: float = 0.0) -> None:
    """Walk through what was there before; ``slack`` is the absolute tolerance of numbers."""
    if isinstance(before, dict) and isinstance(after, dict):
        compare_dicts(before, after, path, out)
    elif isinstance(before, list) and isinstance(after, list):
        compare_lists(before, after, path, out, slack)
    elif is_number(before) and is_number(after):
        size = max(abs(before), abs(after))
        if abs(before - after) > out.scale * max(RELATIVE * size, slack):
            off = abs(before - after)
            out.add(path, f"{before!r} became {after!r} (relative {off / size:.1e})", off)
    elif before != after or type(before) is not type(after):
        out.add(path, differing(before, after))


def compare_dicts(
    before: dict[str, Json], after: dict[str, Json], path: str, out: Differences
) -> None:
    """Compare the keys that were there before, and list the others."""
    for key, entry in before.items():
        if key in after:
            compare(entry, after[key], f"{path}.{key}", out)
        else:
            out.add(f"{path}.{key}", "is gone")
    out.new += [f"{path}.{key}" for key in after if key not in before]


def compare_lists(
    before: list[Json], after: list[Json], path: str, out: Differences, slack: float
) -> None:
    """Compare entry by entry; numbers are measured by the largest of the whole array too."""
    if len(before) != len(after):
        out.add(path, f"{len(before)} entries became {len(after)}")
        return
    largest = max((abs(value) for value in numbers_in(before)), default=0.0)
    for k, (one, other) in enumerate(zip(before, after, strict=True)):
        compare(one, other, f"{path}[{k}]", out, max(slack, ABSOLUTE * largest))


def differing(before: Json, after: Json) -> str:
    """Two values side by side, long texts from where they differ."""
    if not (isinstance(before, str) and isinstance(after, str)):
        return f"{short(before)} became {short(after)}"
    place = next(
        (k for k, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    start = max(place - 20, 0)
    return f"at character {place}: {short(before[start:])} became {short(after[start:])}"


def short(value: Json) -> str:
    """A value in at most some eighty characters."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def comparison(before: Json, after: Json, names: Sequence[str]) -> tuple[list[str], bool]:
    """Lines that say what differs, and whether anything does beyond rounding."""
    lines = [
        f"note: {name} is {after['environment'].get(name)}, was {value}: not the same machine"
        for name, value in before["environment"].items()
        if after["environment"].get(name) != value
    ]
    new: list[str] = []
    counts = {"same": 0, "same within rounding": 0, "different": 0}
    for name in names:
        out = Differences()
        if name in after["answers"]:
            compare(before["answers"][name], after["answers"][name], "", out)
        else:
            out.add("", "the case is gone")
        new += out.new
        verdict, said = case_lines(name, out.found, before.get("rounding", {}).get(name, {}))
        counts[verdict] += 1
        lines += said
    lines += new_lines(new)
    parts = [f"{count} {word}" for word, count in counts.items() if count or " " not in word]
    lines.append(", ".join(parts))
    return lines, counts["different"] > 0


def case_lines(
    name: str, found: list[Difference], moved: dict[str, float | None]
) -> tuple[str, list[str]]:
    """The verdict on one case, and what is said of it."""
    if not found:
        return "same", [f"{name}: same"]
    real = [one for one in found if not one.is_rounding(moved)]
    if not real:
        return "same within rounding", [f"{name}: same within rounding, {len(found)} entries moved"]
    more = len(real) - SHOWN
    rest = [f"    and {more} more"] if more > 0 else []
    shown = [f"    {one.path}: {one.text}" for one in real[:SHOWN]]
    return "different", [f"{name}: DIFFERENT", *shown, *rest]


def new_lines(new: list[str]) -> list[str]:
    """A summary of the keys that were not there before."""
    counts: dict[str, int] = {}
    for path in new:
        counts[path] = counts.get(path, 0) + 1
    return [f"new key {path}, in {count} cases" for path, count in sorted(counts.items())]
