"""The chain of masses and springs: every claim about conservative records, measured.

Four masses, fixed-free, unit springs and masses, q1 and q4 seen, dt = 0.05, unless stated
otherwise. A run of case c with seed s draws from ``numpy.random.default_rng([c, s])``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from prism._types import Array
from prism.completion import complete
from prism.hamiltonian import Hamiltonian
from prism.kernel import certify
from prism.least_errors import cramer_rao
from prism.model import Model
from prism.pipeline import identify
from prism.record import Record
from prism.systems import LinearSystem, chain
from prism_bench._study import coverage, rng_of
from prism_bench.cost import cost_rows
from prism_bench.table import Benchmark, Progress, Row

DT = 0.05
DEFAULT_SEEDS = 100


@dataclass(frozen=True)
class LineCase:
    """One kind of single record, with the bars on finding its lines."""

    number: int
    duration: float
    noise: float
    found: float
    spurious: float
    at_the_bound: bool = False

    @property
    def name(self) -> str:
        """The case in words."""
        return f"one record, T = {self.duration:g}, {100 * self.noise:g} % noise"


LINE_CASES = (
    LineCase(1, 400, 0.1, found=0.99, spurious=0.01, at_the_bound=True),
    LineCase(2, 400, 1.0, found=0.95, spurious=0.02),
    LineCase(3, 100, 0.1, found=0.97, spurious=0.03),
    LineCase(4, 50, 0.1, found=0.97, spurious=0.03),
)


def run(seeds: int | None, progress: Progress) -> Benchmark:
    """Run all cases; ensembles use half as many seeds as single records."""
    count = DEFAULT_SEEDS if seeds is None else seeds
    rows: list[Row] = []
    for part in _cases(count):
        rows += part
        progress(rows[-1].case)
    return Benchmark("chain", count, tuple(rows))


def _cases(count: int) -> Iterator[list[Row]]:
    for case in LINE_CASES:
        yield line_rows(case, count)
    yield forecast_rows(count)
    half = max(count // 2, 1)
    yield canonical_rows(half)
    yield equal_energy_rows(half)
    yield five_mass_rows("free", count)
    yield five_mass_rows("released", count)
    yield degenerate_rows(count)
    yield refusal_rows(half)
    yield energy_rows()
    yield cost_rows()


# -- single records ----------------------------------------------------------------------------


@dataclass(frozen=True)
class LineRun:
    """Lines of one record beside the truth: z-scores and errors only where all were found."""

    found: bool
    spurious: int
    error: Array
    std: Array
    bound: Array


def line_run(case: LineCase, seed: int) -> LineRun:
    """Identify one free record and match its lines to the true ones."""
    system = chain()
    clean = system.free(case.duration, DT, rng=rng_of(case.number, seed))
    record = system.free(case.duration, DT, noise=case.noise, rng=rng_of(case.number, seed))
    return lines_beside(record, clean, system, case.noise * clean.std())


def lines_beside(record: Record, clean: Record, system: LinearSystem, noise: Array) -> LineRun:
    """Identify a record and match its lines to those of the system.

    Parameters
    ----------
    clean : Record
        Without noise, at the same times, for the Cramér-Rao bound.
    noise : array (channels,)
        Standard deviations.
    """
    modes = identify(record).modes
    distance = np.abs(modes.frequencies[:, None] - system.frequencies)
    near = distance < 0.25 * 2 * np.pi / record.duration
    nearest = distance.argmin(axis=0)
    return LineRun(
        found=bool(near.any(axis=0).all()),
        spurious=len(modes) - int(near.any(axis=0).sum()),
        error=modes.frequencies[nearest] - system.frequencies,
        std=modes.frequencies_std[nearest],
        bound=cramer_rao(clean, system.frequencies, noise),
    )


def line_rows(case: LineCase, count: int) -> list[Row]:
    """Detection, false lines, error over Cramér-Rao bound and coverage."""
    runs = [line_run(case, seed) for seed in range(count)]
    good = [r for r in runs if r.found]
    ratio = np.sqrt(np.mean([(r.error / r.bound) ** 2 for r in good], axis=0))
    covered = float(np.mean([np.abs(r.error) <= 1.96 * r.std for r in good]))
    found = float(np.mean([r.found for r in runs]))
    false = float(np.mean([r.spurious for r in runs]))
    high = 1.1 if case.at_the_bound else None
    bar = (0.92, 0.98) if case.at_the_bound else (None, None)
    return [
        Row(case.name, "share of runs with all four lines", found, case.found),
        Row(case.name, "false lines per run", false, None, case.spurious),
        *(
            Row(case.name, f"rms error / Cramér-Rao, mode {j + 1}", float(value), None, high)
            for j, value in enumerate(ratio)
        ),
        Row(case.name, "coverage of 95 % intervals", covered, *bar),
    ]


def forecast_rows(count: int) -> list[Row]:
    """Forecast of the last 60 % after fitting the first 40 %, against the noise-free truth."""
    system, name = chain(), "forecast after 40 % of T = 400"
    errors, covered = [], []
    for seed in range(count):
        clean = system.free(400, DT, rng=rng_of(5, seed))
        noisy = system.free(400, DT, noise=0.1, rng=rng_of(5, seed))
        forecast = identify(noisy.head(0.4)).forecast(clean.tail(0.4).times[0])
        truth = clean.tail(0.4).trials[0]
        deviation = forecast.values - truth
        errors.append(np.sqrt(np.mean(deviation**2, axis=0)) / truth.std(axis=0))
        covered.append(np.mean(np.abs(deviation) <= 1.96 * forecast.std))
    mean = np.mean(errors, axis=0)
    return [
        Row(name, "NRMSE, mean over channels and seeds", float(mean.mean()), None, 0.0125),
        Row(name, "NRMSE of q1, mean over seeds", float(mean[0])),
        Row(name, "NRMSE of q4, mean over seeds", float(mean[1])),
        Row(name, "coverage of the 95 % bands", float(np.mean(covered))),
    ]


# -- ensembles ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class HiddenErrors:
    """Errors of a bare Hamiltonian: relative to the truth, and in standard deviations."""

    frequency: Array
    frequency_z: Array
    coupling: Array
    coupling_z: Array
    residues: float


def hidden_errors(model: Model, system: LinearSystem) -> HiddenErrors | None:
    """Compare with the truth; None when the Hamiltonian is not there or has another size."""
    h = model.hamiltonian
    if h is None or model.modes.residues is None:
        return None
    if len(h.hidden) != len(system.couplings) or len(model.modes) != len(system.frequencies):
        return None
    omega, c = system.hidden_frequencies, system.couplings
    sign = np.sign(np.sum(c * h.couplings, axis=1))[:, None]
    off = sign * h.couplings - c
    size = np.linalg.norm(c, axis=1, keepdims=True)
    relative = [
        np.linalg.norm(found - true) / np.linalg.norm(true)
        for found, true in zip(model.modes.residues, system.residues, strict=True)
    ]
    return HiddenErrors(
        frequency=np.abs(h.hidden_frequencies / omega - 1),
        frequency_z=(h.hidden_frequencies - omega) / _std(h.hidden_frequencies_std),
        coupling=np.abs(off) / size,
        coupling_z=off / _std(h.couplings_std),
        residues=float(np.mean(relative)),
    )


def _std(std: Array | None) -> Array:
    assert std is not None
    return std


@dataclass(frozen=True)
class Study:
    """Errors over many seeds; runs without the right Hamiltonian count against the share."""

    name: str
    count: int
    good: list[HiddenErrors]

    @property
    def share(self) -> Row:
        """How often there was a Hamiltonian of the right size."""
        share = len(self.good) / self.count
        return Row(self.name, "share of runs with the bare Hamiltonian", share, 0.9)

    def pooled(self, field: str) -> Array:
        """One field of all runs, seeds first."""
        return np.array([getattr(errors, field) for errors in self.good])


def study(
    name: str,
    system: LinearSystem,
    count: int,
    record: Callable[[int], Record],
    experiment: str,
) -> Study:
    """Identify one record per seed with the mass known, and compare with the truth."""
    models = (
        identify(record(seed), experiment=experiment, mass="identity") for seed in range(count)
    )
    errors = [hidden_errors(model, system) for model in models]
    return Study(name, count, [e for e in errors if e is not None])


def canonical_rows(count: int) -> list[Row]:
    """Canonical ensembles with a known mass: 300 records of T = 100, 10 % noise."""
    system = chain()

    def record(seed: int) -> Record:
        return system.equilibrium(100, DT, trials=300, noise=0.1, rng=rng_of(6, seed))

    runs = study("300 canonical records, T = 100", system, count, record, "equilibrium")
    if not runs.good:
        return [runs.share]
    percent, z = 100 * runs.pooled("frequency"), runs.pooled("frequency_z")
    residues = 100 * float(np.median(runs.pooled("residues")))
    return [
        runs.share,
        Row(runs.name, "bare frequencies, median error %", float(np.median(percent)), None, 0.6),
        Row(runs.name, "bare frequencies, worst error %", float(percent.max()), None, 1.6),
        Row(runs.name, "residues, median over seeds of mean error %", residues, None, 2.5),
        Row(runs.name, "rms z-score of the bare frequencies", float(np.sqrt(np.mean(z**2)))),
        Row(runs.name, "coverage of 95 % intervals", coverage(z)),
    ]


def equal_energy_rows(count: int) -> list[Row]:
    """Ensembles prepared with the same energy in every mode of every record."""
    system, energies = chain(), np.ones(4)

    def record(seed: int) -> Record:
        return system.free(100, DT, trials=300, noise=0.1, energies=energies, rng=rng_of(7, seed))

    runs = study("300 records of equal modal energy", system, count, record, "equilibrium")
    if not runs.good:
        return [runs.share]
    percent = 100 * float(runs.pooled("frequency").max())
    residues = 100 * float(runs.pooled("residues").max())
    return [
        runs.share,
        Row(runs.name, "residues, worst mean error %", residues, None, 0.3),
        Row(runs.name, "bare frequencies, worst error %", percent, None, 0.1),
        Row(runs.name, "coverage of 95 % intervals", coverage(runs.pooled("frequency_z"))),
    ]


# -- one record, several channels ----------------------------------------------------------------


def five_mass_record(experiment: str, system: LinearSystem, rng: np.random.Generator) -> Record:
    """One record of T = 400 with 10 % noise: free, or released from a unit displacement of x."""
    if experiment == "free":
        return system.free(400, DT, noise=0.1, rng=rng)
    return system.released(400, DT, np.ones(3), noise=0.1, rng=rng)


def five_mass_rows(experiment: str, count: int) -> list[Row]:
    """Five masses, springs 1, 2, 1, 1.5, 0.5, three seen, the mass known."""
    system = chain(5, [1, 2, 1, 1.5, 0.5], observed=[0, 2, 4])
    case = 8 if experiment == "free" else 9

    def record(seed: int) -> Record:
        return five_mass_record(experiment, system, rng_of(case, seed))

    name = f"five masses, {experiment}, one record"
    runs = study(name, system, count, record, experiment)
    if not runs.good:
        return [runs.share]
    frequency = 100 * float(np.median(runs.pooled("frequency")))
    coupling = 100 * runs.pooled("coupling")
    vector = float(np.median(np.linalg.norm(coupling, axis=2)))
    inside, inside_c = coverage(runs.pooled("frequency_z")), coverage(runs.pooled("coupling_z"))
    return [
        runs.share,
        Row(name, "bare frequencies, median error %", frequency, None, 0.5),
        Row(name, "couplings, median error % of |c|", float(np.median(coupling)), None, 0.5),
        Row(name, "couplings as vectors, median error %", vector),
        Row(name, "frequencies inside 95 % interval", inside, 0.92, 0.98),
        Row(name, "couplings inside 95 % interval", inside_c, 0.92, 0.98),
    ]


def degenerate_rows(count: int) -> list[Row]:
    """Equal springs: both hidden frequencies are √2, so one residue of rank two is right."""
    system, name = chain(5, observed=[0, 2, 4]), "five equal masses and springs"
    residue = system.couplings.T @ system.couplings
    right, errors = 0, []
    for seed in range(count):
        model = identify(system.free(400, DT, noise=0.1, rng=rng_of(10, seed)), mass="identity")
        h = model.hamiltonian
        if h is not None and len(h.hidden) == 1 and h.hidden[0].rank == 2:
            right += 1
            errors.append(np.linalg.norm(h.residues[0] - residue) / np.linalg.norm(residue))
    rows = [Row(name, "share of runs with one residue of rank two", right / count, 0.99)]
    if errors:
        rows.append(Row(name, "error of that residue, median %", 100 * float(np.median(errors))))
    return rows


def refusal_rows(count: int) -> list[Row]:
    """One free record of q1 alone: the bare Hamiltonian must be refused, with the way out."""
    system, name = chain(observed=[0]), "q1 only, one free record"
    refused = 0
    for seed in range(count):
        model = identify(system.free(400, DT, noise=0.1, rng=rng_of(11, seed)), mass="identity")
        told = "equilibrium" in model.identifiability.remedy
        refused += model.hamiltonian is None and told
    return [Row(name, "share of runs that refuse and name an experiment", refused / count, 1.0)]


# -- passivity -----------------------------------------------------------------------------------


def random_hamiltonian(rng: np.random.Generator) -> Hamiltonian:
    """Complete a random spectrum of random size."""
    channels = int(rng.integers(1, 5))
    modes = channels + int(rng.integers(0, 12))
    omega = np.sort(rng.uniform(0.05, 5.0, modes))
    participation = rng.standard_normal((modes, channels)) * rng.uniform(0.1, 3, (modes, 1))
    return Hamiltonian(complete(omega, participation), tuple(f"x{i + 1}" for i in range(channels)))


def energy_rows() -> list[Row]:
    """Certificates of 1000 random spectra, and the energy after a million periods."""
    rng = rng_of(12, 0)
    passive, drift = 0, 0.0
    for i in range(1000):
        h = random_hamiltonian(rng)
        passive += certify(h.stiffness, h.kernel).passive
        if i % 100 == 0:
            state = rng.standard_normal(2 * h.size)
            times = rng.uniform(0, 1e6 * 2 * np.pi / h.frequencies.min(), 200)
            energy = h.energy(h.flow(state, times))
            drift = max(drift, float(np.max(np.abs(energy / h.energy(state) - 1))))
    return [
        Row("certificate", "passive among 1000 random spectra", passive, 1000),
        Row("certificate", "energy drift over 1e6 periods", drift, None, 1e-10),
    ]
