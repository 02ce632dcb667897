"""All thresholds of the shared search, in one place."""

from __future__ import annotations

# -- noise -----------------------------------------------------------------------------------------
# data computed to full precision have no noise; a floor this far below the signal keeps rounding
# errors from being taken for lines
RELATIVE_FLOOR = 1e-9
LEVEL_BLOCK = 64  # half-resolution steps in the first block of the local floor
LEVEL_WIDEST = 1 << 14  # and in the widest
ENOUGH_FOR_A_MEDIAN = 1 << 16  # frequencies that give the median to half a percent
# -- noise shared by channels, unequal between trials ----------------------------------------------
SHARED_LEVEL = (
    1e-4  # chance at which independent channels would look correlated: plain records stay
)
UNEQUAL_LEVEL = 1e-4  # chance at which equal trials would look unequal
SHARED_NOISE = 1.1  # noise power of a combination of channels over that of independent ones
FAR_NOISIER = 3.0  # ratio of medians of trials, from which on levels begin with these
UNEQUAL_TRIALS = 0.1  # spread of the logarithm of the noise power of the trials that matters
LEAST_INDEPENDENT = 1e-6  # of its noise power, at least, that a channel has to itself
SAME_NOISE = 0.05  # change of noise power below which the search is not done again
MOST_LOST = 0.5  # of the samples, beside which a channel is missing, that are given up to mix
FEWEST_CELLS = 4  # for every channel
ABOVE_THE_FLOOR = 100.0  # times the least variance believed, from which on a residual is noise
CELLS_BESIDE_A_LINE = 1.6  # resolutions: what a line takes out on either side of it
CELL_CHANCE = 1e-4  # of noise that stands out as a line does: the mean is low by a thousandth
COLOUR_CELLS = 32  # in the first block of a coloured spectrum
COLOUR_GROWTH = 1.25  # from one block to the next
NOISE_ROUNDS = 4  # between correlation and levels
# -- columns ---------------------------------------------------------------------------------------
SERIES_TERMS = 14  # (3/2)^28 / 28! is below the rounding error
SERIES_LIMIT = 1.5  # phase below which the series is used
COLUMN_CHUNK = 1 << 12  # samples whose columns are held at once
COLUMN_WORK = 4.0, 0.025  # nanoseconds for a sample of a column, and for a product of two
SERIES_WORK = 2e5  # of a fit to any times, however few: a kicked record has many short stretches
UNIFORM_WORK = 4e5, 0.4  # of a fit at equal steps, and for a sample of a column
SPECTRUM_WORK = 40.0  # of a number in a spectrum
WAVE_TILE = 64  # samples of a tile, whose waves are those of the first tile, turned
EVEN = 1e-9  # steps, within which times stand on a grid
# -- variable projection ---------------------------------------------------------------------------
SMALLEST_GAP = 0.02  # of the resolution 2π/T, between two lines of one fit
CANCELLATION = 1e-6  # residual power, relative, below which it is summed explicitly
DEPENDENT_LINES = 1e-3  # sine of the angle between a column and the others, at least
STEP_RIDGE = 1e-10  # damping always: a line of zero amplitude has no information about its place
STEP_REACH = 0.35  # of its width, by which a line moves in one step
FASTEST_GROWTH = 2.0  # e-foldings in the longest stretch that a line may grow
STRONGEST_RATE = 0.7  # ratio δ/ω above which a motion is no line
# -- lines in a spectrum ---------------------------------------------------------------------------
CLOSE = 1.5  # neighbours nearer than this many widths are tested for merging
BATCH = 0.25  # peaks this high relative to the highest are added in one round
PEAK_SEEN = 0.75  # of its height above the mean a peak between two samples shows at least
BESIDE_NYQUIST = 0.4  # resolutions above the band: nearer than a tenth there is one amplitude
SPLIT_BY = 0.3  # of its width by which the halves of a line start on either side
BESIDE_A_LINE = 1.5  # widths beside a line in which the residual may ask for a second one
SUSPICIOUS = 2.5  # standard deviations above the mean that are not quite noise
WEAK = 2.0  # times the threshold: lines that gain less are tried without
# -- phases that are alike -------------------------------------------------------------------------
# concentrations of von Mises' law that are averaged over: errors of a radian to a thousandth of one
CONCENTRATIONS = (1.0, 1e6)
CONCENTRATION_STEPS = 11  # of a factor of four
