"""Checks bodies by the types of the official SDKs (`anthropic`, `openai`, `google-genai`), where they are installed.

The SDKs describe requests as TypedDicts, which pydantic reads too kindly: an `Iterable` is validated only when
somebody iterates, and unknown keys are ignored. So the schema is taken from the SDK's type and made strict here:
every generator becomes a list, every TypedDict forbids further keys. Imports happen on the first use of a format
(about 0.5 s each) and are kept. Knows nothing of `foldline`; the rules that types cannot say are in the other judges.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from functools import cache
from typing import Any

from foldline.testing.judges.rule import Body

PACKAGES = {
    "anthropic": "anthropic",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "gemini": "google.genai",
}
"""The module that carries a format's types."""
CHAT_EXTRAS = {"assistant": frozenset({"reasoning_content"}), "tool": frozenset({"name"})}
"""By role. Reasoning is demanded by servers beside OpenAI's own (QwenLM/qwen-code#3579); a result's tool name was in
OpenAI's first examples and is taken to this day (sierra-research/tau-bench sent it to gpt-4o in all its runs)."""
ERRORS_SHOWN_MAX = 5


def missing(format: str) -> str | None:
    """Why a format cannot be checked here; `None` when its SDK is installed."""
    package = PACKAGES[format]
    try:
        found = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        found = None
    return None if found else f"the SDK module {package!r} is not installed"


def violations(body: Body, *, format: str) -> list[str]:
    """What the SDK's types say against a body, one line each. Asserts that the SDK is there: ask `missing` first."""
    reason = missing(format)
    assert reason is None, reason
    return _CHECKS[format](body)


def _anthropic(body: Body) -> list[str]:
    found = _errors(_strict("anthropic"), body.get("messages"))
    system = body.get("system", "")
    return found if isinstance(system, str) else found + _errors(_strict("anthropic-system"), system)


def _openai_chat(body: Body) -> list[str]:
    messages = [
        {key: value for key, value in message.items() if key not in CHAT_EXTRAS.get(message["role"], ())}
        for message in body["messages"]
    ]
    return _errors(_strict("openai-chat"), messages)


def _openai_responses(body: Body) -> list[str]:
    given = body["input"]
    return (
        []
        if isinstance(given, str)
        else _errors(_strict("openai-responses"), [_filled(item) for item in given])
    )


def _gemini(body: Body) -> list[str]:
    from google.genai import types
    from pydantic import ValidationError

    found = []
    system = body.get("systemInstruction", body.get("system_instruction"))
    for content in body["contents"] + ([system] if system is not None else []):
        try:
            types.Content.model_validate_json(json.dumps(content))  # JSON mode: bytes are base64 there
        except ValidationError as error:
            found += _lines(error)
    return found


_CHECKS: dict[str, Callable[[Body], list[str]]] = {
    "anthropic": _anthropic,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "gemini": _gemini,
}


def _filled(item: dict[str, Any]) -> dict[str, Any]:
    """The item with what the SDK's types demand and the API does not: OpenAI's own agent leaves these keys out.

    The types cannot say an assistant message without id and status (openai/openai-python#3544) although the API
    takes it; the same goes for an image's detail, annotations of an answer, and a reasoning item's id.
    """
    if item.get("type") == "reasoning":
        return {"id": "rs_0", **item}
    if item.get("type", "message") != "message" or not isinstance(item.get("content"), list):
        return item
    parts = [_filled_part(part) for part in item["content"]]
    more = (
        {"id": "msg_0", "status": "completed", "type": "message"} if item.get("role") == "assistant" else {}
    )
    return {**more, **item, "content": parts}


def _filled_part(part: dict[str, Any]) -> dict[str, Any]:
    defaults: dict[str, dict[str, Any]] = {
        "input_image": {"detail": "auto"},
        "output_text": {"annotations": []},
    }
    return {**defaults.get(part["type"], {}), **part}


@cache
def _strict(name: str) -> Any:
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

    kind: Any = list  # a type made at run time, which no checker can follow
    return SchemaValidator(_tightened(TypeAdapter(kind[_type(name)]).core_schema))


def _type(name: str) -> Any:
    match name:
        case "anthropic":
            from anthropic.types import MessageParam

            return MessageParam
        case "anthropic-system":
            from anthropic.types import TextBlockParam

            return TextBlockParam
        case "openai-chat":
            from openai.types.chat import ChatCompletionMessageParam

            return ChatCompletionMessageParam
        case _:
            from openai.types.responses import ResponseInputItemParam

            return ResponseInputItemParam


def _tightened(schema: Any) -> Any:
    """A pydantic core schema with every generator as a list and every TypedDict closed."""
    if isinstance(schema, (list, tuple)):
        return type(schema)(_tightened(part) for part in schema)
    if not isinstance(schema, dict):
        return schema
    tight = {key: _tightened(value) for key, value in schema.items()}
    if tight.get("type") == "generator":
        tight["type"] = "list"
    if tight.get("type") == "typed-dict":
        tight["extra_behavior"] = "forbid"
    return tight


def _errors(validator: Any, value: Any) -> list[str]:
    from pydantic_core import ValidationError

    try:
        validator.validate_python(value, strict=True)
    except ValidationError as error:
        return _lines(error)
    return []


def _lines(error: Any) -> list[str]:
    """The errors, of each value those of the union's member that fits best: the others only repeat its type."""
    members: dict[Any, dict[Any, list[str]]] = {}
    for line in error.errors(include_url=False, include_context=False, include_input=False):
        place, member = line["loc"][:1], line["loc"][1:2]
        text = ".".join(str(step) for step in line["loc"]) + ": " + line["msg"]
        members.setdefault(place, {}).setdefault(member, []).append(f"sdk at {text}")
    best = [min(found.values(), key=len) for found in members.values()]
    return [line for lines in best for line in lines][:ERRORS_SHOWN_MAX]
