r"""Terms of a potential :math:`V(x) = \sum_k θ_k φ_k(x)` and the libraries they are chosen from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import mul

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array, Index
from prism.errors import OptionError
from prism.motion.potential import _limits as limits
from prism.remarks import Ask, Words

__all__ = ["FAMILIES", "Derivatives", "Library", "Potential", "Term", "library_of"]

POWER, SINE, COSINE = 0, 1, 2
FAMILIES = ("polynomial", "trigonometric")
"""Libraries that have a name."""


@dataclass(frozen=True, order=True)
class Term:
    r"""One term φ of a potential.

    ============  =======================================  ==========================
    kind          φ                                        its force term, one coordinate
    ============  =======================================  ==========================
    power         :math:`x^a y^b / \max(a, b)`             :math:`x^{a-1}`
    sine          :math:`-\cos(a z)/a`                     :math:`\sin(a z)`
    cosine        :math:`\sin(a z)/a`                      :math:`\cos(a z)`
    ============  =======================================  ==========================

    Parameters
    ----------
    kind : int
        0 power, 1 sine, 2 cosine.
    a : float
        Exponent of the first coordinate, or wave number.
    b : float
        Exponent of the second coordinate, or for sine and cosine which coordinate z is.
    """

    kind: int
    a: float
    b: float = 0

    @property
    def is_linear_force(self) -> bool:
        """Whether the force of this term is constant or linear in the coordinates."""
        return self.kind == POWER and self.a + self.b <= 2

    @property
    def is_linear_spring(self) -> bool:
        """Whether the force of this term is linear in the coordinates, and not constant."""
        return self.kind == POWER and self.a + self.b == 2

    @property
    def has_linear_part(self) -> bool:
        """Whether the force of this term is linear for small displacements."""
        return self.kind == SINE or self.is_linear_spring

    @property
    def complexity(self) -> int:
        """Degree of the force beyond the linear one; a wave counts as one degree or more."""
        if self.kind == POWER:
            return max(int(self.a + self.b) - 2, 0)
        return max(round(3 * self.a) - 2, 1)

    def force_text(self, name: str) -> str:
        """The term in V', of one coordinate."""
        if self.kind == POWER:
            return _power(name, int(self.a) - 1) or "1"
        return f"{('sin', 'cos')[self.kind - 1]}({_times(self.a)}{name})"

    def potential_text(self, names: Sequence[str]) -> str:
        """φ in writing."""
        if self.kind == POWER:
            factors = [_power(names[0], int(self.a))]
            factors += [_power(names[1], int(self.b))] if self.b else []
            top = int(max(self.a, self.b))
            return " ".join(f for f in factors if f) + (f"/{top}" if top > 1 else "")
        z = names[int(self.b)]
        below = "" if self.a == 1 else f"/{self.a:g}"
        return f"{('(-cos', '(sin')[self.kind - 1]}({_times(self.a)}{z})){below}"


def _power(name: str, exponent: int) -> str:
    return "" if exponent == 0 else name if exponent == 1 else f"{name}^{exponent}"


def _times(factor: float) -> str:
    return "" if factor == 1 else f"{factor:g} "


@dataclass(frozen=True)
class Library:
    """Terms in a fixed order.

    Parameters
    ----------
    terms : tuple of Term
    name : str
        The family they come from.
    """

    terms: tuple[Term, ...]
    name: str

    def __len__(self) -> int:
        return len(self.terms)

    @cached_property
    def kinds(self) -> Index:
        """Kinds, for the kernels."""
        return np.array([term.kind for term in self.terms], dtype=np.intp)

    @cached_property
    def shapes(self) -> Array:
        """(a, b) of each term, for the kernels."""
        return np.array([[term.a, term.b] for term in self.terms], float).reshape(-1, 2)

    @cached_property
    def exponents(self) -> Index:
        """Of x and y in each term, zero for a wave; for the kernels."""
        return np.where(self.kinds[:, None] == POWER, self.shapes, 0).astype(np.intp)

    @cached_property
    def factors(self) -> Array:
        """Of the derivatives of each power by x, xx, y, yy and xy; for the kernels."""
        i, j = self.exponents.T.astype(float)
        s = 1 / np.maximum(np.maximum(i, j), 1)
        return np.column_stack([s * i, s * i * (i - 1), s * j, s * j * (j - 1), s * i * j])

    def choose(self, which: Sequence[int]) -> Library:
        """Some of the terms."""
        return Library(tuple(self.terms[k] for k in which), self.name)

    def texts(self, names: Sequence[str]) -> tuple[str, ...]:
        """The terms in writing: of the force V' for one coordinate, of V for two."""
        if len(names) == 1:
            return tuple(term.force_text(names[0]) for term in self.terms)
        return tuple(term.potential_text(names) for term in self.terms)

    def values(self, x: Array) -> Array:
        """φ_k at x (..., n), shape (..., terms)."""
        out = np.zeros((*x.shape[:-1], len(self)))
        for k, term in enumerate(self.terms):
            if term.kind == POWER:
                out[..., k] = x[..., 0] ** int(term.a) / max(term.a, term.b)
                if term.b:
                    out[..., k] *= x[..., 1] ** int(term.b)
            else:
                z = term.a * x[..., int(term.b)]
                out[..., k] = (-np.cos(z) if term.kind == SINE else np.sin(z)) / term.a
        return out

    def slopes(self, x: Array) -> Array:
        """Gradients of φ_k at x (..., n), shape (..., n, terms)."""
        return Derivatives(self.kinds, self.shapes)(x, curved=False)[0]

    def curves(self, x: Array) -> Array:
        """Hessians of φ_k at x (..., n), shape (..., n, n, terms)."""
        return Derivatives(self.kinds, self.shapes)(x)[1]


class Derivatives:
    """Gradients and Hessians of many terms at once, from tables of powers and waves.

    Parameters
    ----------
    kinds, shapes : ndarray (terms,), (terms, 2)
        Of the library.
    """

    def __init__(self, kinds: Index, shapes: Array) -> None:
        self.terms = len(kinds)
        self.power, self.wave = np.flatnonzero(kinds == POWER), np.flatnonzero(kinds != POWER)
        e = shapes[self.power].T
        self.range = np.arange(e.max(initial=0.0) + 1)
        scale = np.vstack([1 / e.max(axis=0, initial=1.0), np.ones_like(e[0])])
        falling = [np.maximum(e - d, 0).astype(int) for d in range(3)]
        factors = scale, scale * e, scale * e * (e - 1)
        # for each coordinate and order of derivative: factors, and the powers that are left
        self.parts = [[(factors[d][c], falling[d][c]) for d in range(3)] for c in range(2)]
        self.number, self.where = shapes[self.wave, 0], shapes[self.wave, 1].astype(int)
        self.is_sine = kinds[self.wave] == SINE

    def __call__(self, x: Array, *, curved: bool = True) -> tuple[Array, Array]:
        """Gradients (..., n, terms) and, if asked for, Hessians (..., n, n, terms) at (..., n)."""
        n = x.shape[-1]
        slope = np.zeros((*x.shape, self.terms))
        curve = np.zeros((*x.shape, n if curved else 0, self.terms))
        if len(self.power):
            tables = [x[..., c : c + 1] ** self.range for c in range(n)]
            own = self.power if len(self.wave) else slice(None)  # a slice is much faster
            for a in range(n):
                slope[..., a, own] = self._powers(tables, a)
                for b in range(curve.shape[-2]):
                    curve[..., a, b, own] = self._powers(tables, a, b)
        if len(self.wave):
            angle = x[..., self.where] * self.number
            sine, cosine = np.sin(angle), np.cos(angle)
            slope[..., self.where, self.wave] = np.where(self.is_sine, sine, cosine)
            if curved:
                bend = self.number * np.where(self.is_sine, cosine, -sine)
                curve[..., self.where, self.where, self.wave] = bend
        return slope, curve

    def _powers(self, tables: list[Array], *by: int) -> Array:
        """Derivatives of x^a y^b / max(a, b) by some of the coordinates."""
        chosen = [(table, *self.parts[c][by.count(c)]) for c, table in enumerate(tables)]
        return reduce(mul, [factor * table.take(left, axis=-1) for table, factor, left in chosen])


# -- libraries ------------------------------------------------------------------------------------


def library_of(family: str | Sequence[str], channels: int) -> Library:
    """The library of a name, or of a list of terms.

    Parameters
    ----------
    family : {"polynomial", "trigonometric"} or sequence of str
        A list holds force terms of one coordinate such as ``"1"``, ``"x"``, ``"x^3"``,
        ``"sin(x)"``, ``"cos(2x)"``.
    channels : int
        Number of seen coordinates, one or two.
    """
    if not isinstance(family, str):
        return _listed(family, channels)
    if family not in FAMILIES:
        raise OptionError(
            f"unknown potential {family!r}; use auto, {', '.join(FAMILIES)} or a list of terms "
            'such as ["x", "x^3", "sin(x)"].'
        )
    if channels == 2:
        if family != "polynomial":
            raise OptionError("a potential of two coordinates is polynomial: say so, or auto.")
        total = range(1, limits.DEGREE_OF_TWO + 1)
        terms = [Term(POWER, d - b, b) for d in total for b in range(d + 1)]
    elif family == "polynomial":
        terms = [Term(POWER, a) for a in range(1, limits.DEGREE + 1)]
    else:
        waves = [Term(kind, a) for a in (1, 2) for kind in (SINE, COSINE)]
        terms = [Term(POWER, 1), Term(POWER, 2), *waves]
    return Library(tuple(terms), family)


_FORCE = re.compile(r"(?:x(?:(?:\^|\*\*)(\d+))?|(sin|cos)\((\d*\.?\d*)\*?x\)|(1))$")


def _listed(texts: Sequence[str], channels: int) -> Library:
    if channels != 1:
        said = "a list of terms is for one seen coordinate: give {0}."
        raise OptionError(Words(said, (Ask("potential", "auto"),)))
    terms = tuple(_parsed(str(text)) for text in texts)
    if not terms or len(set(terms)) != len(terms):
        raise OptionError(f"terms {list(texts)} of the potential: give distinct ones, at least 1.")
    return Library(terms, "given")


def _parsed(text: str) -> Term:
    found = _FORCE.match(text.replace(" ", ""))
    if not found:
        raise OptionError(
            f"unknown term {text!r} of a force; write 1, x, x^3, sin(x), cos(2x) and the like."
        )
    exponent, wave, factor, one = found.groups()
    if wave:
        number = float(factor or 1)
        if not number > 0:
            raise OptionError(f"wave number in {text!r}: give a positive number.")
        return Term(SINE if wave == "sin" else COSINE, number)
    return Term(POWER, 1 if one else int(exponent or 1) + 1)


@dataclass(frozen=True, eq=False)
class Potential:
    r""":math:`V(x) = \sum_k θ_k φ_k(x)`, up to a constant.

    Parameters
    ----------
    library : Library
        The terms that are present.
    coefficients, std : ndarray (terms,)
        θ and its standard deviation.
    covariance : ndarray (terms, terms)
    names : tuple of str
        Of the coordinates.
    reach : ndarray (2, n)
        Smallest and greatest value of each coordinate in the record; outside, V is extrapolated.
    """

    library: Library
    coefficients: Array
    std: Array
    covariance: Array
    names: tuple[str, ...]
    reach: Array

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms in writing: of the force V' for one coordinate, of V for two."""
        return self.library.texts(self.names)

    def __call__(self, x: ArrayLike) -> Array:
        """V at x: any shape for one coordinate, (..., 2) for two."""
        return self.values(self._points(x))

    def gradient(self, x: ArrayLike) -> Array:
        """∇V, of the shape of x."""
        return self.slopes(self._points(x)).reshape(np.shape(x))

    def values(self, x: Array) -> Array:
        """V at points (..., n)."""
        return np.asarray(self.library.values(x) @ self.coefficients)

    def slopes(self, x: Array) -> Array:
        """∇V at points (..., n), of the same shape."""
        return np.asarray(self.library.slopes(x) @ self.coefficients)

    def curvature(self, x: Array) -> Array:
        """Second derivatives of V at points (..., n), (..., n, n)."""
        return np.asarray(self.library.curves(x) @ self.coefficients)

    def band(self, x: ArrayLike) -> Array:
        """Standard deviation of V at x, V(mean of the record) being the reference."""
        centre = self.library.values(self.reach.mean(axis=0))
        rows = self.library.values(self._points(x)) - centre
        variance = ((rows @ self.covariance) * rows).sum(axis=-1)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    def _points(self, x: ArrayLike) -> Array:
        at = np.asarray(x, float)
        return at[..., None] if len(self.names) == 1 and at.shape[-1:] != (0,) else at

    def __str__(self) -> str:
        text = ""
        for value, term in zip(self.coefficients, self.library.terms, strict=True):
            sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
            text += f"{sign}{abs(value):.4g} {term.potential_text(self.names)}"
        return f"V({', '.join(self.names)}) = {text or '0'}"
