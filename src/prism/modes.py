"""The visible modes: frequencies, shapes, residues, with errors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prism._doors import through
from prism._types import Array, ComplexArray, Index, Mask
from prism._value import Value
from prism.uncertainty import Gaussian, root_of_variance

_WIDE = 0.5  # of the major axis of an ellipse: a minor one beyond which it turns

__all__ = ["Modes", "spread_of_residues", "spread_of_shapes"]


@dataclass(frozen=True, eq=False, repr=False)
class Modes(Value):
    r"""Normal modes seen in a record, ascending in frequency.

    Attributes
    ----------
    joint : Gaussian
        Of frequencies (modes,), shapes (modes, channels) and, where it was estimated, damping
        (modes,).
    amplitudes : array (trials, modes)
        Amplitude along the unit shape in each trial; of a rigid-body mode the speed.
    significance : array (modes,)
        Square root of the gain in χ² that the line brings: its amplitude over the error of it.
    phase_ratio : array (modes,)
        Second singular value of the amplitudes over the first: 0 for a mode in phase on all
        channels.
    in_phase : array of bool (modes,)
        Whether the data agree with a mode in phase on all channels.
    residues, residues_std : array (modes, channels, channels) or None
        :math:`v_m v_m^T`; None where the magnitudes are not determined.
    energies : array (trials, modes) or None
        Energy of each mode in each trial; None where the magnitudes are not determined.
    damping_interval : array (modes, 2) or None
        95 % intervals of records that decay or are driven by noise; the lower end may be zero.
    moduli, moduli_std : array (modes, channels) or None
        How far each channel moves in modes that may turn, in units of the whole: magnitudes of
        unit complex shapes, whose phases are free. None where modes are real.
    phases : array (modes, channels) or None
        By which angle each channel is ahead in such modes, as of `complex_shapes`.
    """

    joint: Gaussian
    amplitudes: Array
    significance: Array
    phase_ratio: Array
    in_phase: Mask
    residues: Array | None = None
    residues_std: Array | None = None
    energies: Array | None = None
    damping_interval: Array | None = None
    moduli: Array | None = None
    moduli_std: Array | None = None
    phases: Array | None = None

    @classmethod
    def none(cls, channels: int, trials: int) -> Modes:
        """No mode at all: a motion without lines, such as a chaotic one."""
        no = np.zeros(0)
        joint = Gaussian.of(
            {"frequencies": no, "shapes": np.zeros((0, channels))}, np.zeros((0, 0))
        )
        return cls(joint, np.zeros((trials, 0)), no, no, np.zeros(0, bool))

    def __len__(self) -> int:
        """Return the number of modes."""
        return len(self.frequencies)

    def __repr__(self) -> str:
        some = ", ".join(f"{w:.4g}" for w in self.frequencies[:4])
        more = ", …" if len(self) > 4 else ""
        return f"Modes({len(self)}: {some}{more})" if len(self) else "Modes(none)"

    @property
    def frequencies(self) -> Array:
        """Closed-loop angular frequencies :math:`Ω_m`, (modes,); zero of a rigid-body mode."""
        return self.joint.value("frequencies")

    @property
    def rigid(self) -> Mask:
        """Which are rigid-body modes, of zero frequency."""
        return np.asarray(self.frequencies == 0)

    @property
    def frequencies_std(self) -> Array:
        """Standard deviations of the frequencies."""
        return self.joint.std("frequencies")

    @property
    def frequencies_hz(self) -> Array:
        """Frequencies in cycles per time unit."""
        return self.frequencies / (2 * np.pi)

    @property
    def shapes(self) -> Array:
        """Unit directions :math:`d_m` in displacement, (modes, channels)."""
        return self.joint.value("shapes")

    @property
    def shapes_std(self) -> Array:
        """Errors of the shapes, root mean square, to second order."""
        return spread_of_shapes(self.shapes, self.joint.between("shapes"))

    @property
    def turning(self) -> Mask:
        """Modes on a wide ellipse: its major axis, the shape, is known badly, its extent is not."""
        wide = ~self.in_phase & (self.phase_ratio > _WIDE)
        return np.asarray(wide if self.moduli is not None else np.zeros(len(self), bool))

    @property
    def phase_collinearity(self) -> Array:
        """Modal phase collinearity: 1 in phase, 0 where a mode turns in a circle.

        As `prism.phase_collinearity` of its complex shape, by the ratio of its axes. Noise lowers
        it; `in_phase` says whether it is more than that. Where a kind of motion is fitted in phase,
        as driven motion is, it is 1 by assumption.
        """
        share = self.phase_ratio**2
        return np.asarray(((1 - share) / (1 + share)) ** 2)

    @property
    def shapes_or_moduli(self) -> tuple[Array, Array]:
        """What people look at, with errors: shapes, and moduli of modes that turn."""
        if self.moduli is None or self.moduli_std is None:
            return self.shapes, self.shapes_std
        turns = self.turning[:, None]
        return (
            np.where(turns, self.moduli, self.shapes),
            np.where(turns, self.moduli_std, self.shapes_std),
        )

    @property
    def complex_shapes(self) -> ComplexArray:
        r"""Unit complex shapes ψ, (modes, channels): the motion is :math:`\mathrm{Re}\,ψ e^{λt}`.

        Turned such that the real part is as long as it can be; it points along `shapes`, and is
        all there is where modes are real.
        """
        if self.moduli is None or self.phases is None:
            return np.asarray(self.shapes, complex)
        return np.asarray(self.moduli * np.exp(1j * self.phases))

    @property
    def poles(self) -> ComplexArray:
        r""":math:`λ = Ω\,(-ζ + i\sqrt{1 - ζ^2})`, (modes,); of a pair of real ones the slower."""
        return np.asarray(self.frequencies * (-self.damping + np.sqrt(self.damping**2 - 1 + 0j)))

    @property
    def masses(self) -> Array | None:
        """Modal masses m of the unit shapes, where residues are ``d dᵀ/m``; None without these.

        They belong to modes that neither turn nor share friction, which have real residues.
        """
        if self.residues is None or self.moduli is not None:
            return None
        size = np.einsum("maa->m", self.residues)
        return np.asarray(np.divide(1.0, size, out=np.full(len(size), np.inf), where=size > 0))

    @property
    def damping(self) -> Array:
        r"""Ratio :math:`-\mathrm{Re}\,λ/|λ|`; zero for lossless modes."""
        return self.joint.value("damping") if "damping" in self.joint else np.zeros(len(self))

    @property
    def damping_std(self) -> Array | None:
        """Standard deviations of the damping ratios; None where damping was not estimated.

        Zero for a rigid-body mode, which has no ratio: it loses nothing in its zero periods.
        """
        if "damping" not in self.joint:
            return None
        return np.where(self.frequencies > 0, self.joint.std("damping"), 0.0)

    @property
    def covariance(self) -> Array:
        """Joint covariance of ``(frequencies, shapes.ravel())``."""
        return self.joint.only("frequencies", "shapes").covariance

    def take(self, keep: Index) -> Modes:
        """Some of the modes.

        Parameters
        ----------
        keep : array of int
        """

        def some(part: Array | None) -> Array | None:
            return None if part is None else part[keep]

        return replace(
            self,
            joint=self.joint.rows(keep),
            amplitudes=self.amplitudes[:, keep],
            significance=self.significance[keep],
            phase_ratio=self.phase_ratio[keep],
            in_phase=self.in_phase[keep],
            residues=some(self.residues),
            residues_std=some(self.residues_std),
            energies=None if self.energies is None else self.energies[:, keep],
            damping_interval=some(self.damping_interval),
            moduli=some(self.moduli),
            moduli_std=some(self.moduli_std),
            phases=some(self.phases),
        )

    def vibrating(self) -> Modes:
        """The modes without rigid-body modes."""
        return self.take(np.flatnonzero(~self.rigid)) if self.rigid.any() else self

    def without_magnitudes(self) -> Modes:
        """The same modes with undetermined magnitudes."""
        return replace(self, residues=None, residues_std=None, energies=None)

    def _repr_html_(self) -> str:
        return str(through("modes_html")(self))


def spread_of_shapes(shapes: Array, covariance: Array) -> Array:
    r"""Root mean square errors of unit vectors, to second order.

    An error e across a unit vector d moves it by :math:`e - \tfrac12 |e|^2 d`: where a component
    is nearly one, the first term vanishes and the second is all there is. With C of e,

    .. math:: C_{aa} + d_a^2 \left(\tfrac12 \mathrm{tr}\,C^2 + \tfrac14 (\mathrm{tr}\,C)^2\right).

    Parameters
    ----------
    shapes : array (modes, channels)
    covariance : array
        Of the shapes, laid out flat.
    """
    out = np.empty(shapes.shape)
    for m, (d, C) in enumerate(zip(shapes, _blocks(shapes, covariance), strict=True)):
        out[m] = np.diag(C) + d**2 * (0.5 * np.sum(C * C) + 0.25 * np.trace(C) ** 2)
    return root_of_variance(out)


def spread_of_residues(v: Array, covariance: Array) -> Array:
    r"""Root mean square errors of :math:`v v^T`, exact for a Gaussian v.

    .. math:: v_b^2 C_{aa} + v_a^2 C_{bb} + 2 v_a v_b C_{ab} + C_{aa} C_{bb} + 2 C_{ab}^2

    Parameters
    ----------
    v : array (modes, channels)
    covariance : array
        Of v, laid out flat.
    """
    out = np.empty((*v.shape, v.shape[1]))
    for m, (one, C) in enumerate(zip(v, _blocks(v, covariance), strict=True)):
        own, square = np.diag(C), one**2
        out[m] = np.outer(own, square) + np.outer(square, own) + 2 * C * np.outer(one, one)
        out[m] += np.outer(own, own) + 2 * C**2
    return root_of_variance(out)


def _blocks(vectors: Array, covariance: Array) -> list[Array]:
    """Covariance of each vector."""
    K, n = vectors.shape
    return [covariance[m * n : (m + 1) * n, m * n : (m + 1) * n] for m in range(K)]
