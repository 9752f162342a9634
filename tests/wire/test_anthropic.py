"""The Anthropic codec on whole messages: nothing is lost, and an edit touches nothing but its own slot."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foldline.core.message import Message, Opaque, Text, ToolCall, ToolResult
from foldline.wire import strict
from foldline.wire.anthropic import CODEC
from foldline.wire.slices import fields, items
from tests.wire.values import ANTHROPIC, Block, spell


@given(ANTHROPIC, st.integers(0, 2**32))
def test_every_block_is_one_part_at_its_own_index(value: dict[str, Any], seed: int) -> None:
    """Unknown blocks become `Opaque`; none vanishes (`style.md`, 3)."""
    parts = CODEC.decode(spell(value, seed)).parts
    blocks = value["content"]
    expected = len(blocks) if isinstance(blocks, list) else 1 if blocks else 0
    assert [part.slot for part in parts] == list(range(expected))


@given(ANTHROPIC, st.integers(0, 2**32), st.data())
def test_an_edit_keeps_the_bytes_of_every_sibling_and_of_the_envelope(
    value: dict[str, Any], seed: int, data: st.DataObject
) -> None:
    """Law LOSSLESS: bytes are kept by part and envelope (design, core)."""
    wire = spell(value, seed)
    message = CODEC.decode(wire)
    texts = [slot for slot, part in enumerate(message.parts) if isinstance(part, Text)]
    if not texts or not isinstance(value["content"], list):
        return
    at = data.draw(st.sampled_from(texts))
    changed = replace(message.parts[at], text="short", edited=True)
    parts = (*message.parts[:at], changed, *message.parts[at + 1 :])
    written = CODEC.encode_bytes(replace(message, parts=parts, edited=True))
    before, after = fields(wire), fields(written)
    assert list(before) == list(after)
    assert all(bytes(before[key]) == bytes(after[key]) for key in before if key != "content")
    old, new = (
        [bytes(raw) for raw in items(bytes(content))] for content in (before["content"], after["content"])
    )
    assert new[:at] + new[at + 1 :] == old[:at] + old[at + 1 :]
    block = strict.loads(written)["content"][at]
    expected = {**strict.loads(wire)["content"][at], "text": "short"}
    assert block == expected


def test_dropped_slots_go_and_new_parts_are_appended() -> None:
    """The codec port: slots that no part names are gone, new parts have none yet."""
    wire = b'{"role":"user","content":[{"type":"text","text":"a"},{"type":"text", "text":"b","cache_control":{}}]}'
    message = CODEC.decode(wire)
    edited = replace(message, parts=(message.parts[1], Text(text="c")), edited=True)
    assert CODEC.encode_bytes(edited) == (
        b'{"role":"user","content":[{"type":"text", "text":"b","cache_control":{}},{"type":"text","text":"c"}]}'
    )


def test_text_content_stays_text_while_it_is_one_part() -> None:
    """The smallest change: a string is not turned into blocks."""
    message = CODEC.decode(b'{"role":"user","content":"long text"}')
    edited = replace(message, parts=(Text(text="short", slot=0, edited=True),), edited=True)
    assert CODEC.encode_bytes(edited) == b'{"role":"user","content":"short"}'
    longer = replace(message, parts=(*message.parts, Text(text="more")), edited=True)
    assert CODEC.encode(longer)["content"] == [
        {"type": "text", "text": "long text"},
        {"type": "text", "text": "more"},
    ]


def test_arguments_are_the_very_text_that_came() -> None:
    """A call's arguments are kept byte for byte, also beside a lone surrogate (claude-code#69927)."""
    call = b'{"type":"tool_use","id":"a","name":"n","input":{"q" : 1.50, "z":[ ]}}'
    for text in (b"plain", b"cut \\ud83d"):
        wire = b'{"role":"assistant","content":[{"type":"text","text":"%b"},%b]}' % (text, call)
        part = CODEC.decode(wire).parts[1]
        assert isinstance(part, ToolCall)
        assert part.arguments == '{"q" : 1.50, "z":[ ]}'


def test_a_new_call_id_leaves_the_input_bytes_alone() -> None:
    """Ids are rewritten where a format refuses them (`interface.md`), and nothing else is."""
    wire = b'{"role":"assistant","content":[{"type":"tool_use","id":"a b","name":"n","input":{"q" : 1.50}}]}'
    message = CODEC.decode(wire)
    edited = replace(message, parts=(replace(message.parts[0], id="a_b", edited=True),), edited=True)
    assert b'"id":"a_b"' in CODEC.encode_bytes(edited)
    assert b'{"q" : 1.50}' in CODEC.encode_bytes(edited)


def test_a_message_made_here_is_written_in_the_order_of_the_reference() -> None:
    """Synthetic messages have no origin; their bytes are the same in every process (law SAME)."""
    parts = (
        ToolResult(call_id="a", content=(Text(text="out"),), is_error=True),
        Text(text="go on"),
        Opaque(type="container_upload", raw=b'{"type":"container_upload","file_id":"f"}'),
    )
    assert CODEC.encode_bytes(Message(role="tool", parts=parts)) == (
        b'{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"out","is_error":true},'
        b'{"type":"text","text":"go on"},{"type":"container_upload","file_id":"f"}]}'
    )
    assert (
        CODEC.encode_bytes(Message(role="user", parts=(Text(text="hi"),)))
        == b'{"role":"user","content":"hi"}'
    )


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [("", {}), ('{"a":1}', {"a": 1}), ('{"a":', {"input": '{"a":'}), ("[1]", {"input": "[1]"})],
)
def test_arguments_that_are_no_object_still_make_a_valid_request(
    arguments: str, sent: dict[str, Any]
) -> None:
    """Models write arguments that are cut off (hermes-agent#13574); `input` must be an object."""
    message = Message(role="assistant", parts=(ToolCall(id="a", name="n", arguments=arguments),))
    assert CODEC.encode(message)["content"][0]["input"] == sent


def test_joined_messages_keep_the_bytes_of_all_their_blocks() -> None:
    """Neighbours of one role travel together (rule `alternates`); their blocks are not re-written."""
    first = CODEC.decode(b'{"role":"user","content":"a","x": 1}')
    second = CODEC.decode(b'{"role":"user","content":[ {"type":"text", "text":"b"} ]}')
    joined = CODEC.join(first, second)
    assert (
        joined.origin
        == b'{"role":"user","content":[{"type":"text","text":"a"},{"type":"text", "text":"b"}],"x":1}'
    )
    assert [part.slot for part in joined.parts] == [0, 1]
    assert joined.text == "a\nb"


def test_joining_dicts_joins_edited_content_and_leaves_both_alone() -> None:
    """As above, for a caller's dicts; an empty message adds nothing."""
    one, two = {"role": "user", "content": "a"}, {"role": "user", "content": []}
    first = replace(CODEC.decode(one), parts=(Text(text="A", slot=0, edited=True),), edited=True)
    joined = CODEC.join(first, CODEC.decode(two))
    assert CODEC.encode(joined) == {"role": "user", "content": [{"type": "text", "text": "A"}]}
    assert (one, two) == ({"role": "user", "content": "a"}, {"role": "user", "content": []})


@pytest.mark.parametrize(
    "system", ["be brief", [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]]
)
def test_the_system_prompt_is_read_from_the_body_and_written_back(system: Any) -> None:
    """Anthropic keeps it apart: `system` is text or text blocks."""
    message = CODEC.system_of({"system": system, "messages": []})
    assert message is not None
    assert message.role == "system"
    assert CODEC.encode_system(message) is system
    assert CODEC.system_of({"messages": []}) is None


@pytest.mark.parametrize(
    ("wire", "why"),
    [
        (b"[]", "must be an object"),
        (b'{"content":"a"}', "role: expected user, assistant or system, got None"),
        (b'{"role":["user"],"content":"a"}', "role: expected"),
        (b'{"role":"tool","content":"a"}', "got 'tool'"),
        (b'{"role":"user","content":7}', "content: expected text or a list of blocks"),
        (b'{"role":"user","content":["a"]}', r"content\[0\]: expected a block with a type, got str"),
        (b'{"role":"user","content":[{"type":["text"]}]}', r"content\[0\]: expected a block"),
        (
            b'{"role":"user","content":[{"type":"text","text":null}]}',
            r"content\[0\].text: expected text, got nothing",
        ),
        (
            b'{"role":"user","content":[{"type":"tool_use","id":"a","input":{}}]}',
            r"content\[0\].name: expected",
        ),
        (b'{"role":"user","content":[{"type":"tool_result","content":"a"}]}', r"content\[0\].tool_use_id"),
        (
            b'{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text"}]}]}',
            r"content\[0\].content\[0\].text: expected text",
        ),
        (
            b'{"role":"user","content":[{"type":"image","source":{"type":"url"}}]}',
            r"content\[0\].source.url: expected text",
        ),
        (
            b'{"role":"user","content":[{"type":"document","source":{"type":"content","content":[{"type":"text"}]}}]}',
            r"content\[0\].source.content\[0\].text: expected text",
        ),
    ],
)
def test_what_is_no_message_is_refused_by_the_name_of_the_key(wire: bytes, why: str) -> None:
    """The codec port: `ValueError` saying what is wrong with which key."""
    with pytest.raises(ValueError, match=why):
        CODEC.decode(wire)


def test_bytes_in_a_callers_dict_are_refused_with_what_to_do() -> None:
    """Raw image bytes are no JSON; silently writing them as base64 would hide the fault."""
    source = {"type": "base64", "media_type": "image/png", "data": b"\x89PNG"}
    with pytest.raises(ValueError, match=r"content\[0\].source.data: got bytes; give base64 text"):
        CODEC.decode({"role": "user", "content": [{"type": "image", "source": source}]})


def test_a_responses_own_blocks_may_stand_in_the_messages() -> None:
    """`messages.append({"role": "assistant", "content": response.content})`, as the SDK's guide shows."""
    text, call = Block(type="text", text="hi"), Block(type="tool_use", id="a", name="n", input={"q": 1})
    wire = {"role": "assistant", "content": [text, call]}
    message = CODEC.decode(wire)
    assert CODEC.encode(message) is wire
    assert CODEC.encode_bytes(message) == (
        b'{"role":"assistant","content":[{"type":"text","text":"hi"},'
        b'{"type":"tool_use","id":"a","name":"n","input":{"q":1}}]}'
    )
    parts = (replace(message.parts[0], text="HI", edited=True), message.parts[1])
    assert CODEC.encode(replace(message, parts=parts, edited=True))["content"] == [
        {"type": "text", "text": "HI"},
        call,
    ]


def test_a_whole_response_may_stand_in_the_messages() -> None:
    """Its id, model and usage are no part of a message: 400 "messages.1.id: Extra inputs are not permitted"."""
    response: Any = Block(
        id="msg_1", model="m", role="assistant", content=[Block(type="text", text="hi")], usage={}
    )
    message = CODEC.decode(response)
    assert CODEC.encode_bytes(message) == b'{"role":"assistant","content":[{"type":"text","text":"hi"}]}'


def test_a_text_beside_a_key_called_input_is_read() -> None:
    """The exact spelling of arguments is looked for in blocks alone."""
    wire = b'{"role":"user","content":"hi","input":1}'
    message = CODEC.decode(wire)
    assert message.text == "hi"
    assert CODEC.encode_bytes(message) == wire
