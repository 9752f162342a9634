"""Strands Agents: its conversation managers, on the messages of the Converse API that it holds.

`SummarizingConversationManager` with its own ratio, called as the agent calls it on overflow until only the newest
messages and a summary are left, and the `ContextManager` behind `context_manager="auto"` (results cut to a preview,
then a summary), with the number of newest messages it keeps set from outside.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from benchmarks.peers.peer import (
    OUT_OF_REACH,
    SUMMARY,
    Chat,
    Limits,
    Loop,
    Turn,
    Unit,
    arguments_of,
    chat_call,
)

PASSES_MAX = 60
"""Each takes 30 % of what is left."""
AUTO_RESULT_TOKENS, AUTO_PREVIEW_TOKENS, AUTO_UTILIZATION = 1_500, 750, 0.85
"""The values of the preset `auto`."""


def stub_model(sent: list[Any], window: int) -> Any:
    """A model that streams the summary, with a window of this many tokens."""
    from strands.models.model import Model

    class Stub(Model):
        def update_config(self, **_: Any) -> None:
            return

        def get_config(self) -> Any:
            return {"context_window_limit": window, "model_id": "stub"}

        async def structured_output(self, *_: Any, **__: Any) -> Any:
            yield {}

        async def stream(self, messages: Any, *_: Any, **__: Any) -> Any:
            sent.append(messages)
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": SUMMARY}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}

    return Stub()


def add_turn(messages: list[Any], turn: Turn) -> None:
    """One more message; results of one round are blocks of one message."""
    if turn.role == "tool":
        content = [{"text": turn.text}]
        block = {"toolResult": {"toolUseId": turn.call_id, "status": "success", "content": content}}
        last = messages[-1] if messages else None
        if last is not None and last["role"] == "user" and "toolResult" in last["content"][0]:
            last["content"].append(block)
        else:
            messages.append({"role": "user", "content": [block]})
    elif turn.role == "user":
        messages.append({"role": "user", "content": [{"text": turn.text}]})
    else:
        said = [{"text": turn.text}] if turn.text else []
        calls = [
            {"toolUse": {"toolUseId": call.id, "name": call.name, "input": arguments_of(call)}}
            for call in turn.calls
        ]
        read, written = turn.usage
        usage = {"inputTokens": read, "outputTokens": written, "totalTokens": read + written}
        messages.append({"role": "assistant", "content": [*said, *calls], "metadata": {"usage": usage}})


def chat_from(messages: Sequence[Any]) -> list[Chat]:
    """Converse messages as chat messages."""
    found: list[Chat] = []
    for message in messages:
        texts = [block["text"] for block in message["content"] if "text" in block]
        results = [block["toolResult"] for block in message["content"] if "toolResult" in block]
        uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
        for result in results:
            text = "\n".join(block.get("text", "") for block in result["content"])
            found.append({"role": "tool", "tool_call_id": result["toolUseId"], "content": text})
        if not texts and not uses:
            continue
        chat: Chat = {"role": message["role"], "content": "\n".join(texts) or None}
        if uses:
            chat["tool_calls"] = [chat_call(use["toolUseId"], use["name"], use["input"]) for use in uses]
        found.append(chat)
    return found


class _Held:
    unit: Unit = "messages"

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self._loop = Loop()

    def add(self, history: Any, turn: Turn) -> None:
        add_turn(history.messages, turn)

    def check(self, history: Any) -> None:
        from strands.event_loop.event_loop import _estimate_input_tokens

        self._loop.run(_estimate_input_tokens(history))

    def read(self, made: Any) -> list[Chat]:
        return chat_from(made)

    def asked(self) -> list[str]:
        return [json.dumps(messages, ensure_ascii=False, default=str) for messages in self.sent]


class Summarizing(_Held):
    """`SummarizingConversationManager(preserve_recent_messages=…)`."""

    def open(self, turns: Sequence[Turn]) -> Any:
        model = stub_model(self.sent, OUT_OF_REACH)
        registry = SimpleNamespace(get_all_tool_specs=lambda: [])
        agent = SimpleNamespace(
            messages=[], model=model, aux_model=model, system_prompt="", tool_registry=registry
        )
        agent._system_prompt_content = None
        for turn in turns:
            add_turn(agent.messages, turn)
        return agent

    def compact(self, history: Any, limits: Limits) -> Any:
        from strands.agent.conversation_manager import SummarizingConversationManager
        from strands.types.exceptions import ContextWindowOverflowException

        overflow = ContextWindowOverflowException("too long")
        keeping = SummarizingConversationManager(preserve_recent_messages=max(1, limits.keep))
        for _ in range(PASSES_MAX):
            before = len(history.messages)
            if before <= limits.keep + 1:
                break
            try:
                keeping.reduce_context(history, overflow)
            except ContextWindowOverflowException:
                break
            if len(history.messages) == before:
                break
        return history.messages


class Auto(_Held):
    """`ContextManager`, as `Agent(context_manager="auto")` makes it."""

    def _agent(self, turns: Sequence[Turn], manager: Any, window: int) -> Any:
        from strands import Agent

        messages: list[Any] = []
        for turn in turns:
            add_turn(messages, turn)
        model = stub_model(self.sent, window)
        return Agent(model=model, messages=messages, context_manager=manager, callback_handler=None)

    def open(self, turns: Sequence[Turn]) -> Any:
        from strands._context_manager.context_manager import ContextManager

        return self._agent(turns, ContextManager(strategies=[], stash=False), OUT_OF_REACH)

    def compact(self, history: Any, limits: Limits) -> Any:
        from strands._context_manager.context_manager import ContextManager
        from strands._context_manager.strategies.offload import Offload

        cut = Offload.truncate("tool_results", {"preview_tokens": AUTO_PREVIEW_TOKENS})
        summarize = Offload.summarize("*").when(
            utilization=AUTO_UTILIZATION, preserve_recent=max(1, limits.keep)
        )
        manager = ContextManager(strategies=[cut.when(threshold=AUTO_RESULT_TOKENS), summarize])
        window = int(min(limits.due, limits.target / AUTO_UTILIZATION))
        agent = self._agent((), manager, window)
        agent.messages.extend(history.messages)
        self._loop.run(manager._run_strategies(agent))
        return agent.messages
