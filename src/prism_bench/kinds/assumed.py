r"""Makers of ensembles that are not at equilibrium as is said, or that come with wrong numbers.

At equilibrium the power of a mode is :math:`kT\, v_m v_m^T / Ω_m^2` and
:math:`\sum_m v_m v_m^T = μ^{-1}`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import chi2, ncx2

from prism._types import Array
from prism.record import Record
from prism_bench.kinds.free import NOISE, Made, swing
from prism_bench.kinds.systems import Drawn, Wanted, draw

PIECES = 40
TRIALS = (100, 300)
SHORT = (400, 1000)  # samples of a trial
MASS, GAIN = 1.1, 1.05
SPREAD = 1.0  # of the logarithm of random energies
LEVEL = 1e-3  # of the test of an oracle
SHAPES = 3e-3  # error of shapes, where energies do not scatter


def _wanted(channels: int) -> Wanted:
    return Wanted((channels + 1, 6), (channels, 4), SHORT, unit_mass=True, hidden=True)


def _noisy(rng: np.random.Generator, clean: Array) -> Array:
    noise = NOISE * np.sqrt(np.mean(clean**2, axis=(0, 1)))
    return np.asarray(clean + noise * rng.standard_normal(clean.shape))


def _truth(drawn: Drawn, power: float) -> dict[str, Any]:
    return {"hidden": drawn.system.hidden_frequencies, "power": power}


def cut(rng: np.random.Generator) -> Made:
    """One long free record, cut into pieces."""
    drawn = draw(rng, _wanted(1))
    t = np.asarray(drawn.dt * np.arange(PIECES * drawn.samples), float)
    values = swing(rng, drawn, t).clean.reshape(PIECES, drawn.samples, -1)
    record = Record(_noisy(rng, values), dt=drawn.dt)
    options = {"experiment": "equilibrium"}
    return Made(record, None, options=options, extras=_truth(drawn, 1.0))


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
    record, v = Record(_noisy(rng, clean), dt=drawn.dt), drawn.system.participation
    return Made(record, None, options=options, extras=_truth(drawn, power(v, E, trials)))


def wrong_mass(rng: np.random.Generator) -> Made:
    """One of the masses that are given is 10 % too large."""
    drawn = draw(rng, _wanted(2))
    clean, trials = _ensemble(rng, drawn, np.ones(len(drawn.zeta)))
    n = clean.shape[2]
    mass = np.eye(n)
    a = int(rng.integers(n))
    mass[a, a] = MASS
    options = {"experiment": "equilibrium", "mass": mass}
    # with a mass too large the shares of Σ v vᵀ μ are those of a channel that reads too much
    told = power(_scaled(drawn, a, np.sqrt(MASS)), np.ones(len(drawn.zeta)), trials)
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
    told = power(_scaled(drawn, a, GAIN), np.ones(len(drawn.zeta)), trials)
    return Made(Record(values, dt=drawn.dt), None, options=options, extras=_truth(drawn, told))


# -- what a test with full knowledge sees ----------------------------------------------------------


def _scaled(drawn: Drawn, a: int, factor: float) -> Array:
    v = drawn.system.participation.copy()
    v[:, a] *= factor
    return v


def power(v: Array, E: Array, trials: int) -> float:
    """Power of a test at 1e-3 of the relation that equilibrium and the mass make.

    Parameters
    ----------
    v, E, trials
        As of `noncentrality`.
    """
    apart, dof = noncentrality(v, E, trials)
    return float(ncx2.sf(chi2.isf(LEVEL, dof), dof, apart)) if dof else 0.0


def noncentrality(v: Array, E: Array, trials: int) -> tuple[float, int]:
    r"""How far the one relation that equilibrium and the mass make is off, in χ².

    :math:`X = \sum_m E_m v_m v_m^T` must be a multiple of the identity. The mean energy of a mode
    over R trials scatters by :math:`1/\sqrt R`, shapes hardly. What X is off by has the
    non-centrality :math:`d^T C^{-1} d` on n(n+1)/2 - 1 degrees of freedom: one channel tells
    nothing.

    Parameters
    ----------
    v : array (modes, channels)
        As the masses and gains that are given make it.
    E : array (modes,)
        Mean energies.
    trials : int
    """
    n = v.shape[1]
    dof = n * (n + 1) // 2 - 1
    if not dof:
        return 0.0, 0
    each = np.einsum("m,ma,mb->mab", E, v, v)
    traceless = each - np.trace(each, axis1=1, axis2=2)[:, None, None] * np.eye(n) / n
    rows = traceless[:, *np.triu_indices(n)]
    d, floor = rows.sum(axis=0), (SHAPES * np.trace(each.sum(axis=0)) / n) ** 2
    C = rows.T @ rows / trials + floor * np.eye(len(d))
    return float(d @ np.linalg.solve(C, d)), dof
