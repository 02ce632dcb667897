"""The study of ambient records: what is drawn, and how answers are counted."""

import numpy as np
import pytest

from prism.errors import OptionError
from prism_bench.ambient import NAMES, make, rows_of, score
from prism_bench.ambient.cost import SIZES, ambient_record
from prism_bench.ambient.scoring import Score

SEED = 5000


def a_score(**changes):
    nothing = np.zeros(0)
    given = {"row": "machines", "seed": 0, "silent": False, "kind": "driven", "false": 0}
    given |= {"missed": 0, "separated": True, "said": False, "frequency": nothing}
    given |= {"damping": nothing, "shape": nothing, "inside": nothing, "wider": nothing}
    return Score(**{**given, "lines": 0, "named": 0, "undamped": 0, "seconds": 1.0, **changes})


def by_words(rows):
    return {row.quantity: row for row in rows}


@pytest.mark.parametrize("name", NAMES)
def test_draws_repeat_and_are_what_the_row_says(name):
    case, again = make(name, SEED), make(name, SEED)
    assert np.array_equal(case.record.trials[0], again.record.trials[0], equal_nan=True)
    assert (case.full is None) != ("missing" in name or "gap" in name or "uneven" in name)
    if case.full is not None and case.record.dt is not None:
        lost = case.record.missing / case.full.trials[0].size
        assert lost == pytest.approx(0.3 if "30" in name else 0.2, abs=0.03)
    if "uneven" in name:
        assert case.record.dt is None


def test_an_unknown_row_is_named():
    with pytest.raises(OptionError, match="no row 'waves'"):
        make("waves", 0)


def test_a_close_triple_is_scored():
    one = score(make("triple, 1 % noise", SEED, 1))
    assert (one.kind, one.false, one.missed, one.separated) == ("driven", 0, 0, True)
    assert len(one.frequency) == 4
    assert np.all(np.abs(one.frequency) < 4)


def test_a_missed_mode_counts_where_the_data_tell_it():
    rows = by_words(rows_of("pair 1 % apart", [a_score(missed=1), a_score()]))
    assert rows["false or missed per record"].measured == 0.5
    assert rows["false or missed per record"].holds is False
    untold = [a_score(missed=1, separated=False), a_score()]
    rows = by_words(rows_of("pair 1 % apart", untold))
    assert rows["false or missed per record"].measured == 0
    assert rows["merged without a word"].measured == 1


def test_lines_of_machines_and_their_modes_are_counted():
    rows = by_words(rows_of("machines", [a_score(lines=4, named=3, undamped=1)]))
    assert rows["share of lines named"].holds is False
    assert rows["modes at a machine's line"].holds is False


def test_errors_may_not_be_larger_than_what_is_there_allows():
    good = by_words(rows_of("30 % missing", [a_score(wider=np.full(4, 1.2))]))
    bad = by_words(rows_of("30 % missing", [a_score(wider=np.full(4, 1.4))]))
    quantity = "standard errors of frequencies over those of the full record"
    assert good[quantity].holds
    assert bad[quantity].holds is False


def test_long_records_have_the_sizes_of_the_bars():
    assert SIZES == {(60_000, 3): 10.0, (60_000, 8): 20.0, (1_000_000, 16): 120.0}
    record = ambient_record(3000, 3)
    assert record.trials[0].shape == (3000, 3)
    assert np.array_equal(record.trials[0], ambient_record(3000, 3).trials[0])
