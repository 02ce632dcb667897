"""Whether what is left is noise."""

import numpy as np
import pytest
import scipy.signal

import prism
from prism.motion.doubts import bunches, coincident, flanked, hump_chance, rough, symmetric
from prism.motion.driven.spectrum import fourier_lines
from prism.uncertainty import Gaussian


def chances(count, make):
    return np.array([hump_chance(fourier_lines(make(k))) for k in range(count)])


def test_white_noise_is_noise_however_its_channels_are_mixed():
    rng = np.random.default_rng(5)

    def make(k):
        n, samples, trials = rng.integers(1, 7), rng.integers(300, 4000), rng.integers(1, 4)
        mixing = rng.standard_normal((n, n))
        return prism.Record(rng.standard_normal((trials, samples, n)) @ mixing, dt=1.0)

    found = chances(200, make)
    # a bound: no more often below a level than the level says, within two standard errors
    for level in (0.1, 0.01):
        assert np.mean(found < level) < level + 2 * np.sqrt(level / 200)


@pytest.mark.parametrize("damping", [0.002, 0.02, 0.05])
def test_a_resonance_in_the_noise_is_a_hump(damping):
    rng = np.random.default_rng(6)
    pole = np.exp(0.6 * (1j * np.sqrt(1 - damping**2) - damping))

    def make(k):
        noise = rng.standard_normal(4000)
        peak = scipy.signal.lfilter([1], [1, -2 * pole.real, abs(pole) ** 2], noise)
        return prism.Record(peak / peak.std() + rng.standard_normal(4000), dt=1.0)

    assert np.all(chances(20, make) < 1e-6)


def test_trials_of_different_length_are_looked_at_one_by_one():
    rng = np.random.default_rng(7)
    trials = [rng.standard_normal((samples, 2)) for samples in (500, 700)]
    assert hump_chance(fourier_lines(prism.Record(trials, dt=1.0))) > 0.01
    trials[1] += np.cos(0.7 * np.arange(700))[:, None]
    assert hump_chance(fourier_lines(prism.Record(trials, dt=1.0))) < 1e-6


def test_bunches_are_lines_that_may_be_one():
    groups = bunches(np.array([1.0, 1.015, 1.03, 1.2, 1.4]), resolution=0.01)
    assert [group.tolist() for group in groups] == [[0, 1, 2], [3], [4]]
    assert bunches(np.zeros(0), 0.01) == []


def smooth_and_rough():
    t = 0.2 * np.arange(4000)
    decay = np.exp(-t / 400) * np.cos(1.1 * t)
    system = prism.systems.chain(2, observed=[0])
    shaken = prism.systems.driven(system, 800, 0.2, damping=0.02, rng=1).trials[0][:, 0]
    noise = 0.1 * np.random.default_rng(2).standard_normal(4000)
    return decay + noise * decay.std(), shaken[:4000] + noise * shaken.std()


def test_random_motion_looks_rough_and_a_decay_does_not():
    seen = [rough(fourier_lines(prism.Record(y, dt=0.2))) for y in smooth_and_rough()]
    assert seen == [False, True]
    noise = np.random.default_rng(3).standard_normal(3000)
    assert not rough(fourier_lines(prism.Record(noise, dt=0.2)))


def test_sidebands_stand_symmetrically():
    rng = np.random.default_rng(4)
    t = 0.2 * np.arange(5000)
    modulated = (1 + 0.3 * np.cos(0.08 * t)) * np.cos(1.1 * t)
    free = np.cos(1.1 * t) + 0.2 * np.cos(1.03 * t) + 0.2 * np.cos(1.16 * t)
    found = []
    for y in (modulated, free):
        record = prism.Record(y + 0.05 * rng.standard_normal(5000), dt=0.2)
        found.append(symmetric(prism.identify(record, kind="steady").modes))
    assert found == [True, False]


@pytest.mark.parametrize(
    ("places", "seen"),
    [
        ([1.0, 2.0, 3.0], [True, False]),
        ([1.0, 2.0, 2.003], [False, False]),
        ([1.997, 2.0, 2.003], [True, True]),
        ([1.997, 2.0, 2.0035], [False, False]),
    ],
)
def test_lines_stand_symmetrically_within_a_distance(places, seen):
    known = {"frequencies": np.array(places), "shapes": np.ones((3, 1))}
    modes = prism.Modes(
        Gaussian.of(known, 1e-9 * np.eye(6)),
        amplitudes=np.ones((1, 3)),
        significance=np.array([10.0, 30.0, 10.0]),
        phase_ratio=np.zeros(3),
        in_phase=np.ones(3, bool),
    )
    assert [symmetric(modes), symmetric(modes, 0.004)] == seen


@pytest.mark.parametrize(
    ("places", "strength", "seen"),
    [
        ([1.997, 2.0, 2.0035], [10.0, 30.0, 10.0], True),
        ([1.997, 2.0, 2.0035], [10.0, 5.0, 10.0], False),  # the middle one is the weakest
        ([1.997, 2.0, 2.006], [10.0, 30.0, 10.0], False),  # one is too far
        ([1.995, 1.997, 2.0], [10.0, 10.0, 30.0], False),  # both on one side
    ],
)
def test_a_line_is_flanked_by_weaker_ones_near_it(places, strength, seen):
    known = {"frequencies": np.array(places), "shapes": np.ones((3, 1))}
    modes = prism.Modes(
        Gaussian.of(known, 1e-9 * np.eye(6)),
        amplitudes=np.ones((1, 3)),
        significance=np.array(strength),
        phase_ratio=np.zeros(3),
        in_phase=np.ones(3, bool),
    )
    assert flanked(modes, 0.004) is seen


def test_a_steady_line_without_noise_is_not_rough():
    t = 0.05 * np.arange(8000)
    rng = np.random.default_rng(1)
    for omega in rng.uniform(1, 20, 10):
        clean = np.cos(omega * t + 1)[:, None]
        assert not rough(fourier_lines(prism.Record(clean, dt=0.05)))
        noisy = clean + 1e-7 * rng.standard_normal(clean.shape)
        assert not rough(fourier_lines(prism.Record(noisy, dt=0.05)))


@pytest.mark.parametrize(
    ("places", "shapes", "same"),
    [
        ([1.0, 2.0, 2.00004], [[1, 0], [0.6, 0.8], [0.6, 0.8]], [2.0]),
        ([1.0, 2.0, 2.0004], [[1, 0], [0.6, 0.8], [0.6, 0.8]], []),  # ten errors apart
        ([1.0, 2.0, 2.00004], [[1, 0], [0.6, 0.8], [0.8, -0.6]], []),  # a degenerate pair
        ([0.0, 1e-6, 2.0], [[1, 0], [1, 0], [0.6, 0.8]], []),
    ],
)
def test_lines_of_one_shape_at_one_place_are_one_that_changes(places, shapes, same):
    known = {"frequencies": np.array(places), "shapes": np.array(shapes, float)}
    modes = prism.Modes(
        Gaussian.of(known, 0.5 * (4e-5) ** 2 * np.eye(9)),
        amplitudes=np.ones((1, 3)),
        significance=np.full(3, 20.0),
        phase_ratio=np.zeros(3),
        in_phase=np.ones(3, bool),
    )
    assert coincident(modes) == same


def test_an_ensemble_that_decays_is_doubted():
    rng = np.random.default_rng(11)
    t = 0.25 * np.arange(600)
    decay, steady = [], []
    for _ in range(30):
        z = rng.standard_normal((2, 2)) @ np.array([1, 1j])
        lines = z[:, None] * np.exp(1j * np.multiply.outer([1.3, 2.4], t))
        noise = 0.15 * rng.standard_normal(600)
        steady.append(lines.sum(axis=0).real + noise)
        decay.append((lines.sum(axis=0) * np.exp(-0.01 * t)).real + noise)
    said = [
        {
            one.code
            for one in prism.identify(record, experiment="equilibrium").identifiability.remarks
        }
        for record in (prism.Record(np.array(x)[:, :, None], dt=0.25) for x in (decay, steady))
    ]
    assert ["doubt" in codes for codes in said] == [True, False]
