"""The verdict in words, spelled for its reader."""

import pytest

from prism.identifiability import Identifiability
from prism.options import COMMAND_LINE
from prism.remarks import Ask, Remark, Words, as_remarks


def verdict(**changes):
    return Identifiability(**{"modes": 3, "channels": 2, "magnitudes": True, **changes})


@pytest.mark.parametrize(
    ("modes", "words"),
    [
        (2, "no hidden oscillator: as many modes are visible as channels."),
        (3, "1 hidden oscillator, its couplings and the memory kernel."),
        (4, "2 hidden oscillators, their couplings and the memory kernel."),
    ],
)
def test_hidden_oscillators_are_counted(modes, words):
    assert words in str(verdict(modes=modes, scale="fixed by the given mass"))


def test_every_sentence_has_one_full_stop():
    remarks = as_remarks(("the noise is not white.", Remark("it drifts", code="drift")))
    one = verdict(magnitudes=False, why="it decays.", remedy="record longer.", remarks=remarks)
    assert str(one).splitlines()[1:] == [
        "Not determined: the bare hidden frequencies and couplings, because it decays.",
        "What would settle it: record longer.",
        "Note: the noise is not white.",
        "Note: it drifts.",
    ]
    assert str(one.refusal("the mass")) == ("the mass is not determined: it decays; record longer.")


def test_options_are_spelled_for_the_reader():
    remedy = Words("fit it as such ({0})", (Ask("damped", True),))
    one = verdict(magnitudes=False, why="it decays", remedy=remedy)
    assert "What would settle it: fit it as such (damped=True)." in str(one)
    assert "What would settle it: fit it as such (--damped)." in one.spell(COMMAND_LINE)
    assert one.refusal("the mass").words.spell(COMMAND_LINE).endswith("(--damped).")
