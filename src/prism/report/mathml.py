"""The Hamiltonian typeset as an equation, in the mathematical markup that browsers draw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from prism._format import format_value
from prism.hamiltonian import Hamiltonian
from prism.motion.gyroscopic.hamiltonian import GyroscopicHamiltonian
from prism.motion.potential.hamiltonian import NonlinearHamiltonian
from prism.motion.potential.terms import Potential, Term
from prism.report import _limits as limits

__all__ = ["hamiltonian_mathml", "matrices_left_out"]

Array = NDArray[np.float64]


def hamiltonian_mathml(hamiltonian: Hamiltonian) -> list[str]:
    r"""Equations of a Hamiltonian, the general form first, each as one ``math`` element.

    .. math:: H = \tfrac12 p^T μ^{-1} p + \tfrac12 x^T κ x
              + \sum_i \left( \tfrac12 p_i^2 + \tfrac12 ω_i^2 q_i^2 + q_i\, c_i^T x \right)

    Parameters
    ----------
    hamiltonian : Hamiltonian
    """
    nonlinear = isinstance(hamiltonian, NonlinearHamiltonian)
    turning = isinstance(hamiltonian, GyroscopicHamiltonian)
    lines = [_turning_form() if turning else _form(hamiltonian, nonlinear)]
    lines.append(_seen(hamiltonian.channels))
    if isinstance(hamiltonian, NonlinearHamiltonian):
        lines.append(_potential(hamiltonian.potential))
    elif len(hamiltonian.channels) <= limits.MOST_MATRIX_CHANNELS:
        lines.append(_matrix("μ", hamiltonian.mass, hamiltonian.mass_std))
        if isinstance(hamiltonian, GyroscopicHamiltonian):
            lines.append(_matrix("γ", hamiltonian.gyroscopic, hamiltonian.gyroscopic_std))
        lines.append(_matrix("κ", hamiltonian.stiffness, hamiltonian.stiffness_std))
    if len(hamiltonian.channels) <= limits.MOST_MATRIX_CHANNELS:
        lines += _hidden(hamiltonian)
    return [f'<math display="block">{line}</math>' for line in lines]


def matrices_left_out(hamiltonian: Hamiltonian) -> bool:
    """Whether there are too many coordinates to write the matrices out.

    Parameters
    ----------
    hamiltonian : Hamiltonian
    """
    return (
        len(hamiltonian.channels) > limits.MOST_MATRIX_CHANNELS
        or len(hamiltonian.hidden) > limits.MOST_HIDDEN_EQUATIONS
    )


# -- pieces of markup -----------------------------------------------------------------------------


def _row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def _name(text: str) -> str:
    return f"<mi>{escape(text)}</mi>"


def _sign(text: str) -> str:
    return f"<mo>{escape(text)}</mo>"


def _number(value: float, std: float | None = None) -> str:
    return f"<mn>{escape(format_value(value, std).replace('-', '−'))}</mn>"


def _power(base: str, exponent: str) -> str:
    return f"<msup>{base}<mn>{exponent}</mn></msup>"


def _indexed(letter: str, index: str) -> str:
    return f"<msub>{_name(letter)}{_name(index)}</msub>"


def _squared(letter: str, index: str) -> str:
    return f"<msubsup>{_name(letter)}{_name(index)}<mn>2</mn></msubsup>"


def _transposed(inner: str) -> str:
    return f"<msup>{inner}{_sign('⊤')}</msup>"


def _half() -> str:
    return "<mfrac><mn>1</mn><mn>2</mn></mfrac>"


def _bold(letter: str) -> str:
    return f'<mi class="vector">{escape(letter)}</mi>'


def _brackets(rows: Iterable[Sequence[str]]) -> str:
    body = "".join(
        "<mtr>" + "".join(f"<mtd>{cell}</mtd>" for cell in row) + "</mtr>" for row in rows
    )
    # The style sheet draws the brackets: stretched ones need a font that not every machine has.
    return f'<mtable class="matrix">{body}</mtable>'


# -- equations ------------------------------------------------------------------------------------


def _form(hamiltonian: Hamiltonian, nonlinear: bool) -> str:
    p, x = _bold("p"), _bold("x")
    if nonlinear:
        own = [_half(), _transposed(p), p, _sign("+"), _name("V"), _sign("("), x, _sign(")")]
    else:
        inverse = f"<msup>{_name('μ')}{_row(_sign('−'), '<mn>1</mn>')}</msup>"
        own = [_half(), _transposed(p), inverse, p, _sign("+")]
        own += [_half(), _transposed(x), _name("κ"), x]
    bath = [_sign("+"), _bath()] if hamiltonian.hidden else []
    return _row(_name("H"), _sign("="), *own, *bath)


def _turning_form() -> str:
    """``μ x'' + γ x' + κ x = ∫ K x``: the equation of motion of a system that rotates."""
    x = _bold("x")
    memory = f"<msubsup>{_sign('∫')}<mn>0</mn>{_name('t')}</msubsup>"
    kernel = [_name("K"), _sign("("), _name("t"), _sign("−"), _name("s"), _sign(")")]
    then = [x, _sign("("), _name("s"), _sign(")"), _name("d"), _name("s")]
    return _row(
        *(_name("μ"), f"<mover>{x}{_sign('¨')}</mover>", _sign("+")),
        *(_name("γ"), f"<mover>{x}{_sign('˙')}</mover>", _sign("+"), _name("κ"), x),
        *(_sign("="), memory, *kernel, *then),
    )


def _bath() -> str:
    count = f"<munder>{_sign('∑')}{_name('i')}</munder>"
    coupling = f"<msubsup>{_bold('c')}{_name('i')}{_sign('⊤')}</msubsup>"
    inner = [
        _half(),
        _squared("p", "i"),
        _sign("+"),
        _half(),
        _squared("ω", "i"),
        _squared("q", "i"),
        _sign("+"),
        _indexed("q", "i"),
        coupling,
        _bold("x"),
    ]
    return _row(count, _sign("("), *inner, _sign(")"))


def _seen(channels: Sequence[str]) -> str:
    """What the coordinates are called."""
    shown = [f"<mtext>{escape(name)}</mtext>" for name in channels[: limits.MOST_MATRIX_CHANNELS]]
    if len(channels) > limits.MOST_MATRIX_CHANNELS:
        shown.append(_sign("…"))
    listed = _sign(",").join(shown)
    return _row(_transposed(_bold("x")), _sign("="), _sign("("), listed, _sign(")"))


def _matrix(letter: str, values: Array, stds: Array | None) -> str:
    zero = limits.ROUNDED_ENTRY * float(np.abs(values).max())
    rows = [
        [
            _number(float(value), None if stds is None else float(stds[a, b]))
            if abs(value) > zero or (stds is not None and stds[a, b] > zero)
            else "<mn>0</mn>"
            for b, value in enumerate(row)
        ]
        for a, row in enumerate(values)
    ]
    return _row(_name(letter), _sign("="), rows[0][0] if len(rows) == 1 else _brackets(rows))


def _hidden(hamiltonian: Hamiltonian) -> list[str]:
    """Frequency and couplings of each hidden oscillator with a single coupling vector."""
    lines = []
    for i, hidden in enumerate(hamiltonian.hidden[: limits.MOST_HIDDEN_EQUATIONS], start=1):
        frequency = _number(hidden.frequency, hidden.frequency_std)
        parts = [_indexed("ω", str(i)), _sign("="), frequency]
        if hidden.rank == 1:
            stds = hidden.coupling_std
            cells = [
                _number(float(value), None if stds is None else float(stds[a]))
                for a, value in enumerate(hidden.couplings[0])
            ]
            coupling = cells[0] if len(cells) == 1 else _brackets([[cell] for cell in cells])
            vector = f"<msub>{_bold('c')}<mn>{i}</mn></msub>"
            parts += ['<mspace width="1.5em"></mspace>', vector, _sign("="), coupling]
        lines.append(_row(*parts))
    return lines


def _potential(potential: Potential) -> str:
    names = [f"<mtext>{escape(name)}</mtext>" for name in potential.names]
    parts = [_name("V"), _sign("("), _sign(",").join(names), _sign(")"), _sign("=")]
    rows = zip(potential.coefficients, potential.std, potential.library.terms, strict=True)
    for k, (value, std, term) in enumerate(rows):
        if k or value < 0:
            parts.append(_sign("−" if value < 0 else "+"))
        parts += [_number(abs(float(value)), float(std)), _term(term, names)]
    return _row(*parts)


def _term(term: Term, names: Sequence[str]) -> str:
    """φ of a potential: a power over its degree, or a wave over its number."""
    if term.kind == 0:
        exponents = ((names[0], int(term.a)), *([(names[1], int(term.b))] if term.b else []))
        factors = [n if e == 1 else _power(n, str(e)) for n, e in exponents if e]
        below = int(max(term.a, term.b))
        body = _row(*factors)
        return body if below == 1 else f"<mfrac>{body}<mn>{below}</mn></mfrac>"
    wave = _row(
        _sign("("),
        *([_sign("−")] if term.kind == 1 else []),
        _name("cos" if term.kind == 1 else "sin"),
        *([] if term.a == 1 else [f"<mn>{term.a:g}</mn>"]),
        names[int(term.b)],
        _sign(")"),
    )
    return wave if term.a == 1 else f"<mfrac>{wave}<mn>{term.a:g}</mn></mfrac>"
