"""No sentence spells an option by hand: what it asks for is a value, spelled for the reader."""

import ast
import re
from pathlib import Path

import pytest

import prism
from prism.options import OPTIONS, READING

SOURCES = Path(prism.__file__).parent
NAMES = "|".join(option.name for option in (*OPTIONS, *READING))
FLAGS = "|".join(flag for option in (*OPTIONS, *READING) for flag in option.flags)
PYTHON = re.compile(rf"\b({NAMES})=(?!\d)|\btime_column\b(?!=)|\bmax_modes\b")
TYPED = re.compile(rf"(?<![\w-])({FLAGS})\b")
# The command line types; the names of options are said in the table and in the room that reads it.
TYPES = re.compile(r"(cli|options)/")
# Lines that are to be typed as they stand, and texts that are no sentences.
COMMANDS = re.compile(r"^prism |prism identify --json|wrap an array as prism\.Record\(")


def _texts(tree):
    """Every text of a module with its place, without its docstrings; a value stands as a seven."""
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    passed |= {id(value) for node in joined for value in node.values}
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = [v.value if isinstance(v, ast.Constant) else "7" for v in node.values]
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def by_hand(source):
    """Sentences that name an option as Python or the command line calls it."""
    for line, text in _texts(ast.parse(source)):
        sentence = " " in text and not COMMANDS.search(text)
        if sentence and (PYTHON.search(text) or TYPED.search(text)):
            yield line, text


FILES = [
    path
    for path in sorted(SOURCES.rglob("*.py"))
    if not TYPES.match(path.relative_to(SOURCES).as_posix())
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCES).as_posix())
def test_no_sentence_spells_an_option_by_hand(path):
    assert list(by_hand(path.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "fit it as such (damped=True)",
        "fit it as such, --damped",
        "at equilibrium (experiment='equilibrium') it would",
        "choose with time_column",
        "give --dt or a time column",
        "; max_modes= allows more",
        'say unit="hz"',
    ],
)
def test_the_scan_finds_what_is_spelled_by_hand(sentence):
    assert [text for _, text in by_hand(f"raise OptionError({sentence!r})")] == [sentence]
    assert len(list(by_hand(f"raise OptionError(f{'{a} ' + sentence!r})"))) == 1


def test_the_scan_leaves_the_rest():
    source = '"""Fit with damped=True or --damped."""\nx = "the noise is not white"\ny = "x=1"\n'
    assert list(by_hand(source)) == []
