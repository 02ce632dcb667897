r"""One uncertainty for everything: a joint Gaussian with named blocks.

.. math:: θ = (θ_1, θ_2, \dots) \sim N(\hat θ, C), \qquad
          f(θ) \approx N\big(f(\hat θ),\, J C J^T\big)

Blocks are arrays of any shape, laid out one after the other. They travel from a fit to the model
and its file without index arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from prism._types import Array, Index
from prism._value import Value
from prism.errors import OptionError

__all__ = ["Gaussian", "curved", "root_of_variance", "student_factor"]

_ROUNDING = 1e-9  # of the greatest variance of its kind: what is less negative is zero
_DRAWS = 256  # of errors along which the curvature is taken: known to a tenth
_SHARE = 0.1  # of a standard deviation, at which it is taken
_SEED = 20  # of the draws: the same quantities have the same errors each time

Shapes = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Gaussian(Value):
    r"""A joint Gaussian of named arrays.

    Parameters
    ----------
    blocks : tuple of (str, tuple of int)
        Name and shape of each block, in the order in which they are laid out.
    mean : array (P,)
    covariance : array (P, P)

    Examples
    --------
    >>> joint = Gaussian.of({"a": [1.0, 2.0], "b": 3.0}, np.diag([0.01, 0.04, 0.09]))
    >>> joint.std("a").round(3), joint.std("b").round(3)
    (array([0.1, 0.2]), array(0.3))
    """

    blocks: Shapes
    mean: Array
    covariance: Array

    def __post_init__(self) -> None:
        """Check that the sizes agree."""
        super().__post_init__()
        size = sum(_size(shape) for _, shape in self.blocks)
        if self.mean.shape != (size,) or self.covariance.shape != (size, size):
            raise OptionError(
                f"the blocks {', '.join(self.names)} hold {size} numbers, but the mean has shape "
                f"{self.mean.shape} and the covariance {self.covariance.shape}."
            )

    @classmethod
    def of(cls, values: Mapping[str, Any], covariance: Array) -> Self:
        """Build it from named values and their joint covariance.

        Parameters
        ----------
        values : mapping of str to array
            In the order of the covariance.
        covariance : array (P, P)
        """
        arrays = {name: np.asarray(value, float) for name, value in values.items()}
        blocks = tuple((name, array.shape) for name, array in arrays.items())
        parts = [array.ravel() for array in arrays.values()]
        return cls(blocks, np.concatenate([np.zeros(0), *parts]), np.asarray(covariance, float))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the blocks."""
        return tuple(name for name, _ in self.blocks)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def where(self, name: str) -> slice:
        """Where a block is laid out.

        Parameters
        ----------
        name : str
        """
        start = 0
        for one, shape in self.blocks:
            if one == name:
                return slice(start, start + _size(shape))
            start += _size(shape)
        raise OptionError(f"there is no block {name!r}; use one of {', '.join(self.names)}.")

    def value(self, name: str) -> Array:
        """Mean of a block, in its shape.

        Parameters
        ----------
        name : str
        """
        return self.mean[self.where(name)].reshape(dict(self.blocks)[name])

    def std(self, name: str) -> Array:
        """Standard deviations of a block, in its shape.

        Parameters
        ----------
        name : str
        """
        variance = np.diag(self.covariance)[self.where(name)]
        return root_of_variance(variance).reshape(dict(self.blocks)[name])

    def between(self, name: str, other: str | None = None) -> Array:
        """Covariance of a block with another one, or with itself, laid out flat.

        Parameters
        ----------
        name : str
        other : str, optional
        """
        return self.covariance[self.where(name), self.where(name if other is None else other)]

    def only(self, *names: str) -> Gaussian:
        """The marginal of some blocks, in the order given.

        Parameters
        ----------
        *names : str
        """
        pick = np.concatenate(
            [np.zeros(0, int), *(np.arange(len(self.mean))[self.where(name)] for name in names)]
        )
        shapes = dict(self.blocks)
        return Gaussian(
            tuple((name, shapes[name]) for name in names),
            self.mean[pick],
            self.covariance[np.ix_(pick, pick)],
        )

    def rows(self, keep: Index) -> Gaussian:
        """Some rows of every block: the blocks share their first axis.

        Parameters
        ----------
        keep : array of int
        """
        count = np.arange(len(self.mean))
        shapes = dict(self.blocks)
        picked = {name: count[self.where(name)].reshape(shapes[name])[keep] for name in self.names}
        pick = np.concatenate([np.zeros(0, int), *(index.ravel() for index in picked.values())])
        return Gaussian(
            tuple((name, index.shape) for name, index in picked.items()),
            self.mean[pick],
            self.covariance[np.ix_(pick, pick)],
        )

    def mapped(self, values: Mapping[str, Any], jacobian: Array) -> Gaussian:
        r"""Quantities that depend on these to first order: :math:`J C J^T`.

        Parameters
        ----------
        values : mapping of str to array
            The quantities at the mean.
        jacobian : array (Q, P)
            Their derivatives by all entries.
        """
        return Gaussian.of(values, jacobian @ self.covariance @ jacobian.T)

    def draw(self, rng: np.random.Generator | int | None = None, size: int = 1) -> dict[str, Array]:
        """Random values of every block, an axis of draws first.

        Parameters
        ----------
        rng : Generator or int, optional
        size : int
        """
        generator = np.random.default_rng(rng)
        values, vectors = np.linalg.eigh(0.5 * (self.covariance + self.covariance.T))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        flat = self.mean + generator.standard_normal((size, len(values))) @ root.T
        return {
            name: flat[:, self.where(name)].reshape(size, *shape) for name, shape in self.blocks
        }

    def to_json(self) -> dict[str, Any]:
        """Names, shapes and the covariance as plain lists; the values stand elsewhere."""
        return {
            "blocks": [[name, list(shape)] for name, shape in self.blocks],
            "covariance": self.covariance.tolist(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], values: Mapping[str, Any]) -> Self:
        """Rebuild from `to_json` and the values.

        Parameters
        ----------
        data : mapping
        values : mapping of str to array
        """
        names = [name for name, _ in data["blocks"]]
        size = sum(_size(shape) for _, shape in data["blocks"])
        covariance = np.array(data["covariance"], float).reshape(size, size)
        return cls.of({name: values[name] for name in names}, covariance)


def root_of_variance(variance: Array) -> Array:
    """Standard deviations; infinite where a variance is negative, not zero.

    A negative variance is a covariance that could not be worked out: nothing is known then.

    Parameters
    ----------
    variance : array
    """
    least = -_ROUNDING * np.abs(variance).max(initial=0.0)
    return np.asarray(np.where(variance < least, np.inf, np.sqrt(np.maximum(variance, 0.0))))


def curved(quantities: Callable[[Array], Array], at: Array, root: Array) -> Array:
    r"""Second-order changes of quantities, as further rows of independent errors.

    With errors :math:`Fξ` of the arguments, :math:`f = f_0 + Jξ + \tfrac12 ξ^T H ξ`. The even
    part, for random ξ, has the mean square
    :math:`\tfrac12 \mathrm{tr}\,H^2 + \tfrac14 (\mathrm{tr}\,H)^2`: the second-order variance
    and the square of the bias. It matters where J vanishes.

    Parameters
    ----------
    quantities : callable
        ``quantities(x)`` of arguments (many, P) gives (many, Q).
    at : array (P,)
    root : array (P, E)
        F, with the covariance :math:`F F^T`.

    Returns
    -------
    array (draws, Q)
        The sum of outer products of the rows is the second-order part of the covariance.
    """
    xi = np.random.default_rng(_SEED).standard_normal((_DRAWS, root.shape[1]))
    step = _SHARE * xi @ root.T
    middle = quantities(at[None])
    even = 0.5 * (quantities(at + step) + quantities(at - step)) - middle
    return np.asarray(even / (_SHARE**2 * np.sqrt(_DRAWS)))


def _size(shape: Sequence[int]) -> int:
    return int(np.prod(shape, dtype=int))


def student_factor(freedom: ArrayLike) -> Array:
    """By what a standard deviation grows, for 95 % intervals, whose error is itself uncertain.

    Parameters
    ----------
    freedom : array
        Degrees of freedom behind the standard deviation.
    """
    return np.asarray(stdtrit(np.asarray(freedom, float), 0.975) / ndtri(0.975), float)
