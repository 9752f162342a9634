"""The last tier: it reaches every target that can be reached, and keeps the newest whole units."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foldline.core.address import parse_address, read_block
from foldline.core.message import Message, Text, speaks_for_user
from foldline.ledger.numbering import MEANWHILE
from foldline.passes.fold_oldest import FoldOldest
from foldline.testing.builders import assistant, call, result, system, user
from tests.passes.planning import Planned, one_round, planned, talk, work

LAST = FoldOldest()


def fold(done: Planned) -> str:
    """The text of the one fold."""
    [item] = [item for item in done.after if item.message.synthetic == "fold"]
    return item.message.text


def test_everything_before_the_newest_whole_units_becomes_one_message() -> None:
    """Law CUT: what is folded is one run behind the user's wish, what stays is untouched and in order."""
    messages = [system("rules"), *work(40), user("next")]
    done = planned(LAST, messages, target=3000)
    assert done.after.tokens <= 3000
    kept = [item.message for item in done.after if item.message.synthetic is None]
    assert kept == [*messages[:2], *messages[-len(kept) + 2 :]]
    assert 0.6 * 3000 < done.after.tokens


def test_a_view_that_fits_is_left_alone() -> None:
    """Law GAIN."""
    assert planned(LAST, work(5), target=10**6).edits == ()


@pytest.mark.parametrize("target", [4000, 2000, 1000, 500, 300])
def test_it_always_reaches_a_target_that_can_be_reached(target: int) -> None:
    """Law END: whatever the share."""
    assert planned(LAST, [system("rules"), *work(60), user("next")], target=target).after.tokens <= target


def test_the_rest_is_as_small_as_it_gets_where_the_target_cannot_be_reached() -> None:
    """Law END: system prompt, fold and last user message are left."""
    done = planned(LAST, [system("rules"), *work(60), user("n" * 4000)], target=500)
    assert [item.message.role for item in done.after] == ["system", "user", "user"]
    assert done.after.items()[-1].message.text == "n" * 4000


def test_a_policys_own_target_that_leaves_no_room_does_not_take_what_users_ruled() -> None:
    """CMP-30: Claude Code's tools and its own request for a summary took the target, and the fold said nothing. A target that somebody
    names goes before where it can be reached; so does the window."""
    messages = [user("Refactor it. Never touch auth.py."), *work(30), user("n " * 800)]

    def told(target: int = 100, **more: Any) -> str:
        done = planned(LAST, messages, target=target, tokens_window=8_000, **more)
        return "\n".join(item.message.text for item in done.after)

    assert "Never touch auth.py" in told(by_hand=False)
    assert "Never touch auth.py" in told(by_hand=True)
    assert "Never touch auth.py" not in told(by_hand=False, tokens_fixed=7_990)
    least = sum(
        item.tokens
        for item in planned(LAST, messages, target=1, tokens_fixed=7_990, tokens_window=8_000).after
    )
    assert "Never touch auth.py" not in told(least + 8, by_hand=True)
    assert "Never touch auth.py" in told(least + 8, by_hand=False)


def test_pins_the_last_user_message_and_open_rounds_stay_in_place() -> None:
    """Laws PIN and TAIL."""
    messages = [*work(20), user("the wish"), *one_round(20), assistant(call("ls", "open"))]
    done = planned(LAST, messages, target=100, pins=[7])
    assert 7 in [item.seq for item in done.after if not item.covers]
    assert "the wish" in done.texts
    assert done.after.items()[-1].message == messages[-1]
    assert set(range(41)) - set(done.folded) == {7, 8}


def test_one_unit_at_the_edge_is_clamped_rather_than_folded() -> None:
    """At most one unit at the edge, head and tail around a notice, and older units still find a place."""
    messages = [*work(6, chars=2000), *one_round(9, chars=40_000), *work(2, chars=400), user("next")]
    done = planned(LAST, messages, target=4000)
    assert len(done.edited) == 1
    [clamped] = [text for text in done.results if "omitted" in text]
    assert clamped.startswith("0009")
    assert clamped.endswith("xxx")
    assert done.after.tokens <= 4000
    without = planned(FoldOldest(clamp_edge=False), messages, target=4000)
    assert without.edited == []
    assert 14 in without.folded


def test_what_must_stay_is_clamped_before_the_target_is_given_up() -> None:
    """Law TAIL: a single oversized result inside the open round may be clamped, marked."""
    messages = [*work(9), user("the wish"), assistant(call("a"), call("b", "x")), result("a", "y" * 80_000)]
    done = planned(LAST, messages, target=2000)
    assert done.after.tokens <= 2000
    assert "omitted" in done.results[-1]
    assert done.texts[-3] == "the wish"


def test_where_everything_must_stay_nothing_is_folded() -> None:
    """Laws PIN and TAIL: with all of it pinned or last there is nothing a fold could stand for."""
    messages = [*talk(6), user("next")]
    done = planned(LAST, messages, target=50, pins=range(len(messages)))
    assert done.edits == ()
    assert planned(LAST, [user("next " * 400)], target=50).edits == ()


def test_the_fold_says_what_it_covers_and_how_to_get_it_back() -> None:
    """Law TRACE, CMP-40: a user's message with the address of all it stands for, and more than a number."""
    done = planned(LAST, [*work(40), *talk(9), user("next")], target=1000)
    found = read_block(fold(done))
    assert found is not None
    head, *lines = found[2].splitlines()
    assert head.endswith("folded; the address opens the originals.")
    assert head.startswith(f"{len(done.folded)} earlier messages, ")
    assert lines
    place = parse_address(found[1])
    assert (place.start, place.end) == (min(done.folded), max(done.folded) + 1)


def test_what_a_user_said_outlives_two_folds() -> None:
    """A summary is never summarised; user messages stay real messages, or are quoted."""
    first = planned(LAST, [user("remember the milk"), *work(30)[1:], *talk(9), user("next")], target=2000)
    second = planned(LAST, [*(item.message for item in first.after), *work(60)], target=6000)
    for done in (first, second):
        assert fold(done)
        assert "remember the milk" in "\n".join(done.texts)


def test_a_fold_that_would_not_be_smaller_is_not_made() -> None:
    """Law GAIN: delimiters cost more than two words."""
    assert planned(LAST, [user("a"), assistant("b"), user("c")], target=1).edits == ()


def test_a_fold_without_room_for_lines_is_its_head_alone() -> None:
    """The address is enough to get everything back."""
    done = planned(LAST, [*work(40), user("next")], target=45)
    assert fold(done).count("\n") == 2


def messages_of(kinds: list[tuple[str, int]]) -> list[Message]:
    """A conversation of these kinds and sizes."""
    out: list[Message] = []
    for number, (kind, size) in enumerate(kinds):
        match kind:
            case "user":
                out.append(user("u" * size))
            case "assistant":
                out.append(assistant("a" * size))
            case _:
                out += one_round(number, chars=max(4, size))
    return [*out, user("next")]


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "round"]), st.integers(1, 9000)), max_size=25),
    st.floats(0.05, 0.95),
)
@example(
    [("round", 1077), ("assistant", 5033)], 0.8125
)  # a fold that no ledger was wanted for was not paid for
def test_any_conversation_reaches_any_target_above_its_smallest_form(
    kinds: list[tuple[str, int]], share: float
) -> None:
    """Law END: the target is met, or nothing but what must stay and one fold is left."""
    messages = messages_of(kinds)
    tokens = planned(LAST, messages, target=10**9).before.tokens
    target = max(150, int(tokens * share))
    done = planned(LAST, messages, target=target)
    assert done.after.tokens <= max(target, tokens if not done.edits else 0)
    assert done.again == ()


def test_a_line_of_numbers_that_has_no_room_is_left_out() -> None:
    """Law END: many long tool names would cost more than the target."""
    messages = [user("go")]
    for number in range(30):
        messages += one_round(number, tool=f"a_very_long_name_of_a_tool_{number}_" + "x" * 30)
    for target in range(90, 400, 10):
        assert planned(LAST, [*messages, user("next")], target=target).after.tokens <= target


def test_what_gives_a_rule_stays_in_place_before_newer_questions() -> None:
    """CMP-8 (benchmarks/bench_compactbench, family buried_constraint): chatter took the place of a hard rule."""
    rule = "Never log personal data to stdout; that is a hard red line."
    chatter = [user(f"Did you see article number {n} about cars?") for n in range(40)]
    aside = [assistant("Interesting, tell me more about it.") for _ in chatter]
    talked = [message for pair in zip(chatter, aside, strict=True) for message in pair]
    done = planned(LAST, [user("Let's plan."), user(rule), *talked, user("Go on.")], target=400)
    kept = [item.message.text for item in done.after if item.message.synthetic is None]
    assert rule in kept
    assert 0 < len([text for text in kept if "article" in text]) < 40


def test_an_earlier_summary_stays_in_place_before_what_users_said_since() -> None:
    """CMP-16: what another tool's compaction said stands for all that users said before it."""
    earlier = Message(
        role="user", parts=(Text(text="So far: the client moves to v2.", slot=0),), synthetic="summary"
    )
    chatter = [user(f"Did you see article number {n} about cars?") for n in range(40)]
    aside = [assistant("Interesting, tell me more about it.") for _ in chatter]
    talked = [message for pair in zip(chatter, aside, strict=True) for message in pair]
    done = planned(LAST, [earlier, assistant("Right."), *talked, user("Go on.")], target=400)
    kept = [item.message.text for item in done.after if item.message.synthetic != "fold"]
    assert earlier.text in kept
    assert len([text for text in kept if "article" in text]) < 40


def test_a_fold_may_be_one_line_a_message() -> None:
    """`summary="template"`: a tenth of the cost, for who reads the originals anyway."""
    done = planned(FoldOldest(summary="template"), [*work(40), *talk(9), user("next")], target=1000)
    found = read_block(fold(done))
    assert found is not None
    _, *lines = found[2].splitlines()
    assert lines == ["(calls: read_file ×40; 40 results)"]


def files(count: int, *, each: int = 40) -> list[Message]:
    """A wish and rounds that each list files of their own."""
    shown = (" ".join(f"src/part{n}/module_{n}_{i}.py" for i in range(each)) for n in range(count))
    calls = (
        (assistant(call("ls", f"c{n}", path=f"{n}")), result(f"c{n}", text)) for n, text in enumerate(shown)
    )
    return [user("go"), *(message for pair in calls for message in pair), user("next")]


def whole_rounds(done: Planned) -> int:
    """Tokens of the rounds that stand untouched."""
    kept = [
        item for item in done.after if item.message.synthetic is None and not speaks_for_user(item.message)
    ]
    return sum(item.tokens for item in kept)


def test_half_of_the_target_is_whole_rounds_where_it_is_a_tenth_of_the_history_or_more() -> None:
    """CMP-25: what comes next hangs on the newest rounds."""
    messages = files(60)
    tokens = planned(LAST, messages, target=10**9).before.tokens
    done = planned(LAST, messages, target=tokens // 8)
    assert whole_rounds(done) >= tokens // 16


@pytest.mark.parametrize("part", [11, 14, 18, 22])
def test_whole_rounds_take_half_of_a_small_target_whose_facts_need_more_than_the_rest(part: int) -> None:
    """CMP-25: facts alone are no history to work from; what rounds take beyond half is missing from the facts."""
    messages = files(400, each=4)
    tokens = planned(LAST, messages, target=10**9).before.tokens
    target = tokens // part
    done = planned(LAST, messages, target=target)
    assert 0.5 * target <= whole_rounds(done) <= 0.55 * target
    assert done.after.tokens > 0.95 * target
    assert done.edited == []
    more = planned(FoldOldest(tight=0.0, facts_first=0.0), messages, target=target)
    assert whole_rounds(more) > 0.6 * target
    assert fold(done).count("module_") > 1.2 * fold(more).count("module_")


def test_whole_rounds_take_more_of_a_small_target_whose_facts_need_little() -> None:
    """CMP-25: room that nothing needs is for the rounds."""
    messages = [*work(200), user("next")]
    tokens = planned(LAST, messages, target=10**9).before.tokens
    assert whole_rounds(planned(LAST, messages, target=tokens // 20)) > 0.58 * tokens // 20


def test_the_last_unit_that_could_be_folded_is_clamped_into_all_the_room() -> None:
    """Law END: the fold goes with it, and what was its room would stay empty."""
    listed = " ".join(f"src/part/module_{i}.py" for i in range(200))
    big = (assistant(call("ls", "c", path="x")), result("c", listed + "\n" + "lorem ipsum " * 8_000))
    messages = [user("go"), *big, user("next")]
    tokens = planned(LAST, messages, target=10**9).before.tokens
    done = planned(LAST, messages, target=tokens // 12)
    assert done.folded == []
    assert tokens // 15 < done.after.tokens <= tokens // 12


def test_facts_come_before_whole_rounds_where_the_target_is_a_thirtieth_of_the_history() -> None:
    """CMP-8: half for the rounds would leave room for few of the facts."""
    messages = files(60)
    tokens = planned(LAST, messages, target=10**9).before.tokens
    target = tokens // 30
    done = planned(LAST, messages, target=target)
    [ledger] = [item for item in done.after if item.message.synthetic == "fold"]
    assert ledger.tokens > target // 2
    assert whole_rounds(done) < target // 2
    rounds_first = planned(FoldOldest(facts_first=0.0), messages, target=target)
    assert fold(done).count("module_") > 1.2 * fold(rounds_first).count("module_")


def test_what_the_ledger_does_not_need_goes_to_whole_rounds() -> None:
    """CMP-25: rounds that say nothing to list leave more of themselves in view."""
    messages = [*work(80), user("next")]
    tokens = planned(LAST, messages, target=10**9).before.tokens
    done = planned(LAST, messages, target=tokens // 4)
    assert whole_rounds(done) > 0.75 * tokens // 4


def test_users_messages_that_stand_behind_a_fold_are_placed_within_it() -> None:
    """CMP-8: a fresh reader took what was said in the midst of the fold for newer than all of it."""
    messages = [user("go"), *work(20), user("use the queue"), *work(20), user("next")]
    done = planned(LAST, messages, target=2500)
    kept = [item.seq for item in done.after if item.message.text == "use the queue"]
    assert kept
    assert kept[0] < max(done.folded)
    line = next(line for line in fold(done).splitlines() if line.startswith(MEANWHILE))
    assert f"m{kept[0]}" in line.split()
    assert done.after.tokens <= 2500


def test_a_fold_says_that_another_tools_summary_is_older() -> None:
    """CMP-25: the plan of an earlier summary (pi) read as what comes next, though all of it had been done since."""
    summary = Message(
        role="user", parts=(Text(text="## Next Steps\n1. Create directories"),), synthetic="summary"
    )
    done = planned(LAST, [summary, *work(40), user("next")], target=3000)
    assert "\nm0 sums up what was before: what it plans may be done since.\n" in fold(done)
    assert "sums up" not in fold(planned(LAST, [user("go"), *work(40), user("next")], target=3000))
