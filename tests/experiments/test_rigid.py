"""Rigid-body modes: completed where they are known or the data tell, asked for elsewhere."""

import numpy as np
import pytest

import prism
from prism.errors import OptionError
from prism.experiments.speeds import biased
from prism.systems import LinearSystem, chain

MASSES, SPRINGS = [1.0, 2.0, 0.7, 1.5], [1.0, 0.6, 1.4]


def free_chain(*observed):
    return chain(MASSES, SPRINGS, ends="free-free", observed=observed)


def hidden_z(model, system):
    h = model.hamiltonian
    if len(model.modes) != len(system.frequencies):
        return np.zeros(0)  # a mode too weak to be seen: another system
    return (h.hidden_frequencies - system.hidden_frequencies) / h.hidden_frequencies_std


def random_free(seed, seen, size):
    rng = np.random.default_rng(seed)
    m, k = rng.uniform(0.5, 2, size), rng.uniform(0.5, 2, size - 1)
    return chain(m, k, ends="free-free", observed=range(seen))  # the end shows every mode


# -- what holds without noise ----------------------------------------------------------------------


def test_a_release_is_completed_exactly():
    system = free_chain(0, 2)
    record = system.released(100, 0.1, [1.0, 0.3])
    model = prism.identify(record, experiment="released", mass=system.mass, rigid=1)
    np.testing.assert_allclose(
        model.hamiltonian.hidden_frequencies, system.hidden_frequencies, rtol=1e-9
    )
    np.testing.assert_allclose(model.hamiltonian.stiffness, system.stiffness, atol=1e-9)
    assert model.modes.frequencies[0] == 0
    assert model.hamiltonian.frequencies[0] == 0
    np.testing.assert_allclose(model.modes.residues[0], system.residues[0], atol=1e-9)
    np.testing.assert_allclose(model.receptance(0.3j), system.receptance(0.3j), atol=1e-8)


def test_free_motion_with_the_mass_is_completed_exactly():
    system = free_chain(0, 2, 3)
    record = system.free(100, 0.1, rng=1)
    model = prism.identify(record, kind="steady", mass=system.mass, rigid=1)
    np.testing.assert_allclose(
        model.hamiltonian.hidden_frequencies, system.hidden_frequencies, rtol=1e-9
    )
    assert model.certificate.rigid == 1
    assert model.certificate.passive


def moved(system, t, *, trials, rng, order):
    """Displacements or velocities of one canonical ensemble, without noise."""
    M, K = system.full_mass, system.full_stiffness
    modes = system._modal[1]
    scale = np.where(system.frequencies > 0, system.frequencies, 1.0)
    out = []
    for _ in range(trials):
        q, v = modes @ (rng.standard_normal(len(M)) / scale), modes @ rng.standard_normal(len(M))
        start = (q, v) if order == 0 else (v, -np.linalg.solve(M, K @ q))
        out.append(system.motion(*start, t))
    return np.array(out)


def test_velocities_tell_the_same_as_displacements():
    """Speeds are slopes of the one and means of the other."""
    system, t, answers = free_chain(0, 2), 0.2 * np.arange(400), []
    for order, quantity in ((0, "displacement"), (1, "velocity")):
        values = moved(system, t, trials=15, rng=np.random.default_rng(4), order=order)
        record = prism.Record(values, dt=0.2, quantity=quantity)
        model = prism.identify(record, experiment="equilibrium", rigid=1)
        assert model.certificate.rigid == 1
        answers.append(model.hamiltonian.hidden_frequencies)
    np.testing.assert_allclose(*answers, rtol=1e-6)


def test_free_velocities_with_the_mass_are_completed_exactly():
    system, t = free_chain(0, 2, 3), 0.1 * np.arange(1000)
    values = moved(system, t, trials=1, rng=np.random.default_rng(5), order=1)
    record = prism.Record(values, dt=0.1, quantity="velocity")
    model = prism.identify(record, kind="steady", mass=system.mass, rigid=1)
    np.testing.assert_allclose(
        model.hamiltonian.hidden_frequencies, system.hidden_frequencies, rtol=1e-6
    )


# -- errors ----------------------------------------------------------------------------------------


def test_errors_of_hidden_frequencies_hold():
    """Over about a hundred systems of each kind the root mean square is 0.92 to 1.10."""
    z = {"equilibrium": [], "with mass": [], "released": [], "free": []}
    for seed in range(10, 20):
        system = random_free(seed, 1 + seed % 3, 4)
        record = system.equilibrium(100, 0.4, trials=30, noise=0.1, temperature=1.7, rng=seed)
        for name, known in (("equilibrium", {}), ("with mass", {"mass": system.mass})):
            model = prism.identify(record, experiment="equilibrium", rigid=1, **known)
            z[name] += [*hidden_z(model, system)]
        positions = np.eye(len(system.channels)) + 0.3
        record = system.released(100, 0.4, positions, noise=0.02, rng=seed)
        model = prism.identify(record, experiment="released", rigid=1, mass=system.mass)
        z["released"] += [*hidden_z(model, system)]
        system = random_free(seed, 3, 5)
        record = system.free(100, 0.4, noise=0.05, rng=seed)
        model = prism.identify(record, kind="steady", rigid=1, mass=system.mass)
        z["free"] += [*hidden_z(model, system)]
    for name, all_of_them in z.items():
        assert len(all_of_them) > 12, name
        assert 0.65 < np.sqrt(np.mean(np.square(all_of_them))) < 1.4, name


def test_two_rigid_bodies_at_equilibrium():
    z = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        q, _ = np.linalg.qr(rng.normal(size=(5, 3)))
        K = q @ np.diag([0.5, 2.0, 5.0]) @ q.T
        system = LinearSystem(np.diag(rng.uniform(0.5, 2, 5)), K, np.eye(5)[:2])
        record = system.equilibrium(100, 0.4, trials=40, noise=0.1, rng=seed)
        model = prism.identify(record, experiment="equilibrium", rigid=2)
        assert model.certificate.rigid == 2
        z += [*hidden_z(model, system)]
    assert len(z) > 12
    assert 0.6 < np.sqrt(np.mean(np.square(z))) < 1.5


# -- where nobody says -----------------------------------------------------------------------------


def test_one_channel_does_not_tell_a_body_from_a_sensor():
    system = free_chain(0)
    record = system.equilibrium(60, 0.2, trials=20, noise=0.1, rng=1)
    verdict = prism.identify(record, experiment="equilibrium", mass=1.0).identifiability
    assert not verdict.magnitudes
    assert "a slope is significant" in verdict.why
    assert "rigid=1 or rigid=0" in verdict.remedy
    record = system.released(100, 0.1, [1.0], noise=0.05, rng=1)
    verdict = prism.identify(record, experiment="released", mass=1.0).identifiability
    assert not verdict.magnitudes
    assert "an offset is significant" in verdict.why
    assert "rigid=1 or rigid=0" in verdict.remedy


def test_a_free_body_is_told_by_its_mass():
    two, three = free_chain(0, 2), free_chain(0, 2, 3)
    records = {
        "equilibrium": (two, two.equilibrium(60, 0.2, trials=40, noise=0.1, rng=1)),
        "released": (two, two.released(100, 0.1, [1.0, 0.3], noise=0.05, rng=1)),
        "free": (three, three.free(100, 0.1, noise=0.05, rng=1)),
    }
    for experiment, (system, record) in records.items():
        model = prism.identify(record, experiment=experiment, mass=system.mass)
        assert model.certificate.rigid == 1, experiment
        assert np.abs(hidden_z(model, system)).max() < 4, experiment
        assert "rigid-body" in [one.code for one in model.identifiability.remarks]


def test_a_sensor_is_told_by_the_mass():
    held = chain(4, observed=[0, 3])
    record = held.released(100, 0.1, [1.0, 0.3], noise=0.05, rng=1)
    off = record.with_values([y + np.array([0.3, 0.2]) for y in record.trials])
    model = prism.identify(off, experiment="released", mass=held.mass)
    assert model.certificate.rigid == 0
    assert np.abs(hidden_z(model, held)).max() < 4
    codes = [one.code for one in model.identifiability.remarks]
    assert "sensor-drift" in codes
    # one release shows one way to move as a whole, and two channels could show two
    assert "rigid-unseen" in codes


def test_a_sensor_is_told_from_all_bodies_by_as_many_trials_as_channels():
    held = chain(4, observed=[0, 3])
    record = held.released(100, 0.1, [[1.0, 0.3], [-0.2, 1.0]], noise=0.05, rng=1)
    off = record.with_values([y + np.array([0.3, 0.2]) for y in record.trials])
    model = prism.identify(off, experiment="released", mass=held.mass)
    codes = [one.code for one in model.identifiability.remarks]
    assert "sensor-drift" in codes
    assert "rigid-unseen" not in codes


def test_a_slope_of_a_release_in_one_channel_is_asked_about():
    held = chain(3, observed=[0])
    record = held.released(100, 0.1, [1.0], noise=0.05, rng=1)
    slope = 0.02 * record.times[0][:, None]
    off = record.with_values([y + slope for y in record.trials])
    verdict = prism.identify(off, experiment="released", mass=1.0).identifiability
    assert "a slope is significant" in verdict.why
    model = prism.identify(off, experiment="released", mass=1.0, rigid=0)
    assert np.abs(hidden_z(model, held)).max() < 4


# -- what is refused -------------------------------------------------------------------------------


def why(record, **options):
    model = prism.identify(record, **options)
    assert model.hamiltonian is None
    return str(model.identifiability.why)


def test_what_is_not_there_is_not_completed():
    held = chain(3, observed=[0])
    record = held.equilibrium(60, 0.2, trials=10, noise=0.1, rng=1)
    said = why(record, experiment="equilibrium", rigid=1)
    assert "1 rigid-body mode was given, but the slopes of the record show no rigid" in said
    record = free_chain(0, 2).equilibrium(60, 0.2, trials=10, noise=0.1, rng=1)
    said = why(record, experiment="equilibrium", rigid=2)
    assert "2 rigid-body modes were given, but the slopes of the record show 1" in said


def test_drifts_of_all_sensors_are_more_than_one_body():
    record = chain(4, observed=[0, 3]).equilibrium(60, 0.2, trials=10, noise=0.1, rng=1)
    slopes = 0.05 * np.random.default_rng(1).normal(size=(10, 2))
    t = record.times[0]
    drifting = [y + np.outer(t, b) for y, b in zip(record.trials, slopes, strict=True)]
    said = why(record.with_values(drifting), experiment="equilibrium", rigid=1)
    assert "need 2 directions" in said


def test_a_body_at_equilibrium_has_no_mean_speed():
    rng = np.random.default_rng(1)
    assert biased(np.zeros((0, 10))) is None
    assert biased(rng.normal(size=(2, 50))) is None
    refusal = biased(rng.normal(size=(2, 50)) + np.array([[2.0], [0.0]]))
    assert refusal.refuted
    assert "mean that is not zero" in refusal.why


def test_few_trials_do_not_tell_a_speed():
    record = free_chain(0).equilibrium(60, 0.2, trials=9, noise=0.1, rng=1)
    said = why(record, experiment="equilibrium", rigid=1)
    assert "9 trials scatters by 47 %" in said


def test_nothing_free_can_be_pulled():
    record = chain(3, observed=[0]).snapback(60, 0.1, [1.0], noise=0.05, rng=1)
    assert "impossible without a support" in why(record, experiment="snapback", rigid=1)


def test_accelerations_do_not_show_it():
    record = chain(3, observed=[0]).equilibrium(60, 0.2, trials=10, noise=0.1, rng=1)
    sensed = prism.Record(np.stack(record.trials), dt=0.2, quantity="acceleration")
    model = prism.identify(sensed, experiment="equilibrium")
    assert "rigid-unseen" in [one.code for one in model.identifiability.remarks]
    assert "accelerations do not show" in why(sensed, experiment="equilibrium", rigid=1)


def test_two_bodies_need_two_trials():
    rng = np.random.default_rng(3)
    q, _ = np.linalg.qr(rng.normal(size=(5, 3)))
    system = LinearSystem(np.eye(5), q @ np.diag([0.5, 2.0, 5.0]) @ q.T, np.eye(5)[:3])
    one, four = (system.free(100, 0.2, trials=k, noise=0.05, rng=1) for k in (1, 4))
    assert "show 1 rigid-body mode only" in why(one, mass=system.mass, rigid=2)
    model = prism.identify(four, mass=system.mass, rigid=2)
    assert model.certificate.rigid == 2
    assert np.abs(hidden_z(model, system)).max() < 4


def test_an_offset_after_a_pull_is_said():
    """A free body that was released looks like a snap-back whose sensor is off."""
    record = free_chain(0).released(100, 0.1, [1.0], noise=0.02, rng=1)
    verdict = prism.identify(record, experiment="snapback", mass=1.0).identifiability
    assert "rigid-unseen" in [remark.code for remark in verdict.remarks]
    held = chain(MASSES, observed=[0]).snapback(100, 0.1, [1.0], noise=0.02, rng=1)
    verdict = prism.identify(held, experiment="snapback", mass=1.0).identifiability
    assert "rigid-unseen" not in [remark.code for remark in verdict.remarks]


def test_the_option_is_checked():
    record = free_chain(0).free(60, 0.2, rng=1)
    with pytest.raises(OptionError, match="number of rigid-body modes from 0 to 6"):
        prism.identify(record, rigid=7)
    with pytest.raises(OptionError, match="means nothing in a forced experiment"):
        prism.identify(free_chain(0).response(np.linspace(0.1, 3, 50)), rigid=1)


# -- words -----------------------------------------------------------------------------------------


def test_it_is_called_a_rigid_body_mode(tmp_path):
    system = free_chain(0, 2)
    record = system.released(100, 0.1, [1.0, 0.3], noise=0.05, rng=1)
    model = prism.identify(record, experiment="released", mass=system.mass, rigid=1)
    text = model.summary()
    assert "4 modes in 2 channels (1 of them a rigid-body mode)" in text
    assert "‡ rigid-body mode" in text
    assert "rigid-body mode drifts without storing energy" in text
    model.save(tmp_path / "free.json")
    again = prism.load(tmp_path / "free.json")
    assert again.certificate.rigid == 1
    assert again.settings.rigid == 1
    assert again.modes.rigid.tolist() == [True, False, False, False]
    assert again.summary() == text
    assert len(again.modes.vibrating()) == 3


def test_the_estimator_takes_the_answer():
    record = free_chain(0).released(100, 0.1, [1.0], noise=0.02, rng=1)
    found = prism.PRISM(0.1, experiment="released", rigid=1).fit(record)
    assert found.model_.certificate.rigid == 1
