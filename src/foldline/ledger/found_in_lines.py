"""What single lines say: their facts, found once for all lines that are the same.

No fact crosses the end of a line, and tools say the same lines again and again: a file is read twice, a test is run ten
times. So a line is the smallest thing that is remembered with its facts. Lines that are new are read together, as one
text, which costs a fraction of line by line. How a kind is recognised stands in a module of its own (`paths_in_text`,
`identifiers_in_text`, `numbers_in_text`, `errors_in_text`, `symbols_in_text`). Knows nothing of whole texts;
`found_in_text` puts the lines of one together.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, filterfalse
from typing import TypeAlias, TypeVar

from msgspec import Struct

from foldline.ledger.errors_in_text import reports_in
from foldline.ledger.facts import Fact, Named
from foldline.ledger.found_in_words import WordReader
from foldline.ledger.numbers_in_text import NUMBERS_MAX, numbers_in
from foldline.ledger.symbols_in_text import definitions_in

What = TypeVar("What")
Line: TypeAlias = str
"""A line of a text; one with escapes as it came and as it reads, with a line end between (`with_escapes`)."""
WORDS_A_LINE = 4
"""A line with what it says, or a word with its facts, takes the memory of so many words of which it is known what they are."""
_ROW_ENDS: tuple[Named, ...] = (("", Fact(kind="paths", key="", text="")),)
"""In the place of facts: here a row ends."""


class Others(Struct, frozen=True, kw_only=True, gc=False):
    """What few lines say."""

    defined: tuple[tuple[int, Named], ...]
    """What it defines, each with the place of what opens the definition among `symbols_in_text.OPENINGS`."""
    nouned: tuple[Named, ...]
    """Numbers with a noun behind them."""
    cjk: tuple[Named, ...]
    """Numbers with a key in East Asian script."""
    errors: tuple[Named, ...]
    """Itself, where it reports a failure."""


class Said(Struct, frozen=True, kw_only=True, gc=False):
    """What one line says, each kind in the order in which it stands there."""

    words: tuple[Named, ...]
    """Paths, identifiers and names of code."""
    keyed: tuple[Named, ...]
    """Numbers behind their key."""
    others: Others | None


def with_escapes(raw: str, opened: str) -> Line:
    """A line whose escapes are laid open, with itself as it came."""
    return f"{raw}\n{opened}"


class LineReader:
    """Remembers lines with what they say, and words, of which a history has few and says them often. The same line says
    the same whatever was read before."""

    def __init__(self, *, words_max: int) -> None:
        self._words_max = words_max
        self.forget()

    def forget(self) -> None:
        """Remember nothing."""
        self._said: dict[Line, Said | None] = {}
        self._known: dict[str, tuple[Named, ...]] = {}
        """Words that say something -> their facts. Most say nothing: to read those again costs less than to remember them."""
        self._signs: dict[str, tuple[str, ...]] = {}
        """Words that may stand in a line that reports a failure -> what to look for."""
        self._words = WordReader()

    def read(self, texts: Sequence[Sequence[Line]]) -> list[list[Said]]:
        """What the lines of each text say, without those that say nothing. Their new lines are read together."""
        said = self._said
        if new := list(dict.fromkeys(filterfalse(said.__contains__, chain.from_iterable(texts)))):
            said.update(zip(new, self._learned(new), strict=True))
        found = [list(filter(None, map(said.__getitem__, lines))) for lines in texts]
        if len(self._words) + WORDS_A_LINE * (len(said) + len(self._known)) > self._words_max:
            self.forget()
        return found

    def _learned(self, lines: list[Line]) -> list[Said | None]:
        """What each line says. An empty one goes before them: what opens a line is looked for behind the end of another."""
        rows = ["", *lines]
        raw = opened = "\n".join(rows)
        if opened.count("\n") > len(lines):
            raw = "\n".join([line.partition("\n")[0] for line in rows])
            rows = [line.rpartition("\n")[2] for line in rows]
            opened = "\n".join(rows)
        starts = list(accumulate([len(row) + 1 for row in rows], initial=0))
        words, signs = self._named(opened)
        keyed, nouned, cjk = [_by_row(stated, starts) for stated in numbers_in(raw, opened)]
        defined = _by_row(definitions_in(opened), starts)
        errors = _by_row(reports_in(raw, opened, signs=signs), starts)
        others = {
            row: Others(
                defined=tuple(defined.get(row, ())),
                nouned=tuple(reversed(nouned.get(row, ()))),
                cjk=tuple(reversed(cjk.get(row, ()))),
                errors=tuple(errors.get(row, ())),
            )
            for row in defined.keys() | nouned.keys() | cjk.keys() | errors.keys()
        }
        said: list[Said | None] = [None] * len(rows)
        for row in words.keys() | keyed.keys() | others.keys():
            said[row] = Said(
                words=words.get(row, ()),
                keyed=tuple(keyed[row][::-1]) if row in keyed else (),
                others=others.get(row),
            )
        return said[1:]

    def _named(self, opened: str) -> tuple[dict[int, tuple[Named, ...]], set[str]]:
        """Of each row what its words name, and what to look for of failures in all of them."""
        row_end = "\0"
        while row_end in opened:
            row_end += "\0"
        words = opened.replace("\n", f"\n{row_end}\n").split()
        distinct = dict.fromkeys(words)
        facts, signs = self._words.read([word for word in distinct if word not in self._known])
        self._known |= facts
        self._signs |= signs
        self._known[row_end] = _ROW_ENDS
        named = _by_row_ends(filter(None, map(self._known.get, words)))
        del self._known[row_end]
        of_words = map(self._signs.__getitem__, self._signs.keys() & distinct.keys())
        return named, set(chain.from_iterable(of_words))


def _by_row_ends(found: Iterable[tuple[Named, ...]]) -> dict[int, tuple[Named, ...]]:
    """The facts of words, and between them the ends of rows: the facts of each row."""
    rows: dict[int, tuple[Named, ...]] = {}
    row = 0
    here: list[tuple[Named, ...]] = []
    for facts in chain(found, [_ROW_ENDS]):
        if facts is not _ROW_ENDS:
            here.append(facts)
            continue
        if here:
            rows[row] = here[0] if len(here) == 1 else tuple(chain.from_iterable(here))
            here = []
        row += 1
    return rows


def _by_row(found: Iterable[tuple[int, What]], starts: Sequence[int]) -> dict[int, list[What]]:
    """What was found, by the row it stands in: of a row the first `NUMBERS_MAX` that come."""
    rows: dict[int, list[What]] = {}
    for place, what in found:
        row = rows.setdefault(bisect_right(starts, place) - 1, [])
        if len(row) < NUMBERS_MAX:
            row.append(what)
    return rows
