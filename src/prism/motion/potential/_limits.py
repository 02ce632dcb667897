"""Every threshold of this room, in the order in which a fit meets them."""

from __future__ import annotations

from prism.search.descent import Nielsen

# The record.
LEAST_SAMPLES = 64
LEAST_OSCILLATIONS = 4.0
NOISE_SHARE = 0.7  # of the spread: noise above it hides the motion
LEAST_NOISE = 1e-7  # of the spread: noise below it is taken for rounding
SWING = 0.5  # standard deviations that a turn goes back at least
BEYOND_BAND = 1.3  # times the highest frequency, where the smoothing filter halves
DEFAULT_MODES = 4  # looked for unless told otherwise

# Libraries.
DEGREE, DEGREE_OF_TWO = 6, 4  # of V of one coordinate, of two
ALL_SUBSETS = 8  # terms up to which every subset is weighed

# Integration.
STEP_PHASE = 0.3  # integration step times the highest frequency of the motion
ESCAPED = 20.0  # times the greatest displacement
TANGENTS = 300  # intervals over which the growth of a disturbance is followed

# The linear stage.
RIDGE = 1e-10
BEAM, LOOKED_AT = 80, 5000  # sets of frequencies that are kept, and among which
AT_ONCE = 4000  # sets that are solved together
NEARLY_POSITIVE = 0.3  # share of the greatest eigenvalue that noise may turn negative
SCANNED_TRIALS = 4  # the scan's cost grows with the square of their number
GUESSES = 3  # sets of frequencies from which fits are begun

# Descent.
CONTROL = Nielsen(start=1e-3, least=1e-12, most=1e9)
TRUSTED_AFTER = 3  # the first steps of a poor start foretell nothing
IDLE_STEPS, IDLE_SHARE = 3, 0.1  # steps in a row that bring less than this share of the tolerance
BOUND_ROUNDS = 2  # times that numbers at their bound are held and the rest solved anew
# Efforts below are the most steps, and the fall of χ² at which a fit has converged.
REFINED = 40, 0.02

# The path from the observer to the pure motion.
LADDER = (1 / 3, 1 / 10, 1 / 30)  # bandwidths of the observer
SLAVED = 15, 0.5
LOST = 1.5  # growth of χ² from one rung to the next at which a motion is no longer followed
GIVEN_UP = 400.0  # χ² above the best known at the same bandwidth from which none has recovered
FREED = 1.05  # growth of χ² on the last rung with which a motion is followed
PIECES = 0.5  # per oscillation of the highest frequency in the motion
LEAST_PIECES = 4
MOST_NUMBERS = 100, 200  # starts of all pieces together, at first and where that is too few
JOINTS = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-6)
DRAWN = 12, 0.5
TORN = 3.0  # χ² of pieces over that of the slaved motion, or per datum, that is given up
WILD = 1e5  # growth of a disturbance beyond which a motion is kept in pieces
JOINED = 1.0  # χ² that fewer pieces may cost

# The search for the number of modes.
NEAR_NOISE = 1.15  # χ² per datum that uncertainty of the noise level allows
NEARLY_THERE = 1.3  # χ² per datum, slaved to the data, from which more modes have to gain
MODE_GAIN = 20.0  # χ² that one more mode must gain, with the observer open, to go on
CONTENDERS = 60.0, 100.0  # χ² above the best worth a closer look, observer open or half closed
UNDESCRIBED = 3.0  # χ² per datum of a motion that is not described
RIVALS = 15.0, 30.0  # scores above the best that leave the choice to the terms: any, first ones
MORE_STEPS = 100  # where a fit was slow
AT_REST = 8  # modes at rest in one motion
PROMISE = 15.0  # χ² below which a mode pays for nothing
BEGUN, STEPS_APART = (
    2,
    4,
)  # frequencies from which a fit is begun, and steps of the grid between them

# The search for terms.
TERM_ROUNDS = 5
LIKELY = 10.0  # a foretold score within this of the best is worth a fit
MOST_REFITS, MOST_RESCUES = 24, 6
REFITTED = 25, 0.1
TERMS_FAIL = 60.0  # χ² that terms cannot make up for

# The choice.
NO_INFORMATION = 1e-11  # of the greatest singular value: rounding of derivatives, no information
INDISTINCT = 6.0  # scores that differ by less are equal: the plainest structure is reported
EXCLUDED = 10.0
"""Scores above the best from which the evidence against a structure is very strong (R. E. Kass and
A. E. Raftery, "Bayes factors", J. Am. Stat. Assoc. 90 (1995) 773-795, section 3.2)."""
CREEPING = 25.0  # scores above the best from which a fit in a valley may still come back
POLISHED = 150, 0.003
FINISHED = 300, 0.003

# The verdict.
CHANCE_SIGMAS = 5.0  # of chance, for χ² and for the correlation of residuals
INFLUENCE = 1e-3  # share of a parameter in an undetermined direction that counts
SEEN = 2.0  # errors that the residue of a mode must exceed
ONE_SIDED = 1.645  # errors of a one-sided 95 % bound
HORIZON = 0.5  # spreads of the record that a forecast may be uncertain by
STEADY_GROWTH = 2.0  # times its late changes that a Lyapunov exponent of chaos exceeds

# What is told.
FOLLOWED = 25.0  # χ² per degree of freedom of a motion that is followed: five times the noise
ALTERNATIVES_LISTED = 8
OFTEN_TURNS = 4  # of a motion that is not merely slow
SIGNS_NAMED = 3  # of nonlinearity, in a remark

# The Hamiltonian.
FLOW_TOLERANCE = 1e-10
POINTS = 2001  # of V in the range of the record, for its lowest point
BEYOND_RANGE = 10.0  # times the range of the record at which V must have risen

# Signs of a nonlinear motion in lines.
ORDERS = 3  # greatest multiple of a line in a combination
COINCIDENCE = 4.0  # errors within which lines coincide: one in 16000 that do is farther off
CHANCE = 0.01  # probability at which coincidences are no longer put down to chance
HARMONICS = 2, 3  # whose phases are looked at where no line was found
COMBINATIONS = (
    *((2, 0), (0, 2), (1, 1), (1, -1)),  # of a spring that differs between pull and push
    *((3, 0), (0, 3), (2, 1), (2, -1), (1, 2), (1, -2)),  # of one that hardens or softens
)  # of two lines
HARMONIC_LEVEL = 1e-3  # chance at which they are no longer put down to noise
HARMONIC_NEIGHBOURS = 20  # frequencies on either side of a harmonic that tell its noise
HARMONIC_APART = 4.0  # resolutions from the next line: nearer ones leave traces there
SHIFT = 5.0  # errors by which a frequency moves with the amplitude
SMOOTH_STEPS = 0.1  # mean square from sample to sample over the variance: white noise has 2
