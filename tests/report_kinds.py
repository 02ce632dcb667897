"""One small model of every kind that has a report, with what it was made from."""

import numpy as np

import prism
from prism import systems
from prism.systems.driven import driven
from prism.systems.nonlinear_particle import double_well, duffing

CHAIN = systems.chain()


def free():
    record = CHAIN.free(200, 0.2, noise=0.1, rng=0)
    return prism.identify(record, fit_fraction=0.6), record


def equilibrium():
    record = CHAIN.equilibrium(60, 0.3, trials=30, noise=0.1, rng=1)
    known = {"mass": "identity", "fit_fraction": 0.6}
    return prism.identify(record, experiment="equilibrium", **known), record


def released():
    record = CHAIN.released(100, 0.2, np.eye(2), noise=0.05, rng=0)
    return prism.identify(record, experiment="released", mass="identity"), record


def response():
    measured = CHAIN.response(np.linspace(0.17, 2.3, 150), loss=0.01, noise=0.02, rng=0)
    return prism.identify(measured), measured


def forced():
    push = systems.excitation("random", 0.3, 1.6, 0.2, 200.0, np.random.default_rng(0))
    absorber = systems.tuned_absorber()
    record = systems.forced(absorber, push[:, None], 0.2, loss=0.01, noise=0.02, rng=1).with_force()
    return prism.identify(record, force=["f_x"]), record


def decay():
    t = 0.1 * np.arange(1500)
    slow, quick = np.exp(-0.02 * t) * np.cos(2 * t), np.exp(-0.01 * t) * np.cos(3.1 * t)
    y = np.column_stack([slow + 0.3 * quick, slow - 0.5 * quick])
    y += 0.02 * np.random.default_rng(0).normal(size=y.shape)
    record = prism.Record(y, dt=0.1, channels=["left", "right"], quantity="acceleration")
    return prism.identify(record, damped=True, fit_fraction=0.7), record


def noise_driven():
    pair = systems.chain(2, springs=20.0, observed=[0, 1])
    record = driven(pair, 300.0, 0.25, damping=np.array([0.01, 0.008]), noise=0.1, rng=0)
    return prism.identify(record, damped=True), record


def potential():
    particle = duffing(1.0, 0.5, [1.3], [0.6])
    record = particle.simulate([1.5, 0.5], [0, 0.5], 80, 0.1, noise=0.03, rng=0)
    return prism.identify(record, potential=["x", "x^3"], max_modes=1, fit_fraction=0.7), record


def chaotic():
    wells = double_well(1.0, 1.0, [1.2], [0.4])
    record = wells.simulate([1.3, 0.5], [0.3, -0.4], 150, 0.05, noise=0.05, rng=0)
    return prism.identify(record, potential=["x", "x^3"], max_modes=1), record


def twenty_channels():
    record = systems.chain(20, observed=range(20)).free(150, 0.4, noise=0.1, rng=0)
    return prism.identify(record, fit_fraction=0.7), record


def many_trials():
    record = CHAIN.equilibrium(40, 0.3, trials=300, noise=0.1, rng=1)
    return prism.identify(record, experiment="equilibrium"), record


KINDS = {
    "free": free,
    "equilibrium": equilibrium,
    "released": released,
    "response": response,
    "forced": forced,
    "decay": decay,
    "noise-driven": noise_driven,
    "potential": potential,
    "chaotic": chaotic,
    "twenty-channels": twenty_channels,
    "many-trials": many_trials,
}
