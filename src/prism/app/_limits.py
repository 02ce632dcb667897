"""Numbers of the page that are choices: how much is shown, kept and waited for."""

from __future__ import annotations

LEGEND_ROOM = 90  # pixels for the legend and the title of the axis below
PANEL_GAP = 90  # pixels between panels with an x axis each
TALLER_PANELS = 1.3  # than on the page of a report, which shows all figures at once
LONGEST_HOVER_NAME = 60  # letters of a name
FEW_CHANNELS = 12  # channels that fit into one field
MANY_CHANNELS = 60  # channels that need a frame of their own to scroll in
CHANNELS_HEIGHT = 320  # pixels of that frame
PLAY_POINTS = 1200  # points of a curve
DRAWN_LOSS = 0.004  # of the true curve, so that its peaks end
SEEN_PARTICIPATION = 1e-6  # of the largest: below, a mode does not move what is seen
NEAR_FREQUENCY = 0.03  # of a frequency: an estimate this close, or within 5 σ, is one of it
POLL_SECONDS = 0.4  # between two looks at the work
MOST_APP_ZEROS = 200  # zeros listed on the page of the app
MOST_FORECAST_ROWS = 200_000  # rows of the csv
FIRST_PORT = 8501  # tried first when none was asked for
PORTS_TRIED = 20  # one after the other
SERVER_SECONDS = 60.0  # until the server answers, or the browser is not opened
KEPT_OUTCOMES = 64  # outcomes that are remembered
PLAY_TRIALS = 60  # trials of an ensemble
PLAY_LINES = 120  # lines of a measured response
PLAY_LOSS = 0.02  # loss of a measured response
PLAY_SAMPLES_PER_PERIOD = 6  # of the fastest mode
KEPT_READINGS = 8  # files and readings that are remembered
