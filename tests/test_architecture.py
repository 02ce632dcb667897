"""The order of the rooms, checked on the import statements of every module that exists."""

import ast
import importlib.util
import math
import os
import re
import subprocess
import sys
from collections import defaultdict

import numpy
import pytest
from tests.places import ROOT

from prism._doors import DOORS

SOURCE = ROOT / "src" / "prism"

# Rooms that may use whatever their extra installs; all others are numpy, scipy and Python alone.
FREE = {"__init__", "__main__", "app", "cli", "io", "labelled", "plot", "report", "estimator"}
NUMERICAL = {"numpy", "scipy"}
MAY_PRINT = {"cli"}
KNOWS_BENCH = {"cli"}
HEAVY = (
    *("matplotlib", "rich", "typer", "cvxpy", "dask", "numba"),
    *("sklearn", "control", "xarray", "streamlit", "plotly"),
)
# Loaded where they are used, with a message that names the extra, in rooms that are not free.
THROUGH_REQUIRE = {"numba", "cvxpy", "control"}


def load_house():
    spec = importlib.util.spec_from_file_location("house", ROOT / "docs" / "_ext" / "house.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOUSE = load_house()
ORDER = {room: k for k, room in enumerate(HOUSE.order())}
FILES = sorted(SOURCE.rglob("*.py"))


def module_name(path):
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def room_of(module):
    """The part of ``prism`` that a module belongs to; the package itself is ``__init__``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def for_type_checkers(tree):
    """Statements that never run."""
    return {
        id(inside)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for child in node.body
        for inside in ast.walk(child)
    }


def imports(text, module, is_package=False):
    """Line and absolute name of every import that may run, in functions too."""
    tree = ast.parse(text)
    never = for_type_checkers(tree)
    for node in ast.walk(tree):
        if id(node) in never:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = module.split(".")
                above = above[: len(above) - node.level + is_package]
                base = ".".join([*above, *([base] if base else [])])
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                deeper = whole in MODULES or (base == "prism" and alias.name in ORDER)
                yield node.lineno, whole if deeper else base


def breach(module, target):
    """Say which rule an import breaks, or nothing."""
    room, top = room_of(module), target.split(".")[0]
    if top == "prism_bench":
        return None if room in KNOWS_BENCH else "the tool imports the benchmarks"
    if top != "prism":
        own = top in NUMERICAL or top in sys.stdlib_module_names or top in THROUGH_REQUIRE
        return None if own or room in FREE else f"{room} imports {top}"
    other = room_of(target)
    if other == room:
        return None
    missing = [name for name in (room, other) if name not in ORDER]
    if missing:
        return f"{missing[0]} has no place in docs/_ext/house.py"
    return None if ORDER[other] < ORDER[room] else f"{room} imports {other}, which is above it"


def breaches(text, module, is_package=False):
    """Every broken rule in the text of a module, with its line."""
    rules = {(line, breach(module, target)) for line, target in imports(text, module, is_package)}
    found = [f"line {line}: {rule}" for line, rule in sorted(rules, key=str) if rule]
    printed = [
        f"line {node.lineno}: print"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"
    ]
    return found + (printed if room_of(module) not in MAY_PRINT else [])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_module_keeps_to_its_place(path):
    found = breaches(path.read_text("utf-8"), module_name(path), path.name == "__init__.py")
    assert not found


def test_the_house_has_every_room_once():
    assert {room_of(module) for module in MODULES} == set(ORDER)
    assert len(ORDER) == len(HOUSE.order())


def test_the_picture_is_that_of_the_table():
    assert HOUSE.PICTURE.read_text("utf-8") == HOUSE.drawing()


def test_no_circles_among_modules():
    """Modules import each other in one direction, inside a room too."""
    edges = defaultdict(set)
    for module, path in MODULES.items():
        text = path.read_text("utf-8")
        targets = {name for _, name in imports(text, module, path.name == "__init__.py")}
        edges[module] = {name for name in targets if name in MODULES and name != module}
    done, path = set(), []

    def visit(module):
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        if module in done:
            return
        path.append(module)
        for target in sorted(edges[module]):
            visit(target)
        done.add(path.pop())

    for module in sorted(MODULES):
        visit(module)


def test_the_doors_lead_somewhere():
    for name, place in DOORS.items():
        module, _, inside = place.partition(":")
        assert hasattr(importlib.import_module(module), inside), name


def test_class_names_stand_once():
    homes = defaultdict(list)
    for module, path in MODULES.items():
        tree = ast.parse(path.read_text("utf-8"))
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(module)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
ARITHMETIC = (ast.Constant, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator)
NUMBERS_OF = {"math": math, "np": numpy, "numpy": numpy}


def number(value):
    """What an expression of numbers, arithmetic and named numbers such as np.pi is, or None."""
    names = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
    rest = [node for node in ast.walk(value) if not isinstance(node, ast.Name | ast.expr_context)]
    if any(node.id not in NUMBERS_OF for node in names):
        return None
    if not all(isinstance(node, (*ARITHMETIC, ast.Attribute)) for node in rest):
        return None
    found = eval(compile(ast.Expression(value), "", "eval"), dict(NUMBERS_OF))
    return found if type(found) in (int, float) else None


def numbers(text):
    """Name and value of the numeric constants at the top of a module, underscores left away."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets, value = [node.target], node.value
        else:
            continue
        for target in targets:
            several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts, strict=True) if several else [(target, value)]
            for one, other in pairs:
                if isinstance(one, ast.Name) and CONSTANT.fullmatch(one.id):
                    found = number(other)
                    if found is not None:
                        yield one.id.lstrip("_"), found


def test_constants_of_one_name_have_one_value():
    homes = defaultdict(dict)
    for module, path in MODULES.items():
        for name, value in numbers(path.read_text("utf-8")):
            homes[name][module] = value
    assert {name: where for name, where in homes.items() if len(set(where.values())) > 1} == {}


def test_the_numbers_of_a_module_are_found():
    text = "_A = 3\nB, _C = 1 << 4, -1e-3\nD: float = 2 * np.pi\nE = 'x'\nF = f(1)\ng = 4\nH = True"
    assert dict(numbers(text)) == {"A": 3, "B": 16, "C": -1e-3, "D": 2 * math.pi}


@pytest.mark.parametrize(
    ("module", "text", "words"),
    [
        ("prism.modes", "import prism.plot", "modes imports plot, which is above it"),
        ("prism.modes", "from prism.io import read", "modes imports io"),
        ("prism.modes", "from prism import cli", "modes imports cli"),
        ("prism.modes", "from prism import Record", "modes imports __init__"),
        ("prism.modes", "def f():\n    from prism.model import Model", "line 2: modes imports"),
        ("prism.motion.steady.fit", "from ...pipeline import identify", "imports pipeline"),
        ("prism.motion.steady.fit", "from ... import report", "motion imports report"),
        ("prism.search.descent", "from prism.motion.steady import fit", "search imports motion"),
        ("prism.systems.chain", "import matplotlib.pyplot as plt", "systems imports matplotlib"),
        ("prism.kernel", "import rich", "kernel imports rich"),
        ("prism.new_room", "import prism.record", "new_room has no place"),
        ("prism.plot.views", "from prism.report import numbers", "plot imports report"),
        ("prism.model", "import prism_bench.peers", "the tool imports the benchmarks"),
        ("prism.record", "print('hello')", "print"),
        ("prism.report.html", "print('hello')", "print"),
    ],
)
def test_the_check_finds_what_is_forbidden(module, text, words):
    (found,) = breaches(text, module)
    assert words in found


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("prism.modes", "import numpy as np\nfrom scipy import linalg\nimport math"),
        ("prism.modes", "from prism.errors import PrismError\nfrom prism import record"),
        ("prism.motion.steady.pursuit", "from .fit import refine\nfrom ...record import Record"),
        ("prism.pipeline", "from prism.motion.steady import find\nfrom prism.model import Model"),
        ("prism.cli.run", "from prism.pipeline import identify\nimport typer\nprint(1)"),
        ("prism.cli.benchmark", "from prism_bench import BENCHMARKS"),
        ("prism", "from prism.pipeline import identify\nfrom prism.io import read"),
        ("prism.plot.views", "import matplotlib"),
        ("prism.model", "if TYPE_CHECKING:\n    from prism.plot import Plot"),
    ],
)
def test_the_check_lets_pass_what_is_allowed(module, text):
    assert breaches(text, module) == []


def test_relative_imports_of_a_package_are_its_own():
    assert breaches("from . import fit", "prism.motion.steady", is_package=True) == []
    assert breaches("from ... import plot", "prism.motion.steady", is_package=True) != []


def test_importing_prism_is_light():
    code = f"import sys, prism; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(SOURCE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


# -- tests mirror the sources ----------------------------------------------------------------------

TESTS = ROOT / "tests"
# What is tested beside the package: the other package, the pages, the instruments.
BESIDE = {"bench", "docs", "tools"}
# Tests of several modules together, which have the name of what they share.
TOGETHER = {
    *("architecture", "project", "app/browser", "io/response_bad", "io/stores", "io/text"),
    *("cli/completion", "cli/damped", "cli/forced", "cli/info_data", "estimate/hammer"),
    *("motion/forced/response/fit", "motion/forced/response/parts", "motion/potential/parts"),
    *("plot/views", "report/browser", "report/forced", "report/kinds", "report/parts"),
    "report/wording",
}


def counterpart(path):
    """Whether a test stands where what it tests stands; a module may have a folder of tests."""
    folder, name = path.parent, path.name.removesuffix(".py").removeprefix("test_")
    home = SOURCE / folder
    if folder.parts and (folder.parts[0] in BESIDE or home.with_suffix(".py").is_file()):
        return True
    if not home.is_dir():
        return False
    own = any((home / f"{dash}{name}.py").is_file() for dash in ("", "_"))
    return own or (home / name).is_dir() or name == folder.name or str(folder / name) in TOGETHER


def test_tests_mirror_the_sources():
    tests = sorted(path.relative_to(TESTS) for path in TESTS.rglob("test_*.py"))
    assert len(tests) > 80
    assert [str(path) for path in tests if not counterpart(path)] == []


def test_what_is_tested_together_is_there():
    there = {str(path.relative_to(TESTS)).replace("test_", "") for path in TESTS.rglob("*.py")}
    assert sorted(name for name in TOGETHER if f"{name}.py" not in there) == []
