"""Start of the fit with friction between modes: complex residues taken for real shapes."""

from __future__ import annotations

import numpy as np

from prism._linalg import positive_sign
from prism._types import Array, ComplexArray
from prism.motion.forced.records import _limits as limits
from prism.motion.forced.records.coupled import SharedModal
from prism.motion.forced.records.data import ForcedData
from prism.motion.forced.records.pole_fit import PoleFit
from prism.motion.forced.records.start import ranked, rigid_shapes
from prism.motion.forced.response.friction import FrictionPoint


def complex_start(data: ForcedData, fit: PoleFit) -> SharedModal:
    r"""Modes whose friction is that of each alone, with shapes as long as the residues.

    A complex residue of rank one is :math:`y y^T`; the shape that starts is y, turned to be as
    real as it can be.
    """
    poles, B = fit.places, len(data.forces)
    N = int(poles.driven.sum())
    real, imaginary = _blocks(fit.shared, B, N)
    std, _ = _blocks(fit.shared_std, B, N)
    W = real + 1j * imaginary
    V = np.array([_shape(one, s, data) for one, s in zip(W, std, strict=True)])
    omega, decay = poles.omega[poles.driven], poles.decay[poles.driven]
    lam = omega**2 + decay**2
    rate = np.maximum(2 * decay, limits.LEAST_RATE * np.sqrt(lam))
    far = (limits.FAR_MODE * np.pi / data.dt) ** 2
    point = FrictionPoint(lam, V, np.diag(np.sqrt(rate)), np.ones(N, bool), far)
    rigid, static = _terms(data, fit, N)
    shapes = np.array([*rigid, *static]).reshape(-1, len(data.motions))
    return SharedModal(point, shapes, len(rigid), poles.hold)


def _blocks(shared: Array, B: int, N: int) -> tuple[Array, Array]:
    """Real and imaginary parts of the residues, (N, channels, forces) each."""
    each = shared[:, : 2 * B * N].reshape(len(shared), N, 2, B).transpose(2, 1, 0, 3)
    return each[0], each[1]


def _shape(W: ComplexArray, std: Array, data: ForcedData) -> Array:
    """The shape of one residue (channels, forces)."""
    ports = data.ports
    q = np.sqrt(np.diag(std[ports]))
    block = W[ports] / np.outer(q, q)
    top = np.linalg.svd(0.5 * (block + block.T))[0][:, 0]
    # W ≈ d (t tᵀ) with the complex number d: y = √d t
    d = top.conj() @ block @ top.conj()
    drive = q * top * np.sqrt(d)
    y = (W * drive.conj() / std**2).sum(axis=1) / (np.abs(drive) ** 2 / std**2).sum(axis=1)
    y[ports] = drive
    turned = y * np.exp(-0.5j * np.angle((y**2).sum()))
    sign = np.where(turned.real == 0, 1.0, np.sign(turned.real))
    return np.asarray(np.abs(turned) * sign * positive_sign(turned.real))


def _terms(data: ForcedData, fit: PoleFit, N: int) -> tuple[list[Array], list[Array]]:
    """Shapes of rigid bodies, and of static terms, as far as they are passive."""
    B, poles = len(data.forces), fit.places
    parts = [slice(at, at + B) for at in range(2 * B * N, fit.shared.shape[1], B)]
    split = [ranked(fit.shared[:, part], fit.shared_std[:, part], data) for part in parts]
    rigid = rigid_shapes(*split[0]) if poles.rigid else []
    if not poles.static:
        return rigid, []
    values, vectors = split[-1]
    return rigid, list(vectors[values > limits.STATIC_TERM])
