"""How many lines of each room the tests ran; fails below the floor that pyproject.toml sets.

    python tools/coverage_table.py [coverage.json]

`make test` measures with SlipCover, which takes its probes out once a line has run: the tracer
that coverage.py needs on Python 3.11 made the same tests half as slow again.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ("src", "prism")


def rooms(files: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Lines that ran and lines there are, of each first-level folder and of the rest."""
    out: dict[str, tuple[int, int]] = {}
    for name, found in files.items():
        parts = Path(name).parts[len(PACKAGE) :]
        room = parts[0] if len(parts) > 1 else "(modules)"
        ran, there = out.get(room, (0, 0))
        run = len(found["executed_lines"])
        out[room] = ran + run, there + run + len(found["missing_lines"])
    return dict(sorted(out.items()))


def table(found: dict[str, tuple[int, int]], floor: float) -> tuple[str, bool]:
    """A line for each room and one for all, and whether the floor is kept."""
    lines = [
        f"  {room:12}{there:7} lines{_share(ran, there):7.1f} %"
        for room, (ran, there) in found.items()
    ]
    ran, there = (sum(counts) for counts in zip(*found.values(), strict=True))
    share = _share(ran, there)
    words = "reached" if share >= floor else "MISSED"
    lines.append(
        f"  line coverage of {'/'.join(PACKAGE)}: {share:.1f} %, floor of {floor:g} % {words}"
    )
    return "\n".join(lines), share >= floor


def _share(ran: int, there: int) -> float:
    return 100 * ran / max(there, 1)


def main(path: str = "coverage.json") -> int:
    """Print the table."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    files = json.loads(Path(path).read_text("utf-8"))["files"]
    text, kept = table(rooms(files), settings["tool"]["prism"]["coverage-floor"])
    sys.stdout.write(f"{text}\n")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
