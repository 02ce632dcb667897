"""Records at equilibrium, released from rest, and of gyroscopic systems at equilibrium."""

from __future__ import annotations

from typing import Any

import numpy as np

import prism
from prism import systems

from .made import (
    CHAIN,
    FIVE,
    Array,
    Case,
    free_motion,
    grid,
    identify,
    identify_gyroscopic,
    noisy,
    record,
    with_gaps,
)


def _equilibrium(seed: int, trials: int = 30) -> prism.Record:
    return CHAIN.equilibrium(60, 0.2, trials=trials, noise=0.1, rng=seed)


def _sensors() -> prism.Record:
    rng, t = np.random.default_rng(3), grid(60, 0.2)
    kinds = ["acceleration", "velocity"]
    trials = [free_motion(CHAIN, t, rng, quantity=kinds) for _ in range(40)]
    return record([noisy(x, 0.1, rng) for x in trials], 0.2, quantity=kinds)


def _gaps() -> prism.Record:
    whole, rng = _equilibrium(4), np.random.default_rng(4)
    return whole.with_values([with_gaps(x, rng, 0.1, slice(100, 130)) for x in whole.trials])


def _isotropic() -> prism.Record:
    """A pair whose one line has a residue of rank two."""
    system = systems.LinearSystem(np.eye(2), np.eye(2), np.eye(2))
    return system.equilibrium(60, 0.2, trials=40, noise=0.1, rng=5)


def _poor() -> prism.Record:
    """More channels than modes."""
    system = systems.LinearSystem(np.eye(1), np.eye(1), [[1.0], [0.5]])
    return system.equilibrium(60, 0.2, trials=10, noise=0.1, rng=6)


def _at_equilibrium(data: prism.Record, **options: Any) -> prism.Model:
    return identify(data, experiment="equilibrium", **options)


EQUILIBRIUM: dict[str, Case] = {
    "plain": lambda: _at_equilibrium(_equilibrium(0)),
    "mass": lambda: _at_equilibrium(_equilibrium(1), mass="identity"),
    "mass_fit_fraction": lambda: _at_equilibrium(
        _equilibrium(1), mass="identity", fit_fraction=0.6
    ),
    "mass_stiffness": lambda: _at_equilibrium(
        _equilibrium(2), mass=CHAIN.mass, stiffness=CHAIN.stiffness
    ),
    "three_channels": lambda: _at_equilibrium(
        FIVE.equilibrium(80, 0.2, trials=60, noise=0.2, rng=0), mass="identity"
    ),
    "cart_pendulum": lambda: _at_equilibrium(
        systems.cart_pendulum().equilibrium(30, 0.1, trials=50, noise=0.1, rng=1), mass=[[1.0]]
    ),
    "mixed_quantities": lambda: _at_equilibrium(_sensors(), mass="identity"),
    "gaps": lambda: _at_equilibrium(_gaps(), mass="identity"),
    "degenerate": lambda: _at_equilibrium(_isotropic(), mass="identity"),
    "more_channels_than_modes": lambda: _at_equilibrium(_poor()),
    "one_trial": lambda: _at_equilibrium(CHAIN.free(200, 0.2, noise=0.1, rng=0), mass="identity"),
    "nnls": lambda: _at_equilibrium(_equilibrium(7), mass="identity", method="nnls"),
    "sdp": lambda: _at_equilibrium(_equilibrium(8), mass="identity", method="sdp"),
    "ignore": lambda: _at_equilibrium(_equilibrium(9), ignore=(0.28, 0.31)),
    "many_trials": lambda: _at_equilibrium(
        CHAIN.equilibrium(40, 0.3, trials=200, noise=0.1, rng=1)
    ),
}


def _released(data: prism.Record, **options: Any) -> prism.Model:
    return identify(data, experiment="released", **options)


RELEASED: dict[str, Case] = {
    "mass": lambda: _released(
        CHAIN.released(100, 0.2, np.eye(2), noise=0.05, rng=0), mass="identity"
    ),
    "plain": lambda: _released(CHAIN.released(100, 0.2, np.eye(2), noise=0.05, rng=1)),
    "one_trial": lambda: _released(
        FIVE.released(200, 0.1, [1.0, 0.5, -0.7], noise=0.1, rng=1), mass="identity"
    ),
    "three_trials": lambda: _released(FIVE.released(100, 0.1, np.eye(3), noise=0.1, rng=2)),
    "stiffness": lambda: _released(
        CHAIN.released(100, 0.2, np.eye(2), noise=0.05, rng=3), stiffness=CHAIN.stiffness
    ),
    "one_channel": lambda: _released(
        systems.tuned_absorber().released(200, 0.2, [1.0], noise=0.05, rng=4),
        mass=[[1.0]],
        fit_fraction=0.7,
    ),
    "not_at_rest": lambda: _released(CHAIN.free(200, 0.2, noise=0.05, rng=5), mass="identity"),
}


def _full_matrices() -> systems.GyroscopicSystem:
    """Four coordinates with full matrices, seen at two; lines well apart."""
    rng = np.random.default_rng(3)
    inertia: Array = rng.standard_normal((4, 4))
    springs: Array = rng.standard_normal((4, 4))
    turn: Array = rng.standard_normal((4, 4))
    return systems.GyroscopicSystem(
        inertia @ inertia.T / 4 + np.eye(4),
        turn - turn.T,
        springs @ springs.T / 2 + np.eye(4),
        np.eye(4)[:2],
    )


def _turning(seed: int) -> prism.Record:
    return _full_matrices().equilibrium(80, 0.2, trials=60, noise=0.1, rng=seed)


GYROSCOPIC: dict[str, Case] = {
    "plain": lambda: identify_gyroscopic(_turning(0)),
    "mass": lambda: identify_gyroscopic(_turning(1), mass=_full_matrices().mass),
    "temperature": lambda: identify_gyroscopic(_turning(2), temperature=1.0, false_alarm=1e-4),
    "foucault": lambda: identify_gyroscopic(
        systems.foucault_pendulum().equilibrium(200, 0.2, trials=20, noise=0.05, rng=3), mass=1.0
    ),
    "rotor": lambda: identify_gyroscopic(
        systems.rotor(springs=((1.0, 1.3), (2.0, 2.2))).equilibrium(
            100, 0.2, trials=40, noise=0.05, rng=4
        )
    ),
    "not_turning": lambda: identify_gyroscopic(
        CHAIN.equilibrium(60, 0.2, trials=40, noise=0.1, rng=5), mass=np.eye(2)
    ),
    "too_few_trials": lambda: identify_gyroscopic(
        CHAIN.equilibrium(60, 0.2, trials=4, noise=0.1, rng=6)
    ),
    "wrong_mass": lambda: identify_gyroscopic(_turning(7), mass=np.diag([1.0, 7.0])),
}
