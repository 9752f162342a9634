"""Files of the four wire formats, in every shape they come in."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from foldline.core.errors import InvalidTranscript
from foldline.core.message import calls_of
from foldline.transcripts import detect
from foldline.transcripts.source import open_source
from foldline.transcripts.transcript import NewHistory, Transcript
from foldline.transcripts.wire_file import ANTHROPIC, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES
from tests.transcripts.data import bytes_of

CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "q"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "r"},
]
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "q"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}]},
]
ITEMS: list[dict[str, Any]] = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "q"}]},
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "r"},
]
CONTENTS: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"text": "q"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "r"}}}]},
]
BODIES: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "model": "m",
        "messages": CHAT,
        "tools": [{"type": "function", "function": {"name": "f"}}],
    },
    "anthropic": {"model": "m", "max_tokens": 9, "system": "s", "messages": MESSAGES},
    "openai-responses": {"model": "m", "instructions": "s", "input": ITEMS},
    "gemini": {"model": "m", "systemInstruction": {"parts": [{"text": "s"}]}, "contents": CONTENTS},
}
LISTS = {"openai-chat": CHAT, "anthropic": MESSAGES, "openai-responses": ITEMS, "gemini": CONTENTS}


def lines(values: list[Any]) -> bytes:
    return b"".join(bytes_of(value) + b"\n" for value in values)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_request_body_is_recognised_and_read_in_its_format(name: str, indent: int | None) -> None:
    """By content, never by name; keys that do not carry the conversation are in nobody's way."""
    (found,) = detect.read(json.dumps(BODIES[name], indent=indent).encode())
    assert (found.format, found.wire, found.model) == (name, name, "m")
    assert len(found.messages) == 3
    assert [len(calls_of(message)) for message in found.messages] == [0, 1, 0]
    assert (found.system.text if found.system else None) == (None if name == "openai-chat" else "s")
    assert (found.tools is not None) == (name == "openai-chat")


@pytest.mark.parametrize("name", LISTS)
def test_a_bare_list_and_one_message_a_line_are_read_alike(name: str) -> None:
    """Both are one conversation."""
    (listed,) = detect.read(bytes_of(LISTS[name]))
    (lined,) = detect.read(lines(LISTS[name]))
    assert listed.format == lined.format == name
    assert listed.messages == lined.messages


def test_the_content_decides_where_the_head_is_silent() -> None:
    """A first message of 70 kB of plain text fits two formats; what comes later does not."""
    (found,) = detect.read(bytes_of([{"role": "user", "content": "x" * 70_000}, *MESSAGES[1:]]))
    assert found.format == "anthropic"


def test_a_quoted_mark_of_another_format_does_not_decide() -> None:
    """Agents talk about APIs: quotes inside a text are escaped and no keys."""
    quoted = {"role": "user", "content": json.dumps(CONTENTS) + json.dumps(MESSAGES)}
    (found,) = detect.read(bytes_of([quoted, *CHAT]))
    assert found.format == "openai-chat"


def test_plain_text_counts_as_chat_and_with_a_system_key_as_anthropic() -> None:
    """Text messages that fit two formats count as openai-chat; its bodies have no system key."""
    plain = [{"role": "user", "content": "q"}]
    assert [t.format for t in detect.read(bytes_of(plain))] == ["openai-chat"]
    assert [t.format for t in detect.read(bytes_of({"system": "s", "messages": plain}))] == ["anthropic"]


def test_a_named_format_is_obeyed_where_content_does_not_decide() -> None:
    """`--from anthropic` on plain text."""
    (found,) = detect.read(bytes_of([{"role": "user", "content": "q"}]), format="anthropic")
    assert found.format == "anthropic"


@pytest.mark.parametrize(
    ("data", "ids"),
    [
        (bytes_of([{"messages": CHAT, "tools": [], "resolved": True}] * 2), [None, None]),
        (
            bytes_of([{"messages": json.dumps(CHAT), "instance_id": name} for name in ("a__b-1", "a__b-2")]),
            ["a__b-1", "a__b-2"],
        ),
        (bytes_of([CHAT, CHAT]), [None, None]),
        (lines([{"id": n, "messages": CHAT} for n in (7, 8)]), ["7", "8"]),
        (
            lines(
                [{"custom_id": n, "method": "POST", "body": {"model": "m", "messages": CHAT}} for n in "ab"]
            ),
            ["a", "b"],
        ),
    ],
    ids=["swe-gym", "swe-smith", "list of lists", "lines of bodies", "batch file"],
)
def test_a_file_of_many_conversations_gives_each(data: bytes, ids: list[str | None]) -> None:
    """Data sets and batch files hold many; `--select` takes one by its id."""
    found = detect.read(data)
    assert [t.id for t in found] == ids
    assert all(len(t.messages) == 3 for t in found)


def test_null_keys_of_a_data_set_are_no_calls() -> None:
    """SWE-Gym rows carry every key of the SDK's objects, null where unused."""
    row = [{**CHAT[0], "tool_calls": None, "function_call": None, "name": None}, *CHAT[1:]]
    (found,) = detect.read(bytes_of([{"messages": row}]))
    assert [len(calls_of(message)) for message in found.messages] == [0, 1, 0]


def test_lines_that_cannot_be_read_are_left_out_and_named() -> None:
    """A torn last line and a line of another kind must not cost the session."""
    (torn,) = detect.read(lines(CHAT)[:-9])
    assert len(torn.messages) == 2
    assert torn.notes == ("line 3 is torn (the file ends inside it) and was left out",)
    (odd,) = detect.read(lines([CHAT[0], 7, CHAT[1]]))
    assert odd.notes == ("1 line could not be read and was left out: 2 (not a JSON object)",)


def test_a_responses_input_may_be_one_text() -> None:
    """The API takes a string for a single user message."""
    (found,) = detect.read(b'{"model":"m","input":"q"}')
    assert [(m.role, m.text) for m in found.messages] == [("user", "q")]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"messages":[{"role":"user","content":"x"}],"messages":[]}', "given twice"),
        (b'[{"role":"user","role":"system","content":"x"}]', r"\[0\].*given twice"),
        (b'{"messages":[1]}', "messages.*an object"),
        (b'{"messages":[{"role":"user","content":"x"}],"tools":{"a":1}}', "tools.*list"),
        (b'{"messages":[]}', "no conversation"),
        (b'{"messages":[{"role":"user","content":"x"}', "cut off"),
    ],
)
def test_a_broken_body_is_refused_with_the_place_and_the_next_step(data: bytes, why: str) -> None:
    """Hostile or cut input: what, where, what to do; never a traceback."""
    with pytest.raises(InvalidTranscript, match=why):
        detect.read(data, format="openai-chat")


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (
            b'{"system":[{"type":"text","text":"a","text":"b"}],"messages":[{"role":"user","content":"q"}]}',
            "system",
        ),
        (
            b'{"systemInstruction":{"parts":[{"text":"a","text":"b"}]},"contents":[{"role":"user","parts":[{"text":"q"}]}]}',
            "systemInstruction",
        ),
    ],
)
def test_a_system_prompt_that_says_a_key_twice_is_refused(data: bytes, place: str) -> None:
    """Two readers would be told two prompts, and a log of it could not be read again."""
    with pytest.raises(InvalidTranscript, match=f"at {place}: key 'text' is given twice"):
        detect.read(data)


@pytest.mark.parametrize("name", BODIES)
def test_what_is_written_is_the_conversations_part_of_the_body_and_reads_back(name: str) -> None:
    """Keys only where there is something; untouched messages keep their bytes (law LOSSLESS)."""
    (found,) = detect.read(bytes_of(BODIES[name]))
    written = NewHistory(messages=found.messages, system=found.system, tools=found.tools)
    data = detect.writer(name).write(found, written)
    body = json.loads(data)
    assert body == {key: value for key, value in BODIES[name].items() if key not in ("model", "max_tokens")}
    (back,) = detect.read(data)
    assert (back.messages, back.format) == (found.messages, name)


def test_each_format_is_recognised_by_exactly_one_reader() -> None:
    """Two readers at one certainty would let their order decide."""
    readers = (ANTHROPIC, OPENAI_CHAT, OPENAI_RESPONSES, GEMINI)
    for name, body in BODIES.items():
        sure = {reader.name: reader.recognise(bytes_of(body)) for reader in readers}
        assert [known for known, value in sure.items() if value] == [name]
    assert all(reader.recognise(b'{"type":"user","message":{"role":"user"}}') == 0 for reader in readers)


def test_reading_a_large_body_takes_less_than_three_times_its_size() -> None:
    """Messages are copied out and the document let go before they are decoded."""
    data = bytes_of({"messages": [{"role": "user", "content": "word " * 1_000}] * 1_000})
    tracemalloc.start()
    (found,) = OPENAI_CHAT.read(open_source(data))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(found, Transcript)
    assert len(found.messages) == 1_000
    assert peak < 3 * len(data)
