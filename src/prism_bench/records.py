"""Records as they come: gaps, jitter, drift, coloured noise, other sensors, rotation, tides.

The chain of the other studies: four masses, q1 and q4 seen, T = 400, dt = 0.05, 10 % noise. A run
of case c with seed s draws from ``numpy.random.default_rng([c, s])``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from prism._types import Array
from prism.model import Model
from prism.motion.gyroscopic import identify_gyroscopic
from prism.pipeline import identify
from prism.record import Record
from prism.systems import GyroscopicSystem, chain
from prism_bench._study import coverage, rms, rng_of
from prism_bench.chain import DT, LineRun, lines_beside
from prism_bench.real import folder
from prism_bench.table import Benchmark, Progress, Row

DEFAULT_SEEDS = 200
_T, _NOISE = 400.0, 0.1
_TIDES = ("M2", "K1", "O1", "S2", "P1", "N2", "K2", "Q1")


def run(seeds: int | None, progress: Progress) -> Benchmark:
    """Run all cases; ensembles use a tenth as many seeds."""
    count = DEFAULT_SEEDS if seeds is None else seeds
    rows: list[Row] = []
    for part in _cases(count):
        rows += part
        progress(rows[-1].case)
    return Benchmark("records", count, tuple(rows))


def _cases(count: int) -> Iterator[list[Row]]:
    for case in CASES:
        yield line_rows(case, count)
    few = max(count // 10, 1)
    yield sensor_rows(few)
    yield gyroscopic_rows(few)
    yield tide_rows()


# -- one record -----------------------------------------------------------------------------------


def _free(rng: np.random.Generator, t: Array) -> Array:
    """A free motion of the chain at any times, as `LinearSystem.free` draws it."""
    system = chain()
    omega = system.frequencies
    amplitude = np.sqrt(2 * rng.uniform(0.5, 1.5, len(omega))) / omega
    phase = rng.uniform(0, 2 * np.pi, len(omega))
    return np.asarray(
        (amplitude * np.cos(np.multiply.outer(t, omega) + phase)) @ system.participation
    )


def coloured(rng: np.random.Generator, samples: int, slope: float = 1.0) -> Array:
    r"""Noise of spectrum :math:`f^{-slope}` and unit variance, cut from a four times longer one."""
    f = np.fft.rfftfreq(4 * samples)
    z = rng.standard_normal((2, len(f)))
    spectrum = np.zeros(len(f), complex)
    spectrum[1:] = (z[0] + 1j * z[1])[1:] * f[1:] ** (-slope / 2)
    out = np.fft.irfft(spectrum, 4 * samples)[:samples]
    return np.asarray(out / out.std())


def _even(rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """Times, motion, standard deviation of the noise, and the noise itself."""
    t = np.asarray(DT * np.arange(round(_T / DT)), float)
    x = _free(rng, t)
    std = _NOISE * x.std(axis=0)
    return t, x, std, std * rng.standard_normal(x.shape)


def _gaps(rng: np.random.Generator) -> tuple[Record, Record, Array]:
    """30 % of the samples missing at random, and a gap of 60 time units."""
    t, x, std, noise = _even(rng)
    start = rng.uniform(0, _T - 60)
    gone = (rng.uniform(size=len(t)) < 0.3) | ((t > start) & (t < start + 60))
    clean = np.where(gone[:, None], np.nan, x)
    return Record(clean + noise, dt=DT), Record(clean, dt=DT), std


def _jitter(rng: np.random.Generator) -> tuple[Record, Record, Array]:
    """Times off their even grid by up to 40 % of a step."""
    t = DT * (np.arange(round(_T / DT)) + rng.uniform(-0.4, 0.4, round(_T / DT)))
    x = _free(rng, t)
    std = _NOISE * x.std(axis=0)
    return Record(x + std * rng.standard_normal(x.shape), t=t), Record(x, t=t), std


def _pink(rng: np.random.Generator) -> tuple[Record, Record, Array]:
    _, x, std, _ = _even(rng)
    noise = np.stack([coloured(rng, len(x)) for _ in std], axis=1)
    return Record(x + std * noise, dt=DT), Record(x, dt=DT), std


def _drift(rng: np.random.Generator) -> tuple[Record, Record, Array]:
    """A drift through four standard deviations of the motion."""
    t, x, std, noise = _even(rng)
    drift = 4 * x.std(axis=0) * (t / _T)[:, None]
    return Record(x + noise + drift, dt=DT), Record(x, dt=DT), std


def _spikes(rng: np.random.Generator) -> tuple[Record, Record, Array]:
    """One sample in fifty is off by thirty times the noise."""
    _, x, std, noise = _even(rng)
    wild = rng.uniform(size=x.shape) < 0.02
    return Record(x + np.where(wild, 30, 1) * noise, dt=DT), Record(x, dt=DT), std


def _rough(rng: np.random.Generator) -> tuple[Record, Record, Array]:
    """Rounded to steps of a third of the motion, in place of noise."""
    _, x, _, _ = _even(rng)
    step = x.std(axis=0) / 3
    return Record(step * np.round(x / step), dt=DT), Record(x, dt=DT), step / np.sqrt(12)


def _two(rng: np.random.Generator) -> tuple[Record, Record, Array]:
    """Two records of the same motion law: T = 400 with dt = 0.05 and T = 250 with dt = 0.08."""
    times = [np.asarray(h * np.arange(n), float) for h, n in ((DT, 8000), (0.08, 3125))]
    xs = [_free(rng, t) for t in times]
    std = _NOISE * np.concatenate(xs).std(axis=0)
    seen = [x + std * rng.standard_normal(x.shape) for x in xs]
    return Record(seen, t=times), Record(xs, t=times), std


@dataclass(frozen=True)
class Case:
    """One kind of record with its bars."""

    number: int
    name: str
    make: Callable[[np.random.Generator], tuple[Record, Record, Array]]
    spurious: float
    white: bool = True


CASES = (
    Case(60, "30 % of the samples missing and a gap of 60", _gaps, 0.02),
    Case(61, "jittered times", _jitter, 0.02),
    Case(62, "1/f noise of the same power", _pink, 0.05, white=False),
    Case(63, "linear drift", _drift, 0.05),
    Case(64, "spikes", _spikes, 0.05, white=False),
    Case(65, "rounded to a third of the motion", _rough, 0.05, white=False),
    Case(66, "two records of different length and rate", _two, 0.02),
)


def line_rows(case: Case, count: int) -> list[Row]:
    """Lines found, false lines, errors over the bound of white noise, coverage."""
    system, runs = chain(), list[LineRun]()
    for seed in range(count):
        record, clean, std = case.make(rng_of(case.number, seed))
        runs.append(lines_beside(record, clean, system, std))
    good = [r for r in runs if r.found]
    ratio = np.sqrt(np.mean([(r.error / r.bound) ** 2 for r in good], axis=0))
    z = np.concatenate([r.error / r.std for r in good])
    false = float(np.mean([r.spurious for r in runs]))
    rows = [
        Row(case.name, "share of runs with all four lines", len(good) / count, 0.99),
        Row(case.name, "false lines per run", false, None, case.spurious),
        Row(case.name, "coverage of 95 % intervals", coverage(z), 0.92, 0.98),
    ]
    bar = 1.15 if case.white else None
    note = "" if case.white else "bound of white noise of the same power"
    return [
        *rows,
        *(
            Row(case.name, f"rms error / Cramér-Rao, line {j + 1}", float(r), None, bar, note=note)
            for j, r in enumerate(ratio)
        ),
    ]


# -- other sensors --------------------------------------------------------------------------------


def sensor_records(rng: np.random.Generator) -> tuple[Record, Record]:
    """The same 300 canonical motions by displacement, and by acceleration and velocity."""
    system = chain()
    omega, V = system.frequencies, system.participation
    t = DT * np.arange(round(100 / DT))
    turn = np.exp(1j * np.multiply.outer(t, omega))
    still, moving = [], []
    for _ in range(300):
        z = (rng.standard_normal(len(omega)) + 1j * rng.standard_normal(len(omega))) / omega
        still.append((turn * z).real @ V)
        orders = np.array([2, 1])
        moving.append(
            np.stack(
                [(turn * z * (1j * omega) ** k).real @ V[:, a] for a, k in enumerate(orders)], 1
            )
        )
    noisy = [
        x + _NOISE * x.std(axis=(0, 1)) * rng.standard_normal(x.shape)
        for x in (np.array(still), np.array(moving))
    ]
    names = ["q1", "q4"]
    return (
        Record(noisy[0], dt=DT, channels=names),
        Record(noisy[1], dt=DT, channels=names, quantity=["acceleration", "velocity"]),
    )


def sensor_rows(count: int) -> list[Row]:
    """Accelerometer and velocity sensor beside displacements: the same answer within intervals."""
    name, system = "accelerometer on q1, velocity of q4, 300 canonical records", chain()
    apart, off, right = [], [], 0
    for seed in range(count):
        models = [
            identify(record, experiment="equilibrium", mass="identity")
            for record in sensor_records(rng_of(67, seed))
        ]
        if any(m.hamiltonian is None or len(m.modes) != len(system.frequencies) for m in models):
            continue
        right += 1
        values, stds = zip(*(_answers(m) for m in models), strict=True)
        # the same motions: what both share cancels, so that this is stricter than it looks
        apart.append((values[1] - values[0]) / np.hypot(*stds))
        truth = np.concatenate([system.hidden_frequencies, system.residues.ravel()])
        off.append((values[1] - truth) / stds[1])
    return [
        Row(name, "share of runs with four modes and two hidden ones", right / count, 1.0),
        Row(
            name,
            "residues and bare frequencies inside 95 % of the difference to displacements",
            coverage(np.array(apart)),
            0.95,
        ),
        Row(name, "coverage of 95 % intervals", coverage(np.array(off)), 0.9),
        Row(name, "rms z-score against the truth", rms(np.array(off))),
    ]


def _answers(model: Model) -> tuple[Array, Array]:
    """Bare frequencies and residues with their errors."""
    h, modes = model.hamiltonian, model.modes
    assert h is not None
    assert modes.residues is not None
    assert modes.residues_std is not None
    return (
        np.concatenate([h.hidden_frequencies, modes.residues.ravel()]),
        np.concatenate([h.hidden_frequencies_std, modes.residues_std.ravel()]),
    )


# -- rotation -------------------------------------------------------------------------------------


def gyroscopic_rows(count: int) -> list[Row]:
    """A random system of four coordinates, two seen, 300 canonical records of T = 100."""
    name = "gyroscopic, 4 coordinates, 2 seen, 300 canonical records, 10 % noise"
    gyro, hidden, scores = [], [], []
    for seed in range(count):
        rng = rng_of(68, seed)
        system = random_rotor(rng)
        record = system.equilibrium(100, DT, trials=300, noise=_NOISE, rng=rng)
        model = identify_gyroscopic(record, mass=system.mass)
        if len(model.hidden_frequencies) != len(system.hidden_frequencies):
            gyro.append(np.inf)
            continue
        w = system.hidden_frequencies
        # over the largest of all couplings: that of the two seen coordinates may be near zero
        off = np.abs(model.gyroscopic - system.gyroscopic).max()
        gyro.append(float(off / np.abs(system.full_gyroscopic).max()))
        hidden.append(np.abs(model.hidden_frequencies / w - 1))
        scores.append((model.hidden_frequencies - w) / model.hidden_frequencies_std)
    percent = 100 * np.array(gyro)
    return [
        Row(name, "gyroscopic matrix, median error %", float(np.median(percent)), None, 1.0),
        Row(name, "gyroscopic matrix, worst error %", float(percent.max()), None, 5.0),
        Row(name, "bare frequencies, worst error %", 100 * float(np.max(hidden)), None, 2.0),
        Row(name, "rms z-score of the bare frequencies", rms(np.array(scores))),
    ]


def random_rotor(rng: np.random.Generator) -> GyroscopicSystem:
    """Unit masses, springs of a grounded chain, and a random skew coupling of velocities."""
    K = np.diag([2.5, 3.0, 3.5, 4.0]) - np.eye(4, k=1) - np.eye(4, k=-1)
    G = rng.uniform(-0.5, 0.5, (4, 4))
    return GyroscopicSystem(np.eye(4), G - G.T, K, np.eye(4)[[0, 3]])


# -- tides ----------------------------------------------------------------------------------------


def tide_rows() -> list[Row]:
    """A year of hourly sea level at Honolulu, blind, against astronomical frequencies."""
    name, place = "tide at Honolulu, one year, blind", folder()
    if place is None:
        note = "no folder of real measurements: set PRISM_REAL_DATA"
        return [Row(name, "not run", float("nan"), note=note)]
    level = np.loadtxt(place / "honolulu_tide" / "HNL2010.asc")[:, 1]
    with (place / "honolulu_tide" / "constituents.csv").open() as file:
        known = {row["name"]: float(row["frequency_cph"]) for row in csv.DictReader(file)}
    record = Record(level, dt=1.0, channels=["level"])
    modes = identify(record).modes
    rows = []
    for one in _TIDES:
        off = np.abs(modes.frequencies_hz - known[one])
        rows.append(Row(name, f"{one}, error in cycles per hour", float(off.min()), None, 1e-5))
    check = identify(record, fit_fraction=0.7).forecast_check
    assert check is not None
    return [
        *rows,
        Row(name, "number of lines", float(len(modes))),
        Row(name, "NRMSE of the last 30 %, forecast", float(check.nrmse[0]), None, 0.28),
    ]
