"""Steady lines as an explanation: Record → lines → modes → magnitudes → Hamiltonian."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from prism._types import Array, Index, Mask
from prism.finding import Determined, Finding, RecordSummary, determined
from prism.forecast import Motion
from prism.ignore import ignored_bands
from prism.kernel import certify_lines
from prism.magnitudes import Magnitudes, Outcome, Undetermined
from prism.modes import Modes, spread_of_residues
from prism.motion import _limits as limits
from prism.motion.account import Account, price_of
from prism.motion.doubts import flanked, symmetric
from prism.motion.explanation import Explanation, Question
from prism.motion.faint import faint
from prism.motion.steady import METHODS, Lines
from prism.motion.steady.likelihood import beside_another
from prism.motion.steady.ties import Ties
from prism.motion.steady.torus import Torus
from prism.motion.steady.trajectories import Trajectories
from prism.record import Record
from prism.remarks import Ask, Remark, Words
from prism.search.whitening import noise_remarks
from prism.uncertainty import Gaussian


class Steady(Explanation):
    """A sum of undamped lines."""

    label: ClassVar[str] = "steady lines"

    name: ClassVar[str] = "steady"
    words: ClassVar[str] = "it swings on without losses"
    methods: ClassVar[tuple[str, ...]] = tuple(METHODS)
    drifts: ClassVar[bool] = True
    motions: ClassVar[tuple[type[Motion], ...]] = (Trajectories,)

    def meant(self, asked: Question) -> Steady | None:
        """Every record that nothing else explains."""
        return None if asked.is_response else self

    def find(self, asked: Question) -> Finding:
        """Find the lines, and what the experiment adds to them."""
        settings = asked.settings
        more = {} if settings.drift == 1 else {"drift": settings.drift}
        lines = METHODS[settings.method](
            asked.record,
            false_alarm=settings.false_alarm,
            max_modes=settings.max_modes,
            progress=asked.tell,
            **more,
        )
        bands = ignored_bands(settings.ignore, asked.record, lines.fit.omega, "lines")
        lines = lines.without(bands) if bands else lines
        lines = lines.believing(asked.experiment.believed(lines))
        outcome = not_lines(lines) or asked.experiment.magnitudes(lines)
        if isinstance(outcome, Magnitudes) and settings.gyroscopic is None:
            outcome = _not_in_phase(lines, asked.record) or outcome
        return finding_of(asked, lines, outcome)

    def account(self, asked: Question, found: Finding) -> Account | None:
        """What the lines leave, and the price of frequencies, shapes and amplitudes."""
        lines, record = found.fit, asked.record
        if not isinstance(lines, Lines):
            return None
        # coloured noise that is foreseen from its own past is noise all the same
        motion = Trajectories(lines.motion, lines.trials, lines.means, None, lines.trend)
        rests = tuple(
            y - motion.values(t, r)
            for r, (t, y) in enumerate(zip(record.times, record.trials, strict=True))
        )
        parameters = len(lines.motion.line) * (record.n_channels + 2 * record.n_trials)
        near = limits.MODULATED * 2 * np.pi / record.duration
        # modulation makes such lines always, independent modes seldom
        modes, close = found.modes.vibrating(), limits.FLANKED * 2 * np.pi / record.duration
        places = limits.UNLIKELY_PLACES * (symmetric(modes, near) or flanked(modes, close))
        return Account(rests, price_of(record, parameters) + places)


def finding_of(asked: Question, lines: Lines, outcome: Outcome) -> Finding:
    """Put together what the lines of a record say.

    Parameters
    ----------
    asked : Question
    lines : Lines
    outcome : Magnitudes or Undetermined
    """
    record = asked.record
    motion = Trajectories(lines.motion, lines.trials, lines.means, lines.background, lines.trend)
    more: tuple[Remark | str, ...] = ()
    result: Determined | Undetermined
    if isinstance(outcome, Magnitudes):
        result = determined(
            outcome.participation, record.channels, outcome.scale, outcome.temperature
        )
        certificate, more = result.certificate, outcome.remarks
    else:
        result, certificate = outcome, certify_lines(lines.fit.omega)
    return Finding(
        kind=Steady.name,
        channels=record.channels,
        quantity=record.quantity,
        measured=RecordSummary.of(record),
        modes=_modes(lines, outcome),
        outcome=result,
        certificate=certificate,
        noise_std=lines.noise,
        noise_correlation=lines.correlation,
        motion=motion,
        remarks=(
            *_remarks(lines, record.channels, rigid=_is_rigid(outcome)),
            *faint(lines.fit.omega, asked.settings.false_alarm * lines.chances, where="records"),
            *more,
        ),
        fit=lines,
    )


def not_lines(lines: Lines) -> Undetermined | None:
    """A record whose lines are not independent undamped modes has no linear Hamiltonian."""
    if lines.torus is not None and lines.ties is not None:
        return Undetermined(
            f"the lines are integer combinations of {_fundamentals(lines.torus)}, and "
            f"{lines.ties.why}: quasi-periodic motion of a nonlinear system, whose lines are not "
            "normal modes",
            "at smaller amplitude the motion is linear and the lines are normal modes",
        )
    if not lines.crowded:
        return None
    return Undetermined(
        "the record is not a sum of undamped lines: several lines crowd around one frequency "
        "closer than the record resolves, or most of the motion is between the lines, as a "
        "decaying, modulated, noise-driven or chaotic oscillation makes it",
        Words(
            "if the motion decays or is driven by noise, fit it as such ({0}); otherwise use the "
            "stationary part of the record",
            (Ask("damped", True),),
        ),
    )


def _not_in_phase(lines: Lines, record: Record) -> Undetermined | None:
    """Lines that are not those of a reciprocal system have none that completes them."""
    near = beside_another(lines.fit.omega, 2 * np.pi / record.duration)
    out = np.flatnonzero(lines.more_directions & ~near)
    if not len(out):
        return None
    return Undetermined(
        f"{_line_names(lines, out)} not in phase on all channels, as all modes of a lossless "
        "reciprocal system are, and shapes that are in phase would give wrong couplings",
        Words(
            "a channel that is late, a loss, a rotation or a second mode at that frequency would "
            "do this: mend or model it; to take the shapes all the same, say that nothing "
            "rotates ({0})",
            (Ask("gyroscopic", False),),
        ),
        refuted=True,
    )


def _line_names(lines: Lines, which: Index) -> str:
    """The lines at 1, 2 are."""
    many = len(which) > 1
    names = ", ".join(f"{lines.fit.omega[j]:.5g}" for j in which[: limits.NAMED])
    return f"the line{'s' * many} at {names} {'are' if many else 'is'}"


def _fundamentals(torus: Torus) -> str:
    return " and ".join(f"{w:.6g}" for w in torus.fundamentals)


def _commensurate(ties: Ties) -> Remark:
    """Tied lines that are taken for modes."""
    some = f"the frequencies are integer combinations of {_fundamentals(ties.torus)}"
    if ties.kind == "linear":
        return Remark(
            f"{some}, but {ties.why} as those of independent modes: the modes are commensurate",
            code="commensurate",
        )
    return Remark(
        f"{some}, as those of commensurate modes or of a nonlinear motion; these data do not tell, "
        "and the lines are taken for modes",
        advice="trials that start differently would tell: phases of a nonlinear motion are locked",
        code="commensurate",
    )


def _modes(lines: Lines, outcome: Outcome) -> Modes:
    """One row per mode: the modes of a degenerate line share its frequency."""
    fit, seen = lines.fit, _seen(lines, outcome)
    if not isinstance(outcome, Magnitudes):
        return Modes(_directions(fit.omega, fit.line, fit.shapes, fit.covariance), *seen)
    joint, amplitudes = outcome.participation, seen[0]
    v, turning = joint.value("participation"), np.where(outcome.omega > 0, outcome.omega, 1.0)
    known = outcome.joint.only("omega", "shapes")
    return Modes(
        _directions(known.value("omega"), outcome.line, known.value("shapes"), known.covariance),
        *seen,
        residues=np.einsum("ma,mb->mab", v, v),
        residues_std=spread_of_residues(v, joint.between("participation")),
        energies=0.5 * turning**2 * amplitudes**2 / outcome.s,
    )


def _directions(omega: Array, line: Index, shapes: Array, covariance: Array) -> Gaussian:
    """Frequencies and shapes per mode, from those per line."""
    pick = np.concatenate([line, np.arange(len(omega), len(covariance))])
    values = {"frequencies": omega[line], "shapes": shapes}
    return Gaussian.of(values, covariance[np.ix_(pick, pick)])


def _seen(lines: Lines, outcome: Outcome) -> tuple[Array, Array, Array, Mask]:
    """Amplitudes, significance, ratio of phases and whether in phase; rigid-body modes first."""
    line, several = lines.fit.line, lines.fit.shapes.shape[1] > 1
    ratios = np.array([t.ratio[1] if several else 0.0 for t in lines.tests])[line]
    amplitudes = Trajectories(lines.fit, lines.trials, lines.means).amplitudes
    significance, in_phase = np.sqrt(lines.gains)[line], ~lines.out_of_phase[line]
    rigid = outcome.rigid if isinstance(outcome, Magnitudes) else None
    if rigid is None:
        return amplitudes, significance, ratios, in_phase
    p = len(rigid.significance)
    return (
        np.hstack([rigid.speeds, amplitudes]),
        np.append(rigid.significance, significance),
        np.append(np.zeros(p), ratios),
        np.append(np.ones(p, bool), in_phase),
    )


def _is_rigid(outcome: Outcome) -> bool:
    """Whether the drift is that of a body."""
    return isinstance(outcome, Magnitudes) and outcome.rigid is not None


def _remarks(lines: Lines, channels: tuple[str, ...], *, rigid: bool) -> Iterator[Remark]:
    out = np.flatnonzero(lines.out_of_phase)
    if len(out):
        yield Remark(
            f"{_line_names(lines, out)} not in phase on all channels, as a mode of a lossless "
            "reciprocal system must be",
            advice=Words(
                "two modes of one frequency, damping, rotation or a delay between channels would "
                "do this; records at equilibrium of a system that rotates are fitted with {0}",
                (Ask("gyroscopic", True),),
            ),
            code="out-of-phase",
        )
    if lines.ties is not None and lines.torus is None:
        yield _commensurate(lines.ties)
    if lines.slow:
        yield Remark(
            "there is motion slower than one period of the record; it is in the forecast, but not "
            "among the modes: a longer record would resolve it",
            code="slow",
        )
    if lines.fast:
        yield Remark(
            "there is motion within half a resolution of the Nyquist frequency, where cosine and "
            "sine cannot be told from each other; it is in the forecast, but not among the modes",
            advice="sample faster: it may as well be the alias of something faster",
            code="nyquist",
        )
    if lines.trend is not None:
        degree = lines.trend.coefficients.shape[1] - 1
        yield Remark(
            f"a drift of degree {degree} was fitted together with the lines; the forecast goes on "
            "along it, and its error is not in the band",
            code="trend",
        )
    if lines.ignored is not None:
        yield _ignored(lines.ignored.omega)
    if lines.noisy is not None:
        yield _not_at_rest(lines.noisy.omega)
    if lines.spikes is not None and lines.spikes.any():
        some = " and ".join(
            f"{count} of {name}"
            for name, count in zip(channels, lines.spikes, strict=True)
            if count
        )
        yield Remark(
            f"isolated samples more than six standard deviations off ({some}) were not used",
            code="spikes",
        )
    if lines.coloured:
        yield Remark(
            "the noise is not white: every line is judged by the noise at its frequency, and so "
            "are its errors",
            code="coloured-noise",
        )
    if lines.stretches is not None:
        yield Remark(
            f"the noise comes and goes: it is {lines.stretches.ratio:.2g} times as strong in one "
            "part of the record as in another; the errors are those of such noise",
            advice="the quiet part alone may tell more",
            code="unsteady-noise",
        )
    if lines.whitening is not None:
        yield from noise_remarks(lines.whitening, channels)
    if lines.fit.background > 1 and not rigid:
        yield Remark(
            "a linear drift is significant and was fitted together with the lines", code="drift"
        )


def _not_at_rest(omega: Array) -> Remark:
    which, many = ", ".join(f"{w:.5g}" for w in omega[: limits.NAMED]), len(omega) > 1
    return Remark(
        f"the line{'s' * many} at {which} hardly stand{'s' * (not many)} out of the noise and "
        f"{'are' if many else 'is'} not at rest at the first sample, as all modes are that are let "
        f"go: {'they are' if many else 'it is'} taken for noise",
        code="not-at-rest",
    )


def _ignored(omega: Array) -> Remark:
    which = ", ".join(f"{w:.5g}" for w in omega[: limits.NAMED])
    count = len(omega)
    many = count > 1
    return Remark(
        f"{count} line{'s' * many} in the ignored bands "
        f"({which}{', ...' * (count > limits.NAMED)}) {'were' if many else 'was'} fitted and "
        f"{'are' if many else 'is'} not among the modes",
        code="ignored",
    )
