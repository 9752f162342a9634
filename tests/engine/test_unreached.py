"""Why a target was not reached (law END): the reason is the history's, or the policy's own."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import foldline
from foldline import files, reading
from foldline.engine.unreached import FOLDED, goes_no_further, why_unreached
from foldline.passes.fold_least import FOLD_TOKENS_SLACK
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
    said = why_unreached(view_from([]), kept=frozenset(), tokens_fixed=0, target=5, end="its own end")
    assert "largest" not in said
    assert "raise the target" in said


def test_where_something_may_still_go_the_policys_own_end_is_the_reason() -> None:
    """Law END: after its last pass there is a message that no rule holds; with all of them held it is not the policy."""

    def said(*kept: int) -> str:
        view = view_from([user(STEP), user("On.")])
        return why_unreached(view, kept=set(kept), tokens_fixed=0, target=5, end="its own end")

    assert said(1).startswith("its own end; it comes to ")
    assert "the largest message (m0)" in said(0, 1)


@pytest.mark.parametrize("target", [400, 60])
def test_the_reason_names_a_target_that_is_reached(target: int) -> None:
    """Law END: `take more than that; raise the target` left its reader to try."""
    tools = [{"type": "function", "function": {"name": "run", "description": STEP[:200], "parameters": {}}}]
    messages = [*history(), {"role": "user", "content": STEP * 2}]
    said = why(messages, to=target, tools=tools)
    least = named(said)
    assert foldline.compact(messages, to=least, tools=tools).report.tokens_after <= least


def named(said: str) -> int:
    """The target that a reason names."""
    return int(re.findall(r"[\d,]+(?=(?: tokens)?: raise the target|; shorten)", said)[-1].replace(",", ""))


def any_history(seed: int) -> list[dict[str, Any]]:
    """Rules, commands that failed, edits, talk, and last words of any size; some end in a round that waits."""
    rng = random.Random(seed)
    said: list[dict[str, Any]] = [
        {"role": "user", "content": "Never touch src/db. " + "rule " * rng.randint(0, 300)}
    ]
    for turn in range(rng.randint(1, 12)):
        match rng.randrange(3):
            case 0:
                output = f"FAILED t_{turn}\n" + "x y " * rng.randint(0, 500)
                said += called(turn, "Bash", {"command": f"pytest t_{turn}.py"}, output=output)
            case 1:
                new = {"file_path": f"/p/f_{turn}.py", "old_string": "a", "new_string": f"value_{turn} = 1"}
                said += called(turn, "Edit", new, output="The file has been updated.")
            case _:
                said += [
                    {"role": "assistant", "content": "hm " + "w " * rng.randint(1, 50)},
                    {"role": "user", "content": "Please use no Redis anywhere. " * rng.randint(1, 40)},
                ]
    said += [
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "on " * rng.randint(1, 1_900)},
    ]
    return (
        said
        if rng.random() < 0.7
        else [*said, *called(99, "Bash", {"command": "cat big"}, output="w " * 900)]
    )


def called(turn: int, tool: str, given: dict[str, Any], *, output: str) -> list[dict[str, Any]]:
    """One call and its result."""
    call = {"type": "tool_use", "id": f"toolu_{turn}", "name": tool, "input": given}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": output}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


@pytest.mark.parametrize("seed", range(24))
def test_the_size_that_is_named_is_reached_and_none_that_is_smaller_by_more_than_a_few_tokens(
    seed: int,
) -> None:
    """Law END: `it comes to 486: raise the target to that`, and a target of 110 was reached with 96."""
    messages = any_history(seed)
    system = "Be brief. " * (seed % 5 * 60)
    said = why(messages, to=1, format="anthropic", system=system)
    least = named(said)
    reached = foldline.compact(messages, to=least, format="anthropic", system=system)
    assert reached.report.tokens_after <= least
    for smaller in (least - FOLD_TOKENS_SLACK - 4, least * 3 // 4, least // 2):
        assert named(why(messages, to=smaller, format="anthropic", system=system)) >= smaller


def test_the_reason_says_both_the_least_and_what_is_returned() -> None:
    """Law END: the error carries a history that also says what was done; the least is another number."""
    messages = [*any_history(3)[:-1], {"role": "user", "content": "on " * 3_000}]
    with pytest.raises(foldline.TargetUnreachable) as caught:
        foldline.compact(messages, to=100, format="anthropic")
    after = caught.value.result.report.tokens_after
    assert f"; what is returned also says what was done, and has {after:,}" in str(caught.value)
    assert after - 400 <= named(str(caught.value)) < after
