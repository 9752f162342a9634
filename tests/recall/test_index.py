"""The index is made from the logs, brought up to date from them, and forgets without a trace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from foldline.core.entry import Entry
from foldline.core.errors import SessionBusy, SessionCorrupt
from foldline.core.message import Message, Meta, Text
from foldline.core.ports import Pages
from foldline.recall import index as module
from foldline.recall.index import Index
from foldline.recall.rows import Filters, Reach
from foldline.recall.words import match_of, read_query
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import assistant, call, result, user
from tests.recall.logs import bytes_of, draft, entry, more, written


def found(index: Index, query: str, filters: Filters | None = None) -> list[tuple[str, int, int]]:
    """Session, ordinal and slot of each row for a query, newest first."""
    match = match_of(read_query(query).phrases)
    return [
        (row.session, row.ordinal, row.slot)
        for row in index.newest(match, filters or Filters(), rows_max=100)
    ]


def test_what_came_since_the_last_time_is_read_and_nothing_twice() -> None:
    """From the byte that it knows."""
    store, index = MemoryStore(), Index(None)
    written(store, "s", [user("alpha"), assistant("beta")])
    for _ in range(2):
        assert index.update("s", store.read("s")) == ""
    more(store, "s", [user("gamma alpha")])
    index.update("s", store.read("s"))
    assert found(index, "alpha") == [("s", 2, 0), ("s", 0, 0)]
    assert found(index, "beta") == [("s", 1, 0)]


def test_every_filter_narrows() -> None:
    """Session, role, tool, time and kind."""
    store, index = MemoryStore(clock=iter(range(1000, 2000)).__next__), Index(None)
    messages = [
        user("word"),
        assistant("word", call("bash", "c1", command="word")),
        result("c1", "word", is_error=True),
        assistant(call("read", "c2", path="word")),
        result("c2", "word"),
    ]
    written(store, "a", [])
    for message in messages:
        more(store, "a", [message])
    written(store, "b", [user("word")])
    for name in "ab":
        index.update(name, store.read(name))

    def those(**filters: object) -> list[tuple[str, int]]:
        reach = (Reach(session="a"),)
        return [(s, o) for s, o, _ in found(index, "word", Filters(reach=reach, **filters))]  # type: ignore[arg-type]

    assert len(found(index, "word")) == 7
    assert [o for _, o in those()] == [4, 3, 2, 1, 1, 0]
    assert [o for _, o in those(role="tool")] == [4, 2]
    assert [o for _, o in those(kind="result")] == [4, 2]
    assert [o for _, o in those(kind="error")] == [2]
    assert [o for _, o in those(tool="bash")] == [2, 1]
    assert those(tool="none") == []
    assert [o for _, o in those(since_ms=1002, until_ms=1003)] == [2, 1, 1]
    assert found(index, "word", Filters(reach=(Reach(session="a", ordinals=1),))) == [("a", 0, 0)]
    assert found(index, "word", Filters(reach=(Reach(session="none"),))) == []


def test_a_result_far_behind_its_call_keeps_the_name_of_its_tool() -> None:
    """Read in two goes, with the call in the first."""
    store, index = MemoryStore(), Index(None)
    written(store, "s", [user("go"), assistant(call("bash", "c1", command="x"))])
    index.update("s", store.read("s"))
    more(store, "s", [result("c1", "late")])
    index.update("s", store.read("s"))
    assert found(index, "late", Filters(tool="bash")) == [("s", 2, 0)]


def test_the_time_of_an_imported_message_is_its_own() -> None:
    store, index = MemoryStore(clock=lambda: 9_000_000), Index(None)
    told = Message(role="user", parts=(Text(text="old", slot=0),), meta=Meta(time_s=5.0))
    written(store, "s", [told])
    index.update("s", store.read("s"))
    assert found(index, "old", Filters(until_ms=5000)) == [("s", 0, 0)]


def test_a_large_log_goes_in_in_batches_that_each_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interruption loses one batch; the next reading goes on from the last that was put in."""
    monkeypatch.setattr(module, "BATCH_CHARS", 10)
    store, index = MemoryStore(), Index(None)
    written(store, "s", [user(f"word{number} and some more") for number in range(20)])
    told: list[int] = []
    index.update("s", store.read("s"), progress=told.append)
    assert len(told) == 20
    assert all(found(index, f"word{number}") == [("s", number, 0)] for number in range(20))


def test_two_processes_that_read_at_once_put_nothing_in_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever finds that the other was faster goes on from there."""
    monkeypatch.setattr(module, "BATCH_CHARS", 10)
    store = MemoryStore()
    written(store, "s", [user(f"word{number} and some more") for number in range(10)])
    one, other = Index(tmp_path / "i"), Index(tmp_path / "i")
    ticks = iter(range(100))

    def meanwhile(_: int) -> None:
        if next(ticks) == 3:
            other.update("s", store.read("s"))

    one.update("s", store.read("s"), progress=meanwhile)
    assert len(found(one, "word3")) == len(found(other, "word9")) == 1
    assert one.size()[0] == 10


def test_a_log_that_is_another_one_is_read_anew() -> None:
    """A session removed and made again under its name; a store put back from a copy."""
    store, index = MemoryStore(), Index(None)
    written(store, "s", [user("alpha"), user("more of it")])
    index.update("s", store.read("s"))
    for messages, about in (([user("beta")], {"id": "x"}), ([user("gamma")], {"id": "x"}), ([], {"id": "x"})):
        store.remove("s")
        written(store, "s", messages, about=about)
        index.update("s", store.read("s"))
    assert found(index, "alpha") == found(index, "beta") == found(index, "gamma") == []


def test_damage_stops_at_what_is_sound_and_says_so() -> None:
    """The rest of a damaged log is searched all the same."""
    store, index = MemoryStore(), Index(None)
    entries = written(store, "s", [user("alpha"), user("beta"), user("gamma")])
    broken = _Damaged(store.read("s"), entries[1].offset)
    assert "damaged at byte" in index.update("s", broken)
    assert found(index, "alpha") == [("s", 0, 0)]
    assert found(index, "gamma") == []
    index.update("s", store.read("s"))
    assert found(index, "gamma") == [("s", 2, 0)]


class _Damaged:
    """Pages of a log that cannot be read from a byte on."""

    def __init__(self, pages: Pages, at: int) -> None:
        self._pages, self._at = pages, at
        self.format, self.about, self.torn, self.entry, self.back, self.close = (
            pages.format, pages.about, pages.torn, pages.entry, pages.back, pages.close,
        )  # fmt: skip

    def entries(self, offset: int = 0) -> Iterator[Entry]:
        for one in self._pages.entries(offset):
            if one.offset >= self._at:
                raise SessionCorrupt(one.offset, "a flipped bit")
            yield one


SECRET = "xylophonecanary"
FORGETS = {
    "row by row": lambda index, store: index.take_out("s", store.read("s")),
    "all of it": lambda index, store: index.take_out("s", None),
    "what a session's removal leaves": lambda index, store: index.keep_only(["t"]),
}


@pytest.mark.parametrize("forget", FORGETS.values(), ids=FORGETS)
def test_what_is_forgotten_is_in_no_byte_of_the_file(tmp_path: Path, forget: object) -> None:
    """S18: nor beside it. Words are looked for as the index writes them, each with what it shares with the word before
    it left out."""
    path = tmp_path / "recall.sqlite"
    store, index = MemoryStore(), Index(path)
    filler = [user(" ".join(f"w{number}x{word}" for word in range(300))) for number in range(300)]
    written(store, "s", [user("hello"), user(f"the {SECRET} word"), *filler])
    written(store, "t", [user("other")])
    for name in "st":
        index.update(name, store.read(name))
    assert SECRET.encode()[1:] in bytes_of(path)
    forget(index, store)  # type: ignore[operator]
    left = bytes_of(path)
    assert SECRET.encode()[3:] not in left
    assert b"w7x123"[2:] not in left
    index.update("t", store.read("t"))
    assert found(index, "other") == [("t", 0, 0)]


def test_taking_out_what_is_not_there_changes_nothing() -> None:
    store, index = MemoryStore(), Index(None)
    written(store, "s", [user("alpha")])
    assert not index.take_out("s", store.read("s"))
    index.update("s", store.read("s"))
    assert not index.take_out("t", None)
    assert found(index, "alpha")
    assert index.take_out("s", store.read("s"))
    assert not found(index, "alpha")


def test_a_forgetting_that_the_log_tells_of_is_followed(tmp_path: Path) -> None:
    """Should nobody have said so to the index: the log's own entry does, and what is left is found."""
    store, index = MemoryStore(), Index(tmp_path / "i")
    written(store, "s", [user(f"keep {SECRET}"), user("other")])
    index.update("s", store.read("s"))
    gone = draft(user(f"keep {'x' * len(SECRET)}")).body
    store.rewrite("s", lambda one: gone if one.seq == 0 else None)
    more(store, "s", [entry("forgot", {"ordinals": [0], "what": 1}), user("later")])
    index.update("s", store.read("s"))
    assert found(index, SECRET) == []
    assert SECRET.encode()[3:] not in bytes_of(tmp_path / "i")
    assert found(index, "keep") == [("s", 0, 0)]
    assert found(index, "later") == [("s", 2, 0)]
    assert index.size()[0] == 3
    index.update("s", store.read("s"))
    assert index.size()[0] == 3


def test_a_search_elsewhere_that_holds_on_to_the_words_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words are out; that old bytes may be left is said, not passed over."""
    from foldline.recall import database

    monkeypatch.setattr(database, "BUSY_S_MAX", 0.05)
    store, index, other = MemoryStore(), Index(tmp_path / "i"), Index(tmp_path / "i")
    written(store, "s", [user("alpha")])
    index.update("s", store.read("s"))
    with other._database.reading() as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM rows").fetchall()
        with pytest.raises(SessionBusy, match="a search in another process"):
            index.take_out("s", store.read("s"))
        connection.execute("COMMIT")
    assert found(index, "alpha") == []


def test_a_message_without_words_has_its_place() -> None:
    """An address may name it."""
    store, index = MemoryStore(), Index(None)
    written(
        store,
        "s",
        [user("a"), Message(role="assistant", parts=()), assistant(call("bash", "c", command="x"))],
    )
    index.update("s", store.read("s"))
    placed = index.places("s", first=0, last=9)
    assert [one.ordinal for one in placed] == [0, 1, 2]
    assert placed[2].tools == {0: "bash"}
    assert [one.offset for one in placed] == [one.offset for one in store.read("s").entries()]


def test_bodies_that_are_no_message_are_passed_over() -> None:
    """And keep their ordinal."""
    store, index = MemoryStore(), Index(None)
    written(
        store,
        "s",
        [entry("message", {"format": "later", "wire": 1}), user("alpha"), entry("forgot", {"ordinals": 3})],
    )
    index.update("s", store.read("s"))
    assert found(index, "alpha") == [("s", 1, 0)]
