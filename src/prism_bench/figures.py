"""The result figures of the paper, drawn anew from the benchmark's own records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from prism._optional import require
from prism._types import Array
from prism.correlation import correlate
from prism.diagnostics import ACTIVE
from prism.motion.steady.nnls import nnls_spectrum
from prism.pipeline import identify
from prism.record import Record
from prism.systems import cart_pendulum, chain
from prism_bench import paper
from prism_bench._study import rng_of
from prism_bench.chain import DT

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#777777"


def save_figures(directory: str | Path) -> list[Path]:
    """Draw the four result figures into a directory, as png.

    Parameters
    ----------
    directory : path
        Made if it is not there.
    """
    plt = require("matplotlib.pyplot", "drawing", "plot")
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, Callable[[Any], Any]] = {
        "chain": _chain,
        "fput": _fput,
        "henon-heiles": _henon_heiles,
        "cart-pendulum": _cart_pendulum,
    }
    paths = []
    for name, draw in drawn.items():
        figure = draw(plt)
        path = folder / f"{name}.png"
        figure.savefig(path, dpi=130)
        plt.close(figure)
        paths.append(path)
    return paths


def _forecast(axis: Any, clean: Record, noisy: Record, channel: int, shown: float = 80.0) -> None:
    """Truth and forecast around and after the end of the fitted part."""
    model = identify(noisy.head(paper.FIT))
    t = clean.times[0]
    start = t[round(paper.FIT * len(t))]
    part = (t > start - 0.25 * shown) & (t < start + shown)
    forecast = model.forecast(t[part])
    axis.plot(t[part], noisy.trials[0][part, channel], ".", ms=1.5, color=GREY, label="data")
    axis.plot(t[part], clean.trials[0][part, channel], color=BLUE, lw=1.4, label="truth")
    x, s = forecast.values[:, channel], forecast.std[:, channel]
    axis.plot(t[part], x, "--", color=ORANGE, lw=1.4, label="PRISM")
    axis.fill_between(t[part], x - 2 * s, x + 2 * s, color=ORANGE, alpha=0.25, lw=0)
    axis.axvline(start, color="k", lw=0.8, ls=":")
    axis.set(xlabel="time", ylabel=clean.channels[channel])


def _legend(figure: Any, axis: Any) -> None:
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=len(labels), frameon=False)


def _chain(plt: Any) -> Any:
    """Forecasts of both ends (a, b) and the residues of the four modes (c, d)."""
    system = chain()
    clean = system.free(paper.T, DT, rng=rng_of(21, 0))
    noisy = system.free(paper.T, DT, noise=0.1, rng=rng_of(21, 0))
    figure, axes = plt.subplots(2, 2, figsize=(10, 6.4), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.95))
    for channel, axis in enumerate(axes[0]):
        _forecast(axis, clean, noisy, channel)
        axis.set_title(f"({'ab'[channel]}) forecast of {clean.channels[channel]}, 10 % noise")
    ensemble = system.equilibrium(100, DT, trials=300, noise=0.1, rng=rng_of(22, 0))
    model = identify(ensemble, experiment="equilibrium", mass="identity")
    found, std = model.modes.residues, model.modes.residues_std
    for axis, (a, b), panel in zip(axes[1], ((0, 0), (0, 1)), "cd", strict=True):
        place = np.arange(4)
        axis.bar(place - 0.2, system.residues[:, a, b], 0.4, color=BLUE, label="exact")
        if found is not None and std is not None:
            axis.bar(place + 0.2, found[:, a, b], 0.4, color=ORANGE, label="PRISM",
                     yerr=2 * std[:, a, b], capsize=3)  # fmt: skip
        axis.axhline(0, color="k", lw=0.8)
        axis.set_xticks(place, [f"{w:.3f}" for w in system.frequencies])
        axis.set(xlabel="Ω", ylabel=f"R{a + 1}{b + 1}")
        axis.set_title(f"({panel}) residues R{a + 1}{b + 1}, 300 records")
        axis.legend(frameon=False)
    _legend(figure, axes[0, 0])
    return figure


def _fput(plt: Any) -> Any:
    """Energy spectra (a), active peaks against amplitude (b), forecasts (c, d)."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 6.4), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.95))
    counts = []
    for i, amplitude in enumerate(paper.AMPLITUDES):
        record = paper.fput_record(amplitude, 0.1, rng_of(23, i))
        spectrum = nnls_spectrum(correlate(record, max_lag=paper.T / 2), paper.GRID)
        counts.append(spectrum.count(ACTIVE))
        centre, weight = spectrum.lines
        energy = weight * centre**2
        shade = 0.2 + 0.8 * i / len(paper.AMPLITUDES)
        axes[0, 0].vlines(centre, 1e-3, energy / energy.max(), color=BLUE, alpha=shade, lw=1.5)
    axes[0, 0].axhline(ACTIVE, color=ORANGE, ls="--", label="threshold 19 %")
    axes[0, 0].set(yscale="log", ylim=(1e-3, 2), xlabel="frequency", ylabel="energy share")
    axes[0, 0].set_title("(a) peaks of q1, darker for larger A")
    axes[0, 0].legend(frameon=False)
    axes[0, 1].plot(paper.AMPLITUDES, counts, "o-", color=BLUE)
    axes[0, 1].set(xlabel="amplitude A", ylabel="active peaks", yticks=[1, 2, 3, 4])
    axes[0, 1].set_title("(b) energy spreads with the amplitude")
    for axis, amplitude, panel in zip(axes[1], (0.1, 1.0), "cd", strict=True):
        clean = paper.fput_record(amplitude, 0.0, None)
        _forecast(axis, clean, paper.noisy(clean, rng_of(24, 0)), 0)
        axis.set_title(f"({panel}) forecast, A = {amplitude:g}")
    _legend(figure, axes[1, 0])
    return figure


def _henon_heiles(plt: Any) -> Any:
    """Records (a, b) and forecasts (c, d) of the regular and of the chaotic orbit."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 6.4), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.95))
    for column, (energy, word) in enumerate(((0.05, "regular"), (0.15, "chaotic"))):
        clean = paper.henon_record(energy, paper.T)
        axes[0, column].plot(clean.times[0], clean.trials[0][:, 0], color=BLUE, lw=0.7)
        axes[0, column].set(xlabel="time", ylabel="x")
        axes[0, column].set_title(f"({'ab'[column]}) E = {energy:g}, {word}")
        _forecast(axes[1, column], clean, paper.noisy(clean, rng_of(25, 0)), 0)
        axes[1, column].set_title(f"({'cd'[column]}) forecast, 10 % noise")
        limit = 1.4 * float(np.abs(clean.trials[0]).max())
        axes[1, column].set_ylim(-limit, limit)
    _legend(figure, axes[1, 0])
    return figure


def _cart_pendulum(plt: Any) -> Any:
    """Forced receptance with its zero (a), and what the output alone shows (b)."""
    system = cart_pendulum()
    rng = rng_of(27, 0)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    omega = np.linspace(1.0, 7.0, 1200)
    left.semilogy(omega, _gain(system.receptance, omega), color=BLUE, label="exact |H|")
    dwell = np.linspace(1.05, 6.95, 60)
    noisy = _gain(system.receptance, dwell) * (1 + 0.1 * rng.standard_normal(60))
    left.semilogy(dwell, np.abs(noisy), "o", ms=3, color=GREY, label="sine dwell, 10 % noise")
    record = system.equilibrium(60, DT, trials=300, noise=0.1, rng=rng)
    model = identify(record, experiment="equilibrium")
    spectrum = np.mean(
        [np.abs(np.fft.rfft(x[:, 0] * np.hanning(len(x)))) ** 2 for x in record.trials], axis=0
    )
    w = 2 * np.pi * np.fft.rfftfreq(record.samples[0], DT)
    right.semilogy(w, spectrum / spectrum.max(), color=BLUE, label="spectrum of x")
    for line in model.modes.frequencies:
        right.axvline(line, color=GREY, ls=":", lw=1)
    bare = model.hamiltonian
    for axis in (left, right):
        axis.axvline(system.hidden_frequencies[0], color="k", lw=0.8, label="exact ω_p")
        if bare is not None and bare.hidden_frequencies_std is not None:
            at, std = bare.hidden_frequencies[0], bare.hidden_frequencies_std[0]
            axis.axvspan(at - 2 * std, at + 2 * std, color=ORANGE, alpha=0.35, lw=0,
                         label="PRISM from output alone, ±2σ")  # fmt: skip
        axis.set(xlim=(1, 7), xlabel="angular frequency")
    left.legend(frameon=False, fontsize=8, loc="lower right")
    left.set_title("(a) forced: the bare frequency is a zero")
    right.set_title("(b) output alone: it is neither peak nor zero")
    return figure


def _gain(receptance: Callable[[complex], Any], omega: Array) -> Array:
    return np.array([abs(receptance(1j * w)[0, 0]) for w in omega])
