"""Modes that noise alone may have made, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from prism._types import Array
from prism.motion import _limits as limits
from prism.remarks import Remark

__all__ = ["faint"]


def faint(omega: Array, chances: Array, *, what: str = "line", where: str) -> Iterator[Remark]:
    """Say which modes hardly stand out of the noise, and how often noise looks like that.

    Parameters
    ----------
    omega : array (modes,)
    chances : array (modes,)
        Probability that noise alone shows a mode that is as significant.
    what, where : str
        What a mode is called, and what shows it.
    """
    which = np.flatnonzero(chances > limits.MAY_BE_NOISE)
    if not len(which):
        return
    many = len(which) > 1
    names = ", ".join(f"{omega[j]:.5g}" for j in which[: limits.NAMED])
    often, absent = float(f"{1 / chances[which].max():.2g}"), "them" if many else "it"
    shown = f"one in {often:.0f} {where} without {absent} shows such a {what}"
    if often < limits.OFTEN:
        shown = f"{where} without {absent} often show such a {what}"
    yield Remark(
        f"the {what}{'s' * many} at {names} may be noise: {shown}",
        advice="a longer measurement, or another one, shows whether it is there",
        code="faint",
    )
