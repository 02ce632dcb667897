"""Models in and out: plain JSON, schema ``prism.model/1``."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from prism._types import Array
from prism.assembly import assemble
from prism.determination import Determination
from prism.diagnostics import ForecastHorizon
from prism.errors import ReadError
from prism.evidence import UNWEIGHED, Evidence
from prism.finding import Determined, Finding, RecordSummary, ResponseSummary, Zero
from prism.identifiability import Identifiability
from prism.io._atomic import replacing
from prism.kernel import Certificate
from prism.machines import MachineLines
from prism.magnitudes import Undetermined
from prism.model import ForecastCheck, Model
from prism.modes import Modes
from prism.motion.kinds import hamiltonian_from_json, motion_from_json
from prism.remarks import Remark, Words
from prism.settings import Settings
from prism.uncertainty import Gaussian

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
        "kind": model.kind,
        "channels": list(model.channels),
        "quantity": list(model.quantity),
        "record": {
            "samples": samples,
            "trials": len(record.samples),
            "dt": record.dt,
            "missing": record.missing,
            "start": None if record.span is None else record.span[0],
            "end": None if record.span is None else record.span[1],
            "std": record.std.tolist(),
            **({"setups": [list(names) for names in record.setups]} if record.setups else {}),
        },
        "noise": _noise_to_json(model),
        "modes": _modes_to_json(model.modes),
        "hamiltonian": _hamiltonian_to_json(model),
        "temperature": model.temperature,
        "certificate": vars(model.certificate),
        "identifiability": _verdict_to_json(model.identifiability),
        "settings": model.settings.to_json(),
    }
    if model.machine_lines is not None:
        out["machine_lines"] = _machines_to_json(model.machine_lines)
    if model.evidence.rivals:
        out["evidence"] = model.evidence.to_json()
    if model.forecast_check is not None:
        out["forecast"] = {
            "fit_fraction": model.forecast_check.fit_fraction,
            "nrmse": model.forecast_check.nrmse.tolist(),
        }
        if model.forecast_check.std is not None:
            out["forecast"]["std"] = model.forecast_check.std.tolist()
        if model.forecast_check.horizon is not None:
            out["forecast"]["horizon"] = vars(model.forecast_check.horizon)
    if model.response is not None:
        out["response"] = _response_to_json(model.response)
    out["mode_covariance"] = model.modes.covariance.tolist()
    if "damping" in model.modes.joint:
        out["mode_uncertainty"] = model.modes.joint.to_json()
    if model.trajectories is not None:
        out[model.trajectories.key] = model.trajectories.to_json()
    return out


def _machines_to_json(lines: MachineLines) -> list[Json]:
    return [
        {
            "frequency": float(lines.frequencies[k]),
            "frequency_std": float(lines.frequencies_std[k]),
            "machine": int(lines.machine[k]),
            "harmonic": int(lines.harmonic[k]),
            "amplitudes": lines.amplitudes[k].tolist(),
        }
        for k in range(len(lines))
    ]


def _machines_from_json(lines: list[Json]) -> MachineLines:
    def column(name: str, kind: type) -> Any:
        return np.array([line[name] for line in lines], kind)

    return MachineLines(
        column("frequency", float),
        column("frequency_std", float),
        column("amplitudes", float),
        column("machine", np.intp),
        column("harmonic", np.intp),
    )


def _noise_to_json(model: Model) -> Json:
    """One entry per channel, none of which is known of a noise-driven record; correlations."""
    if model.noise_std is None:
        return {"std": [None] * len(model.channels)}
    out: Json = {"std": [float(std) for std in model.noise_std]}
    if model.noise_correlation is not None:
        out["correlation"] = model.noise_correlation.tolist()
    return out


def _verdict_to_json(verdict: Identifiability) -> Json:
    """Sentences as Python spells them, and the words they are made of."""
    said = ("why", "remedy", "statement")
    words = {name: Words.of(getattr(verdict, name)).to_json() for name in said}
    remarks = [remark.to_json() for remark in verdict.remarks]
    return {
        **vars(verdict),
        **{name: str(getattr(verdict, name)) for name in said},
        "remarks": [str(remark) for remark in verdict.remarks],
        "quantities": [one.to_json() for one in verdict.quantities],
        "text": str(verdict),
        "words": {**words, "remarks": remarks},
    }


def _modal_to_json(modal: Gaussian) -> Json:
    """The participation stands with the response."""
    own = {name: modal.value(name).tolist() for name in ("squares", "friction")}
    return {**own, **modal.to_json()}


def _response_to_json(response: ResponseSummary) -> Json:
    return {
        **vars(response),
        "pairs": [list(pair) for pair in response.pairs],
        "inside": response.inside.tolist(),
        "participation": response.participation.tolist(),
        "modal": None if response.modal is None else _modal_to_json(response.modal),
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
            "frequency_std": _finite(float(modes.frequencies_std[m])),
            "frequency_hz": float(modes.frequencies_hz[m]),
            "damping": float(modes.damping[m]),
            "damping_std": None
            if modes.damping_std is None
            else _finite(float(modes.damping_std[m])),
            "damping_interval": None
            if modes.damping_interval is None
            else modes.damping_interval[m].tolist(),
            "shape": modes.shapes[m].tolist(),
            "shape_std": [_finite(float(std)) for std in modes.shapes_std[m]],
            "residue": None if modes.residues is None else modes.residues[m].tolist(),
            "residue_std": None if modes.residues_std is None else modes.residues_std[m].tolist(),
            "amplitude": _amplitude(modes.amplitudes[:, m]),
            "amplitudes": modes.amplitudes[:, m].tolist(),
            "energies": None if modes.energies is None else modes.energies[:, m].tolist(),
            "significance": float(modes.significance[m]),
            "in_phase": bool(modes.in_phase[m]),
            "phase_ratio": float(modes.phase_ratio[m]),
            "modulus": None if modes.moduli is None else modes.moduli[m].tolist(),
            "modulus_std": None if modes.moduli_std is None else modes.moduli_std[m].tolist(),
            "phase": None if modes.phases is None else modes.phases[m].tolist(),
        }
        for m in range(len(modes))
    ]


def _amplitude(amplitudes: Array) -> float | None:
    """Root mean square over the trials; a forced experiment has none."""
    return float(np.sqrt(np.mean(amplitudes**2))) if len(amplitudes) else None


def _hamiltonian_to_json(model: Model) -> Json:
    verdict = model.identifiability
    if model.hamiltonian is None:
        why = f"{verdict.why}; what would settle it: {verdict.remedy}"
        return {"identifiable": False, "why": why, "mass": None, "stiffness": None, "hidden": []}
    return {"identifiable": True, "why": "", **model.hamiltonian.to_json()}


# -- JSON to model -------------------------------------------------------------------------------


def model_from_json(data: Json) -> Model:
    """Rebuild a model from `model_to_json`."""
    check = data.get("forecast")
    verdict = _verdict_from_json(data["identifiability"])
    return assemble(
        _finding_from_json(data, verdict),
        data["experiment"],
        Settings.from_json(data["settings"]),
        verdict=verdict,
        check=None
        if check is None
        else ForecastCheck(
            check["fit_fraction"],
            np.array(check["nrmse"], float),
            np.array(check["std"], float) if "std" in check else None,
            ForecastHorizon(**check["horizon"]) if "horizon" in check else None,
        ),
    )


def _finding_from_json(data: Json, verdict: Identifiability) -> Finding:
    channels = tuple(data["channels"])
    certificate = Certificate(**data["certificate"])
    outcome: Determined | Undetermined = Undetermined(verdict.why, verdict.remedy)
    if data["hamiltonian"]["identifiable"]:
        hamiltonian = hamiltonian_from_json(data["hamiltonian"], channels)
        outcome = Determined(hamiltonian, certificate, verdict.scale, data["temperature"])
    noise, correlation = data["noise"]["std"], data["noise"].get("correlation")
    return Finding(
        kind=data.get("kind") or _old_kind(data),
        channels=channels,
        quantity=tuple(data["quantity"]),
        measured=_record_from_json(data["record"], _is_response(data)),
        modes=_modes_from_json(data, len(channels)),
        outcome=outcome,
        certificate=certificate,
        noise_std=None if None in noise else np.array(noise, float),
        noise_correlation=None if correlation is None else np.array(correlation, float),
        motion=motion_from_json(data),
        response=_response_from_json(data["response"]) if "response" in data else None,
        evidence=Evidence.from_json(data["evidence"]) if "evidence" in data else UNWEIGHED,
        machine_lines=_machines_from_json(lines) if (lines := data.get("machine_lines")) else None,
    )


def _is_response(data: Json) -> bool:
    """Whether the data were a response over frequency; forced records have a sampling step."""
    return "response" in data and data["record"]["dt"] is None


def _old_kind(data: Json) -> str:
    """Kind of motion of a model that was saved before kinds had names."""
    if "response" in data:
        return "forced"
    if "nonlinear" in data:
        return "nonlinear"
    losses = bool(data["modes"]) and data["modes"][0]["damping_std"] is not None
    return ("decaying" if "decay" in data else "driven") if losses else "steady"


def _record_from_json(record: Json, response: bool) -> RecordSummary:
    samples = record["samples"]
    return RecordSummary(
        samples=(samples,) * record["trials"] if isinstance(samples, int) else tuple(samples),
        dt=record["dt"],
        missing=record["missing"],
        span=None if response or record["start"] is None else (record["start"], record["end"]),
        std=np.array(record["std"], float),
        setups=tuple(tuple(names) for names in record.get("setups", ())),
    )


def _verdict_from_json(data: Json) -> Identifiability:
    words = data.get("words", data)
    said = {name: Words.from_json(words[name]) for name in ("why", "remedy", "statement")}
    plain = ("modes", "channels", "magnitudes", "scale", "motion")
    fields: Json = {name: data[name] for name in plain}
    fields |= {name: one if one.asks else one.text for name, one in said.items()}
    remarks = tuple(Remark.from_json(one) for one in words["remarks"])
    quantities = tuple(Determination.from_json(one) for one in data.get("quantities", ()))
    rank = data.get("rank")
    return Identifiability(**fields, remarks=remarks, quantities=quantities, rank=rank)


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
    modal = data.get("modal")
    if modal is not None:
        modal = Gaussian.from_json(modal, {**modal, "participation": data["participation"]})
    return ResponseSummary(**{**data, **arrays, "pairs": pairs, "zeros": zeros, "modal": modal})


def _modes_from_json(data: Json, channels: int) -> Modes:
    rows = data["modes"]
    if not rows:
        return Modes.none(channels, data["record"]["trials"])

    def column(name: str) -> Array:
        return np.array([row[name] for row in rows], float)

    def optional(name: str) -> Array | None:
        return None if rows[0].get(name) is None else column(name)

    energies = optional("energies")
    return Modes(
        joint=_joint_from_json(data, column),
        amplitudes=column("amplitudes").reshape(len(rows), -1).T,
        significance=column("significance"),
        phase_ratio=column("phase_ratio"),
        in_phase=np.array([row["in_phase"] for row in rows], bool),
        residues=optional("residue"),
        residues_std=optional("residue_std"),
        energies=None if energies is None else energies.T,
        damping_interval=optional("damping_interval"),
        moduli=optional("modulus"),
        moduli_std=optional("modulus_std"),
        phases=optional("phase"),
    )


def _joint_from_json(data: Json, column: Callable[[str], Array]) -> Gaussian:
    values = {"frequencies": column("frequency"), "shapes": column("shape")}
    if "mode_uncertainty" in data:
        values["damping"] = column("damping")
        return Gaussian.from_json(data["mode_uncertainty"], values)
    covariance = np.array(data["mode_covariance"], float)
    if data["modes"][0]["damping_std"] is None:
        return Gaussian.of(values, covariance)
    # a model saved before the damping had covariances
    std = column("damping_std")
    whole = scipy.linalg.block_diag(covariance, np.diag(std**2))
    return Gaussian.of({**values, "damping": column("damping")}, whole)
