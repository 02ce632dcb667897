"""Lines that turn as modes: the major axes of their ellipses, with errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from prism._types import Array, ComplexArray
from prism.uncertainty import Gaussian

__all__ = ["ellipses_of"]

_RESIDUE_STEP = 1e-6  # of a residue, for the derivatives of a shape


def ellipses_of(omega: Array, residues: ComplexArray, joint: Gaussian) -> dict[str, Any]:
    """Frequencies and shapes with their joint errors, and ratios of the axes, as `Modes` has them.

    Parameters
    ----------
    omega, residues : arrays (lines,), (lines, channels, channels)
        ``B = b b*``, up to a real factor each.
    joint : Gaussian
        Of frequencies, residues_real and residues_imag, and whatever else.
    """
    shapes, ratio = _ellipses(residues)
    values = {"frequencies": omega, "shapes": shapes}
    return {"joint": joint.mapped(values, _jacobian(residues, joint)), "phase_ratio": ratio}


def _ellipses(residues: ComplexArray) -> tuple[Array, Array]:
    """Unit major axes (lines, channels) and the ratios of the axes, of ``B = b b*``."""
    values, vectors = np.linalg.eigh(residues)
    b = vectors[:, :, -1] * np.sqrt(np.maximum(values[:, -1:], 0.0))
    # the phase that makes the real part longest: half the angle of b·b
    b = b * np.exp(-0.5j * np.angle((b**2).sum(axis=1)))[:, None]
    size = np.linalg.norm(b.real, axis=1)
    shapes = b.real / size[:, None]
    largest = np.take_along_axis(shapes, np.abs(shapes).argmax(axis=1)[:, None], axis=1)
    return shapes * np.sign(largest), np.linalg.norm(b.imag, axis=1) / size


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
