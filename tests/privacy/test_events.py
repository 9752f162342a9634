"""Events of a session: keyed hashes, and those of the last days."""

from __future__ import annotations

import json

from foldline.core.entry import Draft
from foldline.log.audit import Event
from foldline.privacy.events import SessionEvents, digest_with
from foldline.stores.memory import MemoryStore
from foldline.testing.counting import CharacterCounter


def following(store: MemoryStore, *, since_ms: int | None = None) -> SessionEvents:
    """Of a session of which nothing has been read yet."""
    return SessionEvents(store, "s", key=b"k" * 32, counter=CharacterCounter(), since_ms=since_ms)


def test_old_events_are_left_out_and_keep_their_numbers() -> None:
    """JRN-7: events are kept seven days; the messages behind them stay in the log."""
    now = 1_000
    store = MemoryStore(clock=lambda: now)
    journal = store.create("s", format="anthropic", about=b"{}")
    for text in ("one", "two"):
        body = {"format": "anthropic", "wire": {"role": "user", "content": text}}
        journal.append([Draft(kind="message", body=json.dumps(body).encode())])
        now = 9_000
    young = following(store, since_ms=5_000)
    assert [event["seq"] for event in young.more()] == [2]
    assert (young.deleted, len(list(following(store).more()))) == (1, 2)


def test_readings_in_pieces_give_the_events_of_one() -> None:
    """JRN-4: numbers go on, and a call is paired with a result of a later reading."""
    times = iter(range(0, 9_000, 1_000))
    store = MemoryStore(clock=lambda: next(times))
    parent = b'{"parent":{"name":"p","seq":6,"byte":0}}'
    journal = store.create("s", format="anthropic", about=parent)
    begun = following(store)
    call = {"type": "tool_use", "id": "c", "name": "run", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "done"}
    told: list[Event] = []
    for role, content in (("user", "go"), ("assistant", [call]), ("user", [result])):
        body = {"format": "anthropic", "wire": {"role": role, "content": content}}
        journal.append([Draft(kind="message", body=json.dumps(body).encode())])
        told += begun.more()
    assert told == list(following(store).more())
    assert [(one["seq"], one["entry"]) for one in told] == [(1, 7), (2, 8), (3, 9)]
    assert told[-1]["duration_ms"] == 1_000
    assert list(begun.more()) == []


def test_hashes_are_the_same_under_one_key_and_others_under_another() -> None:
    """Nobody without the key can try words against them."""
    assert digest_with(b"a")(b"word") == digest_with(b"a")(b"word") != digest_with(b"b")(b"word")
    assert len(digest_with(b"a")(b"word")) == 64
