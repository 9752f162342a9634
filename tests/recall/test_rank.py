"""The most telling parts come first, at a cost that does not grow with what was said."""

from __future__ import annotations

import pytest

from foldline.recall import rank as module
from foldline.recall.index import Index
from foldline.recall.rank import ranked, told_often
from foldline.recall.rows import Filters
from foldline.recall.words import read_query
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import user
from tests.recall.logs import written


def index_of(*texts: str) -> Index:
    """An index over one session of these texts."""
    store, index = MemoryStore(), Index(None)
    written(store, "s", [user(text) for text in texts])
    index.update("s", store.read("s"))
    return index


def order(index: Index, query: str) -> list[int]:
    """Ordinals, best first."""
    return [hit.row.ordinal for hit in ranked(index, read_query(query), filters=Filters())]


FILLER = [f"filler {number} " + "and so on " * 20 for number in range(40)]


def test_a_short_part_about_it_comes_before_a_long_one_that_mentions_it() -> None:
    """BM25."""
    index = index_of("pool size is 20", "pool " + "other words " * 200, *FILLER)
    assert order(index, "pool") == [0, 1]


def test_of_two_alike_the_newer_comes_first() -> None:
    """Recency."""
    index = index_of("pool size is 20", *FILLER, "pool size is 40")
    assert order(index, "pool size") == [41, 0]


def test_parts_with_every_word_come_before_parts_with_some() -> None:
    index = index_of("pool", "size of the pool", "size", *FILLER)
    hits = ranked(index, read_query("pool size"), filters=Filters())
    assert hits[0].row.ordinal == 1
    assert [hit.exact for hit in hits] == [True, False, False]


def test_some_words_are_looked_for_where_few_have_all() -> None:
    """A Chinese query that is longer than what was said, and a name that is remembered half."""
    index = index_of("看数据库", "something else", *FILLER)
    assert order(index, "数据库的连接") == [0]
    assert order(index, "missing else") == [1]


def test_beginnings_of_words_come_last() -> None:
    index = index_of("connection refused", *FILLER)
    assert order(index, "connect") == [0]
    assert order(index, "co") == []


def test_of_words_that_stand_everywhere_only_the_newest_parts_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And the shorter of them comes first."""
    monkeypatch.setattr(module, "CANDIDATES_MAX", 10)
    index = index_of("filler pool", *FILLER, "filler pool short")
    found = order(index, "filler")
    assert len(found) == 10
    assert found[0] == 41
    assert order(index, "filler pool")[0] == 41


def test_a_rare_word_counts_for_more_than_a_common_one() -> None:
    """Where no part has both."""
    index = index_of("xylophone here", "so here", *FILLER)
    assert order(index, "xylophone filler")[0] == 0


def test_a_part_that_says_it_often_weighs_more() -> None:
    """Which is known once it was read."""
    hits = ranked(index_of("pool a", "pool b"), read_query("pool"), filters=Filters())
    assert told_often(hits[0], [3]) > told_often(hits[0], [1]) == pytest.approx(hits[0].weight)
    assert told_often(hits[0], [16]) < 2.5 * hits[0].weight
    assert told_often(hits[0], [0]) == told_often(hits[0], []) == hits[0].weight


def test_nothing_is_found_for_nothing() -> None:
    index = index_of("a")
    assert order(index, "—") == []
    assert order(index, "zzz") == []
    assert order(Index(None), "a") == []
