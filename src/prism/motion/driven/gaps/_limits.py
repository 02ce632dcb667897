"""All thresholds of driven motion with gaps, in one place."""

from __future__ import annotations

# -- the even grid behind a record -----------------------------------------------------------------
LEAST_SEEN = 0.3  # of the points of the grid, at least
MOST_SHARED = 0.05  # of the samples, that are next to the same point as the one before
STEP_CELLS = 16  # of the usual distance of samples, in which times are counted
STEP_PADDED = 8  # times over, so that a peak is known to a part of a cycle of the record
STEP_RATES = (0.7, 5.0)  # usual distances over the step
STEP_PEAK = 0.8  # of the strongest, that the largest step has
ON_GRID = 1e-6  # steps between a sample and its point, where it stands on the grid

# -- values between the points of a grid ----------------------------------------------------------
FINER = 2  # points of the grid on which a spectrum is summed, over those of the record
KERNEL = 12  # of these points, that an interpolated value is made of
KERNEL_SHAPE = 2.34  # parameter of the Kaiser-Bessel kernel over its width

# -- what was not measured, given what was ---------------------------------------------------------
LONGER_BY = 0.125  # of a record, that its periodic continuation is longer
FLOOR = 1e-9  # least power of a spectrum in any direction, over the largest at its frequency
WHITE = 0.5  # of the least power of a spectrum in any direction, that is white noise
SOLVED = 0.05  # standard deviations of what is not known, by which a solution may be off
SOLVED_PICKED = 1e-3  # of what is left of the equations, over what was given
STEPS = 600  # of conjugate gradients, at most
SMOOTHED = 20  # lines on either side, over which a spectrum is averaged between bands
SMOOTHED_CHANNELS = 3  # the same, for each channel, if that is more

# -- rounds ---------------------------------------------------------------------------------------
EM_ROUNDS = 12  # at most
ROUGH_ROUNDS = 3  # to see what kind of motion it is
POLES_STAY = 0.1  # standard deviations by which poles may still move at the end
FIRST_DRAWS = 6
FULL_DRAWS = 32
MOST_DRAWN = 4_000_000  # numbers that are drawn at a time
FEWEST_DRAWS = 12
DRAW_SEED = 20120601  # of the draws: the same in every round, so that rounds settle

# -- what is kept of the information ---------------------------------------------------------------
LEAST_KEPT = 0.05  # of the information on a parameter of a full record
