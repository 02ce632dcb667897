"""Poles and zeros: where the system resonates and where it stays at rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prism._format import format_value
from prism.model import Model, ResponseSummary
from prism.motion.forced.foster import Foster
from prism.motion.forced.zeros import zeros_in_x
from prism.plot import _limits as limits
from prism.plot._canvas import GREEN, GRID, INK, MUTED, ORANGE, PINK, Sheet, cut, plain, spread
from prism.plot.chart import Axis, Chart, Dots, Mark, Panel, Rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PoleGroup", "PolesView", "poles_view"]

Array = NDArray[np.float64]

_LOOKS = {"poles": ("x", ORANGE), "zeros": ("o", GREEN), "hidden": ("D", PINK)}
_MARKERS = {
    "poles": ("cross", "orange"),
    "zeros": ("ring", "green"),
    "hidden": ("disc", "pink"),
}


_ROOM = 0.02  # of the band, left of zero where something stands there


@dataclass(frozen=True)
class PoleGroup:
    """Poles or zeros that belong together.

    Attributes
    ----------
    name : str
    kind : {"poles", "zeros", "hidden"}
        A zero of all seen coordinates together is a bare hidden frequency.
    frequency, frequency_std, damping : array
        ``|s|``, its standard deviation (NaN where it is not known) and the ratio ``-Re s/|s|``.
    """

    name: str
    kind: str
    frequency: Array
    frequency_std: Array
    damping: Array

    @property
    def real(self) -> Array:
        """Re s."""
        return -self.damping * self.frequency

    @property
    def imaginary(self) -> Array:
        """Im s, of the upper one of each pair."""
        return self.frequency * np.sqrt(np.maximum(1 - self.damping**2, 0.0))

    @property
    def bars(self) -> Array:
        """Two standard deviations, NaN where there is none to draw."""
        known = np.isfinite(self.frequency_std) & (self.frequency_std > 0)
        return np.where(known, 2 * self.frequency_std, np.nan)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is said of each."""
        rows = zip(self.frequency, self.frequency_std, self.damping, strict=True)
        return tuple(
            f"{self.name}: {format_value(float(f), float(s))} rad / time unit"
            + (f", ζ = {z:.3g}" if z else "")
            for f, s, z in rows
        )


@dataclass(frozen=True)
class PolesView:
    """What the figure of poles and zeros shows.

    Attributes
    ----------
    groups : tuple of PoleGroup
        The poles first, where there are some.
    omitted : int
        Entries whose zeros are not drawn.
    """

    groups: tuple[PoleGroup, ...]
    omitted: int

    @property
    def lossy(self) -> bool:
        """Whether they lie off the imaginary axis: then the complex plane is drawn."""
        return any(np.any(group.damping) for group in self.groups)

    @property
    def _rests(self) -> bool:
        """Whether a pole or zero lies at zero, where the frame would cut it."""
        return any(np.any(group.frequency == 0) for group in self.groups)

    @property
    def layout(self) -> Sheet:
        """The complex plane, or one row for each group."""
        if self.lossy:
            return Sheet(1, 1, 6.0, 4.2)
        return Sheet(1, 1, 8.0, 1.0 + 0.34 * len(self.groups))

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw the plane or the rows."""
        ax = axes[0]
        ax.grid(axis="both" if self.lossy else "x", color=GRID)
        if self.lossy:
            self._draw_plane(ax)
        else:
            self._draw_rows(ax)

    def _draw_plane(self, ax: Axes) -> None:
        ax.axvline(0.0, color=INK, lw=0.9)
        for kind, (marker, color) in _LOOKS.items():
            some = [group for group in self.groups if group.kind == kind]
            if some:
                x = np.concatenate([group.real for group in some])
                y = np.concatenate([group.imaginary for group in some])
                ax.plot(x, y, marker, color=color, mfc="none", ls="none", label=_WORDS[kind])
        ax.set_xlabel("Re s (1 / time unit)")
        ax.set_ylabel("Im s (rad / time unit)")
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3)

    def _draw_rows(self, ax: Axes) -> None:
        for row, group in enumerate(self.groups):
            marker, color = _LOOKS[group.kind]
            place = np.full(len(group.frequency), len(self.groups) - 1 - row)
            ax.axhline(place[0] if len(place) else 0, color=MUTED, lw=0.6)
            ax.errorbar(
                group.frequency,
                place,
                xerr=group.bars,
                fmt=marker,
                color=color,
                mfc="none",
                capsize=2.5,
            )
        names = [plain(group.name) for group in reversed(self.groups)]
        ax.set_yticks(np.arange(len(names)), names)
        ax.set_ylim(-0.6, len(names) - 0.4)
        ax.set_xlim(left=-_ROOM * ax.get_xlim()[1] if self._rests else 0.0)
        ax.set_xlabel("angular frequency (rad / time unit)")

    def chart(self) -> Chart:
        """The complex plane, or one row for each group."""
        return Chart([self._plane() if self.lossy else self._rows()])

    def _plane(self) -> Panel:
        marks: list[Mark] = [Rule("", "ink", np.zeros(1))]
        for kind, (marker, colour) in _MARKERS.items():
            some = [group for group in self.groups if group.kind == kind]
            if some:
                x = np.concatenate([group.real for group in some])
                y = np.concatenate([group.imaginary for group in some])
                notes = tuple(note for group in some for note in group.notes)
                marks.append(Dots(_WORDS[kind], colour, x, y, marker, notes=notes))
        reals = np.concatenate([*(group.real for group in self.groups), np.zeros(1)])
        heights = np.concatenate([*(group.imaginary for group in self.groups), np.zeros(1)])
        return Panel(
            Axis("Re s", "1 / time unit", spread(reals)),
            Axis("Im s", "rad / time unit", spread(heights)),
            marks,
            height=300,
        )

    def _rows(self) -> Panel:
        count = len(self.groups)
        marks: list[Mark] = [Rule("", "muted", np.arange(float(count)), upright=False)]
        for row, group in enumerate(self.groups):
            marker, colour = _MARKERS[group.kind]
            place = np.full(len(group.frequency), float(count - 1 - row))
            marks.append(
                Dots(
                    _WORDS[group.kind],
                    colour,
                    group.frequency,
                    place,
                    marker,
                    x_error=group.bars,
                    notes=group.notes,
                )
            )
        top = max((float(group.frequency.max()) for group in self.groups), default=1.0)
        names = tuple((float(count - 1 - row), g.name) for row, g in enumerate(self.groups))
        return Panel(
            Axis("ω", "rad / time unit", (-_ROOM * top if self._rests else 0.0, 1.08 * top)),
            Axis("", "", (-0.7, count - 0.3), ticks=names),
            marks,
            height=max(70, 34 * count),
        )


_WORDS = {"poles": "poles", "zeros": "zeros", "hidden": "zeros of all together"}


def poles_view(model: Model) -> PolesView:
    r"""Collect the poles of a model and the zeros that are determined.

    A pole is :math:`s = -ζΩ + iΩ\sqrt{1 - ζ^2}` of a visible mode. Zeros are those of the measured
    entries of a forced experiment; otherwise, where the Hamiltonian is known, those of each driving
    point and the bare hidden frequencies, at which all seen coordinates can be at rest.

    Parameters
    ----------
    model : Model
    """
    modes, known = model.modes, model.response
    poles = PoleGroup(
        "poles Ω", "poles", modes.frequencies, modes.frequencies_std, np.array(modes.damping)
    )
    zeros = list(_own_zeros(model) if known is None else _measured_zeros(known))
    shown = [group for group in (poles, *zeros[: limits.MOST_ZERO_GROUPS]) if len(group.frequency)]
    return PolesView(tuple(shown), max(len(zeros) - limits.MOST_ZERO_GROUPS, 0))


def _short(port: str) -> str:
    return cut(port, limits.LONGEST_ROW)


def _measured_zeros(known: ResponseSummary) -> Iterator[PoleGroup]:
    """Zeros inside the measured band, those of all ports together first."""
    inside = [z for z in known.zeros if z.inside]
    places = dict.fromkeys((z.outputs, z.inputs) for z in inside)
    for outputs, inputs in sorted(places, key=lambda place: -len(place[0])):
        found = [z for z in inside if (z.outputs, z.inputs) == (outputs, inputs)]
        whole = len(outputs) > 1
        yield PoleGroup(
            "zeros, all ports" if whole else f"zeros {_short(outputs[0])}/{_short(inputs[0])}",
            "hidden" if whole else "zeros",
            np.array([z.frequency for z in found]),
            np.array([z.frequency_std for z in found]),
            np.array([z.damping for z in found]),
        )


def _own_zeros(model: Model) -> Iterator[PoleGroup]:
    """Bare hidden frequencies, and the zeros of each driving point of several."""
    h, residues = model.hamiltonian, model.modes.residues
    if h is None:
        return
    hidden = h.hidden_frequencies
    if len(hidden):
        std = h.hidden_frequencies_std
        std = np.full(len(hidden), np.nan) if std is None else std
        yield PoleGroup("hidden ω", "hidden", hidden, std, np.zeros(len(hidden)))
    if residues is None or len(model.channels) == 1 or np.any(model.modes.damping):
        return
    V = np.sqrt(np.einsum("maa->ma", residues))  # signs cancel where a force acts
    foster = Foster(model.modes.frequencies, V, np.zeros(len(V)), "none")
    for a, name in enumerate(model.channels):
        at = np.sqrt(np.maximum(zeros_in_x(foster, [a], [a]).real, 0.0))
        unknown = np.full(len(at), np.nan)
        yield PoleGroup(f"zeros {_short(name)}", "zeros", at, unknown, np.zeros(len(at)))
