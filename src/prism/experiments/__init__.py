"""The experiments: what each kind of record determines beyond the lines.

A new experiment is one file with a function ``(lines, known) -> Magnitudes | Undetermined`` and
one entry here.
"""

from prism.experiments.base import Experiment, Known, Magnitudes, Undetermined
from prism.experiments.equilibrium import equilibrium_magnitudes
from prism.experiments.free import free_magnitudes
from prism.experiments.released import released_magnitudes

EXPERIMENTS: dict[str, Experiment] = {
    "free": free_magnitudes,
    "equilibrium": equilibrium_magnitudes,
    "released": released_magnitudes,
}

__all__ = ["EXPERIMENTS", "Experiment", "Known", "Magnitudes", "Undetermined"]
