r"""Whether the drive comes in kicks: the kurtosis of the innovations.

.. math:: y_t = \sum_{k=1}^p A_k y_{t-k} + e_t, \qquad κ = E[e^4]/E[e^2]^2 - 3

A steady Gaussian drive has κ = 0 within :math:`\sqrt{24/N}`; kicks far apart make it large.
"""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.record import Record

_ORDER = 120  # regressors at most
_LARGE = 1.0  # excess kurtosis worth a word
_SIGMAS = 6.0


def innovations(values: Array, order: int) -> Array:
    """Residual of the least-squares prediction from the last `order` samples, (N - order, n)."""
    rows = len(values) - order
    past = np.concatenate([values[order - k : order - k + rows] for k in range(1, order + 1)], 1)
    now = values[order:]
    gram = past.T @ past
    gram[np.diag_indices(len(gram))] *= 1 + 1e-10
    return np.asarray(now - past @ np.linalg.solve(gram, past.T @ now))


def excess_kurtosis(record: Record) -> tuple[float, float]:
    """Largest excess kurtosis of the innovations over channels, and its error if Gaussian."""
    order = max(2, min(_ORDER // record.n_channels, min(record.samples) // (4 * record.n_channels)))
    scale = record.std()
    errors = np.concatenate(
        [innovations((trial - trial.mean(axis=0)) / scale, order) for trial in record.trials]
    )
    second = np.mean(errors**2, axis=0)
    kurtosis = np.mean(errors**4, axis=0) / second**2 - 3
    return float(kurtosis.max()), float(np.sqrt(24 / len(errors)))


def drive_remarks(record: Record) -> tuple[str, ...]:
    """A remark where the drive is impulsive."""
    kurtosis, error = excess_kurtosis(record)
    if kurtosis < _LARGE + _SIGMAS * error:
        return ()
    return (
        f"the innovations have an excess kurtosis of {kurtosis:.3g} (0 ± {error:.2g} for a steady "
        "Gaussian drive): the drive comes in kicks, and the errors given here assume it does not; "
        "cut the record at the kicks and fit free decays.",
    )
