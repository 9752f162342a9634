"""Facts of one text, by what they are: paths, identifiers, numbers with their key, failures, names of code.

Owns the order of the kinds and what all of them read: the text with its line ends laid open, line by line. What a line
says is found by `found_in_lines`, once for all lines that are the same. Knows nothing of messages; what a user asked for
is read by `constraints` and `supersession`.

Every step is linear in the text, whatever it holds: words and lines are told apart by the string methods, patterns
run over what is left, and no pattern can fail after a run without a bound.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import itemgetter

from foldline.core.address import RECALL_OPENING
from foldline.ledger.facts import Fact, Found, Name, Named
from foldline.ledger.found_in_lines import Line, LineReader, Said, with_escapes
from foldline.ledger.look_alikes import rows_of

_ESCAPE = re.compile(r'\\(?:[nr"]|t(?![a-z]))')
_ESCAPE_JSON = re.compile(r'\\(?:[nrt"]|\\)')
_DRIVE = re.compile(r"(?<![A-Za-z])[A-Z]:\\\w")
_PLAIN = {"n": " \n", "r": " \n", "t": " \t", '"': ' "'}
WORDS_MAX = 200_000
"""Words remembered before a `Finder` forgets all and starts again; of lines, and of words with their facts, a quarter
(`found_in_lines`): some 15 MB. The history of `benchmarks/bench_compact`, 1.2 million tokens, takes half of it."""
VALUES_MAX = 64
"""Values of one key kept of one text, the last ones: a key with more is a column of data."""

_GIT_OBJECT = re.compile(r"\.git/objects/[0-9a-f]{2}/[0-9a-f]{38,62}")
"""A listing of git's store names nothing that anybody asks for by name."""
NOTHING = Found(facts=(), names=(), numbers=0, errors=0)


def extract(text: str) -> tuple[Fact, ...]:
    """Facts of one text: paths, identifiers and names of code as they come, then what it defines, its numbers (each
    key with each of its values) and the lines that report a failure. Each once. Of many rows that look alike the last
    are read (`look_alikes`).

    The `text` of each fact stands in `text` as it is. For more than one text use one `Finder`, which is faster.
    """
    return Finder()(text)


class Finder:
    """`extract` for the texts of one history. It remembers lines and words, of which a history has few and says them often.
    The same text has the same facts whatever was read before."""

    def __init__(self, *, words_max: int = WORDS_MAX) -> None:
        self._reader = LineReader(words_max=words_max)

    def __call__(self, text: str) -> tuple[Fact, ...]:
        return self.many([text])[0].facts

    def many(self, texts: Iterable[str]) -> list[Found]:
        """The facts of each text. Their new lines are learned together, which costs less than text by text. What recall
        gave back stood elsewhere before: it states nothing, least of all what is newest."""
        lines = [_lines_of("" if text.startswith(RECALL_OPENING) else text) for text in texts]
        return list(map(_together, self._reader.read(lines)))

    def forget(self) -> None:
        """Read lines and words anew from here on."""
        self._reader.forget()


def _lines_of(text: str) -> list[Line]:
    """The lines of a text that are read: of many rows that look alike the last."""
    raws, rows = rows_of(text, opened := laid_open(text))
    if ".git/objects/" in opened:
        rows = [_GIT_OBJECT.sub(_blank, row) for row in rows]
    return raws if raws is rows else list(map(with_escapes, raws, rows))


def _together(said: Sequence[Said]) -> Found:
    """The facts of a text, given what its lines say: each once."""
    if not said:
        return NOTHING
    words = dict(chain.from_iterable([line.words for line in said]))
    numbers = list(chain.from_iterable([line.keyed for line in said]))
    errors: dict[str, Named] = {}
    if others := [line.others for line in said if line.others is not None]:
        defined = chain.from_iterable([other.defined for other in others])
        for _, (name, fact) in sorted(defined, key=itemgetter(0)):
            words.setdefault(name, fact)
        numbers += chain.from_iterable([other.nouned for other in others])
        numbers += chain.from_iterable([other.cjk for other in others])
        for name, fact in chain.from_iterable([other.errors for other in others]):
            errors.setdefault(fact.text, (name, fact))
    newest = _last_of_each(numbers)
    return Found(
        facts=(*words.values(), *newest.values(), *[fact for _, fact in errors.values()]),
        names=(*words, *newest, *[name for name, _ in errors.values()]),
        numbers=len(words),
        errors=len(words) + len(newest),
    )


def _last_of_each(numbers: list[Named]) -> dict[Name, Fact]:
    """Each key with each of its values once, in order of the last mention: the last fact of a key is its newest. Of a key
    with more than `VALUES_MAX` the last."""
    newest = dict(numbers)
    if len(newest) < len(numbers):
        names = dict.fromkeys([name for name, _ in reversed(numbers)])
        newest = {name: newest[name] for name in reversed(names)}
    if len(newest) <= VALUES_MAX:
        return newest
    counts: Counter[str] = Counter()
    kept: list[Named] = []
    for name, fact in reversed(newest.items()):
        counts[fact.key] += 1
        if counts[fact.key] <= VALUES_MAX:
            kept.append((name, fact))
    return dict(reversed(kept))


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
    has_drive = ":\\" in text and _DRIVE.search(text) is not None
    return text if has_drive else _ESCAPE.sub(_plain, text)


def _plain(match: re.Match[str]) -> str:
    escaped = match[0][1]
    return _PLAIN.get(escaped, match[0])


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
