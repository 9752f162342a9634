"""A whole summary in the place of all but the newest: what stays, what it may be, and when it is refused."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from foldline.core.budget import replacement_max
from foldline.core.completion import Reply
from foldline.core.edit import Fold, Plan, apply
from foldline.core.message import Message
from foldline.core.rounds import outline_of
from foldline.engine.driving import drive
from foldline.presets import CASCADE, HANDOFF, LADDER, RESERVE
from foldline.summary.instructions import RECOVERY
from foldline.testing.builders import assistant, call, frame_for, moment_for, result, user, view_from
from tests.summary.talking import GOOD, OVERFLOW, RULE, Script, planned, work

WINDOW = 200_000


def fold_of(plan: Plan) -> Fold:
    [edit] = plan.edits
    assert isinstance(edit, Fold)
    return edit


def names(plan: Plan) -> list[str]:
    assert plan.asked is not None
    return [failure.name for failure in plan.asked.failures]


def test_reserve_keeps_the_last_two_rounds_and_the_last_user_message() -> None:
    """Requirements CMP-6 and CMP-24: one block as a user message, then the last two rounds; the last user message older
    than them stays verbatim in its place."""
    messages = work(40, turn=100)
    view, plan, frame = planned(
        RESERVE, messages, 100, Script(GOOD), tokens_window=WINDOW, tokens_threshold=167_000
    )
    after = apply(view, plan.edits, frame=frame)
    roles = [item.message.role for item in after]
    assert roles == ["user", "user", "assistant", "tool", "assistant", "tool"]
    assert after.items()[0].message.text == messages[0].text
    assert fold_of(plan).message.role == "user"
    assert [item.message for item in after.items()[2:]] == messages[-4:]


def test_reserve_asks_once_on_the_live_view() -> None:
    """Requirements CMP-2, CMP-4: a fork; a reply without tags is taken as it is, and nothing is asked twice."""
    script = Script("The login bug was traced to the comparison of tokens, and fixed in constant time.")
    _, plan, _ = planned(RESERVE, work(40), 100, script, tokens_window=WINDOW, tokens_threshold=167_000)
    assert " The login bug was traced" in fold_of(plan).message.text
    assert [ask.is_fork for ask in script.asked] == [True]
    _, failed, _ = planned(
        RESERVE, work(40), 100, Script(Reply(text="", stop_reason="end_turn")), tokens_window=WINDOW
    )
    assert names(failed) == ["empty"]


def test_a_summary_over_the_threshold_is_a_failure() -> None:
    """Requirement CMP-23: the view would be due again at once; it stays as it was."""
    long = "<summary>" + " ".join(f"Check {n} failed for reason {n * 31}." for n in range(600)) + "</summary>"
    _, plan, _ = planned(RESERVE, work(60), 100, Script(long), tokens_window=WINDOW, tokens_threshold=2_000)
    assert plan.edits == ()
    assert names(plan) == ["over_threshold"]


def test_a_summary_larger_than_what_it_replaces_is_a_failure() -> None:
    """1jehuang/jcode#170: nothing that makes the view longer is made."""
    long = (
        "<summary>" + " ".join(f"Check {n} failed for reason {n * 31}." for n in range(3_000)) + "</summary>"
    )
    _, plan, _ = planned(RESERVE, work(30), 100, Script(long))
    assert plan.edits == ()
    assert names(plan) == ["too_large"]


def test_handoff_keeps_the_newest_fifth_within_its_bound() -> None:
    """Requirements CMP-9 and CMP-10: the newest 20 % of the candidate messages; all together within the bound."""
    messages = work(60)
    script = Script(GOOD)
    view, plan, frame = planned(HANDOFF, messages, 6_000, script, tokens_window=WINDOW)
    after = apply(view, plan.edits, frame=frame)
    loose = view.tokens - after.items()[-1].tokens
    kept = len(after) - 2
    assert 0.14 * len(view) <= kept <= 0.2 * len(view) + 1
    assert after.tokens - after.items()[-1].tokens <= replacement_max(loose, WINDOW)
    assert RULE in fold_of(plan).message.text
    [ask] = script.asked
    assert not ask.is_fork


def test_a_hand_off_without_effect_is_a_failure() -> None:
    """Requirements CMP-10 and CMP-29: more than the bound is no effect."""
    long = "<summary>" + " ".join(f"Check {n} failed for reason {n * 31}." for n in range(600)) + "</summary>"
    _, plan, _ = planned(HANDOFF, work(30, lines=30), 9_000, Script(long), tokens_window=WINDOW)
    assert plan.edits == ()
    assert set(names(plan)) == {"small_gain"}


def test_a_hand_off_shrinks_after_an_overflow_and_puts_records_back() -> None:
    """Requirements CMP-11, CMP-27 and CMP-8."""
    record = "EXACT CONTINUATION RECORD [Open risks or blockers] :: the staging server is down until Monday"
    messages = work(60)
    messages.insert(3, user(record))
    script = Script(
        OVERFLOW,
        OVERFLOW,
        "<summary>\n## Decisions and rationale\n- constant time\n</summary>".replace(
            "constant time", "constant time, because equality leaks timing in this place"
        ),
    )
    _, plan, _ = planned(HANDOFF, messages, 6_000, script, tokens_window=WINDOW)
    read = [sum(len(message.text) for message in ask.messages) for ask in script.asked]
    assert read[0] > read[1] > read[2]
    assert "- the staging server is down until Monday (m3 user)" in fold_of(plan).message.text
    assert names(plan) == ["overflow"] * 2


def test_the_ladder_takes_the_smallest_oldest_part_and_never_the_last_ten() -> None:
    """Requirements CMP-25, CMP-26 and CMP-7: as little as reaches the target; the recovery instruction stands behind."""
    messages = work(60)
    tight, loose = Script(GOOD), Script(GOOD)
    view, little, _ = planned(LADDER, messages, 6_000, loose)
    _, much, frame = planned(LADDER, messages, 2_500, tight)
    assert sum(len(span) for span in fold_of(little).spans) < sum(len(span) for span in fold_of(much).spans)
    for plan, target in ((little, 6_000), (much, 2_500)):
        assert apply(view, plan.edits, frame=frame).tokens <= target
        assert max(span.end for span in fold_of(plan).spans) <= len(view) - 10
        assert f" {RECOVERY}" in fold_of(plan).message.text


def test_where_no_part_frees_enough_nobody_is_asked() -> None:
    """Requirement CMP-25: "cannot free enough", nothing changed, and no request paid for."""
    script = Script(GOOD)
    _, plan, _ = planned(LADDER, work(8), 100, script)
    assert (plan.edits, plan.hints, script.asked) == ((), ("cannot free enough",), [])


def test_cascade_keeps_the_last_two_turns_or_one() -> None:
    """Requirement CMP-37: two whole turns, one where two do not fit."""
    messages = work(60)
    for target, turns in ((6_000, 2), (1_100, 1)):
        view, plan, frame = planned(CASCADE, messages, target, Script(GOOD))
        after = apply(view, plan.edits, frame=frame)
        assert len(outline_of(after).turns) == turns
        assert after.tokens <= target


def test_a_new_summary_replaces_the_old_one_too() -> None:
    """Requirement CMP-16: history and earlier summary together; its words are shown to the model as such."""
    messages = work(40)
    _, first, _ = planned(CASCADE, messages, 3_000, Script(GOOD))
    folded = Message(role="user", parts=fold_of(first).message.parts, synthetic="fold", edited=True)
    script = Script(
        "<summary>A second summary, of all that was said before and since, in more words than forty.</summary>"
    )
    view, plan, frame = planned(CASCADE, [folded, *work(40)], 3_000, script)
    after = apply(view, plan.edits, frame=frame)
    assert sum(item.message.synthetic == "fold" for item in after) == 1
    assert 'from="m0 earlier summary"' in script.asked[0].messages[0].text
    assert "traced to the comparison" in script.asked[0].messages[0].text
    assert RULE in fold_of(plan).message.text


@pytest.mark.parametrize("one", [HANDOFF, RESERVE, LADDER, CASCADE], ids=lambda one: one.form)
def test_there_is_nothing_to_sum_up_in_a_short_history(one: object) -> None:
    """No request for nothing."""
    script = Script(GOOD)
    _, plan, _ = planned(one, [user("hi"), assistant(call("ls")), result("ls", "a")], 10, script)  # type: ignore[arg-type]
    assert (plan.edits, script.asked) == ((), [])


@pytest.mark.parametrize("one", [HANDOFF, RESERVE, LADDER, CASCADE], ids=lambda one: one.form)
def test_pins_and_open_rounds_stay_in_their_places(one: object) -> None:
    """Laws PIN and TAIL."""
    messages = [*work(60), assistant(call("ls", "open"))]
    view = view_from(messages)
    frame = replace(frame_for(view, pins=[7], originals=messages), live=view.items())
    plan = drive(one.asking(view, moment_for(view, 5_000, has_model=True), frame=frame), Script(GOOD))  # type: ignore[attr-defined]
    after = apply(view, plan.edits, frame=frame)
    assert messages[7] in [item.message for item in after]
    assert after.items()[-1].message == messages[-1]


def test_the_record_beside_a_hand_off_takes_two_thousand_tokens_however_much_room_there_is() -> None:
    """Requirement CMP-9: the active-task checkpoint is part of what replaces a history, and bounded."""
    messages = work(400, lines=30)
    _, plan, frame = planned(HANDOFF, messages, 60_000, Script(GOOD), tokens_window=1_000_000)
    assert 1_900 <= frame.counter.text(fold_of(plan).message.text) <= 2_000 + frame.counter.text(GOOD) + 40
