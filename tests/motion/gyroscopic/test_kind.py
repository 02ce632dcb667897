"""Systems that rotate come in by the front door, with all that a model can do."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

import prism
from prism.errors import CannotTellError, OptionError
from prism.systems.gyroscopic import GyroscopicSystem

POINTS = np.array([0.3j, 0.5 + 1.1j, 2.0])


def four_masses():
    """A 4-dof system with full matrices, seen at two coordinates."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((4, 4))
    M = X @ X.T / 4 + np.eye(4)
    X = rng.standard_normal((4, 4))
    g = rng.standard_normal((4, 4))
    return GyroscopicSystem(M, g - g.T, X @ X.T / 2 + np.eye(4), np.eye(4)[:2])


SYSTEM = four_masses()


@pytest.fixture(scope="module")
def record():
    return SYSTEM.equilibrium(100.0, 0.1, trials=300, noise=0.1, rng=0)


@pytest.fixture(scope="module")
def model(record):
    return prism.identify(record, experiment="equilibrium", gyroscopic=True, mass=SYSTEM.mass)


def test_it_is_what_the_engine_finds(model, record):
    fit = prism.identify_gyroscopic(record, mass=SYSTEM.mass)
    h = model.hamiltonian
    assert model.kind == "gyroscopic"
    np.testing.assert_array_equal(h.gyroscopic, fit.gyroscopic)
    np.testing.assert_array_equal(h.hidden_frequencies, fit.hidden_frequencies)
    np.testing.assert_array_equal(model.modes.frequencies, fit.frequencies)
    assert model.temperature == fit.temperature
    z = (h.gyroscopic - SYSTEM.gyroscopic)[0, 1] / h.gyroscopic_std[0, 1]
    assert abs(z) < 4
    z = (h.hidden_frequencies - SYSTEM.hidden_frequencies) / h.hidden_frequencies_std
    assert np.all(np.abs(z) < 4)


def test_receptance_kernel_and_port_form_are_one_system(model):
    h = model.hamiltonian
    for s, H in zip(POINTS, model.receptance(POINTS), strict=True):
        direct = h.mass * s**2 + h.gyroscopic * s + h.stiffness - model.kernel.laplace(s)
        np.testing.assert_allclose(np.linalg.inv(H), direct, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(model.port_hamiltonian().transfer(s), s * H, atol=1e-10)
        A, B, C = (getattr(model.to_statespace(), name) for name in "ABC")
        np.testing.assert_allclose(C @ np.linalg.solve(s * np.eye(len(A)) - A, B), H, atol=1e-10)
    assert model.port_hamiltonian().lossless


def test_the_kernel_in_time_is_that_of_its_transform(model):
    t, s = np.linspace(0, 400, 400_001), 0.1
    weights = np.exp(-s * t)
    numeric = trapezoid(weights[:, None, None] * model.kernel(t), t, axis=0)
    np.testing.assert_allclose(numeric, model.kernel.laplace(s).real, rtol=1e-4, atol=1e-5)
    assert not model.kernel(-1.0).any()


def test_the_flow_keeps_the_energy_and_the_equation_of_motion(model):
    h = model.hamiltonian
    state = np.random.default_rng(0).standard_normal(2 * h.size)
    t = np.linspace(0, 10, 11)
    np.testing.assert_allclose(h.energy(h.flow(state, t)), h.energy(state))
    again = h.flow(h.flow(state, 3.0), 4.0)
    np.testing.assert_allclose(again, h.flow(state, 7.0))
    # x = P w and w' = A w: the state-space form without forces
    system = model.to_statespace()
    step = 1e-5
    ahead, back = h.flow(state, step), h.flow(state, -step)
    np.testing.assert_allclose((ahead - back) / (2 * step), system.A @ state, rtol=1e-6)
    np.testing.assert_allclose(h.simulate(state, t)[0], system.C @ state)


def test_save_forecast_summary_and_report(model, record, tmp_path):
    model.save(tmp_path / "m.json")
    again = prism.load(tmp_path / "m.json")
    assert again == model
    np.testing.assert_allclose(again.receptance(POINTS), model.receptance(POINTS))
    ahead = model.forecast([101.0, 102.0], trial=3)
    assert ahead.values.shape == (2, 2)
    inside = model.forecast(record.times[3][500:600], trial=3).values
    assert np.std(inside - record.trials[3][500:600]) < 1.2 * model.noise_std.max()
    assert "gyroscopic" in model.summary()
    assert f"{model.hamiltonian.gyroscopic[0, 1]:.4g} x2'" in str(model.hamiltonian)
    model.report(tmp_path / "r.html", record)
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "<mi>γ</mi>" in page
    assert "4 of 4 lines turn" in page
    assert model.certificate.passive


def test_shapes_are_major_axes_with_their_errors(model):
    b = SYSTEM.factors
    b = b * np.exp(-0.5j * np.angle((b**2).sum(axis=1)))[:, None]
    truth = b.real / np.linalg.norm(b.real, axis=1)[:, None]
    sign = np.sign((truth * model.modes.shapes).sum(axis=1))[:, None]
    z = (sign * model.modes.shapes - truth) / model.modes.shapes_std
    assert np.abs(z).max() < 5
    ratio = np.linalg.norm(b.imag, axis=1) / np.linalg.norm(b.real, axis=1)
    np.testing.assert_allclose(model.modes.phase_ratio, ratio, atol=0.1)


def test_without_an_option_the_data_find_it(model, record):
    found = prism.identify(record, experiment="equilibrium", mass=SYSTEM.mass)
    assert found.kind == "gyroscopic"
    np.testing.assert_array_equal(found.hamiltonian.gyroscopic, model.hamiltonian.gyroscopic)
    first, second = found.evidence.rivals
    assert (first.words, second.words) == ("lines that turn", "steady lines")
    assert second.behind > 1000
    assert next(one.code for one in found.identifiability.remarks) == "rotation"


def test_who_insists_on_steady_lines_is_advised(record):
    plain = prism.identify(record, experiment="equilibrium", gyroscopic=False)
    (remark,) = [one for one in plain.identifiability.remarks if one.code == "out-of-phase"]
    assert "fitted with gyroscopic=True" in str(remark)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"experiment": "released"}, "at equilibrium, by likelihood"),
        ({"experiment": "equilibrium", "damped": True}, "leave out damped"),
        ({"experiment": "equilibrium", "stiffness": np.eye(2), "drift": 2}, "stiffness, drift"),
    ],
)
def test_what_means_nothing_to_it_is_refused(record, options, words):
    with pytest.raises(OptionError, match=words):
        prism.identify(record, gyroscopic=True, **options)


def test_few_trials_are_refused(record):
    few = prism.Record(record.trials[:5], dt=0.1)
    with pytest.raises(CannotTellError, match="5 trials do not show the mean energy"):
        prism.identify(few, experiment="equilibrium", gyroscopic=True)


def test_another_experiment_says_that_lines_turn(record):
    few = prism.Record([one[:400] for one in record.trials[:3]], dt=0.1)
    model = prism.identify(few, experiment="released", mass=SYSTEM.mass)
    assert model.hamiltonian is None
    assert "lines turn instead of moving in phase" in str(model.identifiability.why)
