"""The result for people: text, and a page that stands alone."""

from prism._format import format_value
from prism.report.html import write_report
from prism.report.text import summary

__all__ = ["format_value", "summary", "write_report"]
