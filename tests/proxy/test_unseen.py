"""What an answer repeats of its request, without the tool that was added."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from foldline.clients.calls import Call, call_of
from foldline.proxy.unseen import repeats, unseen

OWN = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}


def asked(*, tools: list[Any] | None = None, **more: Any) -> Call:
    """A request with the tool behind its own."""
    body = {"model": "m", "input": "hello", **({} if tools is None else {"tools": tools}), **more}
    call = call_of(json.dumps(body).encode(), format="openai-responses")
    assert call is not None
    return call.with_recall()


def response(call: Call, **more: Any) -> dict[str, Any]:
    """As OpenAI's, which repeats what it was asked with."""
    sent = json.loads(json.dumps({key: json.loads(bytes(raw)) for key, raw in told(call)}))
    repeated = {"tools": sent.get("tools", []), "tool_choice": sent.get("tool_choice", "auto")}
    output = [
        {"type": "message", "content": [{"type": "output_text", "text": 'a "name": "recall" in a text'}]}
    ]
    return {"id": "r", "output": output, **repeated, "temperature": 1.0, **more}


def told(call: Call) -> Iterator[tuple[str, Any]]:
    from foldline.wire import strict

    return ((key, strict.dump(value)) for key, value in call.body.items())


@pytest.mark.parametrize("tools", [None, [], [OWN], [OWN, {"type": "web_search"}]])
def test_a_whole_answer_repeats_the_callers_own_tools(tools: list[Any] | None) -> None:
    """`--recall` is invisible to the client."""
    call = asked(tools=tools)
    assert repeats(call)
    seen = json.loads(unseen(json.dumps(response(call)).encode(), call, is_stream=False))
    assert seen == response(call, tools=tools or [])


def test_every_event_that_carries_all_of_it_repeats_the_callers_own_tools() -> None:
    """`response.created`, `.in_progress` and the last one; others keep their bytes, and so do lines that are no events."""
    call = asked(tools=[OWN])
    whole: list[dict[str, Any]] = [
        {"type": f"response.{kind}", "response": response(call)}
        for kind in ("created", "in_progress", "completed")
    ]
    delta: dict[str, Any] = {"type": "response.output_text.delta", "delta": '"name": "recall"'}
    events = [*whole[:2], delta, whole[2]]
    lines = [b"event: %b\r\ndata:%b\r\n\r\n" % (e["type"].encode(), json.dumps(e).encode()) for e in events]
    seen = unseen(b"".join(lines), call, is_stream=True)
    assert lines[2] in seen
    found = [json.loads(line[5:]) for line in seen.splitlines() if line.startswith(b"data:")]
    own = [{**e, "response": response(call, tools=[OWN])} for e in whole]
    assert found == [*own[:2], delta, own[2]]
    assert seen.count(b"\r\n\r\n") == len(events)


def test_a_choice_that_was_sent_in_the_place_of_the_callers_is_not_repeated() -> None:
    """A model that only looks up loses the tool: it is declared, and not to be called."""
    choices: list[tuple[dict[str, Any], str]] = [({}, "auto"), ({"tool_choice": "required"}, "required")]
    for own, shown in choices:
        call = asked(**own).without_recall()
        assert repeats(call)
        sent = response(call)
        assert sent["tool_choice"] == "none"
        seen = json.loads(unseen(json.dumps(sent).encode(), call, is_stream=False))
        assert (seen["tools"], seen["tool_choice"]) == ([], shown)
    call = asked(tools=[OWN], tool_choice="required")
    assert (
        json.loads(unseen(json.dumps(response(call)).encode(), call, is_stream=False))["tool_choice"]
        == "required"
    )


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"not json",
        b"[1]",
        b'{"tools":7}',
        b'{"tools":[]}',
        b'{"a":1,"a":2,"tools":[]}',
        gzip.compress(b"{}", mtime=0),
    ],
)
def test_what_cannot_be_read_stays_as_it_is(answer: bytes) -> None:
    """LOSSLESS: fail open."""
    call = asked()
    assert unseen(answer, call, is_stream=False) == answer
    stream = b'data: {"response": %b, "name": "recall"}\n\ndata: [DONE]\n\n' % answer
    assert unseen(stream, call, is_stream=True) == stream


def test_other_formats_and_requests_without_the_tool_repeat_nothing() -> None:
    """Their answers are not looked at."""
    own = call_of({"model": "m", "input": "hello"}, format="openai-responses")
    chat = call_of({"model": "m", "messages": [{"role": "user", "content": "a"}]}, format="openai-chat")
    assert own is not None
    assert chat is not None
    assert not repeats(own)
    assert not repeats(chat.with_recall())
    assert not repeats(asked(tools=[OWN]).without_recall()), "it is asked with its own tools then"
