"""What the data say against the form that was fitted to them."""

from __future__ import annotations

from itertools import combinations

import numpy as np

import prism.motion.forced.response._limits as limits
from prism._format import format_chance
from prism.frequency_response import FrequencyResponse
from prism.motion.forced.response.correlated import LineErrors, correlated_remark
from prism.motion.forced.response.coupled import CoupledFit
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.order import memory
from prism.motion.forced.response.rational import residues
from prism.motion.forced.response.scoring import ResponseFit
from prism.motion.scan import scan_chance
from prism.remarks import Remark


def remarks_of(fit: ResponseFit, response: FrequencyResponse) -> tuple[Remark | str, ...]:
    """Sentences about reciprocity and alternation, where they are violated."""
    found = [_unsymmetric(fit, response), _not_alternating(fit, response)]
    return tuple(one for one in found if one)


def misfit_remark(fit: ResponseFit, errors: LineErrors) -> tuple[Remark | str, ...]:
    """What is wrong with what the fit leaves: its size, its smoothness, or where it stands.

    The last is said where neither of the others is.
    """
    sized, smooth = _misfit(_level(fit)), correlated_remark(errors)
    if sized or any(one.code == "misfit" for one in smooth):
        return (*([sized] if sized else []), *smooth)
    placed = _concentrated(fit)
    return (*([placed] if placed else []), *smooth)


def _concentrated(fit: ResponseFit) -> Remark | str:
    """What is left is noise of the fitted level at all lines, or the level hides a misfit.

    A noise that is fitted takes in what the modes do not describe; that stands at few lines.
    """
    there = fit.data.counts > 0
    power = np.where(there, fit.squares / fit.spread, 0.0).sum(axis=1)
    entries = fit.data.counts.sum(axis=1)
    # lines where less was measured have less power: as many are added as noise would have there
    power = power + entries.max() - entries
    power = power * entries.max() / power.mean()
    chance = scan_chance(power, int(entries.max()))
    if chance > limits.CONCENTRATED:
        return ""
    place = np.sqrt(fit.data.x[int(np.argmax(power))]) * fit.data.frequency_unit
    return Remark(
        f"what the fit leaves is no noise alike at all lines: most of it stands near {place:.5g} "
        f"rad per time unit (chance {format_chance(chance)}). The noise is another there, or the "
        "system is not as it was fitted: more modes, another damping, or a force that acts "
        "elsewhere. The error bars are too small then",
        advice="look at the response and the fit around that frequency",
        code="misfit",
    )


def _level(fit: ResponseFit) -> float:
    """Variance of what is left over that of the noise, of which repeated measurements know."""
    return max(fit.misfit, _repeated(fit.data, fit))


def left(fit: ResponseFit) -> float:
    """Share of a typical value that a fit leaves, where that is no noise; else zero."""
    there = (fit.data.counts > 0) & (fit.data.Y != 0)
    if not there.any() or not _no_noise(fit):
        return 0.0
    return float(np.median(np.abs((fit.data.Y - fit.H)[there] / fit.data.Y[there])))


def _no_noise(fit: ResponseFit) -> bool:
    """Whether what is left is far above the noise, smooth with peaks of its own, or peaks alone.

    A noise that is fitted takes in what the modes do not describe, and the misfit is small then.
    The median of its squares, ln 2 of their mean, is far less where few lines are all that counts.
    """
    if _level(fit) >= limits.NOT_THE_NOISE:
        return True
    lines, there = memory(fit), fit.data.counts > 0
    rest = (fit.squares / fit.spread)[there] / fit.data.counts[there]
    smooth = lines > limits.WIDEST_MEMORY or float(rest.max()) > limits.HIGHEST_NOISE
    return (lines > 1 and smooth) or float(np.median(rest)) < limits.LEAST_MEDIAN


def asymmetry(data: ResponseData) -> float:
    """Size of the antisymmetric part over that of the response, 0 to 1."""
    twice = data.scatter > 0
    if not twice.any():
        return 0.0
    size = (np.abs(data.Y[twice]) ** 2).sum()
    return float(np.sqrt(0.5 * data.scatter[twice].sum() / size))


def _unsymmetric(fit: ResponseFit, response: FrequencyResponse) -> Remark | str:
    """Reciprocal measurements must differ by no more than each differs from the fit."""
    data, variance = fit.data, fit.spread
    own, twice = data.rows == data.columns, data.scatter > 0
    if twice.sum() < limits.FEWEST_RECIPROCAL or not own.any():
        return ""
    between = float((data.scatter / variance)[twice].mean())
    z2 = np.abs(data.Y - fit.H) ** 2 / variance
    within = float(z2[:, own][data.counts[:, own] > 0].mean())
    if between < limits.UNSYMMETRIC * max(within, 1e-300) * (1 + 3 / np.sqrt(twice.sum())):
        return ""
    gains = _gains(response)
    return Remark(
        f"the response is unsymmetric: reciprocal values differ by {200 * asymmetry(data):.2g} % "
        f"of their size, {np.sqrt(between / within):.2g} times what the noise explains; "
        f"{gains or 'check the calibration and the direction of the channels'}",
        code="gain" if gains else "unsymmetric",
    )


def _gains(response: FrequencyResponse) -> str:
    r"""Relative gains of the channels, where they explain the asymmetry.

    A motion that reads :math:`g_a` times its value makes :math:`H_{ab}/H_{ba} = g_a/g_b`, the same
    at all frequencies; reciprocity makes the ratio one.
    """
    ports = response.ports
    mean, half = ports.values, ports.half_difference
    eye = np.eye(len(ports.names))
    logs, rows, whole, rest = [], [], 0.0, 0.0
    for a, b in combinations(range(len(eye)), 2):
        both = np.isfinite(half[:, a, b])
        if both.sum() < limits.FEWEST_RECIPROCAL:
            return ""
        x, y = (mean + half)[both, a, b], (mean - half)[both, a, b]
        if np.vdot(y, x).real < 0:
            return ""
        ratio = float(np.sqrt((np.abs(x) ** 2).sum() / (np.abs(y) ** 2).sum()))
        logs.append(np.log(ratio))
        rows.append(eye[a] - eye[b])
        whole += float((np.abs(x - y) ** 2).sum())
        rest += float((np.abs(x / np.sqrt(ratio) - y * np.sqrt(ratio)) ** 2).sum())
    if rest > limits.EXPLAINED * whole:
        return ""
    gains = np.exp(np.linalg.lstsq(np.array(rows), np.array(logs), rcond=None)[0])
    listed = ", ".join(
        f"{name} {gain:.3g}" for name, gain in zip(ports.names, gains / gains[0], strict=True)
    )
    return (
        f"gains of the motions relative to the first explain it ({listed}): check the calibration"
    )


def _not_alternating(fit: ResponseFit, response: FrequencyResponse) -> Remark | str:
    """Unconstrained residues of a driving point must not be negative: poles and zeros alternate."""
    if isinstance(fit, CoupledFit):
        return ""  # its residues are complex
    data, point = fit.data, fit.point
    poles = np.asarray(point.lam * (1 + 1j * point.eta * point.lossy), complex)
    weights = np.sqrt(np.where(data.counts > 0, data.counts / fit.spread, 0.0))
    inside = (point.lam > data.x[0]) & (point.lam < data.x[-1])
    names = response.ports.names
    found = []
    for e in np.flatnonzero(data.rows == data.columns):
        R, std, _ = residues(data.x, data.Y[:, [e]], weights[:, [e]], poles)
        found += [
            f"{np.sqrt(lam) * data.frequency_unit:.5g} at {names[data.rows[e]]}"
            for lam in point.lam[inside & (R[:, 0] < -limits.STRANGE * std[:, 0])]
        ]
    if not found:
        return ""
    return Remark(
        "poles and zeros of a driving point must alternate, and the data want a negative residue "
        f"at {', '.join(found[:5])}: force and motion are not at the same place or not in the same "
        "direction",
        code="not-alternating",
    )


def _repeated(data: ResponseData, fit: ResponseFit) -> float:
    """Squared residual over that of the noise which reciprocal measurements show, where they do.

    The noise of the fit may have taken a misfit in; the difference of two measurements has not.
    """
    twice = data.scatter > 0
    if twice.sum() < limits.ENOUGH_PAIRS:
        return 0.0
    left = (data.counts * np.abs(data.Y - fit.H) ** 2 / fit.spread)[twice].sum()
    return float(left / (data.scatter / fit.spread)[twice].sum())


def _misfit(misfit: float) -> Remark | str:
    if misfit <= limits.MISFIT:
        return ""
    return Remark(
        f"the misfit is {np.sqrt(misfit):.2g} times the noise: the system is not linear, not "
        "reciprocal, or loses energy in another way than the fit allows; the error bars were "
        "widened accordingly",
        code="misfit",
    )
