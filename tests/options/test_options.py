"""The table of options: lookups, checks, what is typed, what came later."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

import prism
from prism.errors import OptionError
from prism.experiments import EXPERIMENTS
from prism.motion.kinds import KINDS
from prism.motion.steady import METHODS
from prism.options import (
    GROUPS,
    OPTIONS,
    READING,
    Choice,
    Option,
    add_choice,
    all_options,
    changed,
    check_option,
    check_options,
    find,
    forget,
    register,
)
from prism.options.values import Number


def test_the_table_knows_what_the_rooms_know():
    assert find("experiment").values == tuple(EXPERIMENTS)
    for name, kind in EXPERIMENTS.items():
        choice = find("experiment").choice(name)
        assert (choice.label, choice.words) == (kind.label, kind.words)
    assert set(find("kind").values) == {kind.name for kind in KINDS}
    for kind in KINDS:
        assert find("kind").choice(kind.name).label == kind.words
    assert find("method").values == tuple(METHODS)
    assert find("quantity").values == prism.record.QUANTITIES


def test_every_option_has_words_and_a_group():
    for option in (*OPTIONS, *READING):
        assert option.help.endswith("."), option.name
        assert option.belongs in GROUPS
    assert len({option.name for option in (*OPTIONS, *READING)}) == len(OPTIONS) + len(READING)


def test_the_table_is_light():
    code = "import sys, prism.options; sys.exit('numpy' in sys.modules)"
    light = subprocess.run([sys.executable, "-c", code], check=False)
    assert light.returncode == 0


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("experiment", "shaken", "unknown experiment 'shaken'; use one of free, equilibrium, "),
        ("method", 3, "unknown method 3; use one of likelihood, nnls, sdp."),
        ("method", None, "unknown method None; use"),
        ("max_modes", 2.5, "max_modes must be a whole number, got 2.5."),
        ("max_modes", True, "max_modes must be a whole number, got True."),
        ("max_modes", 0, "max_modes must be at least 1, got 0."),
        ("false_alarm", 0, "the false-alarm probability must lie in (0, 1), got 0."),
        ("false_alarm", "0.1", "the false-alarm probability must lie in (0, 1), got 0.1."),
        ("false_alarm", np.nan, "must lie in (0, 1), got nan."),
        ("fit_fraction", 1.0, "must lie in (0, 1), got 1.0: leave it out to fit the whole record."),
        ("drift", 9, "drift is a degree from 1 to 8, got 9."),
        ("drift", 1.5, "drift is a degree from 1 to 8, got 1.5."),
        ("damped", "yes", "damped is True or False, got 'yes'."),
        ("force", 3, "force takes names, got 3."),
        ("force", [3], "force takes names, got [3]."),
        ("at", "f=x", "at maps a force to a motion, got 'f=x'."),
        ("time_column", 1.5, "time_column is a text, got 1.5."),
        ("dt", -1.0, "dt must be a finite number above 0, got -1.0."),
        ("strength", 1, "unknown option 'strength'; use one of experiment, kind"),
    ],
)
def test_what_makes_no_sense_is_refused(name, value, words):
    with pytest.raises(OptionError) as refusal:
        check_option(name, value)
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "value", "used"),
    [
        ("max_modes", None, None),
        ("max_modes", np.int64(3), 3),
        ("drift", np.int64(2), 2),
        ("damped", np.True_, True),
        ("damped", 0, False),
        ("force", "f", ["f"]),
        ("force", ("f", "g"), ["f", "g"]),
        ("at", {"f": "x"}, {"f": "x"}),
        ("potential", "auto", "auto"),
        ("potential", ["x", "x^3"], ["x", "x^3"]),
        ("mass", "identity", "identity"),
        ("ignore", (49, 51), (49, 51)),
        ("fit_fraction", 0.5, 0.5),
    ],
)
def test_what_makes_sense_is_taken(name, value, used):
    assert check_option(name, value) == used


def test_several_are_checked_together():
    assert check_options({"drift": 2, "method": "nnls"}) == {"method": "nnls", "drift": 2}
    with pytest.raises(OptionError, match="unknown option 'x'"):
        check_options({"x": 1})


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("force", "f, g", ["f", "g"]),
        ("at", "f=x, g = y", {"f": "x", "g": "y"}),
        ("potential", "auto", "auto"),
        ("potential", "x,x^3", ["x", "x^3"]),
        ("ignore", "50hz", "50hz"),
        ("damped", None, None),
    ],
)
def test_what_was_typed_is_read(name, text, value):
    assert find(name).parse(text) == value


@pytest.mark.parametrize("text", ["f", "f=x=y", "=x", "f=x,f=y"])
def test_places_that_cannot_be_read(text):
    with pytest.raises(OptionError, match="at is"):
        find("at").parse(text)


def test_matrices_are_files_unless_a_word_says_them():
    assert find("mass").kind.names_file("m.csv", find("mass"))
    assert not find("mass").kind.names_file("identity", find("mass"))


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("mass", np.eye(2), "2 x 2"),
        ("mass", [[1.0]], "1 x 1"),
        ("mass", 1.5, "1.5"),
        ("mass", "identity", "identity"),
        ("ignore", [(49, 51), "60hz"], "49-51,60hz"),
        ("ignore", (49, 51), "49-51"),
        ("false_alarm", 1e-3, "0.001"),
        ("at", {"f": "x"}, "f=x"),
        ("force", ["f", "g"], "f,g"),
        ("drift", 3, "3"),
    ],
)
def test_values_are_written_as_they_are_typed(name, value, text):
    assert find(name).write(value) == text


def test_only_what_was_changed_is_told():
    given = {"drift": 1, "false_alarm": 0.01, "mass": np.eye(2), "damped": False, "force": None}
    assert list(changed(given)) == ["false_alarm", "mass", "damped"]


@pytest.fixture
def tone():
    option = Option("tone", Number(0.0), metavar="F", label="Its tone", help="A known frequency.")
    register(option)
    yield option
    forget("tone")


def test_an_option_of_a_kind_that_came_later(tone):
    assert all_options()[-1] == tone
    assert check_option("tone", 2) == 2.0
    register(tone)  # twice is once
    with pytest.raises(OptionError, match="option 'tone' already"):
        register(Option("tone", Number(1.0)))
    with pytest.raises(OptionError, match="option 'drift' already"):
        register(Option("drift", Number(1.0)))
    with pytest.raises(OptionError, match="unknown group 'else'"):
        register(Option("other", Number(1.0), belongs="else"))


def test_a_value_that_came_later():
    add_choice("experiment", Choice("dropped", "Dropped", "Lifted and let fall."))
    try:
        assert check_option("experiment", "dropped") == "dropped"
        assert find("experiment").choice("dropped").title == "Dropped"
    finally:
        forget("experiment", "dropped")
    with pytest.raises(OptionError):
        check_option("experiment", "dropped")


def test_the_keywords_of_identify_are_those_of_the_table():
    parameters = inspect.signature(prism.identify).parameters
    own = {"record", "progress", "more"}
    keywords = {name: one.default for name, one in parameters.items() if name not in own}
    assert keywords == {option.name: option.default for option in OPTIONS}
