"""Kinds of values: what a caller gives is refused by its option's name where it is of no kind that the option takes.

Types say the same to whoever checks them; this is for everybody else. Knows no option and no bound.
"""

from __future__ import annotations

from operator import index
from typing import SupportsIndex

from foldline.core.errors import InvalidOption


def refuse_no_text(*, or_none: bool = False, **given: object) -> None:
    """Raise `InvalidOption` for what is no text where one is wanted."""
    _refuse(given, kind=str, why="give a text", or_none=or_none)


def refuse_no_name(*, or_none: bool = False, **given: object) -> None:
    """Raise `InvalidOption` for what names nothing: no text, or one without a visible character."""
    refuse_no_text(or_none=or_none, **given)
    for option, value in given.items():
        if isinstance(value, str) and not value.strip():
            why = "give a name with a visible character" + (", or leave it out" if or_none else "")
            raise InvalidOption(option, value, why=why)


def refuse_no_number(*, or_none: bool = False, **given: object) -> None:
    """Raise `InvalidOption` for what is no whole number where one is wanted. True and False are none."""
    _refuse(given, kind=int, why="give a whole number", or_none=or_none)


def refuse_no_flag(**given: object) -> None:
    """Raise `InvalidOption` for what is neither True nor False: a text that says "no" would count as a yes."""
    _refuse(given, kind=bool, why="give True or False", or_none=False)


def whole_number(value: object) -> int | None:
    """A whole number of any library's kind; `None` for True and False and for what is none. A class has the method of its
    numbers, and is none."""
    try:
        return index(value) if isinstance(value, SupportsIndex) and not isinstance(value, bool) else None
    except TypeError:
        return None


def _refuse(given: dict[str, object], *, kind: type, why: str, or_none: bool) -> None:
    for option, value in given.items():
        is_flag = isinstance(value, bool) and kind is not bool
        if (is_flag or not isinstance(value, kind)) and not (or_none and value is None):
            raise InvalidOption(option, value, why=why + (", or leave it out" if or_none else ""))
