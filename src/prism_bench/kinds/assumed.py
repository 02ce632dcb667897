r"""Makers of ensembles that are called records at equilibrium and are not, or are told wrong numbers.

At equilibrium the power of a mode is :math:`kT\, v_m v_m^T / Ω_m^2` and
:math:`\sum_m v_m v_m^T = μ^{-1}`.
"""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.record import Record
from prism_bench.kinds.free import NOISE, Made, swing
from prism_bench.kinds.systems import Drawn, Wanted, draw

PIECES = 40
TRIALS = (100, 300)
SHORT = (400, 1000)  # samples of a trial
MASS, GAIN = 1.1, 1.05
SPREAD = 1.0  # of the logarithm of random energies


def _wanted(channels: int) -> Wanted:
    return Wanted(
        channels=(channels, 4),
        length=SHORT,
        unit_mass=True,
        hidden=True,
        coordinates=(2 + channels - 1, 6),
    )


def _noisy(rng: np.random.Generator, clean: Array) -> Array:
    noise = NOISE * np.sqrt(np.mean(clean**2, axis=(0, 1)))
    return clean + noise * rng.standard_normal(clean.shape)


def _truth(drawn: Drawn, told: float) -> dict[str, object]:
    return {"hidden": drawn.system.hidden_frequencies, "oracle": told}


def cut(rng: np.random.Generator) -> Made:
    """One long free record, cut into pieces."""
    drawn = draw(rng, _wanted(1))
    t = drawn.dt * np.arange(PIECES * drawn.samples)
    values = swing(rng, drawn, t).clean.reshape(PIECES, drawn.samples, -1)
    record = Record(_noisy(rng, values), dt=drawn.dt)
    options = {"experiment": "equilibrium"}
    return Made(record, None, options=options, extras=_truth(drawn, np.inf))


def _ensemble(rng: np.random.Generator, drawn: Drawn, energies: Array) -> tuple[Array, int]:
    """Canonical trials, each mode with a temperature of its own."""
    trials, omega = int(rng.integers(*TRIALS)), drawn.system.frequencies
    gauss = rng.standard_normal((2, trials, len(omega)))
    z = (gauss[0] + 1j * gauss[1]) * np.sqrt(energies) / omega
    turn = np.exp(1j * np.multiply.outer(omega, drawn.t))
    clean = np.einsum("rm,mt,ma->rta", z, turn, drawn.system.participation, optimize=True).real
    return clean, trials


def energies(slope: bool, rng: np.random.Generator) -> Made:
    """Modal energies as the frequencies, or random ones, called equal."""
    drawn = draw(rng, _wanted(1))
    omega = drawn.system.frequencies
    E = omega / omega.mean() if slope else rng.lognormal(0.0, SPREAD, len(omega))
    clean, trials = _ensemble(rng, drawn, E)
    options = {"experiment": "equilibrium", "mass": "identity"}
    record = Record(_noisy(rng, clean), dt=drawn.dt)
    return Made(record, None, options=options, extras=_truth(drawn, unequal(drawn, E, trials)))


def wrong_mass(rng: np.random.Generator) -> Made:
    """One of the masses that are given is 10 % too large."""
    drawn = draw(rng, _wanted(2))
    clean, trials = _ensemble(rng, drawn, np.ones(len(drawn.zeta)))
    n = clean.shape[2]
    mass = np.eye(n)
    a = int(rng.integers(n))
    mass[a, a] = MASS
    options = {"experiment": "equilibrium", "mass": mass}
    told = unlike(drawn, a, MASS, trials)
    record = Record(_noisy(rng, clean), dt=drawn.dt)
    return Made(record, None, options=options, extras=_truth(drawn, told))


def wrong_gain(rng: np.random.Generator) -> Made:
    """One of the channels reads 5 % too much."""
    drawn = draw(rng, _wanted(2))
    clean, trials = _ensemble(rng, drawn, np.ones(len(drawn.zeta)))
    a = int(rng.integers(clean.shape[2]))
    values = _noisy(rng, clean)
    values[..., a] *= GAIN
    options = {"experiment": "equilibrium", "mass": "identity"}
    told = unlike(drawn, a, GAIN**2, trials)
    return Made(Record(values, dt=drawn.dt), None, options=options, extras=_truth(drawn, told))


# -- what a test with full knowledge sees ----------------------------------------------------------


def unequal(drawn: Drawn, E: Array, trials: int) -> float:
    r"""What the energies gain over equal ones in twice the log-likelihood.

    :math:`2 R \sum_m (r_m - 1 - \ln r_m)`, r the energies over their mean. A record shows powers
    only; shapes and frequencies known, so are the energies.
    """
    ratio = E / E.mean()
    return float(2 * trials * np.sum(ratio - 1 - np.log(ratio)))


def unlike(drawn: Drawn, a: int, factor: float, trials: int) -> float:
    r"""What a wrong entry of :math:`\sum_m v_m v_m^T` gains, the temperature unknown.

    Each mode scatters by :math:`1/\sqrt R` of its power. The other channels fix the temperature.
    """
    share = drawn.system.participation**2
    own = share[:, a] / share[:, a].sum()
    rest = np.delete(share, a, axis=1).sum(axis=1)
    off = own - rest / rest.sum()
    return float(np.log(factor) ** 2 * trials / np.sum(off**2))
