"""Options in the words of the place where they are read."""

import ast
import re
from pathlib import Path

import pytest

import prism
from prism.report.wording import _EXPERIMENTS, on_command_line, on_page

SOURCES = Path(prism.__file__).parent
# Rooms and messages that only a program or the command line meets.
ELSEWHERE = re.compile(
    r"(app|cli|plot|report|scale|systems|motion/steady)/|"
    r"(labelled|estimator|tracking|correlation|errors|kernel|deconvolution)\.py|io/(model|_atomic)"
)
PROGRAMS = re.compile(r"^(false_alarm|max_modes) (is|must)|identify needs a Record|^[\w, ]+$")
PYTHON = re.compile(
    r"\b(experiment|mass|stiffness|force|at|damped|potential|hold|rank|method|max_modes|dt|unit|"
    r"time_column|quantity)=|\btime_column\b"
)
TYPED = re.compile(r"(?<!command line, )--[a-z]")


def sentences():
    """Every text of the rooms whose words reach the page, without its docstrings."""
    for path in sorted(SOURCES.rglob("*.py")):
        name = path.relative_to(SOURCES).as_posix()
        if ELSEWHERE.match(name):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        passed = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        passed |= {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
        for node in ast.walk(tree):
            if id(node) in passed:
                continue
            if isinstance(node, ast.JoinedStr):
                parts = [v.value if isinstance(v, ast.Constant) else "7" for v in node.values]
                yield f"{name}:{node.lineno}", "".join(parts)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{name}:{node.lineno}", node.value


SPOKEN = {
    place: text
    for place, text in sentences()
    if (PYTHON.search(text) or TYPED.search(text)) and " " in text and not PROGRAMS.search(text)
}


def test_sentences_that_name_options_are_found():
    assert len(SPOKEN) >= 20


@pytest.mark.parametrize("place", SPOKEN)
def test_nobody_is_told_to_type_into_a_page(place):
    said = on_page(SPOKEN[place])
    assert not PYTHON.search(said), said
    assert not TYPED.search(said), said


@pytest.mark.parametrize("place", SPOKEN)
def test_nobody_is_told_to_type_python_into_a_terminal(place):
    said = on_command_line(SPOKEN[place])
    assert not PYTHON.search(said), said
    assert "command line" not in said


def test_the_page_is_called_by_its_own_words():
    pytest.importorskip("streamlit", reason="the app needs the extra app")
    from prism.app.experiment import EXPERIMENTS

    assert {kind: title for kind, (title, _) in EXPERIMENTS.items()} == _EXPERIMENTS
    said = on_page("lines decay: damped=True, or --damped, fits that")
    assert said == "lines decay: “it loses energy” at How it moves, under More options, fits that"
