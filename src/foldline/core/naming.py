"""What a session may be called, in any store: a folder of that name can be made on every system."""

from __future__ import annotations

import re
from typing import Final

from foldline.core.errors import InvalidOption

NAME_CHARS_MAX: Final = 128
_NAME: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{NAME_CHARS_MAX - 1}}}", re.ASCII)


def is_name(text: str) -> bool:
    """True for a name that a session may have."""
    return _NAME.fullmatch(text) is not None


def check_name(name: str) -> str:
    """A name that a session may have. Raises `InvalidOption` for any other."""
    if not is_name(name):
        why = (
            f"a session's name has 1 to {NAME_CHARS_MAX} ASCII letters, digits, dots, hyphens or underscores, and begins with a "
            "letter or digit"
        )
        raise InvalidOption("name", name, why=why)
    return name
