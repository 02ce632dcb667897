r"""What a fit with friction between modes says: poles, hidden oscillators, their errors.

Everything depends on :math:`θ = (Λ, V, C)`, whose covariance is known. With :math:`F F^T` of it,
the changes of all quantities along the columns of F are central differences: poles and hidden
poles are simple, and their derivatives exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from prism._types import Array
from prism.completion import Completion, Hidden
from prism.finding import Determined
from prism.kernel import Certificate, certify
from prism.modes import Modes
from prism.motion.forced.foster import FosterFit
from prism.motion.forced.friction.hamiltonian import FrictionHamiltonian
from prism.motion.forced.friction.system import FrictionSystem, SplitForm
from prism.remarks import Remark
from prism.uncertainty import Gaussian

__all__ = ["FrictionFinding"]

_STEP = 1e-5  # of the size of a parameter, for a difference
_NO_VARIANCE = 1e-14  # of the greatest: a smaller one is rounding
_OUT_OF_PHASE = 3.3  # standard deviations of a phase that noise does not reach

Quantities = dict[str, Array]


@dataclass(frozen=True)
class FrictionFinding:
    """Modes and Hamiltonian of a fit with friction between modes.

    Attributes
    ----------
    fit : FosterFit
        With a friction.
    channels : tuple of str
    """

    fit: FosterFit
    channels: tuple[str, ...]

    @cached_property
    def system(self) -> FrictionSystem:
        """The fitted system."""
        foster = self.fit.foster
        assert foster.friction is not None
        return FrictionSystem(foster.omega**2, foster.participation, foster.friction)

    @cached_property
    def star(self) -> bool:
        """Whether hidden oscillators without friction between them explain the response."""
        alone = len(self.system.lam) - len(self.channels) < 2
        return alone or self.system.star_or_none() is not None

    @cached_property
    def modes(self) -> Modes:
        """Frequency and damping ratio of each pole, and its shape."""
        joint = self._joint(_seen)
        V = joint.value("imaginary")
        spread = np.maximum(joint.std("imaginary"), 1e-300)
        return Modes(
            joint=joint.only("frequencies", "shapes", "damping"),
            amplitudes=np.zeros((0, len(V))),
            significance=np.sqrt(self.fit.gains),
            phase_ratio=np.linalg.norm(V, axis=1),
            in_phase=np.all(np.abs(V) <= _OUT_OF_PHASE * spread, axis=1),
            residues=joint.value("residues"),
            residues_std=joint.std("residues"),
            moduli=joint.value("moduli"),
            moduli_std=joint.std("moduli"),
            phases=np.arctan2(V, joint.value("shapes")),
        )

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """That modes are complex, and what is open about hidden oscillators then."""
        said = [
            Remark(
                "friction couples the modes: frequencies and damping ratios are those of complex "
                "poles, and the Hamiltonian is the conservative part, with the friction beside it",
                code="coupled-friction",
            )
        ]
        if not self.star:
            said.append(
                Remark(
                    "the hidden oscillators share friction: other hidden parts, with frequencies "
                    "that differ by the square of their damping, make the same response",
                    code="hidden-friction",
                )
            )
        return tuple(said)

    def outcome(self, scale: str) -> Determined:
        """The Hamiltonian with its friction.

        Parameters
        ----------
        scale : str
            What fixes the scale, in words.
        """
        joint = self._unsettled(self._joint(self._split))
        omega, damping = (joint.value(f"hidden_{name}") for name in ("frequencies", "damping"))
        stds = joint.std("hidden_frequencies"), joint.std("hidden_damping")
        couplings, errors = joint.value("couplings"), joint.std("couplings")
        hidden = tuple(
            Hidden(
                frequency=float(omega[i]),
                frequency_std=float(stds[0][i]),
                couplings=couplings[i : i + 1],
                coupling_std=errors[i],
                residue=np.outer(couplings[i], couplings[i]),
                residue_std=joint.std("hidden_residues")[i],
                damping=float(damping[i]),
                damping_std=float(stds[1][i]),
            )
            for i in range(len(omega))
        )
        names = ("mass", "stiffness", "hidden_frequencies", "couplings", "hidden_damping")
        completion = Completion(
            mass=joint.value("mass"),
            stiffness=joint.value("stiffness"),
            mass_std=joint.std("mass"),
            stiffness_std=joint.std("stiffness"),
            hidden=hidden,
            joint=joint.only(*names),
        )
        friction = joint.value("friction"), joint.std("friction")
        hamiltonian = FrictionHamiltonian(completion, self.channels, *friction)
        return Determined(hamiltonian, self._certificate(hamiltonian), scale)

    def _certificate(self, hamiltonian: FrictionHamiltonian) -> Certificate:
        rigid = int(np.sum(self.system.lam == 0))
        return certify(hamiltonian.stiffness, hamiltonian.kernel, rigid=rigid)

    def _split(self, system: FrictionSystem) -> Quantities:
        form = system.star_or_none(passive=False) if self.star else None
        return _parts(form or system.split(star=False))

    def _unsettled(self, joint: Gaussian) -> Gaussian:
        """With what other hidden parts of the same response would say, as a further error.

        Where hidden oscillators share friction no star is passive, but its values belong to the
        response and those of the passive form to one way of sharing.
        """
        if self.star:
            return joint
        other = self.system.star_or_none(passive=False)
        if other is None:
            return joint
        there = np.concatenate([part.ravel() for part in _parts(other).values()])
        gap = there - joint.mean
        return replace(joint, covariance=joint.covariance + np.outer(gap, gap))

    def _joint(self, quantities: Callable[[FrictionSystem], Quantities]) -> Gaussian:
        """Quantities of the system with their joint error."""
        known = self.fit.coupled
        assert known is not None
        values = quantities(self.system)
        variances, vectors = np.linalg.eigh(known)
        keep = variances > _NO_VARIANCE * variances.max(initial=0.0)
        F = vectors[:, keep] * np.sqrt(variances[keep])
        F[np.diag(known) == 0] = 0.0  # what is held, such as a mode at zero, stays there
        rows = [self._change(quantities, column) for column in F.T]
        size = sum(np.size(one) for one in values.values())
        changes = np.array(rows).reshape(-1, size)
        return Gaussian.of(values, changes.T @ changes)

    def _change(self, quantities: Callable[[FrictionSystem], Quantities], error: Array) -> Array:
        """Change of all quantities along one error of the parameters."""
        theta = _theta(self.system)
        share = _STEP / max(float(np.abs(error / _sizes(self.system)).max()), 1e-300)
        ends = [
            np.concatenate([part.ravel() for part in quantities(moved).values()])
            for moved in (self._at(theta + sign * share * error) for sign in (1, -1))
        ]
        return np.asarray((ends[0] - ends[1]) / (2 * share))

    def _at(self, theta: Array) -> FrictionSystem:
        N, n = self.system.V.shape
        C = np.zeros((N, N))
        C[np.tril_indices(N)] = theta[N * (n + 1) :]
        C = C + np.tril(C, -1).T
        return FrictionSystem(theta[:N], theta[N : N * (n + 1)].reshape(N, n), C)


def _parts(form: SplitForm) -> Quantities:
    n, c = len(form.mass), form.couplings
    return {
        "mass": form.mass,
        "stiffness": form.stiffness[:n, :n],
        "hidden_frequencies": form.hidden_frequencies,
        "couplings": c,
        "hidden_damping": form.hidden_damping,
        "hidden_residues": np.einsum("ia,ib->iab", c, c),
        "friction": form.friction,
    }


def _theta(system: FrictionSystem) -> Array:
    lower = system.C[np.tril_indices(len(system.lam))]
    return np.concatenate([system.lam, system.V.ravel(), lower])


def _sizes(system: FrictionSystem) -> Array:
    """Size of each parameter, beside which a step is small."""
    N, n = system.V.shape
    rates = [np.full(N * (N + 1) // 2, max(float(np.abs(system.C).max()), 1e-300))]
    parts = [
        np.maximum(system.lam, 1e-6 * system.lam.max()),
        np.full(N * n, np.abs(system.V).max()),
    ]
    return np.concatenate([*parts, *rates])


def _seen(system: FrictionSystem) -> Quantities:
    poles = system.poles
    psi = system.shapes(poles)
    size = np.maximum(np.linalg.norm(psi.real, axis=1, keepdims=True), 1e-300)
    # in the proportional limit Res = v vᵀ/(2i Im s)
    strength = np.where(poles.pole.imag > 0, 2j * poles.pole.imag, 2 * poles.frequency)
    strength = np.where(poles.frequency == 0, 1.0, strength)
    raw = (system.V.T @ poles.vector).T
    residues = np.einsum("ja,jb->jab", raw, raw) * strength[:, None, None]
    return {
        "frequencies": poles.frequency,
        "shapes": psi.real / size,
        "damping": poles.ratio,
        "imaginary": psi.imag / size,
        "moduli": np.abs(psi) / np.maximum(np.linalg.norm(psi, axis=1, keepdims=True), 1e-300),
        "residues": residues.real,
    }
