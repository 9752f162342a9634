"""Entries are read as far as they can be: what is broken is passed over, and the rest is found."""

from __future__ import annotations

from foldline.core.entry import Entry
from foldline.core.message import Message, Meta, Text
from foldline.log.said import time_of
from foldline.recall.entries import CALLS_MAX, message_of, note_calls
from foldline.testing.builders import assistant, call, user
from tests.recall.logs import draft


def entry_of(body: bytes, time_ms: int | None = None) -> Entry:
    """One entry."""
    return Entry(seq=0, kind="message", body=body, offset=0, time_ms=time_ms)


def test_a_message_is_read_with_slots() -> None:
    read = message_of(entry_of(draft(user("a", "b")).body))
    assert read is not None
    assert [part.slot for part in read.parts] == [0, 1]


def test_what_cannot_be_read_is_no_message() -> None:
    """A later version's part is no reason to find nothing."""
    for body in (
        b"{}",
        b"[]",
        b'{"format":"neutral","role":"x","parts":[]}',
        b'{"format":"none","wire":{}}',
        b"\xff",
    ):
        assert message_of(entry_of(body)) is None


def test_the_time_is_the_messages_own_else_that_of_the_append() -> None:
    """An imported session has times of its own."""
    told = Message(role="user", parts=(Text(text="a"),), meta=Meta(time_s=12.5))
    assert time_of(entry_of(b"{}", 99), told) == 12_500
    assert time_of(entry_of(b"{}", 99), user("a")) == 99
    assert time_of(entry_of(b"{}"), None) is None
    absurd = Message(role="user", parts=(Text(text="a"),), meta=Meta(time_s=float("inf")))
    assert time_of(entry_of(b"{}", 10**15 - 1), absurd) is None


def test_the_newest_calls_are_remembered_up_to_a_bound() -> None:
    """Results that never come do not fill the memory."""
    calls: dict[str, str] = {}
    for number in range(CALLS_MAX + 5):
        note_calls(calls, assistant(call("bash", f"c{number}")))
    assert len(calls) == CALLS_MAX
    assert f"c{CALLS_MAX + 4}" in calls
    assert "c0" not in calls
