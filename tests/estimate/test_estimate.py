"""Frequency responses from records: truth, dense sums, and errors that are as large as stated."""

import numpy as np
import pytest

from prism.errors import (
    CannotTellError,
    OptionError,
    RecordError,
    RecordTooShortError,
    ResponseError,
)
from prism.estimate.estimation import EXCITATIONS, estimate_response
from prism.estimate.spectra import effective_averages
from prism.record import Record

TAPS = np.array([[[1.0, 0.4], [0.3, -0.2]], [[-0.2, 0.3], [0.9, 0.3]]])  # outputs, inputs, lags
WARM = 16


def filtered(f, taps=TAPS):
    """Motions of a finite impulse response, (samples, outputs)."""
    outputs = [
        sum(np.convolve(f[:, b], taps[a, b])[: len(f)] for b in range(f.shape[1]))
        for a in range(len(taps))
    ]
    return np.column_stack(outputs)


def truth(omega, taps=TAPS):
    phase = np.exp(-1j * np.multiply.outer(omega, np.arange(taps.shape[2])))
    return np.einsum("fk,abk->fab", phase, taps)


def noisy(rng, samples, taps, motion_noise=0.0, force_noise=0.0, *, shaped=False):
    """A random test of an exactly known system; shaped noise passes through the system too."""
    o, i = taps.shape[:2]
    f = rng.standard_normal((samples + WARM, i))
    extra = filtered(rng.standard_normal(f.shape), taps) if shaped else 0.0
    y = filtered(f, taps) + motion_noise * (
        extra if shaped else rng.standard_normal((samples + WARM, o))
    )
    f = f + force_noise * rng.standard_normal(f.shape)
    names = [f"f_x{b + 1}" for b in range(i)] + [f"x{a + 1}" for a in range(o)]
    return Record(np.column_stack([f, y])[WARM:], dt=1.0, channels=names)


def forces_of(record):
    return [name for name in record.channels if name.startswith("f")]


def dense(record, window, step):
    """H1, coherence and variance from plain sums over segments and lines, one force."""
    x = record.trials[0] - record.trials[0].mean(axis=0)
    L = len(window)
    lines = range(1, (L + 1) // 2)
    out = []
    for k in lines:
        wave = window * np.exp(-2j * np.pi * k * np.arange(L) / L)
        pairs = [
            (wave @ x[s : s + L, 0], wave @ x[s : s + L, 1]) for s in range(0, len(x) - L + 1, step)
        ]
        ff = sum(abs(f) ** 2 for f, _ in pairs)
        yy = sum(abs(y) ** 2 for _, y in pairs)
        yf = sum(y * np.conj(f) for f, y in pairs)
        out.append((yf / ff, abs(yf) ** 2 / ff / yy, yy / np.conj(yf)))
    return [np.array(column) for column in zip(*out, strict=True)]


# -- against dense sums --------------------------------------------------------------------------


def test_h1_h2_and_hv_equal_the_dense_sums():
    record = noisy(np.random.default_rng(0), 300, TAPS[:1, :1], 0.3, 0.2)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(64) / 64)
    h1, coherence, h2 = dense(record, window, 32)
    found = {
        name: estimate_response(record, "f_x1", estimator=name, segment=64)
        for name in ("H1", "H2", "Hv")
    }
    np.testing.assert_allclose(found["H1"].response.values[:, 0, 0], h1, rtol=1e-11)
    np.testing.assert_allclose(found["H2"].response.values[:, 0, 0], h2, rtol=1e-11)
    np.testing.assert_allclose(
        found["Hv"].response.values[:, 0, 0],
        np.exp(1j * np.angle(h1)) * np.sqrt(abs(h1 * h2)),
        rtol=1e-10,
    )
    np.testing.assert_allclose(found["H1"].coherence[:, 0], coherence, rtol=1e-11)
    n = found["H1"].averages
    noise = (1 - coherence) / coherence / (n - 1)
    np.testing.assert_allclose(
        found["H1"].response.variance[:, 0, 0], abs(h1) ** 2 * noise, rtol=1e-9
    )
    np.testing.assert_allclose(
        found["H2"].response.variance[:, 0, 0], abs(h2) ** 2 * noise, rtol=1e-9
    )
    # the geometric mean in closed form: phase as H1, modulus from (dSyy/Syy - dSff/Sff)/2
    np.testing.assert_allclose(
        found["Hv"].response.variance[:, 0, 0],
        abs(h1 * h2) * noise * (1 + coherence) / 2,
        rtol=1e-8,
    )


def test_averages_of_overlapping_segments():
    window = np.hanning(33)[:-1]
    assert effective_averages([[0], [0], [0]], window) == pytest.approx(3)
    assert effective_averages([list(range(0, 3200, 32))], window) == pytest.approx(100)
    # Welch (1967): 50 % overlap of Hann windows correlates neighbours by 1/6
    K = 100
    expected = K / (1 + 2 * (1 - 1 / K) / 36)
    assert effective_averages([[16 * k for k in range(K)]], window) == pytest.approx(expected)


def test_averages_are_the_variance_of_a_spectrum():
    # E|Σ e f*|² over (S_ee S_ff): a Monte-Carlo of what `averages` means
    rng = np.random.default_rng(5)
    window = np.hanning(33)[:-1]
    starts = [0, 8, 16, 40, 48]
    e, f = rng.standard_normal((2, 4000, 80))
    wave = window * np.exp(-2j * np.pi * 5 * np.arange(32) / 32)
    spectra = [np.stack([x[:, s : s + 32] @ wave for s in starts]) for x in (e, f)]
    total = (spectra[0] * spectra[1].conj()).mean(axis=0)
    measured = np.prod([np.mean(abs(z) ** 2) for z in spectra]) / np.mean(abs(total) ** 2)
    assert effective_averages([starts], window) == pytest.approx(measured, rel=0.06)


# -- errors as large as stated -------------------------------------------------------------------

SISO, MIMO, WIDE = TAPS[:1, :1], TAPS, TAPS[:, :1]


@pytest.mark.parametrize(
    ("taps", "estimator", "motion", "force", "options"),
    [
        (SISO, "H1", 0.5, 0.0, {"overlap": 0.0}),
        (SISO, "H1", 0.5, 0.0, {}),
        (SISO, "H1", 0.5, 0.0, {"overlap": 0.75}),
        (SISO, "H2", 0.0, 0.5, {}),
        (SISO, "Hv", 0.4, 0.4, {"shaped": True}),
        (SISO, "Hv", 0.5, 0.25, {"ratio": True}),
        (WIDE, "Hv", 0.5, 0.25, {"ratio": True}),
        (WIDE, "H1", 0.5, 0.0, {}),
        (MIMO, "H1", 0.5, 0.0, {}),
        (MIMO, "H2", 0.0, 0.3, {}),
        (MIMO, "Hv", 0.3, 0.15, {"ratio": True}),
    ],
)
def test_variance_is_calibrated(taps, estimator, motion, force, options):
    rng = np.random.default_rng(11)
    options = dict(options)
    shaped = options.pop("shaped", False)
    ratio = options.pop("ratio", False)
    squares, variances = [], []
    for _ in range(100):
        record = noisy(rng, 3000, taps, motion, force, shaped=shaped)
        if ratio:
            options["noise"] = {
                name: force if name.startswith("f") else motion for name in record.channels
            }
        found = estimate_response(
            record, forces_of(record), estimator=estimator, segment=100, **options
        )
        response = found.response
        squares.append(abs(response.values - truth(response.omega, taps)) ** 2)
        variances.append(response.variance)
    calibration = np.mean(squares, axis=(0, 1)) / np.mean(variances, axis=(0, 1))
    assert (calibration > 0.93).all(), calibration
    assert (calibration < 1.07).all(), calibration


def test_hv_of_equal_relative_noise_with_two_forces_is_calibrated():
    # equal relative noise of all channels on every line: one delay per entry, white everywhere
    taps = np.array([[[0.8, 0.0], [0.0, 0.6]]])
    rng = np.random.default_rng(12)
    squares, variances = [], []
    for _ in range(100):
        record = noisy(rng, 3000, taps, 0.3, 0.3)
        response = estimate_response(
            record, forces_of(record), estimator="Hv", segment=100
        ).response
        squares.append(abs(response.values - truth(response.omega, taps)) ** 2)
        variances.append(response.variance)
    calibration = np.mean(squares, axis=(0, 1)) / np.mean(variances, axis=(0, 1))
    np.testing.assert_allclose(calibration, 1, atol=0.07)


def test_each_estimator_is_unbiased_where_it_claims():
    rng = np.random.default_rng(3)
    values = {"H1": [], "H2": []}
    for _ in range(40):
        record = noisy(rng, 3000, SISO, 0.0, 0.7)
        for name, found in values.items():
            response = estimate_response(record, "f_x1", estimator=name, segment=100).response
            found.append(response.values / truth(response.omega, SISO))
    assert np.mean(values["H2"]) == pytest.approx(1, abs=0.02)
    assert np.mean(values["H1"]) == pytest.approx(1 / 1.49, abs=0.02)  # S_ff/(S_ff + noise)


@pytest.mark.parametrize("excitation", ["burst", "sweep"])
def test_trials_of_transients_are_calibrated(excitation):
    rng = np.random.default_rng(8)
    squares, variances = [], []
    t = np.arange(128)
    for _ in range(200):
        if excitation == "burst":
            f = rng.standard_normal((12, 128)) * (t < 100)
        else:
            f = np.broadcast_to(np.sin(0.012 * t**2) * (t < 120), (12, 128))
        y = np.stack([filtered(row[:, None], SISO)[:, 0] for row in f])
        y = y + 0.3 * rng.standard_normal(y.shape)
        record = Record(np.stack([f, y], axis=-1), dt=1.0, channels=["f", "x"])
        found = estimate_response(record, "f", excitation=excitation)
        response = found.response
        squares.append(abs(response.values - truth(response.omega, SISO)) ** 2)
        variances.append(response.variance)
    assert found.averages == pytest.approx(12)
    calibration = np.mean(squares, axis=0) / np.mean(variances, axis=0)
    assert np.mean(squares) / np.mean(variances) == pytest.approx(1, abs=0.06)
    assert np.median(calibration) == pytest.approx(1, abs=0.06)


def test_one_transient_has_no_variance():
    rng = np.random.default_rng(0)
    t = np.arange(256)
    f = rng.standard_normal((256, 1)) * (t < 200)[:, None]
    record = Record(np.column_stack([f, filtered(f, SISO)]), dt=1.0, channels=["f", "x"])
    for excitation in ("burst", "sweep"):
        found = estimate_response(record, "f", excitation=excitation)
        assert found.response.variance is None
        assert np.isnan(found.coherence).all()
        expected = truth(found.response.omega, SISO)
        np.testing.assert_allclose(found.response.values, expected, rtol=1e-9)


# -- periodic ------------------------------------------------------------------------------------


def multisine(rng, period, lines, periods):
    k = np.asarray(lines)
    phase = rng.uniform(0, 2 * np.pi, len(k))
    t = np.arange(period)
    one = np.cos(2 * np.pi * np.outer(t, k) / period + phase).sum(axis=1)
    return np.tile(one, periods)


def periodic_record(rng, motion=0.0, force=0.0, periods=8, trials=1):
    lines = np.arange(3, 40, 2)
    f = np.stack([multisine(rng, 100, lines, periods) for _ in range(trials)])
    y = np.stack([filtered(row[:, None], SISO)[:, 0] for row in f])
    f = f + force * rng.standard_normal(f.shape)
    y = y + motion * rng.standard_normal(f.shape)
    return Record(np.stack([f, y], axis=-1), dt=0.5, channels=["f", "x"]), lines


def test_periodic_finds_the_period_and_keeps_the_excited_lines():
    record, lines = periodic_record(np.random.default_rng(2))
    found = estimate_response(record, "f", excitation="periodic")
    np.testing.assert_allclose(found.response.omega, 2 * np.pi * lines / 50)
    np.testing.assert_allclose(
        found.response.values, truth(found.response.omega * 0.5, SISO), rtol=1e-10
    )
    assert found.averages == 7
    assert found.estimator == "ratio"
    assert "19 of 49 lines are excited" in found.remarks[0]
    same = estimate_response(record, "f", excitation="periodic", period=50.0)
    np.testing.assert_array_equal(same.response.values, found.response.values)


@pytest.mark.parametrize("trials", [1, 3])
@pytest.mark.parametrize(("motion", "force"), [(1.0, 0.0), (0.5, 0.5)])
def test_periodic_variance_is_calibrated(motion, force, trials):
    rng = np.random.default_rng(4)
    squares, variances = [], []
    for _ in range(200):
        record, _ = periodic_record(rng, motion, force, trials=trials)
        response = estimate_response(
            record, "f", excitation="periodic", period=100, threshold=0.3
        ).response
        assert len(response) == 19
        squares.append(abs(response.values - truth(response.omega * 0.5, SISO)) ** 2)
        variances.append(response.variance)
    assert np.mean(squares) / np.mean(variances) == pytest.approx(1, abs=0.07)


def test_one_period_has_no_variance_and_none_is_too_few():
    record, _ = periodic_record(np.random.default_rng(2), periods=2)
    found = estimate_response(record, "f", excitation="periodic", period=100)
    assert found.response.variance is None
    with pytest.raises(RecordTooShortError, match="after 2 to settle"):
        estimate_response(record, "f", excitation="periodic", period=100, settle=2)


def test_two_periodic_forces_need_two_trials():
    rng = np.random.default_rng(6)
    lines = np.arange(1, 40)
    trials = []
    for _ in range(2):
        f = np.column_stack([multisine(rng, 100, lines, 6) for _ in range(2)])
        trials.append(np.column_stack([f, filtered(f) + 0.01 * rng.standard_normal(f.shape)]))
    names = ["force_x1", "force_x2", "x1", "x2"]
    record = Record(trials, dt=1.0, channels=names)
    found = estimate_response(record, names[:2], excitation="periodic", period=100)
    assert found.response.inputs == found.response.outputs == ("x1", "x2")
    z = abs(found.response.values - truth(found.response.omega)) / np.sqrt(found.response.variance)
    assert z.max() < 5
    one = Record(trials[:1], dt=1.0, channels=names)
    with pytest.raises(CannotTellError, match="1 segment for 2 forces"):
        estimate_response(one, names[:2], excitation="periodic", period=100)


def test_a_force_that_does_not_repeat_needs_a_period():
    record, _ = periodic_record(np.random.default_rng(2), force=0.1)
    with pytest.raises(OptionError, match="does not repeat itself exactly"):
        estimate_response(record, "f", excitation="periodic")
    with pytest.raises(OptionError, match="whole number"):
        estimate_response(record, "f", excitation="periodic", period=50.2)


# -- names and quantities ------------------------------------------------------------------------


def renamed(record, names, quantity="displacement"):
    return Record(record.trials, record.dt, channels=names, quantity=quantity)


@pytest.mark.parametrize(
    ("names", "force", "at", "inputs"),
    [
        (["u", "v", "w"], "u", None, ("u",)),
        (["u", "v", "w"], "u", {"u": "w"}, ("w",)),
        (["f_w", "v", "w"], "f_w", None, ("w",)),
        (["force_v", "v", "w"], ["force_v"], None, ("v",)),
        (["f_other", "v", "w"], "f_other", {}, ("f_other",)),
    ],
)
def test_where_a_force_acts(names, force, at, inputs):
    record = renamed(noisy(np.random.default_rng(0), 2000, WIDE, 0.1), names)
    response = estimate_response(record, force, at=at).response
    assert response.inputs == inputs
    assert response.outputs == ("v", "w")


def test_one_force_and_one_motion_are_a_driving_point_unless_denied():
    record = renamed(noisy(np.random.default_rng(0), 2000, SISO, 0.1), ["u", "v"])
    assert estimate_response(record, "u").response.inputs == ("v",)
    assert estimate_response(record, "u", at={}).response.inputs == ("u",)


def test_motions_are_converted_to_the_first_ones_quantity():
    record = noisy(np.random.default_rng(0), 2000, WIDE, 0.1)
    kinds = ["displacement", "velocity", "acceleration"]
    plain = estimate_response(record, "f_x1").response
    mixed = estimate_response(renamed(record, record.channels, kinds), "f_x1").response
    assert mixed.quantity == "velocity"
    np.testing.assert_allclose(mixed.values[:, 0], plain.values[:, 0])
    factor = 1 / (1j * plain.omega[:, None])
    np.testing.assert_allclose(mixed.values[:, 1], plain.values[:, 1] * factor)
    np.testing.assert_allclose(mixed.variance[:, 1], plain.variance[:, 1] * abs(factor) ** 2)


# -- what is refused -----------------------------------------------------------------------------

GOOD = noisy(np.random.default_rng(0), 2000, SISO, 0.1)
PAIR = noisy(np.random.default_rng(0), 2000, MIMO, 0.1)
FORCES = ["f_x1", "f_x2"]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"force": "g"}, RecordError, "no force channel 'g': choose among f_x1, x1"),
        ({"force": []}, OptionError, "no force is named"),
        ({"force": ["f_x1", "f_x1"]}, OptionError, "named twice"),
        ({"force": ["f_x1", "x1"]}, RecordError, "needs a motion channel"),
        ({"at": {"f_x1": "x7"}}, OptionError, "'f_x1' acts at 'x7'"),
        ({"excitation": "kick"}, OptionError, "unknown excitation 'kick'"),
        ({"estimator": "H3"}, OptionError, "unknown estimator 'H3'"),
        ({"estimator": "H2", "excitation": "dwell"}, OptionError, "leaves no choice"),
        ({"window": "round"}, OptionError, "unknown window 'round'"),
        ({"window": np.ones(5), "segment": 64}, OptionError, "give 64 numbers"),
        ({"overlap": 1.0}, OptionError, "overlap is 1.0"),
        ({"segment": 4000}, RecordTooShortError, "fewer than a segment of 4000"),
        ({"segment": 4}, OptionError, "give at least 16"),
        ({"segment": True}, OptionError, "segment is True"),
        ({"segment": 64, "threshold": 2.0}, OptionError, "threshold is 2.0"),
        ({"period": 10}, OptionError, "period is no option of a random excitation"),
        ({"noise": {"x1": 1.0}}, OptionError, "for the estimator Hv"),
        ({"noise": {"x1": 1.0}, "estimator": "Hv"}, OptionError, "for each channel, f_x1, x1"),
        ({"excitation": "hammer", "final": 0.0}, OptionError, "final is 0.0"),
        ({"excitation": "hammer", "pretrigger": -1}, OptionError, "pretrigger is -1"),
        ({"excitation": "hammer", "pulse": 1}, OptionError, "pulse is 1"),
        ({"excitation": "sweep", "taper": 2.0}, OptionError, "taper is 2.0"),
        ({"excitation": "periodic", "settle": 0.5, "period": 10}, OptionError, "whole number"),
    ],
)
def test_bad_options(options, error, words):
    options = {"force": "f_x1", **options}
    with pytest.raises(error, match=words):
        estimate_response(GOOD, **options)


def test_every_excitation_refuses_what_it_does_not_use():
    for excitation in EXCITATIONS:
        options = {"free_lines": [1.0]} if excitation != "dwell" else {"taper": 0.1}
        with pytest.raises(OptionError, match=f"no option of a {excitation} excitation"):
            estimate_response(GOOD, "f_x1", excitation=excitation, **options)


def test_a_force_of_zeros_is_named():
    x = np.random.default_rng(0).standard_normal(100)
    with pytest.raises(RecordError, match="channel 'f' is constant at 0"):
        Record(np.column_stack([np.zeros(100), x]), dt=1.0, channels=["f", "x"])
    force = np.zeros(400)
    force[-3:] = 1.0  # not constant, but outside of all whole periods
    record = Record(np.column_stack([force, np.tile(x, 4)]), dt=1.0, channels=["f", "x"])
    with pytest.raises(RecordError, match="force channel 'f' is constant in all that is used"):
        estimate_response(record, "f", excitation="periodic", period=90)


def test_irregular_times():
    t = np.cumsum(np.random.default_rng(0).uniform(0.5, 1.5, 2000))
    record = Record(GOOD.trials[0], t=t, channels=GOOD.channels)
    with pytest.raises(RecordError, match="irregular"):
        estimate_response(record, "f_x1")


def test_segments_with_missing_samples_are_left_out_and_counted():
    values = np.array(GOOD.trials[0])
    values[:256] = np.nan
    values[700, 1] = np.nan
    record = Record(values, dt=1.0, channels=GOOD.channels)
    found = estimate_response(record, "f_x1", segment=64, overlap=0.0)
    assert found.skipped == 5
    assert found.averages == pytest.approx(31 - 5)
    values[::50] = np.nan
    with pytest.raises(CannotTellError, match="all 31 segments of 64 samples have missing"):
        estimate_response(
            Record(values, dt=1.0, channels=GOOD.channels), "f_x1", segment=64, overlap=0.0
        )


def test_fewer_averages_than_forces():
    with pytest.raises(CannotTellError, match="1 segment for 2 forces"):
        estimate_response(PAIR, FORCES, segment=2000)


def test_correlated_forces():
    values = np.array(PAIR.trials[0])
    values[:, 1] = 2 * values[:, 0]
    record = Record(values, dt=1.0, channels=PAIR.channels)
    with pytest.raises(CannotTellError, match=r"f_x1, f_x2 are correlated: the condition number"):
        estimate_response(record, FORCES)


def test_h2_of_two_forces_needs_two_motions():
    record = PAIR.select(["f_x1", "f_x2", "x1"])
    with pytest.raises(OptionError, match="H2 of 1 outputs and 2 inputs"):
        estimate_response(record, FORCES, estimator="H2")


@pytest.mark.parametrize("seed", range(5))
def test_motions_unrelated_to_the_force(seed):
    x = np.random.default_rng(seed).standard_normal((2000, 3))
    record = Record(x, dt=1.0, channels=["f", "x", "y"])
    with pytest.raises(CannotTellError, match=r"no motion .x, y. is related to the force f"):
        estimate_response(record, "f")


def test_bursts_of_different_lengths_need_a_segment():
    trials = [GOOD.trials[0][:300], GOOD.trials[0][300:700]]
    record = Record(trials, dt=1.0, channels=GOOD.channels)
    with pytest.raises(OptionError, match="trials of 300 to 400 samples"):
        estimate_response(record, "f_x1", excitation="burst")
    assert estimate_response(record, "f_x1", excitation="burst", segment=100).averages == 7


def test_too_short_for_the_default_segments():
    record = Record(GOOD.trials[0][:100], dt=1.0, channels=GOOD.channels)
    with pytest.raises(RecordTooShortError, match="100 samples in all"):
        estimate_response(record, "f_x1")


def test_too_few_excited_lines():
    f = np.cos(2 * np.pi * np.arange(400) / 40)
    record = Record(np.column_stack([f, np.roll(f, 1)]), dt=1.0, channels=["f", "x"])
    with pytest.raises(ResponseError, match="1 frequency"):
        estimate_response(record, "f", excitation="periodic")
