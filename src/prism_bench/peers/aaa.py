"""The AAA algorithm of scipy: rational approximation of a response."""

from __future__ import annotations

import numpy as np

from prism._types import Array, ComplexArray
from prism_bench.peers._data import response_of
from prism_bench.peers.peer import Answer, CannotAnswer, Question

__all__ = ["PEERS"]

_REAL = 0.2  # imaginary part over real part of a root in ω² that still is a frequency


class Aaa:
    r"""Approximation in :math:`x = ω^2`, in which a receptance without losses is real rational.

    Poles are those of the trace, which has all of them; zeros are those of the determinant, the
    transmission zeros. Noise makes AAA add pairs of a pole and a zero next to each other without
    end, so that it is told how many terms there are.
    """

    name = "AAA"
    package = "scipy"
    modules = ("scipy",)
    told = "order"

    def answer(self, question: Question) -> Answer:
        """Poles and zeros on the axis."""
        from scipy import interpolate

        if not hasattr(interpolate, "AAA"):
            raise CannotAnswer("scipy.interpolate.AAA is there from scipy 1.15 on")
        response = response_of(question)
        x, H = response.omega**2, response.receptance
        band = (response.omega[0], response.omega[-1])
        terms, ports = question.order, H.shape[1]
        trace = interpolate.AAA(x, np.trace(H, axis1=1, axis2=2), max_terms=terms + 1)
        det = interpolate.AAA(x, _scaled_determinant(H), max_terms=terms + 1)
        zeros = _on_axis(det.roots(), band) if terms > ports else None
        return Answer(frequencies=_on_axis(trace.poles(), band), zeros=zeros)


def _scaled_determinant(H: ComplexArray) -> ComplexArray:
    """Determinant of H, of a scale within the range of numbers."""
    return np.asarray(np.linalg.det(H / np.median(np.abs(H))), complex)


def _on_axis(roots: ComplexArray, band: tuple[float, float]) -> Array:
    """Frequencies in the band whose square is almost real and positive."""
    near = roots[(roots.real > 0) & (np.abs(roots.imag) < _REAL * np.abs(roots.real))]
    omega = np.sqrt(near.real)
    return np.sort(omega[(omega >= band[0]) & (omega <= band[1])])


PEERS = (Aaa(),)
