"""When, where and with which versions a comparison was made."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterable
from importlib import metadata
from typing import Any

from prism_bench.peers.peer import Peer

__all__ = ["made"]


def made(peers: Iterable[Peer], seconds: float, command: str) -> dict[str, Any]:
    """Date, versions, machine and cost of a comparison.

    Parameters
    ----------
    peers : iterable of Peer
    seconds : float
        Wall time of all.
    command : str
        What was typed.
    """
    packages = ["prism-id", "numpy", "scipy", *(peer.package for peer in peers)]
    found = {name: _version(name) for name in dict.fromkeys(packages) if name}
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": command,
        "seconds": seconds,
        "versions": found,
        "machine": {
            "cores": os.cpu_count(),
            "kind": platform.machine(),
            "system": platform.system(),
            "python": platform.python_version(),
        },
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
