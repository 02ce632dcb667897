"""Numbers of this room that are choices."""

from __future__ import annotations

TAIL = 0.025  # chance of either end of a 95 % interval to be wrong
NODES = 160  # of the contour: a relative error of 1e-9 for what occurs here
PATH_END = 40.0  # powers of e below its maximum, where a contour ends
NO_ERROR = 1e-12  # of the largest variance: a smaller one is rounding
SADDLE_DIGITS = 0.02  # to which a saddle point is found
EDGE = 1e-12  # of the range in which a saddle point lies, kept from either end
FAR = 8.0  # standard deviations, within which either end of a 95 % interval lies
LENGTH_DIGITS = 1e-5  # to which an end is found
