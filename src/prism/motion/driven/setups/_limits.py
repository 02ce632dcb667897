"""All thresholds of joint fits of several set-ups, in one place."""

from __future__ import annotations

UNSEEN = 1e-300  # length of what a set-up sees of a shape, where it sees nothing
STEP_JOINT_SHAPE = 0.5  # of a shape over all channels, at most in one step
NO_FORCE = 1e-9  # of a mode that a set-up does not show, in the units of a band
SEEN_TURN = 4.0  # square root of the information on a turn that a set-up sees well

# -- which modes of several set-ups are one --------------------------------------------------------
SAME_POLE = (4.0, 0.5, 1.5)  # standard deviations, half widths, lines between two of one mode
SAME_PLACES = 0.5  # squared cosine on shared channels, at least, where two of one mode show
FAINT_SIGHT = 1e-3  # weight of a shape where a set-up did not show the mode, relative to others
SHARED = 2  # channels that must be shared for shapes to be compared

# -- which set-ups show a mode ---------------------------------------------------------------------
SHOWN_LEVEL = 1e-6  # chance of the gain of a mode, at a known pole, of a set-up that has none of it

# -- what is known of a joint shape ----------------------------------------------------------------
HARDLY_KNOWN = 0.3  # error of a component of a unit shape beyond which that is said
SHIFT_OF_ONE = 0.25  # standard deviations of ln ζ in one record, by which fits of it are off alike
