"""Systems with exact answers for every quantity PRISM estimates, and nonlinear ones beside them."""

from prism.systems.bath import CaldeiraLeggett, caldeira_leggett
from prism.systems.cart_pendulum import CartPendulum, Forced, cart_pendulum, forced
from prism.systems.chain import chain
from prism.systems.fput import FputLattice, fput
from prism.systems.henon_heiles import HenonHeiles, henon_heiles
from prism.systems.linear import LinearSystem
from prism.systems.lyapunov import Lyapunov, largest_lyapunov
from prism.systems.nonlinear import NonlinearSystem, Trajectory
from prism.systems.typical_section import TypicalSection

__all__ = [
    "CaldeiraLeggett",
    "CartPendulum",
    "Forced",
    "FputLattice",
    "HenonHeiles",
    "LinearSystem",
    "Lyapunov",
    "NonlinearSystem",
    "Trajectory",
    "TypicalSection",
    "caldeira_leggett",
    "cart_pendulum",
    "chain",
    "forced",
    "fput",
    "henon_heiles",
    "largest_lyapunov",
]
