"""Microcompact clears old results: by count, after idle time, or down to a target, and always the same bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foldline.core.edit import Plan
from foldline.core.message import Message, Part
from foldline.ledger.tools import CASCADE_KINDS
from foldline.passes.microcompact import Microcompact
from foldline.testing.builders import assistant, call, frame_for, image, moment_for, result, user, view_from
from foldline.testing.counting import CharacterCounter
from tests.passes.planning import Planned, framed, one_round, planned, talk, work

COUNTED = Microcompact(kinds=CASCADE_KINDS, first_calls=50, every_calls=25, idle_from_s=5400)
"""As `cascade` has it."""
EXPIRED = Microcompact(keep_rounds=3, idle_over_s=60)
"""As `handoff` has it."""
BALANCED = Microcompact(to_target=True)


def cleared(done: Planned) -> list[int]:
    """Numbers of the results that became placeholders."""
    return [n for n, text in enumerate(done.results) if text.startswith("[foldline: ")]


def at_count(calls: int, **moment: Any) -> list[int]:
    """Which of so many results are cleared by count."""
    return cleared(planned(COUNTED, [*work(calls), user("next")], **moment))


@pytest.mark.parametrize(
    ("calls", "count"), [(49, 0), (50, 45), (51, 45), (74, 45), (75, 70), (76, 70), (99, 70), (100, 95)]
)
def test_old_results_are_cleared_at_fifty_calls_and_then_every_25(calls: int, count: int) -> None:
    """MIC-2, MIC-8: first at 50 calls, then at 75, 100 …, each time all but the newest five of that moment."""
    assert at_count(calls) == list(range(count))


def test_between_the_counts_nothing_already_sent_changes() -> None:
    """MIC-7: byte-stable from 50 calls to 74, whatever comes after."""
    at_fifty = planned(COUNTED, [*work(50), user("next")])
    for calls in (51, 60, 74):
        later = planned(COUNTED, [*work(calls), user("next")])
        assert later.results[:50] == at_fifty.results
        assert later.again == ()


def test_a_batch_leaves_the_placeholders_of_the_last_one_as_they_are() -> None:
    """MIC-7: what was cleared at 50 calls is not touched at 75."""
    before = planned(COUNTED, [*work(50), user("next")]).results[:45]
    assert planned(COUNTED, [*work(75), user("next")]).results[:45] == before


def test_whatever_the_usage() -> None:
    """MIC-2: a view far within its target is cleared by count all the same."""
    assert len(cleared(planned(COUNTED, [*work(50), user("next")], target=10**6))) == 45


def test_calls_that_are_no_longer_in_view_count() -> None:
    """MIC-2 counts the calls of the session: 60 so far, 20 of them in view, ten since the count of 50."""
    assert cleared(planned(COUNTED, [*work(20), user("next")], calls=60)) == list(range(5))
    assert cleared(planned(COUNTED, [*work(20), user("next")], calls=49)) == []
    assert cleared(planned(COUNTED, [*work(8), user("next")], calls=74)) == []


def test_only_the_eight_tools_are_cleared() -> None:
    """MIC-2: file read, shell, grep, glob, web search, web fetch, file edit, file write; nothing else."""
    names = ["Read", "Bash", "Grep", "Glob", "WebSearch", "WebFetch", "Edit", "Write", "book_flight", "think"]
    messages = [user("go")]
    for number in range(60):
        messages += one_round(number, tool=names[number % 10])
    done = cleared(planned(COUNTED, [*messages, user("next")]))
    assert {number % 10 for number in done} == set(range(8))


@pytest.mark.parametrize(("idle_s", "count"), [(None, 0), (0.0, 0), (5399.9, 0), (5400.0, 7), (90_000.0, 7)])
def test_after_ninety_idle_minutes_old_results_go_whatever_the_count(
    idle_s: float | None, count: int
) -> None:
    """MIC-4, MIC-8, MIC-10: from 5,400 s on, given as a value; the newest five of twelve stay."""
    assert cleared(planned(COUNTED, [*work(12), user("next")], idle_s=idle_s)) == list(range(count))


@pytest.mark.parametrize(("idle_s", "count"), [(None, 0), (60.0, 0), (60.1, 5), (61.0, 5)])
def test_when_the_cache_has_expired_three_tool_turns_keep_their_results(
    idle_s: float | None, count: int
) -> None:
    """MIC-5: more than 60 s since the last provider call; 60 s exactly is not more."""
    assert cleared(planned(EXPIRED, [*work(8), user("next")], idle_s=idle_s)) == list(range(count))


def test_a_tool_turn_keeps_all_results_of_its_parallel_calls() -> None:
    """MIC-5 counts rounds with calls, not results; talk between them does not count."""
    messages: list[Message] = [user("go")]
    for n in range(5):
        messages += [assistant(call("ls", f"a{n}"), call("ls", f"b{n}"))]
        messages += [result(f"a{n}", "x" * 800), result(f"b{n}", "y" * 800), *talk(4)]
    assert cleared(planned(EXPIRED, messages, idle_s=61)) == [0, 1, 2, 3]
    none = Microcompact(keep_rounds=0, idle_over_s=60)
    assert len(cleared(planned(none, messages, idle_s=61))) == 10


def test_a_placeholder_is_about_twenty_tokens() -> None:
    """MIC-4; the true counts are the counters' affair, here four characters are one."""
    done = planned(COUNTED, [*work(50), user("next")])
    assert {len(text) // 4 for text in done.results[:45]} <= set(range(10, 16))


@pytest.mark.parametrize("chars", [4, 40, 60, 80])
def test_a_result_no_longer_than_its_placeholder_stays(chars: int) -> None:
    """MIC-9, law GAIN: replacing it would free nothing."""
    done = planned(COUNTED, [*work(50, chars=chars), user("next")])
    assert done.after.tokens <= done.before.tokens
    assert all(len(text) <= chars for text in done.results)
    assert done.edits == () or done.after.tokens < done.before.tokens


def test_a_small_result_that_is_longer_goes() -> None:
    """MIC-9 from the other side."""
    assert len(at_count(50)) == 45
    assert len(cleared(planned(COUNTED, [*work(50, chars=120), user("next")]))) == 45


def test_a_placeholder_is_never_replaced_by_another() -> None:
    """MIC-6, MIC-7: a long placeholder (media, a pointer to a later read) is no result to clear."""
    messages: list[Message] = [user("go")]
    for number in range(60):
        messages += [assistant(call("read_file", f"c{number}", path="same.py"))]
        messages += [result(f"c{number}", "x" * 800, *[image()] * 12)]
    first = planned(BALANCED, [*messages, user("next")], target=3000)
    assert len(cleared(first)) > 40
    assert first.again == ()
    again = planned(Microcompact(idle_from_s=1, keep_results=0), [i.message for i in first.after], idle_s=2)
    assert set(cleared(again)) >= set(cleared(first))
    assert again.results[: len(cleared(first))] == first.results[: len(cleared(first))]


def test_open_and_pinned_rounds_keep_their_results() -> None:
    """Laws TAIL and PIN."""
    messages = [*work(9), assistant(call("ls", "x"), call("ls", "y")), result("x", "x" * 800)]
    every = Microcompact(keep_results=0, idle_from_s=1)
    assert cleared(planned(every, messages, idle_s=5, pins=[2])) == list(range(1, 9))


def test_without_a_count_or_an_idle_time_nothing_runs() -> None:
    """A pass that is not due passes on."""
    assert planned(Microcompact(), [*work(90), user("next")], idle_s=10**6).edits == ()


# ── down to a target ─────────────────────────────────────────────────────────────────────────────────────────


def mixed() -> list[Message]:
    """Old rounds of each rank, oldest first the one that must outlive the others, then enough new ones."""
    return [
        user("go"),
        *one_round(0, tool="read_file", error=True),
        *one_round(1, tool="write_file"),
        *one_round(2, tool="grep"),
        *one_round(3, tool="bash"),
        *one_round(4, tool="read_file"),
        *(message for n in range(5, 10) for message in one_round(n)),
        user("next"),
    ]


def test_a_view_within_its_target_is_left_alone() -> None:
    """Nothing is cleared for its own sake."""
    assert planned(BALANCED, mixed(), target=10**6).edits == ()


@pytest.mark.parametrize(
    ("free", "gone"),
    [(1, [2]), (165, [2, 4]), (330, [1, 2, 4]), (500, [1, 2, 3, 4]), (10**6, [0, 1, 2, 3, 4])],
)
def test_reads_leave_before_writes_and_errors_last_until_the_target_is_met(
    free: int, gone: list[int]
) -> None:
    """SNP-3's order for results: read-only success, then write, then error, each oldest first; the newest five stay."""
    tokens = planned(BALANCED, mixed(), target=10**6).before.tokens
    assert cleared(planned(BALANCED, mixed(), target=tokens - free)) == gone


def test_copies_leave_first_and_point_at_the_newest() -> None:
    """Several reads with the same arguments, however spelt: only the newest stays in full."""
    same = ['{"path":"a","n":1}', '{"n": 1, "path": "a"}']
    messages: list[Message] = [user("go"), *one_round(0)]
    for n in range(1, 4):
        given = call("read_file", f"c{n}")
        messages += [assistant(type(given)(id=f"c{n}", name="read_file", arguments=same[n % 2]))]
        messages += [result(f"c{n}", "x" * 800)]
    tokens = planned(BALANCED, messages, target=10**6).before.tokens
    reduce = Microcompact(to_target=True, keep_results=1)
    done = planned(reduce, [*messages, user("next")], target=tokens - 200)
    assert cleared(done) == [1, 2]
    assert all("read again in message 8 · m" in text for text in done.results[1:3])
    without = Microcompact(to_target=True, keep_results=1, duplicates=False)
    assert cleared(planned(without, [*messages, user("next")], target=tokens - 200)) == [0, 1]


@pytest.mark.parametrize("arguments", ["{not json", '{"p": "\\ud83d"}', "[" * 100_000])
def test_arguments_that_are_no_json_are_compared_as_they_stand(arguments: str) -> None:
    """A model writes them; they need not be valid."""
    messages: list[Message] = [user("go")]
    for n in range(2):
        given = call("read_file", f"c{n}")
        messages += [assistant(type(given)(id=f"c{n}", name="read_file", arguments=arguments))]
        messages += [result(f"c{n}", "x" * 800)]
    reduce = Microcompact(to_target=True, keep_results=1)
    assert cleared(planned(reduce, [*messages, user("next")], target=0)) == [0]


def test_failed_reads_and_other_tools_are_no_copies() -> None:
    """Two runs of a command are two events."""
    messages: list[Message] = [user("go")]
    for n in range(3):
        messages += [assistant(call("bash", f"c{n}", cmd="make")), result(f"c{n}", "x" * 800)]
    reduce = Microcompact(to_target=True, keep_results=1)
    done = planned(reduce, [*messages, user("next")], target=0)
    assert "read again" not in "".join(done.results)


def test_a_full_read_that_a_later_stub_points_back_to_stays() -> None:
    """Fault report Z01: "unchanged, see above" is worth nothing without what is above (NousResearch/hermes-agent#90949)."""
    messages = [
        user("go"),
        assistant(call("read_file", "c0", path="a")),
        result("c0", "x" * 8000),
        assistant(call("read_file", "c1", path="a")),
        result("c1", "unchanged since the last read, see above"),
        *(message for n in range(2, 9) for message in one_round(n)),
        user("next"),
    ]
    assert 0 not in cleared(planned(BALANCED, messages, target=0))


def test_results_within_the_newest_rounds_stay_where_a_share_is_kept() -> None:
    """What is kept whole at the end is whole."""
    messages = [*work(20), user("next")]
    share = Microcompact(to_target=True, keep_results=0, keep_share=0.4)
    done = planned(share, messages, target=3000)
    assert cleared(done) == list(range(len(cleared(done))))
    assert 0 < len(cleared(done)) < 20
    assert cleared(planned(Microcompact(to_target=True, keep_results=0), messages, target=0)) == list(
        range(20)
    )


def test_a_plan_is_a_value_and_the_view_is_not_changed() -> None:
    """OBS-2: a pass never mutates its input; edits and hints come out, the same for the same view."""
    first, second = (planned(BALANCED, mixed(), target=0) for _ in range(2))
    assert [json.dumps(str(edit)) for edit in first.edits] == [json.dumps(str(edit)) for edit in second.edits]
    assert first.before.tokens == planned(BALANCED, mixed(), target=10**6).before.tokens
    assert all("[foldline" not in text for text in planned(BALANCED, mixed(), target=10**6).results)


def test_what_recall_gave_is_not_cleared_before_the_model_has_read_it() -> None:
    """Six answers at once, of which the oldest would go for its age."""
    recalled = '<foldline-recall query="pool">\n' + "words of it " * 60 + "\n</foldline-recall>"
    ids = [f"r{number}" for number in range(6)]
    asked = [
        user("go"),
        assistant(*(call("recall", id) for id in ids)),
        *(result(id, recalled) for id in ids),
    ]
    old = Microcompact(idle_from_s=1)
    assert planned(old, asked, idle_s=2.0).edits == ()
    assert len(planned(old, [*asked, assistant("seen"), user("next")], idle_s=2.0).edits) == 1


def test_nothing_is_cleared_where_clearing_is_not_enough_and_a_fold_follows() -> None:
    """CMP-25: what the fold leaves in view is whole; without the field as much goes as may go."""
    messages = [*work(12), user("next")]
    assert cleared(planned(BALANCED, messages, target=200)) != []
    only = Microcompact(to_target=True, only_enough=True)
    assert planned(only, messages, target=200).edits == ()
    enough = planned(only, messages, target=2_000)
    assert cleared(enough) != []
    assert enough.after.tokens <= 2_000


def test_what_clearing_frees_beyond_the_target_goes_to_facts() -> None:
    """CMP-8: the last result cleared is larger than what had to go."""
    listing = " ".join(f"src/part/module_{n}.py" for n in range(400))
    messages = [user("go"), assistant(call("ls", "a")), result("a", listing), *work(8)[1:], user("next")]
    carrying = Microcompact(to_target=True, carry_tokens=50)
    close = planned(carrying, messages, target=planned(carrying, messages).before.tokens - 1_000)
    assert close.results[0].count("module_") > 40
    assert close.after.tokens <= close.before.tokens - 1_000


def test_what_was_cleared_at_the_compaction_before_is_written_no_second_time() -> None:
    """Law SAME, CMP-8: the same notices with the same facts, and the very parts; with another room for facts other ones."""
    messages = [*work(12), user("next")]
    view = view_from(messages)
    frame = framed(view, messages)
    for carry in (40, 40, 80):
        carrying = Microcompact(to_target=True, carry_tokens=carry)
        edits = carrying.plan(view, moment_for(view, 2_000), frame).edits
        afresh = carrying.plan(view, moment_for(view, 2_000), framed(view, messages)).edits
        again = carrying.plan(view, moment_for(view, 2_000), frame).edits
        assert edits == afresh == again != ()
        assert [id(edit) for edit in edits] == [id(edit) for edit in again]


def test_the_notices_that_are_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Design: a buffer has a bound; beyond it those of the last compaction stay."""
    monkeypatch.setattr("foldline.passes.microcompact.NOTICES_MAX", 12)
    messages = [*work(12), user("next")]
    view = view_from(messages)
    frame = framed(view, messages)
    sizes = []
    for carry in (40, 80, 120):
        edits = (
            Microcompact(to_target=True, carry_tokens=carry).plan(view, moment_for(view, 2_000), frame).edits
        )
        sizes.append((len(edits), len(frame.memo["notices"])))
    assert all(edits <= kept <= 12 for edits, kept in sizes)


class Watching(CharacterCounter):
    """Counts like its base, some times finer, and says what it was asked to count."""

    def __init__(self, times: int = 1) -> None:
        self.times, self.asked = times, list[Part]()

    def text(self, text: str) -> int:
        return self.times * super().text(text)

    def part(self, part: Part) -> int:
        self.asked.append(part)
        return super().part(part)


def at_idle(messages: list[Message], counter: Watching) -> Plan:
    """All results cleared that may be; `counter` says what was counted for it."""
    view = view_from(messages, counter=counter)
    frame = frame_for(view, originals=messages, counter=counter)
    counter.asked.clear()
    clear = Microcompact(idle_from_s=1, keep_results=0)
    return clear.plan(view, moment_for(view, 0, idle_s=2), frame)


@pytest.mark.parametrize(("tokens", "counts"), [(60, True), (100, True), (101, False), (250, False)])
def test_only_a_result_of_a_hundred_tokens_or_less_is_counted_beside_its_placeholder(
    tokens: int, *, counts: bool
) -> None:
    """MIC-9: a larger one is certain to shrink, and so costs no count."""
    counter = Watching()
    plan = at_idle([*work(1, chars=4 * (tokens - 4)), user("next")], counter)
    assert len(plan.edits) == 1
    assert bool(counter.asked) is counts


@pytest.mark.parametrize("tokens", [52, 76, 92])
def test_a_result_of_less_than_a_hundred_tokens_is_never_replaced_by_more(tokens: int) -> None:
    """MIC-9, law GAIN: also under a tokenizer that finds a hundred in a placeholder."""
    plan = at_idle([*work(1, chars=(tokens - 4) // 2), user("next")], Watching(8))
    assert plan.edits == ()
