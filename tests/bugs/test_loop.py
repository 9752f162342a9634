"""Fault reports of kind `loop`: a compaction that cannot help says so, and one that helped is not begun again."""

from __future__ import annotations

import pytest

import foldline
from foldline.core.budget import input_budget
from tests.bugs.case import all_text, load, squeezed
from tests.bugs.neutral import Say, written
from tests.bugs.test_lost_constraints import renamed, work


def test_a_fixed_part_that_is_too_large_alone_is_named_at_once() -> None:
    """anomalyco/opencode#48188: compacting the conversation could never help, and the loop ended without a word."""
    case = load("D04")
    payload = case.payload
    tools = [
        {"type": "function", "function": {"name": f"t{n}", "description": "word " * 600, "parameters": {}}}
        for n in range(payload["tool_schema_tokens"] // 600 + 5)
    ]
    messages = [{"role": "user", "content": "hello there"}]
    with pytest.raises(foldline.TargetUnreachable, match="system prompt and tools alone") as caught:
        foldline.compact(
            messages,
            to=payload["window"] - payload["reserve_output"],
            tools=tools,
            system=None,
            format="openai-chat",
        )
    assert caught.value.result.messages == messages


def test_an_output_limit_as_large_as_the_window_leaves_half_of_it() -> None:
    """anomalyco/opencode#49965: the usable room became almost nothing, and every step compacted."""
    payload = load("D10").payload
    budget = input_budget(payload["context"], payload["output"])
    assert budget >= payload["context"] // 2 > payload["tokens_now"]


def test_what_was_done_and_found_outlives_every_compaction() -> None:
    """vercel/eve#749: each compaction made the agent start the same checks again."""
    case = load("D09")
    messages = [*case.messages, *written([*work(10), Say("user", "and?")], format=case.format)]
    for round_ in range(case.op["times"]):
        messages = squeezed(messages, format=case.format, to=0.4).messages
        said = all_text(messages)
        assert [word for word in ("auth", "billing", "FAIL: cert expired") if word not in said] == []
        more = written([*work(10), Say("user", f"next {round_}")], format=case.format)
        messages = [*messages, *renamed(more, round_)]


@pytest.mark.parametrize("share", [0.5, 0.25])
def test_a_result_is_never_compacted_again_at_the_same_target(share: float) -> None:
    """anomalyco/opencode#27924, 1jehuang/jcode#170: it ran for ever, each time at full price, and grew."""
    messages = written([*work(30), Say("user", "and?")], format="anthropic")
    first = squeezed(messages, format="anthropic", to=share)
    target = first.report["tokens_target"]
    again = squeezed(first.messages, format="anthropic", to=target)
    assert again.report["outcome"] == "unchanged"
    assert again.messages == first.messages
