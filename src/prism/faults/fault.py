"""A fault of measurement: what it is, where it is, how large, and what is done about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._value import Value
from prism.remarks import Remark

__all__ = ["CORRECTED", "CUT", "REPAIRS", "SAID", "Fault"]

CORRECTED = "the fit works on the corrected record"
CUT = "the record is cut there, and both parts share their frequencies only"
MASKED = "these samples count as missing"
SAID = "nothing was changed"
IN_TIME = (
    "the fit works on the corrected record: modes, shapes and amplitudes are those of the channel "
    "in time, the forecast is that of the channel as it was recorded"
)

REPAIRS = {
    "clipping": MASKED,
    "repeated-samples": MASKED,
    "quantised": SAID,
    "dead-channel": "leave the channel out",
    "equal-channels": "leave one of the two channels out",
    "kick": CUT,
    "lost-samples": CORRECTED,
    "jump": CORRECTED,
    "clock-drift": CORRECTED,
    "delay": IN_TIME,
    "distortion": SAID,
}
"""What is done about a fault, by its code."""


@dataclass(frozen=True, eq=False, repr=False)
class Fault(Value):
    """A fault of measurement.

    Attributes
    ----------
    code : str
        Short and lasting, one of `REPAIRS`.
    what : str
        In words, without a full stop at the end.
    why : str
        What it was seen by.
    channels : tuple of str
        Where it is.
    trial : int
        Counted from 0.
    time : float or None
        When it happened; None where it is everywhere.
    time_error : float
        Standard error of the time.
    index : int or None
        First sample after it.
    size, error : tuple of float
        How large, with standard errors: samples lost (negative: repeated), the step of each of
        ``channels``, the relative drift of frequency over the trial (and its change), seconds of
        delay, the share of samples clipped, the level of an amplitude that changed.
    gain : float
        Fall of ``-2 log L`` beyond its price; 0 where no likelihood was compared.
    lines : tuple of float
        Frequencies of the lines that a delay moves; none where it is not certain enough to be
        corrected.
    levels : (float, float)
        Values below and above which a channel shows nothing; infinite where it does.
    repair : str
        What was done about it, where that is more than `REPAIRS` says of its code.
    """

    code: str
    what: str
    why: str
    channels: tuple[str, ...]
    trial: int = 0
    time: float | None = None
    time_error: float = 0.0
    index: int | None = None
    size: tuple[float, ...] = ()
    error: tuple[float, ...] = ()
    gain: float = 0.0
    lines: tuple[float, ...] = ()
    levels: tuple[float, float] = (-np.inf, np.inf)
    repair: str = ""

    @property
    def treatment(self) -> str:
        """What is done about it, or must be."""
        if self.code == "delay" and not self.lines:
            return SAID
        return self.repair or REPAIRS[self.code]

    @property
    def remark(self) -> Remark:
        """What a user should know of it."""
        return Remark(self.what, self.why, self.treatment, code=self.code)
