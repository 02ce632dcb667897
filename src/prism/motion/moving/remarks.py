"""What moves, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.moving import _limits as limits
from prism.motion.moving.law import ALL, PHASE, SIZE, Law, basis, harmonic, steepness
from prism.remarks import Ask, Remark, Words

_GRID = np.linspace(-1.0, 1.0, 101)


def remarks_of(law: Law) -> Iterator[Remark]:
    """How each line moves, and what they have in common.

    Parameters
    ----------
    law : Law
    """
    if len(law.free) == law.count:
        yield Remark(
            "no line moves by the likelihood",
            advice=Words("{0} fits that", (Ask("kind", "steady"),)),
            code="nothing-moves",
        )
        return
    if _polynomials(law, SIZE, ALL):
        yield _gain_drift(law)
    if _polynomials(law, PHASE, ALL):
        yield _common_drift(law)
    if law.rate is not None:
        yield _modulated(law)
    lines = np.argsort(law.mean_frequencies())
    moving = [j for j in lines if _polynomials(law, PHASE, int(j))]
    sized = [j for j in lines if _polynomials(law, SIZE, int(j))]
    yield from (_moves(law, int(j)) for j in moving[: limits.LISTED])
    yield from (_swells(law, int(j)) for j in sized[: limits.LISTED])
    left = len(moving[limits.LISTED :]) + len(sized[limits.LISTED :])
    if left:
        yield Remark(f"{left} more frequencies or amplitudes move", code="moving")
    poles = law.decays()
    if poles is not None:
        yield _exponential(poles)


def _exponential(poles: ComplexArray) -> Remark:
    """Amplitudes that fall are decays; no passive system at rest lets them rise."""
    if np.any(poles.real > 0):
        return Remark(
            "the motion grows exponentially",
            f"at a rate of up to {poles.real.max():.4g} per unit of time",
            "it is unstable, or something feeds it: no passive system moves so by itself",
            code="growing",
        )
    return Remark(
        "all that moves is amplitudes that fall exponentially",
        advice=Words("{0} fits free decays", (Ask("kind", "decaying"),)),
        code="decays",
    )


def _place(part: str, order: int) -> bool:
    return part == PHASE and order == 1


def _polynomials(law: Law, part: str, line: int) -> list[tuple[int, float]]:
    """Degrees and values in which a line, or all together, moves along a polynomial."""
    rows = zip(law.free, law.values, strict=True)
    return [
        (one.order, float(value))
        for one, value in rows
        if (one.part, one.line) == (part, line)
        and not one.periodic
        and not _place(one.part, one.order)
    ]


def _along(rows: list[tuple[int, float]]) -> Array:
    """The polynomial on the grid."""
    return np.array([v for _, v in rows]) @ basis(_GRID, [k for k, _ in rows], 0.0)


def _frequency_curve(law: Law, j: int) -> Array:
    return np.array([law.frequencies(float(u))[j] for u in _GRID])


def _span(values: Array) -> str:
    return f"{values[0]:.6g} at the start and {values[-1]:.6g} at the end of the record"


def _moves(law: Law, j: int) -> Remark:
    curve = _frequency_curve(law, j)
    cells = float(np.ptp(curve)) * law.half / np.pi
    return Remark(
        f"the frequency of a line moves: {law.mean_frequencies()[j]:.6g} on average, "
        f"which is given, {_span(curve)}, a range of {cells:.2g} resolutions",
        code="moving",
    )


def _swells(law: Law, j: int) -> Remark:
    size = np.exp(_along(_polynomials(law, SIZE, j)))
    size /= size[50]
    return Remark(
        f"the amplitude of the line at {law.mean_frequencies()[j]:.6g} changes: "
        f"{100 * size[0]:.3g} % at the start and {100 * size[-1]:.3g} % at the end of what it is "
        "in the middle",
        code="moving",
    )


def _gain_drift(law: Law) -> Remark:
    size = np.exp(_along(_polynomials(law, SIZE, ALL)))
    size /= size[50]
    return Remark(
        f"the amplitudes of all lines change alike: {100 * size[0]:.3g} % at the start and "
        f"{100 * size[-1]:.3g} % at the end of what they are in the middle, between "
        f"{100 * size.min():.3g} and {100 * size.max():.3g} %",
        advice="a gain that drifts, or equal losses of all modes, would do this",
        code="gain-drift",
    )


def _common_drift(law: Law) -> Remark:
    reference = law.carriers / law.ratios
    rows = [(o, v) for o, v in zip(law.free, law.values, strict=True) if o.line == ALL]
    steep = np.array(
        [sum(v * steepness(float(u), o.order) for o, v in rows if o.part == PHASE) for u in _GRID]
    )
    relative = 100 * steep / (law.half * reference[0])
    return Remark(
        f"all frequencies move in proportion: from start to end by "
        f"{relative[-1] - relative[0]:+.3g} %, over a range of {np.ptp(relative):.3g} %; their "
        "means over the record are given",
        advice="a clock that drifts, or springs that change alike, would do this",
        code="common-drift",
    )


def _modulated(law: Law) -> Remark:
    assert law.rate is not None
    rows = [(o, v) for o, v in zip(law.free, law.values, strict=True) if o.periodic]
    first = [(o, v) for o, v in rows if harmonic(o.order) == 1]
    words = []
    for part, noun in ((SIZE, "amplitude"), (PHASE, "phase")):
        lines = sorted({o.line for o, _ in rows if o.part == part})
        for j in lines[: limits.LISTED]:
            size = float(
                np.hypot.reduce([v for o, v in first if (o.part, o.line) == (part, j)] or [0.0])
            )
            whose = "all lines" if j == ALL else f"the line at {law.mean_frequencies()[j]:.5g}"
            unit = f"{100 * size:.2g} %" if part == SIZE else f"{size:.2g} rad"
            words.append(f"{noun} of {whose} by {unit}")
    rate = law.rate / law.half
    return Remark(
        f"there is a periodic modulation of angular frequency {rate:.5g}: {', '.join(words)}",
        advice="lines at that distance on either side are its sidebands and not among the modes",
        code="modulated",
    )
