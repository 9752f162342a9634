"""The words that make a rule: how the tables of the languages are kept, and which of their rows a sentence calls for.

A row is a kind of rule, the words without which it cannot match, and a pattern that decides. Looking for the words
first spares most sentences most patterns. The tables stand in `foldline.ledger.rules_english`, `rules_european` and
`rules_east_asian`; what is done with a match is `foldline.ledger.constraints`' affair.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

ConstraintKind: TypeAlias = Literal["prohibition", "duty", "limit", "choice", "condition", "format", "name"]
"""What a rule asks: not to do · to do always · a bound or budget · this and not that · not before or without ·
a form or language of what is written · what something is called."""

WORD = re.compile(r"[^\W\d_]+")


class Row(NamedTuple):
    """One line of a table."""

    kind: ConstraintKind
    words: frozenset[str]
    """Small letters; one of them must occur. Empty: every sentence in the table's script is tried."""
    pattern: re.Pattern[str]


def row(kind: ConstraintKind, words: str, *patterns: str) -> Row:
    """A row of a table; `words` divided by blanks, any of `patterns` makes the rule."""
    pattern = re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)
    return Row(kind, frozenset(words.split()), pattern)


class Rows:
    """Tables made ready to be asked."""

    def __init__(
        self, by_word: Iterable[Row], by_script: Iterable[tuple[re.Pattern[str], tuple[Row, ...]]]
    ) -> None:
        self._rows = tuple(by_word)
        self._by_script = tuple(by_script)
        self._places: dict[str, list[int]] = {}
        for place, entry in enumerate(self._rows):
            for word in entry.words:
                self._places.setdefault(word, []).append(place)

    def for_sentence(self, sentence: str) -> list[Row]:
        """The rows that may match, in the order of the tables."""
        known = self._places.keys() & WORD.findall(sentence.lower())
        places = sorted({place for word in known for place in self._places[word]})
        found = [self._rows[place] for place in places]
        if not sentence.isascii():
            for script, rows in self._by_script:
                if script.search(sentence):
                    found += rows
        return found
