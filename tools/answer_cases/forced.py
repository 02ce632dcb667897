"""Forced experiments: measured frequency responses, and records with their forces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.linalg

import prism
from prism import systems

from .made import FIVE, Array, Case, grid, identify, noisy

CART = systems.cart_pendulum()
CART_LINES = np.linspace(1.0, 7.0, 80)
FIVE_LINES = np.linspace(0.1, 2.6, 160)


def _cart(
    kind: str, noise: float = 0.1, loss: float = 0.0, seed: int = 0
) -> prism.FrequencyResponse:
    return CART.response(CART_LINES, loss=loss, noise=noise, noise_kind=kind, rng=seed)


def _five(
    seed: int,
    *,
    loss: float = 0.0,
    damping: str = "structural",
    kind: str = "multiplicative",
    quantity: str = "displacement",
    lines: Array = FIVE_LINES,
) -> prism.FrequencyResponse:
    return FIVE.response(
        *(lines,),
        loss=loss,
        damping=damping,
        noise=0.02,
        noise_kind=kind,
        quantity=quantity,
        rng=seed,
    )


def _twenty(loss: float = 0.0) -> prism.FrequencyResponse:
    system = systems.chain(20, observed=[0, 9, 19])
    return system.response(np.linspace(0.02, 2.05, 400), loss=loss, noise=0.01, rng=1)


def _isotropic() -> prism.FrequencyResponse:
    """Two modes of one frequency at two ports: a residue of rank two."""
    system = systems.LinearSystem(np.eye(2), np.eye(2), np.eye(2))
    return system.response(np.linspace(0.4, 1.7, 100), loss=0.01, noise=0.01, rng=2)


def _one_force() -> prism.FrequencyResponse:
    full = _five(3)
    return prism.FrequencyResponse(
        full.omega, full.values[:, :, :1], outputs=full.outputs, inputs=full.inputs[:1]
    )


def _elsewhere() -> prism.FrequencyResponse:
    """No motion is measured where the force acts."""
    full = _five(4)
    return prism.FrequencyResponse(
        full.omega, full.values[:, :2, 2:], outputs=["a", "b"], inputs=["c"]
    )


def _missing() -> prism.FrequencyResponse:
    full = _five(5)
    values = full.values.copy()
    values[:, 0, 2] = np.nan
    values[50:60] = np.nan
    values[np.random.default_rng(5).uniform(size=values.shape) < 0.2] = np.nan
    return prism.FrequencyResponse(full.omega, values)


def _variance() -> prism.FrequencyResponse:
    """A third of the values has a hundredfold error, and says so."""
    rng = np.random.default_rng(6)
    clean = FIVE.response(FIVE_LINES).values
    level = np.where(rng.uniform(size=clean.shape) < 0.3, 1.0, 0.01) * 0.05
    real, imaginary = rng.standard_normal((2, *clean.shape))
    values = clean + level * (real + 1j * imaginary)
    return prism.FrequencyResponse(FIVE_LINES, values, variance=2 * level**2)


def _rigid_body() -> prism.FrequencyResponse:
    """A free body with one spring: a pole at zero."""
    rng, w = np.random.default_rng(7), np.linspace(0.2, 3.0, 120)
    clean = -0.5 / w**2 + 0.5 / (2.0 - w**2 + 0.02j * w)
    real, imaginary = rng.standard_normal((2, len(w)))
    return prism.FrequencyResponse(w, clean * (1 + 0.01 * (real + 1j * imaginary)))


def _viscous(seed: int, kind: str) -> prism.FrequencyResponse:
    return _five(seed, loss=0.01, damping="viscous", kind=kind)


FRF: dict[str, Case] = {
    "cart_multiplicative": lambda: identify(_cart("multiplicative")),
    "cart_additive": lambda: identify(_cart("additive")),
    "cart_both": lambda: identify(_cart("both")),
    "cart_lossy": lambda: identify(_cart("multiplicative", 0.01, 0.01)),
    "cart_lossy_damped": lambda: identify(_cart("both", 0.02, 0.01, 1), damped=True),
    "cart_lossy_undamped": lambda: identify(_cart("additive", 0.02, 0.005, 2), damped=False),
    "cart_lossless_damped": lambda: identify(_cart("multiplicative", 0.02), damped=True),
    "cart_max_modes": lambda: identify(_cart("both", 0.02, 0.0, 3), max_modes=1),
    "five": lambda: identify(_five(0)),
    "five_structural": lambda: identify(_five(1, loss=0.01)),
    "five_viscous": lambda: identify(_viscous(2, "multiplicative")),
    "five_viscous_additive": lambda: identify(_viscous(3, "additive")),
    "five_accelerance": lambda: identify(_five(4, loss=0.005, quantity="acceleration")),
    "five_mobility": lambda: identify(_five(5, quantity="velocity", kind="additive")),
    "five_half_the_band": lambda: identify(_five(6, lines=np.linspace(0.05, 1.2, 120))),
    "five_max_modes": lambda: identify(_five(7, kind="additive"), max_modes=4),
    "five_false_alarm": lambda: identify(_five(8), false_alarm=0.05),
    "twenty": lambda: identify(_twenty()),
    "twenty_lossy": lambda: identify(_twenty(0.01)),
    "rank_full": lambda: identify(_isotropic(), rank="full"),
    "rank_one": lambda: identify(_isotropic()),
    "one_force": lambda: identify(_one_force()),
    "no_driving_point": lambda: identify(_elsewhere()),
    "missing": lambda: identify(_missing()),
    "variance": lambda: identify(_variance()),
    "rigid_body": lambda: identify(_rigid_body()),
    "slosh_tank": lambda: identify(
        systems.slosh_tank(observed="x").response(
            np.linspace(1.0, 12.0, 150), loss=0.005, noise=0.02, rng=9
        )
    ),
}


# -- records --------------------------------------------------------------------------------------


def _pushed(
    kind: str,
    seed: int,
    *,
    duration: float = 200.0,
    loss: float = 0.0,
    hold: Literal["zero", "first"] = "first",
    noise: float = 0.05,
) -> prism.Record:
    """Cart and pendulum under one force."""
    rng = np.random.default_rng(seed)
    force = systems.excitation(kind, 0.5, 8.0, 0.05, duration, rng=rng)
    made = systems.forced(CART, force, 0.05, hold=hold, loss=loss, noise=noise, rng=rng)
    return made.with_force()


def _two_ports(seed: int, trials: int = 1, loss: float = 0.01) -> prism.Record:
    """A chain pushed at both of its seen masses."""
    rng, system = np.random.default_rng(seed), systems.chain(4, observed=[0, 3])
    force = [
        [systems.excitation("random", 0.1, 2.5, 0.2, 200, rng=rng) for _ in range(2)]
        for _ in range(trials)
    ]
    push = np.swapaxes(np.array(force), 1, 2)
    return systems.forced(system, push, 0.2, loss=loss, noise=0.05, rng=rng).with_force()


def _dense(
    inertia: Array, stiffness: Array, ports: Sequence[int], force: Array, dt: float
) -> tuple[Array, Array]:
    """Displacement and velocity at the ports from rest, under a force that goes straight."""
    n, m = len(inertia), force.shape[1]
    inverse = np.linalg.inv(inertia)
    whole = np.zeros((2 * n + 2 * m,) * 2)
    whole[:n, n : 2 * n] = np.eye(n) * dt
    whole[n : 2 * n, :n] = -inverse @ stiffness * dt
    whole[n : 2 * n, 2 * n : 2 * n + m] = inverse[:, list(ports)] * dt
    whole[2 * n : 2 * n + m, 2 * n + m :] = np.eye(m)
    step = scipy.linalg.expm(whole)[: 2 * n]
    path = np.zeros((len(force), 2 * n))
    for k in range(len(force) - 1):
        path[k + 1] = step @ np.concatenate([path[k], force[k], force[k + 1] - force[k]])
    return path[:, list(ports)], path[:, n:][:, list(ports)]


def _floating(seed: int, quantity: str) -> prism.Record:
    """Three masses that no wall holds: the whole of them moves away."""
    rng = np.random.default_rng(seed)
    stiffness = np.array([[1.0, -1, 0], [-1, 2, -1], [0, -1, 1]])
    push = [systems.excitation("random", 0.0, 3.0, 0.1, 200, rng=rng) for _ in range(2)]
    force = np.stack(push, axis=1)
    still, moving = _dense(np.eye(3), stiffness, [0, 2], force, 0.1)
    x = noisy(still if quantity == "displacement" else moving, 0.02, rng)
    return prism.Record(
        np.hstack([x, force]),
        dt=0.1,
        channels=["a", "b", "f_a", "f_b"],
        quantity=[quantity] * 2 + ["displacement"] * 2,
    )


def _elsewhere_record() -> prism.Record:
    """The force acts at a mass that is not seen."""
    both = _two_ports(5)
    return both.select(["q4", "f_q1"])


def _renamed() -> prism.Record:
    both = _two_ports(6)
    return prism.Record(both.trials[0], dt=0.2, channels=["near", "far", "shaker", "hammer"])


def _ragged() -> prism.Record:
    long, short = _pushed("random", 7), _pushed("sweep", 8, duration=120)
    return prism.Record([long.trials[0], short.trials[0]], dt=0.05, channels=long.channels)


def _ringing() -> prism.Record:
    """The record starts while the system moves already."""
    return _pushed("random", 9, loss=0.01).tail(0.3)


def _gappy() -> prism.Record:
    whole = _pushed("random", 10)
    values = whole.trials[0].copy()
    rng, t = np.random.default_rng(10), grid(200, 0.05)
    values[rng.uniform(size=len(t)) < 0.1, 0] = np.nan
    return whole.with_values([values])


def _forced(data: prism.Record, force: str | Sequence[str] = "f_x", **options: Any) -> prism.Model:
    return identify(data, force=force, **options)


_BOTH = ("f_q1", "f_q4")

FORCED_RECORD: dict[str, Case] = {
    "sweep": lambda: _forced(_pushed("sweep", 0)),
    "random": lambda: _forced(_pushed("random", 1)),
    "burst": lambda: _forced(_pushed("burst", 2)),
    "dwell": lambda: _forced(_pushed("dwell", 3)),
    "hammer": lambda: _forced(_pushed("hammer", 4, loss=0.01, noise=0.02)),
    "lossy": lambda: _forced(_pushed("random", 5, loss=0.02)),
    "lossy_damped": lambda: _forced(_pushed("random", 5, loss=0.02), damped=True),
    "lossy_undamped": lambda: _forced(_pushed("random", 5, loss=0.002), damped=False),
    "lossless_damped": lambda: _forced(_pushed("sweep", 6), damped=True),
    "hold_zero": lambda: _forced(_pushed("random", 11, hold="zero"), hold="zero"),
    "hold_first": lambda: _forced(_pushed("random", 12), hold="first"),
    "hold_found": lambda: _forced(_pushed("random", 13, hold="zero", noise=0.01)),
    "ragged_trials": lambda: _forced(_ragged()),
    "ringing": lambda: _forced(_ringing()),
    "missing": lambda: _forced(_gappy()),
    "max_modes": lambda: _forced(_pushed("random", 14), max_modes=1),
    "two_ports": lambda: _forced(_two_ports(0), _BOTH),
    "two_ports_trials": lambda: _forced(_two_ports(1, trials=3), _BOTH),
    "one_force_two_motions": lambda: _forced(
        _two_ports(2).select(["q1", "q4", "f_q1", "f_q4"]), ["f_q4", "f_q1"], false_alarm=1e-4
    ),
    "at": lambda: _forced(_renamed(), ["shaker", "hammer"], at={"shaker": "near", "hammer": "far"}),
    "force_elsewhere": lambda: _forced(_elsewhere_record(), "f_q1"),
    "no_driving_point": lambda: _forced(_renamed(), ["shaker", "hammer"]),
    "rigid_body": lambda: _forced(_floating(0, "displacement"), ["f_a", "f_b"]),
    "rigid_body_velocity": lambda: _forced(_floating(1, "velocity"), ["f_a", "f_b"]),
}
