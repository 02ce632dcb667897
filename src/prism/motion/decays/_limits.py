"""All thresholds of free decays, in one place."""

from __future__ import annotations

from prism.record import MIN_SAMPLES

# -- stretches between kicks -----------------------------------------------------------------------
SHORTEST_STRETCH = 2 * MIN_SAMPLES  # samples of a stretch between kicks that is worth fitting
KICK_MARGIN = 0.02  # of a stretch, left out at first
SHORTEST_KEPT = 16  # samples of a stretch that is kept
OUTLYING_STRETCH = 10.0  # noise over the median of all stretches at which one is no free decay
KICK_LINES = (2, 4, 8, 16)  # looked for before the stretches are compared
LEAST_MARGIN = 4  # samples left out at first
FOREIGN = 9.0  # mean square over the noise above which samples do not belong to free motion
# -- the search for decaying lines -----------------------------------------------------------------
MOST_DECAYS = 100  # lines, unless the user asks for more
SEARCH_ROUNDS = 400  # at most
FEWEST_TURNS = 1.5  # a line turns at least so often in its decay time 2π/δ
SAMPLES_OF_A_DECAY = 8.0  # in the decay time 1/δ of the fastest decay looked for
SLOWEST_START = 0.25  # of 1/T: rate at which a line starts that the spectrum shows as steady
DOUBT = 1.15  # more is asked of a line where the noise is not steady: it is not Gaussian then
UNEQUAL_NOISE = 0.2  # spread of the logarithm of the noise variance between series that matters
MANY_LINES = 8  # lines from which on a search asks whether it goes after noise
WHITENINGS = 2  # times that a search is done again in the noise that it leaves
# -- which lines are modes -------------------------------------------------------------------------
MINOR = 1e-2  # gain relative to the strongest line below which a line must look like a mode
GROWING = 3.0  # standard deviations from which on a line is said to grow
PHASE_LEVEL = 1e-4  # significance at which a line is not in phase
PHASE_RATIO = 0.05  # second singular value over the first that matters
FAINT = 1e-4  # gain relative to a strong line below which a line may be its skirt or harmonic
SKIRT = 1.5  # widths of a strong line within which a faint one of its shape is part of it
PARENTS = 3  # strong lines that are combined
HARMONIC_ORDER = 3  # largest order of a combination of stronger lines
NEAR_COMBINATION = 4.0  # standard deviations from a combination
SHAPE_ALTERNATIONS = 60  # between amplitudes and shape
# -- errors ----------------------------------------------------------------------------------------
AROUND_A_LINE = 16.0  # widths of a line in which the level of the noise is taken
BESIDE_A_LINE = 1.5  # widths of any line that are left out: the fit has taken noise from there
ENOUGH_FREQUENCIES = 8  # that give a level
UNSTEADY_NOISE = 1.1  # noise power of the first over the last half that counts as unsteady
NORMAL_95 = 1.959964  # standard deviations of a 95 % interval
LOG_NORMAL = 5.0  # standard deviations of ζ above zero from which its interval is log-normal
DRIFT_LEVEL = 1e-3  # significance at which the drift stays in the model
# -- whether lines decay at all --------------------------------------------------------------------
DECAY_LEVEL = 1e-3  # chance, if nothing decays, below which lines are said to
# -- how long decays may take where they compete with other kinds ----------------------------------
TOO_MUCH_WORK = 1e9  # numbers times squared lines, above which not even those seen are tried
MUCH_WORK = 2e7  # numbers times squared lines, above which no more decays are sought than are seen
PROMISING = (
    0.8  # of what driven motion explains, that decays between kicks must explain to be fitted
)
EXPLAINS_NOTHING = 0.7  # share of the power that poles leave, above which they are not refined
FILLED = 0.5  # amplitudes for each number of their band, above which they explain any motion
# -- kicks between decays of known poles -----------------------------------------------------------
ONSET_BLOCKS = 256  # into which a trial is cut, at most
ONSET_SAMPLES = 3.0  # samples per amplitude of the shortest stretch
ONSET_ROUNDS = 5  # partitions, with poles refined in between
ONSET_TOLERANCE = 0.1  # χ² that a further step must gain while poles are refined
ONSET_RIDGE = 1e-9  # relative to the diagonal of a Gram matrix
SKIPPED_BLOCK = 1.5  # what a block that belongs to no stretch costs, over what noise would
ONSET_APART = 2.0  # resolutions within which two poles may be one that was kicked
ONSET_POLES = 6  # further poles looked for between the kicks
HOPELESS_BLOCKS = 5  # blocks per stretch below which the poles cannot be refined between kicks
WELL_SUPPORTED = 0.7  # of all orders, at which a pole of a first look must return
FEW_STRETCHES = 8  # of a trial: kicks that are tried before noise that drives the motion
STRETCH_BLOCKS = 10  # blocks per stretch on average, at least: more kicks are noise that drives
CUT_FOR_POLES = 2  # times as many stretches, at first, where some poles may be missing
# -- the motion ------------------------------------------------------------------------------------
MOST_NUMBERS = 200_000  # of a saved motion: one with more stretches keeps the last of each trial
