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
from dataclasses import dataclass
from inspect import getfullargspec

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

import prism.estimate._limits as limits
from prism._types import Array, ComplexArray
from prism.errors import CannotTellError, OptionError
from prism.estimate.channels import DrivenRecord
from prism.estimate.dwell import dwell
from prism.estimate.estimators import ESTIMATORS, LineValues, keep
from prism.estimate.excitations import burst, hammer, random, sweep
from prism.estimate.periodic import periodic
from prism.estimate.spectra import Window
from prism.frequency_response import FrequencyResponse
from prism.record import QUANTITIES, Record

__all__ = ["EXCITATIONS", "ResponseEstimate", "estimate_response"]

_WAYS: dict[str, Callable[..., LineValues]] = {
    way.__name__: way for way in (random, burst, periodic, sweep, dwell, hammer)
}
EXCITATIONS = tuple(_WAYS)
"""Ways to drive a structure."""
_COMMON = ("record", "force", "at", "excitation", "estimator")  # arguments of every excitation


@dataclass(frozen=True)
class ResponseEstimate:
    r"""An estimated response and what stands behind it.

    Attributes
    ----------
    response : FrequencyResponse
        With the variance :math:`E|\hat H - H|^2` of each value, unless there are too few averages
        to know it. That variance is itself uncertain by some :math:`1/\sqrt{n - i}` of its value,
        with n averages and i inputs.
    coherence : array (F, outputs)
        Share of each motion that the forces explain on the lines of `response`: ordinary
        coherence for one force, multiple for several; NaN with too few averages to know.
    averages : float
        Effective number n of independent averages: segments less their overlap, trials, periods;
        for dwells the median number of periods of the force in a fit.
    estimator : str
        ``H1``, ``H2``, ``Hv``; ``ratio`` for phasors of periodic forces and dwells.
    excitation : str
    added_decay : float
        σ that an exponential window has added to the decay rate of every pole:
        ``response.receptance`` is the receptance at :math:`iω + σ`. 0 without such a window.
    skipped : int
        Segments, periods or hits (of dwells: samples) left out because samples are missing.
    remarks : tuple of str
        What else a user should know, such as how many lines are excited.
    """

    response: FrequencyResponse
    coherence: Array
    averages: float
    estimator: str
    excitation: str
    added_decay: float = 0.0
    skipped: int = 0
    remarks: tuple[str, ...] = ()


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
    lines = _WAYS[excitation](driven, *chosen, **options)
    return _finish(lines, driven, chosen[0] if chosen else "ratio", excitation)


def _chosen(excitation: str, estimator: str, given: Mapping[str, object]) -> tuple[str, ...]:
    """Check the options; the estimator, where the excitation leaves the choice of one."""
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
    if "estimator" in spec.args:
        return (estimator,)
    if estimator != "H1":
        raise OptionError(
            f"{estimator} of a {excitation} excitation: its phasors are averaged before they are "
            "divided, which leaves no choice of an estimator; leave it out."
        )
    return ()


def _finish(
    lines: LineValues, record: DrivenRecord, estimator: str, excitation: str
) -> ResponseEstimate:
    """Check that there is a response, and convert all motions to one quantity."""
    _check_related(lines.p_values, record, lines.averages)
    lines = keep(lines, np.asarray(np.isfinite(lines.values).any(axis=(1, 2))))
    factor = _conversion(lines.omega, record, lines.decay)[:, :, None]
    variance = lines.variance
    with np.errstate(invalid="ignore"):
        response = FrequencyResponse(
            lines.omega,
            lines.values * factor,
            record.quantity,
            record.outputs,
            record.inputs,
            None if variance is None else variance * np.abs(factor) ** 2,
        )
    return ResponseEstimate(
        response,
        lines.coherence,
        lines.averages,
        estimator,
        excitation,
        lines.decay,
        lines.skipped,
        lines.remarks,
    )


def _conversion(omega: Array, record: DrivenRecord, decay: float) -> ComplexArray:
    r"""Factor (F, outputs) to the first motion's quantity.

    Under a window :math:`e^{-σt}` a derivative is :math:`iω + σ`: a motion that is the m-th
    derivative is first divided by its m-th power, then multiplied by :math:`(iω)^k` for the
    quantity of the response, so that its receptance is exactly that at :math:`iω + σ`.
    """
    k = QUANTITIES.index(record.quantity)
    own = k - record.orders
    s = 1j * omega[:, None]
    return np.asarray((s + decay) ** -own * s**k if decay else s**record.orders)


def _check_related(p_values: Array | None, record: DrivenRecord, averages: float) -> None:
    r"""Refuse motions that all look unrelated to the forces.

    Either one line stands out after Bonferroni, or lines far enough apart to be independent do so
    together by Fisher's sum of :math:`-\log p`, a Gamma variable.
    """
    if p_values is None:
        return
    p = np.where(np.isfinite(p_values), np.maximum(p_values, 1e-300), 1.0)
    together = -np.log(p[:: limits.LINES_APART])
    by_sum = float(scipy.special.gammaincc(max(together.size, 1), together.sum()))
    by_one = p.size * float(p.min(initial=1.0))
    if min(by_sum, by_one) > limits.UNRELATED:
        raise CannotTellError(
            f"no motion ({', '.join(record.outputs)}) is related to the force "
            f"{', '.join(record.forces)} on any line: with {averages:.3g} averages the "
            "coherence is what unrelated signals have; check the channels, or measure for longer."
        )
