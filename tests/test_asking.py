"""Between a pass that asks and a completer that answers: wire form on one side, messages on the other."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import pytest

from foldline.asking import Basis, aanswering, adriven, answering, failed, request_of
from foldline.core.completion import Ask, Reply
from foldline.core.errors import InvalidOption
from foldline.core.message import Message, ToolCall, Usage
from foldline.engine.driving import drive
from foldline.testing.builders import assistant, call, result, user, view_from
from foldline.testing.completers import Delayed, Deltas, Said, ScriptedCompleter
from foldline.wire.completion import CompletionRequest, Delta
from foldline.wire.formats import CODECS, codec

ASK = Ask(messages=(user("[12] user: fix it"),), instruction="Sum it up")
CHAT = Basis(format="openai-chat", model="m")


def heard(reply: Any, *, ask: Ask = ASK, basis: Basis = CHAT) -> Reply:
    return answering(ScriptedCompleter(reply), basis)(ask)


def aheard(reply: Any, *, is_async: bool = True) -> Reply:
    async def play() -> Reply:
        return await aanswering(ScriptedCompleter(reply, is_async=is_async), CHAT)(ASK)

    return asyncio.run(play())


def test_a_text_is_a_reply_and_so_are_its_deltas_with_what_comes_last() -> None:
    """Requirement CMP-20: deltas are heard as they come, reasoning apart from text; the object behind them says the rest."""
    told: list[str] = []
    usage = {"prompt_tokens": 900, "completion_tokens": 40}
    script = Deltas((Delta(reasoning="hm"), "a ", "summary", Said(stop_reason="stop", usage=usage)))
    reply = answering(ScriptedCompleter(script), CHAT, on_delta=told.append)(ASK)
    assert told == ["hm", "a ", "summary"]
    assert (reply.text, reply.reasoning, reply.stop_reason) == ("a summary", "hm", "stop")
    assert reply.usage == Usage(tokens_input=900, tokens_output=40)
    assert heard("a summary") == heard(Deltas(("a ", "summary"))) == Reply(text="a summary")


@pytest.mark.parametrize(
    ("format", "given", "is_open"),
    [
        ("anthropic", {"role": "assistant", "content": "a summary"}, False),
        ("anthropic", {"role": "assistant", "content": "a summary", "usage": {"input_tokens": 1}}, True),
        ("openai-chat", {"role": "assistant", "content": "a summary"}, False),
        ("openai-chat", {"choices": [{"message": {"role": "assistant", "content": "a"}}]}, True),
        (
            "openai-chat",
            {"choices": [{"message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}]},
            False,
        ),
        ("openai-responses", [{"role": "assistant", "content": "a summary"}], False),
        ("openai-responses", {"id": "r", "output": [{"role": "assistant", "content": "a summary"}]}, True),
        ("gemini", {"candidates": [{"content": {"role": "model", "parts": [{"text": "a"}]}}]}, True),
    ],
)
def test_a_response_without_an_ending_broke_off_and_a_bare_message_has_no_place_for_one(
    format: str, given: Any, is_open: bool
) -> None:
    """CMP-21: half a summary is none. A text, its deltas and a message alone are vouched for by whoever hands them over."""
    assert heard(given, basis=Basis(format=format)).is_open is is_open


def test_a_reply_object_says_how_it_ended() -> None:
    """CMP-21: behind deltas too, where the stream below broke off before it said so."""
    assert heard(Said(text="a summary", stop_reason=None)).is_open
    assert heard(Deltas(("a ", "summary", Said(stop_reason=None)))).is_open
    assert not heard(Deltas(("a ", "summary"))).is_open
    assert not heard("a summary").is_open


def test_an_incomplete_response_says_why() -> None:
    """CMP-21: a filter is no limit that a shorter text would keep."""
    given = {
        "status": "incomplete",
        "incomplete_details": {"reason": "content_filter"},
        "output": [{"role": "assistant", "content": "a"}],
    }
    assert heard(given, basis=Basis(format="openai-responses")).stop_reason == "content_filter"


def test_an_object_says_its_calls_however_they_are_spelt() -> None:
    """Requirement CMP-3: a call comes back as a call, from a dict or an object, arguments as text or value."""
    calls = ({"id": "c1", "name": "read", "arguments": {"path": "a"}}, {"name": "ls", "arguments": "{}"})
    reply = heard(SimpleNamespace(text="", stop_reason="tool_use", tool_calls=calls, usage=None))
    assert reply.tool_calls == (
        ToolCall(id="c1", name="read", arguments='{"path":"a"}'),
        ToolCall(id="ls", name="ls", arguments="{}"),
    )


def test_a_response_of_an_sdk_is_taken_as_it_is() -> None:
    """A completer may return what the client gave it."""
    response = {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "a summary"},
            {"type": "tool_use", "id": "t", "name": "ls", "input": {}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 7, "output_tokens": 3},
    }
    reply = heard(response, basis=Basis(format="anthropic"))
    assert (reply.text, reply.stop_reason) == ("a summary", "tool_use")
    assert [one.name for one in reply.tool_calls] == ["ls"]
    assert reply.usage is not None
    assert reply.usage.tokens_input == 7
    assert reply.messages[0].text == "a summary"


@pytest.mark.parametrize("given", [None, 7, {"no": "reply"}])
def test_what_is_no_reply_is_the_callers_fault_and_said_at_once(given: Any) -> None:
    """A programmer's error is no failure of the model: it is raised."""
    with pytest.raises(InvalidOption, match="CompletionRequest"):
        heard(lambda request: given)
    with pytest.raises(InvalidOption):
        answering("a text", CHAT)  # type: ignore[arg-type]


@pytest.mark.parametrize("script", ["a summary", Deltas(("a ", "summary"))])
def test_an_async_completer_is_waited_for_but_not_where_that_holds_up_an_event_loop(script: Any) -> None:
    """The twin that awaits is named."""
    answer = answering(ScriptedCompleter(script, is_async=True), CHAT)
    assert answer(ASK) == Reply(text="a summary")

    async def held_up() -> None:
        with pytest.raises(InvalidOption, match="acompact"):
            answer(ASK)

    asyncio.run(held_up())


def test_what_a_completer_raises_is_a_reply_that_says_so_without_its_key() -> None:
    """Requirement CMP-21: an error is a failure with a name; an overflow is told apart, a key is not told at all."""
    key = "sk-" + "ant-api03-" + "A1b2C3d4E5f6G7h8" * 5 + "-AA"
    reply = heard(PermissionError(f"invalid x-api-key {key}"))
    assert reply.error.startswith("PermissionError: invalid x-api-key")
    assert key not in reply.error
    assert not reply.is_overflow
    over = heard(ValueError("prompt is too long: 210000 tokens > 200000 maximum"))
    assert over.is_overflow
    assert heard(Deltas(("half",), OSError("reset"))).error == "OSError: reset"


def test_the_body_and_the_status_of_a_provider_s_error_are_read() -> None:
    """An SDK's error carries both; its text alone may say nothing."""
    error = RuntimeError("bad request")
    error.status_code = 400  # type: ignore[attr-defined]
    error.body = {"error": {"code": "context_length_exceeded", "message": "too many"}}  # type: ignore[attr-defined]
    assert failed(error).is_overflow


def test_an_abort_goes_through() -> None:
    """Requirement CMP-21: an abort by the user is no failure."""
    with pytest.raises(KeyboardInterrupt):
        heard(KeyboardInterrupt())


def test_async_completers_are_awaited_and_sync_ones_called_off_the_loop() -> None:
    """In the async twins an awaitable or async iterator of the same, or the same."""
    assert aheard("a summary") == aheard(Delayed(0.0, "a summary")) == Reply(text="a summary")
    assert aheard(Deltas(("a ", "summary"))) == Reply(text="a summary")
    assert aheard(Deltas(("a ", "summary")), is_async=False) == Reply(text="a summary")
    assert aheard(Deltas(("a",), OSError("reset"))).error == "OSError: reset"
    assert aheard(OSError("reset"), is_async=False).error == "OSError: reset"
    with pytest.raises(InvalidOption):
        aheard(lambda request: None)


@pytest.mark.parametrize("format", sorted(CODECS))
def test_a_refused_call_is_wire_valid_in_every_format(format: str) -> None:
    """Requirement CMP-3: behind the live view stand the instruction, the call and its refusal, each in the format's shape."""
    reader = codec(format)
    said = reader.decode(reader.encode(Message(role="user", parts=user("fix it").parts)))
    view = view_from([said])
    behind = (user("Sum it up"), assistant(call("ls", "c1")), result("c1", "refused"))
    request = request_of(
        Ask(messages=behind, live=view.items(), is_fork=True, instruction="Text only"),
        Basis(format=format, system="be brief", tools=[{"name": "ls"}]),
    )
    read = [reader.decode(one) for one in request.wire()]
    assert request.messages[0] is said.origin
    assert request.system == "be brief"
    assert request.tools == [{"name": "ls"}]
    assert read[-1].text == "Text only"
    assert read[-1].role == "user"
    kinds = [type(part).__name__ for one in read[1:] for part in one.parts]
    assert kinds == ["Text", "ToolCall", "ToolResult", "Text"]


@pytest.mark.parametrize("format", sorted(CODECS))
def test_a_call_of_its_own_is_one_message(format: str) -> None:
    """Servers that want roles to alternate take it: what is to be read and the instruction stand in one user message."""
    request = request_of(ASK, Basis(format=format, system="the agent's", tools=[{"name": "ls"}]))
    [one] = request.wire()
    read = codec(format).decode(one)
    assert [part.text for part in read.parts if hasattr(part, "text")] == ["[12] user: fix it", "Sum it up"]
    assert (request.system, request.tools) == (None, None)


def asks(*answers: str) -> Generator[Ask, Reply, str]:
    said = yield ASK
    again = yield ASK
    return said.text + again.text


def test_both_drivers_carry_replies_to_the_one_implementation() -> None:
    """What needs an answer is a generator; sync and async share it."""
    assert drive(asks(), answering(ScriptedCompleter("a", "b"), CHAT)) == "ab"

    async def play() -> str:
        return await adriven(asks(), aanswering(ScriptedCompleter("a", "b", is_async=True), CHAT))

    assert asyncio.run(play()) == "ab"


def test_cancelling_gives_up_and_closes_the_questioner() -> None:
    """Requirement CMP-21: cancelled while the model writes, nothing is half done."""
    closed: list[bool] = []

    def watched() -> Generator[Ask, Reply, str]:
        try:
            return (yield ASK).text
        finally:
            closed.append(True)

    async def play() -> None:
        started = asyncio.Event()

        async def stalls(request: CompletionRequest) -> str:
            started.set()
            await asyncio.Event().wait()
            return "never"

        task = asyncio.ensure_future(adriven(watched(), aanswering(stalls, CHAT)))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(play())
    assert closed == [True]
