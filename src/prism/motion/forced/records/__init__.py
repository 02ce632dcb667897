"""The Foster form by maximum likelihood directly from forced records."""

from prism.motion.forced.records.fitting import RecordsFit, fit_records

__all__ = ["RecordsFit", "fit_records"]
