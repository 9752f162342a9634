"""The check by the SDKs' types: it accepts what the rule judges accept and is strict where pydantic is kind."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from foldline.testing.judges import anthropic
from tests.judges import sdk
from tests.judges.panel import FORMATS
from tests.testing.judges.samples import ANTHROPIC, CHAT, GEMINI, RESPONSES

Body = dict[str, Any]
GOOD: dict[str, Body] = {
    "anthropic": ANTHROPIC,
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "gemini": GEMINI,
}
BROKEN: list[tuple[str, Callable[[Body], object]]] = [
    ("anthropic", lambda b: b["messages"][0]["content"][0].update(text=1)),
    ("anthropic", lambda b: b["messages"][2]["content"][1]["content"][0].update(text=1)),
    ("anthropic", lambda b: b["messages"][2]["content"][0].update(is_error="no")),
    ("anthropic", lambda b: b["messages"][1]["content"][2].update(input="{}")),
    ("anthropic", lambda b: b["messages"][0]["content"][1]["source"].update(media_type="image/tiff")),
    ("anthropic", lambda b: b["messages"][4].update(id="msg_1")),
    ("anthropic", lambda b: b["messages"][4].update(role="tool")),
    ("anthropic", lambda b: b.update(system=[{"type": "text", "text": None}])),
    ("openai-chat", lambda b: b["messages"][2]["tool_calls"][0]["function"].update(arguments={})),
    ("openai-chat", lambda b: b["messages"][1]["content"][0].update(text=None)),
    ("openai-chat", lambda b: b["messages"][3].pop("tool_call_id")),
    ("openai-chat", lambda b: b["messages"][5].update(tool_name="ls")),
    ("openai-responses", lambda b: b["input"][2].update(arguments={})),
    ("openai-responses", lambda b: b["input"][1].update(summary="none")),
    ("openai-responses", lambda b: b["input"][4].pop("output")),
    ("openai-responses", lambda b: b["input"][0]["content"][0].update(type="text")),
    ("gemini", lambda b: b["contents"][1]["parts"][1]["functionCall"].update(args="{}")),
    ("gemini", lambda b: b["contents"][0]["parts"][1]["inlineData"].update(data=3)),
    ("gemini", lambda b: b["contents"][0]["parts"][0].update(type="text")),
    ("gemini", lambda b: b["contents"][1]["parts"][1].update(thoughtSignature="QUJ…")),
]


def skip_without_sdk(format: str) -> None:
    reason = sdk.missing(format)
    if reason:
        pytest.skip(reason)


@pytest.mark.parametrize("format", FORMATS)
def test_the_types_accept_a_body_that_the_rules_accept(format: str) -> None:
    """Both judges were written apart; a good body must please both."""
    skip_without_sdk(format)
    assert sdk.violations(copy.deepcopy(GOOD[format]), format=format) == []


@pytest.mark.parametrize(("format", "change"), BROKEN)
def test_the_types_refuse_a_wrong_type_at_any_depth(format: str, change: Callable[[Body], object]) -> None:
    """Lists inside TypedDicts are `Iterable`, which pydantic would not look into."""
    skip_without_sdk(format)
    body = copy.deepcopy(GOOD[format])
    change(body)
    assert sdk.violations(body, format=format)


def test_a_missing_sdk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skipped with a printed reason, never silently."""
    monkeypatch.setitem(sdk.PACKAGES, "anthropic", "no_such_sdk.types")
    assert sdk.missing("anthropic") == "the SDK module 'no_such_sdk.types' is not installed"


def test_the_judge_knows_the_keys_that_the_sdk_knows() -> None:
    """The table of keys was copied by hand from the SDK's block types; a new SDK shows what has been added."""
    skip_without_sdk("anthropic")
    from anthropic import types

    blocks = {
        "text": types.TextBlockParam,
        "image": types.ImageBlockParam,
        "document": types.DocumentBlockParam,
        "tool_use": types.ToolUseBlockParam,
        "tool_result": types.ToolResultBlockParam,
        "server_tool_use": types.ServerToolUseBlockParam,
        "thinking": types.ThinkingBlockParam,
        "redacted_thinking": types.RedactedThinkingBlockParam,
    }
    assert {kind: block.__annotations__.keys() for kind, block in blocks.items()} == {
        kind: required | further for kind, (required, further) in anthropic.KEYS.items()
    }


def test_what_chat_servers_take_beside_the_reference_is_no_violation() -> None:
    """QwenLM/qwen-code#3579: servers in thinking mode demand reasoning back; tau-bench names tools in results."""
    skip_without_sdk("openai-chat")
    body = copy.deepcopy(CHAT)
    body["messages"][7]["reasoning_content"] = "need the tool"
    body["messages"][8]["name"] = "ls"
    assert sdk.violations(body, format="openai-chat") == []
