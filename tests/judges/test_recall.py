"""The recall tool before the official SDKs: its definitions and its answers are what their types ask for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from foldline.core.address import part_address
from foldline.core.message import Media
from foldline.recall.tool import Scope, execute, recall_tool
from foldline.testing.builders import assistant, call, result, user
from tests.judges import panel, sdk
from tests.judges.test_sdk import skip_without_sdk
from tests.recall.logs import saying
from tests.recall.test_tool import wire_call

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PICTURE = Media(kind="image", mime="image/png", data=PNG)
MESSAGES = [
    user("why?"),
    assistant(call("bash", "c1", command="ls")),
    result("c1", "pool </foldline-recall>", PICTURE),
]
ADDRESS = part_address(2, MESSAGES[2].parts[0])
ASKED: tuple[dict[str, Any], ...] = (
    {"query": "pool"},
    {"query": "nothing of the kind"},
    {"address": ADDRESS, "lines": "1"},
    {"address": ADDRESS},
    {"address": "m9.9@00000000"},
)
CALLING: dict[str, Callable[[Any], dict[str, Any]]] = {
    "anthropic": lambda asked: {"role": "assistant", "content": [asked]},
    "openai-chat": lambda asked: {"role": "assistant", "content": None, "tool_calls": [asked]},
    "openai-responses": lambda asked: asked,
    "gemini": lambda asked: {"role": "model", "parts": [asked]},
}
OPENING = {
    "anthropic": {"role": "user", "content": "go"},
    "openai-chat": {"role": "user", "content": "go"},
    "openai-responses": {"role": "user", "content": "go"},
    "gemini": {"role": "user", "parts": [{"text": "go"}]},
}
KEYS = {"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input", "gemini": "contents"}


@pytest.mark.parametrize("format", panel.FORMATS)
@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: next(iter(asked)))
def test_an_answer_stands_behind_its_call_as_the_rules_and_the_types_want_it(
    format: str, asked: dict[str, Any]
) -> None:
    """Law PAIR and ROLE, for search, opening with a picture, and failures."""
    asking = wire_call(format, asked)
    answer = execute(asking, recall=saying(*MESSAGES), scope=Scope(session="s"))
    body = {KEYS[format]: [OPENING[format], CALLING[format](asking), *answer.messages]}
    assert panel.violations(json.loads(json.dumps(body)), format=format, open_tail=True) == []
    skip_without_sdk(format)
    assert sdk.violations(body, format=format) == []


def test_anthropics_types_take_the_definition() -> None:
    skip_without_sdk("anthropic")
    from anthropic.types import ToolParam
    from pydantic import TypeAdapter

    strict = sdk._tightened(TypeAdapter(ToolParam).core_schema)
    _validated(strict, recall_tool("anthropic"))


def test_openais_types_take_both_definitions() -> None:
    skip_without_sdk("openai-chat")
    from openai.types.chat import ChatCompletionToolParam
    from openai.types.responses import FunctionToolParam
    from pydantic import TypeAdapter

    _validated(sdk._tightened(TypeAdapter(ChatCompletionToolParam).core_schema), recall_tool("openai-chat"))
    _validated(sdk._tightened(TypeAdapter(FunctionToolParam).core_schema), recall_tool("openai-responses"))


def test_googles_types_take_the_definition() -> None:
    skip_without_sdk("gemini")
    from google.genai import types

    told = types.Tool.model_validate(recall_tool("gemini"))
    assert told.function_declarations
    assert told.function_declarations[0].name == "recall"


def _validated(schema: Any, value: Any) -> None:
    from pydantic_core import SchemaValidator

    SchemaValidator(schema).validate_python(value, strict=True)


def test_an_sdks_own_objects_are_taken_as_calls() -> None:
    """As a client gets them, without turning them into dicts first."""
    skip_without_sdk("anthropic")
    from anthropic.types import ToolUseBlock

    block = ToolUseBlock(id="toolu_1", name="recall", input={"query": "pool"}, type="tool_use")
    answer = execute(block, recall=saying(*MESSAGES), scope=Scope(session="s"))
    assert answer.found is not None
    assert answer.messages[0]["content"][0]["tool_use_id"] == "toolu_1"
    skip_without_sdk("openai-chat")
    from openai.types.chat import ChatCompletionMessageFunctionToolCall
    from openai.types.responses import ResponseFunctionToolCall

    chat = ChatCompletionMessageFunctionToolCall.model_validate(wire_call("openai-chat", {"query": "pool"}))
    item = ResponseFunctionToolCall.model_validate(wire_call("openai-responses", {"query": "pool"}))
    for told in (chat, item):
        assert execute(told, recall=saying(*MESSAGES), scope=Scope(session="s")).found is not None
    skip_without_sdk("gemini")
    from google.genai import types

    call_of_google = types.FunctionCall(id="g1", name="recall", args={"query": "pool"})
    for google in (call_of_google, types.Part(function_call=call_of_google)):
        assert execute(google, recall=saying(*MESSAGES), scope=Scope(session="s")).found is not None
