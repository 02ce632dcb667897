"""Records of a nonlinear motion: a potential and hidden modes in place of lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from prism._version import __version__
from prism.errors import CannotTellError, PrismError, RecordTooShortError
from prism.identifiability import Identifiability
from prism.kernel import Certificate
from prism.model import Model, RecordSummary, Settings
from prism.modes import Modes
from prism.motion.potential import NonlinearFit, fit_potential, oscillations, suggests_nonlinearity
from prism.motion.potential.hamiltonian import certify_potential, nonlinear_hamiltonian
from prism.motion.potential.motion import NonlinearMotion
from prism.record import Record
from prism.remarks import Ask, Remark, Words, as_remarks

_NEAR = 25.0  # χ² per degree of freedom: five times the noise
_LISTED = 8  # alternatives that are written out
_OFTEN = 4  # turns of a motion that is not merely slow
SCALE = "that of a seen coordinate of unit mass"


def with_potential(
    linear: Model | CannotTellError,
    record: Record,
    potential: str | Sequence[str],
    max_modes: int | None,
    progress: Callable[[str], None] | None,
) -> Model:
    """Replace the linear picture of a record by a potential, where the data determine one.

    Parameters
    ----------
    linear : Model or CannotTellError
        Of the same record; its lines stay, as the spectrum of the motion. Or why there are none:
        the spectrum of a chaotic motion is broad.
    potential : str or sequence of str
        The library of terms.
    """
    fit = fit_potential(record, potential=potential, max_modes=max_modes, progress=progress)
    if isinstance(linear, CannotTellError):
        if fit.verdict.linear or not fit.verdict.reaches_noise:
            raise linear
        return _nonlinear(_without_lines(record, fit), fit)
    if fit.verdict.linear:
        return linear.with_remark(
            Remark(
                Words(
                    "{0} was asked for, but no nonlinearity is seen: this is the linear answer",
                    (Ask("potential", potential if isinstance(potential, str) else [*potential]),),
                ),
                fit.verdict.why,
                code="linear",
            )
        )
    return _nonlinear(linear, fit)


def _without_lines(record: Record, fit: NonlinearFit) -> Model:
    """A model of a motion that has no lines."""
    return Model(
        experiment="free",
        channels=record.channels,
        quantity=record.quantity,
        record=RecordSummary.of(record),
        noise_std=fit.noise_std,
        modes=Modes.none(record.n_channels, record.n_trials),
        hamiltonian=None,
        certificate=Certificate(
            *(False, None, None),
            "the motion has no lines and its Hamiltonian is not determined: there is nothing to "
            "certify",
        ),
        identifiability=Identifiability(modes=0, channels=record.n_channels, magnitudes=False),
        trajectories=NonlinearMotion.of(fit),
        settings=Settings("", 0.0, None, __version__),
    )


def _nonlinear(linear: Model, fit: NonlinearFit) -> Model:
    """The model with the potential in the place of the linear picture."""
    motion = NonlinearMotion.of(fit)
    verdict = replace(
        linear.identifiability,
        magnitudes=fit.verdict.identifiable,
        scale=SCALE if fit.verdict.identifiable else "",
        why=fit.verdict.why,
        remedy=fit.verdict.remedy,
        remarks=_remarks(fit, len(linear.modes)),
        statement=_statement(fit),
    )
    model = replace(
        linear,
        hamiltonian=None,
        identifiability=verdict,
        trajectories=motion,
        noise_std=fit.noise_std,
        temperature=None,
        modes=replace(linear.modes, residues=None, residues_std=None, energies=None),
    )
    if fit.potential is None or not fit.verdict.identifiable:
        return model
    hamiltonian = nonlinear_hamiltonian(
        fit.potential,
        (fit.hidden_frequencies, fit.hidden_frequencies_std),
        (fit.couplings, fit.couplings_std),
    )
    return replace(model, hamiltonian=hamiltonian, certificate=certify_potential(hamiltonian))


def potential_remark(model: Model, record: Record) -> Remark | None:
    """A suggestion to fit a potential, where the lines look like those of a nonlinear motion."""
    if record.n_channels > 2 or record.dt is None or model.experiment != "free":
        return None
    if any(kind != "displacement" for kind in record.quantity):
        return None
    found = suggests_nonlinearity(model.modes, record if record.n_trials > 1 else None)
    if not found.nonlinear:
        return None
    return Remark(
        "the motion looks nonlinear",
        "; ".join(found.signs[:3]),
        Words("{0} fits the force and the hidden modes", (Ask("potential", "auto"),)),
        code="nonlinear",
    )


def wanders(record: Record) -> RecordTooShortError | None:
    """What to do about a motion that is slow and yet turns often, as one between two wells."""
    try:
        turns = oscillations(record)
    except PrismError:  # not a record for a potential: there is nothing to advise
        return None
    if turns < _OFTEN:
        return None
    return RecordTooShortError(
        Words(
            "most of the motion is slower than the record is long, and yet the record turns about "
            f"{turns:.0f} times: it drifts, or it wanders irregularly between several places, as a "
            "nonlinear motion does. Take the drift out, or fit the force with {0}.",
            (Ask("potential", "auto"),),
        )
    )


def _statement(fit: NonlinearFit) -> str:
    if not fit.verdict.identifiable:
        follows = "follows" if _follows(fit) else "does not follow"
        return f"{fit.verdict} The forecast {follows} the nonlinear motion."
    count = len(fit.hidden_frequencies)
    terms = ", ".join(fit.potential.terms) if fit.potential is not None else ""
    found = (
        f"Determined: the potential (terms {terms}), {count} hidden "
        f"oscillator{'s' * (count != 1)} with frequencies and couplings, and the forecast."
    )
    if not fit.alternatives:
        return found
    return f"{found} The numbers and errors are those of these terms; the data allow others too."


def _follows(fit: NonlinearFit) -> bool:
    """Whether the fitted motion stays near the data, if not within their noise."""
    return fit.misfit < _NEAR


def _effective(fit: NonlinearFit) -> list[Remark]:
    """What of a bath acts on the seen coordinate: a kernel of few lines, not its modes."""
    seen = np.any(np.abs(fit.couplings) > 2 * fit.couplings_std, axis=1)
    lines = [
        f"{omega:.4g} (R = {float(np.sum(c**2)):.2g})"
        for omega, c in zip(fit.hidden_frequencies[seen], fit.couplings[seen], strict=True)
    ]
    if not lines:
        return []
    return [
        Remark(
            "the hidden part acts like the effective memory kernel sum of (R/ω) sin ωt with "
            f"ω = {', '.join(lines)}; its lines stand for more modes than these data tell apart",
            code="effective-kernel",
        )
    ]


def _remarks(fit: NonlinearFit, lines: int) -> tuple[Remark, ...]:
    out = list(as_remarks(fit.remarks))
    if fit.alternatives:
        listed = "; ".join(str(one) for one in fit.alternatives[:_LISTED])
        more = len(fit.alternatives) - _LISTED
        rest = f"; and {more} more" if more > 0 else ""
        said = f"not distinguished from it by these data: {listed}{rest}"
        out.append(Remark(said, code="alternatives"))
    if not fit.verdict.reaches_noise and _follows(fit):
        out += _effective(fit)
    horizon = fit.horizon
    if horizon is not None:
        out.append(
            Remark(
                f"the motion is chaotic (largest Lyapunov exponent {horizon.lyapunov:.3g}); the "
                f"forecast holds for about {horizon.lyapunov_times:.2g} Lyapunov times",
                code="chaotic",
            )
        )
    if lines:
        said = "the lines listed are those of the nonlinear motion, not normal modes"
    else:
        said = "the motion has no lines: its spectrum is broad"
    out.append(Remark(said, code="lines-of-nonlinear-motion" if lines else "no-lines"))
    return tuple(out)
