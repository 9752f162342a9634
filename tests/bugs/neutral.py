"""Writes one conversation in any of the four wire formats, so that a fault found in one is tried in all.

A conversation is a list of steps; what a step looks like on each wire is written down here a second time, from the
providers' documentation and not from foldline's codecs. Broken conversations are written as faithfully as sound ones.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple, TypeAlias

Message = dict[str, Any]


class Say(NamedTuple):
    """Text of the user, of the assistant, or of the system where the format has such messages."""

    role: str
    text: str


class Ask(NamedTuple):
    """An assistant message with calls, each an id and a tool's name, and perhaps with text."""

    calls: tuple[tuple[str, str], ...]
    text: str = ""
    path: str = "a.txt"


class Answer(NamedTuple):
    """Results that travel together, each a call's id and the tool's output."""

    results: tuple[tuple[str, str], ...]


Step: TypeAlias = Say | Ask | Answer


def written(steps: list[Step], *, format: str) -> list[Message]:
    """The conversation as the format's list of messages."""
    names = {name: tool for step in steps if isinstance(step, Ask) for name, tool in step.calls}
    writer = {
        "anthropic": _anthropic,
        "openai-chat": _chat,
        "openai-responses": _responses,
        "gemini": _gemini,
    }
    return [message for step in steps for message in writer[format](step, names)]


def _anthropic(step: Step, names: dict[str, str]) -> list[Message]:
    match step:
        case Say(role, text):
            return [{"role": role, "content": text}]
        case Ask(calls, text, path):
            words = [{"type": "text", "text": text}] if text else []
            uses = [
                {"type": "tool_use", "id": id, "name": tool, "input": {"path": path}} for id, tool in calls
            ]
            return [{"role": "assistant", "content": [*words, *uses]}]
        case Answer(results):
            blocks = [{"type": "tool_result", "tool_use_id": id, "content": text} for id, text in results]
            return [{"role": "user", "content": blocks}]


def _chat(step: Step, names: dict[str, str]) -> list[Message]:
    match step:
        case Say(role, text):
            return [{"role": role, "content": text}]
        case Ask(calls, text, path):
            arguments = json.dumps({"path": path})
            made = [
                {"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}}
                for id, tool in calls
            ]
            return [{"role": "assistant", "content": text or None, "tool_calls": made}]
        case Answer(results):
            return [{"role": "tool", "tool_call_id": id, "content": text} for id, text in results]


def _responses(step: Step, names: dict[str, str]) -> list[Message]:
    match step:
        case Say("assistant", text):
            return [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
            ]
        case Say(role, text):
            return [{"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}]
        case Ask(calls, text, path):
            arguments = json.dumps({"path": path})
            made = [
                {"type": "function_call", "call_id": id, "name": tool, "arguments": arguments}
                for id, tool in calls
            ]
            return [*(_responses(Say("assistant", text), names) if text else []), *made]
        case Answer(results):
            return [{"type": "function_call_output", "call_id": id, "output": text} for id, text in results]


def _gemini(step: Step, names: dict[str, str]) -> list[Message]:
    match step:
        case Say(role, text):
            return [{"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]}]
        case Ask(calls, text, path):
            words = [{"text": text}] if text else []
            made = [{"functionCall": {"name": tool, "args": {"path": path}}} for _, tool in calls]
            return [{"role": "model", "parts": [*words, *made]}]
        case Answer(results):
            made = [
                {"functionResponse": {"name": names.get(id, "lost"), "response": {"output": text}}}
                for id, text in results
            ]
            return [{"role": "user", "parts": made}]
