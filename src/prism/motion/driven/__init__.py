"""Motion that unmeasured noise drives (operational modal analysis)."""

from prism.motion.driven.driven import DrivenFit, fit_driven
from prism.motion.driven.innovations import kicks
from prism.motion.driven.sensor import SensorKind, sensor_kind

__all__ = ["DrivenFit", "SensorKind", "fit_driven", "kicks", "sensor_kind"]
