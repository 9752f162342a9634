"""Ranking: the parts that hold the words of a query, the most telling first.

BM25 where the words are rare enough to be weighed; of words that stand nearly everywhere only the newest parts are
looked at, and all are taken to hold them once. So a search costs what it shows, not what was ever said. Newer parts come
before older ones of about the same weight. Knows the index; what a hit looks like is `foldline.recall.find`'s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.recall.index import Index
from foldline.recall.rows import Filters, Row
from foldline.recall.words import Query, looser, match_of

CANDIDATES_MAX: Final = 1_000
"""Newest matching parts that are ranked."""
WALKED_MAX: Final = 3_000
"""Parts holding one phrase that are counted; beyond, it is common, and its weight is not worth a walk over all of them."""
ENOUGH: Final = 3
"""Fewer hits with every phrase are followed by hits with some of them."""
PREFIX_CHARS_MIN: Final = 3
"""A word shorter than this is never taken for the beginning of another."""
RECENCY: Final = 0.3
"""What the newest of the ranked parts gains over the oldest, as a share of its weight."""
K1: Final = 1.2
B: Final = 0.75
"""The constants of BM25, as FTS5 has them."""


class Ranked(Struct, frozen=True, kw_only=True):
    """One part, in its place."""

    row: Row
    weight: float
    exact: bool
    """True when it holds every phrase of the query."""


def ranked(index: Index, query: Query, *, filters: Filters) -> list[Ranked]:
    """Parts for a query, best first, at most a few thousand: those with every phrase; where these are few, those with
    some of its words; where there are none, those with words that begin so."""
    if not query.phrases:
        return []
    found = [replace(hit, exact=True) for hit in _all_of(index, query, filters=filters)]
    if len(found) < ENOUGH:
        found += _unseen(found, _some_of(index, looser(query), filters=filters))
    if not found and all(len(phrase[-1]) >= PREFIX_CHARS_MIN for phrase in query.phrases):
        match = match_of(query.phrases, prefix=True)
        rows = index.newest(match, filters, rows_max=CANDIDATES_MAX)
        found = _in_order([(row, 1.0) for row in rows])
    return found


def _all_of(index: Index, query: Query, *, filters: Filters) -> list[Ranked]:
    match = match_of(query.phrases)
    counts = [index.count(match_of([phrase]), rows_max=WALKED_MAX) for phrase in query.phrases]
    if not all(counts):
        return []
    if max(counts) < WALKED_MAX:
        return _in_order(index.weighed(match, filters, rows_max=CANDIDATES_MAX))
    weigh = _Weights(index, counts)
    rows = index.newest(match, filters, rows_max=CANDIDATES_MAX)
    return _in_order([(row, weigh.of(row, range(len(counts)))) for row in rows])


def _some_of(index: Index, query: Query, *, filters: Filters) -> list[Ranked]:
    counts = [index.count(match_of([phrase]), rows_max=WALKED_MAX) for phrase in query.phrases]
    weigh = _Weights(index, counts)
    share = max(1, CANDIDATES_MAX // max(1, len(counts)))
    rows: dict[int, Row] = {}
    held: dict[int, list[int]] = {}
    for number, phrase in enumerate(query.phrases):
        for row in index.newest(match_of([phrase]), filters, rows_max=share) if counts[number] else ():
            rows[row.id] = row
            held.setdefault(row.id, []).append(number)
    return _in_order([(row, weigh.of(row, held[id])) for id, row in rows.items()])


class _Weights:
    """BM25 of phrases that a part holds once."""

    def __init__(self, index: Index, counts: Sequence[int]) -> None:
        rows, self._mean = index.size()
        self._idf = [max(1e-6, math.log((rows - count + 0.5) / (count + 0.5))) for count in counts]

    def of(self, row: Row, held: Sequence[int] | range) -> float:
        length = K1 * (1 - B + B * row.size / self._mean)
        return sum([self._idf[number] for number in held]) * (K1 + 1) / (1 + length)


def _in_order(found: Sequence[tuple[Row, float]]) -> list[Ranked]:
    """By weight and recency; of two that weigh the same the newer first."""
    by_age = sorted(found, key=lambda pair: (pair[0].time_ms or 0, pair[0].id))
    share = RECENCY / max(1, len(by_age) - 1)
    aged = [(weight * (1 + share * place), place, row) for place, (row, weight) in enumerate(by_age)]
    aged.sort(key=lambda told: (-told[0], -told[1]))
    return [Ranked(row=row, weight=weight, exact=False) for weight, _, row in aged]


def _unseen(before: Sequence[Ranked], more: Sequence[Ranked]) -> list[Ranked]:
    seen = {hit.row.id for hit in before}
    return [hit for hit in more if hit.row.id not in seen]
