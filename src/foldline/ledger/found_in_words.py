"""What single words say: their paths, identifiers and names of code, found for many words together.

Words of one shape (`shapes`) say the same at the same places: `took=137` and `took=842`. So each shape is read once, and
what it says is quoted from its words. Knows nothing of texts; `found_in_lines` splits those and remembers words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, compress
from typing import TypeAlias

from foldline.ledger.errors_in_text import signs_in
from foldline.ledger.facts import INITIALS, Fact, FactKind, Named
from foldline.ledger.identifiers_in_text import ID_CHARS_MIN, UUID, identifiers_in, is_id
from foldline.ledger.paths_in_text import NAMES, key_of, paths_in
from foldline.ledger.sentences import Span
from foldline.ledger.shapes import classes_of, shape_of
from foldline.ledger.symbols_in_text import SYMBOL_CHARS_MIN, is_name

Place: TypeAlias = tuple[FactKind, int, int]
"""Of a fact in a word: its kind, its start and its end."""

_ID: tuple[FactKind, ...] = ("identifiers",)
_NAME: tuple[FactKind, ...] = ("symbols",)
_ID_AND_NAME = (*_ID, *_NAME)
_TOKEN = re.compile(rf"[A-Za-z0-9_]{{{min(ID_CHARS_MIN, SYMBOL_CHARS_MIN)},}}")
_UUID_MIDDLE = re.compile(r"-[0a-fA-F]{4}-[0a-fA-F]{4}-[0a-fA-F]{4}-")
_MARKS = ("://", "@", "A-0", "0-0", "#0", "#A", "0.0", "=0", "=v0")
"""In the classes of a word, one of these stands where an identifier is told by its punctuation, but for a UUID."""


class WordReader:
    """Finds the facts of words. Remembers which tokens are names: a history has few, and says them often."""

    def __init__(self) -> None:
        self._tokens: dict[str, tuple[FactKind, ...]] = {}
        """Tokens, in their shape -> what they are; most are nothing."""

    def __len__(self) -> int:
        return len(self._tokens)

    def read(self, words: Sequence[str]) -> tuple[dict[str, tuple[Named, ...]], dict[str, tuple[str, ...]]]:
        """The facts of each word that has any: its paths first, then its identifiers, then names of code; and of each word
        that may stand in a line that reports a failure what to look for."""
        shapes = shape_of("\n".join(words)).split("\n")
        distinct = list(dict.fromkeys(shapes))
        places, signs = self._places(distinct), signs_in(distinct)
        facts = {
            word: _facts_at(word, of_shape)
            for word, of_shape in zip(words, map(places.get, shapes), strict=False)
            if of_shape
        }
        return facts, {
            word: signs[shape] for word, shape in zip(words, shapes, strict=False) if shape in signs
        }

    def _places(self, shapes: Sequence[str]) -> dict[str, list[Place]]:
        """Where the facts of words of these shapes stand, of those that have any."""
        joined = "\n".join(shapes)
        starts = list(accumulate([len(shape) + 1 for shape in shapes], initial=0))
        found: dict[str, list[Place]] = {}
        for shape in shapes:
            if ("/" in shape or "." in shape or "\\" in shape or shape in NAMES) and (
                paths := paths_in(shape)
            ):
                found[shape] = _placed(shape, paths, kind="paths")
        classes = classes_of(joined)
        uuids = [match.start() for match in _UUID_MIDDLE.finditer(joined)]
        for number in sorted({bisect_right(starts, at) - 1 for at in (*uuids, *_marks(classes))}):
            shape = shapes[number]
            if identifiers := identifiers_in(shape, classes[starts[number] : starts[number + 1] - 1]):
                found.setdefault(shape, []).extend(_placed(shape, identifiers, kind="identifiers"))
        for kind, spans in self._tokens_in(UUID.sub(_blank, joined) if uuids else joined).items():
            for start, end in spans:
                number = bisect_right(starts, start) - 1
                place = kind, start - starts[number], end - starts[number]
                found.setdefault(shapes[number], []).append(place)
        return found

    def _tokens_in(self, shapes: str) -> dict[FactKind, list[Span]]:
        """The ids of records, then the names of code, among the tokens of shapes."""
        known = self._tokens
        found: dict[FactKind, list[Span]] = {"identifiers": [], "symbols": []}
        tokens = _TOKEN.findall(shapes)
        known.update({token: _kinds_of(token) for token in set(tokens) if token not in known})
        # most are nothing: only the others are looked at one by one
        named = list(map(known.__getitem__, tokens))
        for match, kinds in zip(compress(_TOKEN.finditer(shapes), named), filter(None, named), strict=True):
            for kind in kinds:
                found[kind].append(match.span())
        return found


def _kinds_of(token: str) -> tuple[FactKind, ...]:
    if "0" in token and is_id(token):
        return _ID_AND_NAME if is_name(token) else _ID
    return _NAME if is_name(token) else ()


def _marks(classes: str) -> Iterator[int]:
    """Where words are marked that may hold an identifier: each word once for each of the `_MARKS`."""
    for mark in _MARKS:
        at = classes.find(mark)
        while at >= 0:
            yield at
            end = classes.find("\n", at)
            at = classes.find(mark, end) if end >= 0 else -1


def _facts_at(word: str, places: Iterable[Place]) -> tuple[Named, ...]:
    """The facts of a word, given where its shape has them. A path's key is `paths_in_text.key_of` of it."""
    found: list[Named] = []
    for kind, start, end in places:
        text = word[start:end]
        key = key_of(text) if kind == "paths" else text
        found.append((INITIALS[kind] + key, Fact(kind=kind, key=key, text=text)))
    return tuple(found)


def _placed(shape: str, texts: Iterable[str], *, kind: FactKind) -> list[Place]:
    places: list[Place] = []
    behind: dict[str, int] = {}
    for text in texts:
        start = shape.find(text, behind.get(text, 0))
        if start >= 0:  # else two patterns found the same
            behind[text] = start + 1
            places.append((kind, start, start + len(text)))
    return places


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
