"""Settings of the peers, as a search on other records than the scored ones found them."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["notes", "searched", "settings", "stored"]


@cache
def _stored() -> dict[str, Any]:
    text = files("prism_bench.peers").joinpath("settings.json").read_text("utf-8")
    stored: dict[str, Any] = json.loads(text)
    return stored


def stored() -> dict[str, Any]:
    """All settings, and how they were found; a copy."""
    return deepcopy(_stored())


def settings(peer: str) -> dict[str, Any]:
    """Settings of one peer by its name; a copy."""
    return dict(_stored()["peers"][peer])


def notes() -> list[str]:
    """When and on which seeds the settings were searched, in words."""
    return [str(_stored()["note"]), *(f"{text}." for text in _stored()["searches"].values())]


def searched(peer: str) -> dict[str, Any]:
    """What was searched for one peer, the first of its candidates; nothing without settings."""
    own = _stored()["peers"].get(peer, {})
    return dict(own["candidates"][0] if "candidates" in own else own)
