"""Every method of the comparison, found by name.

Each module named here holds ``PEERS``, a tuple of methods. A new method is one file and one name
in `MODULES`; a method that lives elsewhere is one file too, given by its path (``mine.py``).
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from prism.errors import OptionError, ReadError
from prism_bench.peers.peer import Peer

__all__ = ["MODULES", "Source", "absent", "find", "listed", "peers_of", "sources"]

MODULES = (
    "prism_",
    "nnls",
    "sindy",
    "edmd",
    "dmd",
    "deep",
    "esprit",
    "pencil",
    "prony",
    "pyoma2",
    "gleqpy",
    "vectfit",
    "aaa",
)

Source = tuple[str, str]
"""Where a method is written, a name of `MODULES` or the path of a file, and the name it has."""


def peers_of(place: str) -> tuple[Peer, ...]:
    """The methods of one module, or of one file.

    Parameters
    ----------
    place : str
        A name of `MODULES`, or the path of a file that ends in ``.py``.
    """
    if place.endswith(".py"):
        module = _from_file(place)
    else:
        module = importlib.import_module(f"prism_bench.peers.{place}")
    found = getattr(module, "PEERS", None)
    if not isinstance(found, tuple):
        raise ReadError.at(place, "has no tuple PEERS: put the methods of the file into one.")
    return found


def _from_file(path: str) -> ModuleType:
    if not Path(path).is_file():
        raise ReadError.at(path, "there is no such file: give the path of a method's file.")
    spec = importlib.util.spec_from_file_location(f"peer_{Path(path).stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def listed(places: Sequence[str] = MODULES) -> dict[Source, Peer]:
    """All methods of some places, in order."""
    return {(place, peer.name): peer for place in places for peer in peers_of(place)}


def find(source: Source) -> Peer:
    """The method of a place by its name."""
    place, name = source
    return next(peer for peer in peers_of(place) if peer.name == name)


def sources(asked: Sequence[str] | None) -> dict[Source, Peer]:
    """The methods that were asked for: all, or those named, or those of files.

    Parameters
    ----------
    asked : sequence of str, optional
        Names of methods in any case, names of `MODULES`, or paths of files. PRISM is always
        there: without it there is nothing to compare with.
    """
    known = listed()
    if asked is None:
        return known
    chosen = {source: peer for source, peer in known.items() if source[0] == MODULES[0]}
    for word in asked:
        if word.endswith(".py"):
            chosen |= listed([word])
            continue
        wanted = {s: p for s, p in known.items() if word.lower() in (s[0], s[1].lower())}
        if not wanted:
            names = ", ".join(peer.name for peer in known.values())
            raise OptionError(f"unknown method {word!r}; use one of {names}, or a file.py.")
        chosen |= wanted
    return chosen


def absent(peer: Peer) -> str:
    """The first module of a method that is not installed, or nothing."""
    for module in peer.modules:
        if importlib.util.find_spec(module.partition(".")[0]) is None:
            return module
    return ""
