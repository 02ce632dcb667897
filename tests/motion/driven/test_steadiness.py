"""Whether what drives a motion is stationary noise."""

import numpy as np
import pytest
from scipy.signal import lfilter

import prism
from prism.motion.driven.steadiness import _even_chance

DT = 0.2


def resonance(force, omega=1.4, zeta=0.01):
    """A mode under a force held over each step."""
    pole = np.exp(omega * (1j * np.sqrt(1 - zeta**2) - zeta) * DT)
    return lfilter([1.0], [1.0, -2 * pole.real, abs(pole) ** 2], force, axis=0)


def driven(shape, seed=0, samples=6000):
    rng = np.random.default_rng([8, seed])
    strength = shape(np.linspace(0, 1, samples))[:, None]
    motion = resonance(strength * rng.standard_normal((samples, 2)))
    noise = 0.05 * motion.std(axis=0) * rng.standard_normal(motion.shape)
    return prism.Record(motion + noise, dt=DT)


def codes(record):
    model = prism.identify(record, kind="driven")
    return [one.code for one in model.identifiability.remarks]


@pytest.mark.slow
def test_stationary_noise_is_not_remarked_on():
    assert not any("unsteady-drive" in codes(driven(np.ones_like, seed)) for seed in range(10))


@pytest.mark.parametrize(
    "shape",
    [lambda u: (u % 0.5 < 0.15) + 0.05, lambda u: 0.2 + 3.0 * u**4],
    ids=["bursts", "rising"],
)
def test_a_drive_that_comes_and_goes_is(shape):
    assert "unsteady-drive" in codes(driven(shape))


def test_steps_from_one_frequency_to_the_next_are_no_noise():
    t = DT * np.arange(1500)
    rng = np.random.default_rng(3)
    values = np.concatenate([np.cos(w * t) for w in (1.0, 1.3, 1.6, 1.9)])
    record = prism.Record(values + 0.05 * rng.standard_normal(len(values)), dt=DT)
    model = prism.identify(record)
    said = [one.code for one in model.identifiability.remarks]
    assert model.kind != "driven" or "unsteady-drive" in said


def test_strength_that_hardly_varies_has_a_small_chance():
    rng = np.random.default_rng(4)
    noise = [_even_chance(rng.gamma(3, size=200), 3) for _ in range(400)]
    assert np.mean(np.array(noise) < 0.05) < 0.08
    assert min(noise) > 1e-4
    assert _even_chance(np.full(200, 3.0), 3) < 1e-6
