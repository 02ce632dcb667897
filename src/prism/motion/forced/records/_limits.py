"""All thresholds of forced records, in one place."""

from __future__ import annotations

# -- the record ------------------------------------------------------------------------------------
FEWEST_IN_A_TRIAL = 32  # samples
FORCE_FLOOR = 1e-3  # of the greatest force power: beyond, the force has none
FORCE_SMOOTHING = 4  # bins on either side
HOLD_SERIES = 0.5  # |x| below which the power series is used: no cancellation, full precision
HOLD_TERMS = 18  # of that series
# -- the search for poles --------------------------------------------------------------------------
BIN_OFFSETS = (0.125, 0.375, 0.625, 0.875)  # of a bin
SCANNED_DECAYS = (0.03, 1.0, 5.0)  # ε in units of 2π/T
BROAD_DECAYS = (20.0, 60.0)  # and of modes that a damper couples
CLOSE_POLES = 1.5  # poles nearer than this many resolution widths are tested for merging
CANDIDATES = 3  # tried in one round
HOPE = 0.4  # of the threshold: the scan underrates a pole next to another
TAKEN = 0.1  # of the resolution: a candidate so near to a pole is that pole
HOLD_GAIN = 6.0  # gain in -2 log L for which the unusual hold is chosen
MOST_POLES = 60  # poles, unless the user asks for fewer
SAMPLES_OF_A_POLE = 12  # of a trial for each pole, at least
LOCAL_BINS = 32  # bins on either side that tell the floor next to a pole
NEIGHBOURHOOD = 4.0  # widths within which a pole has a neighbour
EXPLAINED_SHARE = 0.75  # of what is left there that a pole next to another has to explain
EXACT = 1e-10  # of the signal: residual taken for rounding
EVALUATION_WORK = 4e5  # nanoseconds or so, to evaluate poles once, and of each sample:
DRIVEN_WORK = 64.0  # for each pole and force
COLUMN_WORK = 18.0  # for each column
SLOPE_WORK = 1.0  # for each pair of a column and a derivative
COMPLEX_SHARE = 0.3  # of the work allowed, for a search with complex residues
REAL_SHARE = 0.5  # of it, for one with real residues
# -- the fits --------------------------------------------------------------------------------------
DEPENDENT_POLES = 1e-5  # sine of the angle between a column and the others, at least
POLE_STEPS = 25  # of a refinement, at most
COST_ROUNDING = 1e-9  # relative accuracy of the cost
POLES_SETTLED = 0.1  # of the tolerance: steps that gain less end a refinement
STRONGEST_DECAY = 0.9  # δ/ω at most: beyond, there is hardly an oscillation
MODES_SETTLED = 0.01  # of the tolerance: steps that gain less end the fit
MODES_RIDGE = 1e-12  # damping that is always there
LEVELS_SETTLED = 1e-3  # change of the logarithm of a noise level
LEAST_CURVATURE = 1e-14  # smallest believed, relative to the largest
# -- what is said of them --------------------------------------------------------------------------
NEGATIVE_RESIDUE = -4.0  # eigenvalue, in standard deviations, of a residue that is not passive
STATIC_TERM = 3.0  # eigenvalue of a further static term, or of a further rigid-body mode
TURNS_OF_A_MODE = 1.5  # of a mode in the longest trial, at least
KOLMOGOROV = 2.23  # exceeded with probability 1e-4
MISFIT_CHANCE = 1e-4  # chance of a misfit that is remarked on
MISFIT_RISE = 20.0  # rise of χ² that is remarked on at all
NO_NOISE = 1e-8  # of the motion: a residual that is no noise
# -- coloured noise --------------------------------------------------------------------------------
COLOUR_ROUNDS = 3  # searches in the noise that the one before leaves, at most
COLOUR_ORDER = 20  # of the autoregression, at most
COLOUR_SAMPLES = 40  # of the shortest trial for each of its coefficients, at least
COLOUR_CHANCE = 1e-5  # chance at which white noise is taken for coloured
COLOUR_SLOW = 8.0  # resolutions below which a pole may stand for slow noise
# -- friction between modes ------------------------------------------------------------------------
REAL_POLE = 1e-9  # of its size: a pole nearer to the axis is real
ONE_POLE = 1e-7  # of its size: two poles nearer to each other are one
NO_INFORMATION = 1e-11  # of the largest: a direction that turns hidden coordinates
LEAST_RATE = 2e-4  # of its frequency: the friction of a mode as a start
FAR_MODE = 5.0  # Nyquist frequencies, beyond which no mode moves
BARRIERS = (30.0, 1.0, 0.03, 1e-3)  # χ² of a factor e of friction, one after the other
BARRIER_SHARE = 0.1  # of it: steps that promise less end a descent
COUPLED_STEPS = 40
TO_THE_BOUND = 0.9  # of the way, that a step may go
FREQUENCY_STEP = 0.3  # of a squared frequency
ROUGH_NOISE = 0.01  # of the motion: noise in which a first descent is made
POSSIBLE_FRICTION = 1e-2  # chance of a gain below its price that is remarked on
MOST_COMPLEX = 9  # poles with complex residues at which a search for them is given up

# -- lines that turn, which a reciprocal fit leaves
TURNING_PRICES = 3.0  # prices of their parameters that they must gain: other misfits gain as well
TURNING_CHANCE = 1e-6  # of such a gain by noise
TURNING_SHARE = 0.1  # of the residues, from which an asymmetry is no error of calibration
