"""The explicit kernel: which relation is right for which record, and how well from data."""

import numpy as np
import pytest

from prism.correlation import CosineSum, correlate
from prism.deconvolution import (
    bootstrap_kernel,
    kernel_at_equilibrium,
    kernel_poles,
    kernel_released,
    laplace_transform,
    release_correlation,
    temperature_of,
)
from prism.errors import CannotTellError, OptionError, RecordError
from prism.pipeline import identify
from prism.record import Record
from prism.systems import LinearSystem, chain

CHAIN = chain(observed=[0])
CART = LinearSystem([[1.5, 0.5], [0.5, 0.5]], np.diag([15, 4.905]), [[1, 0]])
TWO = chain()
S = 0.05 + 1j * np.linspace(0.1, 2.2, 12)


def exact_kernel(system, s):
    weights = 1 / (s[:, None] ** 2 + system.hidden_frequencies**2)
    return np.einsum("si,ia,ib->sab", weights, system.couplings, system.couplings)


def lines_of(system, temperature=1.0):
    return CosineSum.at_equilibrium(system.frequencies, system.participation, temperature)


@pytest.mark.parametrize("system", [CHAIN, CART, TWO], ids=["chain", "cart", "two"])
def test_kubo_is_exact_at_equilibrium(system):
    """THEORY (4), with kT from the mass."""
    lines = lines_of(system, 0.7)
    assert temperature_of(lines, system.mass) == pytest.approx(0.7, rel=1e-12)
    found = kernel_at_equilibrium(lines, S, system.mass, system.stiffness)
    np.testing.assert_allclose(found, exact_kernel(system, S), rtol=1e-9, atol=1e-9)
    kernel = kernel_poles(lines, system.mass, relation="equilibrium")
    np.testing.assert_allclose(kernel.poles, system.hidden_frequencies, rtol=1e-10)
    np.testing.assert_allclose(kernel.laplace(S), exact_kernel(system, S), rtol=1e-9)


@pytest.mark.parametrize(
    ("system", "wrong", "right"),
    [(CHAIN, [0.765, 1.414, 1.848], [0.445, 1.247, 1.802]), (CART, [3.836], [3.132])],
    ids=["chain", "cart"],
)
def test_the_paper_relation_is_wrong_at_equilibrium(system, wrong, right):
    """Erratum E3: the poles of (5) on equilibrium data, beside the true ones."""
    lines = lines_of(system)
    by_paper = kernel_poles(lines, system.mass, relation="released")
    by_kubo = kernel_poles(lines, system.mass, relation="equilibrium")
    np.testing.assert_allclose(by_paper.poles, wrong, atol=5e-4)
    np.testing.assert_allclose(by_kubo.poles, right, atol=5e-4)
    np.testing.assert_allclose(system.hidden_frequencies, right, atol=5e-4)
    # the transform agrees: it is the static part and these poles
    values = kernel_released(lines, S, system.mass, system.stiffness)
    rest = values - by_paper.laplace(S)
    np.testing.assert_allclose(rest, np.broadcast_to(rest[0], rest.shape), rtol=1e-8)


def test_the_paper_relation_is_right_after_a_release():
    """THEORY (5) on x(τ) x(0)ᵀ: exact lines, then the numerical transform of a record."""
    z = TWO.participation @ TWO.mass
    amplitudes = np.einsum("ja,jb->jab", TWO.participation, z)
    lines = CosineSum(TWO.frequencies, amplitudes)
    args = (S, TWO.mass, TWO.stiffness)
    np.testing.assert_allclose(kernel_released(lines, *args), exact_kernel(TWO, S), rtol=1e-9)
    response = release_correlation(TWO.released(400, 0.05, np.eye(2)), np.eye(2))
    numeric = kernel_released(response, *args)
    assert np.abs(numeric - exact_kernel(TWO, S)).max() < 2e-3


def test_laplace_transform_states_its_truncation():
    record = TWO.free(100, 0.05, trials=40, energies=np.ones(4), rng=0)
    correlation = correlate(record)
    with pytest.raises(OptionError, match="Re s > 0"):
        laplace_transform(correlation, [1j])
    strong, weak = (laplace_transform(correlation, [s]) for s in (0.5 + 1j, 0.05 + 1j))
    assert strong.truncation.max() < 1e-9 < weak.truncation.max()
    # against a correlation that goes on: the same lines in closed form
    amplitudes = np.array([np.cos(np.outer(correlation.lags, TWO.frequencies))])[0]
    fit = np.linalg.lstsq(amplitudes, correlation.values.reshape(len(amplitudes), -1))[0]
    lines = CosineSum(TWO.frequencies, fit.reshape(4, 2, 2))
    for transform, s in ((strong, 0.5 + 1j), (weak, 0.05 + 1j)):
        error = np.abs(transform.values[0] - lines.laplace(s))
        assert np.all(error < transform.truncation[0] + 0.02)


def test_deconvolution_amplifies_noise_and_the_line_form_does_not():
    """What noise changes in Ĉ, in K̂ by its inversion and in K̂ by the lines, rms over the band."""
    system = CART
    s = 0.1 + 1j * np.linspace(0.5, 6.0, 40)
    clean = system.equilibrium(60, 0.05, trials=100, rng=0)
    rng = np.random.default_rng(1)
    noise = 0.5 * clean.std()
    noisy = Record([x + noise * rng.standard_normal(x.shape) for x in clean.trials], dt=0.05)
    parts = []
    for record in (clean, noisy):
        sampled = correlate(record, max_lag=40.0)
        model = identify(record, experiment="equilibrium", mass=system.mass, kind="steady")
        explicit = kernel_at_equilibrium(sampled, s, system.mass, system.stiffness)
        kernels = explicit, model.kernel.laplace(s)
        parts.append([one.ravel() for one in (laplace_transform(sampled, s).values, *kernels)])
    off = np.abs(np.divide(*parts[::-1]) - 1)
    seen, explicit, by_lines = np.sqrt(np.mean(off**2, axis=1))
    assert explicit > 3 * seen
    assert by_lines < seen


def test_kernel_from_data_with_error_band():
    system = CART
    s = 0.3 + 1j * np.linspace(0.5, 5.0, 8)
    record = system.equilibrium(60, 0.05, trials=200, noise=0.1, rng=0)

    def kernel(correlation):
        return kernel_at_equilibrium(correlation, s, system.mass, system.stiffness)

    band = bootstrap_kernel(record, kernel, rng=1, replicas=40)
    truth = exact_kernel(system, s)
    off = band.values - truth
    z = np.concatenate([off.real / band.std.real, off.imag / band.std.imag]).ravel()
    assert np.sqrt(np.mean(z**2)) < 2.5
    assert np.all(band.low.real <= band.high.real)
    again = bootstrap_kernel(record, kernel, rng=1, replicas=40)
    np.testing.assert_array_equal(band.std, again.std)
    # any function of the correlation, K(τ) included, and real results stay real
    assert not np.iscomplexobj(bootstrap_kernel(record, lambda c: c.values, rng=0, replicas=3).std)


def test_refusals():
    record = TWO.free(20, 0.1, trials=3, rng=0)
    with pytest.raises(RecordError, match="at least eight"):
        bootstrap_kernel(record, lambda c: c.values, rng=0)
    with pytest.raises(OptionError, match="independent displacements"):
        release_correlation(record, np.ones((3, 2)))
    with pytest.raises(OptionError, match="unknown relation"):
        kernel_poles(lines_of(TWO), TWO.mass, relation="forced")
    velocity = Record(record.trials[0], dt=0.1, quantity="velocity")
    with pytest.raises(OptionError, match="needs displacement"):
        kernel_at_equilibrium(correlate(velocity), S, TWO.mass, TWO.stiffness)


def released_lines(system, zero):
    """C(τ) after releases whose x(0) have the second moments ``zero``: B = v vᵀ μ C(0)."""
    v = system.participation
    return CosineSum(system.frequencies, np.einsum("ja,jb->jab", v, v) @ system.mass @ zero)


@pytest.mark.parametrize("zero", [np.eye(2), np.array([[2.0, 0.7], [0.7, 0.5]])])
def test_releases_of_any_second_moments_give_the_kernel(zero):
    """THEORY (5) is exact whatever ⟨x(0) x(0)ᵀ⟩ is."""
    kernel = kernel_poles(released_lines(TWO, zero), TWO.mass, relation="released")
    np.testing.assert_allclose(kernel.poles, TWO.hidden_frequencies, rtol=1e-10)
    np.testing.assert_allclose(kernel.laplace(S), exact_kernel(TWO, S), rtol=1e-9, atol=1e-12)


def test_a_pole_that_is_no_frequency_is_refused():
    # amplitudes 1 and -3 at Ω² = 1 and 4: the zero of H is at ω² = (4 - 3)/(1 - 3) < 0
    lines = CosineSum(np.array([1.0, 2.0]), np.array([1.0, -3.0])[:, None, None])
    with pytest.raises(CannotTellError, match="no frequencies"):
        kernel_poles(lines, 1.0, relation="released")
