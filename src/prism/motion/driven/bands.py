r"""Bands around modes: which lines, the start of a fit in them, the profile of the damping.

A band reaches ``ω ± (κ ζ ω + ν lines)``; during the search it stops short of what may be a mode
but is not decided yet. Narrow bands are costly: the tails of a resonance tell its force, and so
its damping; with κ = 7 and ν = 12 the bound of ln ζ is a third above that of the whole record, with
20 and 40 a twentieth. Modes whose own lines overlap are fitted together, their forces correlated;
others enter as they are, held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.stats

from prism._types import Array, ComplexArray
from prism.motion.driven.scoring import Fit, log_likelihood, maximise
from prism.motion.driven.spectrum import Lines
from prism.motion.driven.whittle import (
    Band,
    Model,
    displacement_factors,
    joined,
    parameter_slices,
    scaled_band,
    transfers,
)

WIDE = (20.0, 40.0)  # κ and ν of a band
_RESOLVED = (8.0, 100.0)  # the same, of a mode with many lines in its width
_LEAST = (7.0, 12.0)  # that it keeps whatever the neighbours
_CORE = (3.0, 6.0)  # of the lines that a mode dominates
_WIDEST = 0.6  # of ω, on each side
_MOST_DAMPING = 0.25
_LEAST_DAMPING = 1e-6
_HALF_CHI2 = 0.5 * float(scipy.stats.chi2.isf(0.05, 1))
_FULL_NOISE = 6  # lines per channel at least, for a background correlated between channels
_PROFILE_STEPS = 14
_ROUGH = 0.1  # twice the gain in log-likelihood that a fit on the profile may leave
_NEIGHBOURS = 2  # held modes on each side


@dataclass(frozen=True)
class Mode:
    """A mode in the units of the record.

    Attributes
    ----------
    omega, zeta : float
    shape : array (n,)
        Unit, in displacement.
    force : float
        Spectrum of its force; zero where nothing is known yet.
    gain : float
        Twice the gain in log-likelihood it brings, or how well it is supported.
    """

    omega: float
    zeta: float
    shape: Array
    force: float = 0.0
    gain: float = 0.0


@dataclass(frozen=True)
class Place:
    """The lines of a band and the held modes that reach into it."""

    lines: Lines
    band: Band
    held: Model | None


def reach(mode: Mode, span: float, size: tuple[float, float]) -> float:
    """``κ ζ ω + ν 2π/T``."""
    return size[0] * mode.zeta * mode.omega + size[1] * 2 * np.pi / span


def _wide_reach(mode: Mode, span: float) -> float:
    """How far the band of a mode reaches; far tails of a well resolved one tell little."""
    return min(reach(mode, span, WIDE), reach(mode, span, _RESOLVED), _WIDEST * mode.omega)


def overlap(one: Mode, other: Mode, span: float) -> bool:
    """Whether the lines that two modes dominate overlap."""
    size = reach(one, span, _CORE) + reach(other, span, _CORE)
    return abs(one.omega - other.omega) < size


def clusters(modes: Sequence[Mode], span: float) -> list[list[Mode]]:
    """Modes in groups that overlap, ascending."""
    out: list[list[Mode]] = []
    for mode in sorted(modes, key=lambda m: m.omega):
        near = [group for group in out if any(overlap(mode, old, span) for old in group)]
        out = [group for group in out if group not in near]
        out.append([*(old for group in near for old in group), mode])
    return sorted(out, key=lambda group: min(m.omega for m in group))


def band_edges(
    group: Sequence[Mode], others: Sequence[Mode], span: float, limits: tuple[float, float]
) -> tuple[float, float]:
    """Ends of the band of a group of modes, short of the lines that others dominate."""
    ends = []
    for side in (-1.0, 1.0):
        wide = max(side * m.omega + _wide_reach(m, span) for m in group)
        least = max(side * m.omega + reach(m, span, _LEAST) for m in group)
        outermost = max(side * m.omega for m in group)
        stops = [
            side * m.omega - reach(m, span, _CORE) for m in others if side * m.omega > outermost
        ]
        ends.append(side * max(least, min([wide, *stops])))
    return max(limits[0], ends[0]), min(limits[1], ends[1])


def place_of(
    lines: Lines,
    group: Sequence[Mode],
    others: Sequence[Mode],
    stops: Sequence[Mode],
    limits: tuple[float, float],
    *,
    leakage: bool = True,
) -> Place:
    """The band of a group short of `stops`, with the other modes held."""
    span = float(lines.span.max())
    low, high = band_edges(group, stops, span, limits)
    part = lines.between(low, high)
    below = sorted((m for m in others if m.omega < group[0].omega), key=lambda m: m.omega)
    above = sorted((m for m in others if m.omega >= group[0].omega), key=lambda m: m.omega)
    near = [*below[-_NEIGHBOURS:], *above[:_NEIGHBOURS]]
    band = replace(scaled_band(part), leakage=leakage)
    return Place(part, band, in_band(part, band, near, free=False) if near else None)


def in_band(lines: Lines, band: Band, modes: Sequence[Mode], *, free: bool) -> Model:
    """Modes in the units of a band, over a weak background."""
    n = lines.values.shape[1]
    shapes = np.stack([m.shape for m in modes]) / displacement_factors(lines)
    length = np.linalg.norm(shapes, axis=1)
    full = len(band.omega) >= _FULL_NOISE * n and n > 1
    model = Model(
        omega=np.array([m.omega for m in modes]),
        zeta=np.clip([m.zeta for m in modes], _LEAST_DAMPING, 0.9),
        shapes=shapes / length[:, None],
        gains=np.ones(len(modes)),
        force=np.eye(len(modes), dtype=complex),
        noise=quiet_noise(band, full=full),
        free=np.full(len(modes), free),
        full=full,
    )
    gains = 1 / np.sqrt(np.mean(np.abs(transfers(model, band)) ** 2, axis=0))
    force = np.array([m.force for m in modes]) * length**2 / gains**2
    return replace(model, gains=gains, force=np.diag(force).astype(complex))


def quiet_noise(band: Band, *, full: bool) -> ComplexArray:
    """Half the covariance of the weaker half of the lines: a first background."""
    power = np.abs(band.values) ** 2
    weak = np.argsort(np.sum(power, axis=1))[: max(len(power) // 2, 1)]
    quiet = band.values[weak]
    R = 0.5 * quiet.T @ quiet.conj() / len(quiet) + 1e-3 * np.diag(np.mean(power[weak], axis=0))
    R = R if full else np.diag(np.diag(R))
    return np.asarray(R + 1e-8 * np.eye(len(R)), complex)


def start(place: Place, modes: Sequence[Mode]) -> Model:
    """A model of new modes: forces from the lines around each, their damping kept moderate."""
    lines, band = place.lines, place.band
    model = in_band(lines, band, modes, free=True)
    model = replace(model, zeta=np.clip(model.zeta, 1e-4, 0.1))
    power = np.abs(transfers(model, band)) ** 2
    seen = np.abs((band.values / band.powers) @ model.shapes.T) ** 2
    weight = np.sum(power * seen, axis=0) / np.sum(power**2, axis=0)
    return replace(model, force=np.diag(np.maximum(weight, 1e-6)).astype(complex))


def with_held(model: Model, place: Place) -> Model:
    """The model with the held modes of its place, feasible."""
    whole = model if place.held is None else joined(model, place.held)
    return feasible(whole, place.band)


def modes_of(fit: Fit, lines: Lines, gains: Array) -> list[Mode]:
    """The free modes of a fit, in the units of the record."""
    model, factors = fit.model, displacement_factors(lines)
    out = []
    for j in range(model.fitted):
        shape = model.shapes[j] * factors
        length = float(np.linalg.norm(shape))
        force = float(model.force[j, j].real * model.gains[j] ** 2) * length**2
        omega, zeta = float(model.omega[j]), float(model.zeta[j])
        out.append(Mode(omega, zeta, shape / length, force, float(gains[j])))
    return out


def threshold(lines: int, channels: int, modes: int, false_alarm: float) -> float:
    r"""Least twice the gain in log-likelihood of a mode among `modes`.

    .. math:: \max\{2 d \ln(nK),\; χ^2_d\text{-quantile at } α/K\}, \qquad d = n + 2 + 2(m - 1)
    """
    size = channels + 2 + 2 * (modes - 1)
    chance = float(scipy.stats.chi2.isf(false_alarm / lines, size))
    return max(2 * size * float(np.log(channels * lines)), chance)


def least_gain(model: Model, band: Band, j: int, false_alarm: float) -> float:
    """The threshold for free mode j; infinite if it left the band or is hardly an oscillation."""
    omega, zeta = model.omega[j], model.zeta[j]
    inside = band.omega.min() <= omega <= band.omega.max()
    if not inside or zeta > _MOST_DAMPING:
        return float("inf")
    lines, channels = band.values.shape
    return threshold(lines, channels, model.fitted, false_alarm)


def feasible(model: Model, band: Band) -> Model:
    """The model itself, or one close to it whose covariance is positive definite."""
    for attempt in range(8):
        if np.isfinite(log_likelihood(model, band)):
            return model
        model = raised(model, band, 0.1 * 3.0**attempt)
    return replace(model, force=np.diag(np.diag(model.force)))


def raised(model: Model, band: Band, share: float = 0.1) -> Model:
    """The model with positive force spectrum and a raised, positive background."""
    power = np.median(np.abs(band.values) ** 2, axis=0)
    noise = _positive(model.noise) + np.diag(share * power + 1e-6)
    return replace(model, noise=noise, force=_positive(model.force))


def _positive(matrix: ComplexArray) -> ComplexArray:
    """The nearest positive definite matrix."""
    if not len(matrix):
        return matrix
    values, vectors = np.linalg.eigh(matrix)
    least = 1e-6 * max(float(values[-1]), 1e-6)
    return np.asarray((vectors * np.maximum(values, least)) @ vectors.conj().T)


def damping_profile(fit: Fit, band: Band, j: int, std: float) -> tuple[float, float]:
    """95 % profile-likelihood interval of the damping ratio of free mode j.

    The ends are where the likelihood, maximal over all else, is lower by half the χ² quantile;
    the lower end is zero where it never is.

    Parameters
    ----------
    std : float
        Standard deviation of ln ζ from the Fisher information, for the first step.
    """
    step = 1.5 * float(np.clip(std, 0.05, 0.8))
    return _end(fit, band, j, -step), _end(fit, band, j, step)


def _end(fit: Fit, band: Band, j: int, step: float) -> float:
    at = parameter_slices(fit.model)["damping"][j : j + 1]
    best, here = fit.log_likelihood, fit.model
    first = float(fit.model.zeta[j])
    inside, drop_inside, place = 0.0, 0.0, step
    for _ in range(_PROFILE_STEPS):
        zeta = first * float(np.exp(place))
        if zeta < _LEAST_DAMPING:
            return 0.0
        if zeta > _MOST_DAMPING:
            return 1.0
        found = maximise(feasible(_shifted(here, j, zeta), band), band, held=at, tolerance=_ROUGH)
        here, drop = found.model, best - found.log_likelihood
        if drop > _HALF_CHI2:
            # The square root of the drop is nearly linear in ln ζ.
            low, high, target = np.sqrt([drop_inside, drop, _HALF_CHI2])
            return first * float(np.exp(inside + (place - inside) * (target - low) / (high - low)))
        inside, drop_inside = place, max(drop, 0.0)
        place += 0.5 * step if drop > 0.4 * _HALF_CHI2 else max(1.0, 0.7 * abs(place / step)) * step
    return 0.0 if step < 0 else first * float(np.exp(inside))


def _shifted(model: Model, index: int, zeta: float) -> Model:
    """The model at another damping, its force kept so that the power stays."""
    zetas = model.zeta.copy()
    factor = np.ones(model.count)
    factor[index] = np.sqrt(zeta / zetas[index])
    zetas[index] = zeta
    return replace(model, zeta=zetas, force=model.force * np.outer(factor, factor))
