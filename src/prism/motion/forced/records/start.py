"""Start of the reciprocal fit: rank-one shapes from free amplitudes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array, Mask
from prism.errors import CannotTellError
from prism.motion.forced.records import _limits as limits
from prism.motion.forced.records.data import ForcedData
from prism.motion.forced.records.pole_fit import PoleFit, Poles
from prism.motion.forced.records.reciprocal import Modal
from prism.remarks import Remark


@dataclass(frozen=True)
class ReciprocalStart:
    """Where the joint fit starts.

    Attributes
    ----------
    modal : Modal
    nuisance : Poles
        Lines that the force does not drive, and resonances that are not passive.
    weights : array (channels,)
    remarks : tuple of str
    """

    modal: Modal
    nuisance: Poles
    weights: Array
    remarks: tuple[Remark, ...]


def start_from_poles(data: ForcedData, fit: PoleFit) -> ReciprocalStart:
    """Rank-one shapes of every driven pole.

    Raises
    ------
    CannotTellError
        When no mode moves with its force.
    """
    poles, B = fit.places, len(data.forces)
    blocks = [fit.shared[:, i : i + B] for i in range(0, fit.shared.shape[1], B)]
    stds = [fit.shared_std[:, i : i + B] for i in range(0, fit.shared.shape[1], B)]
    split = [ranked(C, s, data) for C, s in zip(blocks, stds, strict=True)]
    D = int(poles.driven.sum())
    passive = poles.driven.copy()
    passive[poles.driven] = [values[0] > limits.NEGATIVE_RESIDUE for values, _ in split[:D]]
    rigid = rigid_shapes(*split[D]) if poles.rigid else []
    if not passive.any() and not rigid:
        raise CannotTellError(
            f"{', '.join(data.motions)} answers {', '.join(data.forces)} with the wrong sign in "
            "every mode: turn the sign of the force, or say what the channels measure."
        )
    shapes = [split[i][1][0] for i in np.flatnonzero(passive[poles.driven])]
    shapes += rigid
    if poles.static:
        values, vectors = split[-1]
        shapes += [
            v for value, v in zip(values, vectors, strict=True) if value > limits.STATIC_TERM
        ]
    V = np.array(shapes)
    N = int(passive.sum())
    free = [_free(local, V[:N], passive, fit.weights) for local in fit.local]
    modal = Modal(poles.omega[passive], poles.decay[passive], V, len(rigid), free, poles.hold)
    nuisance = replace(poles.picked(~passive), rigid=False, static=False)
    return ReciprocalStart(modal, nuisance, fit.weights, nuisance_remarks(nuisance))


def rigid_shapes(values: Array, vectors: Array) -> list[Array]:
    """Shapes of the rigid-body modes that ports tell from each other: one, or as many as matter.

    Parameters
    ----------
    values, vectors
        As of `ranked`.
    """
    if values[0] <= 0:
        return []
    return [vectors[0], *vectors[1:][values[1:] > limits.STATIC_TERM]]


def ranked(C: Array, std: Array, data: ForcedData) -> tuple[Array, Array]:
    """Eigenvalues of the residue in standard deviations, descending, and the shapes.

    Whitened as in RECIPES C4: ``C_pq/(q_p q_q)`` with ``q_p = √std(C_pp)``; the shape elsewhere
    follows by weighted least squares from ``C_ab = v_a v_p(b)``.
    """
    ports = data.ports
    q = np.sqrt(np.diag(std[ports]))
    block = C[ports] / np.outer(q, q)
    values, vectors = np.linalg.eigh(0.5 * (block + block.T))
    order = np.argsort(values)[::-1]
    shapes = np.zeros((len(order), len(C)))
    for row, k in enumerate(order):
        drive = q * vectors[:, k] * np.sqrt(max(values[k], 0.25))
        shapes[row] = (C * drive / std**2).sum(axis=1) / (drive**2 / std**2).sum(axis=1)
        shapes[row, ports] = drive
    return values[order], shapes


def _free(local: Array, V: Array, passive: Mask, weights: Array) -> Array:
    """Free amplitudes along the shapes, (N, 2), from those of each channel."""
    pairs = local[:, 2:].reshape(len(local), -1, 2)[:, passive]
    norm = np.einsum("ja,a,ja->j", V, weights, V)
    return np.asarray(np.einsum("ja,a,ajh->jh", V, weights, pairs) / norm[:, None])


def nuisance_remarks(nuisance: Poles) -> tuple[Remark, ...]:
    """What is said of poles that are fitted but no modes."""
    out = []
    for omega, driven in zip(nuisance.omega, nuisance.driven, strict=True):
        if driven:
            said = (
                f"the resonance at {omega:.5g} has a negative residue at the driving point, which "
                "no passive mode has: it is fitted but left out; check where the force acts"
            )
        else:
            said = (
                f"the line at {omega:.5g} is not driven by the force: free motion or hum, fitted "
                "but left out, since its magnitude cannot be told"
            )
        out.append(Remark(said, code="not-alternating" if driven else "not-driven"))
    return tuple(out)
