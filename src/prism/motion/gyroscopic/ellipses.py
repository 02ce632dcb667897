"""Lines that turn as modes: the major axes of their ellipses, with errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from prism._types import Array, ComplexArray
from prism.uncertainty import Gaussian, root_of_variance

__all__ = ["ellipses_of"]

_RESIDUE_STEP = 1e-6  # of a residue, for the derivatives of a shape


def ellipses_of(omega: Array, residues: ComplexArray, joint: Gaussian) -> dict[str, Any]:
    """Frequencies, shapes and moduli with errors, phases, ratios of the axes, as `Modes` has them.

    The major axis of a line that turns in a circle may point anywhere; how far each channel moves
    is known all the same.

    Parameters
    ----------
    omega, residues : arrays (lines,), (lines, channels, channels)
        ``B = b b*``, up to a real factor each.
    joint : Gaussian
        Of frequencies, residues_real and residues_imag, and whatever else.
    """
    shapes, ratio, phases = _ellipses(residues)
    values = {"frequencies": omega, "shapes": shapes}
    moduli, std = _moduli(residues, joint)
    return {
        "joint": joint.mapped(values, _jacobian(residues, joint)),
        "phase_ratio": ratio,
        "moduli": moduli,
        "moduli_std": std,
        "phases": phases,
    }


def _moduli(residues: ComplexArray, joint: Gaussian) -> tuple[Array, Array]:
    r"""Magnitudes :math:`\sqrt{B_{aa}/\mathrm{tr}\,B}` of unit shapes, with errors."""
    N, n = residues.shape[:2]
    power = np.einsum("jaa->ja", residues).real
    share = power / power.sum(axis=1, keepdims=True)
    C = joint.between("residues_real").reshape(N, n * n, N, n * n)
    std = np.zeros((N, n))
    for j in range(N):
        own = C[j, :: n + 1, j, :: n + 1]  # of the diagonal of B
        T = (np.eye(n) - np.outer(share[j], np.ones(n))) / power[j].sum()
        std[j] = root_of_variance(np.diag(T @ own @ T.T))
    size = np.sqrt(np.maximum(share, 0.0))
    # of a channel that rests the square is known to first order, and not the modulus
    return size, np.minimum(std / np.maximum(2 * size, 1e-300), np.sqrt(std))


def _ellipses(residues: ComplexArray) -> tuple[Array, Array, Array]:
    """Unit major axes (lines, channels), ratios of the axes and phases, of ``B = b b*``."""
    values, vectors = np.linalg.eigh(residues)
    b = vectors[:, :, -1] * np.sqrt(np.maximum(values[:, -1:], 0.0))
    # the phase that makes the real part longest: half the angle of b·b
    b = b * np.exp(-0.5j * np.angle((b**2).sum(axis=1)))[:, None]
    size = np.linalg.norm(b.real, axis=1)
    shapes = b.real / size[:, None]
    sign = np.sign(np.take_along_axis(shapes, np.abs(shapes).argmax(axis=1)[:, None], axis=1))
    return shapes * sign, np.linalg.norm(b.imag, axis=1) / size, np.angle(b * sign)


def _jacobian(residues: ComplexArray, joint: Gaussian) -> Array:
    """Derivatives of (frequencies, shapes) by everything that has an error, by differences."""
    N, n = residues.shape[:2]
    out = np.zeros((N + N * n, len(joint.mean)))
    out[np.arange(N), np.arange(len(joint.mean))[joint.where("frequencies")]] = 1.0
    step = _RESIDUE_STEP * float(np.abs(residues).max())
    for name, unit in (("residues_real", 1.0), ("residues_imag", 1j)):
        at = joint.where(name).start
        for k in range(residues.size):
            change = np.zeros(residues.size, complex)
            change[k] = 0.5 * step * unit
            moved = change.reshape(residues.shape)
            moved = moved + moved.conj().swapaxes(1, 2)  # B stays Hermitian
            ends = [_ellipses(residues + sign * moved)[0] for sign in (1, -1)]
            out[N:, at + k] = ((ends[0] - ends[1]) / (2 * step)).ravel()
    return out
