"""Who imports whom, and where that goes round in circles.

An import counts wherever it stands, also inside a function. ``from prism.a import b`` is an import
of ``prism.a.b`` where that is a module, else of ``prism.a``. That importing a module loads the
folders above it does not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .source import PACKAGE, Module

Graph = dict[str, set[str]]


def import_graph(modules: list[Module], *, typing: bool = False) -> Graph:
    """Imports among the modules; with ``typing`` also those under ``if TYPE_CHECKING``."""
    known = {module.name for module in modules}
    return {
        module.name: {name for name in _imported(module, known, typing) if name != module.name}
        for module in modules
    }


def package_graph(graph: Graph) -> Graph:
    """The same among rooms: each first-level folder or module is one node."""
    out: Graph = {}
    for name, targets in graph.items():
        here = out.setdefault(_room(name), set())
        here.update(room for target in targets if (room := _room(target)) != _room(name))
    return out


def cycles(graph: Graph) -> list[list[str]]:
    """Strongly connected components of more than one node, the largest first."""
    found = [sorted(part) for part in _components(graph) if len(part) > 1]
    return sorted(found, key=lambda part: (-len(part), part))


def _room(name: str) -> str:
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def _imported(module: Module, known: set[str], typing: bool) -> Iterator[str]:
    for node in _nodes(module.tree, typing):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from (name for name in names if name in known)
        elif isinstance(node, ast.ImportFrom):
            base = origin(module, node)
            if base is None:
                continue
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield from (
                    name for name in ([inner] if inner in known else [base]) if name in known
                )


def origin(module: Module, node: ast.ImportFrom) -> str | None:
    """Dotted name of the module that ``from ... import`` names; None outside the package."""
    if node.level == 0:
        name = node.module or ""
        return name if name.split(".")[0] == PACKAGE else None
    above = module.name.split(".")
    above = above[: len(above) - node.level + module.is_package]
    return ".".join([*above, node.module] if node.module else above)


def _nodes(tree: ast.AST, typing: bool) -> Iterator[ast.AST]:
    """All nodes, without those that only a type checker sees unless asked for."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not typing and isinstance(node, ast.If) and _is_type_checking(node.test):
            for other in node.orelse:
                yield from (other, *_nodes(other, typing))
        else:
            yield from _nodes(node, typing)


def _is_type_checking(test: ast.expr) -> bool:
    last = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return last == "TYPE_CHECKING"


def _components(graph: Graph) -> Iterator[set[str]]:
    """Kosaraju's algorithm: order by leaving time, then walk the reversed graph."""
    reverse: Graph = {name: set() for name in graph}
    for name, targets in graph.items():
        for target in targets:
            reverse.setdefault(target, set()).add(name)
    seen: set[str] = set()
    order = [name for start in graph for name in _walk(start, graph, seen)]
    seen = set()
    for start in reversed(order):
        part = set(_walk(start, reverse, seen))
        if part:
            yield part


def _walk(start: str, graph: Graph, seen: set[str]) -> list[str]:
    """What is reached and was not seen yet, each after all that it leads to."""
    if start in seen:
        return []
    seen.add(start)
    out: list[str] = []
    stack = [(start, iter(sorted(graph.get(start, ()))))]
    while stack:
        name, targets = stack[-1]
        following = next((target for target in targets if target not in seen), None)
        if following is None:
            out.append(name)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(sorted(graph.get(following, ())))))
    return out
