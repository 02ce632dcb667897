"""All thresholds of faults of measurement, in one place."""

from __future__ import annotations

# -- raw samples -----------------------------------------------------------------------------------
CLIPPED_LEAST = 5  # equal samples at an extreme that are looked at
CLIPPED_EXCESS = 3.0  # times as often as a value just below: the crest of a rounded sine has 2.4
CLIPPED_BELOW = 200  # samples just below an extreme, at least, that say how often values come
CLIPPED_LEVELS = 5  # values just below an extreme that are compared with it
NEAR_LEVEL = 3.0  # σ from a level of clipping within which noise decides what is kept
MOST_NEAR = 0.25  # of the samples that are not clipped: more are not left out for being near
NEAR_FITS = 2  # fits, at most, without samples that the fit before brings near to a level
NEAR_CHANGED = 0.02  # of the samples near a level: fewer that change are not worth another fit
FROZEN_MOST = 0.4  # chance of equal neighbours above which nothing is said of runs
FROZEN_CHANCE = 1e-4  # of a run as long by quantisation alone, in the whole channel
FROZEN_LEAST = 4  # equal samples in a row that are no chance in values of full precision
QUANTISED_RATIO = 2.0  # steps above this many standard deviations of the noise deserve a word
MOST_VALUES = 0.2  # distinct values per sample, above which values are not on a coarse grid
DEAD_SPREAD = 1e-12  # standard deviation relative to the largest value: constant
COPIED = 1e-9  # difference of two channels relative to their spread: the same signal
# -- breaks ----------------------------------------------------------------------------------------
MOST_BREAKS = 5  # of a trial; more are a motion that is not steady
BREAK_GRID = 256  # times at which a break is tried first
BREAK_EDGE = 0.03  # of the trial at either end: a break nearer to it is not looked for
EDGE_SAMPLES = 4  # samples per column, at least, on either side of a break
CLUSTER = 3.0  # resolutions within which weaker lines may belong to the same broken line
PEAK_ABOVE = 12.0  # times the median around it: a peak of a tapered spectrum that may be a line
MOST_STARTS = 24  # strongest lines that a break is looked for with
MOST_QUICK = 40  # lines of a first look at a record that may be broken
MORE_LINES = 6  # lines beyond the first that a broken record may turn out to have
TURNS = 3  # times that place and frequencies are refined in turn
LONGEST_LOSS = 0.25  # of the trial: longer losses cannot be told from a kick
SHIFTS_TRIED = 3  # likeliest numbers of lost samples that are fitted in full
SUSPECT_LINES = 3  # so many lines within twice the cluster may be one that is broken
UNSTEADY_PAIR = 0.5  # resolutions within which two lines are one that is not steady
UNSTEADY_THREE = 1.5  # and within which three are
SUSPECT_LEVEL = 10.0  # times the chance of a false alarm at which a break is looked into
WINSOR = 5.0  # standard deviations at which a sample stops to count more
# -- a clock that drifts ---------------------------------------------------------------------------
WARP_CELLS = 6.0  # resolutions that the fastest line may move over the trial
WARP_STEPS = 8  # tried per resolution
SMOOTH_DEGREES = (1, 2, 4)  # of amplitudes that change smoothly, the rival of every break
# -- delay of a channel ----------------------------------------------------------------------------
DELAY_CELLS = 0.5  # periods of the fastest line that a delay may be
DELAY_STEPS = 201  # delays tried
DELAY_FLAT = 1e-14  # of the power of the lines: a bend that is rounding
DELAY_LEFT = 1e-5  # chance of what a delay leaves, below which lines are out of phase otherwise
DELAY_CLEAR = 20.0  # χ² by which any other delay must be worse, for one to be corrected
DELAY_PHASES = 4  # phases between channels that tell a delay from a rotation
BEND_COST = 10.0  # times the misfit of a break at which a bent clock is not looked into
# -- whether breaks are worth looking for ----------------------------------------------------------
FEWEST_PARTS = 3  # of a trial, one of which must look smooth
RIVAL_WORK = 150.0  # nanoseconds for a number and a line, to look for one fault
