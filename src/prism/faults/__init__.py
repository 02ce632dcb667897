"""Faults of measurement, found and named with place and size.

Some are seen in the samples themselves (:mod:`.raw`); others break a sum of steady lines, and are
found by their likelihood with the lines at hand (:mod:`.find`). `corrected` takes them out.
"""

from prism.faults.correction import corrected, kick_times
from prism.faults.delay import find_delays
from prism.faults.fault import Fault
from prism.faults.find import find_breaks
from prism.faults.raw import find_raw

__all__ = ["Fault", "corrected", "find_breaks", "find_delays", "find_raw", "kick_times"]
