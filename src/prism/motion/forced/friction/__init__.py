"""Modes that friction couples: complex poles, hidden oscillators with dampers of their own."""

from prism.motion.forced.friction.hamiltonian import FrictionHamiltonian
from prism.motion.forced.friction.system import FrictionSystem

__all__ = ["FrictionHamiltonian", "FrictionSystem"]
