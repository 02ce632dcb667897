"""Free records: lines of undamped motion, with all that a record may suffer from."""

from __future__ import annotations

import numpy as np

import prism
from prism import systems

from .made import (
    CHAIN,
    FIVE,
    Array,
    Case,
    chain_record,
    coloured,
    free_motion,
    grid,
    identify,
    noisy,
    record,
    with_gaps,
)


def _coloured() -> prism.Record:
    rng, t = np.random.default_rng(11), grid(300, 0.1)
    x = free_motion(CHAIN, t, rng)
    noise = np.stack([coloured(rng, len(t)) for _ in range(2)], axis=1)
    return record(x + 0.2 * x.std(axis=0) * noise, 0.1)


def _gaps() -> prism.Record:
    _, x = chain_record(12, 300)
    return record(with_gaps(x, np.random.default_rng(12), 0.3, slice(1000, 1500)), 0.1)


def _jitter() -> prism.Record:
    rng = np.random.default_rng(13)
    t = grid(200, 0.1) + rng.uniform(-0.04, 0.04, 2000)
    return prism.Record(noisy(free_motion(CHAIN, t, rng), 0.1, rng), t=t)


def _irregular() -> prism.Record:
    rng = np.random.default_rng(14)
    t = np.sort(rng.uniform(0, 200, 1500))
    return prism.Record(noisy(free_motion(CHAIN, t, rng), 0.3, rng), t=t)


def _drift(degree: int) -> prism.Record:
    t, x = chain_record(15)
    u = t / t[-1]
    bent = u if degree == 1 else 3 * u - 8 * u**2 + 6 * u**3
    return record(x + 4 * x.std(axis=0) * bent[:, None], 0.1)


def _spikes() -> prism.Record:
    _, x = chain_record(16)
    rng = np.random.default_rng(17)
    wild = rng.uniform(size=x.shape) < 0.02
    return record(x + np.where(wild, 3 * x.std(axis=0) * rng.standard_normal(x.shape), 0), 0.1)


def _rounded() -> prism.Record:
    rng, t = np.random.default_rng(18), grid(200, 0.1)
    x = free_motion(CHAIN, t, rng)
    step = x.std(axis=0) / 3
    return record(step * np.round(x / step), 0.1)


def _sensors() -> prism.Record:
    rng, t = np.random.default_rng(19), grid(200, 0.1)
    kinds = ["acceleration", "velocity"]
    x = free_motion(CHAIN, t, rng, quantity=kinds)
    return record(noisy(x, 0.1, rng), 0.1, quantity=kinds)


def _ragged() -> prism.Record:
    rng = np.random.default_rng(20)
    times = [0.1 * np.arange(1200), 7 + 0.1 * np.arange(2000), 0.2 * np.arange(700)]
    trials = [noisy(free_motion(CHAIN, t, rng), 0.15, rng) for t in times]
    return prism.Record(trials, t=times, channels=["left", "right"])


def _degenerate() -> prism.Record:
    """Two modes of one frequency, excited differently in each trial."""
    coupled = np.array([[2.0, 0.0, 0.5], [0.0, 2.0, 0.5], [0.5, 0.5, 3.0]])
    values, shapes = np.linalg.eigh(coupled)
    values[:2] = 2.0
    system = systems.LinearSystem(np.eye(3), shapes @ np.diag(values) @ shapes.T, np.eye(3))
    return system.free(100, 0.1, noise=0.1, trials=6, rng=21)


def _circle() -> prism.Record:
    t, rng = grid(200, 0.1), np.random.default_rng(22)
    x = np.column_stack([np.cos(t), np.sin(t)]) + 0.3 * np.cos(1.7 * t)[:, None]
    return record(x + 0.02 * rng.standard_normal(x.shape), 0.1)


def _delayed() -> prism.Record:
    """The second channel is sampled a little later."""
    t, rng = grid(300, 0.1), np.random.default_rng(23)
    x = np.column_stack([np.cos(0.7 * t) + np.cos(1.9 * t), np.cos(0.7 * (t - 0.15))])
    x[:, 1] -= 0.6 * np.cos(1.9 * (t - 0.15))
    return record(noisy(x, 0.05, rng), 0.1)


def _torus() -> prism.Record:
    """A sum of integer combinations of two frequencies."""
    rng, t = np.random.default_rng(24), grid(300, 0.1)
    terms = [(1.0, 1, 0), (0.7, 0, 1), (0.2, 2, 0), (0.15, 3, -2), (0.1, 1, 1), (0.3, 1, -1)]
    x = sum(
        size * np.cos((j * 0.9723 + k * 0.7409) * t + rng.uniform(0, 2 * np.pi))
        for size, j, k in terms
    )
    return record(noisy(np.asarray(x)[:, None], 0.05, rng), 0.1)


def _henon(energy: float) -> prism.Record:
    system = systems.henon_heiles()
    return system.simulate(*system.start(energy, y=-0.1), 300, 0.1, noise=0.05, rng=25)


def _fput() -> prism.Record:
    system = systems.fput(observed=[0, 3])
    return system.simulate(*system.single_mode(1.0), 400, 0.2, noise=0.05, rng=26)


def _mains() -> prism.Record:
    """Two lines beside 50 Hz and its third harmonic, in seconds."""
    t, rng = grid(4, 0.002), np.random.default_rng(27)
    turn = 2 * np.pi * t
    x = np.cos(12 * turn) + 0.6 * np.cos(31 * turn + 1)
    x += 0.8 * np.cos(50 * turn + 2) + 0.3 * np.cos(150 * turn)
    return record(noisy(x[:, None], 0.1, rng), 0.002)


def _decaying() -> prism.Record:
    t, rng = grid(300, 0.1), np.random.default_rng(28)
    x = np.exp(-t / 60)[:, None] * np.column_stack([np.cos(t), 0.5 * np.cos(t)])
    x[:, 0] += 0.3 * np.exp(-t / 90) * np.cos(1.8 * t)
    return record(x + 0.01 * rng.standard_normal(x.shape), 0.1)


def _duffing() -> prism.Record:
    system = systems.duffing(1.0, 0.5, [], [])
    return system.simulate([1.5], [0.0], 150, 0.05, noise=0.01, rng=29)


def _chain(seed: int = 0) -> prism.Record:
    return CHAIN.free(200, 0.1, noise=0.1, rng=seed)


def _close() -> prism.Record:
    """Two lines a third of a resolution more than one resolution apart."""
    t, rng = grid(150, 0.1), np.random.default_rng(31)
    x: Array = np.column_stack([np.cos(t) + np.cos(1.055 * t + 1), np.cos(t) - np.cos(1.055 * t)])
    return record(noisy(x, 0.1, rng), 0.1)


FREE: dict[str, Case] = {
    "chain": lambda: identify(CHAIN.free(400, 0.05, noise=0.1, rng=0)),
    "one_channel": lambda: identify(
        systems.chain(3, observed=[0]).free(200, 0.1, noise=0.1, rng=1)
    ),
    "three_channels_50_percent": lambda: identify(FIVE.free(200, 0.1, noise=0.5, rng=2)),
    "eight_channels": lambda: identify(
        systems.chain(8, observed=range(8)).free(150, 0.2, noise=0.2, rng=3)
    ),
    "noise_100_percent": lambda: identify(CHAIN.free(300, 0.1, noise=1.0, rng=4)),
    "quiet": lambda: identify(CHAIN.free(100, 0.1, noise=0.001, rng=5)),
    "short": lambda: identify(CHAIN.free(40, 0.2, noise=0.1, rng=6)),
    "bath": lambda: identify(systems.caldeira_leggett(12).free(400, 0.2, noise=0.1, rng=7)),
    "coloured": lambda: identify(_coloured()),
    "gaps": lambda: identify(_gaps()),
    "gaps_fit_fraction": lambda: identify(_gaps(), fit_fraction=0.7),
    "jitter": lambda: identify(_jitter()),
    "irregular": lambda: identify(_irregular()),
    "drift": lambda: identify(_drift(1)),
    "drift_of_degree_3": lambda: identify(_drift(3), drift=3),
    "drift_of_degree_3_as_2": lambda: identify(_drift(3), drift=2),
    "spikes": lambda: identify(_spikes()),
    "rounded": lambda: identify(_rounded()),
    "mixed_quantities": lambda: identify(_sensors()),
    "ragged_trials": lambda: identify(_ragged()),
    "trials": lambda: identify(CHAIN.free(80, 0.1, noise=0.2, trials=5, rng=8)),
    "trials_fit_fraction": lambda: identify(_ragged(), fit_fraction=0.6),
    "degenerate": lambda: identify(_degenerate()),
    "out_of_phase": lambda: identify(_circle()),
    "delayed_channel": lambda: identify(_delayed()),
    "close_lines": lambda: identify(_close()),
    "torus": lambda: identify(_torus()),
    "henon_heiles": lambda: identify(_henon(0.05)),
    "henon_heiles_chaotic": lambda: identify(_henon(0.15)),
    "fput": lambda: identify(_fput()),
    "fput_fit_fraction": lambda: identify(_fput(), fit_fraction=0.5),
    "foucault": lambda: identify(systems.foucault_pendulum().free(200, 0.1, noise=0.05, rng=9)),
    "ignore_band": lambda: identify(_chain(), ignore=(0.28, 0.31)),
    "ignore_mains": lambda: identify(_mains(), ignore=["50hz", "30-32"]),
    "max_modes": lambda: identify(_chain(1), max_modes=2),
    "false_alarm": lambda: identify(CHAIN.free(60, 0.1, noise=1.5, rng=10), false_alarm=0.1),
    "fit_fraction": lambda: identify(_chain(2), fit_fraction=0.4),
    "nnls": lambda: identify(_chain(3), method="nnls"),
    "nnls_fit_fraction": lambda: identify(
        CHAIN.free(60, 0.2, noise=0.1, trials=4, rng=30), method="nnls", fit_fraction=0.6
    ),
    "sdp": lambda: identify(CHAIN.free(100, 0.2, noise=0.1, rng=5), method="sdp"),
    "sdp_trials": lambda: identify(
        CHAIN.free(60, 0.2, noise=0.1, trials=4, rng=6), method="sdp", max_modes=6
    ),
    "decaying": lambda: identify(_decaying()),
    "decaying_undamped": lambda: identify(_decaying(), damped=False),
    "looks_nonlinear": lambda: identify(_duffing()),
    "mass": lambda: identify(FIVE.free(200, 0.1, noise=0.1, rng=1), mass="identity"),
    "mass_matrix": lambda: identify(CHAIN.free(200, 0.1, noise=0.1, rng=2), mass=CHAIN.mass),
    "mass_stiffness": lambda: identify(
        CHAIN.free(200, 0.1, noise=0.1, rng=3), mass=CHAIN.mass, stiffness=CHAIN.stiffness
    ),
    "stiffness": lambda: identify(FIVE.free(200, 0.1, noise=0.05, rng=4), stiffness=FIVE.stiffness),
    "mass_one_channel": lambda: identify(
        systems.chain(3, observed=[0]).free(200, 0.1, noise=0.05, rng=5), mass=[[1.0]]
    ),
    "mass_wrong": lambda: identify(FIVE.free(200, 0.1, noise=0.05, rng=6), mass=np.diag([1, 4, 9])),
    "mass_trials": lambda: identify(
        FIVE.free(80, 0.1, noise=0.2, trials=4, rng=7), mass="identity", fit_fraction=0.7
    ),
}
