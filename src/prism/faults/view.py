"""One trial as a hypothesis sees it: other times, other offsets, cut into parts."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from prism._types import Array, Mask
from prism.search.columns import ScatteredSampling
from prism.search.projection import LineFit
from prism.search.sampling import AbstractSampling, UniformSampling


@dataclass(frozen=True)
class TrialView:
    """A trial with its faults taken out.

    Attributes
    ----------
    times : array (samples,)
    values : array (samples, channels)
        Zero where a sample is missing.
    present : array of bool (samples, channels)
    step : float
        Sampling step of the trial.
    even : bool
        Whether the times are as the trial gave them, and uniform.
    cuts : tuple of int
        First samples of all parts but the first.
    """

    times: Array
    values: Array
    present: Mask
    step: float
    even: bool
    cuts: tuple[int, ...] = ()

    @property
    def parts(self) -> list[slice]:
        """The parts between the cuts."""
        edges = [0, *self.cuts, len(self.times)]
        return [slice(a, b) for a, b in itertools.pairwise(edges)]

    @cached_property
    def samplings(self) -> list[AbstractSampling]:
        """One for each part."""
        return [self._sampling(part) for part in self.parts]

    def _sampling(self, part: slice) -> AbstractSampling:
        y, there, t = self.values[part], self.present[part], self.times[part]
        if self.even and there.all():
            return UniformSampling(np.ascontiguousarray(y.T[:, None]), self.step, float(t[0]))
        order = np.argsort(t, kind="stable")
        shown = np.ascontiguousarray(y[order].T[:, None])
        return ScatteredSampling(shown, np.ascontiguousarray(there[order].T), t[order])

    def residual(self, fit: LineFit) -> Array:
        """What a fit of the samplings leaves, (samples, channels)."""
        out = np.zeros_like(self.values)
        for part, rest in zip(self.parts, fit.residuals(), strict=True):
            order = np.argsort(self.times[part], kind="stable")
            out[part.start + order] = rest.values[:, 0].T
        return out

    def cut(self, index: int) -> TrialView:
        """Cut before a sample."""
        return replace(self, cuts=tuple(sorted({*self.cuts, index})))

    def shifted(self, index: int, lag: float) -> TrialView:
        """Later by ``lag`` from a sample on."""
        times = self.times.copy()
        times[index:] += lag
        return replace(self, times=times, even=False)

    def stepped(self, index: int, step: Array) -> TrialView:
        """Without the steps of the offsets at a sample."""
        values = self.values.copy()
        values[index:] -= np.where(self.present[index:], step, 0.0)
        return replace(self, values=values)

    def warped(self, coefficients: Array) -> TrialView:
        """On the clock ``t + (T/2) Σ_m c_m P_{m+2}(u)``, with u from -1 to 1 over the trial."""
        return replace(self, times=warped_times(self.times, coefficients), even=False)


def warped_times(times: Array, coefficients: Array) -> Array:
    r"""The clock :math:`t + H \sum_m c_m P_{m+2}(u)`; a constant and a linear part say nothing."""
    half = 0.5 * (times[-1] - times[0])
    u = (times - times[0]) / half - 1
    bend = np.polynomial.legendre.legval(u, np.concatenate([[0.0, 0.0], coefficients]))
    return np.asarray(times + half * bend)
