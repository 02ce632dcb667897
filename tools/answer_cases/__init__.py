"""The fixed measurements whose answers `answers.py` keeps, by name.

A case is a function without arguments that makes its own data from a stated seed and calls the
public interface of the package. Only names that stay are used: ``prism``, ``prism.systems``.
"""

from .damped import DAMPED, DRIVEN
from .ensembles import EQUILIBRIUM, GYROSCOPIC, RELEASED
from .forced import FORCED_RECORD, FRF
from .free import FREE
from .made import Case
from .potential import POTENTIAL
from .public import PUBLIC
from .real import REAL
from .refusal import REFUSAL

__all__ = ["CASES", "Case"]

_KINDS: dict[str, dict[str, Case]] = {
    "free": FREE,
    "equilibrium": EQUILIBRIUM,
    "released": RELEASED,
    "damped": DAMPED,
    "driven": DRIVEN,
    "forced.frf": FRF,
    "forced.record": FORCED_RECORD,
    "potential": POTENTIAL,
    "gyroscopic": GYROSCOPIC,
    "public": PUBLIC,
    "refusal": REFUSAL,
    "real": REAL,
}

CASES: dict[str, Case] = {
    f"{kind}.{name}": case for kind, cases in _KINDS.items() for name, case in cases.items()
}
"""All cases; the name starts with the kind."""
