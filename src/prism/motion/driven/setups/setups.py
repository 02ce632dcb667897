r"""Modes of one structure from several set-ups of sensors, by one likelihood.

Every set-up is fitted as driven motion by itself; what these fits show are candidates
(`matching`). Poles and shapes of those that pay their price in the sum of the log-likelihoods
(`search`) are fitted to all set-ups at once (`joint`), and their covariance is that of the joint
fit: of sensors that were never measured together, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from prism._linalg import positive_sign
from prism._types import Array, Index
from prism.errors import NoLineError
from prism.motion.damped import DampedModes
from prism.motion.driven.driven import DrivenFit, band_of, fit_driven
from prism.motion.driven.intervals import errors_of
from prism.motion.driven.scoring import BandFit
from prism.motion.driven.setups import _limits as limits
from prism.motion.driven.setups.bands import Support
from prism.motion.driven.setups.joint import JointFit
from prism.motion.driven.setups.linkage import Linkage
from prism.motion.driven.setups.matching import Sighting, matched
from prism.motion.driven.setups.remarks import remarks_of
from prism.motion.driven.setups.search import JointSearch, KeptJoint
from prism.motion.driven.spectrum import fourier_lines
from prism.motion.driven.tilt import Tilt, tilted_by
from prism.options import check_options
from prism.record import Record

__all__ = ["SetupsFit", "fit_setups"]


@dataclass(frozen=True)
class SetupsFit(DampedModes):
    """Modes of several set-ups. Shapes are over all channels, unit.

    Attributes
    ----------
    linkage : Linkage
        Channels, and which set-ups they link. Where they fall into groups each has its own sign
        and a share of the length: their sizes relative to each other are not determined.
    supports : tuple of Support
        Which set-ups show each mode.
    bands : tuple of BandFit
        The fit of each band in each set-up.
    """

    linkage: Linkage
    supports: tuple[Support, ...]
    bands: tuple[BandFit, ...]

    @property
    def channels(self) -> tuple[str, ...]:
        """All channels, in order of appearance."""
        return self.linkage.channels


def fit_setups(
    records: Sequence[Record],
    *,
    false_alarm: float = 1e-3,
    max_modes: int | None = None,
    fits: Sequence[DrivenFit | None] | None = None,
    progress: Callable[[str], None] | None = None,
) -> SetupsFit:
    """Find the modes of one structure in several set-ups of sensors.

    Parameters
    ----------
    records : sequence of Record
        One trial each, evenly sampled, without missing samples. Channels of one name are one
        sensor place.
    false_alarm : float
        Chance of a false mode per band; the price of a mode is usually the stricter one.
    max_modes : int, optional
        Keep the most significant ones.
    fits : sequence of DrivenFit or None, optional
        Of each set-up by itself, where these are known already; None where it shows no mode.
    progress : callable, optional
        Told what is being done.

    Raises
    ------
    NoLineError
        When no mode stands out of the noise.
    OptionError, RecordError
        When the records are no set-ups of one structure, as `Linkage.of` says.
    """
    tell = progress or (lambda text: None)
    check_options({"false_alarm": false_alarm, "max_modes": max_modes})
    linkage = Linkage.of(records)
    each = _each(records, false_alarm, tell) if fits is None else list(fits)
    rests = [_rest(record, fit) for record, fit in zip(records, each, strict=True)]
    lines = tuple(fourier_lines(rest) for rest in rests)
    search = JointSearch(lines, linkage, _common_ends(records), false_alarm)
    candidates = matched([_sightings(fit, setup) for setup, fit in enumerate(each)], linkage, lines)
    tell(f"{len(candidates)} candidates; joint likelihood of all set-ups")
    modes = [mode for part in search.needed(candidates) for mode in part.modes]
    tell(f"{len(modes)} modes; joint fit of all set-ups")
    parts = search.sweep(modes, test=False)
    if not parts:
        raise NoLineError(
            f"none of {len(candidates)} candidate modes stands out of the noise of "
            f"{len(records)} set-ups: record longer."
        )
    return _answer(records, rests, linkage, parts, max_modes)


def _each(
    records: Sequence[Record], false_alarm: float, tell: Callable[[str], None]
) -> list[DrivenFit | None]:
    """The fit of every set-up by itself; None where it shows nothing."""
    out: list[DrivenFit | None] = []
    for number, record in enumerate(records, 1):
        tell(f"set-up {number} of {len(records)} by itself")
        try:
            out.append(fit_driven(record, false_alarm=false_alarm))
        except NoLineError:
            out.append(None)
    return out


def _rest(record: Record, fit: DrivenFit | None) -> Record:
    """A set-up without the steady lines on top of its motion."""
    return record if fit is None or fit.on_top is None else fit.on_top.rest


def _common_ends(records: Sequence[Record]) -> tuple[float, float]:
    """Frequencies at which all set-ups have lines."""
    lows, highs = zip(*(band_of(record) for record in records), strict=True)
    if max(lows) >= min(highs):
        raise NoLineError(
            f"the set-ups share no frequencies: one ends at {min(highs):.5g} rad per time unit, "
            f"below {max(lows):.5g}, where another one begins; record longer, or faster."
        )
    return max(lows), min(highs)


def _sightings(fit: DrivenFit | None, setup: int) -> list[Sighting]:
    """What the fit of one set-up shows."""
    if fit is None:
        return []
    spread = np.mean(fit.shapes_std**2, axis=1)
    return [
        Sighting(
            setup=setup,
            omega=float(fit.frequencies[k]),
            omega_std=float(fit.frequencies_std[k]),
            zeta=float(fit.damping[k]),
            shape=fit.shapes[k],
            weight=float(1 / max(spread[k], 1e-12)),
            gain=float(fit.significance[k] ** 2),
        )
        for k in range(len(fit))
    ]


def _answer(
    records: Sequence[Record],
    rests: Sequence[Record],
    linkage: Linkage,
    parts: Sequence[KeptJoint],
    max_modes: int | None,
) -> SetupsFit:
    found = [_tilted(part) for part in parts]
    errors = [_errors(part.fit, tilt) for part, tilt in found]
    modes = [mode for part, _ in found for mode in part.modes]
    strongest = sorted(range(len(modes)), key=lambda k: -modes[k].gain)[:max_modes]
    order = sorted(strongest, key=lambda k: modes[k].omega)
    # bands are independent; (Ω, shape, ζ) of one mode after the other, to be sorted by kind
    covariance = scipy.linalg.block_diag(*(part[0] for part in errors))
    pick = _by_kind(np.array(order), linkage.size)
    shapes = np.array([_signs(modes[k].shape, linkage) * modes[k].shape for k in order])
    fits = tuple(part.fit for part, _ in found)
    supports = tuple(modes[k].support for k in order)
    intervals = np.concatenate([part[1] for part in errors])[order]
    covariance = covariance[np.ix_(pick, pick)]
    frequencies = np.array([modes[k].omega for k in order])
    remarks = remarks_of(
        rests, linkage, fits, frequencies, supports, _shape_errors(covariance, shapes)
    )
    return SetupsFit(
        frequencies=frequencies,
        damping=np.array([modes[k].zeta for k in order]),
        damping_interval=intervals,
        shapes=shapes,
        covariance=covariance,
        significance=np.sqrt([modes[k].gain for k in order]),
        noise=_noise_in_words(records, fits),
        remarks=remarks,
        linkage=linkage,
        supports=supports,
        bands=tuple(fit for joint in fits for fit in joint.fits),
    )


def _by_kind(order: Index, channels: int) -> Index:
    """Places of (Ω, shape, ζ) of modes in an order, sorted by kind."""
    places = (channels + 2) * order[:, None] + np.arange(channels + 2)
    return np.concatenate([places[:, 0], places[:, 1:-1].ravel(), places[:, -1]])


def _shape_errors(covariance: Array, shapes: Array) -> Array:
    own = slice(len(shapes), len(shapes) + shapes.size)
    variance = np.maximum(np.diag(covariance)[own], 0.0)
    return np.asarray(np.sqrt(variance).reshape(shapes.shape))


def _tilted(part: KeptJoint) -> tuple[KeptJoint, Tilt[JointFit] | None]:
    tilt = tilted_by(JointFit.at_tilt, part.fit)
    return (part if tilt is None else part._replace(fit=tilt.fit)), tilt


def _errors(fit: JointFit, tilt: Tilt[JointFit] | None) -> tuple[Array, Array]:
    """Covariance of (Ω, shape, ζ), one free mode after the other, and intervals of ζ."""
    jacobian = _jacobian(fit)
    shapes = jacobian.reshape(fit.model.fitted, -1, jacobian.shape[1])[:, 1:-1]
    shapes = shapes.reshape(-1, jacobian.shape[1])
    # unit shapes: no component can be off by more than about one
    information = fit.information + shapes.T @ shapes
    # what shifts ln ζ alike in every set-up does not average out, as noise does
    bias = limits.SHIFT_OF_ONE * float(np.sqrt(len(fit.fits)))
    return errors_of(fit, information, jacobian, _along_tilt(fit, tilt), bias)


def _signs(shape: Array, linkage: Linkage) -> Array:
    """Of a shape, so that the largest component of each group is positive."""
    out = np.ones(len(shape))
    for group in linkage.groups:
        out[group] = positive_sign(shape[group])
    return out


def _numbers(fit: JointFit) -> Array:
    """(Ω, shape, ζ) of each free mode, (free, N + 2)."""
    frame = fit.model.frame
    shapes = [frame.linkage.unit(shape * frame.units) for shape in fit.model.shapes]
    return np.column_stack([fit.model.omega, np.array(shapes), fit.model.zeta])


def _along_tilt(fit: JointFit, tilt: Tilt[JointFit] | None) -> Array:
    """How far (Ω, shape, ζ) of each free mode move with p, in its standard deviations."""
    here = _numbers(fit)
    if tilt is None:
        return np.zeros_like(here)
    low, high = _numbers(tilt.below), _numbers(tilt.above)
    for one in (low, high):  # a shape has no sign, here that of the answer
        for row, ours in zip(one, here, strict=True):
            for group in fit.model.frame.linkage.groups:
                row[1 + group] *= np.sign(row[1 + group] @ ours[1 + group]) or 1.0
    far = np.asarray(tilt.std * (high - low) / tilt.apart)
    for row, ours in zip(far, here, strict=True):
        row[1:-1] *= _signs(ours[1:-1], fit.model.frame.linkage)
    return far


def _jacobian(fit: JointFit) -> Array:
    """Derivatives of (Ω, shape, ζ) of each free mode by the parameters of its band."""
    model, f = fit.model, fit.model.fitted
    frame, at, each = model.frame, model.at, np.arange(fit.model.fitted)
    linkage = frame.linkage
    out = np.zeros((f, linkage.size + 2, model.parameters))
    out[each, 0, at["frequency"]] = model.omega
    out[each, -1, at["damping"]] = model.zeta
    places = at["shape"].reshape(f, linkage.turns)
    for j in range(f):
        shape = model.shapes[j] * frame.units
        turn = model.turns[j] * frame.units[:, None]
        signs = _signs(shape, linkage)
        for group in linkage.groups:
            length = float(np.linalg.norm(shape[group]))
            unit, part = shape[group] / length, turn[group] / length
            part = part - np.outer(unit, unit @ part)
            share = np.sqrt(len(group) / linkage.size)
            out[j, 1 + group[:, None], places[j]] = share * signs[group, None] * part
    return out.reshape(f * (linkage.size + 2), -1)


def _noise_in_words(records: Sequence[Record], fits: Sequence[JointFit]) -> str:
    return (
        "flat within each band, in each set-up its own, estimated with the modes; mean share "
        + ("of the power in the bands: " + "; ".join(_shares(records, fits)))
    )


def _shares(records: Sequence[Record], fits: Sequence[JointFit]) -> Iterator[str]:
    for setup in range(len(records)):
        shares = []
        for joint in fits:
            part, band = joint.model.parts[setup], joint.bands[setup]
            R = np.maximum(np.diag(part.noise).real, 0.0)
            shares.append(float(np.mean(R / np.mean(np.abs(band.entire.values) ** 2, axis=0))))
        yield f"set-up {setup + 1} {np.mean(shares):.2g}"
