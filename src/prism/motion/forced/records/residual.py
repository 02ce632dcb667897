"""What a fit leaves of a forced record: how large it is, and whether it is white."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prism._types import Array, Mask
from prism.motion.forced.records import _limits as limits
from prism.motion.forced.records.data import ForcedData, filtered
from prism.remarks import Remark


@dataclass(frozen=True)
class Left:
    """What a fit leaves of a record as it was recorded.

    Attributes
    ----------
    recorded, data : ForcedData
        As recorded, and as the fit sees it, through the filters of its noise.
    fitted : list of arrays (samples, channels)
    level : array (channels,)
        Standard deviation of white noise.
    """

    recorded: ForcedData
    data: ForcedData
    fitted: list[Array]
    level: Array

    @cached_property
    def residual(self) -> list[Array]:
        """In each trial, zero where nothing was seen."""
        pairs = zip(self.recorded.trials, self.fitted, strict=True)
        return [np.where(t.seen, t.motion - f, 0.0) for t, f in pairs]

    @cached_property
    def rms(self) -> Array:
        """Of each channel."""
        total = sum((r**2).sum(axis=0) for r in self.residual)
        return np.asarray(np.sqrt(total / self.recorded.counts))

    @property
    def noise_std(self) -> Array:
        """Of each channel, coloured or white."""
        return self.rms if self.data.filters else self.level

    @property
    def noise(self) -> str:
        """In words."""
        pairs = zip(self.noise_std, self.data.motions, strict=True)
        words = ", ".join(f"{s:.3g} ({name})" for s, name in pairs)
        return f"{'coloured' if self.data.filters else 'white'} noise, std {words}"

    def inside(self, omega: Array) -> Mask:
        """Whether frequencies are where the force has power."""
        low, high = self.data.force_band()
        return np.asarray((omega >= low) & (omega <= high))

    @property
    def remarks(self) -> list[Remark]:
        """Whether it is white."""
        return whiteness(self.recorded, self.residual, self.data.filters)


def spread_of(data: ForcedData) -> Array:
    """Standard deviation of each motion channel, about the mean of each trial."""
    total = np.zeros(len(data.motions))
    for trial in data.trials:
        mean = trial.motion.sum(axis=0) / np.maximum(trial.seen.sum(axis=0), 1)
        total += (np.where(trial.seen, trial.motion - mean, 0.0) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(total / data.counts))


def whiteness(data: ForcedData, residual: list[Array], filters: tuple[Array, ...]) -> list[Remark]:
    """What is said of a residual that is not white, and whether the errors count it."""
    remarks = []
    low, high = data.force_band()
    spread = spread_of(data)
    for a, name in enumerate(data.motions):
        longest = max(residual, key=len)[:, a]
        h = filters[a] if filters else np.ones(1)
        whitened = filtered(longest[:, None], h)[len(h) - 1 :, 0]
        if longest.std() <= limits.NO_NOISE * spread[a]:
            continue
        left = _not_white(_power(whitened))
        if len(h) == 1 and not left:
            continue
        power = _power(longest)
        omega = 2 * np.pi * np.arange(1, len(power) + 1) / (len(longest) * data.dt)
        inside = (omega >= low) & (omega <= high)
        remarks.append(_coloured(f"{name} is not white{_ratio(power, inside)}", len(h) - 1, left))
    return remarks


def _coloured(what: str, order: int, left: bool) -> Remark:
    """Said of one motion: whether an autoregression of some order is all of its colour."""
    if left:
        unlike = "the model does not explain all of the motion, and the stated errors are too small"
        return Remark(f"the residual of {what}: {unlike}", code="not-white")
    counted = "search and errors take it for coloured noise; it may be motion that the modes miss"
    return Remark(
        f"the residual of {what}: {counted}",
        f"autoregression of order {order}",
        "identify a response of the same test beside it (prism.estimate.estimate_response)",
        code="coloured",
    )


def _power(values: Array) -> Array:
    return np.asarray(np.abs(np.fft.rfft(values))[1:-1] ** 2)


def _not_white(power: Array) -> bool:
    r"""Bartlett's test: the cumulative periodogram of white noise is a straight line.

    .. math:: \sqrt{m}\,\max_k \Big| \frac{\sum_{i \le k} I_i}{\sum_i I_i} - \frac{k}{m} \Big|
              \to \text{Kolmogorov's law}
    """
    m = len(power)
    distance = np.abs(np.cumsum(power) / power.sum() - np.arange(1, m + 1) / m).max()
    return bool(np.sqrt(m) * distance >= limits.KOLMOGOROV)


def _ratio(power: Array, inside: Mask) -> str:
    if not inside.any() or inside.all():
        return ""
    ratio = power[inside].mean() / power[~inside].mean()
    return f" (in the band of the force {ratio:.3g} times what it is outside)"
