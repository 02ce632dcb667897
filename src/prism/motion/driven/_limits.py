"""All thresholds of noise-driven records, in one place.

Twice a gain in log-likelihood, which is what fits and tests count in, is called a gain here.
"""

from __future__ import annotations

import numpy as np
import scipy.stats

# -- records ---------------------------------------------------------------------------------------
FEWEST_DRIVEN = 64  # samples of a trial
LOWEST_CYCLES = 3.0  # in the record, of the lowest mode looked for
BELOW_NYQUIST = 0.95  # of the Nyquist frequency, where no band is given
BELOW_NYQUIST_GIVEN = 0.999  # of the Nyquist frequency, where one is

# -- candidates by subspace identification ---------------------------------------------------------
MODEL_ORDERS = range(8, 82, 4)
SHIFT_RIDGE = 1e-12  # of the squared length of a singular vector
BLOCK_ORDER = 80  # that the block rows should allow
FEWEST_BLOCKS = 12
SAMPLES_PER_BLOCK = 8
FEWEST_DECIMATED = 256  # samples of a decimated record
DECIMATION = 3.0  # between two rates
SPAN_OF_RATE = 4.0  # times the lowest frequency that the highest of a rate must reach
TOP_OF_RATE = 0.98  # of the highest frequency, where candidates end
MOST_DAMPING_PROPOSED = 0.08
COMPLEXITY = 0.35  # second singular value over the first of (Re, Im) of a shape
SAME_FREQUENCY = (0.005, 0.5)  # of ln f, or of the lesser damping ratio, at several orders
SAME_SHAPE = 0.9  # squared cosine, at several orders
PRESENT_AT = 0.3  # share of the orders
SAME_CANDIDATE = (0.004, 1.5, 0.5)  # of ω, lines, squared cosine: the same mode found twice

# -- bands: κ and ν of ω ± (κ ζ ω + ν lines) -------------------------------------------------------
WIDE_BAND = (20.0, 40.0)
WIDE_BAND_RESOLVED = (16.0, 150.0)  # of a mode with many lines in its width
NARROWEST_BAND = (7.0, 12.0)  # that it keeps whatever the neighbours
CORE_BAND = (3.0, 6.0)  # of the lines that a mode dominates
WIDEST_BAND = 0.6  # of ω, on each side
NEIGHBOURS = 4  # held modes on each side: tails of a strong one reach past its next neighbours
LINKED = 1.0  # information on the coherence of two forces from which they are linked
FULL_NOISE = 6  # lines per channel at least, for a background correlated between channels
LEAST_DAMPING, MOST_DAMPING = 1e-6, 0.25  # that intervals may reach
BROADEST = 0.1  # damping of a mode that is kept: one that grew broader stands for several
START_DAMPING = (1e-4, 0.1)
RAISES = 8  # of the background, until a start has a likelihood

# -- neighbouring lines together ------------------------------------------------------------------
GROUPED_NUMBERS = 3000  # lines of a band times channels, at least
GROUP_SHARE = 0.05  # of the distance to the next mode, width of a group
GROUP_CORE = 0.002  # damping ratio taken for the distance at its centre, at most
GROUP_FAR = 0.0015  # of the frequency, at most

# -- the likelihood --------------------------------------------------------------------------------
LEAST_POWER = 1e-10  # of a background or force, in the units of a band
POWER_FLOOR = 1e-8  # ε, of the mean power of each channel
ENDS_MATTER = 300.0  # ζωT of all modes, beyond which errors are those of independent lines
# Channels from which the information on a background is that of independent lines: what the ends
# tell of it moves errors of modes by .5 % at most, mostly by .05 %, and costs most of the time.
ENDS_OF_BACKGROUND = 8
POWER_PRIOR = 0.1  # ν of |Q|^ν |R|^ν
SLOW_TAIL = 20.0  # ζωT of a held mode, below which the ends of the record count for it

# -- its maximum -----------------------------------------------------------------------------------
STEP_WIDTH = 3.0  # lines, over which a pole may move at least
STEP_DAMPING = 0.7  # of ln ζ, at most in one step
DAMPING_RIDGE = 0.1  # information on ln ζ that a step assumes on top
STEP_SHAPE = 0.5
STEP_POWER = 2.0  # of the logarithm of a spectrum
GROWTH_BEND = 0.3  # share of a power below which steps are no longer linear in it
SCORING_STEPS = 40
SCORING_PATIENCE = 10  # steps before a fit may be given up
SCORING_WORK = 80.0  # nanoseconds for a line, a channel and a parameter
SCORING_IDLE = 2  # steps in a row that gain less than the tolerance
# gain still promised at the end, on a profile, on trial
FINE_GAIN, FAIR_GAIN, ROUGH_GAIN = 1e-2, 0.1, 0.5
NEARLY_FINE = 0.05  # at the end, worth no remark

# -- forces that are not flat: p of ω^p ------------------------------------------------------------
TILT_PRIOR = 2.0  # its standard deviation before anything is known: wind and waves have 2 to 5
TILTS = (-6.0, 6.0)
TILT_STEP = 0.3  # between fits of a profile; a smaller move is the last one
TILT_MOVE = (-1.5, 1.5)  # at once
TILT_ROUNDS = 4
TILTED_BAND = 1.1  # ratio of the ends of a band below which p hardly matters

# -- modes that a fit overlooks --------------------------------------------------------------------
SCAN_DAMPING = (0.01, 0.04)  # of trial modes
SCAN_STEP = 0.5  # half widths between two of them
SCAN_SHARE = 0.5  # of the price of a mode, promised at least
SCAN_MOST = 2  # trial modes of a band and a damping ratio that are asked

# -- how many modes --------------------------------------------------------------------------------
ONE_MORE_SHARE = 0.2  # of the price of a mode, promised at least
MOST_ODDS = 1400.0  # in twice the log-likelihood, beyond which a probability is zero
TINIEST_VARIANCE = 1e-300
NEIGHBOURS_TOGETHER = 0.5  # correlation of neighbouring frequencies that is named

# -- what modes leave, and peaks without a shape ---------------------------------------------------
LEFT_LEVEL = 1e-3  # chance below which modes do not explain a band
PEAK_BALANCE = 0.2  # of its weakest direction to its strongest, of correlated forces
PEAK_LINES = 10  # for each channel, within the width of a mode, that tell how high it stands
PEAK_SHOWS = 1.2  # times the background, over that width and in its weakest direction, at least
PEAK_HEIGHT = 3.0  # times the background, of a peak at its top in its weakest direction

# -- which modes stay, and what is known of them ---------------------------------------------------
MODE_PRICE = 1.5  # logarithms of the lines that a parameter of a mode must gain
CLEARLY = 10.0  # thresholds: a gain above so many needs no closer figure
LINKED_FREEDOM = 0.5  # degrees of freedom of the cross spectra with one linked mode
SECOND_CHANCES = 3  # rounds in which every mode that was refused is asked again
SECOND_ORDER = 0.3  # error of ln ζ beyond which that of a frequency grows no more beside it
PROFILE = 5.0  # ζ f T below which the damping gets a profile interval
PROFILE_STEPS = 14
PROFILE_STEP = (0.05, 0.8)  # of the standard deviation of ln ζ, to begin with
NORMAL = 1.959964  # standard deviations in a 95 % interval
LEAST_FREEDOM = 4.0  # degrees, where the damping is hardly known
HALF_CHI2 = 0.5 * float(scipy.stats.chi2.isf(0.05, 1))
NO_INFORMATION = 1e-11  # of the largest, in directions that are left out of a covariance

# -- steady lines on top ---------------------------------------------------------------------------
STEADY_WIDTH = 0.25  # ζ f T below which a mode kept its phase: machines .02 to .11, modes from .8
LEAST_DRIVEN = 0.25  # of the power: below that the motion is the steady lines, the rest noise
OUTSTANDING = 1e-6  # chance of a line that is too strong for a driven motion
BESIDE = (2, 12)  # lines on either side that are compared with it
PLAIN_BESIDE = 2.0  # median of their powers over what a driven motion has, at most
STEADY_CHUNK = 100_000  # samples that are taken at a time
STEADY_STEPS = 5  # of the frequencies of steady lines
STEADY_SETTLED = 0.1  # standard deviations that are no step any more
REFILL_SEED = 6174  # of what is drawn again where a steady line was taken out
MACHINE_ROUNDS = 4  # of steady lines that are taken out, and of modes without them
AROUND_STEADY = 40  # Fourier lines around a steady one that tell the noise there

# -- the kind of sensor ----------------------------------------------------------------------------
SENSOR_BAND = (0.3, 0.9)  # of the lowest mode, of the Nyquist frequency

# -- kicks -----------------------------------------------------------------------------------------
REGRESSORS = 120  # of the prediction at most
LONGEST_PAST = 32  # samples at most: kicks closer than twice that are one
KURTOSIS = 1.0  # excess worth a word
KURTOSIS_SIGMAS = 6.0
KICK = 8.0  # robust standard deviations; a Gaussian sample exceeds it once in 1e15
KICK_ONSET = 5.0  # the same, for the samples right before an outlier
KICK_POWER = 0.3  # of the innovations, in the outliers of a kicked record
KICK_SHARE = 0.05  # of the samples, at most
MAD = 1.4826  # standard deviation of a Gaussian over its median absolute deviation
REFITS = 2  # without outliers
KICKS_LISTED = 6  # kicks whose times are written out

TINY = float(np.finfo(float).tiny)
# -- whether the drive is stationary noise ---------------------------------------------------------
DRIVE_LEVEL = 1e-3  # chance, over all bands and tests, below which it is said not to be
FEWEST_STEADY = 24  # lines of a band
END_INSTANTS = 3  # at either end of the record, of as many as a band has lines
