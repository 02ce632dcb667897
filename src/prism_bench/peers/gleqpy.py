"""GLEqPy: memory kernels from time correlations."""

from __future__ import annotations

import numpy as np
import scipy.signal

from prism._types import Array
from prism.correlation import correlate
from prism_bench.peers._data import record_of
from prism_bench.peers._series import highest_line, series_of
from prism_bench.peers.peer import Answer, CannotAnswer, Question

__all__ = ["PEERS"]

_PERIODS, _DEGREE = 0.75, 7
"""Window, in periods of the fastest line, and degree of the smoothing polynomial: the best of
those tried on seeds that are not scored."""


class Gle:
    r"""The Volterra equation of the friction kernel, solved in real time.

    .. math:: \langle F(t) v(0) \rangle = -\int_0^t Γ(t - s) \langle v(s) v(0) \rangle\, ds,
              \qquad F = μ x'' + κ_{mf} x

    with :math:`κ_{mf} = kT \langle x x^T \rangle^{-1}` and :math:`kT` from the mean square
    velocity. It wants velocities and forces; from noisy positions these are derivatives of the
    correlation of positions, by polynomials over a part of the period of the fastest line.
    """

    name = "GLEqPy"
    package = "gleqpy"
    modules = ("gleqpy",)
    told = "mass"

    def answer(self, question: Question) -> Answer:
        """The friction kernel."""
        record = record_of(question)
        if question.experiment != "equilibrium" or question.kernel_times is None:
            raise CannotAnswer("made for correlations at equilibrium, and the task asks for none")
        assert question.kernel_mass is not None
        times = question.kernel_times
        window = _PERIODS * 2 * np.pi / highest_line(series_of(question))
        C = correlate(record, max_lag=float(times[-1]) + 2 * window)
        points = max(2 * int(window / C.step / 2) + 1, _DEGREE + 2)
        friction = _friction(C.symmetric, C.step, points, question.kernel_mass, times)
        return Answer(friction=friction)


def _friction(values: Array, step: float, points: int, mass: Array, times: Array) -> Array:
    from gleqpy.memory.time import calc_matrix_memory_dtrapz

    C, _, second, third, fourth = _derivatives(values, step, points)
    kT = float(np.trace(-mass @ second[0]) / len(mass))
    stiffness = kT * np.linalg.inv(C[0])
    # Correlations with v(0) = x'(0) are minus one derivative more of the correlation with x(0).
    d_velocity = -third
    d_force = -(mass @ fourth + stiffness @ second)
    kernel = calc_matrix_memory_dtrapz(d_velocity, d_force, -second[0], step)
    lags = step * np.arange(len(kernel))
    flat = kernel.reshape(len(kernel), -1)
    picked = np.array([np.interp(times, lags, column) for column in flat.T]).T
    return picked.reshape(len(times), *mass.shape)


def _derivatives(values: Array, step: float, points: int) -> list[Array]:
    """The correlation and four derivatives; lag zero, which holds the noise, is left out."""
    clean = values.copy()
    clean[0] = _continued(values)
    even = np.concatenate([clean[:0:-1], clean])
    middle = len(clean) - 1
    return [
        scipy.signal.savgol_filter(even, points, _DEGREE, deriv=k, delta=step, axis=0)[middle:]
        for k in range(5)
    ]


def _continued(values: Array) -> Array:
    """Lag zero from the next ones, by an even polynomial."""
    u = np.arange(1, 21) ** 2.0
    powers = np.vander(u / u[-1], 4, increasing=True)
    flat = values[1:21].reshape(20, -1)
    return np.asarray(np.linalg.lstsq(powers, flat, rcond=None)[0][0].reshape(values.shape[1:]))


PEERS = (Gle(),)
