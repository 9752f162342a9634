"""Parts under the keys of a chat message: places count as the reading does, and parts go where they fit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

import foldline
from foldline.core.message import Media, Opaque, Reasoning, Text, ToolCall, ToolResult
from foldline.testing.judges.openai_chat import violations
from foldline.wire.openai_chat_parts import edit, places_of, read_parts
from tests.wire.values import CHAT


@given(CHAT)
def test_every_part_lies_at_the_place_of_its_slot(value: dict[str, Any]) -> None:
    """A slot is an index into the places: an edit finds the key the part was read from."""
    parts = read_parts(value)
    assert [part.slot for part in parts] == list(range(len(places_of(value))))
    if not any(part.edited for part in parts) and value.get("tool_calls") != []:  # what is refused changes
        assert edit(parts, value) == value


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        (Text(text="t"), "content", "t"),
        (Reasoning(text="r"), "reasoning_content", "r"),
        (
            ToolCall(id="c", name="f", arguments="{}"),
            "tool_calls",
            [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        ),
    ],
)
def test_a_new_part_goes_to_the_key_of_its_kind(part: Any, key: str, value: Any) -> None:
    """Repairs add parts: a call's result is answered elsewhere, everything else has a key."""
    assert edit([part], {"role": "assistant"})[key] == value


def test_a_text_in_the_slot_of_a_recording_moves_to_the_content() -> None:
    """A cleared recording becomes a notice; `audio` holds no text."""
    origin = {"role": "assistant", "content": None, "audio": {"id": "audio_1"}}
    (recording,) = read_parts(origin)
    assert recording == Media(kind="audio", ref="audio_1", slot=0)
    assert edit([Text(text="[cleared]", slot=0, edited=True)], origin) == {
        "role": "assistant",
        "content": "[cleared]",
    }


def test_a_result_has_no_key_in_another_message() -> None:
    """On this wire a result is a message of its own."""
    with pytest.raises(ValueError, match="split the message first"):
        edit([ToolResult(call_id="a")], {"role": "user", "content": "a"})


def test_a_recording_without_an_id_is_carried_along() -> None:
    """What the keys of `audio` mean is the server's to say; an edit puts the new value in their place."""
    origin = {"role": "assistant", "content": None, "audio": {"transcript": "hello"}}
    (recording,) = read_parts(origin)
    assert isinstance(recording, Opaque)
    assert edit([recording], origin) == origin
    other = replace(recording, raw=b'{"transcript":"bye"}', edited=True)
    assert edit([other], origin)["audio"] == {"transcript": "bye"}


def test_a_call_of_an_unknown_type_stays_beside_one_that_is_edited() -> None:
    """What is not known is carried along; an edit of it puts the new value in its place."""
    known = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    strange = {"id": "d", "type": "of tomorrow"}
    origin = {"role": "assistant", "content": None, "tool_calls": [strange, known]}
    unknown, call = read_parts(origin)
    assert isinstance(unknown, Opaque)
    assert isinstance(call, ToolCall)
    edited = edit([unknown, replace(call, arguments='{"a":1}', edited=True)], origin)
    assert edited["tool_calls"][0] == strange
    assert edited["tool_calls"][1]["function"]["arguments"] == '{"a":1}'
    other = replace(unknown, raw=b'{"id":"d","type":"other"}', edited=True)
    assert edit([other, call], origin)["tool_calls"] == [{"id": "d", "type": "other"}, known]


def test_a_refusal_that_goes_leaves_its_key_empty() -> None:
    """The SDK's own messages hold the key with null."""
    origin = {"role": "assistant", "content": "well", "refusal": "no"}
    assert edit(read_parts(origin)[:1], origin) == {"role": "assistant", "content": "well", "refusal": None}


def test_new_arguments_that_are_no_json_stay_text_where_objects_were() -> None:
    """Ollama takes objects; text is all there is to give when the arguments are none."""
    function = {"name": "f", "arguments": {"a": 1}}
    origin = {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]}
    (call,) = read_parts(origin)
    for arguments, value in (('{"b":2}', {"b": 2}), ("cut off", "cut off")):
        assert isinstance(call, ToolCall)
        out = edit([replace(call, arguments=arguments, edited=True)], origin)
        assert out["tool_calls"][0]["function"]["arguments"] == value


def test_arguments_that_are_null_are_written_as_text_before_they_are_sent() -> None:
    """A saved session may hold null there; the API wants a string (SDK chat_completion_message_function_tool_call_param.py)."""
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": None}}
    messages: list[Any] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
    ]
    out = foldline.compact(messages, format="openai-chat")
    assert violations({"messages": out.messages}) == []
    assert messages[1]["tool_calls"][0]["function"]["arguments"] is None


def test_arguments_that_are_an_object_stay_one_where_only_the_name_changes() -> None:
    """Ollama's shape: what was not edited keeps the shape that it came in."""
    function = {"name": "f.x", "arguments": {"a": 1}}
    origin = {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]}
    (call,) = read_parts(origin)
    assert isinstance(call, ToolCall)
    out = edit([replace(call, name="f_x", edited=True)], origin)
    assert out["tool_calls"][0]["function"] == {"name": "f_x", "arguments": {"a": 1}}
