"""Answers of the package on fixed measurements, and the instrument that keeps them."""

import json
import sys

import pytest
from tests.places import ROOT

from prism.motion.potential import has_fast_kernel

sys.path.insert(0, str(ROOT / "tools"))
from answer_cases import CASES
from answer_parts.comparison import Differences, compare, comparison, numbers_in
from answer_parts.digest import QUICK, digest, rounded
from answers import run_case

REFERENCE = json.loads((ROOT / "tests" / "reference" / "answers.json").read_text("utf-8"))
CLOSE = 1e-5  # of each number, of a matrix of its largest


def same(found, kept):
    """Whether two digests hold the same, numbers within the tolerance."""
    if isinstance(kept, bool | str) or kept is None:
        return found == kept
    one, other = list(numbers_in(found)), list(numbers_in(kept))
    slack = max(map(abs, other)) if isinstance(kept[0], list) else 0.0
    return one == pytest.approx(other, rel=CLOSE, abs=CLOSE * slack)


@pytest.mark.parametrize("name", QUICK)
def test_the_answer_is_the_one_that_is_kept(name):
    if name.startswith("potential") and not has_fast_kernel():
        pytest.skip("slow without numba")
    found, kept = digest(run_case(CASES[name])[0]), REFERENCE[name]
    assert found.keys() == kept.keys()
    assert [key for key in kept if not same(found[key], kept[key])] == []


def test_all_that_is_kept_is_asked():
    assert set(REFERENCE) == set(QUICK)
    assert {name.split(".")[0] for name in QUICK} >= {name.split(".")[0] for name in CASES} - {
        *("public", "real")
    }


def test_a_wrong_digit_is_seen():
    kept = REFERENCE["equilibrium.mass"]
    for key in ("frequencies", "mass", "hidden_frequencies"):
        moved = json.loads(json.dumps(kept[key]))
        row = moved[0] if isinstance(moved[0], list) else moved
        row[0] *= 1 + 3 * CLOSE
        assert not same(moved, kept[key])
        assert same(kept[key], kept[key])
    assert not same(not kept["passive"], kept["passive"])


def test_rounding_keeps_six_digits_and_no_dust():
    assert rounded([[1.23456789, -1e-17], [-1e-17, 3]]) == [[1.23457, 0.0], [0.0, 3]]
    assert rounded("words") == "words"


def one_set(answer, **others):
    return {"environment": {"python": "3"}, "answers": {"a": answer}, **others}


def test_a_comparison_says_what_differs_and_by_how_much():
    before = {"x": [1.0, 2.0], "gone": 1, "words": "one two", "flag": True}
    after = {"x": [1.0, 2.0 + 1e-6], "words": "one three", "flag": 1, "more": 0}
    lines, different = comparison(one_set(before), one_set(after), ["a"])
    text = "\n".join(lines)
    assert different
    assert ".x[1]: 2.0 became 2.000001 (relative 5.0e-07)" in text
    assert ".gone: is gone" in text
    assert ".words: at character 5" in text
    assert ".flag: True became 1" in text
    assert "new key .more, in 1 cases" in text


def test_rounding_is_no_difference():
    moved = {"rounding": {"a": {".x": 1e-7}}}
    lines, different = comparison(one_set({"x": 1.0}, **moved), one_set({"x": 1 + 5e-7}), ["a"])
    assert not different
    assert "a: same within rounding, 1 entries moved" in lines
    assert comparison(one_set({"x": 1.0}, **moved), one_set({"x": 1 + 2e-6}), ["a"])[1]
    out = Differences()
    compare({"x": [1e-14, 1.0]}, {"x": [2e-14, 1.0 + 1e-10]}, "", out)
    assert out.found == []
