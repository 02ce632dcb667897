"""How well an experiment can tell what it reports, before it is made."""

from prism.least_errors.door import bounds, cramer_rao
from prism.least_errors.result import Bounds

__all__ = ["Bounds", "bounds", "cramer_rao"]
