r"""Modes of a stationary record driven by noise nobody measured (operational modal analysis).

.. math:: \ddot η_j + 2 ζ_j Ω_j \dot η_j + Ω_j^2 η_j = w_j(t), \qquad x = \sum_j φ_j η_j

with w a noise whose spectrum is flat over each resonance. Subspace identification proposes modes
(`subspace`), the likelihood of the Fourier lines decides on each and fits those it keeps
(`search`, `bands`, `scoring`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from prism._linalg import positive_sign
from prism._types import Array
from prism.errors import NoLineError, OptionError
from prism.motion.damped import DampedModes
from prism.motion.driven.bands import Mode, damping_profile, modes_of
from prism.motion.driven.innovations import drive_remarks
from prism.motion.driven.search import BandFit, Search
from prism.motion.driven.spectrum import fourier_lines, usable_step
from prism.motion.driven.subspace import candidates
from prism.motion.driven.whittle import displacement_factors, parameter_slices, tangents
from prism.options import check_options
from prism.record import Record

__all__ = ["DrivenFit", "fit_driven"]

_LOWEST_LINE = 3.0  # cycles in the record
_PROFILE = 5.0  # ζ f T below which the damping gets a profile interval
_NORMAL = 1.959964


@dataclass(frozen=True)
class DrivenFit(DampedModes):
    """Modes of a noise-driven record.

    Intervals of the damping are log-normal, and by profile likelihood where ζ f T < 5: there a
    standard deviation says little.
    """


@dataclass(frozen=True)
class _Mode:
    """A mode of the answer, with the covariance of (Ω, shape, ζ)."""

    omega: float
    zeta: float
    interval: tuple[float, float]
    shape: Array
    gain: float
    band: int
    jacobian: Array  # of (Ω, shape, ζ) by the parameters of its band


def fit_driven(
    record: Record,
    *,
    band: tuple[float, float] | None = None,
    false_alarm: float = 1e-3,
    max_modes: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> DrivenFit:
    """Find the modes of a record driven by unmeasured stationary noise.

    Parameters
    ----------
    record : Record
        Uniform in time, without missing samples; channels may differ in quantity.
    band : (float, float), optional
        Angular frequencies to look between; by default three cycles in the record to 0.95 of the
        Nyquist frequency.
    false_alarm : float
        Chance of a false mode per band; the penalty of `bands` is usually the stricter one.
    max_modes : int, optional
        Keep the most significant ones.
    progress : callable, optional
        Told what is being done.

    Raises
    ------
    NoLineError
        When no mode stands out.
    """
    tell = progress or (lambda text: None)
    low, high = _limits(record, band, false_alarm, max_modes)
    lines = fourier_lines(record)
    tell("candidates by subspace identification")
    proposed = candidates(record, low, high)
    tell(f"{len(proposed)} candidates; likelihood of each")
    fits = Search(lines, (low, high), false_alarm).run(
        [Mode(c.omega, c.zeta, c.shape, 0.0, c.support) for c in proposed]
    )
    if not fits:
        raise NoLineError(
            f"none of {len(proposed)} candidate modes stands out of the noise: record longer, or "
            "give a band around the resonances."
        )
    tell(f"{sum(len(part.gains) for part in fits)} modes; intervals of the damping")
    return _answer(record, fits, max_modes)


def _limits(
    record: Record,
    band: tuple[float, float] | None,
    false_alarm: float,
    max_modes: int | None,
) -> tuple[float, float]:
    dt = usable_step(record)
    check_options({"false_alarm": false_alarm, "max_modes": max_modes})
    lowest, nyquist = 2 * np.pi * _LOWEST_LINE / record.duration, np.pi / dt
    if band is None:
        return lowest, 0.95 * nyquist
    low, high = (float(edge) for edge in band)
    if not 0 <= low < high <= nyquist * (1 + 1e-9):
        raise OptionError(
            f"the band {band} must ascend and end below the Nyquist frequency {nyquist:.6g}."
        )
    return max(low, lowest), min(high, 0.999 * nyquist)


def _signed_modes(part: BandFit) -> list[Mode]:
    """The modes of a band, the largest entry of every shape positive."""
    modes = modes_of(part.fit, part.lines, part.gains)
    return [replace(m, shape=positive_sign(m.shape) * m.shape) for m in modes]


def _inverse(information: Array) -> Array:
    """Covariance of the parameters; directions without information are left out."""
    scale = 1 / np.sqrt(np.maximum(np.diag(information), 1e-300))
    inverse = np.linalg.pinv(information * np.outer(scale, scale), rcond=1e-11, hermitian=True)
    return np.asarray(inverse * np.outer(scale, scale))


def _jacobian(part: BandFit, j: int, shape: Array) -> Array:
    """Derivatives of (Ω, displacement shape, ζ) of free mode j by the parameters of its band."""
    model = part.fit.model
    at = parameter_slices(model)
    n = len(shape)
    out = np.zeros((n + 2, len(part.fit.information)))
    out[0, at["frequency"][j]] = model.omega[j]
    out[-1, at["damping"][j]] = model.zeta[j]
    factors = displacement_factors(part.lines)
    scaled = factors * model.shapes[j]
    sign = np.sign(scaled @ shape)
    turn = factors[:, None] * tangents(model.shapes[j])
    turn = sign * (turn - np.outer(shape, shape @ turn)) / np.linalg.norm(scaled)
    out[1:-1, at["shape"][j * (n - 1) : (j + 1) * (n - 1)]] = turn
    return out


def _modes_of(part: BandFit, number: int, covariance: Array) -> list[_Mode]:
    out = []
    for j, mode in enumerate(_signed_modes(part)):
        at = parameter_slices(part.fit.model)["damping"][j]
        std = float(np.sqrt(covariance[at, at]))
        cycles = mode.zeta * mode.omega / (2 * np.pi) * float(part.lines.span.max())
        if cycles < _PROFILE:
            interval = damping_profile(part.fit, part.band, j, std)
        else:
            spread = float(np.exp(_NORMAL * std))
            interval = (mode.zeta / spread, mode.zeta * spread)
        out.append(
            _Mode(
                mode.omega,
                mode.zeta,
                interval,
                mode.shape,
                mode.gain,
                number,
                _jacobian(part, j, mode.shape),
            )
        )
    return out


def _answer(record: Record, fits: list[BandFit], max_modes: int | None) -> DrivenFit:
    inverses = [_inverse(part.fit.information) for part in fits]
    modes = [
        mode
        for number, (part, inverse) in enumerate(zip(fits, inverses, strict=True))
        for mode in _modes_of(part, number, inverse)
    ]
    modes = sorted(modes, key=lambda mode: -mode.gain)[:max_modes]
    modes.sort(key=lambda mode: mode.omega)
    covariance = _covariance(modes, inverses)
    m, n = len(modes), record.n_channels
    std = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return DrivenFit(
        frequencies=np.array([mode.omega for mode in modes]),
        frequencies_std=std[:m],
        damping=np.array([mode.zeta for mode in modes]),
        damping_std=std[m + m * n :],
        damping_interval=np.array([mode.interval for mode in modes]),
        shapes=np.array([mode.shape for mode in modes]),
        shapes_std=std[m : m + m * n].reshape(m, n),
        covariance=covariance,
        significance=np.sqrt([mode.gain for mode in modes]),
        noise=_noise_in_words(record, fits),
        remarks=(*_fit_remarks(fits), *drive_remarks(record)),
    )


def _covariance(modes: list[_Mode], inverses: list[Array]) -> Array:
    """Of (frequencies, shapes, damping); bands are independent."""
    m, n = len(modes), len(modes[0].shape)
    places = [np.concatenate([[j], m + j * n + np.arange(n), [m + m * n + j]]) for j in range(m)]
    out = np.zeros((m * (n + 2), m * (n + 2)))
    for a, here in zip(modes, places, strict=True):
        for b, there in zip(modes, places, strict=True):
            if a.band == b.band:
                block = a.jacobian @ inverses[a.band] @ b.jacobian.T
                out[np.ix_(here, there)] = block
    return out


def _noise_in_words(record: Record, fits: list[BandFit]) -> str:
    shares = []
    for part in fits:
        R = np.maximum(np.diag(part.fit.model.noise).real, 0.0)
        shares.append(R / np.mean(np.abs(part.band.values) ** 2, axis=0))
    mean = np.mean(shares, axis=0)
    each = ", ".join(
        f"{name} {share:.2g}" for name, share in zip(record.channels, mean, strict=True)
    )
    return (
        "flat within each band, estimated with the modes, correlated between channels; mean share "
        f"of the power in the bands: {each}"
    )


def _fit_remarks(fits: list[BandFit]) -> tuple[str, ...]:
    out = []
    for part in fits:
        low, high = part.lines.omega.min() / (2 * np.pi), part.lines.omega.max() / (2 * np.pi)
        place = f"band {low:.4g} to {high:.4g} cycles per time unit"
        if not part.fit.converged:
            out.append(f"{place}: the likelihood was not quite at its maximum.")
        if not part.fit.model.full and part.lines.values.shape[1] > 1:
            out.append(f"{place}: too few lines for noise correlated between channels.")
    return tuple(out)
