"""Numbers of the systems that are choices: the shortest motions, accuracy, what is rounding."""

from __future__ import annotations

# -- forces and motions ----------------------------------------------------------------------------

DWELL_SAMPLES = 8  # samples of a force that dwells at one frequency
SHORTEST_BLOW = 3  # sampling steps of a hammer blow
FEWEST_INTERVALS = 8  # intervals over which a disturbance is followed for a Lyapunov exponent
SUBSTEPS = 16  # steps within a sampling step of noise-driven motion, where an acceleration is seen

# -- accuracy of a path ----------------------------------------------------------------------------

# Change of the energy, over the greatest kinetic energy, that a path may have.
ENERGY_TOLERANCE = 1e-9
PATH_RTOL, PATH_ATOL = 1e-12, 1e-14  # of a path that no symplectic splitting can follow
# Step of the fourth-order differences of a force, which are then good to about 1e-11.
DIFFERENCE_STEP = 1e-3
# A Lyapunov exponent that is greater than so many times its spread has settled.
CHAOTIC_SPREADS = 2.0

# -- what is rounding ------------------------------------------------------------------------------

# Of the greatest squared frequency: a smaller one is that of a rigid-body mode.
NO_STIFFNESS = 1e-12
FORCE_FREE = 1e-6  # greatest force at what is taken for an equilibrium
# Relative distance of a line from a resonance at which a lossless response is infinite.
ON_RESONANCE = 1e-13
# Of the trace of a force spectrum: a negative eigenvalue below this is rounding.
NEGATIVE_SPECTRUM = 1e-12
SKEW_ROUNDING = 1e-12  # absolute tolerance to which a gyroscopic matrix is skew
REAL_ROOT = 1e-9  # imaginary part, over the magnitude, of a root that is real
# Of a sum over the sum of the absolute values of its terms, and of a residue over the greatest.
NO_RESIDUE = 1e-11
SAME_EIGENVALUE = 1e-10  # distance of two eigenvalues, over the greatest, up to which they are one
# Relative distance of a zero from the pole that it cancels; a double zero splits by rounding.
CANCELLED_ZERO = 1e-6
