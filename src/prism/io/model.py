"""Models in and out: plain JSON, schema ``prism.model/1``."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from prism._types import Array
from prism.completion import Completion, Hidden
from prism.errors import ReadError
from prism.hamiltonian import Hamiltonian
from prism.identifiability import Identifiability
from prism.io._atomic import replacing
from prism.io.motion import motion_from_json, motion_to_json
from prism.kernel import Certificate
from prism.model import ForecastCheck, Model, RecordSummary, ResponseSummary, Settings
from prism.modes import Modes
from prism.motion.forced.zeros import Zero
from prism.motion.potential.hamiltonian import NonlinearHamiltonian
from prism.motion.potential.motion import potential_from_json, potential_to_json

__all__ = ["SCHEMA", "load_model", "model_from_json", "model_to_json", "save_model"]

Json = dict[str, Any]

SCHEMA = "prism.model/1"


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model; the file appears whole or not at all."""
    text = json.dumps(model_to_json(model), indent=1, allow_nan=False)
    with replacing(path) as draft:
        draft.write_text(text + "\n", encoding="utf-8")


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model that `save_model` has written.

    Raises
    ------
    ReadError
        When the file is not there, not JSON, or not a model of this schema.
    """
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReadError.at(path, f"cannot be read ({reason}): check the name.") from error
    except ValueError as error:
        raise ReadError.at(
            path, f"is not JSON ({error}): give a file that `prism identify --json` has written."
        ) from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        seen = data.get("schema") if isinstance(data, dict) else type(data).__name__
        raise ReadError.at(
            path, f"holds {seen!r}, not a model of schema {SCHEMA!r}: identify the record again."
        )
    try:
        return model_from_json(data)
    except (KeyError, TypeError, ValueError) as error:
        raise ReadError.at(
            path, f"is not a complete model ({error!r}): identify the record again."
        ) from error


# -- model to JSON -------------------------------------------------------------------------------


def model_to_json(model: Model) -> Json:
    """The model as plain dictionaries, lists and numbers."""
    record = model.record
    samples: int | list[int] = (
        record.samples[0] if len(set(record.samples)) == 1 else list(record.samples)
    )
    out: Json = {
        "schema": SCHEMA,
        "experiment": model.experiment,
        "channels": list(model.channels),
        "quantity": list(model.quantity),
        "record": {
            "samples": samples,
            "trials": len(record.samples),
            "dt": record.dt,
            "missing": record.missing,
            "start": record.start,
            "end": record.end,
            "std": record.std.tolist(),
        },
        "noise": {"std": [_finite(float(std)) for std in model.noise_std]},
        "modes": _modes_to_json(model.modes),
        "hamiltonian": _hamiltonian_to_json(model),
        "temperature": model.temperature,
        "certificate": vars(model.certificate),
        "identifiability": model.identifiability.to_json(),
        "settings": vars(model.settings),
    }
    if model.forecast_check is not None:
        out["forecast"] = {
            "fit_fraction": model.forecast_check.fit_fraction,
            "nrmse": model.forecast_check.nrmse.tolist(),
        }
        if model.forecast_check.std is not None:
            out["forecast"]["std"] = model.forecast_check.std.tolist()
    if model.response is not None:
        out["response"] = _response_to_json(model.response)
    out["mode_covariance"] = model.modes.covariance.tolist()
    if model.trajectories is not None:
        out.update(motion_to_json(model.trajectories))
    return out


def _response_to_json(response: ResponseSummary) -> Json:
    return {
        **vars(response),
        "pairs": [list(pair) for pair in response.pairs],
        "inside": response.inside.tolist(),
        "participation": response.participation.tolist(),
        "zeros": [
            {**vars(zero), "frequency_std": _finite(zero.frequency_std)} for zero in response.zeros
        ],
    }


def _finite(value: float) -> float | None:
    """A number that JSON has, None for an infinite one."""
    return value if np.isfinite(value) else None


def _modes_to_json(modes: Modes) -> list[Json]:
    return [
        {
            "frequency": float(modes.frequencies[m]),
            "frequency_std": float(modes.frequencies_std[m]),
            "frequency_hz": float(modes.frequencies_hz[m]),
            "damping": float(modes.damping[m]),
            "damping_std": None if modes.damping_std is None else float(modes.damping_std[m]),
            "damping_interval": None
            if modes.damping_interval is None
            else modes.damping_interval[m].tolist(),
            "shape": modes.shapes[m].tolist(),
            "shape_std": modes.shapes_std[m].tolist(),
            "residue": None if modes.residues is None else modes.residues[m].tolist(),
            "residue_std": None if modes.residues_std is None else modes.residues_std[m].tolist(),
            "amplitude": _amplitude(modes.amplitudes[:, m]),
            "amplitudes": modes.amplitudes[:, m].tolist(),
            "energies": None if modes.energies is None else modes.energies[:, m].tolist(),
            "significance": float(modes.significance[m]),
            "in_phase": bool(modes.in_phase[m]),
            "phase_ratio": float(modes.phase_ratio[m]),
        }
        for m in range(len(modes))
    ]


def _amplitude(amplitudes: Array) -> float | None:
    """Root mean square over the trials; a forced experiment has none."""
    return float(np.sqrt(np.mean(amplitudes**2))) if len(amplitudes) else None


def _hamiltonian_to_json(model: Model) -> Json:
    h, verdict = model.hamiltonian, model.identifiability
    if h is None:
        why = f"{verdict.why}; what would settle it: {verdict.remedy}"
        return {"identifiable": False, "why": why, "mass": None, "stiffness": None, "hidden": []}
    return {
        "identifiable": True,
        "why": "",
        "mass": h.mass.tolist(),
        "mass_std": _list(h.mass_std),
        "stiffness": h.stiffness.tolist(),
        "stiffness_std": _list(h.stiffness_std),
        "hidden": [_hidden_to_json(one) for one in h.hidden],
        **(
            {"potential": potential_to_json(h.potential)}
            if isinstance(h, NonlinearHamiltonian)
            else {}
        ),
    }


def _hidden_to_json(hidden: Hidden) -> Json:
    single = hidden.rank == 1
    return {
        "frequency": hidden.frequency,
        "frequency_std": hidden.frequency_std,
        "coupling": hidden.couplings[0].tolist() if single else None,
        "coupling_std": _list(hidden.coupling_std),
        "rank": hidden.rank,
        "residue": hidden.residue.tolist(),
        "residue_std": _list(hidden.residue_std),
        "factors": hidden.couplings.tolist(),
    }


def _list(array: Array | None) -> list[Any] | None:
    return None if array is None else array.tolist()


# -- JSON to model -------------------------------------------------------------------------------


def model_from_json(data: Json) -> Model:
    """Rebuild a model from `model_to_json`."""
    record, check = data["record"], data.get("forecast")
    samples = record["samples"]
    return Model(
        experiment=data["experiment"],
        channels=tuple(data["channels"]),
        quantity=tuple(data["quantity"]),
        record=RecordSummary(
            samples=(samples,) * record["trials"] if isinstance(samples, int) else tuple(samples),
            dt=record["dt"],
            missing=record["missing"],
            start=record["start"],
            end=record["end"],
            std=np.array(record["std"], float),
        ),
        noise_std=np.array(data["noise"]["std"], float),
        modes=_modes_from_json(data["modes"], np.array(data["mode_covariance"], float))
        if data["modes"]
        else Modes.none(len(data["channels"]), record["trials"]),
        hamiltonian=_hamiltonian_from_json(data["hamiltonian"], tuple(data["channels"])),
        certificate=Certificate(**data["certificate"]),
        identifiability=Identifiability.from_json(data["identifiability"]),
        trajectories=motion_from_json(data),
        response=_response_from_json(data["response"]) if "response" in data else None,
        settings=Settings(**data["settings"]),
        temperature=data["temperature"],
        forecast_check=None
        if check is None
        else ForecastCheck(
            check["fit_fraction"],
            np.array(check["nrmse"], float),
            np.array(check["std"], float) if "std" in check else None,
        ),
    )


def _response_from_json(data: Json) -> ResponseSummary:
    zeros = tuple(
        Zero(
            **{
                **row,
                "outputs": tuple(row["outputs"]),
                "inputs": tuple(row["inputs"]),
                "frequency_std": np.inf if row["frequency_std"] is None else row["frequency_std"],
            }
        )
        for row in data["zeros"]
    )
    pairs = tuple((a, b) for a, b in data["pairs"])
    arrays = {
        "inside": np.array(data["inside"], bool),
        "participation": np.array(data["participation"], float),
    }
    return ResponseSummary(**{**data, **arrays, "pairs": pairs, "zeros": zeros})


def _modes_from_json(rows: list[Json], covariance: Array) -> Modes:
    def column(name: str) -> Array:
        return np.array([row[name] for row in rows], float)

    def optional(name: str) -> Array | None:
        return None if rows[0][name] is None else column(name)

    energies = optional("energies")
    return Modes(
        frequencies=column("frequency"),
        frequencies_std=column("frequency_std"),
        shapes=column("shape"),
        shapes_std=column("shape_std"),
        covariance=covariance,
        amplitudes=column("amplitudes").reshape(len(rows), -1).T,
        significance=column("significance"),
        phase_ratio=column("phase_ratio"),
        in_phase=np.array([row["in_phase"] for row in rows], bool),
        residues=optional("residue"),
        residues_std=optional("residue_std"),
        energies=None if energies is None else energies.T,
        damping=column("damping"),
        damping_std=optional("damping_std"),
        damping_interval=None
        if rows[0].get("damping_interval") is None
        else np.array([row["damping_interval"] for row in rows], float),
    )


def _hamiltonian_from_json(data: Json, channels: tuple[str, ...]) -> Hamiltonian | None:
    if not data["identifiable"]:
        return None
    hidden = tuple(
        Hidden(
            frequency=row["frequency"],
            frequency_std=row["frequency_std"],
            couplings=np.array(row["factors"], float),
            coupling_std=_array(row["coupling_std"]),
            residue=np.array(row["residue"], float),
            residue_std=_array(row["residue_std"]),
        )
        for row in data["hidden"]
    )
    completion = Completion(
        mass=np.array(data["mass"], float),
        stiffness=np.array(data["stiffness"], float),
        mass_std=_array(data["mass_std"]),
        stiffness_std=_array(data["stiffness_std"]),
        hidden=hidden,
    )
    if "potential" in data:
        return NonlinearHamiltonian(completion, channels, potential_from_json(data["potential"]))
    return Hamiltonian(completion, channels)


def _array(values: list[Any] | None) -> Array | None:
    return None if values is None else np.array(values, float)
