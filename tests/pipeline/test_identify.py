"""The pipeline end to end."""

import subprocess
import sys

import numpy as np
import pytest

import prism
from prism.errors import NoLineError, OptionError, RecordTooShortError
from prism.systems import chain

DT = 0.05


@pytest.fixture(scope="module")
def record():
    return chain().free(400, DT, noise=0.1, rng=0)


@pytest.fixture(scope="module")
def model(record):
    return prism.identify(record, fit_fraction=0.4)


def assert_chain(model, sigmas=4.5):
    assert len(model.modes) == 4
    z = (model.modes.frequencies - chain().frequencies) / model.modes.frequencies_std
    assert np.abs(z).max() < sigmas


def motion(rng, t):
    """Exact complex motion of the chain at given times: (times, channels)."""
    system = chain()
    z = (rng.standard_normal(4) + 1j * rng.standard_normal(4)) / system.frequencies
    turn = np.exp(1j * np.multiply.outer(t, system.frequencies))
    return [
        ((z * (1j * system.frequencies) ** k * turn) @ system.participation).real for k in range(3)
    ]


# -- one record ---------------------------------------------------------------------------------


def test_model_of_one_record(record, model):
    assert_chain(model)
    system = chain()
    sign = np.sign(np.sum(system.shapes * model.modes.shapes, axis=1))[:, None]
    z = (sign * model.modes.shapes - system.shapes) / model.modes.shapes_std
    assert np.abs(z).max() < 4.5
    np.testing.assert_allclose(np.linalg.norm(model.modes.shapes, axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(model.noise_std, 0.1 * record.std(), rtol=0.05)
    assert model.modes.in_phase.all()
    assert model.modes.damping_std is None
    assert np.all(model.modes.damping == 0)
    np.testing.assert_allclose(model.modes.frequencies_hz * 2 * np.pi, model.modes.frequencies)


def test_forecast_check_is_the_stated_ratio(record, model):
    rest = record.tail(0.4)
    error = model.forecast(rest.times[0]).values - rest.trials[0]
    expected = np.sqrt(np.mean(error**2, axis=0)) / rest.trials[0].std(axis=0)
    np.testing.assert_allclose(model.forecast_check.nrmse, expected, rtol=1e-12)
    # the noise of the held-out part is 10 %, the forecast adds about 1 %
    assert np.all(model.forecast_check.nrmse < 0.115)


def test_forecast_against_the_noise_free_truth(model):
    clean = chain().free(400, DT, rng=0).tail(0.4)
    forecast = model.forecast(clean.times[0])
    error = forecast.values - clean.trials[0]
    nrmse = np.sqrt(np.mean(error**2, axis=0)) / clean.trials[0].std(axis=0)
    assert np.all(nrmse < 0.03)
    assert np.mean(np.abs(error) <= 1.96 * forecast.std) > 0.6  # one run: errors are correlated


def test_same_input_same_output(record):
    first, second = prism.identify(record), prism.identify(record)
    np.testing.assert_array_equal(first.modes.covariance, second.modes.covariance)


def test_receptance_and_state_space_agree():
    five = chain(5, [1, 2, 1, 1.5, 0.5], observed=[0, 2, 4])
    model = prism.identify(five.free(400, DT, noise=0.1, rng=1), mass="identity")
    system = model.to_statespace()
    s = 0.2 + 0.9j
    dense = system.C @ np.linalg.solve(s * np.eye(10) - system.A, system.B) + system.D
    np.testing.assert_allclose(model.receptance(s), dense, rtol=1e-6)
    np.testing.assert_allclose(model.receptance(s), five.receptance(s), rtol=0.02)


def test_energies_come_back():
    five = chain(5, [1, 2, 1, 1.5, 0.5], observed=[0, 2, 4])
    energies = np.array([0.5, 1.0, 1.5, 0.8, 1.2])
    record = five.free(400, DT, noise=0.02, energies=energies, rng=1)
    model = prism.identify(record, mass="identity")
    np.testing.assert_allclose(model.modes.energies[0], energies, rtol=0.05)


# -- how data come ------------------------------------------------------------------------------


def test_missing_samples_and_a_gap():
    record = chain().free(400, DT, noise=0.1, rng=4)
    values = np.array(record.trials[0])
    rng = np.random.default_rng(0)
    values[rng.random(values.shape) < 0.3] = np.nan  # each channel misses its own samples
    values[3000:4200] = np.nan
    assert_chain(prism.identify(prism.Record(values, dt=DT)))


def test_irregular_times():
    rng = np.random.default_rng(7)
    t = np.sort(rng.uniform(0, 400, 6000))
    clean = motion(rng, t)[0]
    noisy = clean + 0.1 * clean.std(axis=0) * rng.standard_normal(clean.shape)
    assert_chain(prism.identify(prism.Record(noisy, t=t)))


def test_ragged_trials_with_their_own_starts_and_rates():
    rng = np.random.default_rng(8)
    times = [0.05 * np.arange(3000), 7 + 0.05 * np.arange(5000), 0.1 * np.arange(2500)]
    trials = []
    for t in times:
        clean = motion(rng, t)[0]
        trials.append(clean + [0.1, 0.2] * rng.standard_normal(clean.shape))
    record = prism.Record(trials, t=times)
    model = prism.identify(record)
    assert_chain(model)
    for r, t in enumerate(times):
        error = model.forecast(t, trial=r).values - trials[r]
        np.testing.assert_allclose(error.std(axis=0), [0.1, 0.2], rtol=0.05)


def test_velocity_and_acceleration_in_one_record():
    """Shapes are those of displacement whatever the sensors measure."""
    rng = np.random.default_rng(9)
    t = DT * np.arange(8000)
    _, velocity, acceleration = motion(rng, t)
    values = np.column_stack([acceleration[:, 0], velocity[:, 1]])
    values += 0.1 * values.std(axis=0) * rng.standard_normal(values.shape)
    record = prism.Record(values, dt=DT, quantity=["acceleration", "velocity"])
    model = prism.identify(record)
    assert_chain(model)
    system = chain()
    sign = np.sign(np.sum(system.shapes * model.modes.shapes, axis=1))[:, None]
    z = (sign * model.modes.shapes - system.shapes) / model.modes.shapes_std
    assert np.abs(z).max() < 4.5
    assert model.modes.in_phase.all()


def test_offset_and_drift_are_fitted_not_found():
    record = chain().free(400, DT, noise=0.1, rng=5)
    values = record.trials[0] + [3.0, -2.0] + np.outer(record.times[0], [0.01, -0.02])
    model = prism.identify(prism.Record(values, dt=DT))
    assert_chain(model)
    assert "drift" in str(model.identifiability)
    ahead = model.forecast([500.0]).values[0] - prism.identify(record).forecast([500.0]).values[0]
    np.testing.assert_allclose(ahead, [3 + 5, -2 - 10], atol=0.1)


def test_exact_data_give_exact_answers():
    five = chain(5, [1, 2, 1, 1.5, 0.5], observed=[0, 2, 4])
    model = prism.identify(five.free(200, DT, rng=1), mass="identity")
    np.testing.assert_allclose(model.modes.frequencies, five.frequencies, rtol=1e-10)
    np.testing.assert_allclose(model.hamiltonian.hidden_frequencies, five.hidden_frequencies, 1e-7)


# -- what cannot be told -------------------------------------------------------------------------


def test_noise_alone_has_no_line():
    values = np.random.default_rng(0).standard_normal((2000, 2))
    with pytest.raises(NoLineError, match="no line is significant"):
        prism.identify(prism.Record(values, dt=DT))


@pytest.mark.parametrize("periods", [0.1, 0.4, 0.7, 0.9])
def test_less_than_one_period(periods):
    rng = np.random.default_rng(1)
    t = np.arange(2000) / 2000
    values = np.cos(2 * np.pi * periods * t + 0.3) + 1e-3 * rng.standard_normal(2000)
    with pytest.raises(RecordTooShortError, match="shorter than one period"):
        prism.identify(prism.Record(values, dt=DT))


def test_decaying_record_is_not_called_lossless():
    t = DT * np.arange(8000)
    rng = np.random.default_rng(0)
    values = np.exp(-t / 50) * np.cos(t) + 0.01 * rng.standard_normal(8000)
    model = prism.identify(prism.Record(values, dt=DT), experiment="released")
    assert model.hamiltonian is None
    assert "not a sum of undamped lines" in model.identifiability.why
    assert model.modes.frequencies[0] == pytest.approx(1.0, abs=0.01)


def test_rotating_motion_is_noticed():
    """A circle is two modes of one frequency, or a gyroscope: not one reciprocal mode."""
    t = DT * np.arange(4000)
    values = np.column_stack([np.cos(t), np.sin(t)])
    values += 0.01 * np.random.default_rng(0).standard_normal(values.shape)
    model = prism.identify(prism.Record(values, dt=DT))
    assert not model.modes.in_phase.any()
    assert "not in phase" in str(model.identifiability)


def turned(gyroscopic=None):
    """A chain whose fastest line is an ellipse, and its mass."""
    system = prism.systems.chain(3, observed=[0, 1])
    still = system.free(300, DT, noise=0.05, rng=3)
    fast = 0.1 * np.sin(system.frequencies[-1] * still.times[0])
    values = still.trials[0] + np.column_stack([0 * fast, fast])
    record = prism.Record(values, dt=DT)
    return prism.identify(record, mass="identity", gyroscopic=gyroscopic)


def test_a_line_that_is_not_in_phase_has_no_reciprocal_hamiltonian():
    """It was completed, with a remark: the couplings are those of another system."""
    model = turned()
    assert model.hamiltonian is None
    assert "is not in phase on all channels" in model.identifiability.why
    assert "gyroscopic=False" in str(model.identifiability)


def test_who_says_that_nothing_rotates_has_it_all_the_same():
    model = turned(gyroscopic=False)
    assert model.hamiltonian is not None
    assert "out-of-phase" in {one.code for one in model.identifiability.remarks}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"experiment": "shaken"}, "unknown experiment"),
        ({"method": "magic"}, "unknown method"),
        ({"max_modes": 0}, "at least 1"),
        ({"false_alarm": 0.0}, "false-alarm"),
        ({"mass": np.eye(3)}, "2 x 2"),
        ({"mass": "unit"}, "unknown mass"),
        ({"mass": [[1, 2], [0, 1]]}, "symmetric"),
        ({"mass": -np.eye(2)}, "positive definite"),
        ({"stiffness": [[1, np.nan], [np.nan, 1]]}, "finite"),
        ({"fit_fraction": 1.5}, "fraction"),
    ],
)
def test_bad_options_name_themselves(record, options, words):
    with pytest.raises(prism.errors.InputError, match=words):
        prism.identify(record, **options)


def test_array_instead_of_record():
    with pytest.raises(OptionError, match=r"prism\.Record"):
        prism.identify(np.zeros((100, 2)))


def test_unknown_trial(model):
    with pytest.raises(OptionError, match="trial 3"):
        model.forecast([1.0], trial=3)


def test_max_modes_is_kept(record):
    assert len(prism.identify(record, max_modes=2).modes) == 2


def test_progress_is_told(record):
    told = []
    prism.identify(record, progress=told.append)
    assert told[-1] == "4 lines"


# -- the surface ---------------------------------------------------------------------------------


def test_every_public_name_is_there():
    for name in prism.__all__:
        assert getattr(prism, name) is not None
    assert set(prism.__all__) <= set(dir(prism))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = prism.nonsense


def test_import_is_light():
    """No scipy, no plotting: they are loaded with the first identification."""
    code = "import sys, prism; print(sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    for heavy in ("scipy", "matplotlib", "typer", "rich"):
        assert f"'{heavy}'" not in loaded.stdout
