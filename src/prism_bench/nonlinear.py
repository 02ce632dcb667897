"""A potential and hidden modes from one noisy record, measured against their bars.

Nothing is told to the fit: neither the terms of the force nor the number of modes. A run of case c
with seed s draws from ``numpy.random.default_rng([c, s])``. Records last 150 with a step of 0.05.
Forecasts are compared with the exact motion; beside them stands linear PRISM on the same data.
Times are CPU times of one process.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.errors import PrismError
from prism.motion.potential import NonlinearFit, fit_potential
from prism.pipeline import identify
from prism.record import Record
from prism.systems.nonlinear import NonlinearSystem
from prism.systems.nonlinear_particle import (
    asymmetric_well,
    double_well,
    duffing,
    pendulum,
    quintic,
)
from prism_bench._study import coverage, rms, rng_of
from prism_bench.potential_bound import potential_bound
from prism_bench.real import folder
from prism_bench.table import Benchmark, Progress, Row

DEFAULT_SEEDS = 20
DURATION, STEP = 150.0, 0.05
NOISE = (0.01, 0.05, 0.1)
RANDOM_SYSTEMS = 60


@dataclass(frozen=True, eq=False)
class Case:
    """A system, a start, and what a fit should find."""

    number: int
    name: str
    system: NonlinearSystem
    position: tuple[float, ...]
    momentum: tuple[float, ...]
    terms: tuple[str, ...]
    values: tuple[float, ...]
    chaotic: bool = False

    @property
    def modes(self) -> int:
        """Number of hidden modes."""
        return len(self.position) - 1

    def motion(self) -> Array:
        """The exact motion of x."""
        return self.system.trajectory(self.position, self.momentum, DURATION, STEP).q[:, 0]

    def record(self, noise: float, rng: np.random.Generator) -> Record:
        """A noisy record of x."""
        return self.system.simulate(
            self.position, self.momentum, DURATION, STEP, noise=noise, rng=rng
        )


CASES = (
    Case(
        *(100, "Duffing, two modes", duffing(), (1.5, 0.0, 0.0), (0.0, 0.0, 0.0)),
        *(("x", "x^3"), (1.0, 0.5, 0.7, 1.9, 0.35, 0.6)),
    ),
    Case(
        *(103, "double well, in one well", double_well(), (1.3, 0.2), (0.0, 0.1)),
        *(("x", "x^3"), (-1.0, 1.0, 1.2, 0.4)),
    ),
    Case(
        *(106, "double well, across", double_well(), (1.5, 0.0), (0.0, 0.0)),
        *(("x", "x^3"), (-1.0, 1.0, 1.2, 0.4), True),
    ),
    Case(
        *(109, "pendulum, one mode", pendulum(1.0, 0.0, [1.6], [0.5]), (2.0, 0.2), (0.0, 0.2)),
        *(("sin(x)",), (1.0, 1.6, 0.5)),
    ),
    Case(
        *(112, "pure Duffing", duffing(1.0, 0.5, [], []), (1.5,), (0.0,)),
        *(("x", "x^3"), (1.0, 0.5)),
    ),
)
LINEAR = Case(
    *(115, "linear force, two modes", duffing(1.0, 0.0), (1.5, 0.3, -0.2), (0.0, 0.2, 0.3)),
    *(("x",), ()),
)


def run(seeds: int | None, progress: Progress) -> Benchmark:
    """Run all cases."""
    count = DEFAULT_SEEDS if seeds is None else seeds
    # The first call compiles the fast kernel, which is no part of the cost of a record.
    fit_potential(CASES[-1].record(0.01, rng_of(0, 0)).head(0.2), potential=["x", "x^3"])
    rows: list[Row] = []
    for part in _parts(count):
        rows += part
        progress(rows[-1].case)
    return Benchmark("nonlinear", count, tuple(rows))


def _parts(count: int) -> Iterator[list[Row]]:
    runs: list[Run] = []
    for case in CASES:
        mine = [one_run(case, i, seed) for i in range(len(NOISE)) for seed in range(count)]
        yield case_rows(case, mine)
        runs += mine
    yield pooled_rows(runs)
    for case in CASES:
        yield forecast_rows(case, count)
    yield linear_rows(count)
    yield random_rows(min(RANDOM_SYSTEMS, 3 * count))
    yield double_pendulum_rows()


# -- structure and parameters ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Run:
    """One fit: is the structure right, is it listed, errors in standard errors, in bounds."""

    modes: bool
    terms: bool
    listed: bool
    z: Array
    over_bound: Array
    seconds: float


def one_run(case: Case, level: int, seed: int) -> Run:
    """Fit one record and compare."""
    rng = rng_of(case.number + level, seed)
    record = case.record(NOISE[level], rng)
    start = time.process_time()
    fit = fit_potential(record)
    seconds = time.process_time() - start
    terms = () if fit.potential is None else fit.potential.terms
    listed = any(a.terms == case.terms and a.modes == case.modes for a in fit.alternatives)
    if terms != case.terms or fit.modes != case.modes:
        return Run(fit.modes == case.modes, False, listed, np.zeros(0), np.zeros(0), seconds)
    found, std = numbers(fit)
    K, m = len(case.terms), case.modes
    values = np.array(case.values)
    bound = potential_bound(
        case.terms,
        values[:K],
        values[K : K + m],
        values[K + m :],
        [*case.position, *case.momentum],
        samples=len(record.trials[0]),
        dt=STEP,
        noise_std=NOISE[level] * float(case.motion().std()),
    )
    z = (found - case.values) / std
    return Run(True, True, listed, z, std / bound, seconds)


def numbers(fit: NonlinearFit) -> tuple[Array, Array]:
    """Coefficients, hidden frequencies and couplings with their standard errors."""
    if fit.potential is None:
        return np.zeros(0), np.zeros(0)
    found = (fit.potential.coefficients, fit.hidden_frequencies, fit.couplings.ravel())
    std = (fit.potential.std, fit.hidden_frequencies_std, fit.couplings_std.ravel())
    return np.concatenate(found), np.concatenate(std)


def case_rows(case: Case, runs: list[Run]) -> list[Row]:
    """What holds for one case at all noise levels together."""
    right = [r for r in runs if r.terms]
    ratio = np.concatenate([r.over_bound for r in right]) if right else np.array([np.nan])
    z = np.concatenate([r.z for r in right]) if right else np.array([np.nan])
    named = np.mean([r.terms or r.listed for r in runs])
    return [
        Row(case.name, "share with the right number of modes", _share(runs, "modes")),
        Row(case.name, "share with the right terms, reported", _share(runs, "terms")),
        Row(case.name, "share with the right terms, reported or listed", float(named)),
        Row(case.name, "standard error / Cramér-Rao, median", float(np.median(ratio)), 0.95, 1.1),
        Row(case.name, "rms z-score", rms(z)),
        Row(case.name, "CPU time, median s", float(np.median([r.seconds for r in runs]))),
        Row(case.name, "CPU time, worst s", max(r.seconds for r in runs), None, 15.0),
    ]


def _share(runs: list[Run], name: str) -> float:
    return float(np.mean([getattr(r, name) for r in runs]))


def pooled_rows(runs: list[Run]) -> list[Row]:
    """The bars that hold for all cases together."""
    name = "all five cases"
    right = [r for r in runs if r.terms]
    z = np.concatenate([r.z for r in right])
    named = float(np.mean([r.terms or r.listed for r in runs]))
    inside = float(np.mean([np.all(np.abs(r.z) < 3) for r in right]))
    return [
        Row(name, "share with the right number of modes", _share(runs, "modes"), 0.98),
        Row(name, "share with the right terms, reported or listed", named, 0.95),
        Row(name, "share of runs with all parameters inside 3 standard errors", inside, 0.95),
        Row(name, "coverage of 95 % intervals", coverage(z), 0.9, 0.98),
    ]


# -- forecasts ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ahead:
    """Errors of the forecast of the last 40 %, relative to the motion there."""

    error: float
    linear: float
    horizon: float
    predicted: float
    refused: bool


def ahead(case: Case, seed: int) -> Ahead:
    """Fit 60 % of a record with 10 % noise and forecast the rest."""
    record = case.record(0.1, rng_of(case.number + 20, seed))
    truth = case.motion()
    head = record.head(0.6)
    k = len(head.trials[0])
    t, rest = STEP * np.arange(k, len(truth)), truth[k:]
    fit = fit_potential(head)
    off = fit.forecast(t).values[:, 0] - rest
    linear = _linear_forecast(head, t) - rest
    horizon = predicted = np.nan
    if case.chaotic and fit.horizon is not None:
        lost = np.abs(off) > 0.5 * truth.std()
        span = float(t[np.argmax(lost)] - t[0]) if lost.any() else float(t[-1] - t[0])
        horizon, predicted = span * fit.horizon.lyapunov, fit.horizon.lyapunov_times
    scale = float(rest.std())
    refused = not fit.verdict.identifiable and fit.potential is None
    return Ahead(rms(off) / scale, rms(linear) / scale, horizon, predicted, refused)


def _linear_forecast(head: Record, t: ArrayLike) -> Array:
    """What linear PRISM makes of the same data; nothing where it refuses them."""
    try:
        return np.asarray(identify(head).forecast(t).values[:, 0])
    except PrismError:
        return np.full(np.size(t), np.nan)


def forecast_rows(case: Case, count: int) -> list[Row]:
    """Error of the forecast, or the horizon where the motion is chaotic."""
    runs = [ahead(case, seed) for seed in range(count)]
    error = float(np.median([r.error for r in runs]))
    linear = float(np.nanmedian([r.linear for r in runs]))
    what = "forecast of the last 40 %, 10 % noise, median NRMSE"
    row = Row(
        *(case.name, what, error, None, None if case.chaotic else 0.02),
        note="beside it: linear PRISM",
        own_method=linear,
    )
    if not case.chaotic:
        return [row]
    horizon = float(np.nanmedian([r.horizon for r in runs]))
    predicted = float(np.nanmedian([r.predicted for r in runs]))
    return [
        row,
        Row(case.name, "forecast horizon, Lyapunov times, median", horizon),
        Row(case.name, "forecast horizon that the fit reports, Lyapunov times", predicted),
    ]


def linear_rows(count: int) -> list[Row]:
    """A linear force: the bare parameters are refused, the forecast is not."""
    runs = [ahead(LINEAR, seed) for seed in range(count)]
    refused = float(np.mean([r.refused for r in runs]))
    error = float(np.median([r.error for r in runs]))
    linear = float(np.nanmedian([r.linear for r in runs]))
    what = "forecast of the last 40 %, 10 % noise, median NRMSE"
    return [
        Row(LINEAR.name, "share that refuses the bare parameters", refused, 1.0),
        Row(LINEAR.name, what, error, None, 0.015, own_method=linear),
    ]


# -- random systems -------------------------------------------------------------------------------

KINDS: dict[str, tuple[str, ...]] = {
    "Duffing": ("x", "x^3"),
    "asymmetric well": ("x", "x^2", "x^3"),
    "double well": ("x", "x^3"),
    "pendulum and torsion": ("x", "sin(x)"),
    "quintic": ("x", "x^5"),
}


def random_case(number: int) -> tuple[Case, np.random.Generator]:
    """One of five kinds with none to three modes, which take at most 45 % of unit stiffness.

    Systems of streams 90 to 94 served to find faults of the search; those of stream 95 measure it.
    """
    rng = rng_of(95, number)
    kind, m = list(KINDS)[number % 5], (number // 5) % 4
    omega = np.sort(rng.uniform(0.4, 2.5, m))
    while m > 1 and np.diff(omega).min() < 0.25:
        omega = np.sort(rng.uniform(0.4, 2.5, m))
    c = rng.uniform(0.25, 0.6, m) * np.minimum(omega, 1.0)
    c *= min(1.0, np.sqrt(0.45 / max(float(np.sum((c / omega) ** 2)), 1e-12)))
    a, b = rng.uniform(0.8, 1.4), rng.uniform(0.3, 0.7)
    system, values, (low, high) = _drawn(kind, a, b, omega, c)
    position = (rng.uniform(low, high), *rng.normal(0, 0.3, m))
    momentum = (rng.normal(0, 0.2), *rng.normal(0, 0.3, m))
    values = (*values, *omega, *c)
    return Case(90, kind, system, position, momentum, KINDS[kind], values), rng


def _drawn(
    kind: str, a: float, b: float, omega: Array, c: Array
) -> tuple[NonlinearSystem, tuple[float, ...], tuple[float, float]]:
    """System, force coefficients and range of the starting position."""
    if kind == "Duffing":
        return duffing(a, b, omega, c), (a, b), (1.2, 1.8)
    if kind == "asymmetric well":
        return asymmetric_well(a, 1.2 * b, b, omega, c), (a, 1.2 * b, b), (1.0, 1.5)
    if kind == "double well":
        place = float(np.sqrt(a / (2 * b)))
        return double_well(a, 2 * b, omega, c), (-a, 2 * b), (1.2 * place, 2.0 * place)
    if kind == "quintic":
        return quintic(a, b, 0.0, omega, c), (a, b), (1.1, 1.5)
    return pendulum(a, b, omega, c), (b, a), (1.8, 2.6)


@dataclass(frozen=True)
class Outcome:
    """Whether the truth is reported or named, and whether a wrong answer is a confident one."""

    named: bool
    reported: bool
    confident_and_wrong: bool


def random_run(number: int) -> Outcome:
    """Fit one random system; noise 1, 5 and 10 % in turn, twenty systems each."""
    case, rng = random_case(number)
    record = case.record(NOISE[(number // 20) % 3], rng)
    try:
        fit = fit_potential(record)
    except PrismError:  # a refusal names nothing, but is not confident either
        return Outcome(False, False, False)
    terms = () if fit.potential is None else fit.potential.terms
    right = terms == case.terms and fit.modes == case.modes
    listed = any(a.terms == case.terms and a.modes == case.modes for a in fit.alternatives)
    found, std = numbers(fit)
    sure = fit.verdict.identifiable and bool(np.all(np.abs(found) > 5 * std))
    return Outcome(right or listed, right, sure and not (right or listed))


def random_rows(count: int) -> list[Row]:
    """Structures of random systems."""
    runs = [random_run(number) for number in range(count)]
    name = f"{count} random systems"
    named, reported, wrong = (
        float(np.mean([getattr(r, part) for r in runs]))
        for part in ("named", "reported", "confident_and_wrong")
    )
    return [
        Row(name, "share with the right structure, reported or listed", named, 0.9),
        Row(name, "share with the right structure, reported", reported),
        Row(name, "share of wrong structures with every number above 5 errors", wrong, None, 0.02),
    ]


# -- a real double pendulum -----------------------------------------------------------------------


def double_pendulum_rows() -> list[Row]:
    """The first angle of a real double pendulum: its hidden part is not harmonic."""
    name, place = "double pendulum, first angle", folder()
    if place is None:
        note = "no folder of real measurements: set PRISM_REAL_DATA"
        return [Row(name, "not run", float("nan"), note=note)]
    fit = fit_potential(double_pendulum(place / "two_masses" / "real_double_pend_h_1.txt"))
    honest = not fit.verdict.identifiable and not fit.verdict.reaches_noise
    return [
        Row(name, "says that the hidden part is not harmonic", float(honest), 1.0),
        Row(name, "residual over noise", float(np.sqrt(fit.misfit))),
    ]


def double_pendulum(path: object) -> Record:
    """First angle of the first trial, resampled evenly where the camera was not even."""
    values = np.loadtxt(str(path), comments="%")
    first = values[values[:, 0] == values[0, 0]]
    t, angle = first[:, 1], np.unwrap(first[:, 2])
    even = np.arange(t[0], t[-1], float(np.median(np.diff(t))))
    return Record(np.interp(even, t, angle), dt=float(np.median(np.diff(t))), channels=["angle"])
