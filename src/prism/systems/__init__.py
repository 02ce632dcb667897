"""Systems with exact answers for every quantity PRISM estimates."""

from prism.systems.chain import chain
from prism.systems.linear import LinearSystem

__all__ = ["LinearSystem", "chain"]
