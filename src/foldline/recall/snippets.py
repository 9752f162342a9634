"""Snippets: the few words around what was found, on one line, with the number of the line they stand in.

Knows text and phrases. Costs one walk over the text; a text is never walked twice for one phrase.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.clamp import head_end, plain, tail_start
from foldline.recall.words import bare, pattern_of

CHARS_MAX: Final = 240
"""Characters of a snippet."""
BEFORE: Final = 60
"""Characters of it before what was found."""
PLACES_MAX: Final = 16
"""Places of one phrase that are compared."""
TEXT_CHARS_MAX: Final = 4_000_000
"""Characters of one part that are searched for the place."""

_SPACE: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class Snippet(Struct, frozen=True, kw_only=True):
    """Where in a text the words stand, and what stands there."""

    text: str
    line: int
    """From 1, counted at line feeds."""
    found: bool
    """False when the place was not found, as with another spelling of an accent: then it is the beginning."""
    counts: tuple[int, ...] = ()
    """How often each phrase stands in the text, up to `PLACES_MAX`."""


def snippet(text: str, phrases: Sequence[Sequence[str]]) -> Snippet:
    """The piece of the text that holds most of the phrases."""
    looked = bare(text[:TEXT_CHARS_MAX])
    places = sorted(
        (match.start(), number)
        for number, phrase in enumerate(phrases)
        for match in islice(pattern_of(phrase).finditer(looked), PLACES_MAX)
    )
    best = max(places, key=lambda place: (_held(places, place[0]), -place[0]), default=(0, 0))
    numbers = Counter(number for _, number in places)
    counts = tuple(numbers[number] for number in range(len(phrases)))
    return replace(_around(text, best[0], found=bool(places)), counts=counts)


def literal_snippet(text: str, wanted: str) -> Snippet:
    """The same for a query without a word, as it stands."""
    at = text.find(wanted)
    return _around(text, max(0, at), found=at >= 0)


def _held(places: Sequence[tuple[int, int]], first: int) -> int:
    """How many phrases stand in a snippet that begins there."""
    start, end = bisect_left(places, (first, 0)), bisect_left(places, (first + CHARS_MAX - BEFORE, 0))
    return len({number for _, number in places[start:end]})


def _around(text: str, at: int, *, found: bool) -> Snippet:
    start = _clean_start(text, max(0, at - BEFORE))
    end = head_end(text, start + CHARS_MAX)
    told = _SPACE.sub(" ", plain(text[start:end])).strip()
    shown = ("…" if start else "") + told + ("…" if end < len(text) else "")
    return Snippet(text=shown, line=text.count("\n", 0, at) + 1, found=found)


def _clean_start(text: str, start: int) -> int:
    """A border at or behind `start`, after a space where one is near."""
    space = text.find(" ", start, start + 20) if start else -1
    return space + 1 if space >= 0 else tail_start(text, len(text) - start)
