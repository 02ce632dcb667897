"""``identify(record, potential=...)``: a nonlinear force behind the front door."""

import dataclasses
import json

import numpy as np
import pytest

import prism
from prism.errors import CannotTellError, NoLineError, OptionError
from prism.motion.potential import has_fast_kernel, oscillations
from prism.motion.potential.hamiltonian import NonlinearHamiltonian, certify_potential
from prism.plot import views
from prism.plot._fitted import paces
from prism.plot.potential import potential_view
from prism.systems.nonlinear_particle import double_well, duffing, nonlinear_bath, pendulum

needs_numba = pytest.mark.skipif(not has_fast_kernel(), reason="slow without numba")


@pytest.fixture(scope="module")
def record():
    return duffing(1.0, 0.5, [1.3], [0.6]).simulate(
        [1.5, 0.5], [0, 0.5], 80, 0.1, noise=0.03, rng=0
    )


@pytest.fixture(scope="module")
def model(record):
    return prism.identify(record, potential=["x", "x^3"], max_modes=1, fit_fraction=0.7)


def test_the_hamiltonian_has_a_potential(model):
    h = model.hamiltonian
    assert isinstance(h, NonlinearHamiltonian)
    np.testing.assert_allclose(h.potential.coefficients, [1.0, 0.5], rtol=0.1)
    np.testing.assert_allclose(h.hidden_frequencies, [1.3], rtol=0.02)
    np.testing.assert_allclose(np.abs(h.couplings), [[0.6]], rtol=0.1)
    np.testing.assert_allclose(h.stiffness, [[h.potential.coefficients[0]]], rtol=1e-3)
    assert str(h).startswith("V(x) = ")
    assert "∂V/∂x" in str(h)
    assert model.forecast_check.nrmse[0] < 0.06
    assert "Determined: the potential (terms x, x^3), 1 hidden oscillator" in model.summary()


def test_the_flow_conserves_the_energy_and_runs_backwards(model):
    h = model.hamiltonian
    state = np.array([1.0, 0.2, -0.1, 0.4])
    later = h.flow(state, [0.0, 3.0, 25.0])
    np.testing.assert_allclose(h.energy(later), h.energy(state), rtol=1e-8)
    np.testing.assert_allclose(h.flow(later[2], -25.0), state, atol=1e-6)
    assert h.simulate(state, [0.0, 1.0]).shape == (2, 1)
    # the equation of motion, by differences of the flow
    near = h.flow(state, [-1e-3, 0.0, 1e-3])[:, 0]
    bent = (near[0] - 2 * near[1] + near[2]) / 1e-6
    force = -h.potential.gradient(1.0) - 0.2 * h.couplings[0, 0]
    assert bent == pytest.approx(float(force), rel=1e-4)


def test_the_receptance_says_what_it_is_of(model):
    with pytest.raises(prism.errors.CannotTellError, match="depends on how large it is"):
        model.receptance(1j)
    joint = model.hamiltonian.completion.joint
    np.testing.assert_allclose(joint.std("coefficients"), model.hamiltonian.potential.std)
    assert joint.between("coefficients", "couplings").shape == (2, 1)
    names = [one.name for one in model.identifiability.quantities]
    assert any("x^3" in name for name in names)
    assert all(one.std is not None for one in model.identifiability.quantities)


def test_it_survives_a_file(model, tmp_path):
    path = tmp_path / "m.json"
    model.save(path)
    data = json.loads(path.read_text())["hamiltonian"]
    assert data["identifiable"]
    assert data["potential"]["terms"] == ["x", "x^3"]
    again = prism.load(path)
    t = np.linspace(50, 90, 9)
    before, after = model.forecast(t), again.forecast(t)
    np.testing.assert_allclose(after.values, before.values, rtol=1e-9)
    np.testing.assert_allclose(after.std, before.std, rtol=1e-6)
    assert str(again.hamiltonian) == str(model.hamiltonian)
    assert str(again.identifiability) == str(model.identifiability)


def test_views_and_report(model, record, tmp_path):
    pytest.importorskip("matplotlib")
    view = potential_view(model)
    assert view.values.min() == 0
    np.testing.assert_allclose(view.force, -np.gradient(view.values, view.x), atol=0.1)
    assert len(model.plot.potential().axes) == 2
    model.report(tmp_path / "r.html", record)
    text = (tmp_path / "r.html").read_text()
    assert "The potential, its lowest value at zero" in text


def test_a_model_without_a_potential_has_none_to_draw():
    linear = prism.identify(prism.systems.chain().free(100, 0.1, noise=0.1, rng=0))
    with pytest.raises(CannotTellError, match="no potential of one coordinate"):
        potential_view(linear)


def test_a_linear_record_gets_the_linear_answer():
    system = prism.systems.chain(2, observed=(0,))
    record = system.free(80, 0.1, noise=0.02, rng=1)
    model = prism.identify(record, potential="polynomial", max_modes=2)
    assert model.hamiltonian is None
    np.testing.assert_allclose(model.modes.frequencies, system.frequencies, rtol=1e-2)
    assert "no nonlinearity is seen" in str(model.identifiability)


def test_the_linear_fit_suggests_it():
    record = duffing(1.0, 0.5, [], []).simulate([1.5], [0.0], 150, 0.05, noise=0.01, rng=0)
    assert "potential='auto'" in str(prism.identify(record).identifiability)
    linear = prism.systems.chain().free(200, 0.05, noise=0.1, rng=0)
    assert "potential='auto'" not in str(prism.identify(linear).identifiability)


@pytest.mark.parametrize("bad", [{"mass": 1.0}, {"damped": True}, {"experiment": "equilibrium"}])
def test_what_it_cannot_be_combined_with(record, bad):
    with pytest.raises(OptionError):
        prism.identify(record, potential="auto", **bad)


def test_a_mean_force_that_falls_is_said():
    system = pendulum(frequencies=[1.5], couplings=[0.5])
    record = system.simulate([1.2, 0.1], [0, 0.1], 60, 0.1, noise=0.01, rng=0)
    model = prism.identify(record, potential=["sin(x)"], max_modes=1)
    certificate = certify_potential(model.hamiltonian)
    assert not certificate.passive
    assert "falls far outside" in certificate.reason


def test_a_bath_is_an_effective_kernel_not_twenty_modes():
    system = nonlinear_bath(friction=0.05)
    rest = np.zeros(20)
    record = system.simulate([1.5, *rest], [0.0, *rest], 60, 0.1, noise=0.01, rng=0)
    model = prism.identify(record, potential=["x", "x^3"], max_modes=1)
    assert model.hamiltonian is None
    said = str(model.identifiability)
    assert "effective memory kernel" in said
    assert "more modes than these data tell apart" in said


# -- chaos: a motion without lines ----------------------------------------------------------------


@pytest.fixture(scope="module")
def wandering():
    """Across two wells, where most of the motion is slower than the record is long."""
    system = double_well(1.0, 1.0, [1.2], [0.4])
    return system.simulate([1.3, 0.5], [0.3, -0.4], 150, 0.05, noise=0.05, rng=0)


@pytest.fixture(scope="module")
def chaotic(wandering):
    return prism.identify(wandering, potential=["x", "x^3"], max_modes=1)


def test_a_chaotic_record_is_told_what_to_do_about_it(wandering):
    with pytest.raises(NoLineError, match=r"turns smoothly, about \d+ times.*potential='auto'"):
        prism.identify(wandering)


@pytest.mark.parametrize(("times", "turns"), [(0.2, 0), (5.25, 5), (20.25, 20)])
def test_turns_are_counted(times, turns):
    t = np.linspace(0, 1, 2000)
    x = np.cos(2 * np.pi * times * t) + 0.05 * np.cos(2 * np.pi * 60 * t)
    assert oscillations(prism.Record(x, dt=0.05)) == turns


@needs_numba
def test_a_chaotic_motion_has_a_potential_and_no_lines(chaotic):
    h = chaotic.hamiltonian
    assert len(chaotic.modes) == 0
    np.testing.assert_allclose(h.potential.coefficients, [-1.0, 1.0], rtol=0.05)
    np.testing.assert_allclose(h.hidden_frequencies, [1.2], rtol=0.01)
    assert chaotic.certificate.passive
    text = chaotic.summary()
    assert "no modes in 1 channel, 1 hidden oscillator" in text
    assert "the motion has no lines: its spectrum is broad" in text
    assert "Visible modes" not in text


@needs_numba
def test_a_motion_without_lines_survives_a_file_and_is_drawn(chaotic, wandering, tmp_path):
    chaotic.save(tmp_path / "m.json")
    again = prism.load(tmp_path / "m.json")
    assert again.modes.amplitudes.shape == (1, 0)
    t = [151.0, 153.0]
    np.testing.assert_allclose(again.forecast(t).values, chaotic.forecast(t).values, rtol=1e-6)
    assert set(views(again, wandering)) == {
        *("record", "spectrum", "correlation", "poles", "forecast", "potential", "kernel")
    }
    again.report(tmp_path / "r.html", wandering)
    assert "The motion has no lines" not in (tmp_path / "r.html").read_text()  # a spectrum is there
    with pytest.raises(CannotTellError, match="no shapes to draw"):
        again.plot.shapes()


@needs_numba
def test_views_of_a_motion_without_lines_or_hamiltonian_still_have_a_scale(wandering, chaotic):
    bare = dataclasses.replace(chaotic, hamiltonian=None)
    assert paces(bare) == pytest.approx([20 * 2 * np.pi / (wandering.ends[0])])
    assert "poles" not in views(bare, wandering)


@pytest.mark.parametrize("kind", ["noise", "slow", "walk"])
def test_what_has_no_lines_and_no_potential_is_still_refused(kind):
    rng = np.random.default_rng(3)
    t = 0.05 * np.arange(800)
    x = {
        "noise": rng.standard_normal(800),
        "slow": np.sin(0.05 * t) + 0.01 * rng.standard_normal(800),
        "walk": np.cumsum(rng.standard_normal(800)),
    }[kind]
    with pytest.raises(CannotTellError):
        prism.identify(prism.Record(x, dt=0.05), potential="auto")
