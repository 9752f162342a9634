"""Slices of a document decoded through a codec, with the place named when one is no message."""

from __future__ import annotations

import pytest

from foldline.core.errors import InvalidTranscript
from foldline.transcripts.chat import decode_all
from foldline.transcripts.source import open_source

GOOD = b'{"role":"user","content":"hi"}'


def test_slices_become_messages_that_keep_their_bytes() -> None:
    """Law LOSSLESS."""
    messages = decode_all(open_source(GOOD), [GOOD, GOOD], wire="openai-chat", at="messages")
    assert [(m.role, m.text, m.origin) for m in messages] == [("user", "hi", GOOD)] * 2


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (b'{"role":"user","role":"system","content":"x"}', "key 'role' is given twice"),
        (b'{"role":"robot","content":"x"}', "role"),
        (b"7", "object"),
    ],
)
def test_what_is_no_message_is_named_by_its_place(bad: bytes, why: str) -> None:
    """A role given twice is a spoof: parsers keep the last."""
    with pytest.raises(InvalidTranscript, match=rf"messages\[1\].*{why}"):
        decode_all(open_source(GOOD), [GOOD, bad], wire="openai-chat", at="messages")
