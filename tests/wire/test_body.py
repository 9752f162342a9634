"""Request bodies: every message keeps its bytes, and what is written is the format's own shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.errors import InvalidTranscript, UnknownFormat
from foldline.core.message import Message, Text
from foldline.wire import strict
from foldline.wire.body import body_value, declared_limits, read_body, tool_names, write_body
from foldline.wire.codec import Request
from foldline.wire.slices import fields, items
from tests.wire.values import ANTHROPIC, CHAT, spell

DATA = Path(__file__).parent.parent / "data"

BODIES: dict[str, dict[str, Any]] = {
    "anthropic": {
        "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": []}],
        "tools": [{"name": "n", "input_schema": {"type": "object"}}],
    },
    "openai-chat": {
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}],
        "tools": [{"type": "function", "function": {"name": "n"}}],
    },
    "openai-responses": {
        "instructions": "s",
        "input": [{"role": "user", "content": "a"}, {"type": "reasoning", "summary": []}],
        "tools": [{"type": "function", "name": "n", "parameters": {}}],
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "s"}]},
        "contents": [{"role": "user", "parts": [{"text": "a"}]}],
        "tools": [{"functionDeclarations": [{"name": "n"}]}],
    },
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_comes_back_as_it_was(name: str) -> None:
    """Law LOSSLESS, with `interface.md`'s order of keys; other keys do not carry the conversation."""
    data = json.dumps(BODIES[name], separators=(",", ":")).encode()
    assert read_body(data).format == name
    assert write_body(read_body(data)) == data
    assert body_value(read_body(data)) == BODIES[name]
    assert write_body(read_body({"model": "m", **BODIES[name], "max_tokens": 5})) == data


@pytest.mark.parametrize("name", BODIES)
def test_a_callers_messages_stay_the_callers(name: str) -> None:
    """The pure function gives untouched messages back as the very objects that came in."""
    body = BODIES[name]
    key = next(key for key in ("messages", "input", "contents") if key in body)
    written = body_value(read_body(body))
    assert all(new is old for new, old in zip(written[key], body[key], strict=True))


@given(st.lists(ANTHROPIC, max_size=3) | st.lists(CHAT, max_size=3), st.integers(0, 2**32))
def test_every_message_keeps_its_very_bytes(messages: list[Any], seed: int) -> None:
    """Law LOSSLESS for any spelling of a body, also where msgspec cannot cut it (lone surrogates)."""
    data = spell({"model": "m", "messages": messages}, seed)
    name = "openai-chat" if all(_is_chat(message) for message in messages) else "anthropic"
    request = read_body(data, format=name)
    slices = [bytes(raw) for raw in items(bytes(fields(data)["messages"]))]
    assert [message.origin for message in request.messages] == slices
    assert [bytes(raw) for raw in items(bytes(fields(write_body(request))["messages"]))] == slices


def _is_chat(message: dict[str, Any]) -> bool:
    try:
        read_body([message], format="openai-chat")
    except InvalidTranscript:
        return False
    return True


def test_a_bare_list_is_a_body() -> None:
    """Many datasets are nothing but a list of messages; what is written is one object (`interface.md`)."""
    data = b'\xef\xbb\xbf[{"role": "user", "content": "a"}]'
    assert write_body(read_body(data)) == b'{"messages":[{"role": "user", "content": "a"}]}'
    assert write_body(read_body([])) == b'{"messages":[]}'


@pytest.mark.parametrize("body", [b'{"input": "hi"}', {"input": "hi"}], ids=["bytes", "dict"])
def test_the_responses_api_takes_a_bare_text(body: Any) -> None:
    """`input: str` is one user message."""
    assert write_body(read_body(body)) == b'{"input":[{"role":"user","content":"hi"}]}'


@pytest.mark.parametrize(
    ("format", "system", "written"),
    [
        ("anthropic", "s", b'{"system":"s","messages":[]}'),
        ("openai-chat", "s", b'{"messages":[{"role":"system","content":"s"}]}'),
        ("openai-responses", "s", b'{"instructions":"s","input":[]}'),
    ],
)
def test_a_system_prompt_beside_the_messages_finds_its_place(
    format: str, system: Any, written: bytes
) -> None:
    """`compact(messages, system=...)` is one call for all formats; on the chat wire the prompt is a message."""
    body = {"messages": [], "system": system, "tools": None}
    assert write_body(read_body(body, format=format)) == written
    assert write_body(read_body(json.dumps(body).encode(), format=format)) == written


def test_a_chat_prompt_made_elsewhere_heads_the_messages() -> None:
    """Converted from a format that keeps it apart."""
    request = Request(
        format="openai-chat",
        messages=(Message(role="user", parts=(Text(text="a"),)),),
        system=Message(role="system", parts=(Text(text="s"),)),
    )
    assert body_value(request)["messages"] == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "a"},
    ]


@pytest.mark.parametrize("tools", [None, [], b"[ ]", b"null"], ids=repr)
def test_no_tools_are_none_in_any_spelling(tools: Any) -> None:
    """Keys only where there is something (`interface.md`)."""
    body = (
        b'{"messages":[],"tools":%b}' % tools
        if isinstance(tools, bytes)
        else {"messages": [], "tools": tools}
    )
    assert read_body(body).tools is None


def test_tools_keep_their_bytes() -> None:
    """They head the cached prefix (law PREFIX)."""
    data = b'{"messages":[],"tools":[ {"name" : "n", "input_schema":{"x":1.50}} ]}'
    assert read_body(data).tools == b'[ {"name" : "n", "input_schema":{"x":1.50}} ]'


def test_a_message_does_not_keep_its_body_in_memory() -> None:
    """A slice pins the whole body: 100 messages of a session would keep every request ever sent."""
    big = b'{"messages":[{"role":"user","content":"a"},{"role":"user","content":"%b"}]}' % (b"x" * 2_000_000)
    message = read_body(big).messages[0]
    system = read_body(b'{"system":"s","messages":[],"x":"%b"}' % (b"x" * 2_000_000)).system
    assert system is not None
    for kept in (message.origin, system.origin):
        assert type(kept) is bytes  # a copy: `Raw` and `memoryview` would hold on to the body
        assert len(kept) < 100


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b'{"messages":[{"role":"user","role":"system","content":""}]}', "key 'role' is given twice"),
        (
            b'{"messages":[{"role":"user","content":"a"},{"role":"x"}]}',
            r"openai|messages\[1\]: role: expected",
        ),
        (b'{"messages":', "cut off"),
        (b"\xff\xfe[\0]\0", "UTF-16"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url"}}]}]},
            "source.url",
        ),
        ({"messages": [], "tools": [b"x"]}, "cannot be written as JSON: bytes is no JSON value"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(body: Any, why: str) -> None:
    """Exit code 1: what, where, what to do; never another kind of error."""
    with pytest.raises(InvalidTranscript, match=why) as caught:
        read_body(body, path="a.json")
    assert caught.value.path == "a.json"


@pytest.mark.parametrize("body", [b"3", b'{"a":1}', b"[1]"])
def test_what_is_no_body_is_of_no_known_format(body: bytes) -> None:
    """The error lists the formats there are."""
    with pytest.raises(UnknownFormat, match="known formats: anthropic"):
        read_body(body)


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "f", "meta": {"outputProfile": 8000}},
        {"name": "f", "_meta": {"outputProfile": {"maxTokens": 8000}}},
        {"type": "function", "function": {"name": "f", "meta": {"outputProfile": 8000}}},
        {"type": "function", "meta": {"outputProfile": 8000}, "function": {"name": "f"}},
        {"functionDeclarations": [{"name": "f", "meta": {"outputProfile": 8000}}]},
    ],
)
def test_a_tool_may_declare_the_limit_of_its_results(tool: dict[str, Any]) -> None:
    """BUD-7: limits are declared by the tool's registration (`meta.outputProfile`)."""
    assert declared_limits(strict.dump([{"name": "other"}, tool])) == (("f", 8000),)


@pytest.mark.parametrize("limit", [0, -1, True, "8000", None, {}, {"maxTokens": 1.5}])
def test_what_is_no_limit_is_passed_over(limit: Any) -> None:
    """A wrong declaration must not cut every result to nothing."""
    assert declared_limits(strict.dump([{"name": "f", "meta": {"outputProfile": limit}}])) == ()
    assert declared_limits(None) == ()


@pytest.mark.parametrize("path", sorted((DATA / "openhands").glob("*.json")), ids=lambda path: path.name)
def test_a_recorded_request_comes_back_message_by_message(path: Path) -> None:
    """Law LOSSLESS on real requests to two providers."""
    data = path.read_bytes()
    request = read_body(data)
    assert request.format == "openai-chat"
    slices = [bytes(raw) for raw in items(bytes(fields(data)["messages"]))]
    assert [message.origin for message in request.messages] == slices
    assert strict.loads(write_body(request))["messages"] == json.loads(data)["messages"]


def test_messages_that_are_no_list_are_refused_by_the_name_of_their_key() -> None:
    """`style.md`, 10: place and next step."""
    with pytest.raises(InvalidTranscript, match="messages: expected a list of messages, got int"):
        read_body({"messages": 5}, format="openai-chat")


def test_what_is_no_tool_declares_no_limit() -> None:
    """BUD-7: one odd entry does not hide the limits of the others."""
    assert declared_limits(b'[5, {"name": "f", "meta": {"outputProfile": 8000}}]') == (("f", 8000),)


def test_tools_are_named_in_every_format() -> None:
    """MIC-3: tools that are left out of a clearing are named to the service."""
    shapes: list[Any] = [
        [{"name": "read"}, {"type": "web_search_20250305", "name": "web_search"}],
        [
            {"type": "function", "function": {"name": "read"}},
            {"type": "custom", "custom": {"name": "web_search"}},
        ],
        [{"type": "function", "name": "read"}, {"type": "function", "name": "web_search"}],
        [{"functionDeclarations": [{"name": "read"}, {"name": "web_search"}]}, {"googleSearch": {}}],
    ]
    assert [tool_names(tools) for tools in shapes] == [("read", "web_search")] * 4
    assert tool_names([5, {"type": "web_search"}]) == ()
