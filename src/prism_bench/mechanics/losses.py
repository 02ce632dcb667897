"""Scores by damping: ``python -m prism_bench.mechanics.losses dampers-frf --seeds 0:10``.

The systems of the rows with friction, drawn at .1, 1, 10 and 20 % instead of anywhere between. A
coupled system that is called proportional is set beside what a test with full knowledge sees of
the difference: the nearest system of as many modes whose friction leaves them apart.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array
from prism.errors import OptionError
from prism_bench._study import coverage, rms
from prism_bench.mechanics import friction
from prism_bench.mechanics.audit.forced import Matrices
from prism_bench.mechanics.audit.nearest import Modal, Sight, left_over
from prism_bench.mechanics.case import Case
from prism_bench.mechanics.oracle import CERTAIN, detected
from prism_bench.mechanics.rigid import FORCED_NOISE, band
from prism_bench.mechanics.scoring import ANSWERED, Score, score
from prism_bench.mechanics.systems import Sampled
from prism_bench.mechanics.table import TUNING

__all__ = ["CLASSES", "Lossy", "experiment", "visible"]

CLASSES = (0.001, 0.01, 0.1, 0.2)
COUPLED, OPEN = "coupled-friction", "friction-open"
MAKERS: dict[str, Callable[..., tuple[Sampled, Array, str]]] = {
    "absorber": friction.damper,
    "dampers": friction.dashpots,
}


@dataclass(frozen=True, eq=False)
class Lossy:
    """An experiment of one damping.

    Attributes
    ----------
    score : Score
    seen : float
        Power of a test with full knowledge for friction between modes.
    """

    score: Score
    seen: float

    @property
    def overlooked(self) -> bool:
        """Whether modes are called apart without a word where a test tells that they are not."""
        said = COUPLED in self.score.codes or self.score.said
        return self.score.outcome == ANSWERED and not said and self.seen >= CERTAIN

    def __str__(self) -> str:
        """One line."""
        return f"{self.score}  coupling seen: {self.seen:.3g}{' OVERLOOKED' * self.overlooked}"


def experiment(name: str, zeta: float, seed: int, stream: int = TUNING) -> Lossy:
    """One experiment, identified.

    Parameters
    ----------
    name : str
        ``absorber`` or ``dampers``, and ``-frf`` or ``-record``.
    zeta : float
        Damping ratio of the absorber, or about that of the pole that loses most.
    seed, stream : int
    """
    what, _, how = name.partition("-")
    if what not in MAKERS or how not in ("frf", "record"):
        raise OptionError(f"no row {name!r}: use one of {', '.join(MAKERS)} with -frf or -record.")
    rng = np.random.default_rng([stream, *name.encode(), round(1e4 * zeta), seed])
    drawn, D, words = MAKERS[what](rng, (zeta, zeta))
    made = friction.measured(rng, drawn, D, words, how == "record")
    return Lossy(score(Case(name, seed, stream, made)), visible(drawn, D, how == "record"))


def visible(drawn: Sampled, D: Array, record: bool) -> float:
    """Power of the test of somebody who knows the system for friction between its modes.

    The bins of a record are taken for independent, and for those of a motion without beginning: of
    a mode that does not ring out within it more is seen here than there is.

    Parameters
    ----------
    drawn : Sampled
    D : array
        Friction.
    record : bool
        Whether samples are seen, or the lines of a response.
    """
    system, omega = drawn.system, band(drawn)
    held = np.ones(len(omega))
    if record:
        step = 2 * np.pi / (drawn.samples * drawn.dt)
        omega = np.asarray(step * np.arange(1, drawn.samples // 2), float)
        held = np.asarray(np.sinc(omega * drawn.dt / (2 * np.pi)) ** 2)
    H = np.array([held[k] * system.receptance(1j * w, D) for k, w in enumerate(omega)], complex)
    level = np.abs(H)
    if record:
        size = np.sqrt(2 * np.sum(np.abs(H) ** 2, axis=(0, 2)) / drawn.samples)
        level = np.broadcast_to(size[:, None], H.shape)
    weights = np.sqrt(2) / (FORCED_NOISE * level)
    start = Matrices(system.full_mass, D, system.full_stiffness, system.observation).modal
    laws = ("viscous",) if record else ("viscous", "structural")  # samples know no structural loss
    factor = np.asarray(held, complex)
    sights = [Sight(omega, H, weights, factor, apart=law) for law in laws]
    return detected(min(left_over(one, _losing(start, one.apart)) for one in sights))


def _losing(modal: Modal, law: str | None) -> Modal:
    """Where the search for the nearest system with modes apart begins."""
    rates = np.sum(modal.L**2, axis=1)
    turned = np.sqrt(modal.squares / modal.squares.max()) if law == "structural" else 1.0
    return replace(modal, L=np.diag(np.sqrt(rates * turned)))


def line_of(name: str, zeta: float, found: list[Lossy]) -> str:
    """What experiments of one damping gave."""
    scores = [one.score for one in found]
    right = sum(one.good for one in scores)
    silent = sum(one.silent for one in scores)
    coupled = sum(COUPLED in one.codes for one in scores)
    missed = sum(one.overlooked for one in found)
    parts = [f"{name:16}{100 * zeta:5.1f} %  right {right}/{len(found)}, silent {silent}"]
    parts.append(f"coupled {coupled}, open {sum(OPEN in one.codes for one in scores)}")
    parts.append(f"overlooked {missed}")
    for what in ("hidden", "damping"):
        z = np.concatenate([getattr(one, what) for one in scores])
        if len(z):
            parts.append(f"{what} {coverage(z):.3f} of {len(z)}, rms {rms(z):.2f}")
    off = np.array([one.receptance for one in scores])
    if np.isfinite(off).any():
        parts.append(f"receptance {np.nanquantile(off, 0.95):.2g}")
    return ", ".join(parts)


def main() -> None:
    """Score experiments and say what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("rows", nargs="+", metavar="ROW", help="absorber-frf, dampers-record, ...")
    parser.add_argument("--seeds", default="0:6", help="first:last+1")
    parser.add_argument("--stream", type=int, default=TUNING, help="1 to tune, 0 to score")
    parser.add_argument("--zeta", type=float, nargs="+", default=CLASSES)
    given = parser.parse_args()
    first, last = (int(part or 0) for part in f"0:{given.seeds}".split(":")[-2:])
    for name in given.rows:
        lines = []
        for zeta in given.zeta:
            found = []
            for seed in range(first, last):
                found.append(experiment(name, zeta, seed, given.stream))
                sys.stdout.write(f"{found[-1]}\n")
                sys.stdout.flush()
            lines.append(line_of(name, zeta, found))
        sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
