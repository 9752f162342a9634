"""Values that no JSON has, and JSON of a wrong shape, inside the messages of `foldline.compact`.

Each is either refused by an error of ours that names the message, or written in the shape that the provider takes.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from foldline import InvalidTranscript, TargetUnreachable, compact
from foldline.wire import strict
from foldline.wire.body import KEYS
from tests.judges import panel


class Model(BaseModel):
    """What an SDK gives."""

    ok: bool = True


class Strange:
    """What nobody can write."""


def deep(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"a": value}
    return value


NO_JSON: dict[str, Any] = {
    "datetime": datetime.date(2026, 1, 1),
    "set": {1},
    "nan": float("nan"),
    "object": Strange(),
    "bytes": b"\xff",
    "within": {"a": [Strange()]},
    "deep": deep(3_000),
    "deeper than a file": deep(strict.DEPTH_MAX),
}
ODD: dict[str, Any] = {
    "model": Model(),
    "object": {"a": {"b": 1}},
    "list": [1, "x", {"type": "input_text", "text": "y"}, {"a": 1}],
    "number": 5,
    "truth": True,
    "nothing": None,
    "tuple": ("a",),
    "long": 10**400,
}
GO: dict[str, Any] = {"role": "user", "content": "x"}
TEXT: dict[str, Any] = {"role": "user", "parts": [{"text": "x"}]}


def chat(key: str, value: Any, kind: str = "function") -> list[Any]:
    call = {"id": "a", "type": kind, kind: {"name": "n", key: value}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    return [GO, asked, {"role": "tool", "tool_call_id": "a", "content": "o"}, GO]


def responses(arguments: Any = "{}", output: Any = "o") -> list[Any]:
    call = {"type": "function_call", "call_id": "a", "name": "n", "arguments": arguments}
    return [GO, call, {"type": "function_call_output", "call_id": "a", "output": output}, GO]


def gemini(args: Any, response: Any) -> list[Any]:
    called = {"role": "model", "parts": [{"functionCall": {"name": "n", "args": args}}]}
    return [
        TEXT,
        called,
        {"role": "user", "parts": [{"functionResponse": {"name": "n", "response": response}}]},
        TEXT,
    ]


def anthropic(value: Any) -> list[Any]:
    used = {"type": "tool_use", "id": "a", "name": "n", "input": value}
    answer = {"type": "tool_result", "tool_use_id": "a", "content": "o"}
    return [GO, {"role": "assistant", "content": [used]}, {"role": "user", "content": [answer]}, GO]


PLACES: dict[str, tuple[str, Callable[[Any], list[Any]]]] = {
    "chat, a function's arguments": ("openai-chat", lambda value: chat("arguments", value)),
    "chat, a custom call's input": ("openai-chat", lambda value: chat("input", value, "custom")),
    "responses, arguments": ("openai-responses", lambda value: responses(arguments=value)),
    "responses, output": ("openai-responses", lambda value: responses(output=value)),
    "gemini, args": ("gemini", lambda value: gemini(value, {"r": 1})),
    "gemini, response": ("gemini", lambda value: gemini({}, value)),
    "gemini, in a response": ("gemini", lambda value: gemini({"x": value}, {"r": value})),
    "anthropic, input": ("anthropic", anthropic),
}
UNREAD: dict[str, tuple[str, Callable[[Any], list[Any]]]] = {
    "chat, a key of nobody": ("openai-chat", lambda value: [{**GO, "z": value}, GO]),
    "chat, content": ("openai-chat", lambda value: [{"role": "user", "content": value}, GO]),
    "responses, content": ("openai-responses", lambda value: [{"role": "user", "content": value}, GO]),
}


@pytest.mark.parametrize("place", [*PLACES, *UNREAD])
@pytest.mark.parametrize("odd", NO_JSON)
def test_what_no_json_can_say_is_refused_by_the_message_it_stands_in(place: str, odd: str) -> None:
    """`system=` and `tools=` are checked alike; `compact` raises errors of its own alone."""
    format, wired = {**PLACES, **UNREAD}[place]
    for to in (1_000, 1):
        with pytest.raises(InvalidTranscript, match=r"messages\[\d\]"):
            compact(wired(NO_JSON[odd]), to, format=format)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("odd", ODD)
def test_what_has_a_wrong_shape_is_written_in_one_that_is_taken(place: str, odd: str) -> None:
    """Law ROLE: what a report calls valid the provider takes. Ollama takes an object for a function's arguments on chat's wire, and
    nothing else, so that one stays."""
    format, wired = PLACES[place]
    for to in (1_000, 1):
        try:
            out = compact(wired(ODD[odd]), to, format=format)
        except TargetUnreachable as error:
            out = error.result
        sent = json.loads(strict.dump_foreign(out.messages))
        found = panel.violations({KEYS[format].messages: sent}, format=format)
        assert out.report.valid is (found == [])
        assert found == [] or (place.startswith("chat, a function") and odd == "object"), found


@pytest.mark.parametrize("inner", [None, 5, "x", []])
@pytest.mark.parametrize("kind", ["function", "custom"])
def test_a_call_without_what_it_calls_is_refused(kind: str, inner: Any) -> None:
    """It names no tool, so that nothing could answer it."""
    call = {"id": "a", "type": kind, kind: inner}
    with pytest.raises(InvalidTranscript, match=r"tool_calls\[0\]\." + kind):
        compact([GO, {"role": "assistant", "content": None, "tool_calls": [call]}, GO], format="openai-chat")
