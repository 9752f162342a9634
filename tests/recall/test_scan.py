"""Without an index the logs themselves are searched, to the same answer where a query has words of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foldline.log.lineage import read_lineage
from foldline.recall import scan as module
from foldline.recall.rows import Filters
from foldline.recall.scan import Wanted, scan
from foldline.recall.words import read_query
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import assistant, call, result, user
from tests.recall.logs import recall_over, saying, written

MESSAGES = [
    user("why does login fail 看数据库"),
    assistant("let me look", call("bash", "c1", command="cat pool.log")),
    result("c1", "pool size => 20", is_error=True),
    assistant(call("read", "c2", path="pool.py")),
    result("c2", "Crème pool"),
]


def scanned(query: str, **filters: object) -> list[tuple[int, str]]:
    """Ordinal and tool of each match, newest first."""
    store = MemoryStore(clock=lambda: 5)
    written(store, "s", MESSAGES)
    wanted = Wanted(query=read_query(query), literal=query, filters=Filters(**filters))  # type: ignore[arg-type]
    return [
        (hit.row.ordinal, hit.row.tool)
        for hit in scan([read_lineage(store, "s").logs("s")], wanted, is_one=True).found
    ]


def test_every_filter_narrows() -> None:
    """As with the index; the tool of a result is that of its call."""
    assert scanned("pool") == [(4, "read"), (3, "read"), (2, "bash"), (1, "bash")]
    assert scanned("pool", role="tool") == [(4, "read"), (2, "bash")]
    assert scanned("pool", kind="result") == [(4, "read"), (2, "bash")]
    assert scanned("pool", kind="error") == [(2, "bash")]
    assert scanned("pool", tool="read") == [(4, "read"), (3, "read")]
    assert scanned("pool", since_ms=6) == scanned("pool", until_ms=4) == []
    assert len(scanned("pool", since_ms=5, until_ms=5)) == 4
    assert scanned("creme") == [(4, "read")]
    assert scanned("数据") == [(0, "")]


def test_what_has_no_word_is_found_as_it_stands() -> None:
    assert scanned("=>") == [(2, "bash")]
    assert scanned("⇒") == []


def test_a_bound_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every loop has one."""
    store = MemoryStore()
    entries = written(store, "s", MESSAGES)
    monkeypatch.setattr(module, "BYTES_MAX", entries[2].offset)
    wanted = Wanted(query=read_query("pool"), literal="", filters=Filters())
    told = scan([read_lineage(store, "s").logs("s")], wanted, is_one=True)
    assert [hit.row.ordinal for hit in told.found] == [1]
    assert "bytes of the logs were searched" in told.notes[0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    st.lists(
        st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=6),
        min_size=1,
        max_size=4,
    )
)
def test_index_and_scan_find_the_same_words(tmp_path: Path, words: list[str]) -> None:
    """One answer, two ways."""
    messages = [user(" ".join(words)), user("other"), user(f"x{words[0]}")]
    (tmp_path / "folder").mkdir(exist_ok=True)
    query = words[0]
    indexed = saying(*messages).search(query, session="s").hits
    store = MemoryStore()
    written(store, "s", messages)
    read = recall_over(store, path=tmp_path / "folder").search(query, session="s").hits
    assert {hit.address for hit in read} == {hit.address for hit in indexed if hit.exact}
