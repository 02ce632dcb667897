r"""Bounds of lossless lines with common shapes: the Fisher information of the fit in phase.

The information of frequencies and shapes with all amplitudes, phases, offsets and drifts unknown is
that of `prism.motion.steady.inphase`. An amplitude :math:`a = \sqrt{A^2 + B^2}` of a trial varies
at given frequencies and shapes, and with them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.errors import OptionError
from prism.experiments import OfLines
from prism.finding import determined
from prism.least_errors.result import Bounds, completed
from prism.magnitudes import Undetermined
from prism.modes import spread_of_residues, spread_of_shapes
from prism.motion.steady import Lines, estimate_lines
from prism.motion.steady.inphase import fit_in_phase
from prism.record import Record
from prism.search.series import samplings_of
from prism.uncertainty import root_of_variance

__all__ = ["levels", "of_lines"]

FALSE_ALARM = 1e-3
"""Of the search in a record without noise."""


def of_lines(record: Record, noise_std: ArrayLike, made: OfLines) -> Bounds:
    """Bounds of a record of lossless motion.

    Parameters
    ----------
    record : Record
        Noise-free.
    noise_std : float or array (channels,)
    made : OfLines
        How the record was made.
    """
    lines = _at_noise(record, noise_std)
    outcome, fit = made.magnitudes(lines), lines.fit
    amplitudes = _of_amplitudes(lines)
    N = len(fit.omega)
    if isinstance(outcome, Undetermined):
        std = root_of_variance(np.diag(fit.covariance)[:N])[fit.line]
        shapes = spread_of_shapes(fit.shapes, fit.covariance[N:, N:])
        return Bounds(std, shapes, amplitudes=amplitudes, why=str(outcome.why))
    joint = outcome.participation
    v = joint.value("participation")
    known = Bounds(
        joint.std("frequencies"),
        spread_of_shapes(outcome.joint.value("shapes"), outcome.joint.between("shapes")),
        amplitudes=amplitudes,
        residues=spread_of_residues(v, joint.between("participation")),
    )
    return completed(known, determined(joint, record.channels, outcome.scale).hamiltonian)


def levels(noise_std: ArrayLike, channels: int) -> Array:
    """Noise of each channel, checked.

    Parameters
    ----------
    noise_std : float or array (channels,)
    channels : int
    """
    sigma = np.broadcast_to(np.asarray(noise_std, float), (channels,))
    if not np.all((sigma > 0) & np.isfinite(sigma)):
        raise OptionError("the noise of a bound must be positive.")
    return sigma


def _at_noise(record: Record, noise_std: ArrayLike) -> Lines:
    """The lines of a noise-free record with the errors of a stated noise."""
    lines = estimate_lines(record, false_alarm=FALSE_ALARM)
    sigma = levels(noise_std, record.n_channels)
    samplings, trials, means = samplings_of(record)
    fit = lines.fit
    known = fit_in_phase(
        samplings, fit.omega, fit.line, fit.shapes, 1 / sigma**2, fit.orders,
        background=fit.background,
    )  # fmt: skip
    return replace(lines, fit=known, motion=known, trials=trials, means=means, noise=sigma)


def _of_amplitudes(lines: Lines) -> Array:
    """Of ``√(A² + B²)`` of each trial and mode, (trials, modes)."""
    fit, K = lines.fit, len(lines.fit.line)
    out = np.empty((len(lines.trials), K))
    for r, (i, j) in enumerate(lines.trials):
        motion = fit.motions[i]
        S = motion.sensitivity[j]
        C = motion.covariance + S @ fit.covariance @ S.T
        A, B = np.split(motion.values[: 2 * K, j], 2)
        slopes = np.hstack([np.diag(A), np.diag(B)]) / np.hypot(A, B)[:, None]
        out[r] = root_of_variance(np.einsum("mi,ij,mj->m", slopes, C[: 2 * K, : 2 * K], slopes))
    return out
