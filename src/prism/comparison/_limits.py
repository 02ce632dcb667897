"""Numbers of this room that are choices."""

from __future__ import annotations

MOVED_LEVEL = 0.05  # of all tests of a comparison together
REACH = 0.2  # of ln Ω, within which a mode is looked for in the other model
LEAST_LIKE = 0.5  # criterion of a mode that is still the same at an equal frequency
NORMAL = 1.959964  # standard deviations in a 95 % interval
SAME_STD = 1e-9  # relative difference of two spreads of the same samples
