"""`fit_potential`: a nonlinear force and hidden modes from one record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from prism._types import Array
from prism.errors import CannotTellError, OptionError
from prism.motion.potential.kernel import Parameters, kernel_named
from prism.motion.potential.path import Estimate, refine
from prism.motion.potential.pieces import Problem
from prism.motion.potential.result import Alternative, NonlinearFit
from prism.motion.potential.score import EXCLUDED, Found, Judge, information, preferred
from prism.motion.potential.smooth import Prepared, prepare
from prism.motion.potential.structure import Search
from prism.motion.potential.terms import FAMILIES, Library, Potential, library_of
from prism.motion.potential.verdict import judge, remarks_on
from prism.record import Record
from prism.remarks import Ask, Words

__all__ = ["fit_potential"]

DEFAULT_MODES = 4
_STEP = 0.3  # integration step times the highest frequency of the motion
_LAST = 300  # steps of the last fit
_RANGE = 20.0  # times the greatest displacement: a motion beyond it has escaped


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
    most = DEFAULT_MODES if max_modes is None else max_modes
    if most < 0:
        said = f"{{0:name}} must be zero or more, got {most}."
        raise OptionError(Words(said, (Ask("max_modes"),)))
    libraries = _libraries(potential, record.n_channels)
    prepared = prepare(record)
    problem = _problem(prepared, kernel)
    search = Search(problem, prepared, most, progress or _silent)
    found = search.run(libraries)
    if not found:
        raise CannotTellError(
            Words(
                "every fitted motion escapes to infinity or leaves the data: no force in the "
                "library holds the motion of this record; give other terms with {0}.",
                (Ask("potential", like="[...]"),),
            )
        )
    return _result(record, prepared, problem, found, search.judge, most)


def _silent(_: str) -> None:
    """No progress is shown unless asked for."""


def _libraries(potential: str | Sequence[str], channels: int) -> list[Library]:
    if isinstance(potential, str) and potential == "auto":
        names = FAMILIES if channels == 1 else FAMILIES[:1]
        return [library_of(name, channels) for name in names]
    return [library_of(potential, channels)]


def _problem(prepared: Prepared, kernel: str) -> Problem:
    reach = max(float(np.nanmax(np.abs(y))) for y in prepared.data)
    return Problem(
        kernel=kernel_named(kernel),
        data=prepared.data,
        dt=prepared.dt,
        noise=prepared.noise,
        substeps=max(1, int(np.ceil(prepared.dt * prepared.highest / _STEP))),
        limit=_RANGE * reach,
        band=(np.pi / prepared.duration, 3 * prepared.highest),
    )


def _result(
    record: Record,
    prepared: Prepared,
    problem: Problem,
    found: list[Found],
    scores: Judge,
    most: int,
) -> NonlinearFit:
    chosen = preferred(found, prepared.smooth[0])[0]
    estimate = _sorted(_finished(problem, chosen.estimate))
    p = estimate.parameters
    seen = information(problem, estimate)
    spare = scores.samples - scores.numbers(len(p.theta), estimate.modes)
    ratio = estimate.misfit / max(spare, 1)
    C = seen.covariance * ratio
    verdict = judge(estimate, seen, ratio, scores.samples)
    hide = verdict.linear and not verdict.identifiable
    K, m, n = len(p.theta), 0 if hide else estimate.modes, record.n_channels
    bare = _of_couplings(p, C)
    std = np.sqrt(np.maximum(np.diag(bare), 0.0))
    std[K + estimate.modes :] = _coupling_std(p, C)
    return NonlinearFit(
        potential=None
        if hide
        else Potential(p.library, p.theta, std[:K], C[:K, :K], record.channels, _reach(prepared)),
        hidden_frequencies=p.omega[:m],
        hidden_frequencies_std=std[K : K + m],
        couplings=p.couplings[:m],
        couplings_std=std[K + m : K + m + m * n].reshape(m, n),
        covariance=np.zeros((0, 0)) if hide else bare,
        initial_states=_firsts(estimate),
        noise_std=problem.noise * np.sqrt(ratio),
        alternatives=_alternatives(chosen, found, record.channels),
        verdict=verdict,
        remarks=remarks_on(problem, estimate, verdict, most),
        channels=record.channels,
        misfit=ratio,
        _problem=problem,
        _estimate=estimate,
        _full_covariance=C,
        _starts=record.starts,
    )


def _finished(problem: Problem, estimate: Estimate) -> Estimate:
    """The fit followed to the very minimum, however long the valley, by the fine scheme."""
    last = refine(
        *(problem, estimate.parameters, estimate.starts, estimate.pieces),
        steps=_LAST,
        tolerance=0.003,
    )
    return estimate if last is None else last


def _of_couplings(p: Parameters, C: Array) -> Array:
    """Covariance of (θ, ω, couplings) from that of the numbers that were fitted."""
    K, m, P = len(p.theta), p.modes, len(p.vector)
    T = np.zeros((K + m + m * p.channels, P))
    T[: K + m, : K + m] = np.eye(K + m)
    T[K + m :] = p.coupling_slopes().reshape(-1, P)
    return np.asarray(T @ C[:P, :P] @ T.T)


def _coupling_std(p: Parameters, C: Array) -> Array:
    """Standard deviations of the couplings, √R times the ratios.

    Where R is smaller than its error, the root of the error takes the place of a slope that
    grows beyond all bounds.
    """
    K, m, P = len(p.theta), p.modes, len(p.vector)
    slopes = p.coupling_slopes().reshape(-1, P)
    std = np.sqrt(np.maximum(np.einsum("ip,pq,iq->i", slopes, C[:P, :P], slopes), 0.0))
    error = np.sqrt(np.maximum(np.diag(C)[K + m : K + 2 * m], 0.0))
    most = (np.sqrt(error)[:, None] * np.abs(p.ratios)).ravel()
    weak = np.repeat(p.residues < error, p.channels)
    return np.asarray(np.where(weak, np.maximum(most, 1e-300), std))


def _reach(prepared: Prepared) -> Array:
    """Smallest and greatest value of each coordinate, (2, n)."""
    every = np.concatenate(prepared.data)
    return np.array([np.nanmin(every, axis=0), np.nanmax(every, axis=0)])


def _firsts(estimate: Estimate) -> Array:
    """States at the start of the trials."""
    linked = estimate.pieces.linked
    return np.asarray(estimate.starts[np.append(True, ~linked[:-1])])


def _sorted(estimate: Estimate) -> Estimate:
    """Hidden modes in ascending order of frequency."""
    p, n = estimate.parameters, estimate.parameters.channels
    order = np.argsort(p.omega)
    m = len(order)
    columns = [*range(n), *(n + order), *range(n + m, 2 * n + m), *(2 * n + m + order)]
    parameters = replace(
        p, omega=p.omega[order], residues=p.residues[order], ratios=p.ratios[order]
    )
    return replace(estimate, parameters=parameters, starts=estimate.starts[:, columns])


def _alternatives(
    chosen: Found, found: list[Found], channels: Sequence[str]
) -> tuple[Alternative, ...]:
    """The other structures that the data do not exclude, best first."""
    out = []
    for one in found:
        if one is chosen or one.score > found[0].score + EXCLUDED:
            continue
        p = one.estimate.parameters
        terms = tuple(
            term.force_text(channels[0]) if len(channels) == 1 else term.potential_text(channels)
            for term in p.library.terms
        )
        difference = one.score - chosen.score
        out.append(Alternative(terms, one.estimate.modes, difference, tuple(p.theta.tolist())))
    return tuple(out)
