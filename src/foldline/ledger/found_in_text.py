"""Facts of one text, by what they are: paths, identifiers, numbers with their key, failures, names of code.

Owns the order of the kinds and what all of them read: the text with its line ends laid open, and its words, each
once. How a kind is recognised stands in a module of its own beside this one (`paths_in_text`, `identifiers_in_text`,
`numbers_in_text`, `errors_in_text`, `symbols_in_text`). Knows nothing of messages; what a user asked for is read by
`constraints` and `supersession`.

Every step is linear in the text, whatever it holds: words and lines are told apart by the string methods, patterns
run over what is left, and no pattern can fail after a run without a bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, filterfalse

from foldline.core.address import RECALL_OPENING
from foldline.ledger.errors_in_text import errors_in, signs_in
from foldline.ledger.facts import Fact
from foldline.ledger.look_alikes import without_look_alikes
from foldline.ledger.numbers_in_text import numbers_in
from foldline.ledger.symbols_in_text import OPENINGS, definitions_in
from foldline.ledger.word_shapes import Found, Place, classes_of, facts_at, identity, places_in, shape_of

_ESCAPE = re.compile(r'\\(?:[nr"]|t(?![a-z]))')
_ESCAPE_JSON = re.compile(r'\\(?:[nrt"]|\\)')
_DRIVE = re.compile(r"(?<![A-Za-z])[A-Z]:\\\w")
_PLAIN = {"n": " \n", "r": " \n", "t": " \t", '"': ' "'}
WORDS_MAX = 200_000
"""Words remembered before a `Finder` forgets all and starts again: some 40 MB."""

_GIT_OBJECT = re.compile(r"\.git/objects/[0-9a-f]{2}/[0-9a-f]{38,62}")
"""A listing of git's store names nothing that anybody asks for by name."""


def extract(text: str) -> tuple[Fact, ...]:
    """Facts of one text: paths, identifiers and names of code as they come, then what it defines, its numbers (each
    key with each of its values) and the lines that report a failure. Each once. Of many rows that look alike the last
    are read (`look_alikes`).

    The `text` of each fact stands in `text` as it is. For more than one text use one `Finder`, which is faster.
    """
    return Finder()(text)


class Finder:
    """`extract` for the texts of one history. It remembers words, of which a history has few and says them often:
    some 9 MB/s on the transcripts of agents, as much on logs and rows of data. The same text has the same facts
    whatever was read before."""

    def __init__(self, *, words_max: int = WORDS_MAX) -> None:
        self._words_max = words_max
        self._plain: set[str] = set()
        """Words that say nothing: most."""
        self._known: dict[str, tuple[Found, ...]] = {}
        """The other words -> their facts."""
        self._signs: dict[str, tuple[str, ...]] = {}
        """Words that may stand in a line that reports a failure -> what to look for."""
        self._shapes: dict[str, tuple[tuple[Place, ...], tuple[str, ...]]] = {}
        """Shapes of words -> where their facts stand, and their signs."""

    def __call__(self, text: str) -> tuple[Fact, ...]:
        return self.many([text])[0]

    def many(self, texts: Iterable[str]) -> list[tuple[Fact, ...]]:
        """The facts of each text. Their new words are learned together, which costs less than text by text. What recall
        gave back stood elsewhere before: it states nothing, least of all what is newest."""
        split = [self._split("" if text.startswith(RECALL_OPENING) else text) for text in texts]
        words = dict.fromkeys(chain.from_iterable([words for _, _, words in split]))
        self._learn(list(filterfalse(self._known.__contains__, words)))
        found = [self._facts(text, opened, words=words) for text, opened, words in split]
        if len(self._plain) + len(self._known) > self._words_max:
            self._plain, self._known, self._signs, self._shapes = set(), {}, {}, {}
        return found

    def _facts(self, text: str, opened: str, *, words: dict[str, None]) -> tuple[Fact, ...]:
        signs = self._signs
        found = dict(chain.from_iterable(filter(None, map(self._known.get, words))))
        for fact in definitions_in(opened, words):
            found.setdefault(identity(fact), fact)
        facts = [*found.values(), *numbers_in(text, opened)]
        if cues := signs.keys() & words.keys():
            facts += errors_in(text, opened, signs={sign for word in cues for sign in signs[word]})
        return tuple(facts)

    def _split(self, text: str) -> tuple[str, str, dict[str, None]]:
        """A text, the same with its escapes laid open, and those of its words that may say something."""
        text, opened = without_look_alikes(text, laid_open(text))
        if ".git/objects/" in opened:
            opened = _GIT_OBJECT.sub(_blank, opened)
        return text, opened, dict.fromkeys(filterfalse(self._plain.__contains__, opened.split()))

    def _learn(self, words: list[str]) -> None:
        """Words are learned by their shapes, new shapes once."""
        known, plain, signs, shapes = self._known, self._plain, self._signs, self._shapes
        shaped = shape_of("\n".join(words)).split("\n") if words else []
        if fresh := list(filterfalse(shapes.__contains__, dict.fromkeys(shaped))):
            telling = signs_in(fresh)
            for shape, classes in zip(fresh, classes_of("\n".join(fresh)).split("\n"), strict=True):
                shapes[shape] = places_in(shape, classes), telling.get(shape, ())
        for word, (places, cues) in zip(words, map(shapes.__getitem__, shaped), strict=True):
            if cues:
                signs[word] = cues
            if places:
                known[word] = facts_at(word, places)
            elif cues or word in OPENINGS:
                known[word] = ()
            else:
                plain.add(word)


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
