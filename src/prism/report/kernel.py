"""The memory kernel in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from prism.kernel import MemoryKernel
from prism.model import Model

__all__ = ["kernel_facts", "kernel_sentence"]

_TERMS = 6  # of a sum, before it is cut


def kernel_sentence(model: Model) -> str | None:
    """The memory kernel in one line, or None where it is not determined.

    Parameters
    ----------
    model : Model
    """
    kernel = model.kernel
    if not kernel:
        return None
    if not len(kernel.poles):
        return "K(t) = 0: no mode is hidden."
    terms = [f"R{i} sin({pole:.5g} t)/{pole:.5g}" for i, pole in enumerate(kernel.poles, start=1)]
    shown = " + ".join(terms[:_TERMS]) + (
        f" + … ({len(terms)} terms)" if len(terms) > _TERMS else ""
    )
    traces = [f"{np.trace(residue):.4g}" for residue in kernel.residues]
    traced = ", ".join(traces[:_TERMS]) + (", …" if len(traces) > _TERMS else "")
    turning = ", and a skew part that turns at the same frequencies" * hasattr(kernel, "skew")
    return f"K(t) = {shown}, with tr R = {traced}{turning}"


def kernel_facts(model: Model) -> tuple[str, ...]:
    """What else is known of the kernel: friction, spectral density, index, a sentence each.

    Parameters
    ----------
    model : Model
    """
    kernel = model.kernel
    if not kernel or type(kernel) is not MemoryKernel or not len(kernel.poles):
        return ()
    return tuple(_facts(kernel))


def _facts(kernel: MemoryKernel) -> Iterator[str]:
    start = np.trace(kernel.friction(0.0))
    width = kernel.spectral_density(kernel.poles).trace(axis1=1, axis2=2)
    strongest = kernel.poles[int(np.argmax(width))]
    yield (
        f"Friction kernel γ(t) = Σ R cos(ω t)/ω², tr γ(0) = {start:.4g}; the spectral density is "
        f"greatest at {strongest:.5g}."
    )
    if kernel.residues.shape[1] > 1:
        return  # residues of one oscillator each have rank one, and the index is zero (E10)
    yield f"Smallest eigenvalue of the residues (flutter index): {kernel.index():.4g}."
