"""Experiments as values: how a record was made, what is known of it, and what that adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from prism._format import format_chance
from prism._types import Array, Index, Mask
from prism._value import Value
from prism.adjust import Adjusted
from prism.errors import OptionError
from prism.experiments import _limits as limits
from prism.experiments.relations import (
    Relation,
    alone_relation,
    gauge_relation,
    mass_relation,
    stack,
    stiffness_relation,
)
from prism.experiments.rigid import RigidLines, sloping, with_rigid_bodies
from prism.magnitudes import Outcome, Undetermined
from prism.remarks import Remark

if TYPE_CHECKING:
    from prism.motion.steady import Lines


class Experiment(Protocol):
    """How a record was made.

    A new experiment is one frozen class with these names, in a file of its own, and one entry in
    `prism.experiments.EXPERIMENTS`; the keywords, the command line and the page follow.
    """

    name: ClassVar[str]
    """What `prism.identify` calls it."""
    label: ClassVar[str]
    """What a page calls it."""
    words: ClassVar[str]
    """What was done, in a sentence."""
    options: ClassVar[tuple[str, ...]]
    """Options that only mean something in some experiments, and do in this one."""

    @classmethod
    def of(cls, given: Mapping[str, Any], channels: int) -> Self:
        """Make it of options, and check them once."""


@dataclass(frozen=True, eq=False, repr=False)
class OfLines(Value):
    """An experiment whose record shows lines: what the user knows beforehand, or None.

    Attributes
    ----------
    mass, stiffness : array (channels, channels) or None
        Effective mass μ and dynamic stiffness κ of the seen coordinates.
    rigid : int or None
        Number of rigid-body modes; None where the data shall say.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    words: ClassVar[str]
    options: ClassVar[tuple[str, ...]] = ("mass", "stiffness", "rigid")

    mass: Array | None = None
    stiffness: Array | None = None
    rigid: int | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any], channels: int) -> Self:
        """Make it of options.

        Parameters
        ----------
        given : mapping
            ``mass`` and ``stiffness``: matrices, numbers, or "identity" for the mass; ``rigid``.
        channels : int

        Raises
        ------
        OptionError
            When one of them is no positive definite matrix of the size of the channels.
        """
        mass = _matrix(given.get("mass"), "mass", channels)
        stiffness = _matrix(given.get("stiffness"), "stiffness", channels)
        return cls(mass, stiffness, given.get("rigid"))

    @property
    def inverse_mass(self) -> Array | None:
        """μ⁻¹, or None."""
        return None if self.mass is None else np.asarray(np.linalg.inv(self.mass), float)

    def believed(self, lines: Lines) -> Mask:
        """Which lines may be modes; others stand out of the noise, but not as this makes them."""
        return np.ones(len(lines.fit.omega), bool)

    def magnitudes(self, lines: Lines) -> Outcome:
        """Magnitudes of the modes that the lines show, or why they are not determined.

        Rigid-body modes are among them where they were given or the data ask for them.
        """
        return with_rigid_bodies(lines, self.rigid, self.rigid_lines, self.of_lines)

    def of_lines(self, lines: Lines) -> Outcome:
        """Magnitudes of these lines, those at zero frequency included."""
        raise NotImplementedError

    def rigid_lines(self, lines: Lines) -> RigidLines | None:
        """What may be rigid-body modes in these lines: a significant slope; None if none shows."""
        return sloping(lines)

    @property
    def scale(self) -> str:
        """Which of the known quantities fixes the scale."""
        if self.mass is not None:
            return "fixed by the given mass"
        return (
            SCALE_FREE
            if self.stiffness is None
            else "fixed by the given stiffness, taken for the dynamic one"
        )

    def relations(self, omega: Array, shapes: Array, s: Array) -> Relation:
        """Relations from what is known; the gauge if nothing is. ``omega`` is per mode."""
        relations = []
        inverse_mass = self.inverse_mass
        given = self.mass is not None or self.stiffness is not None
        if given and len(s) < shapes.shape[1]:
            return alone_relation(omega, shapes, s, self.mass, self.stiffness)
        if inverse_mass is not None:
            relations.append(mass_relation(omega, shapes, s, inverse_mass))
        if self.stiffness is not None:
            relations.append(stiffness_relation(omega, shapes, s, self.stiffness, inverse_mass))
        if not relations:
            relations.append(self.gauge(shapes, s))
        return stack(relations)

    def gauge(self, shapes: Array, s: Array) -> Relation:
        """What fixes the scale where neither mass nor stiffness is known."""
        return gauge_relation(shapes, s)


SCALE_FREE = "free: the mean of the inverse effective mass is set to 1"


def _matrix(given: Any, name: str, n: int) -> Array | None:
    """A known mass or stiffness: symmetric, positive definite, of the size of the channels."""
    if given is None:
        return None
    if isinstance(given, str):
        if given != "identity" or name != "mass":
            raise OptionError(f"unknown {name} {given!r}; give a {n} x {n} matrix or a number.")
        return np.eye(n)
    out = np.asarray(given, float)
    out = out * np.eye(n) if out.ndim == 0 else out
    if out.shape != (n, n):
        raise OptionError(
            f"the {name} has shape {out.shape}, but the record has {n} channels; "
            f"give a {n} x {n} matrix."
        )
    if not np.all(np.isfinite(out)) or not np.allclose(out, out.T, rtol=limits.SYMMETRY_RTOL):
        raise OptionError(f"the {name} must be finite and symmetric.")
    if np.linalg.eigvalsh(out)[0] <= 0:
        raise OptionError(f"the {name} must be positive definite.")
    return np.asarray(0.5 * (out + out.T))


def per_line(by_mode: Array, line: Index, lines: int) -> Array:
    """Add up the derivatives with respect to the frequencies of modes that share a line."""
    out = np.zeros((len(by_mode), lines))
    np.add.at(out.T, line, by_mode.T)
    return out


def magnitudes_alone(shapes: Array, mass: Array) -> Array:
    r""":math:`s_m = 1/d_m^T μ d_m`, where nothing hidden moves along."""
    return np.asarray(1 / np.einsum("ma,ab,mb->m", shapes, mass, shapes))


def alone_remarks(shapes: Array, known: OfLines, p_value: float | None) -> tuple[Remark, ...]:
    """Say what given values of more channels than modes were taken for.

    Parameters
    ----------
    shapes : array (modes, channels)
    known : OfLines
    p_value : float or None
        Of the relations, where they could be tested.
    """
    K, n = shapes.shape
    if n <= K or (known.mass is None and known.stiffness is None):
        return ()
    what = " and ".join(name for name in ("mass", "stiffness") if getattr(known, name) is not None)
    tested = (
        "could not be tested"
        if p_value is None
        else f"agrees with the shapes (p {format_chance(p_value)})"
    )
    return (
        Remark(
            f"the given {what} of {n} channels was taken for all that moves with {K} visible "
            f"mode{'s' * (K > 1)}: that nothing hidden moves along {tested}",
            code="reduced-known" if p_value is not None else "untested",
        ),
    )


def not_positive(result: Adjusted, omega: Array) -> Undetermined | None:
    """A refusal where noise, and nothing else, may have made a magnitude negative.

    Parameters
    ----------
    result : Adjusted
        Whose first unknowns are the magnitudes.
    omega : array (modes,)
    """
    k, P = int(np.argmin(result.q[: len(omega)])), len(result.p)
    below = -result.q[k] / np.sqrt(max(result.covariance[P + k, P + k], np.finfo(float).tiny))
    if not 0 <= below < limits.MAY_BE_POSITIVE:
        return None
    return weakly_seen(float(omega[k]))


def weakly_seen(omega: float) -> Undetermined:
    """A refusal where the magnitude of a mode cannot be told from zero."""
    return Undetermined(
        f"the magnitude of the mode at {omega:.5g} is not told from zero, and with it the hidden "
        "frequencies are open",
        "excite this mode more, record longer, with less noise or in more channels",
    )
