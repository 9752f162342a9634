"""Content pieces of OpenAI Responses: texts and files, read and written one by one."""

from __future__ import annotations

from msgspec.structs import replace

from foldline.core.message import (
    NEW,
    Media,
    Message,
    Text,
)
from foldline.wire.openai_responses import CODEC
from tests.wire.items import ITEMS, edited, item, new_text


def test_text_documents_are_read_as_text_and_written_as_base64() -> None:
    """`Media.data` of a text document is its text."""
    document = next(p for p in item("parts").parts if isinstance(p, Media) and p.name == "a.txt")
    fresh = CODEC.encode(Message(role="user", parts=(replace(document, slot=NEW),)))

    assert (document.data, document.kind) == ("hello", "document")
    assert fresh["content"][0]["file_data"] == "data:text/plain;base64,aGVsbG8="


def test_annotations_go_with_the_text_they_point_into() -> None:
    """They hold offsets into the old wording."""
    message = item("output")
    out = CODEC.encode(edited(message, new_text("short", message.parts[0]), message.parts[1]))

    assert out["content"][0] == {"type": "output_text", "text": "short", "annotations": []}
    assert out["content"][1] == ITEMS["output"]["content"][1]


def test_text_stays_a_string_while_it_is_one() -> None:
    """An easy message has no list of parts until it needs one."""
    message = item("easy")
    one = CODEC.encode(edited(message, new_text("ho", message.parts[0])))
    two = CODEC.encode(edited(message, message.parts[0], Text(text="more")))

    assert one == {"role": "user", "content": "ho"}
    assert [piece["text"] for piece in two["content"]] == ["hi", "more"]
