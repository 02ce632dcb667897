r"""Where the residual of a forced record wants another mode: all frequencies at once.

The samples of a driven mode obey :math:`z_{k+1} = e^x z_k + \text{push}_k`, so that over M samples

.. math:: Z(ω_k) = D(ω - ω_k)\,[\,s(ω) F(ω_k) + c\,],\qquad
          D(ν) = \frac{1}{1 - e^{-ε\,dt + iν\,dt}}

with F the discrete Fourier transform of the force, s the factor of the hold
(:math:`dt\,(p\,e^{-iω dt} + q)`, taken at the pole) and c the transient
:math:`z_0 - z_M`: leakage is part of the model. The gain in χ² of the columns (force: real
coefficients shared by the trials; transient: one complex coefficient for each trial and channel)
needs sums over k of D against F, |F|², the residual R and F*R: circular convolutions, one FFT for
all ω. Only the positive frequencies are used, which is exact up to terms 1/(ωT).
"""

from __future__ import annotations

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.forced.records import _limits as limits
from prism.motion.forced.records.data import ForcedData


def scan(
    data: ForcedData,
    residual: list[Array],
    weights: Array,
    hold: str,
    decays: tuple[float, ...],
    turned: bool = False,
) -> tuple[Array, Array, Array]:
    """Expected gain in ``χ²`` of one more driven pole.

    Parameters
    ----------
    residual : list of arrays (samples, channels)
        Zero where nothing was seen.
    weights : array (channels,)
    hold : {"zero", "first"}
    decays : tuple of float
        Rates to try, in units of the resolution.
    turned : bool
        Whether the residue is complex.

    Returns
    -------
    omega, gain, decay : arrays (candidates,)
        Best decay of each frequency.
    """
    M = max(len(r) for r in residual)
    bins = (np.arange(1, M // 2)[:, None] + np.array(limits.BIN_OFFSETS)).ravel()
    omega = bins * 2 * np.pi / (M * data.dt)
    gains = np.array([_gains(data, residual, weights, hold, omega, e, turned) for e in decays])
    best = np.argmax(gains, axis=0)
    return omega, gains.max(axis=0), np.array(decays)[best] * data.resolution


def _gains(
    data: ForcedData,
    residual: list[Array],
    weights: Array,
    hold: str,
    omega: Array,
    decay: float,
    turned: bool,
) -> Array:
    A, B, G = len(data.motions), len(data.forces), len(omega)
    gram, right = np.zeros((G, B, B)), np.zeros((G, A, B), complex if turned else float)
    gain = np.zeros(G)
    factor = _factor(omega, data.dt, hold)
    for trial, rest in zip(data.trials, residual, strict=True):
        g, h, free = _sums(trial.force, rest, data, omega, decay * data.resolution)
        gram += g
        phase = np.stack([factor * (1j * omega) ** kind for kind in data.kinds], axis=1)
        phase = phase * _filters(data, omega)
        overlap = np.conj(phase / np.abs(phase))[:, :, None] * h
        right += overlap if turned else overlap.real
        gain += free @ weights
    ridge = 1e-9 * np.einsum("gbb->g", gram)[:, None, None] * np.eye(B) + 1e-300 * np.eye(B)
    solved = np.linalg.solve(gram + ridge, right.transpose(0, 2, 1))
    return np.asarray(gain + np.einsum("gab,gba,a->g", right.conj(), solved, weights).real)


def _factor(omega: Array, dt: float, hold: str) -> ComplexArray:
    """Response of a mode at its own frequency, up to a positive number.

    ``(p e^{-x} + q)/x`` with the p, q of `_modal_columns`; only its phase matters here, and that
    survives the cancellation in φ₂ at slow frequencies.
    """
    x = 1j * omega * dt
    one = (np.exp(x) - 1) / x
    two = (one - 1) / x if hold == "first" else np.zeros_like(x)
    return np.asarray(((one - two) * np.exp(-x) + two) / x)


def _filters(data: ForcedData, omega: Array) -> ComplexArray:
    """What the filters of the motions do to a line at each frequency, (candidates, channels)."""
    out = np.ones((len(omega), len(data.motions)), complex)
    for a, h in enumerate(data.filters):
        out[:, a] = np.exp(-1j * np.outer(omega, np.arange(len(h))) * data.dt) @ h
    return out


def _sums(
    force: Array, rest: Array, data: ForcedData, omega: Array, decay: float
) -> tuple[Array, ComplexArray, Array]:
    """Gram of the force columns off the transient, their overlap with the residual, free gain.

    Shapes (candidates, forces, forces), (candidates, channels, forces), (candidates, channels);
    in units in which white noise of unit weight has unit variance.
    """
    M = len(force)
    F, R = _positive(force), _positive(rest)
    place = omega * M * data.dt / (2 * np.pi)
    near = np.clip(
        np.round((place - limits.BIN_OFFSETS[0]) * len(limits.BIN_OFFSETS)), 0, None
    ).astype(int)
    near = np.minimum(near, len(limits.BIN_OFFSETS) * M - 1)
    B, A = F.shape[1], R.shape[1]
    pairs = np.einsum("kb,kc->kbc", F.conj(), F).reshape(M, -1)
    crossed = np.einsum("kb,ka->kab", F.conj(), R).reshape(M, -1)
    kernels = [_kernel(M, offset, decay * data.dt) for offset in limits.BIN_OFFSETS]
    square = np.concatenate([pairs, F], axis=1)
    against = np.concatenate([crossed, R], axis=1)
    wide = _convolved([np.abs(k) ** 2 for k in kernels], square)[near]
    narrow = _convolved([k.conj() for k in kernels], against)[near]
    total = np.array([(np.abs(k) ** 2).sum() for k in kernels])[near % len(limits.BIN_OFFSETS)]
    mean = wide[:, B * B :] / total[:, None]
    gram = wide[:, : B * B].reshape(-1, B, B) - total[:, None, None] * np.einsum(
        "gb,gc->gbc", mean.conj(), mean
    )
    overlap = narrow[:, A * B :]
    right = narrow[:, : A * B].reshape(-1, A, B) - overlap[:, :, None] * mean.conj()[:, None, :]
    norm = 2 / M
    free = norm * np.abs(overlap) ** 2 / total[:, None]
    return norm * gram.real, norm * right, free


def _positive(x: Array) -> ComplexArray:
    """Fourier transform with the negative frequencies and the mean set to zero."""
    out = np.fft.fft(x, axis=0)
    out[0] = 0
    out[len(x) // 2 :] = 0
    return np.asarray(out)


def _kernel(M: int, offset: float, decay: float) -> ComplexArray:
    """``D(ω_m + offset - ω_k)`` as a function of m - k."""
    angle = 2 * np.pi * (np.arange(M) + offset) / M
    return np.asarray(1 / (1 - np.exp(-decay + 1j * angle)))


def _convolved(kernels: list[ComplexArray] | list[Array], values: ComplexArray) -> ComplexArray:
    """Circular convolutions with each kernel, interleaved to (offsets · M, columns)."""
    transformed = np.fft.fft(values, axis=0)
    rows = [np.fft.ifft(np.fft.fft(k)[:, None] * transformed, axis=0) for k in kernels]
    return np.stack(rows, axis=1).reshape(-1, values.shape[1])
