"""Why a target was not reached (law END): the reason is the history's, or the policy's own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import foldline
from foldline import files, reading
from foldline.engine.unreached import FOLDED, goes_no_further, why_unreached
from foldline.presets import policy_of
from foldline.testing.builders import user, view_from
from tests.session.making import answer, opened
from tests.session.test_conversation import narrow

STEP = "It reads the module and then looks at the handler in detail, step by step. " * 12


def history() -> list[dict[str, Any]]:
    """Twenty rounds that may all go."""
    said = [{"role": "user", "content": "Begin."}]
    for step in range(20):
        said += [
            {"role": "assistant", "content": f"Step {step}. {STEP}"},
            {"role": "user", "content": "Go on."},
        ]
    return said


def why(messages: list[dict[str, Any]], **options: Any) -> str:
    """The reason of a compaction that does not reach its target."""
    with pytest.raises(foldline.TargetUnreachable) as caught:
        foldline.compact(messages, **options)
    return str(caught.value)


def test_a_policy_that_lacks_a_model_says_so_and_which_does_not() -> None:
    """`balanced` reaches what `reserve` cannot without a model; nothing here is pinned or open."""
    said = why(history(), to=500, policy="reserve")
    assert "policy reserve goes no further" in said
    assert "auto-compact needs a model" in said
    assert "balanced" in said
    assert foldline.compact(history(), to=500).report.tokens_after <= 500


def test_a_policy_that_does_no_more_below_a_line_of_its_own_has_reached_what_it_asks_for() -> None:
    """`handoff` goes on below 80 % of its input with nothing but the hand-off, though its target is 70 %: what is left is no failure of
    a model that was not there."""
    session = narrow(opened(policy="handoff"), 20_200)
    session.user("read it all")
    for n in range(18):
        session.record(answer(f"look {n}", (f"t{n}", "read")))
        session.tool_result(f"t{n}", f"line {n} " * (90 if n < 8 else 440))
    report = session.prepare().report
    use = session.context_use()
    assert [one.name for one in report.passes if one.edits] == ["snip"]
    assert (report.outcome, report.reason) == ("compacted", None)
    assert report.tokens_target is not None
    assert report.tokens_target < report.tokens_after < use["tokens_threshold"]


def test_a_tier_that_the_session_does_itself_lacks_nothing() -> None:
    """The reminder and what is restored take nothing out of a view, so no end of a policy is theirs."""
    for name in ("handoff", "ladder-enterprise"):
        assert "session" not in goes_no_further(policy_of(name), has_model=False)


def test_a_policy_that_folds_is_not_told_to_fold() -> None:
    """A short history may be smaller than any ledger of it; `balanced` was said to do what `balanced` had not done."""
    session = Path(__file__).parent.parent / "data/codex/shape-fixture-compacted.jsonl"
    [result] = files.compact(reading.read(str(session)), files.CompactOptions(to=0.25)).results
    assert (result.report.reason or "").startswith(FOLDED)


def test_a_history_that_stands_fast_is_the_reason_itself() -> None:
    """What no pass may touch is named with the largest of it, not the policy."""
    said = why([{"role": "user", "content": STEP}, {"role": "user", "content": STEP * 4}], to=100)
    assert "the last user message" in said
    assert "the largest message" in said


def test_tools_alone_are_the_reason_where_they_are_larger_than_the_target() -> None:
    """Neither policy nor pins would help there."""
    tools = [{"type": "function", "function": {"name": "run", "description": STEP, "parameters": {}}}]
    assert "system prompt and tools alone take" in why(history(), to=50, tools=tools)


def test_a_share_of_less_than_a_token_is_told_as_that() -> None:
    """`to` is the caller's to mend."""
    assert "less than one token" in why(history(), to=1e-9)


def test_an_empty_view_has_no_largest_message() -> None:
    """The sentence stands without it."""
    said = why_unreached(view_from([]), kept=frozenset(), tokens_fixed=0, target=5, policy_end="its own end")
    assert "largest" not in said
    assert "raise the target" in said


def test_where_something_may_still_go_the_policys_own_end_is_the_reason() -> None:
    """Law END: after its last pass there is a message that no rule holds; with all of them held it is not the policy."""

    def said(*kept: int) -> str:
        view = view_from([user(STEP), user("On.")])
        return why_unreached(view, kept=set(kept), tokens_fixed=0, target=5, policy_end="its own end")

    assert said(1).startswith("its own end; it comes to ")
    assert "the largest message (m0)" in said(0, 1)


@pytest.mark.parametrize("target", [400, 60])
def test_the_reason_names_a_target_that_is_reached(target: int) -> None:
    """Law END: `take more than that; raise the target` left its reader to try."""
    tools = [{"type": "function", "function": {"name": "run", "description": STEP[:200], "parameters": {}}}]
    messages = [*history(), {"role": "user", "content": STEP * 2}]
    said = why(messages, to=target, tools=tools)
    least = int(re.findall(r"[\d,]+(?=: raise the target|; shorten)", said)[-1].replace(",", ""))
    assert foldline.compact(messages, to=least, tools=tools).report.tokens_after <= least
