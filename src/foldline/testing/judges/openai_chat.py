"""Judge of OpenAI Chat Completions bodies (`{"messages", "tools"}`), from the provider's own rules alone.

Sources: the API reference as the types of the official SDK carry it (`openai` 3.57), and where it is silent the
API's own error messages as public reports quote them. "OpenAI-compatible" servers are stricter about empty content;
their demands are judged too, since a history in this format goes to any of them. Knows nothing of `foldline`.

Not judged: whether arguments are valid JSON (the reference says that they need not be), limits on images, and keys
beyond the reference's (`reasoning_content` is demanded by some servers and ignored by others).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from foldline.testing.judges.media import decoded, picture, split_data_url
from foldline.testing.judges.rule import Body, Case, Found, Rule, blank, json_text, judge, repeated

ID_CHARS_MAX = 40
NAME_PATTERN = re.compile(r"[a-zA-Z0-9_-]{1,64}")
IMAGE_MIMES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
DETAILS = frozenset({"auto", "low", "high", "original"})
PARTS: dict[str, frozenset[str]] = {
    "system": frozenset({"text"}),
    "developer": frozenset({"text"}),
    "user": frozenset({"text", "image_url", "input_audio", "file"}),
    "assistant": frozenset({"text", "refusal"}),
    "tool": frozenset({"text"}),
    "function": frozenset(),
}
"""Roles, and the kinds of content parts each may hold."""


def violations(body: Body, *, open_tail: bool = False) -> list[str]:
    """What the provider would refuse in `body`, one line each; empty when it would be accepted.

    `open_tail=True` lets the calls of the last assistant message wait for their results.
    """
    return judge(RULES, body, open_tail=open_tail)


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _placed_calls(body: Body) -> Iterator[tuple[str, dict[str, Any]]]:
    for at, message in enumerate(body["messages"]):
        for index, call in enumerate(message.get("tool_calls") or []):
            yield f"messages.{at}.tool_calls.{index}", call


def _rounds(body: Body) -> Iterator[tuple[int, list[str], list[str]]]:
    """Index, call ids and answered ids of every assistant message with calls; answers stand directly after it."""
    messages = body["messages"]
    for at, message in enumerate(messages):
        calls = message.get("tool_calls")
        if message["role"] == "assistant" and calls:
            answered = []
            for place in range(at + 1, len(messages)):
                if messages[place]["role"] != "tool":
                    break
                answered.append(messages[place]["tool_call_id"])
            yield at, [call["id"] for call in calls], answered


def _shape(case: Case) -> Found:
    messages = case.body.get("messages")
    if not isinstance(messages, list):
        yield "messages", "missing or no list"
        return
    for at, message in enumerate(messages):
        place = f"messages.{at}"
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            yield place, "no object with a role"
            continue
        content = message.get("content")
        if content is not None and not isinstance(content, (str, list)):
            yield f"{place}.content", "neither text nor a list"
        elif isinstance(content, list) and not all(
            isinstance(part, dict) and isinstance(part.get("type"), str) for part in content
        ):
            yield f"{place}.content", "a part is no object with a type"
        if message["role"] == "tool" and not isinstance(message.get("tool_call_id"), str):
            yield f"{place}.tool_call_id", "required"
        yield from _shape_of_calls(place, message)


def _shape_of_calls(place: str, message: dict[str, Any]) -> Found:
    calls = message.get("tool_calls")
    if calls is None:
        return
    if message["role"] != "assistant" or not isinstance(calls, list) or not calls:
        yield f"{place}.tool_calls", "only an assistant message has them, as a list that is not empty"
        return
    for index, call in enumerate(calls):
        here = f"{place}.tool_calls.{index}"
        if not isinstance(call, dict) or not isinstance(call.get("id"), str):
            yield here, "no object with an id"
            continue
        kind = call.get("type")
        text = {"function": "arguments", "custom": "input"}.get(str(kind))
        inner = call.get(str(kind))
        if text is None or not isinstance(inner, dict):
            yield here, f"type {kind!r} without its object"
        elif not isinstance(inner.get("name"), str) or not isinstance(inner.get(text), str):
            yield f"{here}.{kind}", f"name and {text} must be text"


def _count(case: Case) -> Found:
    if not case.body["messages"]:
        yield "messages", "[] is too short"


def _roles(case: Case) -> Found:
    for at, message in enumerate(case.body["messages"]):
        if message["role"] not in PARTS:
            yield f"messages.{at}.role", f"unknown role {message['role']!r}"


def _part_kinds(case: Case) -> Found:
    for at, message in enumerate(case.body["messages"]):
        for index, part in enumerate(_parts(message)):
            if part["type"] not in PARTS.get(message["role"], PARTS["user"]):
                yield (
                    f"messages.{at}.content.{index}",
                    f"{part['type']!r} in a message of role {message['role']}",
                )
            elif part["type"] == "text" and not isinstance(part.get("text"), str):
                yield f"messages.{at}.content.{index}.text", "no text"


def _content(case: Case) -> Found:
    for at, message in enumerate(case.body["messages"]):
        content, role = message.get("content"), message["role"]
        if role == "assistant" and any(
            message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio")
        ):
            continue
        if content is None:
            yield f"messages.{at}.content", "expected a string, got null"
        elif role != "tool" and (not content or (isinstance(content, str) and blank(content))):
            yield f"messages.{at}.content", f"the message with role {role!r} must not be empty"


def _blank_parts(case: Case) -> Found:
    for at, message in enumerate(case.body["messages"]):
        for index, part in enumerate(_parts(message)):
            if part["type"] == "text" and blank(str(part.get("text", ""))):
                yield f"messages.{at}.content.{index}", "text content is empty"


def _ids(case: Case) -> Found:
    for place, call in _placed_calls(case.body):
        if not 0 < len(call["id"]) <= ID_CHARS_MAX:
            yield f"{place}.id", f"{len(call['id'])} characters, at most {ID_CHARS_MAX} and at least one"


def _ids_once(case: Case) -> Found:
    for at, ids, _ in _rounds(case.body):
        for name in repeated(ids):
            yield f"messages.{at}.tool_calls", f"id {name!r} twice"


def _names(case: Case) -> Found:
    for place, call in _placed_calls(case.body):
        if not NAME_PATTERN.fullmatch(call[call["type"]]["name"]):
            yield place, f"name {call[call['type']]['name']!r} does not match ^[a-zA-Z0-9_-]+$ of at most 64"


def _answered(case: Case) -> Found:
    roles = [message["role"] for message in case.body["messages"]]
    last = max((at for at, role in enumerate(roles) if role == "assistant"), default=-1)
    for at, ids, answered in _rounds(case.body):
        if case.open_tail and at == last:
            continue
        known = set(answered)
        for name in ids:
            if name not in known:
                yield f"messages.{at}", f"tool_call {name!r} without a tool message directly after"


def _called(case: Case) -> Found:
    calls: set[str] = set()
    for at, message in enumerate(case.body["messages"]):
        if message["role"] != "tool":
            calls = {call["id"] for call in message.get("tool_calls") or []}
        elif message["tool_call_id"] not in calls:
            yield f"messages.{at}", "a tool message must answer a preceding message with tool_calls"


def _answered_once(case: Case) -> Found:
    for at, _, answered in _rounds(case.body):
        for name in repeated(answered):
            yield f"messages.{at}", f"several tool messages for {name!r}"


def _images(case: Case) -> Found:
    for at, message in enumerate(case.body["messages"]):
        for index, part in enumerate(_parts(message)):
            if part["type"] == "image_url":
                why = _wrong_image(part.get("image_url"))
                if why:
                    yield f"messages.{at}.content.{index}", why


def _wrong_image(image: Any) -> str | None:
    url = image.get("url") if isinstance(image, dict) else None
    if not isinstance(url, str) or not url:
        return "image_url.url is missing"
    if str(image.get("detail", "auto")) not in DETAILS:
        return f"detail {image['detail']!r}"
    return wrong_image_url(url)


def wrong_image_url(url: str) -> str | None:
    """Why an image URL of either OpenAI format is refused; `None` for one that is fine."""
    if not url.startswith("data:"):
        return None if url.startswith(("http://", "https://")) else "neither a web address nor a data URL"
    halves = split_data_url(url)
    raw = decoded(halves[1]) if halves else None
    if halves is None or raw is None:
        return "data URL without base64"
    seen = picture(raw)
    if halves[0] not in IMAGE_MIMES or seen is None or seen.mime != halves[0]:
        return f"the data is no image of type {halves[0]!r}"
    return None


_ERRORS = "error message of the API, as quoted in "
RULES: tuple[Rule, ...] = (
    Rule("shape", "SDK types/chat/chat_completion_*_message_param.py, *_tool_call_param.py", _shape),
    Rule("json", _ERRORS + "anthropics/claude-code#69927; JSON (RFC 8259, 8.1) is UTF-8", json_text),
    Rule("count", "API reference, `messages`; vercel/ai#3775 shows the like elsewhere", _count),
    Rule("roles", "SDK types/chat/chat_completion_message_param.py", _roles),
    Rule(
        "part-kinds",
        "SDK types/chat/chat_completion_content_part_param.py and *_message_param.py",
        _part_kinds,
    ),
    Rule(
        "content",
        _ERRORS
        + "vercel/ai#13744 (expected a string, got null); labring/FastGPT#3575 and lobehub/lobehub#8419 "
        "(Moonshot: must not be empty)",
        _content,
    ),
    Rule(
        "blank-parts",
        _ERRORS + "BerriAI/litellm#42186, MoonshotAI/kimi-cli#2395 (text content is empty)",
        _blank_parts,
    ),
    Rule("ids", _ERRORS + "vercel/ai#5171: maximum length 40", _ids),
    Rule(
        "ids-once",
        "'Function calling' guide: a result names its call by id, so ids of one message differ",
        _ids_once,
    ),
    Rule(
        "names",
        _ERRORS + "mcp-use/mcp-use#90: '^[a-zA-Z0-9_-]+$'; function.name, at most 64 characters",
        _names,
    ),
    Rule(
        "answered",
        _ERRORS + "joseferben.com, 'OpenAI tool calls must be followed by tool messages'",
        _answered,
    ),
    Rule(
        "called",
        _ERRORS + "letta-ai/letta#2605: 'must be a response to a preceding message with tool_calls'",
        _called,
    ),
    Rule("answered-once", "'Function calling' guide: one tool message a call", _answered_once),
    Rule(
        "images",
        "SDK types/chat/chat_completion_content_part_image_param.py; 'Images and vision' guide",
        _images,
    ),
)
