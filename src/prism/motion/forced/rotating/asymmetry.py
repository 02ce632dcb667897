r"""Whether the difference of reciprocal measurements is noise, and whether energy comes out.

The antisymmetric part :math:`D = (H - H^T)/2` of a reciprocal system is noise, independent from
line to line; what a system adds to it is smooth. With :math:`T = \mathrm{Re} \sum_k D_k D_{k+1}^*`,
of variance :math:`\tfrac12 \sum_k |D_k|^2 |D_{k+1}|^2` for noise of any size,
:math:`T/\sqrt{\mathrm{Var}\, T}` is a standard normal number where it is noise.

A force :math:`f e^{iωt}` feeds the power :math:`-\tfrac12 ω f^* A f` into the system, with the
Hermitian :math:`A = (H - H^*)/2i`. Of a passive system A is negative semidefinite; gyroscopic
forces do not enter it, but circulatory forces and feedback make an eigenvalue positive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prism._types import Array, ComplexArray
from prism.frequency_response import FrequencyResponse
from prism.motion.forced.rotating import _limits as limits

__all__ = ["Asymmetry", "asymmetry_of", "explained_by_gains", "full_response", "likeness"]


class Asymmetry(NamedTuple):
    """The antisymmetric part of a response.

    Attributes
    ----------
    share : float
        Its size over that of the whole.
    smooth : float
        How many standard deviations it is from noise that is independent from line to line.
    active : float
        Largest part of the response that gives out energy, averaged over neighbouring lines.
    surplus : float
        Standard deviations of that.
    where : float
        Angular frequency at which it is largest.
    """

    share: float
    smooth: float
    active: float
    surplus: float
    where: float

    @property
    def is_signal(self) -> bool:
        """Whether reciprocal measurements differ by more than noise."""
        return self.smooth > limits.SMOOTH_SIGMAS

    @property
    def is_active(self) -> bool:
        """Whether energy comes out, beyond noise and errors of calibration."""
        return self.surplus > limits.ACTIVE_SIGMAS and self.active > limits.ACTIVE_SHARE

    @property
    def words(self) -> str:
        """Say how large it is."""
        return (
            f"reciprocal values differ by {200 * self.share:.3g} % of their size, and that is no "
            f"noise: it is alike at neighbouring frequencies ({self.smooth:.3g} standard "
            "deviations)"
        )

    @property
    def active_words(self) -> str:
        """Say how much energy comes out."""
        return (
            f"forces take energy out of it: at {self.where:.4g} rad per time unit by "
            f"{100 * self.active:.3g} % of its response ({self.surplus:.3g} standard deviations), "
            "as feedback and circulatory forces do, and a motion or force that is reversed"
        )


def asymmetry_of(response: FrequencyResponse) -> Asymmetry | None:
    """Look at the antisymmetric part of a square response.

    Parameters
    ----------
    response : FrequencyResponse

    Returns
    -------
    Asymmetry or None
        None where there is no square response of several ports, or too few lines.
    """
    whole = full_response(response)
    if whole is None:
        return None
    omega, H = whole
    above = np.triu_indices(H.shape[1], 1)
    D = 0.5 * (H - H.swapaxes(1, 2))[:, *above]
    size = float(np.sqrt(np.mean(np.abs(H[:, *above] + H[:, *above[::-1]]) ** 2) / 4))
    share = float(np.sqrt(np.mean(np.abs(D) ** 2))) / max(size, 1e-300)
    # in units of the whole response, whose resonances would be all that counts
    unit = D / np.linalg.norm(H, axis=(1, 2))[:, None]
    return Asymmetry(share, likeness(unit), *_energy(omega, H))


def explained_by_gains(response: FrequencyResponse) -> bool:
    r"""Whether gains of the motions leave nothing but noise of the antisymmetric part.

    A motion that reads :math:`g_a` times its value makes :math:`H_{ab}/H_{ba} = g_a/g_b`, a
    positive number at all frequencies. One far from one is no error of calibration.

    Parameters
    ----------
    response : FrequencyResponse
    """
    whole = full_response(response)
    if whole is None:
        return False
    H = whole[1] / np.linalg.norm(whole[1], axis=(1, 2))[:, None, None]
    a, b = np.triu_indices(H.shape[1], 1)
    x, y = H[:, a, b], H[:, b, a]
    if np.any((x * y.conj()).real.sum(axis=0) <= 0):
        return False
    root = np.sqrt(np.linalg.norm(x, axis=0) / np.linalg.norm(y, axis=0))
    rest = x / root - y * root
    likely = np.abs(2 * np.log(root)).max() < np.log(limits.LARGEST_GAIN)
    return bool(likely and likeness(rest) <= limits.SMOOTH_BESIDE_GAINS)


def full_response(response: FrequencyResponse) -> tuple[Array, ComplexArray] | None:
    """Frequencies and receptance (F, n, n) where all entries of a square response are known.

    Parameters
    ----------
    response : FrequencyResponse
    """
    outputs, inputs = response.outputs, response.inputs
    if len(outputs) < 2 or set(outputs) != set(inputs):
        return None
    H = response.receptance[:, :, [inputs.index(name) for name in outputs]]
    known = np.isfinite(H).all(axis=(1, 2)) & (response.omega > 0)
    if known.sum() < limits.FEWEST_RESPONSES:
        return None
    return response.omega[known], H[known]


def likeness(D: ComplexArray) -> float:
    """Product of neighbours over its standard deviation for noise, of all columns.

    Parameters
    ----------
    D : complex array (frequencies, ...)
    """
    product = (D[1:] * D[:-1].conj()).real.sum()
    variance = 0.5 * (np.abs(D[1:]) ** 2 * np.abs(D[:-1]) ** 2).sum()
    return float(product / np.sqrt(max(variance, 1e-300)))


def _energy(omega: Array, H: ComplexArray) -> tuple[float, float, float]:
    """Largest share that gives out energy, how significant it is, and where."""
    scale = np.linalg.norm(H, axis=(1, 2))
    A = (H - H.conj().swapaxes(1, 2)) / (2j * scale[:, None, None])
    # the direction is taken from the neighbours, so that noise at a line does not choose it
    beside = A[:-2] + A[2:]
    y = np.linalg.eigh(beside)[1][:, :, -1]
    given = np.einsum("ka,kab,kb->k", y.conj(), A[1:-1], y).real
    width = limits.FEWEST_ACTIVE
    window = np.ones(width) / width
    mean = np.convolve(given, window, "valid")
    rough = np.diff(given) ** 2 / 2
    error = np.sqrt(np.convolve(rough, np.ones(width - 1) / (width - 1), "valid") / width)
    error = np.maximum(error, float(np.median(error)))
    k = int(np.argmax(mean / np.maximum(error, 1e-300)))
    return float(mean[k]), float(mean[k] / max(error[k], 1e-300)), float(omega[k + width // 2 + 1])
