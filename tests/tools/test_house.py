"""The instrument that measures how the package is built."""

import subprocess
import sys

import pytest
from tests.places import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from house_parts.imports import cycles, import_graph, package_graph
from house_parts.shapes import constants, contradictions, functions, repeated_classes
from house_parts.source import modules_of

FILES = {
    "__init__.py": '"""The package."""\n',
    "a.py": '"""Words.\n\nMore."""\nfrom prism import b\n\n_FAR = 3\n\n\nclass Twice:\n'
    '    """Doc."""\n\n\ndef f():\n    # a comment\n    return (\n        1\n    )\n',
    "b.py": "_FAR = 2 + 2\n\n\ndef g():\n    from prism.c import h\n\n    return h\n",
    "c/__init__.py": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
    "    from prism import a\n\nh = 1\n\n\nclass Twice: ...\n",
}


@pytest.fixture
def modules(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "src" / "prism" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return modules_of(tmp_path)


def test_lines_of_code_are_neither_blank_nor_words(modules):
    sizes = {module.name: len(module.code_lines) for module in modules}
    assert sizes == {"prism": 0, "prism.a": 7, "prism.b": 4, "prism.c": 5}


def test_circles_are_found_also_through_functions(modules):
    assert cycles(import_graph(modules)) == []
    whole = import_graph(modules, typing=True)
    assert cycles(whole) == [["prism.a", "prism.b", "prism.c"]]
    assert cycles(package_graph(whole)) == [["a", "b", "c"]]


def test_names_that_stand_twice(modules):
    assert repeated_classes(modules) == {"Twice": ["prism.a", "prism.c"]}
    assert contradictions(constants(modules)) == {"_FAR": {"prism.a": "3.0", "prism.b": "4.0"}}
    assert functions(modules).count == 2


def test_it_measures_this_package():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "house.py", ROOT],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for words in ("estimation code *", "circles among modules", "places that construct Model"):
        assert words in done.stdout
