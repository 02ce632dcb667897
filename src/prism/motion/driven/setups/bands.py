"""Bands of several set-ups around joint modes: the start of a fit in them, and the price of a mode.

Each set-up has lines of its own in a band, with the other modes held as it sees them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.stats

from prism._types import Array, Mask
from prism.motion.driven import _limits as limits
from prism.motion.driven.bands import (
    DrivenMode,
    HeldBand,
    band_edges,
    in_band,
    price,
    start,
)
from prism.motion.driven.scoring import feasible
from prism.motion.driven.search import KeptModes
from prism.motion.driven.setups import _limits as own_limits
from prism.motion.driven.setups.joint import JointFit, JointFrame, JointModel
from prism.motion.driven.setups.linkage import Linkage
from prism.motion.driven.spectrum import FourierLines
from prism.motion.driven.whittle import BandModel

__all__ = ["JointBand", "JointMode", "Support", "joint_modes"]


class Support(NamedTuple):
    """What speaks for a mode.

    Attributes
    ----------
    ratio : float
        Its gain over its price, in the set-ups where that is largest.
    setups : tuple of int
        Those that show it, given its pole; forces of others are taken for none.
    gain : float
        Twice the gain in log-likelihood that it brings in all.
    """

    ratio: float
    setups: tuple[int, ...]
    gain: float

    def silent(self, setups: int) -> tuple[int, ...]:
        """Set-ups that do not show it; none of a mode that was not judged."""
        return tuple(r for r in range(setups) if self.setups and r not in self.setups)


UNASKED = Support(0.0, (), 0.0)
"""Of a mode that was not judged yet, or cannot be one."""


@dataclass(frozen=True, eq=False)
class JointMode(DrivenMode):
    """A mode of all set-ups, in the units of the records; `shape` has all their channels.

    Attributes
    ----------
    forces : tuple of float
        Spectrum of its force in each set-up, for the unit shape that this one sees; zero where
        nothing is known yet.
    support : Support
        What speaks for it.
    """

    forces: tuple[float, ...] = ()
    support: Support = UNASKED

    @property
    def absent(self) -> Mask:
        """Whether each set-up does not show it."""
        return np.isin(np.arange(len(self.forces)), self.support.silent(len(self.forces)))

    def seen(self, linkage: Linkage, setup: int) -> DrivenMode:
        """What a set-up sees of it."""
        part = self.shape[linkage.places[setup]]
        length = float(np.linalg.norm(part))
        unit = part / length if length > 0 else np.full(len(part), len(part) ** -0.5)
        return DrivenMode(self.omega, self.zeta, unit, self.forces[setup], self.gain)


@dataclass(frozen=True)
class JointBand:
    """The lines of every set-up in a band, and the held modes that reach into it."""

    linkage: Linkage
    places: tuple[HeldBand, ...]

    @classmethod
    def around(
        cls,
        lines: Sequence[FourierLines],
        linkage: Linkage,
        group: Sequence[JointMode],
        others: Sequence[JointMode],
        ends: tuple[float, float],
    ) -> JointBand:
        """The band of a group of modes, as `band_edges` has it for each set-up."""
        places = []
        for setup, own in enumerate(lines):
            here, beside = ([m.seen(linkage, setup) for m in part] for part in (group, others))
            edges = band_edges(here, beside, own.longest, ends)
            known = [mode for mode in beside if mode.force > 0]
            places.append(HeldBand.around(own, here, known, edges))
        return cls(linkage, tuple(places))

    @property
    def frame(self) -> JointFrame:
        """What joins the bands."""
        return JointFrame.of(self.linkage, [place.band for place in self.places])

    def model(self, modes: Sequence[JointMode]) -> JointModel:
        """Modes in the units of the bands, all free, without held ones."""
        frame = self.frame
        parts = [
            _started(place, [mode.seen(self.linkage, setup) for mode in modes])
            for setup, place in enumerate(self.places)
        ]
        shapes = np.reshape([mode.shape for mode in modes], (len(modes), self.linkage.size))
        absent = np.reshape([mode.absent for mode in modes], (len(modes), len(parts)))
        return JointModel.of(parts, shapes / frame.units, frame, absent)

    def linked(self, model: JointModel) -> JointBand:
        """The same with held modes linked where their interference shows (`HeldBand.linked`)."""
        both = zip(self.places, model.parts, strict=True)
        return replace(self, places=tuple(place.linked(part) for place, part in both))

    def first(self, model: JointModel) -> JointFit:
        """The start of a fit of free modes beside the held ones."""
        whole = model.changed(lambda part, r: self._whole(part, r))
        return JointFit.at(whole, [place.band for place in self.places])

    def _whole(self, part: BandModel, setup: int) -> BandModel:
        place = self.places[setup]
        return feasible(part.joined(place.held), place.band)

    def fit(self, model: JointModel, tolerance: float = limits.ROUGH_GAIN) -> JointFit:
        """The maximum of the likelihood of free modes beside the held ones."""
        return self.first(model).best(tolerance=tolerance)

    def again(self, model: JointModel, tolerance: float = limits.ROUGH_GAIN) -> JointFit:
        """The fit once more, by way of the forces: with all at once steps may be lost."""
        first = self.first(model)
        at = first.model.at
        still = np.concatenate([at[name] for name in ("frequency", "damping", "shape")])
        return first.best(still, tolerance=limits.ROUGH_GAIN).best(tolerance=tolerance)

    def empty(self) -> Array:
        """Log-likelihood of every set-up without any free mode."""
        return np.array([place.empty().log_likelihood for place in self.places])

    def without(self, fit: JointFit, j: int, least: float) -> JointFit | None:
        """The maximum without free mode j, started from the one with it; None without any mode."""
        if fit.model.fitted == 1:
            return None
        rest = fit.model.without(j).changed(lambda part, r: feasible(part, self.places[r].band))
        wanted = fit.log_likelihood - 0.5 * limits.CLEARLY * least
        first = JointFit.at(rest, fit.bands)
        return first.best(tolerance=limits.ROUGH_GAIN, wanted=wanted)

    def support(self, fit: JointFit, j: int, gains: Array, false_alarm: float) -> Support:
        """What speaks for a mode: how far it pays its price in the set-ups that show it most.

        A mode that v set-ups show has :math:`2 + t + v (1 + 2(m - 1))` parameters, t the
        directions in which its shape can move on their channels.

        Parameters
        ----------
        fit : JointFit
        j : int
        gains : array (set-ups,)
            Twice the gain in log-likelihood that the mode brings in each.
        false_alarm : float
        """
        model, order = fit.model, np.argsort(-gains)
        inside = all(band.ends[0] <= model.omega[j] <= band.ends[1] for band in fit.bands)
        if not inside or model.zeta[j] > limits.BROADEST:
            return UNASKED
        counts = range(1, len(order) + 1)
        ratio = max(
            float(gains[order[:count]].sum())
            / self._price(fit, j, order[:count].tolist(), false_alarm)
            for count in counts
        )
        least = [self._least_shown(fit, j, setup) for setup in range(len(gains))]
        shown = tuple(np.flatnonzero(gains > least).tolist())
        return Support(ratio, shown, max(float(gains.sum()), 0.0))

    def _least_shown(self, fit: JointFit, j: int, setup: int) -> float:
        """The gain of a mode in a set-up that shows it, where its pole is known from others."""
        near = self.places[setup].neighbours(fit.model.parts[setup], j)
        freedom = len(self.linkage.places[setup]) + 2 * (near - 1)
        return float(scipy.stats.chi2.isf(own_limits.SHOWN_LEVEL, freedom))

    def _price(self, fit: JointFit, j: int, chosen: Sequence[int], false_alarm: float) -> float:
        groups = self.linkage.linked_by(chosen)
        size, linked, numbers, lines = 2 + sum(len(group) - 1 for group in groups), 0, 0, 1
        for setup in chosen:
            part, place = fit.model.parts[setup], self.places[setup]
            near = place.neighbours(part, j)
            size += 1 + 2 * (near - 1)
            linked += part.driven - near
            numbers += int(np.prod(place.band.size))
            lines = max(lines, place.band.size[0])
        return price(size, numbers, false_alarm / lines, linked)

    def least(self, fit: JointFit, j: int, false_alarm: float) -> float:
        """The price of a mode that all set-ups show."""
        return self._price(fit, j, range(len(self.places)), false_alarm)


def _started(place: HeldBand, modes: Sequence[DrivenMode]) -> BandModel:
    """Modes in the units of a band; where no force is known yet, it is that of the lines."""
    known, fresh = in_band(place.band, modes), start(place.band, modes)
    force = np.diag(known.force).real
    # a start of its own keeps the damping moderate, and with it the unit of the force
    ratio = (fresh.gains / known.gains) ** 2
    new = np.where(force > 0, force, np.diag(fresh.force).real * ratio)
    return replace(known, force=np.diag(new).astype(complex))


def joint_modes(fit: JointFit, supports: Sequence[Support]) -> list[JointMode]:
    """The free modes of a fit, in the units of the records.

    Parameters
    ----------
    fit : JointFit
    supports : sequence of Support
    """
    frame = fit.model.frame
    gains = np.array([one.gain for one in supports])
    each = [KeptModes(part, gains).modes for part in fit.fits]
    out = []
    for j in range(fit.model.fitted):
        shape = frame.linkage.unit(fit.model.shapes[j] * frame.units)
        silent = supports[j].silent(len(each))
        forces = tuple(0.0 if r in silent else modes[j].force for r, modes in enumerate(each))
        if silent:
            shown = [frame.linkage.places[r] for r in supports[j].setups]
            shape[np.setdiff1d(np.arange(len(shape)), np.concatenate(shown))] = 0.0
            shape = frame.linkage.unit(shape)
        omega, zeta = float(fit.model.omega[j]), float(fit.model.zeta[j])
        own = (max(forces), supports[j].gain, forces, supports[j])
        out.append(JointMode(omega, zeta, shape, *own))
    return out
