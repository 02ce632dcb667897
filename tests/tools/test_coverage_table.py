"""What `make test` says of the lines that ran."""

import sys

from tests.places import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from coverage_table import rooms, table

FILES = {
    "src/prism/io/csv.py": {"executed_lines": [1, 2, 3], "missing_lines": [4]},
    "src/prism/io/deep/npz.py": {"executed_lines": [1], "missing_lines": [2, 3, 4]},
    "src/prism/record.py": {"executed_lines": [1, 2], "missing_lines": []},
}


def test_files_are_counted_by_room():
    assert rooms(FILES) == {"(modules)": (2, 2), "io": (4, 8)}


def test_the_floor_is_kept_or_missed():
    text, kept = table(rooms(FILES), 60)
    assert kept
    assert text.splitlines()[-1].endswith("src/prism: 60.0 %, floor of 60 % reached")
    text, kept = table(rooms(FILES), 60.1)
    assert not kept
    assert "MISSED" in text
