"""Content pieces of OpenAI Responses: texts and files, read and written one by one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from foldline.core.message import (
    NEW,
    Media,
    Message,
    Opaque,
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


@pytest.mark.parametrize(
    "piece",
    [
        5,
        {"type": "input_audio", "input_audio": {"format": "wav"}},
        {"type": "input_file", "file_data": "data:text/plain;base64,????"},
    ],
    ids=str,
)
def test_a_piece_without_what_its_type_promises_is_carried_along(piece: Any) -> None:
    """Law LOSSLESS: opaque, and written back as it came."""
    (read,) = CODEC.decode({"role": "user", "content": [piece]}).parts
    assert isinstance(read, Opaque)
    assert json.loads(read.raw) == piece


def test_a_file_may_be_bare_base64() -> None:
    """The SDK's `ResponseInputFileParam.file_data` allows it."""
    (file,) = CODEC.decode({"role": "user", "content": [{"type": "input_file", "file_data": "UEs="}]}).parts
    assert file == Media(kind="file", data="UEs=", slot=0)


def test_media_is_written_anew_where_it_was_edited_or_made() -> None:
    """Uploaded files are named by their id."""
    message = CODEC.decode({"role": "user", "content": [{"type": "input_file", "file_id": "file_1"}]})
    (file,) = message.parts
    assert isinstance(file, Media)
    out = CODEC.encode(edited(message, replace(file, ref="file_2", edited=True)))
    assert out["content"] == [{"type": "input_file", "file_id": "file_2"}]
    out = CODEC.encode(edited(message, Text(text="[cleared]", slot=0, edited=True)))
    assert out["content"] == [{"type": "input_text", "text": "[cleared]"}]
