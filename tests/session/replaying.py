"""A recorded run with the usage of every call, played to a session as its host would: what is sent, and what its provider would count.

The provider counts what a request says at the density it had at that call in the recording: tokens it counted for one of ours. While
nothing was taken out, that is the recorded number itself. What no transcript holds (tool schemas) is filled in to the size that the first
call's usage says it had.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.message import Message, ToolResult, Usage, calls_of, result_text
from foldline.core.ports import TokenCounter
from foldline.engine.policy import Policy
from foldline.engine.report import Report
from foldline.session.hosting import Host
from foldline.session.session import Session
from foldline.testing.completers import ScriptedCompleter
from foldline.transcripts.transcript import Transcript
from foldline.wire.completion import CompletionRequest
from tests.session.making import opened
from tests.session.modelling import kinds

OUTPUT_MAX = 20_000
"""What the recorded models can write, as the policy `reserve` takes it at most."""
SUMMARY = (
    "<summary>The repository was read and the slow path was found. The change was made where the batch is built, the checks were run, "
    "and what is left is to run them once more and to say what came of it.</summary>"
)


class Sent(Struct, frozen=True, kw_only=True):
    """One request of the replay."""

    call: int
    report: Report
    tokens: int
    """As its provider would count it."""
    whole: int
    """As it would have counted it had nothing been done for this request."""
    is_due: bool
    """True where a compaction was made because the request was over its policy's line."""


class Provider:
    """Counts what it is sent."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: dict[str, int] = {}
        self.density = 1.0
        """Of the call that is counted: tokens of its own for one of the counter's."""

    def ours(self, values: Any) -> int:
        """Tokens of a JSON value by the counter; of a list, of its parts."""
        if isinstance(values, list):
            return sum(self.ours(value) for value in values)
        text = json.dumps(values, ensure_ascii=False)
        if text not in self._known:
            self._known[text] = self._counter.text(text)
        return self._known[text]

    def tokens(self, values: list[Any]) -> int:
        """As it counts them."""
        return round(self.density * self.ours(values))


def tools_of(transcript: Transcript, counter: TokenCounter) -> list[Any]:
    """As many tokens of schemas as the first call's usage has beside what was said."""
    first, before = next(
        (message.meta.usage.tokens_input, n)
        for n, message in enumerate(transcript.messages)
        if message.meta is not None and message.meta.usage is not None
    )
    lack = first - sum(counter.text(message.text) for message in transcript.messages[:before])
    text = " ".join(f"argument {n} of it" for n in range(max(1, lack)))
    while counter.text(text) > max(1, lack):
        text = text[: len(text) * max(1, lack) // counter.text(text) - 1]
    schema = {"type": "object", "properties": {}}
    if transcript.wire == "anthropic":
        return [{"name": "bash", "description": text, "input_schema": schema}]
    function = {"name": "bash", "description": text, "parameters": schema}
    return [{"type": "function", "function": function}]


def response_of(message: Message, *, wire: str, tokens: int) -> dict[str, Any]:
    """What the provider answered, with this input in its usage."""
    calls = calls_of(message)
    output = (
        message.meta.usage.tokens_output if message.meta is not None and message.meta.usage is not None else 0
    )
    if wire == "anthropic":
        content: list[Any] = [{"type": "text", "text": message.text}] if message.text.strip() else []
        content += [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
            for call in calls
        ]
        usage = {"input_tokens": tokens, "output_tokens": output}
        return {"role": "assistant", "content": content or "…", "stop_reason": "end_turn", "usage": usage}
    said: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if calls:
        said["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
    elif not message.text:
        said["content"] = "…"
    usage = {"prompt_tokens": tokens, "completion_tokens": output}
    return {"choices": [{"index": 0, "message": said, "finish_reason": "stop"}], "usage": usage}


class Replay:
    """A recorded run played to a session of one policy and window."""

    def __init__(self, transcript: Transcript, *, policy: Policy, window: int) -> None:
        self.asked: list[int] = []
        """Of each request for a summary, as the provider would count it, with its answer."""
        self._transcript = transcript
        self._system = "\n".join(m.text for m in transcript.messages if m.role == "system")
        host = Host(completer=ScriptedCompleter(self._summed_up))
        self.session: Session = opened(
            policy=policy, format=transcript.wire, model=transcript.model, counter=None, host=host
        )
        setup = self.session._known.setup
        planned = replace(setup.planned, window=window, output_max=OUTPUT_MAX, is_window_known=True)
        self.session._known.setup = replace(setup, planned=planned)
        self.provider = Provider(setup.counter)
        self._tools = tools_of(transcript, setup.counter)
        self._heard, self._history, self._before = 0, 0, 0

    def _summed_up(self, request: CompletionRequest) -> str:
        sent = [request.system, *(request.tools or []), *request.wire()]
        self.asked.append(self.provider.tokens(sent) + (request.output_cap or 0))
        return SUMMARY

    def run(self) -> Iterator[Sent]:
        """Each request, as it goes out."""
        call = 0
        for message in self._transcript.messages:
            match message.role:
                case "user":
                    self.session.user(message.text)
                case "tool":
                    self._results(message)
                case "assistant" if message.meta is not None and message.meta.usage is not None:
                    yield self._called(message, usage=message.meta.usage, call=call)
                    call += 1
                case _:
                    pass

    def _results(self, message: Message) -> None:
        for part in message.parts:
            if isinstance(part, ToolResult):
                self.session.tool_result(part.call_id, result_text(part), is_error=part.is_error)

    def _at(self, usage: Usage) -> int:
        """Set the provider to the density of the call that had this usage. Returns what the next request would have were
        nothing done for it: what the last one had, and what came since."""
        said = self.session.messages
        new = self.provider.ours([said[n] for n in range(self._heard, len(said))])
        self._heard, self._history = len(said), self._history + new
        fixed = self.provider.ours([self._system, *self._tools])
        self.provider.density = usage.tokens_input / (self._history + fixed)
        return self._before + round(self.provider.density * (new if self._before else new + fixed))

    def _called(self, message: Message, *, usage: Usage, call: int) -> Sent:
        whole = self._at(usage)
        made = kinds(self.session).count("compaction")
        request = self.session.prepare(system=self._system, tools=self._tools)
        first = [] if self.session.format == "openai-chat" else [self._system]
        counted = self.provider.tokens([*first, *self._tools, *request.messages])
        self._before = counted
        self.session.record(response_of(message, wire=self.session.format, tokens=counted))
        return Sent(
            call=call,
            report=request.report,
            tokens=counted,
            whole=whole,
            is_due=kinds(self.session).count("compaction") > made,
        )
