"""``prism track``: lines over time as a table."""

import csv
import io

import numpy as np

import prism
from prism import systems


def table(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_a_line_that_moves_is_followed(run, here):
    t = np.arange(0, 300, 0.2)
    noise = 0.1 * np.random.default_rng(0).standard_normal(len(t))
    prism.io.write(prism.Record(np.cos(2 * t + 0.0005 * t**2) + noise, dt=0.2), here / "up.csv")
    status, out, err = run("track", "up.csv", "--window", "30", "--step", "60", "--quiet")
    assert (status, err) == (0, "")
    found = table(out)
    z = (np.array(found["frequency_1"], float) - 2 - 0.001 * np.array(found["t"], float)) / (
        np.array(found["frequency_1_std"], float)
    )
    assert np.abs(z).max() < 4
    assert set(found["unsteady_1"]) == {"0"}


def test_residues_and_bare_frequencies_are_followed(run, here):
    system = systems.chain(2, observed=[0])
    record = system.free(120, 0.4, trials=24, energies=[1.0, 1.0], noise=0.02, rng=0)
    prism.io.write(record, here / "many.npz")
    arguments = ("--window", "60", "--step", "60", "--experiment", "equilibrium", "--mass", "1")
    assert run("track", "many.npz", *arguments, "-o", "track.csv")[0] == 0
    found = table((here / "track.csv").read_text("utf-8"))
    name = record.channels[0]
    for k, exact in enumerate(system.residues[:, 0, 0]):
        residues = np.array(found[f"residue_{k + 1}_{name}_{name}"], float)
        np.testing.assert_allclose(residues, exact, rtol=0.02)
    np.testing.assert_allclose(
        np.array(found["hidden_1"], float), system.hidden_frequencies[0], rtol=0.01
    )


def test_what_cannot_be_followed(run, here):
    prism.io.write(systems.chain().free(50, 0.2, rng=0), here / "x.csv")
    status, _, err = run("track", "x.csv", "--experiment", "released")
    assert status == 2
    assert "only the first begins as it does" in err
    assert run("track", "x.csv", "--window", "500")[0] == 1
