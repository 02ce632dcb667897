"""Limits of the Foster fit of a response, with what each is measured in."""

from __future__ import annotations

import numpy as np

# -- modes
FAR_AWAY = 25.0  # squared frequency, in bands, beyond which a mode is a static compliance
MOST_LOSS = 1.0  # loss factor
MOST_ROUNDS = 40  # of a search
MERGE_STEPS = 1.5  # grid steps within which neighbours are tested for merging
TAKEN_BACK = 1.0  # -2 log L: what a round without a mode more must gain at least

# -- modes at rest
TOLD_FROM_REST = 1e-3  # chance that noise tells a rigid body from one: few of a hundred may be lost

# -- noise
ENOUGH_PAIRS = 30  # reciprocal pairs from which the noise is read off directly
NOISE_STEPS = 60
# variances that rounding makes, of a typical value and of each: exact data have no noise below
ROUNDING_A, ROUNDING_B = 1e-24, 1e-20
COMPLETE = 1.3  # misfit per datum up to which a residual counts as noise

# -- the rational start
RATIONAL_STEPS = 15
PROMINENCE = 1.0  # of the logarithm of the power
LADDER_PATIENCE = 1  # rungs beyond the best before the ladder ends
PRUNINGS = 2

# -- descents
CLOSER_STEPS = 5  # at each tolerance on the way to the variances of the data
SETTLE_STEPS = 12
SETTLE_ROUNDS = 3
SETTLED = 1e-3  # -2 log L: noise and modes agree
OUT_OF_REACH = 20.0  # prices above the present misfit: what no refinement brings down

# -- where a mode would help
TRIALS_PER_STEP = 4  # trial poles in each interval of the grid
NEAR_STEPS = 1.5  # grid steps about a pole that are looked at closely
CLOSER_LOOKS = 200  # lines, and residues
SEEN_LOSSLESS = 0.9  # of the gain, at least, the scan sees between its trial poles
SEEN_LOSSY = 0.7  # and at a loss that need not be that of the mode

# -- moving poles
REACH_LINES = 3  # lines
PLACES_PER_STEP = 3
SWEEPS = 3
MOVED = 1.0  # -2 log L: what a new place must gain
STRANGE = 4.5  # standard deviations that noise does not reach

# -- losses
SIGNIFICANT_LOSS = 1e-4
UNLIKE = 0.05  # chance of calling equal losses unlike

# -- what the data say against the form
MISFIT = 1.5  # variance over that of the noise
WIDEST_MEMORY = 4.0  # lines that share an error in what is left, by windows and overlaps
LEAST_MEDIAN = 0.3  # of the squares of noise over their mean, which is ln 2
HIGHEST_NOISE = 30.0  # variances, that a line of noise does not reach
CONCENTRATED = 1e-6  # chance of what is left at some lines, if its level is the same at all
NOT_THE_NOISE = 100.0  # the same, of modes that may describe something else
UNSYMMETRIC = 1.5  # ratio of variances
UNSYMMETRIC_SHARE = 0.3  # of the response
FEWEST_RECIPROCAL = 8  # frequencies with both reciprocal values
EXPLAINED = 0.3  # of the asymmetry may be left by gains that explain it

# -- errors shared by neighbouring lines, in standard deviations of a correlation
CORRELATED_LINES = 3.3  # at one line's distance: one white response in a thousand reaches it
CORRELATED_FURTHER = 2.0  # at larger distances, once neighbours are known to be alike
SMOOTH_LINES = 8.0  # lines that share one error: more than windows and overlaps of spectra make

# -- length per grid step of the curve of poles, and the same with a loss that is small
LOSSLESS_LENGTH = np.pi / np.sqrt(3)
LOSSY_LENGTH = LOSSLESS_LENGTH + np.pi

# -- friction between modes
LEAST_FRICTION = 1e-4  # loss factor from which a friction starts to grow: at zero it has no slope
NO_FRICTION = 1e-3  # chance of friction between modes that have none
FRICTION_STEP = 0.3  # of the largest entry of its factor
MOST_LINKED = 16  # modes: the friction of more has too many entries
FEW_LINKED = 6  # modes up to which the coupled form is tried whatever the residual looks like
MOST_SEARCHED = 8  # modes up to which others are tried beside those of the real modes
NEAR_BAND = 1.3  # of the ends of the band, in frequency: beyond it friction couples no modes
PROMISED = 0.5  # of its price that a score must promise before it is tried
COUPLED_STEPS = 40
COUPLED_ROUNDS = 4
WEAKEST = 4  # modes that are tried without
ABSORBER_PLACES = 48  # frequencies of a further oscillator, over the band
ABSORBER_RATIOS = (0.01, 0.04, 0.12, 0.35)  # and damping ratios
HEAVIEST = 0.5  # of the mass of the modes, that an oscillator starts with
# -- work ------------------------------------------------------------------------------------------
SEARCH_WORK = 1.5e10  # of a search for modes that friction does not couple
WORK_NUMBERS = 2e4  # measured values, from which on it grows in proportion
STEP_WORK = 1.5e5  # of a step of a fit, whatever its size
NUMBER_WORK = 10.0  # of a step, for each value and parameter
