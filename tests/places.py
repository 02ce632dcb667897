"""Where things are: the project, and measured data beside it that are not part of it."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"


def real_data(name):
    """A measured file or folder; without it the test is skipped."""
    path = Path(os.environ.get("PRISM_REAL_DATA", ROOT.parent / "shared" / "data")) / name
    if not path.exists():
        pytest.skip(f"{path} is absent: name the folder of measured data in PRISM_REAL_DATA")
    return path
