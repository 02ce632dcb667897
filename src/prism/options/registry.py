"""Looking up and checking options: those of the table, and of kinds that came later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from prism.errors import OptionError
from prism.options.option import GROUPS, Choice, Option
from prism.options.table import OPTIONS, READING

__all__ = [
    "add_choice",
    "added_choices",
    "all_options",
    "changed",
    "check_option",
    "check_options",
    "find",
    "forget",
    "register",
    "registered_options",
]

_registered: dict[str, Option] = {}
_added: dict[str, tuple[Choice, ...]] = {}


def register(option: Option) -> None:
    """Add an option of `prism.identify`; the command line and the page then ask for it too.

    Parameters
    ----------
    option : Option

    Raises
    ------
    OptionError
        When another option has its name.
    """
    known = _registered.get(option.name)
    taken = [one.name for one in (*OPTIONS, *READING)]
    if option.name in taken or (known is not None and known != option):
        raise OptionError(f"there is an option {option.name!r} already: give it another name.")
    if option.belongs not in GROUPS:
        raise OptionError(f"unknown group {option.belongs!r}; use one of {', '.join(GROUPS)}.")
    _registered[option.name] = option


def add_choice(name: str, choice: Choice) -> None:
    """Add a value that an option knows, such as another experiment.

    Parameters
    ----------
    name : str
        Of the option.
    choice : Choice
    """
    if choice.value not in find(name).values:
        _added[name] = (*_added.get(name, ()), choice)


def added_choices(name: str) -> tuple[Choice, ...]:
    """Values that were added to an option.

    Parameters
    ----------
    name : str
        Of the option.
    """
    return _added.get(name, ())


def forget(name: str, value: object = None) -> None:
    """Take back a registered option, or one value that was added to an option.

    Parameters
    ----------
    name : str
    value : object, optional
    """
    if value is None:
        _registered.pop(name, None)
    else:
        _added[name] = tuple(one for one in _added.get(name, ()) if one.value != value)


def registered_options() -> tuple[Option, ...]:
    """Options of kinds that came later."""
    return tuple(_whole(option) for option in _registered.values())


def all_options() -> tuple[Option, ...]:
    """Every option of `prism.identify`: those of the table, then the registered ones."""
    return (*(_whole(option) for option in OPTIONS), *registered_options())


def _whole(option: Option) -> Option:
    more = added_choices(option.name)
    return replace(option, choices=option.choices + more) if more else option


def find(name: str) -> Option:
    """Find an option of identification or of reading.

    Parameters
    ----------
    name : str

    Raises
    ------
    OptionError
        When there is none of that name.
    """
    for option in (*all_options(), *READING):
        if option.name == name:
            return option
    known = ", ".join(option.name for option in all_options())
    raise OptionError(f"unknown option {name!r}; use one of {known}.")


def check_option(name: str, value: Any) -> Any:
    """Return the value of an option as it is used.

    Parameters
    ----------
    name : str
    value : object

    Raises
    ------
    OptionError
        When it makes no sense.

    Examples
    --------
    >>> check_option("force", "hammer")
    ['hammer']
    """
    return find(name).check(value)


def check_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as they are used, in the order of the table.

    Parameters
    ----------
    given : mapping
        Values by name; options that are not there are not added.

    Raises
    ------
    OptionError
        When there is no such option or a value makes no sense.
    """
    for name in given:
        find(name)
    known = [option for option in (*all_options(), *READING) if option.name in given]
    return {option.name: option.check(given[option.name]) for option in known}


def changed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that differ from their defaults.

    Parameters
    ----------
    given : mapping

    Examples
    --------
    >>> changed({"method": "nnls", "drift": 1, "mass": None})
    {'method': 'nnls'}
    """
    return {name: value for name, value in given.items() if not find(name).is_default(value)}
