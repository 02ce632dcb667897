"""Records with losses: free decays, between kicks, and stationary motion driven by noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import prism
from prism import systems

from .made import CHAIN, FIVE, Case, free_motion, grid, identify, noisy, record, with_gaps

ZETA = (0.01, 0.006, 0.004, 0.002)


def _decaying(
    seed: int,
    duration: float = 200.0,
    *,
    noise: float = 0.05,
    trials: int = 1,
    quantity: Sequence[str] = ("displacement", "displacement"),
) -> prism.Record:
    rng, t = np.random.default_rng(seed), grid(duration, 0.1)
    clean = [free_motion(CHAIN, t, rng, damping=ZETA, quantity=quantity) for _ in range(trials)]
    return record([noisy(x, noise, rng) for x in clean], 0.1, quantity=quantity)


def _ragged(step: float) -> prism.Record:
    """Three trials of different length, the last one with a step of its own."""
    rng = np.random.default_rng(2)
    times = [grid(120, 0.1), 3 + grid(80, 0.1), grid(150, step)]
    trials = [noisy(free_motion(CHAIN, t, rng, damping=ZETA), 0.05, rng) for t in times]
    return prism.Record(trials, t=times)


def _kicked() -> prism.Record:
    parts = [_decaying(seed, 40.0, noise=0.002).trials[0] for seed in range(4)]
    return record(np.concatenate(parts), 0.1)


def _gaps() -> prism.Record:
    whole = _decaying(3)
    rng = np.random.default_rng(3)
    return whole.with_values([with_gaps(whole.trials[0], rng, 0.2, slice(300, 400))])


def _irregular() -> prism.Record:
    rng = np.random.default_rng(4)
    t = np.sort(rng.uniform(0, 150, 1200))
    return prism.Record(noisy(free_motion(CHAIN, t, rng, damping=ZETA), 0.05, rng), t=t)


def _drifting() -> prism.Record:
    whole = _decaying(5)
    return whole.with_values([whole.trials[0] + np.linspace(0, 3, 2000)[:, None]])


def _heavy() -> prism.Record:
    """One channel, strong losses, few periods."""
    rng, t = np.random.default_rng(6), grid(60, 0.1)
    x = np.exp(-0.1 * t) * np.cos(t) + 0.6 * np.exp(-0.05 * t) * np.cos(2.3 * t)
    return record(noisy(x[:, None], 0.05, rng), 0.1)


def _complex_shapes() -> prism.Record:
    """A decay that turns: not in phase on both channels."""
    rng, t = np.random.default_rng(7), grid(100, 0.1)
    x = np.exp(-0.02 * t)[:, None] * np.column_stack([np.cos(t), np.sin(t)])
    return record(x + 0.01 * rng.standard_normal(x.shape), 0.1)


def _damped(data: prism.Record, **options: Any) -> prism.Model:
    return identify(data, damped=True, **options)


DAMPED: dict[str, Case] = {
    "decay": lambda: _damped(_decaying(0)),
    "decay_fit_fraction": lambda: _damped(_decaying(0, 300.0), fit_fraction=0.5),
    "trials": lambda: _damped(_decaying(1, 120.0, trials=3)),
    "trials_fit_fraction": lambda: _damped(_decaying(1, 150.0, trials=2), fit_fraction=0.6),
    "ragged_trials": lambda: _damped(_ragged(0.1)),
    "two_rates": lambda: _damped(_ragged(0.2)),
    "kicked": lambda: _damped(_kicked()),
    "gaps": lambda: _damped(_gaps()),
    "gaps_ignore": lambda: _damped(_gaps(), ignore=(0.28, 0.31)),
    "irregular": lambda: _damped(_irregular()),
    "mixed_quantities": lambda: _damped(_decaying(8, quantity=("velocity", "acceleration"))),
    "ignore": lambda: _damped(_decaying(9), ignore=[(0.28, 0.31), "0.1-0.2"]),
    "max_modes": lambda: _damped(_decaying(10), max_modes=2),
    "false_alarm": lambda: _damped(_decaying(11, noise=1.0), false_alarm=0.05),
    "drift": lambda: _damped(_drifting()),
    "heavy": lambda: _damped(_heavy()),
    "out_of_phase": lambda: _damped(_complex_shapes()),
    "undamped": lambda: _damped(CHAIN.free(150, 0.1, noise=0.1, rng=0)),
    "undamped_trials": lambda: _damped(FIVE.free(80, 0.1, noise=0.1, trials=3, rng=1)),
}

_PAIR = systems.chain(2, springs=20.0, observed=[0, 1])


def _driven_chain(seed: int, **options: Any) -> prism.Record:
    damping = [0.02, 0.01, 0.005, 0.005]
    return systems.driven(CHAIN, 600, 0.5, damping=damping, noise=0.1, rng=seed, **options)


DRIVEN: dict[str, Case] = {
    "pair": lambda: _damped(
        systems.driven(_PAIR, 300.0, 0.25, damping=[0.01, 0.008], noise=0.1, rng=0)
    ),
    "chain": lambda: _damped(_driven_chain(3)),
    "chain_accelerations": lambda: _damped(_driven_chain(4, quantity="acceleration")),
    "chain_mixed_quantities": lambda: _damped(
        _driven_chain(5, quantity=["velocity", "acceleration"])
    ),
    "chain_ignore": lambda: _damped(_driven_chain(6), ignore=(0.28, 0.31)),
    "trials": lambda: _damped(
        systems.driven(CHAIN, 300, 0.5, damping=0.01, noise=0.1, trials=3, rng=7)
    ),
    "one_channel": lambda: _damped(
        systems.driven(systems.tuned_absorber(), 500, 0.5, damping=0.01, noise=0.2, rng=8)
    ),
    "five_at_three": lambda: _damped(
        systems.driven(FIVE, 500, 0.4, damping=0.01, noise=0.1, rng=9), max_modes=6
    ),
}
