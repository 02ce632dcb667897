"""Sentences that ask for options, and remarks, as values."""

import json
import pickle

import pytest

from prism.errors import (
    CannotTellError,
    MissingDependencyError,
    OptionError,
    PrismWarning,
    ReadError,
)
from prism.options import COMMAND_LINE, PAGE
from prism.remarks import Ask, Remark, Words, as_remarks, spelled

DAMPED = Words("if it decays, fit it as such ({0})", (Ask("damped", True),))


def test_each_reader_has_an_own_spelling():
    assert str(DAMPED) == "if it decays, fit it as such (damped=True)"
    assert DAMPED.spell(COMMAND_LINE) == "if it decays, fit it as such (--damped)"
    assert DAMPED.spell(PAGE) == (
        "if it decays, fit it as such (“it loses energy” at How it moves under More options)"
    )


@pytest.mark.parametrize(
    ("ask", "python", "typed", "page"),
    [
        (Ask("damped", False), "damped=False", "--undamped", "“How it moves” under More options"),
        (
            Ask("experiment", "free"),
            "experiment='free'",
            "--experiment free",
            "“Free motion” at What was done",
        ),
        (Ask("mass"), "mass=...", "--mass", "“Known mass” under More options"),
        (
            Ask("force", like="[...]"),
            "force=[...]",
            "--force",
            "“Channels that are forces”",
        ),
        (
            Ask("max_modes", like=""),
            "max_modes=",
            "--max-modes",
            "--max-modes on the command line",
        ),
        (
            Ask("method", "nnls"),
            "method='nnls'",
            "--method nnls",
            "--method nnls on the command line",
        ),
        (Ask("stiffness"), "stiffness=...", "--known-stiffness", None),
        (
            Ask("at", {"f": "..."}, like="{'f': <motion channel>}"),
            "at={'f': <motion channel>}",
            "--at f=...",
            None,
        ),
        (Ask("potential", ["x", "x^3"]), "potential=['x', 'x^3']", "--potential x,x^3", None),
        (Ask("unit", "hz"), "unit='hz'", "--unit hz", None),
    ],
)
def test_an_ask_in_three_places(ask, python, typed, page):
    words = Words("{0}", (ask,))
    assert str(words) == python
    assert words.spell(COMMAND_LINE) == typed
    if page is not None:
        assert words.spell(PAGE) == page


def test_an_option_can_be_called_by_its_name_alone():
    words = Words("choose with {0:name}", (Ask("time_column"),))
    assert str(words) == "choose with time_column"
    assert words.spell(COMMAND_LINE) == "choose with --time-column"
    assert words.spell(PAGE) == "choose with “Column with the time”"


def test_other_braces_are_letters():
    assert (
        str(Words("the channel {a} and {7}", (Ask("damped", True),))) == "the channel {a} and {7}"
    )
    assert str(Words("{0}")) == "{0}"


def test_words_add_up():
    both = "first: " + DAMPED + "; or " + Words("{0}", (Ask("drift", 2),)) + "."
    assert str(both) == "first: if it decays, fit it as such (damped=True); or drift=2."
    assert both.spell(COMMAND_LINE).endswith("(--damped); or --drift 2.")
    assert "damped=True" in both
    assert not Words("")


REMARKS = [
    Remark("a plain sentence"),
    Remark("a sentence", code="drift"),
    Remark("lines decay", "a gain of 3", Words("{0} fits that", (Ask("damped", True),)), "decay"),
    Remark(Words("{0} modes are the most; {0:name}", (Ask("max_modes", like=""),)), code="most"),
    Remark(Words("where: {0}", (Ask("at", {"f": "x"}),)), advice=Words("say so")),
]


@pytest.mark.parametrize("remark", REMARKS)
def test_remarks_survive_json(remark):
    again = Remark.from_json(json.loads(json.dumps(remark.to_json())))
    assert again == remark
    assert str(again) == str(remark)


def test_a_remark_is_one_sentence_without_its_full_stop():
    assert str(REMARKS[2]) == "lines decay (a gain of 3): damped=True fits that"
    assert str(Remark("all is well.")) == "all is well"
    assert "gain" in REMARKS[2]
    assert REMARKS[2].spell(COMMAND_LINE).endswith(": --damped fits that")


def test_a_text_is_a_remark_without_a_code():
    (one, two) = as_remarks(("plain", REMARKS[1]))
    assert (one.code, str(one)) == ("", "plain")
    assert two is REMARKS[1]
    assert Remark.from_json("plain") == one


def test_errors_carry_words():
    error = ReadError.at("bench.csv", "decays; " + DAMPED + ".", line=3)
    assert str(error) == ("bench.csv, line 3: decays; if it decays, fit it as such (damped=True).")
    assert spelled(error, COMMAND_LINE).endswith("(--damped).")
    again = pickle.loads(pickle.dumps(error))
    assert spelled(again, COMMAND_LINE) == spelled(error, COMMAND_LINE)


def test_errors_with_plain_messages_are_spelled_as_they_are():
    assert spelled(CannotTellError("no."), PAGE) == "no."
    assert spelled(ValueError("other"), PAGE) == "other"
    assert spelled(MissingDependencyError("drawing", "plotly", "app"), PAGE).startswith("drawing")
    assert spelled(PrismWarning(DAMPED), COMMAND_LINE).endswith("(--damped)")
    assert spelled("text", PAGE) == "text"
    assert str(OptionError()) == ""
