"""Events of a session: keyed hashes, and those of the last days unless all are asked for."""

from __future__ import annotations

import json

from foldline.core.entry import Draft
from foldline.privacy.events import digest_with, events_of
from foldline.stores.memory import MemoryStore
from foldline.testing.counting import CharacterCounter


def test_old_events_are_left_out_and_keep_their_numbers() -> None:
    """JRN-7: events are kept seven days; the messages behind them stay in the log."""
    now = 1_000
    store = MemoryStore(clock=lambda: now)
    journal = store.create("s", format="anthropic", about=b"{}")
    for text in ("one", "two"):
        body = {"format": "anthropic", "wire": {"role": "user", "content": text}}
        journal.append([Draft(kind="message", body=json.dumps(body).encode())])
        now = 9_000
    pages = store.read("s")
    told = list(events_of(pages, key=b"k" * 32, counter=CharacterCounter(), since_ms=5_000))
    assert [event["seq"] for event in told] == [2]
    assert len(list(events_of(pages, key=b"k" * 32, counter=CharacterCounter()))) == 2


def test_hashes_are_the_same_under_one_key_and_others_under_another() -> None:
    """Nobody without the key can try words against them."""
    assert digest_with(b"a")(b"word") == digest_with(b"a")(b"word") != digest_with(b"b")(b"word")
    assert len(digest_with(b"a")(b"word")) == 64
