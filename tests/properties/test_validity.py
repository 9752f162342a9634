"""What a report calls valid is what `foldline check` and the judges say, through every door, whatever arrived.

Histories are written in a provider's own dicts as they are, broken ids, names and pairs included: `foldline.wire.convert` would mend
them on the way. Single repairs stand in `tests/core`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from foldline import Compaction, TargetUnreachable, compact, files
from foldline.core.message import Media, Message, Part, ToolResult
from foldline.files import CompactOptions
from foldline.testing.strategies import broken_sessions
from foldline.transcripts import detect
from foldline.wire.body import KEYS
from foldline.wire.formats import CODECS, codec
from tests.judges import panel
from tests.session.making import answer, opened

COUNTER = "length/4"
FEWER = settings(max_examples=settings().max_examples // 2)
IDS = ("call_1", "functions.Read:0", "a b", "é", "a\ud83d", "", "c" * 41, "c" * 70)
NAMES = ("read", "fs.read", "read file", "读取", "a\ud83d", "", "n" * 65, "n" * 129, "n" * 201)
SPELT = [("read", id) for id in IDS] + [(name, "call_1") for name in NAMES[1:]]


def wired(messages: list[Message], format: str) -> list[Any]:
    """A neutral history in a provider's dicts, each message by itself. Media and system text, which have demands of their own, are
    left out."""
    out: list[Any] = []
    for message in messages:
        if message.role != "system":
            out += [codec(format).encode(one) for one in _apart(_without_media(message), format)]
    return out


def _without_media(message: Message) -> Message:
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolResult):
            words = tuple(one for one in part.content if not isinstance(one, Media))
            parts.append(replace(part, content=words))
        elif not isinstance(part, Media):
            parts.append(part)
    return replace(message, parts=tuple(parts))


def _apart(message: Message, format: str) -> list[Message]:
    """The message as the wire has its parts: an item each, or results apart from what is said."""
    if format == "openai-responses":
        return [replace(message, parts=(part,)) for part in message.parts]
    if format != "openai-chat":
        return [message]
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    rest = tuple(part for part in message.parts if not isinstance(part, ToolResult))
    said = [replace(message, parts=rest)] if rest or not results else []
    return [*(replace(message, role="tool", parts=(result,)) for result in results), *said]


def body(messages: list[Any], format: str, tools: Any = None) -> dict[str, Any]:
    declared = {} if tools is None else {"tools": tools}
    return {KEYS[format].messages: messages, **declared}


def smallest(messages: list[Any], to: float, format: str) -> Compaction:
    try:
        return compact(messages, to, format=format, counter=COUNTER)
    except TargetUnreachable as error:
        result: Compaction = error.result
        return result


@FEWER
@given(messages=broken_sessions(), format=st.sampled_from(CODECS), to=st.sampled_from((10**6, 0.3)))
def test_what_is_called_valid_is_valid_by_other_eyes(messages: list[Message], format: str, to: float) -> None:
    """Laws PAIR and ROLE, whatever arrives: it is mended, or reported, as a system prompt without a conversation is."""
    assume(any(message.role != "system" for message in messages))
    wires = wired(messages, format)
    out = smallest(wires, to, format)
    found = (
        panel.violations(body(out.messages, format), format=format, open_tail=True) if out.messages else []
    )
    assert out.report.valid, out.report.violations
    assert found == []


def spelt(format: str, name: str, id: str) -> list[Any]:
    """A round whose call has this id and this name."""
    match format:
        case "anthropic":
            asked: list[Any] = [
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": id, "name": name, "input": {"a": 1}}],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]},
            ]
        case "openai-chat":
            call = {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}
            asked = [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {
                    "role": "tool",
                    "tool_call_id": id,
                    **({} if id else {"name": name or "x"}),
                    "content": "ok",
                },
            ]
        case "openai-responses":
            asked = [
                {"type": "function_call", "call_id": id, "name": name, "arguments": "{}"},
                {"type": "function_call_output", "call_id": id, "output": "ok"},
            ]
        case _:
            asked = [
                {"role": "model", "parts": [{"functionCall": {"id": id, "name": name, "args": {}}}]},
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"id": id, "name": name, "response": {"r": 1}}}],
                },
            ]
    go, on = ({"role": "user", "parts": [{"text": word}]} for word in ("go", "on"))
    if format != "gemini":
        go, on = {"role": "user", "content": "go"}, {"role": "user", "content": "on"}
    return [go, *asked, on]


@pytest.mark.parametrize("format", CODECS)
@pytest.mark.parametrize(("name", "id"), SPELT)
def test_an_id_or_a_name_that_is_refused_becomes_another_through_every_door(
    format: str, name: str, id: str
) -> None:
    """Law ROLE: Kimi's `functions.Read:0`, gateways that put signatures into ids, tools of MCP servers. The report says so."""
    messages = spelt(format, name, id)
    made = compact(messages, 10**6, format=format)
    sent = {"pure": made.messages}
    session = opened(format=format)
    session.user("go")
    session.record(answer("", (id, name), format=format))
    session.tool_result(session.waiting[0].id, "ok")
    session.user("on")
    sent["session"] = session.prepare().messages
    data = json.dumps(body(messages, format)).encode()
    (result,) = files.compact(
        detect.read(data, format=format), CompactOptions(to=10**6, counter=COUNTER)
    ).results
    assert result.report.valid
    assert result.report.repairs == made.report.repairs
    sent["file"] = json.loads(result.data)[KEYS[format].messages]
    sent["converted"] = json.loads(files.convert(detect.read(data, format=format), as_format=format).data)[
        KEYS[format].messages
    ]
    assert made.report.valid
    for door, out in sent.items():
        assert panel.violations(body(out, format), format=format) == [], door
        (read,) = detect.read(json.dumps(body(out, format)).encode(), format=format)
        assert files.check(read)["valid"], door
    was_sound = panel.violations(body(messages, format), format=format) == []
    assert was_sound is (not made.report.repairs)
    if was_sound:
        assert all(new is old for new, old in zip(made.messages, messages, strict=True))


TOOLS: dict[str, Any] = {
    "openai-chat": [{"type": "function", "function": {"name": "fs.read", "parameters": {"type": "object"}}}],
    "openai-responses": [
        {"type": "function", "name": "fs.read", "parameters": {"type": "object"}, "strict": False}
    ],
}


@pytest.mark.parametrize("format", sorted(TOOLS))
def test_a_name_of_the_requests_own_tools_changes_with_its_schema_or_stays_and_is_reported(
    format: str,
) -> None:
    """Law ROLE. Who runs a tool knows it by its name, and lenient servers take it; a file is rewritten whole, calls and schemas alike."""
    messages, tools = spelt(format, "fs.read", "call_1"), TOOLS[format]
    made = compact(messages, 10**6, format=format, tools=tools)
    assert made.messages == messages
    assert not made.report.valid
    assert "'fs.read'" in made.report.violations[0].why
    session = opened(format=format)
    session.user("go")
    session.prepare(tools=tools)
    session.record(answer("", ("call_1", "fs.read"), format=format))
    session.tool_result("call_1", "ok")
    assert "fs.read" in json.dumps(session.prepare().messages)
    data = json.dumps(body(messages, format, tools)).encode()
    (result,) = files.compact(
        detect.read(data, format=format), CompactOptions(to=10**6, counter=COUNTER)
    ).results
    assert result.report.valid
    assert b"fs.read" not in result.data
    assert panel.violations(json.loads(result.data), format=format) == []
    (called,) = {repair.why.split()[-1] for repair in result.report.repairs}
    assert result.data.count(called.encode()) == 2


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses"])
def test_a_file_whose_tools_are_taken_keeps_them_as_they_came(format: str) -> None:
    """Law LOSSLESS: odd spacing and all."""
    tools = json.dumps(TOOLS[format], indent=3).replace("fs.read", "read")
    data = (
        json.dumps(body(spelt(format, "read", "call_1"), format)).encode()[:-1]
        + f', "tools": {tools}}}'.encode()
    )
    (result,) = files.compact(
        detect.read(data, format=format), CompactOptions(to=10**6, counter=COUNTER)
    ).results
    assert tools.encode() in result.data


GEMINI_ROUND: list[Any] = [
    {"role": "user", "parts": [{"text": "go"}]},
    {"role": "model", "parts": [{"functionCall": {"name": n, "args": {}}} for n in "ab"]},
    {"role": "user", "parts": [{"functionResponse": {"name": "b", "response": {"r": 1}}}]},
]


def test_a_round_that_gemini_has_half_the_answers_of_is_answered_whole() -> None:
    """400 "the number of function response parts" must equal that of the calls; one that comes later takes its place."""
    out = compact(GEMINI_ROUND, 10**6, format="gemini")
    assert [repair.kind for repair in out.report.repairs] == ["interrupted-call"]
    assert out.report.valid
    assert panel.violations(body(out.messages, "gemini"), format="gemini", open_tail=True) == []
    waiting = compact(GEMINI_ROUND[:2], 10**6, format="gemini")
    assert waiting.messages == GEMINI_ROUND[:2]
    (read,) = detect.read(json.dumps(body(GEMINI_ROUND, "gemini")).encode(), format="gemini")
    assert not files.check(read)["valid"]
    session = opened(format="gemini")
    session.user("go")
    session.record(answer("", ("1", "a"), ("2", "b"), format="gemini"))
    session.tool_result("2", "two")
    assert "foldline" in json.dumps(session.prepare().messages[2])
    session.tool_result("1", "one")
    assert "foldline" not in json.dumps(session.prepare().messages)


def test_a_response_is_called_as_its_call_is() -> None:
    """Gemini's judge: "the responses are not named as the calls are"."""
    call = {"functionCall": {"id": "1", "name": "read", "args": {}}}
    response = {"functionResponse": {"id": "1", "name": "unknown", "response": {"r": 1}}}
    contents = [GEMINI_ROUND[0], {"role": "model", "parts": [call]}, {"role": "user", "parts": [response]}]
    out = compact(contents, 10**6, format="gemini")
    assert [repair.kind for repair in out.report.repairs] == ["refused-name"]
    assert panel.violations(body(out.messages, "gemini"), format="gemini") == []
