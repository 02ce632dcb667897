"""``identify(record, damped=True)``: decays, kicks and noise-driven motion, told apart."""

import json

import numpy as np
import pytest
from tests.places import real_data

import prism
from prism.errors import CannotTellError, NoLineError, OptionError
from prism.report.tables import check_table
from prism.systems import chain
from prism.systems.driven import driven

ZETA = np.array([0.01, 0.006, 0.004, 0.002])


def decaying(T=300.0, dt=0.1, noise=0.05, seed=0, trials=1):
    system, rng = chain(), np.random.default_rng(seed)
    omega, t = system.frequencies, dt * np.arange(round(T / dt))
    poles = omega * (-ZETA + 1j * np.sqrt(1 - ZETA**2))
    out = []
    for _ in range(trials):
        z = (rng.standard_normal(4) + 1j * rng.standard_normal(4)) / omega
        out.append((z * np.exp(np.outer(t, poles))).real @ system.participation)
    x = np.array(out)
    return prism.Record(x + noise * x.std(axis=(0, 1)) * rng.standard_normal(x.shape), dt=dt)


@pytest.fixture(scope="module")
def decay():
    return decaying()


@pytest.fixture(scope="module")
def model(decay):
    return prism.identify(decay, damped=True, fit_fraction=0.5)


def test_a_decay(model):
    modes = model.modes
    np.testing.assert_allclose(modes.frequencies, chain().frequencies, rtol=2e-3)
    assert np.all(np.abs(modes.damping - ZETA) < 4 * modes.damping_std)
    low, high = modes.damping_interval.T
    assert np.all((low < modes.damping) & (modes.damping < high))
    assert "free decay" in str(model.identifiability)
    assert np.all(model.forecast_check.nrmse < 0.6)
    assert model.certificate.passive
    assert model.hamiltonian is None


def test_it_survives_a_file(model, tmp_path):
    path = tmp_path / "m.json"
    model.save(path)
    row = json.loads(path.read_text())["modes"][0]
    assert row["damping"] == pytest.approx(model.modes.damping[0])
    assert len(row["damping_interval"]) == 2
    again = prism.load(path)
    t = np.linspace(150, 200, 7)
    np.testing.assert_allclose(again.forecast(t).values, model.forecast(t).values)
    np.testing.assert_allclose(again.forecast(t).std, model.forecast(t).std)
    np.testing.assert_array_equal(again.modes.damping_interval, model.modes.damping_interval)


def test_every_trial_can_be_continued():
    record = decaying(T=150, trials=3)
    model = prism.identify(record, damped=True)
    for r in range(3):
        off = model.forecast(record.times[r], r).values - record.trials[r]
        assert np.all(off.std(axis=0) < 1.2 * model.noise_std)
    with pytest.raises(OptionError, match="trial 3 is not among the 3"):
        model.forecast([0.0], 3)


def test_undamped_lines_are_decays_with_an_interval_to_zero():
    model = prism.identify(chain().free(200, 0.05, noise=0.1, rng=0), damped=True)
    assert np.all(model.modes.damping_interval[:, 0] == 0)


def test_noise_driven_motion_is_told_apart():
    record = driven(chain(), 600, 0.5, damping=[0.02, 0.01, 0.005, 0.005], noise=0.1, rng=3)
    model = prism.identify(record, damped=True)
    np.testing.assert_allclose(model.modes.frequencies, chain().frequencies, rtol=0.03)
    assert "driven by stationary noise" in str(model.identifiability)
    with pytest.raises(CannotTellError, match="no motion to continue"):
        model.forecast([700.0])
    assert "notes" in model.summary()


def test_kicks_are_noticed_and_said(tmp_path):
    parts = [decaying(T=40, noise=0.002, seed=s).trials[0] for s in range(4)]
    record = prism.Record(np.concatenate(parts), dt=0.1)
    model = prism.identify(record, damped=True)
    np.testing.assert_allclose(model.modes.frequencies, chain().frequencies, rtol=2e-3)
    assert "the drive is impulsive" in str(model.identifiability)
    # every stretch is drawn, the last one goes on
    for at in (100, 500, 1500):
        seen = record.trials[0][at : at + 200]
        fitted = model.forecast(record.times[0][at : at + 200]).values
        assert np.all((fitted - seen).std(axis=0) < 0.05 * seen.std(axis=0))
    assert np.all(np.isnan(model.forecast([-1.0]).values))
    model.save(tmp_path / "kicked.json")
    again = prism.load(tmp_path / "kicked.json").forecast([10.0, 50.0, 170.0])
    np.testing.assert_array_equal(again.values, model.forecast([10.0, 50.0, 170.0]).values)


def test_gaps_and_ignored_bands(decay):
    values = np.array(decay.trials[0])
    values[::5] = np.nan
    model = prism.identify(decay.with_values([values]), damped=True, ignore=(0.28, 0.31))
    assert len(model.modes) == 3
    assert "left out: 1.87" in str(model.identifiability)
    with pytest.raises(NoLineError, match="in the ignored bands"):
        prism.identify(decay, damped=True, ignore=(0.0, 1.0))


def test_the_data_ask_for_it_by_themselves(decay):
    found, told = prism.identify(decay), prism.identify(decay, damped=True)
    assert found.kind == told.kind == "decaying"
    np.testing.assert_allclose(found.modes.frequencies, told.modes.frequencies, rtol=1e-9)
    assert prism.identify(decay, damped=False).kind == "steady"


@pytest.mark.parametrize(
    "bad", [{"mass": "identity"}, {"experiment": "equilibrium"}, {"method": "nnls"}]
)
def test_what_it_cannot_be_combined_with(decay, bad):
    with pytest.raises(OptionError, match=r"damped=True is for free records"):
        prism.identify(decay, damped=True, **bad)


def test_the_report_of_a_decay_and_of_a_driven_record(decay, model, tmp_path):
    pytest.importorskip("matplotlib")
    model.report(tmp_path / "decay.html", decay)
    record = driven(chain(), 300, 0.5, damping=0.02, noise=0.1, rng=1)
    prism.identify(record, damped=True).report(tmp_path / "driven.html", record)
    for name in ("decay", "driven"):
        text = (tmp_path / f"{name}.html").read_text()
        assert "ζ" in text
        assert ("what is left after the fit" in text) == (name == "decay")


def test_two_masses():
    path = real_data("two_masses/real_double_linear_h_1.txt")
    data = np.loadtxt(path, comments="%")
    record = prism.Record(data[:, 2:4], t=data[:, 1])
    model = prism.identify(record, damped=True, fit_fraction=0.4)
    np.testing.assert_allclose(model.modes.frequencies_hz, [0.3346, 1.7137], rtol=1e-3)
    assert np.all(model.forecast_check.nrmse < 0.03)


def test_the_noise_beside_a_forecast_error_is_that_of_the_same_part(model):
    # What was held back of a decay is small: its noise is a larger share than in the fitted part.
    check = model.forecast_check
    noise = np.array([float(row[2]) for row in check_table(model).rows])
    np.testing.assert_allclose(noise, model.noise_std / check.std, rtol=1e-3)
    assert np.all(noise > 1.5 * model.noise_std / model.record.std)
    np.testing.assert_allclose(check.nrmse, noise, rtol=0.2)
