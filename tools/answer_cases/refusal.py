"""What is refused: the kind of the refusal and its words."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import prism
from prism import systems

from .made import CHAIN, Case, grid, identify, record


def _noise() -> prism.Record:
    return record(np.random.default_rng(0).standard_normal((1000, 2)), 0.05)


def _irregular() -> prism.Record:
    rng = np.random.default_rng(8)
    t = np.sort(rng.uniform(0, 60, 400))
    return prism.Record(np.cos(t) + 0.1 * rng.standard_normal(400), t=t)


def _part_of_a_period() -> prism.Record:
    t, rng = np.arange(1000) / 1000, np.random.default_rng(1)
    return record(np.cos(2 * np.pi * 0.4 * t + 0.3) + 1e-3 * rng.standard_normal(1000), 0.05)


def _wandering() -> prism.Record:
    return systems.double_well().simulate([1.3, 0.5], [0.3, -0.4], 100, 0.1, noise=0.05, rng=0)


def _empty_response() -> prism.FrequencyResponse:
    w, rng = np.linspace(0.5, 3, 60), np.random.default_rng(2)
    real, imaginary = rng.standard_normal((2, 60))
    return prism.FrequencyResponse(w, real + 1j * imaginary)


def _response() -> prism.FrequencyResponse:
    return systems.cart_pendulum().response(np.linspace(1, 7, 40), noise=0.02, rng=3)


def _pushed() -> prism.Record:
    force = systems.excitation("random", 0.5, 8.0, 0.1, 60, rng=4)
    return systems.forced(systems.cart_pendulum(), force, 0.1, noise=0.1, rng=4).with_force()


def _deaf() -> prism.Record:
    """A motion that has nothing to do with the force."""
    force, rng = systems.excitation("random", 0.5, 8.0, 0.1, 60, rng=5), np.random.default_rng(5)
    both = np.column_stack([rng.standard_normal(len(force)), force])
    return record(both, 0.1, channels=["x", "f_x"])


def _long_gap() -> prism.Record:
    t = np.concatenate([grid(20, 0.1), 500 + grid(20, 0.1)])
    rng = np.random.default_rng(6)
    return prism.Record(np.cos(t) + 0.1 * rng.standard_normal(len(t)), t=t)


def _of_chain(**options: Any) -> prism.Model:
    return identify(CHAIN.free(60, 0.2, noise=0.1, rng=0), **options)


def _decay(**options: Any) -> prism.Model:
    t, rng = grid(60, 0.2), np.random.default_rng(7)
    x = np.exp(-0.03 * t) * np.cos(t) + 0.02 * rng.standard_normal(len(t))
    return identify(record(x, 0.2), damped=True, **options)


_OPTIONS: dict[str, dict[str, Any]] = {
    "unknown_experiment": {"experiment": "shaken"},
    "unknown_method": {"method": "magic"},
    "no_modes_allowed": {"max_modes": 0},
    "no_false_alarm": {"false_alarm": 0.0},
    "mass_of_wrong_size": {"mass": np.eye(3)},
    "unknown_mass": {"mass": "unit"},
    "mass_not_symmetric": {"mass": [[1, 2], [0, 1]]},
    "mass_not_positive": {"mass": -np.eye(2)},
    "stiffness_not_finite": {"stiffness": [[1, np.nan], [np.nan, 1]]},
    "fraction_too_large": {"fit_fraction": 1.5},
    "fraction_too_small": {"fit_fraction": 0.01},
    "drift_too_high": {"drift": 9},
    "drift_by_nnls": {"drift": 2, "method": "nnls"},
    "all_ignored": {"ignore": (0.0, 1.0)},
    "bad_band": {"ignore": "low"},
    "force_without_channel": {"force": "f"},
    "hold_of_free": {"hold": "zero"},
    "rank_of_free": {"rank": "full"},
    "forced_without_force": {"experiment": "forced"},
    "potential_and_mass": {"potential": "auto", "mass": "identity"},
    "potential_and_drift": {"potential": "auto", "drift": 2},
    "unknown_potential": {"potential": "cubic"},
    "potential_term": {"potential": ["x", "tan(x)"]},
    "damped_and_mass": {"damped": True, "mass": "identity"},
    "damped_equilibrium": {"damped": True, "experiment": "equilibrium"},
    "damped_and_drift": {"damped": True, "drift": 2},
}

REFUSAL: dict[str, Case] = {
    "noise": lambda: identify(_noise()),
    "noise_nnls": lambda: identify(_noise(), method="nnls"),
    "nnls_irregular": lambda: identify(_irregular(), method="nnls"),
    "noise_damped": lambda: identify(_noise(), damped=True),
    "noise_equilibrium": lambda: identify(_noise(), experiment="equilibrium"),
    "part_of_a_period": lambda: identify(_part_of_a_period()),
    "part_of_a_period_potential": lambda: identify(_part_of_a_period(), potential="auto"),
    "wandering": lambda: identify(_wandering()),
    "long_gap": lambda: identify(_long_gap()),
    "array": lambda: identify(np.zeros((100, 2))),
    "three_coordinates_potential": lambda: identify(
        systems.chain(3, observed=range(3)).free(60, 0.2, noise=0.1, rng=1), potential="auto"
    ),
    "decay_ignored": lambda: _decay(ignore=(0.0, 1.0)),
    "frf_noise": lambda: identify(_empty_response()),
    "frf_equilibrium": lambda: identify(_response(), experiment="equilibrium"),
    "frf_mass": lambda: identify(_response(), mass="identity"),
    "frf_fit_fraction": lambda: identify(_response(), fit_fraction=0.5),
    "frf_force": lambda: identify(_response(), force="x"),
    "frf_method": lambda: identify(_response(), method="nnls"),
    "frf_unknown_rank": lambda: identify(_response(), rank="two"),
    "forced_unknown_channel": lambda: identify(_pushed(), force="f_y"),
    "forced_unknown_hold": lambda: identify(_pushed(), force="f_x", hold="second"),
    "forced_all_are_forces": lambda: identify(_pushed(), force=["x", "f_x"]),
    "forced_rank": lambda: identify(_pushed(), force="f_x", rank="full"),
    "forced_ignore": lambda: identify(_pushed(), force="f_x", ignore="50hz"),
    "forced_unrelated": lambda: identify(_deaf(), force="f_x"),
    **{name: partial(_of_chain, **options) for name, options in _OPTIONS.items()},
}
