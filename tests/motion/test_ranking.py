"""What the held-back part of a record says where likelihoods tell little."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import prism
from prism.evidence import CLOSE_CALL
from prism.experiments import Free
from prism.motion import contest, ranking
from prism.motion._limits import DOUBT_LEVEL
from prism.motion.explanation import Question
from prism.motion.foretold import Foretold, foretold, held_back
from prism.motion.moving.kind import Moving
from prism.motion.steady.kind import Steady
from prism.settings import Settings
from prism_bench._study import rng_of
from prism_bench.kinds.table import SCORING, TUNING, make
from prism_bench.paper import FIT, fput_record, noisy


def contender(kind, chance=1.0, fit=None):
    return SimpleNamespace(finding=SimpleNamespace(kind=kind, fit=fit), chance=chance)


def test_the_held_back_part_is_the_last_fifth():
    values = np.zeros((50, 2))
    values[40:] = np.arange(10.0)[:, None]
    values[49, 1] = np.nan
    rest = held_back(prism.Record(values, dt=1.0))
    assert rest.numbers == 19
    assert rest.square == pytest.approx([82.5, 60.0])
    assert rest.size_over(np.array([0.5, 1.0])) == pytest.approx(np.sqrt((4 * 82.5 + 60) / 19))


def test_a_short_record_has_no_part_to_hold_back():
    record = prism.Record(np.cos(np.arange(30.0)), dt=1.0)
    asked = Question(record, Free(), Settings(), lambda text: None)
    assert foretold(asked, Steady(), Steady().find(asked), np.ones(1)) is None
    finding = SimpleNamespace(kind="steady", fit=None, noise_std=np.ones(1), modes=())
    steady = ranking.Contender(Steady(), finding, None, (), 1.0, None)
    moving = replace(steady, finding=SimpleNamespace(**{**vars(finding), "kind": "moving"}))
    assert ranking.with_forecasts(asked, [steady, moving], [1.0, 0.0])[1] == [1.0, 0.0]


def test_who_is_asked():
    """Steady lines behind lines that move or decay, where it is a close call."""
    steady, moving, driven = (contender(kind) for kind in ("steady", "moving", "driven"))
    decaying, close, far = contender("decaying"), CLOSE_CALL - 1, CLOSE_CALL + 1
    asked = ranking._rivals_in_time
    assert asked([steady, moving], [close, 0.0]) == [1, 0]
    assert asked([steady, moving, decaying, driven], [close, 3.0, 0.0, 2.0]) == [2, 1, 0]
    assert asked([steady, moving], [far, 0.0]) == []
    assert asked([steady, moving], [0.0, close]) == []
    assert asked([steady, driven], [close, 0.0]) == []
    assert asked([moving], [0.0]) == []


@pytest.fixture(scope="module")
def lattice():
    """q1 of a lattice whose few frequencies make lines that 160 units of time do not resolve."""
    clean = fput_record(0.3, 0.0, None)
    return clean, noisy(clean, rng_of(24, 2)).head(FIT)


def test_combinations_of_a_few_frequencies_are_asked_too(lattice):
    asked = Question(lattice[1], Free(), Settings(), lambda text: None)
    one = contest._contender(asked, Steady(), Steady().find(asked))
    other = contender("moving")
    assert one.finding.fit.ties is not None
    assert ranking._rivals_in_time([one, other], [CLOSE_CALL + 50, 0.0]) == [1, 0]
    strange = replace(one, chance=DOUBT_LEVEL / 2)
    assert ranking._rivals_in_time([strange, other], [CLOSE_CALL + 50, 0.0]) == []


def test_steady_lines_that_foretell_better_win(lattice):
    """One line that is modulated scores better by 6.5, and goes on in another way."""
    clean, record = lattice
    model = prism.identify(record)
    assert model.kind == "steady"
    best, *others = model.evidence.rivals
    moving = next(one for one in others if one.kind == "moving")
    assert best.foretold < 1.05 < moving.foretold
    missed = held_back(record).numbers * (moving.foretold**2 - best.foretold**2)
    assert missed - CLOSE_CALL < moving.behind < missed
    rest = clean.tail(FIT)
    error = model.forecast(rest.times[0]).values - rest.trials[0]
    assert np.sqrt(np.mean(error**2)) < 0.15 * rest.trials[0].std()


def test_lines_that_move_stay_where_steady_lines_only_imitate_them():
    """Eight steady lines foretell three whose sizes swing for a while better than these do."""
    case = make("gain-drift", 508, TUNING)
    model = prism.identify(case.record)
    assert (model.kind, len(model.modes)) == ("moving", 3)


def test_an_explanation_that_foretells_nothing_misses_the_whole_motion():
    record = make("steady", 500, TUNING).record
    asked = Question(record, Free(), Settings(), lambda text: None)
    finding = Steady().find(asked)
    noise = finding.noise_std
    assert foretold(asked, Steady(), finding, noise).error == pytest.approx(1.0, abs=0.1)
    assert foretold(asked, Moving(), finding, None) is None
    assert 5 < held_back(record).size_over(noise) < 15  # noise is a tenth of the motion


def test_the_held_back_part_is_no_second_record():
    plain = [10.0, 14.0, 13.0, 9.0]
    totals = [10.0, 21.0, 13.0, 30.0]
    # 4 by the record and 7 by its last fifth; 3 and none; behind by 21 although ahead before
    assert ranking.leads(plain, totals, 0) == [0.0, 7.0, 3.0, 20.0]


def test_forecasts_tell_something_where_they_differ_by_more_than_their_errors():
    flat, off = np.zeros((8, 2)), np.full((8, 2), 3.0)
    sure, vague = np.full((8, 2), 1.0), np.full((8, 2), 2.9)
    assert Foretold(flat, sure, 1.0).differs(Foretold(off, sure, 1.0))
    assert not Foretold(flat, sure, 1.0).differs(Foretold(off, vague, 1.0))


@pytest.mark.parametrize(("missed", "tell"), [(1.1, False), (2.5, True)])
def test_a_vague_forecast_that_misses_far_more_counts(missed, tell):
    """Tides over two thirds of a year: what moves freely foretold nonsense, within its errors."""
    sure, vague = np.full((8, 1), 0.1), np.full((8, 1), 50.0)
    steady = Foretold(np.zeros((8, 1)), sure, 1.0)
    moving = Foretold(np.full((8, 1), 10.0), vague, missed)
    rivals = [SimpleNamespace(foretold=moving), SimpleNamespace(foretold=steady)]
    assert ranking._differ(rivals) is tell


@pytest.mark.parametrize(("seed", "close"), [(391, False), (1481, True)])
def test_forecasts_that_differ_by_their_errors_alone_decide_nothing(seed, close):
    """Lines that move are ahead by 5 and by 10, and what flanks a line costs steady ones 10 more.

    Vague forecasts said 21 and 70 against it.
    """
    model = prism.identify(make("modulated", seed, SCORING).record)
    assert model.kind == "moving"
    assert ("close-call" in [one.code for one in model.identifiability.remarks]) is close
