"""One question for one option of the table, by the kind of value that it takes."""

from __future__ import annotations

from typing import Any

import streamlit as st

from prism.options import Option
from prism.options.values import Flag, Number, OneOf, Whole

__all__ = ["ask_option", "ask_text"]

_UNASKED = "by default"


def ask_option(option: Option, key: str) -> Any:
    """Ask for the value of an option.

    Parameters
    ----------
    option : Option
    key : str
        Of the file: another file is asked about anew.

    Raises
    ------
    OptionError
        When the answer makes no sense.
    """
    kind = option.kind
    if isinstance(kind, Flag):
        return option.check(st.checkbox(_asked(option), **_words(option, key)) or option.default)
    if isinstance(kind, OneOf):
        return option.check(_chosen(option, key))
    if isinstance(kind, Whole | Number):
        return option.check(_counted(option, kind, key))
    text = ask_text(option, key)
    return option.check(option.default if text is None else option.parse(text))


def ask_text(option: Option, key: str) -> str | None:
    """Ask for a text; None where nothing was typed.

    Parameters
    ----------
    option : Option
    key : str
    """
    example = f"for example {option.example}" if option.example else None
    text = st.text_input(_asked(option), placeholder=example, **_words(option, key))
    return str(text).strip() or None


def _chosen(option: Option, key: str) -> Any:
    titles = {choice.value: choice.title for choice in option.choices}
    if option.default is None:
        titles = {None: _UNASKED, **titles}
    values = list(titles)
    return st.selectbox(
        _asked(option),
        values,
        index=values.index(option.default),
        format_func=titles.__getitem__,
        **_words(option, key),
    )


def _counted(option: Option, kind: Whole | Number, key: str) -> Any:
    if isinstance(kind, Whole):
        return st.number_input(
            _asked(option),
            min_value=kind.low,
            max_value=kind.high,
            value=option.default,
            step=1,
            **_words(option, key),
        )
    example = f"for example {option.example}" if option.example else None
    return st.number_input(
        _asked(option),
        value=option.default,
        format="%g",
        placeholder=example,
        **_words(option, key),
    )


def _asked(option: Option) -> str:
    return option.label or option.heading


def _words(option: Option, key: str) -> dict[str, str]:
    return {"key": f"{option.name} {key}", "help": option.hint or option.help}
