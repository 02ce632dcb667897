"""The fitted motion against the model written out, and its uncertainty against refits."""

import numpy as np
import pytest
from tests import dense

import prism
from prism.errors import OptionError
from prism.motion.steady.inphase import fit_in_phase
from prism.motion.steady.trajectories import Trajectories
from prism.search.columns import ScatteredSampling
from prism.search.sampling import UniformSampling

OMEGA = np.array([1.4, 3.3])
LINE = np.array([0, 1, 1])
SHAPES = np.array([[0.6, 0.0, 0.8], [1.0, 0.0, 0.0], [0.0, 0.6, -0.8]])
ORDERS = np.array([0, 1, 2])
SIGMA = np.array([0.1, 0.2, 0.4])
STEP, SAMPLES, START = 0.15, 120, 2.0
TIMES = START + STEP * np.arange(SAMPLES)
GAPS = np.sort(np.random.default_rng(8).choice(TIMES, 90, replace=False)) + 0.03
AHEAD = np.linspace(-10.0, 50.0, 13)  # before, inside and after the records
MEANS = np.array([[100.0, 0.0, -3.0], [0.0, 5.0, 0.0], [1.0, 2.0, 3.0]])


def design(times, at, background):
    """Design at any times, of a record that was sampled at others."""
    centre, half = 0.5 * (times[0] + times[-1]), 0.5 * (times[-1] - times[0])
    return dense.in_phase_design(at, centre, half, OMEGA, LINE, SHAPES, ORDERS, background)


def truth(seed=0, background=2):
    """Linear parameters of two uniform trials and a scattered one."""
    return np.random.default_rng(seed).standard_normal((6 + 3 * background, 3))


def fitted(parameters, background, noise):
    """Trajectories fitted to the model plus ``noise(channels, trials, samples)``."""
    clean = [design(TIMES, TIMES, background) @ parameters[:, :2]]
    clean.append(design(GAPS, GAPS, background) @ parameters[:, 2:])
    values = [np.ascontiguousarray(c.transpose(0, 2, 1)) for c in clean]
    values = [v + SIGMA[:, None, None] * noise(v.shape) for v in values]
    present = np.ones((3, len(GAPS)), bool)
    samplings = [
        UniformSampling(values[0], STEP, START),
        ScatteredSampling(values[1], present, GAPS),
    ]
    fit = fit_in_phase(samplings, OMEGA, LINE, SHAPES, 1 / SIGMA**2, ORDERS, background=background)
    # the record counts the scattered trial second
    return Trajectories(fit, ((0, 0), (1, 0), (0, 1)), MEANS)


def exact(parameters, trial, background, at=AHEAD):
    """Motion of a trial of `fitted`, (times, channels)."""
    column, times = [(0, TIMES), (2, GAPS), (1, TIMES)][trial]
    return np.einsum("atp,p->ta", design(times, at, background), parameters[:, column])


@pytest.mark.parametrize("trial", range(3))
@pytest.mark.parametrize("background", [1, 2])
def test_motion_without_noise_is_the_model_inside_and_outside_the_record(trial, background):
    parameters = truth(background=background)
    forecast = fitted(parameters, background, np.zeros).at(AHEAD, trial)
    expected = exact(parameters, trial, background) + MEANS[trial]
    # the minimum is met to 1e-4 standard deviations of the noise assumed in the weights
    assert np.all(np.abs(forecast.values - expected) < 1e-4 * SIGMA)
    np.testing.assert_array_equal(forecast.t, AHEAD)
    np.testing.assert_allclose(forecast.noise_std, SIGMA)


def test_motion_of_a_noisy_fit_is_its_own_parameters_in_the_model():
    trajectories = fitted(truth(), 2, np.random.default_rng(1).standard_normal)
    fit = trajectories.fit
    for trial, (i, j) in enumerate(trajectories.trials):
        motion = fit.motions[i]
        written = dense.in_phase_design(
            AHEAD, motion.centre, motion.half, fit.omega, LINE, fit.shapes, ORDERS, 2
        )
        expected = np.einsum("atp,p->ta", written, motion.values[:, j]) + MEANS[trial]
        np.testing.assert_allclose(trajectories.at(AHEAD, trial).values, expected, atol=1e-12)
        np.testing.assert_allclose(trajectories.values(AHEAD, trial), expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["drift", "coloured"])
def test_values_without_errors_are_those_with_them(kind):
    rng = np.random.default_rng(0)
    t = 0.1 * np.arange(3000)
    x = np.cos(1.3 * t)[:, None] * [1.0, 0.5] + 0.05 * rng.standard_normal((3000, 2))
    if kind == "drift":
        x += 3e-5 * t[:, None] ** 2
    else:
        x += np.cumsum(0.02 * rng.standard_normal((3000, 2)), axis=0)
    model = prism.identify(prism.Record(x, dt=0.1), drift=2 if kind == "drift" else 1)
    moving = model.trajectories
    assert (moving.trend is not None) == (kind == "drift")
    assert (moving.background is not None) == (kind == "coloured")
    at = np.array([-5.0, 0.0, 12.34, 299.9, 310.0])
    np.testing.assert_allclose(moving.values(at), moving.at(at).values, atol=1e-9)


def test_derivatives_of_the_motion_are_those_of_finite_differences():
    trajectories = fitted(truth(), 2, np.random.default_rng(1).standard_normal)
    fit, motion = trajectories.fit, trajectories.fit.motions[0]
    values = motion.values[:, 0]
    linear, nonlinear = trajectories._jacobians(motion, values, AHEAD)

    def model(parameters):
        omega, shapes = parameters[:2], parameters[2:].reshape(SHAPES.shape)
        written = dense.in_phase_design(
            AHEAD, motion.centre, motion.half, omega, LINE, shapes, ORDERS, 2
        )
        return written, written @ values

    at, h = np.concatenate([fit.omega, fit.shapes.ravel()]), 1e-6
    np.testing.assert_allclose(linear, model(at)[0], atol=1e-12)
    for k, unit in enumerate(np.eye(len(at))):
        slope = (model(at + h * unit)[1] - model(at - h * unit)[1]) / (2 * h)
        # (h·lag)² of truncation and eps·value/h of rounding, both below 1e-8 of the largest, 500
        np.testing.assert_allclose(nonlinear[:, :, k], slope, atol=5e-6)


@pytest.fixture(scope="module")
def refits():
    """Forecasts of 200 simulated measurements of one motion, (200, trials, times, channels)."""
    parameters = truth(3)
    values, stds = [], []
    for seed in range(200):
        trajectories = fitted(parameters, 2, np.random.default_rng(seed).standard_normal)
        forecasts = [trajectories.at(AHEAD, trial) for trial in range(3)]
        values.append([f.values for f in forecasts])
        stds.append([f.std for f in forecasts])
    expected = np.array([exact(parameters, trial, 2) + MEANS[trial] for trial in range(3)])
    return np.array(values), np.array(stds), expected


def test_standard_deviation_is_that_of_refits(refits):
    values, stds, _ = refits
    ratio = np.sqrt(np.mean(stds**2, axis=0)) / values.std(axis=0)
    # 200 refits give a deviation to 5 %; the largest of 117 strays by three to four times that
    assert np.all(np.abs(ratio - 1) < 0.25)
    assert np.mean(ratio) == pytest.approx(1.0, abs=0.05)


def test_intervals_cover_the_true_motion(refits):
    values, stds, expected = refits
    inside = np.abs(values - expected) < 1.96 * stds
    # one coverage of 200 refits scatters by 1.5 %; their mean, of correlated ones, by less
    assert np.all(inside.mean(axis=0) > 0.95 - 4 * 0.0154)
    assert inside.mean() == pytest.approx(0.95, abs=0.015)


def test_amplitudes_are_those_along_the_unit_shapes():
    parameters = truth()
    trajectories = fitted(parameters, 2, np.zeros)
    expected = np.hypot(parameters[:3], parameters[3:6]).T[[0, 2, 1]]
    np.testing.assert_allclose(trajectories.amplitudes, expected, rtol=1e-4)


def test_one_time_is_a_list_of_one():
    trajectories = fitted(truth(), 2, np.zeros)
    assert trajectories.at(3.0).values.shape == (1, 3)
    np.testing.assert_array_equal(
        trajectories.at(3.0).values, trajectories.at([3.0, 4.0]).values[:1]
    )


@pytest.mark.parametrize("trial", [-1, 3])
def test_a_trial_that_is_not_there_is_refused(trial):
    with pytest.raises(OptionError, match=f"trial {trial} is not among the 3 trials"):
        fitted(truth(), 2, np.zeros).at(AHEAD, trial)


@pytest.mark.parametrize("t", [np.nan, [0.0, np.inf], np.zeros((2, 2))])
def test_times_that_are_no_times_are_refused(t):
    with pytest.raises(OptionError, match="finite numbers"):
        fitted(truth(), 2, np.zeros).at(t)
