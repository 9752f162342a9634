"""Ranking: the parts that hold the words of a query, the most telling first.

BM25 in two steps, so that a search costs what it shows and not what was ever said. Of the newest parts that match, all are
weighed by their length, their age and, where they hold only some of the words, by how rare these are; the best of them are
read from their logs, and how often they say the words decides among them. SQLite's own `bm25` walks over every part that
holds one of the words, 0.5 µs each, for each word.

Knows the index; what a hit looks like is `foldline.recall.find`'s.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from foldline.recall.index import Index
from foldline.recall.rows import Filters, Row
from foldline.recall.words import Query, looser, match_of

CANDIDATES_MAX: Final = 300
"""Newest matching parts that are ranked."""
ENOUGH: Final = 3
"""Fewer hits with every phrase are followed by hits with some of them."""
PREFIX_CHARS_MIN: Final = 3
"""A word shorter than this is never taken for the beginning of another."""
RECENCY: Final = 0.3
"""What the newest of the ranked parts gains over the oldest, as a share of its weight."""
K1: Final = 1.2
B: Final = 0.75
"""The constants of BM25, as FTS5 has them."""


class Ranked(Struct, frozen=True, kw_only=True, gc=False):
    """One part, in its place."""

    row: Row
    weight: float
    """As if it said each of the words it holds once."""
    length: float
    """BM25's term for its length: `K1 * (1 - B + B * length / mean)`."""
    exact: bool
    """True when it holds every phrase of the query."""


def ranked(index: Index, query: Query, *, filters: Filters) -> list[Ranked]:
    """Parts for a query, best first, at most a few hundred: those with every phrase; where these are few, those with
    some of its words; where there are none, those with words that begin so."""
    if not query.phrases:
        return []
    scale = _Scale(index)
    match = match_of(query.phrases)
    rows = index.newest(match, filters, rows_max=CANDIDATES_MAX)
    found = scale.in_order([(row, 1.0) for row in rows], exact=True)
    if len(found) < ENOUGH:
        seen = {hit.row.id for hit in found}
        some = _some_of(index, looser(query), filters=filters)
        found += [hit for hit in scale.in_order(some, exact=False) if hit.row.id not in seen]
    if not found and all(len(phrase[-1]) >= PREFIX_CHARS_MIN for phrase in query.phrases):
        match = match_of(query.phrases, prefix=True)
        rows = index.newest(match, filters, rows_max=CANDIDATES_MAX)
        found = scale.in_order([(row, 1.0) for row in rows], exact=False)
    return found


def told_often(hit: Ranked, counts: Collection[int]) -> float:
    """The weight of a part that was read: how often it says each of the words it holds."""
    once = 1 / (1 + hit.length)
    said = [count / (count + hit.length) for count in counts if count]
    return hit.weight * (sum(said) / len(said) / once if said else 1.0)


def _some_of(index: Index, query: Query, *, filters: Filters) -> list[tuple[Row, float]]:
    """Parts with one of the phrases or several, each with how rare those are that it holds. Of a phrase that is common only
    the newest parts are looked at."""
    share = max(1, CANDIDATES_MAX // max(1, len(query.phrases)))
    total, _ = index.size()
    rows: dict[int, Row] = {}
    rare: dict[int, float] = {}
    for phrase in query.phrases:
        found = index.newest(match_of([phrase]), filters, rows_max=share)
        idf = math.log(1 + (total - len(found) + 0.5) / (len(found) + 0.5))
        for row in found:
            rows[row.id] = row
            rare[row.id] = rare.get(row.id, 0.0) + idf
    return [(row, rare[id]) for id, row in rows.items()]


class _Scale:
    """Weighs parts against the mean of their lengths."""

    def __init__(self, index: Index) -> None:
        _, self._mean = index.size()

    def in_order(self, found: Sequence[tuple[Row, float]], *, exact: bool) -> list[Ranked]:
        """By weight and recency; of two that weigh the same the newer first."""
        by_age = sorted(found, key=lambda pair: (pair[0].time_ms or 0, pair[0].id))
        share = RECENCY / max(1, len(by_age) - 1)
        hits: list[tuple[float, int, Ranked]] = []
        for place, (row, rare) in enumerate(by_age):
            length = K1 * (1 - B + B * row.size / self._mean)
            weight = rare * (K1 + 1) / (1 + length) * (1 + share * place)
            hits.append((-weight, -place, Ranked(row=row, weight=weight, length=length, exact=exact)))
        hits.sort(key=lambda told: told[:2])
        return [hit for _, _, hit in hits]
