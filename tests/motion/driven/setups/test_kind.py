"""Several set-ups through the front door."""

from __future__ import annotations

import numpy as np
import pytest

import prism
from prism.errors import CannotTellError, OptionError, RecordError
from prism.motion.driven.setups.kind import driven_fit
from prism.motion.explanation import Question
from prism.record import Record
from prism.settings import Settings
from prism.systems.chain import chain
from prism.systems.driven import driven

PAIR = chain(3, springs=20.0, observed=range(3))
NAMES = ("q1", "q2", "q3")


def a_setup(names, seed, level=1.0):
    forces = level**2 * np.eye(3)
    whole = driven(PAIR, 150.0, 0.25, damping=0.02, forces=forces, noise=0.05, rng=seed)
    return Record(whole.trials[0], dt=0.25, channels=NAMES).select(names)


@pytest.fixture(scope="module")
def setups():
    return [a_setup(("q1", "q2"), 0), a_setup(("q3", "q2"), 1, 4.0)]


@pytest.fixture(scope="module")
def model(setups):
    return prism.identify(setups, kind="driven")


def test_a_model_over_all_channels(model):
    assert model.kind == "driven"
    assert model.channels == ("q1", "q2", "q3")
    assert model.modes.shapes.shape == (3, 3)
    assert np.all(np.abs(model.modes.frequencies / PAIR.frequencies - 1) < 0.02)
    assert model.record.setups == (("q1", "q2"), ("q3", "q2"))
    assert model.record.samples == (600, 600)
    assert model.noise_std is None
    assert "2 set-ups of 600 samples" in model.summary()
    with pytest.raises(CannotTellError, match="no motion to continue"):
        model.forecast([1.0])


def test_a_model_is_saved_and_read(model, tmp_path):
    model.save(tmp_path / "model.json")
    again = prism.load(tmp_path / "model.json")
    assert again == model
    assert again.record.setups == model.record.setups
    model.report(tmp_path / "model.html")
    assert "set-ups" in (tmp_path / "model.html").read_text("utf-8")


def test_the_same_answer_whatever_the_level_of_the_drive(setups, model):
    louder = [setups[0], setups[1].with_values([100 * setups[1].trials[0]])]
    other = prism.identify(louder, kind="driven")
    assert np.allclose(other.modes.frequencies, model.modes.frequencies, rtol=1e-5)
    assert np.allclose(other.modes.shapes, model.modes.shapes, atol=2e-3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mass": "identity"}, "mass means nothing to several set-ups"),
        ({"fit_fraction": 0.5}, "fit_fraction means nothing"),
        ({"experiment": "equilibrium"}, "leave out the experiment and the kind"),
        ({"kind": "steady"}, "leave out the experiment and the kind"),
        ({"damped": False}, "leave out the experiment and the kind"),
    ],
)
def test_options_that_mean_nothing(setups, options, words):
    with pytest.raises(OptionError, match=words):
        prism.identify(setups, **options)


def test_what_is_no_set_up(setups):
    with pytest.raises(OptionError, match="set-up 2 is a str"):
        prism.identify([setups[0], "file.csv"])
    with pytest.raises(OptionError, match="1 set-up: several"):
        prism.identify(setups[:1])
    with pytest.raises(RecordError, match="'q2' measures displacement in set-up 1"):
        prism.identify([setups[0], setups[1].with_quantity("velocity")])


def test_a_set_up_of_another_kind_is_refused(setups):
    steady = prism.systems.chain(3, springs=20.0, observed=range(3)).free(
        150, 0.25, noise=0.05, rng=0
    )
    still = Record(steady.trials[0], dt=0.25, channels=NAMES).select(("q3", "q2"))
    with pytest.raises(CannotTellError, match=r"set-up 2 is not driven by noise.*kind='driven'"):
        prism.identify([setups[0], still])


def test_a_set_up_without_a_finding_shows_nothing(setups):
    asked = Question(setups[0], None, Settings(), print)
    assert driven_fit(1, None, asked) is None
