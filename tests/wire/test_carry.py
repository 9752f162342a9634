"""What each wire can carry, and the words that stand for what it cannot."""

from __future__ import annotations

import json

import pytest

from foldline.core.message import Media, Opaque, Text, ToolCall, ToolResult
from foldline.wire.carry import (
    CARRIES,
    IMAGES,
    OPAQUE_TEXT_MAX,
    carry_media,
    fit_media,
    media_words,
    opaque_words,
    server_words,
)
from tests.wire.histories import PNG


def opaque(value: object) -> Opaque:
    return Opaque(type="block", raw=json.dumps(value).encode())


@pytest.mark.parametrize(
    ("media", "takers"),
    [
        (Media(kind="image", mime="image/png", data=PNG), "anthropic gemini openai-chat openai-responses"),
        (Media(kind="image", data=PNG), "anthropic gemini openai-chat openai-responses"),
        (Media(kind="image", mime="image/svg+xml", data="PA=="), "gemini"),
        (Media(kind="image", url="https://e.x/a"), "anthropic gemini openai-chat openai-responses"),
        (Media(kind="document", url="https://e.x/a.pdf"), "anthropic gemini openai-responses"),
        (
            Media(kind="document", mime="application/pdf", data="JVBERi0="),
            "anthropic gemini openai-chat openai-responses",
        ),
        (Media(kind="document", mime="text/csv", data="a,b"), "gemini openai-chat openai-responses"),
        (Media(kind="file", mime="application/zip", data="UEs="), "gemini openai-chat openai-responses"),
        (Media(kind="file", data="????"), ""),
        (Media(kind="audio", mime="audio/wav", data="UklGRg=="), "gemini openai-chat"),
        (Media(kind="video", mime="video/mp4", data="AAAA"), "gemini"),
        (Media(kind="image", ref="file_1"), "anthropic"),
    ],
)
def test_media_goes_where_the_types_of_the_sdk_have_a_place_for_it(media: Media, takers: str) -> None:
    """One row a format; file ids are understood by the provider that gave them (here Anthropic) alone."""
    assert [to for to in sorted(CARRIES) if carry_media(media, source="anthropic", to=to)] == takers.split()


def test_the_type_of_an_image_is_filled_in_where_its_bytes_tell() -> None:
    """Responses lets it be left out, Anthropic demands it."""
    found = carry_media(Media(kind="image", data=PNG), source="openai-responses", to="anthropic")

    assert found is not None
    assert found.mime == "image/png"


def test_words_for_media_say_what_and_where() -> None:
    """Never lost in silence: kind, type, name and URL."""
    media = Media(kind="document", mime="application/pdf", name="a.pdf", url="https://e.x/a.pdf")

    assert media_words(media, to="openai-chat").text == (
        "[foldline: document application/pdf a.pdf https://e.x/a.pdf that openai-chat does not carry]"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"type": "block", "content": "the story"}, "the story"),
        ({"type": "block", "title": "t", "body": ["a", ""]}, '{"title":"t","body":["a"]}'),
        ({"type": "block", "id": "x", "encrypted_content": "eHg=", "signature": "s"}, None),
        ({"type": "block"}, None),
    ],
)
def test_only_what_can_be_read_of_a_foreign_block_is_carried(value: object, text: str | None) -> None:
    """Ids, signatures and encrypted content say nothing to another provider."""
    words = opaque_words(opaque(value), source="anthropic")

    assert (None if words is None else words.text) == (
        None if text is None else f"[foldline: block of anthropic]\n{text}"
    )


@pytest.mark.parametrize(("length", "carried"), [(OPAQUE_TEXT_MAX - 40, True), (OPAQUE_TEXT_MAX + 1, False)])
def test_a_foreign_block_that_is_too_long_is_left_behind(length: int, carried: bool) -> None:
    """The bound has a name; the caller notes what stayed behind."""
    assert (opaque_words(opaque({"content": "x" * length}), source="anthropic") is not None) is carried


def test_a_record_of_a_server_tool_keeps_each_text() -> None:
    """anomalyco/opencode#50814: a record, not a call."""
    call = ToolCall(id="s", name="search", arguments='{"q":"x"}', server=True)
    image = Media(kind="image", url="https://e.x/p.png")
    found = ToolResult(
        call_id="s", name="search", content=(Text(text="one"), image, opaque({"title": "two"})), is_error=True
    )

    assert [text.text for text in server_words(call, source="gemini")] == [
        '[foldline: the provider ran search with {"q":"x"}]'
    ]
    assert [text.text for text in server_words(found, source="gemini")] == [
        "[foldline: what search gave back, failed]",
        "one",
        "[foldline: image https://e.x/p.png that this place does not carry]",
        "[foldline: block of gemini]\ntwo",
    ]


def test_a_file_of_a_type_the_target_names_goes_as_a_document() -> None:
    """Anthropic has no files, but documents of two types."""
    media = Media(kind="file", mime="application/pdf", data="JVBERi0=")
    found = carry_media(media, source="openai-chat", to="anthropic")
    assert found is not None
    assert found.kind == "document"


def test_an_image_goes_under_the_type_that_its_data_has() -> None:
    """Anthropic: 400 "Image does not match the provided media type"; `image/jpg` is no type of any provider's."""
    told = fit_media(Media(kind="image", mime="image/jpeg", data=PNG, slot=2), types=IMAGES)
    assert told == Media(kind="image", mime="image/png", data=PNG, slot=2, edited=True)
    sound = Media(kind="image", mime="image/png", data=PNG)
    assert fit_media(sound, types=IMAGES) is sound
    unknown = Media(kind="image", mime="image/png", data="AAAA")
    assert fit_media(unknown, types=IMAGES) is unknown


def test_what_no_provider_can_read_is_told_in_a_line() -> None:
    """A picture that is no base64, or of a type that is refused, would be refused with each request to come."""
    for bad in (
        Media(kind="image", mime="image/png", data="!!!"),
        Media(kind="image", mime="image/bmp", data="Qk0A"),
    ):
        told = fit_media(bad, types=IMAGES)
        assert isinstance(told, Text)
        assert told.edited
        assert told.text.startswith(f"[foldline: image {bad.mime} ")
    audio = Media(kind="audio", mime="audio/wav", data="UklGRg==")
    assert fit_media(audio) is audio
