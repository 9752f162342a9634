"""Texts that make a bad regular expression slow, made from the expression itself.

Takes an expression apart with the standard library's own parser and gives texts built of what it looks for: what it
matches in its beginnings, over and over; each repeated piece with a near miss behind it; each alternative; and the
fillers that everything is tried with.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

parser: Any = importlib.import_module("re._parser")
sre: Any = importlib.import_module("re._constants")

FILLERS = (
    "a",
    "A",
    "0",
    " ",
    "\n",
    "\\",
    '"',
    "'",
    "/",
    ".",
    "<",
    "[",
    "{",
    "-",
    "_",
    ":",
    "=",
    "é",
    "中",
    "a ",
    "0.",
    "a/",
    '\\"',
)
MISSES = ("", "\0", "!", "\n")
PIECES_MAX = 60
"""Texts for one expression, its fillers apart."""
DEPTH_MAX = 12

Nodes = Any


def attacks(pattern: re.Pattern[Any]) -> list[str]:
    """Short texts to be repeated; for an expression over bytes they are Latin-1 and UTF-8 safe."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    pieces = dict.fromkeys(FILLERS)
    whole = _sample(tree, repeats=2)
    found = [whole, *[whole[:n] for n in _cuts(whole)], *_bodies(tree)]
    for piece in found[:PIECES_MAX]:
        if piece:
            pieces[piece] = None
    return list(pieces)


def _cuts(text: str) -> Iterator[int]:
    yield from range(1, min(len(text), 20))
    if text:
        yield len(text) - 1


def _bodies(tree: Nodes, depth: int = 0) -> Iterator[str]:
    """A sample of each repeated piece and each alternative, with what stands before it."""
    before = ""
    for op, value in tree if depth < DEPTH_MAX else ():
        for inner in _inner(op, value):
            sample = _sample(inner, repeats=1)
            yield before + sample
            yield sample
            yield from _bodies(inner, depth + 1)
        before += _one(op, value, repeats=1)


def _inner(op: Any, value: Any) -> list[Nodes]:
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        return [value[2]]
    if op is sre.SUBPATTERN:
        return [value[3]]
    if op is sre.BRANCH:
        return list(value[1])
    if op in (sre.ASSERT, sre.ASSERT_NOT):
        return [value[1]]
    if op is sre.ATOMIC_GROUP:
        return [value]
    return []


def _sample(tree: Nodes, *, repeats: int) -> str:
    return "".join(_one(op, value, repeats=repeats) for op, value in tree)


def _one(op: Any, value: Any, *, repeats: int) -> str:
    if op is sre.LITERAL:
        return chr(value)
    if op is sre.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if op is sre.ANY:
        return "a"
    if op is sre.IN:
        return _member(value)
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        low, high, body = value
        return _sample(body, repeats=repeats) * min(max(int(low), repeats), int(high))
    if op is sre.SUBPATTERN:
        return _sample(value[3], repeats=repeats)
    if op is sre.BRANCH:
        return _sample(value[1][0], repeats=repeats)
    if op is sre.ATOMIC_GROUP:
        return _sample(value, repeats=repeats)
    return ""


_CLASSES = {sre.CATEGORY_DIGIT: "0", sre.CATEGORY_SPACE: " ", sre.CATEGORY_WORD: "a"}
_TRIED = "a0 /._-:\\\"'[]{}<>!\n\tA中\x1b\x07\u202e"


def _member(items: list[tuple[Any, Any]]) -> str:
    negated = bool(items) and items[0][0] is sre.NEGATE
    if negated:
        return next((char for char in _TRIED if not _holds(items[1:], char)), "~")
    op, value = items[0]
    if op is sre.LITERAL:
        return chr(value)
    if op is sre.RANGE:
        return chr(value[0])
    return str(_CLASSES.get(value, "~"))


def _holds(items: Any, char: str) -> bool:
    for op, value in items:
        if op is sre.LITERAL and chr(value) == char:
            return True
        if op is sre.RANGE and value[0] <= ord(char) <= value[1]:
            return True
        if op is sre.CATEGORY and re.match(_SHORT[value], char):
            return True
    return False


_SHORT = {
    sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_NOT_DIGIT: r"\D", sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S", sre.CATEGORY_WORD: r"\w", sre.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip
