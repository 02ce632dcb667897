"""Set-ups of roving sensors: one joint fit of a frame, against its true modes.

A frame of 20 storeys, stiffer below, whose noise drives the lowest eight modes with correlated
forces. Five set-ups of six sensors see it one after another: two reference sensors stay, four rove.
Each set-up is driven at a level of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize

from prism._types import Array, Index, Mask
from prism.motion.driven.setups import SetupsFit, fit_setups
from prism.record import Record
from prism.systems import LinearSystem
from prism.systems.driven import driven
from prism_bench._study import coverage, rng_of
from prism_bench.table import Benchmark, Progress, Row

__all__ = ["SetupsRun", "frame", "records", "run", "setups_run"]

STOREYS, DRIVEN, REFERENCES = 20, 8, (19, 12)
SETUPS, ROVING = 5, 4
DURATION, NOISE, LEVELS = 500.0, 0.05, 0.7
"""Duration, noise over motion, standard deviation of the logarithm of the drive."""
DAMPING = (0.005, 0.02)
BEYOND_LAST = 1.3  # Nyquist frequency over that of the last mode that is driven
DEFAULT_SEEDS = 20


@dataclass(frozen=True)
class SetupsRun:
    """What one draw gives.

    Attributes
    ----------
    modes : int
        Modes that were found.
    false : int
        Those that are none of the frame.
    mac : array (found,)
        Of the global shapes of modes of the frame that were found.
    frequency, damping : arrays (found,)
        Errors of ln Ω and ln ζ over what was stated.
    shape : array (found, channels)
        Errors of the components of unit shapes over what was stated.
    never : array
        Errors of ratios between pairs of sensors that were never measured together.
    inside : array of bool (found,)
        Whether the interval of the damping holds the truth.
    """

    modes: int
    false: int
    mac: Array
    frequency: Array
    damping: Array
    shape: Array
    never: Array
    inside: Mask


def frame(rng: np.random.Generator) -> LinearSystem:
    """A frame whose stiffness falls towards its top, a little at random."""
    storey = np.arange(STOREYS)
    spring = STOREYS**2 * (1 - (storey / STOREYS) ** 2)
    spring *= np.exp(0.1 * rng.standard_normal(STOREYS))
    K = np.diag(spring + np.append(spring[1:], 0))
    K -= np.diag(spring[1:], 1) + np.diag(spring[1:], -1)
    names = [f"q{k + 1}" for k in range(STOREYS)]
    return LinearSystem(np.eye(STOREYS), K, np.eye(STOREYS), names)


def records(seed: int) -> tuple[list[Record], LinearSystem, Array]:
    """Five set-ups, the frame, and the damping ratios of its modes."""
    rng = rng_of(90, seed)
    whole = frame(rng)
    zeta = np.exp(rng.uniform(np.log(DAMPING[0]), np.log(DAMPING[1]), STOREYS))
    dt = np.pi / (BEYOND_LAST * whole.frequencies[DRIVEN - 1])
    places = rng.permutation([k for k in range(STOREYS) if k not in REFERENCES])
    places = np.append(places, places[: SETUPS * ROVING - len(places)])
    out = []
    for rove in places.reshape(SETUPS, ROVING):
        at = [*REFERENCES, *sorted(int(k) for k in rove)]
        part = LinearSystem(
            whole.full_mass, whole.full_stiffness, np.eye(STOREYS)[at], [f"q{k + 1}" for k in at]
        )
        level = np.exp(LEVELS * rng.standard_normal())
        forces = level**2 * _forces(whole, rng)
        out.append(
            driven(
                part,
                DURATION,
                dt,
                damping=zeta,
                forces=forces,
                quantity="velocity",
                noise=NOISE,
                rng=rng,
            )
        )
    return out, whole, zeta


def _forces(whole: LinearSystem, rng: np.random.Generator) -> Array:
    """The spectrum of forces that drive the lowest modes alone, correlated between these."""
    root = np.eye(DRIVEN) + 0.3 * rng.standard_normal((DRIVEN, DRIVEN))
    push = whole.participation[:DRIVEN].T @ root
    return np.asarray(push @ push.T)


def setups_run(seed: int) -> SetupsRun:
    """One draw, fitted and compared with the truth."""
    given, whole, zeta = records(seed)
    fit = fit_setups(given)
    omega = whole.frequencies[:DRIVEN]
    order = [whole.channels.index(name) for name in fit.channels]
    near = np.abs(np.log(fit.frequencies[:, None] / omega))
    cost = np.where(near < 0.02, near, 1.0)
    found, true = scipy.optimize.linear_sum_assignment(cost)
    keep = cost[found, true] < 1.0
    found, true = found[keep], true[keep]
    shapes = whole.shapes[true][:, order]
    mine = fit.shapes[found]
    shapes = shapes * np.sign(np.sum(shapes * mine, axis=1))[:, None]
    together = _together(given, fit.channels)
    frequency = np.log(fit.frequencies[found] / omega[true]) * fit.frequencies[found]
    logs = np.log(fit.damping[found] / zeta[true]) * fit.damping[found]
    low, high = fit.damping_interval[found].T
    return SetupsRun(
        modes=len(fit),
        false=len(fit) - len(found),
        mac=np.sum(mine * shapes, axis=1) ** 2,
        frequency=frequency / fit.frequencies_std[found],
        damping=logs / fit.damping_std[found],
        shape=(mine - shapes) / fit.shapes_std[found],
        never=_never(fit, found, shapes, together),
        inside=(low <= zeta[true]) & (zeta[true] <= high),
    )


def _together(given: list[Record], channels: tuple[str, ...]) -> Mask:
    """Whether two channels were ever measured together."""
    out = np.zeros((len(channels),) * 2, bool)
    for record in given:
        at = [channels.index(name) for name in record.channels]
        out[np.ix_(at, at)] = True
    return out


def _never(fit: SetupsFit, found: Index, shapes: Array, together: Mask) -> Array:
    r"""Errors of :math:`φ_a \hat φ_b - φ_b \hat φ_a` over theirs, a and b never seen together."""
    values, covariance = fit.shapes, fit.covariance
    modes, n = values.shape
    pairs = np.argwhere(np.triu(~together, 1))
    out = []
    for j, true in zip(found, shapes, strict=True):
        own = slice(modes + j * n, modes + (j + 1) * n)
        C, mine = covariance[own, own], values[j]
        for a, b in pairs:
            difference = true[a] * mine[b] - true[b] * mine[a]
            variance = true[a] ** 2 * C[b, b] + true[b] ** 2 * C[a, a]
            variance -= 2 * true[a] * true[b] * C[a, b]
            out.append(difference / np.sqrt(variance))
    return np.array(out)


def run(seeds: int | None, progress: Progress) -> Benchmark:
    """Run all draws."""
    count = DEFAULT_SEEDS if seeds is None else seeds
    runs = []
    for seed in range(count):
        runs.append(setups_run(seed))
        progress(f"draw {seed + 1}")
    return Benchmark("setups", count, tuple(rows(runs)))


def rows(runs: list[SetupsRun]) -> list[Row]:
    """Shapes, and how often intervals hold the truth."""
    name = f"frame of {STOREYS} storeys, {SETUPS} set-ups of {ROVING + len(REFERENCES)} sensors"
    mac = np.concatenate([one.mac for one in runs])
    whole = float(np.mean([len(one.mac) == DRIVEN for one in runs]))
    false = float(np.mean([one.false > 0 for one in runs]))

    def cover(field: str) -> float:
        return coverage(np.concatenate([getattr(one, field).ravel() for one in runs]))

    inside = float(np.mean(np.concatenate([one.inside for one in runs])))
    held = "coverage of 95 % intervals"
    return [
        Row(name, "share of runs with all modes", whole, 0.95),
        Row(name, "share of runs with a false mode", false, None, 0.05),
        Row(name, "MAC of global shapes, lowest", float(mac.min()), 0.99),
        Row(name, "MAC of global shapes, median", float(np.median(mac))),
        Row(name, f"{held}, frequency", cover("frequency"), 0.92, 0.98),
        Row(name, f"{held}, damping", inside, 0.92, 0.98),
        Row(name, f"{held}, shape", cover("shape"), 0.92, 0.98),
        Row(name, f"{held}, sensors never measured together", cover("never"), 0.92, 0.98),
    ]
