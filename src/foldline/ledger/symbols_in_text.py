"""Names of code in a text: what it defines, and words that only code writes (`CamelCase`, `snake_case`).

Knows only tokens and the words that open a definition; `found_in_text` splits the tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from foldline.ledger.facts import Fact

SYMBOL_CHARS_MIN = 4
SYMBOL_CHARS_MAX = 80

_OPENINGS = (
    "def ", "class ", "function ", "interface ", "struct ", "fn ", "func ", "enum ", "trait ", "type ", "impl ",
    "const ", "let ",
)  # fmt: skip
_DEFINED = re.compile(r"([A-Za-z_$][\w$]{1,79})\s?(?:[(:{<=\[]|$|\n|extends |implements |for )")
_HUMP = re.compile(r"[a-z0-9][A-Z]")
_DIGITS = frozenset("0123456789")


def symbols_in(text: str, tokens: Iterable[str]) -> Iterator[Fact]:
    """Each name once: first those that are defined, then those that are used."""
    names = dict.fromkeys(_defined(text))
    names.update(dict.fromkeys(t for t in tokens if is_name(t)))
    for name in names:
        yield Fact(kind="symbols", key=name, text=name)


def _defined(text: str) -> Iterator[str]:
    for opening in _OPENINGS:
        if opening not in text:
            continue
        before, *pieces = text.split(opening)
        for piece in pieces:
            if not before[-1:].isalnum() and (match := _DEFINED.match(piece)) is not None:
                if len(match[1]) >= SYMBOL_CHARS_MIN:
                    yield match[1]
            before = piece


def is_name(token: str) -> bool:
    """True for a token that only code writes: several parts, joined by underscores or humps."""
    if not SYMBOL_CHARS_MIN <= len(token) <= SYMBOL_CHARS_MAX or token[0] in _DIGITS:
        return False
    if "_" in token:
        return any(part.isalpha() for part in token.strip("_").split("_")[1:])
    return not token.isupper() and _HUMP.search(token) is not None
