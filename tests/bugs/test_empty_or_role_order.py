"""Fault reports of kind `empty-or-role-order`: nothing empty is sent, and roles stand as the format demands (law ROLE)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.bugs.case import FORMATS, all_text, grown, judged, load, squeezed
from tests.bugs.neutral import Answer, Ask, Say, Step, written

BLANKS = ("", " ", "\n  ", "\u3000", "\u00a0\t")
TARGETS = (100_000, 0.5, 0.2, 0.05)


def alternates(messages: list[dict[str, Any]]) -> bool:
    """True when no two neighbours have one role."""
    return all(first["role"] != second["role"] for first, second in pairwise(messages))


@pytest.mark.parametrize("to", TARGETS)
def test_empty_answers_of_aborted_turns_are_not_sent(to: float) -> None:
    """anomalyco/opencode#6446: 'message content cannot be empty'. Law ROLE."""
    case = load("C01")
    out = squeezed(case.messages, format=case.format, to=to)
    assert judged(out.messages, format=case.format) == []
    assert alternates(out.messages)
    assert "three" in all_text(out.messages[-1])


@pytest.mark.parametrize("to", TARGETS)
def test_text_that_cannot_be_seen_is_not_sent(to: float) -> None:
    """MoonshotAI/kimi-cli#2395: 'text content is empty'."""
    case = load("C02")
    out = squeezed(case.messages, format=case.format, to=to)
    assert judged(out.messages, format=case.format) == []
    assert out.report["outcome"] == "compacted" or out.report["reason"]


@pytest.mark.parametrize("to", TARGETS)
def test_a_message_of_thinking_alone_leaves_no_shell(to: float) -> None:
    """myriade-ai/agentlys#196: stripped of its thinking the message was empty, and the compactor crashed."""
    case = load("C04")
    out = squeezed(case.messages, format=case.format, to=to)
    assert judged(out.messages, format=case.format) == []
    assert alternates(out.messages)
    assert "still there?" in all_text(out.messages)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("at", [0, 2, 5])
def test_a_blank_message_is_mended_wherever_it_stands(format: str, blank: str, role: str, at: int) -> None:
    """Siblings of anomalyco/opencode#6446: each wire, either role, first, middle and last, five kinds of nothing."""
    steps: list[Step] = [
        Say("user", "one"),
        Ask((("c1", "read"),)),
        Answer((("c1", "A"),)),
        Say("assistant", "two"),
        Say("user", "three"),
    ]
    place = at if at != 2 else 4  # never between a call and its result: that is another fault
    messages = written([*steps[:place], Say(role, blank), *steps[place:]], format=format)
    for to in (100_000, 0.2):
        out = squeezed(messages, format=format, to=to)
        assert judged(out.messages, format=format) == []
        assert "three" in all_text(out.messages)


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_result_is_no_fault(format: str) -> None:
    """Sibling: a tool may return nothing; the pair stays (a provider takes an empty result)."""
    steps: list[Step] = [
        Say("user", "touch it"),
        Ask((("c1", "touch"),)),
        Answer((("c1", ""),)),
        Say("user", "next"),
    ]
    messages = written(steps, format=format)
    out = squeezed(messages, format=format, to=100_000)
    assert judged(out.messages, format=format) == []


@pytest.mark.parametrize("format", ["anthropic", "gemini"])
def test_a_history_that_opens_with_the_assistant_gets_a_first_user_message(format: str) -> None:
    """Sibling: livekit/agents#669, the first message must be the user's."""
    steps: list[Step] = [
        Say("assistant", "Hello!"),
        Say("user", "one"),
        Say("assistant", "two"),
        Say("user", "three"),
    ]
    for to in (100_000, 0.3):
        out = squeezed(grown(written(steps, format=format)), format=format, to=to)
        assert judged(out.messages, format=format) == []
        assert out.messages[0]["role"] == "user"


@pytest.mark.parametrize("format", FORMATS)
def test_two_user_messages_in_a_row_are_both_sent(format: str) -> None:
    """Sibling: neighbours of one role may be joined, their words never dropped."""
    steps: list[Step] = [Say("user", "one"), Say("user", "two"), Say("assistant", "ok"), Say("user", "three")]
    out = squeezed(written(steps, format=format), format=format, to=100_000)
    assert judged(out.messages, format=format) == []
    assert [word for word in ("one", "two", "three") if word in all_text(out.messages)] == [
        "one",
        "two",
        "three",
    ]
