"""What one word says: its paths, identifiers and names of code, found once for all words of the same shape.

The shape of a word is the word with zeros for its digits: `took=137` and `took=842` say the same of different
numbers, and a history has few shapes. No kind of fact asks which digit stands where, so the facts of a word are
those of its shape, at the same places. Knows nothing of texts; `found_in_text` splits them and remembers words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import ascii_letters
from typing import TypeAlias

from foldline.ledger.facts import INITIALS, Fact, FactKind, Named
from foldline.ledger.identifiers_in_text import ID_CHARS_MIN, UUID, identifiers_in, is_id
from foldline.ledger.paths_in_text import NAMES, key_of, paths_in
from foldline.ledger.symbols_in_text import SYMBOL_CHARS_MIN, is_name

Place: TypeAlias = tuple[FactKind, int, int]
"""Of a fact in a word: its kind, its start and its end."""

_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_CLASSES = bytes.maketrans(ascii_letters.encode(), b"a" * 26 + b"A" * 26)
_TOKEN_CHARS_MIN = min(ID_CHARS_MIN, SYMBOL_CHARS_MIN)
_TOKEN = re.compile(rf"[A-Za-z0-9_]{{{_TOKEN_CHARS_MIN},}}")


def shape_of(text: str) -> str:
    """A word, or many apart, with zeros for its digits. Every character keeps its place."""
    return text.encode(errors="surrogatepass").translate(_ZEROS).decode(errors="surrogatepass")


def classes_of(shape: str) -> str:
    """A shape, or many apart, with `a` for its small letters and `A` for its capitals. Every character keeps its place."""
    return shape.encode(errors="surrogatepass").translate(_CLASSES).decode(errors="surrogatepass")


def places_in(shape: str, classes: str) -> tuple[Place, ...]:
    """Where the facts of a word of this shape stand; none for most words. `classes` is `classes_of` the shape: a look for
    two classes side by side costs a tenth of an expression."""
    is_mixed = _is_mixed(classes)
    if not (is_mixed or _is_marked(classes) or shape in NAMES):
        return ()
    places: list[Place] = []
    if "/" in shape or "." in shape or "\\" in shape or shape in NAMES:
        places += _placed(shape, paths_in(shape), kind="paths")
    if identifiers := identifiers_in(shape, classes):
        places += _placed(shape, identifiers, kind="identifiers")
    if is_mixed:
        _add_tokens(shape, places)
    return tuple(places)


def _is_mixed(classes: str) -> bool:
    """False for a word that holds neither an id nor a name of code."""
    return (
        "_" in classes
        or "aA" in classes
        or "a0" in classes
        or "0a" in classes
        or "A0" in classes
        or "0A" in classes
    )


def _is_marked(classes: str) -> bool:
    """False for a word without what all paths and identifiers have."""
    return (
        "0" in classes
        or "/" in classes
        or ".a" in classes
        or ".A" in classes
        or "@" in classes
        or "#" in classes
        or "\\" in classes
    )


def facts_at(word: str, places: Iterable[Place]) -> tuple[Named, ...]:
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


def _add_tokens(shape: str, places: list[Place]) -> None:
    """Ids of records, then names of code."""
    names: list[Place] = []
    if "-" in shape:
        shape = UUID.sub(_blank, shape)
    end = 0
    for token in _TOKEN.findall(shape):
        start = shape.find(token, end)
        end = start + len(token)
        if "0" in token and is_id(token):
            places.append(("identifiers", start, end))
        if is_name(token):
            names.append(("symbols", start, end))
    places += names


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
