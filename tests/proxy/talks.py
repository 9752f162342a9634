"""Short talks with the official SDKs, in every dialect and every way of asking: what an SDK hands to its caller, turn by turn.

A talk is two turns: a question, and what an agent sends then, with the answer given back as the SDK gave it. What differs from one
run to the next (times, an HTTP response's own headers, ids that a double draws) is left out. Knows nothing of the proxy: whoever
compares runs the same talk at two addresses.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from foldline.clients.answers import Heard
from foldline.testing.twin import Answer, Call
from foldline.testing.twin.script import Step
from tests.clients.agents import client_of, echoed

FORMATS: Final = ("anthropic", "openai-chat", "openai-responses", "gemini")
WAYS: Final = ("sync", "sync streamed", "async", "async streamed")
MODELS: Final = {
    "anthropic": "claude-sonnet-4-5",
    "openai-chat": "gpt-4o",
    "openai-responses": "gpt-5",
    "gemini": "gemini-2.5-pro",
}
PNG: Final = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde\x00\x00\x00\x0c"
    b"IDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82"
).decode()
OF_THE_RUN: Final = {
    "created",
    "created_at",
    "completed_at",
    "create_time",
    "sdk_http_response",
    "response_id",
}
"""Keys of times, and of what an SDK says of HTTP itself."""
DRAWN: Final = re.compile(
    r"\b(?:msg|toolu|call|chatcmpl|resp|rs|fc|item)[_-][\w-]+|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
)


class Talk(Struct, frozen=True, kw_only=True):
    """What is asked, what is answered, and what the agent says then."""

    question: str
    answers: tuple[Step, Step]
    image: bool = False
    thinks: bool = False
    tools: bool = False

    @property
    def calls(self) -> tuple[Call, ...]:
        """Of the first answer."""
        first = self.answers[0]
        return first.calls if isinstance(first, Answer) else ()


LOOK = Call(name="look", arguments={"path": "a.py", "lines": [1, 2]}, id="call_1")
TALKS: Final[dict[str, Talk]] = {
    "text": Talk(question="say hello", answers=("Hello there, friend.", "Once more: hello.")),
    "tools": Talk(
        question="call look",
        answers=(
            Answer(text="I look.", calls=(LOOK, Call(name="look", arguments={}, id="call_2"))),
            "It is done.",
        ),
        tools=True,
    ),
    "images": Talk(question="what is it", answers=("A red square.", "Still red."), image=True),
    "thinking": Talk(
        question="think", answers=(Answer(text="42", thinking="let me think"), "Still 42."), thinks=True
    ),
}


def talked(format: str, way: str, url: str, talk: Talk, *, turns: int = 2, gemini: str = "v1") -> list[Any]:
    """What the SDK hands to its caller: of each turn the response, or the events of its stream."""
    if way.startswith("async"):
        return asyncio.run(_atalked(format, way, url, talk, turns=turns, gemini=gemini))
    client = client_of(format, url, gemini=gemini)
    try:
        turn = _Turns(format, talk, is_stream="streamed" in way)
        for _ in range(turns):
            told = turn.call(client)
            turn.take(list(told) if turn.is_stream else told)
        return turn.seen
    finally:
        client.close()


async def _atalked(format: str, way: str, url: str, talk: Talk, *, turns: int, gemini: str) -> list[Any]:
    whole = client_of(format, url, is_async=True, gemini=gemini)
    client = whole.aio if format == "gemini" else whole
    try:
        turn = _Turns(format, talk, is_stream="streamed" in way)
        for _ in range(turns):
            told = await turn.call(client)
            turn.take([event async for event in told] if turn.is_stream else told)
        return turn.seen
    finally:
        await (client.aclose() if format == "gemini" else client.close())
        if format == "gemini":
            whole.close()


class _Turns:
    """A talk under way."""

    def __init__(self, format: str, talk: Talk, *, is_stream: bool) -> None:
        self._format, self._talk, self.is_stream = format, talk, is_stream
        self._messages: list[Any] = [_asked(format, talk)]
        self.seen: list[Any] = []

    def call(self, client: Any) -> Any:
        """The request of the next turn: its result, or what is awaited for it."""
        given = {"model": MODELS[self._format], **_MORE[self._format](self._talk, self._messages)}
        match self._format:
            case "anthropic":
                call = client.messages.create
            case "openai-chat":
                call = client.chat.completions.create
                given |= {"stream_options": {"include_usage": True}} if self.is_stream else {}
            case "openai-responses":
                call = client.responses.create
            case _:
                models = client.models
                return (models.generate_content_stream if self.is_stream else models.generate_content)(
                    **given
                )
        return call(**given, stream=True) if self.is_stream else call(**given)

    def take(self, told: Any) -> None:
        """An answer, whole or as its events; what the agent sends then is behind it."""
        many = told if self.is_stream else [told]
        self.seen.append([plain(one.model_dump(mode="json")) for one in many])
        self._messages += echo(self._format, told, is_stream=self.is_stream)
        self._messages += _results(self._format, self._talk.calls) or [_said(self._format, "go on")]


def plain(value: Any) -> Any:
    """Without what is of the run."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items() if key not in OF_THE_RUN}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def without_drawn(value: Any) -> Any:
    """Without ids that a double draws anew each time, and what it seals them in."""
    if isinstance(value, dict):
        sealed = {"encrypted_content": "drawn"} if value.get("encrypted_content") else {}
        return {key: without_drawn(inner) for key, inner in value.items()} | sealed
    if isinstance(value, list):
        return [without_drawn(inner) for inner in value]
    return DRAWN.sub("drawn", value) if isinstance(value, str) else value


def _asked(format: str, talk: Talk) -> Any:
    if not talk.image:
        return _said(format, talk.question)
    text: dict[str, Any]
    match format:
        case "anthropic":
            source = {"type": "base64", "media_type": "image/png", "data": PNG}
            image, text = {"type": "image", "source": source}, {"type": "text", "text": talk.question}
        case "openai-chat":
            image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
            text = {"type": "text", "text": talk.question}
        case "openai-responses":
            image = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "low"}
            text = {"type": "input_text", "text": talk.question}
        case _:
            parts = [
                {"inline_data": {"mime_type": "image/png", "data": base64.b64decode(PNG)}},
                {"text": talk.question},
            ]
            return {"role": "user", "parts": parts}
    return {"role": "user", "content": [image, text]}


def _said(format: str, text: str) -> Any:
    return (
        {"role": "user", "parts": [{"text": text}]}
        if format == "gemini"
        else {"role": "user", "content": text}
    )


def echo(format: str, told: Any, *, is_stream: bool) -> list[Any]:
    """The answer, as an agent gives it back."""
    if not is_stream:
        return echoed(format, told)
    if format == "gemini":
        return [
            {
                "role": "model",
                "parts": [part for one in told for part in one.candidates[0].content.parts or ()],
            }
        ]
    heard = Heard(format, is_stream=True)
    for event in told:
        heard.event(event.model_dump(mode="json", exclude_unset=True))
    response = heard.response()
    match format:
        case "anthropic":
            return [{"role": "assistant", "content": response["content"]}]
        case "openai-chat":
            message = response["choices"][0]["message"]
            return [{key: value for key, value in message.items() if key != "reasoning_content"}]
        case _:
            return list(response["output"])


def _results(format: str, calls: tuple[Call, ...]) -> list[Any]:
    match format:
        case "anthropic":
            blocks = [
                {"type": "tool_result", "tool_use_id": one.id, "content": f"seen {one.id}"} for one in calls
            ]
            return [{"role": "user", "content": blocks}] if blocks else []
        case "openai-chat":
            return [{"role": "tool", "tool_call_id": one.id, "content": f"seen {one.id}"} for one in calls]
        case "openai-responses":
            return [
                {"type": "function_call_output", "call_id": one.id, "output": f"seen {one.id}"}
                for one in calls
            ]
        case _:
            told = [
                {"id": one.id, "name": one.name, "response": {"output": f"seen {one.id}"}} for one in calls
            ]
            return [{"role": "user", "parts": [{"function_response": one} for one in told]}] if told else []


_SCHEMA: Final = {"type": "object", "properties": {"path": {"type": "string"}}}


def _anthropic(talk: Talk, messages: list[Any]) -> dict[str, Any]:
    tools = (
        {"tools": [{"name": "look", "description": "looks", "input_schema": _SCHEMA}]} if talk.tools else {}
    )
    thinks = {"thinking": {"type": "enabled", "budget_tokens": 1_024}} if talk.thinks else {}
    return {"max_tokens": 2_000, "system": "be brief", "messages": messages, **tools, **thinks}


def _chat(talk: Talk, messages: list[Any]) -> dict[str, Any]:
    function = {"name": "look", "description": "looks", "parameters": _SCHEMA}
    tools = {"tools": [{"type": "function", "function": function}]} if talk.tools else {}
    return {"messages": [{"role": "system", "content": "be brief"}, *messages], **tools}


def _responses(talk: Talk, messages: list[Any]) -> dict[str, Any]:
    tool = {
        "type": "function",
        "name": "look",
        "description": "looks",
        "parameters": _SCHEMA,
        "strict": False,
    }
    tools = {"tools": [tool]} if talk.tools else {}
    thinks = {"reasoning": {"effort": "low", "summary": "auto"}, "include": ["reasoning.encrypted_content"]}
    return {
        "instructions": "be brief",
        "input": messages,
        "store": False,
        **tools,
        **(thinks if talk.thinks else {}),
    }


def _gemini(talk: Talk, messages: list[Any]) -> dict[str, Any]:
    declared = {"name": "look", "description": "looks", "parameters_json_schema": _SCHEMA}
    tools = {"tools": [{"function_declarations": [declared]}]} if talk.tools else {}
    thinks = {"thinking_config": {"include_thoughts": True}} if talk.thinks else {}
    by_hand = {"automatic_function_calling": {"disable": True}}
    return {"contents": messages, "config": {"system_instruction": "be brief", **by_hand, **tools, **thinks}}


_MORE: Final[dict[str, Callable[[Talk, list[Any]], dict[str, Any]]]] = {
    "anthropic": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini": _gemini,
}
