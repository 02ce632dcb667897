"""What `make speed` times: every class makes its data and identifies them."""

import inspect
import subprocess
import sys
import textwrap

import pytest
from benchmarks import identification, start

import prism

CLASSES = [
    value
    for name, value in vars(identification).items()
    if inspect.isclass(value) and value.__module__ == identification.__name__ and name[0] != "_"
]
STARTS = [value for name, value in vars(start).items() if name.startswith("timeraw_")]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_the_smallest_measurement_is_identified(kind, monkeypatch):
    monkeypatch.setattr(kind, "size", kind.smallest)
    measured = kind()
    measured.setup()
    assert measured.time_identify() is None
    assert len(prism.identify(measured.data, **measured.options).modes.frequencies) >= 2
    assert kind.__doc__


def test_data_are_the_same_each_time():
    assert len(CLASSES) == 5
    for kind in CLASSES:
        one, other = (kind().made(kind.smallest) for _ in range(2))
        first, second = (
            data.values if isinstance(data, prism.FrequencyResponse) else data.trials[0]
            for data in (one, other)
        )
        assert (first == second).all()


@pytest.mark.parametrize("code", STARTS, ids=lambda code: code.__name__)
def test_what_starts_the_package_runs(code):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code())], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
