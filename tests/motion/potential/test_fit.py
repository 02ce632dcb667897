"""Potential and hidden modes from records with known answers."""

import numpy as np
import pytest

import prism
from prism.determination import Standing
from prism.errors import CannotTellError, OptionError, RecordError, RecordTooShortError
from prism.motion.potential import fit_potential, has_fast_kernel, suggests_nonlinearity
from prism.motion.potential.horizon import lyapunov_of
from prism.motion.potential.kernel import Integrator, Parameters
from prism.motion.potential.motion import NonlinearMotion
from prism.motion.potential.terms import library_of
from prism.systems import NonlinearSystem
from prism.systems.nonlinear_particle import double_well, duffing, pendulum
from prism_bench.potential_bound import potential_bound

fast = pytest.mark.skipif(not has_fast_kernel(), reason="numba is not installed")

SYSTEM = duffing(1.0, 0.5, [1.3], [0.6])
START = ([1.5, 0.5], [0.0, 0.5])
TRUTH = np.array([1.0, 0.5, 1.3, 0.6])


def numbers(fit):
    V = fit.potential
    found = [V.coefficients, fit.hidden_frequencies, fit.couplings.ravel()]
    std = [V.std, fit.hidden_frequencies_std, fit.couplings_std.ravel()]
    return np.concatenate(found), np.concatenate(std)


@pytest.fixture(scope="module")
def record():
    return SYSTEM.simulate(*START, 80, 0.1, noise=0.03, rng=0)


@pytest.fixture(scope="module")
def fit(record):
    if not has_fast_kernel():
        pytest.skip("numba is not installed")
    return fit_potential(record, potential="polynomial", max_modes=2)


def test_structure_and_numbers(fit):
    assert fit.potential.terms == ("x", "x^3")
    assert fit.modes == 1
    found, std = numbers(fit)
    assert np.all(np.abs(found - TRUTH) < 4 * std)
    assert fit.verdict.identifiable
    assert fit.misfit == pytest.approx(1.0, abs=0.3)
    assert fit.covariance.shape == (4, 4)
    np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance)), std)
    assert [one.value for one in fit.determinations] == found.tolist()
    assert [one.std for one in fit.determinations] == std.tolist()


def test_errors_are_those_of_cramer_and_rao(fit, record):
    sigma = 0.03 * SYSTEM.trajectory(*START, 80, 0.1).q[:, 0].std()
    bound = potential_bound(
        ["x", "x^3"],
        TRUTH[:2],
        TRUTH[2:3],
        TRUTH[3:],
        [*START[0], *START[1]],
        samples=800,
        dt=0.1,
        noise_std=sigma,
    )
    np.testing.assert_allclose(numbers(fit)[1], bound, rtol=0.2)
    assert fit.noise_std[0] == pytest.approx(sigma, rel=0.1)


def test_forecast_follows_the_motion(fit, record):
    t = np.arange(70, 120, 0.1) + 0.03
    truth = SYSTEM.trajectory(*START, 120.01, 0.01).q[:, 0]
    exact = truth[np.rint(t / 0.01).astype(int)]
    forecast = fit.forecast(t)
    off = forecast.values[:, 0] - exact
    assert np.sqrt(np.mean(off**2)) < 0.05 * exact.std()
    assert np.mean(np.abs(off) < 4 * forecast.std[:, 0]) > 0.9
    assert forecast.std[-1, 0] > 0
    back = fit.forecast([-1.0, 0.0])
    assert back.values[1, 0] == pytest.approx(fit.initial_states[0, 0])


def test_forecast_refuses_strange_times(fit):
    with pytest.raises(OptionError, match="trial 3"):
        fit.forecast([1.0], trial=3)
    with pytest.raises(OptionError, match="finite"):
        fit.forecast([np.nan])


def test_fit_speaks(fit):
    text = str(fit)
    assert "V(x) = " in text
    assert "hidden mode 1: frequency 1." in text


def test_the_fitted_hamiltonian_moves_as_the_fit(fit):
    c = fit.couplings[0, 0]
    x, u, v, w = fit.initial_states[0]
    t = 0.1 * np.arange(200)
    q = fit.hamiltonian.simulate([x, -u / c, v, -w / c], t)[:, 0]
    np.testing.assert_allclose(q, fit.forecast(t).values[:, 0], atol=1e-4)


@fast
def test_trials_are_fitted_together(record):
    first = record.trials[0][:500]
    second = SYSTEM.simulate([0.8, -0.2], [0.5, 0.1], 40, 0.1, noise=0.03, rng=1).trials[0]
    both = prism.Record([first, second], dt=0.1)
    fit = fit_potential(both, potential=["x", "x^3"], max_modes=1)
    found, std = numbers(fit)
    assert np.all(np.abs(found - TRUTH) < 4 * std)
    assert fit.initial_states.shape == (2, 4)
    assert fit.forecast([3.0], trial=1).values.shape == (1, 1)


@fast
def test_two_coordinates_and_a_mode_between_them():
    theta = np.array([1.0, 1.4, 0.5, 0.6])

    def potential(q):
        x, y, u = np.moveaxis(q, -1, 0)
        V = 1.0 * x**2 / 2 + 1.4 * y**2 / 2 + 0.5 * x**4 / 4 + 0.6 * x**2 * y**2 / 2
        return V + 0.5 * 0.64 * u**2 + 0.4 * u * (x + 0.7 * y)

    def force(q):
        x, y, u = np.moveaxis(q, -1, 0)
        slope = x + 0.5 * x**3 + 0.6 * x * y**2, 1.4 * y + 0.6 * x**2 * y, 0.64 * u
        pull = 0.4 * np.stack([u, 0.7 * u, x + 0.7 * y], axis=-1)
        return -np.stack(slope, axis=-1) - pull

    system = NonlinearSystem(
        potential=potential, force=force, masses=np.ones(3), observed=[0, 1], names="xyu"
    )
    record = system.simulate([1.2, -0.8, 0.0], [0.2, 0.4, 0.0], 70, 0.1, noise=0.02, rng=1000)
    fit = fit_potential(record, max_modes=1)
    assert fit.potential.terms == ("x^2/2", "y^2/2", "x^4/4", "x^2 y^2/2")
    found, std = numbers(fit)
    assert np.all(np.abs(found - [*theta, 0.8, 0.4, 0.28]) < 4 * std)
    assert fit.potential([[0.1, 0.2]]).shape == (1,)
    assert fit.potential.gradient([[0.1, 0.2]]).shape == (1, 2)
    assert fit.forecast([71.0]).values.shape == (1, 2)
    with pytest.raises(OptionError, match="one seen coordinate"):
        fit_potential(record, potential=["x"])
    with pytest.raises(OptionError, match="two coordinates is polynomial"):
        fit_potential(record, potential="trigonometric")


@fast
def test_missing_samples_do_no_harm(record):
    values = record.trials[0].copy()
    values[100:120] = np.nan
    fit = fit_potential(prism.Record(values, dt=0.1), potential=["x", "x^3"], max_modes=1)
    found, std = numbers(fit)
    assert np.all(np.abs(found - TRUTH) < 4 * std)


@fast
def test_pendulum_is_told_from_polynomials():
    record = pendulum().simulate([2.6], [0.0], 60, 0.1, noise=0.02, rng=0)
    fit = fit_potential(record, max_modes=0)
    assert fit.potential.terms == ("sin(x)",)
    assert fit.potential.coefficients[0] == pytest.approx(1.0, abs=0.01)


@fast
def test_a_linear_record_refuses_the_bare_parameters_and_still_forecasts():
    system = duffing(1.0, 0.0, [0.7], [0.35])
    record = system.simulate([1.5, 0.3], [0.0, 0.2], 80, 0.1, noise=0.02, rng=0)
    fit = fit_potential(record, potential="polynomial", max_modes=2)
    assert fit.modes == 1
    assert not fit.verdict.identifiable
    assert fit.verdict.linear
    assert "Fisher matrix" in fit.verdict.why
    assert fit.potential is None
    assert fit.hidden_frequencies.size == fit.couplings.size == 0
    assert {one.state for one in fit.determinations} == {Standing.UNDETERMINED}
    assert len(fit.determinations) == 3  # stiffness, frequency, coupling
    assert any("amplitude is too small" in remark for remark in fit.remarks)
    t = np.arange(80, 100, 0.1)
    exact = system.trajectory([1.5, 0.3], [0.0, 0.2], 100, 0.1).q[800:, 0]
    off = fit.forecast(t).values[:, 0] - exact
    assert np.sqrt(np.mean(off**2)) < 0.03 * exact.std()
    with pytest.raises(CannotTellError, match="no Hamiltonian"):
        _ = fit.hamiltonian


@fast
def test_what_stands_beside_a_weak_coupling():
    system = duffing(1.0, 0.5, [1.9], [0.05])
    record = system.simulate([1.5, 2.0], [0.0, 0.0], 60, 0.1, noise=0.05, rng=1)
    fit = fit_potential(record, potential=["x", "x^3"], max_modes=2)
    assert not fit.verdict.identifiable
    *stands, coupling = fit.determinations
    assert [one.name for one in stands] == [
        *("coefficient of x", "coefficient of x^3", "frequency of hidden mode 1")
    ]
    for one, truth in zip(stands, (1.0, 0.5, 1.9), strict=True):
        assert one.state is Standing.DETERMINED
        assert abs(one.value - truth) < 4 * one.std
    assert coupling.name == "coupling of hidden mode 1"
    assert coupling.state is Standing.BOUNDED
    assert coupling.bound > 0.05
    assert coupling.bound >= abs(fit.couplings[0, 0])
    assert "whether x moves it does not show" in coupling.why


@fast
def test_a_force_outside_the_library_is_admitted():
    record = duffing(1.0, 0.5, [], []).simulate([2.0], [0.0], 60, 0.1, noise=0.01, rng=0)
    fit = fit_potential(record, potential=["x"], max_modes=0)
    assert not fit.verdict.identifiable
    assert not fit.verdict.reaches_noise
    assert "times the noise" in fit.verdict.why
    assert {one.state for one in fit.determinations} == {Standing.UNDETERMINED}
    assert "effective" in fit.determinations[0].why


def test_the_plain_kernel_gives_the_same_answer():
    record = duffing(1.0, 0.5, [], []).simulate([1.5], [0.0], 27, 0.4, noise=0.02, rng=0)
    fit = fit_potential(record, potential=["x", "x^3"], max_modes=0, kernel="plain")
    found, std = numbers(fit)
    assert np.all(np.abs(found - TRUTH[:2]) < 4 * std)
    if has_fast_kernel():
        other = fit_potential(record, potential=["x", "x^3"], max_modes=0, kernel="fast")
        np.testing.assert_allclose(numbers(other)[0], found, rtol=1e-6)


def motion_of(kernel, terms, theta, start):
    p = Parameters(library_of(terms, 1), np.array(theta), *np.zeros((2, 0)), np.ones((0, 1)))
    size = len(p.vector) + 2
    return NonlinearMotion(
        *(Integrator(0.1, 1, 100.0, kernel), p, np.array([start]), 400, np.zeros(1, int)),
        *(np.eye(size), (0.0,), np.ones(1)),
    )


def test_an_escape_of_the_forecast_is_a_sentence():
    motion = motion_of("plain", ["x^3"], [-1.0], [2.0, 0.0])
    with pytest.raises(CannotTellError, match="escapes to infinity 1 time units"):
        motion.at([4.0])


@fast
def test_a_regular_motion_is_not_called_chaotic():
    assert lyapunov_of(motion_of("fast", ["x", "x^3"], [1.0, 0.5], [1.5, 0.0]), 4000) is None


@fast
def test_a_chaotic_motion_has_a_horizon():
    system = double_well()
    # Long enough that the exponent settles however the processor rounds.
    record = system.simulate([1.7, 0.2], [0.3, 0.1], 150, 0.1, noise=0.02, rng=0)
    fit = fit_potential(record, potential=["x", "x^3"], max_modes=1)
    assert fit.verdict.identifiable
    found, std = numbers(fit)
    assert np.all(np.abs(found - [-1.0, 1.0, 1.2, 0.4]) < 4.5 * std)
    assert fit.horizon is not None
    assert fit.horizon.lyapunov == pytest.approx(0.12, abs=0.06)
    assert fit.horizon.lyapunov_times > 0


# -- bad input ------------------------------------------------------------------------------------


def cosine(cycles=20, samples=800, channels=1):
    t = np.linspace(0, 2 * np.pi * cycles, samples)
    return np.cos(t)[:, None] * np.ones(channels)


@pytest.mark.parametrize(
    ("record", "error", "words"),
    [
        (prism.Record(cosine(channels=3), dt=0.1), RecordError, "one or two coordinates"),
        (prism.Record(cosine(), dt=0.1, quantity="velocity"), RecordError, "displacements"),
        (
            prism.Record(cosine(), t=np.sort(np.random.default_rng(0).uniform(0, 80, 800))),
            RecordError,
            "even sampling",
        ),
        (prism.Record(cosine(samples=40), dt=0.1), RecordTooShortError, "at least 64"),
        (prism.Record(cosine(cycles=2), dt=0.1), RecordTooShortError, "oscillations"),
        (
            prism.Record(np.random.default_rng(0).standard_normal(800), dt=0.1),
            CannotTellError,
            "does not stand out",
        ),
    ],
)
def test_bad_records_are_refused_in_a_sentence(record, error, words):
    with pytest.raises(error, match=words):
        fit_potential(record)


def test_strange_options_are_refused():
    record = prism.Record(cosine(), dt=0.1)
    with pytest.raises(OptionError, match="max_modes"):
        fit_potential(record, max_modes=-1)
    with pytest.raises(OptionError, match="unknown potential"):
        fit_potential(record, potential="cubic")


# -- when to use it -------------------------------------------------------------------------------


def test_harmonics_suggest_a_potential():
    record = duffing(1.0, 0.5, [], []).simulate([1.5], [0.0], 100, 0.1, noise=0.01, rng=0)
    found = suggests_nonlinearity(prism.identify(record).modes)
    assert found.nonlinear
    assert "3 times" in found.signs[0]
    assert 'potential="auto"' in str(found)


def test_a_linear_record_suggests_nothing():
    record = prism.systems.chain().free(200, 0.1, noise=0.05, rng=0)
    found = suggests_nonlinearity(prism.identify(record).modes, record)
    assert not found.nonlinear
    assert str(found) == "No sign of a nonlinear force."


def test_a_frequency_that_moves_with_the_amplitude_suggests_a_potential():
    system = duffing(1.0, 0.5, [], [])
    starts = np.array([[0.2], [1.0], [1.6]])
    record = system.simulate(starts, np.zeros((3, 1)), 100, 0.1, noise=0.2, rng=0)
    modes = prism.identify(record.head(1.0)).modes
    assert any("moves from" in sign for sign in suggests_nonlinearity(modes, record).signs)
