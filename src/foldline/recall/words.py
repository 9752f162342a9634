"""Words: how text is cut for the index, and how a query becomes words of the same cut.

The index's own tokenizer (FTS5 `unicode61`) takes runs of letters and digits and folds case and accents. Scripts that
write without spaces would be one long run, so their characters are set apart here, each a word of its own; a query's
are too, and stand beside each other as in the text, which is how a Chinese word of two characters is found. Queries are data:
whatever stands in them, only words between quotes come out.

Every expression is linear in its input. Knows strings alone; the index is `foldline.recall.index`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from foldline.core.surrogates import is_torn, whole

QUERY_CHARS_MAX: Final = 2_000
"""Characters of a query that are read; what follows is left out, and said."""
PHRASES_MAX: Final = 32
"""Phrases of a query."""
PHRASE_WORDS_MAX: Final = 64
"""Words of one phrase."""

_APART: Final = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Myanmar, Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3040-\u318f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\ua9e0-\ua9ff\uaa60-\uaaff\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc"
    "\U00020000-\U000323af"
)
"""Characters that are words of their own: scripts without spaces, and Korean, whose particles join its words."""
_SPELT: Final = "\u1950-\u19df\u1cf2-\u1cf3\ue000-\uf8ff\U00010000-\U0001ffff\U000323b0-\U0010ffff"
"""Characters that are spelt as a number: emoji, and rare scripts that an index of another Unicode may not know."""
_ODD: Final = re.compile(rf"[{_APART}{_SPELT}\u1100-\u11ff\uff01-\uff5e]")
_APART_RUN: Final = re.compile(rf"[{_APART}]+")
_RARE: Final = re.compile(rf"([{_SPELT}]+)|([\uff01-\uff5e]+)|([\u1100-\u11ff]+)")
_UNICODE_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
_FULL_WIDTH: Final = 0xFEE0
"""What a full-width letter is above its plain one."""
_QUOTED: Final = re.compile(r'"([^"]*)"|(\S+)')


def split(text: str) -> str:
    """The text as the index reads it. Pure: the same text gives the same words, in a query as in a message."""
    if "\\u" in text:
        text = _UNICODE_ESCAPE.sub(_escaped, text)
    if text.isascii():
        return text
    if is_torn(text):
        text = whole(text)
    if _ODD.search(text) is None:
        return text
    return _APART_RUN.sub(_spaced, _RARE.sub(_cut, text))


def _escaped(match: re.Match[str]) -> str:
    """JSON's spelling of a character (`\\u4e2d`) as that character; halves of a pair, and ASCII, as they stand."""
    code = int(match[1], 16)
    return match[0] if code < 0x80 or 0xD800 <= code < 0xE000 else chr(code)


def _spaced(match: re.Match[str]) -> str:
    return f" {' '.join(match[0])} "


def _cut(match: re.Match[str]) -> str:
    spelt, wide, jamo = match.groups()
    if spelt is not None:
        return spelt.translate(_NUMBERS)
    if wide is not None:
        return "".join([chr(ord(letter) - _FULL_WIDTH) for letter in wide])
    return unicodedata.normalize("NFC", jamo)  # a Korean file name, as macOS spells it


class _Numbers(dict[int, str]):
    """Each character spelt as its number, worked out once."""

    def __missing__(self, code: int) -> str:
        self[code] = told = f" u{ord(chr(code).lower()):x} "
        return told


_NUMBERS: Final = _Numbers()


class Query(Struct, frozen=True, kw_only=True):
    """What is looked for: phrases, each of words that stand beside each other."""

    phrases: tuple[tuple[str, ...], ...]
    cut: bool = False
    """True when the query was longer than is read."""


def read_query(text: str) -> Query:
    """The phrases of a query: what stands in quotes, and every other piece between spaces (`pool.size` is a phrase of two
    words). A piece without a letter or digit says nothing. Any text is a query; none has a syntax but the quotes."""
    shown = text[:QUERY_CHARS_MAX]
    found: dict[tuple[str, ...], None] = {}
    for quoted, plain in _QUOTED.findall(shown):
        words = words_of(quoted or plain)
        if words:
            found[words[:PHRASE_WORDS_MAX]] = None
    phrases = tuple(found)
    return Query(phrases=phrases[:PHRASES_MAX], cut=len(text) > len(shown) or len(phrases) > PHRASES_MAX)


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, in order, as the index cuts them (case and accents apart)."""
    return tuple("".join([letter if _is_letter(letter) else " " for letter in split(text)]).split())


def _is_letter(letter: str) -> bool:
    """True for what the index takes as part of a word: letters, digits, characters for private use."""
    category = unicodedata.category(letter)
    return category[0] in "LN" or category == "Co" or "\u0300" <= letter <= "\u036f"


def looser(query: Query) -> Query:
    """A query for what is like it: each word on its own; of a run of characters set apart, each two neighbours."""
    found: dict[tuple[str, ...], None] = {}
    for phrase in query.phrases:
        at = 0
        while at < len(phrase):
            end = at
            while end < len(phrase) and _APART_RUN.fullmatch(phrase[end]):
                end += 1
            if end - at < 2:
                found[(phrase[at],)] = None
                at += 1
                continue
            for first in range(at, end - 1):
                found[phrase[first], phrase[first + 1]] = None
            at = end
    return Query(phrases=tuple(found)[:PHRASES_MAX], cut=query.cut)


def match_of(phrases: Sequence[tuple[str, ...]], *, joined: str = "AND", prefix: bool = False) -> str:
    """The index's own language for phrases: words between quotes, with nothing else of the query in it."""
    told = [f'"{" ".join(phrase)}"{" *" if prefix else ""}' for phrase in phrases]
    return f" {joined} ".join(told)


# ── in the text itself ───────────────────────────────────────────────────────────────────────────────────────

_BETWEEN: Final = r"[\W_]{0,64}"
"""What may stand between two words of a phrase."""
_NUMBERED: Final = re.compile(r"u([0-9a-f]{5,6})")


def bare(text: str) -> str:
    """The text in small letters without accents, character by character: a place in it is the same place in the text."""
    if text.isascii():
        return text.lower()
    return text.translate(_BARE)


class _Bare(dict[int, str]):
    """Each character's bare one, worked out once."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if 0xFF01 <= code <= 0xFF5E:
            letter = chr(code - _FULL_WIDTH)
        elif not 0xAC00 <= code < 0xD7A4:  # a Korean syllable is no letter with accents
            letter = unicodedata.normalize("NFD", letter)[0]
        lower = letter.lower()
        self[code] = letter = lower if len(lower) == 1 else letter
        return letter


_BARE: Final = _Bare()


def pattern_of(phrase: Sequence[str]) -> re.Pattern[str]:
    """Finds a phrase in a bare text: its words with little between them, whole where they are written with spaces. Linear:
    nothing in it repeats without a bound."""
    told = _BETWEEN.join([_word(bare(word)) for word in phrase])
    first = "" if _APART_RUN.match(phrase[0]) or _NUMBERED.fullmatch(phrase[0]) else r"(?<![^\W_])"
    last = "" if _APART_RUN.match(phrase[-1]) or _NUMBERED.fullmatch(phrase[-1]) else r"(?![^\W_])"
    return re.compile(first + told + last)


def _word(word: str) -> str:
    match = _NUMBERED.fullmatch(word)
    if match is None or int(match[1], 16) > 0x10FFFF:
        return re.escape(word)
    return f"(?:{word}|{re.escape(bare(chr(int(match[1], 16))))})"
