r"""Cramér-Rao bounds of everything that an experiment reports, before it is made.

Of a record without noise the modes are known, and the Fisher information of frequencies and shapes
with all amplitudes, phases, offsets and drifts unknown, at a stated noise, is that of the fit that
`prism.identify` makes. What the experiment adds (the scatter of energies at equilibrium, relations
of a known mass) and the completion (THEORY (3)) carry it on to residues, bare frequencies and
couplings, by the same derivatives and to second order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism._value import Value
from prism.errors import OptionError
from prism.experiments import EXPERIMENTS, OfLines
from prism.finding import determined
from prism.frequency_response import FrequencyResponse
from prism.hamiltonian import Hamiltonian
from prism.magnitudes import Undetermined
from prism.modes import spread_of_residues, spread_of_shapes
from prism.motion.forced.foster import Foster
from prism.motion.forced.response import fit_response, response_bound
from prism.motion.steady import Lines, estimate_lines
from prism.motion.steady.inphase import fit_in_phase
from prism.record import Record
from prism.search.series import samplings_of
from prism.uncertainty import Gaussian, root_of_variance

__all__ = ["Bounds", "bounds"]

_FALSE_ALARM = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(Value):
    """Least standard deviations, each in the shape of what it bounds.

    Attributes
    ----------
    frequencies : array (modes,)
    shapes : array (modes, channels)
        Of unit shapes; of a response, of the participations in units of their length.
    damping : array (modes,) or None
        Of damping ratios; None where there are no losses.
    residues : array (modes, channels, channels) or None
    mass, stiffness : array (channels, channels) or None
    hidden_frequencies : array (hidden,) or None
    couplings : array (hidden, channels) or None
    why : str
        Why the Hamiltonian would not be determined; empty where it would.
    """

    frequencies: Array
    shapes: Array
    damping: Array | None = None
    residues: Array | None = None
    mass: Array | None = None
    stiffness: Array | None = None
    hidden_frequencies: Array | None = None
    couplings: Array | None = None
    why: str = ""


def bounds(
    data: Record | FrequencyResponse,
    noise_std: ArrayLike,
    *,
    experiment: str = "free",
    relative: float = 0.0,
    **known: Any,
) -> Bounds:
    r"""Cramér-Rao bounds on everything reported of an experiment.

    Parameters
    ----------
    data : Record or FrequencyResponse
        Noise-free: of a system (``prism.systems``) or of a model, as long, as densely sampled and
        in as many trials as it is to be measured.
    noise_std : float or array (channels,)
        Standard deviation of the noise to come; of a response that of a value, everywhere.
    experiment : str
        As in `prism.identify`, of a record.
    relative : float
        Noise of a response in proportion to each value.
    **known
        What is known then: ``mass``, ``stiffness``, ``temperature``, ``pull`` ...

    Examples
    --------
    >>> import prism
    >>> record = prism.systems.chain(observed=[0]).released(100, 0.1, [1.0])
    >>> least = prism.bounds(record, 0.01, experiment="released")
    >>> least.frequencies.shape, least.hidden_frequencies.shape
    ((4,), (3,))
    """
    if isinstance(data, FrequencyResponse):
        if known or np.ndim(noise_std):
            raise OptionError(
                "a response has one noise level, and determines what else is known of records."
            )
        return _of_response(data, float(np.asarray(noise_std)), relative)
    kind = EXPERIMENTS.get(experiment)
    if kind is None or not issubclass(kind, OfLines):
        names = [name for name, one in EXPERIMENTS.items() if issubclass(one, OfLines)]
        raise OptionError(f"no bounds of {experiment!r} records; use one of {', '.join(names)}.")
    return _of_record(data, noise_std, kind.of(known, data.n_channels))


def _of_record(record: Record, noise_std: ArrayLike, made: OfLines) -> Bounds:
    lines = _at_noise(record, noise_std)
    outcome, fit = made.magnitudes(lines), lines.fit
    N = len(fit.omega)
    if isinstance(outcome, Undetermined):
        std = root_of_variance(np.diag(fit.covariance)[:N])[fit.line]
        shapes = spread_of_shapes(fit.shapes, fit.covariance[N:, N:])
        return Bounds(std, shapes, why=str(outcome.why))
    joint = outcome.participation
    v = joint.value("participation")
    shapes = outcome.joint.between("shapes")
    known = Bounds(
        joint.std("frequencies"),
        spread_of_shapes(outcome.joint.value("shapes"), shapes),
        residues=spread_of_residues(v, joint.between("participation")),
    )
    return _completed(known, determined(joint, record.channels, outcome.scale).hamiltonian)


def _at_noise(record: Record, noise_std: ArrayLike) -> Lines:
    """The lines of a noise-free record with the errors of a stated noise."""
    lines = estimate_lines(record, false_alarm=_FALSE_ALARM)
    sigma = np.broadcast_to(np.asarray(noise_std, float), (record.n_channels,))
    if not np.all((sigma > 0) & np.isfinite(sigma)):
        raise OptionError("the noise of a bound must be positive.")
    samplings, trials, means = samplings_of(record)
    fit = lines.fit
    known = fit_in_phase(
        samplings, fit.omega, fit.line, fit.shapes, 1 / sigma**2, fit.orders,
        background=fit.background,
    )  # fmt: skip
    return replace(lines, fit=known, motion=known, trials=trials, means=means, noise=sigma)


def _of_response(response: FrequencyResponse, additive: float, relative: float) -> Bounds:
    fit = fit_response(response)
    foster = fit.foster
    if foster.friction is not None:
        raise OptionError("friction couples the modes of this response: its bounds are not known.")
    C = response_bound(response, foster, additive=additive, multiplicative=relative)
    K, n = foster.participation.shape
    part = K * (n + 1)
    std = root_of_variance(np.diag(C))
    size = np.linalg.norm(foster.participation, axis=1)
    known = Bounds(
        std[:K],
        _tangent(foster, C[K:part, K:part]),
        damping=None if foster.damping == "none" else 0.5 * std[part:],
        residues=spread_of_residues(foster.participation, C[K:part, K:part]),
    )
    if not fit.driven or not np.all(size > 0):
        return replace(known, residues=None, why="no driving point was measured")
    values = {"frequencies": foster.omega, "participation": foster.participation}
    joint = Gaussian.of(values, C[:part, :part])
    names = response.ports.names
    return _completed(known, determined(joint, names, "fixed by the forces").hamiltonian)


def _tangent(foster: Foster, C: Array) -> Array:
    """Errors of unit shapes from those of participations: ``(1 - d dᵀ) dv/|v|``."""
    K, n = foster.participation.shape
    out = np.zeros((K, n))
    for k, v in enumerate(foster.participation):
        size = float(np.linalg.norm(v))
        T = (np.eye(n) - np.outer(v, v) / size**2) / size
        block = slice(k * n, (k + 1) * n)
        out[k] = root_of_variance(np.diag(T @ C[block, block] @ T.T))
    return out


def _completed(known: Bounds, h: Hamiltonian) -> Bounds:
    return replace(
        known,
        mass=h.mass_std,
        stiffness=h.stiffness_std,
        hidden_frequencies=h.hidden_frequencies_std,
        couplings=h.couplings_std,
    )
