"""The pipeline: the only room that knows all others."""

from prism.pipeline.main import DEFAULT_FALSE_ALARM, check_forecast, identify

__all__ = ["DEFAULT_FALSE_ALARM", "check_forecast", "identify"]
