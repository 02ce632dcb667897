"""Numbers of the figures that are choices: how much is drawn, how finely, and how far.

Colours and the places of things on a figure are not here: they stand where they are drawn.
"""

from __future__ import annotations

# -- panels ----------------------------------------------------------------------------------------

MOST_CHANNEL_PANELS = 12  # channels with a panel of their own; of more the first are drawn
MOST_ENTRIES_DRAWN = 9  # entries of a response with a panel of their own
MOST_ENTRY_COLUMNS = 3  # entries of a response beside each other
MOST_MODE_PANELS = 20  # modes with a panel of their own; more are drawn as one strip of colours
MOST_MODE_COLUMNS = 5  # modes beside each other
MOST_STRUCTURES = 12  # modes drawn on the structure; of more the first, or those that are asked for
MOST_ZERO_GROUPS = 8  # entries whose zeros are drawn among the poles
KERNEL_LEGEND_COLUMNS = 3  # entries of a kernel beside each other in its legend

# -- words -----------------------------------------------------------------------------------------

LONGEST_LABEL = 14  # letters of a name at an axis; a longer one is cut
LONGEST_TICK = 10  # letters of a name where several share an axis or a legend
LONGEST_ROW = 9  # letters of a port in the name of a row of zeros
MOST_MODE_TICKS = 30  # modes that are named where each is a row
MOST_LEVEL_NAMES = 6  # lines whose frequencies are written level; those of more stand upright
MOST_LONG_MARKS = 9  # poles or zeros drawn across the panels; more are short strokes at their edges

# -- work ------------------------------------------------------------------------------------------

LADDER_NUMBERS = 200_000  # of a record, up to which a report compares orders unasked

# -- points ----------------------------------------------------------------------------------------

MOST_POINTS = 2400  # points of one drawn curve: more do not show and make large files
MOST_RESPONSE_POINTS = 1200  # points of one curve of a response, of which there may be many
# Measured points of all panels of a response: each is an element of the page.
MOST_RESPONSE_DOTS = 3600
MOVING_POINTS = 400  # of the curve of a frequency that moves
MOST_FORECAST_DOTS = 1500  # samples drawn with a forecast
# Samples of a record that a page draws one by one; of more the close-up, the rest as a band.
MOST_SINGLE_SAMPLES = 6000
LONGEST_BRIDGE = 6  # samples: a line is drawn across a shorter gap
FEWEST_FORECAST_POINTS = 400  # points of a forecast, however slow the motion
FORECAST_POINTS_PER_PERIOD = 24  # points of a forecast in a period of the fastest mode
FEWEST_KERNEL_POINTS, MOST_KERNEL_POINTS = 300, 4000  # times at which a kernel is drawn
KERNEL_POINTS_PER_PERIOD = 40  # points of a kernel in a period of its fastest pole
KERNEL_FREQUENCIES = 1500  # frequencies at which a kernel is drawn, beside those close to its poles
RESPONSE_GRID = 4000  # frequencies at which a fitted response is drawn, where its lines are fewer
MOST_GRID_PARTS = 8  # parts of a step from line to line in which a fitted response is drawn
UNMEASURED_LINES = 500  # frequencies of a response that was not measured
POTENTIAL_POINTS = 300  # places at which a potential is drawn
# Frequencies of the spectrum of an irregular record, whose transform has no fast form.
MOST_IRREGULAR_FREQUENCIES = 4000

# -- reach -----------------------------------------------------------------------------------------

CLOSE_UP_PERIODS = 12  # periods of a middle mode in the close-up of a record
FEWEST_CLOSE_UP, MOST_CLOSE_UP = 40, 1200  # samples of the close-up of a record
# Times the close-up: a longer record is a block of ink, and a page begins with the close-up.
DENSE_CLOSE_UPS = 12
FORECAST_PERIODS = 12  # periods of a middle mode on each side of the end of the record
CORRELATION_PERIODS = 16  # periods of a middle mode in a correlation
FEWEST_LAGS = 8  # lags of a correlation, however fast the motion
KERNEL_PERIODS = 6  # periods of the slowest pole in a kernel
GUESSED_PERIODS = 20  # periods in a record of whose pace nothing is known
LINE_BAND = 1.6  # band of a spectrum or of an unmeasured response, over the highest mode
POLE_BAND = 1.5  # band of a kernel, over its highest pole
# Of the range of the record: so far beyond it a potential is drawn, on either side.
POTENTIAL_MARGIN = 0.15
POLE_HEIGHT = 30.0  # height drawn near a pole of a kernel, over the middle of the curve
INFINITE_HEIGHT = 1e4  # height of a response over its middle from which on it counts as infinite

# Of the diagonal of a structure: how far the node that moves most is drawn from its place.
DRAWN_MOTION = 0.12
MOST_RINGS = 400  # nodes at rest that are marked: of a fine mesh rings would hide it
TURN_POINTS = 48  # of the path of a node in a mode that turns

# -- work ------------------------------------------------------------------------------------------

MOST_AVERAGED = 40  # trials in an average: the mean over more looks the same
# Times of a fitted motion computed together, so that a long record needs little memory.
TIMES_AT_ONCE = 1 << 15
# Frequencies of an irregular record transformed together, for the same reason.
FREQUENCIES_AT_ONCE = 256
