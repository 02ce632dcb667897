"""Numbers of the experiments that are choices: when given values contradict, what is determined."""

from __future__ import annotations

from scipy.special import ndtri

CONSISTENCY_LEVEL = 1e-4  # significance at which given values contradict the data
# Relative difference of the two halves of a given matrix that counts as symmetric.
SYMMETRY_RTOL = 1e-8
# With fewer trials, in all or per mode, the scatter of modal energies is assumed, not measured.
SCATTER_TRIALS, SCATTER_TRIALS_PER_MODE = 20, 5
FEWEST_TO_SCATTER = 2  # trials that can scatter at all
# Significance at which energies do not scatter as canonical, or as equal ones: with the two levels
# below, fewer than one good ensemble in a thousand is refused.
CANONICAL_LEVEL = 1e-4
# Of the mean: energies that scatter less beside noise were prepared to be equal.
EQUAL_SCATTER = 0.1
# Chance at which independent trials are taken for pieces of one record.
PIECES_LEVEL = 1e-6
SMALLEST_ODDS = 300  # decimal places of a probability in words
# Significance at which the relations between the energies are worth a remark: looser than a test at
# 1e-3 that knows what is wrong, because this one looks for a dozen causes.
DOUBTFUL_LEVEL = 0.05
# Standard deviations from which a test at 1e-3 sees a cause with a probability of 0.99.
SEEN_FROM = float(ndtri(1 - 0.5e-3) + ndtri(0.99))
# What a test ought to see: energies as the frequency, one of them doubled, a gain off by 5 %.
WORTH_POWER, WORTH_ENERGY, WORTH_GAIN = 1.0, 2.0, 1.05
WORTH_PULL = 1.1  # and a pull off by 10 %
LARGEST_CAUSE = 10.0  # factor on an energy or a gain, either way, that is named as a cause
LOG_STEP = 1.0  # change of the logarithm of an energy in one step of the adjustment, at most
LARGEST_EXCESS = 5.0  # of a measured over an adjusted energy, that is believed in one step
GAMMA_STEPS = 30  # of the adjustment of few canonical energies
GAMMA_CONVERGED = 1e-3  # change of the logarithms of the energies at which it ends
# Share of a modal energy that is left after the bias by noise is taken away, at least.
LEAST_ENERGY = 1e-6
# Of the norm of the equations for the magnitudes: a smaller singular value leaves them open.
DEPENDENT_MAGNITUDES = 1e-6
# Magnitude of a mode at the start of the adjustment, over the greatest, at least.
LEAST_START = 1e-3
# Second smallest singular value, over the greatest, below which a release without a mass leaves the
# magnitudes open.
SECOND_NULL = 1e-3
# Difference of the misfits of a release and of a snap-back from which the data tell them apart: the
# wrong one is as much worse by chance in one of a thousand records.
TOLD_APART = 10.8
MAY_BE_POSITIVE = 4.0  # standard errors below zero within which a magnitude may be positive
# Standard errors from which what drives a mode is told from zero: its inverse enters.
DRIVEN_SIGMAS = 4.0
COLDEST = 12.0  # e-foldings below the classical temperature at which it is looked for
QUANTA_MATTER = 1.0  # per cent of kT by which the energy of a mode is above it
RIGID_LEVEL = 1e-4  # chance at which offsets or slopes are more than noise
DIRECTION_STEPS = 6  # of least squares in turn for amplitudes and directions
# Trials at equilibrium that tell the speed of a rigid body, at least: with fewer, the errors of
# hidden frequencies are exceeded too often.
RIGID_TRIALS = 10
# Degrees of freedom of the errors of magnitudes from canonical energies, and those that each trial
# adds: set by the coverage of hidden frequencies of random systems in 2 to 40 trials.
FREEDOM_OF_TRIALS = (0.5, 0.55)
