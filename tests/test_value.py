"""Results compare without raising, print short, and hold arrays that nobody can change."""

from dataclasses import dataclass

import numpy as np
import pytest

import prism
from prism._value import Value, same
from prism.systems import chain


@dataclass(frozen=True, eq=False, repr=False)
class Pair(Value):
    """Two fields."""

    a: np.ndarray
    b: object = None


@pytest.fixture(scope="module")
def model():
    five = chain(5, observed=[0, 2, 4])
    return prism.identify(five.free(200, 0.1, noise=0.1, rng=0), mass="identity")


def test_arrays_are_compared_entry_by_entry():
    assert Pair(np.array([1.0, np.nan])) == Pair(np.array([1.0, np.nan]))
    assert Pair(np.ones(2)) != Pair(np.ones(3))
    assert Pair(np.ones(2), {"x": np.zeros(1)}) == Pair(np.ones(2), {"x": np.zeros(1)})
    assert Pair(np.ones(2)) != "something else"
    assert not same(np.ones(2), [1.0, 1.0])


def test_the_given_array_stays_as_it_is():
    given = np.ones(2)
    pair = Pair(given)
    given[0] = 5.0
    assert pair.a[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        pair.a[0] = 2.0


def test_models_compare(model, tmp_path):
    model.save(tmp_path / "m.json")
    again = prism.load(tmp_path / "m.json")
    assert again == model
    assert again.with_remark("another") != model
    assert model.modes == again.modes
    assert model.hamiltonian == again.hamiltonian


@pytest.mark.parametrize(
    "part",
    [
        lambda m: m,
        lambda m: m.modes,
        lambda m: m.hamiltonian,
        lambda m: m.kernel,
        lambda m: m.certificate,
        lambda m: m.identifiability,
        lambda m: m.record,
        lambda m: m.settings,
        lambda m: m.forecast([1.0, 2.0]),
        lambda m: m.modes.joint,
        lambda m: m.hamiltonian.completion,
    ],
)
def test_values_print_short(model, part):
    assert len(repr(part(model))) < 300


def test_results_hold_read_only_arrays(model):
    arrays = {
        "frequencies": model.modes.frequencies,
        "covariance": model.modes.joint.covariance,
        "noise": model.noise_std,
        "mass": model.hamiltonian.mass,
        "poles": model.kernel.poles,
        "values": model.forecast([1.0]).values,
    }
    for name, array in arrays.items():
        assert not array.flags.writeable, name


def test_a_model_remembers_every_option(tmp_path):
    record = chain(5, observed=[0, 2, 4]).free(200, 0.1, noise=0.1, rng=0)
    asked = {"mass": 2 * np.eye(3), "drift": 2, "ignore": "40-50", "max_modes": 7}
    model = prism.identify(record, fit_fraction=0.8, **asked)
    model.save(tmp_path / "m.json")
    for one in (model, prism.load(tmp_path / "m.json")):
        given = one.settings.given
        assert set(given) == {*asked, "fit_fraction"}
        np.testing.assert_array_equal(given["mass"], asked["mass"])
        assert given["ignore"] == "40-50"
        assert given["drift"] == 2
