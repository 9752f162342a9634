"""Names of code in a text: what it defines, and words that only code writes (`CamelCase`, `snake_case`).

Knows only tokens and the words that open a definition; `found_in_text` splits the tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foldline.ledger.facts import INITIALS, Fact, Named

SYMBOL_CHARS_MIN = 4
SYMBOL_CHARS_MAX = 80

_NAME = r"([A-Za-z_$][\w$]{3,79})\s?(?:[(:{<=\[]|$|\n|extends |implements |for )"
OPENINGS = tuple("def function fn func class interface struct enum trait type impl".split())
"""Words that open a definition."""
_DEFINED = {word: re.compile(rf"{word} (?<![^\W_]{word} )" + _NAME) for word in OPENINGS}
"""What opens a definition -> the definition, up to what tells it from prose."""
_MODIFIERS = frozenset(
    "export default public private protected internal static final abstract sealed open data async pub inline virtual partial"
    " declare".split()
)
"""Words before what opens a definition."""
LEAD_CHARS_MAX = 120
_JOINED = re.compile(r"[A-Za-z0-9]_(?:[A-Za-z0-9]*_)*?[A-Za-z]+(?![A-Za-z0-9])")
_HUMP = re.compile(r"[a-z0-9][A-Z]")
_DIGITS = frozenset("0123456789")
_INITIAL = INITIALS["symbols"]


def definitions_in(text: str) -> Iterator[tuple[int, tuple[int, Named]]]:
    """Where the text defines a name, the place of what opens the definition among `OPENINGS`, and the name."""
    for order, (opening, defined) in enumerate(_DEFINED.items()):
        if opening in text:
            for match in defined.finditer(text):
                name = match[1]
                if match[0].rstrip().endswith(name) and not _opens_line(text, match.start()):
                    continue  # a sentence may end with the same words: "… and type guards"
                yield match.start(), (order, (_INITIAL + name, Fact(kind="symbols", key=name, text=name)))


def _opens_line(text: str, at: int) -> bool:
    """Whether a definition at `at` opens its line, behind its modifiers."""
    start = text.rfind("\n", max(0, at - LEAD_CHARS_MAX), at) + 1
    return (start > 0 or at <= LEAD_CHARS_MAX) and all(
        word in _MODIFIERS for word in text[start:at].strip(" \t+-").split()
    )


def is_name(token: str) -> bool:
    """True for a token that only code writes: several parts, joined by underscores or humps."""
    if not SYMBOL_CHARS_MIN <= len(token) <= SYMBOL_CHARS_MAX or token[0] in _DIGITS:
        return False
    if "_" in token:
        return _JOINED.search(token) is not None
    return not (token[1:].islower() or token.isupper()) and _HUMP.search(token) is not None
