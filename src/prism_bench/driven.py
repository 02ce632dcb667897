"""Noise-driven, damped records: modes found blind, measured against the Cramér-Rao bound.

A chain of four masses, T = 600, 10 % sensor noise, damping from 0.1 to 2 %. Nothing is told to the
fit. The bound is that of the exact likelihood of all Fourier lines at the truth, with shapes,
modal forces (independent, which makes it smaller) and a flat background unknown. A run of case c
with seed s draws from ``numpy.random.default_rng([c, s])``; times are CPU times of one process.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.io

from prism._types import Array, ComplexArray
from prism.errors import NoLineError
from prism.modes import Modes
from prism.motion.damped import DampedModes
from prism.motion.driven.bands import DrivenMode, in_band
from prism.motion.driven.driven import fit_driven
from prism.motion.driven.innovations import kicks
from prism.motion.driven.scoring import score_and_information
from prism.motion.driven.sensor import sensor_kind
from prism.motion.driven.spectrum import fourier_lines, line_band
from prism.record import QUANTITIES, Record
from prism.systems import LinearSystem, chain
from prism.systems.driven import driven
from prism_bench import oma
from prism_bench._study import coverage, rms, rng_of
from prism_bench.real import folder
from prism_bench.table import Progress, Row

DEFAULT_SEEDS = 200
ZETA = np.array([0.02, 0.01, 0.005, 0.001])
DURATION, STEP, NOISE = 600.0, 0.25, 0.1
_RESOLVED = 2.5  # ζ f T from which the bound of ln ζ can be met
_AVERAGED = 0.125  # of a step, over which `driven` averages an acceleration


@dataclass(frozen=True)
class Case:
    """Which masses are seen, and how."""

    number: int
    quantity: str
    observed: tuple[int, ...]

    @property
    def name(self) -> str:
        """The case in words."""
        seen = ", ".join(str(i + 1) for i in self.observed)
        return f"4 masses, {self.quantity} of {seen}, T = 600, 10 % noise"

    @property
    def system(self) -> LinearSystem:
        """The chain."""
        return chain(4, springs=20.0, observed=self.observed)

    def record(self, seed: int) -> Record:
        """One record."""
        return driven(
            self.system,
            DURATION,
            STEP,
            damping=ZETA,
            noise=NOISE,
            quantity=self.quantity,
            rng=rng_of(self.number, seed),
        )


CASES = (
    Case(80, "displacement", (0, 3)),
    Case(81, "acceleration", (0, 3)),
    Case(82, "displacement", (0,)),
)


def chains(count: int, progress: Progress) -> list[Row]:
    """Chains, noise, sensors, and records of others."""
    rows: list[Row] = []
    for case in CASES:
        rows += chain_rows(case, count)
        progress(rows[-1].case)
    rows += noise_rows(count)
    progress(rows[-1].case)
    rows += sensor_rows(max(count // 20, 1))
    progress(rows[-1].case)
    return rows + measured_rows()


# -- the bound ------------------------------------------------------------------------------------


def folded(case: Case, omega: float) -> ComplexArray:
    """What sampling folds onto a frequency from above the Nyquist frequency, (n, n)."""
    system, order = case.system, QUANTITIES.index(case.quantity)
    out = np.zeros((len(case.observed),) * 2, complex)
    for fold in [*range(-60, 0), *range(1, 61)]:
        w = omega + 2 * np.pi * fold / STEP
        h = (1j * w) ** order / (system.frequencies**2 - w**2 + 2j * ZETA * system.frequencies * w)
        if case.quantity == "acceleration":
            h = h * np.sinc(w * STEP * _AVERAGED / (2 * np.pi))
        out += (system.participation.T * np.abs(h) ** 2) @ system.participation
    return out


def driven_bound(case: Case, record: Record) -> tuple[Array, Array]:
    """Cramér-Rao standard deviations of ln Ω and ln ζ of all modes."""
    band, system = line_band(fourier_lines(record)), case.system
    length = np.linalg.norm(system.participation, axis=1)
    modes = [
        DrivenMode(float(w), float(z), shape / size, float(size**2))
        for w, z, shape, size in zip(
            system.frequencies, ZETA, system.participation, length, strict=True
        )
    ]
    sensor = (NOISE * record.std()) ** 2 / (1 + NOISE**2) * STEP
    R = np.diag(sensor) + folded(case, float(np.median(system.frequencies)))
    R = R / np.outer(band.scale, band.scale)
    model = replace(in_band(band, modes), noise=R, full=len(R) > 1)
    information = score_and_information(model, band)[1]
    at = model.at
    keep = np.setdiff1d(np.arange(len(information)), at["cross"])
    std = np.sqrt(np.diag(np.linalg.inv(information[np.ix_(keep, keep)])))
    # frequencies and dampings come first, so leaving out the cross spectra does not move them
    return std[at["frequency"]], std[at["damping"]]


# -- chains ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChainRun:
    """One fit: errors of ln Ω and ln ζ and whether intervals hold, per true mode; extra modes."""

    frequency: Array
    damping: Array
    frequency_z: Array
    damping_inside: Array
    extra: int
    seconds: float


def chain_run(case: Case, seed: int) -> ChainRun:
    """Fit one record blind; modes that are not found are NaN."""
    record, truth = case.record(seed), case.system.frequencies
    begin = time.process_time()
    fit = fit_driven(record)
    seconds = time.process_time() - begin
    out = np.full((4, len(truth)), np.nan)
    taken: set[int] = set()
    for j, omega in enumerate(truth):
        i = int(np.argmin(np.abs(fit.frequencies - omega)))
        near = max(6 * ZETA[j] * omega, 8 * np.pi / DURATION)
        if i in taken or abs(fit.frequencies[i] - omega) > near:
            continue
        taken.add(i)
        low, high = fit.damping_interval[i]
        off = fit.frequencies[i] - omega
        out[:, j] = (
            off / omega,
            np.log(fit.damping[i] / ZETA[j]),
            off / fit.frequencies_std[i],
            float(low <= ZETA[j] <= high),
        )
    return ChainRun(out[0], out[1], out[2], out[3], len(fit) - len(taken), seconds)


def chain_rows(case: Case, count: int) -> list[Row]:
    """Modes found, errors over the bound, coverage, time."""
    name, omega = case.name, case.system.frequencies
    bound = driven_bound(case, case.record(0))
    runs = [chain_run(case, seed) for seed in range(count)]
    whole = [r for r in runs if np.all(np.isfinite(r.frequency))]
    cycles = ZETA * omega / (2 * np.pi) * DURATION
    frequency = np.array([r.frequency for r in whole]) / bound[0]
    damping = np.array([r.damping for r in whole]) / bound[1]
    rows = [
        Row(name, "share of runs with all four modes", len(whole) / count, 0.99),
        Row(name, "share of runs with a false mode", _share(runs), None, 0.01),
        Row(name, "frequency, rms error / Cramér-Rao", rms(frequency), None, 1.2),
    ]
    for j, resolved in enumerate(cycles >= _RESOLVED):
        label, bar = f"mode {j + 1} (ζ f T = {cycles[j]:.2g})", 1.2 if resolved else None
        note = "" if resolved else "one line wide: the bound is asymptotic"
        value = rms(frequency[:, j])
        rows.append(Row(name, f"frequency, {label}", value, None, bar, note=note))
        value = rms(damping[:, j])
        rows.append(Row(name, f"ln ζ, {label}", value, None, bar, note=note))
    z = np.concatenate([r.frequency_z[np.isfinite(r.frequency_z)] for r in runs])
    inside = np.concatenate([r.damping_inside[np.isfinite(r.damping_inside)] for r in runs])
    seconds = [r.seconds for r in runs]
    return [
        *rows,
        Row(name, "coverage of 95 % intervals, frequency", coverage(z), 0.9, 0.98),
        Row(name, "coverage of 95 % intervals, damping", float(np.mean(inside)), 0.9, 0.98),
        Row(name, "CPU time, median s", float(np.median(seconds))),
        Row(name, "CPU time, worst s", max(seconds), None, 3.0),
    ]


def _share(runs: list[ChainRun]) -> float:
    return float(np.mean([r.extra > 0 for r in runs]))


def noise_rows(count: int) -> list[Row]:
    """White noise without any mode."""
    found = []
    for seed in range(count):
        values = rng_of(83, seed).standard_normal((2400, 2))
        try:
            found.append(len(fit_driven(Record(values, dt=STEP))))
        except NoLineError:
            found.append(0)
    share = float(np.mean(np.array(found) > 0))
    return [Row("white noise, two channels", "share of runs with a mode", share, None, 0.01)]


def sensor_rows(count: int) -> list[Row]:
    """The kind of the sensors, told by likelihood."""
    right = []
    for number, kind in enumerate(QUANTITIES):
        for seed in range(count):
            record = replace(CASES[0], number=84 + number, quantity=kind).record(seed)
            right.append(sensor_kind(record).best == kind)
    share = float(np.mean(right))
    return [Row(CASES[0].name, "share of runs with the right kind of sensor", share, 0.95)]


# -- records of others ----------------------------------------------------------------------------


def measured_rows() -> list[Row]:
    """Simulated and measured structures of others, where a folder of them is at hand."""
    place = folder()
    if place is None:
        note = "no folder of real measurements: set PRISM_REAL_DATA"
        return [Row("records of others", "not run", float("nan"), note=note)]
    ours = [*bridge_rows(place), *frame_rows(place), *hardanger_rows(place), *kick_rows(place)]
    return ours + oma.bridge_rows(place)


def warped(omega: Array, dt: float) -> Array:
    """Frequencies after the trapezoidal rule with which these records were made."""
    return np.asarray(2 / dt * np.arctan(omega * dt / 2))


def reference_rows(name: str, fit: DampedModes | Modes, omega: Array, zeta: Array) -> list[Row]:
    """Modes that are driven beside those that were simulated.

    Parameters
    ----------
    name : str
    fit : DampedModes or Modes
    omega, zeta : arrays (modes,)
    """
    count = len(omega)
    rows = [Row(name, "modes found", float(len(fit)), count, count)]
    if len(fit) != count:
        return rows
    assert fit.damping_interval is not None
    z = np.abs(fit.frequencies - omega) / fit.frequencies_std
    inside = (fit.damping_interval[:, 0] <= zeta) & (zeta <= fit.damping_interval[:, 1])
    rows.append(Row(name, "frequency, worst error / standard deviation", float(z.max()), None, 3.0))
    share = float(np.mean(inside))
    rows.append(Row(name, "share of dampings in their 95 % intervals", share, 0.8))
    return rows


class Known(NamedTuple):
    """A record that others simulated, and its modes."""

    record: Record
    omega: Array
    zeta: Array


def bridge(place: Path) -> Known:
    """A suspension bridge: six modes, five sensors."""
    data, dt = scipy.io.loadmat(place / "bridge_sim" / "BridgeData.mat"), 1 / 15
    omega = warped(data["wn"].ravel(), dt)
    return Known(Record(data["rz"].T, dt=dt), omega, data["zetaStruct"].ravel())


def shear_frame(place: Path) -> Known:
    """A shear frame of five storeys."""
    omega, zeta, values = (
        np.load(place / "shear_frame_sim" / f"{part}.npy")
        for part in ("omega_n", "xi_ref", "data_shearframe")
    )
    return Known(Record(values, dt=1 / 12), warped(omega, 1 / 12), zeta)


def hardanger(place: Path) -> Record:
    """Half an hour of a suspension bridge in the wind, six accelerations."""
    table = place / "hardanger_bridge" / "acc_data_hardanger.txt"
    values = np.loadtxt(table, delimiter=",", skiprows=1)
    return Record(values[:, 1:], dt=0.5, quantity="acceleration")


def bridge_rows(place: Path) -> list[Row]:
    """Six modes of a simulated suspension bridge."""
    known = bridge(place)
    return reference_rows("simulated bridge", fit_driven(known.record), known.omega, known.zeta)


def frame_rows(place: Path) -> list[Row]:
    """Five modes of a simulated shear frame, and what its sensors measure."""
    name, known = "simulated shear frame", shear_frame(place)
    fit = fit_driven(known.record)
    kind = sensor_kind(known.record, fit).best
    rows = reference_rows(name, fit, known.omega, known.zeta)
    return [*rows, Row(name, "told to be a displacement", float(kind == QUANTITIES[0]), 1, 1)]


def hardanger_rows(place: Path) -> list[Row]:
    """A suspension bridge in the wind: first lateral and first torsional mode, time."""
    record, name = hardanger(place), "Hardanger bridge, 31 min"
    begin = time.process_time()
    fit = fit_driven(record)
    seconds = time.process_time() - begin
    return [*hardanger_modes(name, fit.frequencies), Row(name, "CPU time, s", seconds)]


def hardanger_modes(name: str, omega: Array) -> list[Row]:
    """The first lateral and the first torsional mode, and how many there are."""
    f = omega / (2 * np.pi)
    lateral, torsion = (float(f[np.argmin(np.abs(f - about))]) for about in (0.05, 0.36))
    return [
        Row(name, "first lateral mode, Hz", lateral, 0.045, 0.055),
        Row(name, "first torsional mode, Hz", torsion, 0.35, 0.375),
        Row(name, "modes found", float(len(omega))),
    ]


def kick_rows(place: Path) -> list[Row]:
    """The Weimar frame, kicked every ten seconds."""
    rows = []
    for setup in ("setup1", "setup5"):
        values = np.load(place / "weimar_frame" / f"{setup}.npy")[:, :5]
        found = kicks(Record(values, dt=1 / 256))
        gaps = np.diff(found[0]) if found else np.zeros(0)
        even = float(len(gaps) == 21 and np.allclose(gaps, 10.0))
        rows.append(Row("Weimar frame", f"{setup}: 22 kicks ten seconds apart", even, 1, 1))
    return rows
