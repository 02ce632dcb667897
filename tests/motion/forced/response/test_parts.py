"""The parts of the Foster fit, each against an obvious version of its mathematics."""

import dataclasses

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from prism.frequency_response import FrequencyResponse
from prism.motion.forced.response import order, rational
from prism.motion.forced.response.damping import alike
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.modal import ModalPoint, evaluate, jacobian
from prism.motion.forced.response.noise import ResponseNoise, deviance, estimate_noise
from prism.motion.forced.response.price import price_of
from prism.motion.forced.response.rational import mode_vector
from prism.motion.forced.response.relocate import relocated
from prism.motion.forced.response.scan import promises, scan, trial_poles
from prism.motion.forced.response.scoring import CONTROL, ResponseFit, climb, covariance, wald
from prism.motion.forced.response.start import count_peaks
from prism.search.descent import Boldness, Step
from prism.search.pursuit import LOOSE, simplified
from prism.systems import cart_pendulum, chain

DAMPINGS = ("none", "viscous", "structural")


# -- dense versions --------------------------------------------------------------------------------


def dense_receptance(x, lam, V, eta, damping, pole):
    """``Σ v vᵀ/(λ - x + i η d)`` by loops, (F, n, n); x is the squared frequency."""
    out = np.zeros((len(x), V.shape[1], V.shape[1]), complex)
    for k, square in enumerate(x):
        for v, j in zip(V, pole, strict=True):
            rate = {"none": 0.0, "structural": lam[j], "viscous": np.sqrt(lam[j] * square)}[damping]
            out[k] += np.outer(v, v) / (lam[j] - square + 1j * eta[j] * rate)
    return out


def unpacked(theta, N, K, n, damping):
    lam, V = theta[:N], theta[N : N + K * n].reshape(K, n)
    return lam, V, theta[N + K * n :] if damping != "none" else np.zeros(N)


def dense_model(theta, data, N, K, damping, pole):
    """Model of each measured pair, (F, E), of a parameter vector (lam, V, eta)."""
    lam, V, eta = unpacked(theta, N, K, data.ports, damping)
    full = dense_receptance(data.omega**2, lam, V, eta, damping, pole)
    return np.stack([full[:, a, b] for a, b in zip(data.rows, data.columns, strict=True)], axis=1)


def differences(function, theta, step=1e-6):
    """Central differences, (parameters, ...)."""
    out = []
    for i in range(len(theta)):
        e = np.zeros(len(theta))
        e[i] = step * max(abs(theta[i]), 0.1)
        out.append((function(theta + e) - function(theta - e)) / (2 * e[i]))
    return np.array(out)


def packed(point):
    parts = [point.lam, point.V.ravel()]
    return np.concatenate(parts + ([point.eta] if point.damping != "none" else []))


def random_data(n=2, F=25, seed=0, gone=0.2):
    rng = np.random.default_rng(seed)
    H = rng.standard_normal((F, n, n)) + 1j * rng.standard_normal((F, n, n))
    H[rng.uniform(size=H.shape) < gone] = np.nan
    return ResponseData.of(FrequencyResponse(np.linspace(0.2, 1.0, F), H).ports)


def random_point(damping, n=2, double=False, seed=1):
    rng = np.random.default_rng(seed)
    lam = np.array([0.35, 0.65, 0.95]) ** 2  # in the middle between lines of the grid
    V = rng.standard_normal((4 if double else 3, n))
    pole = np.array([0, 1, 2, 1]) if double else np.arange(3)
    return ModalPoint(lam, V, np.array([0.01, 0.03, 0.02]), damping, pole)


def data_of(system, omega, **options):
    return ResponseData.of(system.response(omega, **options).ports)


def point_of(system, data, damping="none", loss=0.0):
    """The exact modes in the units of the data."""
    V = system.participation / (np.sqrt(data.value_unit) * data.frequency_unit)
    lam = (system.frequencies / data.frequency_unit) ** 2
    return ModalPoint(lam, V, np.full(len(lam), loss), damping)


def climbed(data, point, noise, steps, variance=None):
    """Point and ``-2 log L`` that scoring reaches, with variances held or those of the model."""
    fit = climb(ResponseFit(data, point, noise, held=variance), steps)
    return fit.point, fit.value


# -- data ------------------------------------------------------------------------------------------


def test_data_hold_each_measurement_once_whatever_their_units():
    """Squared distances from any model, summed pair by pair, are those of the raw values."""
    rng = np.random.default_rng(3)
    H = rng.standard_normal((30, 3, 3)) + 1j * rng.standard_normal((30, 3, 3))
    H[rng.uniform(size=H.shape) < 0.2] = np.nan
    H[7] = np.nan
    H[:, 2, 2] = np.nan
    data = ResponseData.of(FrequencyResponse(np.linspace(100.0, 900.0, 30), 1e-5 * H).ports)
    assert data.total == np.isfinite(H).sum()
    assert data.omega.max() == 1.0
    assert len(data.omega) == 29
    assert list(zip(data.rows, data.columns, strict=True)) == [
        *((0, 0), (0, 1), (0, 2)),
        *((1, 1), (1, 2)),
    ]
    model = rng.standard_normal((29, 3, 3)) + 1j * rng.standard_normal((29, 3, 3))
    model = 0.5 * (model + np.swapaxes(model, 1, 2))
    raw = np.delete(1e-5 * H, 7, axis=0) / data.value_unit
    expected = np.nansum(np.abs(raw - model) ** 2)
    assert data.squares(model[:, data.rows, data.columns]).sum() == pytest.approx(expected)


# -- scoring ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("double", [False, True])
def test_the_model_is_the_sum_over_modes(damping, double):
    data, point = random_data(), random_point(damping, double=double)
    model = dense_model(packed(point), data, 3, len(point.V), damping, point.pole)
    np.testing.assert_allclose(evaluate(data, point).H, model, rtol=1e-12)


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("n", [1, 3])
def test_derivatives_equal_finite_differences(damping, double, n):
    data, point = random_data(n), random_point(damping, n, double)
    found = jacobian(data, point, evaluate(data, point))
    assert found.shape == (point.size, *data.Y.shape)
    expected = differences(
        lambda theta: dense_model(theta, data, 3, len(point.V), damping, point.pole), packed(point)
    )
    size = np.abs(expected).max(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(found / size, expected / size, atol=1e-7)


def dense_information(J, H, variance, counts, b2):
    """Information of circular complex Gaussian values, summed datum by datum."""
    P = len(J)
    total = np.zeros((P, P))
    for k in np.ndindex(H.shape):
        dH, ds2 = J[(slice(None), *k)], 2 * b2 * np.real(H[k].conj() * J[(slice(None), *k)])
        one = 2 * np.real(np.outer(dH.conj(), dH)) / variance[k]
        total += counts[k] * (one + np.outer(ds2, ds2) / variance[k] ** 2)
    return total


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize(
    "noise", [ResponseNoise(0.3, 0.0), ResponseNoise(0.0, 0.01), ResponseNoise(0.2, 0.01)]
)
def test_fisher_information_equals_the_formula_datum_by_datum(damping, noise):
    data, point = random_data(), random_point(damping, double=True)
    at = evaluate(data, point)
    J = jacobian(data, point, at)
    _, found = ResponseFit(data, point, noise).information
    variance = noise.a2 + noise.b2 * np.abs(at.H) ** 2
    expected = dense_information(J.astype(complex), at.H + 0j, variance, data.counts, noise.b2)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize(
    "noise", [ResponseNoise(0.3, 0.0), ResponseNoise(0.0, 0.01), ResponseNoise(0.2, 0.01)]
)
def test_the_gradient_is_that_of_the_log_likelihood(damping, noise):
    data, point = random_data(), random_point(damping, double=True)

    def likelihood(theta):
        H = dense_model(theta, data, 3, 4, damping, point.pole)
        return -0.5 * deviance(noise.a2 + noise.b2 * np.abs(H) ** 2, data.counts, data.squares(H))

    found, _ = ResponseFit(data, point, noise).information
    expected = differences(likelihood, packed(point))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def test_fisher_information_is_the_covariance_of_the_score_over_noise():
    """4000 draws: a variance scatters by 2 %, all of 9 × 9 entries in units of the diagonal."""
    system, w = cart_pendulum(observed=["x", "theta"]), np.linspace(1.0, 7.0, 24)
    data = data_of(system, w, loss=0.02)
    point, noise = point_of(system, data, "structural", 0.02), ResponseNoise(0.02, 0.04)
    at = evaluate(data, point)
    _, expected = ResponseFit(data, point, noise).information
    rng = np.random.default_rng(0)
    clean = np.zeros((len(w), 2, 2), complex)
    clean[:, data.rows, data.columns] = clean[:, data.columns, data.rows] = at.H
    std = np.sqrt(0.5 * (noise.a2 + noise.b2 * np.abs(clean) ** 2))
    scores = []
    for _ in range(4000):
        real, imaginary = rng.standard_normal((2, *clean.shape))
        drawn = ResponseData.of(FrequencyResponse(w, clean + std * (real + 1j * imaginary)).ports)
        Y, scatter = drawn.Y * drawn.value_unit, drawn.scatter * drawn.value_unit**2
        same = dataclasses.replace(data, Y=Y, scatter=scatter, counts=drawn.counts)
        scores.append(ResponseFit(same, point, noise).information[0])
    scores = np.array(scores)
    scale = np.sqrt(np.diag(expected))
    assert np.all(np.abs(scores.mean(axis=0) / scale) < 4.5 / np.sqrt(4000))
    np.testing.assert_allclose(
        np.cov(scores.T) / np.outer(scale, scale), expected / np.outer(scale, scale), atol=0.12
    )


def test_deviance_is_minus_twice_the_log_density_of_complex_gaussians():
    """Two measurements of each value: mean and half difference carry the same likelihood."""
    rng = np.random.default_rng(0)
    H = rng.standard_normal((20, 2, 2)) + 1j * rng.standard_normal((20, 2, 2))
    data = ResponseData.of(FrequencyResponse(np.linspace(0.1, 1.0, 20), H).ports)
    point, noise = random_point("viscous"), ResponseNoise(0.7, 0.2)
    full = dense_receptance(data.x, point.lam, point.V, point.eta, "viscous", point.pole)
    raw = H / data.value_unit
    std = np.sqrt(0.5 * (noise.a2 + noise.b2 * np.abs(full) ** 2))
    density = scipy.stats.norm.logpdf(raw.real, full.real, std)
    density = density + scipy.stats.norm.logpdf(raw.imag, full.imag, std)
    found = ResponseFit(data, point, noise).value
    # a deviance leaves out the constant 2 log π of each value
    assert found + 2 * raw.size * np.log(np.pi) == pytest.approx(-2 * density.sum(), rel=1e-12)


def test_a_value_that_is_missing_has_no_part_in_the_deviance():
    one = deviance(np.array([2.0, 0.0]), np.array([1.0, 0.0]), np.array([3.0, 0.0]))
    assert one == pytest.approx(2 * (np.log(2.0) + 1.5))


@pytest.mark.parametrize("damping", DAMPINGS)
def test_climbing_from_a_percent_away_reaches_the_maximum(damping):
    """The same maximum as a general minimiser of the dense likelihood finds from the truth."""
    system = cart_pendulum()
    loss = 0.0 if damping == "none" else 0.02
    law = "structural" if damping == "none" else damping
    data = data_of(
        system, np.linspace(1, 7, 60), loss=loss, damping=law, noise=0.05, noise_kind="both", rng=2
    )
    noise = ResponseNoise(0.05**2, 0.05**2)
    truth = point_of(system, data, damping, loss)
    start = ModalPoint(truth.lam * 1.0002, truth.V * 1.01, truth.eta * 1.1, damping)
    point, value = climbed(data, start, noise, 60)

    def cost(theta):
        H = dense_model(theta, data, 2, 2, damping, [0, 1])
        return deviance(noise.a2 + noise.b2 * np.abs(H) ** 2, data.counts, data.squares(H))

    best = scipy.optimize.minimize(
        cost,
        packed(truth),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-6, "maxiter": 4000},
    )
    assert value == pytest.approx(cost(packed(point)), rel=1e-12)
    assert value < best.fun + 1e-2


@pytest.mark.parametrize("damping", DAMPINGS[1:])
def test_one_loss_for_all_is_the_maximum_over_points_with_equal_losses(damping):
    system = cart_pendulum()
    data = data_of(
        system, np.linspace(1, 7, 60), loss=0.02, damping=damping, noise=0.05, noise_kind="both"
    )
    noise = ResponseNoise(0.05**2, 0.05**2)
    truth = point_of(system, data, damping, 0.02)
    start = dataclasses.replace(truth, V=truth.V * 1.01, eta=truth.eta * 1.1, alike=True)
    point, value = climbed(data, start, noise, 60)

    def cost(theta):
        H = dense_model(np.append(theta, theta[-1]), data, 2, 2, damping, [0, 1])
        return deviance(noise.a2 + noise.b2 * np.abs(H) ** 2, data.counts, data.squares(H))

    best = scipy.optimize.minimize(
        cost,
        packed(truth)[:-1],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-6, "maxiter": 4000},
    )
    assert point.eta[0] == point.eta[1]
    assert value < best.fun + 1e-2
    assert point.free_count == dataclasses.replace(point, alike=False).free_count - 1


def test_the_damping_is_divided_by_ten_to_the_last_digit():
    """Without a driving point the matrix is singular and magnifies every digit."""
    bold = CONTROL.accepted(Boldness(1e-9), 1.0, Step(np.zeros(1), 1.0))
    assert bold.damping == 1e-9 / 10 != 0.1 * 1e-9


def test_a_loss_for_all_stays_at_zero_where_the_sum_of_the_gradients_points_outwards():
    point = ModalPoint(np.ones(2), np.ones((2, 1)), np.zeros(2), "viscous", alike=True)
    assert list(point.free(np.array([1, 1, 1, 1, 1.0, -2.0]))) == [True] * 4 + [False] * 2
    assert point.free(np.array([1, 1, 1, 1, -1.0, 2.0])).all()


def test_parameters_at_a_bound_are_free_only_where_the_gradient_points_inside():
    point = ModalPoint(np.array([0.0, 0.5]), np.ones((2, 1)), np.array([0.0, 0.1]), "viscous")
    outwards, inwards = -np.ones(6), np.ones(6)
    assert list(point.free(outwards)) == [False, True, True, True, False, True]
    assert point.free(inwards).all()


# -- noise -----------------------------------------------------------------------------------------

KINDS = {"additive": (0.2, 0.0), "multiplicative": (0.0, 0.1), "both": (0.2, 0.1)}


def noisy_squares(a, b, seed, F=1500):
    """Powers over four decades, and squared residuals of one or two measurements."""
    rng = np.random.default_rng(seed)
    power = 10 ** rng.uniform(-2, 2, (F, 2))
    counts = rng.integers(1, 3, (F, 2)).astype(float)
    squares = (a**2 + b**2 * power) * rng.gamma(counts)
    return power, counts, squares


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_kind_and_the_level_of_the_noise_are_found(kind, seed):
    a, b = KINDS[kind]
    power, counts, squares = noisy_squares(a, b, seed)
    noise = estimate_noise(power, counts, squares)
    assert (noise.a2 > 1e-12, noise.b2 > 1e-12) == (a > 0, b > 0)
    # 4500 measurements: a single level is known to .75 %, each of two to some 2 %
    assert np.sqrt(noise.a2) == pytest.approx(a, rel=0.08, abs=1e-6)
    assert np.sqrt(noise.b2) == pytest.approx(b, rel=0.08, abs=1e-6)


def test_the_noise_is_the_maximum_of_the_likelihood():
    power, counts, squares = noisy_squares(0.2, 0.1, 9)
    noise = estimate_noise(power, counts, squares)

    def cost(log):
        a2, b2 = np.exp(log)
        return deviance(a2 + b2 * power, counts, squares)

    best = scipy.optimize.minimize(cost, np.log([0.04, 0.01]), method="Nelder-Mead")
    assert cost(np.log([noise.a2, noise.b2])) == pytest.approx(best.fun, abs=0.01)


def test_values_that_are_missing_do_not_count_as_quiet():
    power, counts, squares = noisy_squares(0.2, 0.0, 4)
    counts[::2], squares[::2] = 0.0, 0.0
    assert np.sqrt(estimate_noise(power, counts, squares).a2) == pytest.approx(0.2, rel=0.08)


def test_a_stated_variance_is_taken_up_to_its_factor_where_it_fits_better():
    rng = np.random.default_rng(0)
    power, counts, _ = noisy_squares(0.2, 0.1, 0)
    shape = 10 ** rng.uniform(-3, 0, power.shape)
    noise = estimate_noise(power, counts, 1.7 * shape * rng.gamma(counts), shape)
    assert noise.a2 == noise.b2 == 0
    assert noise.stated == pytest.approx(1.7, rel=0.06)
    np.testing.assert_allclose(noise.variance(power, shape), noise.stated * shape)


def test_residuals_of_zero_give_a_noise_and_no_warning():
    """Exact data: the noise is next to nothing, whatever it is called."""
    power = np.linspace(0.1, 10, 50)
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        noise = estimate_noise(power, np.ones(50), np.zeros(50))
    assert 0 <= noise.variance(power, None).max() < 1e-18


# -- the rational start ----------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [0.0, 1e-3, 0.05])
def test_relocation_finds_the_poles_of_rational_data(loss):
    x = np.linspace(0.02, 1.0, 120) ** 2
    truth = np.array([0.1013, 0.3457, 0.4011, 0.8123]) * (1 + 1j * loss)
    R = np.array([[1.0, 0.5], [0.2, -0.3], [2.0, 0.1], [0.4, 0.9]])
    Y = (1 / (truth - x[:, None])) @ R + np.array([0.3, -0.1])
    start = np.linspace(x[0], x[-1], 6)[1:-1] * (1 + 0.02j)
    weights = 1 / np.maximum(np.abs(Y), 1e-3)
    poles = rational.relocate(x, Y, weights, start, 15)
    np.testing.assert_allclose(poles, truth, atol=1e-6)


def test_residues_of_exact_poles_are_exact_where_values_are_missing():
    x = np.linspace(0.02, 1.0, 80) ** 2
    poles = np.array([0.1013, 0.4011, 0.8123]) * (1 + 0.01j)
    R = np.array([[1.0, 0.5], [2.0, 0.1], [0.4, -0.9]])
    Y, weights = (1 / (poles - x[:, None])) @ R, np.ones((80, 2))
    weights[::7, 1] = 0.0
    found, _, chi2 = rational.residues(x, Y, weights, poles)
    np.testing.assert_allclose(found, R, atol=1e-10)
    assert chi2 < 1e-18


def test_residues_have_the_standard_deviations_that_they_state():
    """600 draws: a standard deviation scatters by 3 %, chi2 by 6 % of its spread."""
    x = np.linspace(0.02, 1.0, 40) ** 2
    poles, R = np.array([0.1013, 0.4011, 0.8123]) * (1 + 0.05j), np.array([1.0, 2.0, 0.4])
    clean, sigma = (1 / (poles - x[:, None])) @ R, np.linspace(0.5, 2.0, 40)
    rng = np.random.default_rng(0)
    found, chi2 = [], []
    for _ in range(600):
        real, imaginary = rng.standard_normal((2, 40))
        Y = clean + sigma * (real + 1j * imaginary) / np.sqrt(2)
        estimate, std, value = rational.residues(x, Y[:, None], 1 / sigma[:, None], poles)
        found.append(estimate[:, 0])
        chi2.append(value)
    np.testing.assert_allclose(np.std(found, axis=0), std[:, 0], rtol=0.12)
    assert np.mean(chi2) == pytest.approx(80 - 3, abs=5 * np.sqrt(2 * 77 / 600))


def test_rank_one_returns_the_vector_of_a_rank_one_matrix():
    v, spread = np.array([1.0, -2.0, 0.1]), np.array([0.3, 1.0, 2.0])
    found = rational.rank_one(np.outer(v, v), spread)
    np.testing.assert_allclose(np.outer(found, found), np.outer(v, v), atol=1e-14)


def test_rank_one_is_nearest_in_units_of_the_errors():
    """No other vector of 3000 lies nearer in the whitened distance."""
    rng = np.random.default_rng(0)
    A, spread = rng.standard_normal((3, 3)), np.array([0.3, 1.0, 2.0])
    R = A @ A.T

    def distance(v):
        return np.linalg.norm((R - np.outer(v, v)) / np.outer(spread, spread))

    best = rational.rank_one(R, spread)
    others = best + rng.standard_normal((3000, 3)) * 10 ** rng.uniform(-4, 0, (3000, 1))
    assert distance(best) <= min(distance(v) for v in others)


def test_rank_one_of_a_negative_matrix_is_zero():
    assert not rational.rank_one(-np.eye(2), np.ones(2)).any()


def pairs_data(missing):
    """Data of three ports in which some pairs were never measured."""
    H = np.random.default_rng(0).standard_normal((10, 3, 3)) + 0j
    for a, b in missing:
        H[:, a, b] = H[:, b, a] = np.nan
    return ResponseData.of(FrequencyResponse(np.linspace(1, 2, 10), H).ports)


@pytest.mark.parametrize(
    "missing",
    [[], [(0, 1)], [(1, 1)], [(1, 1), (1, 2)], [(0, 0), (1, 1), (0, 1)], [(0, 0), (0, 2), (1, 1)]],
)
def test_a_mode_vector_needs_only_pairs_that_reach_all_ports(missing):
    data, v = pairs_data(missing), np.array([0.5, -1.0, 2.0])
    found = mode_vector(data, v[data.rows] * v[data.columns], np.full(len(data.rows), 0.1))
    if missing == [(0, 0), (0, 2), (1, 1)]:
        # port 1 links to 0 only, and neither has a driving point: 0 is seen by nothing known
        assert found is None
    else:
        np.testing.assert_allclose(np.outer(found, found), np.outer(v, v), atol=1e-12)


def test_a_residue_as_negative_as_positive_is_no_mode():
    data = pairs_data([])
    full = np.diag([1.0, -1.0, 0.0])
    assert mode_vector(data, full[data.rows, data.columns], np.full(6, 0.1)) is None
    data = pairs_data([(0, 1)])
    assert mode_vector(data, -np.ones(5), np.full(5, 0.1)) is None


def test_a_mode_vector_without_driving_point_has_the_right_products():
    data, v = pairs_data([(0, 0), (1, 1), (2, 2), (0, 1)]), np.array([0.5, -1.0, 2.0])
    R = v[data.rows] * v[data.columns]
    for sign in (1, -1):
        found = mode_vector(data, sign * R, np.full(len(R), 0.1))
        np.testing.assert_allclose(found[data.rows] * found[data.columns], sign * R, atol=1e-12)


@pytest.mark.parametrize("masses", [1, 3, 6])
def test_each_separate_resonance_is_a_peak(masses):
    system = chain(masses, observed=[0])
    assert count_peaks(data_of(system, np.linspace(0.05, 2.1, 300))) == masses


def test_ripples_of_less_than_a_factor_e_in_power_are_no_peaks():
    w = np.linspace(1.0, 2.0, 50)
    ripples = FrequencyResponse(w, 1 + 0.2 * np.sin(40 * w))
    assert count_peaks(ResponseData.of(ripples.ports)) == 0
    peaks = FrequencyResponse(w, np.exp(np.cos(2 * np.pi * 3 * (w - 1.5))))
    assert count_peaks(ResponseData.of(peaks.ports)) == 3


# -- the scan --------------------------------------------------------------------------------------


def dense_gain(data, point, variance, lam, v):
    """Fall of chi² when ``c v vᵀ/(lam - x)``, c >= 0, joins, the other modes moving along.

    Linear least squares on all real numbers: the columns are the derivatives of the present modes
    and the new term.
    """
    at = evaluate(data, point)
    root = np.sqrt(2 * data.counts / variance)
    new = (v[data.rows] * v[data.columns]) / (lam - data.x[:, None])
    columns = [*jacobian(data, point, at), new]
    A = np.array([np.r_[(c * root).real.ravel(), (c * root).imag.ravel()] for c in columns]).T
    r = (data.Y - at.H) * root
    r = np.r_[r.real.ravel(), r.imag.ravel()]
    A = A / np.linalg.norm(A, axis=0)

    def left(B):
        return np.sum((r - B @ np.linalg.lstsq(B, r, rcond=None)[0]) ** 2)

    return left(A[:, :-1]) - left(A)


@pytest.fixture(scope="module")
def five():
    """A chain of five masses seen at three, with its data and its true modes."""
    system = chain(5, observed=[0, 2, 4])
    data = data_of(system, np.linspace(0.05, 2.1, 150), noise=1e-3, noise_kind="additive", rng=0)
    noise = ResponseNoise((1e-3) ** 2, 0.0)
    point, _ = climbed(data, point_of(system, data), noise, 30)
    return data, point, noise


def test_the_gain_that_the_scan_promises_is_that_of_least_squares(five):
    data, point, noise = five
    without = point.without(2)
    variance = data.variance(noise, data.Y)
    for one in scan(ResponseFit(data, without, noise), variance):
        expected = dense_gain(data, without, variance, one.lam, one.v)
        assert one.gain == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("gone", range(5))
def test_a_weak_mode_that_was_taken_out_is_proposed_first_with_its_gain(gone):
    """One mode is weak, as the others carry the scan off when they cannot stay where they are."""
    system = chain(5, observed=[0, 2, 4])
    w = np.linspace(0.05, 2.1, 150)
    exact = system.response(w)
    weak = 0.05
    v, lam = system.participation[gone], system.frequencies[gone] ** 2
    pull = (1 - weak**2) * np.outer(v, v)[None] / (lam - w[:, None, None] ** 2)
    rng = np.random.default_rng(gone)
    real, imaginary = rng.standard_normal((2, 150, 3, 3))
    clean = exact.values - pull
    data = ResponseData.of(FrequencyResponse(w, clean + 2e-3 * (real + 1j * imaginary)).ports)
    noise = ResponseNoise(2 * (2e-3 / data.value_unit) ** 2, 0.0)
    truth = point_of(system, data)
    truth.V[gone] *= weak
    full, value = climbed(data, truth, noise, 30)
    without, before = climbed(data, full.without(gone), noise, 30)
    found = scan(ResponseFit(data, without, noise), data.variance(noise, data.Y))
    k = np.searchsorted(data.x, truth.lam[gone])
    assert data.x[k - 1] < found[0].lam < data.x[k]
    direction = found[0].v / np.linalg.norm(found[0].v)
    assert abs(direction @ v) > 0.99 * np.linalg.norm(v)
    assert found[0].gain == max(one.gain for one in found)
    # four trial places in each interval: the gain of the best of them is a part of the whole
    assert 0.4 * (before - value) < found[0].gain < 1.1 * (before - value)
    joined = without.joined(found[0].lam, found[0].v, 0.0)
    _, after = climbed(data, joined, noise, 60)
    assert after == pytest.approx(value, abs=0.5)


def test_a_complete_model_is_promised_no_gain_beyond_the_price(five):
    data, point, noise = five
    variance = data.variance(noise, data.Y)
    assert scan(ResponseFit(data, point, noise), variance)[0].gain < price_of(data, 1e-3, 0.0)


def test_candidates_lie_apart_and_are_sorted_by_gain(five):
    data, point, noise = five
    first = ResponseFit(data, point.take(np.array([0])), noise)
    found = scan(first, first.data_variance, most=4)
    gains = [one.gain for one in found]
    assert gains == sorted(gains, reverse=True)
    for i, one in enumerate(found):
        step = np.gradient(data.x)[np.abs(data.x - one.lam).argmin()]
        assert all(abs(one.lam - other.lam) > 2 * step for other in found[:i])


def test_trial_poles_avoid_the_lines_and_reach_beyond_the_band():
    x = np.linspace(0.2, 1.0, 30) ** 2
    lam = trial_poles(x)
    assert np.abs(lam[:, None] - x).min() > 0
    assert lam.min() == 0
    assert lam.max() > 2
    inside = lam[(lam > x[0]) & (lam < x[-1])]
    assert np.all(np.histogram(inside, x)[0] >= 4)


def test_a_second_vector_is_promised_at_a_pole_that_needs_one():
    rng = np.random.default_rng(0)
    point = random_point("none", double=True)
    data = random_data(F=60, gone=0.0)
    real, imaginary = rng.standard_normal((2, *data.Y.shape))
    Y = evaluate(data, point).H + 1e-3 * (real + 1j * imaginary)
    data = dataclasses.replace(data, Y=Y, scatter=0 * data.scatter)
    single = ModalPoint(point.lam, point.V[:3], point.eta)
    gains, vectors = promises(ResponseFit(data, single, ResponseNoise(2e-6)))
    assert gains.argmax() == 1
    assert np.linalg.norm(vectors[1]) > 0


# -- moving poles ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [-2.0, -1.0, 1.0, 2.0])
@pytest.mark.parametrize("j", [1, 3])
def test_a_pole_displaced_across_lines_comes_back(five, shift, j):
    data, point, noise = five
    variance = data.variance(noise, data.Y)
    best = ResponseFit(data, point, noise, held=variance).value
    lam = point.lam.copy()
    lam[j] += shift * np.gradient(data.x)[np.searchsorted(data.x, lam[j])]
    displaced = ModalPoint(lam, point.V.copy(), point.eta)
    stuck, held = climbed(data, displaced, noise, 40, variance)
    back = relocated(ResponseFit(data, stuck, noise, held=variance)).point
    back, value = climbed(data, back, noise, 40, variance)
    assert held > best + 1000
    assert value == pytest.approx(best, abs=0.1)
    np.testing.assert_allclose(back.lam, point.lam, rtol=1e-5)


def test_a_good_fit_is_left_alone(five):
    data, point, noise = five
    same = relocated(ResponseFit(data, point, noise, held=data.variance(noise, data.Y)))
    np.testing.assert_array_equal(same.point.lam, point.lam)


# -- order -----------------------------------------------------------------------------------------


def fit_of(data, point, noise):
    return climb(ResponseFit(data, point, noise), 40)


def shrunk(fit):
    """Without what does not pay at a false alarm of 1e-3."""
    family = order.ResponseModes(price_of(fit.data, 1e-3, 0.0))
    return simplified(family, family.look(fit), LOOSE)


def test_a_mode_that_is_split_in_two_is_merged(five):
    data, point, noise = five
    step = np.gradient(data.x)[np.searchsorted(data.x, point.lam[2])]
    lam = np.insert(point.lam, 3, point.lam[2] + 0.3 * step)
    V = np.insert(point.V, 3, np.sqrt(0.1) * point.V[2], axis=0)
    V[2] *= np.sqrt(0.9)
    split = fit_of(data, ModalPoint(lam, V, np.zeros(6)), noise)
    assert len(split.point) == 6
    whole = shrunk(split)
    np.testing.assert_allclose(whole.point.lam, point.lam, rtol=1e-5)


@pytest.mark.parametrize("place", [0.3, 0.75, 1.5])
def test_a_mode_that_noise_made_is_dropped(five, place):
    data, point, noise = five
    extra = point.joined(place + 1e-3, np.full(3, 1e-4), 0.0).sorted()
    fewer = shrunk(fit_of(data, extra, noise))
    np.testing.assert_allclose(fewer.point.lam, point.lam, rtol=1e-5)


def test_true_modes_are_neither_merged_nor_dropped(five):
    data, point, noise = five
    same = shrunk(fit_of(data, point, noise))
    assert len(same.point) == 5


def test_a_mode_that_is_missing_joins(five):
    data, point, noise = five
    fit = fit_of(data, point.without(1), noise)
    found = order.select(fit, price_of(data, 1e-3, 0.0), lambda text: None)
    np.testing.assert_allclose(found.point.lam, point.lam, rtol=1e-5)


def test_the_significance_of_a_mode_is_its_length_in_units_of_its_error(five):
    data, point, noise = five
    state = fit_of(data, point, noise)
    C = covariance(state)
    at = state.at
    J = jacobian(data, state.point, at).astype(complex)
    matrix = dense_information(J, at.H + 0j, np.full(at.H.shape, noise.a2), data.counts, 0.0)
    scale = 1 / np.sqrt(np.diag(matrix))
    expected = np.linalg.inv(matrix * np.outer(scale, scale)) * np.outer(scale, scale)
    np.testing.assert_allclose(C, expected, rtol=1e-5, atol=1e-8 * np.abs(expected).max())
    for j, worth in enumerate(wald(state)):
        part = slice(5 + 3 * j, 8 + 3 * j)
        v = state.point.V[j]
        assert worth == pytest.approx(v @ np.linalg.solve(expected[part, part], v), rel=1e-4)


def losses_fit(eta, seed):
    """Three modes with these losses and 1 % noise, fitted with a loss each."""
    rng = np.random.default_rng(seed)
    point = ModalPoint(np.array([0.1, 0.35, 0.8]), np.ones((3, 1)), np.asarray(eta), "structural")
    omega = np.linspace(0.2, 1.0, 200)
    blank = ResponseData.of(FrequencyResponse(omega, np.ones((200, 1, 1), complex)).ports)
    H = evaluate(blank, point).H[:, :, None]
    e = rng.standard_normal(H.shape) + 1j * rng.standard_normal(H.shape)
    data = ResponseData.of(FrequencyResponse(omega, H + 0.01 * np.median(np.abs(H)) * e).ports)
    noise = ResponseNoise(2 * (0.01 * float(np.median(np.abs(data.Y)))) ** 2, 0.0)
    scaled = dataclasses.replace(point, V=point.V / np.sqrt(data.value_unit))
    return order.settle(fit_of(data, scaled, noise))


def test_equal_losses_are_called_unlike_as_often_as_stated():
    found = [alike(losses_fit([0.02] * 3, seed)) for seed in range(200)]
    unlike = sum(one is None for one in found)
    low, high = scipy.stats.binom.ppf([1e-3, 1 - 1e-3], 200, 0.05)
    assert low <= unlike <= high
    shared = next(one for one in found if one is not None)
    assert np.ptp(shared.point.eta) == 0
    assert shared.point.alike


def test_losses_that_differ_are_not_alike():
    assert all(alike(losses_fit([0.02, 0.025, 0.02], seed)) is None for seed in range(5))
