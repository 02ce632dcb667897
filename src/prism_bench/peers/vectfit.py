"""scikit-rf: vector fitting of a response."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from prism._types import Array, ComplexArray
from prism_bench.peers._data import response_of
from prism_bench.peers.peer import Answer, Question

__all__ = ["PEERS"]

_ON_AXIS = 0.2  # damping ratio of a pole or zero that still is a resonance
_FAR = 1e6  # of the band: an infinite zero in floating point


class VectorFitting:
    """Vector fitting with as many conjugate pairs of poles as there are modes.

    The response is handed over as if it were scattering parameters, which it takes as they are.
    Its zeros are those of the state-space form of the fit.
    """

    name = "vector fitting"
    package = "scikit-rf"
    modules = ("skrf",)
    told = "order"

    def answer(self, question: Question) -> Answer:
        """Poles and transmission zeros near the axis, within the band."""
        response = response_of(question)
        import skrf
        from skrf.vectorFitting import VectorFitting as Fit

        scale = float(np.median(np.abs(response.receptance)))
        frequency = skrf.Frequency.from_f(response.omega / (2 * np.pi), unit="hz")
        network = skrf.Network(frequency=frequency, s=response.receptance / scale)
        fit = Fit(network)
        fit.vector_fit(
            n_poles_real=0, n_poles_cmplx=question.order, fit_constant=False, fit_proportional=False
        )
        band = (float(response.omega[0]), float(response.omega[-1]))
        poles = np.asarray(fit.poles)
        ports = response.shape[0]
        residues = np.asarray(fit.residues).reshape(ports, ports, -1)
        zeros = _zeros(poles, residues, band[1])
        return Answer(frequencies=_resonances(poles, band), zeros=_resonances(zeros, band))


def _resonances(roots: ComplexArray, band: tuple[float, float]) -> Array:
    """Frequencies of roots of the upper half plane near the axis."""
    size = np.abs(roots)
    near = (roots.imag > 0) & (np.abs(roots.real) < _ON_AXIS * size)
    return np.sort(size[near & (size >= band[0]) & (size <= band[1])])


def _zeros(poles: ComplexArray, residues: ComplexArray, highest: float) -> ComplexArray:
    """Finite zeros of ``C (s - A)⁻¹ B`` with one block of states per input and pole pair."""
    A, B, C = _realisation(poles, residues)
    N, n = len(A), B.shape[1]
    pencil = np.block([[A, B], [C, np.zeros((n, n))]])
    mass = np.zeros_like(pencil)
    mass[:N, :N] = np.eye(N)
    alpha, beta = scipy.linalg.eigvals(pencil, mass, homogeneous_eigvals=True)
    finite = np.abs(beta) * _FAR * highest > np.abs(alpha)
    return np.asarray(alpha[finite] / beta[finite])


def _realisation(poles: ComplexArray, residues: ComplexArray) -> tuple[Array, Array, Array]:
    """Real states of least number: each residue enters with the rank that it has, one."""
    blocks, inputs, outputs = [], [], []
    for k, pole in enumerate(poles):
        u, s, vh = np.linalg.svd(residues[:, :, k])
        left, right = u[:, 0] * s[0], vh[0]
        blocks.append(np.array([[pole.real, pole.imag], [-pole.imag, pole.real]]))
        inputs.append(2 * np.array([right.real, right.imag]))
        outputs.append(np.array([left.real, left.imag]).T)
    # x = (Re, Im) of z' = p z + r u: the output is Re(l z) up to the factor two
    A = scipy.linalg.block_diag(*blocks)
    flip = np.tile([1.0, -1.0], len(poles))
    return A * np.outer(flip, flip), np.vstack(inputs), np.hstack(outputs) * flip


PEERS = (VectorFitting(),)
