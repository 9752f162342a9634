"""One history through repair, policy and report; what every door calls."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

import foldline
from foldline.core.errors import InvalidOption
from foldline.core.message import Message, Meta
from foldline.core.needs import Needs
from foldline.core.rounds import kept_seqs, outline_of
from foldline.engine.policy import Line, Policy, Tier
from foldline.engine.report import Report
from foldline.passes.fold_oldest import FoldOldest
from foldline.provider_rules import broken_laws
from foldline.reduce import (
    Goal,
    History,
    Reduced,
    find_pins,
    history_of,
    reduce,
    target_of,
)
from foldline.testing.builders import assistant, call, result, user
from foldline.testing.counting import CharacterCounter
from tests.engine.scripted import dropping, policy, tier

COUNTER = CharacterCounter()
CALL = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
WINDOW = Line(percent=80, of="window")
FOLDING = Policy(
    name="folding",
    sentence="For tests.",
    source="none",
    threshold=WINDOW,
    target=Line(percent=50, of="window"),
    tiers=(Tier(name="fold", reduce=FoldOldest()),),
)
TALK = [m for n in range(20) for m in (user(f"question {n} " * 10), assistant(f"answer {n} " * 30))]


def weighed(messages: list[Message], *, fixed: int = 0) -> History:
    return history_of(messages, needs=Needs(), counter=COUNTER, tokens_fixed=fixed)


def reduced(history: History, goal: Goal) -> Reduced:
    return reduce(history, goal, counter=COUNTER, report=Report(format="test"))


def test_a_history_is_repaired_and_weighed_once() -> None:
    """The view's total is a recount; the whole request adds what is fixed."""
    history = weighed([user("go"), assistant(call("a")), user("on")], fixed=100)
    assert [done.kind for done in history.repairs] == ["interrupted-call"]
    assert history.view.tokens == sum(COUNTER.message(i.message) for i in history.view)
    assert history.tokens == history.view.tokens + 100
    assert history.view.next_seq == 3
    assert len(history.originals) == 3


def test_a_goal_is_reached_and_reported() -> None:
    """Laws END and GAIN: tokens before, after and at the target, of the whole request."""
    history = weighed(TALK, fixed=100)
    done = reduced(history, Goal(policy=FOLDING, to=600))
    report = done.report
    assert (report.outcome, report.reason, report.policy, report.counter) == (
        "compacted",
        None,
        "folding",
        "characters/4",
    )
    assert report.tokens_before == history.tokens
    assert report.tokens_after == done.view.tokens + 100 <= 600 == report.tokens_target
    assert (report.messages_before, report.messages_after) == (40, len(done.view))
    assert report.covers.messages == 40 - len(done.view) + 1
    assert report.summary.kind == "ledger"
    assert report.summary.evicted_tokens == sum(
        i.tokens for i in history.view if i.seq not in {i.seq for i in done.view if not i.covers}
    )
    assert [one.name for one in report.passes] == ["fold"]
    assert history.view.items()[-2:] == done.view.items()[-2:]


def test_a_history_within_its_target_is_left_alone() -> None:
    """No exception means "nothing to do": the reason says so."""
    history = weighed(TALK)
    done = reduced(history, Goal(policy=FOLDING, to=history.tokens))
    assert done.view is history.view
    assert (done.report.outcome, done.report.reason) == ("unchanged", "within the target")
    assert done.report.tokens_after == done.report.tokens_before
    assert done.edits == ()


def test_a_target_that_cannot_be_met_says_what_stands_in_its_way() -> None:
    """Law END: the smallest history, its size, and what would help."""
    history = weighed(TALK, fixed=50)
    done = reduced(history, Goal(policy=FOLDING, to=60))
    assert done.report.outcome == "unreachable"
    assert done.report.tokens_after > 60
    assert "raise the target" in (done.report.reason or "")
    fixed = reduced(weighed(TALK, fixed=500), Goal(policy=FOLDING, to=400))
    assert "system prompt and tools alone take 500 tokens" in (fixed.report.reason or "")
    alone = reduced(weighed([user("word " * 100)]), Goal(policy=FOLDING, to=10))
    assert (alone.report.outcome, alone.edits) == ("unreachable", ())


def test_a_pass_that_breaks_a_law_is_reported_and_nothing_is_changed() -> None:
    """A fault of ours never breaks a session."""
    history = weighed(TALK)
    done = reduced(history, Goal(policy=policy(tier(dropping(38, name="rogue"))), to=10))
    assert done.report.outcome == "failed"
    assert (done.report.reason or "").startswith("rogue: law TAIL")
    assert done.view is history.view


@pytest.mark.parametrize(
    ("to", "target"),
    [(500, 500), (0.25, 250), (0.9999, 999), (5_000, 5_000)],
)
def test_a_target_is_tokens_or_a_share_of_the_whole_request(to: float, target: int) -> None:
    """interface.md: an int is tokens, a float in (0, 1) a share of the same sum."""
    assert target_of(1_000, Goal(policy=FOLDING, to=to)) == target


@pytest.mark.parametrize("to", [0, -1, 0.0, 1.0, 1.5, -0.5, True, False])
def test_a_target_out_of_bounds_is_refused(to: float) -> None:
    """A slip of the pen must not shrink a session to one token."""
    with pytest.raises(InvalidOption) as caught:
        target_of(1_000, Goal(policy=FOLDING, to=to))
    assert caught.value.option == "to"


def test_without_a_target_the_policys_own_holds_from_its_threshold_on() -> None:
    """interface.md: `unchanged` below it."""
    goal = Goal(policy=FOLDING, tokens_window=1_000)
    assert target_of(799, goal) is None
    assert target_of(800, goal) == 500
    history = weighed(TALK)
    quiet = reduced(history, Goal(policy=FOLDING, tokens_window=10 * history.tokens))
    assert (quiet.report.outcome, quiet.report.reason) == ("unchanged", "below the threshold")
    assert quiet.report.tokens_target is None
    due = reduced(history, Goal(policy=FOLDING, tokens_window=history.tokens))
    assert due.report.outcome == "compacted"
    assert due.report.tokens_target == history.tokens // 2


@pytest.mark.parametrize(
    ("fixed", "target"), [(0, 500), (375, 500), (480, 586), (700, 733), (900, 933), (1_000, 1_000)]
)
def test_where_system_prompt_and_tools_take_the_target_the_messages_keep_some_of_it(
    fixed: int, target: int
) -> None:
    """CMP-30: a fold without room says nothing of what users ruled. A quarter of the target, or a third of what is left up to the
    threshold, or to the window where that is passed; a target that somebody names is what it is."""
    assert target_of(900, Goal(policy=FOLDING, tokens_window=1_000), tokens_fixed=fixed) == target
    assert target_of(900, Goal(policy=FOLDING, to=500), tokens_fixed=fixed) == 500


def test_a_pin_is_an_ordinal_an_id_or_a_text() -> None:
    """Law PIN: what is pinned survives verbatim, wherever the words stand."""
    messages = [
        replace(user("one"), meta=Meta(id="u-1")),
        assistant("two", call("a")),
        result("a", "the port is 8080"),
        user("three"),
    ]
    view = weighed(messages).view
    assert find_pins(view, [0]) == {0}
    assert find_pins(view, ["u-1"]) == {0}
    assert find_pins(view, ["8080", "two"]) == {1, 2}
    assert find_pins(view, []) == frozenset()


@pytest.mark.parametrize("pin", [99, -1, "nowhere"])
def test_a_pin_that_finds_nothing_is_refused(pin: int | str) -> None:
    """A silent miss would lose what it was to keep."""
    with pytest.raises(InvalidOption) as caught:
        find_pins(weighed(TALK).view, [pin])
    assert (caught.value.option, caught.value.value) == ("pin", pin)


def test_pinned_messages_survive_a_hard_compaction_verbatim() -> None:
    """Law PIN."""
    history = weighed(TALK)
    done = reduced(history, Goal(policy=FOLDING, to=0.4, pins=(5, "question 3")))
    kept = {id(item.message) for item in done.view}
    assert {id(i.message) for i in history.view if i.seq in {5, 6}} <= kept


def test_neighbours_of_one_role_are_no_breach_before_they_are_joined() -> None:
    """What came side by side leaves side by side."""
    needs = Needs(alternates=True)
    assert broken_laws([user("a"), user("b")], needs) == ()
    assert [v.law for v in broken_laws([user("a"), result("gone")], needs)] == ["PAIR"]


def test_what_waits_for_a_person_stays_in_place() -> None:
    """google/adk-python#4740: the round of an approval survives any target."""
    messages = [user("go"), assistant(call("request_approval")), user("and?"), *TALK]
    history = weighed(messages)
    done = reduced(history, Goal(policy=FOLDING, to=0.3))
    waiting: Any = [i.message for i in history.view if i.seq == 1]
    assert [m for m in waiting if all(m is not i.message for i in done.view)] == []
    assert {1} <= kept_seqs(outline_of(done.view))


def test_half_a_surrogate_pair_anywhere_breaks_a_law() -> None:
    """No provider accepts it, in a result as little as in a text (anthropics/claude-code#69927)."""
    history = [user("run it"), assistant("", call("a")), result("a", "x\ud83d"), user("é🙂")]
    (violation,) = broken_laws(history, Needs())
    assert (violation.law, violation.at) == ("ROLE", "message 2")
    assert "surrogate" in violation.why


@pytest.mark.parametrize("policy", ["balanced", "cascade", "handoff", "ladder-enterprise"])
@pytest.mark.parametrize("to", [0.8, 0.5])
def test_what_is_cut_is_cut_from_the_mended_text(policy: str, to: float) -> None:
    """An original holds half a pair; what a pass makes of it does not."""
    talk = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c", "content": "a\ud83d word " * 400},
        {"role": "assistant", "content": "done " * 200},
        {"role": "user", "content": "go"},
    ]
    made = foldline.compact(talk, to=to, policy=policy)
    json.dumps(made.messages, ensure_ascii=False).encode()
    assert made.report.valid
