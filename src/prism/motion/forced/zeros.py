r"""Zeros of a receptance: the frequencies where a force leaves a place at rest.

With the poles :math:`p_j` in :math:`x = -s^2` the receptance between any ports is
:math:`H(x) = C (P - x)^{-1} B`; it loses rank where the pencil

.. math:: \begin{pmatrix} P - x & B \\ C & 0 \end{pmatrix}

does (Rosenbrock). With all ports driven and seen and no losses these are the bare hidden
frequencies. Viscous damping is taken at resonance, where it agrees with structural damping.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.linalg

from prism._types import ComplexArray
from prism.finding import Zero
from prism.motion.forced.foster import Foster, FosterFit
from prism.motion.forced.friction.system import FrictionSystem
from prism.motion.forced.friction.zeros import coupled_zeros, zero_error

_INFINITE = 1e8  # of the largest pole: an infinite zero in floating point


def poles_of(foster: Foster) -> ComplexArray:
    r"""Poles in :math:`x = -s^2`: :math:`Ω^2 (1 + iη)`."""
    loss = foster.loss if foster.damping != "none" else np.zeros(len(foster.omega))
    return np.asarray(foster.omega**2 * (1 + 1j * loss), complex)


def zeros_in_x(foster: Foster, outputs: Sequence[int], inputs: Sequence[int]) -> ComplexArray:
    """All finite zeros of a square part of the receptance, as values of x."""
    p = poles_of(foster)
    unit = float(np.abs(p).max()) or 1.0  # of a rigid body alone
    N, n = len(p), len(outputs)
    B = foster.participation[:, list(inputs)]
    C = foster.participation[:, list(outputs)].T
    scale = float(np.abs(foster.participation).max())
    A = np.zeros((N + n, N + n), complex)
    A[:N, :N] = np.diag(p / unit)
    A[:N, N:], A[N:, :N] = B / scale, C / scale
    E = np.zeros_like(A)
    E[:N, :N] = np.eye(N)
    alpha, beta = scipy.linalg.eigvals(A, E, homogeneous_eigvals=True)
    finite = np.abs(beta) * _INFINITE > np.abs(alpha)
    return np.asarray(np.sort_complex(alpha[finite] / beta[finite]) * unit)


def zeros_of(
    fit: FosterFit,
    names: Sequence[str],
    outputs: Sequence[int],
    inputs: Sequence[int],
    band: tuple[float, float],
) -> tuple[Zero, ...]:
    r"""Zeros of a square part of the fitted receptance, with standard deviations.

    Where :math:`H z = 0` and :math:`y^T H = 0`, a change of the parameters moves the zero by
    :math:`dx = -y^T dH z / (y^T H' z)`.

    Parameters
    ----------
    names : sequence of str
        Of the ports.
    outputs, inputs : sequences of int
        As many of each.
    band : (low, high)
        Measured frequencies.
    """
    out, inp = tuple(names[a] for a in outputs), tuple(names[b] for b in inputs)
    # on the axis: exactly without losses, within the losses of the modes with them
    limit = 1e-6 + 2 * float(fit.foster.loss.max()) * (fit.foster.damping != "none")
    found = []
    for s, std in _zeros_in_s(fit, outputs, inputs):
        size = float(abs(s))
        damping = float(-s.real / size) if size else 0.0
        on_axis = abs(damping) < limit
        exact = on_axis and fit.foster.damping == "none"
        inside = bool(on_axis and band[0] <= size <= band[1])
        found.append(Zero(out, inp, size, std, 0.0 if exact else damping, inside))
    return tuple(sorted(found, key=lambda one: one.frequency))


def _zeros_in_s(
    fit: FosterFit, outputs: Sequence[int], inputs: Sequence[int]
) -> Iterator[tuple[complex, float]]:
    """Zeros in the upper half plane, and the standard deviation of their size."""
    foster = fit.foster
    if foster.friction is not None and fit.coupled is not None:
        system = FrictionSystem(foster.omega**2, foster.participation, foster.friction)
        for s in coupled_zeros(system, outputs, inputs):
            yield complex(s), zero_error(system, complex(s), outputs, inputs, fit.coupled)
        return
    for x in zeros_in_x(foster, outputs, inputs):
        s = complex(np.sqrt(-x + 0j))
        size = abs(s)
        std = _std(fit, complex(x), outputs, inputs) / (2 * size) if size else float("inf")
        yield s if s.imag >= 0 else -s, std


def _std(fit: FosterFit, x: complex, outputs: Sequence[int], inputs: Sequence[int]) -> float:
    foster = fit.foster
    K, n = foster.participation.shape
    p = poles_of(foster)
    gap = p - x
    if np.any(gap == 0):
        return float("inf")
    B, C = foster.participation[:, list(inputs)], foster.participation[:, list(outputs)]
    H = (C.T / gap) @ B
    U, _, Wh = np.linalg.svd(H)
    y, z = U[:, -1].conj(), Wh[-1].conj()
    left, right = C @ y, B @ z  # what each mode contributes on either side
    slope = (left * right / gap**2).sum()
    if slope == 0:
        return float("inf")
    turned = p / np.where(foster.omega > 0, foster.omega**2, 1.0)
    pull = np.zeros((K, n), complex)
    pull[:, list(outputs)] += np.outer(right / gap, y)
    pull[:, list(inputs)] += np.outer(left / gap, z)
    by_pole = -left * right / gap**2
    by_omega, by_loss = by_pole * 2 * foster.omega * turned, by_pole * 1j * foster.omega**2
    move = -np.concatenate([by_omega, pull.ravel(), by_loss]) / slope
    return float(np.sqrt(max((move.real @ fit.covariance @ move.real), 0.0)))
