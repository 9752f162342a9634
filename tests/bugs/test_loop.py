"""Fault reports of kind `loop`: a compaction that cannot help says so, and one that helped is not begun again."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import foldline
from foldline.core.budget import input_budget
from foldline.core.errors import FoldlineError
from foldline.engine.policy import Line
from foldline.presets import policy_of
from foldline.session.hosting import Host
from foldline.testing.completers import ScriptedCompleter
from tests.bugs.case import all_text, load, squeezed
from tests.bugs.neutral import Say, written
from tests.bugs.test_lost_constraints import renamed, work
from tests.session.making import answer, opened, worked
from tests.session.modelling import kinds
from tests.session.test_conversation import narrow

CHARS_A_TOKEN = 4
"""Of the counter `length/4`."""


def words(tokens: int, mark: str = "w") -> str:
    """A text of about so many tokens, nothing in it twice."""
    return " ".join(f"{mark}{n:06}" for n in range(tokens // 2))[: tokens * CHARS_A_TOKEN]


@pytest.mark.parametrize("policy", ["reserve", "handoff", "cascade", "balanced"])
def test_compactions_without_progress_end_after_three_and_say_why(policy: str) -> None:
    """D01, anomalyco/opencode#27924: it succeeded each time, and the next check was over the threshold again."""
    payload = load("D01").payload
    summary = f"<summary>{words(payload['summariser_returns_tokens'], 's')}</summary>"
    completer = ScriptedCompleter(summary)
    threshold = Line(percent=100 * payload["threshold"] // payload["window"], of="window")
    made = replace(policy_of(policy), threshold=threshold, target=threshold)
    session = narrow(opened(policy=made, host=Host(completer=completer)), payload["window"])
    session.user(words(500, "a"))
    session.record(answer(words(300, "b")))
    told: list[str] = []
    for number in range(payload["rounds"]):
        session.user(words(payload["incoming_user_tokens"], f"c{number}"))
        try:
            report = session.prepare().report
        except FoldlineError as error:
            told.append(str(error))
        else:
            told.append(report.reason or "")
            assert report.outcome != "compacted" or report.tokens_after < report.tokens_before
    assert kinds(session).count("compaction") <= 3 or session.size <= payload["threshold"]
    asked = [request for request in completer.requests if request.purpose == "summary"]
    assert len(asked) <= 9, "the breaker ends what helps nothing"
    if session.size > payload["threshold"]:
        assert told[-1], "the last one says why nothing was done"


@pytest.mark.parametrize("trigger", load("D03").payload["triggers"])
def test_whatever_compacts_the_count_of_what_is_left_replaces_the_old_one(trigger: str) -> None:
    """D03, openclaw/openclaw#119824: the stored count stayed, so every message compacted again."""
    payload = load("D03").payload
    before, after = payload["count_before"], payload["estimate_after"]
    session = narrow(opened(policy="balanced"), 10 * before)
    session.user("go")
    worked(session, 30, size=8_000)
    session.prepare()
    session.record(answer("read", tokens=before))
    session.user("and now?")
    assert session.prepare().tokens.tokens >= before
    match trigger:
        case "manual":
            session.compact(to=after)
        case "reactive":
            session.recover(
                {"error": {"message": f"prompt is too long: {before} tokens > {2 * after} maximum"}}
            )
        case _:
            narrow(session, 3 * after)
            session.prepare()
    left = session.context_use()["tokens_total"]
    assert left < 2 * after
    request = session.prepare()
    assert (request.report.outcome, request.tokens.tokens_anchored) == ("unchanged", 0)
    assert kinds(session).count("compaction") == 1


def test_a_usage_from_before_a_compaction_does_not_begin_the_next_one() -> None:
    """D05, Kilo-Org/kilocode#10888: the first left a good 80,000, the second cut that to 5,000."""
    payload = load("D05").payload
    session = narrow(opened(policy="balanced"), payload["threshold"] * 5 // 4)
    session.user("go")
    worked(session, 30, size=8_000)
    session.prepare()
    session.record(answer("read", tokens=payload["last_usage_before_compaction"]))
    for number in range(4):
        session.user(f"and {number}?")
        session.prepare()
    assert kinds(session).count("compaction") == 1


@pytest.mark.parametrize("policy", ["reserve", "handoff", "cascade", "balanced"])
def test_a_summary_that_is_larger_than_what_it_replaces_changes_nothing(policy: str) -> None:
    """D07, 1jehuang/jcode#170: 29 attempts saved 0.4 % together, and the history had grown."""
    payload = load("D07").payload
    summary = ScriptedCompleter(f"<summary>{words(payload['summary_tokens'], 's')}</summary>")
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number in range(19):
        messages += [
            {"role": "assistant", "content": words(payload["tokens_before"] // 19, f"w{number}x")},
            {"role": "user", "content": f"go on {number}"},
        ]
    try:
        out = foldline.compact(messages, to=0.5, counter="length/4", policy=policy, completer=summary)
    except foldline.TargetUnreachable as error:
        out = error.result
    assert out.report.tokens_after <= out.report.tokens_before
    assert {failure.name for failure in out.report.summary.failures} <= {"too_large", "cut_off", "small_gain"}
    assert bool(out.report.summary.failures) == bool(summary.requests)
    assert summary.requests or policy == "balanced", "where its words have no room it asks for none"
    assert len(summary.requests) <= 3, "the same is not tried again and again"
    if out.report.outcome == "failed":
        assert out.messages == messages


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
