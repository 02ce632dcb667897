"""Check what was built: the wheel holds the tool alone, the sdist all that rebuilds and tests it.

python tools/check_package.py DIST
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

ALONE = "prism"
NEEDED = ("pyproject.toml", "LICENSE", "src/prism/__init__.py", "src/prism_bench/__init__.py")
NEEDED_TO_TEST = ("tests/conftest.py", "tools/answers.py", "docs/conf.py", "Makefile")


def wheel_faults(names: list[str]) -> list[str]:
    """What should not be in a wheel, and what is missing in it."""
    tops = {name.split("/")[0] for name in names}
    foreign = sorted(top for top in tops if top != ALONE and not top.endswith(".dist-info"))
    faults = [f"the wheel holds {top}" for top in foreign]
    needed = (f"{ALONE}/__init__.py", f"{ALONE}/py.typed")
    return faults + [f"the wheel lacks {name}" for name in needed if name not in names]


def sdist_faults(names: list[str]) -> list[str]:
    """What is missing in a source distribution; all of it is in one folder."""
    inside = {name.split("/", 1)[1] for name in names if "/" in name}
    return [f"the sdist lacks {name}" for name in NEEDED + NEEDED_TO_TEST if name not in inside]


def main(folder: str) -> int:
    """Say what is wrong with the wheel and the sdist of a folder."""
    (wheel,), (sdist,) = Path(folder).glob("*.whl"), Path(folder).glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as opened:
        faults = wheel_faults(opened.namelist())
    with tarfile.open(sdist) as packed:
        faults += sdist_faults(packed.getnames())
    sys.stdout.write("\n".join([*faults, f"{wheel.name}, {sdist.name}: {len(faults)} faults\n"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
