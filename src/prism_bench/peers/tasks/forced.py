"""Tasks on measured frequency responses: the cart with a pendulum, and twenty masses."""

from __future__ import annotations

import numpy as np

from prism.frequency_response import FrequencyResponse
from prism.systems import LinearSystem, cart_pendulum
from prism_bench._study import rng_of
from prism_bench.forced import CHAINS, grid
from prism_bench.peers.peer import Question
from prism_bench.peers.tasks.task import Asked, Task, Truth

__all__ = ["FORCED"]

MASSES = CHAINS[2]  # springs 1 ± 0.1, ports at both ends and in the middle, 1 % noise


def asked_of(system: LinearSystem, response: FrequencyResponse) -> Asked:
    """Poles, and zeros of the determinant: the bare hidden frequencies."""
    question = Question(response, "forced", len(system.frequencies))
    spacing = float(np.median(np.diff(response.omega)))
    return Asked(question, Truth(spacing, system.frequencies, zeros=system.hidden_frequencies))


def cart_asked(seed: int) -> Asked:
    """60 dwells in 1 to 7 rad per time unit, additive and multiplicative noise of 10 % each."""
    rng, system = rng_of(350, seed), cart_pendulum()
    omega = 1 + 0.1 * (np.arange(60) + rng.uniform())
    return asked_of(system, system.response(omega, noise=0.1, noise_kind="both", rng=rng))


def masses_asked(seed: int) -> Asked:
    """400 lines over the whole band."""
    rng = rng_of(351, seed)
    system = MASSES.system(rng)
    omega = grid(rng, 0.01, 1.05 * float(system.frequencies[-1]))
    return asked_of(system, system.response(omega, noise=MASSES.noise, rng=rng))


FORCED = (
    Task(
        *("cart-forced", "forced", "cart with a pendulum, driven: frequency response"),
        cart_asked,
        "60 dwells in 1 to 7 rad per time unit, 10 % additive and 10 % multiplicative noise.",
        seeds=100,
        quick=True,
    ),
    Task(
        *("masses-20", "forced", "twenty masses, three ports: frequency response"),
        masses_asked,
        "Springs 1 ± 0.1 at random, 400 lines over the whole band, 1 % multiplicative noise: 20 "
        "poles, and 17 zeros, which are the hidden frequencies.",
        seeds=20,
    ),
)
