r"""Modes straight from forced time records, by maximum likelihood.

.. math:: x_a(t) = \sum_j v_{ja} \Big[ \sum_b v_{j,p(b)} (h_j * f_b)(t)
          + \text{free motion of mode } j \Big] + \sum_b E_{a,p(b)} f_b(t) + \text{offset} +
          \text{drift} + \text{noise}_a

The forces are known exactly and held between the samples, the noise is white and Gaussian with a
level of its own in each channel, and the motion at the start is unknown. There is no frequency
response, no window and no leakage. The poles are found with free amplitudes (`pole_search`),
then everything is fitted jointly with reciprocal, positive residues (`reciprocal`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import chdtrc, ndtri

from prism._linalg import positive_sign
from prism._types import Array
from prism.errors import NoLineError, RecordTooShortError
from prism.motion.forced.ended import ENDED
from prism.motion.forced.foster import Foster, FosterFit
from prism.motion.forced.friction.system import FrictionSystem
from prism.motion.forced.records import _limits as limits
from prism.motion.forced.records.colour import find_in_colour
from prism.motion.forced.records.coupled import SharedFit, SharedRecord
from prism.motion.forced.records.coupling import (
    SharedFriction,
    beats,
    complex_poles,
    shared_friction,
)
from prism.motion.forced.records.data import ForcedData, take_apart
from prism.motion.forced.records.friction_report import coupled_foster, significance
from prism.motion.forced.records.open_friction import open_friction
from prism.motion.forced.records.pole_fit import PoleFit
from prism.motion.forced.records.pole_search import find_poles
from prism.motion.forced.records.reciprocal import ModalFit, Reciprocal
from prism.motion.forced.records.residual import Left, spread_of
from prism.motion.forced.records.rotation import is_square, rotating_records
from prism.motion.forced.records.start import ReciprocalStart, nuisance_remarks, start_from_poles
from prism.motion.forced.records.turning import UNASKED, Quadrature, quadrature_of
from prism.motion.forced.response.report import of_modes
from prism.motion.forced.rotating import RotatingFit
from prism.options import check_options
from prism.record import Record
from prism.remarks import Remark
from prism.search.work import over, part

__all__ = ["RecordsFit", "fit_records"]

_OPEN = Remark(
    "the data do not tell whether friction couples the modes: it is left out, and hidden "
    "frequencies may be off by more than their errors if it does",
    advice="record longer, or with less noise",
    code="friction-open",
)


@dataclass(frozen=True)
class RecordsFit:
    """Modes fitted to forced records.

    Attributes
    ----------
    fit : FosterFit
        Ports are the motion channels, in the order of the record.
    hold : {"zero", "first"}
        What the force did between its samples.
    ports : tuple of str
    fitted : list of arrays (samples, ports)
        Motion of the model in each trial, offset and drift included.
    nrmse : array (ports,)
        Residual of each channel over its standard deviation.
    quadrature : Quadrature
        What lines that turn would gain over real modes; not asked where friction couples modes.
    """

    fit: FosterFit
    hold: str
    ports: tuple[str, ...]
    fitted: list[Array]
    nrmse: Array
    quadrature: Quadrature = UNASKED


def fit_records(
    record: Record,
    force: Sequence[str],
    *,
    at: Mapping[str, str] | None = None,
    damped: bool | None = None,
    hold: str = "auto",
    false_alarm: float = 1e-3,
    max_modes: int | None = None,
    may_rotate: bool = False,
    progress: Callable[[str], None] | None = None,
) -> RecordsFit | RotatingFit:
    """Identify the modes of a system from motions recorded under known forces.

    Parameters
    ----------
    record : Record
        Motions and forces, evenly sampled; motions may have missing samples, forces may not.
    force : sequence of str
        Names of the channels that are forces; all others are motions.
    at : mapping, optional
        Motion channel at which each force acts; see `place_forces` for what goes without saying.
    damped : bool, optional
        Whether the modes have viscous damping; by default they have if that is significant.
    hold : {"auto", "zero", "first"}
        Between samples the force stays as it was, or goes straight to the next one. By default
        the likelihood decides, for the first order unless the zero order is clearly better.
    false_alarm : float
        Probability that noise alone shows a mode anywhere in the band.
    max_modes : int, optional
    may_rotate : bool
        Whether a system that rotates is fitted where the response is not reciprocal.
    progress : callable, optional
        Told in words how the search goes.

    Returns
    -------
    RecordsFit
        Or a `RotatingFit`, where the system may rotate and does.

    Raises
    ------
    OptionError, RecordError
        When the channels do not make a forced experiment.
    NoLineError
        When no mode stands out of the noise, or none is driven by the force.
    RecordTooShortError
        When the slowest mode hardly turns in the record.
    CannotTellError
        When there is no driving point, or the motion there is not that of a passive system.
    """
    check_options({"hold": hold, "false_alarm": false_alarm, "max_modes": max_modes})
    recorded = take_apart(record, force, at)
    search = partial(
        find_poles,
        false_alarm=false_alarm,
        lossless=damped is False,
        holds=("first", "zero") if hold == "auto" else (hold,),
        most=max_modes,
        tell=progress or (lambda text: None),
    )
    shared, short, may_rotate = None, False, may_rotate and is_square(recorded)
    if may_rotate or damped is not False:
        most = min(max_modes or limits.MOST_COMPLEX, limits.MOST_COMPLEX)
        with part(limits.COMPLEX_SHARE):
            turned = complex_poles(recorded, partial(search, turned=True, most=most))
            short = over()
            # poles that are not all there show neither friction nor rotation
            turned = None if short else turned
        rotating = rotating_records(recorded, *turned) if turned and may_rotate else None
        if rotating is not None:
            return rotating
        shared = shared_friction(recorded, turned) if turned and damped is not False else None
    if shared is not None and shared.clear:
        _check_poles(shared.coupled.data, shared.poles)
        return _shared_result(recorded, shared)
    with part(limits.REAL_SHARE):
        data, poles, family = find_in_colour(recorded, search)
        short |= over()
    _check_poles(data, poles)
    start = start_from_poles(data, poles)
    reciprocal = Reciprocal(data, start.nuisance)
    fit, lossless = _fitted(reciprocal, start, family.floor, damped, false_alarm)
    if shared is not None and shared.likely and beats(shared, fit, data, recorded):
        return _shared_result(recorded, shared)
    found = _result(recorded, reciprocal, fit, poles, start, lossless)
    is_open = shared is not None and (shared.possible or shared.likely)
    more = (*([_OPEN] if is_open else []), *([ENDED] if short else []))
    return replace(found, fit=replace(found.fit, remarks=(*found.fit.remarks, *more)))


def _check_poles(data: ForcedData, fit: PoleFit) -> None:
    poles = fit.places
    forces = ", ".join(data.forces)
    if not len(poles) and not poles.rigid:
        raise NoLineError(
            f"no mode driven by {forces} stands out of the noise: push harder, record longer, or "
            "put power where the modes are."
        )
    if not poles.driven.any() and not poles.rigid:
        raise NoLineError(
            f"the motion has lines but {forces} does not drive them significantly: push harder or "
            "record longer, or treat the record as free motion."
        )
    slow = poles.omega[poles.driven].min(initial=np.inf)
    if slow < limits.TURNS_OF_A_MODE * data.resolution:
        raise RecordTooShortError(
            f"the slowest mode (about {slow:.4g} rad per unit time) turns only "
            f"{slow / data.resolution:.1f} times in the longest trial: record several periods."
        )


def _fitted(
    reciprocal: Reciprocal,
    start: ReciprocalStart,
    floor: Array,
    damped: bool | None,
    false_alarm: float,
) -> tuple[ModalFit, bool]:
    """The joint fit, and whether it is lossless.

    With ``damped=None`` viscous damping is believed if the decay of any mode is significantly
    positive: one-sided, Bonferroni over the modes.
    """
    lossless = damped is False
    fit = reciprocal.converged(start.modal, start.weights, floor, lossless)
    N = fit.modal.count
    if damped is None and N:
        std = np.sqrt(np.diag(fit.covariance(np.zeros(0, int)))[N : 2 * N])
        lossless = bool(np.max(fit.modal.decay / std) < -ndtri(false_alarm / N))
        if lossless:
            modal = replace(fit.modal, decay=np.zeros(N))
            fit = reciprocal.converged(modal, fit.weights, floor, True)
    return fit, lossless


# -- what is reported ---------------------------------------------------------------------------


def _records_fit(left: Left, fit: FosterFit, hold: str, rss: Array) -> RecordsFit:
    rms = left.rms if left.data.filters else np.sqrt(rss / left.data.counts)
    nrmse = rms / spread_of(left.recorded)
    return RecordsFit(fit, hold, left.data.motions, left.fitted, nrmse)


def _result(
    recorded: ForcedData,
    reciprocal: Reciprocal,
    fit: ModalFit,
    poles: PoleFit,
    start: ReciprocalStart,
    lossless: bool,
) -> RecordsFit:
    data = reciprocal.data
    plain = Reciprocal(recorded, reciprocal.nuisance) if data.filters else reciprocal
    left = Left(recorded, data, plain.output(fit.modal), np.sqrt(1 / fit.weights))
    foster, covariance, order = _foster(fit, lossless)
    result = FosterFit(
        foster=foster,
        covariance=covariance,
        gains=_gains(reciprocal, fit, lossless)[order],
        chi2=fit.cost,
        dof=round(float(reciprocal.spare(fit.modal, lossless).sum())),
        noise=left.noise,
        noise_std=left.noise_std,
        inside=left.inside(foster.omega),
        remarks=(*start.remarks, *_misfit(data, poles, fit, lossless), *left.remarks),
        loose=None if lossless else open_friction(reciprocal, fit),
    )
    found = _records_fit(left, result, fit.modal.hold, fit.rss)
    return replace(found, quadrature=quadrature_of(reciprocal, fit, left.residual))


def _shared_result(recorded: ForcedData, shared: SharedFriction) -> RecordsFit:
    """The same where friction couples the modes."""
    coupled, fit = shared.coupled, shared.fit
    data, nuisance = coupled.data, coupled.plain.nuisance
    plain = SharedRecord(Reciprocal(recorded, nuisance)) if data.filters else coupled
    left = Left(recorded, data, plain.output(fit), np.sqrt(1 / fit.weights))
    foster, known = coupled_foster(fit)
    result = FosterFit(
        foster=foster,
        covariance=of_modes(foster, known),
        gains=significance(fit),
        chi2=fit.cost,
        dof=round(float(coupled.spare(fit.modal).sum())),
        noise=left.noise,
        noise_std=left.noise_std,
        inside=left.inside(foster.omega),
        remarks=(*nuisance_remarks(nuisance), *_unlike(shared), *_merged(fit), *left.remarks),
        coupled=known,
    )
    return _records_fit(left, result, fit.modal.hold, fit.rss)


def _merged(fit: SharedFit) -> list[Remark]:
    """Whether damping makes modes run into each other: one more among them may leave no trace."""
    point = fit.modal.point
    poles = FrictionSystem(point.lam, point.V, point.C).poles.pole
    poles = poles[np.argsort(poles.imag)]
    gap, width = np.diff(poles.imag), poles.real[1:] + poles.real[:-1]
    near = int((gap < -width).sum())
    if not near:
        return []
    return [
        Remark(
            "modes are wider than they are apart: one more among them may leave no trace, and "
            "hidden oscillators are those of the fewest modes that explain the record",
            f"{near} pair{'s' * (near > 1)} of neighbours",
            code="overlapping-modes",
        )
    ]


def _unlike(shared: SharedFriction) -> list[Remark]:
    """Whether free residues fit better than modes with any passive friction."""
    if shared.passive:
        return []
    return [
        Remark(
            "reciprocal, passive modes with friction fit worse than free amplitudes (χ² rises by "
            f"{shared.rise:.0f}): a force that does not act exactly where the motion is measured, "
            "a delay, or a calibration error",
            code="misfit",
        )
    ]


def _foster(fit: ModalFit, lossless: bool) -> tuple[Foster, Array, Array]:
    r"""Foster form, covariance of (omega, participation, loss), order of the terms.

    .. math:: Ω = \sqrt{ω^2 + δ^2},\quad η = 2δ/Ω,\qquad
              dΩ = (ω\,dω + δ\,dδ)/Ω,\quad dη = 2(dδ - δ\,dΩ/Ω)/Ω
    """
    modal, N = fit.modal, fit.modal.count
    K, n = N + modal.rigid, modal.shapes.shape[1]
    natural = np.hypot(modal.omega, modal.decay)
    loss = 2 * modal.decay / natural
    held = np.arange(N, 2 * N) if lossless else np.zeros(0, int)
    C = fit.covariance(held)
    order = np.array([*range(N, K), *np.argsort(natural)], dtype=int)
    J = np.zeros((K * (n + 2), len(C)))
    signs = np.array([positive_sign(v) for v in modal.shapes[:K]])
    for row, k in enumerate(order):
        if k < N:
            J[row, [k, N + k]] = modal.omega[k] / natural[k], modal.decay[k] / natural[k]
            J[K * (n + 1) + row] = -loss[k] / natural[k] * J[row]
            J[K * (n + 1) + row, N + k] += 2 / natural[k]
        for a in range(n):
            J[K + row * n + a, 2 * N + k * n + a] = signs[k]
    foster = Foster(
        omega=np.concatenate([np.zeros(K - N), np.sort(natural)]),
        participation=(modal.shapes[:K] * signs[:, None])[order],
        loss=np.concatenate([np.zeros(K - N), loss[np.argsort(natural)]]),
        damping="none" if lossless else "viscous",
        compliance=modal.shapes[K:].T @ modal.shapes[K:],
    )
    return foster, J @ C @ J.T, order


def _gains(reciprocal: Reciprocal, fit: ModalFit, lossless: bool) -> Array:
    """Rise of ``χ²`` when a mode is taken out and all others are fitted again."""
    out = np.zeros(fit.modal.count + fit.modal.rigid)
    for k in range(len(out)):
        smaller = reciprocal.evaluate(fit.modal.without(k), fit.weights)
        if len(smaller.modal.shapes):
            smaller = reciprocal.refine(smaller, lossless=lossless, tolerance=1.0, max_steps=8)
        out[k] = smaller.cost - fit.cost
    return out


def _misfit(data: ForcedData, poles: PoleFit, fit: ModalFit, lossless: bool) -> list[Remark]:
    """Whether free amplitudes fit better than real, reciprocal, positive shapes."""
    A, B, R = len(data.motions), len(data.forces), len(data.trials)
    K, N = len(fit.modal.shapes), fit.modal.count
    dof = K * A * (B - 1) + 2 * R * N * (A - 1) + (N if lossless else 0)
    rise = fit.cost - float(fit.weights @ poles.rss)
    if rise < limits.MISFIT_RISE or chdtrc(max(dof, 1), rise) > limits.MISFIT_CHANCE:
        return []
    return [
        Remark(
            "real, reciprocal, passive modes fit worse than free amplitudes (χ² rises by "
            f"{rise:.0f}): a force that does not act exactly where the motion is measured, a "
            "calibration error, or complex modes",
            code="misfit",
        )
    ]
