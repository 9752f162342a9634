"""Media between wires: data URLs, base64 and types."""

from __future__ import annotations

import pytest

from foldline.core.message import Media
from foldline.wire.codec import Request
from foldline.wire.convert import convert
from foldline.wire.formats import codec
from foldline.wire.media import (
    base64_of,
    data_url_of,
    is_base64,
    media_kind,
    payload_of,
    sniff_type,
    split_data_url,
    type_of_url,
    usual,
)
from tests.wire.histories import PNG


@pytest.mark.parametrize(
    ("url", "found"),
    [
        (f"data:image/png;base64,{PNG}", ("image/png", PNG)),
        ("data:text/plain;charset=utf-8;base64,aGk=", ("text/plain", "aGk=")),
        ("data:;base64,aGk=", (None, "aGk=")),
        ("data:text/plain,hi", None),
        ("https://example.com/a.png", None),
    ],
)
def test_a_data_url_is_told_from_any_other(url: str, found: tuple[str | None, str] | None) -> None:
    """RFC 2397; one that is not base64 stays a URL."""
    assert split_data_url(url) == found


@pytest.mark.parametrize(
    ("mime", "kind"),
    [
        ("image/png", "image"),
        ("audio/wav", "audio"),
        ("video/mp4", "video"),
        ("application/pdf", "document"),
        ("text/csv", "document"),
        ("application/zip", "file"),
        (None, "file"),
    ],
)
def test_a_type_has_a_kind(mime: str | None, kind: str) -> None:
    """The kinds of `Media`."""
    assert media_kind(mime) == kind


def test_the_text_of_a_document_makes_the_trip_both_ways() -> None:
    """`Media.data` of a text document is its text."""
    media = Media(kind="document", mime="text/plain", data=payload_of("text/plain", "w6k="))

    assert media.data == "é"
    assert base64_of(media) == "w6k="
    assert data_url_of(media) == "data:text/plain;base64,w6k="


@pytest.mark.parametrize("base64", ["//4=", "no base64!"])
def test_a_text_document_that_holds_no_text_is_none(base64: str) -> None:
    """The codec keeps such a part opaque."""
    assert payload_of("text/plain", base64) is None
    assert payload_of("image/png", base64) == base64


def test_a_type_is_told_by_the_first_bytes_and_by_the_ending() -> None:
    """Responses lets the type of bare base64 be left out, every other wire wants it."""
    assert sniff_type(PNG) == "image/png"
    assert sniff_type("AAAA") is None
    assert type_of_url("https://example.com/a.JPG?x=1#y.png") == "image/jpeg"
    assert type_of_url("https://example.com/") is None


def test_base64_for_urls_is_read_as_the_usual_one() -> None:
    """google-genai writes a picture's bytes so; no provider but Google reads it."""
    assert usual("-_-_-_8") == "+/+/+/8="
    assert usual("+/+/+/8=") == "+/+/+/8="
    wire = b'{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo-_8"}}]}'
    message = codec("gemini").decode(wire)
    [part] = message.parts
    assert isinstance(part, Media)
    assert part.data == "iVBORw0KGgo+/8=="
    assert codec("gemini").encode_bytes(message) == wire, "untouched it keeps its bytes"
    asked = Request(format="gemini", messages=(message,))
    [turned] = convert(asked, "anthropic").request.messages
    assert b"iVBORw0KGgo+/8==" in codec("anthropic").encode_bytes(turned)


@pytest.mark.parametrize(
    ("data", "is_so"),
    [
        (PNG, True),
        ("aGk=", True),
        ("aGkx", True),
        ("", False),
        ("aGk", False),
        ("a===", False),
        ("a-k_", False),
        ("a=kx", False),
        ("aGk\n", False),
        ("äääk", False),
        ("====", False),
    ],
)
def test_base64_is_what_a_provider_decodes(data: str, is_so: bool) -> None:
    """RFC 4648: the usual alphabet, padded; a judge decodes it with nothing forgiven."""
    assert is_base64(data) is is_so
