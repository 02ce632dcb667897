"""The experiments of ``prism simulate``: what each does with a system, and its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from prism.cli._console import numbers
from prism.cli._systems import SystemStart
from prism.errors import OptionError

if TYPE_CHECKING:
    from prism.frequency_response import FrequencyResponse
    from prism.record import Record
    from prism.systems import LinearSystem

__all__ = ["EXPERIMENTS", "SimulatedExperiment", "SimulationSettings", "perform", "settings_of"]


@dataclass(frozen=True)
class SimulationSettings:
    """What an experiment may be told; here are the defaults."""

    noise: float = 0.1
    seed: int = 0
    trials: int = 1
    duration: float = 400.0
    dt: float = 0.05
    excitation: str = "random"
    loss: float = 0.01
    band: str | None = None
    lines: int = 400
    noise_kind: str = "multiplicative"


class SimulatedExperiment(NamedTuple):
    """What is done, and the options that it knows beside noise and seed."""

    run: Callable[[LinearSystem, SimulationSettings], Record | FrequencyResponse]
    options: tuple[str, ...]


def settings_of(experiment: str, options: Mapping[str, Any]) -> SimulationSettings:
    """Fill in the defaults and refuse what the experiment does not know.

    Parameters
    ----------
    experiment : str
        One of `EXPERIMENTS`.
    options : mapping
        Of the command line; None stands for one that was not given.
    """
    if experiment not in EXPERIMENTS:
        raise OptionError(
            f"unknown experiment {experiment!r}; use one of {', '.join(EXPERIMENTS)}."
        )
    given = {name: value for name, value in options.items() if value is not None}
    known = ("noise", "seed", *EXPERIMENTS[experiment].options)
    strange = [f"--{name.replace('_', '-')}" for name in given if name not in known]
    if strange:
        raise OptionError(
            f"{', '.join(strange)} means nothing to a {experiment} experiment: leave it out."
        )
    settings = SimulationSettings(**given)
    _check(settings)
    return settings


def _check(settings: SimulationSettings) -> None:
    least = {"trials": 1, "lines": 4}
    for field in fields(settings):
        value = getattr(settings, field.name)
        if field.name in least and value < least[field.name]:
            raise OptionError(f"--{field.name} is {value}: give at least {least[field.name]}.")
        if field.name in ("noise", "seed", "loss") and not 0 <= value < float("inf"):
            raise OptionError(f"--{field.name} is {value}: give zero or a positive number.")


def perform(
    system: LinearSystem | SystemStart, experiment: str, settings: SimulationSettings
) -> Record | FrequencyResponse:
    """Simulate an experiment on a system.

    Parameters
    ----------
    system : LinearSystem or Start
    experiment : str
        One of `EXPERIMENTS`.
    settings : SimulationSettings
    """
    if not isinstance(system, SystemStart):
        return EXPERIMENTS[experiment].run(system, settings)
    if experiment != "free" or settings.trials != 1:
        raise OptionError("a nonlinear system starts where it is told: one free trial only.")
    return system.system.simulate(
        *(system.position, system.momentum, settings.duration, settings.dt),
        noise=settings.noise,
        rng=settings.seed,
    )


def _free(system: LinearSystem, given: SimulationSettings) -> Record:
    return system.free(
        *(given.duration, given.dt), trials=given.trials, noise=given.noise, rng=given.seed
    )


def _equilibrium(system: LinearSystem, given: SimulationSettings) -> Record:
    return system.equilibrium(
        *(given.duration, given.dt), trials=given.trials, noise=given.noise, rng=given.seed
    )


def _released(system: LinearSystem, given: SimulationSettings) -> Record:
    """Displace one of the seen coordinates by 1 in each trial, each in its turn."""
    import numpy as np

    x0 = np.eye(len(system.channels))[np.arange(given.trials) % len(system.channels)]
    return system.released(given.duration, given.dt, x0, noise=given.noise, rng=given.seed)


def _snapback(system: LinearSystem, given: SimulationSettings) -> Record:
    """Pull at one of the seen coordinates with a force of 1 in each trial, each in its turn."""
    import numpy as np

    pulls = np.eye(len(system.channels))[np.arange(given.trials) % len(system.channels)]
    return system.snapback(given.duration, given.dt, pulls, noise=given.noise, rng=given.seed)


def _forced(system: LinearSystem, given: SimulationSettings) -> Record:
    """Push one of the seen coordinates in each trial, each in its turn."""
    import numpy as np

    from prism.systems import excitation, forced

    rng = np.random.default_rng(given.seed)
    band = _band(system, given)
    ports = len(system.channels)
    pushes = [
        excitation(given.excitation, *band, given.dt, given.duration, rng)
        for _ in range(given.trials)
    ]
    force = np.zeros((given.trials, len(pushes[0]), ports))
    for trial, push in enumerate(pushes):
        force[trial, :, trial % ports] = push
    done = forced(system, force, given.dt, loss=given.loss, noise=given.noise, rng=rng)
    return done.with_force()


def _response(system: LinearSystem, given: SimulationSettings) -> FrequencyResponse:
    import numpy as np

    omega = np.linspace(*_band(system, given), given.lines)
    return system.response(
        omega, loss=given.loss, noise=given.noise, noise_kind=given.noise_kind, rng=given.seed
    )


def _band(system: LinearSystem, given: SimulationSettings) -> tuple[float, float]:
    """Return the band asked for; by default it holds all frequencies, with a margin."""
    if given.band is None:
        return float(system.frequencies[0]) / 2, 1.25 * float(system.frequencies[-1])
    limits = numbers(given.band, "--band")
    if len(limits) != 2 or not 0 <= limits[0] < limits[1] < float("inf"):
        raise OptionError(f"--band is {given.band!r}: give LOW,HIGH, two frequencies in rad.")
    return limits[0], limits[1]


_IN_TIME = ("trials", "duration", "dt")
EXPERIMENTS = {
    "free": SimulatedExperiment(_free, _IN_TIME),
    "equilibrium": SimulatedExperiment(_equilibrium, _IN_TIME),
    "released": SimulatedExperiment(_released, _IN_TIME),
    "snapback": SimulatedExperiment(_snapback, _IN_TIME),
    "forced": SimulatedExperiment(_forced, (*_IN_TIME, "excitation", "loss", "band")),
    "response": SimulatedExperiment(_response, ("loss", "band", "lines", "noise_kind")),
}
"""What can be done with a linear system; a new experiment is one function and one entry."""
