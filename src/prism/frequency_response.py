"""FrequencyResponse: what a forced test measured.

Like a record it is checked once, when it is made, and never changes afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, final

import numpy as np
from numpy.typing import ArrayLike

from prism._doors import through
from prism._types import Array, ComplexArray
from prism.errors import ResponseError
from prism.record import QUANTITIES

__all__ = ["MIN_LINES", "FrequencyResponse", "Ports"]

MIN_LINES = 4
"""Fewest frequencies of a response: one mode has two parameters, and noise is estimated too."""


@final
@dataclass(frozen=True, init=False, repr=False, eq=False)
class FrequencyResponse:
    r"""Complex amplitude of the motion per unit amplitude of a force, at given frequencies.

    The time dependence is :math:`e^{iωt}`; :math:`x_a = \sum_b H_{ab}(iω) f_b`.

    Parameters
    ----------
    omega : array_like (frequencies,)
        Angular frequencies in rad per time unit, not negative, each once, in any order.
    H : array_like (frequencies,) or (frequencies, outputs, inputs)
        NaN is a missing value.
    quantity : {"displacement", "velocity", "acceleration"}
        What is measured per force: a receptance, a mobility or an accelerance.
    outputs, inputs : sequence of str, optional
        Names of the coordinates where motion is measured and where force acts. The same name is
        the same coordinate. By default ``x1, x2, ...`` for a square response; one that is not
        square must say where each force acts.
    variance : array_like, optional
        :math:`E|\hat H - H|^2` of each value, of the shape of `H`, where it is known. The
        estimators of ``prism.motion.forced`` supply it.

    Raises
    ------
    ResponseError
        When the arguments do not make a response; the message says where and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> w = np.linspace(0.5, 2, 50)
    >>> FrequencyResponse(w, 1 / (1.1 - w**2))
    FrequencyResponse(50 frequencies 0.5 to 2 rad per time unit, 1 x 1, displacement of x1 / x1)
    """

    omega: Array
    values: ComplexArray
    quantity: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    variance: Array | None

    def __init__(
        self,
        omega: ArrayLike,
        H: ArrayLike,
        quantity: str = "displacement",
        outputs: Sequence[str] | None = None,
        inputs: Sequence[str] | None = None,
        variance: ArrayLike | None = None,
    ) -> None:
        grid = _grid(omega)
        values = _values(H, len(grid))
        spread = None if variance is None else _variance(variance, values)
        if quantity not in QUANTITIES:
            raise ResponseError(
                f"unknown quantity {quantity!r}: choose among {', '.join(QUANTITIES)}."
            )
        names = _names(outputs, inputs, values.shape[1:])
        order = np.argsort(grid, kind="stable")
        grid, values = grid[order], values[order]
        spread = None if spread is None else spread[order]
        missing = np.isnan(values)
        if quantity != "displacement":
            missing |= (grid == 0)[:, None, None]  # velocity of a rest position says nothing
        if spread is not None:
            missing |= ~np.isfinite(spread)
        values = np.where(missing, np.nan, values)
        _check_content(grid, values)
        # The instance dictionary, because a frozen dataclass refuses assignment even here.
        vars(self).update(
            omega=_frozen(grid),
            values=_frozen(values),
            quantity=quantity,
            outputs=names[0],
            inputs=names[1],
            variance=None if spread is None else _frozen(np.where(missing, np.inf, spread)),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of outputs and of inputs."""
        return len(self.outputs), len(self.inputs)

    @property
    def missing(self) -> int:
        """Number of missing values."""
        return int(np.isnan(self.values).sum())

    @property
    def order(self) -> int:
        """Derivatives in the quantity: 0 for displacement, 1 for velocity, 2 for acceleration."""
        return QUANTITIES.index(self.quantity)

    @cached_property
    def receptance(self) -> ComplexArray:
        r"""Displacement per force, :math:`H/(iω)^k`, (frequencies, outputs, inputs)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = (1j * self.omega[:, None, None]) ** -self.order
            out = self.values * factor if self.order else self.values
        return _frozen(np.where(np.isnan(self.values), np.nan, out))

    @cached_property
    def receptance_variance(self) -> Array | None:
        """Variance of `receptance`, infinite where the value is missing."""
        if self.variance is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            out = self.variance * self.omega[:, None, None] ** (-2.0 * self.order)
        return _frozen(np.where(np.isnan(self.values), np.inf, out))

    def band(self, low: float, high: float) -> FrequencyResponse:
        """Keep the frequencies from low to high, both included."""
        keep = (self.omega >= low) & (self.omega <= high)
        return FrequencyResponse(
            self.omega[keep],
            self.values[keep],
            self.quantity,
            self.outputs,
            self.inputs,
            None if self.variance is None else self.variance[keep],
        )

    @cached_property
    def ports(self) -> Ports:
        """The response as one symmetric matrix over all coordinates that it names."""
        return Ports.of(self)

    def __len__(self) -> int:
        """Return the number of frequencies."""
        return len(self.omega)

    def _repr_html_(self) -> str:
        return str(through("response_html")(self))

    def __repr__(self) -> str:
        out, inp = self.shape
        gone = f", {self.missing} missing" if self.missing else ""
        return (
            f"FrequencyResponse({len(self)} frequencies {self.omega[0]:g} to {self.omega[-1]:g} "
            f"rad per time unit, {out} x {inp}, {self.quantity} of {', '.join(self.outputs)} / "
            f"{', '.join(self.inputs)}{gone})"
        )


@dataclass(frozen=True)
class Ports:
    r"""A receptance over all its coordinates: outputs and inputs of the same name are one port.

    A reciprocal system has :math:`H_{ab} = H_{ba}`, so that the mean of the two is the datum and
    their difference is noise (twice the antisymmetric part).

    Attributes
    ----------
    names : tuple of str
        The outputs, then the inputs that are not outputs.
    omega : array (F,)
    values : array (F, n, n)
        Symmetric mean of what was measured; NaN where neither was.
    counts : array (F, n, n)
        How many measurements stand behind a value: 0, 1 or 2.
    half_difference : array (F, n, n)
        :math:`(H_{ab} - H_{ba})/2` where both were measured, else NaN.
    variance : array (F, n, n) or None
        Of a single measurement, where it is known.
    order : int
        What was measured: 0 for the receptance itself, 1 for the mobility, 2 for the accelerance.
    """

    names: tuple[str, ...]
    omega: Array
    values: ComplexArray
    counts: Array
    half_difference: ComplexArray
    variance: Array | None
    order: int

    @classmethod
    def of(cls, response: FrequencyResponse) -> Ports:
        """Place the measured entries in the matrix of all ports."""
        extra = [name for name in response.inputs if name not in response.outputs]
        names = (*response.outputs, *extra)
        n, F = len(names), len(response)
        rows = [names.index(name) for name in response.outputs]
        columns = [names.index(name) for name in response.inputs]
        full = np.full((F, n, n), np.nan, complex)
        full[:, np.array(rows)[:, None], columns] = response.receptance
        other = np.swapaxes(full, 1, 2)
        here, there = ~np.isnan(full), ~np.isnan(other)
        counts = here.astype(float) + there
        counts[:, range(n), range(n)] /= 2
        total = np.where(here, full, 0) + np.where(there, other, 0)
        both = here.astype(int) + there
        with np.errstate(invalid="ignore", divide="ignore"):
            values = np.where(both > 0, total / both, np.nan)
        half = np.where(here & there, 0.5 * (full - other), np.nan)
        half[:, range(n), range(n)] = np.nan
        spread = _spread(response, rows, columns, n)
        return cls(names, response.omega, values, counts, half, spread, response.order)

    @property
    def driving_points(self) -> tuple[int, ...]:
        """Ports whose own motion was measured under their own force."""
        n = len(self.names)
        return tuple(a for a in range(n) if self.counts[:, a, a].any())


def _spread(
    response: FrequencyResponse, rows: list[int], columns: list[int], n: int
) -> Array | None:
    """Variance of a single measurement of each entry; of two, their mean."""
    given = response.receptance_variance
    if given is None:
        return None
    full = np.full((len(response), n, n), np.nan)
    full[:, np.array(rows)[:, None], columns] = np.where(np.isfinite(given), given, np.nan)
    stacked = np.stack([full, np.swapaxes(full, 1, 2)])
    there = ~np.isnan(stacked)
    total = np.where(there, stacked, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(there.any(axis=0), total / there.sum(axis=0), np.inf))


_Any = TypeVar("_Any", Array, ComplexArray)


def _frozen(array: _Any) -> _Any:
    array.setflags(write=False)
    return array


def _grid(omega: ArrayLike) -> Array:
    grid = np.array(omega)
    if grid.dtype.kind not in "iuf" or grid.ndim != 1:
        raise ResponseError(
            f"frequencies of type {grid.dtype} and shape {grid.shape}: give real numbers, (F,)."
        )
    grid = grid.astype(float)
    if not np.isfinite(grid).all() or (grid < 0).any():
        k = int(np.argmax(~np.isfinite(grid) | (grid < 0)))
        raise ResponseError(
            f"frequency {k} (counted from 0) is {grid[k]:g}: give finite, non-negative numbers."
        )
    if len(np.unique(grid)) < len(grid):
        values, counts = np.unique(grid, return_counts=True)
        raise ResponseError(
            f"the frequency {values[counts.argmax()]:g} is there {counts.max()} times: average "
            "repeated lines, and give each frequency once."
        )
    if len(grid) < MIN_LINES:
        raise ResponseError(
            f"{len(grid)} frequenc{'y' if len(grid) == 1 else 'ies'}: a response needs at least "
            f"{MIN_LINES}, and several near each resonance."
        )
    return grid


def _values(H: ArrayLike, lines: int) -> ComplexArray:
    values = np.array(H)
    if values.dtype.kind not in "iufc":
        raise ResponseError(f"a response of type {values.dtype}: give complex numbers.")
    values = values.astype(complex)
    if values.ndim == 1:
        values = values[:, None, None]
    if values.ndim != 3 or len(values) != lines or 0 in values.shape:
        raise ResponseError(
            f"a response of shape {np.shape(H)} over {lines} frequencies: give ({lines},) or "
            f"({lines}, outputs, inputs)."
        )
    if np.isinf(values).any():
        k, a, b = np.argwhere(np.isinf(values))[0]
        raise ResponseError(
            f"line {k} (counted from 0), output {a}, input {b} is infinite: mark missing values "
            "with NaN."
        )
    return values


def _variance(variance: ArrayLike, values: ComplexArray) -> Array:
    out = np.array(variance, float)
    out = out[:, None, None] if out.ndim == 1 and values.shape[1:] == (1, 1) else out
    if out.shape != values.shape or np.isnan(out[~np.isnan(values)]).any() or (out < 0).any():
        raise ResponseError(
            f"a variance of shape {np.shape(variance)} beside values of shape {values.shape}: give "
            "one non-negative number for each value, infinite for what is not known."
        )
    return np.where(np.isnan(out), np.inf, out)


def _names(
    outputs: Sequence[str] | None, inputs: Sequence[str] | None, shape: tuple[int, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    rows, columns = shape
    if rows != columns and (outputs is None or inputs is None):
        raise ResponseError(
            f"{rows} outputs and {columns} inputs: a response that is not square must say where "
            "each force acts; give the names of outputs and inputs, the same name for the same "
            "place."
        )
    out = tuple(f"x{k + 1}" for k in range(rows)) if outputs is None else tuple(outputs)
    inp = out if inputs is None else tuple(inputs)
    for kind, names, count in (("outputs", out, rows), ("inputs", inp, columns)):
        if len(names) != count or len(set(names)) != count:
            raise ResponseError(
                f"names {', '.join(names)} for {count} {kind}: give each a name of its own."
            )
    return out, inp


def _check_content(grid: Array, values: ComplexArray) -> None:
    there = ~np.isnan(values)
    if not there.any():
        raise ResponseError(
            "no value is left: all are missing, or of no coherence; check the measurement."
        )
    lines = int(there.any(axis=(1, 2)).sum())
    if lines < MIN_LINES:
        raise ResponseError(
            f"only {lines} of {len(grid)} frequencies have a value: a response needs at least "
            f"{MIN_LINES}."
        )
    if not np.abs(values[there]).any():
        raise ResponseError("the response is zero everywhere: check the motion channel.")
