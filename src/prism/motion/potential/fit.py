"""`fit_potential`: a nonlinear force and hidden modes from one record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from prism._types import Array
from prism.errors import CannotTellError, OptionError
from prism.motion.potential import _limits as limits
from prism.motion.potential.kernel import Parameters
from prism.motion.potential.motion import NonlinearMotion
from prism.motion.potential.result import Alternative, NonlinearFit
from prism.motion.potential.score import Judge, Structure, information, preferred
from prism.motion.potential.shooting import Estimate, refine
from prism.motion.potential.smooth import Prepared, prepare
from prism.motion.potential.structure import StructureSearch
from prism.motion.potential.terms import FAMILIES, Library, Potential, library_of
from prism.motion.potential.verdict import determinations_of, judge, remarks_on, residue_errors
from prism.record import Record
from prism.remarks import Ask, Words

__all__ = ["fit_potential"]


def fit_potential(
    record: Record,
    *,
    potential: str | Sequence[str] = "auto",
    max_modes: int | None = None,
    kernel: str = "auto",
    progress: Callable[[str], None] | None = None,
) -> NonlinearFit:
    r"""Fit :math:`x'' = -∇V(x) + \sum u_i`, :math:`u_i'' = -ω_i^2 u_i + c_i c_i^T x` to records.

    Terms of V, number of hidden modes, their frequencies and couplings, and all starting values
    are found; several trials share all but the latter.

    Parameters
    ----------
    record : Record
        Displacement of one or two coordinates, evenly sampled; one or more trials of the same
        system.
    potential : {"auto", "polynomial", "trigonometric"} or sequence of str
        Library of terms: forces up to :math:`x^5`, or a constant, x, and sines and cosines of x
        and 2x, or both in turn, or force terms such as ``["x", "x^3", "sin(x)"]``. For two
        coordinates V is a polynomial of degree four.
    max_modes : int, optional
        Look for at most so many hidden modes; 4 by default.
    kernel : {"auto", "fast", "plain"}
        ``fast`` needs numba (the extra ``fast``), ``plain`` gives the same answer more slowly.
    progress : callable, optional
        Called with a short text as the search goes on.

    Raises
    ------
    RecordError, RecordTooShortError, CannotTellError
        When the record holds nothing to identify, or every fitted motion escapes.
    OptionError
        When an option makes no sense.

    Examples
    --------
    >>> import prism
    >>> from prism.systems.nonlinear_particle import duffing
    >>> record = duffing(1.0, 0.5, [], []).simulate([1.5], [0.0], 60, 0.05, noise=0.01, rng=0)
    >>> fit = fit_potential(record, potential=["x", "x^3"], max_modes=0)
    >>> fit.potential.terms
    ('x', 'x^3')
    """
    most = limits.DEFAULT_MODES if max_modes is None else max_modes
    if most < 0:
        said = f"{{0:name}} must be zero or more, got {most}."
        raise OptionError(Words(said, (Ask("max_modes"),)))
    libraries = _libraries(potential, record.n_channels)
    prepared = prepare(record, kernel)
    found = StructureSearch(prepared, most, progress or _silent).run(libraries)
    if not found:
        raise CannotTellError(
            Words(
                "every fitted motion escapes to infinity or leaves the data: no force in the "
                "library holds the motion of this record; give other terms with {0}.",
                (Ask("potential", like="[...]"),),
            )
        )
    return _result(record, prepared, found, most)


def _silent(_: str) -> None:
    """No progress is shown unless asked for."""


def _libraries(potential: str | Sequence[str], channels: int) -> list[Library]:
    if isinstance(potential, str) and potential == "auto":
        names = FAMILIES if channels == 1 else FAMILIES[:1]
        return [library_of(name, channels) for name in names]
    return [library_of(potential, channels)]


def _result(record: Record, prepared: Prepared, found: list[Structure], most: int) -> NonlinearFit:
    chosen = preferred(found, prepared.smooth[0])[0]
    estimate = _finished(prepared, chosen.estimate)
    p = estimate.parameters
    seen, judged = information(prepared, estimate), Judge(prepared)
    ratio = estimate.misfit / max(judged.samples - judged.numbers(len(p.theta), p.modes), 1)
    C = seen.covariance * ratio
    verdict = judge(estimate, seen, ratio, judged.samples)
    hide = verdict.linear and not verdict.identifiable
    K, m, n = len(p.theta), 0 if hide else p.modes, p.channels
    bare = _of_couplings(p, C)
    std = _deviations(p, C, bare)
    return NonlinearFit(
        potential=None
        if hide
        else Potential(p.library, p.theta, std[:K], C[:K, :K], record.channels, prepared.reach),
        hidden_frequencies=p.omega[:m],
        hidden_frequencies_std=std[K : K + m],
        couplings=p.couplings[:m],
        couplings_std=std[K + m : K + m + m * n].reshape(m, n),
        covariance=np.zeros((0, 0)) if hide else bare,
        alternatives=_alternatives(chosen, found, record.channels),
        verdict=verdict,
        determinations=tuple(determinations_of(p, std, seen, C, verdict, record.channels)),
        remarks=remarks_on(prepared, estimate, verdict, most),
        misfit=ratio,
        motion=NonlinearMotion(
            integrator=prepared.integrator,
            parameters=p,
            pieces=estimate.starts,
            piece_samples=estimate.pieces.data.shape[1],
            piece_trials=estimate.pieces.trial,
            covariance=C,
            starts=record.starts,
            noise_std=prepared.noise * np.sqrt(ratio),
        ),
        _trials=prepared.data,
    )


def _finished(prepared: Prepared, estimate: Estimate) -> Estimate:
    """The fit followed to the very minimum by the fine scheme, its modes by ascending frequency."""
    last = refine(prepared, estimate, limits.FINISHED) or estimate
    order = last.with_modes(np.argsort(last.parameters.omega))
    return replace(last, parameters=order.parameters, starts=order.starts)


def _of_couplings(p: Parameters, C: Array) -> Array:
    """Covariance of (θ, ω, couplings) from that of the numbers that were fitted."""
    K, m, P = len(p.theta), p.modes, len(p.vector)
    T = np.zeros((K + m + m * p.channels, P))
    T[: K + m, : K + m] = np.eye(K + m)
    T[K + m :] = p.coupling_slopes().reshape(-1, P)
    return np.asarray(T @ C[:P, :P] @ T.T)


def _deviations(p: Parameters, C: Array, bare: Array) -> Array:
    """Standard deviations of (θ, ω, couplings), the couplings being √R times the ratios.

    Where R is smaller than its error, the root of the error takes the place of a slope that
    grows beyond all bounds.
    """
    std, error = np.sqrt(np.maximum(np.diag(bare), 0.0)), residue_errors(p, C)
    most = np.maximum(np.sqrt(error)[:, None] * np.abs(p.ratios), 1e-300)
    own = std[len(std) - most.size :].reshape(most.shape)  # a view of the couplings'
    own[:] = np.where((p.residues < error)[:, None], most, own)
    return np.asarray(std)


def _alternatives(
    chosen: Structure, found: list[Structure], channels: Sequence[str]
) -> tuple[Alternative, ...]:
    """The other structures that the data do not exclude, best first."""
    out = []
    for one in found:
        if one is chosen or one.score > found[0].score + limits.EXCLUDED:
            continue
        p = one.estimate.parameters
        values = tuple(p.theta.tolist())
        terms = p.library.texts(channels)
        out.append(Alternative(terms, p.modes, one.score - chosen.score, values))
    return tuple(out)
