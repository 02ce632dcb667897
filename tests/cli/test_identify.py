"""``prism identify --setups``: one file per set-up."""

from __future__ import annotations

import numpy as np
import pytest

import prism
from prism import systems

PAIR = systems.chain(2, springs=20.0, observed=[0, 1])


@pytest.fixture
def files(here):
    for k, names in enumerate((("q1",), ("q2", "q1"))):
        whole = systems.driven(PAIR, 150, 0.25, damping=0.02, noise=0.05, rng=k)
        prism.io.write(whole.select(names), f"setup{k + 1}.csv")
    return "setup1.csv", "setup2.csv"


def test_files_are_set_ups(run, here, files):
    outputs = ("--json", "m.json", "--report", "m.html")
    status, out, err = run("identify", *files, "--setups", "--kind", "driven", *outputs)
    assert (status, err) == (0, "")
    assert "2 set-ups of 600 samples" in out
    model = prism.load("m.json")
    assert model.channels == ("q1", "q2")
    assert np.allclose(model.modes.frequencies, PAIR.frequencies, rtol=0.01)
    assert (here / "m.html").exists()
    status, out, _ = run("info", "m.json")
    assert status == 0
    assert "2 set-ups" in out


def test_what_means_nothing_to_set_ups(run, files):
    status, _, err = run("identify", *files, "--setups", "--mass", "identity")
    assert status == 2
    assert "--mass means nothing to several set-ups" in err
    status, _, err = run("identify", files[0], "--setups")
    assert status == 2
    assert "1 set-up: several are needed" in err
