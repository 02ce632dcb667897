"""Gyroscopic systems: lines that turn, their residues, and the bare system behind them."""

from prism.motion.gyroscopic.completion import (
    GyroscopicCompletion,
    commutator,
    complete_gyroscopic,
    line_sum,
)
from prism.motion.gyroscopic.delay import DelayTest
from prism.motion.gyroscopic.fit import fit_gyroscopic
from prism.motion.gyroscopic.result import GyroscopicFit

identify_gyroscopic = fit_gyroscopic
GyroscopicModel = GyroscopicFit

__all__ = [
    "DelayTest",
    "GyroscopicCompletion",
    "GyroscopicFit",
    "GyroscopicModel",
    "commutator",
    "complete_gyroscopic",
    "fit_gyroscopic",
    "identify_gyroscopic",
    "line_sum",
]
