"""Numbers of tables, texts and pages that are choices: how much is listed, and how finely."""

from __future__ import annotations

CSV_ROWS_AT_ONCE = 50_000  # rows computed at once, which bounds the memory
CSV_KERNEL_PERIODS = 4  # of the slowest hidden mode, in a table of the kernel
CSV_DENSITY_BAND = 1.5  # of the fastest hidden frequency, in a table of the spectral density
SHORT_ARRAY = 24  # numbers that are written out
FIGURE_ROUNDING = 1e-6  # of the range: a coarser rounding would show
MOST_NAMES = 12  # names that are written out
MOST_MATRIX_CHANNELS = 8  # coordinates; larger matrices are in the model file
MOST_HIDDEN_EQUATIONS = 8  # hidden oscillators whose equations are set
ROUNDED_ENTRY = 1e-12  # of the largest entry: less is rounding
MOST_NOTEBOOK_ROWS = 12  # rows of a table in a notebook
MOST_NOTEBOOK_COLUMNS = 10  # columns of a table in a notebook
FORECAST_ENDS = 3  # first and last times of a forecast that are shown
CURVE_WIDTH = 160  # pixels of a small curve
CURVE_HEIGHT = 24  # pixels of a small curve
MOST_PAGE_STRUCTURES = 40  # modes on the structure of a page
MOST_PAGE_ZEROS = 60  # zeros listed on a page
MOST_TEXT_ZEROS = 40  # zeros listed in a text
TEXT_INDENT = 2  # blanks before a line under a heading
COLUMN_GAP = 2  # blanks between two columns
MOST_LISTED_PAIRS = 12  # pairs of output and input, listed by name
MOST_LISTED_CHANNELS = 16  # channels, listed by name
MOST_QUANTITIES = 60  # rows of the table of all quantities
MOST_NAMED_ZEROS = 4  # zeros or entries that a sentence names
FEWEST_ZEROS_EACH = 3  # zeros of each entry that are listed in any case
PAPER_COLUMNS = 9  # columns of a table, as many as a sheet holds
