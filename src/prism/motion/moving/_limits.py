"""All thresholds of moving lines, in one place."""

from __future__ import annotations

# -- the law of a line -----------------------------------------------------------------------------
DEGREE = 6  # highest polynomial of phase and of log amplitude: a slow sinusoid of one period
HARMONICS = 3  # of a periodic modulation
LEAST_SWING = 0.02  # of its mean, that the size of a modulated line falls to
LARGEST_EXPONENT = 60.0  # of an amplitude, far outside the record: more would overflow
# -- the fit ---------------------------------------------------------------------------------------
FIT_STEPS = 25  # of a descent
FIT_TOLERANCE = 1e-3  # fall of χ² at which it ends: 3 % of a standard error
ALLOWED_ROUNDING = 1e-10  # relative, of χ²
PHASE_REACH = 1.1  # rad by which a phase moves in one step: a third of a resolution
SIZE_REACH = 1.0  # e-foldings by which an amplitude moves in one step
# -- the start -------------------------------------------------------------------------------------
ONE_LINE = 3.5  # resolutions within which lines of a steady search may be one that moves
FEWEST_PIECES = 7  # of the record in which a line is demodulated
MOST_PIECES = 32
FEWEST_IN_A_PIECE = 4  # samples
PIECES_PER_GAP = 1.2  # for each resolution to the next line: there a Hann window ends
START_LEVEL = 3.0  # standard errors from which a coefficient of the envelope is a start value
WEAKEST_PIECE = 3.0  # standard errors of the envelope in its median piece, to be unwrapped
# -- lines that sweep far --------------------------------------------------------------------------
MOST_WINDOWS = 256  # of the record, side by side, through which a line is followed
FEWEST_IN_A_WINDOW = 24  # samples
MOST_RIDGES = 8  # lines followed one after the other
RIDGE_LEVEL = 8.0  # times the noise, of the mean power along a path: noise has about 3
SHOWN_AS_WELL = 0.4  # of the largest power of a line in windows of any length
STEEPEST_RIDGE = 3  # bins, each half a resolution, by which a path moves in half a window
OFF_RIDGE = 0.25  # resolutions of a window by which a line may miss a smooth curve
BETTER_CURVE = 0.8  # of the distance to a path, from which a higher degree counts
RIDGE_WIDTH = 2.0  # resolutions of a window on both sides that a line takes up
SMOOTH_SWEEP = 50.0  # times the distance from its curve; random motion had 32 in 60 records
SWEPT_FAR = 8.0  # resolutions of the record; lines that move less show in its spectrum
# -- what is free ----------------------------------------------------------------------------------
ROUNDS = 24  # in which freedom or a line is added
LAW_WORK = 80.0, 5.0, 0.05  # nanoseconds for a sample of a line, a derivative, a product of two
FREEST = 7.0  # coefficients of a line: one that needs more wanders, as noise would make it
FREEST_ALL = 6.0  # coefficients beyond that, of all lines together
FREED_TOGETHER = 0.3  # of the best gain: freedoms of other lines that are given in the same round
CURVED = 2  # coefficients of sizes that may stand for one modulation
SLOWEST_MODULATION = 0.7  # periods in the record; slower ones are polynomials
FASTEST_MODULATION = 0.25  # of the lowest frequency: faster ones are not slow
FOLLOWED_BY_NONE = 1.5  # periods in the record that polynomials of few coefficients do not follow
IMITATED = 0.3  # of the gain of a modulation: a polynomial that gains more may be what it imitates
MODULATION_BLOCKS = 2048  # of the record, whose spectrum shows a modulation
KNOWN_ALREADY = 1e-6  # of the information of a coefficient, below which others say all of it
LARGE_WORK = 4e6  # samples times parameters, from which one start must do
SAME_DISTANCE = 0.05  # resolutions by which sidebands may miss the middle, beside their errors
SIDEBAND_ERRORS = 4.0  # standard errors by which they may
MOST_MOVING_LINES = 40  # of a search: more are the business of other kinds
NOT_SEPARATE = 1.0  # resolutions from a line in which a peak of the residual is that line itself
# -- the answer ------------------------------------------------------------------------------------
MOST_NUMBERS = 200_000  # of a saved motion: a large ensemble keeps its first trials
PHASE_LEVEL = 1e-4  # significance at which a line is not in phase
LISTED = 5  # lines that a remark names
MOST_MOVING_WORK = 5e6  # samples times lines, above which it is fitted only where asked for
# -- growth ----------------------------------------------------------------------------------------
GROWING_PARTS = 5  # of a trial, each stronger than the one before it where the motion grows
COHERENT = 1.0  # e-folding over the record, below which noise has hardly driven a mode
GROWN = 10.0  # times the power of the first part, that the last has
FAR_ABOVE = 30.0  # times the floor of the spectrum, in amplitude, that noise of some colour is not
