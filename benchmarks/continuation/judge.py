"""The judge: what counts as a fact in a text, and whether a text holds it.

Owns small patterns of its own, so that a design of the ledger is not judged by the ledger's extractors. Knows text
alone; `need` says which facts count, `rows` what is searched.

    paths         a/b/c.py, ./x, /etc/hosts, package.json
    identifiers   URLs, hashes, UUIDs, ticket ids, scoped packages
    numbers       a number with its key: port=8787, "latency_ms": 12, line 137, 端口 8080
    names         names of code: snake_case, camelCase, PascalCase of two words or more, what def/class/… introduces
    figures       a number alone, of three digits or more, whatever its key
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["paths", "identifiers", "numbers", "names", "figures"]
KINDS: tuple[Kind, ...] = ("paths", "identifiers", "numbers", "names", "figures")

FACT_CHARS_MAX = 200
"""Longer matches are data (minified code, base64), not facts."""
PATTERNS_KEPT_MAX = 20_000
PATH_CHARS_MIN = 4
"""A rooted path of one or two names has this many characters or more."""
FIGURE_DIGITS_MIN = 3
PLAIN_CHARS_MIN = 2
"""A number with nothing but a space before it has this many characters or more: `else 0` and `head -1` are none."""

_URL = re.compile(r"https?://[^\s\"'<>()\[\]{}`\\|]+")
_PATH = re.compile(r"(?<![\w/.~@-])(?:~/|\.{1,2}/|/|@)?(?:[\w.@+-]+/)+[\w.@+-]*\w")
_FILE = re.compile(
    r"(?<![\w/.-])[\w-]+(?:\.[\w-]+)*\.(?:py|pyi|ipynb|tsx?|jsx?|mjs|cjs|json[l5]?|md|mdx|ya?ml|toml|lock|cfg|ini|env|txt|csv|"
    r"sh|bash|rs|go|java|kt|rb|php|c|cc|cpp|cu|cuh|h|hpp|cs|swift|html?|css|scss|svg|png|jpe?g|pdf|sql|xml|patch|diff)"
    r"(?![\w-]|\.\w)"
)
_ID = re.compile(
    r"(?<![\w-])(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?=[0-9a-f]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,64}|[A-Z]{2,10}-\d{1,6})(?![\w-])"
)
_NUMBER = re.compile(
    r"(?<![\w.-])([^\W\d][\w.-]{1,30})[\"'`\])]{0,2}([ \t]?[=:][ \t]?|[ \t])[\"'`]?(-?\d+(?:\.\d+)?)(?!\w|\.\d)"
)
_FIGURE = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?:ms|s|k|kb|mb|gb|x|%)?(?![\w]|[.,]\d)", re.IGNORECASE)
_NAME = re.compile(
    r"(?<![\w-])(?:_*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+|[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+"
    r"|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+)(?![\w-])"
)
_DEFINED = re.compile(
    r"\b(?:def|class|function|interface|struct|enum|trait|func|fn)\s+([A-Za-z_]\w{2,60})(?=[(:<{\[])"
)
_DIGIT_SEGMENTS = re.compile(r"[\d./:+-]+")
_WORDS = re.compile(r"\w+")
_RUN = r"(?:-?\d+(?:\.\d+)?(?:[ \t·]?[A-Za-zµ]{1,8})?%?[ \t]?[,;|·/][ \t]?){0,60}"
"""Other numbers of the same key before the one that is looked for."""
_LITTLE_WORDS = frozenset(
    "a an the of to in on at by or and for from with is are was were be been has have had as than then over under about "
    "all only just not no if it its this that these those first last next up into per least most more less between".split()
)
"""Words before a number that are no key."""


class Fact(NamedTuple):
    """One fact. Two mentions of the same text are the same fact."""

    kind: Kind
    text: str
    """What has to be found; a keyed number's key."""
    value: str = ""
    """A keyed number's value."""

    def __str__(self) -> str:
        return f"{self.text}={self.value}" if self.value else self.text


def facts_in(text: str) -> tuple[Fact, ...]:
    """The facts of a text, each once, in the order of the kinds and then of the text. A piece of text counts for
    one kind: numbers and names inside a path or an identifier are none of their own."""
    found = dict.fromkeys(_facts(text))
    return tuple(fact for fact in found if len(fact.text) <= FACT_CHARS_MAX)


def _facts(text: str) -> Iterator[Fact]:
    for match in _URL.findall(text):
        yield Fact("identifiers", match.rstrip(".,;:!?*"))
    text = _URL.sub(" ", text)
    for match in _PATH.findall(text):
        if match.startswith("@"):
            yield Fact("identifiers", match)
        elif _is_path(match):
            yield Fact("paths", match)
    text = _PATH.sub(" ", text)
    yield from (Fact("paths", match) for match in _FILE.findall(text))
    text = _FILE.sub(" ", text)
    yield from (Fact("identifiers", match) for match in _ID.findall(text))
    yield from _without_places(_ID.sub(" ", text))


def _without_places(text: str) -> Iterator[Fact]:
    """Numbers and names of a text in which no path, URL or id is left."""
    for key, gap, value in _NUMBER.findall(text):
        if gap.strip() or _is_key(key, value):
            yield Fact("numbers", key, value)
    yield from (Fact("names", match) for match in _DEFINED.findall(text))
    yield from (Fact("names", match) for match in _NAME.findall(text))
    for match in _FIGURE.findall(text):
        if sum(char.isdigit() for char in match) >= FIGURE_DIGITS_MIN:
            yield Fact("figures", match)


def _is_key(word: str, value: str) -> bool:
    """True for a word that says what the number after it, with a space between, is a number of."""
    return word.lower() not in _LITTLE_WORDS and len(value) >= PLAIN_CHARS_MIN and value[0] != "-"


def _is_path(text: str) -> bool:
    """True for a path, not for words with a slash between (`and/or`, `3/4`, `input/output`, `a.full/a.zeros`)."""
    if _DIGIT_SEGMENTS.fullmatch(text):
        return False
    segments = [segment for segment in text.split("/") if segment]
    rooted = text[0] in "/.~"
    return (
        len(segments) > 2
        or (rooted and len(text) >= PATH_CHARS_MIN)
        or _FILE.fullmatch(segments[-1]) is not None
    )


@lru_cache(PATTERNS_KEPT_MAX)
def words_of(fact: Fact) -> tuple[str, ...]:
    """The words that every text with the fact holds, longest first."""
    return tuple(
        sorted(set(_WORDS.findall(f"{fact.text} {fact.value}")), key=lambda word: (-len(word), word))
    )


def words_in(text: str) -> frozenset[str]:
    """Every word of a text."""
    return frozenset(_WORDS.findall(text))


def occurs(fact: Fact, text: str) -> bool:
    """True when the text holds the fact as whole words: `src/a.py` is in `/home/x/src/a.py:3`, not in `src/a.pyc`. A
    keyed number must stand beside its key, with any of ` = : " '` between, or in a run of numbers after it
    (`limit: 20, 50, 30`)."""
    if fact.value:
        return _numbered(fact).search(text) is not None
    start = text.find(fact.text)
    while start >= 0:
        if _ends_words(text, start, end=start + len(fact.text)):
            return True
        start = text.find(fact.text, start + 1)
    return False


@lru_cache(PATTERNS_KEPT_MAX)
def _numbered(fact: Fact) -> re.Pattern[str]:
    key, value = re.escape(fact.text), re.escape(fact.value)
    return re.compile(
        rf"(?<!\w){key}[\"'`\])]{{0,2}}[ \t]{{0,2}}[=:]?[ \t]{{0,2}}{_RUN}[\"'`]?{value}(?!\w|\.\d)"
    )


def _ends_words(text: str, start: int, *, end: int) -> bool:
    """True when neither end of the range cuts a word. A hyphen or dot joins words only between two of them."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if _is_word(before[-1:]) and _is_word(text[start]):
        return False
    if before[-1:] == "-" and _is_word(before[:1]):
        return False
    if _is_word(after[:1]):
        return False
    return not (after[:1] in ("-", ".") and _is_word(after[1:]))


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
