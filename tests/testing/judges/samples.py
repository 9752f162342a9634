"""Bodies in which everything is in its place, one for each judge, and the pieces they are made of.

Each test of a judge changes one thing in its body and wants the rule to speak; the bodies themselves must please.
"""

from __future__ import annotations

import base64
import copy
import struct
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

Body = dict[str, Any]
Change = Callable[[Body], object]


def png(width: int = 8, height: int = 8) -> str:
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)).decode()


def image(width: int = 8, data: str | None = None, media_type: str = "image/png") -> Body:
    source = {"type": "base64", "media_type": media_type, "data": data if data is not None else png(width)}
    return {"type": "image", "source": source}


def document(data: bytes = b"%PDF-1.7", media_type: str = "application/pdf") -> Body:
    encoded = base64.b64encode(data).decode()
    return {"type": "document", "source": {"type": "base64", "media_type": media_type, "data": encoded}}


def text(words: str) -> Body:
    return {"type": "text", "text": words}


def call(name: str) -> Body:
    return {"type": "tool_use", "id": name, "name": "ls", "input": {}}


def result(name: str, content: Any = "a b") -> Body:
    return {"type": "tool_result", "tool_use_id": name, "content": content}


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "QUJD"}
ANTHROPIC: Body = {
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": [text("list"), image(), document()]},
        {"role": "assistant", "content": [THOUGHT, text("Listing."), call("t1"), call("t2")]},
        {"role": "user", "content": [result("t1"), result("t2", [text("x"), image()]), text("go on")]},
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
                {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
                text("Found."),
            ],
        },
        {"role": "user", "content": "now?"},
        {"role": "system", "content": "The user is away."},
        {"role": "assistant", "content": [THOUGHT, call("t3")]},
        {"role": "user", "content": [result("t3", "")]},
    ],
}


def chat_call(name: str) -> Body:
    return {"id": name, "type": "function", "function": {"name": "ls", "arguments": "{}"}}


def chat_image(url: str) -> Body:
    return {"type": "image_url", "image_url": {"url": url}}


CHAT: Body = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [text("list"), chat_image("data:image/png;base64," + png())]},
        {"role": "assistant", "content": None, "tool_calls": [chat_call("c1"), chat_call("c2")]},
        {"role": "tool", "tool_call_id": "c2", "content": "b"},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "again"},
        {"role": "assistant", "content": "", "tool_calls": [chat_call("c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": [text("a")]},
    ]
}


RESPONSES: Body = {
    "instructions": "Be brief.",
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "list"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "QUJD"},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "ls", "arguments": "{}"},
        {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "ls", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c2", "output": "b"},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [{"type": "input_image", "image_url": "data:image/png;base64," + png()}],
        },
        {"type": "reasoning", "id": "rs_2", "summary": []},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
        {"role": "user", "content": "patch"},
        {"type": "custom_tool_call", "call_id": "c3", "name": "patch", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "c3", "output": "ok"},
    ],
}


def gemini_call(name: str) -> Body:
    return {"functionCall": {"name": name, "args": {}}}


def gemini_response(name: str) -> Body:
    return {"functionResponse": {"name": name, "response": {"output": "a"}}}


GEMINI: Body = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "contents": [
        {
            "role": "user",
            "parts": [{"text": "list"}, {"inlineData": {"mimeType": "image/png", "data": png()}}],
        },
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {**gemini_call("ls"), "thoughtSignature": "QUJD"},
                gemini_call("cat"),
            ],
        },
        {"role": "user", "parts": [gemini_response("cat"), gemini_response("ls")]},
        {"role": "model", "parts": [{"text": "Done."}, {"text": "", "thoughtSignature": "QUJD"}]},
        {"parts": [{"text": "again"}]},
        {"role": "model", "parts": [{"function_call": {"id": "g1", "name": "ls"}}]},
        {"role": "user", "parts": [{"function_response": {"id": "g1", "name": "ls", "response": {}}}]},
    ],
}


def caught(judge: ModuleType, body: Body, *, change: Change) -> set[str]:
    """The rules that speak once `change` has been made to a copy of `body`."""
    broken = copy.deepcopy(body)
    change(broken)
    return {line.partition(" at ")[0] for line in judge.violations(broken)}


def cases(breaks: Mapping[str, Sequence[Change]]) -> list[tuple[str, Change]]:
    """Each broken body with the rule that must catch it."""
    return [(rule, change) for rule, changes in breaks.items() for change in changes]
