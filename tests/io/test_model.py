"""Models survive the trip through JSON, and the file keeps the contract."""

import json

import numpy as np
import pytest

import prism
from prism.io.model import model_to_json
from prism.systems import chain


def models():
    five = chain(5, [1, 2, 1, 1.5, 0.5], observed=[0, 2, 4])
    equal = chain(5, observed=[0, 2, 4])
    return {
        "free": lambda: prism.identify(chain().free(200, 0.05, noise=0.1, rng=0), fit_fraction=0.5),
        "mass": lambda: prism.identify(five.free(400, 0.05, noise=0.1, rng=1), mass="identity"),
        "rank two": lambda: prism.identify(
            equal.free(400, 0.05, noise=0.1, rng=1), mass="identity"
        ),
        "ensemble": lambda: prism.identify(
            chain().equilibrium(60, 0.1, trials=30, noise=0.1, rng=0),
            experiment="equilibrium",
            mass="identity",
        ),
    }


@pytest.fixture(scope="module", params=list(models()))
def model(request):
    return models()[request.param]()


def test_round_trip_is_exact(model, tmp_path):
    path = tmp_path / "m.json"
    model.save(path)
    again = prism.load(path)
    assert model_to_json(again) == model_to_json(model)
    assert str(again.identifiability) == str(model.identifiability)
    assert again.summary() == model.summary()
    t = np.linspace(0, 500, 50)
    for trial in range(min(3, len(model.record.samples))):
        # the numbers are the same; sums over arrays of another layout round differently
        there, here = again.forecast(t, trial), model.forecast(t, trial)
        np.testing.assert_allclose(there.values, here.values, atol=1e-12)
        np.testing.assert_allclose(there.std, here.std, rtol=1e-9)
    if model.hamiltonian is not None:
        assert str(again.hamiltonian) == str(model.hamiltonian)
        np.testing.assert_array_equal(again.kernel(1.3), model.kernel(1.3))


def test_file_keeps_the_contract(model, tmp_path):
    path = tmp_path / "m.json"
    model.save(path)
    data = json.loads(path.read_text("utf-8"), parse_constant=pytest.fail)
    assert data["schema"] == "prism.model/1"
    assert set(data["record"]) >= {"samples", "trials", "dt", "missing"}
    assert len(data["noise"]["std"]) == len(data["channels"])
    for mode in data["modes"]:
        assert set(mode) >= {
            "frequency", "frequency_std", "frequency_hz", "damping", "damping_std",
            "shape", "shape_std", "residue", "amplitude", "significance",
        }  # fmt: skip
    h = data["hamiltonian"]
    assert set(h) >= {"identifiable", "why", "mass", "stiffness", "hidden"}
    if h["identifiable"]:
        assert h["why"] == ""
        for hidden in h["hidden"]:
            assert set(hidden) >= {"frequency", "frequency_std", "coupling", "coupling_std"}
            assert (hidden["coupling"] is None) == (hidden["rank"] > 1)
    else:
        assert h["hidden"] == []
        assert "would settle it" in h["why"]
        assert all(mode["residue"] is None for mode in data["modes"])
    assert set(data["certificate"]) >= {
        "passive", "min_residue_eigenvalue", "min_mean_force_stiffness",
    }  # fmt: skip
    assert ("forecast" in data) == (model.forecast_check is not None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1, 2]", "not a model"),
        ('{"schema": "prism.model/9"}', "prism.model/9"),
        ('{"schema": "prism.model/1"}', "not a complete model"),
    ],
)
def test_bad_files_are_refused(tmp_path, text, words):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(prism.errors.ReadError, match=words) as error:
        prism.load(path)
    assert "bad.json" in str(error.value)


def test_missing_file(tmp_path):
    with pytest.raises(prism.errors.ReadError, match="cannot be read"):
        prism.load(tmp_path / "none.json")


def test_large_ensemble_keeps_the_first_trials(monkeypatch, tmp_path):
    monkeypatch.setattr("prism.motion.steady.trajectories._MOST_NUMBERS", 300)
    record = chain().equilibrium(60, 0.1, trials=10, noise=0.1, rng=0)
    model = prism.identify(record, experiment="equilibrium")
    model.save(tmp_path / "m.json")
    again = prism.load(tmp_path / "m.json")
    assert 1 <= len(again.trajectories.trials) < 10
    expected = model.forecast([70.0]).values
    np.testing.assert_allclose(again.forecast([70.0]).values, expected, atol=1e-12)
    with pytest.raises(prism.errors.OptionError, match="trial 9"):
        again.forecast([70.0], trial=9)
