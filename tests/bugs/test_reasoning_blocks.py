"""Fault reports of kind `reasoning-blocks`: signed reasoning is atomic, whole or absent, in its place (law ROUND)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.bugs.case import all_text, grown, load, squeezed, squeezes
from tests.bugs.neutral import Answer, Ask, Say, written

REASONING = ("thinking", "redacted_thinking")
SIGNATURE = "EuYBCkQYFAKE+sig/AA=="


def thoughts(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The reasoning blocks of an Anthropic message."""
    content = message["content"]
    return [block for block in content if block["type"] in REASONING] if isinstance(content, list) else []


def turns(count: int) -> list[dict[str, Any]]:
    """Rounds with thinking before the call, Anthropic."""
    messages: list[dict[str, Any]] = []
    for number in range(count):
        round_ = written(
            [
                Say("user", f"Step {number}?"),
                Ask(((f"r{number}", "ls"),)),
                Answer(((f"r{number}", "a b c"),)),
            ],
            format="anthropic",
        )
        thought = {
            "type": "thinking",
            "thinking": f"thought {number}",
            "signature": f"c2lnbmF0dXJl{number:04d}",
        }
        round_[1]["content"].insert(0, thought)
        messages += round_
    return messages


def test_the_latest_thinking_stays_byte_for_byte_and_in_place() -> None:
    """anthropics/claude-code#13479: 'thinking blocks in the latest assistant message cannot be modified'."""
    case = load("B01")
    messages = grown([*turns(3), *case.messages])
    known = [thoughts(message) for message in messages if message["role"] == "assistant"]
    for out in squeezes(messages, format=case.format):
        for message in out.messages:
            if message["role"] == "assistant" and thoughts(message):
                assert thoughts(message) in known


def test_thinking_of_every_round_is_whole_or_absent() -> None:
    """Sibling of anthropics/claude-code#13479: not only the latest. Law ROUND."""
    messages = grown([*turns(8), {"role": "user", "content": "and now?"}])
    originals = [message for message in messages if message["role"] == "assistant"]
    for out in squeezes(messages, format="anthropic"):
        for message in out.messages:
            if message["role"] == "assistant" and any(
                block["type"] == "tool_use" for block in message["content"]
            ):
                assert message in originals


def test_long_thinking_is_never_shortened_under_its_signature() -> None:
    """openclaw/openclaw#97645: the text was cut and the signature kept; the session was refused for ever after."""
    case = load("B03")
    long = copy.deepcopy(case.messages)
    long[1]["content"][0]["thinking"] *= 40
    whole = long[1]["content"][0]
    for out in squeezes([*turns(2), *grown(long)], format=case.format):
        for message in out.messages:
            assert all(
                block in (whole, *(t for turn in turns(2) for t in thoughts(turn)))
                for block in thoughts(message)
            )


@pytest.mark.parametrize("share", [0.8, 0.5, 0.3, 0.1])
def test_encrypted_reasoning_items_stay_whole(share: float) -> None:
    """Sibling of openclaw/openclaw#97645 on the Responses wire: `encrypted_content` is opaque."""
    items: list[dict[str, Any]] = []
    for number in range(6):
        call, output = written(
            [Ask(((f"c{number}", "ls"),)), Answer(((f"c{number}", "a b c"),))], format="openai-responses"
        )
        items += written([Say("user", f"Step {number}?")], format="openai-responses")
        items += [
            {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": "QUJD" * 200}
        ]
        items += [call, output]
    items = grown([*items, *written([Say("user", "and now?")], format="openai-responses")])
    out = squeezed(items, format="openai-responses", to=share)
    kept = [item for item in out.messages if item.get("type") == "reasoning"]
    assert all(item in items for item in kept)
    ids = [item["id"].removeprefix("rs_") for item in kept]
    calls = [
        item["call_id"].removeprefix("c") for item in out.messages if item.get("type") == "function_call"
    ]
    assert set(ids) <= set(calls)


@pytest.mark.parametrize("share", [0.8, 0.5, 0.3, 0.1])
def test_thought_signatures_stay_on_their_parts(share: float) -> None:
    """Sibling of openclaw/openclaw#97645 on the Gemini wire ('Thought signatures': pass back exactly as received)."""
    contents: list[dict[str, Any]] = []
    for number in range(6):
        turn = written(
            [
                Say("user", f"Step {number}?"),
                Ask(((f"c{number}", "ls"),)),
                Answer(((f"c{number}", "a b c"),)),
                Say("assistant", "ok"),
            ],
            format="gemini",
        )
        turn[1]["parts"][0]["thoughtSignature"] = "QUJD" * 20
        contents += turn
    contents = grown([*contents, *written([Say("user", "and now?")], format="gemini")])
    out = squeezed(contents, format="gemini", to=share)
    for content in out.messages:
        for part in content["parts"]:
            if "functionCall" in part:
                assert part["thoughtSignature"] == "QUJD" * 20


def test_reasoning_content_stays_on_turns_with_calls() -> None:
    """QwenLM/qwen-code#3579: a server in thinking mode demands it back. Which servers do is a later rule table."""
    case = load("B05")
    messages = grown([*case.messages[:-1], *copy.deepcopy(case.messages)])
    for out in squeezes(messages, format=case.format):
        for message in out.messages:
            if message.get("tool_calls"):
                assert message["reasoning_content"] == "need the tool"


def test_reasoning_is_counted() -> None:
    """Sibling: what is kept whole must be seen by the budget, or the target would be missed by its size."""
    case = load("B03")
    long = copy.deepcopy(case.messages)
    long[1]["content"][0]["thinking"] *= 40
    few = squeezed(case.messages, format=case.format, to=100_000).report["tokens_before"]
    many = squeezed(long, format=case.format, to=100_000).report["tokens_before"]
    assert many > few * 10
    assert "long reasoning" in all_text(long)
