"""Gyroscopic systems: lines that turn, their residues, and the bare system behind them."""

from prism.motion.gyroscopic.completion import (
    GyroscopicCompletion,
    commutator,
    complete_gyroscopic,
    line_sum,
)
from prism.motion.gyroscopic.delay import DelayTest
from prism.motion.gyroscopic.identify import identify_gyroscopic
from prism.motion.gyroscopic.model import GyroscopicModel

__all__ = [
    "DelayTest",
    "GyroscopicCompletion",
    "GyroscopicModel",
    "commutator",
    "complete_gyroscopic",
    "identify_gyroscopic",
    "line_sum",
]
