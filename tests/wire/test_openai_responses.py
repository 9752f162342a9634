"""OpenAI Responses items: what came in goes out, an edit touches what it edits, and every kind of item is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foldline.core.message import (
    Media,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from foldline.wire.openai_responses import CODEC
from tests.wire.histories import PNG
from tests.wire.items import ITEMS, URL, edited, item, new_text, only


@pytest.mark.parametrize("name", sorted(ITEMS))
def test_an_item_leaves_as_it_came(name: str) -> None:
    """Law LOSSLESS: the caller's own dict, and the very bytes."""
    item = ITEMS[name]
    spaced = json.dumps(item, indent=2).encode()

    assert CODEC.encode(CODEC.decode(item)) is item
    assert CODEC.encode_bytes(CODEC.decode(spaced)) == spaced
    assert CODEC.encode(CODEC.decode(spaced)) == item


SPLICED = ["parts", "output", "function_call_output parts", "shell_call_output"]


@given(data=st.data(), name=st.sampled_from(SPLICED))
def test_editing_one_piece_leaves_its_siblings_as_they_were(data: st.DataObject, name: str) -> None:
    """Law LOSSLESS beside an edit: the same bytes, white space and unknown keys included."""

    def spaced(value: Any) -> str:
        return json.dumps(value, separators=(" ,  ", " :  "))

    raw = spaced(ITEMS[name]).encode()
    message = CODEC.decode(raw)
    result = message.parts[0] if isinstance(message.parts[0], ToolResult) else None
    pieces: tuple[Any, ...] = result.content if result else message.parts
    at = data.draw(st.sampled_from([i for i, piece in enumerate(pieces) if isinstance(piece, Text)]))
    changed = tuple(new_text("EDITED", piece) if i == at else piece for i, piece in enumerate(pieces))
    parts = (replace(result, content=changed, edited=True),) if result else changed
    out = CODEC.encode_bytes(edited(message, *parts))

    key = "output" if result else "content"
    touched = pieces[at].slot // 2 if name == "shell_call_output" else pieces[at].slot
    assert "EDITED" in json.dumps(json.loads(out)[key][touched])
    for index, piece in enumerate(ITEMS[name][key]):
        assert (spaced(piece).encode() in out) is (index != touched)


@pytest.mark.parametrize(
    ("name", "role", "kinds"),
    [
        ("easy", "user", [Text]),
        ("developer", "system", [Text]),
        ("parts", "user", [Text, Media, Media, Media, Media, Media, Opaque, Opaque]),
        ("output", "assistant", [Text, Text]),
        ("reasoning", "assistant", [Reasoning]),
        ("function_call", "assistant", [ToolCall]),
        ("function_call_output", "tool", [ToolResult]),
        ("mcp_call", "assistant", [ToolCall, ToolResult]),
        ("web_search_call", "assistant", [ToolCall]),
        ("compaction", "assistant", [Opaque]),
        ("compaction_trigger", "user", [Opaque]),
        ("item_reference", "assistant", [Opaque]),
        ("configuration_update", "system", [Opaque]),
        ("mcp_approval_response", "user", [Opaque]),
        ("output without call", "user", [Opaque]),
        ("unknown", "assistant", [Opaque]),
    ],
)
def test_an_item_is_read_as_one_message(name: str, role: str, kinds: list[type]) -> None:
    """One input item, one message; what is not known is opaque and never vanishes."""
    message = item(name)

    assert (message.role, [type(part) for part in message.parts]) == (role, kinds)


def test_reasoning_carries_its_encrypted_content_as_its_signature() -> None:
    """Signed reasoning is atomic, and bound to its provider."""
    reasoning = only(item("reasoning"))

    assert (reasoning.text, reasoning.signature, reasoning.provider) == (
        "short\nlong",
        "QUJD",
        "openai-responses",
    )


def test_reasoning_without_proof_is_unsigned() -> None:
    """Open models give their reasoning in the clear."""
    item = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}

    assert only(CODEC.decode(item)).provider is None


def test_what_is_made_here_has_the_shape_of_the_reference() -> None:
    """Types `EasyInputMessageParam`, `ResponseFunctionToolCallParam`, `FunctionCallOutput` of openai 3.57."""
    made = [
        Message(role="assistant", parts=(Text(text="a"),)),
        Message(role="user", parts=(Text(text="u"), Media(kind="image", mime="image/png", data=PNG))),
        Message(role="assistant", parts=(ToolCall(id="c", name="t", arguments="{}"),)),
        Message(role="tool", parts=(ToolResult(call_id="c"),)),
    ]

    assert [CODEC.encode(message) for message in made] == [
        {"type": "message", "role": "assistant", "content": "a"},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "u"},
                {"type": "input_image", "detail": "auto", "image_url": URL},
            ],
        },
        {"type": "function_call", "call_id": "c", "name": "t", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": ""},
    ]


def test_a_message_of_several_items_is_refused() -> None:
    """One message, one item: `convert` splits, the codec never drops."""
    call = ToolCall(id="c", name="t", arguments="{}")
    with pytest.raises(ValueError, match="split"):
        CODEC.encode(Message(role="assistant", parts=(Text(text="a"), call)))


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"type": "message", "role": "king", "content": "x"},
        {"type": "message", "role": "user"},
        {"type": "function_call", "name": "x", "arguments": "{}"},
        {"type": "function_call", "call_id": "c", "arguments": "{}"},
    ],
)
def test_what_is_no_item_is_refused_by_the_name_of_the_key(item: dict[str, Any]) -> None:
    """`Codec.decode` says what is wrong with which key."""
    with pytest.raises(ValueError, match=r"type|role|content|call_id|name"):
        CODEC.decode(item)


def test_neighbours_are_joined_with_every_key_of_their_parts() -> None:
    """`Codec.join`: the parts of both, in order."""
    joined = CODEC.join(item("easy"), item("parts"))
    content = CODEC.encode(joined)["content"]

    assert content == [{"type": "input_text", "text": "hi"}, *ITEMS["parts"]["content"]]
    with pytest.raises(ValueError, match="cannot be one item"):
        CODEC.join(item("function_call"), item("easy"))


@pytest.mark.parametrize("value", ["be kind", [{"role": "developer", "content": "be kind"}]])
def test_instructions_leave_as_they_came(value: Any) -> None:
    """The system prompt of this wire: a string, or in stored responses a list of items."""
    system = CODEC.system_of({"instructions": value})
    assert system is not None

    assert CODEC.encode_system(system) is value


def test_instructions_can_be_edited_and_may_be_missing() -> None:
    """One string."""
    system = CODEC.system_of({"instructions": "be kind"})
    assert system is not None

    assert (
        CODEC.encode_system(edited(system, *system.parts, Text(text="and brief"))) == "be kind\n\nand brief"
    )
    assert CODEC.system_of({"instructions": None}) is None
    assert CODEC.system_of({}) is None


def test_reasoning_nobody_signed_can_be_edited() -> None:
    """Where its text came in `content` it stays there, else it is the summary."""
    both = CODEC.decode({k: v for k, v in ITEMS["reasoning"].items() if k != "encrypted_content"})
    out = CODEC.encode(edited(both, new_text("cut", only(both))))
    assert out["content"] == [{"type": "reasoning_text", "text": "cut"}]
    assert out["summary"] == ITEMS["reasoning"]["summary"]

    short = CODEC.decode({"type": "reasoning", "summary": [{"type": "summary_text", "text": "short"}]})
    out = CODEC.encode(edited(short, new_text("cut", only(short))))
    assert out == {"type": "reasoning", "summary": [{"type": "summary_text", "text": "cut"}]}


def test_an_item_without_a_meaning_can_be_replaced_by_another() -> None:
    """Opaque items are written as what they hold, in place and made here."""
    message = item("unknown")
    raw = b'{"type":"hologram_call","beam":[3]}'
    other = replace(only(message), raw=raw, edited=True)
    assert CODEC.encode(edited(message, other)) == json.loads(raw)
    assert CODEC.encode(Message(role="assistant", parts=(other,))) == json.loads(raw)


def test_an_item_takes_no_part_of_another_kind() -> None:
    """A text in the place of a call would be lost on the wire."""
    with pytest.raises(ValueError, match="an item of type function_call holds no text"):
        CODEC.encode(edited(item("function_call"), Text(text="a", slot=0, edited=True)))
