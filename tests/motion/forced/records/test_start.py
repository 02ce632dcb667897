"""Forced records of bodies that nothing holds, with more than one rigid-body mode."""

import numpy as np
import scipy.linalg

import prism
from prism.record import Record
from prism.systems import LinearSystem, forced


def test_several_rigid_bodies_of_a_record_are_all_found():
    bend = np.array([[1, -2, 1, 0], [0, 1, -2, 1.0]])  # a beam that nothing holds
    system = LinearSystem(np.eye(4), bend.T @ bend, np.eye(4)[[0, 3]])
    rng = np.random.default_rng(0)
    u = rng.standard_normal((1500, 2))
    run = forced(system, u, 0.4, loss=0.01)
    values = run.record.trials[0] + 0.02 * rng.standard_normal((1500, 2))
    record = Record(np.hstack([values, u]), dt=0.4, channels=("q1", "q4", "f_q1", "f_q4"))
    model = prism.identify(record, experiment="forced", force=["f_q1", "f_q4"])
    assert int(model.modes.rigid.sum()) == 2
    assert len(model.modes) == 4
    h = model.hamiltonian
    z = (h.hidden_frequencies - np.sqrt(scipy.linalg.eigvalsh((bend.T @ bend)[1:3, 1:3]))) / (
        h.hidden_frequencies_std
    )
    assert np.abs(z).max() < 3.5
    assert np.all(h.hidden_frequencies_std < 0.01)
    np.testing.assert_allclose(h.mass, system.mass, atol=0.01)
