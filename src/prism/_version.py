"""The version of PRISM."""

__version__ = "0.1.0"
