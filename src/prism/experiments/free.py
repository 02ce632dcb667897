r"""Free records with unknown excitation.

The data determine frequencies and unit directions only: the energy of each mode is unknown, and
with it the magnitudes. If the effective mass μ is known, however, the modes must add up to it,

.. math:: \sum_m s_m d_m d_m^T = μ^{-1}, \qquad s_m ≥ 0,

which determines all magnitudes when the :math:`d_m d_m^T` are linearly independent
(THEORY §3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.optimize import nnls

from prism._types import Array
from prism.adjust import adjust
from prism.experiments import _limits as limits
from prism.experiments.base import (
    OfLines,
    alone_remarks,
    magnitudes_alone,
    not_positive,
    per_line,
)
from prism.experiments.consistency import gain_causes, untested
from prism.experiments.relations import vech
from prism.experiments.shared import Spanned
from prism.magnitudes import Magnitudes, Outcome, Undetermined
from prism.remarks import Ask, Remark, Words

if TYPE_CHECKING:
    from prism.motion.steady import Lines

OTHER_EXPERIMENTS = Words(
    "an ensemble of records at thermal equilibrium ({0}), a record released from rest with the "
    "hidden part undisplaced ({1}), or a measured force would determine them",
    (Ask("experiment", "equilibrium"), Ask("experiment", "released")),
)


class Free(OfLines):
    """With unknown excitation."""

    name: ClassVar[str] = "free"
    label: ClassVar[str] = "Free motion"
    words: ClassVar[str] = "It moves by itself; how it was set going is not known."

    def of_lines(self, lines: Lines) -> Outcome:
        """Magnitudes from the known mass (and stiffness), if the shapes are rich enough."""
        return _magnitudes(lines, self)


def _magnitudes(lines: Lines, known: OfLines) -> Outcome:
    fit = lines.fit
    K, n = fit.shapes.shape
    if known.mass is None:
        return _without_mass(K, n, known)
    omega = fit.omega[fit.line]
    span = Spanned.of(omega)
    few = _shared_zero(span) if n > K else None
    if few is not None:
        return few
    if n > K:
        return _adjusted(lines, known, span, magnitudes_alone(fit.shapes, known.mass))
    equations = n * (n + 1) // 2 * (1 + (known.stiffness is not None))
    padded = np.append(omega, np.zeros(span.size - K))
    design = _design(padded, span.mixing @ fit.shapes, known)
    tolerance = limits.DEPENDENT_MAGNITUDES * np.linalg.norm(design)
    if equations < span.size or np.linalg.matrix_rank(design, tol=tolerance) < span.size:
        shared = "" if span.size == K else f", {span.rigid} of them rigid-body modes,"
        return Undetermined(
            f"{K} visible modes{shared} in {n} channel{'s' * (n > 1)} leave the magnitudes of the "
            f"modes open: the known values give {equations} equation{'s' * (equations > 1)}",
            f"with {_channels_needed(span.size)} channels a free record and the mass would do; "
            + OTHER_EXPERIMENTS,
        )
    return _adjusted(lines, known, span, _start(padded, known, design, signed=span.size > K))


def _shared_zero(span: Spanned) -> Undetermined | None:
    """With more channels than modes a mass tells apart modes of other frequencies only."""
    if span.rigid < 2:
        return None
    return Undetermined(
        "several rigid-body modes share the frequency zero, so that a free record in more channels "
        "than there are modes does not separate their magnitudes",
        Words("an ensemble at equilibrium ({0}) would", (Ask("experiment", "equilibrium"),)),
    )


def _without_mass(K: int, n: int, known: OfLines) -> Undetermined:
    given = "" if known.stiffness is None else " (a known stiffness alone is not used here)"
    why = (
        f"a free record of unknown excitation shows the frequencies and shapes of its {K} modes, "
        f"but how strongly each mode was excited is unknown{given}"
    )
    if n * (n + 1) // 2 >= K and n > 1:
        return Undetermined(
            why,
            Words(f"give the effective mass of the {n} channels ({{0}}), or else ", (Ask("mass"),))
            + OTHER_EXPERIMENTS,
        )
    return Undetermined(why, OTHER_EXPERIMENTS)


def _channels_needed(K: int) -> int:
    n = 1
    while n * (n + 1) // 2 < K:
        n += 1
    return n


def _design(omega: Array, shapes: Array, known: OfLines) -> Array:
    """Matrix of the linear equations for s, off-diagonal entries counted twice."""
    outer = vech(np.einsum("ma,mb->mab", shapes, shapes)).T
    i, j = np.triu_indices(shapes.shape[1])
    outer = outer * np.where(i == j, 1.0, np.sqrt(2.0))[:, None]
    if known.stiffness is None:
        return outer
    return np.vstack([outer, outer * omega**2 / np.mean(omega**2)])


def _start(omega: Array, known: OfLines, design: Array, *, signed: bool) -> Array:
    G = known.inverse_mass
    assert G is not None
    i, j = np.triu_indices(len(G))
    weight = np.where(i == j, 1.0, np.sqrt(2.0))
    right = [weight * vech(G)]
    if known.stiffness is not None:
        right.append(weight * vech(G @ known.stiffness @ G) / np.mean(omega**2))
    if signed:
        return np.asarray(np.linalg.lstsq(design, np.concatenate(right), rcond=None)[0])
    s, _ = nnls(design, np.concatenate(right))
    return np.asarray(np.maximum(s, limits.LEAST_START * s.max()))


def _adjusted(lines: Lines, known: OfLines, span: Spanned, start: Array) -> Outcome:
    fit = lines.fit
    N, shape = len(fit.omega), fit.shapes.shape

    def relations(p: Array, s: Array) -> tuple[Array, Array, Array]:
        relation = span.relations(known, p[:N][fit.line], p[N:].reshape(shape), s)
        by_omega = per_line(relation.by_omega, fit.line, N)
        return relation.h, np.hstack([by_omega, relation.by_shape]), relation.by_s

    result = adjust(np.append(fit.omega, fit.shapes.ravel()), fit.covariance, start, relations)
    agrees = result.converged and result.p_value >= limits.CONSISTENCY_LEVEL
    positive = span.positive(result.q)
    weak = not_positive(result, fit.omega[fit.line])
    if agrees and weak is not None:
        return weak
    if not (agrees and positive):
        misfit = f"misfit {result.chi2:.3g} on {result.dof} degrees of freedom"
        below = result.dof < 1 and not positive
        return _contradiction(shape, known, "a magnitude would be negative" if below else misfit)
    shapes = result.p[N:].reshape(shape)
    joint = span.joint(result.p[:N], shapes, result.q, result.covariance)
    p_value = result.p_value if result.dof else None
    remarks = alone_remarks(fit.shapes, known, p_value)
    if not remarks:
        _, A, _ = relations(result.p, result.q)
        causes = gain_causes(result, A[:, N:], shapes) if shape[1] > 1 else ()
        remarks = (*_untested(shape[0], result.dof), *untested(causes))
    return Magnitudes(joint, fit.line, known.scale, remarks=remarks, tested=result.dof)


def _contradiction(shape: tuple[int, ...], known: OfLines, misfit: str) -> Undetermined:
    K, n = shape
    what = "mass" if known.stiffness is None else "mass and stiffness"
    if n > K:
        return Undetermined(
            f"the {K} visible modes are not orthogonal with the given {what} of {n} channels "
            f"({misfit}): something hidden moves along, so that more modes are needed "
            "than are visible",
            "give the values for as many channels as there are modes and leave out the others, or "
            "excite more modes; wrong values or gains have the same effect",
            refuted=True,
        )
    return Undetermined(
        f"the visible modes cannot be made to add up to the given {what} ({misfit})",
        "check the given values and the gains of the channels; a mode too weak to be seen has the "
        "same effect",
        refuted=True,
    )


def _untested(modes: int, dof: int) -> tuple[Remark, ...]:
    """A mode that was not excited is noticed by equations to spare alone."""
    if dof > 0 or modes < 2:
        return ()
    return (
        Remark(
            f"that no further mode takes part could not be tested: the magnitudes of {modes} "
            "modes use up all equations of the given mass, and if a mode was not excited, the "
            "hidden frequencies and couplings are wrong by more than their errors",
            advice="excite the system in another way and compare, add a channel, or give the "
            "stiffness as well",
            code="untested",
        ),
    )
