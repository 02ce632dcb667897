"""``identify``: the front door of the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism._version import __version__
from prism.errors import CannotTellError, NoLineError, OptionError, RecordTooShortError
from prism.experiments import EXPERIMENTS, Known
from prism.forecast import Trajectories
from prism.frequency_response import FrequencyResponse
from prism.labelled import Labelled, is_labelled
from prism.model import ForecastCheck, Model, Settings
from prism.motion.steady import METHODS
from prism.options import check_options
from prism.pipeline.damped import decay_remark, from_damped
from prism.pipeline.forced import from_records, from_response
from prism.pipeline.ignore import Ignore, bands_of, highest_frequency, without_ignored
from prism.pipeline.lines import assemble, not_lines
from prism.pipeline.potential import potential_remark, wanders, with_potential
from prism.record import Record
from prism.remarks import Ask, Words

DEFAULT_FALSE_ALARM = 1e-3
FORCED = "forced"
_MEANINGLESS = {
    "fit_fraction": "continuing the motion needs the force to come",
    "ignore": "a line that the force does not make is noise there",
    "potential": "the response is that of a linear system",
}


def identify(
    record: Record | FrequencyResponse | Labelled,
    *,
    experiment: str | None = None,
    mass: ArrayLike | str | None = None,
    stiffness: ArrayLike | None = None,
    force: str | Sequence[str] | None = None,
    at: Mapping[str, str] | None = None,
    damped: bool | None = None,
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
) -> Model:
    """Identify the passive Hamiltonian behind a measurement of some of its coordinates.

    Parameters
    ----------
    record : Record, FrequencyResponse or xarray.DataArray
        A measured frequency response is a forced experiment; a labelled array is read by
        `Record.from_xarray`.
    experiment : {"free", "equilibrium", "released", "forced"}, optional
        How the record was made: with unknown excitation (the default), at thermal equilibrium
        (equal mean energy in every mode), released from rest with the hidden part undisplaced, or
        under forces that were recorded too.
    mass : array (channels, channels) or "identity", optional
        Effective mass of the seen coordinates, if known.
    stiffness : array (channels, channels), optional
        Stiffness of the seen coordinates with the hidden ones clamped, if known.
    force : str or sequence of str, optional
        Channels of a forced record that are forces; all others are motions.
    at : mapping, optional
        Motion channel at which each force acts. A force ``f_<motion>`` or ``force_<motion>`` acts
        at that motion, and one force beside one motion is a driving point.
    damped : bool, optional
        Fit losses, or do not. By default the likelihood decides in forced experiments, and free
        records are taken for undamped; with ``damped=True`` they are fitted as free decays,
        between kicks where there are any, or as stationary motion that unmeasured noise drives,
        whichever they are.
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
    record = _data(record)
    kind = _experiment(record, experiment, force)
    checked = check_options(
        {
            "experiment": kind,
            "hold": hold,
            "rank": rank,
            "method": method,
            "max_modes": max_modes,
            "false_alarm": false_alarm,
            "fit_fraction": fit_fraction,
            "drift": drift,
            "damped": damped,
        }
    )
    max_modes = checked["max_modes"]
    _check_drift(drift, kind == FORCED or bool(damped) or potential is not None, method)
    settings = Settings(method, false_alarm, max_modes, __version__)
    if kind == FORCED:
        given = {
            "mass": mass,
            "stiffness": stiffness,
            "fit_fraction": fit_fraction,
            "ignore": ignore,
            "potential": potential,
        }
        _check_forced(record, given, method, force, at, hold, rank)
        if isinstance(record, FrequencyResponse):
            model = from_response(
                record,
                damped=damped,
                rank=rank,
                false_alarm=false_alarm,
                max_modes=max_modes,
                progress=progress,
            )
        else:
            model = from_records(
                record,
                [force] if isinstance(force, str) else list(force or ()),
                at=at,
                damped=damped,
                hold=hold,
                false_alarm=false_alarm,
                max_modes=max_modes,
                progress=progress,
            )
        return replace(model, settings=settings)
    assert isinstance(record, Record)
    _check_unforced(kind, force, at, hold, rank)
    if potential is not None:
        given = {"mass": mass, "stiffness": stiffness, "damped": damped, "ignore": ignore}
        _check_potential(kind, method, given)
        return _nonlinear(record, potential, settings, fit_fraction, progress)
    if damped:
        return _damped(
            record, kind, method, settings, (mass, stiffness), fit_fraction, ignore, progress
        )
    known = Known(_matrix(mass, "mass", record), _matrix(stiffness, "stiffness", record))
    fitted = record if fit_fraction is None else record.head(fit_fraction)
    more = {} if drift == 1 else {"drift": drift}
    try:
        lines = METHODS[method](
            fitted, false_alarm=false_alarm, max_modes=max_modes, progress=progress, **more
        )
    except RecordTooShortError as refusal:
        raise wanders(fitted) or refusal from None
    lines = without_ignored(lines, fitted, ignore)
    outcome = not_lines(lines) or EXPERIMENTS[kind](lines, known)
    trajectories = Trajectories(
        lines.motion, lines.trials, lines.means, lines.background, lines.trend
    )
    model = replace(assemble(fitted, kind, lines, outcome, trajectories), settings=settings)
    if damped is None and method == "likelihood":
        model = model.with_remark(decay_remark(fitted, lines))
        model = model.with_remark(potential_remark(model, fitted))
    if fit_fraction is None:
        return model
    return replace(model, forecast_check=check_forecast(model, record, fit_fraction))


def _damped(
    record: Record,
    kind: str,
    method: str,
    settings: Settings,
    known: tuple[ArrayLike | str | None, ArrayLike | None],
    fit_fraction: float | None,
    ignore: Ignore | None,
    progress: Callable[[str], None] | None,
) -> Model:
    """A record with losses."""
    if kind != "free" or method != "likelihood" or any(one is not None for one in known):
        raise OptionError(
            Words(
                "{0} is for free records, by likelihood, without a known mass or stiffness: their "
                "magnitudes are not determined.",
                (Ask("damped", True),),
            )
        )
    fitted = record if fit_fraction is None else record.head(fit_fraction)
    model = from_damped(
        fitted,
        bands=bands_of(ignore, highest_frequency(fitted)),
        false_alarm=settings.false_alarm,
        max_modes=settings.max_modes,
        progress=progress,
    )
    model = replace(model, settings=settings)
    if fit_fraction is None:
        return model
    return replace(model, forecast_check=check_forecast(model, record, fit_fraction))


def _nonlinear(
    record: Record,
    potential: str | Sequence[str],
    settings: Settings,
    fit_fraction: float | None,
    progress: Callable[[str], None] | None,
) -> Model:
    """A record of a nonlinear motion."""
    fitted = record if fit_fraction is None else record.head(fit_fraction)
    linear: Model | CannotTellError
    try:
        linear = identify(fitted, damped=False, false_alarm=settings.false_alarm, progress=progress)
    except (NoLineError, RecordTooShortError) as refusal:
        linear = refusal  # a chaotic motion has no lines
    model = with_potential(linear, fitted, potential, settings.max_modes, progress)
    model = replace(model, settings=settings)
    if fit_fraction is None:
        return model
    return replace(model, forecast_check=check_forecast(model, record, fit_fraction))


def _check_potential(kind: str, method: str, given: Mapping[str, object]) -> None:
    strange = [name for name, value in given.items() if value is not None and value is not False]
    if kind != "free" or method != "likelihood" or strange:
        raise OptionError(
            "potential is for free records, by likelihood, of coordinates of unit mass"
            + (f": leave out {', '.join(strange)}." if strange else ".")
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
    return ForecastCheck(fit_fraction, rms / std, std)


# -- checking what was asked ----------------------------------------------------------------------


def _data(given: object) -> Record | FrequencyResponse:
    if is_labelled(given):
        return Record.from_xarray(given)
    if not isinstance(given, Record | FrequencyResponse):
        raise OptionError(
            f"identify needs a Record or a FrequencyResponse, got {type(given).__name__}; "
            "wrap an array as prism.Record(values, dt=...) or use prism.read(path)."
        )
    return given


def _experiment(
    record: Record | FrequencyResponse, asked: str | None, force: str | Sequence[str] | None
) -> str:
    """The kind of experiment; a frequency response, or named forces, leave no choice."""
    measured = isinstance(record, FrequencyResponse)
    if asked is None:
        return FORCED if measured or force is not None else "free"
    if measured and asked != FORCED:
        raise OptionError(
            f"a frequency response is a forced experiment, not {asked!r}: leave it out."
        )
    return asked


def _check_forced(
    record: Record | FrequencyResponse,
    given: Mapping[str, object],
    method: str,
    force: str | Sequence[str] | None,
    at: Mapping[str, str] | None,
    hold: str,
    rank: str,
) -> None:
    for name, value in given.items():
        if value is not None:
            why = _MEANINGLESS.get(name, "force and motion determine it")
            raise OptionError(f"{name} means nothing in a forced experiment: {why}; leave it out.")
    if method != "likelihood":
        raise OptionError(f"a forced experiment is fitted by likelihood, not by {method!r}.")
    if isinstance(record, FrequencyResponse):
        if force is not None or at is not None or hold != "auto":
            raise OptionError(
                "force, at and hold are for time records: a frequency response names its inputs."
            )
    elif force is None:
        raise OptionError(
            Words(
                "a forced record needs the names of its force channels: give {0} among "
                f"{', '.join(record.channels)}.",
                (Ask("force", like="[...]"),),
            )
        )
    elif rank != "one":
        raise OptionError("rank is for frequency responses: leave it out.")


def _check_unforced(
    experiment: str,
    force: str | Sequence[str] | None,
    at: Mapping[str, str] | None,
    hold: str,
    rank: str,
) -> None:
    strange = {
        "force": force is not None,
        "at": at is not None,
        "hold": hold != "auto",
        "rank": rank != "one",
    }
    for name, there in strange.items():
        if there:
            raise OptionError(
                f"{name} belongs to forced experiments, not to {experiment!r}: leave it out."
            )


def _check_drift(drift: int, elsewhere: bool, method: str) -> None:
    if drift > 1 and (elsewhere or method != "likelihood"):
        raise OptionError(
            "drift of a higher degree is fitted with undamped lines, by likelihood: leave it out."
        )


def _matrix(given: ArrayLike | str | None, name: str, record: Record) -> Array | None:
    """Check a known mass or stiffness: symmetric, of the size of the channels."""
    n = record.n_channels
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
    if not np.all(np.isfinite(out)) or not np.allclose(out, out.T, rtol=1e-8):
        raise OptionError(f"the {name} must be finite and symmetric.")
    if np.linalg.eigvalsh(out)[0] <= 0:
        raise OptionError(f"the {name} must be positive definite.")
    return np.asarray(0.5 * (out + out.T))
