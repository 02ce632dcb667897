"""Limits of responses that are not reciprocal."""

from __future__ import annotations

FEWEST_RESPONSES = 24  # frequencies with all entries of the response
SMOOTH_SIGMAS = 5.0  # standard deviations of the product of neighbours, beyond which it is no noise
SMOOTH_BESIDE_GAINS = 3.5  # the same, of what gains of the channels leave
LARGEST_GAIN = 2.0  # that a calibration may be wrong by
FEWEST_ACTIVE = 9  # frequencies at which energy is given out
ACTIVE_SIGMAS = 6.0  # standard deviations of the energy that is given out
ACTIVE_SHARE = 0.02  # of the response, from which an active part is no error of calibration
NOT_CALIBRATION = 0.1  # of the response, from which an asymmetry is no error of calibration
MOST_TURNING = 16
ORDERS_BEYOND = 2  # orders beyond the best before the search ends
PLACING_STEPS = 15  # of the poles of one order
LINE_STEPS = 20
TURNS_WITH_NOISE, QUICK_TURNS = 6, 2  # of lines and noise in turn
HARDLY_FALLEN = 1e-3  # -2 log L
FARTHEST = 5.0  # bands: a line beyond is a static compliance
LEAST_LINE = 1e-3  # of the band: a line below is a rigid-body mode
LEAST_LOSS = 1e-6  # of its frequency, at which the rate of a line starts
MISFIT = 1.5  # variance over that of the noise which the anti-Hermitian part shows
LAWFUL_LEVEL = 1e-4  # significance at which the lines are not those of masses and springs
LEAST_TURN = 1e-2  # of the size of a hidden pole, below which it does not swing
LOOSEST, STIFFEST = 1e-9, 1e6  # of the normal matrix, which a step is held back by
