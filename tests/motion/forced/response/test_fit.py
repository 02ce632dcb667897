"""fit_response end to end: exact systems, measured with noise, and what is found of them."""

import warnings

import numpy as np
import pytest

import prism
from prism.completion import complete
from prism.errors import CannotTellError, NoLineError, OptionError
from prism.frequency_response import FrequencyResponse
from prism.motion.forced import fit_response
from prism.motion.forced.response import _limits as limits
from prism.systems import cart_pendulum, chain
from prism.systems.linear import LinearSystem
from prism_bench.mechanics.table import SCORING, make

KINDS = ("multiplicative", "additive", "both")
CART_LINES = np.linspace(1.0, 8.0, 200)
FIVE_LINES = np.linspace(0.05, 2.1, 200)
TWENTY_LINES = np.linspace(0.02, 2.05, 400)


@pytest.fixture(scope="module")
def cart():
    return cart_pendulum()


@pytest.fixture(scope="module")
def five():
    """Five masses seen at three: two hidden modes."""
    return chain(5, observed=[0, 2, 4])


@pytest.fixture(scope="module")
def twenty():
    return chain(20, observed=[0, 9, 19])


def std_of(fit):
    """Standard deviations of frequencies, participations and losses."""
    K, n = fit.foster.participation.shape
    std = np.sqrt(np.diag(fit.covariance))
    return std[:K], std[K : K * (n + 1)].reshape(K, n), std[K * (n + 1) :]


def scores(fit, system, loss=0.0):
    """Errors of all parameters in units of their standard deviations."""
    d_omega, d_v, d_loss = std_of(fit)
    v = system.participation
    v = v * np.sign((v * fit.foster.participation).sum(axis=1, keepdims=True))
    parts = [(fit.foster.omega - system.frequencies) / d_omega]
    parts.append(((fit.foster.participation - v) / d_v).ravel())
    if fit.foster.damping != "none":
        parts.append((fit.foster.loss - loss) / d_loss)
    return np.concatenate(parts)


def hidden_of(fit):
    done = complete(fit.foster.omega, fit.foster.participation)
    return np.array([one.frequency for one in done.hidden])


def residues_of(fit):
    v = fit.foster.participation
    return np.einsum("ja,jb->jab", v, v)


def fitted_without_warning(response, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return fit_response(response, **options)


# -- order, values, errors -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_two_modes_of_cart_and_pendulum_are_found_within_their_errors(cart, kind, seed):
    fit = fit_response(cart.response(CART_LINES, noise=0.01, noise_kind=kind, rng=seed))
    assert len(fit.foster.omega) == 2
    assert fit.foster.damping == "none"
    assert np.abs(scores(fit, cart)).max() < 4.5
    assert fit.inside.all()
    assert fit.remarks == ()
    assert fit.chi2 == pytest.approx(fit.dof, rel=0.02)
    assert hidden_of(fit) == pytest.approx(cart.hidden_frequencies, rel=1e-3)


@pytest.mark.parametrize(
    ("kind", "words"),
    [("multiplicative", "% of each"), ("additive", "everywhere"), ("both", "and")],
)
def test_the_noise_is_named_and_its_size_is_right(cart, kind, words):
    response = cart.response(CART_LINES, noise=0.02, noise_kind=kind, rng=3)
    fit = fit_response(response)
    assert words in fit.noise
    error = response.values - cart.response(CART_LINES).values
    # 200 lines: a standard deviation of relative errors near resonances scatters widely
    rms = np.sqrt(np.mean(np.abs(error) ** 2))
    assert fit.noise_std[0] == pytest.approx(rms, rel=0.15 if kind == "additive" else 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_twenty_masses_at_three_ports_have_twenty_modes_and_seventeen_hidden(twenty, kind):
    fit = fit_response(twenty.response(TWENTY_LINES, noise=0.01, noise_kind=kind, rng=1))
    assert len(fit.foster.omega) == 20
    assert fit.inside.all()
    assert fit.remarks == ()
    np.testing.assert_allclose(hidden_of(fit), twenty.hidden_frequencies, rtol=1e-3)
    assert np.abs(scores(fit, twenty)).max() < 5


def test_the_fitted_form_reproduces_the_response(five):
    fit = fit_response(five.response(FIVE_LINES, noise=0.01, rng=0))
    exact = five.response(FIVE_LINES).values
    np.testing.assert_allclose(fit.foster(FIVE_LINES), exact, atol=0.02 * np.abs(exact).max())


# -- noise-free data -------------------------------------------------------------------------------


def test_noise_free_data_of_one_port_give_the_exact_answer(cart):
    fit = fitted_without_warning(cart.response(CART_LINES))
    np.testing.assert_allclose(fit.foster.omega, cart.frequencies, rtol=1e-6)
    np.testing.assert_allclose(residues_of(fit), cart.residues, rtol=1e-6)
    assert np.isfinite(fit.covariance).all()


def test_noise_free_data_of_three_ports_give_the_exact_answer(five):
    fit = fitted_without_warning(five.response(FIVE_LINES))
    assert len(fit.foster.omega) == 5
    np.testing.assert_allclose(fit.foster.omega, five.frequencies, rtol=1e-6)
    np.testing.assert_allclose(residues_of(fit), five.residues, atol=1e-6)


def test_noise_free_data_with_losses_give_the_exact_answer(five):
    fit = fitted_without_warning(five.response(FIVE_LINES, loss=0.01))
    assert fit.foster.damping == "structural"
    np.testing.assert_allclose(fit.foster.omega, five.frequencies, rtol=1e-6)
    np.testing.assert_allclose(fit.foster.loss, 0.01, rtol=1e-5)


def test_noise_free_data_of_twenty_masses_give_the_exact_answer(twenty):
    fit = fitted_without_warning(twenty.response(TWENTY_LINES))
    assert len(fit.foster.omega) == 20
    np.testing.assert_allclose(fit.foster.omega, twenty.frequencies, rtol=1e-6)


# -- losses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("law", "loss", "kind"),
    [
        ("structural", 1e-3, "multiplicative"),
        ("structural", 1e-3, "additive"),
        ("structural", 1e-2, "multiplicative"),
        ("structural", 1e-2, "additive"),
        ("viscous", 1e-3, "multiplicative"),
        ("viscous", 1e-3, "additive"),
        ("viscous", 1e-2, "multiplicative"),
        ("viscous", 1e-2, "additive"),
    ],
)
def test_losses_are_detected_and_measured(five, law, loss, kind):
    response = five.response(FIVE_LINES, loss=loss, damping=law, noise=0.01, noise_kind=kind, rng=0)
    fit = fit_response(response)
    assert len(fit.foster.omega) == 5
    assert fit.foster.damping != "none"
    if loss == 1e-2:
        assert fit.foster.damping == law
    if fit.foster.damping == law:
        assert np.abs(scores(fit, five, loss)).max() < 4
    np.testing.assert_allclose(fit.foster.loss, loss, rtol=0.2)


@pytest.mark.parametrize("law", ["structural", "viscous"])
def test_losses_of_twenty_modes_are_measured(twenty, law):
    response = twenty.response(TWENTY_LINES, loss=1e-2, damping=law, noise=0.01, rng=0)
    fit = fit_response(response)
    assert len(fit.foster.omega) == 20
    assert fit.foster.damping == law
    assert np.abs(scores(fit, twenty, 1e-2)).max() < 4.5


def test_viscous_losses_under_small_additive_noise_are_measured(twenty):
    """The law of the start is the other one, and every peak asks for modes that mend it."""
    fit = fit_response(
        twenty.response(
            TWENTY_LINES, loss=1e-2, damping="viscous", noise=0.01, noise_kind="additive", rng=0
        )
    )
    assert (len(fit.foster.omega), fit.foster.damping) == (20, "viscous")


@pytest.mark.parametrize("seed", range(10))
def test_a_system_without_losses_is_fitted_without(cart, seed):
    kind = KINDS[seed % 3]
    fit = fit_response(cart.response(CART_LINES, noise=0.02, noise_kind=kind, rng=100 + seed))
    assert fit.foster.damping == "none"
    assert not fit.foster.loss.any()
    K, n = fit.foster.participation.shape
    assert not fit.covariance[K * (n + 1) :].any()


def test_damping_is_fitted_or_left_out_as_told(cart):
    lossy = cart.response(CART_LINES, loss=1e-2, noise=0.01, rng=0)
    lossless = cart.response(CART_LINES, noise=0.01, rng=0)
    with_losses = fit_response(lossless, damped=True)
    assert with_losses.foster.damping != "none"
    assert np.all(with_losses.foster.loss < 1e-3)
    np.testing.assert_allclose(with_losses.foster.omega, cart.frequencies, rtol=1e-3)
    without = fit_response(lossy, damped=False)
    assert without.foster.damping == "none"
    assert not without.foster.loss.any()
    np.testing.assert_allclose(fit_response(lossy, damped=True).foster.loss, 0.01, rtol=0.05)


# -- a part of the band ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["multiplicative", "additive"])
def test_half_the_band_gives_the_modes_and_the_zeros_inside(twenty, kind):
    edge = 0.5 * (twenty.frequencies[9] + twenty.frequencies[10])
    lines = np.linspace(0.02, edge, 400)
    fit = fit_response(twenty.response(lines, noise=0.005, noise_kind=kind, rng=3))
    np.testing.assert_array_equal(fit.inside, fit.foster.omega <= edge)
    np.testing.assert_allclose(fit.foster.omega[fit.inside], twenty.frequencies[:10], rtol=1e-4)
    truth = twenty.hidden_frequencies[twenty.hidden_frequencies < 0.99 * edge]
    found = hidden_of(fit)
    nearest = found[np.abs(found[:, None] - truth).argmin(axis=0)]
    np.testing.assert_allclose(nearest, truth, rtol=1e-3)
    assert np.sum(found < 0.99 * edge) == len(truth)


# -- which entries were measured -------------------------------------------------------------------


def test_one_force_and_three_motions_give_all_participations(five):
    full = five.response(FIVE_LINES, noise=0.01, rng=0)
    part = FrequencyResponse(
        full.omega, full.values[:, :, :1], outputs=full.outputs, inputs=full.inputs[:1]
    )
    fit = fit_response(part)
    assert len(fit.foster.omega) == 5
    assert np.abs(scores(fit, five)).max() < 4.5


def test_missing_entries_and_lines_cost_accuracy_only(five):
    full = five.response(FIVE_LINES, noise=0.01, rng=0)
    values = full.values.copy()
    values[:, 0, 2] = values[:, 2, 0] = values[:, 1, 1] = np.nan
    values[50:60] = np.nan
    values[np.random.default_rng(0).uniform(size=values.shape) < 0.2] = np.nan
    fit = fitted_without_warning(FrequencyResponse(full.omega, values))
    assert len(fit.foster.omega) == 5
    assert np.abs(scores(fit, five)).max() < 4.5
    assert np.all(std_of(fit)[0] > std_of(fit_response(full))[0])


def test_nan_lines_are_as_good_as_absent_ones(five):
    full = five.response(FIVE_LINES, noise=0.01, rng=1)
    gone = np.zeros(200, bool)
    gone[20:30] = gone[150] = True
    values = np.where(gone[:, None, None], np.nan, full.values)
    first = fit_response(FrequencyResponse(full.omega, values))
    second = fit_response(FrequencyResponse(full.omega[~gone], full.values[~gone]))
    np.testing.assert_array_equal(first.foster.omega, second.foster.omega)
    np.testing.assert_array_equal(first.covariance, second.covariance)


def test_without_a_driving_point_products_of_participations_are_found(five):
    full = five.response(FIVE_LINES, noise=0.01, rng=0)
    fit = fit_response(
        FrequencyResponse(full.omega, full.values[:, :2, 2:], outputs=["a", "b"], inputs=["c"])
    )
    np.testing.assert_allclose(fit.foster.omega, five.frequencies, rtol=1e-3)
    expected = five.residues[:, :2, 2]
    np.testing.assert_allclose(residues_of(fit)[:, :2, 2], expected, atol=0.02 * expected.max())


def test_a_stated_variance_is_used(five):
    """Lines of a hundredfold error spoil nothing when they say so."""
    rng = np.random.default_rng(0)
    clean = five.response(FIVE_LINES).values
    level = np.where(rng.uniform(size=clean.shape) < 0.3, 1.0, 0.01) * 0.05
    real, imaginary = rng.standard_normal((2, *clean.shape))
    values = clean + level * (real + 1j * imaginary)
    fit = fit_response(FrequencyResponse(FIVE_LINES, values, variance=2 * level**2))
    assert len(fit.foster.omega) == 5
    assert "stated" in fit.noise
    assert np.abs(scores(fit, five)).max() < 4.5


# -- invariance ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("quantity", "k"), [("velocity", 1), ("acceleration", 2)])
@pytest.mark.parametrize("kind", ["multiplicative", "additive"])
def test_the_same_data_as_mobility_or_accelerance_give_the_same_modes(five, quantity, k, kind):
    plain = five.response(FIVE_LINES, noise=0.01, noise_kind=kind, rng=0)
    values = plain.values * (1j * FIVE_LINES[:, None, None]) ** k
    fit = fit_response(FrequencyResponse(FIVE_LINES, values, quantity))
    expected = fit_response(plain)
    np.testing.assert_allclose(fit.foster.omega, expected.foster.omega, rtol=1e-9)
    np.testing.assert_allclose(residues_of(fit), residues_of(expected), rtol=1e-6)


@pytest.mark.parametrize(
    ("quantity", "kind"),
    [
        ("velocity", "multiplicative"),
        ("acceleration", "multiplicative"),
        ("acceleration", "additive"),
        ("velocity", "additive"),
    ],
)
def test_noise_of_the_measured_quantity_gives_the_right_order_and_errors(five, quantity, kind):
    """White noise of an accelerometer is not white in the receptance."""
    fit = fit_response(
        five.response(FIVE_LINES, noise=0.01, noise_kind=kind, quantity=quantity, rng=0)
    )
    assert len(fit.foster.omega) == 5
    assert fit.foster.damping == "none"
    assert np.abs(scores(fit, five)).max() < 4.5


def test_other_units_give_the_same_answer_in_those_units(five):
    plain = five.response(FIVE_LINES, noise=0.01, rng=0)
    scaled = FrequencyResponse(plain.omega * 1e3, plain.values * 1e-6)
    one, two = fit_response(plain), fit_response(scaled)
    np.testing.assert_allclose(two.foster.omega, 1e3 * one.foster.omega, rtol=1e-10)
    # H = Σ v vᵀ/(Ω² - ω²): v scales as √H · ω
    np.testing.assert_allclose(residues_of(two), residues_of(one), rtol=1e-8)
    np.testing.assert_allclose(std_of(two)[0], 1e3 * std_of(one)[0], rtol=1e-6)
    np.testing.assert_allclose(std_of(two)[1], std_of(one)[1], rtol=1e-6)
    np.testing.assert_allclose(two.noise_std, 1e-6 * one.noise_std, rtol=1e-8)
    np.testing.assert_allclose(two.gains, one.gains, rtol=1e-6)


def test_the_order_of_the_ports_does_not_matter(five):
    plain = five.response(FIVE_LINES, noise=0.01, rng=0)
    p = [2, 0, 1]
    one = fit_response(plain)
    two = fit_response(FrequencyResponse(plain.omega, plain.values[:, p][:, :, p]))
    np.testing.assert_allclose(two.foster.omega, one.foster.omega, rtol=1e-10)
    np.testing.assert_allclose(residues_of(two), residues_of(one)[:, p][:, :, p], atol=1e-9)


def test_the_same_data_give_the_same_answer_twice(five):
    response = five.response(FIVE_LINES, noise=0.01, loss=1e-3, rng=0)
    one, two = fit_response(response), fit_response(response)
    np.testing.assert_array_equal(one.foster.omega, two.foster.omega)
    np.testing.assert_array_equal(one.foster.participation, two.foster.participation)
    np.testing.assert_array_equal(one.covariance, two.covariance)
    assert (one.noise, one.remarks) == (two.noise, two.remarks)


# -- equal frequencies -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["multiplicative", "additive"])
@pytest.mark.parametrize("rank", ["one", "full"])
def test_two_uncoupled_identical_oscillators_are_two_modes(kind, rank):
    twins = LinearSystem(np.eye(2), np.eye(2), np.eye(2))
    fit = fit_response(
        twins.response(np.linspace(0.3, 2.0, 100), noise=0.01, noise_kind=kind, rng=0), rank=rank
    )
    assert len(fit.foster.omega) == 2
    np.testing.assert_allclose(fit.foster.omega, 1.0, rtol=1e-3)
    np.testing.assert_allclose(residues_of(fit).sum(axis=0), np.eye(2), atol=0.01)
    assert fit.covariance.shape == (8, 8)


def with_equal_pair():
    """Three modes, the first two of one frequency, seen at two ports that mix all of them."""
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    return LinearSystem(np.eye(3), np.diag([1.0, 1.0, 3.0]), Q[:2])


@pytest.mark.parametrize("kind", ["multiplicative", "additive"])
def test_a_residue_of_rank_two_is_found_by_full_rank(kind):
    system = with_equal_pair()
    lines = np.linspace(0.3, 2.3, 120)
    fit = fit_response(system.response(lines, noise=0.01, noise_kind=kind, rng=0), rank="full")
    assert len(fit.foster.omega) == 3
    np.testing.assert_allclose(fit.foster.omega, system.frequencies, rtol=5e-3)
    np.testing.assert_allclose(
        residues_of(fit)[:2].sum(axis=0), system.residues[:2].sum(axis=0), atol=0.02
    )


def test_full_rank_adds_nothing_where_residues_have_rank_one(five):
    response = five.response(FIVE_LINES, noise=0.01, rng=0)
    np.testing.assert_array_equal(
        fit_response(response, rank="full").foster.omega, fit_response(response).foster.omega
    )


# -- refusals and remarks --------------------------------------------------------------------------


@pytest.mark.parametrize("ports", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_noise_alone_has_no_mode(ports, seed):
    rng = np.random.default_rng(seed)
    real, imaginary = rng.standard_normal((2, 100, ports, ports))
    response = FrequencyResponse(np.linspace(1.0, 5.0, 100), real + 1j * imaginary)
    with pytest.raises(NoLineError, match="no mode stands out of the noise between 1 and 5"):
        fit_response(response)


@pytest.mark.parametrize("factor", [1.2, 1.5])
def test_an_unsymmetric_response_is_remarked_with_its_size(five, factor):
    """One output channel of a wrong gain: its reciprocal values differ by that."""
    plain = five.response(FIVE_LINES, noise=0.01, rng=0)
    values = plain.values.copy()
    values[:, 0, :] *= factor
    fit = fit_response(FrequencyResponse(plain.omega, values))
    (remark,) = [str(one) for one in fit.remarks if "unsymmetric" in str(one)]
    stated = float(remark.split("differ by ")[1].split(" %")[0]) / 100
    off = ~np.eye(3, dtype=bool)
    mean = 0.5 * (values + np.swapaxes(values, 1, 2))[:, off]
    actual = np.linalg.norm((values - np.swapaxes(values, 1, 2))[:, off]) / np.linalg.norm(mean)
    assert stated == pytest.approx(actual, rel=0.06)


def test_a_symmetric_response_is_not_remarked(five):
    for seed in range(5):
        assert fit_response(five.response(FIVE_LINES, noise=0.05, rng=seed)).remarks == ()


SIGN = "alternate|direction|sign|negative"


@pytest.mark.parametrize("ports", ["one", "driving point", "output"])
def test_a_motion_measured_against_its_force_is_told(cart, five, ports):
    """A sensor mounted the wrong way round: negative residues, which no passive system has."""
    plain = (cart if ports == "one" else five).response(
        CART_LINES if ports == "one" else FIVE_LINES, noise=0.01, rng=0
    )
    values = plain.values.copy()
    if ports == "output":
        values[:, 0, :] *= -1
    else:
        values[:, 0, 0] *= -1
    response = FrequencyResponse(plain.omega, values)
    try:
        words = " ".join(map(str, fit_response(response).remarks))
    except CannotTellError as error:
        words = str(error)
    assert any(word in words for word in SIGN.split("|")), words


@pytest.mark.parametrize("most", [1, 2, 3, 5, 8])
def test_no_more_modes_than_asked_for(five, most):
    fit = fit_response(five.response(FIVE_LINES, noise=0.01, rng=0), max_modes=most)
    assert len(fit.foster.omega) <= most
    if most >= 5:
        assert len(fit.foster.omega) == 5


def test_one_mode_asked_for_is_one_mode_found(cart):
    fit = fit_response(cart.response(CART_LINES, noise=0.01, rng=0), max_modes=1)
    assert len(fit.foster.omega) == 1


def test_an_unknown_rank_is_refused(cart):
    with pytest.raises(OptionError, match="unknown rank 'two'; use one of one, full"):
        fit_response(cart.response(CART_LINES), rank="two")


def test_progress_is_told_in_words(cart):
    said = []
    fit_response(cart.response(CART_LINES, noise=0.01, rng=0), progress=said.append)
    assert said
    assert all(isinstance(text, str) and text for text in said)


# -- errors against the bound ----------------------------------------------------------------------


def exact_receptance(theta, w, n, damping):
    """``Σ v vᵀ/(Ω² - ω² + iη d)`` of ``(Ω, V, η)``, by loops, (F, n, n)."""
    N = len(theta) // (n + 1 + (damping != "none"))
    omega, V = theta[:N], theta[N : N * (n + 1)].reshape(N, n)
    eta = theta[N * (n + 1) :] if damping != "none" else np.zeros(N)
    out = np.zeros((len(w), n, n), complex)
    for k, at in enumerate(w):
        for j in range(N):
            rate = omega[j] * at if damping == "viscous" else omega[j] ** 2
            out[k] += np.outer(V[j], V[j]) / (omega[j] ** 2 - at**2 + 1j * eta[j] * rate)
    return out


def dense_bound(system, w, damping, loss, a, b):
    """Cramér-Rao bound of ``(Ω, V, η)``: every entry measured once, variance a² + b²|H|²."""
    n = len(system.channels)
    parts = [system.frequencies, system.participation.ravel()]
    if damping != "none":
        parts.append(np.full(len(system.frequencies), loss))
    theta = np.concatenate(parts)
    columns = []
    for i in range(len(theta)):
        e = np.zeros(len(theta))
        e[i] = 1e-7
        high, low = (exact_receptance(theta + t, w, n, damping) for t in (e, -e))
        columns.append(((high - low) / 2e-7).ravel())
    J, H = np.array(columns), exact_receptance(theta, w, n, damping).ravel()
    s2 = a**2 + b**2 * np.abs(H) ** 2
    A = np.hstack([J.real, J.imag]) * np.sqrt(2 / np.r_[s2, s2])
    B = 2 * b**2 * np.real(H.conj() * J) / s2
    matrix = A @ A.T + B @ B.T
    scale = 1 / np.sqrt(np.diag(matrix))
    return np.linalg.inv(matrix * np.outer(scale, scale)) * np.outer(scale, scale)


@pytest.mark.parametrize(
    ("damping", "kind"),
    [
        *(("none", kind) for kind in KINDS),
        *(("structural", kind) for kind in KINDS),
        *(("viscous", kind) for kind in KINDS),
    ],
)
def test_the_covariance_is_the_cramer_rao_bound(five, damping, kind):
    """Standard deviations within 10 %, as the level of the noise is estimated from 3600 numbers."""
    loss, nu = 0.0 if damping == "none" else 0.02, 2e-3
    law = "structural" if damping == "none" else damping
    lines = np.linspace(0.05, 2.1, 200)
    response = five.response(lines, loss=loss, damping=law, noise=nu, noise_kind=kind, rng=5)
    fit = fit_response(response)
    assert fit.foster.damping == damping
    level = nu * np.median(np.abs(five.response(lines, loss=loss, damping=law).values))
    a, b = {"additive": (level, 0), "multiplicative": (0, nu), "both": (level, nu)}[kind]
    bound = dense_bound(five, lines, damping, loss, a, b)
    used = slice(0, len(bound))
    np.testing.assert_allclose(
        np.sqrt(np.diag(fit.covariance)[used]), np.sqrt(np.diag(bound)), rtol=0.1
    )
    # correlations are free of the level of the noise; the sign of a mode turns those of its v
    v = five.participation
    turn = np.sign((v * fit.foster.participation).sum(axis=1))
    signs = np.ones(len(bound))
    signs[5:20] = np.repeat(turn, 3)
    std, root = np.sqrt(np.diag(fit.covariance)[used]), np.sqrt(np.diag(bound))
    found = fit.covariance[used, used] / np.outer(std, std)
    np.testing.assert_allclose(
        found, bound / np.outer(root, root) * np.outer(signs, signs), atol=0.05
    )


@pytest.mark.study
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_of_the_frequencies_cover_the_truth(cart, kind):
    """60 seeds, two frequencies each: 120 intervals of 95 %, binomial scatter of 2 %."""
    inside, orders = [], []
    for seed in range(60):
        fit = fit_response(cart.response(CART_LINES, noise=0.02, noise_kind=kind, rng=1000 + seed))
        orders.append(len(fit.foster.omega) == 2)
        if orders[-1]:
            inside += list(np.abs(fit.foster.omega - cart.frequencies) < 1.96 * std_of(fit)[0])
    assert all(orders)
    assert 0.88 < np.mean(inside) < 0.99


def test_a_wrong_gain_of_a_channel_is_named():
    omega = np.linspace(0.05, 2.2, 200)
    response = chain(4, observed=(0, 3)).response(omega, noise=0.002, rng=0)
    H = np.array(response.values)
    H[:, 1, :] *= 1.3
    fit = fit_response(FrequencyResponse(omega, H, outputs=["a", "b"], inputs=["a", "b"]))
    (remark,) = [one for one in fit.remarks if "unsymmetric" in one]
    assert "relative to the first explain it (a 1, b 1.3)" in remark


def test_far_too_few_modes_give_no_hamiltonian_and_no_traceback():
    response = chain(20, observed=[0, 9, 19]).response(
        np.linspace(0.02, 2.05, 400), noise=0.01, rng=1
    )
    model = prism.identify(response, max_modes=12)
    assert model.hamiltonian is None
    assert "the modes do not describe the response" in str(model.identifiability)
    assert "max_modes" in str(model.identifiability.remedy)


@pytest.mark.parametrize(("work", "said"), [(1e7, True), (None, False)])
def test_a_search_that_is_ended_early_says_so(monkeypatch, work, said):
    if work is not None:
        monkeypatch.setattr(limits, "SEARCH_WORK", work)
    system = prism.systems.chain(6, observed=[0, 3])
    response = system.response(np.linspace(0.2, 2.4, 200), noise=0.02, loss=0.01, rng=1)
    codes = {one.code for one in prism.identify(response).identifiability.remarks}
    assert ("cut-short" in codes) == said


@pytest.mark.parametrize(
    ("fault", "seed"), [("late", 1), ("late", 3), ("late", 5), ("reversed", 3)]
)
def test_modes_that_leave_most_of_a_response_give_no_hamiltonian(fault, seed):
    """With one port nothing tells the noise, and what is fitted of it takes the fault in."""
    omega = np.linspace(0.27, 1.76, 250)
    clean = chain(2, observed=[0]).response(omega, noise=0.02, loss=0.002, rng=seed)
    wrong = np.exp(-1.5j * omega)[:, None, None] if fault == "late" else -1.0
    response = prism.FrequencyResponse(omega, clean.values * wrong, quantity="displacement")
    model = prism.identify(response)
    assert model.hamiltonian is None
    assert "the modes do not describe the response" in str(model.identifiability)


@pytest.mark.parametrize(("row", "seed", "modes"), [("dampers-frf", 35, 2), ("audit", 756, 2)])
def test_friction_takes_the_place_of_a_faint_mode(row, seed, modes):
    model = prism.identify(make(row, seed, SCORING).made.data)
    assert len(model.modes) == modes
    assert model.hamiltonian.hidden[0].damping is not None
