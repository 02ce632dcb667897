r"""Response to a stepped sine, by least squares at the frequency of the force (lock-in).

Over the settled part of a dwell at the frequency ω,

.. math:: y(t) = \operatorname{Re}(Y e^{iωt}) + o
    + \sum_j \operatorname{Re}(Z_j e^{iΩ_j t}) + \text{white noise}

is fitted to each motion and to the force; the :math:`Ω_j` are given natural frequencies, whose
free motion never decays in a lossless structure. With the columns X of the fit and
:math:`c = [(X^TX)^{-1}]_{\cos} + [(X^TX)^{-1}]_{\sin}`,

.. math:: \hat H = Y/F,\qquad
    \operatorname{var} \hat H = c\,\frac{s_y^2 + |\hat H|^2 s_f^2}{|F|^2},\qquad
    s^2 = \frac{\text{sum of squared residuals}}{\text{samples} - \text{columns}},

where the noise of the motion and of the force are taken as independent. The errors hold for white
residuals: a free motion that is not fitted makes them coloured, and the stated error too small.

Dwells are found in a force without noise for any step, and in a noisy one (to some 10 % of its
amplitude) for steps of at least the resolution :math:`2π/T` of a dwell; smaller steps may merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import prism.estimate._limits as limits
from prism._types import Array, ComplexArray
from prism.errors import CannotTellError, OptionError
from prism.estimate.channels import DrivenRecord
from prism.estimate.estimators import LineValues
from prism.estimate.stepping import Piece, design, detected_pieces, given_pieces, sine_frequency


class _Dwell(NamedTuple):
    """What one dwell says of each motion, how long it is, and how many samples it lacks."""

    omega: float
    values: ComplexArray
    variance: Array
    coherence: Array
    periods: float
    skipped: int


def dwell(
    record: DrivenRecord,
    *,
    settle: float = 0.5,
    frequencies: ArrayLike | None = None,
    starts: Sequence[float] | None = None,
    free_lines: ArrayLike = (),
) -> LineValues:
    """Response at the frequency of each dwell; options as in `estimate_response`."""
    if len(record.forces) != 1:
        raise OptionError(
            f"{len(record.forces)} forces ({', '.join(record.forces)}) in a dwell: a stepped "
            "sine takes one force at a time."
        )
    if not 0 <= settle < 1:
        raise OptionError(f"settle is {settle!r}: give the share of a dwell to drop, 0 to below 1.")
    given = None if frequencies is None else _positive(frequencies, "frequencies")
    lines = _positive(free_lines, "free_lines")
    pieces = given_pieces(record, given, starts)
    if pieces is None:
        pieces = detected_pieces(_whole_force(record), record.dt)
    known = [None] * len(pieces) if given is None else given.tolist()
    return _gather(
        [
            _measured(record, piece, k, settle, omega, lines)
            for k, (piece, omega) in enumerate(zip(pieces, known, strict=True))
        ]
    )


def _positive(values: ArrayLike, name: str) -> Array:
    out = np.atleast_1d(np.asarray(values, float))
    if out.ndim != 1 or not (np.isfinite(out) & (out > 0)).all():
        raise OptionError(f"{name} {values!r}: give positive angular frequencies.")
    return out


def _whole_force(record: DrivenRecord) -> Array:
    force = record.trials[0][:, 0]
    if np.isnan(force).any():
        raise CannotTellError(
            f"the force {record.forces[0]!r} has {int(np.isnan(force).sum())} missing samples: "
            "dwells cannot be found in it, give frequencies or starts."
        )
    return np.asarray(force)


def _measured(
    record: DrivenRecord,
    piece: Piece,
    k: int,
    settle: float,
    omega: float | None,
    free_lines: Array,
) -> _Dwell:
    """Dwell k, at its frequency if that is given, or at that of its force."""
    trial, a, b = piece
    a = a + round(settle * (b - a))
    values = record.trials[trial][a:b]
    t = np.asarray(record.dt * (np.arange(b - a) - 0.5 * (b - a - 1)), float)
    there = np.asarray(~np.isnan(values).any(axis=1))
    columns = 2 * len(free_lines) + 3
    if there.sum() <= columns:
        raise CannotTellError(
            f"dwell {k} (counted from 0) has {int(there.sum())} complete samples after settling, "
            f"for {columns} unknowns: dwell for longer, or drop less."
        )
    if omega is None and not there.all():
        raise CannotTellError(
            f"dwell {k} (counted from 0) has missing samples: its frequency cannot be measured, "
            "give frequencies."
        )
    omega = sine_frequency(t, values[:, 0]) if omega is None else omega
    t, values = t[there], values[there]
    _check_frequency(omega, t, values[:, 0], k)
    periods = omega * len(there) * record.dt / (2 * np.pi)
    return _Dwell(omega, *_fit(omega, free_lines, t, values), periods, int((~there).sum()))


def _check_frequency(omega: float, t: Array, force: Array, k: int) -> None:
    basis = design(omega, t)
    misfit = force - basis @ np.linalg.lstsq(basis, force, rcond=None)[0]
    spread = float(force.var())
    if spread == 0:
        raise CannotTellError(f"the force is constant in dwell {k} (counted from 0): check it.")
    explained = 1 - float((misfit**2).mean()) / spread
    if explained < limits.SINE_EXPLAINS:
        raise OptionError(
            f"a sine of {omega:g} rad per time unit explains {100 * max(explained, 0):.0f} % of "
            f"the force in dwell {k} (counted from 0): give the frequencies and starts at which "
            "the force was stepped."
        )


def _fit(
    omega: float, free_lines: Array, t: Array, values: Array
) -> tuple[ComplexArray, Array, Array]:
    """Response, variance and coherence by least squares for force (first column) and motions."""
    X = design([omega, *free_lines], t)
    Q, R = np.linalg.qr(X)
    if np.linalg.cond(R) > limits.DWELL_CONDITION:
        nothing = np.full(values.shape[1] - 1, np.nan)
        return nothing.astype(complex), nothing, nothing
    inverse = np.linalg.inv(R)
    c = float((inverse[:2] ** 2).sum())
    fit = inverse @ (Q.T @ values)
    residual = values - X @ fit
    rounding = (limits.EPS * np.abs(values).max(axis=0)) ** 2
    noise = (residual**2).sum(axis=0) / (len(t) - X.shape[1]) + rounding
    phasor = fit[0] - 1j * fit[1]
    H = phasor[1:] / phasor[0]
    variance = c * (noise[1:] + np.abs(H) ** 2 * noise[0]) / np.abs(phasor[0]) ** 2
    power = np.abs(phasor[1:]) ** 2 / 2
    return H, variance, power / (power + noise[1:])


def _gather(dwells: Sequence[_Dwell]) -> LineValues:
    """Dwells by frequency; repeated frequencies are averaged with the inverse variance."""
    every, values, variances, coherence, periods, skipped = map(np.array, zip(*dwells, strict=True))
    omega, first, which = np.unique(every, return_index=True, return_inverse=True)
    weight = 1 / variances
    there = np.isfinite(weight)
    sums = np.zeros((2, len(omega), values.shape[1]), complex)
    np.add.at(sums[0], which, np.where(there, weight * values, 0))
    np.add.at(sums[1], which, np.where(there, weight, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        H, variance = sums[0] / sums[1], 1 / sums[1].real
        p_values = np.exp(-(np.abs(H) ** 2) / variance)
    return LineValues(
        omega,
        H[:, :, None],
        variance[:, :, None],
        coherence[first],
        p_values,
        averages=float(np.median(periods)),
        skipped=int(skipped.sum()),
        remarks=_remarks(omega[~np.isfinite(variance).all(axis=1)], len(dwells) - len(omega)),
    )


def _remarks(lost: Array, repeated: int) -> tuple[str, ...]:
    out = []
    if len(lost):
        names = ", ".join(f"{w:g}" for w in lost)
        out.append(f"a free line cannot be told from the dwell at {names}: the point is missing")
    if repeated:
        out.append(f"{repeated} dwells repeat a frequency and were averaged")
    return tuple(out)
