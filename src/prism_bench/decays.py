"""Free decays, measured against their bars: chains, two masses on springs, a kicked frame.

Nothing is told to the fit. A run of case c with seed s draws from
``numpy.random.default_rng([c, s])``. The bound of a run is the inverse Fisher information of all
poles, amplitudes and offsets at the truth.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prism._types import Array, ComplexArray
from prism.modes import Modes
from prism.motion.damped import DampedModes
from prism.motion.decays.decays import DecayFit, damping_evidence, fit_decays
from prism.motion.driven.innovations import kicks
from prism.record import Record
from prism.systems import chain
from prism_bench import oma
from prism_bench._study import coverage, rms, rng_of
from prism_bench.real import folder
from prism_bench.table import Benchmark, Progress, Row

DEFAULT_SEEDS = 200
DT, T = 0.1, 400.0
ZETA = np.array([0.001, 0.0022, 0.0046, 0.01])
VISIBLE = 100.0  # mean gain in χ² of a mode that must be found; a line needs about 37
TWO_MASSES = np.array([0.3346, 1.7137])
TWO_RATIOS = np.array([1.043, -0.388])
TWO_DAMPING = np.array([0.0028, 0.0011])
ONE_MASS = 0.397
FRAME = np.array([1.22843, 1.43584, 2.1, 4.0172, 4.77056, 6.68223, 7.6156, 9.66517])
FRAME_HIGH = 11.0  # Hz, above which the frame may show more
FRAME_DAMPING = 0.002
FRAME_ROUNDING = 5e-6 / np.sqrt(3)  # Hz, of the reference


def run(seeds: int | None, progress: Progress) -> Benchmark:
    """Run all cases."""
    count = DEFAULT_SEEDS if seeds is None else seeds
    rows: list[Row] = []
    for part in _cases(count):
        rows += part
        progress(rows[-1].case)
    return Benchmark("decays", count, tuple(rows))


def _cases(count: int) -> Iterator[list[Row]]:
    for missing in (0.0, 0.3):
        yield chain_rows(missing, count)
    yield undamped_rows(count)
    yield real_rows()


# -- chains ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decay:
    """A simulated decay with its truth and the bounds of its frequencies and ratios.

    ``gain`` is the gain in χ² that each mode brings on average: a random start leaves a mode at
    rest now and then, and nobody can see it.
    """

    record: Record
    omega: Array
    zeta: Array
    gain: Array
    omega_bound: Array
    zeta_bound: Array


def simulate(zeta: Array, missing: float, rng: np.random.Generator) -> Decay:
    """A chain of four masses, two of them seen, let go from an equilibrium state, 10 % noise."""
    system = chain(4, observed=[0, 1])
    omega, shapes = system.frequencies, system.participation
    poles = omega * (-zeta + 1j * np.sqrt(1 - zeta**2))
    q = rng.standard_normal((2, len(omega))) / omega
    amplitudes = (q[0] - 1j * q[1])[:, None] * shapes
    t = DT * np.arange(round(T / DT), dtype=float)
    waves = np.exp(np.multiply.outer(t, poles))
    clean = (waves @ amplitudes).real
    noise = 0.1 * clean.std(axis=0)
    values = clean + noise * rng.standard_normal(clean.shape)
    lost = rng.random(clean.shape) < missing
    values[lost] = np.nan
    bound = _bound(t, poles, waves, amplitudes, noise, ~lost)
    power = np.einsum("tj,ja,ta->jta", np.abs(waves) ** 2, np.abs(amplitudes) ** 2, ~lost)
    gain = 0.5 * np.sum(power / noise**2, axis=(1, 2))
    return Decay(Record(values, dt=DT), omega, zeta, gain, *bound)


def _bound(
    t: Array,
    poles: ComplexArray,
    waves: ComplexArray,
    amplitudes: ComplexArray,
    noise: Array,
    present: Array,
) -> tuple[Array, Array]:
    """Cramér-Rao standard deviations of (Ω, ζ) from the Jacobian of every sample."""
    m, n = amplitudes.shape
    size = np.abs(poles)
    zeta = -poles.real / size
    root = np.sqrt(1 - zeta**2)
    by_size, by_zeta = poles / size, size * (-1 - 1j * zeta / root)
    own = np.hstack([waves.real, -waves.imag, np.ones((len(t), 1))])
    width = own.shape[1]
    F = np.zeros((2 * m + n * width,) * 2)
    for a in range(n):
        J = np.zeros((len(t), len(F)))
        ramp = t[:, None] * waves * amplitudes[:, a]
        J[:, :m], J[:, m : 2 * m] = (ramp * by_size).real, (ramp * by_zeta).real
        J[:, 2 * m + a * width : 2 * m + (a + 1) * width] = own
        J = J[present[:, a]] / noise[a]
        F += J.T @ J
    scale = 1 / np.sqrt(np.diag(F))
    C = np.linalg.inv(F * np.outer(scale, scale)) * np.outer(scale, scale)
    std = np.sqrt(np.diag(C)[: 2 * m])
    return std[:m], std[m:]


@dataclass(frozen=True)
class DecayRun:
    """What one run gave for the modes that can be seen."""

    missed: int
    spurious: int
    in_bounds: Array  # (2, modes): errors of Ω and ζ over their bounds
    z: Array  # the same over their own standard deviations
    covered: Array  # whether ζ is in its interval
    zero: Array  # whether zero is


def decay_run(case: int, zeta: Array, missing: float, seed: int) -> DecayRun:
    """Simulate and fit one chain."""
    truth = simulate(zeta, missing, rng_of(case, seed))
    fit = fit_decays(truth.record)
    near = np.abs(fit.frequencies[:, None] - truth.omega) < np.pi / T + zeta * truth.omega
    seen = truth.gain > VISIBLE
    k = np.flatnonzero(seen & near.any(axis=0))
    j = near.argmax(axis=0)[k]
    off = np.stack([fit.frequencies[j] - truth.omega[k], fit.damping[j] - zeta[k]])
    low, high = fit.damping_interval[j].T
    return DecayRun(
        missed=int(np.sum(seen & ~near.any(axis=0))),
        spurious=len(fit) - int(np.sum(near.any(axis=0))),
        in_bounds=off / np.stack([truth.omega_bound[k], truth.zeta_bound[k]]),
        z=off / np.stack([fit.frequencies_std[j], fit.damping_std[j]]),
        covered=(low <= zeta[k]) & (zeta[k] <= high),
        zero=low == 0,
    )


def chain_rows(missing: float, count: int) -> list[Row]:
    """Damped chains: modes found, errors over the bound, coverage."""
    name = f"decaying chain, {100 * missing:.0f} % missing"
    case = 60 + int(missing > 0)
    runs = [decay_run(case, ZETA, missing, seed) for seed in range(count)]
    bounds = np.concatenate([r.in_bounds for r in runs], axis=1)
    z = np.concatenate([r.z for r in runs], axis=1)
    covered = np.concatenate([r.covered for r in runs])
    return [
        Row(
            name,
            "share of runs with all visible modes",
            float(np.mean([not r.missed for r in runs])),
            1,
        ),
        Row(name, "spurious modes per run", float(np.mean([r.spurious for r in runs])), None, 0.02),
        Row(name, "rms error / Cramér-Rao, frequency", rms(bounds[0]), None, 1.15),
        Row(name, "rms error / Cramér-Rao, damping", rms(bounds[1]), None, 1.15),
        Row(name, "coverage of 95 % intervals, frequency", coverage(z[0]), 0.92, 0.98),
        Row(name, "coverage of 95 % intervals, damping", float(np.mean(covered)), 0.92, 0.98),
    ]


def _found_rows(name: str, runs: list[DecayRun]) -> list[Row]:
    found = float(np.mean([not r.missed for r in runs]))
    spurious = float(np.mean([r.spurious for r in runs]))
    return [
        Row(name, "share of runs with all visible modes", found, 1.0),
        Row(name, "spurious modes per run", spurious, None, 0.02),
    ]


def undamped_rows(count: int) -> list[Row]:
    """Undamped chains: intervals of ζ hold zero, and the test for decay keeps its level."""
    name, none = "undamped chain", np.zeros(4)
    runs = [decay_run(62, none, 0.0, seed) for seed in range(count)]
    zero = np.concatenate([r.zero for r in runs])
    p = np.array(
        [damping_evidence(simulate(none, 0.0, rng_of(62, s)).record).p_value for s in range(count)]
    )
    slack = 3 * np.sqrt(0.05 * 0.95 / count)
    return [
        Row(
            name,
            "share of runs with all visible modes",
            float(np.mean([not r.missed for r in runs])),
            1,
        ),
        Row(name, "spurious modes per run", float(np.mean([r.spurious for r in runs])), None, 0.02),
        Row(name, "share of ζ intervals that hold zero", float(np.mean(zero)), 0.95),
        Row(name, "share of p-values below .05", float(np.mean(p < 0.05)), None, 0.05 + slack),
        Row(name, "smallest p-value", float(p.min()), 0.01 / count),
    ]


# -- real records ----------------------------------------------------------------------------------


def real_rows() -> list[Row]:
    """Two masses, one mass, and the frame that is kicked every ten seconds."""
    place = folder()
    if place is None:
        note = "no folder of real measurements: set PRISM_REAL_DATA"
        return [Row("real decays", "not run", float("nan"), note=note)]
    rows = [*two_mass_rows(place), *one_mass_rows(place)]
    rows += [row for setup in (1, 5) for row in frame_rows(place, setup)]
    return rows + oma.frame_rows(place)


def rig_record(place: Path, name: str, masses: int) -> Record:
    """Positions of motion-tracked masses."""
    table = np.loadtxt(place / "two_masses" / name, comments="%")
    return Record(table[:, 2 : 2 + masses], t=table[:, 1])


def frame_record(place: Path, setup: int) -> Record:
    """Three velocities and two accelerations of the frame."""
    values = np.load(place / "weimar_frame" / f"setup{setup}.npy")[:, :5]
    return Record(values, dt=1 / 256, quantity=["velocity"] * 3 + ["acceleration"] * 2)


def forecast_error(record: Record, fraction: float) -> Array:
    """Rms error of the forecast from the first part over the spread of the rest, by channel."""
    fit, rest = fit_decays(record.head(fraction)), record.tail(fraction)
    off = fit.forecast(rest.times[-1])[0] - rest.trials[-1]
    return np.asarray(np.sqrt(np.mean(off**2, axis=0)) / rest.std())


def two_mass_rows(place: Path) -> list[Row]:
    """Two masses on springs, 495 samples."""
    name, record = "two masses", two_masses(place)
    rows = two_mass_modes(name, fit_decays(record))
    return [*rows, forecast_row(name, forecast_error(record, 0.4))]


def two_masses(place: Path) -> Record:
    """Positions of two masses on springs."""
    return rig_record(place, "real_double_linear_h_1.txt", 2)


def forecast_row(name: str, error: Array) -> Row:
    """The forecast of the longer part of a record from the shorter."""
    words = "forecast of the last 60 %, NRMSE, worse channel"
    return Row(name, words, float(error.max()), None, 0.03)


def two_mass_modes(name: str, fit: DampedModes | Modes) -> list[Row]:
    """Modes of two masses beside what others published."""
    rows = [Row(name, "modes found", float(len(fit)), 2, 2)]
    if len(fit) != 2:
        return rows
    assert fit.damping_interval is not None
    hertz, ratio = fit.frequencies / (2 * np.pi), fit.shapes[:, 1] / fit.shapes[:, 0]
    inside = (fit.damping_interval[:, 0] <= TWO_DAMPING) & (
        fit.damping_interval[:, 1] >= TWO_DAMPING
    )
    return [
        *rows,
        Row(name, "frequencies, worst deviation %", _worst(hertz, TWO_MASSES), None, 0.1),
        Row(name, "shape ratios, worst deviation %", _worst(ratio, TWO_RATIOS), None, 2.0),
        Row(name, "dampings inside their intervals", float(inside.sum()), 2, 2),
    ]


def one_mass_rows(place: Path) -> list[Row]:
    """One mass on a spring."""
    fit = fit_decays(rig_record(place, "real_linear_h_1.txt", 1))
    off = _worst(fit.frequencies[:1] / (2 * np.pi), np.array([ONE_MASS]))
    return [
        Row("one mass", "modes found", float(len(fit)), 1, 1),
        Row("one mass", "frequency, deviation %", off, None, 0.1),
    ]


def frame_rows(place: Path, setup: int) -> list[Row]:
    """The frame, cut at the kicks that are found, against a reference given to 5e-6 Hz."""
    name, record = f"kicked frame, setup {setup}", frame_record(place, setup)
    start = time.process_time()
    fit = fit_decays(record, kicks=kicks(record))
    took = time.process_time() - start
    return [Row(name, "CPU time, s", took, None, 30.0), *frame_modes(name, fit)]


def frame_modes(name: str, fit: DampedModes | Modes) -> list[Row]:
    """The modes of the frame below 11 Hz beside the reference."""
    hertz = fit.frequencies / (2 * np.pi)
    low = hertz < FRAME_HIGH
    rows = [Row(name, "modes below 11 Hz", float(low.sum()), 8, 8)]
    if low.sum() != len(FRAME):
        return rows
    assert fit.damping_std is not None
    return [
        *rows,
        Row(name, "frequencies, worst deviation %", _worst(hertz[low], FRAME), None, 0.2),
        Row(
            name,
            "frequencies, largest |z|",
            _largest(hertz[low] - FRAME, fit.frequencies_std[low] / (2 * np.pi), FRAME_ROUNDING),
            None,
            3.0,
            note="error and rounding of the reference together; the rounding is the larger",
        ),
        Row(
            name,
            "damping ratios, largest |z|",
            _largest(fit.damping[low] - FRAME_DAMPING, fit.damping_std[low], 0.0),
            None,
            3.0,
            note="against 0.002 exactly",
        ),
    ]


def frame_agreement(first: DecayFit, second: DecayFit) -> Array:
    """Differences of frequencies and dampings of two setups over their errors, (2, modes)."""
    low = [fit.frequencies < 2 * np.pi * FRAME_HIGH for fit in (first, second)]
    pairs = (
        (first.frequencies, first.frequencies_std, second.frequencies, second.frequencies_std),
        (first.damping, first.damping_std, second.damping, second.damping_std),
    )
    return np.array(
        [(a[low[0]] - b[low[1]]) / np.hypot(s[low[0]], u[low[1]]) for a, s, b, u in pairs]
    )


def _worst(found: Array, reference: Array) -> float:
    return 100 * float(np.abs(found / reference - 1).max())


def _largest(off: Array, std: Array, rounding: float) -> float:
    return float(np.abs(off / np.hypot(std, rounding)).max())
