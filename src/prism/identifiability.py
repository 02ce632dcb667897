"""What these data can and cannot determine, in words and in bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.motion.steady.fit import evaluate
from prism.motion.steady.series import samplings_of
from prism.record import Record
from prism.remarks import PYTHON, Remark, Speller, Words, as_remarks

_OF_THE_HAMILTONIAN = (
    "residues",
    "mass",
    "stiffness",
    "hidden frequencies",
    "couplings",
    "kernel",
)


@dataclass(frozen=True)
class Identifiability:
    """The verdict on one record.

    Attributes
    ----------
    modes, channels : int
        Visible modes and seen coordinates; the minimal Hamiltonian has ``modes - channels``
        hidden oscillators.
    magnitudes : bool
        Whether the magnitudes of the modes, and with them the bare Hamiltonian, are determined.
    scale : str
        What fixes the scale of mass, stiffness and couplings.
    why : Words or str
        What is missing; empty when the Hamiltonian is determined.
    remedy : Words or str
        Which experiment would supply it.
    remarks : tuple of Remark
        What else the user should know; texts are taken as remarks without a code.
    motion : bool
        Whether there is a motion to forecast; a forced experiment has none.
    statement : Words or str
        What is and is not determined, where that is not a matter of modes.
    """

    modes: int
    channels: int
    magnitudes: bool
    scale: str = ""
    why: Words | str = ""
    remedy: Words | str = ""
    remarks: tuple[Remark, ...] = ()
    motion: bool = True
    statement: Words | str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "remarks", as_remarks(self.remarks))

    @property
    def determined(self) -> tuple[str, ...]:
        """What the data determine."""
        more = ("amplitudes", "forecast") if self.motion else ("zeros",)
        always: tuple[str, ...] = ("frequencies", "shapes", *more)
        if not self.magnitudes:
            return always
        return always + _OF_THE_HAMILTONIAN

    @property
    def undetermined(self) -> tuple[str, ...]:
        """What the data leave open."""
        if self.magnitudes:
            return ("common scale of mass, stiffness and couplings",) if self._scale_is_free else ()
        return _OF_THE_HAMILTONIAN

    @property
    def _scale_is_free(self) -> bool:
        return self.scale.startswith("free")

    def __str__(self) -> str:
        """Return the verdict in plain sentences."""
        return self.spell(PYTHON)

    def spell(self, speller: Speller) -> str:
        """Write the verdict for its reader, a sentence per line.

        Parameters
        ----------
        speller : Speller
        """
        notes = [f"Note: {remark.spell(speller)}." for remark in self.remarks]
        if self.statement:
            return "\n".join([Words.of(self.statement).spell(speller), *notes])
        why, remedy = (
            Words.of(one).without_stop().spell(speller) for one in (self.why, self.remedy)
        )
        some = f"{self.modes} mode{'s' * (self.modes != 1)}"
        what = "forecast" if self.motion else "damping"
        sentences = [f"Determined: frequencies, shapes and {what} of {some}."]
        hidden = self.modes - self.channels
        if self.magnitudes:
            sentences.append(
                "Determined: the bare Hamiltonian, with "
                + (
                    f"{hidden} hidden oscillator{'s' * (hidden != 1)}, "
                    f"{'their' if hidden > 1 else 'its'} couplings and the memory kernel."
                    if hidden
                    else "no hidden oscillator: as many modes are visible as channels."
                )
            )
            sentences.append(f"The common scale of mass and couplings is {self.scale}.")
        else:
            sentences.append(
                f"Not determined: the bare hidden frequencies and couplings, because {why}."
            )
            sentences.append(f"What would settle it: {remedy}.")
        return "\n".join(sentences + notes)

    def to_json(self) -> dict[str, Any]:
        """Plain data; texts as Python spells them, and once more as words that others can spell."""
        words: dict[str, Any] = {
            name: Words.of(getattr(self, name)).to_json() for name in ("why", "remedy", "statement")
        }
        words["remarks"] = [remark.to_json() for remark in self.remarks]
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        spelled = {name: str(getattr(self, name)) for name in ("why", "remedy", "statement")}
        remarks = [str(remark) for remark in self.remarks]
        return {**plain, **spelled, "remarks": remarks, "words": words, "text": str(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Identifiability:
        """Rebuild what `to_json` has written; of older files the texts."""
        known = {field.name: data[field.name] for field in fields(cls) if field.name in data}
        said = {**known, **data.get("words", {})}
        words = {name: _words(said.get(name, "")) for name in ("why", "remedy", "statement")}
        remarks = tuple(Remark.from_json(remark) for remark in said["remarks"])
        return cls(**{**known, **words, "remarks": remarks})


def _words(data: str | Mapping[str, Any]) -> Words | str:
    return data if isinstance(data, str) else Words.from_json(data)


def cramer_rao(record: Record, frequencies: ArrayLike, noise_std: ArrayLike) -> Array:
    r"""Cramér-Rao bound on the standard deviation of the frequencies.

    The Fisher information of the frequencies with all amplitudes, phases, offsets and drifts
    unknown, :math:`\sum_{ra} σ_a^{-2}\, (∂y/∂Ω)^T P^⊥ (∂y/∂Ω)`.

    Parameters
    ----------
    record : Record
        Noise-free.
    frequencies : array
        True frequencies of all lines.
    noise_std : array (channels,) or float
        Standard deviation of the noise to be added.
    """
    samplings, _, _ = samplings_of(record)
    sigma = np.broadcast_to(np.asarray(noise_std, float), (record.n_channels,))
    fit = evaluate(samplings, np.sort(np.asarray(frequencies, float)), 1 / sigma**2)
    return np.sqrt(np.diag(np.linalg.inv(fit.fisher)))
