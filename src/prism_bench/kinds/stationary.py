r"""What the Fourier lines of a stationary motion could tell at best of its modes.

Modes add :math:`S_j c_j c_j^H`, :math:`c_j = h_j v_j`, to the spectrum of the noise of the sensors;
D is the sum. The gain of a mode is twice the log-likelihood of a model with it over that of the
best one without it. That one is not the true spectrum less the mode: noise that is free in the band
rises, neighbours change their forces and, where they overlap the mode, their poles and shapes.
Twice the expected log-likelihood ratio of two spectra is
:math:`\sum_k \lVert \ln D^{-1/2} D' D^{-1/2} \rVert^2` to second order. Without mode m, all else
unchanged, the logarithm is

.. math:: x_k = -\ln(1 + s)\, \hat a \hat a^H, \qquad
          s = S_m c_m^H (D - S_m c_m c_m^H)^{-1} c_m, \qquad a = D^{-1/2} c_m,

and what changes of the others can undo of it is its projection on their directions
:math:`D^{-1/2} D_p D^{-1/2}`. The gain is the square of what remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.driven._limits import NEIGHBOURS
from prism.motion.driven.bands import DrivenMode, band_edges, threshold
from prism.record import Record
from prism.settings import DEFAULT_FALSE_ALARM
from prism_bench.kinds.case import TrueMode
from prism_bench.kinds.systems import Drawn

ALIKE = 1e-12  # of the largest: directions that are combinations of others


def driven_modes(drawn: Drawn, forces: Array, noise: Array, record: Record) -> tuple[TrueMode, ...]:
    r"""Modes of a stationary motion, by the likelihood of its Fourier lines.

    A mode is visible above twice what a search asks of one that overlaps as many others as it does.
    The information on its frequency, all else known, is
    :math:`\sum_k (\tfrac{s}{1+s})^2 (∂ \ln |h_m|^2/∂Ω)^2`.

    Parameters
    ----------
    drawn : Drawn
    forces : array (modes, modes)
        Spectrum of the modal forces, of which the diagonal is used.
    noise : array (channels,)
    record : Record
    """
    out = []
    for m, (w, d) in enumerate(zip(drawn.system.frequencies, drawn.zeta, strict=True)):
        place = _Place.around(drawn, np.diag(forces), noise, m)
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
    free, tails : list of int
        Modes that overlap it, and neighbours beyond these.
    omega : array (K,)
    below : complex array (K, modes)
        The denominators 1/h.
    poles : arrays (modes,)
        Frequencies and damping ratios.
    shapes : array (modes, channels)
    power : array (modes,)
        Spectra of the modal forces.
    noise : array (channels,)
        Spectra of the noise of the sensors.
    """

    m: int
    free: list[int]
    tails: list[int]
    omega: Array
    below: ComplexArray
    poles: tuple[Array, Array]
    shapes: Array
    power: Array
    noise: Array

    @classmethod
    def around(cls, drawn: Drawn, power: Array, noise: Array, m: int) -> _Place:
        """The band that a search with the true modes would look at."""
        omega, zeta, shapes = drawn.system.frequencies, drawn.zeta, drawn.system.participation
        columns = zip(omega, zeta, shapes, strict=True)
        modes = [DrivenMode(float(w), float(d), v) for w, d, v in columns]
        own, others = modes[m], [j for j in range(len(modes)) if j != m]
        free = [j for j in others if modes[j].overlaps(own, drawn.duration)]
        apart = [j for j in others if j not in free]
        near = [j for j in apart if j < m][-NEIGHBOURS:] + [j for j in apart if j > m][:NEIGHBOURS]
        ends = drawn.resolution, np.pi / drawn.dt - drawn.resolution
        low, high = band_edges(
            [own, *(modes[j] for j in free)], [modes[j] for j in apart], drawn.duration, ends
        )
        grid = drawn.resolution * np.arange(1, drawn.samples // 2)
        lines = grid[(grid >= low) & (grid <= high)]
        below = omega**2 - lines[:, None] ** 2 + 2j * zeta * omega * lines[:, None]
        return cls(m, free, near, lines, below, (omega, zeta), shapes, power, noise**2 * drawn.dt)

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
        slope = -4 * w * (w**2 - lines**2 + 2 * d**2 * lines**2) / np.abs(self.below[:, self.m]) ** 2
        return float(np.sum(self.share**2 * slope**2))

    def gain(self) -> float:
        """Twice the log-likelihood that the mode is expected to bring."""
        L, own, share = self.whitening, self.columns[:, self.m], self.share
        a = np.einsum("kab,kb->ka", L, own)
        logarithm = -np.log1p(-share) / np.maximum(np.sum(np.abs(a) ** 2, axis=1), 1e-300)
        x = (logarithm[:, None, None] * a[:, :, None] * a[:, None, :].conj()).ravel().view(float)
        U, V = (np.einsum("kab,pkb->pka", L, part) for part in self.directions())
        G = U[..., :, None] * V[..., None, :].conj()
        G += G.conj().swapaxes(2, 3)
        flat = G.reshape(len(U), -1).view(float)
        flat /= np.linalg.norm(flat, axis=1, keepdims=True)
        seen = flat @ x
        taken = np.linalg.lstsq(flat @ flat.T, seen, rcond=ALIKE)[0]
        return float(x @ x - seen @ taken)

    def directions(self) -> tuple[ComplexArray, ComplexArray]:
        """U and V, (P, K, n): all else can change D by multiples of ``U Vᴴ`` plus its adjoint."""
        c, n = self.columns.swapaxes(0, 1), len(self.noise)
        sensors = np.broadcast_to(np.eye(n)[:, None, :], (n, len(self.omega), n))
        pairs = [*_pairs(sensors), *_pairs(c[[*self.free, *self.tails]])]
        for j in self.free:
            w, d = (values[j] for values in self.poles)
            h = 1 / self.below[:, j, None]
            by_omega = -(2 * w + 2j * d * self.omega[:, None]) * h * c[j]
            by_zeta = -2j * w * self.omega[:, None] * h * c[j]
            pairs += [(new, c[j]) for new in (by_omega, by_zeta, *(h * e for e in sensors))]
        U, V = (np.array([pair[side] for pair in pairs], complex) for side in (0, 1))
        return U, V


def _pairs(columns: Sequence[ComplexArray] | Array) -> list[tuple[ComplexArray, ComplexArray]]:
    """Factors of a basis of the Hermitian forms in some columns."""
    out = []
    for i, one in enumerate(columns):
        out.append((one, one))
        for other in columns[i + 1 :]:
            out += [(one, other), (1j * one, other)]
    return out
