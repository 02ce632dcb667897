"""Dynamic mode decompositions of PyDMD on delayed copies of the channels.

HankelDMD fits a linear map from each window of the record to the next; optimised DMD (BOPDMD) fits
exponentials to the windows by variable projection, which its authors advise for noisy data. Both
are told the order as their rank. Amplitudes are then fitted to all samples of the first trial.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from prism._optional import require
from prism._types import Array, ComplexArray
from prism_bench.peers._exponentials import answer_from_poles, continuous, find_poles
from prism_bench.peers._quiet import quietly
from prism_bench.peers._series import Series, scaled, stacked, thinned
from prism_bench.peers.peer import Answer, CannotAnswer, Question
from prism_bench.peers.settings import settings

__all__ = ["PEERS", "BopDmd", "HankelDmd"]


@dataclass(frozen=True)
class HankelDmd:
    """`pydmd.HankelDMD` with the rank told.

    Parameters
    ----------
    own : dict, optional
        Settings instead of the stored ones.
    """

    name: str = "HankelDMD"
    package: str = "pydmd"
    modules: tuple[str, ...] = ("pydmd",)
    told: str = "order"
    own: dict[str, Any] | None = field(default=None, hash=False)

    def answer(self, question: Question) -> Answer:
        """Eigenvalues of the map, then amplitudes by least squares."""
        own = self.own or settings("HankelDMD")
        series, poles, constant = find_poles(question, lambda s: _hankel(s, question.order, own))
        return answer_from_poles(question, series, poles, constant)


def _hankel(series: Series, order: int, own: dict[str, Any]) -> ComplexArray:
    pydmd = require("pydmd", "dynamic mode decomposition", "peers")
    series, snapshots, delays = _windows(series, order, own)
    dmd = pydmd.HankelDMD(
        svd_rank=2 * order,
        tlsq_rank=2 * order if own["total"] else 0,
        forward_backward=own["forward_backward"],
        d=delays,
    )
    with quietly("HankelDMD"):
        dmd.fit(snapshots.T)
    return continuous(np.asarray(dmd.eigs), series.dt)


@dataclass(frozen=True)
class BopDmd:
    """`pydmd.BOPDMD` on Hankel windows with the rank told.

    Parameters
    ----------
    name, told : str
    undamped : bool
        Constrain the eigenvalues to the imaginary axis.
    own : dict, optional
        Settings instead of the stored ones.
    """

    name: str = "BOPDMD"
    told: str = "order"
    undamped: bool = False
    package: str = "pydmd"
    modules: tuple[str, ...] = ("pydmd",)
    own: dict[str, Any] | None = field(default=None, hash=False)

    def answer(self, question: Question) -> Answer:
        """Exponents of the windows, then amplitudes by least squares."""
        own = self.own or settings("BOPDMD")
        series, poles, constant = find_poles(
            question, lambda s: _optimised(s, question.order, own, self.undamped)
        )
        return answer_from_poles(question, series, poles, constant)


def _optimised(series: Series, order: int, own: dict[str, Any], undamped: bool) -> ComplexArray:
    pydmd = require("pydmd", "dynamic mode decomposition", "peers")
    preprocessing = require("pydmd.preprocessing", "dynamic mode decomposition", "peers")
    series, snapshots, delays = _windows(series, order, own)
    t = series.dt * np.arange(len(snapshots) - delays + 1)

    def exponents(constraints: set[str], start: ComplexArray | None) -> ComplexArray:
        dmd = pydmd.BOPDMD(
            svd_rank=2 * order,
            init_alpha=start,
            num_trials=own["bags"],
            trial_size=own["bag_size"],
            eig_constraints=constraints,
            varpro_opts_dict={"maxiter": own["iterations"], "tol": 1e-12},
        )
        with quietly("BOPDMD"):
            preprocessing.hankel_preprocessing(dmd, d=delays).fit(snapshots.T, t=t)
        return np.asarray(dmd.eigs)

    loose = {"conjugate_pairs", "stable"} if own["stable"] else {"conjugate_pairs"}
    found = exponents(loose, None)
    if undamped:  # from its default start the constrained fit stops far away
        found = exponents({"imag", "conjugate_pairs"}, found)
    return continuous(np.exp(found * series.dt), series.dt)


def _windows(series: Series, order: int, own: dict[str, Any]) -> tuple[Series, Array, int]:
    """The thinned series, its snapshots, and the number of delays."""
    series = scaled(thinned(series, own["per_period"], own["samples"]))
    snapshots = stacked(series, 2 * order)
    delays = max(int(own["share"] * len(snapshots)), -(-2 * order // snapshots.shape[1]) + 1)
    if len(snapshots) - delays < 2 * order + 1:
        raise CannotAnswer("the record is too short for this number of modes.")
    return series, snapshots, delays


PEERS = (HankelDmd(), BopDmd(), BopDmd("BOPDMD, undamped", "order, no damping", undamped=True))
