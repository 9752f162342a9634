"""When a message was said, whatever it was appended by."""

from __future__ import annotations

from msgspec.structs import replace

from foldline.core.entry import Entry
from foldline.core.message import Meta
from foldline.log.said import own_time_of, time_of
from foldline.testing.builders import user


def test_a_message_knows_its_time_better_than_its_entry() -> None:
    """One that says none, or nonsense, has the entry's."""
    entry = Entry(seq=0, kind="message", body=b"{}", offset=0, time_ms=99)
    told = replace(user("a"), meta=Meta(time_s=12.5))
    assert (time_of(entry, told), own_time_of(told)) == (12_500, 12_500)
    for none in (user("a"), replace(user("a"), meta=Meta(time_s=-1.0)), None):
        assert (time_of(entry, none), own_time_of(none)) == (99, None)
