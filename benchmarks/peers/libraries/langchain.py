"""LangChain: its messages, its stub model, and the middlewares of `langchain.agents` that shorten a history.

`SummarizationMiddleware` as its default has it (4,000 tokens of the old history go to the model) and with that limit
taken away, and `ContextEditingMiddleware`, which clears old results. `deepagents` builds on what stands here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.peers.peer import NOTHING_DUE, SUMMARY, Chat, Limits, Turn, Unit, arguments_of, chat_call

TRIM_DEFAULT = 4_000


def stub_model(sent: list[Any]) -> Any:
    """A chat model that answers with the summary."""
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Stub(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "stub"

        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> Any:
            sent.append(messages)
            return ChatResult(generations=[ChatGeneration(message=AIMessage(SUMMARY))])

    return Stub()


def message_of(turn: Turn) -> Any:
    """A turn as LangChain's message."""
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    match turn.role:
        case "user":
            return HumanMessage(turn.text)
        case "tool":
            return ToolMessage(turn.text, tool_call_id=turn.call_id, name=turn.name)
        case _:
            read, written = turn.usage
            return AIMessage(
                turn.text,
                tool_calls=[
                    {"id": call.id, "name": call.name, "args": arguments_of(call)} for call in turn.calls
                ],
                usage_metadata={
                    "input_tokens": read,
                    "output_tokens": written,
                    "total_tokens": read + written,
                },
                response_metadata={"model_provider": "stub"},
            )


def chat_from(messages: Sequence[Any]) -> list[Chat]:
    """LangChain's messages as chat messages."""
    roles = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
    found: list[Chat] = []
    for message in messages:
        chat: Chat = {"role": roles[message.type], "content": _text(message)}
        if message.type == "tool":
            chat["tool_call_id"] = message.tool_call_id
        if calls := getattr(message, "tool_calls", None):
            chat["tool_calls"] = [chat_call(call["id"], call["name"], call["args"]) for call in calls]
            chat["content"] = chat["content"] or None
        found.append(chat)
    return found


def _text(message: Any) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") if isinstance(block, dict) else block for block in content)


class Held:
    """A history as LangChain's middlewares hold it: a list of messages, the system prompt apart."""

    unit: Unit = "tokens"

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.model = stub_model(self.sent)

    def open(self, turns: Sequence[Turn]) -> Any:
        return [message_of(turn) for turn in turns]

    def add(self, history: Any, turn: Turn) -> None:
        history.append(message_of(turn))

    def read(self, made: Any) -> list[Chat]:
        return chat_from(made)

    def asked(self) -> list[str]:
        return ["\n".join(_text(message) for message in messages) for messages in self.sent]


class Summarization(Held):
    """`SummarizationMiddleware(trigger=("tokens", …), keep=("tokens", …))`."""

    trim: int | None = TRIM_DEFAULT

    def __init__(self) -> None:
        super().__init__()
        self._idle = self._middleware(NOTHING_DUE)

    def _middleware(self, limits: Limits) -> Any:
        from langchain.agents.middleware import SummarizationMiddleware

        return SummarizationMiddleware(
            model=self.model,
            trigger=("tokens", limits.due),
            keep=("tokens", max(1, limits.keep)),
            trim_tokens_to_summarize=self.trim,
        )

    def check(self, history: Any) -> None:
        self._idle.before_model({"messages": history}, None)

    def compact(self, history: Any, limits: Limits) -> Any:
        update = self._middleware(limits).before_model({"messages": history}, None)
        return None if update is None else update["messages"][1:]  # the first removes all that was there


class SummarizationUntrimmed(Summarization):
    """The same with `trim_tokens_to_summarize=None`: the model is sent all that leaves."""

    trim = None


class ContextEditing(Held):
    """`ContextEditingMiddleware([ClearToolUsesEdit(trigger=…, keep=…)])`."""

    unit: Unit = "messages"

    def __init__(self) -> None:
        super().__init__()
        self._idle = self._middleware(NOTHING_DUE)

    def _middleware(self, limits: Limits) -> Any:
        from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware

        return ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=limits.due, keep=limits.keep)])

    def _call(self, middleware: Any, history: Any) -> Any:
        from langchain.agents.middleware.types import ModelRequest

        seen: list[Any] = []
        request = ModelRequest(model=self.model, messages=history, state={"messages": history})
        middleware.wrap_model_call(request, lambda changed: seen.append(changed.messages))
        return seen[0]

    def check(self, history: Any) -> None:
        self._call(self._idle, history)

    def compact(self, history: Any, limits: Limits) -> Any:
        return self._call(self._middleware(limits), history)
