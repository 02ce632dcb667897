"""All thresholds of the shared search, in one place."""

from __future__ import annotations

# -- noise -----------------------------------------------------------------------------------------
# data computed to full precision have no noise; a floor this far below the signal keeps rounding
# errors from being taken for lines
RELATIVE_FLOOR = 1e-9
LEVEL_BLOCK = 64  # half-resolution steps in the first block of the local floor
LEVEL_WIDEST = 1 << 14  # and in the widest
ENOUGH_FOR_A_MEDIAN = 1 << 16  # frequencies that give the median to half a percent
# -- columns ---------------------------------------------------------------------------------------
SERIES_TERMS = 14  # (3/2)^28 / 28! is below the rounding error
SERIES_LIMIT = 1.5  # phase below which the series is used
COLUMN_CHUNK = 1 << 14  # samples whose columns are held at once
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
SPLIT_BY = 0.3  # of its width by which the halves of a line start on either side
BESIDE_A_LINE = 1.5  # widths beside a line in which the residual may ask for a second one
SUSPICIOUS = 2.5  # standard deviations above the mean that are not quite noise
WEAK = 2.0  # times the threshold: lines that gain less are tried without
# -- phases that are alike -------------------------------------------------------------------------
# concentrations of von Mises' law that are averaged over: errors of a radian to a thousandth of one
CONCENTRATIONS = (1.0, 1e6)
CONCENTRATION_STEPS = 11  # of a factor of four
