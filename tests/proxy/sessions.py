"""Long sessions for the proxy: what an agent does turn by turn, generated or replayed from recorded ones, in every dialect.

The agent keeps its own list and sends all of it each time, over HTTP without an SDK, streamed; the twin answers by the script. A turn
is what the model answers and what the agent appends then: results of its calls, or the user's next words.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from foldline.clients.answers import Heard
from foldline.core.message import Message, Text, ToolCall, calls_of, results_of
from foldline.testing.twin import Answer, Call, Delivery
from foldline.transcripts.detect import read

DATA = Path(__file__).parents[1] / "data"
MODEL = "model-of-these-tests"
SYSTEM = "You are a careful programmer. " * 60
TOOLS = ("bash", "read_file", "edit_file")
PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse",
}
HEADERS = {
    "content-type": "application/json",
    "authorization": "Bearer k",
    "x-api-key": "k",
    "x-goog-api-key": "k",
    "anthropic-version": "2023-06-01",
}
ARGUMENT_CHARS_MAX = 400
SPELT = Delivery(bytes_per_write=4_096)


class Turn(Struct, frozen=True, kw_only=True):
    """What is answered, and what comes of it."""

    text: str
    calls: tuple[Call, ...] = ()
    results: tuple[str, ...] = ()
    """Of the calls, in order."""
    user: str = ""
    """What the user says then, where there are no calls."""


def generated(count: int, *, tokens: int) -> list[Turn]:
    """Tool loops of some steps, each ended by the user's next task; results of about so many tokens."""
    turns = []
    for n in range(count):
        if n % 6 == 5:
            turns.append(
                Turn(
                    text=f"done with {n}",
                    user=f"Task {n}: go on with module_{n}.py and keep the tests green.",
                )
            )
            continue
        calls = tuple(
            Call(
                name=TOOLS[(n + k) % 3],
                arguments={"path": f"src/module_{n}_{k}.py", "n": n},
                id=f"call_{n}_{k}",
            )
            for k in range(1 + n % 2)
        )
        lines = "\n".join(f"{n}:{i} value_{n}_{i} = compute({i})" for i in range(tokens // 16))
        turns.append(Turn(text=f"step {n}", calls=calls, results=tuple(lines for _ in calls)))
    return turns


RECORDED = (
    "swe-agent/marshmallow-function-calling.traj",
    "openhands/sonnet4-fncall-5046.json",
    "claude-code/cc-viewer-1af7fc5e.jsonl",
    "langgraph/deerflow-b83fbb2a.json",
)


def replayed(count: int, *, chars_max: int) -> list[Turn]:
    """The rounds of recorded sessions one after the other, begun anew until there are enough; long texts are cut."""
    rounds = [turn for name in RECORDED for turn in _rounds(name, chars_max)]
    turns = []
    for n in range(count):
        turn = rounds[n % len(rounds)]
        calls = tuple(
            Call(name=call.name, arguments=call.arguments, id=f"again_{n}_{k}")
            for k, call in enumerate(turn.calls)
        )
        turns.append(Turn(text=f"({n}) {turn.text}", calls=calls, results=turn.results, user=turn.user))
    return turns


def _rounds(name: str, chars_max: int) -> Iterator[Turn]:
    for transcript in read((DATA / name).read_bytes(), name=name):
        messages = transcript.messages
        for place, message in enumerate(messages):
            if message.role != "assistant":
                continue
            said = message.text[:chars_max] or "on it"
            calls = calls_of(message)
            results = [_text(one.content)[:chars_max] for one in _results(messages[place + 1 :])][
                : len(calls)
            ]
            if calls and len(results) == len(calls):
                yield Turn(text=said, calls=tuple(map(_call, calls)), results=tuple(results))
            elif not calls:
                yield Turn(text=said, user=_next_words(messages[place + 1 :])[:chars_max] or "go on")


def _results(after: Sequence[Message]) -> list[Any]:
    found: list[Any] = []
    for message in after:
        if message.role == "assistant":
            break
        found += results_of(message)
    return found


def _text(content: Sequence[Any]) -> str:
    return "\n".join(part.text for part in content if isinstance(part, Text)) or "(no output)"


def _call(call: ToolCall) -> Call:
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = {}
    clipped = {
        key: value[:ARGUMENT_CHARS_MAX] if isinstance(value, str) else value
        for key, value in (arguments.items() if isinstance(arguments, dict) else ())
    }
    return Call(name=call.name[:60], arguments=clipped)


def _next_words(after: Sequence[Message]) -> str:
    return next((message.text for message in after if message.role == "user"), "")


def script(turns: Sequence[Turn]) -> list[Answer]:
    """What the twin answers."""
    return [
        Answer(text=turn.text, thinking="let me think", calls=turn.calls, delivery=SPELT) for turn in turns
    ]


class Agent:
    """A list of its own in one dialect."""

    def __init__(
        self, format: str, *, first: str, tools: Sequence[str] = TOOLS, output_cap: int = 2_000
    ) -> None:
        self._format, self._tools, self._output_cap = format, tools, output_cap
        self.messages: list[Any] = [*_system(format), user_says(format, first)]

    def body(self) -> bytes:
        """The next request."""
        body = _body(self._format, self.messages, tools=self._tools)
        if "max_tokens" in body:
            body["max_tokens"] = self._output_cap
        return json.dumps(body).encode()

    def ask(self, url: str) -> Any:
        """Send it; the answer, put together from its stream. Raises `AssertionError` for a refusal."""
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        try:
            connection.request("POST", parts.path + PATHS[self._format], self.body(), HEADERS)
            response = connection.getresponse()
            data = response.read()
            assert response.status == 200, data[:2000]
        finally:
            connection.close()
        return self.heard(data, is_stream=True)

    def heard(self, data: bytes, *, is_stream: bool) -> Any:
        """An answer, put together."""
        heard = Heard(self._format, is_stream=is_stream)
        heard.take(data)
        return heard.response()

    def take(self, response: Any, turn: Turn) -> None:
        """Append what was answered, and what comes of it."""
        self.messages += _answered(self._format, response)
        if turn.calls:
            self.messages += _results_of(self._format, turn)
        else:
            self.messages.append(user_says(self._format, turn.user))


def run(agent: Agent, turns: Sequence[Turn], url: str) -> None:
    """All turns."""
    for turn in turns:
        agent.take(agent.ask(url), turn)


def _system(format: str) -> list[Any]:
    return [{"role": "system", "content": SYSTEM}] if format == "openai-chat" else []


def user_says(format: str, text: str) -> Any:
    if format == "gemini":
        return {"role": "user", "parts": [{"text": text}]}
    return {"role": "user", "content": [{"type": "text", "text": text}] if format == "anthropic" else text}


def _answered(format: str, response: Any) -> list[Any]:
    match format:
        case "anthropic":
            return [{"role": "assistant", "content": response["content"]}]
        case "openai-chat":
            return [{k: v for k, v in response["choices"][0]["message"].items() if k != "reasoning_content"}]
        case "openai-responses":
            return list(response["output"])
        case _:
            return [response["candidates"][0]["content"]]


def _results_of(format: str, turn: Turn) -> list[Any]:
    pairs = list(zip(turn.calls, turn.results, strict=True))
    match format:
        case "anthropic":
            content = [
                {"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in pairs
            ]
            return [{"role": "user", "content": content}]
        case "openai-chat":
            return [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in pairs]
        case "openai-responses":
            return [
                {"type": "function_call_output", "call_id": call.id, "output": text} for call, text in pairs
            ]
        case _:
            parts = [
                {"functionResponse": {"id": call.id, "name": call.name, "response": {"output": text}}}
                for call, text in pairs
            ]
            return [{"role": "user", "parts": parts}]


def _body(format: str, messages: list[Any], *, tools: Sequence[str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    match format:
        case "anthropic":
            return {
                "model": MODEL,
                "max_tokens": 2_000,
                "stream": True,
                "system": [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}],
                "tools": [{"name": name, "description": "a tool", "input_schema": schema} for name in tools],
                "messages": [*messages[:-1], _marked(messages[-1])],
            }
        case "openai-chat":
            functions = [{"name": name, "description": "a tool", "parameters": schema} for name in tools]
            return {
                "model": MODEL,
                "stream": True,
                "stream_options": {"include_usage": True},
                "tools": [{"type": "function", "function": one} for one in functions],
                "messages": messages,
            }
        case "openai-responses":
            made = [
                {
                    "type": "function",
                    "name": name,
                    "description": "a tool",
                    "parameters": schema,
                    "strict": False,
                }
                for name in tools
            ]
            return {
                "model": MODEL,
                "stream": True,
                "store": False,
                "instructions": SYSTEM,
                "tools": made,
                "input": messages,
            }
        case _:
            declared = [{"name": name, "description": "a tool", "parameters": schema} for name in tools]
            return {
                "systemInstruction": {"parts": [{"text": SYSTEM}]},
                "tools": [{"functionDeclarations": declared}],
                "contents": messages,
            }


def _marked(message: Any) -> Any:
    """With a cache mark on its last block, as Claude Code moves it along."""
    *before, last = message["content"]
    return {**message, "content": [*before, {**last, "cache_control": {"type": "ephemeral"}}]}
