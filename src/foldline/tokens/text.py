"""What it takes to count the tokens of plain text, and the character classes that estimates are made of.

Owns the small port between a `foldline.tokens.counter.Counter` and whatever counts its texts. Knows nothing of
messages. Implementations: `bpe` (exact), `claude` and `families` (corrected), `estimate` (no tokenizer).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Final, Protocol

from msgspec import Struct


class TextCount(Protocol):
    """Counts the tokens of texts. Pure; never raises on any `str`, lone surrogates included."""

    def one(self, text: str) -> int:
        """Tokens of one text; 0 for the empty string."""
        ...

    def many(self, texts: list[str]) -> list[int]:
        """Tokens of each text, in order: the same numbers as `one`, in one call."""
        ...


class Correction(Protocol):
    """What makes the count of another tokenizer of that of a base."""

    def corrected(self, text: str, tokens: int, *, base: TextCount) -> int:
        """Tokens of a text which has so many by the base."""
        ...


class Corrected(Struct, frozen=True):
    """A `TextCount`: a base, corrected to another tokenizer."""

    by: Correction
    base: TextCount

    def one(self, text: str) -> int:
        return self.by.corrected(text, self.base.one(text), base=self.base)

    def many(self, texts: list[str]) -> list[int]:
        return list(map(partial(self.by.corrected, base=self.base), texts, self.base.many(texts)))


class Each(Struct, frozen=True):
    """A plain function as a `TextCount`."""

    function: Callable[[str], int]

    def one(self, text: str) -> int:
        return self.function(text)

    def many(self, texts: list[str]) -> list[int]:
        return list(map(self.function, texts))


LOWER: Final = bytes(range(ord("a"), ord("z") + 1))
UPPER: Final = bytes(range(ord("A"), ord("Z") + 1))
DIGIT: Final = bytes(range(ord("0"), ord("9") + 1))
SPACE: Final = b" \t"
NEWLINE: Final = b"\r\n"
PUNCT: Final = bytes(c for c in range(0x21, 0x7F) if not chr(c).isalnum())


class Ascii(Struct, frozen=True, gc=False):
    """How many characters of each ASCII class a text has; control characters are in none."""

    lower: int
    upper: int
    digit: int
    space: int
    newline: int
    punct: int


def ascii_classes(data: bytes) -> Ascii:
    """The ASCII classes of a text in UTF-8. Each class is counted by what deleting it leaves: the fastest way CPython has."""
    sizes = [len(data)]
    for members in (LOWER, UPPER, DIGIT, SPACE, NEWLINE, PUNCT):
        data = data.translate(None, members)
        sizes.append(len(data))
    return Ascii(*(before - after for before, after in pairwise(sizes)))


class Scripts(Struct, frozen=True, gc=False):
    """How many characters of each group of scripts a text has. `other` is every non-ASCII character left."""

    cyrillic_greek: int = 0
    hebrew_arabic: int = 0
    indic: int = 0
    thai: int = 0
    kana: int = 0
    han: int = 0
    hangul: int = 0
    other: int = 0


NO_SCRIPTS = Scripts()

_ASCII_RUN = re.compile("[\x00-\x7f]+")
_SCRIPTS = tuple(
    re.compile(f"[{ranges}]+")
    for ranges in (
        "\u0370-\u052f\u1f00-\u1fff",
        "\u0590-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb1d-\ufdff\ufe70-\ufefc",
        "\u0900-\u0dff",
        "\u0e00-\u0eff",
        "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f",
        "\u2e80-\u2fdf\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff65\U00020000-\U0003ffff",
        "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
    )
)
"""In the order of the fields of `Scripts`. Full-width forms and CJK punctuation count as Han: they cost as much."""


def script_classes(text: str) -> Scripts:
    """The scripts of a text; O(1) for pure ASCII."""
    if text.isascii():
        return NO_SCRIPTS
    rest = _ASCII_RUN.sub("", text)
    counts = [sum(map(len, pattern.findall(rest))) for pattern in _SCRIPTS]
    cyrillic_greek, hebrew_arabic, indic, thai, kana, han, hangul = counts
    return Scripts(
        cyrillic_greek=cyrillic_greek,
        hebrew_arabic=hebrew_arabic,
        indic=indic,
        thai=thai,
        kana=kana,
        han=han,
        hangul=hangul,
        other=len(rest) - sum(counts),
    )


BLOB_CHARS_MIN: Final = 80
"""A run of base64 or hex characters at least this long may be a blob: shorter than any signature or picture."""
_BLOB_TABLE: Final = bytes(
    ord("x") if (chr(c).isalnum() and c < 128) or c in b"+/_-" else ord(" ") for c in range(256)
)
_DIGITS: Final = 20
"""Random base64 has a digit in every 6.4 characters; a ruler made of dashes and most paths have fewer than one in 20."""
_JOINTS: Final = 16
"""Base64 has one of `/ _ -` in every 32 or 64 characters; a path or a slug has more than one in 16."""


def _is_blob(run: bytes) -> bool:
    joints = run.count(b"/") + run.count(b"_") + run.count(b"-")
    if joints * _JOINTS > len(run):
        return False
    return (len(run) - len(run.translate(None, DIGIT))) * _DIGITS >= len(run)


def runs_of(data: bytes, length_min: int) -> Iterator[tuple[int, int]]:
    """Runs of at least `length_min` base64 characters in a text in UTF-8: start and end of each, ascending.

    Looks for the last gap in the next window and goes on behind it, so that most bytes are never looked at.
    """
    if len(data) < length_min:
        return
    marks, at = data.translate(_BLOB_TABLE), 0
    while at + length_min <= len(marks):
        gap = marks.rfind(b" ", at, at + length_min)
        if gap < 0:
            gap = marks.find(b" ", at)
            gap = gap if gap >= 0 else len(marks)
            yield at, gap
        at = gap + 1


def find_blobs(data: bytes) -> list[tuple[int, int]]:
    """Where base64 and hex stand in a text in UTF-8: start and end of each blob, ascending."""
    return [(start, end) for start, end in runs_of(data, BLOB_CHARS_MIN) if _is_blob(data[start:end])]
