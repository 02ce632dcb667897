r"""Modes of one band: start, likelihood test of each mode, profile of the damping.

A mode stays where twice the gain in log-likelihood that it brings exceeds

.. math:: \max\{2 d \ln(nK),\; χ^2_d\text{-quantile at } α/K\}, \qquad d = n + 2 + 2(m - 1)

with d its parameters among m modes, n channels, K lines; the fit without it starts from the fit
with it, so that the two are nested.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
import scipy.stats

from prism._types import Array, ComplexArray
from prism.damped.spectrum import Lines
from prism.damped.subspace import Candidate
from prism.damped.whittle import (
    Band,
    Fit,
    Model,
    displacement_factors,
    log_likelihood,
    maximise,
    parameter_slices,
    scaled_band,
    transfers,
)

_WIDTH = 7.0  # half bandwidths on each side
_LINES = 12.0  # and lines
_MOST_DAMPING = 0.25
_LEAST_DAMPING = 1e-6
_HALF_CHI2 = 0.5 * float(scipy.stats.chi2.isf(0.05, 1))
_FULL_NOISE = 6  # lines per channel at least, for a background correlated between channels


@dataclass(frozen=True)
class BandFit:
    """Modes kept in one band.

    Attributes
    ----------
    lines : Lines
    band : Band
    fit : Fit
    gains : array
        Twice the gain in log-likelihood of each free mode.
    """

    lines: Lines
    band: Band
    fit: Fit
    gains: Array


def band_edges(
    modes: list[Candidate], span: float, low: float, high: float
) -> list[tuple[float, float, list[Candidate]]]:
    """Bands ``ω (1 ± κζ) ± 12 lines``, overlapping ones joined, with the modes in each."""
    out: list[tuple[float, float, list[Candidate]]] = []
    for mode in sorted(modes, key=lambda c: c.omega):
        half = _WIDTH * mode.zeta * mode.omega + _LINES * 2 * np.pi / span
        bottom, top = max(low, mode.omega - half), min(high, mode.omega + half)
        if out and bottom < out[-1][1]:
            before = out[-1]
            out[-1] = (min(before[0], bottom), max(before[1], top), [*before[2], mode])
        else:
            out.append((bottom, top, [mode]))
    return out


def start(lines: Lines, band: Band, modes: list[Candidate]) -> Model:
    """A model of the band from candidates: forces from the lines around each, weak background."""
    n = lines.values.shape[1]
    shapes = np.stack([c.shape for c in modes]) / displacement_factors(lines)
    shapes /= np.linalg.norm(shapes, axis=1, keepdims=True)
    median = np.median(np.abs(band.values) ** 2, axis=0)
    model = Model(
        omega=np.array([c.omega for c in modes]),
        zeta=np.clip([c.zeta for c in modes], 1e-4, 0.1),
        shapes=shapes,
        gains=np.ones(len(modes)),
        force=np.eye(len(modes), dtype=complex),
        noise=np.diag(0.3 * median + 1e-6).astype(complex),
        free=np.ones(len(modes), bool),
        full=len(band.omega) >= _FULL_NOISE * n and n > 1,
    )
    power = np.einsum("kii->ki", transfers(model, band)[0]).real
    model = replace(model, gains=1 / np.sqrt(power.mean(axis=0)))
    power = power / power.mean(axis=0)
    seen = np.abs((band.values / band.powers) @ shapes.T) ** 2
    weight = np.sum(power * seen, axis=0) / np.sum(power**2, axis=0)
    return replace(model, force=np.diag(np.maximum(weight, 1e-6)).astype(complex))


def threshold(lines: int, channels: int, modes: int, false_alarm: float) -> float:
    """Least twice the gain in log-likelihood of a mode among `modes`."""
    size = channels + 2 + 2 * (modes - 1)
    chance = float(scipy.stats.chi2.isf(false_alarm / lines, size))
    return max(2 * size * float(np.log(channels * lines)), chance)


def fit_band(lines: Lines, modes: list[Candidate], false_alarm: float) -> BandFit | None:
    """Add the modes of a band one by one, best supported first, and test every one that stays.

    Returns
    -------
    BandFit or None
        None where no mode stays.
    """
    band = scaled_band(lines)
    fit: Fit | None = None
    for mode in sorted(modes, key=lambda c: -c.support):
        alone = start(lines, band, [mode])
        before = _background(alone, band) if fit is None else fit
        after = maximise(alone if fit is None else _joined(fit.model, alone), band)
        gain = 2 * (after.log_likelihood - before.log_likelihood)
        if gain > _least_gain(after.model, band, after.model.count - 1, false_alarm):
            fit = after
    return None if fit is None else _tested(lines, band, fit, false_alarm)


def _joined(model: Model, more: Model) -> Model:
    """Both models' modes, their forces independent, with the background of the first."""
    return replace(
        model,
        omega=np.concatenate([model.omega, more.omega]),
        zeta=np.concatenate([model.zeta, more.zeta]),
        shapes=np.concatenate([model.shapes, more.shapes]),
        gains=np.concatenate([model.gains, more.gains]),
        free=np.concatenate([model.free, more.free]),
        force=np.asarray(scipy.linalg.block_diag(model.force, more.force), complex),
    )


def _tested(lines: Lines, band: Band, fit: Fit, false_alarm: float) -> BandFit | None:
    """Drop, one by one, the modes that the data do not ask for."""
    while True:
        gains = np.full(fit.model.count, np.inf)
        rest: Fit | None = None
        for j in np.argsort(_strength(fit)):
            rival = _without(fit, int(j), band)
            gains[j] = 2 * (fit.log_likelihood - rival.log_likelihood)
            if gains[j] < _least_gain(fit.model, band, int(j), false_alarm):
                rest = rival
                break
        if rest is None:
            return BandFit(lines, band, fit, gains)
        if rest.model.count == 0:
            return None
        fit = rest


def _least_gain(model: Model, band: Band, j: int, false_alarm: float) -> float:
    """The threshold for free mode j; infinite if it left the band or is hardly an oscillation."""
    omega, zeta = model.omega[j], model.zeta[j]
    inside = band.omega.min() <= omega <= band.omega.max()
    if not inside or zeta > _MOST_DAMPING:
        return float("inf")
    lines, channels = band.values.shape
    return threshold(lines, channels, model.count, false_alarm)


def _strength(fit: Fit) -> Array:
    """Force of each free mode over the error it would have alone: weak ones are tested first."""
    at = parameter_slices(fit.model)["auto"][: int(fit.model.free.sum())]
    force = np.diag(fit.model.force).real[: len(at)]
    return np.asarray(force * np.sqrt(np.diag(fit.information)[at]))


def _without(fit: Fit, j: int, band: Band) -> Fit:
    """The maximum without mode j, started from the one with it."""
    if fit.model.count == 1:
        return _background(fit.model, band)
    rest = fit.model.without(j)
    first = maximise(_feasible(rest, band), band)
    if first.converged:
        return first
    again = maximise(_raised(rest, band), band)
    return max(first, again, key=lambda f: f.log_likelihood)


def _feasible(model: Model, band: Band) -> Model:
    """The model itself, or one close to it whose E is positive definite."""
    return model if np.isfinite(log_likelihood(model, band)) else _raised(model, band)


def _raised(model: Model, band: Band) -> Model:
    """The model with positive force spectrum and a raised, positive background."""
    power = np.median(np.abs(band.values) ** 2, axis=0)
    noise = _positive(model.noise) + np.diag(0.1 * power + 1e-6)
    return replace(model, noise=noise, force=_positive(model.force))


def _positive(matrix: ComplexArray) -> ComplexArray:
    """The nearest positive definite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    least = 1e-6 * max(float(values[-1]), 1e-6)
    return np.asarray((vectors * np.maximum(values, least)) @ vectors.conj().T)


def _background(model: Model, band: Band) -> Fit:
    """The maximum without any mode: R is the mean of y yᴴ, or of its diagonal."""
    R = band.values.T @ band.values.conj() / len(band.values)
    R = R if model.full else np.diag(np.diag(R))
    R = R + 1e-8 * np.eye(len(R))
    empty = replace(model.without(0), noise=R, free=np.zeros(0, bool))
    return Fit(empty, log_likelihood(empty, band), np.zeros((0, 0)), True)


def damping_profile(fit: Fit, band: Band, j: int, std: float) -> tuple[float, float]:
    """95 % profile-likelihood interval of the damping ratio of free mode j.

    The ends are where the likelihood, maximal over all else, is lower by half the χ² quantile;
    the lower end is zero where it never is.

    Parameters
    ----------
    std : float
        Standard deviation of ln ζ from the Fisher information, for the first step.
    """
    return _end(fit, band, j, -min(std, 1.0)), _end(fit, band, j, min(std, 1.0))


def _end(fit: Fit, band: Band, j: int, step: float) -> float:
    at = parameter_slices(fit.model)["damping"][j]
    index = int(np.flatnonzero(fit.model.free)[j])
    size = len(fit.information)
    inside, drop_inside = 0.0, 0.0
    here, best = fit, fit.log_likelihood
    place = step
    while True:
        move = np.zeros(size)
        move[at] = place - inside
        zeta = float(here.model.zeta[index]) * np.exp(move[at])
        if zeta < _LEAST_DAMPING:
            return 0.0
        if zeta > _MOST_DAMPING:
            return 1.0
        shifted = _feasible(_shifted(here.model, index, zeta), band)
        here = maximise(shifted, band, held=np.array([at]))
        drop = best - here.log_likelihood
        if drop > _HALF_CHI2:
            break
        inside, drop_inside = place, max(drop, 0.0)
        place = place + step * (1.0 + 0.5 * (abs(place) > 4 * abs(step)))
    # The square root of the drop is nearly linear in ln ζ.
    low, high, target = np.sqrt([drop_inside, drop, _HALF_CHI2])
    where = inside + (place - inside) * (target - low) / (high - low)
    return float(fit.model.zeta[index] * np.exp(where))


def _shifted(model: Model, index: int, zeta: float) -> Model:
    """The model at another damping, its force kept so that the power stays."""
    zetas = model.zeta.copy()
    factor = np.ones(model.count)
    factor[index] = np.sqrt(zeta / zetas[index])
    zetas[index] = zeta
    return replace(model, zeta=zetas, force=model.force * np.outer(factor, factor))
