"""Makes text harmless for a terminal: what could act is shown, nothing acts.

Owns the one list of code points that never reach a terminal as they are. Knows nothing of streams or colours:
`foldline.cli.screen` decides where text goes and calls this for all of it.

Stripping the usual colour sequences is not enough (most known payloads survive it), so the rule goes by code
point and not by sequence: C0 and C1 controls, DEL, format characters (bidirectional overrides, zero-width
characters, tags), surrogates, line and paragraph separators, private and unassigned code points, and the printable
code points that Unicode says to draw as nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_ACTING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode general categories of which no member is shown as it is."""

_INVISIBLE = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0}
    | set(range(0xFE00, 0xFE0E))
    | set(range(0xE0100, 0xE01F0))
)
"""Letters and marks that are drawn as nothing (Unicode `Default_Ignorable_Code_Point`), in which text can hide.
The two selectors that choose between text and emoji style, U+FE0E and U+FE0F, stay."""

_JOINED = re.compile(
    "(?<=[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])\u200d(?=[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff])"
)
"""A zero-width joiner inside one emoji, a family or a profession: it hides nothing there, and stays."""

_NAMED = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x1B: "\\e"}


def neutral(text: str, *, keep_newlines: bool = True) -> str:
    """`text` with everything a terminal could act on shown as an escape: `\\e`, `\\x9b`, `\\u{202e}`.

    Line feeds and tabs stay, or with `keep_newlines=False` are shown as `\\n` and `\\t`, for text that must stay
    on one line. Neutral text stays as it is. The result is for eyes: a backslash in `text` is not doubled.
    """
    table = _TEXT if keep_newlines else _LINE
    if "\u200d" not in text:
        return text.translate(table)
    return "\u200d".join(piece.translate(table) for piece in _JOINED.split(text))


def neutral_json(document: str) -> str:
    """The same JSON value in text that no terminal acts on: what could act becomes `\\uXXXX` inside its string.

    Strings are the only place in JSON where such a character may stand, a carriage return between values apart.
    """
    is_plain = document.isascii() and document.isprintable()  # as nearly every line of a log is
    return document if is_plain else document.translate(_JSON)


def is_harmless(code: int) -> bool:
    """True when a terminal draws the code point and does nothing else (line feed and tab are not drawn: false)."""
    import unicodedata

    if 0x20 <= code < 0x7F:
        return True
    return code not in _INVISIBLE and unicodedata.category(chr(code)) not in _ACTING


def _for_eyes(code: int) -> str:
    if code in _NAMED:
        return _NAMED[code]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"


def _for_json(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


class _Table(dict[int, str]):
    """A translation table that fills itself; at most one entry for each code point there is."""

    def __init__(self, escape: Callable[[int], str], kept: dict[int, str]) -> None:
        super().__init__(kept)
        self._escape = escape

    def __missing__(self, code: int) -> str:
        shown = self[code] = chr(code) if is_harmless(code) else self._escape(code)
        return shown


_LINE = _Table(_for_eyes, {})
_TEXT = _Table(_for_eyes, {0x09: "\t", 0x0A: "\n"})
_JSON = _Table(_for_json, {0x09: "\t", 0x0A: "\n", 0x0D: " "})
