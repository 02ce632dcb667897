"""The experiments: how a record was made, and what that determines beyond the modes.

A new experiment is one file with a frozen class (see `prism.experiments.base.Experiment`) and one
entry here.
"""

from prism.experiments.base import Experiment, OfLines
from prism.experiments.equilibrium import Equilibrium
from prism.experiments.forced import Forced
from prism.experiments.free import Free
from prism.experiments.released import Released
from prism.experiments.snapback import Snapback

EXPERIMENTS: dict[str, type[OfLines] | type[Forced]] = {
    kind.name: kind for kind in (Free, Equilibrium, Released, Snapback, Forced)
}

__all__ = [
    "EXPERIMENTS",
    "Equilibrium",
    "Experiment",
    "Forced",
    "Free",
    "OfLines",
    "Released",
    "Snapback",
]
