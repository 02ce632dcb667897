r"""How well an explanation accounts for the samples: one likelihood for all kinds of motion.

What a motion leaves of the record is noise, or a spectrum that the motion itself predicts. Its
Fourier lines :math:`Y_k` (n channels) are complex Gaussian, and in each of a set of blocks of
neighbouring lines the noise has one Hermitian spectral matrix R, which is fitted:

.. math:: -2 \log L = 2 \sum_b K_b (\log\det \hat R_b + n), \qquad
          \hat R_b = \frac{1}{K_b} \sum_{k \in b} Y_k Y_k^H

for motions that leave noise, and :math:`2 \sum_k (\log\det E_k + Y_k^H E_k^{-1} Y_k)` with
:math:`E = D(ω) + R` (`prism.motion.driven`) for motion driven by noise. The blocks are the bands of
the driven modes, where some were found, and pieces of what lies between. So noise may have any
colour, and may be correlated between channels, and it may do so for every kind alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_toeplitz

from prism._types import Array, ComplexArray, Index
from prism.motion import _limits as limits
from prism.motion.driven.scoring import BandFit
from prism.motion.driven.spectrum import FourierLines, fourier_lines
from prism.motion.ends import end_columns, without_ends
from prism.record import Record

__all__ = ["Account", "costs", "lines_of", "price_of", "usable"]


@dataclass(frozen=True)
class Account:
    """What an explanation leaves, and what it costs.

    Attributes
    ----------
    rests : tuple of arrays (samples, channels)
        The record without the motion, of each trial; with `bands`, without what is steady in it.
    price : float
        Of the parameters of the motion, in units of twice the log-likelihood.
    bands : tuple of BandFit
        Where the motion is random: its spectra.
    """

    rests: tuple[Array, ...]
    price: float
    bands: tuple[BandFit, ...] = ()


def price_of(record: Record, parameters: float) -> float:
    r"""Price of some parameters, :math:`k \log(n N)` with N the samples of the longest trial."""
    return parameters * float(np.log(record.n_channels * max(record.samples)))


def usable(record: Record) -> bool:
    """Whether a record has Fourier lines."""
    even = record.dt is not None and not record.missing
    return even and min(record.samples) >= limits.FEWEST_SAMPLES


def lines_of(record: Record, rests: Sequence[Array]) -> FourierLines:
    """Fourier lines of what is left of a record."""
    return fourier_lines(Record(list(rests), dt=record.dt, quantity=record.quantity))


def costs(record: Record, accounts: Sequence[Account]) -> list[float]:
    """Score of every explanation on the same Fourier lines, or samples where there are none.

    Parameters
    ----------
    record : Record
    accounts : sequence of Account
    """
    record, accounts = _evened(record, accounts)
    if not usable(record):
        return [_in_time(record, one.rests) + one.price for one in accounts]
    bands = next((one.bands for one in accounts if one.bands), ())
    filters = _filters(record, accounts[0].rests, limits.PREWHITENING)
    # a filter with a peak would explain driven motion: the one of bands has none
    plain = _filters(record, accounts[0].rests, 1)
    seen, inside = (lines_of(record, one(record.trials)) for one in (filters, plain))
    pieces, least = blocks(seen, bands), _rounding(seen)
    out = []
    for one in accounts:
        left = lines_of(record, filters(one.rests))
        cost = sum(_profile(left.values[piece], least) for piece in pieces)
        if one.bands:
            cost = min(cost, _with_ends(record, left, pieces, least, bands, filters))
            cost += sum(_random(band) for band in bands)
        elif bands:
            rest = lines_of(record, plain(one.rests))
            floor = _rounding(inside)
            cost += sum(_in_band(rest, floor, band, plain) for band in bands)
        out.append(float(cost) + one.price)
    return out


def _evened(record: Record, accounts: Sequence[Account]) -> tuple[Record, Sequence[Account]]:
    """Trials in units of what the first explanation leaves of each, where that differs much.

    One that is far noisier would be all that counts. The units are the same for all explanations;
    motion that is driven by noise has those of its bands.
    """
    if record.n_trials == 1 or any(one.bands for one in accounts):
        return record, accounts
    power = np.array([np.nanmean(rest**2, axis=0) for rest in accounts[0].rests])
    power = np.mean(power / (power.mean(axis=0) + limits.TINY), axis=1)
    if power.max() < limits.TRIALS_APART**2 * power.min():
        return record, accounts
    levels = np.sqrt(power + limits.TINY)

    def even(values: Sequence[Array]) -> tuple[Array, ...]:
        return tuple(y / level for y, level in zip(values, levels, strict=True))

    same = [replace(one, rests=even(one.rests)) for one in accounts]
    return record.with_values(list(even(record.trials))), same


def _with_ends(
    record: Record,
    left: FourierLines,
    pieces: Sequence[Index],
    floor: Array,
    bands: Sequence[BandFit],
    filters: _Prewhitening,
) -> float:
    """The cost of noise outside the bands, with the ends of the modes and their price."""
    poles = np.concatenate([band.model.free().poles for band in bands])
    columns = end_columns(left.omega, poles, filters.step)
    values = without_ends(left, pieces, columns, filters.gain(left.omega))
    ends = columns.shape[1] * record.n_channels * record.n_trials
    return sum(_profile(values[piece], floor) for piece in pieces) + price_of(record, ends)


def _in_time(record: Record, rests: Sequence[Array]) -> float:
    r""":math:`\sum_a N_a (\log σ_a^2 + 1)`: white noise, where gaps leave no Fourier lines."""
    left = np.nansum([np.nansum(rest**2, axis=0) for rest in rests], axis=0)
    seen = np.nansum([np.nansum(y**2, axis=0) for y in record.trials], axis=0)
    counts = np.sum([np.isfinite(y).sum(axis=0) for y in record.trials], axis=0)
    variance = (left + limits.ROUNDING**2 * seen + limits.TINY) / counts
    return float(counts @ (np.log(variance) + 1))


@dataclass(frozen=True)
class _Prewhitening:
    r"""The filter :math:`z_t = y_t - \sum_j φ_{ja} y_{t-j}`, the same for all explanations.

    Noise that is strong at some frequencies, slow ones or those of a broad peak, and does not end
    where it began leaks over the whole spectrum, all of it in phase, so that any motion there would
    seem to explain it. A filter with an inverse changes no likelihood but for this.
    """

    phi: Array
    step: float

    def gain(self, omega: Array) -> ComplexArray:
        """``1 - Σ_j φ_ja exp(-iωj dt)``, (lines, channels)."""
        lags = np.arange(1, len(self.phi) + 1)
        turned = np.exp(-1j * self.step * np.multiply.outer(omega, lags))
        return np.asarray(1 - turned @ self.phi)

    def log_gain(self, omega: Array) -> Array:
        """``log |gain|²``, (lines, channels)."""
        return np.asarray(np.log(np.abs(self.gain(omega)) ** 2), float)

    def __call__(self, rests: Sequence[Array]) -> list[Array]:
        order = len(self.phi)
        return [
            rest[order:]
            - sum(phi * rest[order - j : len(rest) - j] for j, phi in enumerate(self.phi, 1))
            for rest in rests
        ]


def _filters(record: Record, rests: Sequence[Array], order: int) -> _Prewhitening:
    """Yule and Walker's equations for what the first explanation leaves."""
    about = [rest - rest.mean(axis=0) for rest in rests]
    lagged = np.array(
        [
            np.sum([np.sum(rest[j:] * rest[: len(rest) - j], axis=0) for rest in about], axis=0)
            for j in range(order + 1)
        ]
    )
    lagged[0] = lagged[0] * (1 + limits.ROUNDING) + limits.TINY
    phi = [solve_toeplitz(one[:order], one[1:]) for one in lagged.T]
    assert record.dt is not None
    return _Prewhitening(np.array(phi).T, record.dt)


def blocks(lines: FourierLines, bands: Sequence[BandFit]) -> list[Index]:
    """Lines outside all bands, in blocks of neighbours."""
    lowest = 2 * np.pi * limits.LOWEST_CYCLES / lines.longest
    inside = lines.omega < lowest
    for band in bands:
        low, high = band.band.ends
        inside |= (lines.omega >= low) & (lines.omega <= high)
    order = np.argsort(lines.omega, kind="stable")
    left = order[~inside[order]]
    if not len(left):
        return []
    place = np.cumsum(inside[order])[~inside[order]]
    runs = np.split(left, np.flatnonzero(np.diff(place)) + 1)
    pieces = [piece for run in runs for piece in _pieces(run, lines)]
    return [piece for piece in pieces if len(piece) >= limits.FEWEST_LINES]


def _pieces(run: Index, lines: FourierLines) -> list[Index]:
    """Neighbouring lines in blocks that are narrow where noise may be steep: at low frequencies."""
    share = np.log(limits.BLOCK_GROWTH)
    edges, place = [0], 0
    per_cell = len(lines.trials)
    while place < len(run):
        cells = lines.omega[run[place]] * lines.longest / (2 * np.pi)
        width = int(np.clip(share * cells, limits.FEWEST_LINES, limits.BLOCK_LINES))
        place += width * per_cell
        edges.append(place)
    return [np.asarray(piece) for piece in np.split(run, edges[1:-1]) if len(piece)]


def _rounding(seen: FourierLines) -> Array:
    """Power of a line, of each channel, below which noise is rounding: that is white."""
    return np.asarray(limits.ROUNDING**2 * np.mean(np.abs(seen.values) ** 2, axis=0), float)


def _in_band(left: FourierLines, floor: Array, band: BandFit, filters: _Prewhitening) -> float:
    """The cost of noise in a band of driven modes, in the units of that band, unfiltered."""
    (low, high), scale = band.band.ends, band.band.scale
    inside = left.between(low, high)
    changed = 2 * float(np.sum(filters.log_gain(inside.omega)))
    full = band.model.full
    return _profile(inside.values / scale, floor / scale**2, full=full) - changed


def _random(band: BandFit) -> float:
    return -2 * band.entire.log_likelihood


def _profile(left: ComplexArray, floor: Array, *, full: bool | None = None) -> float:
    """``2 K (log det R + n)`` with the R that fits best; diagonal where there are few lines.

    Parameters
    ----------
    left : array (lines, channels)
    floor : array (channels,)
        Power below which what is left is rounding.
    """
    K, n = len(left), left.shape[1]
    R = left.T @ left.conj() / K + np.diag(floor + limits.TINY)
    if full is None:
        full = n > 1 and limits.LINES_PER_CHANNEL * n <= K
    log_det = float(np.linalg.slogdet(R)[1]) if full else float(np.log(np.diag(R).real).sum())
    return float(2 * K * (log_det + n))
