"""Both samplings against the sums written out, in extended precision where there is one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import dense

from prism.search.columns import ScatteredSampling, waves
from prism.search.sampling import UniformSampling

COUNTS = (8, 9, 100, 1001, 8000)
STEP, START = 0.05, 3.0


def grid(samples):
    return START + STEP * np.arange(samples)


def both(values, times=None):
    """The same complete data in both samplings."""
    samples = values.shape[-1]
    times = grid(samples) if times is None else times
    present = np.ones((len(values), samples), bool)
    return UniformSampling(values, STEP, START), ScatteredSampling(values, present, times)


def noise(samples, channels=2, trials=3, seed=0):
    return np.random.default_rng(seed).standard_normal((channels, trials, samples))


def hard_frequencies(samples):
    """Near zero, nearly coincident (a millionth of the resolution), near Nyquist."""
    resolution, nyquist = 2 * np.pi / (samples * STEP), np.pi / STEP
    middle = 0.37 * nyquist
    low = np.array([1e-9, 0.3, 1.0, 1.5, 1.5 + 1e-6]) * resolution
    high = nyquist - np.array([0.5, 0.1]) * resolution
    return np.concatenate([low, [middle, middle + 1e-6 * resolution], high])


def rounding(times, omega):
    """Error of u and of cos φu: that of the times, in units of the half length and the phase."""
    per_time = np.max(omega) + 2 / (times[-1] - times[0])
    return 2 * np.finfo(float).eps * (1 + per_time * np.max(np.abs(times)))


def exact(times):
    """The times as the uniform sampling means them, before they are rounded."""
    return np.longdouble(START) + np.longdouble(STEP) * np.arange(len(times)).astype(np.longdouble)


def assert_inner_products(sampling, values, times, omega, present):
    """Gram matrix, projection, residual and power against the dense forms."""
    precise, frequencies = exact(times), omega.astype(np.longdouble)
    tol = rounding(times, omega)
    Q = np.broadcast_to(sampling.gram(omega), (len(values),) + (4 * len(omega) + 2,) * 2)
    expected = dense.gram(precise, frequencies, present)
    # every entry is a sum of as many products of two numbers of size one
    assert np.abs(Q - expected).max() <= 2 * tol * len(times)
    seen = np.where(present[:, None], values, 0.0)
    error = np.abs(sampling.moments(omega)[1] - dense.project(seen, precise, frequencies, present))
    assert np.all(error <= tol * np.abs(seen).sum(axis=-1)[:, None])
    c = np.random.default_rng(9).standard_normal((len(values), 2 * len(omega) + 2, values.shape[1]))
    rest = sampling.residual(omega, c)
    error = np.abs(rest.values - dense.residual(seen, precise, frequencies, c, present))
    assert np.all(error <= tol * (1 + np.abs(c).sum(axis=1)[:, :, None]))
    np.testing.assert_allclose(sampling.power, (seen**2).sum(axis=(1, 2)), rtol=1e-13)
    np.testing.assert_allclose(rest.power, (rest.values**2).sum(axis=(1, 2)), rtol=1e-13)


@pytest.mark.parametrize("samples", COUNTS)
@pytest.mark.parametrize("kind", [0, 1], ids=["uniform", "scattered"])
def test_inner_products_are_those_of_the_written_out_columns(samples, kind):
    values = noise(samples)
    present = np.ones((2, samples), bool)
    omega = hard_frequencies(samples)
    assert_inner_products(both(values)[kind], values, grid(samples), omega, present)


@pytest.mark.parametrize("samples", COUNTS)
def test_without_lines_only_offset_and_drift_are_left(samples):
    values = noise(samples)
    none = np.zeros(0)
    for sampling in both(values):
        u = dense.scaled_time(grid(samples))
        Q = sampling.gram(none)[0]
        np.testing.assert_allclose(Q, [[samples, 0], [0, u @ u]], rtol=1e-13, atol=1e-9)
        np.testing.assert_allclose(
            sampling.moments(none)[1][:, 1], values @ u, atol=1e-11 * samples
        )


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(
    samples=st.integers(8, 400),
    places=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6),
    seed=st.integers(0, 99),
)
def test_any_frequencies_of_the_band(samples, places, seed):
    top = np.pi / STEP - 0.5 * 2 * np.pi / (samples * STEP)
    omega = np.sort(np.array(places)) * top
    values = noise(samples, trials=1, seed=seed)
    for sampling in both(values):
        assert_inner_products(sampling, values, grid(samples), omega, np.ones((2, samples), bool))


def test_the_two_samplings_describe_themselves_alike():
    uniform, scattered = both(noise(101))
    for name in ("n_channels", "n_trials", "start"):
        assert getattr(uniform, name) == getattr(scattered, name)
    for name in ("centre", "half", "step", "duration"):
        assert getattr(uniform, name) == pytest.approx(getattr(scattered, name), rel=1e-12)
    assert uniform.duration == pytest.approx(101 * STEP)
    np.testing.assert_array_equal(uniform.counts, scattered.counts)


@pytest.mark.parametrize("samples", [9, 100, 1001, 70_001])  # the last fills several chunks
def test_missing_samples_differ_by_channel(samples):
    rng = np.random.default_rng(samples)
    present = rng.random((2, samples)) > 0.3
    values = np.where(present[:, None], noise(samples, trials=2), 0.0)
    sampling = ScatteredSampling(values, present, grid(samples))
    omega = hard_frequencies(samples)[[1, 3, 5, 7]]
    assert_inner_products(sampling, values, grid(samples), omega, present)
    np.testing.assert_array_equal(sampling.counts, present.sum(axis=1))
    assert sampling.gram(omega).shape[0] == 2
    shared = ScatteredSampling(values, present[:1].repeat(2, axis=0), grid(samples))
    assert shared.gram(omega).shape[0] == 1
    np.testing.assert_array_equal(shared.gram(omega)[0], sampling.gram(omega)[0])


def test_values_where_a_sample_is_missing_stay_zero_in_the_residual():
    present = np.ones((1, 50), bool)
    present[0, 10:20] = False
    sampling = ScatteredSampling(np.zeros((1, 1, 50)), present, grid(50))
    rest = sampling.residual(np.array([2.0]), np.ones((1, 4, 1))).values
    assert np.all(rest[0, 0, ~present[0]] == 0)
    assert np.all(rest[0, 0, present[0]] != 0)


# -- spectra -----------------------------------------------------------------------------------


def band(samples, padding=2):
    spacing = 2 * np.pi / (padding * samples * STEP)
    return spacing, padding * samples // 2 + 1


@pytest.mark.parametrize("samples", COUNTS[:-1])
def test_uniform_spectrum_is_the_discrete_fourier_transform(samples):
    values = 1e30 * noise(samples)  # its square is outside single precision
    spacing, count = band(samples)
    unit = np.array([1e30, 3e30])
    power = UniformSampling(values, STEP, START).spectrum(spacing, count, unit)
    omega = spacing * np.arange(count)
    present = np.ones((2, samples), bool)
    expected = dense.periodogram(values / unit[:, None, None], grid(samples), omega, present)
    assert power.shape == (2, count)
    assert power.dtype == np.float32
    # single precision: its rounding on the largest amplitude, doubled by squaring, three trials
    largest = expected.max(axis=1, keepdims=True)
    assert np.all(np.abs(power - expected) <= 10 * np.finfo(np.float32).eps * largest)


def test_uniform_spectrum_at_the_spacing_of_a_longer_record():
    samples = 300
    t = grid(samples)
    values = (np.cos(7.3 * t) + 0.1 * noise(samples, 1, 1))[..., :]
    spacing = 2 * np.pi / (2.7183 * samples * STEP)
    count = int(np.pi / STEP / spacing)
    power = UniformSampling(values, STEP, START).spectrum(spacing, count, np.ones(1))
    expected = dense.periodogram(values, t, spacing * np.arange(count), np.ones((1, samples), bool))
    # linear interpolation of a peak (1 - (ωT)²/12) at eight points per 2π/T: π²/768 of its height
    assert np.abs(power - expected).max() <= np.pi**2 / 768 * expected.max()


def test_scattered_spectrum_attenuates_the_top_of_the_band_by_less_than_three_percent():
    rng = np.random.default_rng(4)
    samples = 600
    times = START + np.sort(rng.uniform(0, samples * STEP, samples))
    spacing, count = band(samples)
    top = spacing * (count - 1)
    values = np.stack([np.cos(top * times), np.cos(0.5 * top * times)])[:, None]
    present = rng.random((2, samples)) > 0.2
    values = np.where(present[:, None], values, 0.0)
    power = ScatteredSampling(values, present, times).spectrum(spacing, count, np.ones(2))
    expected = dense.periodogram(values, times, spacing * np.arange(count), present)
    ratio = power / expected
    assert 0.97 < ratio[0, -1] < 1.0
    # half the frequency, a quarter of the loss
    assert 1 - 0.03 / 4 < ratio[1, (count - 1) // 2] < 1.0
    assert np.abs(power - expected).max() < 0.03 * expected.max()


def test_scattered_spectrum_of_a_uniform_grid_is_the_uniform_one():
    values = noise(256)
    spacing, count = band(256)
    uniform, scattered = (s.spectrum(spacing, count, np.ones(2)) for s in both(values))
    low = count // 4  # the attenuation grows as the square of the frequency: 3 % / 16 here
    largest = uniform.max(axis=1, keepdims=True)
    assert np.all(np.abs(scattered - uniform)[:, :low] <= 0.03 / 16 * largest)
    assert np.all(np.abs(scattered - uniform) <= 0.03 * largest)


@pytest.mark.parametrize("samples", [2, 64, 65, 1000])
def test_waves_on_a_grid_are_those_of_the_written_out_exponentials(samples):
    times, rates = 7.0 + 0.03 * np.arange(samples), np.array([-0.2 + 3j, 0.01 - 40j, 5j])
    direct = waves(times, rates, even=False)
    np.testing.assert_allclose(waves(times, rates, even=True), direct, rtol=1e-11)
    assert waves(times, rates[:0], even=True).shape == (0, samples)


@pytest.mark.parametrize("share", [0.05, 0.4, 0.8])
def test_gram_matrices_of_channels_with_few_or_many_missing_samples(share):
    rng = np.random.default_rng(5)
    times, omega = 0.1 * np.arange(300), np.array([0.7, 1.9])
    present = rng.random((2, 300)) > share
    sampling = ScatteredSampling(
        rng.standard_normal((2, 1, 300)) * present[:, None], present, times
    )
    Q, _ = sampling.moments(omega)
    E = sampling.columns(omega, slice(None))
    for gram, mask in zip(Q, present, strict=True):
        np.testing.assert_allclose(gram, (E * mask[:, None]).T @ E, atol=1e-10)


def test_only_times_on_a_grid_are_even():
    times = 3.0 + 0.1 * np.arange(200)
    shaken = times + 1e-6 * np.random.default_rng(0).standard_normal(200)
    for t, even in ((times, True), (shaken, False)):
        values = np.zeros((1, 1, 200))
        assert ScatteredSampling(values, np.ones((1, 200), bool), t).even is even
