"""``prism export``: modes for other programs."""

import pytest

import prism
from prism import systems

pyuff = pytest.importorskip("pyuff", reason='UFF files need pyuff: pip install "prism-id[io]"')


@pytest.fixture
def model(here):
    record = systems.chain(2, observed=[0, 1]).free(60, 0.3, noise=0.02, rng=0)
    named = prism.Record(record.trials[0], dt=0.3, channels=["1z", "2z"])
    found = prism.identify(named, kind="steady")
    found.save(here / "model.json")
    return found


def test_a_model_becomes_a_universal_file(run, here, model):
    status, out, err = run("export", "model.json", "-o", "modes.uff", "--units", "SI")
    assert (status, out, err) == (0, "modes.uff: 2 modes\n", "")
    _, units, first, second = pyuff.UFF("modes.uff").read_sets()
    assert units["units_code"] == 1
    assert [first["freq"], second["freq"]] == pytest.approx(model.modes.frequencies_hz, rel=1e-5)
    assert second["r3"] == pytest.approx(model.modes.shapes[1], abs=1e-5)


def test_a_geometry_of_two_files(run, here, model):
    (here / "nodes.csv").write_text("node,1,0,0,0\nnode,2,0,0,3\n", "utf-8")
    (here / "lines.csv").write_text("line,1,2\nchannel,2z,2,x\n", "utf-8")
    both = ("--geometry", "nodes.csv", "--geometry", "lines.csv")
    assert run("export", "model.json", "-o", "m.unv", *both)[0] == 0
    types = list(pyuff.UFF("m.unv").get_set_types())
    assert types == [151, 164, 2411, 82, 55, 55]
    assert pyuff.UFF("m.unv").read_sets(4)["r1"][1] == pytest.approx(
        model.modes.shapes[0, 1], abs=1e-5
    )
    status, _, err = run("export", "model.json", "-o", "m.unv", "--geometry", "lines.csv")
    assert (status, err) == (
        2,
        "prism: lines.csv: there are no nodes: give at least one.\n",
    )
    assert run("export", "model.json", "-o", "lines.csv", *both)[0] == 2  # not over its input


def test_identify_draws_the_structure(run, here):
    record = systems.chain(2, observed=[0, 1]).free(60, 0.3, noise=0.02, rng=0)
    prism.io.write(prism.Record(record.trials[0], dt=0.3, channels=["1z", "2z"]), "run.csv")
    (here / "frame.csv").write_text("node,1,0,0,0\nnode,2,0,0,3\nline,1,2\n", "utf-8")
    arguments = ("identify", "run.csv", "--kind", "steady", "--quiet", "--geometry", "frame.csv")
    assert run(*arguments, "--report", "run.html") == (0, "", "")
    assert "Modes on the structure" in (here / "run.html").read_text("utf-8")
    status, _, err = run(*arguments)
    assert (status, err) == (
        2,
        "prism: --geometry is drawn in the report: say --report OUT.html too.\n",
    )
    (here / "frame.csv").write_text("node,7,0,0,0\n", "utf-8")
    status, _, err = run(*arguments, "--report", "other.html")
    assert status == 2
    assert "the geometry has no place for any of the channels 1z, 2z" in err
    assert not (here / "other.html").exists()


def test_wrong_usage(run, here, model):
    assert run("export", "model.json", "--output", "model.json")[0] == 2
    status, _, err = run("export", "model.json", "-o", "modes.csv")
    assert status == 2
    assert "prism: modes.csv: cannot write modes in this format" in err
    status, _, err = run("export", "model.json", "-o", "modes.uff", "--units", "cubit")
    assert (status, err) == (
        2,
        "prism: unknown units 'cubit': choose among SI, BG, MG, BA, MM, CM, IN, GM.\n",
    )
    assert sorted(path.name for path in here.iterdir()) == ["model.json"]
