"""Parts of Gemini contents: each kind read into one part and written back, signatures untouched."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from foldline.core.message import (
    NEW,
    Media,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    result_text,
)
from foldline.wire.gemini import CODEC
from foldline.wire.gemini_parts import SIGNATURE_SKIP
from tests.wire.histories import PNG
from tests.wire.items import PARTS, SIGNATURE, edited, model, one


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("text", Text),
        ("signed text", Text),
        ("thought", Reasoning),
        ("signature alone", Reasoning),
        ("call", ToolCall),
        ("snake call", ToolCall),
        ("snake response", ToolResult),
        ("image", Media),
        ("own file", Media),
        ("code", ToolCall),
        ("code result", ToolResult),
        ("server call", ToolCall),
        ("unknown", Opaque),
        ("call without name", Opaque),
    ],
)
def test_each_kind_of_part_is_read(name: str, kind: type) -> None:
    """One wire part, one part; what is not known is opaque and never vanishes."""
    assert isinstance(one(name), kind)


def test_a_thought_is_signed_where_it_has_a_signature() -> None:
    """Signed reasoning is atomic; unsigned may go to other wires."""
    assert (one("thought").provider, one("thought").signature) == (None, None)
    assert (one("signed thought").provider, one("signed thought").signature) == ("gemini", SIGNATURE)


def test_a_signature_alone_is_never_taken_for_a_blank_text() -> None:
    """Gemini ends a stream with an empty text that carries the signature; dropping it breaks the next turn."""
    assert one("signature alone").redacted


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("response", "A", False),
        ("response with id", "A", False),
        ("snake response", "no", True),
        ("response of many keys", '{"output":"A","exit_code":0}', False),
    ],
)
def test_a_response_is_read_as_its_text(name: str, text: str, error: bool) -> None:
    """`FunctionResponse`: "output" and "error", else the whole object is the output."""
    result = one(name)

    assert [piece.text for piece in result.content] == [text]
    assert result.is_error is error


@pytest.mark.parametrize(
    ("name", "response"),
    [
        ("response", {"output": "cut"}),
        ("response with id", {"result": "cut"}),
        ("snake response", {"error": "cut"}),
        ("response of many keys", {"output": "cut"}),
        ("response with media", {"output": "cut"}),
    ],
)
def test_a_cleared_response_keeps_its_key(name: str, response: dict[str, str]) -> None:
    """MIC: the placeholder stands where the text stood; media that went is gone."""
    message = CODEC.decode(model(name))
    result = replace(one(name), content=(Text(text="cut"),), edited=True)
    (out,) = CODEC.encode(edited(message, result))["parts"]
    value = out.get("functionResponse", out.get("function_response"))

    assert value["response"] == response
    assert "parts" not in value


def test_media_inside_a_response_can_go_alone() -> None:
    """Clearing an image leaves the text and every other key."""
    message = CODEC.decode(model("response with media"))
    result = one("response with media")
    (out,) = CODEC.encode(edited(message, replace(result, content=result.content[:1], edited=True)))["parts"]

    assert out["functionResponse"] == {
        "name": "shot",
        "response": {"output": "see"},
        "scheduling": "SILENT",
    }


def test_a_call_made_here_says_that_no_model_of_theirs_signed_it() -> None:
    """ai.google.dev/gemini-api/docs/thought-signatures: Gemini 3 refuses the first call of a step without one."""
    calls = tuple(ToolCall(id=f"c{n}", name="read", arguments="{}") for n in (1, 2))
    parts = CODEC.encode(Message(role="assistant", parts=calls))["parts"]

    assert [part.get("thoughtSignature") for part in parts] == [SIGNATURE_SKIP, None]


def test_ids_nobody_gave_are_not_written() -> None:
    """A stand-in result for a call without an id has none either."""
    result = ToolResult(call_id="read#1", name="read", content=(Text(text="A"),), wire_id=False)
    (part,) = CODEC.encode(Message(role="user", parts=(result,)))["parts"]

    assert part == PARTS["response"]


def test_a_renamed_pair_is_renamed_on_the_wire() -> None:
    """Repair gives the second of two calls with one id an id of its own."""
    asked, answered = CODEC.decode(model("signed call")), CODEC.decode(model("response with id"))
    call, result = asked.parts[0], answered.parts[0]
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    out = CODEC.encode(edited(asked, replace(call, id="f1_2", edited=True)))["parts"][0]
    back = CODEC.encode(edited(answered, replace(result, call_id="f1_2", edited=True)))["parts"][0]

    assert out == {**PARTS["signed call"], "functionCall": {"id": "f1_2", "name": "read", "args": {"p": "a"}}}
    assert back["functionResponse"] == {"id": "f1_2", "name": "read", "response": {"result": "A"}}


@pytest.mark.parametrize(
    ("name", "media"),
    [
        ("image", Media(kind="image", mime="image/png", data=PNG)),
        ("snake pdf", Media(kind="document", mime="application/pdf", data="JVBERi0xLjQK")),
        ("text document", Media(kind="document", mime="text/plain", data="hello")),
        ("own file", Media(kind="video", mime="video/mp4", ref="gs://b/v.mp4")),
        ("web file", Media(kind="document", mime="application/pdf", url="https://example.com/a.pdf")),
    ],
)
def test_media_is_read_and_written(name: str, media: Media) -> None:
    """Blob and FileData; the text of a text document is its text."""
    assert replace(one(name), slot=NEW) == media
    again = CODEC.decode(CODEC.encode(Message(role="user", parts=(media,))))
    assert replace(again.parts[0], slot=NEW) == media


@pytest.mark.parametrize(
    "part",
    [
        {"functionResponse": {"response": {"output": "A"}}},
        {"inlineData": {"mimeType": "image/png"}},
        {"fileData": {"mimeType": "video/mp4"}},
    ],
    ids=lambda part: next(iter(part)),
)
def test_a_part_without_what_its_key_promises_is_carried_along(part: dict[str, Any]) -> None:
    """Law LOSSLESS: opaque, and written back as it came."""
    (read,) = CODEC.decode({"role": "user", "parts": [part]}).parts
    assert isinstance(read, Opaque)
    assert CODEC.encode(Message(role="user", parts=(replace(read, slot=NEW),)))["parts"] == [part]


def test_an_output_that_is_no_text_is_read_as_json() -> None:
    """Tools may answer with any value under `output`."""
    part = {"functionResponse": {"name": "read", "response": {"output": {"lines": 2}}}}
    (result,) = CODEC.decode({"role": "user", "parts": [part]}).parts
    assert isinstance(result, ToolResult)
    assert result_text(result) == '{"output":{"lines":2}}'


def test_a_cleared_answer_of_the_providers_own_tool_stays_one() -> None:
    """Its id and type stay, so that the call before it has its answer."""
    message = CODEC.decode(model("server response"))
    result = replace(one("server response"), content=(Text(text="cut"),), edited=True)
    (out,) = CODEC.encode(edited(message, result))["parts"]
    assert out == {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH", "response": {"output": "cut"}}}


def test_media_with_new_data_is_written_anew() -> None:
    """A smaller picture in the place of the one that came."""
    message = CODEC.decode(model("image"))
    (out,) = CODEC.encode(edited(message, replace(one("image"), data="UklGRg==", edited=True)))["parts"]
    assert out == {"inlineData": {"mimeType": "image/png", "data": "UklGRg=="}}


def test_text_beside_media_inside_a_response_can_be_cut() -> None:
    """The picture and every other key stay where they are."""
    message = CODEC.decode(model("response with media"))
    result = one("response with media")
    cut = replace(result, content=(Text(text="cut"), *result.content[1:]), edited=True)
    (out,) = CODEC.encode(edited(message, cut))["parts"]
    came = PARTS["response with media"]["functionResponse"]
    assert out["functionResponse"] == {**came, "response": {"output": "cut"}}
