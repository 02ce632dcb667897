"""``identify``: the front door. Data → kind of motion → Finding → Model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.assembly import assemble
from prism.diagnostics import HALF, ForecastHorizon, forecast_horizon
from prism.errors import CannotTellError, NoLineError, OptionError
from prism.experiments import EXPERIMENTS, Forced, OfLines
from prism.faults import corrected, find_raw
from prism.faults.clipping import clear_of_levels
from prism.faults.kind import BrokenSteady, put_in_time
from prism.finding import Finding
from prism.frequency_response import FrequencyResponse
from prism.ignore import Ignore
from prism.labelled import Labelled, is_labelled
from prism.model import ForecastCheck, Model
from prism.motion import _limits as limits
from prism.motion.account import usable
from prism.motion.contest import against, is_open
from prism.motion.driven import DrivenFit
from prism.motion.driven.setups.kind import apart, check_setups, driven_fit, setups_finding
from prism.motion.driven.setups.linkage import Linkage
from prism.motion.explanation import Explanation, Question, Tell, cut_short
from prism.motion.gyroscopic.kind import Gyroscopic
from prism.motion.kinds import KINDS, chosen
from prism.motion.moving.kind import Moving
from prism.motion.steady import Lines
from prism.motion.steady.kind import Steady
from prism.motion.with_gaps import decide_with_gaps
from prism.options import all_options, changed, check_options
from prism.record import Record
from prism.remarks import Ask, Remark, Words
from prism.search.work import allowed
from prism.settings import DEFAULT_FALSE_ALARM, Settings
from prism.standing import quantities_of

__all__ = ["DEFAULT_FALSE_ALARM", "check_forecast", "identify"]

_NOISE_REACH = 5.0  # standard deviations of noise, which a long record does not exceed


def identify(
    record: Record | FrequencyResponse | Labelled | Sequence[Record | FrequencyResponse | Labelled],
    *,
    experiment: str | None = None,
    kind: str | None = None,
    mass: ArrayLike | str | None = None,
    stiffness: ArrayLike | None = None,
    temperature: float | None = None,
    hbar: float | None = None,
    pull: ArrayLike | None = None,
    rigid: int | None = None,
    force: str | Sequence[str] | None = None,
    at: Mapping[str, str] | None = None,
    damped: bool | None = None,
    gyroscopic: bool | None = None,
    potential: str | Sequence[str] | None = None,
    rank: str = "one",
    hold: str = "auto",
    method: str = "likelihood",
    max_modes: int | None = None,
    false_alarm: float = DEFAULT_FALSE_ALARM,
    fit_fraction: float | None = None,
    ignore: Ignore | None = None,
    drift: int = 1,
    progress: Callable[[str], None] | None = None,
    **more: Any,
) -> Model:
    """Identify the passive Hamiltonian behind a measurement of some of its coordinates.

    Parameters
    ----------
    record : Record, FrequencyResponse, xarray.DataArray or a sequence of Records
        A measured frequency response is a forced experiment; a labelled array is read by
        `Record.from_xarray`. Several records are set-ups: of one structure that unmeasured noise
        drives, taken one after another with sensors at different places. Channels of one name are
        one place. Poles and shapes are fitted to all of them at once.
    experiment : {"free", "equilibrium", "released", "snapback", "forced"}, optional
        How the record was made: with unknown excitation (the default), at thermal equilibrium
        (equal mean energy in every mode), released from rest with the hidden part undisplaced,
        let go after a steady pull that the hidden part has followed, or under forces that were
        recorded too.
    kind : str, optional
        Kind of motion to fit: ``"steady"``, ``"decaying"`` (kicked or not), ``"driven"`` by noise
        that was not measured, ``"moving"``, ``"gyroscopic"``, ``"nonlinear"`` or ``"forced"``. By
        default the data decide among the first four in free records, and `Model.evidence` says
        how clearly; elsewhere the other options say.
    mass : array (channels, channels) or "identity", optional
        Effective mass of the seen coordinates, if known.
    stiffness : array (channels, channels), optional
        Dynamic stiffness κ of the seen coordinates, if known: that with the hidden ones clamped
        where mass does not couple them to x, and more than that where it does.
    temperature : float, optional
        Equilibrium: kT in the units of energy of the record; it fixes the scale as the mass does.
    hbar : float, optional
        Equilibrium: ħ in the same units. A mode then has the mean energy
        ``ħΩ/2 coth(ħΩ/2kT)`` instead of kT.
    pull : float or array (channels,) or (trials, channels), optional
        Snap-back: the force that was let go, if known; it fixes the scale as the mass does.
    rigid : int, optional
        Number of rigid-body modes of a body that nothing holds: they are modes at zero frequency,
        seen as slopes, or as offsets of a release. 0 says that sensors drift instead. By default
        the data decide where they can.
    force : str or sequence of str, optional
        Channels of a forced record that are forces; all others are motions.
    at : mapping, optional
        Motion channel at which each force acts. A force ``f_<motion>`` or ``force_<motion>`` acts
        at that motion, and one force beside one motion is a driving point.
    damped : bool, optional
        Fit losses, or do not; by default the data decide, in free records and in forced
        experiments. With ``damped=True`` free records are fitted as free decays, between kicks
        where there are any, or as stationary motion that unmeasured noise drives, whichever they
        are.
    gyroscopic : bool, optional
        Whether the system rotates, so that its lines turn; by default the data decide. The mass, if
        known, fixes its scale at equilibrium, and the magnitudes of its modes in free records.
    potential : {"auto", "polynomial", "trigonometric"} or sequence of str, optional
        Fit a nonlinear force :math:`-V'(x)` of the seen coordinate beside hidden modes; the terms
        are chosen from forces up to :math:`x^5`, from sines and cosines, from both, or from those
        given, such as ``["x", "x^3"]``. The mass of the seen coordinate is one. ``max_modes``
        then counts hidden modes.
    rank : {"one", "full"}
        Frequency responses: whether a pole may have a residue of higher rank.
    hold : {"auto", "zero", "first"}
        Forced records: what the force does between its samples.
    method : {"likelihood", "nnls", "sdp"}
        How lines are found: by maximum likelihood (the default), by the non-negative cosine fit
        of the autocorrelation that the paper describes, or by its semidefinite program.
    max_modes : int, optional
        Look for at most so many lines; 200 by default.
    false_alarm : float
        Probability that noise alone shows a line anywhere in the band.
    fit_fraction : float, optional
        Fit this first part of the record only and test the forecast on the rest.
    ignore : str, (low, high) or a sequence of these, optional
        Lines that are no physics: ``"50hz"`` is mains with its harmonics, ``"49-51"`` or
        ``(49, 51)`` a band in cycles per time unit. They are fitted and reported, but are not
        among the modes.
    drift : int
        Degree of the polynomial along which free records drift, 1 to 8. Up to one it is fitted
        always and kept where it is significant.
    progress : callable, optional
        Called with a short text as the search goes on.
    **more
        Options of kinds of motion that were registered (`prism.motion.kinds.register`).

    Raises
    ------
    NoLineError, RecordTooShortError
        When the data hold nothing to identify.
    OptionError
        When an option makes no sense.

    Examples
    --------
    >>> import prism
    >>> record = prism.systems.chain().free(400, 0.05, noise=0.1, rng=0)
    >>> prism.identify(record).modes.frequencies.round(3)
    array([0.347, 1.   , 1.532, 1.879])
    """
    given = {name: value for name, value in locals().items() if name in _names()}
    if isinstance(record, list | tuple):
        return _of_setups(record, {**given, **more}, progress or _silent)
    data = _data(record)
    settings, done = _asked(data, {**given, **more})
    fitted = data
    if isinstance(data, Record) and settings.fit_fraction is not None and done.name != "forced":
        fitted = data.head(settings.fit_fraction)
    asked = Question(fitted, done, settings, progress or _silent)
    explanation = chosen(asked)
    explanation.check(asked)
    raw = find_raw(asked.record) if is_open(asked, explanation) else ()
    asked = asked._replace(data=corrected(asked.record, raw)) if raw else asked
    find = partial(_found, explanation)
    with allowed(asked.work):
        asked, found, raw = clear_of_levels(asked, find(asked), raw, find)
        late = put_in_time(asked, found, find)
        if late is not None:
            asked, found = late.asked, late.found
        if late is None or not late.settled:
            found = _instead(asked, found)
        found = cut_short(found, limits.LAST_SHARE)
    found = found.with_remarks(*(one.remark for one in raw))
    found = found.with_remarks(*_more(asked, explanation, found))
    lines = found.kind in (Steady.name, Moving.name)
    if lines and settings.damped is None and _by_likelihood(settings):
        found = found.with_remarks(*(kind.suggests(asked, found) for kind in reversed(KINDS)))
    model = assemble(found, done.name, settings)
    if settings.fit_fraction is None or not isinstance(data, Record) or model.trajectories is None:
        return model
    check = check_forecast(model, data, settings.fit_fraction)
    return assemble(found, done.name, settings, check=check)


def _of_setups(given: Sequence[object], options: Mapping[str, Any], tell: Tell) -> Model:
    """Several set-ups of one structure, in one likelihood."""
    arrays = [Record.from_xarray(one) if is_labelled(one) else one for one in given]
    records = check_setups(arrays, changed(check_options(options)))
    asked, fits = [], []
    for number, record in enumerate(records, 1):
        settings, done = _asked(record, options)
        asked.append(Question(record, done, settings, tell))
        tell(f"set-up {number} of {len(records)} by itself")
        with allowed(asked[-1].work):
            fits.append(_alone(number, asked[-1]))
    with allowed(sum(one.work for one in asked)):
        found = cut_short(setups_finding(asked, fits), limits.LAST_SHARE)
    open_ = apart(Linkage.of(records))
    if open_:
        found = replace(found, quantities=(*quantities_of(found), *open_))
    return assemble(found, asked[0].experiment.name, asked[0].settings)


def _alone(number: int, asked: Question) -> DrivenFit | None:
    """The driven modes of one set-up by itself; None where it shows none."""
    try:
        found = _found(chosen(asked), asked)
    except NoLineError:
        found = None
    except CannotTellError as error:
        raise type(error)(f"set-up {number}: " + error.words) from error
    return driven_fit(number, found, asked)


def _instead(asked: Question, found: Finding) -> Finding:
    """What another kind finds in place of steady lines, where their shapes speak for it."""
    if found.kind != Steady.name:
        return found
    better = (kind.instead(asked, found) for kind in KINDS)
    return next((one for one in better if one is not None), found)


def _more(asked: Question, explanation: Explanation, found: Finding) -> Iterator[Remark]:
    """What the data say against an option, what was given in vain."""
    lines, settings = found.fit, asked.settings
    likely = settings.method == "likelihood"
    free = asked.experiment.name == "free" and likely
    # experiments other than free motion take steady lines for granted
    insisted = settings.damped is False or settings.kind == Steady.name or not free
    if likely and insisted and isinstance(lines, Lines) and usable(asked.record):
        remark = against(asked, found)
        if remark is not None:
            yield remark
    if free and settings.fit_fraction is not None and found.motion is None:
        yield Remark(
            "the forecast was not tested: the motion depends on a force to come", code="no-forecast"
        )
    by_mass = (Steady.name, Gyroscopic.name)
    if is_open(asked, explanation) and found.kind not in by_mass and settings.mass is not None:
        yield Remark(
            f"the mass was not used: the motion is {found.kind}, and an unknown start or drive "
            "excites each mode by an unknown amount",
            code="unused",
        )


def check_forecast(model: Model, record: Record, fit_fraction: float) -> ForecastCheck:
    """Compare the forecast with the part of the record after ``fit_fraction``."""
    rest = record.tail(fit_fraction)
    errors, values = [], []
    for r, (t, seen) in enumerate(zip(rest.times, rest.trials, strict=True)):
        errors.append(model.forecast(t, r).values - seen)
        values.append(seen)
    rms = np.sqrt(np.nanmean(np.concatenate(errors) ** 2, axis=0))
    std = np.nanstd(np.concatenate(values), axis=0)
    return ForecastCheck(fit_fraction, rms / std, std, _horizon(model, rest, errors[0]))


def _horizon(model: Model, rest: Record, errors: Array) -> ForecastHorizon | None:
    """How long the forecast of the first trial held, beyond what noise explains."""
    whole = np.isfinite(errors).all(axis=1)
    if model.noise_std is None or np.count_nonzero(whole) < 2:
        return None
    seen = rest.trials[0][whole]
    if np.any(seen.std(axis=0) == 0):
        return None
    tolerance = HALF + _NOISE_REACH * float(np.max(model.noise_std / seen.std(axis=0)))
    return forecast_horizon(rest.times[0][whole], seen + errors[whole], seen, tolerance)


def _silent(_: str) -> None:
    """No progress is shown unless asked for."""


def _names() -> set[str]:
    return {option.name for option in all_options()}


def _by_likelihood(settings: Settings) -> bool:
    return settings.method == "likelihood" and settings.kind is None


def _found(explanation: Explanation, asked: Question) -> Finding:
    """The finding, or the refusal that helps most."""
    try:
        if is_open(asked, explanation):
            return decide_with_gaps(asked, explanation, [*KINDS, BrokenSteady()])
        return explanation.find(asked)
    except CannotTellError as refusal:
        others = (kind.instead_of(asked, refusal) for kind in KINDS if kind is not explanation)
        better = next((other for other in others if other is not None), None)
        if better is None or not isinstance(explanation, Steady):
            raise
        raise better from None


def _data(given: object) -> Record | FrequencyResponse:
    if is_labelled(given):
        return Record.from_xarray(given)
    if not isinstance(given, Record | FrequencyResponse):
        raise OptionError(
            f"identify needs a Record or a FrequencyResponse, got {type(given).__name__}; "
            "wrap an array as prism.Record(values, dt=...) or use prism.read(path)."
        )
    return given


def _asked(
    data: Record | FrequencyResponse, given: Mapping[str, Any]
) -> tuple[Settings, OfLines | Forced]:
    """Options, checked once, and the experiment that they describe."""
    options = check_options(given)
    name = _experiment(data, options.pop("experiment"), options["force"])
    experiment = EXPERIMENTS[name]
    _check_belonging(name, experiment.options, options)
    channels = data.n_channels if isinstance(data, Record) else len(data.ports.names)
    known = {field for field in Settings.__dataclass_fields__ if field in options}
    settings = Settings(
        **{field: _frozen(options[field]) for field in known},
        more={field: value for field, value in options.items() if field not in known},
    )
    return settings, experiment.of(options, channels)


def _frozen(value: Any) -> Any:
    """Values that nobody can change any more."""
    if isinstance(value, Mapping):
        return tuple(value.items())
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def _experiment(data: Record | FrequencyResponse, asked: str | None, force: Any) -> str:
    """The kind of experiment; a frequency response, or named forces, leave no choice."""
    measured = isinstance(data, FrequencyResponse)
    if asked is None:
        return "forced" if measured or force else "free"
    if measured and asked != "forced":
        raise OptionError(
            f"a frequency response is a forced experiment, not {asked!r}: leave it out."
        )
    return asked


def _check_belonging(name: str, known: Sequence[str], options: Mapping[str, Any]) -> None:
    """Refuse options that mean something in other experiments only."""
    default = {option.name: option.default for option in all_options()}
    for other, experiment in EXPERIMENTS.items():
        for option in set(experiment.options) - set(known) - set(OfLines.options):
            value = options[option]
            if value is not None and (isinstance(value, np.ndarray) or value != default[option]):
                raise OptionError(
                    Words(
                        f"{{0:name}} belongs to {other} experiments, not to {name!r}: leave it "
                        "out.",
                        (Ask(option),),
                    )
                )
