r"""Modes of free decays.

Model of trial (or stretch between kicks) r, channel a:

.. math:: y_{ra}(t) = \operatorname{Re} \sum_j A_{rja} e^{λ_j (t - t_r)} + b_{ra} + s_{ra} t
          + \text{noise}_a, \qquad λ_j = -ζ_j Ω_j + i Ω_j \sqrt{1 - ζ_j^2}

with poles shared by all stretches and channels. `search` finds how many and fits them by maximum
likelihood, `select` leaves out what is no mode, `shapes` and `errors` give shapes and errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, comb

from prism._linalg import positive_sign
from prism._types import Array, ComplexArray, Index
from prism.errors import NoLineError
from prism.motion.decays import _limits as limits
from prism.motion.decays.result import Continuation, DampingEvidence, DecayFit
from prism.motion.decays.search import NO_POLES, rests_of, segments_of
from prism.motion.decays.segments import Kicks, cut, group, kick_spans
from prism.motion.decays.select import undamped
from prism.motion.decays.shapes import RealShape, amplitudes
from prism.motion.decays.sought import SoughtDecays, find
from prism.options import check_options
from prism.record import Record
from prism.remarks import Remark
from prism.search.projection import attempted, evaluate
from prism.search.whitening import noise_remarks
from prism.uncertainty import root_of_variance

__all__ = [
    "Continuation",
    "DampingEvidence",
    "DecayFit",
    "damping_evidence",
    "fit_decays",
    "gain_chance",
]


def fit_decays(
    record: Record,
    *,
    drift: bool | None = None,
    false_alarm: float = 1e-3,
    max_modes: int | None = None,
    kicks: Kicks | None = None,
    start: ComplexArray = NO_POLES,
    progress: Callable[[str], None] | None = None,
) -> DecayFit:
    """Find the modes of freely decaying motion.

    Parameters
    ----------
    record : Record
        Any times, samples may be missing; channels may differ in quantity.
    drift : bool, optional
        Whether each channel drifts; by default where that is significant.
    false_alarm : float
        Probability that noise alone shows a mode anywhere in the band.
    max_modes : int, optional
        Stop after this many.
    kicks : array_like or sequence of arrays, optional
        Times at which the motion is kicked, or pairs of times between which a force acts, one
        array for all trials or one per trial (as `prism.motion.driven.kicks` gives them);
        the stretches between have their own amplitudes. Samples around a kick that do not
        belong to the free motion are left out.
    start : array, optional
        Poles to begin the search with.
    progress : callable, optional
        Told what is being done.

    Raises
    ------
    NoLineError
        When no mode stands out.
    """
    check_options({"false_alarm": false_alarm, "max_modes": max_modes})
    found = find(record, drift, false_alarm, max_modes, kicks, progress, start)
    if not found.judged.point.count:
        raise NoLineError(
            f"no decaying line is significant at a false-alarm probability of {false_alarm:g} "
            f"({max(record.samples)} samples of {', '.join(record.channels)}); record longer, "
            "reduce the noise, or raise the false-alarm probability."
        )
    return _answer(record, found)


def damping_evidence(
    record: Record,
    *,
    false_alarm: float = 1e-3,
    max_modes: int | None = None,
    kicks: Kicks | None = None,
) -> DampingEvidence:
    r"""Test whether the lines of a record decay.

    The same lines are fitted with rates δ ≥ 0 and with δ = 0. When nothing decays, errors of the
    rates of m resolved lines are independent and half of them are negative, so twice the gain is
    :math:`χ^2_k` with probability :math:`\binom{m}{k} 2^{-m}`.

    Parameters
    ----------
    record : Record
    false_alarm, max_modes, kicks
        As in `fit_decays`.
    """
    check_options({"false_alarm": false_alarm, "max_modes": max_modes})
    found = find(record, None, false_alarm, max_modes, kicks, None)
    point = found.judged.point
    m = point.count
    if not m:
        return DampingEvidence(0.0, 0, 1.0, np.zeros(0), np.zeros(0))
    gain = max(undamped(found.family, point).cost - point.cost, 0.0)
    size = np.abs(point.poles)
    return DampingEvidence(gain, m, gain_chance(gain, m), size, -point.poles.real / size)


def gain_chance(gain: float, m: int) -> float:
    """Chance of a gain of m rates that cannot be negative, when all are zero."""
    k = np.arange(1, m + 1)
    return float(np.sum(comb(m, k) * 0.5**m * chdtrc(k, gain))) if gain > 0 else 1.0


def left_by(record: Record, poles: ComplexArray) -> float:
    """Share of the power that decays with given poles leave: one linear fit.

    Parameters
    ----------
    record : Record
    poles : array
    """
    segments = group(record, cut(record, kick_spans(None, record.n_trials)))[0]
    weights = 1 / np.maximum(record.std() ** 2, np.finfo(float).tiny)
    fits = [attempted(evaluate, segments, some, weights) for some in (poles[:0], poles)]
    whole, rest = fits
    return 1.0 if whole is None or rest is None else rest.cost / whole.cost


def decay_price(m: int) -> float:
    """Gain of m rates that chance alone reaches with the level at which lines are said to decay."""
    return float(
        brentq(lambda g: np.log(gain_chance(g, m) / limits.DECAY_LEVEL), 1e-6, 1e3) if m else 0.0
    )


def rates_chance(fit: DecayFit) -> float:
    """Chance that rates which cannot be negative are so many standard deviations from zero."""
    z = fit.damping / np.maximum(fit.damping_std, np.finfo(float).tiny)
    return gain_chance(float(z @ z), len(fit))


# -- the answer ------------------------------------------------------------------------------------


def _answer(record: Record, found: SoughtDecays) -> DecayFit:
    judged, point = found.judged, found.judged.point
    m, n = point.count, record.n_channels
    order = np.argsort(np.abs(point.poles))
    size = np.abs(point.poles)
    jacobian = modal_jacobian(point.poles)
    modal = jacobian @ judged.covariance @ jacobian.T
    pick = np.concatenate([order, m + order])
    modal = modal[np.ix_(pick, pick)]
    covariance = np.zeros((2 * m + m * n, 2 * m + m * n))
    poles = np.concatenate([np.arange(m), np.arange(m + m * n, 2 * m + m * n)])
    covariance[np.ix_(poles, poles)] = modal
    shapes = [_unmixed(judged.shapes[j], found) for j in order]
    for k, shape in enumerate(shapes):
        here = slice(m + k * n, m + (k + 1) * n)
        covariance[here, here] = shape.covariance
    std = root_of_variance(np.diag(covariance))
    damping = (-point.poles.real / size)[order]
    raw = (-found.free.real / np.abs(found.free))[order]
    remarks: tuple[str | Remark, ...] = found.remarks
    remarks += _phase_remarks(found, order) + _growth_remarks(raw, std[m + m * n :])
    if found.whitening is not None:
        remarks += tuple(noise_remarks(found.whitening, record.channels))
    noise = _noise(found)
    std_of_noise = np.sqrt(np.diag(noise))
    return DecayFit(
        frequencies=size[order],
        damping=np.maximum(damping, 0.0),
        damping_interval=_damping_intervals(raw, std[m + m * n :]),
        shapes=np.array([shape.direction for shape in shapes]),
        covariance=covariance,
        significance=np.sqrt(judged.gains[order]),
        amplitudes=amplitudes(point)[:, order] @ found.back.T,
        stretches=np.array([p.trial for p in found.pieces]),
        starts=found.starts,
        phase_ratio=np.array([shape.ratio for shape in shapes]),
        noise_std=std_of_noise,
        noise_correlation=_correlation(found, noise),
        offset=_offsets(found),
        drift=point.background > 1,
        continuations=_continuations(found),
        rests=rests_of(record, found.pieces, point, found.back),
        unused=sum(record.samples) - sum(p.stop - p.first for p in found.pieces),
        noise=_noise_in_words(record, found),
        remarks=remarks,
    )


def modal_jacobian(poles: ComplexArray) -> Array:
    """Derivatives of (Ω, ζ) by (ω, δ): ``Ω² = ω² + δ²``, ``ζ = δ/Ω``.

    Parameters
    ----------
    poles : array (m,)
    """
    size, omega, delta = np.abs(poles), poles.imag, -poles.real
    return np.block(
        [
            [np.diag(omega / size), np.diag(delta / size)],
            [np.diag(-delta * omega / size**3), np.diag(omega**2 / size**3)],
        ]
    )


def _damping_intervals(zeta: Array, std: Array) -> Array:
    """95 % intervals, (modes, 2).

    δ enters the likelihood as smoothly through zero as elsewhere, so the profile of a small ζ is a
    parabola and its interval is the normal one, cut at zero.
    """
    best = np.maximum(zeta, 0.0)
    normal = np.stack(
        [np.maximum(zeta - limits.NORMAL_95 * std, 0.0), best + limits.NORMAL_95 * std], axis=1
    )
    spread = np.exp(
        limits.NORMAL_95 * std / np.maximum(best, 1e-300).clip(min=std / limits.LOG_NORMAL)
    )
    skew = np.stack([best / spread, best * spread], axis=1)
    return np.where((best > limits.LOG_NORMAL * std)[:, None], skew, normal)


def _noise(found: SoughtDecays) -> Array:
    """Covariance of the noise of the channels over all stretches."""
    segments = segments_of(found.judged.point)
    squares = np.hstack([part.scale**2 for part in segments]).mean(axis=1)
    return np.asarray((found.back * (squares / found.judged.point.weights)) @ found.back.T)


def _correlation(found: SoughtDecays, noise: Array) -> Array | None:
    """Correlation of the noise, where it was used."""
    if found.whitening is None or not found.whitening.mixes:
        return None
    std = np.sqrt(np.diag(noise))
    return np.asarray(noise / np.outer(std, std))


def _unmixed(shape: RealShape, found: SoughtDecays) -> RealShape:
    """A shape of whitened channels as the channels of the record have it."""
    if found.whitening is None:
        return shape
    back = found.back
    d = back @ shape.direction
    length = float(np.linalg.norm(d)) * positive_sign(d)
    d = d / length
    J = (np.eye(len(d)) - np.outer(d, d)) @ back / length
    return replace(shape, direction=d, covariance=J @ shape.covariance @ J.T)


def _offsets(found: SoughtDecays) -> Array:
    out = found.means.copy()
    point = found.judged.point
    for part, one in zip(segments_of(point), point.linear, strict=True):
        out[list(part.members)] += (one.values[:, 0] * part.scale).T
    return np.asarray(out @ found.back.T)


def _continuations(found: SoughtDecays) -> tuple[Continuation, ...]:
    """The stretch that ends each trial, with those before it."""
    out = []
    for trial in sorted({piece.trial for piece in found.pieces}):
        own = [number for number, piece in enumerate(found.pieces) if piece.trial == trial]
        *earlier, last = (_continuation(found, number) for number in own)
        out.append(replace(last, earlier=tuple(earlier)))
    return tuple(out)


def _continuation(found: SoughtDecays, number: int) -> Continuation:
    point = found.judged.point
    pairs = zip(segments_of(point), point.linear, strict=True)
    part, one = next((part, one) for part, one in pairs if number in part.members)
    k = part.members.index(number)
    scale = part.scale[:, k]
    values = one.values[:, :, k] * scale[:, None]
    values[:, 0] += found.means[number]
    n = len(scale)
    inverse = np.broadcast_to(one.inverse, (n, *one.inverse.shape[1:]))
    level = found.judged.levels.max(axis=0)
    own = inverse * (level * scale**2 / point.weights)[:, None, None]
    return Continuation(
        start=float(found.starts[number]),
        span=part.span,
        poles=point.poles,
        background=point.background,
        values=found.back @ values,
        covariance=np.einsum("ac,cij->aij", found.back**2, own),
        slopes=np.broadcast_to(one.slopes, (n, *one.slopes.shape[1:])),
        poles_covariance=found.judged.covariance,
    )


def _noise_in_words(record: Record, found: SoughtDecays) -> str:
    parts = ", ".join(
        f"{name} {std:.3g}"
        for name, std in zip(record.channels, np.sqrt(np.diag(_noise(found))), strict=True)
    )
    unequal = any(np.any(part.scale != 1) for part in segments_of(found.judged.point))
    level = found.judged.levels.max(initial=1.0)
    coloured = f"; up to {np.sqrt(level):.2g} times stronger around a mode" if level > 1 else ""
    each = "; different between stretches" if unequal else ""
    return f"white, standard deviation {parts}{coloured}{each}"


def _phase_remarks(found: SoughtDecays, order: Index) -> tuple[str, ...]:
    out = []
    for j in order:
        shape = found.judged.shapes[j]
        if shape.p_value < limits.PHASE_LEVEL and shape.ratio > limits.PHASE_RATIO:
            frequency = abs(found.judged.point.poles[j]) / (2 * np.pi)
            out.append(
                f"the mode at {frequency:.5g} cycles per time unit is not in phase on all channels "
                f"(second singular value {shape.ratio:.2g}): two modes of one frequency, damping "
                "that couples modes, or a delay between channels would do this."
            )
    return tuple(out)


def _growth_remarks(zeta: Array, std: Array) -> tuple[str, ...]:
    count = int(np.sum(zeta < -3 * std))
    if not count:
        return ()
    modes = "modes grow" if count > 1 else "mode grows"
    return (f"{count} {modes} significantly: this is no free decay; damping is given as zero.",)
