r"""Which modes that set-ups show are one, and their shape over all channels.

A set-up that shows the unit shape u says that :math:`P_r φ` points along it. The shape on which all
agree best is the eigenvector of the smallest eigenvalue of

.. math:: \sum_r w_r P_r^T (1 - u_r u_r^T) P_r

group by group of linked channels: signs and sizes need no care, and links may be chains. It starts
the joint fit, and nothing of it is left there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.optimize

from prism._types import Array
from prism.motion.driven import _limits as driven_limits
from prism.motion.driven.setups import _limits as limits
from prism.motion.driven.setups.bands import JointMode
from prism.motion.driven.setups.linkage import Linkage
from prism.motion.driven.spectrum import FourierLines

__all__ = ["Sighting", "matched", "stitched"]


@dataclass(frozen=True)
class Sighting:
    """A mode as one set-up shows it.

    Attributes
    ----------
    setup : int
    omega, omega_std, zeta : float
    shape : array (n,)
        Unit, in displacement, on the channels of the set-up.
    weight : float
        How well the shape is known: one over the variance of a component.
    gain : float
    """

    setup: int
    omega: float
    omega_std: float
    zeta: float
    shape: Array
    weight: float
    gain: float


@dataclass
class _Party:
    """Sightings of one mode, one of a set-up at most."""

    members: list[Sighting] = field(default_factory=list)

    @property
    def omega(self) -> float:
        """Weighted by how well each is known."""
        weights = [one.omega_std**-2 for one in self.members]
        return float(np.average([one.omega for one in self.members], weights=weights))

    @property
    def zeta(self) -> float:
        """Weighted by the gain, as longer and clearer records tell more."""
        logs = np.log([one.zeta for one in self.members])
        return float(np.exp(np.average(logs, weights=[one.gain for one in self.members])))


def matched(
    sightings: Sequence[Sequence[Sighting]], linkage: Linkage, lines: Sequence[FourierLines]
) -> list[JointMode]:
    """Joint modes, each with its sightings in one or several set-ups, ascending.

    Parameters
    ----------
    sightings : sequence of sequences of Sighting
        Of each set-up.
    linkage : Linkage
    lines : sequence of FourierLines
        Of each set-up.
    """
    parties: list[_Party] = []
    spans = [own.longest for own in lines]
    for found in sorted(sightings, key=len, reverse=True):
        parties = _received(parties, found, linkage, spans)
    modes = [_mode(party, linkage, lines) for party in parties]
    return sorted(modes, key=lambda mode: mode.omega)


def _received(
    parties: list[_Party], found: Sequence[Sighting], linkage: Linkage, spans: Sequence[float]
) -> list[_Party]:
    """The parties after the sightings of one more set-up, best pairs first."""
    far = np.array([[_distance(p, one, linkage, spans) for one in found] for p in parties])
    joined: set[int] = set()
    if far.size:
        finite = np.where(np.isfinite(far), far, 1e6)
        for row, column in zip(*scipy.optimize.linear_sum_assignment(finite), strict=True):
            if np.isfinite(far[row, column]):
                parties[row].members.append(found[column])
                joined.add(int(column))
    return [*parties, *(_Party([one]) for k, one in enumerate(found) if k not in joined)]


def _distance(party: _Party, one: Sighting, linkage: Linkage, spans: Sequence[float]) -> float:
    """How unlike they are; infinite where they cannot be one mode."""
    sigmas, widths, lines = limits.SAME_POLE
    spread = np.sqrt(one.omega_std**2 + min(m.omega_std for m in party.members) ** 2)
    narrow = min(one.zeta, party.zeta) * one.omega
    near = max(sigmas * spread, widths * narrow, lines * 2 * np.pi / max(spans))
    apart = abs(one.omega - party.omega) / near
    alike = [_alike(one, member, linkage) for member in party.members]
    known = [share for share in alike if share is not None]
    if apart > 1 or (known and float(np.median(known)) < limits.SAME_PLACES):
        return float("inf")
    return float(apart**2 + (1 - np.median(known) if known else 0.5))


def _alike(one: Sighting, other: Sighting, linkage: Linkage) -> float | None:
    """Squared cosine on the channels that both see; None where these tell nothing."""
    mine, theirs = linkage.places[one.setup], linkage.places[other.setup]
    shared, a, b = np.intersect1d(mine, theirs, return_indices=True)
    if len(shared) < limits.SHARED:
        return None
    u, v = one.shape[a], other.shape[b]
    size = float((u @ u) * (v @ v))
    # near a node of all shared channels their direction is noise
    if min(float(u @ u) * one.weight, float(v @ v) * other.weight) < driven_limits.NORMAL**2 * 4:
        return None
    return float(u @ v) ** 2 / size


def _mode(party: _Party, linkage: Linkage, lines: Sequence[FourierLines]) -> JointMode:
    seen = {one.setup: (one.shape, one.weight) for one in party.members}
    known, omega = stitched(seen, linkage), party.omega
    zeta = float(np.clip(party.zeta, *driven_limits.START_DAMPING))
    # set-ups that did not show it add what moves along with the channels that others saw
    faint = limits.FAINT_SIGHT * min(weight for _, weight in seen.values())
    for setup, own in enumerate(lines):
        if setup not in seen:
            part = known[linkage.places[setup]]
            seen[setup] = (_first_look(own, omega, zeta, part), faint)
    gain = sum(one.gain for one in party.members)
    nothing = (0.0,) * len(linkage.setups)
    return JointMode(omega, zeta, stitched(seen, linkage), 0.0, gain, nothing)


def _first_look(lines: FourierLines, omega: float, zeta: float, known: Array) -> Array:
    """The unit shape of what moves with the known part of a shape at a resonance."""
    reach = max(zeta * omega, 2 * 2 * np.pi / lines.longest)
    near = lines.between(omega - reach, omega + reach)
    moved = near.values / (1j * near.omega[:, None]) ** lines.orders
    scale = np.sqrt(np.mean(np.abs(moved) ** 2, axis=0)) + driven_limits.TINY
    moved = moved / scale
    along = known / scale
    if not known.any():
        along = np.linalg.eigh((moved.T @ moved.conj()).real)[1][:, -1]
    shape = scale * np.real(moved.T @ (moved.conj() @ along))
    length = float(np.linalg.norm(shape))
    return shape / length if length > 0 else np.full(len(shape), len(shape) ** -0.5)


def stitched(seen: dict[int, tuple[Array, float]], linkage: Linkage) -> Array:
    """The shape over all channels on which some set-ups agree best.

    Parameters
    ----------
    seen : dict of int to (array (n,), float)
        Unit shapes that set-ups show, with weights. What none of them sees is zero.
    linkage : Linkage
    """
    out = np.zeros(linkage.size)
    for group in linkage.linked_by(sorted(seen)):
        total = np.zeros((linkage.size,) * 2)
        for setup, (u, weight) in seen.items():
            at = linkage.places[setup]
            if at[0] in group:
                total[np.ix_(at, at)] += weight * (np.eye(len(u)) - np.outer(u, u))
        part = np.linalg.eigh(total[np.ix_(group, group)])[1][:, 0]
        out[group] = part * np.sqrt(len(group))
    return linkage.unit(out)
