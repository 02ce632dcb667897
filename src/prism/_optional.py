"""Import of packages that only an extra installs."""

from __future__ import annotations

import importlib
from types import ModuleType

from prism.errors import MissingDependencyError

__all__ = ["require"]


def require(module: str, feature: str, extra: str) -> ModuleType:
    """Import an optional module, or say how to get it.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    feature : str
        What needs it, as the beginning of a sentence ("drawing").
    extra : str
        The extra of ``prism-id`` that installs it.

    Raises
    ------
    MissingDependencyError
        When the package is not installed. An import that fails inside an installed package is
        that package's own error and passes through.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingDependencyError(feature, package, extra) from error
