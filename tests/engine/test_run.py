"""One compaction: tiers in turn, each counted before the next, all of it or nothing."""

from __future__ import annotations

from msgspec.structs import replace

from foldline.core.completion import Ask, Reply
from foldline.core.errors import LawViolation
from foldline.core.view import View
from foldline.engine.driving import drive
from foldline.engine.policy import Line, Policy, Tier
from foldline.engine.run import Compacted, Failed, Outcome, Unchanged, running
from foldline.testing.builders import assistant, frame_for, moment_for, user, view_from
from tests.engine.alone import run
from tests.engine.scripted import Asking, asking_tier, dropping, folding, idle, policy, tier

TALK = [
    message for n in range(6) for message in (user(f"question {n} " * 20), assistant(f"answer {n} " * 20))
]


def compacted(view: View, chosen: Policy, target: int) -> Outcome:
    return run(view, chosen, moment=moment_for(view, target), frame=frame_for(view))


def test_tiers_run_in_their_order_until_the_target_is_met() -> None:
    """Law END: each tier runs at most once, and none after the target is met."""
    view = view_from(TALK)
    first, second, third = dropping(0, 1), dropping(2, 3), dropping(4, 5)
    chosen = policy(*(tier(one) for one in (first, second, third)))
    done = compacted(view, chosen, view.tokens * 2 // 3)
    assert isinstance(done, Compacted)
    assert [step.tokens_freed for step in done.steps] == [
        sum(i.tokens for i in view.items()[:2]),
        sum(i.tokens for i in view.items()[2:4]),
    ]
    assert [len(one.moments) for one in (first, second, third)] == [1, 1, 0]
    assert done.view.items() == view.items()[4:]
    assert len(done.edits) == 4


def test_the_excess_is_counted_again_before_each_tier() -> None:
    """A tier is told what is still too much, not what was."""
    view = view_from(TALK)
    first, second = dropping(0, 1), idle()
    compacted(view, policy(tier(first), tier(second)), 10)
    assert first.moments[0].tokens_excess == view.tokens - 10
    assert second.moments[0].tokens_excess == view.tokens - 10 - sum(i.tokens for i in view.items()[:2])


def test_a_tier_that_always_runs_runs_on_a_view_that_fits() -> None:
    """Clamping at the door is not a matter of size; the others wait until the view is over."""
    view = view_from(TALK)
    always, over = dropping(0, 1), dropping(2, 3)
    done = compacted(view, policy(tier(always, when="always"), tier(over)), view.tokens)
    assert isinstance(done, Compacted)
    assert [step.name for step in done.steps] == ["drop"]
    assert over.moments == []
    assert always.moments[0].tokens_excess == 0


def test_a_plan_that_frees_less_than_its_tier_demands_is_dropped() -> None:
    """Law GAIN: an applied plan shrinks the view by at least the declared minimum."""
    view = view_from(TALK)
    gain = sum(i.tokens for i in view.items()[:2])
    kept = compacted(view, policy(tier(dropping(0, 1), gain_min=gain)), 10)
    assert isinstance(kept, Compacted)
    dropped = compacted(view, policy(tier(dropping(0, 1), gain_min=gain + 1)), 10)
    assert isinstance(dropped, Unchanged)
    larger = compacted(view, policy(tier(folding(0, 2, says="words " * 500))), 10)
    assert isinstance(larger, Unchanged)


def test_a_dropped_plan_leaves_the_view_to_the_next_tier() -> None:
    """Law GAIN: what is not applied is not half applied."""
    view = view_from(TALK)
    chosen = policy(tier(dropping(0, 1), gain_min=10**6), tier(dropping(2, 3)))
    done = compacted(view, chosen, 10)
    assert isinstance(done, Compacted)
    assert [item.seq for item in done.view] == [0, 1, 4, 5, 6, 7, 8, 9, 10, 11]
    assert [len(step.edits) for step in done.steps] == [2]


def test_edits_of_every_tier_land_in_the_one_view_that_comes_back() -> None:
    """Law ONCE: one compaction, one break of the prefix; the view that came in is what it was."""
    view = view_from(TALK)
    before = view.items()
    done = compacted(view, policy(tier(dropping(4, 5)), tier(folding(0, 4))), 10)
    assert isinstance(done, Compacted)
    assert [item.seq for item in done.view] == [0, *range(6, 12)]
    assert all(a is b for a, b in zip(done.view.items()[1:], before[6:], strict=True))
    assert view.items() is not done.view.items()
    assert view.items() == before


def test_nothing_to_do_says_why() -> None:
    """Outcome is a closed union; no exception means "nothing to do"."""
    view = view_from(TALK)
    fits = compacted(view, policy(tier(dropping(0, 1))), view.tokens)
    assert fits == Unchanged(reason="within the target")
    stuck = compacted(view, policy(tier(idle())), 10)
    assert isinstance(stuck, Unchanged)
    assert stuck.reason.startswith("policy scripted goes no further")
    fast = replace(frame_for(view), kept=frozenset(range(len(TALK))))
    held = run(view, policy(tier(idle())), moment=moment_for(view, 10), frame=fast)
    assert isinstance(held, Unchanged)
    assert "nothing may be reduced" in held.reason
    assert isinstance(compacted(view, policy(), 10), Unchanged)


def test_a_pass_that_breaks_a_law_fails_the_compaction_and_changes_nothing() -> None:
    """A fault of a pass is an outcome with its name; what earlier tiers did is not applied either (law ONCE)."""
    view = view_from(TALK)
    chosen = policy(tier(dropping(0, 1)), tier(dropping(10, name="rogue")))
    done = compacted(view, chosen, 10)
    assert isinstance(done, Failed)
    assert done.step == "rogue"
    assert isinstance(done.error, LawViolation)
    assert done.error.law == "TAIL"
    assert len(view) == len(TALK)


def test_durations_are_measured_by_the_clock_that_is_handed_in() -> None:
    """Law SAME: nothing inside reads a clock; without one every duration is 0."""
    view = view_from(TALK)
    chosen = policy(tier(dropping(0, 1)), tier(dropping(2, 3)))
    ticks = iter(range(0, 100, 5))
    timed = run(
        view, chosen, moment=moment_for(view, 10), frame=frame_for(view), clock=lambda: float(next(ticks))
    )
    assert isinstance(timed, Compacted)
    assert [step.seconds for step in timed.steps] == [5.0, 5.0]
    still = compacted(view, chosen, 10)
    assert isinstance(still, Compacted)
    assert [step.seconds for step in still.steps] == [0.0, 0.0]


def test_hints_of_a_pass_come_out_beside_its_edits() -> None:
    """OBS-2: request in, edits and hints out."""
    view = view_from(TALK)
    one = dropping(0, 1)
    one.hints = ("read a.py again",)
    done = compacted(view, policy(tier(one)), 10)
    assert isinstance(done, Compacted)
    assert done.steps[0].hints == ("read a.py again",)


def test_a_tier_waits_for_its_own_line_where_the_caller_names_no_target() -> None:
    """A ladder's later tiers have thresholds of their own; a target by hand goes before."""
    view = view_from(TALK)
    early, late = dropping(0, 1, name="early"), dropping(2, 3, name="late")
    lines = {"due": Line(percent=100, of="window"), "target": Line(percent=10, of="window")}
    chosen = policy(tier(early, target=Line(percent=90, of="window")), tier(late, **lines))
    by_line = replace(moment_for(view, 10, tokens_window=view.tokens), by_hand=False)
    done = run(view, chosen, moment=by_line, frame=frame_for(view))
    assert isinstance(done, Compacted)
    assert [step.name for step in done.steps] == ["early"]
    assert early.moments[0].tokens_target == view.tokens * 90 // 100
    by_hand = replace(by_line, by_hand=True)
    done = run(view, chosen, moment=by_hand, frame=frame_for(view))
    assert isinstance(done, Compacted)
    assert [step.name for step in done.steps] == ["early", "late"]
    assert late.moments[-1].tokens_target == 10


def test_below_the_threshold_only_the_tiers_that_always_run_are_asked() -> None:
    """A clamp at the door is no compaction."""
    view = view_from(TALK)
    always, over = dropping(0, 1), idle()
    quiet = replace(moment_for(view, 10), is_due=False)
    run(view, policy(tier(always, when="always"), tier(over)), moment=quiet, frame=frame_for(view))
    assert (len(always.moments), len(over.moments)) == (1, 0)
    assert run(view, policy(tier(over)), moment=quiet, frame=frame_for(view)) == Unchanged(
        reason="below the threshold"
    )


def test_a_policy_of_what_is_not_at_hand_says_what_it_needs() -> None:
    """Law END: the last tier reaches the target or says exactly why not."""
    view = view_from(TALK)
    chosen = policy(Tier(name="auto-compact", reduce=None, needs="model"))
    stuck = compacted(view, chosen, 10)
    assert isinstance(stuck, Unchanged)
    assert "auto-compact needs a model" in stuck.reason


# ── a model ──────────────────────────────────────────────────────────────────────────────────────────────────


def with_model(
    view: View, chosen: Policy, target: int, *, says: str = "what went", by_hand: bool = True
) -> Outcome:
    moment = moment_for(view, target, has_model=True, by_hand=by_hand)
    asking = running(view, chosen, moment=moment, frame=frame_for(view))
    return drive(asking, lambda ask: Reply(text=says))


def test_without_a_model_a_tier_that_asks_does_not_run() -> None:
    """The tiers of a policy without a model do exactly what they did."""
    view = view_from(TALK)
    asks, last = Asking(0, 4), dropping(4, 5)
    done = compacted(view, policy(asking_tier(asks), tier(last)), view.tokens // 2)
    assert isinstance(done, Compacted)
    assert (asks.moments, [step.name for step in done.steps], done.asked) == ([], ["drop"], ())


def test_by_hand_the_model_comes_first_and_what_it_leaves_is_the_next_tier_s() -> None:
    """Requirement BUD-13: manual compaction skips the tiers before the model's."""
    view = view_from(TALK)
    first, asks, last = dropping(0, 1), Asking(0, 4), dropping(4, 5)
    done = with_model(view, policy(tier(first), asking_tier(asks), tier(last)), view.tokens // 4)
    assert isinstance(done, Compacted)
    assert [step.name for step in done.steps] == ["auto-compact", "drop"]
    assert first.moments == []
    assert [one.is_written for one in done.asked] == [True]


def test_a_threshold_runs_the_tiers_in_their_order_and_asks_on_the_view_that_was_sent() -> None:
    """The cheapest first, and the fork goes on from the request before, whatever an earlier tier has planned (law ONCE)."""
    view = view_from(TALK)
    first, asks = dropping(0, 1), Asking(2, 6)
    asked: list[Ask] = []

    def answer(ask: Ask) -> Reply:
        asked.append(ask)
        return Reply(text="what went")

    moment = moment_for(view, view.tokens // 2, has_model=True, by_hand=False)
    chosen = policy(tier(first), asking_tier(asks))
    done = drive(running(view, chosen, moment=moment, frame=frame_for(view)), answer)
    assert isinstance(done, Compacted)
    assert [step.name for step in done.steps] == ["drop", "auto-compact"]
    assert asked[0].live == view.items()


def test_where_the_model_fails_all_tiers_run_without_it() -> None:
    """A failure is a value: told, and followed by what the policy does without a model; it is not asked twice."""
    view = view_from(TALK)
    first, asks = dropping(0, 1), Asking(0, 4)
    done = with_model(view, policy(tier(first), asking_tier(asks)), view.tokens // 4, says="")
    assert isinstance(done, Compacted)
    assert [step.name for step in done.steps] == ["drop"]
    assert [failure.name for one in done.asked for failure in one.failures] == ["empty"]
    assert len(asks.moments) == 1


def test_a_failure_with_nothing_after_it_leaves_the_view_and_says_so() -> None:
    """Requirement CMP-35: no fallback; the reason names the failure."""
    view = view_from(TALK)
    for by_hand in (True, False):
        done = with_model(view, policy(asking_tier(Asking(0, 4))), 10, says="", by_hand=by_hand)
        assert isinstance(done, Unchanged)
        assert "empty" in done.reason


def test_a_plan_of_a_model_that_breaks_a_law_changes_nothing() -> None:
    """A fault of ours, told with what was asked for it."""
    view = view_from(TALK)
    done = with_model(view, policy(asking_tier(Asking(0, len(view)))), 10)
    assert isinstance(done, Failed)
    assert len(done.asked) == 1


def test_at_once_the_model_is_asked_whatever_the_size() -> None:
    """Requirement CMP-15: by hand, at any usage."""
    view = view_from(TALK)
    moment = moment_for(view, view.tokens, has_model=True, at_once=True)
    asking = running(view, policy(asking_tier(Asking(0, 4))), moment=moment, frame=frame_for(view))
    done = drive(asking, lambda ask: Reply(text="what went"))
    assert isinstance(done, Compacted)
