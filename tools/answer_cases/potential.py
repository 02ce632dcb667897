"""Nonlinear motions: a potential beside hidden modes."""

from __future__ import annotations

import numpy as np

import prism
from prism import systems

from .made import Array, Case, identify, record


def _duffing() -> prism.Record:
    system = systems.duffing(1.0, 0.5, [1.3], [0.6])
    return system.simulate([1.5, 0.5], [0, 0.5], 80, 0.1, noise=0.03, rng=0)


def _pure() -> prism.Record:
    return systems.duffing(1.0, 0.5, [], []).simulate([1.5], [0.0], 60, 0.1, noise=0.02, rng=1)


def _pendulum() -> prism.Record:
    system = systems.pendulum(1.0, 0.0, [1.6], [0.5])
    return system.simulate([2.0, 0.2], [0, 0.2], 80, 0.1, noise=0.02, rng=2)


def _in_one_well() -> prism.Record:
    return systems.double_well().simulate([1.3, 0.2], [0, 0.1], 80, 0.1, noise=0.02, rng=3)


def _across() -> prism.Record:
    return systems.double_well().simulate([1.3, 0.5], [0.3, -0.4], 150, 0.05, noise=0.05, rng=0)


def _quintic() -> prism.Record:
    return systems.quintic(1.0, 0.4).simulate([1.3], [0.0], 60, 0.1, noise=0.02, rng=4)


def _trials() -> prism.Record:
    system = systems.duffing(1.0, 0.5, [1.3], [0.6])
    starts = np.array([[1.5, 0.5], [0.8, -0.3]])
    return system.simulate(starts, np.array([[0, 0.5], [0.2, 0.0]]), 50, 0.1, noise=0.03, rng=5)


def _bath() -> prism.Record:
    rest = np.zeros(20)
    system = systems.nonlinear_bath(friction=0.05)
    return system.simulate([1.5, *rest], [0.0, *rest], 60, 0.1, noise=0.02, rng=11)


def _gaps() -> prism.Record:
    whole = _pure()
    values = whole.trials[0].copy()
    values[100:110] = np.nan
    return whole.with_values([values])


def _two() -> prism.Record:
    """Two coordinates in V = x²/2 + 0.7 y² + x⁴/8 + 0.3 x² y²."""

    def potential(q: Array) -> Array:
        x, y = q[..., 0], q[..., 1]
        return np.asarray(x**2 / 2 + 0.7 * y**2 + x**4 / 8 + 0.3 * x**2 * y**2)

    def force(q: Array) -> Array:
        x, y = q[..., 0], q[..., 1]
        slope = [x + x**3 / 2 + 0.6 * x * y**2, 1.4 * y + 0.6 * x**2 * y]
        return -np.stack(slope, axis=-1)

    system = systems.NonlinearSystem(
        potential=potential, force=force, masses=np.ones(2), observed=[0, 1], names=["x", "y"]
    )
    return system.simulate([1.2, -0.8], [0.2, 0.4], 60, 0.1, noise=0.02, rng=7)


def _linear() -> prism.Record:
    return systems.chain(2, observed=(0,)).free(80, 0.1, noise=0.02, rng=1)


def _walk() -> prism.Record:
    """Neither lines nor a force."""
    return record(np.cumsum(np.random.default_rng(8).standard_normal(600)), 0.05)


POTENTIAL: dict[str, Case] = {
    "pure_duffing": lambda: identify(_pure(), potential="auto"),
    "duffing_terms": lambda: identify(
        _duffing(), potential=["x", "x^3"], max_modes=1, fit_fraction=0.7
    ),
    "duffing_hidden": lambda: identify(_duffing(), potential="polynomial", max_modes=2),
    "duffing_trials": lambda: identify(_trials(), potential=["x", "x^3"], max_modes=1),
    "duffing_gaps": lambda: identify(_gaps(), potential=["x", "x^3"], max_modes=1),
    "quintic": lambda: identify(_quintic(), potential="polynomial", max_modes=1),
    "pendulum": lambda: identify(_pendulum(), potential="trigonometric", max_modes=1),
    "pendulum_terms": lambda: identify(_pendulum(), potential=["sin(x)"], max_modes=1),
    "double_well": lambda: identify(_in_one_well(), potential="polynomial", max_modes=1),
    "chaotic": lambda: identify(_across(), potential=["x", "x^3"], max_modes=1),
    "chaotic_fit_fraction": lambda: identify(
        _across(), potential=["x", "x^3"], max_modes=1, fit_fraction=0.8
    ),
    "bath": lambda: identify(_bath(), potential=["x", "x^3"], max_modes=1),
    "two_coordinates": lambda: identify(_two(), potential="auto", max_modes=1),
    "linear": lambda: identify(_linear(), potential="polynomial", max_modes=2),
    "walk": lambda: identify(_walk(), potential="auto"),
}
