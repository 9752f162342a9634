"""pydantic-ai-harness: its capabilities that edit Pydantic AI's message history just before a request.

`SummarizingCompaction` alone, and `TieredCompaction` as its documentation recommends it: old results cleared first, a
summary only where that does not suffice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.peers.peer import (
    NOTHING_DUE,
    SUMMARY,
    Chat,
    Limits,
    Loop,
    Turn,
    Unit,
    arguments_of,
    chat_call,
)


class Summarizing:
    """`SummarizingCompaction(max_tokens=…, keep_tokens=…)`."""

    unit: Unit = "tokens"

    def __init__(self) -> None:
        from pydantic_ai.messages import ModelResponse, TextPart
        from pydantic_ai.models.function import FunctionModel
        from pydantic_ai.usage import RequestUsage

        self.sent: list[Any] = []

        def answer(messages: Any, _: Any) -> Any:
            self.sent.append(messages)
            usage = RequestUsage(input_tokens=10, output_tokens=10)
            return ModelResponse(parts=[TextPart(SUMMARY)], usage=usage)

        self._model = FunctionModel(answer)
        self._loop = Loop()
        self._idle = self._strategy(NOTHING_DUE)

    def _strategy(self, limits: Limits) -> Any:
        from pydantic_ai_harness import SummarizingCompaction

        return SummarizingCompaction(max_tokens=limits.due, keep_tokens=max(1, limits.keep))

    def open(self, turns: Sequence[Turn]) -> Any:
        history: list[Any] = []
        for turn in turns:
            self.add(history, turn)
        return history

    def add(self, history: Any, turn: Turn) -> None:
        from pydantic_ai.messages import (
            ModelRequest,
            ModelResponse,
            TextPart,
            ToolCallPart,
            ToolReturnPart,
            UserPromptPart,
        )
        from pydantic_ai.usage import RequestUsage

        if turn.role == "assistant":
            said = [TextPart(turn.text)] if turn.text else []
            calls = [
                ToolCallPart(tool_name=call.name, args=arguments_of(call), tool_call_id=call.id)
                for call in turn.calls
            ]
            read, written = turn.usage
            usage = RequestUsage(input_tokens=read, output_tokens=written)
            history.append(ModelResponse(parts=[*said, *calls], usage=usage))
        elif turn.role == "user":
            history.append(ModelRequest(parts=[UserPromptPart(turn.text)]))
        else:
            part = ToolReturnPart(tool_name=turn.name, content=turn.text, tool_call_id=turn.call_id)
            last = history[-1] if history else None
            if isinstance(last, ModelRequest) and isinstance(last.parts[-1], ToolReturnPart):
                last.parts.append(part)  # results of one round are one request
            else:
                history.append(ModelRequest(parts=[part]))

    def _request(self, strategy: Any, history: Any) -> Any:
        from pydantic_ai import RunContext
        from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
        from pydantic_ai.usage import RunUsage

        run = RunContext(deps=None, model=self._model, usage=RunUsage(), messages=history)
        request = ModelRequestContext(
            model=self._model,
            messages=history,
            model_settings=None,
            model_request_parameters=ModelRequestParameters(),
        )
        self._loop.run(strategy.before_model_request(run, request))
        return run.messages

    def check(self, history: Any) -> None:
        self._request(self._idle, history)

    def compact(self, history: Any, limits: Limits) -> Any:
        return self._request(self._strategy(limits), history)

    def read(self, made: Any) -> list[Chat]:
        found: list[Chat] = []
        for message in made:
            found += _answer(message) if message.kind == "response" else _request_parts(message)
        return found

    def asked(self) -> list[str]:
        return [
            "\n".join(str(getattr(part, "content", "")) for message in messages for part in message.parts)
            for messages in self.sent
        ]


class Tiered(Summarizing):
    """`TieredCompaction([ClearToolResults(…), SummarizingCompaction(…)], target_tokens=…)`."""

    def _strategy(self, limits: Limits) -> Any:
        from pydantic_ai_harness import ClearToolResults, SummarizingCompaction, TieredCompaction

        summarize = SummarizingCompaction(max_messages=1, keep_tokens=max(1, limits.keep))
        return TieredCompaction(
            tiers=[ClearToolResults(max_tokens=1), summarize], target_tokens=limits.target
        )


def _answer(message: Any) -> list[Chat]:
    texts = [part.content for part in message.parts if part.part_kind == "text"]
    calls = [
        chat_call(part.tool_call_id, part.tool_name, part.args)
        for part in message.parts
        if part.part_kind == "tool-call"
    ]
    chat: Chat = {"role": "assistant", "content": "\n".join(texts) or None}
    return [{**chat, "tool_calls": calls} if calls else chat]


def _request_parts(message: Any) -> list[Chat]:
    """A request as chat messages. What a compaction wrote is told in the user's place, as core renders it."""
    found: list[Chat] = []
    for part in message.parts:
        content = part.content if isinstance(part.content, str) else _texts(part.content)
        match part.part_kind:
            case "tool-return":
                found.append({"role": "tool", "tool_call_id": part.tool_call_id, "content": content})
            case "system-prompt":
                found.append({"role": "system", "content": content})
            case _:
                found.append({"role": "user", "content": content})
    return found


def _texts(content: Any) -> str:
    return "\n".join(piece if isinstance(piece, str) else getattr(piece, "content", "") for piece in content)
