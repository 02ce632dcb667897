r"""What the Fourier lines of a stationary motion could tell at best of its modes.

Modes add :math:`\sum_{ij} S_{ij} c_i c_j^H`, :math:`c_j = h_j v_j`, to the spectrum of the noise of
the sensors; D is the sum. The gain of a mode is twice the log-likelihood of a model with it over
that of the best one without it. That one is not the true spectrum less the mode: noise that is
unknown rises, neighbours change their forces and, where they overlap the mode, their poles and
shapes. With :math:`D'` the spectrum without the mode, noise and all forces at their best, the gain
is expected to be

.. math:: 2 \min_{D'} \sum_k \operatorname{tr} D'^{-1} D - n - \ln \det D'^{-1} D

times the share that changes of overlapping poles and shapes leave of it. To second order the sum is
:math:`\sum_k \lVert \ln D^{-1/2} D' D^{-1/2} \rVert^2`, and without mode m, all else unchanged,
the logarithm is

.. math:: x_k = -\ln(1 + s)\, \hat a \hat a^H, \qquad
          s = S_m c_m^H (D - S_m c_m c_m^H)^{-1} c_m, \qquad a = D^{-1/2} c_m:

the share is that of the squares of what remains of x after projection on the directions
:math:`D^{-1/2} D_p D^{-1/2}` with those changes and without. Larger ones would make another mode
of a neighbour, and a strong mode would pass for a weak one that is there besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.driven.bands import DrivenMode, threshold
from prism.motion.driven.scoring import maximise
from prism.motion.driven.spectrum import FourierLines, LineBand, line_band
from prism.motion.driven.whittle import BandModel
from prism.record import Record
from prism.settings import DEFAULT_FALSE_ALARM
from prism_bench.kinds.case import TrueMode
from prism_bench.kinds.systems import Drawn

NEARBY = 40.0  # half widths around a resonance that tell of it
CELLS = 20.0  # and cells
CLOSE = 1.0  # of a gain, to which it is known
ALIKE = 1e-12  # of the largest: directions that are combinations of others

_Pair = tuple[ComplexArray, ComplexArray]


def driven_modes(drawn: Drawn, forces: Array, noise: Array, record: Record) -> tuple[TrueMode, ...]:
    r"""Modes of a stationary motion, by the likelihood of its Fourier lines.

    A mode is visible above twice what a search asks of one that overlaps as many others as it does.
    The information on its frequency, all else known, is
    :math:`\sum_k (\tfrac{s}{1+s})^2 (∂ \ln |h_m|^2/∂Ω)^2`.

    Parameters
    ----------
    drawn : Drawn
    forces : array (modes, modes)
        Spectrum of the modal forces.
    noise : array (channels,)
    record : Record
    """
    out = []
    for m, (w, d) in enumerate(zip(drawn.system.frequencies, drawn.zeta, strict=True)):
        place = _Place.around(drawn, forces, noise, m)
        gain, information = place.gain(), place.information()
        std = float(1 / np.sqrt(information)) if information > 0 else np.inf
        lines, together = len(place.omega), 1 + len(place.free)
        limit = 2 * threshold(lines, record.n_channels, together, DEFAULT_FALSE_ALARM)
        out.append(TrueMode(float(w), float(d), drawn.system.shapes[m], gain, std, gain > limit))
    return tuple(out)


@dataclass(frozen=True, eq=False)
class _Place:
    """The lines that tell of mode m, and what else is in them.

    Attributes
    ----------
    m : int
    free : list of int
        Modes that overlap it.
    omega : array (K,)
    below : complex array (K, modes)
        The denominators 1/h.
    poles : arrays (modes,)
        Frequencies and damping ratios.
    shapes : array (modes, channels)
    force : array (modes, modes)
        Spectra of the modal forces.
    noise : array (channels,)
        Spectra of the noise of the sensors.
    """

    m: int
    free: list[int]
    omega: Array
    below: ComplexArray
    poles: tuple[Array, Array]
    shapes: Array
    force: Array
    noise: Array

    @classmethod
    def around(cls, drawn: Drawn, force: Array, noise: Array, m: int) -> _Place:
        """The lines near a mode."""
        omega, zeta, shapes = drawn.system.frequencies, drawn.zeta, drawn.system.participation
        columns = zip(omega, zeta, shapes, strict=True)
        modes = [DrivenMode(float(w), float(d), v) for w, d, v in columns]
        free = [
            j for j in range(len(modes)) if j != m and modes[j].overlaps(modes[m], drawn.duration)
        ]
        grid = drawn.resolution * np.arange(1, drawn.samples // 2)
        reach = NEARBY * omega[m] * zeta[m] + CELLS * drawn.resolution
        lines = grid[np.abs(grid - omega[m]) < reach]
        below = omega**2 - lines[:, None] ** 2 + 2j * zeta * omega * lines[:, None]
        return cls(m, free, lines, below, (omega, zeta), shapes, force, noise**2 * drawn.dt)

    @property
    def others(self) -> list[int]:
        """All modes but m."""
        return [j for j in range(len(self.force)) if j != self.m]

    @property
    def power(self) -> Array:
        """Spectrum of the force of each mode."""
        return np.diag(self.force)

    @property
    def columns(self) -> ComplexArray:
        """The c of every line and mode, (K, modes, channels)."""
        return np.asarray(self.shapes / self.below[:, :, None])

    @property
    def whitening(self) -> ComplexArray:
        """The inverse of a root of D at every line, (K, channels, channels)."""
        c = self.columns
        D = np.einsum("j,kja,kjb->kab", self.power, c, c.conj()) + np.diag(self.noise)
        return np.asarray(np.linalg.inv(np.linalg.cholesky(D)))

    @property
    def share(self) -> Array:
        """``s/(1 + s)`` at every line."""
        a = np.einsum("kab,kb->ka", self.whitening, self.columns[:, self.m])
        return np.asarray(self.power[self.m] * np.sum(np.abs(a) ** 2, axis=1))

    def information(self) -> float:
        """On the frequency, all else known."""
        (w, d), lines = (values[self.m] for values in self.poles), self.omega
        slope = (
            -4 * w * (w**2 - lines**2 + 2 * d**2 * lines**2) / np.abs(self.below[:, self.m]) ** 2
        )
        return float(np.sum(self.share**2 * slope**2))

    def gain(self) -> float:
        """Twice the log-likelihood that the mode is expected to bring."""
        return self.refitted() * self.share_left()

    def refitted(self) -> float:
        """The same where noise and forces alone can change.

        Lines of spectrum D are, to a likelihood, n lines for each whose outer products sum to nD.
        """
        c, n = self.columns, len(self.noise)
        D = np.einsum("ij,kia,kjb->kab", self.force, c, c.conj()) + np.diag(self.noise)
        lines = np.sqrt(n) * np.linalg.cholesky(D).swapaxes(1, 2).reshape(-1, n)
        each = np.zeros(len(lines), int)
        ends = np.full(len(lines), 2 * np.pi / (self.omega[1] - self.omega[0]))
        whole = FourierLines(np.repeat(self.omega, n), ends, lines, np.zeros(n, int), each)
        band = line_band(whole, leakage=False)
        best = maximise(self._without(band), band, tolerance=CLOSE * n).log_likelihood
        most = -n * (np.linalg.slogdet(D / np.outer(band.scale, band.scale))[1] + n)
        return float(2 * (np.sum(most) - best) / n)

    def _without(self, band: LineBand) -> BandModel:
        """All else as it is, in the units of a band; forces and noise can be fitted."""
        others, (omega, zeta), n = self.others, self.poles, len(self.noise)
        shapes = self.shapes[others] / band.scale
        length = np.linalg.norm(shapes, axis=1)
        gains = 1 / np.sqrt(np.mean(np.abs(self.below[:, others]) ** -2.0, axis=0))
        unit = length / gains
        return BandModel(
            *(omega[others], zeta[others], shapes / length[:, None], gains),
            force=(self.force[np.ix_(others, others)] * np.outer(unit, unit)).astype(complex),
            noise=np.diag(self.noise / band.scale**2).astype(complex),
            fitted=0,
            full=n > 1,
            linked=len(others),
        )

    def share_left(self) -> float:
        """What changes of poles and shapes that overlap leave of the gain."""
        if not self.free:
            return 1.0
        powers = self.power_directions()
        return self._left([*powers, *self.pole_directions()]) / self._left(powers)

    def _left(self, pairs: list[_Pair]) -> float:
        """The square of what remains of x without some directions."""
        L, own, share = self.whitening, self.columns[:, self.m], self.share
        a = np.einsum("kab,kb->ka", L, own)
        logarithm = -np.log1p(-share) / np.maximum(np.sum(np.abs(a) ** 2, axis=1), 1e-300)
        x = (logarithm[:, None, None] * a[:, :, None] * a[:, None, :].conj()).ravel().view(float)
        sides = (np.array([pair[side] for pair in pairs], complex) for side in (0, 1))
        U, V = (np.einsum("kab,pkb->pka", L, part) for part in sides)
        G = U[..., :, None] * V[..., None, :].conj()
        G += G.conj().swapaxes(2, 3)
        flat = G.reshape(len(U), -1).view(float)
        flat /= np.linalg.norm(flat, axis=1, keepdims=True)
        seen = flat @ x
        taken = np.linalg.lstsq(flat @ flat.T, seen, rcond=ALIKE)[0]
        return float(x @ x - seen @ taken)

    def power_directions(self) -> list[_Pair]:
        """Pairs u, v: noise and forces can change D by multiples of ``u vᴴ`` plus its adjoint."""
        n = len(self.noise)
        sensors = np.broadcast_to(np.eye(n)[:, None, :], (n, len(self.omega), n))
        return [*_pairs(sensors), *_pairs(self.columns.swapaxes(0, 1)[self.others])]

    def pole_directions(self) -> list[_Pair]:
        """The same of poles and shapes that overlap."""
        pairs, lines = [], self.omega[:, None]
        for j in self.free:
            (w, d), c = (values[j] for values in self.poles), self.columns[:, j]
            h = 1 / self.below[:, j, None]
            by_omega = -(2 * w + 2j * d * lines) * h * c
            by_zeta = -2j * w * lines * h * c
            by_shape = (h * e for e in np.eye(len(self.noise)))
            pairs += [(new, c) for new in (by_omega, by_zeta, *by_shape)]
        return pairs


def _pairs(columns: Sequence[ComplexArray] | Array) -> list[_Pair]:
    """Factors of a basis of the Hermitian forms in some columns."""
    out = []
    for i, one in enumerate(columns):
        out.append((one, one))
        for other in columns[i + 1 :]:
            out += [(one, other), (1j * one, other)]
    return out
