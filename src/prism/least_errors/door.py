r"""Cramér-Rao bounds of everything that an experiment reports, before it is made.

Of a record without noise the modes are known, and the Fisher information of the fit that
`prism.identify` makes, at a stated noise, bounds what it finds. What the experiment adds (the
scatter of energies at equilibrium, relations of a known mass) and the completion (THEORY (3)) carry
it on to residues, bare frequencies and couplings, by the same derivatives and to second order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.errors import OptionError
from prism.experiments import EXPERIMENTS, OfLines
from prism.frequency_response import FrequencyResponse
from prism.least_errors.decays import of_decays
from prism.least_errors.response import of_response
from prism.least_errors.result import Bounds
from prism.least_errors.steady import levels, of_lines
from prism.record import Record
from prism.search.projection import evaluate
from prism.search.series import samplings_of

__all__ = ["bounds", "cramer_rao"]


def cramer_rao(
    data: Record | FrequencyResponse,
    frequencies: ArrayLike | None,
    noise_std: ArrayLike,
    *,
    of: str = "frequencies",
    **how: Any,
) -> Array:
    r"""Cramér-Rao bound on the standard deviation of a quantity that is reported.

    Of given frequencies of a record, without further words, it is that of their Fisher information
    with the amplitudes of all channels, offsets and drifts unknown,
    :math:`\sum_{ra} σ_a^{-2}\, (∂y/∂Ω)^T P^⊥ (∂y/∂Ω)`. Everything else is that of `bounds`, whose
    modes have the same shape in all trials.

    Parameters
    ----------
    data : Record or FrequencyResponse
        Noise-free.
    frequencies : array or None
        True frequencies of all lines; None for those that are found in the data.
    noise_std : array (channels,) or float
        Standard deviation of the noise to be added.
    of : str
        frequencies, damping, amplitudes, shapes, residues, mass, stiffness, hidden_frequencies,
        couplings or hidden_damping.
    **how
        What else `bounds` takes: ``experiment``, ``damped``, ``mass`` ...

    Returns
    -------
    array
        In the shape of what is bounded.

    Raises
    ------
    CannotTellError
        When the experiment would not determine it.

    Examples
    --------
    >>> import prism
    >>> chain = prism.systems.chain(observed=[0])
    >>> record = chain.released(100, 0.1, [1.0])
    >>> prism.cramer_rao(record, chain.frequencies, 0.01).shape
    (4,)
    >>> how = {"of": "couplings", "experiment": "released"}
    >>> prism.cramer_rao(record, chain.frequencies, 0.01, **how).shape
    (3, 1)
    """
    if isinstance(data, Record) and frequencies is not None and of == "frequencies" and not how:
        return _of_frequencies(data, frequencies, noise_std)
    least = bounds(data, noise_std, **how)
    if frequencies is not None and np.size(frequencies) != len(least.frequencies):
        raise OptionError(
            f"{np.size(frequencies)} frequencies are named, and the data show "
            f"{len(least.frequencies)} modes: name them all, or None."
        )
    return least.of(of)


def _of_frequencies(record: Record, frequencies: ArrayLike, noise_std: ArrayLike) -> Array:
    samplings, _, _ = samplings_of(record)
    weights = 1 / levels(noise_std, record.n_channels) ** 2
    fit = evaluate(samplings, np.sort(np.asarray(frequencies, float)), weights)
    return np.sqrt(np.diag(np.linalg.inv(fit.fisher)))


def bounds(
    data: Record | FrequencyResponse,
    noise_std: ArrayLike,
    *,
    experiment: str = "free",
    damped: bool = False,
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
    damped : bool
        Whether a free record decays. A response says so itself.
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
        return of_response(data, float(np.asarray(noise_std)), relative)
    if damped and (known or experiment != "free"):
        raise OptionError("records that decay are free ones, and nothing else is known of them.")
    if damped:
        return of_decays(data, noise_std)
    kind = EXPERIMENTS.get(experiment)
    if kind is None or not issubclass(kind, OfLines):
        names = [name for name, one in EXPERIMENTS.items() if issubclass(one, OfLines)]
        raise OptionError(f"no bounds of {experiment!r} records; use one of {', '.join(names)}.")
    return of_lines(data, noise_std, kind.of(known, data.n_channels))
