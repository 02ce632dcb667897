"""The fitted motion of a model as plain numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from prism.forecast import DecayMotion, Trajectories
from prism.motion.decays.result import Continuation
from prism.motion.potential.motion import NonlinearMotion
from prism.motion.steady.background import Background
from prism.motion.steady.inphase import InPhaseFit, Motion
from prism.motion.steady.trend import Trend

Json = dict[str, Any]
AnyMotion = Trajectories | DecayMotion | NonlinearMotion

# Numbers that one trial needs for its forecast grow with modes × channels; a large ensemble keeps
# the first trials only.
_MOST_NUMBERS = 200_000


def motion_to_json(motion: AnyMotion) -> Json:
    """One entry, named by the kind of motion."""
    if isinstance(motion, Trajectories):
        return {"motion": _trajectories_to_json(motion)}
    if isinstance(motion, DecayMotion):
        return {"decay": _decay_to_json(motion)}
    return {"nonlinear": motion.to_json()}


def motion_from_json(data: Json) -> AnyMotion | None:
    """Rebuild from `motion_to_json`; None where a model has no motion."""
    if "motion" in data:
        return _trajectories_from_json(data["motion"])
    if "nonlinear" in data:
        return NonlinearMotion.from_json(data["nonlinear"])
    return _decay_from_json(data["decay"]) if "decay" in data else None


def _trajectories_to_json(trajectories: Trajectories) -> Json:
    fit = trajectories.fit
    per_trial = fit.motions[0].sensitivity[0].size + len(fit.motions[0].values)
    kept = trajectories.trials[: max(1, _MOST_NUMBERS // per_trial)]
    under = trajectories.background
    return {
        "trend": None
        if trajectories.trend is None
        else _trend_to_json(trajectories.trend, len(kept)),
        "under": None if under is None else _background_to_json(under, len(kept)),
        "frequencies": fit.omega.tolist(),
        "line": fit.line.tolist(),
        "shapes": fit.shapes.tolist(),
        "covariance": fit.covariance.tolist(),
        "weights": fit.weights.tolist(),
        "orders": fit.orders.tolist(),
        "background": fit.background,
        "means": trajectories.means[: len(kept)].tolist(),
        "samplings": [
            {
                "centre": m.centre,
                "half": m.half,
                "start": m.start,
                "covariance": m.covariance.tolist(),
            }
            for m in fit.motions
        ],
        "trials": [
            {
                "sampling": i,
                "values": fit.motions[i].values[:, j].tolist(),
                "sensitivity": fit.motions[i].sensitivity[j].tolist(),
            }
            for i, j in kept
        ],
    }


def _decay_to_json(motion: DecayMotion) -> Json:
    return {
        "noise_std": motion.noise_std.tolist(),
        "trials": [
            {
                "start": part.start,
                "span": part.span,
                "rates": part.poles.real.tolist(),
                "frequencies": part.poles.imag.tolist(),
                "background": part.background,
                "values": part.values.tolist(),
                "covariance": part.covariance.tolist(),
                "slopes": part.slopes.tolist(),
                "poles_covariance": part.poles_covariance.tolist(),
            }
            for part in motion.continuations
        ],
    }


def _decay_from_json(data: Json) -> DecayMotion:
    arrays = ("values", "covariance", "slopes", "poles_covariance")
    parts = [
        Continuation(
            start=row["start"],
            span=row["span"],
            poles=np.array(row["rates"]) + 1j * np.array(row["frequencies"]),
            background=row["background"],
            **{name: np.array(row[name], float) for name in arrays},
        )
        for row in data["trials"]
    ]
    return DecayMotion(tuple(parts), np.array(data["noise_std"], float))


def _background_to_json(background: Background, trials: int) -> Json:
    return {
        "step": background.step,
        "covariance": background.covariance.tolist(),
        "times": [t.tolist() for t in background.times[:trials]],
        "values": [
            [[float(x) if np.isfinite(x) else None for x in row] for row in v]
            for v in background.values[:trials]
        ],
    }


def _trend_to_json(trend: Trend | None, trials: int) -> Json | None:
    if trend is None:
        return None
    return {
        "coefficients": trend.coefficients[:trials].tolist(),
        "middles": trend.middles[:trials].tolist(),
        "halves": trend.halves[:trials].tolist(),
    }


def _trend_from_json(data: Json | None) -> Trend | None:
    if data is None:
        return None
    return Trend(**{name: np.array(values, float) for name, values in data.items()})


def _background_from_json(data: Json | None) -> Background | None:
    if data is None:
        return None
    return Background(
        step=data["step"],
        covariance=np.array(data["covariance"], float),
        times=tuple(np.array(t, float) for t in data["times"]),
        values=tuple(np.array(v, float) for v in data["values"]),
    )


def _trajectories_from_json(data: Json) -> Trajectories:
    motions, places = [], []
    members: list[list[Json]] = [[] for _ in data["samplings"]]
    for trial in data["trials"]:
        places.append((trial["sampling"], len(members[trial["sampling"]])))
        members[trial["sampling"]].append(trial)
    for sampling, trials in zip(data["samplings"], members, strict=True):
        covariance = np.array(sampling["covariance"], float)
        size = (len(trials), len(covariance), len(data["covariance"]))
        motions.append(
            Motion(
                values=np.array([t["values"] for t in trials], float).reshape(size[:2]).T,
                covariance=covariance,
                sensitivity=np.array([t["sensitivity"] for t in trials], float).reshape(size),
                centre=sampling["centre"],
                half=sampling["half"],
                start=sampling["start"],
            )
        )
    fit = InPhaseFit(
        omega=np.array(data["frequencies"], float),
        line=np.array(data["line"], int),
        shapes=np.array(data["shapes"], float),
        covariance=np.array(data["covariance"], float),
        weights=np.array(data["weights"], float),
        orders=np.array(data["orders"], int),
        background=data["background"],
        motions=motions,
    )
    under = _background_from_json(data.get("under"))
    trend = _trend_from_json(data.get("trend"))
    return Trajectories(fit, tuple(places), np.array(data["means"], float), under, trend)
