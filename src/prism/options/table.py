"""The table of options; nothing else says what an option is called, takes or means."""

from __future__ import annotations

from prism.options.option import Choice, Option
from prism.options.values import (
    Bands,
    Flag,
    Matrix,
    Names,
    Number,
    Numbers,
    OneOf,
    Places,
    Terms,
    Text,
    Whole,
)

__all__ = ["OPTIONS", "READING"]

_MORE = "under More options"
_HOW = "How it moves"

OPTIONS: tuple[Option, ...] = (
    Option(
        name="experiment",
        kind=OneOf(),
        choices=(
            Choice("free", "Free motion", "It moves by itself; how it was set going is not known."),
            Choice(
                "equilibrium",
                "Thermal equilibrium",
                "Many records in which every mode has the same mean energy, as in a heat bath.",
            ),
            Choice(
                "released",
                "Released from rest",
                "Held away from rest, then let go; what is hidden was not displaced.",
            ),
            Choice(
                "snapback",
                "Snap-back",
                "Pulled by a steady force, then let go; what is hidden had followed.",
            ),
            Choice(
                "forced",
                "Forced, with the force recorded",
                "A shaker or hammer: some channels are forces.",
            ),
        ),
        metavar="KIND",
        label="What was done",
        help="free, the default of records, equilibrium, released, snapback or forced, which named "
        "forces and responses are.",
        belongs="experiment",
    ),
    Option(
        name="kind",
        kind=OneOf(),
        choices=(
            Choice("steady", "it swings on without losses"),
            Choice("decaying", "it loses energy: a free decay, kicked or not"),
            Choice("driven", "it loses energy, and noise that nobody measured keeps it moving"),
            Choice("moving", "its frequencies or amplitudes drift or are modulated"),
            Choice("gyroscopic", "it rotates: lines turn instead of moving in phase"),
            Choice("nonlinear", "its spring is not linear"),
            Choice("forced", "a measured force drives it"),
        ),
        metavar="NAME",
        title="kind of motion",
        help="Kind of motion to fit: steady, decaying, driven, moving, gyroscopic, nonlinear or "
        "forced; by default the data decide.",
        belongs="experiment",
    ),
    Option(
        name="force",
        kind=Names(),
        metavar="A,B",
        label="Channels that are forces",
        help="Channels of a record that are forces; others are motions.",
        belongs="experiment",
    ),
    Option(
        name="at",
        kind=Places(),
        metavar="F=X,...",
        label="acts at",
        help="Motion channel where each force acts; f_X and force_X act at X without saying.",
        hint="The motion measured at the point where the force pushes. A force called f_x acts at "
        "x by itself.",
        belongs="experiment",
    ),
    Option(
        name="damped",
        kind=Flag(),
        choices=(Choice(True, "it loses energy", "a decay, or motion that noise keeps up"),),
        flag="--damped/--undamped",
        label=_HOW,
        place=_MORE,
        help="Fit losses, or none; by default the data decide. With losses a record is a decay, "
        "kicked or not, or driven by noise.",
        belongs="experiment",
    ),
    Option(
        name="potential",
        kind=Terms(),
        choices=(
            Choice("auto", "its spring is not linear", "choose by the data"),
            Choice("polynomial", "its spring is not linear", "powers of the displacement"),
            Choice(
                "trigonometric", "its spring is not linear", "sines and cosines, as of a pendulum"
            ),
        ),
        metavar="NAME|TERMS",
        label=_HOW,
        place=_MORE,
        help="Fit a nonlinear force: auto, polynomial, trigonometric, or terms such as 'x,x^3'.",
        belongs="experiment",
    ),
    Option(
        name="hold",
        kind=OneOf(),
        default="auto",
        choices=(Choice("auto"), Choice("zero"), Choice("first")),
        metavar="KIND",
        help="Force between its samples: zero (stays), first (goes straight to the next) or auto.",
        belongs="experiment",
    ),
    Option(
        name="rank",
        kind=OneOf(),
        default="one",
        choices=(Choice("one"), Choice("full")),
        metavar="KIND",
        help="Modes of a response at one frequency: one, or full for several.",
        belongs="experiment",
    ),
    Option(
        name="gyroscopic",
        kind=Flag(),
        flag="--gyroscopic/--not-gyroscopic",
        help="Of a system that rotates, or of one that does not; by default the data decide.",
        belongs="experiment",
    ),
    Option(
        name="mass",
        kind=Matrix(),
        choices=(Choice("identity"),),
        metavar="identity|FILE",
        label="Known mass",
        place=_MORE,
        title="known mass",
        help="Known mass of the channels: 'identity' or a matrix.",
        example="1, or one number per channel",
        hint="The mass at the seen points, if it is known, fixes the scale of the springs; with "
        "enough channels even a free record then shows the hidden oscillators.",
        belongs="known",
    ),
    Option(
        name="stiffness",
        kind=Matrix(),
        flag="--known-stiffness",
        metavar="FILE",
        title="known stiffness",
        help="Known dynamic stiffness of the channels, a matrix.",
        belongs="known",
    ),
    Option(
        name="temperature",
        kind=Number(low=0.0),
        metavar="KT",
        title="known temperature",
        help="Equilibrium: kT in the units of energy of the record.",
        belongs="known",
    ),
    Option(
        name="hbar",
        kind=Number(low=0.0),
        metavar="H",
        title="quantum of action",
        help="Equilibrium: the quantum of action in the units of the record, where quanta matter.",
        belongs="known",
    ),
    Option(
        name="pull",
        kind=Numbers(),
        metavar="F[,F...]",
        title="known pull",
        help="Snap-back: the force that was let go, for each channel.",
        belongs="known",
    ),
    Option(
        name="rigid",
        kind=Whole(0, 6, what="number of rigid-body modes"),
        metavar="N",
        label="Rigid-body modes",
        place=_MORE,
        title="rigid-body modes",
        help="Rigid-body modes of what nothing holds, 0 to 6; by default the data decide.",
        hint="A body that nothing holds moves as a whole beside its vibrations: a drift of the "
        "record is then a mode at zero frequency. 0 says that sensors drift instead.",
        belongs="known",
    ),
    Option(
        name="method",
        kind=OneOf(),
        default="likelihood",
        choices=(Choice("likelihood"), Choice("nnls"), Choice("sdp")),
        metavar="NAME",
        help="How lines are found: likelihood, nnls or sdp.",
    ),
    Option(
        name="max_modes",
        kind=Whole(1),
        metavar="N",
        title="most modes",
        help="Look for at most so many modes.",
    ),
    Option(
        name="false_alarm",
        kind=Number(0.0, 1.0, what="the false-alarm probability"),
        default=1e-3,
        metavar="P",
        title="false-alarm probability",
        help="Probability that noise alone shows a line.",
    ),
    Option(
        name="fit_fraction",
        kind=Number(0.0, 1.0, advice=": leave it out to fit the whole record"),
        metavar="F",
        label="Fit the first part of the record",
        place=_MORE,
        title="fitted part",
        help="Fit this first part, test the forecast on the rest.",
        hint="Below 100 %, the forecast is tested on the rest, which the fit has not seen.",
    ),
    Option(
        name="ignore",
        kind=Bands(),
        metavar="50hz|F-F[,...]",
        label="Frequencies to ignore",
        place=_MORE,
        title="ignored",
        help="Lines that are no physics: mains with harmonics, or bands in cycles per time unit.",
        example="50hz or 49-51",
        hint="Lines that are no motion of the system: mains with its harmonics (50hz), or bands "
        "in cycles per time unit, with commas between them.",
    ),
    Option(
        name="drift",
        kind=Whole(1, 8, what="degree"),
        default=1,
        metavar="DEGREE",
        label="Degree of the drift",
        place=_MORE,
        title="degree of the drift",
        help="Polynomial along which a record drifts, 1 to 8.",
        hint="A slow wandering of the zero is fitted by a polynomial of this degree.",
    ),
)
"""Options of `prism.identify`."""

READING: tuple[Option, ...] = (
    Option(
        name="dt",
        kind=Number(0.0),
        label="Time between two samples",
        help="Sampling step.",
        belongs="record",
    ),
    Option(
        name="time_column",
        kind=Text(),
        metavar="NAME",
        label="Column with the time",
        help="Column of the times; by default 't' or 'time'.",
        belongs="record",
    ),
    Option(
        name="channels",
        kind=Names(),
        metavar="A,B",
        label="Channels to use",
        help="Columns to use, forces included, or coordinates of a response (OUT/IN names a "
        "column without a name); by default all.",
        belongs="record",
    ),
    Option(
        name="quantity",
        kind=Names(),
        choices=(Choice("displacement"), Choice("velocity"), Choice("acceleration")),
        metavar="Q[,Q...]",
        label="What they measure",
        help="displacement, velocity or acceleration, one for all or one per channel; forces need "
        "none.",
        belongs="record",
    ),
    Option(
        name="unit",
        kind=OneOf(),
        choices=(
            Choice("hz", "cycles per time unit (Hz)"),
            Choice("rad", "rad per time unit"),
        ),
        metavar="hz|rad",
        label="Unit of the frequencies",
        help="Of the frequencies of a response that do not state it.",
        belongs="file",
    ),
    Option(
        name="frequency",
        kind=Text(),
        metavar="NAME",
        label="Frequencies",
        help="Column or array of the frequencies of a response.",
        belongs="file",
    ),
    Option(
        name="response",
        kind=Text(),
        metavar="NAME",
        label="Values",
        help="Array of the values of a response.",
        belongs="file",
    ),
    Option(
        name="array",
        kind=Names(),
        metavar="NAME[,NAME...]",
        label="Array with the values",
        help="Array of the values of a record in mat, h5, npz.",
        belongs="file",
    ),
)
"""Options of the readers."""
