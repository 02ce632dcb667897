"""Names, constants, questions about kinds, and functions."""

from __future__ import annotations

import ast
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

from .imports import origin
from .source import Module

KINDS = (
    *("Record", "FrequencyResponse", "Trajectories", "DecayMotion", "NonlinearMotion"),
    "NonlinearHamiltonian",
)
ASKED = ("response", "hamiltonian")
MODEL = ("prism.model", "Model")
_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
_OPERATIONS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


# -- class names -----------------------------------------------------------------------------------


def repeated_classes(modules: list[Module]) -> dict[str, list[str]]:
    """Names of classes that are defined more than once, with the modules."""
    homes: dict[str, list[str]] = {}
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module.name)
    return {name: places for name, places in sorted(homes.items()) if len(places) > 1}


# -- numeric constants -----------------------------------------------------------------------------


def constants(modules: list[Module]) -> dict[str, dict[str, str]]:
    """Numeric constants at module level: name, then module, then the value in words."""
    out: dict[str, dict[str, str]] = {}
    for module in modules:
        for name, value in _assigned(module.tree):
            number = _number(value)
            if number is not None and _CONSTANT.fullmatch(name):
                out.setdefault(name, {})[module.name] = number
    return out


def contradictions(found: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The constants that have one name and several values."""
    return {name: homes for name, homes in sorted(found.items()) if len(set(homes.values())) > 1}


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from _pairs(node.target, node.value)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _pairs(target, node.value)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, other in zip(target.elts, value.elts, strict=False):
            yield from _pairs(one, other)


def _number(value: ast.expr) -> str | None:
    """The value of a numeric expression, in words where it calls a function; None of others."""
    if not _is_numeric(value):
        return None
    try:
        return repr(float(_evaluated(value)))
    except (KeyError, TypeError):
        return ast.unparse(value)


def _is_numeric(value: ast.expr) -> bool:
    """Whether an expression holds numbers, arithmetic and functions of modules alone."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int | float) and not isinstance(value.value, bool)
    if isinstance(value, ast.UnaryOp):
        return _is_numeric(value.operand)
    if isinstance(value, ast.BinOp):
        return _is_numeric(value.left) and _is_numeric(value.right)
    if isinstance(value, ast.Call):
        plain = isinstance(value.func, ast.Attribute) and bool(value.args) and not value.keywords
        return plain and all(_is_numeric(one) for one in value.args)
    return isinstance(value, ast.Attribute) and value.attr in ("pi", "inf", "e")


def _evaluated(value: ast.expr) -> float:
    if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
        return value.value
    if isinstance(value, ast.UnaryOp):
        return _OPERATIONS[type(value.op)](_evaluated(value.operand))
    if isinstance(value, ast.BinOp):
        return _OPERATIONS[type(value.op)](_evaluated(value.left), _evaluated(value.right))
    raise TypeError(ast.unparse(value))


# -- questions about kinds -------------------------------------------------------------------------


@dataclass(frozen=True)
class Questions:
    """Where a model is built, and how often the code asks what it has before it.

    Attributes
    ----------
    models : dict of str to int
        Places that construct the answer class, by module.
    kinds : Counter
        ``isinstance`` questions by class.
    instances : int
        Their number; one question may name several classes.
    missing : Counter
        Questions such as ``response is None``, by their words.
    """

    models: dict[str, int]
    kinds: Counter[str]
    instances: int
    missing: Counter[str]


def questions(modules: list[Module]) -> Questions:
    """Count constructions and questions in all modules."""
    models = {module.name: count for module in modules if (count := _constructions(module))}
    kinds: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    instances = 0
    for module in modules:
        for node in ast.walk(module.tree):
            asked = _asked_kinds(node)
            instances += bool(asked)
            kinds.update(asked)
            missing.update(_asked_missing(node))
    return Questions(models, kinds, instances, missing)


def _constructions(module: Module) -> int:
    """Calls of the answer class under the name it was imported by."""
    home, name = MODEL
    names = {
        alias.asname or alias.name
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and origin(module, node) == home
        for alias in node.names
        if alias.name == name
    }
    return sum(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
        for node in ast.walk(module.tree)
    )


def _asked_kinds(node: ast.AST) -> list[str]:
    if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance"):
        return []
    if len(node.args) != 2:
        return []
    return [name for part in ast.walk(node.args[1]) if (name := _last_name(part)) in KINDS]


def _asked_missing(node: ast.AST) -> list[str]:
    if not (isinstance(node, ast.Compare) and len(node.ops) == 1):
        return []
    name, other = _last_name(node.left), node.comparators[0]
    if name not in ASKED or not (isinstance(other, ast.Constant) and other.value is None):
        return []
    words = {ast.Is: "is None", ast.IsNot: "is not None"}.get(type(node.ops[0]))
    return [f"{name} {words}"] if words else []


def _last_name(node: ast.AST) -> str:
    """``b`` of ``a.b`` and of ``b``."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


# -- functions -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Functions:
    """How many functions and methods there are, and how long, in lines of code."""

    count: int
    median: float
    longest: list[tuple[int, str]]


def functions(modules: list[Module], most: int = 5) -> Functions:
    """Measure all functions, methods and functions inside others."""
    lengths = [
        (_length(module, node), f"{module.name}.{node.name}")
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    lengths.sort(key=lambda one: (-one[0], one[1]))
    middle = median(length for length, _ in lengths) if lengths else 0.0
    return Functions(len(lengths), float(middle), lengths[:most])


def _length(module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    span = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return sum(line in module.code_lines for line in span)
