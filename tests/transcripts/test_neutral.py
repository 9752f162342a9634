"""Content as session files spell it, read into parts."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.core.message import Media, Opaque, Text, ToolCall, ToolResult
from foldline.transcripts.neutral import (
    arguments_text,
    content_parts,
    count,
    mapping,
    mappings,
    media_of_url,
    neutral,
    string,
    text_parts,
    unix_time,
)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (None, ()),
        ("", ()),
        ("hi", (Text(text="hi"),)),
        (["hi", {"type": "text", "text": "you"}], (Text(text="hi"), Text(text="you"))),
        ([{"text": "no type"}, {"type": "input_text", "text": "x"}], (Text(text="no type"), Text(text="x"))),
        ({"type": "later", "x": 1}, (Opaque(type="later", raw=b'{"type":"later","x":1}'),)),
        ([7], (Opaque(type="int", raw=b"7"),)),
        ([{"type": "text", "text": 7}], (Opaque(type="text", raw=b'{"type":"text","text":7}'),)),
    ],
)
def test_content_of_any_shape_becomes_parts_and_nothing_vanishes(
    content: Any, parts: tuple[Any, ...]
) -> None:
    """An unknown part becomes Opaque, it never vanishes."""
    assert content_parts(content) == parts


@pytest.mark.parametrize(
    ("part", "media"),
    [
        ({"type": "image_url", "image_url": "https://x/a.png"}, Media(kind="image", url="https://x/a.png")),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA", "detail": "high"}},
            Media(kind="image", mime="image/png", data="AA", detail="high"),
        ),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "AA"}},
            Media(kind="image", mime="image/gif", data="AA"),
        ),
        (
            {"type": "image", "source_type": "base64", "mime_type": "image/png", "data": "AA"},
            Media(kind="image", mime="image/png", data="AA"),
        ),
        (
            {"type": "image", "base64": "AA", "mime_type": "image/png"},
            Media(kind="image", mime="image/png", data="AA"),
        ),
        (
            {"type": "file", "file": {"file_id": "f1", "filename": "a.pdf"}},
            Media(kind="file", ref="f1", name="a.pdf"),
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
            Media(kind="audio", mime="audio/wav", data="AA"),
        ),
        (
            {"type": "document", "source": {"type": "url", "url": "https://x/a.pdf"}, "title": "A"},
            Media(kind="document", url="https://x/a.pdf", name="A"),
        ),
    ],
)
def test_media_in_the_words_of_openai_anthropic_and_langchain(part: dict[str, Any], media: Media) -> None:
    """Images count by the provider's rule, never as text: they must be known as images."""
    assert content_parts([part]) == (media,)


def test_a_medium_in_no_known_words_stays_opaque() -> None:
    """Better carried unread than dropped."""
    (part,) = content_parts([{"type": "image", "pixels": [1, 2]}])
    assert isinstance(part, Opaque)


def test_an_address_that_is_no_base64_data_stays_an_address() -> None:
    """`data:` addresses may be percent-encoded text."""
    assert media_of_url("file", "data:text/plain,hi") == Media(kind="file", url="data:text/plain,hi")
    assert media_of_url("image", "data:image/svg+xml;charset=utf-8;base64,AA") == Media(
        kind="image", mime="image/svg+xml", data="AA"
    )


def test_every_part_of_a_neutral_message_has_its_index_as_slot() -> None:
    """An address names a part by its slot, also inside a result."""
    inner = (Text(text="a"), Text(text="b"))
    made = neutral(
        "tool", (ToolResult(call_id="1", content=inner), ToolCall(id="2", name="f", arguments="{}"))
    )
    assert [part.slot for part in made.parts] == [0, 1]
    (result, _) = made.parts
    assert isinstance(result, ToolResult)
    assert [part.slot for part in result.content] == [0, 1]


def test_arguments_are_kept_as_written_or_compact() -> None:
    """A model's text is not tidied; an object has one spelling (law SAME)."""
    assert arguments_text('{ "a": 1 ') == '{ "a": 1 '
    assert arguments_text({"é": [1, None]}) == '{"é":[1,null]}'
    assert arguments_text(None) == "{}"


def test_values_of_the_wrong_type_say_nothing() -> None:
    """Session files are written by many versions of many programs."""
    assert (string(""), string(7), string("x")) == (None, None, "x")
    assert (count(True), count(-1), count("5"), count(5)) == (0, 0, 0, 5)
    assert (mapping([]), mapping({"a": 1})) == ({}, {"a": 1})
    assert (mappings(None), mappings([1, {"a": 1}])) == ([], [{"a": 1}])
    assert (text_parts(None), text_parts("a")) == ((), (Text(text="a"),))


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ("1970-01-01T00:00:01Z", 1.0),
        ("1970-01-01T01:00:01.5+01:00", 1.5),
        ("1970-01-01T00:00:02", 2.0),
        (3, 3.0),
        ("yesterday", None),
        (None, None),
        (True, None),
    ],
)
def test_times_are_read_as_unix_seconds(told: Any, seconds: float | None) -> None:
    """A time without a zone counts as UTC: the machine's own zone must not change the result (law SAME)."""
    assert unix_time(told) == seconds
