"""The modules of a checkout, read once, and their lines of code."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeGuard

PACKAGE = "prism"

# Rooms (first-level folders, or modules beside them) of the estimation code: everything between
# Record or FrequencyResponse and Model. The first group is the house before it was rebuilt, the
# second the one after; rooms that do not exist count nothing.
ESTIMATION = frozenset(
    [
        *("lines", "damped", "response", "nonlinear", "gyroscopic", "experiments", "pipeline"),
        *("completion", "correlation", "deconvolution", "adjust", "diagnostics"),
        *("identifiability", "kernel", "hamiltonian", "motion", "modes", "tracking", "_linalg"),
        #
        *("search", "estimate", "uncertainty", "finding", "assembly", "remarks", "forecast"),
        *("explanations", "evidence", "determination", "ignore", "magnitudes"),
        *("settings", "standing"),
    ]
)

_SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True)
class Module:
    """One file of the package.

    Attributes
    ----------
    name : str
        Dotted, such as ``prism.lines.fit``; a package has the name of its folder.
    path : Path
        Relative to the package.
    text : str
    """

    name: str
    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text)

    @property
    def is_package(self) -> bool:
        """Whether it is the ``__init__`` of a folder."""
        return self.path.name == "__init__.py"

    @property
    def room(self) -> str:
        """First-level folder, or the module itself where it stands beside the folders."""
        return self.path.parts[0].removesuffix(".py")

    @property
    def is_estimation(self) -> bool:
        """Whether it belongs to the estimation code."""
        return self.room in ESTIMATION

    @cached_property
    def code_lines(self) -> frozenset[int]:
        """Numbers of the lines that are neither blank nor comment nor docstring."""
        held: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in _SILENT:
                held.update(range(token.start[0], token.end[0] + 1))
        for node in ast.walk(self.tree):
            if _is_docstring(node):
                held.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        return frozenset(held)


def _is_docstring(node: ast.AST) -> TypeGuard[ast.Expr]:
    """Whether a node is a text that stands alone: of a module, class, function or constant."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def modules_of(root: Path) -> list[Module]:
    """All modules of the package in a checkout, by name."""
    package = root / "src" / PACKAGE
    paths = sorted(package.rglob("*.py"))
    return [_read(path.relative_to(package), path) for path in paths]


def _read(relative: Path, path: Path) -> Module:
    parts = [PACKAGE, *relative.with_suffix("").parts]
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name, relative, path.read_text(encoding="utf-8"))


def rooms_of(modules: list[Module]) -> dict[str, list[Module]]:
    """The modules of each room, rooms by name."""
    rooms: dict[str, list[Module]] = {}
    for module in modules:
        rooms.setdefault(module.room, []).append(module)
    return dict(sorted(rooms.items()))
