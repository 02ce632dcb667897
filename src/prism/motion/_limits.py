"""All thresholds of weighing kinds of motion against each other, in one place."""

from __future__ import annotations

import numpy as np

# -- one likelihood for all kinds ------------------------------------------------------------------
FEWEST_SAMPLES = 64  # of a trial that has Fourier lines worth weighing
LOWEST_CYCLES = 3.0  # in the record: slower lines are entangled with offset and drift
BLOCK_LINES = 100  # Fourier lines that share one noise spectrum, outside the bands of modes
FEWEST_LINES = 8  # of a block that says anything
BLOCK_GROWTH = 1.25  # ratio of the ends of a block, at most, where that holds enough lines
LINES_PER_CHANNEL = 6  # of a block, at least, for noise correlated between channels
PREWHITENING = 2  # samples before, from which noise is foreseen: enough for a slope or a peak
TRIALS_APART = 2.0  # ratio of what is left in trials, from which on each has its own unit
ROUNDING = 1e-9  # noise over signal below which it is rounding
TINY = float(np.finfo(float).tiny)
NAMED = 5  # frequencies that a remark names
MAY_BE_NOISE = 1e-6  # chance that noise alone shows a line, above which that is said
OFTEN = 1.5  # of so many trials noise shows one: often
# -- doubts ----------------------------------------------------------------------------------------
MODULATED = 4.0  # resolutions between lines that may be one that is modulated
MISSES_MORE = 2.0  # times what another one misses, in a forecast that says nothing for its errors
FLANKED = 2.0  # resolutions between a line and weaker ones on both sides, that may be its sidebands
UNRESOLVED = 0.5  # resolutions between tied lines, below which one that moves slowly looks so
UNLIKELY_PLACES = 10.0  # price of modes that stand where chance seldom puts them
MAY_BE_ONE = 2.0  # resolutions between lines that may be one that decays or moves
ONE_PLACE = 2.0  # standard deviations between lines of one shape that are not told apart
SAME_DIRECTION = 0.95  # squared cosine of these
SYMMETRIC = 2.0  # standard deviations within which distances on both sides are equal
DOUBT_LEVEL = 1e-3  # chance, of all that noise leaves, below which other kinds are asked
CHANGE_LEVEL = 1e-2  # the same for slow changes of lines, of which some are hardly seen
QUIET_SHARE = 0.9  # of the Fourier lines, from which the covariance of the noise is taken
WIDEST_WINDOW = 16  # windows of the scan in the whole band, at least
SLOW_BLOCKS = 64  # of a trial, within which a slow change of a line is taken for constant
SLOWEST_SWING = 1.5  # periods in a trial, of a modulation; slower ones look like a polynomial
FASTEST_SWING = 16.0  # periods in a trial: a quarter of the blocks
SWING_KEPT = 0.7  # of the gain of a swing, between the rates that are tried
CERTAIN = 1.645  # standard deviations above a threshold, of what passes it with 95 % certainty
BREAK_BLOCKS = 4  # of these, at either end, that a change at one time leaves alone
STANDS_OUT = 10.0  # times the noise, of a Fourier line that shows motion
GROUPS_APART = 4  # Fourier lines between two groups of these
SKIRT_LINES = 2048  # to each side, over which a line may stand out in very little noise
SKIRT_MARGIN = 10.0  # times as much as a steady line, that lines which decay or move may leave
SMOOTH_GROUP = 20  # lines in the largest group: smooth motion has 3 to 12, random motion more
# -- close calls -----------------------------------------------------------------------------------
FITTED_PART = 0.8  # of the record, from which the rest is foretold
SAME_MODE = 3.0  # standard deviations of a difference of frequencies within which modes are one
# -- rivals ----------------------------------------------------------------------------------------
ALL_WORK = 3.2e10  # nanoseconds or so, for one record of as many numbers as this or fewer:
NUMBERS = 2e5
VERY_LONG = 2e6  # numbers in a record whose kind is told from
FIRST_PART = 2e5  # of them, of so many
FIRST_CHANNELS = 4
FIRST_SHARE = 0.3  # of that, for the first look
MOST_SHARE = 0.6  # of that, for one kind of motion
HELD_SHARE = 0.4  # as much more, to foretell a part that is held back
LAST_SHARE = 0.8  # of that, after which no kind is fitted twice
LATE_SHARE = 0.3  # as much more then, for a kind that was not fitted yet
FIRST_LINES = 24  # steady lines looked for at first: motion that is not steady has no end of them
MAY_BRING = 50.0  # scores that the lines beyond a first look may still bring: two or three lines
LINES_BEYOND = 4  # decaying or moving lines looked for beyond the bunches of steady ones
BLIND_DECAYS = 8  # decaying lines looked for where no steady one was found
KICKED_DECAYS = 32  # decaying lines looked for between kicks that the samples show
ONCE_MORE = 2  # times as many lines, for the explanation that wins and met its limit
SEED_RATE = 0.5  # decay over the record with which lines that stand apart start
