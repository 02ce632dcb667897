"""Measure how the package is built.

    python house.py ROOT [--trace PYTHON]

ROOT is a checkout. Printed are the lines of code of every room and of the estimation code, the
circles of the import graph, class names and constants that stand in several places, where the
answer is built and how often the code asks what kind of thing it holds, and the lengths of
functions. With ``--trace`` six identifications are run by the given Python, and the functions of
the estimation code that each of them runs through are set beside each other.
"""

from __future__ import annotations

import argparse
import sys
from itertools import combinations
from pathlib import Path

from house_parts.imports import cycles, import_graph, package_graph
from house_parts.shapes import (
    ASKED,
    KINDS,
    constants,
    contradictions,
    functions,
    questions,
    repeated_classes,
)
from house_parts.source import Module, modules_of, rooms_of
from house_parts.trace import traces


def heading(text: str) -> list[str]:
    """A title with a line under it."""
    return ["", text, "-" * len(text)]


def room_lines(modules: list[Module]) -> list[str]:
    """Files and lines of code of each room, and of the estimation code."""
    lines = [*heading("Lines of code (* estimation)"), f"{'room':24}{'files':>7}{'lines':>8}"]
    for room, members in rooms_of(modules).items():
        star = " *" if members[0].is_estimation else ""
        lines.append(f"{room + star:24}{len(members):7}{_size(members):8}")
    estimation = [module for module in modules if module.is_estimation]
    lines.append(f"{'estimation code *':24}{len(estimation):7}{_size(estimation):8}")
    lines.append(f"{'all':24}{len(modules):7}{_size(modules):8}")
    return lines


def _size(modules: list[Module]) -> int:
    return sum(len(module.code_lines) for module in modules)


def import_lines(modules: list[Module]) -> list[str]:
    """Circles among modules and among rooms, without and with imports for type checkers."""
    lines: list[str] = []
    for typing, words in ((False, "as it runs"), (True, "with imports for type checkers")):
        graph = import_graph(modules, typing=typing)
        lines += heading(f"Import graph, {words}")
        lines.append(f"modules {len(graph)}, imports {sum(map(len, graph.values()))}")
        lines += _circles("modules", cycles(graph))
        lines += _circles("rooms", cycles(package_graph(graph)))
    return lines


def _circles(what: str, found: list[list[str]]) -> list[str]:
    if not found:
        return [f"circles among {what}: none"]
    sizes = ", ".join(str(len(part)) for part in found)
    members = [f"    {', '.join(part)}" for part in found[:1]]
    return [f"circles among {what}: {len(found)}, of {sizes}; the largest:", *members]


def name_lines(modules: list[Module]) -> list[str]:
    """Class names defined more than once, and constants with several values."""
    classes = repeated_classes(modules)
    lines = heading("Names that stand in several places")
    lines.append(f"class names defined more than once: {len(classes)}")
    lines += [f"    {name}: {', '.join(homes)}" for name, homes in classes.items()]
    found = constants(modules)
    count = sum(map(len, found.values()))
    differing = contradictions(found)
    lines.append(f"numeric constants at module level: {count}, under {len(found)} names")
    lines.append(f"of these with several values: {len(differing)} names")
    for name, homes in differing.items():
        lines.append(f"    {name}: {', '.join(f'{value} {home}' for home, value in homes.items())}")
    return lines


def question_lines(modules: list[Module]) -> list[str]:
    """Constructions of the answer, and questions about what is there."""
    found = questions(modules)
    lines = heading("Where the answer is built, and what is asked")
    lines.append(f"places that construct Model: {sum(found.models.values())}")
    lines += [f"    {name}: {count}" for name, count in found.models.items()]
    lines.append(f"isinstance questions about kinds: {found.instances}")
    lines += [f"    {name}: {found.kinds[name]}" for name in KINDS]
    lines.append(f"questions whether something is missing: {found.missing.total()}")
    for name in ASKED:
        for words in ("is None", "is not None"):
            lines.append(f"    {name} {words}: {found.missing[f'{name} {words}']}")
    return lines


def function_lines(modules: list[Module]) -> list[str]:
    """Number and lengths of functions, of all and of the estimation code."""
    lines = heading("Functions, in lines of code")
    parts = {"all": modules, "estimation": [one for one in modules if one.is_estimation]}
    for words, members in parts.items():
        found = functions(members)
        lines.append(f"{words}: {found.count}, median {found.median:g}; the longest:")
        lines += [f"    {length:4} {name}" for length, name in found.longest]
    return lines


def trace_lines(seen: dict[str, set[str]]) -> list[str]:
    """Functions of each identification, and what two of them have in common."""
    lines = heading("Functions of the estimation code that an identification runs through")
    lines += [f"{kind:12}{len(names):6}" for kind, names in seen.items()]
    lines.append(f"{'any of them':12}{len(set().union(*seen.values())):6}")
    lines.append(f"{'all of them':12}{len(set.intersection(*seen.values())):6}")
    lines.append("in common, and as a share of the smaller one:")
    for one, other in combinations(seen, 2):
        both = len(seen[one] & seen[other])
        share = both / max(min(len(seen[one]), len(seen[other])), 1)
        lines.append(f"    {one + ' and ' + other:24}{both:6}{share:8.0%}")
    return lines


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("root", type=Path, help="a checkout of the project")
    parser.add_argument("--trace", metavar="PYTHON", help="run identifications with this Python")
    return parser.parse_args()


def main() -> int:
    """Print the figures."""
    options = arguments()
    root = options.root.resolve()
    if options.trace:
        lines = trace_lines(traces(root, options.trace))
    else:
        modules = modules_of(root)
        lines = room_lines(modules) + import_lines(modules) + name_lines(modules)
        lines += question_lines(modules) + function_lines(modules)
    sys.stdout.write("\n".join(lines).lstrip("\n") + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
