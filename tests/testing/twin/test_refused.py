"""What is out of order is refused in the provider's own words, as public reports quote them."""

from __future__ import annotations

from typing import Any

import pytest

import foldline
from foldline.testing.twin import Twin
from tests.testing.twin.client import ask, chat

CALL = {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}
USER = {"role": "user", "content": "go"}

ANTHROPIC: list[tuple[list[Any], str]] = [
    (
        [USER, {"role": "assistant", "content": [CALL]}, USER],
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` "
        "block must have a corresponding `tool_result` block in the next message.",
    ),
    (
        [{"role": "user", "content": [RESULT]}],
        "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block "
        "must have a corresponding `tool_use` block in the previous message.",
    ),
    (
        [USER, {"role": "assistant", "content": [CALL]}, {"role": "user", "content": [RESULT, RESULT]}],
        "messages.2: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1",
    ),
    (
        [USER, {"role": "assistant", "content": [CALL, CALL]}, {"role": "user", "content": [RESULT]}],
        "`tool_use` ids must be unique",
    ),
    (
        [{"role": "user", "content": [{"type": "text", "text": ""}]}],
        "messages: text content blocks must be non-empty",
    ),
    ([{"role": "assistant", "content": "Hello."}, USER], 'messages: first message must use the "user" role'),
    ([], "messages: at least one message is required"),
    (
        [USER, {"role": "assistant", "content": "a"}, {**USER, "id": "x"}],
        "messages.2.id: Extra inputs are not permitted",
    ),
    (
        [
            USER,
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "QUJD"}]},
            USER,
        ],
        "The final block in an assistant message cannot be `thinking`",
    ),
    ([{"role": "user", "content": [{"type": "toolCall"}]}], "does not match any of the expected tags"),
    ([{"role": "developer", "content": "x"}], "Input should be 'user' or 'assistant'"),
    (
        [
            {
                "role": "user",
                "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5,
            }
        ],
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
]
CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
CHAT: list[tuple[list[Any], str]] = [
    (
        [USER, {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}, USER],
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The "
        "following tool_call_ids did not have response messages: c1",
    ),
    (
        [USER, {"role": "tool", "tool_call_id": "c1", "content": "x"}],
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    ),
    (
        [USER, {"role": "assistant", "content": None}],
        "Invalid value for 'content': expected a string, got null.",
    ),
    ([{"role": "human", "content": "x"}], "Invalid value: 'human'. Supported values are:"),
    ([], "[] is too short - 'messages'"),
    (
        [
            USER,
            {"role": "assistant", "content": None, "tool_calls": [{**CHAT_CALL, "id": "c" * 41}]},
            {"role": "tool", "tool_call_id": "c" * 41, "content": "x"},
        ],
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string "
        "with length 41 instead.",
    ),
]


@pytest.mark.parametrize(("messages", "words"), ANTHROPIC)
def test_anthropic_refuses_in_its_own_words(messages: list[Any], words: str) -> None:
    """Sources: the rules of `foldline.testing.judges.anthropic`."""
    with Twin() as twin:
        back = ask(twin, messages)
    assert back.status == 400
    assert words in back.message
    assert not foldline.classify_error("anthropic", 400, back.body).is_overflow


@pytest.mark.parametrize(("messages", "words"), CHAT)
def test_openai_refuses_in_its_own_words(messages: list[Any], words: str) -> None:
    """Sources: the rules of `foldline.testing.judges.openai_chat`."""
    with Twin() as twin:
        back = chat(twin, messages)
    assert back.status == 400
    assert words in back.message
    assert not foldline.classify_error("openai", 400, back.body).is_overflow
