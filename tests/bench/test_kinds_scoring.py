"""Scores of records of every kind, and the rows that sum them up."""

from dataclasses import replace

import numpy as np
import pytest
from tests.places import real_data

from prism.errors import CannotTellError, NoLineError
from prism.pipeline import identify
from prism.remarks import Remark
from prism_bench import BENCHMARKS, kinds
from prism_bench.kinds import TUNING, make, score
from prism_bench.kinds import measured as others
from prism_bench.kinds.long import LONG, cpu_time
from prism_bench.kinds.rows import assumed_rows, rows_of
from prism_bench.kinds.scoring import Score, matched
from prism_bench.kinds.table import ROWS, row_of


def scored(monkeypatch, case, found):
    monkeypatch.setattr("prism_bench.kinds.scoring.answer", lambda _: found)
    return score(case)


@pytest.fixture(scope="module")
def steady():
    case = make("steady", 0, TUNING)
    return case, identify(case.record)


def measured(rows, words):
    (row,) = [row for row in rows if words in row.quantity]
    return row


# -- one record ------------------------------------------------------------------------------------


def test_steady_lines_are_right(steady):
    case, model = steady
    one = score(case)
    assert (one.outcome, one.right, one.silent) == ("steady", True, False)
    assert (one.false, one.missed, one.visible) == (0, 0, len(case.modes))
    assert len(one.frequency) == len(case.modes)
    assert len(one.shape) == len(case.modes) * case.record.n_channels
    assert np.abs(one.frequency).max() < 5
    assert "steady" in str(one)
    off = model.modes.frequencies - [mode.frequency for mode in case.modes]
    np.testing.assert_allclose(one.frequency, off / model.modes.frequencies_std)


def test_modes_are_matched_one_to_one(steady):
    case, _ = steady
    true = np.array([mode.frequency for mode in case.modes])
    cell = case.resolution
    assert matched(case, true[:2]) == [(0, 0), (1, 1)]
    assert matched(case, true[:1] + np.array([0.0, 0.01 * cell])) == [(0, 0)]
    assert matched(case, true[:1] + 2 * cell) == []
    assert matched(case, np.zeros(0)) == []


def test_a_wrong_kind_is_silent_unless_it_says_so(steady, monkeypatch):
    case, model = steady
    case = replace(case, row="decay", kinds=frozenset({"decaying"}))
    assert scored(monkeypatch, case, model).silent
    for code in ("decays", "close-call"):
        said = model.with_remark(Remark("some words", code=code))
        one = scored(monkeypatch, case, said)
        assert (one.right, one.silent) == (False, False)


def test_a_fault_must_be_named(steady, monkeypatch):
    case, model = steady
    case = replace(case, row="fault-delay", kinds=frozenset())
    assert scored(monkeypatch, case, model).silent
    named = model.with_remark(Remark("one channel is not in time", code="delay"))
    assert scored(monkeypatch, case, named).right
    assert scored(monkeypatch, case, CannotTellError("x1 is late by 2 samples")).right
    other = scored(monkeypatch, case, CannotTellError("too few samples"))
    assert (other.outcome, other.right, other.silent) == ("refused", False, False)


def test_no_line_is_right_for_noise_alone(steady, monkeypatch):
    case, _ = steady
    nothing = NoLineError("nothing stands out of the noise")
    assert scored(monkeypatch, make("white", 0, TUNING), nothing).right
    one = scored(monkeypatch, case, nothing)
    assert (one.right, one.silent, one.missed) == (False, True, len(case.modes))


def test_what_breaks_is_an_outcome(steady, monkeypatch):
    case, _ = steady
    assert scored(monkeypatch, case, TimeoutError()).outcome == "timeout"
    assert scored(monkeypatch, case, ZeroDivisionError()).outcome == "broken"


def test_some_words_are_never_right(steady, monkeypatch):
    case, model = steady
    case = replace(case, row="commensurate")
    assert scored(monkeypatch, case, model).right
    wrong = model.with_remark(Remark("a force fits better", code="nonlinear"))
    assert not scored(monkeypatch, case, wrong).right


def test_a_wrong_assumption_must_be_refused_or_named(monkeypatch):
    case = make("energy-slope", 2, TUNING)
    model = identify(case.record, **case.options)
    assert model.hamiltonian is not None
    # as if nothing were said about equal energy
    mute = replace(model.identifiability, remarks=())
    model = replace(model, identifiability=mute)
    believed = model.with_remark(Remark("equal energy was not tested", code="untested"))
    for power, right in ((0.0, True), (1.0, False)):
        known = replace(case, extras={**case.extras, "power": power})
        one = scored(monkeypatch, known, believed)
        assert (one.right, one.silent, one.tested) == (right, False, bool(power))
    named = model.with_remark(Remark("energies differ", code="energies"))
    assert scored(monkeypatch, case, named).outcome == "remarked"
    assert scored(monkeypatch, case, named).right
    truth = {**case.extras, "hidden": model.hamiltonian.hidden_frequencies}
    assert not scored(monkeypatch, replace(case, extras=truth), model).silent
    truth = {**case.extras, "hidden": 2 * model.hamiltonian.hidden_frequencies}
    assert scored(monkeypatch, replace(case, extras=truth), model).silent


def test_doubt_about_equilibrium_names_a_wrong_assumption():
    """The test at 0.05 sees less than is certain, and the verdict gives its figure."""
    one = score(make("energy-slope", 12, TUNING))
    assert (one.outcome, one.right, one.silent) == ("remarked", True, False)
    assert "agree poorly with equal mean energy" in one.text
    assert "p = 0.0035" in one.text


def test_machine_lines_must_be_told_from_resonances(steady, monkeypatch):
    case, model = steady
    case = replace(case, row="machine", kinds=frozenset({"driven"}))
    model = replace(model, kind="driven")
    assert not scored(monkeypatch, case, model).right
    said = model.with_remark(Remark("two lines have no width", code="machine-lines"))
    assert scored(monkeypatch, case, said).right


# -- rows ------------------------------------------------------------------------------------------


def test_rows_sum_up():
    good = Score("sweep", 0, "moving", True, False, frequency=np.array([0.5, 3.0]), visible=4)
    bad = Score("sweep", 1, "steady", False, True, false=3, missed=1, visible=4, seconds=2.0)
    rows = rows_of(row_of("sweep"), [good, bad])
    assert measured(rows, "right kind").measured == 0.5
    assert measured(rows, "right kind").note == "moving 1, steady 1"
    assert measured(rows, "without a word").measured == 1
    assert measured(rows, "false modes").measured == 1.5
    assert measured(rows, "missed").measured == 0.125
    covered = measured(rows, "frequency")
    assert (covered.measured, covered.bar, covered.note) == (0.5, "", "of 2")
    assert measured(rows, "worst").measured == 2.0
    assert [row.holds for row in rows[:5]] == [False, False, None, False, False]
    assert measured(rows, "stay unseen").measured == 0


def test_coverage_has_a_bar_where_there_are_enough_numbers():
    z = np.where(np.arange(400) % 20 == 0, 3.0, 0.0)
    rows = rows_of(row_of("steady"), [Score("steady", 0, "steady", True, False, frequency=z)])
    assert measured(rows, "frequency").holds is True
    z[:100] = 3.0
    rows = rows_of(row_of("steady"), [Score("steady", 0, "steady", True, False, frequency=z)])
    assert measured(rows, "frequency").holds is False


def test_assumptions_that_can_be_tested_stand_apart():
    row = row_of("wrong-mass")
    scores = [
        Score(row.name, 0, "refused", True, False),
        Score(row.name, 1, "answered", False, True),
        Score(row.name, 2, "untested", True, False, tested=False),
    ]
    rows = assumed_rows(row, scores)
    assert measured(rows, "can tell").measured == 0.5
    assert measured(rows, "elsewhere").measured == 1.0
    assert measured(rows, "without a word").measured == 1


def test_the_benchmark_runs_every_row(monkeypatch):
    monkeypatch.setattr(kinds, "ROWS", (row_of("steady"), row_of("white")))
    monkeypatch.setattr(kinds, "cost_rows", list)
    monkeypatch.setattr(kinds, "measured_rows", list)
    said = []
    result = BENCHMARKS["kinds"](2, said.append)
    assert (result.name, result.seeds) == ("kinds", 2)
    assert said == ["steady lines", "white noise", "records of others"]
    assert {row.case for row in result.rows} == set(said[:2])
    assert len(ROWS) >= 30


def test_records_of_others_are_left_out_where_there_are_none(monkeypatch):
    monkeypatch.setenv("PRISM_REAL_DATA", "/nowhere")
    (row,) = others.measured_rows()
    assert row.holds is None
    assert "PRISM_REAL_DATA" in row.note


def test_a_record_of_others_is_told_nothing(steady):
    case, _ = steady
    rows = others.blind("one", case.record, "driven", lambda name, model: [])
    assert [row.holds for row in rows] == [False, True]
    assert rows[0].note == "called steady"


def test_two_masses_of_others():
    rows = others.two_mass_rows(real_data("two_masses").parent)
    assert all(row.holds is not False for row in rows)


def test_a_cost_is_that_of_one_identification(steady, monkeypatch):
    case, _ = steady
    assert 0 < cpu_time(case.record) < 10
    monkeypatch.setattr("prism_bench.kinds.long.AMBIENT", 0.05)

    def endless(_):
        while True:
            np.linalg.svd(np.ones((50, 50)))

    monkeypatch.setattr("prism_bench.kinds.long.identify", endless)
    assert 0.05 < cpu_time(case.record) < 1.0


@pytest.mark.parametrize(
    "name", ["duffing", "combinations", "square-clean", "white", "kicked", "lines-correlated"]
)
def test_long_records_are_of_one_size(name):
    record = LONG[name]()
    assert record.samples == (60_000,)
    assert record.n_channels == (1 if name == "duffing" else 3)
    assert all(np.isfinite(values).all() for values in record.trials)


def test_the_size_that_is_asked_for_changes_no_other_record():
    before = make("steady", 3, TUNING).record.trials[0]
    LONG["steady"]()
    np.testing.assert_array_equal(make("steady", 3, TUNING).record.trials[0], before)
