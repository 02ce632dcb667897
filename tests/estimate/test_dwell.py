"""Stepped sines, and the cart with its pendulum from records to its receptance."""

import numpy as np
import pytest

from prism.errors import CannotTellError, OptionError
from prism.estimate.estimation import estimate_response
from prism.estimate.stepping import detected_pieces, sine_frequency
from prism.record import Record
from prism.systems import cart_pendulum, forced

DT = 0.05


def held_receptance(system, omega, dt=DT):
    """Samples of the steady motion per samples of a force that goes straight between them.

    The force of samples e^{iωkΔt} has the lines ω + 2πm/Δt with the weights sinc².
    """
    out = 0
    for m in range(-30, 31):
        w = omega + 2 * np.pi * m / dt
        weight = np.sinc(w * dt / (2 * np.pi)) ** 2
        H = np.array([system.receptance(1j * k) for k in w])
        out = out + weight[:, None, None] * H
    return out


def stepped(frequencies, samples, dt=DT, amplitudes=1.0):
    """A phase-continuous stepped sine with dwells of equal or given lengths."""
    lengths = np.broadcast_to(samples, len(frequencies))
    step = np.repeat(np.asarray(frequencies) * dt, lengths)
    height = np.repeat(np.broadcast_to(amplitudes, len(frequencies)), lengths)
    return height * np.sin(np.concatenate([[0.0], np.cumsum(step)[:-1]]))


def dwell_record(system, force, noise, rng, force_noise=0.0):
    motion = forced(system, force, DT, noise=noise, rng=rng).record.trials[0]
    measured = force + force_noise * rng.standard_normal(len(force))
    return Record(np.column_stack([measured, motion]), DT, channels=["f", "x"])


def sigmas(found, system):
    expected = held_receptance(system, found.response.omega)
    return abs(found.response.values - expected) / np.sqrt(found.response.variance)


# -- physics, end to end -------------------------------------------------------------------------


@pytest.mark.parametrize("given", [True, False])
def test_dwells_of_a_lossless_cart_with_its_free_lines(given):
    system = cart_pendulum()
    grid = np.linspace(1.0, 7.0, 60)
    record = dwell_record(system, stepped(grid, 800), 0.1, np.random.default_rng(0))
    options = {"frequencies": grid} if given else {}
    found = estimate_response(
        record, "f", excitation="dwell", settle=0.1, free_lines=system.frequencies, **options
    )
    assert len(found.response) == 60
    np.testing.assert_allclose(found.response.omega, grid, atol=1e-9)
    z = sigmas(found, system)
    assert z.max() < 4
    assert 0.7 < np.mean(z**2) < 1.3
    assert found.response.inputs == ("x",)


def test_free_motion_spoils_dwells_without_its_lines():
    system = cart_pendulum()
    grid = np.linspace(1.0, 7.0, 60)
    record = dwell_record(system, stepped(grid, 800), 0.1, np.random.default_rng(0))
    options = {"excitation": "dwell", "settle": 0.1, "frequencies": grid}
    without = estimate_response(record, "f", **options)
    fitted = estimate_response(record, "f", free_lines=system.frequencies, **options)
    expected = held_receptance(system, grid)
    errors = [np.median(abs(e.response.values - expected)) for e in (without, fitted)]
    assert errors[0] > 3 * errors[1]
    assert sigmas(without, system).max() > 20  # coloured residuals: the stated error is too small


def test_random_force_on_a_lossless_cart():
    # Leakage is physical, so near resonances the estimate is off: several resolutions away it
    # holds to within its own errors.
    system = cart_pendulum()
    rng = np.random.default_rng(1)
    force = rng.standard_normal((20, 4096, 1))
    result = forced(system, force, DT, noise=0.02, rng=rng)
    trials = [np.column_stack([f, x]) for f, x in zip(force, result.record.trials, strict=True)]
    record = Record(trials, DT, channels=["f", "x"])
    found = estimate_response(record, "f", segment=2048)
    w = found.response.omega
    away = np.abs(w[:, None] - system.frequencies).min(axis=1) > 0.5
    inside = away & (w > 0.5) & (w < 7)
    z = sigmas(found, system)[inside]
    assert z.max() < 4
    assert np.mean(z**2) < 1.5
    near = np.abs(w - system.frequencies[0]).argmin()
    assert found.coherence[near, 0] < 0.9


def test_random_force_on_a_damped_cart():
    system = cart_pendulum()
    rng = np.random.default_rng(2)
    force = rng.standard_normal((1, 60000, 1))
    result = forced(system, force, DT, loss=0.1, noise=0.05, rng=rng)
    record = Record(np.column_stack([force[0], result.record.trials[0]]), DT, channels=["f", "x"])
    found = estimate_response(record, "f", segment=2048).response
    w, modes = found.omega, system.frequencies
    weight = np.sinc(w * DT / (2 * np.pi)) ** 2
    shapes = system.participation[:, 0] ** 2
    expected = weight * sum(
        v / (W**2 - w**2 + 0.1j * W * w) for v, W in zip(shapes, modes, strict=True)
    )
    inside = (w > 0.5) & (w < 8)
    z2 = (abs(found.values[:, 0, 0] - expected) ** 2 / found.variance[:, 0, 0])[inside]
    assert np.mean(z2) < 1.6  # 5 resolutions of half width: leakage is not all of it
    assert np.sqrt(z2.max()) < 4.5


# -- errors as large as stated -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("motion_noise", "force_noise", "free"),
    [(0.3, 0.0, ()), (0.2, 0.2, ()), (0.3, 0.0, (1.4, 2.9))],
)
def test_variance_is_calibrated(motion_noise, force_noise, free):
    rng = np.random.default_rng(7)
    grid = np.linspace(1.0, 3.0, 10)
    H = 0.8 * np.exp(-0.3j * grid)
    t = DT * np.arange(600)
    squares, variances = [], []
    for _ in range(200):
        trials = []
        for w, h in zip(grid, H, strict=True):
            wave = np.exp(1j * (w * t + rng.uniform(0, 6)))
            y = (h * wave).real + 0.3 + sum(2 * np.cos(v * t + rng.uniform(0, 6)) for v in free)
            both = np.column_stack([wave.real, y])
            trials.append(both + [force_noise, motion_noise] * rng.standard_normal(both.shape))
        record = Record(trials, DT, channels=["f", "x"])
        response = estimate_response(
            record, "f", excitation="dwell", frequencies=grid, free_lines=free, settle=0.1
        ).response
        squares.append(abs(response.values[:, 0, 0] - H) ** 2)
        variances.append(response.variance[:, 0, 0])
    assert np.mean(squares) / np.mean(variances) == pytest.approx(1, abs=0.07)
    ratio = np.mean(squares, axis=0) / np.mean(variances, axis=0)
    assert ratio.min() > 0.7
    assert ratio.max() < 1.35


def test_repeated_dwells_are_averaged():
    system = cart_pendulum()
    grid = np.repeat(np.linspace(1.0, 2.0, 5), 2)
    record = dwell_record(system, stepped(grid, 800), 0.1, np.random.default_rng(0))
    options = {"excitation": "dwell", "free_lines": system.frequencies, "settle": 0.1}
    found = estimate_response(record, "f", frequencies=grid, **options)
    assert len(found.response) == 5
    assert "5 dwells repeat a frequency" in found.remarks[0]
    assert sigmas(found, system).max() < 4


# -- cutting -------------------------------------------------------------------------------------


def test_frequency_to_full_precision():
    t = DT * np.arange(700)
    for omega in (0.31, 2.7, 41.0):
        f = 3 * np.cos(omega * t + 0.4) + 7
        assert sine_frequency(t, f) == pytest.approx(omega, rel=1e-12)


def test_frequency_reaches_the_bound_of_its_variance():
    # Cramer-Rao for the frequency of a sine: 24 σ²/(A² T² N)
    rng = np.random.default_rng(3)
    t = DT * np.arange(700)
    clean = np.cos(2.7 * t + 0.4)
    errors = [
        sine_frequency(t, clean + 0.2 * rng.standard_normal(len(t))) - 2.7 for _ in range(300)
    ]
    bound = 24 * 0.2**2 / (35.0**2 * 700)
    assert np.mean(np.square(errors)) / bound == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1, 0.15])
def test_dwells_are_found_in_the_force(noise):
    rng = np.random.default_rng(5)
    frequencies = np.array([1.0, 1.3, 1.7, 2.5, 2.2, 4.0])
    lengths = np.array([700, 500, 620, 431, 555, 389])
    force = stepped(frequencies, lengths, amplitudes=[1, 1, 2, 1, 3, 1])
    force = force + noise * rng.standard_normal(len(force))
    pieces = detected_pieces(force, DT)
    assert len(pieces) == 6
    edges = np.array([a for _, a, _ in pieces])
    true = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    assert np.abs(edges - true).max() <= (2 if noise == 0 else 25)


def test_starts_may_be_samples_or_times():
    system = cart_pendulum()
    grid = np.array([1.0, 1.5, 2.0, 3.0])
    lengths = np.array([400, 500, 600, 700])
    record = dwell_record(system, stepped(grid, lengths), 0.0, np.random.default_rng(0))
    starts = [0, 400, 900, 1500]
    options = {"excitation": "dwell", "free_lines": system.frequencies}
    one = estimate_response(record, "f", starts=starts, **options)
    two = estimate_response(record, "f", starts=[DT * s for s in starts], **options)
    np.testing.assert_array_equal(one.response.values, two.response.values)
    expected = held_receptance(system, one.response.omega)
    np.testing.assert_allclose(one.response.values, expected, rtol=1e-6)


# -- what is refused -----------------------------------------------------------------------------

GRID = np.array([1.0, 1.5, 2.0, 3.0])
RECORD = dwell_record(cart_pendulum(), stepped(GRID, 500), 0.1, np.random.default_rng(0))
TRIALS = Record(list(np.split(RECORD.trials[0], 4)), DT, channels=["f", "x"])


@pytest.mark.parametrize(
    ("record", "options", "words"),
    [
        (RECORD, {"frequencies": [1.0, 2.0, 3.0]}, "explains .* of the force in dwell"),
        (RECORD, {"frequencies": GRID + 0.3}, "explains .* of the force in dwell 0"),
        (RECORD, {"frequencies": GRID, "starts": [0, 500]}, "4 frequencies for 2 dwells"),
        (RECORD, {"frequencies": -GRID}, "frequencies .* positive"),
        (RECORD, {"starts": [0, 500, 400]}, "increasing beginnings"),
        (RECORD, {"starts": [0, 1995]}, "dwell 1 .* has 5 samples"),
        (RECORD, {"settle": 1.0}, "settle is 1.0"),
        (RECORD, {"free_lines": [0.0]}, "free_lines"),
        (TRIALS, {"frequencies": GRID[:3]}, "3 frequencies for 4 dwells"),
        (TRIALS, {"starts": [0]}, "each trial is one dwell"),
    ],
)
def test_bad_options(record, options, words):
    with pytest.raises(OptionError, match=words):
        estimate_response(record, "f", excitation="dwell", **options)


def test_two_forces_do_not_dwell():
    values = np.column_stack([RECORD.trials[0], RECORD.trials[0][:, 0]])
    record = Record(values, DT, channels=["f", "x", "g"])
    with pytest.raises(OptionError, match="takes one force at a time"):
        estimate_response(record, ["f", "g"], excitation="dwell")


def test_a_random_force_is_no_stepped_sine():
    values = np.random.default_rng(0).standard_normal((2000, 2))
    record = Record(values, DT, channels=["f", "x"])
    with pytest.raises((CannotTellError, OptionError), match="stepped"):
        estimate_response(record, "f", excitation="dwell")


def test_missing_samples_are_left_out_of_the_fits():
    values = np.array(RECORD.trials[0])
    values[300:320, 1] = np.nan
    values[1900] = np.nan
    record = Record(values, DT, channels=["f", "x"])
    lines = cart_pendulum().frequencies
    options = {"excitation": "dwell", "free_lines": lines}
    found = estimate_response(record, "f", frequencies=GRID, **options)
    assert found.skipped == 21
    assert sigmas(found, cart_pendulum()).max() < 5
    with pytest.raises(CannotTellError, match="1 missing samples"):
        estimate_response(record, "f", **options)
    values[500:1000, 1] = np.nan
    gone = Record(values, DT, channels=["f", "x"])
    with pytest.raises(CannotTellError, match=r"dwell 1 .* has 0 complete samples"):
        estimate_response(gone, "f", frequencies=GRID, **options)


def test_a_free_line_at_a_dwell_leaves_it_missing():
    system = cart_pendulum()
    grid = np.sort([*GRID, 2.4, system.frequencies[0]])
    record = dwell_record(system, stepped(grid, 500), 0.1, np.random.default_rng(0))
    found = estimate_response(
        record, "f", excitation="dwell", frequencies=grid, free_lines=system.frequencies
    )
    assert len(found.response) == len(found.coherence) == 5
    assert "cannot be told from the dwell at 2.50" in found.remarks[0]


def test_motion_unrelated_to_the_dwells():
    values = np.array(RECORD.trials[0])
    values[:, 1] = np.random.default_rng(0).standard_normal(len(values))
    with pytest.raises(CannotTellError, match="no motion"):
        estimate_response(
            Record(values, DT, channels=["f", "x"]), "f", excitation="dwell", frequencies=GRID
        )
