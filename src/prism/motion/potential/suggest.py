"""Signs of a nonlinear motion in a linear fit.

A nonlinear force turns a motion of frequencies Ω into lines at sums of their multiples, and its
frequency moves with the amplitude. A linear system has lines where it likes, so a line that falls
on a multiple or a combination of stronger ones within its own error is unlikely to be its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from prism._types import Array, ComplexArray
from prism.modes import Modes
from prism.motion.potential import _limits as limits
from prism.record import Record
from prism.remarks import Ask, Words

__all__ = ["Phasors", "Suggestion", "suggests_nonlinearity"]


@dataclass(frozen=True)
class Suggestion:
    """Whether to fit a potential.

    Attributes
    ----------
    nonlinear : bool
    signs : tuple of str
        What was seen: harmonics, combination lines, frequencies that move with the amplitude.
    """

    nonlinear: bool
    signs: tuple[str, ...]

    def __str__(self) -> str:
        if not self.nonlinear:
            return "No sign of a nonlinear force."
        ask = Ask("potential", "auto", '"auto"')
        advice = Words(". Try {0} to fit the force and the hidden modes.", (ask,))
        return f"The motion looks nonlinear: {'; '.join(self.signs)}{advice}"


class Phasors(NamedTuple):
    """Amplitudes of lines, which say whether their phases go together.

    Attributes
    ----------
    omega : array (lines,)
    z : array (trials, lines)
        About one time in each trial.
    variance : array (trials, lines)
        Of the phases.
    """

    omega: Array
    z: ComplexArray
    variance: Array

    def locked(self, line: float, multiples: Array, parents: Array) -> float | None:
        r"""The chance that a phase is as near to that of a combination; None where it is not near.

        The force of a spring does not know the direction of time, so that
        :math:`φ - \sum_i m_i φ_i` is 0 or π; the phase of another mode is any.

        Parameters
        ----------
        line : float
            Its frequency.
        multiples, parents : arrays
            m, and the frequencies of the others.
        """
        k, *others = (int(np.argmin(np.abs(self.omega - w))) for w in (line, *parents))
        turns = multiples * np.sign(multiples @ parents)  # lines have positive frequencies
        phase = np.angle(self.z)
        off = np.angle(np.exp(2j * (phase[:, k] - phase[:, others] @ turns))) / 2
        std = np.sqrt(self.variance[:, k] + self.variance[:, others] @ turns**2)
        reach = np.minimum(limits.COINCIDENCE * std, 0.5 * np.pi)
        return float(np.prod(2 * reach / np.pi)) if np.all(np.abs(off) <= reach) else None


def suggests_nonlinearity(
    modes: Modes, record: Record | None = None, phasors: Phasors | None = None
) -> Suggestion:
    """Look for harmonics, combination lines and frequencies that move with the amplitude.

    Parameters
    ----------
    modes : Modes
        Lines of a linear fit, ``prism.identify(record).modes``.
    record : Record, optional
        With several trials of different amplitude, their frequencies are compared.
    phasors : Phasors, optional
        Lines whose phases go another way than those of combinations are none.
    """
    signs = _coincidences(modes.vibrating(), phasors)
    if record is not None:
        signs += _shifts(record)
    return Suggestion(bool(signs), tuple(signs))


def _coincidences(modes: Modes, phasors: Phasors | None) -> list[str]:
    """Lines on multiples and combinations of stronger ones that chance does not explain."""
    strength = np.asarray(modes.amplitudes, float).mean(axis=0)
    order = np.argsort(-strength)
    omega, std = modes.frequencies[order], modes.frequencies_std[order]
    span = float(omega.max()) if len(omega) else 1.0
    signs = []
    for k in range(1, len(omega)):
        parents = min(k, 2)
        best, tried, width, chance = "", 0, 0.0, 1.0
        for multiples in _combinations(parents):
            target = float(np.abs(multiples @ omega[:parents]))
            error = float(np.hypot(std[k], np.sqrt(multiples**2 @ std[:parents] ** 2)))
            if not 0 < target < 1.5 * span:
                continue
            tried, width = tried + 1, max(width, error)
            if best or abs(omega[k] - target) >= limits.COINCIDENCE * error:
                continue
            alike = 1.0 if phasors is None else phasors.locked(omega[k], multiples, omega[:parents])
            if alike is not None:
                best, chance = _words(omega[k], multiples, omega[:parents]), alike
        # the chance that one of the places tried lies that near, with such a phase
        chance *= tried * 2 * limits.COINCIDENCE * width / span
        if best and chance < limits.CHANCE * parents:
            signs.append(best)
    return signs


def _combinations(parents: int) -> list[Array]:
    """Multiples of the strongest lines, low orders first."""
    every = product(range(-limits.ORDERS, limits.ORDERS + 1), repeat=parents)
    good = [
        m for m in every if 1 < sum(map(abs, m)) <= limits.ORDERS and next(i for i in m if i) > 0
    ]
    return [np.array(m, float) for m in sorted(good, key=lambda m: sum(map(abs, m)))]


def _words(line: float, multiples: Array, parents: Array) -> str:
    if np.count_nonzero(multiples) == 1:
        i = int(np.flatnonzero(multiples)[0])
        return f"the line at {line:.4g} is {abs(multiples[i]):g} times that at {parents[i]:.4g}"
    parts = " ".join(f"{m:+g}·{p:.4g}" for m, p in zip(multiples, parents, strict=True) if m)
    return f"the line at {line:.4g} is the combination {parts}"


def _shifts(record: Record) -> list[str]:
    """Trials whose strongest line moves with its amplitude."""
    if record.n_trials < 2 or record.dt is None:
        return []
    found = np.array([_strongest(y[:, 0], record.dt) for y in record.trials])
    frequency, amplitude, error = found.T
    spread = float(np.ptp(frequency))
    if np.ptp(amplitude) < 0.1 * amplitude.max() or spread < limits.SHIFT * float(error.max()):
        return []
    if abs(np.corrcoef(frequency, amplitude)[0, 1]) < 0.8 and record.n_trials > 2:
        return []
    low, high = np.argmin(amplitude), np.argmax(amplitude)
    return [
        f"the strongest line moves from {frequency[low]:.4g} to {frequency[high]:.4g} as its "
        f"amplitude goes from {amplitude[low]:.3g} to {amplitude[high]:.3g}"
    ]


def _strongest(y: Array, dt: float) -> tuple[float, float, float]:
    """Frequency, amplitude and error of the strongest line, from a windowed transform."""
    z = np.nan_to_num(y - np.nanmean(y))
    window = np.hanning(len(z))
    size = 8 * len(z)
    power = np.abs(np.fft.rfft(z * window, size))
    k = int(np.clip(np.argmax(power), 1, len(power) - 2))
    a, b, c = np.log(power[k - 1 : k + 2] + 1e-300)
    shift = 0.5 * (a - c) / (a - 2 * b + c) if a - 2 * b + c else 0.0
    step = 2 * np.pi / (size * dt)
    # other lines pull a windowed peak by a small part of the resolution
    return (k + shift) * step, 2 * power[k] / window.sum(), 0.1 * 2 * np.pi / (len(z) * dt)
