"""All thresholds of steady lines, in one place."""

from __future__ import annotations

# -- the search for lines --------------------------------------------------------------------------
MOST_LINES = 200  # unless the user asks for more
CROWD = 4  # so many lines that are not resolved are not separate lines
SLOW_EDGE = 0.05  # of the resolution above the lower end of the band
FEW_TURNS = 6  # lines of fewer turns in the record are entangled with the background
UNSTEADY_PAIR = 0.5  # resolutions within which two lines are one that is not steady
IN_VAIN = 4  # rounds without a better description of the spectrum
# -- what the lines are ----------------------------------------------------------------------------
SLOPE_LEVEL = 1e-6  # significance at which a record without lines is a piece of slow motion
RISE_LEVEL = 1e-4  # chance of a rise in noise that is flat at its slow end
RISE = 3.0  # of a spectrum towards its slow end, from which on a slope is motion
RISE_OVER = 10.0  # times the slowest frequency, where that begins
DRIFT_LEVEL = 1e-3  # significance at which the drift stays in the model
PHASE_LEVEL = 1e-4  # significance at which a line is not in phase
MOSTLY_NOISE = 2 / 3  # of the power in noise: then lines are not what the record is made of
DEGENERATE = 0.2  # singular-value ratio above which one trial shows two modes at a frequency
SHARED_CELL = 0.5  # resolutions within which two lines are two modes, and no more
PHASE_ALTERNATIONS = 30  # between amplitudes and shape
# -- the fit with common shapes --------------------------------------------------------------------
SHAPE_STEPS = 25  # at most
SHAPE_TOLERANCE = 1e-8  # of the fall of χ² for each parameter, at which the fit has converged
SHAPE_CHUNK = 1 << 21  # numbers of the Jacobian held at once
# -- noise that is not plain -----------------------------------------------------------------------
MANY_LINES = 8  # lines from which on a search asks whether it goes after noise
GRASS_PEAKS = 24  # peaks above the threshold at once that may be noise of another kind
GRASS_HEIGHT = 4.0  # thresholds, of the highest peak that may be
WHITENINGS = 2  # times that a search is done again in the noise that it leaves
# -- spikes and drift ------------------------------------------------------------------------------
CLEANINGS = 3  # times that spikes and drift are looked for
SPIKE_SIZE = 6.0  # standard deviations: two in a thousand million of Gaussian noise
LONGEST_SPIKE = 3  # samples in a row; what lasts longer is motion
MOST_SPIKES = 0.1  # share of the samples of a channel
TREND_TURNS = 3.0  # lines of fewer turns could be drift themselves
TREND_CHUNK = 1 << 15  # samples whose columns are held at once
# -- noise that comes and goes ---------------------------------------------------------------------
STRETCHES = 20  # of a trial, in each of which the noise counts as steady
STRETCH_SAMPLES = 20  # of a stretch, at least: its power is then known to a third
STRETCH_LEVEL = 1e-4  # chance at which steady noise would look unsteady
LOUD_STRETCH = 1.5  # times the median of the whole, from which on a stretch has its own spikes
# -- coloured noise --------------------------------------------------------------------------------
FIRST_BLOCK = 8  # frequencies, half a resolution apart
BLOCK_GROWTH = 1.25  # from one block to the next
WIDEST_BLOCK = 1 << 14  # frequencies
ENOUGH_OF_A_BLOCK = 1 << 12  # frequencies in a block that give its median to two percent
COLOUR_LEVEL = 1e-6  # chance at which white noise would look coloured
OUTLYING_BLOCK = 3.0  # standard deviations at which a block starts to count less
COLOUR_MARGIN = 1.0  # standard deviations by which the level is raised: it is itself an estimate
STEEPEST = 2.0  # slope of a random walk, for what is slower than the first block
ASIDE_OF_A_LINE = 1.6  # frequencies: what a line takes out on either side of it
CUSP_BLOCK = 48  # frequencies in a block that shows a cusp
CUSP_CHANCE = 1e-7  # chance of one in a block of white noise
SMOOTHINGS = tuple(10.0**k for k in range(-1, 7))  # λ tried in cross-validation
BACKGROUND_BLOCKS = 400  # of a trial, at most
BACKGROUND_FEWEST = 50  # of a trial of many
BACKGROUND_NUMBERS = 40_000  # kept of a record with many trials
COVARIANCE_REACH = 4.0  # durations of the record that the covariance is kept for
COVARIANCE_FREQUENCIES = 4000  # of the integral over the spectrum
BELOW_THE_BAND = 1000.0  # times the lowest frequency that the record shows
# -- lines tied to a few fundamentals --------------------------------------------------------------
HIGHEST_ORDER = 7  # largest sum of |k| of a combination
TIE_ODDS = 1e-4  # chance coincidence that is still believed
TIE_FIRST_PART = 0.7  # of the record, to foresee the rest from
ENTANGLED = 3.0  # of the resolution: slower free lines are entangled with the background
TIE_MOST_LINES = 30  # lines: a record of more is not searched for ties
SIMPLE_ORDER = 2  # order up to which combinations are added before the fundamentals may move
TIE_TRIALS = 3  # choices of fundamentals that are fitted, the likeliest first
TIES_FORESEE = 0.6  # of the χ² of free lines ahead: ties that are nearly right gain less
TIES_NO_WORSE = 1.2  # of the same, where the record itself is strong evidence for the ties
STRONG_EVIDENCE = 10.0  # difference of the Bayesian criterion that is strong evidence
FUNDAMENTALS_AMONG = 6  # lines among which fundamentals are sought
SLOWEST_COMBINATION = 0.3  # of the resolution: slower combinations cannot be told from the offset
COMBINATIONS_APART = 0.15  # of the resolution: nearer combinations cannot be told from each other
# -- what tied lines are ---------------------------------------------------------------------------
LOCKED_LEVEL = 1e-3  # chance at which phases of independent modes are taken for locked ones
NO_MIRROR_LEVEL = 1e-6  # chance at which a motion has not the phases of its own mirror
TRIALS_THAT_TELL = 3  # trials whose phases decide, whatever the orders of the ties
MIXED_TIES = 2  # sums or differences of two fundamentals that are no accident
HIGH_ORDER, HIGH_TIES = 3, 3  # so many ties of so high an order are no accident either
SAME_PLACE = 0.2  # of the resolution: nearer frequencies are not told apart
START_ERRORS = 8.0  # standard deviations of a phase in the middle, for one at the start
START_PHASE = 0.05  # radians from a multiple of π/2 at which a record may begin with a release
# -- grids of cosines and residues -----------------------------------------------------------------
OVERSAMPLING = 4  # grid points per resolution 2π/τ_max of the correlation
PENALTY = 1e-3  # λ, relative to the smallest λ for which all residues vanish
NEW_POINTS = 6  # points added to the program at a time
PROGRAM_ROUNDS = 40  # at most
JACKKNIFE_TRIALS = 8  # trials from which on groups of them are left out in turn
REPLICAS = 20  # groups of the jackknife, replicas of the bootstrap
ABOVE_THE_TOP = 1.1  # the grid reaches so far above the highest significant frequency
THRESHOLD = 0.02  # ε: part of the largest de-tilted weight that makes a line
WEAKEST_WEIGHT = 1e-5  # weights below this part of the largest are not looked for on the first grid
JOINED_POINTS = 0.55  # of the resolution: active points nearer than this are one line
COSINE_STAGES = 4  # of the grid refinement
ZOOM_FACTOR = 3.0  # between two stages
ZOOM_REACH = 5  # points on either side of a line
RANK_TOLERANCE = 0.04  # eigenvalue ratio, a ratio of 0.2 of amplitudes
JOINED_RESIDUES = 2.2  # grid spacings: active points nearer than this are one group
SAME_RESIDUE_PLACE = 0.4  # grid spacings: nearer frequencies are one of higher rank
RESIDUE_STAGES = 3  # of the grid refinement
