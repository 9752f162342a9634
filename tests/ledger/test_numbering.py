"""The numbers of a history in which folds stand already: those of the history that was folded, as far as the folds say them."""

from __future__ import annotations

import pytest

from foldline.core.address import block, mark
from foldline.core.message import Message
from foldline.core.received import received
from foldline.core.view import Span, item_of
from foldline.ledger.numbering import (
    MEANWHILE,
    ORDINALS_MAX,
    Counted,
    Numbered,
    follows_in,
    is_counted_with,
    numbers_of,
    span_of,
)
from foldline.ledger.words import earlier
from foldline.testing.builders import assistant, call, result, system, user

ROUND = (assistant(call("ls")), result("ls", "a.py"))


def fold(range: str, *lines: str, count: int | None = None) -> Message:
    """A fold of ours, as it comes back in a list."""
    head = (
        ()
        if count is None
        else (f"{count:,} earlier messages, 10 tokens, folded; the address opens the originals.",)
    )
    return user(block("fold", f"m{range}@0a1b2c3d", body="\n".join([*head, *lines]) or "-"))


def ordinals(*messages: Message) -> list[int]:
    """The numbers alone."""
    return [number.ordinal for number in numbers_of(messages)]


def test_a_history_without_folds_is_counted_by_its_places() -> None:
    """Empty says so: nothing is made for it."""
    assert numbers_of([user("go"), *ROUND, user("<foldline-fold> is a tag of yours")]) == ()
    assert numbers_of([]) == ()


def test_what_stands_behind_a_fold_is_counted_on_from_what_it_covers() -> None:
    """Law TRACE: a number means one message in every generation."""
    numbers = numbers_of([user("go"), fold("1-32", count=32), *ROUND])
    assert [number.ordinal for number in numbers] == [0, 1, 33, 34]
    assert numbers[1].covers == (Span(start=1, end=33),)
    assert follows_in(numbers) == {0: 1, 1: 33, 33: 34}


def test_what_users_said_within_a_fold_and_stands_behind_it_keeps_its_number() -> None:
    """The fold names it, and says of how many messages it is: so nothing else stands behind it."""
    numbers = numbers_of(
        [user("go"), fold("1-32", f"{MEANWHILE} m12 m27", count=30), user("b"), user("c"), *ROUND]
    )
    assert [number.ordinal for number in numbers] == [0, 1, 12, 27, 33, 34]
    assert numbers[1].covers == (Span(start=1, end=12), Span(start=13, end=27), Span(start=28, end=33))


def test_a_fold_that_names_them_in_earlier_words_is_understood() -> None:
    """Histories outlive the version that folded them."""
    earlier = fold("1-32", "Said within this span and kept below, in order: m12 m27", count=30)
    assert ordinals(user("go"), earlier, user("b"), user("c"), *ROUND) == [0, 1, 12, 27, 33, 34]


def test_of_messages_that_a_wire_made_one_of_the_first_gives_the_number() -> None:
    """Anthropic wants roles to alternate; a mark of ours is no message."""
    both = user("b", mark("m40@0a1b2c3d"), "c")
    named = fold("1-32", f"{MEANWHILE} m12 m27", count=30)
    assert ordinals(user("go"), named, both, *ROUND) == [0, 1, 12, 33, 34]
    again = fold(
        "1-60", f"{MEANWHILE} m12", count=58
    )  # which names them by the one number that they have now
    assert ordinals(user("go"), again, both, *ROUND) == [0, 1, 12, 61, 62]
    unnamed = fold("1-32", "- a.py edited (m20 assistant)", count=30)
    assert ordinals(user("go"), unnamed, both, *ROUND) == [0, 1, 21, 33, 34]


def test_more_texts_than_a_fold_names_are_of_messages_behind_its_range_or_go_on_behind_all_it_names() -> None:
    """Which of both they are cannot be told: no number that the ledger names may come to mean another message."""
    joined = user("b", "what followed at once")
    assert ordinals(fold("0-32", f"{MEANWHILE} m12", count=32), joined, *ROUND) == [0, 12, 34, 35]
    later = fold("0-32", f"{MEANWHILE} m12", "- a.py → failed; changed at m45 (m3 tool)", count=32)
    assert ordinals(later, joined, *ROUND) == [0, 12, 46, 47]


@pytest.mark.parametrize(
    "held",
    [
        fold("1-32"),  # says of nothing how many it stands for
        fold("1-32", count=30),  # two stand behind it, and it names neither
        fold("1-32", f"{MEANWHILE} m12", count=30),
        fold("1-32", f"{MEANWHILE} m27 m12", count=30),
        fold("1-32", f"{MEANWHILE} m12 m27", count=400),
    ],
)
def test_where_it_is_not_plain_what_stands_behind_a_fold_numbers_go_on_behind_all_that_it_names(
    held: Message,
) -> None:
    """They are unique all the same, and grow with the list."""
    text = held.text.replace("\n</foldline", "\n- tests pass; failed at m45 (m40 tool)\n</foldline")
    assert ordinals(user("go"), user(text), *ROUND, user("b")) == [0, 1, 46, 47, 48]


def test_several_folds_are_counted_each_by_its_own_range() -> None:
    """Runs of talk collapse one by one."""
    numbers = numbers_of([user("go"), fold("1-20", count=20), *ROUND, fold("23-60", count=38), user("on")])
    assert [number.ordinal for number in numbers] == [0, 1, 21, 22, 23, 61]


def test_ranges_that_overlap_or_begin_too_early_still_count_upwards() -> None:
    """Somebody put folds of two histories into one list."""
    assert ordinals(fold("1-32", count=32), fold("1-20", count=20), user("on")) == [1, 33, 34]
    assert ordinals(user("a"), user("b"), user("c"), fold("1-32", count=32), user("on")) == [0, 1, 2, 3, 33]
    numbers = numbers_of([fold("1-32", count=32), fold("20-40", count=21)])
    assert [number.covers for number in numbers] == [(Span(start=1, end=33),), (Span(start=33, end=41),)]


def test_a_fold_that_was_joined_to_other_words_is_newer_than_what_it_names() -> None:
    """Plain text that may go to any provider: a fold and a user's words are one message."""
    text = fold("1-32", "- `mail` → failed: down; done at m45 (m3 tool)", count=32).text
    assert ordinals(user("go"), user(text, "and on"), assistant("ok")) == [0, 46, 47]


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        ("Objective and constraints", "The log (m999990) says what failed at m999990. (m3 user)"),
        ("Objective and constraints", '"Look at m999990; changed at m999990" (m3 user)'),
        ("Open risks or blockers", "refused by the user: it → refused at m999990: no (m3 user)"),
        ("Exact next action", "Then what was → refused at m999990 (m3 assistant)"),
        ("Decisions and rationale", "Use m999990 (m999990 tool) because it looks at m999990. (m3 assistant)"),
        ("Verification evidence", "`ls (m999990)` → printed: it failed at m999990 (m3 tool)"),
        ("Verification evidence", "what a model wrote (m999990 tool) between"),
    ],
)
def test_a_number_that_somebody_wrote_is_no_ledgers(heading: str, line: str) -> None:
    """Law TRACE: numbers went to 999,991, beyond what a range may say, and old ones came to mean new messages."""
    told = fold("1-32", f"## {heading}", f"- {line}", count=31)
    assert ordinals(user("go"), told, *ROUND) == [0, 1, 33, 34]


@pytest.mark.parametrize(
    "line",
    [
        "`npm test` → printed: ok; failed at m45, not seen to pass since (m3 tool)",
        "`mail` → failed: down; called again at m45, asked (m3 tool)",
        "a.py edited; before git restored its folder at m45 (m3 assistant)",
        "`mail` → refused at m45: no (m3 tool)",
        "`ls` → ok (m45 tool ×3)",
    ],
)
def test_the_number_of_a_mark_or_of_what_a_line_comes_from_is_a_ledgers(line: str) -> None:
    """Law TRACE: no number that it names may come to mean another message."""
    told = fold("1-32", "## Verification evidence", f"- {line}", count=30)
    assert ordinals(user("go"), told, *ROUND) == [0, 1, 46, 47]


@pytest.mark.parametrize("range", [f"1-{ORDINALS_MAX}", "0-999999999", "5-2", "5-9.1"])
def test_a_range_that_cannot_be_one_is_no_folds(range: str) -> None:
    """Nobody pays for what somebody wrote into a message."""
    assert numbers_of([user("go"), fold(range, count=3), user("on")]) == ()


def test_numbers_that_a_tool_or_a_host_brought_in_count_nothing() -> None:
    """What a program puts where a person speaks may be anything."""
    text = fold("1-32", count=32).text
    assert numbers_of([user("go"), assistant(call("cat")), result("cat", text), system(text)]) == ()


def test_lines_of_a_fold_that_counts_another_history_are_told_by_the_message_that_holds_them() -> None:
    """CMP-16: a session that began with a compacted list counts it by its places. No carried line may be newer than what came later, or be
    opened as something else."""
    lines = (
        "## Workspace mutations",
        "- a.py edited; before git reset --hard at m31 (m20 assistant)",
        "- c.py edited; before git restored its folder at m31 (m21 assistant)",
        "- m3-m9: 6 files edited, by sed: a b c d e f; last `s/x/y/` (m9 tool)",
        "## Objective and constraints",
        "- Say ; changed at m7 when you mean it. (m3 user)",
        "## Facts",
        "paths: b.py",
    )
    message = received(fold("1-32", *lines, count=32))
    [(told, facts)] = earlier([item_of(1, message, weights=(1,), overhead=1)])
    assert [(entry.text, entry.seq) for entry in told] == [
        ("a.py edited; before git reset --hard at m1", 1),
        ("c.py edited; before git restored its folder at m1", 1),
        ("3-9 of m1: 6 files edited, by sed: a b c d e f; last `s/x/y/`", 1),
        ("Say ; changed at m7 when you mean it.", 1),
    ]
    assert [entry.key for entry in told[:3]] == ["a.py", "c.py", "3-9 of m1: 6 files"]
    assert [fact.text for fact in facts] == ["b.py"]
    own = item_of(1, message, weights=(1,), overhead=1, covers=(Span(start=1, end=33),))
    [(told, _)] = earlier([own])
    assert [(entry.text, entry.seq) for entry in told] == [
        ("a.py edited; before git reset --hard at m31", 20),
        ("c.py edited; before git restored its folder at m31", 21),
        ("m3-m9: 6 files edited, by sed: a b c d e f; last `s/x/y/`", 9),
        ("Say ; changed at m7 when you mean it.", 3),
    ]
    assert is_counted_with(own, "m1-32@0a1b2c3d")
    assert not is_counted_with(own, "m1-33@0a1b2c3d")
    assert not is_counted_with(own, "m3.1@0a1b2c3d")
    assert span_of("m3.1@0a1b2c3d") is None


def test_messages_are_found_by_their_numbers() -> None:
    """Those that a fold stands for are not there; a range gives what is."""
    messages = [user("go"), fold("1-32", count=32), user("on")]
    counted = Counted(messages, numbers_of(messages))
    assert len(counted) == 34
    assert list(counted) == messages
    assert [counted[0], counted[33]] == [messages[0], messages[2]]
    assert list(counted[0:33]) == messages[:2]
    assert list(counted[2:33]) == []
    assert counted.within(1, 34) == [(1, messages[1]), (33, messages[2])]
    assert [counted.is_whole(start, end) for start, end in ((33, 34), (1, 2), (0, 2))] == [True, False, False]
    for missing in (12, 34):
        with pytest.raises(IndexError):
            counted[missing]
    assert len(Counted([], ())) == 0
    assert len(Counted(messages[:2], [Numbered(ordinal=4), Numbered(ordinal=5)])) == 6
