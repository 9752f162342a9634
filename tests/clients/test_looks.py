"""Looks at the bytes of messages: what they find, and what is made of them when it is asked for."""

from __future__ import annotations

import json
from typing import Any

from foldline.clients.digests import said_in
from foldline.clients.looks import NAMED, NATIVE_ITEMS, TOLD, Look, holding, looked_at


def look(value: Any) -> Look:
    return looked_at([json.dumps(value).encode()], "openai-chat")[0]


def test_one_search_finds_all_that_has_to_be_looked_at_closer() -> None:
    """Requirement: neither a picture nor a provider's own compaction is overlooked."""
    assert all(TOLD.search(b"{" + mark + b'":1}') for mark in (*NAMED, *NATIVE_ITEMS))
    assert look({"content": [{"type": "input_image", "image_url": "u"}] * 3}).named == 3
    assert look({"content": [{"type": "input_file", "file_url": "u"}]}).named == 1
    assert look({"type": "compaction", "encrypted_content": "x"}).is_native
    assert look({"role": "assistant", "content": [{"type": "compaction"}]}).is_native
    assert not look({"role": "user", "content": '{"type":"compaction","image_url":"u"}'}).is_native
    assert look({"role": "user", "content": "image"}) == Look(
        b'{"role": "user", "content": "image"}', "openai-chat"
    )


def test_messages_that_hold_a_mark_are_found() -> None:
    """One look at all of them, where none does."""
    assert holding([b"a", b"b"], [b"x", b"b"]) == [b"b"]
    assert holding([b"a", b"b"], [b"a\nb"]) == []


def test_bytes_are_let_go_once_what_they_say_is_known() -> None:
    """Memory: a conversation is known by digests."""
    one, other = (look({"role": "user", "content": text}) for text in ("a", "b"))
    one.is_readable = True
    wire = one.wire
    assert wire is not None
    digest = look({"role": "user", "content": "a"}).digest
    one.let_go()
    one.let_go()
    assert (one.wire, one.digest, one.says()) == (None, digest, said_in(wire, "openai-chat"))
    other.let_go(b"told")
    assert (other.wire, other.says()) == (None, b""), "nothing is said of what cannot be read"
    third = look({"role": "user", "content": "c"})
    third.is_readable = True
    third.let_go(b"told")
    assert third.says() == b"told"
