"""Which functions of the estimation code an identification runs through.

Every identification runs in a process of its own, in which the modules are loaded before the
tracing starts, so that neither caches nor imports blur the picture. Compiled loops are not seen.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from .source import ESTIMATION, PACKAGE, modules_of

KINDS = ("lines", "bare", "damped", "driven", "forced", "frf", "potential")

_CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from house_parts.trace import child
child(sys.argv[2], sys.argv[3])
"""


def traces(root: Path, python: str) -> dict[str, set[str]]:
    """Names of the functions that each kind of identification runs through."""
    return {kind: set(_run(root, python, kind)) for kind in KINDS}


def _run(root: Path, python: str, kind: str) -> list[str]:
    own = str(Path(__file__).resolve().parents[1])
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [python, "-c", _CHILD, own, str(root), kind],
        env={**os.environ, **single, "PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the identification {kind!r} failed:\n{done.stderr}")
    found: list[str] = json.loads(done.stdout)
    return found


# -- in the process of its own --------------------------------------------------------------------


def child(root: str, kind: str) -> None:
    """Trace one identification and write the names of its functions."""
    import prism

    package = Path(root).resolve() / "src" / PACKAGE
    if not Path(prism.__file__).resolve().is_relative_to(package):
        raise RuntimeError(f"{PACKAGE} was loaded from {prism.__file__}, not from {package}.")
    _load(Path(root))
    seen = _traced(_identification(kind), package)
    json.dump(sorted(seen), sys.stdout)


def _load(root: Path) -> None:
    """Import the estimation code, so that what runs at import is not counted."""
    import importlib

    for module in modules_of(root):
        if module.is_estimation:
            importlib.import_module(module.name)


def _traced(call: Callable[[], object], package: Path) -> set[str]:
    codes = set()

    def note(frame: object, event: str, _: object) -> None:
        if event == "call":
            codes.add(frame.f_code)  # type: ignore[attr-defined]

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {
        f"{Path(code.co_filename).resolve().relative_to(package)}:{code.co_qualname}"
        for code in codes
        if _counts(code.co_filename, code.co_name, package)
    }


def _counts(file: str, name: str, package: Path) -> bool:
    """Whether it is a named function of the estimation code; generated ones have no file."""
    path = Path(file).resolve()
    if name.startswith("<") or not path.is_relative_to(package):
        return False
    return path.relative_to(package).parts[0].removesuffix(".py") in ESTIMATION


def _identification(kind: str) -> Callable[[], object]:
    """A small measurement of each kind, made before the tracing starts."""
    import numpy as np

    import prism
    from prism import systems

    if kind == "lines":
        record = systems.chain().free(400, 0.05, noise=0.1, rng=0)
        return lambda: prism.identify(record)
    if kind == "bare":  # lines again, with all that a known mass adds to them
        five = systems.chain(5, observed=[0, 2, 4]).free(400, 0.05, noise=0.1, rng=0)
        return lambda: prism.identify(five, mass="identity")
    if kind == "damped":
        t, rng = 0.1 * np.arange(1500), np.random.default_rng(0)
        slow, quick = np.exp(-0.02 * t) * np.cos(2 * t), np.exp(-0.01 * t) * np.cos(3.1 * t)
        x = np.column_stack([slow + 0.3 * quick, slow - 0.5 * quick])
        decay = prism.Record(x + 0.02 * rng.standard_normal(x.shape), dt=0.1)
        return lambda: prism.identify(decay, damped=True)
    if kind == "driven":
        pair = systems.chain(2, springs=20.0, observed=[0, 1])
        noisy = systems.driven(pair, 300.0, 0.25, damping=[0.01, 0.008], noise=0.1, rng=0)
        return lambda: prism.identify(noisy, damped=True)
    if kind == "forced":
        push = systems.excitation("random", 0.3, 1.6, 0.2, 200.0, rng=0)[:, None]
        made = systems.forced(systems.tuned_absorber(), push, 0.2, loss=0.01, noise=0.02, rng=1)
        pushed = made.with_force()
        return lambda: prism.identify(pushed, force=["f_x"])
    if kind == "frf":
        lines = np.linspace(0.17, 2.3, 150)
        response = systems.chain().response(lines, loss=0.01, noise=0.02, rng=0)
        return lambda: prism.identify(response)
    bent = systems.duffing(1.0, 0.5, [1.3], [0.6])
    motion = bent.simulate([1.5, 0.5], [0, 0.5], 80, 0.1, noise=0.03, rng=0)
    return lambda: prism.identify(motion, potential="auto", max_modes=1)
