"""What the data say against the form that was fitted to them."""

from __future__ import annotations

import numpy as np

from prism.frequency_response import FrequencyResponse
from prism.motion.forced.response.data import Data
from prism.motion.forced.response.order import State
from prism.motion.forced.response.rational import residues
from prism.motion.forced.response.scoring import evaluate

_STRANGE = 4.5  # standard deviations
_UNSYMMETRIC = 1.5  # ratio of variances
MISFIT = 1.5
_FEWEST = 8  # frequencies with both reciprocal values
_EXPLAINED = 0.3  # of the asymmetry may be left by gains that explain it


def remarks_of(
    data: Data, state: State, response: FrequencyResponse, misfit: float
) -> tuple[str, ...]:
    """Sentences about reciprocity, alternation and misfit, where they are violated."""
    found = [
        _unsymmetric(data, state, response),
        _not_alternating(data, state, response),
        _misfit(misfit),
    ]
    return tuple(one for one in found if one)


def asymmetry(data: Data) -> float:
    """Size of the antisymmetric part over that of the response, 0 to 1."""
    twice = data.scatter > 0
    if not twice.any():
        return 0.0
    size = (np.abs(data.Y[twice]) ** 2).sum()
    return float(np.sqrt(0.5 * data.scatter[twice].sum() / size))


def _unsymmetric(data: Data, state: State, response: FrequencyResponse) -> str:
    """Reciprocal measurements must differ by no more than each differs from the fit."""
    H = evaluate(data, state.point).H
    variance = state.noise.variance(np.abs(H) ** 2, data.shape, data.even)
    own = data.rows == data.columns
    twice = data.scatter > 0
    if twice.sum() < 8 or not own.any():
        return ""
    between = float((data.scatter / variance)[twice].mean())
    within = float((np.abs(data.Y - H) ** 2 / variance)[:, own][data.counts[:, own] > 0].mean())
    if between < _UNSYMMETRIC * max(within, 1e-300) * (1 + 3 / np.sqrt(twice.sum())):
        return ""
    return (
        f"the response is unsymmetric: reciprocal values differ by {200 * asymmetry(data):.2g} % "
        f"of their size, {np.sqrt(between / within):.2g} times what the noise explains; "
        f"{_gains(response) or 'check the calibration and the direction of the channels'}"
    )


def _gains(response: FrequencyResponse) -> str:
    r"""Relative gains of the channels, where they explain the asymmetry.

    A motion that reads :math:`g_a` times its value makes :math:`H_{ab}/H_{ba} = g_a/g_b`, the same
    at all frequencies; reciprocity makes the ratio one.
    """
    ports = response.ports
    mean, half = ports.values, ports.half_difference
    n = len(ports.names)
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
    logs, rows, whole, rest = [], [], 0.0, 0.0
    for a, b in pairs:
        both = np.isfinite(half[:, a, b])
        if both.sum() < _FEWEST:
            return ""
        x, y = (mean + half)[both, a, b], (mean - half)[both, a, b]
        cross = float(np.vdot(y, x).real)
        size = float(np.sqrt((np.abs(x) ** 2).sum() / (np.abs(y) ** 2).sum()))
        ratio = np.copysign(size, cross)
        if ratio <= 0:
            return ""
        logs.append(np.log(ratio))
        rows.append(np.eye(n)[a] - np.eye(n)[b])
        whole += float((np.abs(x - y) ** 2).sum())
        rest += float((np.abs(x / np.sqrt(ratio) - y * np.sqrt(ratio)) ** 2).sum())
    if rest > _EXPLAINED * whole:
        return ""
    gains = np.exp(np.linalg.lstsq(np.array(rows), np.array(logs), rcond=None)[0])
    listed = ", ".join(
        f"{name} {gain:.3g}" for name, gain in zip(ports.names, gains / gains[0], strict=True)
    )
    return (
        f"gains of the motions relative to the first explain it ({listed}): check the calibration"
    )


def _not_alternating(data: Data, state: State, response: FrequencyResponse) -> str:
    """Unconstrained residues of a driving point must not be negative: poles and zeros alternate."""
    point = state.point
    poles = np.asarray(point.lam * (1 + 1j * point.eta * (point.damping != "none")), complex)
    H = evaluate(data, point).H
    variance = state.noise.variance(np.abs(H) ** 2, data.shape, data.even)
    weights = np.sqrt(np.where(data.counts > 0, data.counts / variance, 0.0))
    names = response.ports.names
    found = []
    for e in np.flatnonzero(data.rows == data.columns):
        column = slice(e, e + 1)
        R, std, _ = residues(data.x, data.Y[:, column], weights[:, column], poles)
        inside = (point.lam > data.x[0]) & (point.lam < data.x[-1])
        bad = np.flatnonzero(inside & (R[:, 0] < -_STRANGE * std[:, 0]))
        found += [
            f"{np.sqrt(point.lam[j]) * data.frequency_unit:.5g} at {names[data.rows[e]]}"
            for j in bad
        ]
    if not found:
        return ""
    return (
        "poles and zeros of a driving point must alternate, and the data want a negative residue "
        f"at {', '.join(found[:5])}: force and motion are not at the same place or not in the same "
        "direction"
    )


def _misfit(misfit: float) -> str:
    if misfit <= MISFIT:
        return ""
    return (
        f"the misfit is {np.sqrt(misfit):.2g} times the noise: the system is not linear, not "
        "reciprocal, or loses energy in another way than the fit allows; the error bars were "
        "widened accordingly"
    )
