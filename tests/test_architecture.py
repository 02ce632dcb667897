"""The layers of the house, checked on the import statements of every module that exists."""

import ast
import os
import subprocess
import sys

import pytest
from tests.places import ROOT

SOURCE = ROOT / "src" / "prism"

# Rooms that talk, draw, store or put things together. Every other module is mathematics, so that
# a new room is held to the strict rules until it is listed here.
OUTER = {
    "__init__",
    "__main__",
    "app",
    "cli",
    "estimator",
    "pipeline",
    "io",
    "model",
    "plot",
    "report",
    "scale",
}
TALKING = {"__main__", "app", "cli"}
KNOWS_PIPELINE = TALKING | {"__init__", "estimator", "model"}
KNOWS_SCALE = TALKING | {"scale"}
KNOWS_BENCH = {"cli"}
MAY_PRINT = {"cli"}
NUMERICAL = {"numpy", "scipy"}
HEAVY = (
    *("matplotlib", "rich", "typer", "cvxpy", "dask", "numba"),
    *("sklearn", "control", "xarray", "streamlit", "plotly"),
)


def module_name(path):
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module):
    """The part of ``prism`` that a module belongs to; the package itself is ``__init__``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imported(node, module, is_package):
    """Absolute names that an import statement asks for."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        above = module.split(".")
        above = above[: len(above) - node.level + is_package]
        base = ".".join([*above, *([base] if base else [])])
    # "from prism import record" asks for a room, "from prism import Record" for the whole package.
    if base == "prism":
        return [f"prism.{a.name}" if is_room(a.name) else "prism" for a in node.names]
    return [base]


def is_room(name):
    return name in OUTER or (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").exists()


def breach(module, target):
    """Say which rule an import breaks, or nothing."""
    room, top = room_of(module), target.split(".")[0]
    maths = room not in OUTER
    if top == "prism_bench":
        return None if room in KNOWS_BENCH else "the tool imports the benchmarks"
    if top != "prism":
        foreign = top not in NUMERICAL and top not in sys.stdlib_module_names
        return f"mathematics imports {top}" if maths and foreign else None
    other = room_of(target)
    if other == room:
        return None
    if maths and other in OUTER:
        name = "the pipeline" if other == "pipeline" else other
        return f"mathematics imports {name}"
    if other == "pipeline" and room not in KNOWS_PIPELINE:
        return f"{room} imports the pipeline"
    if other == "scale" and room not in KNOWS_SCALE:
        return f"the core imports {other}"
    return None


def breaches(text, module, is_package=False):
    """Every broken rule in the text of a module, with its line."""
    found = []
    tree = ast.parse(text)
    allowed = through_the_notebook(tree)
    for node in ast.walk(tree):
        if node in allowed:
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            rules = {breach(module, target) for target in imported(node, module, is_package)}
            found += [f"line {node.lineno}: {rule}" for rule in sorted(rules - {None})]
        elif is_print(node) and room_of(module) not in MAY_PRINT:
            found.append(f"line {node.lineno}: print")
    return found


def through_the_notebook(tree):
    """The one door from a value to the report: what a notebook calls, when it calls it."""
    return {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and function.name == "_repr_html_"
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and node.module == "prism.report.notebook"
    }


def is_print(node):
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    )


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_module_keeps_to_its_layer(path):
    found = breaches(path.read_text("utf-8"), module_name(path), path.name == "__init__.py")
    assert not found


def test_the_walk_sees_the_package():
    assert SOURCE / "record.py" in FILES
    assert SOURCE / "io" / "csv.py" in FILES


@pytest.mark.parametrize(
    ("module", "text", "words"),
    [
        ("prism.modes", "import prism.plot", "mathematics imports plot"),
        ("prism.modes", "from prism.io import read", "mathematics imports io"),
        ("prism.modes", "from prism import cli", "mathematics imports cli"),
        ("prism.modes", "from prism import Record", "mathematics imports __init__"),
        (
            "prism.modes",
            "def f():\n    from prism.model import Model",
            "line 2: mathematics imports model",
        ),
        (
            "prism.motion.steady.pursuit",
            "from ...pipeline import identify",
            "mathematics imports the pipeline",
        ),
        ("prism.motion.steady.pursuit", "from ... import report", "mathematics imports report"),
        (
            "prism.systems.chain",
            "import matplotlib.pyplot as plt",
            "mathematics imports matplotlib",
        ),
        ("prism.kernel", "import rich", "mathematics imports rich"),
        ("prism.new_room", "import pandas", "mathematics imports pandas"),
        ("prism.io.csv", "from prism.pipeline import identify", "io imports the pipeline"),
        ("prism.plot.views", "from prism import pipeline", "plot imports the pipeline"),
        ("prism.pipeline", "from prism.scale import accumulate", "the core imports scale"),
        ("prism.model", "import prism_bench.peers", "the tool imports the benchmarks"),
        ("prism", "import prism_bench.peers", "the tool imports the benchmarks"),
        ("prism.record", "print('hello')", "print"),
        (
            "prism.record",
            "from prism.report.notebook import record_html",
            "mathematics imports report",
        ),
        (
            "prism.record",
            "def _repr_html_(self):\n    from prism.report.text import summary",
            "line 2: mathematics imports report",
        ),
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
        (
            "prism.cli.run",
            "from prism.pipeline import identify\nimport typer\nprint(1)",
        ),
        ("prism", "from prism.pipeline import identify\nfrom prism.io import read"),
        ("prism.plot.views", "import matplotlib"),
        (
            "prism.record",
            "def _repr_html_(self):\n    from prism.report.notebook import record_html",
        ),
    ],
)
def test_the_check_lets_pass_what_is_allowed(module, text):
    assert breaches(text, module) == []


def test_relative_imports_of_a_package_are_its_own():
    assert breaches("from . import fit", "prism.motion.steady", is_package=True) == []
    assert breaches("from ... import plot", "prism.motion.steady", is_package=True) != []


def test_importing_prism_is_light():
    # Until the package has a front door, its lowest room stands for it.
    module = "prism" if (SOURCE / "__init__.py").exists() else "prism.record"
    code = f"import sys, {module}; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(SOURCE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
