"""Numbers of the experiments that are choices: when given values contradict, what is determined."""

from __future__ import annotations

CONSISTENCY_LEVEL = 1e-4  # significance at which given values contradict the data
# Relative difference of the two halves of a given matrix that counts as symmetric.
SYMMETRY_RTOL = 1e-8
# With fewer trials, in all or per mode, the scatter of modal energies is assumed, not measured.
SCATTER_TRIALS, SCATTER_TRIALS_PER_MODE = 20, 5
# Standard deviations by which the measured scatter departs from that of a canonical ensemble.
CANONICAL_SIGMAS = 4.0
# Share of a modal energy that is left after the bias by noise is taken away, at least.
LEAST_ENERGY = 1e-6
# Of the norm of the equations for the magnitudes: a smaller singular value leaves them open.
DEPENDENT_MAGNITUDES = 1e-6
# Magnitude of a mode at the start of the adjustment, over the greatest, at least.
LEAST_START = 1e-3
# Second smallest singular value, over the greatest, below which a release without a mass leaves the
# magnitudes open.
SECOND_NULL = 1e-3
