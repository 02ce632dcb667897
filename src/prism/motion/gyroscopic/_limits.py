"""All thresholds of gyroscopic systems, in one place."""

from __future__ import annotations

FEWEST_TRIALS = 10  # with fewer, the mean energies say nothing
JACKKNIFE_GROUPS = 100  # at most
# significance at which a line is not in phase, has two directions, or a relation fails
TURNING_LEVEL = 1e-4
MASSLESS = 1e-12  # of the largest, below which an eigenvalue of the inverse mass is none
LEAST_SIGNAL = 1e-6  # of the power of a line, where noise would explain all of it
NOT_SMALL = 0.1  # of the largest entry of a direction: the first such one is made real
REFINED = 1e-8  # fall of χ² that the fit of the lines may leave
ERROR_STEP = 0.03  # standard deviations, over which derivatives are differences
# χ² by which a rotation or a delay must be worse than the other for the data to tell them apart;
# it is what separates two delays too (`prism.faults`), odds of e^10
TELLING_LEAD = 20.0
LOOSE_MAGNITUDE = 0.25  # standard deviation of log s beyond which its errors are not linear
