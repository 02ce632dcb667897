"""Isolated wild samples, and lines that the user does not want."""

import numpy as np
import pytest

import prism
from prism.errors import NoLineError, OptionError, RecordError
from prism.ignore import bands_of
from prism.systems import chain

DT = 0.05


@pytest.fixture(scope="module")
def clean():
    return chain().free(200, DT, noise=0.1, rng=5)


def spiked(record, seed=0, share=0.02):
    rng = np.random.default_rng(seed)
    values = np.array(record.trials[0])
    wild = rng.uniform(size=values.shape) < share
    values[wild] += rng.choice([-1, 1], wild.sum()) * 30 * 0.1 * values.std()
    return record.with_values([values]), wild


def test_spikes_cost_no_accuracy(clean):
    record, wild = spiked(clean)
    plain, found = prism.identify(clean), prism.identify(record)
    ratio = found.modes.frequencies_std / plain.modes.frequencies_std
    assert np.all(ratio < 1.1)
    off = (found.modes.frequencies - plain.modes.frequencies) / plain.modes.frequencies_std
    assert np.all(np.abs(off) < 0.6)
    counts = wild.sum(axis=0)
    assert f"{counts[0]} of q1 and {counts[1]} of q4" in str(found.identifiability)


def test_spikes_among_missing_samples(clean):
    record, _ = spiked(clean)
    values = np.array(record.trials[0])
    values[::7] = np.nan
    found = prism.identify(record.with_values([values]))
    np.testing.assert_allclose(found.modes.frequencies, chain().frequencies, rtol=1e-3)
    assert "standard deviations off" in str(found.identifiability)


def test_clean_records_have_no_spikes(clean):
    assert "standard deviations off" not in str(prism.identify(clean).identifiability)


def test_motion_that_is_not_fitted_is_no_spike():
    t = DT * np.arange(4000)
    pulse = 2 * np.exp(-(((t - 100) / 0.5) ** 2))
    noise = 0.01 * np.random.default_rng(0).standard_normal(len(t))
    record = prism.Record(np.cos(3 * t) + pulse + noise, dt=DT)
    assert "standard deviations off" not in str(prism.identify(record).identifiability)


def test_a_gap_longer_than_the_data_is_refused(clean):
    t = np.concatenate([0.1 * np.arange(300), 600 + 0.1 * np.arange(300)])
    x = np.cos(1.7 * t) + 0.05 * np.random.default_rng(0).standard_normal(len(t))
    with pytest.raises(RecordError, match=r"a gap from 29.9 to 600, longer than all its data"):
        prism.identify(prism.Record(x, t=t))
    parts = prism.Record([x[:300], x[300:]], t=[t[:300], t[300:]])
    np.testing.assert_allclose(prism.identify(parts).modes.frequencies, [1.7], rtol=1e-3)


@pytest.mark.parametrize(("degree", "size"), [(2, 2.0), (3, 10.0), (5, 3.0)])
def test_a_polynomial_drift_is_fitted_with_the_lines(clean, degree, size, tmp_path):
    values, t = np.array(clean.trials[0]), clean.times[0]
    u = np.linspace(-1, 1, len(t))[:, None]
    bent = np.polynomial.legendre.Legendre.basis(degree)(u) * size * values.std(axis=0)
    record = clean.with_values([values + bent])
    plain, model = prism.identify(clean), prism.identify(record, drift=degree)
    off = model.modes.frequencies - plain.modes.frequencies
    assert np.all(np.abs(off) < 0.5 * plain.modes.frequencies_std)
    assert f"a drift of degree {degree}" in str(model.identifiability)
    seen = model.forecast(t).values - plain.forecast(t).values
    np.testing.assert_allclose(seen, bent, atol=0.2 * values.std())
    model.save(tmp_path / "m.json")
    again = prism.load(tmp_path / "m.json")
    np.testing.assert_allclose(again.forecast(t[:5]).values, model.forecast(t[:5]).values)


@pytest.mark.parametrize("bad", [{"drift": 0}, {"drift": 9}, {"drift": 2, "damped": True}])
def test_drifts_that_make_no_sense(clean, bad):
    with pytest.raises(OptionError, match="drift"):
        prism.identify(clean, **bad)


def hum(record, hz, amplitude=0.3):
    t = record.times[0]
    return record.with_values([record.trials[0] + amplitude * np.cos(2 * np.pi * hz * t)[:, None]])


def test_a_line_in_an_ignored_band_is_reported_and_is_no_mode(clean):
    record = hum(hum(clean, 3.0), 6.0)
    assert len(prism.identify(record).modes) == 6
    for ignore in ("3hz", "2.9-3.1,5.9-6.1", [(2.9, 3.1), "6 Hz"]):
        model = prism.identify(record, ignore=ignore)
        np.testing.assert_allclose(model.modes.frequencies, chain().frequencies, rtol=1e-3)
        assert "2 lines in the ignored bands (18.8" in str(model.identifiability)
    # they go on in the forecast
    off = model.forecast(record.times[0]).values - record.trials[0]
    assert np.all(off.std(axis=0) < 1.05 * model.noise_std)


def test_ignoring_everything_is_an_error(clean):
    with pytest.raises(NoLineError, match="all 4 lines are in the ignored bands"):
        prism.identify(clean, ignore=(0.0, 5.0))


@pytest.mark.parametrize("bad", ["hum", "0hz", (3, 1), (1, 2, 3), "51-49"])
def test_bands_that_make_no_sense(clean, bad):
    with pytest.raises(OptionError, match="cannot ignore"):
        prism.identify(clean, ignore=bad)


def test_bands_of_a_forced_experiment():
    response = prism.systems.cart_pendulum().response(np.linspace(1, 7, 60), noise=0.01, rng=0)
    with pytest.raises(OptionError, match="ignore means nothing in a forced experiment"):
        prism.identify(response, ignore="50hz")


def test_mains_has_harmonics_up_to_the_end_of_the_band():
    bands = np.array(bands_of("50hz", 2 * np.pi * 160))
    np.testing.assert_allclose(bands.mean(axis=1) / (2 * np.pi), [50, 100, 150])
    assert bands_of(None, 1.0) == ()
