"""Keep what the package answers on a fixed set of measurements, and compare two such sets.

    python answers.py OUT.json [--only GLOB,...] [--shake N] [--compare BEFORE.json]
    python answers.py OUT.json --digest

Every case of `answer_cases` makes its data from a stated seed and asks the public interface. Its
whole answer is written to OUT.json: the saved model, the verdict, the Hamiltonian in words, the
forecast after the end, the receptance at three points, and the summary. A refusal is an answer
too: its kind and its words. With ``--compare`` the answers are set beside those of an earlier file.

Comparisons are meant for two versions of the package on the same machine with the same libraries:
searches take decisions, and the last digits of another processor or of another release of a
library may turn one. The seconds of a case are kept beside the answers and are not compared.

Some numbers are made of rounding alone, such as the error of a mass that was given, and some
decisions stand on a knife's edge. With ``--shake N`` every case is answered N times more from data
that are changed in their last digit, and how far each number moves is kept in OUT.json too. A
later comparison calls differences of that size rounding.

With ``--digest`` only some quick cases are answered, and six digits of what matters most are kept:
that is how ``tests/reference/answers.json`` is made, which the tests hold the package to.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from answer_parts.comparison import ROUNDING, Differences, compare, comparison
from answer_parts.digest import QUICK, digest

DIGITS = 12
AHEAD = (0.01, 0.05, 0.1, 0.2, 0.5)  # times after the end, over the length of the record
POINTS = (0.3 + 0.5j, 0.2 + 1.1j, 0.1 + 2.0j)  # where the receptance is kept
LIBRARIES = ("numpy", "scipy", "numba", "cvxpy", "clarabel")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Json = Any


# -- one answer ------------------------------------------------------------------------------------


def plain(value: Any) -> Json:
    """Turn arrays, dataclasses and complex numbers into what JSON has, to 12 digits."""
    if isinstance(value, bool | str | int | None):
        return value
    if isinstance(value, float):
        return float(f"{value:.{DIGITS - 1}e}") if math.isfinite(value) else str(value)
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if dataclasses.is_dataclass(value):
        return {
            field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    return [plain(entry) for entry in value]


def attempt(what: Callable[[], Any]) -> Json:
    """What a call gives, or how it fails."""
    try:
        return plain(what())
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)}


def answer_of(found: Any) -> Json:
    """Everything that is kept of a result."""
    import prism

    if isinstance(found, prism.Model):
        return of_model(found)
    if isinstance(found, prism.GyroscopicModel):
        return of_gyroscopic(found)
    return plain(found)


def of_model(model: Any) -> Json:
    """A model as it is saved, with its words and what it foresees."""
    return {
        "model": attempt(lambda: saved(model)),
        "identifiability": str(model.identifiability),
        "hamiltonian": None if model.hamiltonian is None else str(model.hamiltonian),
        "forecast": [attempt(partial(foreseen, model, trial)) for trial in some_trials(model)],
        "receptance": attempt(lambda: model.receptance(list(POINTS))),
        "summary": attempt(model.summary),
    }


def of_gyroscopic(model: Any) -> Json:
    """A gyroscopic model with what follows from it."""
    return {
        **plain(model),
        "rotating": plain(model.rotating),
        "evidence": model.evidence,
        "sense": plain(model.sense()),
        "receptance": [plain(model.receptance(s)) for s in POINTS],
    }


def saved(model: Any) -> Json:
    """The model by way of its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        return json.loads(path.read_text(encoding="utf-8"))


def some_trials(model: Any) -> tuple[int, ...]:
    """The first trial and, of several, the last."""
    return tuple(sorted({0, len(model.record.samples) - 1}))


def foreseen(model: Any, trial: int) -> Json:
    """The forecast at a few times after the end."""
    end, span = model.record.end, model.record.end - model.record.start
    forecast = model.forecast([end + span * share for share in AHEAD], trial)
    return {"t": forecast.t, "values": forecast.values, "std": forecast.std}


# -- all answers -----------------------------------------------------------------------------------


def run_case(case: Callable[[], object]) -> tuple[Json, float]:
    """The answer of one case with the warnings of the package, and its CPU seconds."""
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = attempt(lambda: answer_of(case()))
    own = [str(one.message) for one in caught if one.category.__name__ == "PrismWarning"]
    if isinstance(answer, dict) and own:
        answer["warnings"] = own
    return answer, time.process_time() - start


def run(
    cases: dict[str, Callable[[], object]], shakes: int, say: Callable[[str], None]
) -> dict[str, Json]:
    """Answers of all cases, how far rounding moves them, and their CPU seconds."""
    answers: dict[str, Json] = {}
    rounding: dict[str, Json] = {}
    seconds: dict[str, float] = {}
    for count, (name, case) in enumerate(cases.items(), 1):
        answers[name], took = run_case(case)
        moved = shaken(name, case, answers[name], shakes)
        rounding.update({name: moved} if moved else {})
        seconds[name] = round(took, 3)
        more = f", rounding moves {len(moved)} entries" if moved else ""
        say(f"{count}/{len(cases)} {name}: {took:.2f} s{brief(answers[name])}{more}")
    return {"answers": answers, "rounding": rounding, "cpu_seconds": seconds}


def shaken(
    name: str, case: Callable[[], object], answer: Json, shakes: int
) -> dict[str, float | None]:
    """The largest change of each entry when data change in their last digit; None of texts."""
    import numpy as np

    from answer_cases.made import LAST_DIGIT

    moved: dict[str, float | None] = {}
    for k in range(shakes):
        LAST_DIGIT.rng = np.random.default_rng([k, *name.encode()])
        out = Differences(scale=1 / ROUNDING)
        compare(answer, run_case(case)[0], "", out)
        for one in out.found:
            before = moved.get(one.path, 0.0)
            whole = one.size is None or before is None
            moved[one.path] = None if whole else max(before or 0.0, one.size or 0.0)
    LAST_DIGIT.rng = None
    return moved


def brief(answer: Json) -> str:
    """A refusal in a few words."""
    if not (isinstance(answer, dict) and "error" in answer):
        return ""
    return f", {answer['error']}: {answer['message'][:90]}"


def environment() -> dict[str, str]:
    """What the answers may depend on beside the package."""
    found = {"python": platform.python_version(), "processor": platform.machine()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def chosen(names: Sequence[str], only: str | None) -> list[str]:
    """The names that one of the patterns, separated by commas, matches."""
    patterns = ["*"] if only is None else only.split(",")
    return [name for name in names if any(fnmatchcase(name, one.strip()) for one in patterns)]


# -- the command -----------------------------------------------------------------------------------


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("out", type=Path, help="file for the answers")
    parser.add_argument("--only", help="patterns of case names, such as 'free.*,real.*'")
    parser.add_argument("--shake", type=int, default=0, help="runs with data changed by rounding")
    parser.add_argument("--digest", action="store_true", help="six digits of some quick cases")
    parser.add_argument("--compare", type=Path, help="file of earlier answers")
    return parser.parse_args()


def progress(text: str) -> None:
    """Say how far it is."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def write(path: Path, result: Json) -> None:
    """Store what was found."""
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    """Make the answers, write them, and compare them if told to."""
    options = arguments()
    for name in THREADS:  # before the numerical libraries are loaded
        os.environ[name] = "1"
    from answer_cases import CASES

    if options.digest:
        write(options.out, {name: digest(run_case(CASES[name])[0]) for name in QUICK})
        return 0
    cases = {name: CASES[name] for name in chosen(list(CASES), options.only)}
    result = {"environment": environment(), **run(cases, options.shake, progress)}
    write(options.out, result)
    progress(f"{len(cases)} answers in {sum(result['cpu_seconds'].values()):.0f} s")
    if options.compare is None:
        return 0
    before = json.loads(options.compare.read_text(encoding="utf-8"))
    lines, different = comparison(before, result, chosen(list(before["answers"]), options.only))
    sys.stdout.write("\n".join(lines) + "\n")
    return int(different)


if __name__ == "__main__":
    sys.exit(main())
