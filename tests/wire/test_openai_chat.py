"""The OpenAI chat codec on whole messages: nothing is lost, and an edit touches nothing but its own key."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foldline.core.message import Media, Message, Reasoning, Text, ToolCall, ToolResult
from foldline.wire import strict
from foldline.wire.openai_chat import CODEC
from foldline.wire.slices import fields
from tests.wire.values import CHAT, Block, spell

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


@given(CHAT, st.integers(0, 2**32))
def test_an_edit_without_a_change_keeps_every_key(value: dict[str, Any], seed: int) -> None:
    """Law LOSSLESS: edited parts are put back under the key they came from."""
    for wire in (value, spell(value, seed)):
        message = CODEC.decode(wire)
        if value.get("tool_calls") == [] or any(
            isinstance(part, Media) or part.edited for part in message.parts
        ):
            continue  # media are written anew: their own test is in `test_openai_chat_content`; what is refused changes
        parts = tuple(replace(part, edited=True) for part in message.parts)
        assert CODEC.encode(replace(message, parts=parts, edited=True)) == CODEC.encode(message)


@given(CHAT, st.integers(0, 2**32))
def test_a_part_added_keeps_the_bytes_of_all_other_keys(value: dict[str, Any], seed: int) -> None:
    """Law LOSSLESS: bytes are kept by part and envelope (design, core)."""
    data = spell(value, seed)
    message = CODEC.decode(data)
    if message.role == "tool" or value.get("tool_calls") == []:
        return  # an empty list of calls is refused, and goes
    written = CODEC.encode_bytes(replace(message, parts=(*message.parts, Text(text="new")), edited=True))
    before, after = fields(data), fields(written)
    assert {key: bytes(raw) for key, raw in before.items() if key != "content"} == {
        key: bytes(raw) for key, raw in after.items() if key != "content"
    }
    assert b"new" in bytes(after["content"])


def test_the_keys_of_a_message_become_parts_in_one_order() -> None:
    """Slots count through the keys: reasoning, content, refusal, audio, calls, the legacy call."""
    wire = {
        "role": "assistant",
        "tool_calls": [CALL],
        "function_call": {"name": "g", "arguments": "{}"},
        "audio": {"id": "audio_1"},
        "refusal": "no",
        "content": "hi",
        "reasoning_content": "hm",
    }
    assert CODEC.decode(wire).parts == (
        Reasoning(text="hm", slot=0),
        Text(text="hi", slot=1),
        Text(text="no", slot=2),
        Media(kind="audio", ref="audio_1", slot=3),
        ToolCall(id="c1", name="f", arguments='{"a": 1}', slot=4),
        ToolCall(id="function:g", name="g", arguments="{}", wire_id=False, slot=5),
    )


def test_empty_reasoning_beside_calls_is_a_part_and_survives() -> None:
    """Servers in thinking mode demand the key on turns with calls (qwen-code#3579)."""
    wire = b'{"role":"assistant","content":"","reasoning_content":"","tool_calls":[%b]}' % strict.dump(CALL)
    message = CODEC.decode(wire)
    assert message.parts[0] == Reasoning(text="", slot=0)
    edited = replace(message, parts=(*message.parts, Text(text="t")), edited=True)
    assert CODEC.encode(edited)["reasoning_content"] == ""


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_that_goes_leaves_an_empty_text_only_beside_calls(key: str) -> None:
    """The same report: an empty text is a valid backfill; without calls the key goes."""
    calling = CODEC.decode({"role": "assistant", "content": "a", key: "long", "tool_calls": [CALL]})
    assert CODEC.encode(replace(calling, parts=calling.parts[1:], edited=True))[key] == ""
    plain = CODEC.decode({"role": "assistant", "content": "a", key: "long"})
    assert key not in CODEC.encode(replace(plain, parts=plain.parts[1:], edited=True))


def test_a_custom_tools_input_is_its_arguments() -> None:
    """`ChatCompletionMessageCustomToolCallParam` of the SDK: free text, under `input`."""
    wire = {
        "role": "assistant",
        "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "g", "input": "raw"}}],
    }
    message = CODEC.decode(wire)
    assert message.parts == (ToolCall(id="c", name="g", arguments="raw", slot=0),)
    edited = replace(message, parts=(replace(message.parts[0], arguments="RAW", edited=True),), edited=True)
    assert CODEC.encode(edited)["tool_calls"] == [
        {"id": "c", "type": "custom", "custom": {"name": "g", "input": "RAW"}}
    ]


def test_calls_without_ids_are_paired_by_name() -> None:
    """Legacy `function_call` and Ollama, whose arguments are an object: ids are made up and never written."""
    wire = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "w", "arguments": {"city": "Rome"}}}],
    }
    message = CODEC.decode(wire)
    answer = CODEC.decode({"role": "tool", "tool_name": "w", "content": "4C"})
    call, result = message.parts[0], answer.parts[0]
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert (call.id, call.wire_id, call.arguments) == (result.call_id, result.wire_id, '{"city":"Rome"}')
    edited = replace(message, parts=(replace(call, arguments='{"city":"R"}', edited=True),), edited=True)
    assert CODEC.encode(edited)["tool_calls"] == [{"function": {"name": "w", "arguments": {"city": "R"}}}]
    cleared = replace(result, content=(Text(text="cut", slot=0, edited=True),), edited=True)
    assert CODEC.encode(replace(answer, parts=(cleared,), edited=True)) == {
        "role": "tool",
        "tool_name": "w",
        "content": "cut",
    }


def test_a_cleared_result_keeps_its_shape_and_its_other_keys() -> None:
    """One result of a round is cleared; `name` and the order of keys stay, and text stays text."""
    message = CODEC.decode(b'{"role":"tool", "name":"f","content":"long", "tool_call_id":"c1"}')
    result = message.parts[0]
    assert isinstance(result, ToolResult)
    assert result.name == "f"
    cleared = replace(result, content=(Text(text="[cleared]"),), edited=True)
    assert CODEC.encode_bytes(replace(message, parts=(cleared,), edited=True)) == (
        b'{"role":"tool","name":"f","content":"[cleared]","tool_call_id":"c1"}'
    )


def test_untouched_calls_keep_the_white_space_between_them() -> None:
    """A list none of whose items changed is the very bytes that came (law LOSSLESS)."""
    calls = b"[ %b ,\n%b ]" % (strict.dump(CALL), strict.dump({**CALL, "id": "c2"}))
    message = CODEC.decode(b'{"role":"assistant","content":"long","tool_calls":%b}' % calls)
    parts = (replace(message.parts[0], text="a", edited=True), *message.parts[1:])
    assert CODEC.encode_bytes(replace(message, parts=parts, edited=True)) == (
        b'{"role":"assistant","content":"a","tool_calls":%b}' % calls
    )


def test_calls_that_go_take_their_key_along() -> None:
    """OpenAI refuses an empty `tool_calls` ("[] is too short"); content that goes becomes null beside calls."""
    message = CODEC.decode({"role": "assistant", "content": "hi", "tool_calls": [CALL]})
    assert CODEC.encode(replace(message, parts=message.parts[:1], edited=True)) == {
        "role": "assistant",
        "content": "hi",
    }
    assert CODEC.encode(replace(message, parts=message.parts[1:], edited=True)) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [CALL],
    }
    assert CODEC.encode(replace(message, parts=(), edited=True)) == {"role": "assistant", "content": ""}


def test_messages_made_here_are_written_in_the_order_of_the_reference() -> None:
    """Synthetic messages have no origin; their bytes are the same in every process (law SAME)."""
    call = ToolCall(id="c1", name="f", arguments="{}")
    assert CODEC.encode_bytes(Message(role="assistant", parts=(call,))) == (
        b'{"role":"assistant","content":null,"tool_calls":'
        b'[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}'
    )
    assert CODEC.encode_bytes(Message(role="tool", parts=(ToolResult(call_id="c1"),))) == (
        b'{"role":"tool","tool_call_id":"c1","content":""}'
    )
    assert CODEC.encode(Message(role="user", parts=(Text(text="a"), Text(text="b"))))["content"] == [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
    ]


def test_two_results_are_two_messages() -> None:
    """On this wire a result is a message of its own; `convert` splits before."""
    message = Message(role="tool", parts=(ToolResult(call_id="a"), ToolResult(call_id="b")))
    with pytest.raises(ValueError, match="exactly one result"):
        CODEC.encode(message)


def test_joined_messages_hold_the_pieces_and_calls_of_both() -> None:
    """Neighbours of one role travel together where a provider wants it; nothing either held is gone."""
    other = {**CALL, "id": "c2"}
    first = CODEC.decode({"role": "assistant", "content": "a", "refusal": None, "tool_calls": [CALL]})
    second = CODEC.decode(
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "b"}],
            "refusal": "no",
            "tool_calls": [other],
        }
    )
    assert CODEC.encode(CODEC.join(first, second)) == {
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        "refusal": "no",
        "tool_calls": [CALL, other],
    }
    thinking = [
        CODEC.decode(strict.dump({"role": "assistant", "content": None, "reasoning_content": t}))
        for t in "xy"
    ]
    assert CODEC.join(*thinking).origin == b'{"role":"assistant","content":null,"reasoning_content":"x\\ny"}'


@pytest.mark.parametrize(
    ("one", "two", "why"),
    [
        (
            {"role": "tool", "tool_call_id": "a", "content": ""},
            {"role": "tool", "tool_call_id": "b", "content": ""},
            "results",
        ),
        (
            {"role": "assistant", "content": "", "audio": {"id": "a"}},
            {"role": "assistant", "content": "", "audio": {"id": "b"}},
            "audio: a message has it once",
        ),
    ],
)
def test_what_a_message_holds_once_cannot_be_joined(
    one: dict[str, Any], two: dict[str, Any], why: str
) -> None:
    """Better an error than a recording that vanishes."""
    with pytest.raises(ValueError, match=why):
        CODEC.join(CODEC.decode(one), CODEC.decode(two))


@pytest.mark.parametrize(
    ("wire", "why"),
    [
        (b"[]", "must be an object"),
        (b'{"role":"model","content":"a"}', "role: expected one of system, developer"),
        (b'{"role":{},"content":"a"}', "role: expected"),
        (b'{"role":"user","content":7}', "content: expected text or a list of parts, got int"),
        (b'{"role":"user","content":["a"]}', r"content\[0\]: expected a part with a type, got str"),
        (
            b'{"role":"user","content":[{"type":"image_url","image_url":{}}]}',
            r"content\[0\].image_url.url: expected",
        ),
        (b'{"role":"assistant","tool_calls":{}}', "tool_calls: expected a list, got dict"),
        (b'{"role":"assistant","tool_calls":[7]}', r"tool_calls\[0\]: expected an object, got int"),
        (
            b'{"role":"assistant","tool_calls":[{"type":"function","function":{}}]}',
            r"tool_calls\[0\].function.name: expected text",
        ),
        (b'{"role":"assistant","function_call":{}}', "function_call.name: expected text"),
        (b'{"role":"tool","content":"a"}', "tool_call_id: expected text, got None"),
    ],
)
def test_what_is_no_message_is_refused_by_the_name_of_the_key(wire: bytes, why: str) -> None:
    """The codec port: `ValueError` saying what is wrong with which key."""
    with pytest.raises(ValueError, match=why):
        CODEC.decode(wire)


def test_the_system_prompt_is_a_message_on_this_wire() -> None:
    """The body keeps nothing apart; a prompt from elsewhere goes to the head of the messages."""
    assert CODEC.system_of({"messages": [], "system": "s"}) is None
    assert CODEC.encode_system(Message(role="system", parts=(Text(text="s"),))) == {
        "role": "system",
        "content": "s",
    }


def test_a_responses_own_message_may_stand_in_the_messages() -> None:
    """`messages.append(response.choices[0].message)`, as the SDK's guide shows."""
    call = Block(id="c1", type="function", function=Block(name="f", arguments="{}"))
    response: Any = Block(role="assistant", content=None, tool_calls=[call])
    message = CODEC.decode(response)
    assert message.parts == (ToolCall(id="c1", name="f", arguments="{}", slot=0),)
    assert strict.loads(CODEC.encode_bytes(message))["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    ]
    edited = replace(message, parts=(replace(message.parts[0], id="c2", edited=True),), edited=True)
    assert strict.loads(CODEC.encode_bytes(edited))["tool_calls"][0]["id"] == "c2"
