"""What single words say: their paths, identifiers and names of code, found for many words together.

Most of it is told by the classes of a word's characters (`shapes`), and a history has few of those: no `aaaa=000` says anything,
and of `aaa/aaaa_00.aa` it is known where a path would stand. So words of the same classes have one `_Form`, which is read once, and
only what letters tell is asked of each word. Knows nothing of texts; `found_in_lines` splits those and remembers words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct

from foldline.ledger.errors_in_text import signs_in
from foldline.ledger.facts import INITIALS, Fact, FactKind, Named
from foldline.ledger.identifiers_in_text import ID_CHARS_MIN, UUID, UUID_CHARS, identifiers_in, is_id
from foldline.ledger.paths_in_text import (
    EXTENSIONS,
    GIT,
    NAME_CLASSES,
    PathForm,
    key_of,
    may_hold_path,
    path_form,
    paths_in,
)
from foldline.ledger.shapes import classes_of, shape_of
from foldline.ledger.symbols_in_text import SYMBOL_CHARS_MIN, is_name

Place: TypeAlias = tuple[FactKind, int, int]
"""Of a fact in a word: its kind, its start and its end."""

_TOKEN = re.compile(rf"[A-Za-z0-9_]{{{min(ID_CHARS_MIN, SYMBOL_CHARS_MIN)},}}")
_MAY_SAY = re.compile(r"[0/\\_@]|aA|\.[A-Za-z]")
"""What classes hold of which one fact or another is made: all but `NAMES` and a `UUID` without digits."""


class _Form(Struct, frozen=True, kw_only=True, gc=False):
    """What the classes of a word tell."""

    path: PathForm | None
    may_hold_path: bool
    classes: str
    """Empty where no punctuation tells of an identifier."""
    tokens: list[Place] | None
    """Ids of records, then names of code; `None` where letters tell."""


class WordReader:
    """Finds the facts of words. Remembers the forms that they have."""

    def __init__(self) -> None:
        self._forms: dict[str, _Form | None] = {}
        """Classes → what they tell; of most, that there is nothing."""

    def __len__(self) -> int:
        return len(self._forms)

    def read(self, words: Sequence[str]) -> tuple[dict[str, tuple[Named, ...]], dict[str, tuple[str, ...]]]:
        """The facts of each word that has any: its paths first, then its identifiers, then names of code; and of each word
        that may stand in a line that reports a failure what to look for."""
        forms = self._forms
        joined = shape_of("\n".join(words))
        shapes, classes = joined.split("\n"), classes_of(joined).split("\n")
        forms.update({one: _form_of(one) for one in set(classes) if one not in forms})
        facts: dict[str, tuple[Named, ...]] = {}
        for word, shape, form in zip(words, shapes, map(forms.__getitem__, classes), strict=False):
            if form is not None and (places := _places(shape, form)):
                facts[word] = _facts_at(word, places)
        return facts, signs_in(words)


def _form_of(classes: str) -> _Form | None:
    """What classes tell; `None` where that is that there is nothing."""
    has_uuid = len(classes) >= UUID_CHARS and "-" in classes and UUID.search(classes) is not None
    if not (has_uuid or _MAY_SAY.search(classes) is not None or classes in NAME_CLASSES):
        return None
    has_digits, has_path = "0" in classes, may_hold_path(classes)
    tokens = _tokens_in(classes)
    # letters tell what is hexadecimal (`a` is, `g` is not) and what is a version
    is_told = not has_digits or (
        not has_uuid and tokens == _tokens_in(classes.replace("a", "g").replace("A", "G"))
    )
    has_identifier = has_uuid or bool(identifiers_in(classes.replace("a0", "v0"), classes))
    if is_told and not (tokens or has_path or has_identifier):
        return None
    return _Form(
        path=path_form(classes) if has_path else None,
        may_hold_path=has_path,
        classes=classes if has_identifier else "",
        tokens=tokens if is_told else None,
    )


def _places(shape: str, form: _Form) -> list[Place]:
    """Where the facts of a word of this shape stand."""
    places = _paths(shape, form)
    if form.classes:
        places += _placed(shape, identifiers_in(shape, form.classes), kind="identifiers")
    return places + (_tokens_in(UUID.sub(_blank, shape)) if form.tokens is None else form.tokens)


def _paths(shape: str, form: _Form) -> list[Place]:
    path = form.path
    if path is not None:
        is_file = shape[path.dot + 1 : path.end] in EXTENSIONS
        if is_file == path.has_folders and GIT not in shape:
            return [("paths", path.start, path.end)] if is_file else []
    return _placed(shape, paths_in(shape), kind="paths") if form.may_hold_path else []


def _tokens_in(shape: str) -> list[Place]:
    """The ids of records, then the names of code, among the tokens of a word."""
    ids: list[Place] = []
    names: list[Place] = []
    for match in _TOKEN.finditer(shape):
        token = match[0]
        if "0" in token and is_id(token):
            ids.append(("identifiers", *match.span()))
        if ("_" in token or not token.islower()) and is_name(token):
            names.append(("symbols", *match.span()))
    return ids + names


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
