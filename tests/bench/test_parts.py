"""Scores that are kept in files and summed up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from prism_bench import kinds, mechanics
from prism_bench._parts import keep, kept
from prism_bench._rows import SCORING, TUNING
from prism_bench.kinds import __main__ as of_kinds
from prism_bench.mechanics import __main__ as of_mechanics


@pytest.mark.parametrize(
    ("command", "bench", "row"),
    [(of_mechanics, mechanics, "snapback-1"), (of_kinds, kinds, "white-3")],
)
def test_parts_are_kept_and_summed(command, bench, row, tmp_path, capsys, monkeypatch):
    """Two files of two seeds each are one row of four; none is run twice."""
    run = []
    monkeypatch.setattr(command, "score", lambda case: run.append(case.seed) or bench.score(case))

    def call(*options):
        monkeypatch.setattr("sys.argv", ["bench", row, *map(str, options)])
        command.main()
        return capsys.readouterr().out

    whole = call("--seeds", "0:4")
    files = tmp_path / "a", tmp_path / "b"
    for file, seeds in zip(files, ("0:2", "2:4"), strict=True):
        call("--seeds", seeds, "--keep", file)
    call("--seeds", "0:2", "--keep", files[0])
    assert run == [0, 1, 2, 3, 0, 1, 2, 3]
    again = call("--sum", *files)

    def told(text):  # all but the times
        return [line for line in text.splitlines() if " s  " not in line and "CPU" not in line]

    assert told(again) == told(whole)
    assert len(again.splitlines()) == len(whole.splitlines())
    assert "share" in again


def test_a_score_is_kept_as_it_is(tmp_path):
    case = mechanics.make("released", 0, TUNING)
    scored = replace(mechanics.score(case), power=np.nan, hidden=np.array([np.inf, -1.5]))
    keep(tmp_path / "a", case, scored)
    assert kept([tmp_path / "a"], mechanics.Score, "released", SCORING) == {}
    files = [tmp_path / "a", tmp_path / "none"]
    again = kept(files, mechanics.Score, "released", TUNING)[0]
    assert str(again) == str(scored)
    np.testing.assert_array_equal(again.hidden, scored.hidden)
    assert again.codes == scored.codes


def test_intervals_that_hold_are_kept_as_that(tmp_path):
    case = kinds.make("white-3", 0, TUNING)
    scored = replace(kinds.score(case), damping=np.array([True, False]), missed=np.int64(1))
    keep(tmp_path / "a", case, scored)
    again = kept([tmp_path / "a"], kinds.Score, "white-3", TUNING)[0]
    assert again.damping.dtype == bool
    np.testing.assert_array_equal(again.damping, [True, False])
    assert (again.missed, again.false) == (1, 0)
