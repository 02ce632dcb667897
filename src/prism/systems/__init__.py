"""Systems with exact answers for every quantity PRISM estimates, and nonlinear ones beside them."""

from prism.systems.absorber import tuned_absorber
from prism.systems.bath import CaldeiraLeggett, caldeira_leggett
from prism.systems.cart_pendulum import CartPendulum, cart_pendulum
from prism.systems.chain import chain
from prism.systems.driven import driven
from prism.systems.excitation import EXCITATIONS, excitation
from prism.systems.forced import ForcedRun, forced
from prism.systems.fput import FputLattice, fput
from prism.systems.gyroscopic import GyroscopicSystem, foucault_pendulum, rotor
from prism.systems.henon_heiles import HenonHeiles, henon_heiles
from prism.systems.linear import LinearSystem
from prism.systems.lyapunov import Lyapunov, largest_lyapunov
from prism.systems.nonlinear import NonlinearSystem, Trajectory
from prism.systems.nonlinear_particle import (
    asymmetric_well,
    double_well,
    duffing,
    nonlinear_bath,
    pendulum,
    quintic,
)
from prism.systems.response import measured_response
from prism.systems.slosh_tank import SloshModes, slosh_modes, slosh_tank
from prism.systems.typical_section import TypicalSection

__all__ = [
    "EXCITATIONS",
    "CaldeiraLeggett",
    "CartPendulum",
    "ForcedRun",
    "FputLattice",
    "GyroscopicSystem",
    "HenonHeiles",
    "LinearSystem",
    "Lyapunov",
    "NonlinearSystem",
    "SloshModes",
    "Trajectory",
    "TypicalSection",
    "asymmetric_well",
    "caldeira_leggett",
    "cart_pendulum",
    "chain",
    "double_well",
    "driven",
    "duffing",
    "excitation",
    "forced",
    "foucault_pendulum",
    "fput",
    "henon_heiles",
    "largest_lyapunov",
    "measured_response",
    "nonlinear_bath",
    "pendulum",
    "quintic",
    "rotor",
    "slosh_modes",
    "slosh_tank",
    "tuned_absorber",
]
