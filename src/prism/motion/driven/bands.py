r"""Bands around modes: which lines, and the start of a fit in them.

A band reaches ``ω ± (κ ζ ω + ν lines)``; during the search it stops short of what may be a mode
but is not decided yet. Narrow bands are costly: the tails of a resonance tell its force, and so
its damping; with κ = 7 and ν = 12 the bound of ln ζ is a third above that of the whole record, with
20 and 40 a twentieth. Modes whose own lines overlap are fitted together, their forces correlated;
others enter as they are, held, but for their forces where these show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.stats

from prism._types import Array, ComplexArray
from prism.motion.driven import _limits as limits
from prism.motion.driven.groups import grouped
from prism.motion.driven.scoring import BandFit, feasible, maximise, raised
from prism.motion.driven.spectrum import FourierLines, LineBand, line_band
from prism.motion.driven.whittle import BandModel, columns, spectrum, transfers


@dataclass(frozen=True, eq=False)
class DrivenMode:
    """A mode in the units of the record, itself and no other even where the numbers agree.

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

    def reach(self, span: float, size: tuple[float, float]) -> float:
        """``κ ζ ω + ν 2π/T``."""
        return size[0] * self.zeta * self.omega + size[1] * 2 * np.pi / span

    def overlaps(self, other: DrivenMode, span: float) -> bool:
        """Whether the lines that two modes dominate overlap."""
        size = self.reach(span, limits.CORE_BAND) + other.reach(span, limits.CORE_BAND)
        return abs(self.omega - other.omega) < size

    def alike(self, other: DrivenMode, span: float) -> bool:
        """Whether another one has nearly the same frequency and shape."""
        relative, lines, alike = limits.SAME_CANDIDATE
        near = max(relative * self.omega, lines * 2 * np.pi / span)
        close = abs(self.omega - other.omega) < near
        length = (self.shape @ self.shape) * (other.shape @ other.shape)
        return bool(close and (self.shape @ other.shape) ** 2 > alike * length)


def clusters(modes: Sequence[DrivenMode], span: float) -> list[list[DrivenMode]]:
    """Modes in groups that overlap, ascending."""
    out: list[list[DrivenMode]] = []
    for mode in sorted(modes, key=lambda m: m.omega):
        near = [group for group in out if any(mode.overlaps(old, span) for old in group)]
        out = [group for group in out if group not in near]
        out.append([*(old for group in near for old in group), mode])
    return sorted(out, key=lambda group: min(m.omega for m in group))


def band_edges(
    group: Sequence[DrivenMode],
    others: Sequence[DrivenMode],
    span: float,
    ends: tuple[float, float],
) -> tuple[float, float]:
    """Ends of the band of a group of modes, short of the lines that others dominate."""

    def wide(mode: DrivenMode) -> float:
        """How far its band reaches; far tails of a well resolved mode tell little."""
        sizes = (limits.WIDE_BAND, limits.WIDE_BAND_RESOLVED)
        return min(limits.WIDEST_BAND * mode.omega, *(mode.reach(span, size) for size in sizes))

    def end(side: float) -> float:
        far = max(side * m.omega + wide(m) for m in group)
        least = max(side * m.omega + m.reach(span, limits.NARROWEST_BAND) for m in group)
        last = max(side * m.omega for m in group)
        beyond = [m for m in others if side * m.omega > last]
        stops = [side * m.omega - m.reach(span, limits.CORE_BAND) for m in beyond]
        return side * max(least, min([far, *stops]))

    return max(ends[0], end(-1.0)), min(ends[1], end(1.0))


@dataclass(frozen=True)
class HeldBand:
    """The lines of a band and the held modes that reach into it."""

    band: LineBand
    held: BandModel

    @classmethod
    def around(
        cls,
        lines: FourierLines,
        group: Sequence[DrivenMode],
        others: Sequence[DrivenMode],
        edges: tuple[float, float],
        *,
        leakage: bool = True,
    ) -> HeldBand:
        """The band of a group, as `band_edges` has it, with the other modes held."""
        part = lines.between(*edges)
        ranked = sorted(others, key=lambda m: m.omega)
        below = [m for m in ranked if m.omega < group[0].omega]
        near = [*below[-limits.NEIGHBOURS :], *ranked[len(below) :][: limits.NEIGHBOURS]]
        every = [*group, *others]
        band = grouped(
            line_band(part, leakage=leakage), [m.omega for m in every], [m.zeta for m in every]
        )
        return cls(band, replace(in_band(band, near), fitted=0))

    def linked(self, model: BandModel) -> HeldBand:
        r"""The same with those held modes linked whose interference with another mode shows.

        With :math:`s_i = Q_{ii} c_i^H D^{-1} c_i` the share of a mode at a line, c its column, the
        information on the coherence γ of two forces is :math:`2 \sum_k s_i s_j`, the mean over
        phases of :math:`\sum_k \operatorname{tr}(D^{-1} D_γ)^2`. A γ that is left out shifts
        other parameters by up to γ times the root of that in standard deviations.
        """
        whole = feasible(model.joined(self.held), self.band)
        A, D = columns(whole, self.band), spectrum(whole, self.band)
        seen = np.linalg.solve(D, A.swapaxes(1, 2)).swapaxes(1, 2)
        shares = np.diag(whole.force).real * np.sum(A.conj() * seen, axis=2).real
        information = 2 * (shares * self.band.counts[:, None]).T @ shares
        np.fill_diagonal(information, 0.0)
        shows = information.max(axis=0)[model.count :] > limits.LINKED
        order = np.argsort(~shows, kind="stable")
        return replace(self, held=replace(self.held.only(order), linked=int(shows.sum())))

    def fit(
        self, model: BandModel, tolerance: float = limits.ROUGH_GAIN, wanted: float = -np.inf
    ) -> BandFit:
        """The maximum of the likelihood of free modes beside the held ones."""
        first = feasible(model.joined(self.held), self.band)
        return maximise(first, self.band, tolerance=tolerance, wanted=wanted)

    def empty(self, wanted: float = -np.inf) -> BandFit:
        """The maximum without any free mode."""
        nothing = in_band(self.band, [])
        noise = _covariance(self.band, full=nothing.full)
        return self.fit(replace(nothing, noise=noise), wanted=wanted)

    def again(self, model: BandModel, tolerance: float = limits.ROUGH_GAIN) -> BandFit:
        """The fit of free modes once more, by way of the forces.

        With poles and shapes at once steps may be lost.
        """
        first = feasible(model.joined(self.held), self.band)
        still = np.concatenate([first.at[name] for name in ("frequency", "damping", "shape")])
        first = maximise(first, self.band, still, tolerance=limits.ROUGH_GAIN).model
        return maximise(first, self.band, tolerance=tolerance)

    def without(self, fit: BandFit, j: int, least: float) -> BandFit:
        """The maximum without free mode j, started from the one with it.

        Not quite the maximum where that falls short by `limits.CLEARLY` times the least gain: the
        modes left take many steps towards what they cannot explain.
        """
        model, wanted = fit.model, fit.log_likelihood - 0.5 * limits.CLEARLY * least
        if model.fitted == 1:
            return self.empty(wanted)
        rest = model.only(np.delete(np.arange(model.count), j))
        rough = limits.ROUGH_GAIN
        first = maximise(feasible(rest, self.band), self.band, tolerance=rough, wanted=wanted)
        if first.converged or first.log_likelihood < wanted:
            return first
        again = maximise(raised(rest, self.band), self.band, tolerance=rough, wanted=wanted)
        return max(first, again, key=lambda f: f.log_likelihood)

    def least_gain(self, model: BandModel, j: int, false_alarm: float) -> float:
        """The threshold for free mode j; infinite if it left the band or became too broad for one.

        Of the modes fitted with it those count as its neighbours that it overlaps itself: in a
        long chain of modes nobody has to pay for cross spectra with the other end.
        """
        low, high = self.band.ends
        inside = low <= model.omega[j] <= high
        if not inside or model.zeta[j] > limits.BROADEST:
            return float("inf")
        lines, channels = self.band.size
        near = self.neighbours(model, j)
        return threshold(lines, channels, near, false_alarm, model.driven - near)

    def neighbours(self, model: BandModel, j: int) -> int:
        """Number of free modes that overlap free mode j, itself among them."""
        omega, span = model.omega[: model.fitted], self.band.longest
        reach = limits.CORE_BAND[0] * model.zeta[: model.fitted] * omega
        reach = reach + limits.CORE_BAND[1] * 2 * np.pi / span
        return int(np.sum(np.abs(omega - omega[j]) < reach + reach[j]))


def in_band(band: LineBand, modes: Sequence[DrivenMode]) -> BandModel:
    """Modes in the units of a band, all free, over a weak background."""
    m, (lines, n) = len(modes), band.size
    shapes = np.reshape([mode.shape for mode in modes], (m, n)) / band.displacement
    length = np.linalg.norm(shapes, axis=1)
    full = lines >= limits.FULL_NOISE * n and n > 1
    model = BandModel(
        omega=np.array([mode.omega for mode in modes]),
        zeta=np.clip([mode.zeta for mode in modes], limits.LEAST_DAMPING, 0.9),
        shapes=shapes / length[:, None],
        gains=np.ones(m),
        force=np.eye(m, dtype=complex),
        noise=_quiet_noise(band, full=full),
        fitted=m,
        full=full,
    )
    gains = 1 / np.sqrt(np.mean(np.abs(transfers(model, band)) ** 2, axis=0))
    force = np.array([mode.force for mode in modes]) * length**2 / gains**2
    return replace(model, gains=gains, force=np.diag(force).astype(complex))


def _covariance(band: LineBand, *, full: bool, share: float = 1.0) -> ComplexArray:
    """A share of the covariance of lines, as background; diagonal where not `full`."""
    R = share * band.covariance
    R = R if full else np.diag(np.diag(R))
    return np.asarray(R + 1e-8 * np.eye(len(R)), complex)


def _quiet_noise(band: LineBand, *, full: bool) -> ComplexArray:
    """Half the covariance of the weaker half of the lines: a first background."""
    power = band.powers_seen
    weak = np.argsort(np.sum(power, axis=1))[: max(len(power) // 2, 1)]
    floor = 1e-3 * np.diag(np.mean(power[weak], axis=0))
    return _covariance(band.only(weak), full=full, share=0.5) + floor


def start(band: LineBand, modes: Sequence[DrivenMode]) -> BandModel:
    """A model of new modes: forces from the lines around each, their damping kept moderate."""
    model = in_band(band, modes)
    model = replace(model, zeta=np.clip(model.zeta, *limits.START_DAMPING))
    power = np.abs(transfers(model, band)) ** 2
    seen = np.abs((band.values / band.powers) @ model.shapes.T) ** 2
    if band.groups is not None:
        across = (model.shapes / band.powers[:, None]).conj()
        seen = (
            seen
            + np.einsum(
                "kma,kab,kmb->km", across.conj(), band.groups.rest, across, optimize=True
            ).real
        )
    weight = np.sum(power * seen, axis=0) / np.sum(band.counts[:, None] * power**2, axis=0)
    return replace(model, force=np.diag(np.maximum(weight, 1e-6)).astype(complex))


def threshold(lines: int, channels: int, modes: int, false_alarm: float, linked: int = 0) -> float:
    r"""Least twice the gain in log-likelihood of a mode among `modes`, with so many more linked.

    .. math:: \max\{\tfrac32 d \ln(nK),\; χ^2_{d+l/2}\text{-quantile at } α/K\}, \qquad
              d = n + 2 + 2(m - 1)

    Cross spectra with the forces of the l linked modes gain little by chance: they are bounded, and
    little is known of most of them.
    """
    size = channels + 2 + 2 * (modes - 1)
    return price(size, channels * lines, false_alarm / lines, linked)


def price(size: int, numbers: int, level: float, linked: int = 0) -> float:
    """The threshold of `threshold` for d = size parameters, nK = numbers, and α/K = level."""
    freedom = size + limits.LINKED_FREEDOM * linked
    chance = float(scipy.stats.chi2.isf(level, freedom))
    return max(limits.MODE_PRICE * size * float(np.log(numbers)), chance)
