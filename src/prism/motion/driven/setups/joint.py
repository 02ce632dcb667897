r"""One likelihood of several set-ups, which share poles and shapes.

.. math:: \ln L = \sum_r \ln L_r(Ω, ζ, u_r, Q_r, R_r), \qquad
          u_{rj} = \frac{P_r φ_j}{|P_r φ_j|}

:math:`\ln L_r` is the likelihood of the Fourier lines of set-up r (`scoring`), with forces
:math:`Q_r` and a background :math:`R_r` of its own. Frequencies, damping ratios and the shapes φ
over all channels are those of the structure. As :math:`Q_r` is free the length of
:math:`P_r φ_j` says nothing. With :math:`J_r` the derivative of the parameters of a set-up by those
of all, score and information are :math:`\sum_r J_r^T s_r` and :math:`\sum_r J_r^T F_r J_r`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from prism._types import Array, Index, Mask
from prism.motion.driven import _limits as driven_limits
from prism.motion.driven.ascent import ascended
from prism.motion.driven.scoring import BandFit, feasible, shifted
from prism.motion.driven.setups import _limits as limits
from prism.motion.driven.setups.linkage import Linkage
from prism.motion.driven.spectrum import LineBand
from prism.motion.driven.tilt import begun
from prism.motion.driven.whittle import BandModel, HermitianBasis, moved, tangents

__all__ = ["JointFit", "JointFrame", "JointModel"]

_POWERS = ("auto", "cross", "noise")


@dataclass(frozen=True)
class JointFrame:
    """What joins the bands of several set-ups.

    Attributes
    ----------
    linkage : Linkage
    units : array (N,)
        What turns shapes of a joint model into displacements.
    levers : tuple of arrays (n,)
        What turns the part of them that a set-up sees into the units of its band.
    """

    linkage: Linkage
    units: Array
    levers: tuple[Array, ...]

    @classmethod
    def of(cls, linkage: Linkage, bands: Sequence[LineBand]) -> JointFrame:
        """Units between those of the bands that see a channel."""
        total, count = np.zeros((2, linkage.size))
        for places, band in zip(linkage.places, bands, strict=True):
            total[places] += np.log(band.displacement)
            count[places] += 1
        units = np.exp(total / count)
        both = zip(linkage.places, bands, strict=True)
        levers = tuple(units[places] / band.displacement for places, band in both)
        return cls(linkage, units, levers)

    def seen(self, shapes: Array, setup: int) -> tuple[Array, Array]:
        """What a set-up sees of shapes, unit, (f, n), and the lengths of it (f,)."""
        parts = self.levers[setup] * shapes[:, self.linkage.places[setup]]
        length = np.maximum(np.linalg.norm(parts, axis=1), limits.UNSEEN)
        return parts / length[:, None], length

    def unit(self, shapes: Array) -> Array:
        """Shapes of unit length in each group."""
        out = np.array(shapes, float)
        for group in self.linkage.groups:
            length = np.linalg.norm(out[:, group], axis=1, keepdims=True)
            out[:, group] /= np.maximum(length, limits.UNSEEN)
        return out

    def turns(self, shape: Array) -> Array:
        """Orthonormal directions in which a shape can move, (N, turns)."""
        out = np.zeros((self.linkage.size, self.linkage.turns))
        first = 0
        for group in self.linkage.groups:
            last = first + len(group) - 1
            out[group, first:last] = tangents(shape[group])
            first = last
        return out


@dataclass(frozen=True)
class JointModel:
    """Modes of several set-ups in one band.

    Attributes
    ----------
    parts : tuple of BandModel
        Of each set-up. All have the same free modes, each with what it sees of their shapes.
    shapes : array (f, N)
        Shapes of the free modes, of unit length in each group, in the units of the frame.
    frame : JointFrame
    absent : array of bool (f, set-ups)
        Where a mode has no force: the set-up says nothing about it.
    """

    parts: tuple[BandModel, ...]
    shapes: Array
    frame: JointFrame
    absent: Mask

    @classmethod
    def of(
        cls,
        parts: Sequence[BandModel],
        shapes: Array,
        frame: JointFrame,
        absent: Mask | None = None,
    ) -> JointModel:
        """The model of given shapes and absences: what the parts have of these is replaced."""
        shapes = frame.unit(shapes)
        silent = np.zeros((len(shapes), len(parts)), bool) if absent is None else absent
        new = tuple(
            _silenced(_with_shapes(part, frame.seen(shapes, r)[0]), silent[:, r])
            for r, part in enumerate(parts)
        )
        return cls(new, shapes, frame, silent)

    @property
    def fitted(self) -> int:
        """Number of free modes."""
        return len(self.shapes)

    @property
    def omega(self) -> Array:
        """Frequencies of the free modes."""
        return self.parts[0].omega[: self.fitted]

    @property
    def zeta(self) -> Array:
        """Damping ratios of the free modes."""
        return self.parts[0].zeta[: self.fitted]

    @cached_property
    def _own(self) -> tuple[Index, ...]:
        """Places of the powers of each set-up."""
        sizes = [sum(len(part.at[name]) for name in _POWERS) for part in self.parts]
        first = self.fitted * (2 + self.frame.linkage.turns)
        return tuple(np.split(first + np.arange(sum(sizes)), np.cumsum(sizes)[:-1]))

    @cached_property
    def at(self) -> dict[str, Index]:
        """Places of the parameters: those of `BandModel.at`, forces and noise of all set-ups."""
        f, turns = self.fitted, self.frame.linkage.turns
        poles = np.arange(2 * f).reshape(2, f)
        out = {"frequency": poles[0], "damping": poles[1]}
        out["shape"] = 2 * f + np.arange(f * turns)
        for name in _POWERS:
            out[name] = np.concatenate(
                [
                    own[part.at[name] - _first_power(part)]
                    for part, own in zip(self.parts, self._own, strict=True)
                ]
            )
        return out

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return int(self._own[-1][-1]) + 1

    @cached_property
    def turns(self) -> Array:
        """Directions in which the shapes can move, (f, N, turns)."""
        size = self.frame.linkage
        each = [self.frame.turns(shape) for shape in self.shapes]
        return np.reshape(each, (self.fitted, size.size, size.turns))

    @cached_property
    def jacobians(self) -> tuple[Array, ...]:
        """Derivatives of the parameters of each set-up by those of all."""
        return tuple(self._jacobian(setup) for setup in range(len(self.parts)))

    def _jacobian(self, setup: int) -> Array:
        part, f = self.parts[setup], self.fitted
        out = np.zeros((part.parameters, self.parameters))
        for name in ("frequency", "damping"):
            out[part.at[name], self.at[name]] = 1.0
        out[_first_power(part) + np.arange(len(self._own[setup])), self._own[setup]] = 1.0
        length = self.frame.seen(self.shapes, setup)[1]
        lever, places = self.frame.levers[setup], self.frame.linkage.places[setup]
        angles = part.turns @ (lever[:, None] * self.turns[:, places]) / length[:, None, None]
        angles[self.absent[:, setup]] = 0.0  # a set-up without the mode sees no turn of it
        rows = part.at["shape"].reshape(f, -1)
        columns = self.at["shape"].reshape(f, -1)
        for j in range(f):
            out[np.ix_(rows[j], columns[j])] = angles[j]
        return out

    def moved(self, step: Array) -> JointModel:
        """The model after a step of its parameters."""
        angles = step[self.at["shape"]].reshape(self.fitted, -1)
        shapes = self.shapes + np.einsum("ji,jai->ja", angles, self.turns)
        parts = []
        for part, jacobian in zip(self.parts, self.jacobians, strict=True):
            own = jacobian @ step
            own[part.at["shape"]] = 0.0
            parts.append(moved(part, own))
        return JointModel.of(parts, shapes, self.frame, self.absent)

    def without(self, j: int) -> JointModel:
        """The model without free mode j."""
        parts = [part.only(np.delete(np.arange(part.count), j)) for part in self.parts]
        keep = np.delete(np.arange(self.fitted), j)
        return JointModel.of(parts, self.shapes[keep], self.frame, self.absent[keep])

    def changed(self, change: Callable[[BandModel, int], BandModel]) -> JointModel:
        """The model with the part of every set-up changed."""
        parts = [change(part, r) for r, part in enumerate(self.parts)]
        return JointModel.of(parts, self.shapes, self.frame, self.absent)

    @cached_property
    def still(self) -> Index:
        """Forces that are none: parameters that keep their values."""
        out = [np.zeros(0, int)]
        for part, own, absent in zip(self.parts, self._own, self.absent.T, strict=True):
            # of the root of the force spectrum the columns of no force come first
            basis = HermitianBasis.of(part.driven, full=True)
            none = int(np.count_nonzero(absent))
            out.append(own[np.flatnonzero((basis.rows < none) | (basis.columns < none))])
        return np.concatenate(out)


def _first_power(part: BandModel) -> int:
    """Place of the first parameter that belongs to a set-up alone."""
    return 2 * part.fitted + len(part.at["shape"])


def _silenced(part: BandModel, absent: Mask) -> BandModel:
    """The part without the forces of some of its free modes."""
    if not absent.any():
        return part
    where, force = np.flatnonzero(absent), part.force.copy()
    force[where] = force[:, where] = 0.0
    force[where, where] = limits.NO_FORCE
    return replace(part, force=force)


def _with_shapes(part: BandModel, shapes: Array) -> BandModel:
    return replace(part, shapes=np.concatenate([shapes, part.shapes[len(shapes) :]]))


@dataclass(frozen=True)
class JointFit:
    """A joint model and its likelihood: at the maximum, or on the way there.

    Attributes
    ----------
    model : JointModel
    fits : tuple of BandFit
        Of each set-up.
    converged : bool
    """

    model: JointModel
    fits: tuple[BandFit, ...]
    converged: bool = False

    @classmethod
    def at(cls, model: JointModel, bands: Sequence[LineBand]) -> JointFit:
        """A model as it is."""
        both = zip(model.parts, bands, strict=True)
        return cls(model, tuple(BandFit.at(part, band) for part, band in both))

    @property
    def bands(self) -> tuple[LineBand, ...]:
        """The lines of each set-up."""
        return tuple(fit.band for fit in self.fits)

    @property
    def log_likelihoods(self) -> Array:
        """Of each set-up."""
        return np.array([fit.log_likelihood for fit in self.fits])

    @property
    def log_likelihood(self) -> float:
        """The sum over set-ups."""
        return float(self.log_likelihoods.sum())

    @cached_property
    def slope(self) -> tuple[Array, Array]:
        """Score, and the information of independent lines."""
        scores, informations = zip(*(fit.slope for fit in self.fits), strict=True)
        return self._gathered(scores), self._joined(informations)

    @cached_property
    def information(self) -> Array:
        """Fisher information of all parameters, in the order of `JointModel.at`."""
        return self._joined([fit.information for fit in self.fits])

    @cached_property
    def prior(self) -> Array:
        """Gradient of the prior."""
        return self._gathered([fit.prior for fit in self.fits])

    def _gathered(self, scores: Sequence[Array]) -> Array:
        both = zip(self.model.jacobians, scores, strict=True)
        return np.asarray(np.sum([J.T @ score for J, score in both], axis=0))

    def _joined(self, informations: Sequence[Array]) -> Array:
        both = zip(self.model.jacobians, informations, strict=True)
        return np.asarray(np.sum([J.T @ F @ J for J, F in both], axis=0))

    def after(self, delta: Array) -> JointFit:
        """The point after a step."""
        return JointFit.at(self.model.moved(delta), self.bands)

    def excess(self, delta: Array) -> float:
        """How many times too long a step is for any set-up.

        Turns that a set-up hardly sees count by how far it sees them.
        """
        turned = float(np.max(np.abs(delta[self.model.at["shape"]]), initial=0.0))
        out = turned / limits.STEP_JOINT_SHAPE
        for fit, jacobian in zip(self.fits, self.model.jacobians, strict=True):
            own, shape = jacobian @ delta, fit.model.at["shape"]
            seen = np.sqrt(np.maximum(np.diag(fit.slope[1])[shape], 0.0))
            own[shape] *= np.minimum(1.0, seen / limits.SEEN_TURN)
            out = max(out, fit.excess(own))
        return out

    def ended(self, *, converged: bool) -> JointFit:
        """The same at the end of a descent."""
        return replace(self, converged=converged)

    def best(
        self, held: Index | None = None, *, tolerance: float, wanted: float = -np.inf
    ) -> JointFit:
        """The maximum that is reached from here."""
        still = self.model.still if held is None else np.append(held, self.model.still)
        return ascended(self, still, tolerance=tolerance, wanted=wanted)

    @property
    def span(self) -> float:
        """Duration of all set-ups together."""
        return sum(fit.span for fit in self.fits)

    @property
    def tilt(self) -> float:
        """The p of the forces, the same in all set-ups."""
        return self.fits[0].tilt

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest frequency of the lines."""
        lows, highs = zip(*(fit.ends for fit in self.fits), strict=True)
        return min(lows), max(highs)

    def with_damping(self, j: int, zeta: float) -> JointFit:
        """The maximum with the damping of a mode held, started from here."""

        def begun_part(part: BandModel, setup: int) -> BandModel:
            return feasible(shifted(part, j, zeta), self.bands[setup])

        start = JointFit.at(self.model.changed(begun_part), self.bands)
        held = self.model.at["damping"][j : j + 1]
        return start.best(held, tolerance=driven_limits.FAIR_GAIN)

    def at_tilt(self, tilt: float) -> JointFit:
        """The maximum at another p."""
        starts = tuple(begun(fit, tilt) for fit in self.fits)
        model = replace(self.model, parts=tuple(start.model for start in starts))
        return JointFit(model, starts).best(tolerance=driven_limits.FINE_GAIN)
