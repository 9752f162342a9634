"""Facts of one text, by what they are: paths, identifiers, numbers with their key, failures, names of code.

Owns the order of the kinds and what all of them read: the text with its line ends laid open, and its words, each
once. How a kind is recognised stands in a module of its own beside this one (`paths_in_text`, `identifiers_in_text`,
`numbers_in_text`, `errors_in_text`, `symbols_in_text`). Knows nothing of messages; what a user asked for is read by
`said_by_user`.

Every step is linear in the text, whatever it holds: words and lines are told apart by the string methods, patterns
run over what is left, and no pattern can fail after a run without a bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from foldline.ledger.errors_in_text import errors_in, signs_in
from foldline.ledger.facts import Fact
from foldline.ledger.identifiers_in_text import identifiers_in
from foldline.ledger.numbers_in_text import numbers_in
from foldline.ledger.paths_in_text import NAMES, paths_in
from foldline.ledger.symbols_in_text import definitions_in, is_name

_ESCAPE = re.compile(r'\\(?:[nr"]|t(?![a-z]))')
_ESCAPE_JSON = re.compile(r'\\(?:[nrt"]|\\)')
_DRIVE = re.compile(r"(?<![A-Za-z])[A-Z]:\\\w")
_PLAIN = {"n": " \n", "r": " \n", "t": " \t", '"': ' "'}
WORDS_MAX = 200_000
"""Words remembered before a `Finder` forgets all and starts again: some 40 MB."""

_TELLING = re.compile(r"[0-9_/\\@#]|\.[A-Za-z]|[a-z][A-Z]")
"""Without one of these a word is neither a path nor an identifier nor a name of code."""
_GIT_OBJECT = re.compile(r"\.git/objects/[0-9a-f]{2}/[0-9a-f]{38,62}")
"""A listing of git's store names nothing that anybody asks for by name."""
_TOKEN = re.compile(r"[A-Za-z0-9_]+")


def extract(text: str) -> tuple[Fact, ...]:
    """Facts of one text: paths, identifiers and names of code as they come, then what it defines, its numbers (each
    key with each of its values) and the lines that report a failure. Each once.

    The `text` of each fact stands in `text` as it is. For more than one text use one `Finder`, which is faster.
    """
    return Finder()(text)


class Finder:
    """`extract` for the texts of one history. It remembers words, of which a history has few and says them often:
    some 8 MB/s on the transcripts of agents, 4 on text of nothing but numbers and ids. The same text has the same facts whatever was read before."""

    def __init__(self) -> None:
        self._plain: set[str] = set()
        """Words that say nothing: most."""
        self._facts: dict[str, tuple[tuple[str, Fact], ...]] = {}
        """The other words -> their facts, each with what makes it the same."""
        self._signs: dict[str, tuple[str, ...]] = {}
        """Words that may stand in a line that reports a failure -> what to look for."""

    def __call__(self, text: str) -> tuple[Fact, ...]:
        opened = laid_open(text)
        if ".git/objects/" in opened:
            opened = _GIT_OBJECT.sub(_blank, opened)
        words = dict.fromkeys(opened.split())
        plain, known, signs = self._plain, self._facts, self._signs
        telling = [word for word in words if word not in plain]
        if new := [word for word in telling if word not in known]:
            self._learn(new)
        found = dict([pair for word in telling if (pairs := known.get(word)) for pair in pairs])
        for fact in definitions_in(opened, words):
            found.setdefault(_identity(fact), fact)
        facts = [*found.values(), *numbers_in(text, opened)]
        if cues := [sign for word in telling if word in signs for sign in signs[word]]:
            facts += errors_in(text, opened, signs=cues)
        if len(plain) + len(known) > WORDS_MAX:
            plain.clear()
            known.clear()
            signs.clear()
        return tuple(facts)

    def _learn(self, words: Sequence[str]) -> None:
        known, plain, signs = self._facts, self._plain, signs_in(words)
        self._signs.update(signs)
        for word in words:
            telling = _TELLING.search(word) is not None or word in NAMES
            facts = tuple([(_identity(fact), fact) for fact in _facts_of(word)]) if telling else ()
            if facts or word in signs:
                known[word] = facts
            else:
                plain.add(word)


def _facts_of(word: str) -> Iterator[Fact]:
    tokens = [token for token in _TOKEN.findall(word) if not (token.isalpha() and token[1:].islower())]
    yield from paths_in(word)
    yield from identifiers_in(word, tokens)
    for token in tokens:
        if is_name(token):
            yield Fact(kind="symbols", key=token, text=token)


def _identity(fact: Fact) -> str:
    return fact.kind[0] + fact.key


def laid_open(text: str) -> str:
    """The text with escaped line ends, tabs and quotes (strings within JSON) turned into real ones and carriage
    returns into line ends. Every character keeps its place. Text with a Windows drive that is no JSON is left alone:
    `C:\\new` is no escape."""
    if "\r" in text:
        text = text.replace("\r", "\n")
    if "\\" not in text:
        return text
    if text[0] in '{["':
        return _ESCAPE_JSON.sub(_plain, text)
    return text if _DRIVE.search(text) else _ESCAPE.sub(_plain, text)


def _plain(match: re.Match[str]) -> str:
    escaped = match[0][1]
    return _PLAIN.get(escaped, match[0])


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
