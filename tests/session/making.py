"""Sessions for tests: in memory, with a counter of characters, a clock by hand and answers as providers spell them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from foldline.core.ports import Store
from foldline.session.conversation import Conversation
from foldline.session.opening import open_in
from foldline.session.session import Session
from foldline.session.setup import SessionOptions
from foldline.stores.memory import MemoryStore

FORMATS = ("anthropic", "openai-chat", "openai-responses", "gemini")


def opened(store: Store | None = None, name: str = "s", **asked: Any) -> Session:
    """A session in memory; Anthropic's format and a counter of four characters a token unless said otherwise."""
    wanted = {
        "format": None if store is not None and name in store.names() else "anthropic",
        "counter": "length/4",
    }
    return open_in(store or MemoryStore(), name, asked=SessionOptions(**{**wanted, **asked}))


@contextmanager
def reopened(session: Session, store: Store, **asked: Any) -> Iterator[Session]:
    """The same session as another process would have it, after this one is gone."""
    session.close()
    again = opened(store, session.name, **asked)
    try:
        yield again
    finally:
        again.close()


def answer(
    text: str = "", *calls: tuple[str, str], format: str = "anthropic", tokens: int | None = None
) -> Any:
    """A response with a text and calls of (id, name), and a usage of so many input tokens."""
    if format == "anthropic":
        content: list[Any] = [{"type": "text", "text": text}] if text else []
        content += [{"type": "tool_use", "id": id, "name": name, "input": {"of": id}} for id, name in calls]
        told: Any = {
            "id": "msg",
            "role": "assistant",
            "content": content,
            "stop_reason": "end_turn",
            "model": "m",
        }
        return told if tokens is None else {**told, "usage": {"input_tokens": tokens, "output_tokens": 10}}
    if format == "openai-chat":
        message: Any = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [
                {"id": id, "type": "function", "function": {"name": name, "arguments": '{"of":1}'}}
                for id, name in calls
            ]
        told = {
            "id": "c",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "model": "m",
        }
        return (
            told if tokens is None else {**told, "usage": {"prompt_tokens": tokens, "completion_tokens": 10}}
        )
    if format == "openai-responses":
        items: list[Any] = [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": text or "…"}],
            }
        ]
        items += [
            {"type": "function_call", "call_id": id, "name": name, "arguments": "{}"} for id, name in calls
        ]
        told = {"id": "r", "object": "response", "output": items, "status": "completed", "model": "m"}
        return told if tokens is None else {**told, "usage": {"input_tokens": tokens, "output_tokens": 10}}
    parts: list[Any] = [{"text": text}] if text else []
    parts += [{"functionCall": {"id": id, "name": name, "args": {"of": id}}} for id, name in calls]
    told = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
    if tokens is None:
        return told
    return {**told, "usageMetadata": {"promptTokenCount": tokens, "candidatesTokenCount": 10}}


def worked(session: Conversation, rounds: int, *, size: int = 400, start: int = 0) -> None:
    """So many rounds of one call each, whose results have `size` characters."""
    for number in range(start, start + rounds):
        session.prepare()
        session.record(answer(f"look {number}", (f"t{number}", "read"), format=session.format))
        session.tool_result(f"t{number}", f"line {number} " * (size // 8))
