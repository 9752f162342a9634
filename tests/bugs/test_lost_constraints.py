"""Fault reports of kind `lost-constraints`: what a user ruled, asked for and measured outlives every compaction."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.bugs.case import SHARES, all_text, grown, load, squeezed, squeezes
from tests.bugs.neutral import Answer, Ask, Say, Step, written

ROOM_TOKENS = 300
"""Less than this has no room for the words of a request beside the last message."""
RULE = "Constraint: do not add dependencies."


def work(count: int) -> list[Step]:
    """Rounds between what was said and now."""
    return [
        step
        for n in range(count)
        for step in (Ask(((f"w{n}", "read"),), path=f"w{n}.txt"), Answer(((f"w{n}", f"text {n} " * 120),)))
    ]


def test_the_users_request_is_kept_and_not_what_a_host_put_under_their_name() -> None:
    """stacklok/mecatl#145: "keep the first user message" kept an injected persona."""
    case = load("G04")
    sent = [
        {key: message[key] for key in ("role", "content")} for message in case.messages
    ]  # a wire's keys alone
    for out in squeezes(grown(sent), format=case.format):
        if out.report["tokens_target"] >= ROOM_TOKENS:
            assert "Migrate the billing table to v2, keep the id column." in all_text(out.messages)


@pytest.mark.parametrize("format", ["anthropic", "openai-chat", "openai-responses", "gemini"])
def test_a_rule_at_the_end_of_a_long_prompt_outlives_compactions_in_a_row(format: str) -> None:
    """bastani-inc/atomic#2172: only the first thousand characters decided what was kept, and each pass ranked anew."""
    background = "Background paragraph about the system. " * 60
    steps: list[Step] = [Say("user", f"{background}\n{RULE}"), Say("assistant", "Noted.")]
    messages = written([*steps, *work(12), Say("user", "start")], format=format)
    for round_ in range(3):
        messages = squeezed(messages, format=format, to=0.4).messages
        assert "do not add dependencies" in all_text(messages), round_
        more = written([*work(12), Say("user", f"go on {round_}")], format=format)
        messages = [*messages, *renamed(more, round_)]


def renamed(value: Any, number: int) -> Any:
    """Steps of a later round, with ids of their own."""
    if isinstance(value, dict):
        return {key: renamed(told, number) for key, told in value.items()}
    if isinstance(value, list):
        return [renamed(told, number) for told in value]
    return (
        f"{value}-{number}" if isinstance(value, str) and value[:1] == "w" and value[1:].isdigit() else value
    )


def test_evidence_survives_beside_conclusions() -> None:
    """vshulcz/deja-vu#543: a tenth of the paths, a fiftieth of the numbers, hardly a command was left."""
    case = load("G07")
    filler = written(work(6), format=case.format)
    messages = [*copy.deepcopy(case.messages[:4]), *filler, case.messages[4]]
    out = squeezed(messages, format=case.format, to=0.35)
    said = all_text(out.messages)
    assert [word for word in ("src/net/pool.py", "pytest -k pool -x", "137") if word not in said] == []
    assert out.report["covers"]["addresses"]


@pytest.mark.parametrize("to", SHARES)
def test_every_value_that_is_not_in_view_has_an_address(to: float) -> None:
    """The sibling: nothing is lost, whatever the target."""
    case = load("G07")
    messages = [*copy.deepcopy(case.messages[:4]), *written(work(6), format=case.format), case.messages[4]]
    retention = squeezed(messages, format=case.format, to=to).report["retention"]
    assert {kind: row["lost"] for kind, row in retention.items() if row.get("lost")} == {}
