"""Lines with common shapes: the fit against dense forms, and its statistics against simulation."""

import numpy as np
import pytest
import scipy.stats
from tests import dense

from prism._linalg import positive_sign
from prism.motion.steady.fit import evaluate, refine
from prism.motion.steady.inphase import _ShapeModel, fit_in_phase
from prism.motion.steady.likelihood import estimate_lines
from prism.motion.steady.phase import first_directions, phase_test
from prism.record import Record
from prism.search.columns import ScatteredSampling
from prism.search.sampling import UniformSampling

STEP, SAMPLES = 0.2, 60
OMEGA = np.array([1.4, 3.9])
LINE = np.array([0, 1, 1])  # the second line holds two modes


def unit_rows(shapes):
    return shapes / np.linalg.norm(shapes, axis=1, keepdims=True)


def shapes_of(channels):
    """One shape for the first line, two orthogonal ones for the second."""
    rng = np.random.default_rng(channels)
    pair, _ = np.linalg.qr(rng.standard_normal((channels, 2)))
    return np.vstack([unit_rows(rng.standard_normal((1, channels))), pair.T])


def case(channels, orders, gaps, seed=0, trials=2):
    """Data of the model with noise, in the sampling and in dense form."""
    rng = np.random.default_rng(seed)
    times = 5.0 + STEP * np.arange(SAMPLES)
    centre, half = 0.5 * (times[0] + times[-1]), 0.5 * (times[-1] - times[0])
    shapes = shapes_of(channels)
    design = dense.in_phase_design(times, centre, half, OMEGA, LINE, shapes, orders, 2)
    values = design @ rng.standard_normal((design.shape[-1], trials))
    values = values.transpose(0, 2, 1) + 0.3 * rng.standard_normal((channels, trials, SAMPLES))
    present = rng.random((channels, SAMPLES)) > 0.2 if gaps else np.ones((channels, SAMPLES), bool)
    values = np.where(present[:, None], values, 0.0)
    if gaps:
        return ScatteredSampling(values, present, times), (values, times, present), shapes
    return UniformSampling(values, STEP, 5.0), (values, times, present), shapes


def model_of(sampling, weights, orders, background):
    return _ShapeModel([sampling], LINE, weights, orders, background, ties=None)


CASES = [
    pytest.param(2, [0, 0], False, 2, id="displacement"),
    pytest.param(2, [0, 1], False, 2, id="displacement and velocity"),
    pytest.param(3, [0, 1, 2], False, 2, id="all three"),
    pytest.param(3, [2, 0, 1], True, 1, id="all three with gaps, no drift"),
]


def perturbed(omega, shapes):
    """Away from the minimum, so that the gradient is not small."""
    rng = np.random.default_rng(77)
    return omega + 0.02 * rng.standard_normal(2), shapes + 0.1 * rng.standard_normal(shapes.shape)


@pytest.mark.parametrize(("channels", "orders", "gaps", "background"), CASES)
def test_cost_gradient_and_information_are_those_of_the_dense_model(
    channels, orders, gaps, background
):
    orders = np.array(orders)
    sampling, data, shapes = case(channels, orders, gaps)
    weights = np.linspace(0.5, 2.0, channels)
    omega, shapes = perturbed(OMEGA, shapes)
    point = model_of(sampling, weights, orders, background).evaluate(omega, shapes)

    def dense_fit(parameters):
        return dense.in_phase_fit(
            *data,
            parameters[:2],
            LINE,
            parameters[2:].reshape(shapes.shape),
            weights,
            orders,
            background,
        )

    at = np.concatenate([omega, shapes.ravel()])
    cost, A, values = dense_fit(at)
    # sums of squares cancel by the ratio of signal to residual, ten to a hundred here
    assert point.cost == pytest.approx(cost, rel=1e-11)
    np.testing.assert_allclose(point.motions[0].values, values, atol=1e-11 * np.abs(values).max())

    h = 1e-5
    gradient, jacobian = np.empty(len(at)), np.empty((A.shape[0], values.shape[1], len(at)))
    for i, unit in enumerate(np.eye(len(at))):
        up, down = dense_fit(at + h * unit), dense_fit(at - h * unit)
        gradient[i] = -0.25 * (up[0] - down[0]) / h
        jacobian[:, :, i] = (up[1] - down[1]) @ values / (2 * h)  # linear parameters held
    # central differences: h² (ΩH)² = 1e-8 of curvature, eps/h = 1e-11 of rounding
    scale = np.abs(gradient).max()
    np.testing.assert_allclose(point.gradient, gradient, rtol=0, atol=1e-7 * scale)

    expected = np.zeros((len(at), len(at)))
    for r in range(values.shape[1]):
        J = dense.projected(jacobian[:, r], A)
        expected += J.T @ J
        sensitivity = -np.linalg.lstsq(A, jacobian[:, r], rcond=None)[0]
        got = point.motions[0].sensitivity[r]
        np.testing.assert_allclose(got, sensitivity, rtol=0, atol=1e-7 * np.abs(sensitivity).max())
    scale = np.abs(expected).max()
    np.testing.assert_allclose(point.fisher, expected, rtol=0, atol=1e-7 * scale)
    covariance = np.linalg.inv(A.T @ A)
    np.testing.assert_allclose(
        point.motions[0].covariance, covariance, rtol=0, atol=1e-10 * np.abs(covariance).max()
    )


@pytest.mark.parametrize(("channels", "orders", "gaps", "background"), CASES)
def test_fit_ends_at_a_minimum_on_the_constraint(channels, orders, gaps, background):
    orders = np.array(orders)
    sampling, _, shapes = case(channels, orders, gaps)
    weights = np.full(channels, 1 / 0.3**2)
    fit = fit_in_phase([sampling], OMEGA, LINE, shapes, weights, orders, background=background)
    np.testing.assert_allclose(np.linalg.norm(fit.shapes, axis=1), 1.0, rtol=1e-12)
    assert fit.shapes[1] @ fit.shapes[2] == pytest.approx(0.0, abs=1e-12)
    model = model_of(sampling, weights, orders, background)
    best = model.evaluate(fit.omega, fit.shapes)
    assert best.cost < model.evaluate(OMEGA, shapes).cost
    # on the tangent space the slope is that of 1e-8 in χ² per parameter, 1e-4 deviations
    tangent = model.tangent(fit.shapes)
    slope, information = tangent.T @ best.gradient, tangent.T @ best.fisher @ tangent
    assert slope @ np.linalg.solve(information, slope) < 1e-8 * len(slope)
    # and the covariance is the inverse of the information there, nothing along the lengths
    np.testing.assert_allclose(
        tangent.T @ fit.covariance @ tangent @ information, np.eye(len(slope)), atol=1e-8
    )
    along = np.zeros(len(at := np.concatenate([fit.omega, fit.shapes.ravel()])))
    along[2 : 2 + channels] = at[2 : 2 + channels]
    assert along @ fit.covariance @ along == pytest.approx(0.0, abs=1e-14)


# -- statistics ------------------------------------------------------------------------------------

SHAPES = unit_rows(np.array([[1.0, 0.6], [-0.4, 1.0]]))
APART = np.array([1.4, 3.3])
SIGMA = np.array([0.3, 0.2])
SHORT = 80


def in_phase_record(rng, orders, trials=2, phase=(0.0, 0.0)):
    """A short record of two lines; ``phase`` delays the second channel of each line."""
    t = STEP * np.arange(SHORT)
    z = rng.standard_normal((trials, 2)) + 1j * rng.standard_normal((trials, 2))
    values = np.empty((2, trials, SHORT))
    for a in range(2):
        seen = SHAPES[:, a] * (1j * APART) ** orders[a] * np.exp(1j * a * np.array(phase))
        values[a] = ((z * seen) @ np.exp(1j * np.multiply.outer(APART, t))).real
    values += SIGMA[:, None, None] * rng.standard_normal(values.shape)
    return UniformSampling(values, STEP, 0.0)


@pytest.mark.parametrize("orders", [(0, 0), (0, 1), (2, 1)])
def test_standard_deviations_are_those_of_repeated_measurements(orders):
    orders, weights = np.array(orders), 1 / SIGMA**2
    scores = []
    for seed in range(200):
        sampling = in_phase_record(np.random.default_rng(seed), orders)
        fit = fit_in_phase([sampling], APART, np.arange(2), SHAPES, weights, orders, background=1)
        error = np.concatenate([fit.omega - APART, (fit.shapes - SHAPES).ravel()])
        scores.append(error / np.sqrt(np.diag(fit.covariance)))
    rms = np.sqrt(np.mean(np.square(scores), axis=0))
    # 200 numbers: 1/√400 = 5 %, three times that
    assert np.all((rms > 0.85) & (rms < 1.15))


def p_values(orders, seeds, trials=2, **options):
    weights = 1 / SIGMA**2
    out = []
    for seed in range(seeds):
        sampling = in_phase_record(np.random.default_rng(seed), orders, trials, **options)
        fit = refine([sampling], APART, weights, tolerance=1e-8)
        out.append([phase_test(fit, j, orders).p_value[0] for j in range(2)])
    return np.array(out)


@pytest.mark.parametrize("orders", [(0, 0), (0, 1), (0, 2)])
def test_phase_test_is_uniform_for_lines_in_phase(orders):
    p = p_values(np.array(orders), 300)
    for line in p.T:
        assert scipy.stats.kstest(line, "uniform").pvalue > 1e-3


def test_phase_test_refuses_an_elliptical_line_and_it_alone():
    p = p_values(np.array([0, 0]), 20, phase=(1.0, 0.0))
    assert np.median(p[:, 0]) < 1e-20
    assert p[:, 1].min() > 1e-4


def test_phase_test_of_one_channel_has_nothing_to_refuse():
    sampling = in_phase_record(np.random.default_rng(0), np.array([0, 0]))
    one = UniformSampling(sampling.values[:1], STEP, 0.0)
    fit = evaluate([one], APART, 1 / SIGMA[:1] ** 2)
    test = phase_test(fit, 0, np.array([0]))
    np.testing.assert_array_equal(test.p_value, [1.0])
    np.testing.assert_allclose(np.abs(first_directions(test, 1)), [[1.0]])


@pytest.mark.parametrize("orders", [(0, 0), (0, 1), (2, 1)])
def test_first_direction_is_the_shape(orders):
    orders = np.array(orders)
    sampling = in_phase_record(np.random.default_rng(1), orders, trials=4)
    fit = refine([sampling], APART, 1 / SIGMA**2, tolerance=1e-8)
    for j in range(2):
        direction = first_directions(phase_test(fit, j, orders), 1)[0]
        # noise over amplitude over the root of 320 samples, about 2 %; four times that
        assert abs(direction @ SHAPES[j]) > 1 - 0.5 * 0.08**2
        assert positive_sign(direction) == 1.0


def test_sign_follows_the_first_entry_that_is_not_small():
    assert positive_sign(np.array([0.05, -1.0])) == -1.0
    assert positive_sign(np.array([-0.05, 1.0])) == 1.0
    assert positive_sign(np.array([-0.2, 1.0])) == -1.0


def test_phase_test_is_calibrated_when_channels_have_their_own_gaps():
    """One channel sparse, an acceleration beside a displacement: p-values stay uniform."""
    rng = np.random.default_rng(3)
    t = 0.1 * np.arange(150)
    omega = np.array([0.9])  # about two turns: cosine and sine are known unequally well
    p = []
    for _ in range(300):
        present = np.stack([rng.random(150) < 0.25, np.ones(150, bool)])
        x = np.cos(0.9 * t + rng.uniform(0, 2 * np.pi))
        values = np.stack([0.99 * x, -(0.9**2) * 0.1 * x]) + 0.1 * rng.standard_normal((2, 150))
        sampling = ScatteredSampling((values * present)[:, None], present, t)
        fit = evaluate([sampling], omega, np.full(2, 100.0))
        p.append(phase_test(fit, 0, np.array([0, 2])).p_value[0])
    assert scipy.stats.kstest(p, "uniform").pvalue > 1e-3


def test_no_steps_give_the_amplitudes_of_the_given_lines():
    """At the optimum nothing changes; elsewhere frequencies and shapes stay as they are given."""
    rng = np.random.default_rng(5)
    t = STEP * np.arange(SAMPLES)
    x = np.cos(np.multiply.outer(t, OMEGA)) @ np.array([[1.0, 0.5], [0.4, -0.8]])
    values = (x + 0.05 * rng.standard_normal(x.shape)).T[:, None]
    sampling = UniformSampling(np.ascontiguousarray(values), STEP, 0.0)
    shapes = np.array([[1.0, 0.5], [0.4, -0.8]])
    shapes /= np.linalg.norm(shapes, axis=1, keepdims=True)
    common = ([sampling], OMEGA, np.arange(2), shapes, np.full(2, 400.0), np.zeros(2, int))
    best = fit_in_phase(*common)
    again = fit_in_phase([sampling], best.omega, np.arange(2), best.shapes, *common[4:], steps=0)
    np.testing.assert_allclose(again.motions[0].values, best.motions[0].values, rtol=1e-9)
    given = fit_in_phase(*common, steps=0)
    np.testing.assert_array_equal(given.omega, OMEGA)
    np.testing.assert_array_equal(given.shapes, shapes)


def amplitudes_of(rng, trials, *, delayed):
    """Trials of one line with a weak second direction: a late channel, or a mode of its own."""
    t = 0.3 * np.arange(600)
    first, second = rng.standard_normal((2, trials, 2)) @ np.array([1, 1j])
    other = 0.1j * first if delayed else 0.1 * second
    z = np.stack([first, other], axis=1)
    x = (z[:, None, :] * np.exp(1.3j * t)[:, None]).real
    return Record(x + 0.05 * rng.standard_normal(x.shape), dt=0.3)


@pytest.mark.parametrize("trials", [2, 6])
def test_a_weak_mode_is_told_from_a_late_channel_by_the_trials(trials):
    found = {
        late: [
            len(
                estimate_lines(
                    amplitudes_of(np.random.default_rng([9, seed]), trials, delayed=late),
                    false_alarm=1e-3,
                ).fit.line
            )
            for seed in range(10)
        ]
        for late in (False, True)
    }
    assert found[True] == [1] * 10
    assert sum(found[False]) >= 19
