"""Each quantity says how well it is known: a value, a bound, or why there is neither."""

import numpy as np
import pytest

import prism
from prism.determination import Determination, Standing
from prism.errors import CannotTellError
from prism.systems import LinearSystem, chain

FIVE = chain(5, observed=[0, 2, 4])


def by_name(model):
    return {one.name: one for one in model.identifiability.quantities}


def test_a_free_record_leaves_the_hamiltonian_open():
    model = prism.identify(FIVE.free(200, 0.1, noise=0.1, rng=0))
    found = by_name(model)
    assert set(found) == {"mass", "stiffness", "hidden frequencies", "couplings", "memory kernel"}
    assert {one.state for one in found.values()} == {Standing.UNDETERMINED}
    assert "how strongly each mode was excited is unknown" in found["mass"].why
    with pytest.raises(CannotTellError, match="the memory kernel is not determined: a free record"):
        model.kernel(1.0)
    assert model.identifiability.in_doubt == ()  # the verdict says it in one sentence


def test_a_known_mass_determines_all_of_it():
    system = chain(5, [1, 2, 1, 1.5, 0.5], observed=[0, 2, 4])
    model = prism.identify(system.free(400, 0.1, noise=0.05, rng=0), mass="identity")
    found, h = by_name(model), model.hamiltonian
    first = found["frequency of hidden mode 1"]
    assert first == Determination.determined(
        first.name, h.hidden_frequencies[0], h.hidden_frequencies_std[0]
    )
    assert {one.state for one in found.values()} == {Standing.DETERMINED, Standing.BOUNDED}


def test_a_coupling_that_does_not_show_is_bounded():
    # q3 is coupled to one of its neighbours only
    K = np.array([[2.0, -1, 0], [-1, 2, 0], [0, 0, 1.5]])
    K[1, 2] = K[2, 1] = -0.5
    system = LinearSystem(np.eye(3), K, np.eye(3)[:2], ["q1", "q2"])
    model = prism.identify(
        system.equilibrium(100, 0.1, trials=200, noise=0.1, rng=0),
        experiment="equilibrium",
        mass="identity",
    )
    truth = np.abs(system.couplings[0])
    bounded = [one for one in by_name(model).values() if one.state is Standing.BOUNDED]
    (one,) = bounded
    assert one.name == "coupling of hidden mode 1 to q1"
    assert truth[0] < one.bound < 0.1
    assert model.identifiability.in_doubt == model.identifiability.quantities


def test_a_damping_whose_interval_begins_at_zero_is_bounded():
    record = chain().free(100, 0.1, noise=0.1, rng=0)
    model = prism.identify(record, damped=True)
    interval = model.modes.damping_interval
    found = by_name(model)
    for m, (low, high) in enumerate(interval):
        one = found[f"damping of mode {m + 1}"]
        assert (one.state is Standing.BOUNDED) == (low <= 0)
        assert one.bound == (high if low <= 0 else None)


def test_the_table_is_saved(tmp_path):
    model = prism.identify(FIVE.free(200, 0.1, noise=0.3, rng=0), mass="identity")
    model.save(tmp_path / "m.json")
    again = prism.load(tmp_path / "m.json")
    assert again.identifiability.quantities == model.identifiability.quantities
