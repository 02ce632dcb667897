r"""Frequency responses estimated from records of forces and motions, without a model.

The estimators need a window, or an excitation that fits the record. A window smears a resonance
over its main lobe, and what a lossless structure did before a segment goes on inside it: near the
resonances of a lossless structure H1 is biased, and no average removes that. Such records are
better identified directly by ``prism.identify(record, experiment="forced", force=...)``, which
needs no window.

Between its samples a real force is held or filtered somehow; a force that is held at zero or first
order is smaller at ω than its samples say by :math:`\operatorname{sinc}(ωΔt/2)` or its square,
which is 1 % at :math:`ωΔt = 0.25` or 0.35. The estimate is the response to the samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import getfullargspec

from numpy.typing import ArrayLike

from prism.errors import OptionError
from prism.estimate.channels import DrivenRecord
from prism.estimate.dwell import dwell
from prism.estimate.estimators import ESTIMATORS, LineValues
from prism.estimate.excitations import burst, hammer, random, sweep
from prism.estimate.finish import ResponseEstimate, finish
from prism.estimate.periodic import periodic
from prism.estimate.segments import Window
from prism.record import Record

__all__ = ["EXCITATIONS", "ResponseEstimate", "estimate_response"]

_WAYS: dict[str, Callable[..., LineValues]] = {
    way.__name__: way for way in (random, burst, periodic, sweep, dwell, hammer)
}
EXCITATIONS = tuple(_WAYS)
"""Ways to drive a structure."""
_COMMON = ("record", "force", "at", "excitation", "estimator")  # arguments of every excitation


def estimate_response(
    record: Record,
    force: str | Sequence[str],
    *,
    at: Mapping[str, str] | None = None,
    excitation: str = "random",
    estimator: str = "H1",
    noise: Mapping[str, float] | None = None,
    segment: float | None = None,
    overlap: float | None = None,
    window: Window | None = None,
    threshold: float | None = None,
    period: float | None = None,
    settle: float | None = None,
    taper: float | None = None,
    frequencies: ArrayLike | None = None,
    starts: Sequence[float] | None = None,
    free_lines: ArrayLike | None = None,
    pulse: float | None = None,
    final: float | None = None,
    pretrigger: int | None = None,
) -> ResponseEstimate:
    r"""Estimate :math:`y_a = \sum_b H_{ab}(iω) f_b` from a record of forces and motions.

    Lossless records are better identified directly, see the module. An option that the excitation
    does not use is refused. Lengths (`segment`, `period`, `starts`, `pulse`) are samples when they
    are integers and times when they are floats.

    Parameters
    ----------
    record : Record
        Evenly sampled; trials are independent repetitions. What the record calls the quantity of a
        force channel does not matter. Motions of another quantity than the first motion channel
        are converted to that, by :math:`(iω)^k`.
    force : str or sequence of str
        The force channels; all others are motions.
    at : mapping, optional
        Force channel to the motion channel at the same place (the driving point). A force that it
        does not name acts at ``<motion>`` if it is called ``f_<motion>`` or ``force_<motion>``,
        and else where no motion is measured, under its own name. Without `at`, a single force
        with a single motion is a driving point whatever their names; ``at={}`` denies that.
    excitation : {"random", "burst", "periodic", "sweep", "dwell", "hammer"}
        * ``random``: Welch's average over windowed segments and trials.
        * ``burst``: each trial, or each `segment`, is a burst that begins at rest and dies away
          inside it; no window, no overlap.
        * ``periodic``: means over periods after the first `settle`; the variance is the scatter
          over periods, and unknown with a single one.
        * ``sweep``: each trial is one sweep; ratio of its transforms, with a variance only from
          several trials, because scatter along the lines of one sweep is mostly resonances.
        * ``dwell``: consecutive dwells of a stepped sine in one trial, or one in each trial.
        * ``hammer``: each trial, or its first `segment`, is a hit.
    estimator : {"H1", "H2", "Hv"}
        H1 is unbiased with noise on the motions only, H2 with noise on the forces
        only, Hv with noise on both that is in a known ratio. H2 of several forces needs as many
        motions.
    noise : mapping, optional
        For Hv: channel to standard deviation of its white noise, of all channels, up to a common
        factor. By default the noise is the same part of each channel on every line; for one force
        Hv is then the geometric mean of H1 and H2.
    segment : int or float, optional
        By default an eighth of all samples (random), or whole trials.
    overlap : float, optional
        Share of a segment that the next one repeats, by default 0.5.
    window : str, tuple or array, optional
        Of `scipy.signal.get_window`, or samples; by default ``hann``.
    threshold : float, optional
        Lines where a force is below this part of its largest amplitude are left out; by default
        0.01 (periodic, sweep) or 0.
    period : int or float, optional
        By default the shortest with which the force repeats exactly.
    settle : int or float, optional
        Periods to drop (by default 1), or the share of each dwell to drop (by default 0.5).
    taper : float, optional
        Share of a sweep that a Tukey window tapers, by default 0.
    frequencies : array_like, optional
        Angular frequencies of the dwells, in their order; by default measured in the force.
    starts : sequence of int or float, optional
        Where each dwell begins. By default `frequencies` have equal lengths, and without
        frequencies the changes are found in the force.
    free_lines : array_like, optional
        Natural frequencies whose free motion is fitted together with the dwell.
    pulse : int or float, optional
        Length of force to keep about the peak of a hit; by default all of it.
    final : float, optional
        Final value of an exponential window on forces and motions; by default no window.
    pretrigger : int, optional
        Samples before each hit, whose mean is taken off every channel; by default 0.

    Returns
    -------
    ResponseEstimate

    Raises
    ------
    RecordError, OptionError
        When the channels, the times or the options make no sense.
    RecordTooShortError, CannotTellError
        When there are too few complete segments, the forces cannot be told apart, or no motion is
        related to them.

    Examples
    --------
    >>> import numpy as np
    >>> f = np.random.default_rng(0).standard_normal(4096)
    >>> x = 0.5 * np.roll(f, 1)
    >>> found = estimate_response(Record(np.column_stack([f, x]), 1.0, channels=["f", "x"]), "f")
    >>> found.response
    FrequencyResponse(255 frequencies 0.0122718 to 3.12932 rad per time unit, 1 x 1, displacement of x / x)
    >>> bool(found.coherence.min() > 0.9)
    True
    """  # noqa: E501 - one line of a repr
    given = locals()  # the arguments alone, as nothing else has a name yet
    options = {k: v for k, v in given.items() if k not in _COMMON and v is not None}
    chosen = _chosen(excitation, estimator, options)
    driven = DrivenRecord.of(record, force, at)
    if chosen:
        return finish(
            _WAYS[excitation](driven, estimator, **options), driven, estimator, excitation
        )
    return finish(_WAYS[excitation](driven, **options), driven, "ratio", excitation)


def _chosen(excitation: str, estimator: str, given: Mapping[str, object]) -> bool:
    """Check the options; whether the excitation leaves the choice of an estimator."""
    if excitation not in EXCITATIONS:
        raise OptionError(
            f"unknown excitation {excitation!r}: choose among {', '.join(EXCITATIONS)}."
        )
    spec = getfullargspec(_WAYS[excitation])
    for name in given:
        if name not in spec.kwonlyargs:
            raise OptionError(
                f"{name} is no option of a {excitation} excitation: leave it out; its options are "
                f"{', '.join(spec.kwonlyargs)}."
            )
    if estimator not in ESTIMATORS:
        raise OptionError(f"unknown estimator {estimator!r}: choose among {', '.join(ESTIMATORS)}.")
    if estimator != "H1" and "estimator" not in spec.args:
        raise OptionError(
            f"{estimator} of a {excitation} excitation: its phasors are averaged before they are "
            "divided, which leaves no choice of an estimator; leave it out."
        )
    return "estimator" in spec.args
