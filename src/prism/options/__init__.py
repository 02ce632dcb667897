"""One table of all options: how Python, the command line and the page call them; what they take.

`prism.identify` checks its keywords by it, ``prism identify`` and the page are built from it, and
sentences that ask for an option are spelled by it. A kind of motion that needs an option of its own
registers it with `register`; it then appears in all of these places by itself. Nothing here loads
the numerical packages, because a shell asks for the names at a key press.
"""

from prism.options.option import GROUPS, Choice, Option
from prism.options.registry import (
    add_choice,
    added_choices,
    all_options,
    changed,
    check_option,
    check_options,
    find,
    forget,
    register,
    registered_options,
)
from prism.options.spelling import COMMAND_LINE, PAGE
from prism.options.table import OPTIONS, READING

__all__ = [
    "COMMAND_LINE",
    "GROUPS",
    "OPTIONS",
    "PAGE",
    "READING",
    "Choice",
    "Option",
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
