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

from foldline.ledger.errors_in_text import reports_in, signs_in
from foldline.ledger.facts import Named
from foldline.ledger.numbers_in_text import NUMBERS_MAX, numbers_in
from foldline.ledger.symbols_in_text import definitions_in
from foldline.ledger.word_shapes import Place, classes_of, facts_at, places_in, shape_of

What = TypeVar("What")
Line: TypeAlias = str
"""A line of a text; one with escapes as it came and as it reads, with a line end between (`with_escapes`)."""
WORDS_A_LINE = 4
"""A line takes the memory of so many words."""


class Said(Struct, frozen=True, kw_only=True, gc=False):
    """What one line says, each kind in the order in which it stands there."""

    words: tuple[Named, ...]
    """Paths, identifiers and names of code."""
    defined: tuple[tuple[int, Named], ...]
    """What it defines, each with the place of what opens the definition among `symbols_in_text.OPENINGS`."""
    numbers: tuple[tuple[Named, ...], ...]
    """Of each of the `FORMS` of a number."""
    errors: tuple[Named, ...]
    """Itself, where it reports a failure."""


def with_escapes(raw: str, opened: str) -> Line:
    """A line whose escapes are laid open, with itself as it came."""
    return f"{raw}\n{opened}"


class LineReader:
    """Remembers lines with what they say, and words, of which a history has few and says them often. The same line says
    the same whatever was read before."""

    def __init__(self, *, words_max: int) -> None:
        self._words_max = words_max
        self._forget()

    def _forget(self) -> None:
        self._said: dict[Line, Said | None] = {}
        self._plain: set[str] = set()
        """Words that say nothing: most."""
        self._known: dict[str, tuple[Named, ...]] = {}
        """The other words -> their facts."""
        self._signs: dict[str, tuple[str, ...]] = {}
        """Words that may stand in a line that reports a failure -> what to look for."""
        self._shapes: dict[str, tuple[tuple[Place, ...], tuple[str, ...]]] = {}
        """Shapes of words -> where their facts stand, and their signs."""

    def read(self, texts: Sequence[Sequence[Line]]) -> list[list[Said]]:
        """What the lines of each text say, without those that say nothing. Their new lines are read together."""
        said = self._said
        if new := list(dict.fromkeys(filterfalse(said.__contains__, chain.from_iterable(texts)))):
            said.update(zip(new, self._learned(new), strict=True))
        found = [list(filter(None, map(said.__getitem__, lines))) for lines in texts]
        if len(self._plain) + len(self._known) + WORDS_A_LINE * len(said) > self._words_max:
            self._forget()
        return found

    def _learned(self, lines: list[Line]) -> list[Said | None]:
        """What each line says. An empty one goes before them: what opens a line is looked for behind the end of another."""
        raws, rows = ["", *lines], ["", *lines]
        if any(["\n" in line for line in lines]):
            raws = [line.partition("\n")[0] for line in raws]
            rows = [line.rpartition("\n")[2] for line in rows]
        raw, opened = "\n".join(raws), "\n".join(rows)
        starts = list(accumulate([len(row) + 1 for row in rows], initial=0))
        named, signs = self._named(rows)
        numbers = [_by_row(stated, starts) for stated in numbers_in(raw, opened)]
        defined = _by_row(definitions_in(opened), starts)
        errors = _by_row(reports_in(raw, opened, signs=signs), starts)
        said: list[Said | None] = [None] * len(rows)
        for row in {*named, *defined, *errors, *chain.from_iterable(numbers)}:
            said[row] = Said(
                words=named.get(row, ()),
                defined=tuple(defined.get(row, ())),
                numbers=tuple([tuple(form[row][::-1]) if row in form else () for form in numbers]),
                errors=tuple(errors.get(row, ())),
            )
        return said[1:]

    def _named(self, rows: list[str]) -> tuple[dict[int, tuple[Named, ...]], set[str]]:
        """Of each row what its words name, and what to look for of failures in all of them."""
        words = [row.split() for row in rows]
        fresh = dict.fromkeys(filterfalse(self._plain.__contains__, chain.from_iterable(words)))
        self._learn(list(filterfalse(self._known.__contains__, fresh)))
        known = self._known
        named = {
            row: tuple(chain.from_iterable(found))
            for row, of_row in enumerate(words)
            if (found := list(filter(None, map(known.get, of_row))))
        }
        return named, set(
            chain.from_iterable(map(self._signs.__getitem__, self._signs.keys() & fresh.keys()))
        )

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
            elif cues:
                known[word] = ()
            else:
                plain.add(word)


def _by_row(found: Iterable[tuple[int, What]], starts: Sequence[int]) -> dict[int, list[What]]:
    """What was found, by the row it stands in: of a row the first `NUMBERS_MAX` that come."""
    rows: dict[int, list[What]] = {}
    for place, what in found:
        row = rows.setdefault(bisect_right(starts, place) - 1, [])
        if len(row) < NUMBERS_MAX:
            row.append(what)
    return rows
