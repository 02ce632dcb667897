"""The package of benchmarks and comparisons, which is beside the tool and not in its wheel."""

from __future__ import annotations

from importlib.util import find_spec

from prism.errors import InputError

__all__ = ["check_bench"]


def check_bench() -> None:
    """Say where the benchmarks are when this installation does not have them.

    Raises
    ------
    InputError
    """
    if find_spec("prism_bench") is None:
        raise InputError(
            "benchmarks and comparisons are not part of the installed package: clone the "
            "repository of PRISM and run `pip install -e .` there."
        )
