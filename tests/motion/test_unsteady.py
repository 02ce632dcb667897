"""Score tests of slow changes of lines that were fitted as steady ones."""

import numpy as np
import pytest
import scipy.signal
from numpy.polynomial.legendre import legvander

import prism
from prism.motion.decays.decays import damping_evidence
from prism.motion.steady.likelihood import estimate_lines
from prism.motion.steady.trajectories import Trajectories
from prism.motion.unsteady import CHANGES, ORDERS, PHASE, SIZE, changes, scores_of
from prism.record import Record

OMEGA = np.array([0.9, 1.7, 2.6])
SHAPES = np.array([[0.8, 0.6], [0.6, -0.8], [1.0, 0.3]])


def made(seed, samples=1500, law=None, noise=0.1, colour=0.0):
    """Three lines on two channels; ``law(u)`` multiplies the complex motion of the weakest."""
    rng = np.random.default_rng([7, seed])
    t = 0.5 * np.arange(samples)
    u = np.linspace(-1, 1, samples)
    z = np.array([1.0, 0.7, 0.3]) * np.exp(2j * np.pi * rng.random(3))
    motion = z * np.exp(1j * np.outer(t, OMEGA))
    if law is not None:
        motion[:, 2] *= law(u)
    e = rng.standard_normal((samples, 2))
    e = scipy.signal.lfilter([1.0], [1.0, -colour], e, axis=0) if colour else e
    return Record(motion.real @ SHAPES + noise * e, dt=0.5)


def scored(record):
    lines = estimate_lines(record, false_alarm=1e-3)
    motion = Trajectories(lines.motion, lines.trials, lines.means, None, lines.trend)
    rests = [
        y - motion.values(t, r)
        for r, (t, y) in enumerate(zip(record.times, record.trials, strict=True))
    ]
    return scores_of(record, lines, rests), lines, rests


def test_scores_are_derivatives_of_the_misfit_by_the_changes():
    # few enough samples that every block is one of them, and the sums are exact
    record = made(1, samples=60, noise=0.02)
    scores, lines, (rest,) = scored(record)
    t, u = record.times[0], np.linspace(-1, 1, 60)
    weights = 1 / np.mean(rest**2, axis=0)
    fit = lines.motion
    K, v = len(fit.line), fit.motions[0].values[:, 0]
    P = legvander(u, ORDERS - 1)
    for j in range(K):
        z = (v[j] - 1j * v[K + j]) * np.exp(1j * fit.omega[j] * (t - fit.motions[0].centre))
        for part, turn in ((SIZE, 1.0), (PHASE, 1j)):
            for k in range(ORDERS):
                d = np.outer((turn * z).real * P[:, k], fit.shapes[j])
                slope = np.sum(weights * d * rest)
                assert scores.slope[part, k, j] == pytest.approx(slope, rel=1e-8, abs=1e-8)
                least = np.sum(weights * d**2)
                assert scores.variance[part, k, j] >= least * (1 - 1e-9)


def test_steady_lines_do_not_seem_to_change():
    found = [dict(changes(scored(made(seed))[0])) for seed in range(24)]
    decays = np.array([one.pop("lines decay") for one in found])
    others = np.array([min(one.values()) for one in found])
    assert np.mean(decays < 0.05) < 0.15
    assert np.mean(others < 0.05) < 0.15
    assert min(decays.min(), others.min()) > 1e-3


def test_noise_that_is_strong_at_a_line_or_at_times_does_not_seem_a_change():
    clean, louder = made(0, noise=0.0).trials[0], 1 + 4 * np.linspace(-1, 1, 1500)[:, None] ** 8
    lines, z = estimate_lines(made(0), false_alarm=1e-3), []
    for seed in range(40):
        coloured, white = made(seed, colour=0.8), made(seed)
        rests = [one.trials[0] - made(seed, noise=0.0).trials[0] for one in (coloured, white)]
        for rest in (rests[0], louder * rests[1]):
            scores = scores_of(Record(clean + rest, dt=0.5), lines, [rest])
            z += [scores.alone(one) for one in CHANGES]
    assert 0.7 < np.std(np.concatenate(z)) < 1.1


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (lambda u: np.exp(-0.12 * u), "lines decay"),
        (lambda u: np.exp(0.07 * u), "amplitudes fade or grow"),
        (lambda u: 1 + 0.13 * u**2, "amplitudes swell or sink in between"),
        (lambda u: np.exp(0.2j * u**2), "frequencies sweep"),
        (lambda u: np.exp(0.4j * (u**3 - u)), "frequencies bend"),
        (lambda u: 1 + 0.1 * np.cos(9 * u + 1), "amplitudes or phases swing"),
        (lambda u: np.exp(0.1j * np.cos(9 * u + 1)), "amplitudes or phases swing"),
    ],
)
def test_a_change_of_one_weak_line_is_seen(law, words):
    chances = dict(changes(scored(made(3, law=law))[0]))
    assert chances[words] < 1e-3
    assert chances[words] == min(chances.values())


def test_a_change_that_all_lines_share_is_seen_where_that_of_none_is():
    t, u = 0.5 * np.arange(1500), np.linspace(-1, 1, 1500)
    rng = np.random.default_rng(11)
    clock = t + 0.1 * (u**2 - 1)
    omega = np.linspace(0.5, 2.8, 12)
    motion = np.cos(np.outer(clock, omega) + 2 * np.pi * rng.random(12)) @ np.ones((12, 1))
    scores, *_ = scored(Record(motion + 1.2 * rng.standard_normal((1500, 1)), dt=0.5))
    sweep = next(one for one in CHANGES if one.words == "frequencies sweep")
    assert abs(scores.together(sweep)) > np.abs(scores.alone(sweep)).max() + 1
    assert dict(changes(scores))["frequencies sweep"] < 1e-3


def test_the_score_foretells_the_gain_of_weak_damping():
    t, rng = 0.1 * np.arange(1500), np.random.default_rng(4)
    values = np.exp(-2e-4 * t) * np.cos(1.3 * t) + 0.1 * rng.standard_normal(len(t))
    seen = Record(values, dt=0.1)
    cheap = dict(changes(scored(seen)[0]))["lines decay"]
    assert np.log(cheap) == pytest.approx(np.log(damping_evidence(seen).p_value), rel=0.15)


def test_gaps_uneven_times_and_trials_are_allowed():
    law = lambda u: np.exp(0.2j * u**2)  # noqa: E731
    whole = made(5, law=law)
    values = whole.trials[0].copy()
    values[300:340, 0] = np.nan
    gaps = Record(values, dt=0.5)
    uneven = np.delete(np.arange(1500), np.arange(400, 430))
    other = Record(whole.trials[0][uneven], t=0.5 * uneven)
    trials = Record([made(seed, law=law).trials[0] for seed in (5, 6)], dt=0.5)
    z = [scored(one)[0].alone(CHANGES[2])[2] for one in (whole, gaps, other, trials)]
    assert z[1:3] == pytest.approx([z[0]] * 2, abs=1.0)
    assert abs(z[3]) > abs(z[0]) + 0.5


def test_a_sweep_that_leaves_no_hump_is_called_one():
    law = lambda u: np.exp(0.2j * u**2)  # noqa: E731
    model = prism.identify(made(3, law=law))
    assert model.kind == "moving"
    assert any("sweep by a first test" in one for one in model.evidence.doubts)


BREAK = "amplitudes or phases change at one time"


def test_a_small_kick_is_seen():
    """Phases of all lines jump a little at seven tenths of the record."""
    found = []
    for seed in range(5):
        rng = np.random.default_rng([9, seed])
        t = 0.5 * np.arange(1500)
        z = np.array([1.0, 0.7, 0.3]) * np.exp(2j * np.pi * rng.random(3))
        jump = np.where((t < 525)[:, None], 1.0, np.exp(1j * np.array([0.06, -0.09, 0.2])))
        motion = (z * np.exp(1j * np.outer(t, OMEGA)) * jump).real @ SHAPES
        record = Record(motion + 0.1 * rng.standard_normal((1500, 2)), dt=0.5)
        chances = dict(changes(scored(record)[0]))
        found.append(chances.pop(BREAK))
    assert max(found) < 1e-5


def test_chance_of_a_break_is_one_that_noise_seldom_has():
    """100 records of steady lines: the smallest of their chances is about 1/100 or larger."""
    chances = [dict(changes(scored(made(seed, samples=300))[0]))[BREAK] for seed in range(100)]
    assert min(chances) > 1e-4
    assert np.mean(np.array(chances) < 0.05) < 0.1


def test_chance_of_a_swing_is_one_that_noise_seldom_has():
    """100 records of steady lines, as above."""
    name = "amplitudes or phases swing"
    chances = [dict(changes(scored(made(seed, samples=300))[0]))[name] for seed in range(100)]
    assert min(chances) > 1e-4
    assert np.mean(np.array(chances) < 0.05) < 0.1


def test_a_swing_gains_what_cosine_and_sine_do():
    scores, *_ = scored(made(3, law=lambda u: 1 + 0.1 * np.cos(5 * np.pi * u + 1)))
    blocks = scores.parts[0]
    wave = np.array([np.cos(5 * np.pi * blocks.u), np.sin(5 * np.pi * blocks.u)])
    score = wave @ blocks.along[SIZE][:, 2]
    left = blocks.squares[:, 2].sum() - score @ score / (len(blocks.u) / 2)
    gain = score @ score / (max(blocks.power[SIZE][:, 2].sum(), left) / 2)
    tests = 30 * (2 * 3 + 2)
    found = dict(changes(scores))["amplitudes or phases swing"]
    np.testing.assert_allclose(np.log(found), np.log(tests) - gain / 2, rtol=0.05)


def test_trials_are_not_searched_for_a_break_together():
    both = [made(seed, samples=400).trials[0] for seed in (1, 2)]
    assert BREAK not in dict(changes(scored(Record(both, dt=0.5))[0]))
